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

#endif
