/*
 * random.h - random numbers that are the same on every machine: splitmix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
 * OOPSLA 2014).
 */
#ifndef FMM_PARTICLES_RANDOM_H
#define FMM_PARTICLES_RANDOM_H

#include <stdint.h>

static inline uint64_t fmm_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Uniform in (0, 1). */
static inline double fmm_random_uniform(uint64_t *state) { return ((double)(fmm_random(state) >> 11) + 0.5) * 0x1p-53; }

/* A random place in part k of 0 ... all - 1, which are divided into `parts` equal parts; they are at most `all`. */
static inline int64_t fmm_random_in_part(uint64_t *state, int64_t all, int64_t k, int64_t parts)
{
    const int64_t first = all * k / parts, last = all * (k + 1) / parts;
    return first + (int64_t)(fmm_random_uniform(state) * (double)(last - first));
}

#endif
