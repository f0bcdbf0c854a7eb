#include "particles/generate.h"

#include <math.h>

#include "particles/random.h"

#define PI 3.14159265358979323846

enum { SHELLS = 8 };

const char *const fmm_distribution_names[FMM_DISTRIBUTIONS + 1] = {"grid", "shells", "xenon",  "uniform", "clusters",
                                                                   "line", "plane",  "spiral", "outlier", NULL};

/* Places a particle at distance r from the cube's centre, in the direction with third component z and azimuth t. */
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

/* If the number of particles is not a multiple of SHELLS, the first shells have one particle more than the last ones. */
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
 * A fraction u of the particles is within r(u) = u^p / 2 of the centre.  The innermost particles have constant density within a radius
 * `core`, which equals r(u_core).  With this p half of the particles are within 0.025 % of the volume.
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

/* ------------------------------------------------------------------------------------------- other distributions */

/* Sums, products and roots are identical to the last bit on all machines.  The functions below use only these where this is possible. */

static void set(fmm_particles *particles, int64_t m, const double at[3])
{
    particles->x[m] = at[0];
    particles->y[m] = at[1];
    particles->z[m] = at[2];
    particles->charge[m] = m % 2 ? -1 : 1;
}

static void make_uniform(fmm_particles *particles, uint64_t seed)
{
    for (int64_t m = 0; m < particles->count; m++) {
        double at[3];
        for (int c = 0; c < 3; c++) at[c] = fmm_random_uniform(&seed);
        set(particles, m, at);
    }
}

/* Draws an evenly distributed unit vector: the direction of a point in the unit ball that is not near its centre. */
static void draw_direction(uint64_t *seed, double direction[3])
{
    double square;
    do {
        square = 0;
        for (int c = 0; c < 3; c++) {
            direction[c] = 2 * fmm_random_uniform(seed) - 1;
            square += direction[c] * direction[c];
        }
    } while (square > 1 || square < 0x1p-20);
    for (int c = 0; c < 3; c++) direction[c] /= sqrt(square);
}

/*
 * Draws the distance from the centre of a Plummer sphere with a radius of 1, up to 5 radii.  A fraction r^3 / (1 + r^2)^(3/2) of the
 * particles is within r (H. C. Plummer, MNRAS 71 (1911) 460).  This is v^3 for v = r / sqrt(1 + r^2), and the largest of three random
 * numbers is below v with probability v^3.
 */
static double draw_plummer(uint64_t *seed)
{
    for (;;) {
        double v = 0;
        for (int k = 0; k < 3; k++) v = fmax(v, fmm_random_uniform(seed));
        double r = v / sqrt(1 - v * v);
        if (r <= 5) return r;
    }
}

static void make_clusters(fmm_particles *particles, uint64_t seed)
{
    static const double centre[2][3] = {{0.35, 0.4, 0.45}, {0.8, 0.75, 0.7}}, radius[2] = {0.06, 0.003};
    for (int64_t m = 0; m < particles->count; m++) {
        double at[3];
        int which = m % 5 == 4;
        double r = radius[which] * draw_plummer(&seed);
        draw_direction(&seed, at);
        for (int c = 0; c < 3; c++) at[c] = centre[which][c] + r * at[c];
        set(particles, m, at);
    }
}

/* Places particles at `corner` + s `first` + t `second`, s and t from 0 to 1; second NULL: on a line. */
static void make_flat(fmm_particles *particles, uint64_t seed, const double corner[3], const double first[3], const double *second)
{
    for (int64_t m = 0; m < particles->count; m++) {
        double at[3], s = fmm_random_uniform(&seed), t = second ? fmm_random_uniform(&seed) : 0;
        for (int c = 0; c < 3; c++) at[c] = corner[c] + s * first[c] + (second ? t * second[c] : 0);
        set(particles, m, at);
    }
}

/* Places particles around the curve at distance 0.4 s from the centre after 2 s turns, s from 0 to 1, and around the same curve rotated
 * by half a turn. */
static void make_spiral(fmm_particles *particles, uint64_t seed)
{
    static const double thickness[3] = {0.03, 0.03, 0.01};
    for (int64_t m = 0; m < particles->count; m++) {
        double s = fmm_random_uniform(&seed), r = fmm_random(&seed) >> 63 ? -0.4 * s : 0.4 * s;
        double at[3] = {0.5 + r * cos(4 * PI * s), 0.5 + r * sin(4 * PI * s), 0.5};
        for (int c = 0; c < 3; c++) {
            double sum = 0; /* the sum of three is nearly normal, but bounded */
            for (int k = 0; k < 3; k++) sum += fmm_random_uniform(&seed);
            at[c] += thickness[c] * (sum - 1.5);
        }
        set(particles, m, at);
    }
}

static void make_outlier(fmm_particles *particles, uint64_t seed)
{
    static const double corner[3] = {0.1, 0.2, 0.3}, far[3] = {0.9, 0.8, 0.7};
    for (int64_t m = 0; m < particles->count; m++) {
        double at[3];
        for (int c = 0; c < 3; c++) at[c] = corner[c] + 0x1p-12 * fmm_random_uniform(&seed);
        set(particles, m, m + 1 < particles->count ? at : far);
    }
}

static void make(fmm_distribution distribution, uint64_t seed, fmm_particles *particles)
{
    switch (distribution) {
    case FMM_GRID:
        make_grid(particles);
        break;
    case FMM_SHELLS:
        make_shells(particles);
        break;
    case FMM_XENON:
        make_xenon(particles, seed);
        break;
    case FMM_UNIFORM:
        make_uniform(particles, seed);
        break;
    case FMM_CLUSTERS:
        make_clusters(particles, seed);
        break;
    case FMM_LINE:
        make_flat(particles, seed, (const double[]){0.05, 0.1, 0.15}, (const double[]){0.9, 0.7, 0.75}, NULL);
        break;
    case FMM_PLANE:
        make_flat(particles, seed, (const double[]){0.15, 0.05, 0.1}, (const double[]){0.75, 0.15, 0.35}, (const double[]){-0.1, 0.7, 0.4});
        break;
    case FMM_SPIRAL:
        make_spiral(particles, seed);
        break;
    case FMM_OUTLIER:
        make_outlier(particles, seed);
        break;
    case FMM_DISTRIBUTIONS:
        break;
    }
}

int64_t fmm_distribution_count(fmm_distribution distribution) { return distribution == FMM_XENON ? 113000 : 262144; }

yoke_status fmm_particles_generate(yoke_context *context, fmm_distribution distribution, int64_t count, fmm_charges charges, uint64_t seed,
                                   fmm_particles **particles)
{
    fmm_particles *created = NULL;
    yoke_status status = fmm_particles_create(context, count, &created);
    if (status) return status;
    make(distribution, seed, created);
    uint64_t sign = seed + 1;
    for (int64_t i = 0; i < count && charges != FMM_ALTERNATING; i++)
        created->charge[i] = charges == FMM_EQUAL || fmm_random(&sign) >> 63 ? 1 : -1;
    *particles = created;
    return YOKE_OK;
}
