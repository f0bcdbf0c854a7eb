/*
 * decomposition.h - the subdomains that work on one space together, one for each device, and the values that they exchange.
 *
 * The elements are divided into one contiguous range per device in Morton order.  Each subdomain has its own local space (subspace.h): its
 * elements and the nodes that they touch.  A node in several subdomains is an interface node of each of them; vectors have the same values
 * there in all subdomains.  A product computes elements at the interface first.  Their sums at interface nodes are sent to the host, which
 * adds them up in the order of the subdomains and sends the totals back.  The other elements are computed in the meantime.  So only
 * interface values are transferred, and all subdomains have the same bits afterwards.
 *
 * A decomposition of a coarser multigrid level may have nodes in addition to those that its own elements touch: those that the finer
 * level's rows need.  They are interface nodes like any other.  The transfer between levels is therefore local to each subdomain, and one
 * exchange is sufficient for everything.  A subdomain with such nodes but without elements of its own is halo-only: it takes part only in
 * the transfers between levels, and nothing else is sent to it.  So a coarse level may be on one device while its finer level is shared.
 *
 * On several ranks each rank has a decomposition of its own part of the space, for its own devices.  Nodes that it shares with other ranks
 * are interface nodes too.  After the sums over its subdomains the sums over the ranks are computed, during the computation of inner
 * elements.  Functions are then collective, except those that say otherwise.
 *
 * With FEM_EXCHANGE_FULL every node is an interface node of every subdomain, so that whole vectors are transferred at each product, as in
 * the papers.
 *
 * Functions without a status report failures by fem_decomposition_status, which the solver calls after each sum (which is then NaN).
 */
#ifndef FEM_OPERATOR_DECOMPOSITION_DECOMPOSITION_H
#define FEM_OPERATOR_DECOMPOSITION_DECOMPOSITION_H

#include "operator/decomposition/devices.h"
#include "operator/subdomain/subdomain.h"

typedef enum fem_exchange { FEM_EXCHANGE_HALO, FEM_EXCHANGE_FULL } fem_exchange;

typedef struct fem_decomposition fem_decomposition;
typedef struct fem_vector fem_vector; /* one value per dof of the space, spread over the subdomains */

typedef struct fem_decomposition_options {
    fem_devices *devices; /* borrowed */
    const int32_t *cut;   /* [devices->count + 1] device i gets elements cut[i] .. cut[i + 1] - 1; copied */
    fem_precision precision;
    fem_operator operator_kind;
    fem_adding adding; /* as in fem_subdomain_options */
    fem_exchange exchange;
    const fem_kernels *kernels; /* as in fem_subdomain_options */
    int unmeasured;             /* as in fem_subdomain_options */
    int alone; /* nonzero: no exchange with other ranks, and nothing is collective: products of this rank's elements only */
    int level; /* of the multigrid, from 1, the mesh's own; 0: the operator of the mesh itself.  For names of kernels */
    /* The next finer level, and the interpolation from this space to its space: both or none. */
    const fem_decomposition *finer;
    const fem_interpolation *to_finer;
} fem_decomposition_options;

/*
 * Creates the subdomains of `space` on the devices; devices without elements (and without nodes that a finer level needs) get none.  With
 * one subdomain the local space is the space itself, and nothing is copied.  space, constraints and finer are borrowed and must outlive the
 * decomposition.  Errors: those of the subdomains; after DEVICE or DEVICE_MEMORY the device's `failed` or `short_of_memory` is set.
 */
yoke_status fem_decomposition_create(const fem_space *space, const fem_constraints *constraints, const fem_decomposition_options *options,
                                     fem_decomposition **decomposition);
void fem_decomposition_destroy(fem_decomposition *decomposition);

/*
 * Returns the first failure of a subdomain, with its text on the context, and marks the devices of all subdomains that failed (`failed`,
 * `short_of_memory`).  Waits for all subdomains.
 */
yoke_status fem_decomposition_status(fem_decomposition *decomposition);
/* The same for this rank's subdomains only.  Not collective. */
yoke_status fem_decomposition_own_status(fem_decomposition *decomposition);
/* Nonzero: a failure is already known on this rank; does not wait.  Not collective. */
int fem_decomposition_failed(const fem_decomposition *decomposition);

/* Creates a vector of zeros.  Errors: those of the subdomains; devices are marked as by fem_decomposition_create. */
yoke_status fem_vector_create(fem_decomposition *decomposition, fem_vector **vector);
void fem_vector_destroy(fem_vector *vector);               /* NULL allowed */
void fem_vector_write(fem_vector *to, const double *from); /* from the host, [dofs of the space] */
void fem_vector_read(const fem_vector *from, double *to);  /* to the host: the owners' values; not collective */
void fem_vector_zero(fem_vector *x);
/* to = alpha from; the two may belong to decompositions with the same space, devices and cut, and different precision */
void fem_vector_copy_scaled(double alpha, const fem_vector *from, fem_vector *to);
void fem_vector_axpy(double alpha, const fem_vector *x, fem_vector *y);            /* y += alpha x */
void fem_vector_xpby(const fem_vector *x, double beta, fem_vector *y);             /* y = x + beta y */
void fem_vector_subtract(const fem_vector *x, const fem_vector *y, fem_vector *z); /* z = x - y */
void fem_vector_advance(double alpha, const fem_vector *p, const fem_vector *q, fem_vector *x,
                        fem_vector *r); /* x += alpha p, r -= alpha q */
void fem_vector_mask(fem_vector *x);    /* prescribed dofs = 0 */
/*
 * Sets shared values to those of the first subdomain that has them.  Devices round differently, so values that each subdomain computed
 * separately differ in their last bits, and in single precision these are relatively large.
 */
void fem_vector_agree(fem_vector *x);
/* sums[i] = x[i] . y[i], i < count <= FEM_MAX_DOTS; it waits once for all of them */
void fem_vector_dots(int count, const fem_vector *const *x, const fem_vector *const *y, double *sums);
double fem_vector_dot(const fem_vector *x, const fem_vector *y);

/* y = A x; masked: y is 0 at prescribed dofs, where x must be 0 */
void fem_decomposition_product(fem_decomposition *decomposition, int masked, const fem_vector *x, fem_vector *y);
/* z = B r, B the inverse node blocks of the diagonal, 0 at prescribed dofs */
void fem_decomposition_block_solve(fem_decomposition *decomposition, const fem_vector *r, fem_vector *z);
/* d = a d + c B (b - t), x += d; a = 0: d is not read; t NULL: the first step from zero, d = x = c B b */
void fem_decomposition_chebyshev_step(fem_decomposition *decomposition, double a, double c, const fem_vector *b, const fem_vector *t,
                                      fem_vector *d, fem_vector *x);

/* Transfers between a decomposition and the next finer one, which was given at its creation; both have the same precision. */
void fem_decomposition_prolongate_add(fem_decomposition *coarse, const fem_vector *from, fem_vector *to); /* fine += P coarse */
void fem_decomposition_restrict_to(fem_decomposition *coarse, const fem_vector *from,
                                   fem_vector *to); /* coarse = P^T fine at free dofs, 0 at others */

const fem_space *fem_decomposition_space(const fem_decomposition *decomposition);
int64_t fem_decomposition_products(const fem_decomposition *decomposition); /* counted since creation */
int64_t fem_decomposition_memory_bytes(const fem_decomposition *decomposition);
/* Adds the messages and bytes that this rank has sent to others since the decomposition was created.  Not collective. */
void fem_decomposition_add_sent(const fem_decomposition *decomposition, int64_t *messages, int64_t *bytes);

/* Work of device i of options->devices for the decomposition since it was created. */
typedef struct fem_decomposition_share {
    int32_t elements;
    double product_seconds;  /* total time of products; NaN without elements */
    int64_t interface_bytes; /* to and from the device in one product */
    double setup_moved_s;    /* as in fem_subdomain */
} fem_decomposition_share;
void fem_decomposition_get_share(fem_decomposition *decomposition, int device, fem_decomposition_share *share); /* waits for the device */

#endif
