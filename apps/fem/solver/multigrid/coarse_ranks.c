/*
 * multigrid/coarse_ranks.c - on several ranks: the last level's matrix by rows of each rank's own nodes, and its solver on all ranks.
 *
 * Elements of a rank also contribute to rows of nodes that other ranks own.  These parts of rows are sent to the owners, which add them in
 * the order of the ranks.
 */
#include <string.h>

#include "solver/direct/node_graph.h"
#include "solver/multigrid/private.h"
#include "space/exchange/lists.h"
#include "space/exchange/runs.h"

/* An entry of a row of another rank, by node numbers over all ranks. */
typedef struct far_entry {
    int32_t row, column;
} far_entry;

typedef struct rows {
    const fem_space *space;
    const fem_constraints *constraints;
    int64_t *first_owned; /* [ranks + 1] */
    int32_t *row;         /* [num_nodes] own nodes, then those of other ranks */
    int64_t *start;       /* [num_nodes + 1] local parts of rows, in the order of nodes */
    int32_t *local;
    fem_lists sent, received;               /* entries */
    fem_lists sent_values, received_values; /* their blocks */
    multigrid_assembly a;
} rows;

static void release(rows *r)
{
    yoke_context *context = r->space->context;
    void *arrays[] = {r->first_owned, r->row, r->start, r->local, r->a.row_start, r->a.column, r->a.value};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(context, arrays[i]);
    fem_lists *lists[] = {&r->sent, &r->received, &r->sent_values, &r->received_values};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) fem_lists_release(lists[i]);
}

/* ----------------------------------------------------------------------------------------------------- pattern */

static yoke_status number_rows(rows *r)
{
    const fem_space *space = r->space;
    yoke_status status = yoke_allocate(space->context, app_ranks_count(space->ranks) + 1, sizeof *r->first_owned, &r->first_owned);
    if (!status) status = yoke_allocate(space->context, space->num_nodes, sizeof *r->row, &r->row);
    if (!status && space->num_global_nodes * space->components > INT32_MAX)
        status = yoke_fail(space->context, YOKE_ERROR_INPUT,
                           "the coarse problem has %lld nodes, more than algebraic multigrid can number: use a coarser mesh and refine it",
                           (long long)space->num_global_nodes);
    status = app_ranks_agree(space->ranks, status);
    if (status) return status;
    fem_runs_list(space->ranks, space->first_owned, space->num_global_nodes, r->first_owned);
    for (int32_t i = 0, other = space->num_owned; i < space->num_nodes; i++)
        r->row[i] = fem_space_owns(space, i) ? (int32_t)(space->global_node[i] - space->first_owned) : other++;
    return YOKE_OK;
}

static int owner_of(const rows *r, int32_t node)
{
    return fem_runs_owner(r->first_owned, app_ranks_count(r->space->ranks), r->space->global_node[node]);
}

static yoke_status list_far_entries(rows *r)
{
    const fem_space *space = r->space;
    yoke_status status = fem_node_graph_create(space, &r->start, &r->local);
    if (!status) status = fem_lists_start(space->context, space->ranks, sizeof(far_entry), &r->sent);
    if (status) return status;
    for (int32_t i = 0; i < space->num_nodes; i++)
        if (!fem_space_owns(space, i)) r->sent.count[owner_of(r, i)] += (int)(r->start[i + 1] - r->start[i]);
    status = fem_lists_place(&r->sent);
    for (int32_t i = 0; i < space->num_nodes && !status; i++) {
        if (fem_space_owns(space, i)) continue;
        for (int64_t k = r->start[i]; k < r->start[i + 1]; k++)
            *(far_entry *)fem_lists_next(&r->sent, owner_of(r, i)) =
                (far_entry){(int32_t)space->global_node[i], (int32_t)space->global_node[r->local[k]]};
    }
    if (!status) fem_lists_rewind(&r->sent);
    return status;
}

static int64_t find(const multigrid_assembly *a, const int64_t *end, int32_t row, int32_t column)
{
    int64_t at = a->row_start[row];
    while (at < end[row] && a->column[at] != column) at++;
    return at;
}

/*
 * Makes rows with space for all entries that they may have, then removes the space that is not used.  end [num_nodes]: end of each row so
 * far.
 */
static void fill_pattern(rows *r, int64_t *end)
{
    const fem_space *space = r->space;
    multigrid_assembly *a = &r->a;
    const far_entry *far = r->received.items;
    for (int32_t i = 0; i < space->num_nodes; i++) a->row_start[r->row[i] + 1] += r->start[i + 1] - r->start[i];
    for (int64_t k = 0; k < r->received.all; k++) a->row_start[far[k].row - space->first_owned + 1]++;
    for (int32_t i = 0; i < space->num_nodes; i++) a->row_start[i + 1] += a->row_start[i];
    for (int32_t i = 0; i < space->num_nodes; i++) end[i] = a->row_start[i];
    for (int32_t i = 0; i < space->num_nodes; i++)
        for (int64_t k = r->start[i]; k < r->start[i + 1]; k++) a->column[end[r->row[i]]++] = (int32_t)space->global_node[r->local[k]];
    for (int64_t k = 0; k < r->received.all; k++) {
        const int32_t row = (int32_t)(far[k].row - space->first_owned);
        const int64_t at = find(a, end, row, far[k].column);
        if (at < end[row]) continue;
        a->column[at] = far[k].column;
        end[row]++;
    }
    int64_t next = 0;
    for (int32_t i = 0; i < space->num_nodes; i++) {
        const int64_t from = a->row_start[i], count = end[i] - from;
        memmove(a->column + next, a->column + from, sizeof *a->column * (size_t)count);
        a->row_start[i] = next;
        next += count;
    }
    a->row_start[space->num_nodes] = next;
}

static yoke_status make_pattern(rows *r)
{
    const fem_space *space = r->space;
    yoke_context *context = space->context;
    const int64_t nodes = space->num_nodes, n = space->components;
    int64_t *end = NULL;
    yoke_status status = yoke_allocate(context, nodes + 1, sizeof *r->a.row_start, &r->a.row_start);
    if (!status) status = yoke_allocate(context, r->start[nodes] + r->received.all, sizeof *r->a.column, &r->a.column);
    if (!status) status = yoke_allocate(context, nodes, sizeof *end, &end);
    if (!status) {
        r->a.space = space;
        r->a.row = r->row;
        fill_pattern(r, end);
        status = yoke_allocate(context, r->a.row_start[nodes] * n * n, sizeof *r->a.value, &r->a.value);
    }
    yoke_release(context, end);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ values */

static void copy_block(double *to, const double *from, int n, uint8_t prescribed)
{
    for (int i = 0; i < n * n; i++) to[i] = prescribed >> i % n & 1 ? 0 : from[i];
}

/* Lists the blocks of the entries that were sent.  Columns of prescribed components are zero from here on. */
static yoke_status list_far_values(rows *r)
{
    const fem_space *space = r->space;
    const int n = space->components;
    yoke_status status = fem_lists_start(space->context, space->ranks, (int)sizeof(double) * n * n, &r->sent_values);
    if (status) return status;
    memcpy(r->sent_values.count, r->sent.count, sizeof *r->sent.count * (size_t)r->sent.num_ranks);
    status = fem_lists_place(&r->sent_values);
    if (status) return status;
    for (int32_t i = 0; i < space->num_nodes; i++) {
        const int64_t begin = r->a.row_start[r->row[i]];
        for (int64_t k = r->start[i]; k < r->start[i + 1]; k++) {
            /* local columns are the first ones of each row, in the same order */
            double *block = r->a.value + (begin + k - r->start[i]) * n * n;
            copy_block(block, block, n, r->constraints->prescribed[r->local[k]]);
            if (!fem_space_owns(space, i)) memcpy(fem_lists_next(&r->sent_values, owner_of(r, i)), block, sizeof *block * (size_t)(n * n));
        }
    }
    fem_lists_rewind(&r->sent_values);
    return YOKE_OK;
}

static void add_far_values(rows *r)
{
    const int n = r->space->components;
    const far_entry *far = r->received.items;
    const double *block = r->received_values.items;
    for (int64_t k = 0; k < r->received.all; k++, block += n * n) {
        const int32_t row = (int32_t)(far[k].row - r->space->first_owned);
        double *to = r->a.value + find(&r->a, r->a.row_start + 1, row, far[k].column) * n * n;
        for (int i = 0; i < n * n; i++) to[i] += block[i];
    }
}

static yoke_status make_values(rows *r, const multigrid_level *last)
{
    app_ranks *ranks = r->space->ranks;
    yoke_status status = multigrid_add_elements(last, &r->a);
    if (!status) status = list_far_values(r);
    status = fem_lists_swap(r->space->context, ranks, status, &r->sent_values, &r->received_values);
    if (!status) add_far_values(r);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- solver */

static yoke_status create_solver(const rows *r, fem_coarse **coarse)
{
    const fem_space *space = r->space;
    yoke_context *context = space->context;
    double *x = NULL;
    uint8_t *prescribed = NULL;
    yoke_status status = yoke_allocate(context, 3 * (int64_t)space->num_owned, sizeof *x, &x);
    if (!status) status = yoke_allocate(context, space->num_owned, sizeof *prescribed, &prescribed);
    status = app_ranks_agree(space->ranks, status);
    for (int32_t i = 0; i < space->num_nodes && !status; i++) {
        if (!fem_space_owns(space, i)) continue;
        memcpy(x + 3 * (int64_t)r->row[i], space->x + 3 * (int64_t)i, 3 * sizeof *x);
        prescribed[r->row[i]] = r->constraints->prescribed[i];
    }
    const fem_coarse_matrix matrix = {.num_nodes = space->num_owned,
                                      .components = space->components,
                                      .row_start = r->a.row_start,
                                      .column = r->a.column,
                                      .value = r->a.value,
                                      .x = x,
                                      .prescribed = prescribed,
                                      .ranks = space->ranks,
                                      .first_node = space->first_owned,
                                      .all_nodes = space->num_global_nodes};
    if (!status) status = fem_coarse_create(context, FEM_COARSE_AMG, &matrix, coarse);
    yoke_release(context, x);
    yoke_release(context, prescribed);
    return status;
}

static yoke_status assemble_and_create(fem_multigrid *m, const multigrid_level *last)
{
    rows r = {.space = last->space, .constraints = last->constraints};
    app_ranks *ranks = last->space->ranks;
    yoke_status status = number_rows(&r);
    if (!status) status = fem_lists_swap(m->context, ranks, list_far_entries(&r), &r.sent, &r.received);
    if (!status) status = app_ranks_agree(ranks, make_pattern(&r));
    if (!status) status = make_values(&r, last);
    if (!status) status = create_solver(&r, &m->coarse);
    release(&r);
    return status;
}

static yoke_status make_room_for_kept(fem_multigrid *m, const fem_space *space)
{
    const int64_t nodes = fem_runs_moved(m->coarse_vectors);
    return app_ranks_agree(space->ranks, yoke_allocate(m->context, nodes * space->components, sizeof(double), &m->coarse_moved));
}

/* Solves for own [num_owned][components], which is the right side on entry and the solution on return. */
static yoke_status solve_for_own(fem_multigrid *m, double *own, int bytes)
{
    if (!m->coarse_vectors) return fem_coarse_solve(m->coarse, own, own);
    fem_runs_move(m->coarse_vectors, 0, bytes, own, m->coarse_moved);
    yoke_status status = fem_coarse_solve(m->coarse, m->coarse_moved, m->coarse_moved);
    if (!status) fem_runs_move(m->coarse_vectors, 1, bytes, m->coarse_moved, own);
    return status;
}

yoke_status multigrid_create_coarse_on_ranks(fem_multigrid *m)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    const fem_space *space = last->space;
    const int n = space->components;
    yoke_status status = yoke_allocate(m->context, (int64_t)space->num_nodes * n, sizeof *m->coarse_b, &m->coarse_b);
    if (!status) status = yoke_allocate(m->context, (int64_t)space->num_owned * n, sizeof *m->coarse_x, &m->coarse_x);
    if (!status) status = fem_halo_messages_create(space->halo, n * (int)sizeof(double), &m->coarse_messages);
    status = app_ranks_agree(space->ranks, status);
    if (status) return status;
    if (!m->ranks_keeper) return assemble_and_create(m, last);
    status = fem_coarse_keeper_find_on_ranks(m->ranks_keeper, space, last->constraints, &m->coarse, &m->coarse_vectors);
    if (status) return status;
    if (m->coarse) return make_room_for_kept(m, space);
    status = assemble_and_create(m, last);
    if (!status) fem_coarse_keeper_keep_on_ranks(m->ranks_keeper, m->coarse);
    return status;
}

yoke_status multigrid_solve_on_ranks(fem_multigrid *m, multigrid_level *level)
{
    const fem_space *space = level->space;
    const int n = space->components;
    const size_t bytes = sizeof(double) * (size_t)n;
    double *own = m->coarse_x, *local = m->coarse_b;
    fem_vector_read(level->b, local);
    for (int32_t i = 0; i < space->num_nodes; i++)
        if (fem_space_owns(space, i)) memcpy(own + (space->global_node[i] - space->first_owned) * n, local + (int64_t)i * n, bytes);
    yoke_status status = solve_for_own(m, own, (int)bytes);
    if (status) return status;
    for (int32_t i = 0; i < space->num_nodes; i++) {
        if (fem_space_owns(space, i))
            memcpy(local + (int64_t)i * n, own + (space->global_node[i] - space->first_owned) * n, bytes);
        else
            memset(local + (int64_t)i * n, 0, bytes);
    }
    /* all ranks except the owner have zero, so the sum is the owner's value */
    fem_halo_begin(m->coarse_messages, sizeof *local, n, local, NULL);
    fem_halo_end_sum(m->coarse_messages, local, NULL);
    fem_vector_write(level->x, local);
    return YOKE_OK;
}
