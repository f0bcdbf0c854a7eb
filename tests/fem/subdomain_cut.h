/*
 * subdomain_cut.h - for tests of subdomains: a block's space cut into subdomains with everything that a decomposition would give them, and
 * what a decomposition does between them, done plainly on the host.
 */
#ifndef TEST_SUBDOMAIN_CUT_H
#define TEST_SUBDOMAIN_CUT_H

#include "block.h"
#include "operator/subdomain/subdomain.h"
#include "space/subspace.h"

enum { SUBDOMAIN_CUT_MAX = 5 };

/* Makes a subdomain: fem_subdomain_cpu_create, fem_subdomain_device_create. */
typedef yoke_status subdomain_create_function(const fem_space *space, const fem_constraints *constraints,
                                              const fem_subdomain_options *options, fem_subdomain **subdomain);

typedef struct subdomain_cut {
    const block *b;
    int count;
    int32_t *found; /* [num_nodes] in how many subdomains a node is */
    fem_subspace *sub[SUBDOMAIN_CUT_MAX];
    int32_t num_interface[SUBDOMAIN_CUT_MAX];
    int32_t *interface_nodes[SUBDOMAIN_CUT_MAX];
    uint8_t *owned[SUBDOMAIN_CUT_MAX];           /* by the first subdomain that has the node */
    fem_subdomain *subdomain[SUBDOMAIN_CUT_MAX]; /* by subdomain_cut_make */
} subdomain_cut;

/*
 * Cuts behind the elements at[0 .. count - 2]; NULL: into equal runs.  Subdomain i gets the nodes i, i + 9, ... beside those that its
 * elements touch (everywhere: all nodes, which are then all interface nodes).
 */
void subdomain_cut_create(subdomain_cut *cut, const block *b, int count, const int32_t *at, int everywhere);
void subdomain_cut_destroy(subdomain_cut *cut);

/*
 * The subdomains, one after the other with 1, 2, 3, 1, ... threads, and the inverse blocks of their diagonals.  options: without the
 * interface.
 */
void subdomain_cut_make(subdomain_cut *cut, subdomain_create_function *create, const fem_subdomain_options *options);

/* Adds up the subdomains' own interface values: all subdomains get the totals.  width: values per node. */
void subdomain_cut_exchange(subdomain_cut *cut, int width);

/* A vector on every subdomain: created, from values at all nodes [num_nodes][components], back to them (the owners'), destroyed. */
typedef struct subdomain_cut_vector {
    fem_subdomain_vector *on[SUBDOMAIN_CUT_MAX];
} subdomain_cut_vector;
void subdomain_cut_vector_create(subdomain_cut *cut, const double *from, subdomain_cut_vector *v);
void subdomain_cut_vector_destroy(subdomain_cut *cut, subdomain_cut_vector *v);
/* Ends the test where subdomains differ in a bit at a node that they share. */
void subdomain_cut_read(subdomain_cut *cut, const subdomain_cut_vector *v, double *to);

/*
 * One product of all subdomains in the order in which a decomposition makes it.  Ends the test where own sums at interface nodes after
 * product_interface, own sums everywhere after product_interior, or the whole in the end are further from the plain sums than `near` times
 * the largest value. expected: the product of the whole space.
 */
void subdomain_cut_assert_product(subdomain_cut *cut, double near, const double *u, const double *expected);

#endif
