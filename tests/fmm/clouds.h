/*
 * clouds.h - small sets of particles on which trees are unusual.
 */
#ifndef FMM_TESTS_CLOUDS_H
#define FMM_TESTS_CLOUDS_H

#include <math.h>

#include "particles/particles.h"
#include "unit.h"

enum cloud {
    UNIFORM,
    CLUSTERED,
    LINE,
    PLANE,
    SPIRAL,
    FAR_PARTICLE,
    ON_FACES,
    ONE_PLACE,
    HUGE_EXTENT,
    TINY_EXTENT,
    TWO_CLUSTERS,
    SHELLS,
    CLOUDS
};

/* Uniform in [0, 1); xorshift64* (Vigna 2016). */
static inline double cloud_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * 0x2545F4914F6CDD1D) >> 11) * 0x1p-53;
}

static inline void cloud_place(enum cloud cloud, int64_t i, uint64_t *state, double at[3])
{
    double t = cloud_random(state), u[3] = {t, cloud_random(state), cloud_random(state)};
    for (int c = 0; c < 3; c++) {
        switch (cloud) {
        case UNIFORM:
            at[c] = u[c];
            break;
        case CLUSTERED:
            at[c] = (double)(i % 3) + u[c] * pow(0.5, 20 * t);
            break;
        case LINE:
            at[c] = t;
            break;
        case PLANE:
            at[c] = c == 2 ? -3 : u[c];
            break;
        case SPIRAL:
            at[c] = c == 2 ? t : c ? t * sin(20 * t) : t * cos(20 * t);
            break;
        case FAR_PARTICLE:
            at[c] = i ? 1e-4 * u[c] : 7;
            break;
        case ON_FACES:
            at[c] = floor(9 * u[c]) / 8;
            break;
        case ONE_PLACE:
            at[c] = 5;
            break;
        case HUGE_EXTENT:
            at[c] = 1e300 * (u[c] - 0.5);
            break;
        case TINY_EXTENT:
            at[c] = 1e-310 * u[c];
            break;
        case TWO_CLUSTERS:
            at[c] = i % 2 ? 0.1 * u[c] : 3 + 1e-5 * u[c];
            break;
        default: /* shells of radius 1 and 1/8 around the origin */
            at[c] = ldexp(c == 2 ? 2 * t - 1 : sqrt(4 * t * (1 - t)) * (c ? sin(7 * u[1]) : cos(7 * u[1])), i % 4 ? 0 : -3);
            break;
        }
    }
}

static inline fmm_particles *cloud_create(yoke_context *context, enum cloud cloud, int64_t count)
{
    fmm_particles *p = NULL;
    uint64_t state = 0x9E3779B97F4A7C15 + cloud;
    assert_int_equal(fmm_particles_create(context, count, &p), YOKE_OK);
    for (int64_t i = 0; i < count; i++) {
        double at[3];
        cloud_place(cloud, i, &state, at);
        p->x[i] = at[0];
        p->y[i] = at[1];
        p->z[i] = at[2];
        p->charge[i] = 1;
    }
    return p;
}

/* The same with charges of -1 and 1 at random. */
static inline fmm_particles *cloud_create_charged(yoke_context *context, enum cloud cloud, int64_t count)
{
    fmm_particles *p = cloud_create(context, cloud, count);
    uint64_t random = 77;
    for (int64_t i = 0; i < count; i++) p->charge[i] = cloud_random(&random) < 0.5 ? -1 : 1;
    return p;
}

#endif
