/* sets.h - sets of elements that are merged: which elements are connected. */
#ifndef FEM_SPACE_PROBLEM_SETS_H
#define FEM_SPACE_PROBLEM_SETS_H

#include <stdint.h>

/* Each member is a separate set.  set [count] */
void fem_sets_start(int64_t count, int32_t *set);
/* Joins the sets of a and b. */
void fem_sets_merge(int32_t *set, int32_t a, int32_t b);
/* set [count] = the number of each member's set, in the order of their lowest members; returns the number of sets.  Must be called last. */
int32_t fem_sets_number(int64_t count, int32_t *set);

#endif
