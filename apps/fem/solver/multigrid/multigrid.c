#include "solver/multigrid/multigrid.h"

#include <math.h>
#include <string.h>

#include "solver/multigrid/couplings.h"
#include "solver/multigrid/private.h"

enum { DEFAULT_DEGREE = 4 };
static const double default_range = 30;
/*
 * The smoother amplifies eigenvalues above (1 + 1 / range) times the end of its range, and then the cycle is not positive definite.  On
 * bodies of one material the estimate is at most 11 per cent below the largest eigenvalue after EIGENVALUE_STEPS.  Near hanging nodes where
 * the material jumps, the eigenvector is so local that even JUMP_STEPS leave up to 16 per cent.
 */
static const double eigenvalue_safety = 1.15, jump_safety = 1.2;
enum { EIGENVALUE_STEPS = 8, JUMP_STEPS = 15 };

/*
 * Where elements are stretched, a level becomes the last one if it has at most this many dofs and its factor costs little compared with a
 * solve (cheap_operations).  At the end of the levels it is enough if the factor costs little compared with the additional iterations that
 * algebraic multigrid would take (about sixty with all levels).
 */
static const int64_t most_factor_dofs = 100000;
static const double cheap_operations = 5e9, most_operations = 1e11, most_operations_dof = 3e5;

/* --------------------------------------------------------------------------------------------------- set-up */

/* Adds a level of `element` on a forest that the level takes over; forest NULL: a q1 level on the leaves of the level before. */
static yoke_status add_level(fem_multigrid *m, fem_element element, fem_forest *forest)
{
    multigrid_level *level = &m->level[m->num_levels++];
    fem_boundary *boundary = NULL;
    level->forest = forest;
    yoke_status status = forest ? fem_space_create(m->level[0].space->problem, forest, element, &level->own_space)
                                : fem_space_create_corners((level - 1)->space, &level->own_space);
    if (!status) status = fem_boundary_create(level->own_space, &boundary);
    if (!status) status = fem_constraints_create(level->own_space, boundary, &level->own_constraints);
    fem_boundary_destroy(boundary);
    level->space = level->own_space;
    level->constraints = level->own_constraints;
    if (status) return status;
    return app_ranks_agree(level->space->ranks, fem_interpolation_create(level->space, (level - 1)->space, 1, &level->to_finer));
}

/* Number of dofs of this rank, and of all ranks. */
static int64_t dofs_of(const fem_space *space) { return (int64_t)space->num_nodes * space->components; }
static int64_t all_dofs(const fem_space *space) { return space->num_global_nodes * space->components; }

/*
 * On several ranks: returns nonzero if this is the last distributed level, and rank 0 gathers it for the coarser ones.  Where elements are
 * stretched, so is a level that may be factored.
 */
static int is_to_be_gathered(const fem_multigrid *m, const fem_space *last)
{
    if (!last->ranks) return 0;
    return !last->forest->aligned || last->num_global_elements <= last->forest->most_gathered ||
           (m->stretched && all_dofs(last) <= m->factor_dofs);
}

/*
 * Adds a level of the last one's element on the next coarser forest.  Sets *more to 0 if there is none, or if the last level is small
 * enough.
 */
static yoke_status coarsen(fem_multigrid *m, int *more)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    fem_forest *forest = NULL;
    *more = 0;
    if (all_dofs(last->space) <= m->options.direct_dofs || m->num_levels == MULTIGRID_MAX_LEVELS - 1) return YOKE_OK;
    if (is_to_be_gathered(m, last->space)) return YOKE_OK;
    yoke_status status = app_ranks_agree(last->space->ranks, fem_forest_copy(last->space->forest, &forest));
    if (!status) status = fem_forest_coarsen(forest);
    if (status) {
        fem_forest_destroy(forest);
        return status;
    }
    /* this is the coarse mesh, or balance prevents further coarsening */
    if (fem_forest_all_leaves(forest) == last->space->num_global_elements) {
        fem_forest_destroy(forest);
        return YOKE_OK;
    }
    *more = 1;
    return add_level(m, last->space->element, forest);
}

/*
 * Uses the factor that is kept for the present last level as its solver, if it took at most this many operations.  Returns 0 if there is
 * none.
 */
static int take_kept_factor(fem_multigrid *m, double operations)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    fem_direct *kept = m->options.keeper ? fem_coarse_keeper_find_direct(m->options.keeper, last->space, last->constraints) : NULL;
    if (!kept || fem_direct_cost(kept).operations > operations) return 0;
    m->direct = kept;
    m->direct_kept = 1;
    return 1;
}

/* Makes a Cholesky factor the solver of the present last level, if it takes at most this many operations and fits into memory. */
static yoke_status take_factor(fem_multigrid *m, double operations)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    fem_coarse_keeper *keeper = m->options.keeper;
    fem_direct *direct;
    double left_bytes;
    if (take_kept_factor(m, operations)) return YOKE_OK;
    if (keeper && fem_coarse_keeper_operations(keeper, last->space, last->constraints) > operations) return YOKE_OK;
    yoke_status status = fem_direct_analyze(last->space, last->constraints, &direct);
    if (status) return status;
    const double needed = fem_direct_cost(direct).operations;
    if (needed <= operations && fem_direct_fits(direct, 0, &left_bytes)) {
        m->direct = direct;
        return YOKE_OK;
    }
    fem_direct_destroy(direct);
    return keeper && needed > operations ? fem_coarse_keeper_refuse(keeper, last->space, last->constraints, needed) : YOKE_OK;
}

static yoke_status interrupted(const fem_multigrid *m)
{
    if (!m->hooks || !m->hooks->interrupted || !m->hooks->interrupted(m->hooks->user)) return YOKE_OK;
    return yoke_fail(m->context, YOKE_ERROR_INTERRUPTED, "interrupted while setting up the multigrid levels");
}

static yoke_status add_levels(fem_multigrid *m)
{
    yoke_status status = YOKE_OK;
    if (m->level[0].space->element != FEM_Q1) status = add_level(m, FEM_Q1, NULL);
    for (int more = 1; !status && more;) {
        status = interrupted(m);
        if (!status) status = coarsen(m, &more);
    }
    return status;
}

int multigrid_is_algebraic(const fem_multigrid *m)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    const fem_space *space = last->space;
    double free_dofs = 0;
    if (!m->options.algebraic_dofs || space->element != FEM_Q1) return 0;
    for (int32_t i = 0; i < space->num_nodes; i++)
        for (int c = 0; c < space->components; c++) free_dofs += fem_space_owns(space, i) && !(last->constraints->prescribed[i] >> c & 1);
    app_ranks_sum(space->ranks, &free_dofs, 1);
    return free_dofs > (double)m->options.algebraic_dofs;
}

/*
 * Adds coarse levels of the finest level's element, because q1 would lock.  The first level whose factor is cheap is the last one.  A q1
 * level follows only if there is none.
 */
static yoke_status add_stretched_levels(fem_multigrid *m)
{
    const int distributed = m->level[0].space->ranks != NULL; /* then rank 0 tries the factors of the levels that it gathers */
    yoke_status status = YOKE_OK;
    for (int more = 1; !status && more && !m->direct;) {
        status = interrupted(m);
        if (!status && !distributed && dofs_of(m->level[m->num_levels - 1].space) <= m->factor_dofs)
            status = take_factor(m, cheap_operations);
        if (!status && !m->direct) status = coarsen(m, &more);
    }
    if (status || m->direct || is_to_be_gathered(m, m->level[m->num_levels - 1].space)) return status;
    if (m->level[0].space->element != FEM_Q1) status = add_level(m, FEM_Q1, NULL);
    if (status || (distributed && !multigrid_is_algebraic(m))) return status;
    return take_factor(m, fmax(most_operations, most_operations_dof * (double)m->options.finest_dofs));
}

static yoke_status make_decomposition(fem_multigrid *m, int l)
{
    multigrid_level *level = &m->level[l];
    level->weight = 1;
    fem_decomposition_options options = {.devices = m->options.devices,
                                         .cut = level->cut,
                                         .precision = FEM_SINGLE,
                                         .operator_kind = FEM_MATRIXFREE,
                                         .exchange = m->options.exchange,
                                         .unmeasured = m->options.unmeasured,
                                         .level = l + 1,
                                         .finer = l ? m->level[l - 1].decomposition : NULL,
                                         .to_finer = level->to_finer};
    yoke_status status = app_ranks_agree(level->space->ranks, l ? multigrid_cut(m, l) : YOKE_OK);
    if (!status) status = fem_decomposition_create(level->space, level->constraints, &options, &level->decomposition);
    fem_interpolation_destroy(level->to_finer); /* the subdomains have their own copies */
    level->to_finer = NULL;
    fem_vector **vectors[] = {&level->b, &level->x, &level->d, &level->t};
    for (int i = 0; i < 4 && !status; i++) status = fem_vector_create(level->decomposition, vectors[i]);
    status = app_ranks_agree(level->space->ranks, status);
    if (status || l == m->num_levels - 1) return status;
    if (m->stretched) {
        level->host = m->host;
        status = multigrid_blocks_create(level->space, level->constraints, &level->blocks);
        if (status) return status;
        multigrid_blocks_size(level->blocks, level->block_size, level->block_size + 1);
        app_ranks_sum(level->space->ranks, level->block_size, 2);
    }
    double largest;
    int jumps = level->space->problem->num_materials > 1;
    status = multigrid_smoother_eigenvalue(level, jumps ? JUMP_STEPS : EIGENVALUE_STEPS, &largest);
    level->eigenvalue_high = (jumps ? jump_safety : eigenvalue_safety) * largest;
    level->eigenvalue_low = level->eigenvalue_high / m->options.range;
    return status;
}

/* Factors the last level's matrix, and passes the factor to the keeper. */
static yoke_status make_factor(fem_multigrid *m)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    fem_coarse_keeper *keeper = m->options.keeper;
    yoke_status status = keeper ? fem_coarse_keeper_start(keeper, last->space, last->constraints) : YOKE_OK;
    if (!status) status = fem_direct_factorize(m->direct, 0, NULL);
    if (status || !keeper) return status;
    fem_coarse_keeper_keep_direct(keeper, m->direct);
    m->direct_kept = 1;
    return YOKE_OK;
}

/* Makes the solver of the last level. */
static yoke_status make_last(fem_multigrid *m)
{
    if (m->direct) return m->direct_kept ? YOKE_OK : make_factor(m);
    if (m->level[0].space->ranks) return multigrid_is_algebraic(m) ? multigrid_create_coarse_on_ranks(m) : multigrid_gather(m);
    int64_t dofs = dofs_of(m->level[m->num_levels - 1].space);
    yoke_status status = yoke_allocate(m->context, dofs, sizeof(double), &m->coarse_b);
    if (!status) status = yoke_allocate(m->context, dofs, sizeof(double), &m->coarse_x);
    return status ? status : multigrid_create_coarse(m);
}

/* Allocates `host`, which has space for the values of any level. */
static yoke_status make_host(fem_multigrid *m)
{
    int64_t most = 0;
    for (int l = 0; l < m->num_levels; l++) most = dofs_of(m->level[l].space) > most ? dofs_of(m->level[l].space) : most;
    m->host_dofs = most;
    return yoke_allocate(m->context, most, sizeof *m->host, &m->host);
}

static yoke_status setup(fem_multigrid *m)
{
    yoke_status status = m->stretched ? add_stretched_levels(m) : add_levels(m);
    if (!status && m->stretched) status = app_ranks_agree(m->level[0].space->ranks, make_host(m));
    for (int l = 0; l < m->num_levels && !status; l++) {
        status = interrupted(m);
        if (!status) status = make_decomposition(m, l);
    }
    if (!status) status = interrupted(m);
    if (!status) status = make_last(m);
    return status ? status : multigrid_weigh(m);
}

yoke_status fem_multigrid_create(const fem_space *space, const fem_constraints *constraints, const fem_multigrid_options *options,
                                 const fem_hooks *hooks, fem_multigrid **out)
{
    fem_multigrid *m = NULL;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate(space->context, 1, sizeof *m, &m));
    if (status) {
        yoke_release(space->context, m);
        return status;
    }
    m->context = space->context;
    m->options = *options;
    m->hooks = hooks;
    if (!m->options.degree) m->options.degree = DEFAULT_DEGREE;
    if (!(m->options.range > 0)) m->options.range = default_range;
    m->asked_direct_dofs = options->direct_dofs;
    m->factor_dofs = options->direct_dofs ? options->direct_dofs : most_factor_dofs;
    m->stretched = multigrid_is_stretched(space->problem->mesh);
    if (!m->options.direct_dofs) m->options.direct_dofs = FEM_DIRECT_DOFS;
    if (!m->options.shared_elements) m->options.shared_elements = FEM_SHARED_ELEMENTS;
    if (!m->options.finest_dofs) m->options.finest_dofs = all_dofs(space);
    if (space->ranks) {
        m->ranks_keeper = options->keeper;
        m->options.keeper = NULL;
        if (!m->options.algebraic_dofs) m->options.algebraic_dofs = FEM_COARSE_ANALYSED_LIMIT;
    }
    m->num_levels = 1;
    m->level[0].space = space;
    m->level[0].constraints = constraints;
    memcpy(m->level[0].cut, options->cut, sizeof(int32_t) * ((size_t)options->devices->count + 1));
    status = setup(m);
    if (status) {
        fem_multigrid_destroy(m);
        return status;
    }
    *out = m;
    return YOKE_OK;
}

void fem_multigrid_destroy(fem_multigrid *m)
{
    if (!m) return;
    multigrid_gathered_destroy(m->gathered);
    fem_halo_messages_destroy(m->coarse_messages);
    for (int l = m->num_levels - 1; l >= 0; l--) { /* a coarser level's forest borrows the connectivity of the finest one's */
        multigrid_level *level = &m->level[l];
        fem_vector *vectors[] = {level->b, level->x, level->d, level->t};
        for (int i = 0; i < 4; i++) fem_vector_destroy(vectors[i]);
        multigrid_blocks_destroy(level->blocks);
        fem_decomposition_destroy(level->decomposition);
        fem_interpolation_destroy(level->to_finer);
        fem_constraints_destroy(level->own_constraints);
        fem_space_destroy(level->own_space);
        fem_forest_destroy(level->forest);
    }
    if (!m->direct_kept) fem_direct_destroy(m->direct);
    fem_runs_destroy(m->coarse_vectors);
    if (!m->options.keeper && !m->ranks_keeper) fem_coarse_destroy(m->coarse);
    yoke_release(m->context, m->host);
    yoke_release(m->context, m->coarse_b);
    yoke_release(m->context, m->coarse_x);
    yoke_release(m->context, m->coarse_moved);
    yoke_release(m->context, m);
}

fem_approximate_inverse fem_multigrid_inverse(fem_multigrid *m) { return (fem_approximate_inverse){multigrid_apply, m}; }

fem_multigrid_work fem_multigrid_get_work(const fem_multigrid *m)
{
    const int last = m->num_levels - 1;
    if (!m->stretched) return fem_multigrid_usual_work((double)all_dofs(m->level[0].space));
    /* rank 0's part counts the rest, and the costs that do not depend on the size */
    fem_multigrid_work sum = m->gathered ? multigrid_gathered_work(m->gathered) : fem_multigrid_least_work();
    double visits = 1;
    for (int l = -m->options.finer_levels; l < 0; l++) visits *= multigrid_corrections(m, l);
    for (int l = 0; l <= last; l++) {
        fem_multigrid_work work = {0, 0};
        fem_block_level level = {.dofs = (double)all_dofs(m->level[l].space), .products = 2.0 * m->options.degree};
        if (l < last) {
            visits *= multigrid_corrections(m, l);
            level.smoothings = visits;
            level.entries = m->level[l].block_size[0];
            level.operations = m->level[l].block_size[1];
            work = fem_block_level_work(&level);
        } else if (m->direct) {
            const fem_cholesky_cost cost = fem_direct_cost(m->direct);
            work = fem_last_level_work(level.dofs, &cost, visits);
        } else if (m->coarse && fem_coarse_is_algebraic(m->coarse)) {
            work = fem_algebraic_level_work(level.dofs, visits);
        }
        sum.setup += work.setup;
        sum.iteration += work.iteration;
    }
    return sum;
}

/*
 * On several ranks: returns the multigrid that rank 0 has gathered, which may do the whole cycle; NULL on other ranks, and if nothing was
 * gathered.
 */
static const fem_multigrid *whole_of(const fem_multigrid *m) { return m->gathered ? multigrid_gathered_whole(m->gathered) : NULL; }

int64_t fem_multigrid_fine_products(const fem_multigrid *m)
{
    const int64_t products = fem_decomposition_products(m->level[0].decomposition);
    return whole_of(m) && m->num_levels == 1 ? products + fem_multigrid_fine_products(whole_of(m)) : products;
}

fem_decomposition *fem_multigrid_decomposition(fem_multigrid *m) { return m->level[0].decomposition; }

fem_decomposition *fem_multigrid_level_decomposition(fem_multigrid *m, int level) { return m->level[level].decomposition; }

int fem_multigrid_levels(const fem_multigrid *m) { return m->num_levels; }

const char *fem_multigrid_coarse_name(const fem_multigrid *m)
{
    if (m->gathered) return whole_of(m) ? fem_multigrid_coarse_name(whole_of(m)) : "gathered";
    return m->direct ? "cholmod" : fem_coarse_name(m->coarse);
}

void fem_multigrid_add_sent(const fem_multigrid *m, int64_t *messages, int64_t *bytes)
{
    for (int l = 0; l < m->num_levels; l++) fem_decomposition_add_sent(m->level[l].decomposition, messages, bytes);
    if (m->gathered) multigrid_gathered_add_sent(m->gathered, messages, bytes);
    if (m->direct) fem_direct_add_sent(m->direct, messages, bytes);
    for (int l = 0; l < m->num_levels; l++)
        if (m->level[l].blocks) multigrid_blocks_add_sent(m->level[l].blocks, messages, bytes);
    if (m->coarse_messages) {
        *messages += m->coarse_messages->num_messages;
        *bytes += m->coarse_messages->num_bytes;
    }
    if (m->coarse_vectors) {
        *messages += m->coarse_vectors->num_messages;
        *bytes += m->coarse_vectors->num_bytes;
    }
}

int64_t fem_multigrid_memory_bytes(const fem_multigrid *m)
{
    int64_t bytes = whole_of(m) ? fem_multigrid_memory_bytes(whole_of(m)) : 0;
    if (!m->gathered) bytes = m->direct ? fem_direct_memory_bytes(m->direct) : fem_coarse_memory_bytes(m->coarse);
    bytes += (int64_t)sizeof *m->host * m->host_dofs;
    for (int l = 0; l < m->num_levels; l++) {
        const multigrid_level *level = &m->level[l];
        bytes += fem_decomposition_memory_bytes(level->decomposition) + 4 * (int64_t)sizeof(float) * dofs_of(level->space);
        if (level->blocks) bytes += multigrid_blocks_memory_bytes(level->blocks);
    }
    return bytes;
}
