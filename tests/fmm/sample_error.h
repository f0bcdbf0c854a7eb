/*
 * sample_error.h - the errors of a field at some of its particles, by direct sums.
 */
#ifndef FMM_TESTS_SAMPLE_ERROR_H
#define FMM_TESTS_SAMPLE_ERROR_H

#include "near/sample.h"
#include "particles/random.h"

/* Direct sums at `count` particles (or at all, if there are no more), chosen at random, one from each of `count` equal parts of their order. */
static inline yoke_status draw_reference(const fmm_particles *particles, int gradient, int64_t count, uint64_t seed,
                                         fmm_reference **reference)
{
    int64_t *which = NULL;
    if (count > particles->count) count = particles->count;
    yoke_status status = yoke_allocate(particles->context, count, sizeof *which, &which);
    for (int64_t k = 0; k < count && !status; k++) which[k] = fmm_random_in_part(&seed, particles->count, k, count);
    if (!status) status = fmm_reference_create(particles, gradient, count, which, NULL, NULL, reference);
    yoke_release(particles->context, which);
    return status;
}

static inline yoke_status sample_error(const fmm_particles *particles, const fmm_field *field, int64_t count, uint64_t seed,
                                       fmm_sample *sample)
{
    fmm_reference *r = NULL;
    yoke_status status = draw_reference(particles, field->gx != NULL, count, seed, &r);
    if (!status) status = fmm_reference_compare(r, particles, field, sample);
    fmm_reference_destroy(r);
    return status;
}

#endif
