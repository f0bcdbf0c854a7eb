/* random_part.h - random numbers that repeat: Knuth's linear congruential generator (MMIX), of which the upper bits count. */
#ifndef YOKE_TESTS_RANDOM_PART_H
#define YOKE_TESTS_RANDOM_PART_H

#include <stdint.h>

/* In [0, 1). */
static inline double random_part(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* From 0 to end - 1. */
static inline int64_t random_below(uint64_t *state, int64_t end) { return (int64_t)(random_part(state) * (double)end); }

#endif
