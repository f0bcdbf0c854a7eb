/*
 * sample_error.h - the errors of a field at some of its particles, by direct sums.
 */
#ifndef FMM_TESTS_SAMPLE_ERROR_H
#define FMM_TESTS_SAMPLE_ERROR_H

#include "near/sample.h"

static inline yoke_status sample_error(const fmm_particles *particles, const fmm_field *field, int64_t count, uint64_t seed,
                                       fmm_sample *sample)
{
    fmm_reference *r = NULL;
    yoke_status status = fmm_reference_draw(particles, field->gx != NULL, count, seed, &r);
    if (!status) status = fmm_reference_compare(r, particles, field, sample);
    fmm_reference_destroy(r);
    return status;
}

#endif
