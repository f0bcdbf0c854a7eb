/* words.h - options of benchmarks whose values are comma-separated lists. */
#ifndef BENCH_FEM_WORDS_H
#define BENCH_FEM_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "space/problem/problem.h"

/* Reads the next word of a comma-separated list, truncated to the size.  Returns false at the end of the list, where *list is NULL. */
bool fem_bench_next_word(const char **list, char *word, size_t size);

/* Reads numbers [most_numbers] from 1 to `largest`; *count: how many.  Errors: INPUT. */
yoke_status fem_bench_read_numbers(yoke_context *context, const char *option, const char *list, int64_t largest, int most_numbers,
                                   int64_t *numbers, int *count);

/* Index of a word, or -1. */
int fem_bench_find_word(const char *word, const char *const *words, int count);

/* Bit i of *bits: words[i] is in the list.  `exist` introduces the list of valid words in the error message.  Errors: INPUT. */
yoke_status fem_bench_read_words(yoke_context *context, const char *option, const char *list, const char *const *words, int count,
                                 const char *exist, unsigned *bits);

/* The element named by --element: q1, s2 or q2; text NULL, if it is not given: q2.  Errors: INPUT. */
extern const char *const fem_bench_element_name[3];
yoke_status fem_bench_read_element(yoke_context *context, const char *text, fem_element *element);

#endif
