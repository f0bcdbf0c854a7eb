#include "tune/norms.h"

#include <math.h>
#include <string.h>

#include "near/kernels/pairs.h"
#include "particles/coincident.h"
#include "tune/draw.h"

enum {
    SOURCES = 8192, /* that are summed by themselves */
    LEAST = 64,
    MOST = 1024,    /* samples at first */
    PAIRS = 1 << 23 /* that the samples shall have with all particles, where that is more than LEAST samples */
};
#define GOOD 0.12 /* standard error, as a part of the mean, with which no more samples are taken */

/* Where sums are taken, and parts of them over some of the sources each. */
typedef struct sample {
    yoke_context *context;
    int64_t count, parts;
    int64_t *which; /* [count] numbers of particles */
    double *x, *y, *z, *charge;
    double *sum; /* [parts][4][count] */
} sample;

static void destroy(sample *s)
{
    yoke_release(s->context, s->which);
    yoke_release(s->context, s->x);
    yoke_release(s->context, s->sum);
}

static yoke_status create(const fmm_particles *p, int64_t samples, sample *s)
{
    *s = (sample){.context = p->context, .count = p->count < samples ? p->count : samples, .parts = (p->count + SOURCES - 1) / SOURCES};
    yoke_status status = yoke_allocate(s->context, s->count, sizeof *s->which, &s->which);
    if (!status) status = yoke_allocate(s->context, 4 * s->count, sizeof *s->x, &s->x);
    if (!status) status = yoke_allocate(s->context, 4 * s->count * s->parts, sizeof *s->sum, &s->sum);
    if (status) {
        destroy(s);
        return status;
    }
    s->y = s->x + s->count, s->z = s->y + s->count, s->charge = s->z + s->count;
    for (int64_t k = 0; k < s->count; k++) {
        int64_t i = (int64_t)(fmm_sample_place(k, s->count) * (double)p->count);
        s->which[k] = i;
        s->x[k] = p->x[i], s->y[k] = p->y[i], s->z[k] = p->z[i], s->charge[k] = p->charge[i];
    }
    return YOKE_OK;
}

/* Sums over sources into sum [4][count], of the part that comes first. */
static void add_all(sample *s, const fmm_particles *p, int gradient)
{
    const fmm_pairs_kernel *kernel = fmm_pairs_select();
    int64_t size = 4 * s->count, parts = (p->count + SOURCES - 1) / SOURCES;
    memset(s->sum, 0, (size_t)(size * parts) * sizeof *s->sum);
#pragma omp parallel for schedule(dynamic)
    for (int64_t part = 0; part < parts; part++) {
        int64_t first = part * SOURCES, count = p->count - first < SOURCES ? p->count - first : SOURCES;
        double *sum = s->sum + part * size, *gx = gradient ? sum + s->count : NULL;
        kernel->add(&(fmm_sources){count, p->x + first, p->y + first, p->z + first, p->charge + first},
                    &(fmm_targets){s->count, s->x, s->y, s->z, sum, gx, sum + 2 * s->count, sum + 3 * s->count}, p->softening);
    }
    for (int64_t part = 1; part < parts; part++)
        for (int64_t i = 0; i < size; i++) s->sum[i] += s->sum[part * size + i];
}

/* The root of the mean of squares, and its standard error. */
static double root_mean(int64_t count, const double *squares, double *error)
{
    double mean = 0, scatter = 0;
    for (int64_t k = 0; k < count; k++) mean += squares[k] / (double)count;
    for (int64_t k = 0; k < count; k++) scatter += (squares[k] - mean) * (squares[k] - mean);
    double root = sqrt(mean), deviation = count > 1 ? sqrt(scatter / (double)(count - 1) / (double)count) : 0;
    *error = root > 0 ? deviation / (2 * root) : 0;
    return root;
}

/* The root mean square of sum |q| / r, by some of the sources that stand for all. */
static yoke_status absolute_mean(sample *s, const fmm_particles *p, double *absolute)
{
    fmm_particles *some = NULL;
    int64_t count = p->count < SOURCES ? p->count : SOURCES;
    double squares = 0;
    yoke_status status = fmm_particles_create(p->context, count, &some);
    if (status) return status;
    some->softening = p->softening;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = count == p->count ? k : (int64_t)(fmm_sample_place(k, count) * (double)p->count);
        some->x[k] = p->x[i], some->y[k] = p->y[i], some->z[k] = p->z[i];
        some->charge[k] = fabs(p->charge[i]) * ((double)p->count / (double)count);
    }
    add_all(s, some, 0);
    for (int64_t k = 0; k < s->count; k++) squares += s->sum[k] * s->sum[k] / (double)s->count;
    *absolute = sqrt(squares);
    fmm_particles_destroy(some);
    return YOKE_OK;
}

static yoke_status sample_some(const fmm_particles *particles, int64_t samples, fmm_norms *norms)
{
    sample s;
    yoke_status status = create(particles, samples, &s);
    if (status) return status;
    status = absolute_mean(&s, particles, &norms->absolute);
    if (!status) {
        add_all(&s, particles, 1);
        status = fmm_coincident_add(particles, s.count, s.which, s.sum);
    }
    if (!status) {
        double *potential = s.sum, *gx = s.sum + s.count, *gy = gx + s.count, *gz = gy + s.count;
        for (int64_t k = 0; k < s.count; k++) {
            potential[k] *= potential[k];
            gx[k] = s.charge[k] * s.charge[k] * (gx[k] * gx[k] + gy[k] * gy[k] + gz[k] * gz[k]);
        }
        norms->potential = root_mean(s.count, potential, &norms->potential_error);
        norms->force = root_mean(s.count, gx, &norms->force_error);
    }
    destroy(&s);
    return status;
}

yoke_status fmm_norms_sample(const fmm_particles *particles, fmm_norms *norms)
{
    fmm_norms found = {0};
    int64_t samples = PAIRS / (particles->count + 1);
    samples = samples < LEAST ? LEAST : samples > MOST ? MOST : samples;
    yoke_status status = sample_some(particles, samples, &found);
    if (!status && found.potential_error > GOOD * found.potential && samples < particles->count)
        status = sample_some(particles, 4 * samples, &found);
    if (!status) *norms = found;
    return status;
}
