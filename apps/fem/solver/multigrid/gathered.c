/* multigrid/gathered.c - on several ranks: the last distributed level and all coarser ones, solved by rank 0 as a multigrid on one rank. */
#include <math.h>

#include "solver/multigrid/private.h"
#include "space/gathering.h"

struct multigrid_gathered {
    yoke_context *context;
    fem_gathering *gathering;
    fem_multigrid *whole; /* NULL on ranks other than 0 */
    double *local;        /* [dofs of the level] of the rank */
    double *values;       /* [dofs of the whole level] on rank 0 */
    fem_multigrid_work work;
};

/* Makes the multigrid of the whole level on the devices of rank 0, in the shares that the rank's elements of the finest level have. */
static yoke_status make_whole(fem_multigrid *m, multigrid_gathered *g)
{
    const fem_space *whole = g->gathering->whole;
    const int32_t *cut = m->level[0].cut;
    const int count = m->options.devices->count;
    fem_multigrid_options options = m->options;
    int32_t shares[FEM_MAX_DEVICES + 1] = {0};
    for (int i = 1; i <= count; i++)
        shares[i] = cut[count] ? (int32_t)((int64_t)whole->num_elements * cut[i] / cut[count]) : whole->num_elements;
    options.cut = shares;
    options.direct_dofs = m->asked_direct_dofs;
    options.keeper = m->ranks_keeper;
    options.finer_levels = m->num_levels - 1;
    yoke_status status = yoke_allocate(m->context, (int64_t)whole->num_nodes * whole->components, sizeof(double), &g->values);
    if (!status) status = fem_multigrid_create(whole, g->gathering->constraints, &options, NULL, &g->whole);
    if (!status) g->work = fem_multigrid_get_work(g->whole);
    return status;
}

yoke_status multigrid_gather(fem_multigrid *m)
{
    const fem_space *last = m->level[m->num_levels - 1].space;
    if (m->ranks_keeper) fem_coarse_keeper_forget_on_ranks(m->ranks_keeper);
    yoke_status status = yoke_allocate(m->context, 1, sizeof *m->gathered, &m->gathered);
    if (!status) m->gathered->context = m->context;
    if (!status) status = yoke_allocate(m->context, (int64_t)last->num_nodes * last->components, sizeof(double), &m->gathered->local);
    status = app_ranks_agree(last->ranks, status);
    if (!status) status = fem_gathering_create(last, &m->gathered->gathering);
    if (!status) status = app_ranks_agree(last->ranks, m->gathered->gathering->whole ? make_whole(m, m->gathered) : YOKE_OK);
    if (!status) app_ranks_broadcast(last->ranks, &m->gathered->work, sizeof m->gathered->work);
    return status;
}

void multigrid_gathered_destroy(multigrid_gathered *g)
{
    if (!g) return;
    fem_multigrid_destroy(g->whole);
    fem_gathering_destroy(g->gathering);
    yoke_release(g->context, g->local);
    yoke_release(g->context, g->values);
    yoke_release(g->context, g);
}

yoke_status multigrid_solve_gathered(multigrid_gathered *g, multigrid_level *level)
{
    yoke_status status = YOKE_OK;
    fem_vector_read(level->b, g->local);
    fem_gathering_collect(g->gathering, g->local, g->values);
    if (g->whole) status = multigrid_apply_whole(g->whole, g->values);
    status = app_ranks_agree(level->space->ranks, status);
    if (status) return status;
    fem_gathering_spread(g->gathering, g->values, g->local);
    fem_vector_write(level->x, g->local);
    return YOKE_OK;
}

fem_multigrid *multigrid_gathered_whole(const multigrid_gathered *g) { return g->whole; }

fem_multigrid_work multigrid_gathered_work(const multigrid_gathered *g) { return g->work; }

void multigrid_gathered_add_sent(const multigrid_gathered *g, int64_t *messages, int64_t *bytes)
{
    *messages += g->gathering->num_messages;
    *bytes += g->gathering->num_bytes;
}
