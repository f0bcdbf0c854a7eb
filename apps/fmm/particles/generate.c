#include "particles/generate.h"

#include <math.h>

#include "particles/random.h"

#define PI 3.14159265358979323846

enum { SHELLS = 8 };

/* The point at distance r of the cube's centre in the direction with third component z and azimuth t. */
static void place(fmm_particles *particles, int64_t i, double r, double z, double t)
{
    double w = sqrt(1 - z * z);
    particles->x[i] = 0.5 + r * w * cos(t);
    particles->y[i] = 0.5 + r * w * sin(t);
    particles->z[i] = 0.5 + r * z;
}

static void make_grid(fmm_particles *particles)
{
    int64_t n = 1;
    while (n * n * n < particles->count) n++;
    for (int64_t m = 0; m < particles->count; m++) {
        int64_t i = m % n, j = m / n % n, k = m / (n * n);
        particles->x[m] = ((double)i + 0.5) / (double)n;
        particles->y[m] = ((double)j + 0.5) / (double)n;
        particles->z[m] = ((double)k + 0.5) / (double)n;
        particles->charge[m] = (i + j + k) % 2 ? -1 : 1;
    }
}

/* The first shells have one particle more than the last where the number is no multiple of 8. */
static void make_shells(fmm_particles *particles)
{
    int64_t m = 0;
    for (int k = 0; k < SHELLS; k++) {
        int64_t points = particles->count / SHELLS + (k < particles->count % SHELLS);
        for (int64_t i = 0; i < points; i++, m++) {
            place(particles, m, 0.0624 * (k + 1), 1 - 2 * ((double)i + 0.5) / (double)points, (double)i * (PI * (3 - sqrt(5))) + k);
            particles->charge[m] = i % 2 ? -1 : 1;
        }
    }
}

/*
 * A fraction u of the particles lies within r(u) = u^p / 2 of the centre, and the innermost with even density within `core`, which meets it at
 * u_core.  p is such that half of the particles lie within 0.025 % of the volume.
 */
static void make_xenon(fmm_particles *particles, uint64_t seed)
{
    const double p = 3.67743930447108, core = 0x1p-13, u_core = 0.104159028847893;
    for (int64_t m = 0; m < particles->count; m++) {
        double u = fmm_random_uniform(&seed), z = 2 * fmm_random_uniform(&seed) - 1, t = 2 * PI * fmm_random_uniform(&seed);
        place(particles, m, u >= u_core ? 0.5 * pow(u, p) : core * cbrt(u / u_core), z, t);
        particles->charge[m] = m % 2 ? -1 : 1;
    }
}

int64_t fmm_distribution_count(fmm_distribution distribution) { return distribution == FMM_XENON ? 113000 : 262144; }

yoke_status fmm_particles_generate(yoke_context *context, fmm_distribution distribution, int64_t count, fmm_charges charges, uint64_t seed,
                                   fmm_particles **particles)
{
    fmm_particles *created = NULL;
    yoke_status status = fmm_particles_create(context, count, &created);
    if (status) return status;
    switch (distribution) {
    case FMM_GRID:
        make_grid(created);
        break;
    case FMM_SHELLS:
        make_shells(created);
        break;
    case FMM_XENON:
        make_xenon(created, seed);
        break;
    }
    uint64_t sign = seed + 1;
    for (int64_t i = 0; i < count && charges != FMM_ALTERNATING; i++)
        created->charge[i] = charges == FMM_EQUAL || fmm_random(&sign) >> 63 ? 1 : -1;
    *particles = created;
    return YOKE_OK;
}
