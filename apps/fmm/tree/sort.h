/*
 * sort.h - parallel radix sort of keys with the numbers of what they belong to.
 */
#ifndef FMM_TREE_SORT_H
#define FMM_TREE_SORT_H

#include "yoke/yoke.h"

/*
 * Sorts keys [count] by their lowest `bits` bits (0 ... 64; the others are 0) in place, and sets order [count]: key i was key order[i].  Equal keys
 * keep their order, so the result does not depend on the number of threads.  count <= INT32_MAX.  Needs 12 bytes a key
 * more.  Errors: MEMORY.
 */
yoke_status fmm_sort(yoke_context *context, int64_t count, int bits, uint64_t *keys, int32_t *order);

#endif
