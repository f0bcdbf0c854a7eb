/*
 * noise.h - random numbers for tests: the same on every machine.
 */
#ifndef YOKE_TESTS_NOISE_H
#define YOKE_TESTS_NOISE_H

#include <math.h>
#include <stdint.h>

typedef struct noise {
    uint64_t state;
} noise;

/* splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t noise_bits(noise *n)
{
    uint64_t z = n->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in (0, 1). */
static inline double noise_uniform(noise *n) { return ((double)(noise_bits(n) >> 11) + 0.5) * 0x1p-53; }

/* Standard normal (Box and Muller). */
static inline double noise_normal(noise *n)
{
    double radius = sqrt(-2 * log(noise_uniform(n)));
    return radius * cos(6.283185307179586 * noise_uniform(n));
}

#endif
