#include "tune/order/norms.h"

#include <math.h>

#include "near/direct_block.h"
#include "particles/random.h"
#include "tune/order/draw.h"

enum {
    SOURCES = 8192, /* maximum number of sources that represent all of them in sums of absolute values */
    LEAST = 64,     /* minimum and maximum number of samples */
    MOST = 1024,
    PAIRS = 1 << 23, /* number of pairs of samples and particles, which determines the number of samples between these limits */
    SEED = 2         /* of the samples' random numbers */
};

/* The root of the weighted mean of squares, and its standard error. */
static double root_mean(int64_t count, const double *weights, const double *squares, double *error)
{
    double mean = 0, scatter = 0, weight = 0;
    for (int64_t k = 0; k < count; k++) mean += weights[k] * squares[k], weight += weights[k];
    mean = weight > 0 ? mean / weight : 0;
    for (int64_t k = 0; k < count; k++) scatter += pow(weights[k] * (squares[k] - mean), 2);
    double root = sqrt(mean), deviation = count > 1 ? sqrt(scatter * (double)count / (double)(count - 1)) / weight : 0;
    *error = root > 0 ? deviation / (2 * root) : 0;
    return root;
}

static double root_mean_square(int64_t count, const double *values)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++) sum += values[i] * values[i];
    return count > 0 ? sqrt(sum / (double)count) : 0;
}

/* The root mean square of sum |q| / r at some of the samples, from at most SOURCES sources that represent all of them. */
static yoke_status absolute_mean(const fmm_particles *p, const fmm_reference *sums, double *absolute)
{
    fmm_particles *some = NULL, *at = NULL;
    fmm_field *sum = NULL;
    const int64_t count = p->count < SOURCES ? p->count : SOURCES, places = sums->count < LEAST ? sums->count : LEAST;
    double weights[LEAST], error;
    yoke_status status = fmm_particles_create(p->context, count, &some);
    if (!status) status = fmm_particles_create(p->context, places, &at);
    if (!status) status = fmm_field_create(p->context, places, 0, &sum);
    for (int64_t k = 0; k < count && !status; k++) {
        int64_t i = count == p->count ? k : (int64_t)(fmm_sample_place(k, count) * (double)p->count);
        some->x[k] = p->x[i], some->y[k] = p->y[i], some->z[k] = p->z[i];
        some->charge[k] = fabs(p->charge[i]) * ((double)p->count / (double)count);
    }
    for (int64_t k = 0; k < places && !status; k++) {
        int64_t i = sums->count * k / places;
        at->x[k] = sums->at->x[i], at->y[k] = sums->at->y[i], at->z[k] = sums->at->z[i], weights[k] = sums->weight[i];
    }
    if (!status) {
        some->softening = p->softening;
        status = fmm_direct_at(some, at, NULL, sum);
        for (int64_t k = 0; k < places; k++) sum->potential[k] *= sum->potential[k];
        if (!status) *absolute = root_mean(places, weights, sum->potential, &error);
    }
    fmm_particles_destroy(some);
    fmm_particles_destroy(at);
    fmm_field_destroy(sum);
    return status;
}

yoke_status fmm_norms_known(const fmm_particles *particles, const fmm_reference *sums, fmm_norms *norms)
{
    fmm_norms found = {.force = NAN, .force_error = NAN};
    yoke_status status = absolute_mean(particles, sums, &found.absolute);
    if (status) return status;
    found.potential = root_mean(sums->count, sums->weight, sums->square, &found.potential_error);
    found.energy = fmm_reference_energy(sums, sums->product);
    found.charge = root_mean_square(particles->count, particles->charge);
    if (sums->force_square) found.force = root_mean(sums->count, sums->weight, sums->force_square, &found.force_error);
    *norms = found;
    return YOKE_OK;
}

yoke_status fmm_norms_sample(const fmm_tree *tree, const fmm_particles *particles, fmm_norms *norms)
{
    fmm_reference *sums = NULL;
    uint64_t seed = SEED;
    double weight[MOST];
    int64_t which[MOST], samples = PAIRS / (particles->count + 1);
    samples = samples < LEAST ? LEAST : samples > MOST ? MOST : samples;
    if (samples > particles->count) samples = particles->count;
    for (int64_t k = 0; k < samples; k++) which[k] = fmm_random_in_part(&seed, particles->count, k, samples), weight[k] = 1;
    yoke_status status = fmm_large_charge(particles) > 0 ? fmm_draw_sorted(tree, particles, 0, samples, which, weight) : YOKE_OK;
    if (!status) status = fmm_reference_create_scaled(particles, 1, samples, which, weight, &sums);
    if (!status) status = fmm_norms_known(particles, sums, norms);
    fmm_reference_destroy(sums);
    return status;
}
