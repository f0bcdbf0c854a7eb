/*
 * twins.h - for tests under mpirun: one problem twice, distributed over the ranks and, on each rank, by itself.
 */
#ifndef TEST_TWINS_H
#define TEST_TWINS_H

#include "fem/fixtures/block.h"

typedef struct twins {
    app_ranks *ranks;
    block alone, shared; /* shared: this rank's part */
} twins;

/* Setup and teardown of a test group: MPI and p4est, with the ranks of the launcher. */
int twins_start(void **state);
int twins_end(void **state);
/* Those of the launcher; NULL before twins_start. */
app_ranks *twins_ranks(void);
/* Theirs, which says what they agreed on; blocks have their own. */
yoke_context *twins_context(void);

/* Failures end the test on the rank that has them, and with it all ranks. */
void twins_create(const block_options *options, twins *t);
void twins_destroy(twins *t);
/* Refines the same leaves of both: each with the given probability.  Then distributes them anew; share [ranks], NULL: equal ones. */
void twins_refine(twins *t, double probability, uint64_t *random, const double *share);
void twins_discretise(twins *t, fem_element element);
void twins_add_condition(twins *t, fem_condition condition);

#endif
