/*
 * part_cut.h - for tests of parts: a block's space cut into parts with everything that a team would give them, and what a team does between
 * them, done plainly on the host.
 */
#ifndef TEST_PART_CUT_H
#define TEST_PART_CUT_H

#include "block.h"
#include "operator/part.h"
#include "space/subspace.h"

enum { PART_CUT_MOST = 5 };

/* Makes a part: fem_part_cpu_create, fem_part_device_create. */
typedef yoke_status part_create_function(const fem_space *space, const fem_constraints *constraints, const fem_part_options *options,
                                         fem_part **part);

typedef struct part_cut {
    const block *b;
    int count;
    int32_t *found; /* [num_nodes] in how many parts a node is */
    fem_subspace *sub[PART_CUT_MOST];
    int32_t num_interface[PART_CUT_MOST];
    int32_t *interface_nodes[PART_CUT_MOST];
    uint8_t *owned[PART_CUT_MOST]; /* by the first part that has the node */
    fem_part *part[PART_CUT_MOST]; /* by part_cut_make */
} part_cut;

/*
 * Cuts behind the elements at[0 .. count - 2]; NULL: into equal runs.  Part i gets the nodes i, i + 9, ... beside those that its elements
 * touch (everywhere: all nodes, which are then all interface nodes).
 */
void part_cut_create(part_cut *cut, const block *b, int count, const int32_t *at, int everywhere);
void part_cut_destroy(part_cut *cut);

/* The parts, one after the other with 1, 2, 3, 1, ... threads, and the inverse blocks of their diagonals.  options: without the interface. */
void part_cut_make(part_cut *cut, part_create_function *create, const fem_part_options *options);

/* Adds up the parts' own interface values: all parts get the totals.  width: values per node. */
void part_cut_exchange(part_cut *cut, int width);

/* A vector on every part: created, from values at all nodes [num_nodes][components], back to them (the owners'), destroyed. */
typedef struct part_cut_vector {
    fem_part_vector *on[PART_CUT_MOST];
} part_cut_vector;
void part_cut_vector_create(part_cut *cut, const double *from, part_cut_vector *v);
void part_cut_vector_destroy(part_cut *cut, part_cut_vector *v);
/* Ends the test where parts differ in a bit at a node that they share. */
void part_cut_read(part_cut *cut, const part_cut_vector *v, double *to);

/*
 * One product of all parts in the order in which a team makes it.  Ends the test where own sums at interface nodes after product_interface,
 * own sums everywhere after product_interior, or the whole in the end are further from the plain sums than `near` times the largest value.
 * expected: the product of the whole space.
 */
void part_cut_assert_product(part_cut *cut, double near, const double *u, const double *expected);

#endif
