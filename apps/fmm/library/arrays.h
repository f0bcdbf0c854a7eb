/*
 * arrays.h - copies between the arrays of a caller of libyoke_fmm, which may have strides, and those of the method.
 */
#ifndef FMM_LIBRARY_ARRAYS_H
#define FMM_LIBRARY_ARRAYS_H

#include "particles/field.h"
#include "yoke_fmm.h"

/* Creates a copy of the caller's particles.  Errors: ARGUMENT (NULL, a negative count or stride), INPUT (a value that is not finite; the
 * message names the particle), MEMORY. */
yoke_status fmm_arrays_take(yoke_context *context, const yoke_fmm_particles *given, fmm_particles **particles);

/* Checks the caller's arrays for the field.  Errors: ARGUMENT (NULL, a negative stride, some but not all gradients, gradients that are not
 * computed). */
yoke_status fmm_arrays_check(yoke_context *context, const yoke_fmm_field *wanted, int gradient);
/* Copies the field to the caller's arrays; the field must have gradients if they are wanted. */
void fmm_arrays_give(const fmm_field *field, const yoke_fmm_field *wanted);

#endif
