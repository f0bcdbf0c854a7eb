#include "twins.h"

#include "session.h"
#include "unit.h"

static yoke_context *context;
static app_ranks *ranks;

app_ranks *twins_ranks(void) { return ranks; }

yoke_context *twins_context(void) { return context; }

int twins_start(void **state)
{
    (void)state;
    return yoke_context_create(NULL, &context) || app_ranks_start(context, &ranks) || fem_session_start(context, ranks);
}

int twins_end(void **state)
{
    (void)state;
    fem_session_end(ranks);
    app_ranks_end(ranks, NULL, YOKE_OK);
    yoke_context_destroy(context);
    return 0;
}

void twins_create(const block_options *options, twins *t)
{
    t->ranks = ranks;
    block_create(options, &t->alone);
    block_create(options, &t->shared);
    fem_forest_destroy(t->shared.forest);
    t->shared.mesh.ranks = ranks;
    assert_int_equal(fem_forest_create(&t->shared.mesh, 0, &t->shared.forest), YOKE_OK);
}

void twins_destroy(twins *t)
{
    block_destroy(&t->alone);
    block_destroy(&t->shared);
}

void twins_refine(twins *t, double probability, uint64_t *random, const double *share)
{
    const int64_t leaves = fem_forest_leaves(t->alone.forest), first = app_ranks_offset(ranks, fem_forest_leaves(t->shared.forest), NULL);
    uint8_t *mark = block_zeros(leaves, 1);
    for (int64_t e = 0; e < leaves; e++) mark[e] = block_random(random) < probability;
    assert_int_equal(fem_forest_refine(t->alone.forest, mark), YOKE_OK);
    assert_int_equal(fem_forest_refine(t->shared.forest, mark + first), YOKE_OK);
    free(mark);
    assert_int_equal(fem_forest_partition(t->shared.forest, share), YOKE_OK);
}

void twins_discretise(twins *t, fem_element element)
{
    block_discretise(&t->alone, element);
    block_discretise(&t->shared, element);
}

void twins_add_condition(twins *t, fem_condition condition)
{
    block_add_condition(&t->alone, condition);
    block_add_condition(&t->shared, condition);
}
