/* method.h - methods to add the vectors of all elements to one global vector with several threads (Lang's dissertation, sect. 4.2). */
#ifndef BENCH_REDUCTION_METHOD_H
#define BENCH_REDUCTION_METHOD_H

#include "reduction/mesh.h"

typedef enum reduction_kind {
    REDUCTION_PRIVATE,        /* a vector for each thread, summed at the end (Alg. 4.1) */
    REDUCTION_SWAP,           /* compare-and-swap for each dof (Alg. 4.5) */
    REDUCTION_LOCKS,          /* a lock for each node, shared by nodes whose numbers are equal modulo the number of locks (Alg. 4.6) */
    REDUCTION_COLOURS,        /* elements that share no node at the same time */
    REDUCTION_OWNERS,         /* each thread computes all elements that touch its rows, and adds only to its rows */
    REDUCTION_UNSYNCHRONISED, /* load, add, store: the reference for the others; its result is wrong with several threads */
} reduction_kind;

/* The source of the elements' vectors. */
typedef struct reduction_work {
    const reduction_mesh *mesh;
    double *vectors; /* [elements][ELEMENT_DOFS], or NULL: computed */
    double *matrix,
        *input; /* if computed: the product of a dense matrix [ELEMENT_DOFS][ELEMENT_DOFS] and the element's part of input[dofs] */
} reduction_work;

/*
 * product: whether the vectors are computed.  The numbers are between 0.5 and 1.5, so that a missing addend changes a sum noticeably.
 * Errors: MEMORY.
 */
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

/* num_locks: only for REDUCTION_LOCKS.  Errors: MEMORY. */
yoke_status reduction_method_create(const reduction_work *work, reduction_kind kind, int64_t num_locks, int threads,
                                    reduction_method *method);
void reduction_method_release(reduction_method *method);

/* "private", "cas", "locks", "colouring", "owner", "unsynchronised". */
const char *reduction_name(reduction_kind kind);

/* Computes the sum y[dofs]. */
void reduction_add(const reduction_method *method, double *y);
/* Computes the same sum on the calling thread, without any method. */
void reduction_reference(const reduction_work *work, double *y);
/* Largest relative difference from the reference, and the number of dofs where it exceeds 1e-13 (rounding: a dof has up to 8 addends). */
double reduction_error(int64_t dofs, const double *y, const double *reference, int64_t *wrong);

#endif
