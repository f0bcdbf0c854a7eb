/*
 * sort.h - parallel radix sort of keys, which also returns their permutation.
 */
#ifndef FMM_TREE_SORT_H
#define FMM_TREE_SORT_H

#include "yoke/yoke.h"

/*
 * Sorts keys [count] by their lowest `bits` bits (0 ... 64; the other bits are 0) in place, and sets order [count]: sorted key i was key
 * order[i].  The sort is stable, so the result does not depend on the number of threads.  count <= INT32_MAX.  It needs 12 additional bytes
 * for each key.
 * Errors: MEMORY.
 */
yoke_status fmm_sort(yoke_context *context, int64_t count, int bits, uint64_t *keys, int32_t *order);

#endif
