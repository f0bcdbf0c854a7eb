/* sets.h - sets of elements that are merged: which elements are connected. */
#ifndef FEM_SPACE_PROBLEM_SETS_H
#define FEM_SPACE_PROBLEM_SETS_H

#include <stdint.h>

/* Each of the members is a set of its own.  set [count] */
void fem_sets_start(int64_t count, int32_t *set);
/* The sets of a and b become one. */
void fem_sets_merge(int32_t *set, int32_t a, int32_t b);
/* set [count] = the number of each member's set, in the order of their least members; returns how many there are.  Nothing is merged afterwards. */
int32_t fem_sets_number(int64_t count, int32_t *set);

#endif
