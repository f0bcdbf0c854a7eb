/*
 * inspection.h - the report of `--check` on a case before anything is solved: size, volume and mass, areas, loads, memory.
 *
 * All values are those of the elements of the first solve: the loads are the sum of the load vector of that solve.
 */
#ifndef FEM_OUTPUT_INSPECTION_H
#define FEM_OUTPUT_INSPECTION_H

#include "case/case.h"
#include "space/boundary.h"

typedef struct fem_inspection {
    yoke_context *context; /* borrowed, as are these */
    const fem_case *input;
    const fem_problem *problem;
    int64_t elements, dofs;
    double low[3], high[3];     /* bounding box of the nodes */
    double *volume;             /* [num_materials] */
    double *area;               /* [mesh->num_groups] of face groups; a face between two elements is counted once; others 0 */
    double force[3], moment[3]; /* total load, moment about the origin; Poisson: force[0] is the flow */
    double memory_bytes;        /* expected for the first solve */
    double most_memory_bytes;   /* for refine.max_elements; NaN: there is no refinement */
} fem_inspection;

/* Inspects a case on the first solve's space.  Collective: values are those of all ranks.  Errors: MEMORY, INPUT (as fem_space_load). */
yoke_status fem_inspect(const fem_case *input, const fem_space *space, fem_inspection *inspection);
void fem_inspection_release(fem_inspection *inspection);

/* The inspection as text, with the case's units; release it with yoke_release.  memory_bytes: of the machine.  Errors: MEMORY. */
yoke_status fem_inspection_text(const fem_inspection *inspection, double memory_bytes, char **text);

#endif
