/*
 * part.h - a part: the elements that one device works on, with its vectors and its operator.
 *
 * A part works on a space of its own (fem_subspace): its run of elements with the nodes that they touch, numbered by itself, and the nodes
 * that it needs beside them (see team.h).  It owns everything that a solve needs on its device.  Nobody but the team (team.c) calls it; the
 * solver calls the team.
 *
 * Functions only start their work where the device works by itself; those that end in _wait wait.  A part whose device fails remembers the
 * first failure in `status`; its functions then do nothing.  All functions are deterministic: the same calls give the same bits at the same
 * number of threads.
 *
 * "Interface" nodes are those that other parts have too.  After product_interface, the part's own sum is right at them; product_interior
 * does the other elements.  Vectors keep the same values at a shared node in all parts, and each dof is owned by one part: it counts there.
 */
#ifndef FEM_OPERATOR_PART_H
#define FEM_OPERATOR_PART_H

#include "operator/kernels/batch.h"
#include "operator/programs.h"
#include "space/boundary.h"
#include "space/interpolation.h"

typedef struct fem_part fem_part;
typedef struct fem_part_vector fem_part_vector; /* memory of the part's device; each kind of part has its own */
typedef struct fem_part_rows fem_part_rows;     /* sparse rows on the part's device */

typedef enum fem_operator { FEM_MATRIXFREE, FEM_STORED } fem_operator;

/*
 * How device parts add up what the elements have for a node (matrix-free operator; the stored one always sums): each element's own values are
 * kept and then summed node by node; elements are taken by colours, of which no two share a node, and add to the result; or all add to it at
 * once by atomic operations, whose order, and so the last bits, change from product to product.
 */
typedef enum fem_adding { FEM_ADD_SUM, FEM_ADD_COLOUR, FEM_ADD_ATOMIC } fem_adding;

/* Most pairs of one call of `dots`. */
enum { FEM_MOST_DOTS = 4 };

/*
 * Receives the matrix of one element, hanging nodes folded in: packed lower triangle by rows, m (m + 1) / 2 values; row and column
 * i x components + c is component c of the element's i-th slot that carries a node.  `element` is the part's number.
 */
typedef void fem_matrix_visitor(int32_t element, const double *packed, void *user);

/* What a kind of part provides; all slots are required but visit_matrices. */
typedef struct fem_part_functions {
    const char *kind; /* of device: "openmp", "device" */
    void (*destroy)(fem_part *part);

    yoke_status (*vector_create)(fem_part *part, fem_part_vector **vector); /* all zero.  Errors: MEMORY, DEVICE_MEMORY, DEVICE */
    void (*vector_destroy)(fem_part *part, fem_part_vector *vector);
    void (*write)(fem_part *part, fem_part_vector *to, const double *from);     /* [dofs] from the host; done when it returns */
    void (*read_wait)(fem_part *part, const fem_part_vector *from, double *to); /* [dofs] to the host; done when it returns */
    void (*zero)(fem_part *part, fem_part_vector *x);
    /* to = alpha from; `from` belongs to another part on the same device with the same nodes, maybe of other precision */
    void (*copy_scaled)(fem_part *part, double alpha, const fem_part *from_part, const fem_part_vector *from, fem_part_vector *to);
    void (*axpy)(fem_part *part, double alpha, const fem_part_vector *x, fem_part_vector *y);                 /* y += alpha x */
    void (*xpby)(fem_part *part, const fem_part_vector *x, double beta, fem_part_vector *y);                  /* y = x + beta y */
    void (*subtract)(fem_part *part, const fem_part_vector *x, const fem_part_vector *y, fem_part_vector *z); /* z = x - y */
    /* x += alpha p, r -= alpha q */
    void (*advance)(fem_part *part, double alpha, const fem_part_vector *p, const fem_part_vector *q, fem_part_vector *x,
                    fem_part_vector *r);
    /* starts the sums over owned dofs of x[i] y[i], i < count <= FEM_MOST_DOTS; the sums are made in double precision */
    void (*dots)(fem_part *part, int count, const fem_part_vector *const *x, const fem_part_vector *const *y);
    void (*dots_wait)(fem_part *part, int count, double *sums); /* NaN after a failure */

    /* y = A x of the part's own elements, in two steps; units of the device's work are elements */
    void (*product_interface)(fem_part *part, const fem_part_vector *x, fem_part_vector *y);
    void (*product_interior)(fem_part *part, const fem_part_vector *x, fem_part_vector *y);
    /* sets prescribed dofs to 0 */
    void (*mask)(fem_part *part, fem_part_vector *x);

    /*
     * Own sums at interface nodes to part->interface_own [num_interface][width] (host memory, in the part's precision) and back:
     * interface_read starts, interface_wait waits for it, interface_write sets y there to part->interface_total, which must stay as it is
     * until the next interface_wait.  Width: values per node of the vector: components, or that of the diagonal's blocks.
     */
    void (*interface_read)(fem_part *part, const fem_part_vector *y);
    void (*interface_wait)(fem_part *part);
    void (*interface_write)(fem_part *part, fem_part_vector *y);

    /*
     * Node blocks of the diagonal: `diagonal` puts the part's own sums at interface nodes to part->interface_own [num_interface][6 or 1]
     * (done when it returns); diagonal_finish takes the totals from part->interface_total and inverts the blocks (rows and columns of
     * prescribed components zero).
     */
    void (*diagonal)(fem_part *part);
    void (*diagonal_finish)(fem_part *part);
    /* z = B r, B the inverse node blocks, 0 at prescribed dofs */
    void (*block_solve)(fem_part *part, const fem_part_vector *r, fem_part_vector *z);
    /* d = a d + c B (b - t), x += d; a = 0: d is not read; t NULL: the first step from zero, d = x = c B b */
    void (*chebyshev_step)(fem_part *part, double a, double c, const fem_part_vector *b, const fem_part_vector *t, fem_part_vector *d,
                           fem_part_vector *x);

    /* Rows over nodes (copied), one for each node of `part`: `to` belongs to `part`, `from` to another part on the same device. */
    yoke_status (*rows_create)(fem_part *part, int32_t num_rows, const fem_rows *rows, fem_part_rows **out);
    void (*rows_destroy)(fem_part *part, fem_part_rows *rows);
    void (*rows_add)(fem_part *part, const fem_part_rows *rows, const fem_part_vector *from, fem_part_vector *to); /* to += rows from */
    void (*rows_set)(fem_part *part, const fem_part_rows *rows, const fem_part_vector *from, fem_part_vector *to); /* to = rows from */

    /* Shows each element's matrix once, in a fixed order, on the calling thread; NULL for kinds that keep none. */
    yoke_status (*visit_matrices)(fem_part *part, fem_matrix_visitor *visit, void *user);
    /* Bytes held, vectors not counted. */
    int64_t (*memory_bytes)(const fem_part *part);
    /*
     * Seconds that the device was busy with products since the part was made: elements, packing and moving interface values (waiting for
     * others not counted).  Waits for the device.
     */
    double (*product_seconds_wait)(fem_part *part);
    /* Waits until all started work is done; then `status` is up to date. */
    void (*finish)(fem_part *part);
} fem_part_functions;

struct fem_part {
    const fem_part_functions *call; /* as in part->call->mask(part, x) */
    yoke_context *context;
    yoke_device *device;                /* borrowed */
    const fem_space *space;             /* the part's own: borrowed */
    const fem_constraints *constraints; /* of that space: only `prescribed` is looked at */
    fem_precision precision;
    fem_operator operator_kind;
    int64_t dofs;
    int32_t num_interface;
    const int32_t *interface_nodes;        /* [num_interface] ascending: borrowed */
    const uint8_t *owned;                  /* [num_nodes] 1: counts here; NULL: all.  Borrowed */
    void *interface_own, *interface_total; /* host memory of the device: [num_interface][6], of the part */
    yoke_status status;                    /* the first failure */
    double setup_moved_s;                  /* seconds that moving the elements' data to the device took; NaN where nothing moves */
};

typedef struct fem_part_options {
    /* Borrowed; parts on one device share the queue, so that their work is in order.  Both NULL, CPU parts only: the calling thread works. */
    yoke_device *device;
    yoke_queue *queue;
    fem_precision precision;
    fem_operator operator_kind;
    fem_adding adding;     /* of device parts */
    int32_t num_interface; /* as in fem_part; borrowed */
    const int32_t *interface_nodes;
    const uint8_t *owned;
    const fem_kernels *kernels; /* for CPU parts; NULL: the best of this processor; tests ask for others */
    fem_programs *programs;     /* for device parts, of the same device; borrowed.  NULL: the part makes its own */
    int group_items;            /* of device kernels that work on elements; 0: the device's default; tests ask for others */
    int all_curved;             /* nonzero: device parts look for no affine elements; tests ask for it */
    int unmeasured;             /* nonzero: no clock is read and no event recorded for products; product_seconds_wait is NaN */
} fem_part_options;

/*
 * A part with all elements of the space, for devices that run host functions (yoke_queue_call): threads over chunks of elements, element
 * kernels by instruction set (part_cpu.c).
 * Errors: MEMORY, INPUT (an element whose map folds: coarse element and determinant).
 */
yoke_status fem_part_cpu_create(const fem_space *space, const fem_constraints *constraints, const fem_part_options *options,
                                fem_part **part);

/*
 * The same on any device by kernels in yoke's dialect (part_device.c, kernels/part_*.h).
 * Errors: as above, and DEVICE_MEMORY, DEVICE (also where it has no atomic addition and that is asked for), UNAVAILABLE (no double
 * precision).
 */
yoke_status fem_part_device_create(const fem_space *space, const fem_constraints *constraints, const fem_part_options *options,
                                   fem_part **part);
/* Device bytes that such a part and `vectors` vectors need for so many elements of this kind, about (for limits before they are made). */
double fem_part_device_bytes(const fem_space *space, const fem_part_options *options, double elements, int vectors);
/* The part of the space's elements whose map is affine, for which a device part keeps less: about, some thousands are looked at. */
double fem_part_affine_fraction(const fem_space *space);

#endif
