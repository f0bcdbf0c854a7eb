/*
 * vtu.h - particles as points for ParaView.
 */
#ifndef FMM_OUTPUT_VTU_H
#define FMM_OUTPUT_VTU_H

#include <stdbool.h>
#include <stdio.h>

#include "particles/field.h"
#include "particles/particles.h"

/* Prints a VTK XML file of unstructured points with charge, potential and force (field NULL: charge alone), and
 * the gradient if it is wanted, too.  Errors: MEMORY. */
yoke_status fmm_vtu_print(FILE *out, const fmm_particles *particles, const fmm_field *field, bool gradient);

#endif
