/*
 * method.h - ways to add the vectors of all elements into one global vector with several threads (Lang's dissertation, sect. 4.2).
 */
#ifndef BENCH_REDUCTION_METHOD_H
#define BENCH_REDUCTION_METHOD_H

#include "reduction/mesh.h"

typedef enum reduction_kind {
    REDUCTION_PRIVATE,        /* a vector for each thread, summed at the end (Alg. 4.1) */
    REDUCTION_SWAP,           /* compare-and-swap for each dof (Alg. 4.5) */
    REDUCTION_LOCKS,          /* a lock for each node, shared by those with the same number modulo the number of locks (Alg. 4.6) */
    REDUCTION_COLOURS,        /* elements that share no node at the same time */
    REDUCTION_OWNERS,         /* each thread computes all elements that touch its rows, and adds to its rows only */
    REDUCTION_UNSYNCHRONISED, /* load, add, store: what the others are compared with; its result is wrong with several threads */
} reduction_kind;

/* Where the elements' vectors come from. */
typedef struct reduction_work {
    const reduction_mesh *mesh;
    double *vectors; /* [elements][ELEMENT_DOFS], or NULL: computed */
    double *matrix,
        *input; /* computed: the product of a dense matrix, [ELEMENT_DOFS][ELEMENT_DOFS], with the element's part of input[dofs] */
} reduction_work;

/* product: whether they are computed.  The numbers are between 0.5 and 1.5, so that sums show whatever is missing.  Errors: MEMORY. */
yoke_status reduction_work_create(const reduction_mesh *mesh, bool product, reduction_work *work);
void reduction_work_release(reduction_work *work);

typedef struct reduction_lock reduction_lock;

typedef struct reduction_method {
    reduction_kind kind;
    int64_t num_locks;
    int threads;
    const reduction_work *work;
    reduction_lock *locks;
    double *own; /* [threads][dofs] */
    reduction_groups groups;
} reduction_method;

/* num_locks counts for REDUCTION_LOCKS only.  Errors: MEMORY. */
yoke_status reduction_method_create(const reduction_work *work, reduction_kind kind, int64_t num_locks, int threads,
                                    reduction_method *method);
void reduction_method_release(reduction_method *method);

/* "private", "cas", "locks", "colouring", "owner", "unsynchronised". */
const char *reduction_name(reduction_kind kind);

/* y[dofs] becomes the sum. */
void reduction_add(const reduction_method *method, double *y);
/* The same on the calling thread, plainly. */
void reduction_reference(const reduction_work *work, double *y);
/* The largest relative difference from the reference, and the dofs where it is above 1e-13 (rounding: a dof has up to 8 addends). */
double reduction_error(int64_t dofs, const double *y, const double *reference, int64_t *wrong);

#endif
