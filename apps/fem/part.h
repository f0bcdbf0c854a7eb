/*
 * part.h - a part: the elements that one device works on, with its vectors and its operator.
 *
 * A part owns everything that a solve needs on its device; the solver (cg.c, multigrid.c) calls only the functions below and never sees a
 * vector's memory.  Today there is one kind, the CPU part (part_cpu.c: threads over chunks of elements in Morton order).
 *
 * Vectors have one value per dof of the space.  "Free" dofs are those without a Dirichlet condition.  All functions are deterministic:
 * the same call gives the same bits again at the same number of threads.
 */
#ifndef FEM_PART_H
#define FEM_PART_H

#include "boundary.h"
#include "interpolation.h"
#include "kernels/batch.h"

typedef struct fem_part fem_part;

/* A vector belongs to the part that made it; data is the part's own business (memory of its device). */
typedef struct fem_vector {
    fem_part *part;
    void *data;
} fem_vector;

typedef enum fem_operator { FEM_MATRIXFREE, FEM_STORED } fem_operator;

/*
 * Receives the matrix of one element, hanging nodes folded in: packed lower triangle by rows, m (m + 1) / 2 values; row and column
 * i x components + c is component c of the element's i-th slot that carries a node.
 */
typedef void fem_matrix_visitor(int32_t element, const double *packed, void *user);

/* What a kind of part provides; all slots are required. */
typedef struct fem_part_functions {
    const char *kind; /* of device: "openmp" */
    void (*destroy)(fem_part *part);
    yoke_status (*vector_create)(fem_part *part, fem_vector **vector); /* all zero.  Errors: MEMORY */
    void (*vector_destroy)(fem_vector *vector);
    void (*write)(fem_vector *to, const double *from); /* from the host, [dofs] */
    void (*read)(const fem_vector *from, double *to);  /* to the host */
    void (*zero)(fem_vector *x);
    /* to = alpha from; the two may be of parts of the same space with different precision */
    void (*copy_scaled)(double alpha, const fem_vector *from, fem_vector *to);
    void (*axpy)(double alpha, const fem_vector *x, fem_vector *y);            /* y += alpha x */
    void (*xpby)(const fem_vector *x, double beta, fem_vector *y);             /* y = x + beta y */
    void (*subtract)(const fem_vector *x, const fem_vector *y, fem_vector *z); /* z = x - y */
    double (*dot)(const fem_vector *x, const fem_vector *y);
    /* x += alpha p, r -= alpha q; returns r.r */
    double (*advance)(double alpha, const fem_vector *p, const fem_vector *q, fem_vector *x, fem_vector *r);
    /* y = A x; masked: y is 0 at prescribed dofs, where x must be 0 */
    void (*product)(fem_part *part, int masked, const fem_vector *x, fem_vector *y);
    /* sets prescribed dofs to 0 */
    void (*mask)(fem_vector *x);
    /* z = B r, B the inverse node blocks of the diagonal, 0 at prescribed dofs */
    void (*block_solve)(fem_part *part, const fem_vector *r, fem_vector *z);
    /* d = a d + c B (b - t), x += d; t NULL: zero */
    void (*chebyshev_step)(fem_part *part, double a, double c, const fem_vector *b, const fem_vector *t, fem_vector *d, fem_vector *x);
    /* fine += P coarse; coarse = P^T fine at free dofs, 0 at prescribed ones.  The vectors have one precision. */
    void (*prolongate_add)(const fem_interpolation *p, const fem_vector *coarse, fem_vector *fine);
    void (*restrict_to)(const fem_interpolation *p, const fem_vector *fine, fem_vector *coarse);
    /* shows each element's matrix once, in a fixed order, on the calling thread.  Errors: MEMORY */
    yoke_status (*visit_matrices)(fem_part *part, fem_matrix_visitor *visit, void *user);
    int64_t (*memory_bytes)(const fem_part *part);
    double (*seconds_per_product)(const fem_part *part); /* mean over the products so far, NaN before the first */
} fem_part_functions;

struct fem_part {
    const fem_part_functions *call; /* as in part->call->product(part, ...) */
    yoke_context *context;
    const fem_space *space;
    fem_precision precision;
    fem_operator operator_kind;
    int64_t dofs;
    int64_t products; /* counted since creation */
};

typedef struct fem_part_options {
    fem_precision precision;
    fem_operator operator_kind;
    int threads;                /* 0: as many as the process may use */
    const fem_kernels *kernels; /* NULL: the best of this processor; tests ask for others */
} fem_part_options;

/*
 * A part with all elements of the space on the CPU.  space and constraints are borrowed and must outlive it.
 * Errors: MEMORY, INPUT (an element whose map folds: coarse element and determinant).
 */
yoke_status fem_part_cpu_create(const fem_space *space, const fem_constraints *constraints, const fem_part_options *options,
                                fem_part **part);

#endif
