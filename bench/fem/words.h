/*
 * words.h - options of benchmarks whose values are lists between commas.
 */
#ifndef BENCH_FEM_WORDS_H
#define BENCH_FEM_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "space/problem/problem.h"

/* Takes the next word of a list with commas, cut to the size; false at its end, where *list is NULL. */
bool fem_bench_next_word(const char **list, char *word, size_t size);

/* numbers [most_numbers] from 1 to `largest`; *count of them.  Errors: INPUT. */
yoke_status fem_bench_read_numbers(yoke_context *context, const char *option, const char *list, int64_t largest, int most_numbers,
                                   int64_t *numbers, int *count);

/* The number of a word, or -1. */
int fem_bench_find_word(const char *word, const char *const *words, int count);

/* Bit i of *bits: words[i] is in the list.  `exist` says in the message which there are.  Errors: INPUT. */
yoke_status fem_bench_read_words(yoke_context *context, const char *option, const char *list, const char *const *words, int count,
                                 const char *exist, unsigned *bits);

/* The element that --element names: q1, s2 or q2; text NULL, it is not given: q2.  Errors: INPUT. */
extern const char *const fem_bench_element_name[3];
yoke_status fem_bench_read_element(yoke_context *context, const char *text, fem_element *element);

#endif
