/*
 * subdomain.h - a subdomain: the elements that one device works on, with its vectors and its operator.
 *
 * A subdomain works on a space of its own (fem_subspace): its run of elements with the nodes that they touch, numbered by itself, and the
 * nodes that it needs beside them (see decomposition.h).  It owns everything that a solve needs on its device.  Nobody but the
 * decomposition (decomposition.c) calls it; the solver calls the decomposition.
 *
 * Functions only start their work where the device works by itself; those that end in _wait wait.  A subdomain whose device fails remembers
 * the first failure in `status`; its functions then do nothing.  All functions are deterministic: the same calls give the same bits at the
 * same number of threads.
 *
 * "Interface" nodes are those that other subdomains have too.  After product_interface, the subdomain's own sum is right at them;
 * product_interior does the other elements.  Vectors keep the same values at a shared node in all subdomains, and each dof is owned by one
 * subdomain: it counts there.
 */
#ifndef FEM_OPERATOR_SUBDOMAIN_SUBDOMAIN_H
#define FEM_OPERATOR_SUBDOMAIN_SUBDOMAIN_H

#include "operator/kernels/batch.h"
#include "operator/subdomain/mark.h"
#include "operator/subdomain/programs.h"
#include "space/boundary.h"
#include "space/interpolation.h"

typedef struct fem_subdomain fem_subdomain;
typedef struct fem_subdomain_vector fem_subdomain_vector; /* memory of the subdomain's device; each kind of subdomain has its own */
typedef struct fem_subdomain_rows fem_subdomain_rows;     /* sparse rows on the subdomain's device */

typedef enum fem_operator { FEM_MATRIXFREE, FEM_STORED } fem_operator;

/*
 * How device subdomains add up what the elements have for a node (matrix-free operator; the stored one always sums): each element's own
 * values are kept and then summed node by node; elements are taken by colours, of which no two share a node, and add to the result; or all
 * add to it at once by atomic operations, whose order, and so the last bits, change from product to product.
 */
typedef enum fem_adding { FEM_ADD_SUM, FEM_ADD_COLOUR, FEM_ADD_ATOMIC } fem_adding;

/* Most pairs of one call of `dots`. */
enum { FEM_MAX_DOTS = 4 };

/*
 * Receives the matrix of one element, hanging nodes folded in: packed lower triangle by rows, m (m + 1) / 2 values; row and column
 * i x components + c is component c of the element's i-th slot that carries a node.  `element` is the subdomain's number.
 */
typedef void fem_matrix_visitor(int32_t element, const double *packed, void *user);

/* What a kind of subdomain provides; all slots are required but visit_matrices. */
typedef struct fem_subdomain_functions {
    const char *kind; /* of device: "openmp", "device" */
    void (*destroy)(fem_subdomain *subdomain);

    yoke_status (*vector_create)(fem_subdomain *subdomain,
                                 fem_subdomain_vector **vector); /* all zero.  Errors: MEMORY, DEVICE_MEMORY, DEVICE */
    void (*vector_destroy)(fem_subdomain *subdomain, fem_subdomain_vector *vector);
    void (*write)(fem_subdomain *subdomain, fem_subdomain_vector *to, const double *from); /* [dofs] from the host; done when it returns */
    void (*read_wait)(fem_subdomain *subdomain, const fem_subdomain_vector *from,
                      double *to); /* [dofs] to the host; done when it returns */
    void (*zero)(fem_subdomain *subdomain, fem_subdomain_vector *x);
    /* to = alpha from; `from` belongs to another subdomain on the same device with the same nodes, maybe of other precision */
    void (*copy_scaled)(fem_subdomain *subdomain, double alpha, const fem_subdomain *from_subdomain, const fem_subdomain_vector *from,
                        fem_subdomain_vector *to);
    void (*axpy)(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *x, fem_subdomain_vector *y); /* y += alpha x */
    void (*xpby)(fem_subdomain *subdomain, const fem_subdomain_vector *x, double beta, fem_subdomain_vector *y);  /* y = x + beta y */
    void (*subtract)(fem_subdomain *subdomain, const fem_subdomain_vector *x, const fem_subdomain_vector *y,
                     fem_subdomain_vector *z); /* z = x - y */
    /* x += alpha p, r -= alpha q */
    void (*advance)(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *p, const fem_subdomain_vector *q,
                    fem_subdomain_vector *x, fem_subdomain_vector *r);
    /* starts the sums over owned dofs of x[i] y[i], i < count <= FEM_MAX_DOTS; the sums are made in double precision */
    void (*dots)(fem_subdomain *subdomain, int count, const fem_subdomain_vector *const *x, const fem_subdomain_vector *const *y);
    void (*dots_wait)(fem_subdomain *subdomain, int count, double *sums); /* NaN after a failure */

    /* y = A x of the subdomain's own elements, in two steps; units of the device's work are elements */
    void (*product_interface)(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y);
    void (*product_interior)(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y);
    /* sets prescribed dofs to 0 */
    void (*mask)(fem_subdomain *subdomain, fem_subdomain_vector *x);

    /*
     * Own sums at interface nodes to subdomain->interface_own [num_interface][width] (host memory, in the subdomain's precision) and back:
     * interface_read starts, interface_wait waits for it, interface_write sets y there to subdomain->interface_total, which must stay as it
     * is until the next interface_wait.  Width: values per node of the vector: components, or that of the diagonal's blocks.
     */
    void (*interface_read)(fem_subdomain *subdomain, const fem_subdomain_vector *y);
    void (*interface_wait)(fem_subdomain *subdomain);
    void (*interface_write)(fem_subdomain *subdomain, fem_subdomain_vector *y);

    /*
     * Node blocks of the diagonal: `diagonal` puts the subdomain's own sums at interface nodes to subdomain->interface_own
     * [num_interface][6 or 1] (done when it returns); diagonal_finish takes the totals from subdomain->interface_total and inverts the
     * blocks (rows and columns of prescribed components zero).
     */
    void (*diagonal)(fem_subdomain *subdomain);
    void (*diagonal_finish)(fem_subdomain *subdomain);
    /* z = B r, B the inverse node blocks, 0 at prescribed dofs */
    void (*block_solve)(fem_subdomain *subdomain, const fem_subdomain_vector *r, fem_subdomain_vector *z);
    /* d = a d + c B (b - t), x += d; a = 0: d is not read; t NULL: the first step from zero, d = x = c B b */
    void (*chebyshev_step)(fem_subdomain *subdomain, double a, double c, const fem_subdomain_vector *b, const fem_subdomain_vector *t,
                           fem_subdomain_vector *d, fem_subdomain_vector *x);

    /*
     * Rows over nodes (copied), one for each node of `subdomain`: `to` belongs to `subdomain`, `from` to another subdomain on the same
     * device.
     */
    yoke_status (*rows_create)(fem_subdomain *subdomain, int32_t num_rows, const fem_rows *rows, fem_subdomain_rows **out);
    void (*rows_destroy)(fem_subdomain *subdomain, fem_subdomain_rows *rows);
    void (*rows_add)(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from,
                     fem_subdomain_vector *to); /* to += rows from */
    void (*rows_set)(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from,
                     fem_subdomain_vector *to); /* to = rows from */

    /* Shows each element's matrix once, in a fixed order, on the calling thread; NULL for kinds that keep none. */
    yoke_status (*visit_matrices)(fem_subdomain *subdomain, fem_matrix_visitor *visit, void *user);
    /* Bytes of memory, vectors not counted. */
    int64_t (*memory_bytes)(const fem_subdomain *subdomain);
    /*
     * Seconds that the device was busy with products since the subdomain was made: elements, packing and moving interface values (waiting
     * for others not counted).  Waits for the device.
     */
    double (*product_seconds_wait)(fem_subdomain *subdomain);
    /* Waits until all started work is done; then `status` is up to date. */
    void (*finish)(fem_subdomain *subdomain);
} fem_subdomain_functions;

struct fem_subdomain {
    const fem_subdomain_functions *call; /* as in subdomain->call->mask(subdomain, x) */
    yoke_context *context;
    yoke_device *device;                /* borrowed */
    const fem_space *space;             /* the subdomain's own: borrowed */
    const fem_constraints *constraints; /* of that space: only `prescribed` is looked at */
    fem_precision precision;
    fem_operator operator_kind;
    int64_t dofs;
    int32_t num_interface;
    const int32_t *interface_nodes;        /* [num_interface] ascending: borrowed */
    const uint8_t *owned;                  /* [num_nodes] 1: counts here; NULL: all.  Borrowed */
    void *interface_own, *interface_total; /* host memory of the device: [num_interface][6], of the subdomain */
    yoke_status status;                    /* the first failure */
    double setup_moved_s;                  /* seconds that moving the elements' data to the device took; NaN where nothing moves */
};

typedef struct fem_subdomain_options {
    /*
     * Borrowed; subdomains on one device share the queue, so that their work is in order.  Both NULL, CPU subdomains only: the calling
     * thread works.
     */
    yoke_device *device;
    yoke_queue *queue;
    fem_precision precision;
    fem_operator operator_kind;
    fem_adding adding;     /* of device subdomains */
    int32_t num_interface; /* as in fem_subdomain; borrowed */
    const int32_t *interface_nodes;
    const uint8_t *owned;
    const fem_kernels *kernels; /* for CPU subdomains; NULL: the best of this processor; tests ask for others */
    fem_programs *programs;     /* for device subdomains, of the same device; borrowed.  NULL: the subdomain makes its own */
    int group_items;            /* of device kernels that work on elements; 0: the device's default; tests ask for others */
    int all_curved;             /* nonzero: device subdomains look for no affine elements; tests ask for it */
    int unmeasured;             /* nonzero: no clock is read and no event recorded for products; product_seconds_wait is NaN */
    fem_marks profile;          /* who is told which kernels are at work */
} fem_subdomain_options;

/*
 * A subdomain with all elements of the space, for devices that run host functions (yoke_queue_call): threads over chunks of elements,
 * element kernels by instruction set (cpu.c). Errors: MEMORY, INPUT (an element whose map folds: coarse element and determinant).
 */
yoke_status fem_subdomain_cpu_create(const fem_space *space, const fem_constraints *constraints, const fem_subdomain_options *options,
                                     fem_subdomain **subdomain);

/*
 * The same on any device by kernels in yoke's dialect (device.c, kernels/subdomain_*.h).
 * Errors: as above, and DEVICE_MEMORY, DEVICE (also where it has no atomic addition and that is asked for), UNAVAILABLE (no double
 * precision).
 */
yoke_status fem_subdomain_device_create(const fem_space *space, const fem_constraints *constraints, const fem_subdomain_options *options,
                                        fem_subdomain **subdomain);
/*
 * Device bytes that such a subdomain and `vectors` vectors need for so many elements of this kind, about (for limits before they are made).
 */
double fem_subdomain_device_bytes(const fem_space *space, const fem_subdomain_options *options, double elements, int vectors);
/*
 * The fraction of the space's elements whose map is affine, for which a device subdomain keeps less: about, some thousands are looked at.
 */
double fem_subdomain_affine_fraction(const fem_space *space);

#endif
