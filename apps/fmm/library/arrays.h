/*
 * arrays.h - between the arrays of a caller of libyoke_fmm, which may have strides, and those of the method.
 */
#ifndef FMM_LIBRARY_ARRAYS_H
#define FMM_LIBRARY_ARRAYS_H

#include "particles/field.h"
#include "yoke_fmm.h"

/* A copy of them.  Errors: ARGUMENT (NULL, a negative count or stride), INPUT (a value that is not finite: of which particle), MEMORY. */
yoke_status fmm_arrays_take(yoke_context *context, const yoke_fmm_particles *given, fmm_particles **particles);

/* Errors: ARGUMENT (NULL, a negative stride, some but not all gradients, gradients that are not computed). */
yoke_status fmm_arrays_check(yoke_context *context, const yoke_fmm_field *wanted, int gradient);
/* Copies what is wanted of the field, which has gradients where they are. */
void fmm_arrays_give(const fmm_field *field, const yoke_fmm_field *wanted);

#endif
