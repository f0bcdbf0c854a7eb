/*
 * subdomain.h - a subdomain: the elements of one device, with its vectors and its operator.
 *
 * A subdomain works on its own space (fem_subspace): its range of elements, the nodes that they touch, with local numbers, and the
 * additional nodes that it needs (see decomposition.h).  It owns everything that a solve needs on its device.  Only the decomposition
 * (decomposition.c) calls it; the solver calls the decomposition.
 *
 * If the device works asynchronously, functions only start their work; those that end in _wait wait.  A subdomain whose device fails stores
 * the first failure in `status`; its functions then do nothing.  All functions are deterministic: the same calls give the same bits with
 * the same number of threads.
 *
 * "Interface" nodes are those that other subdomains have too.  After product_interface, the subdomain's own sum is complete at them;
 * product_interior computes the other elements.  Vectors have the same values at a shared node in all subdomains.  Each dof is owned by one
 * subdomain, in which it counts.
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
 * How device subdomains add up the contributions of elements to a node (matrix-free operator; the stored one always sums).  SUM: each
 * element's values are stored and then summed node by node.  COLOUR: elements add to the result colour by colour; no two of a colour share
 * a node.  ATOMIC: all elements add to it at once by atomic operations, whose order, and therefore the last bits, change from product to
 * product.
 */
typedef enum fem_adding { FEM_ADD_SUM, FEM_ADD_COLOUR, FEM_ADD_ATOMIC } fem_adding;

/* Most pairs of one call of `dots`. */
enum { FEM_MAX_DOTS = 4 };

/*
 * Receives the matrix of one element, including the constraints of hanging nodes: packed lower triangle by rows, m (m + 1) / 2 values; row
 * and column i x components + c is component c of the element's i-th slot that has a node.  `element` is the subdomain's number.
 */
typedef void fem_matrix_visitor(int32_t element, const double *packed, void *user);

/* The functions of a kind of subdomain; all are required except visit_matrices. */
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
    /* to = alpha from; `from` belongs to another subdomain on the same device with the same nodes, possibly of other precision */
    void (*copy_scaled)(fem_subdomain *subdomain, double alpha, const fem_subdomain *from_subdomain, const fem_subdomain_vector *from,
                        fem_subdomain_vector *to);
    void (*axpy)(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *x, fem_subdomain_vector *y); /* y += alpha x */
    void (*xpby)(fem_subdomain *subdomain, const fem_subdomain_vector *x, double beta, fem_subdomain_vector *y);  /* y = x + beta y */
    void (*subtract)(fem_subdomain *subdomain, const fem_subdomain_vector *x, const fem_subdomain_vector *y,
                     fem_subdomain_vector *z); /* z = x - y */
    /* x += alpha p, r -= alpha q */
    void (*advance)(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *p, const fem_subdomain_vector *q,
                    fem_subdomain_vector *x, fem_subdomain_vector *r);
    /* starts the sums over owned dofs of x[i] y[i], i < count <= FEM_MAX_DOTS; sums are computed in double precision */
    void (*dots)(fem_subdomain *subdomain, int count, const fem_subdomain_vector *const *x, const fem_subdomain_vector *const *y);
    void (*dots_wait)(fem_subdomain *subdomain, int count, double *sums); /* NaN after a failure */

    /* y = A x of the subdomain's own elements, in two steps; units of the device's work are elements */
    void (*product_interface)(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y);
    void (*product_interior)(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y);
    /* sets prescribed dofs to 0 */
    void (*mask)(fem_subdomain *subdomain, fem_subdomain_vector *x);

    /*
     * Copies own sums at interface nodes to subdomain->interface_own [num_interface][width] (host memory, in the subdomain's precision) and
     * totals back: interface_read starts the copy, interface_wait waits for it, interface_write sets y at these nodes to
     * subdomain->interface_total, which must not change until the next interface_wait.  Width: values per node of the vector: components,
     * or those of the diagonal's blocks.
     */
    void (*interface_read)(fem_subdomain *subdomain, const fem_subdomain_vector *y);
    void (*interface_wait)(fem_subdomain *subdomain);
    void (*interface_write)(fem_subdomain *subdomain, fem_subdomain_vector *y);

    /*
     * Node blocks of the diagonal: `diagonal` copies the subdomain's own sums at interface nodes to subdomain->interface_own
     * [num_interface][6 or 1] (complete when it returns); diagonal_finish reads the totals from subdomain->interface_total and inverts the
     * blocks (rows and columns of prescribed components are zero).
     */
    void (*diagonal)(fem_subdomain *subdomain);
    void (*diagonal_finish)(fem_subdomain *subdomain);
    /* z = B r, B the inverse node blocks, 0 at prescribed dofs */
    void (*block_solve)(fem_subdomain *subdomain, const fem_subdomain_vector *r, fem_subdomain_vector *z);
    /* d = a d + c B (b - t), x += d; a = 0: d is not read; t NULL: the first step from zero, d = x = c B b */
    void (*chebyshev_step)(fem_subdomain *subdomain, double a, double c, const fem_subdomain_vector *b, const fem_subdomain_vector *t,
                           fem_subdomain_vector *d, fem_subdomain_vector *x);

    /*
     * Creates rows over nodes (copied), one for each node of `subdomain`.  `to` belongs to `subdomain`, `from` to another subdomain on the
     * same device.
     */
    yoke_status (*rows_create)(fem_subdomain *subdomain, int32_t num_rows, const fem_rows *rows, fem_subdomain_rows **out);
    void (*rows_destroy)(fem_subdomain *subdomain, fem_subdomain_rows *rows);
    void (*rows_add)(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from,
                     fem_subdomain_vector *to); /* to += rows from */
    void (*rows_set)(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from,
                     fem_subdomain_vector *to); /* to = rows from */

    /* Visits each element's matrix once, in a fixed order, on the calling thread; NULL for kinds that store none. */
    yoke_status (*visit_matrices)(fem_subdomain *subdomain, fem_matrix_visitor *visit, void *user);
    /* Bytes of memory, without vectors. */
    int64_t (*memory_bytes)(const fem_subdomain *subdomain);
    /*
     * Seconds of the device's work on products since the subdomain was created: elements, packing and moving interface values (without
     * waiting for others).  Waits for the device.
     */
    double (*product_seconds_wait)(fem_subdomain *subdomain);
    /* Waits until all started work is done; then `status` is up to date. */
    void (*finish)(fem_subdomain *subdomain);
} fem_subdomain_functions;

struct fem_subdomain {
    const fem_subdomain_functions *call; /* used as in subdomain->call->mask(subdomain, x) */
    yoke_context *context;
    yoke_device *device;                /* borrowed */
    const fem_space *space;             /* the subdomain's own: borrowed */
    const fem_constraints *constraints; /* of that space: only `prescribed` is used */
    fem_precision precision;
    fem_operator operator_kind;
    int64_t dofs;
    int32_t num_interface;
    const int32_t *interface_nodes;        /* [num_interface] ascending: borrowed */
    const uint8_t *owned;                  /* [num_nodes] 1: counts here; NULL: all count.  Borrowed */
    void *interface_own, *interface_total; /* host memory of the device: [num_interface][6], of the subdomain */
    yoke_status status;                    /* the first failure */
    double setup_moved_s;                  /* seconds to move the elements' data to the device; NaN if nothing is moved */
};

typedef struct fem_subdomain_options {
    /*
     * Borrowed.  Subdomains on one device share the queue, so that their work is in order.  Both NULL (CPU subdomains only): the calling
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
    const fem_kernels *kernels; /* for CPU subdomains; NULL: the best of this processor; tests select others */
    fem_programs *programs;     /* for device subdomains, of the same device; borrowed.  NULL: the subdomain creates its own */
    int group_items;            /* of device kernels that work on elements; 0: the device's default; tests select others */
    int all_curved;             /* nonzero: device subdomains do not search for affine elements; for tests */
    int unmeasured;             /* nonzero: no clock is read and no event recorded for products; product_seconds_wait is NaN */
    fem_marks profile;          /* the run that records which kernels are at work */
} fem_subdomain_options;

/*
 * Creates a subdomain with all elements of the space, for devices that run host functions (yoke_queue_call): threads over chunks of
 * elements, element kernels by instruction set (cpu.c).  Errors: MEMORY, INPUT (an element whose map folds: coarse element and
 * determinant).
 */
yoke_status fem_subdomain_cpu_create(const fem_space *space, const fem_constraints *constraints, const fem_subdomain_options *options,
                                     fem_subdomain **subdomain);

/*
 * The same on any device by kernels in yoke's dialect (device.c, kernels/subdomain_*.h).
 * Errors: as above, and DEVICE_MEMORY, DEVICE (also if it has no atomic addition and that is requested), UNAVAILABLE (no double precision).
 */
yoke_status fem_subdomain_device_create(const fem_space *space, const fem_constraints *constraints, const fem_subdomain_options *options,
                                        fem_subdomain **subdomain);
/*
 * Estimate of the device bytes that such a subdomain and `vectors` vectors need for this number of elements of this kind (for limits before
 * they are created).
 */
double fem_subdomain_device_bytes(const fem_space *space, const fem_subdomain_options *options, double elements, int vectors);
/*
 * The fraction of the space's elements whose map is affine, for which a device subdomain stores less.  It is an estimate from some
 * thousands of elements.
 */
double fem_subdomain_affine_fraction(const fem_space *space);

#endif
