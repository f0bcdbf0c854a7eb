#include "near/sample.h"

#include <math.h>
#include <string.h>

#include "near/direct_block.h"
#include "particles/coincident.h"
#include "particles/random.h"
#include "particles/scale.h"

enum { TOGETHER = 16 }; /* places that a thread takes at once */

/* Sums over the scaled particles at those of `at`. */
static void sum_at(const fmm_particles *scaled, const fmm_particles *at, fmm_field *exact)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < at->count; first += TOGETHER) {
        fmm_block block;
        int64_t count = at->count - first < TOGETHER ? at->count - first : TOGETHER;
        size_t bytes = (size_t)count * sizeof(double);
        fmm_direct_block(scaled, at, first, count, exact->gx != NULL, &block);
        memcpy(exact->potential + first, block.potential, bytes);
        if (!exact->gx) continue;
        memcpy(exact->gx + first, block.gx, bytes);
        memcpy(exact->gy + first, block.gy, bytes);
        memcpy(exact->gz + first, block.gz, bytes);
    }
}

/* Direct sums at particles which[], with their charges in at->charge. */
static yoke_status sum_chosen(const fmm_particles *particles, const int64_t *which, fmm_particles *at, fmm_field *exact)
{
    fmm_particles *scaled = NULL;
    fmm_scale scale;
    yoke_status status = fmm_scale_create(particles, &scale, &scaled);
    if (status) return status;
    for (int64_t k = 0; k < at->count; k++) {
        at->x[k] = scaled->x[which[k]];
        at->y[k] = scaled->y[which[k]];
        at->z[k] = scaled->z[which[k]];
        at->charge[k] = particles->charge[which[k]];
    }
    sum_at(scaled, at, exact);
    status = fmm_coincident_add(scaled, at->count, which, exact->potential);
    fmm_particles_destroy(scaled);
    return status ? status : fmm_scale_field(at->charge, scale, exact);
}

/* Largest absolute value of some values, so that their squares in units of it neither overflow nor all vanish; 1 where all are 0. */
static double unit_of(int64_t count, const double *const values[4])
{
    double unit = 0;
    for (int c = 0; c < 4 && values[c]; c++)
        for (int64_t k = 0; k < count; k++) unit = fmax(unit, fabs(values[c][k]));
    return unit > 0 ? unit : 1;
}

/* Squares of errors and of what they are errors of, at each particle [count]. */
typedef struct squares {
    int64_t count;
    double *error, *size;
} squares;

/* The root of the quotient of their sums, and its standard error as a part of it (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, sect. 2.11). */
static double ratio(const squares *s, double *uncertainty)
{
    double error = 0, size = 0, scatter = 0;
    for (int64_t k = 0; k < s->count; k++) error += s->error[k], size += s->size[k];
    *uncertainty = 0;
    if (error == 0) return 0;
    for (int64_t k = 0; k < s->count; k++) scatter += pow(s->error[k] / error - s->size[k] / size, 2);
    *uncertainty = 0.5 * sqrt(scatter);
    return sqrt(error / size);
}

static void compare(const int64_t *which, const double *charge, const fmm_field *field, const fmm_field *exact, squares *s,
                    fmm_sample *sample)
{
    double unit = unit_of(exact->count, (const double *const[4]){exact->potential});
    for (int64_t k = 0; k < exact->count; k++) {
        s->error[k] = pow((field->potential[which[k]] - exact->potential[k]) / unit, 2);
        s->size[k] = pow(exact->potential[k] / unit, 2);
    }
    *sample = (fmm_sample){.count = exact->count, .force = NAN, .force_uncertainty = NAN};
    sample->potential = ratio(s, &sample->potential_uncertainty);
    if (!exact->gx) return;
    const double *const is[3] = {field->gx, field->gy, field->gz}, *const should[4] = {exact->gx, exact->gy, exact->gz};
    double most = unit_of(exact->count, (const double *const[4]){charge});
    unit = unit_of(exact->count, should);
    for (int64_t k = 0; k < exact->count; k++) {
        s->error[k] = s->size[k] = 0;
        for (int c = 0; c < 3; c++) {
            double q = charge[k] / most;
            s->error[k] += pow(q * ((is[c][which[k]] - should[c][k]) / unit), 2);
            s->size[k] += pow(q * (should[c][k] / unit), 2);
        }
    }
    sample->force = ratio(s, &sample->force_uncertainty);
}

yoke_status fmm_sample_error(const fmm_particles *particles, const fmm_field *field, int64_t count, uint64_t seed, fmm_sample *sample)
{
    int64_t n = particles->count, *which = NULL;
    squares s = {.count = count < n ? count : n};
    fmm_particles *at = NULL;
    fmm_field *exact = NULL;
    if (count > n) count = n;
    yoke_status status = yoke_allocate(particles->context, count, sizeof *which, &which);
    if (!status) status = fmm_particles_create(particles->context, count, &at);
    if (!status) status = fmm_field_create(particles->context, count, field->gx != NULL, &exact);
    if (!status) status = yoke_allocate(particles->context, count, sizeof *s.error, &s.error);
    if (!status) status = yoke_allocate(particles->context, count, sizeof *s.size, &s.size);
    for (int64_t k = 0; k < count && !status; k++) {
        int64_t first = n * k / count, last = n * (k + 1) / count;
        which[k] = first + (int64_t)(fmm_random_uniform(&seed) * (double)(last - first));
    }
    if (!status) status = sum_chosen(particles, which, at, exact);
    if (!status) compare(which, at->charge, field, exact, &s, sample);
    if (!status && count == n) sample->potential_uncertainty = 0, sample->force_uncertainty *= 0; /* NaN stays */
    yoke_release(particles->context, s.error);
    yoke_release(particles->context, s.size);
    fmm_field_destroy(exact);
    fmm_particles_destroy(at);
    yoke_release(particles->context, which);
    return status;
}
