#include "ranks/product.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TAG_A = 1, TAG_B, TAG_C };

/* The partition is kept up to this imbalance. */
static const double imbalance_limit = 0.05;

/* ------------------------------------------------------------------------------------------------ creation */

static yoke_status create_part(const dense_product *p, yoke_rectangle place, dense_matrix *matrix)
{
    if (place.rows == 0) return YOKE_OK;
    return dense_matrix_create(p->context, place.rows, place.columns, p->grid.precision, matrix);
}

/* *filling: seconds per byte; 0 if there are no entries. */
static yoke_status create_zero(const dense_product *p, yoke_rectangle place, dense_matrix *matrix, double *filling)
{
    yoke_status status = create_part(p, place, matrix);
    const double begin_s = yoke_clock_s();
    *filling = 0;
    if (status || !matrix->entries) return status;
    const size_t bytes = (size_t)dense_matrix_bytes(matrix);
    memset(matrix->entries, 0, bytes);
    *filling = (yoke_clock_s() - begin_s) / (double)bytes;
    return YOKE_OK;
}

/* Allocates the pivots of two steps for this rank's part of C. */
static yoke_status create_pivots(dense_product *p)
{
    const int64_t most = dense_grid_most_pivots(&p->grid);
    const yoke_rectangle c = p->places_c[app_ranks_number(p->ranks)];
    yoke_status status = YOKE_OK;
    for (int x = 0; x < 2 && !status; x++) {
        for (int which = 0; which < 2; which++) dense_matrix_destroy(&p->pivots[x][which]);
        if (c.rows == 0) continue;
        status = dense_matrix_create(p->context, c.rows, most, p->grid.precision, &p->pivots[x][0]);
        if (!status) status = dense_matrix_create(p->context, most, c.columns, p->grid.precision, &p->pivots[x][1]);
    }
    return status;
}

/* Checks the memory needed by all ranks on this machine together. */
static yoke_status check_memory(dense_product *p)
{
    const int me = app_ranks_number(p->ranks), here = app_ranks_here(p->ranks);
    yoke_topology topology;
    yoke_status status = yoke_topology_get(p->context, &topology);
    if (status) return status;
    const double bytes = dense_grid_bytes(&p->grid, p->first[me], p->first[me]) * here;
    p->memory_bytes = (double)topology.memory_bytes / here;
    if (bytes <= (double)topology.memory_bytes) return YOKE_OK;
    return yoke_fail(p->context, YOKE_ERROR_INPUT,
                     "%d rank%s on this machine take %.3g GB for their parts of the matrices, and there are %.3g GB: take smaller "
                     "matrices, or more machines",
                     here, here == 1 ? "" : "s", bytes * 1e-9, (double)topology.memory_bytes * 1e-9);
}

static yoke_status create_lists(dense_product *p)
{
    const int64_t ranks = p->grid.ranks;
    yoke_status status = yoke_allocate(p->context, 7 * ranks, sizeof *p->first, &p->first);
    if (status) return status;
    p->now = p->first + ranks;
    p->places_a = p->now + ranks;
    p->places_b = p->places_a + ranks;
    p->places_c = p->places_b + ranks;
    p->scratch = p->places_c + ranks;
    status = yoke_allocate(p->context, ranks, sizeof *p->reports, &p->reports);
    if (!status) status = yoke_allocate(p->context, p->grid.steps, sizeof *p->steps, &p->steps);
    if (!status) status = yoke_allocate(p->context, DENSE_MAX_DEVICES, sizeof *p->devices, &p->devices);
    if (!status) status = yoke_allocate(p->context, 1, sizeof *p->shared, &p->shared);
    if (!status) status = dense_exchange_create(p->context, p->ranks, 2, &p->exchange);
    if (!status) status = dense_nodes_start(p->context, &p->grid, p->first);
    if (!status && app_ranks_number(p->ranks) == 0)
        status = dense_nodes_create(p->context, &p->grid, p->first, p->partition, imbalance_limit, &p->nodes);
    return status;
}

static yoke_status create_parts(dense_product *p)
{
    const int me = app_ranks_number(p->ranks);
    for (int i = 0; i < p->grid.ranks; i++) {
        p->now[i] = p->first[i];
        p->places_a[i] = dense_grid_of_a(&p->grid, p->first[i]);
        p->places_b[i] = dense_grid_of_b(&p->grid, p->first[i]);
        p->places_c[i] = dense_grid_of_c(&p->grid, p->first[i]);
    }
    yoke_status status = check_memory(p);
    if (!status) status = create_part(p, p->places_a[me], &p->a);
    if (!status) status = create_part(p, p->places_b[me], &p->b);
    if (!status) status = create_zero(p, p->places_c[me], &p->c, &p->filling);
    return status ? status : create_pivots(p);
}

yoke_status dense_product_create(dense_product *p, int64_t m, int64_t n, int64_t k, int64_t block, dense_precision precision)
{
    yoke_status status = YOKE_OK;
    p->grid = (dense_grid){.m = m, .n = n, .k = k, .block = block, .precision = precision, .ranks = app_ranks_count(p->ranks)};
    dense_grid_complete(&p->grid);
    p->options.block = p->grid.block;
    p->options.add = 1;
    p->options.progress = (dense_progress){NULL, NULL};
    if (p->grid.ranks > DENSE_MAX_RANKS)
        status = yoke_fail(p->context, YOKE_ERROR_INPUT, "%d ranks; there may be %d at most", p->grid.ranks, DENSE_MAX_RANKS);
    if (!status) status = create_lists(p);
    if (!status) status = create_parts(p);
    return app_ranks_agree(p->ranks, status);
}

void dense_product_destroy(dense_product *p)
{
    if (!p->context) return;
    dense_gemm_close(p->gemm);
    dense_matrix_destroy(&p->a);
    dense_matrix_destroy(&p->b);
    dense_matrix_destroy(&p->c);
    for (int x = 0; x < 4; x++) dense_matrix_destroy(&p->pivots[x / 2][x % 2]);
    if (p->exchange.ranks) dense_exchange_destroy(p->context, &p->exchange);
    dense_nodes_destroy(p->nodes);
    yoke_release(p->context, p->first);
    yoke_release(p->context, p->reports);
    yoke_release(p->context, p->steps);
    yoke_release(p->context, p->devices);
    yoke_release(p->context, p->shared);
}

/* -------------------------------------------------------------------------------------------------- a step */

/* Starts to send and receive the pivots of a step. */
static yoke_status fetch(dense_product *p, int64_t step)
{
    const int ranks = p->grid.ranks;
    dense_matrix *of_a = &p->pivots[step % 2][0], *of_b = &p->pivots[step % 2][1];
    for (int i = 0; i < ranks; i++) {
        p->scratch[i] = dense_grid_pivots_a(&p->grid, p->now[i], step);
        p->scratch[ranks + i] = dense_grid_pivots_b(&p->grid, p->now[i], step);
    }
    const dense_parts a = {p->places_a, &p->a}, b = {p->places_b, &p->b}, need_a = {p->scratch, of_a}, need_b = {p->scratch + ranks, of_b};
    of_a->columns = of_b->rows = dense_grid_pivot(&p->grid, step + 1) - dense_grid_pivot(&p->grid, step);
    dense_exchange_clear(&p->exchange);
    dense_exchange_add(&p->exchange, TAG_A, &a, &need_a);
    dense_exchange_add(&p->exchange, TAG_B, &b, &need_b);
    return dense_exchange_start(&p->exchange, p->grid.precision);
}

/* Adds the work of the devices in a step to their sums.  Returns the seconds of the slowest device. */
static double add_devices(dense_product *p)
{
    const dense_shared *s = p->shared;
    const double columns = (double)p->now[app_ranks_number(p->ranks)].columns;
    double longest = 0;
    p->num_devices = s->num_parts;
    for (int i = 0; i < s->num_parts; i++) {
        dense_rank_device *d = &p->devices[i];
        const dense_part *part = &s->part[i];
        snprintf(d->name, sizeof d->name, "%s", part->device);
        if (part->by[0]) snprintf(d->by, sizeof d->by, "%s", part->by);
        snprintf(d->why, sizeof d->why, "%s", part->why);
        d->rank = app_ranks_number(p->ranks);
        d->accelerator = part->accelerator;
        d->failed |= part->failed;
        d->blocks += (double)part->units * columns;
        d->seconds += part->seconds;
        d->energy_j += s->powers[0] ? part->energy_j : NAN;
        snprintf(d->powers, sizeof d->powers, "%s", s->powers);
        longest = fmax(longest, part->seconds);
    }
    p->partition_s += s->plan_s;
    return longest;
}

/* C = C + A(pivots) B(pivots) for this rank's part. */
static yoke_status work(dense_product *p, int64_t step, dense_node_report *mine)
{
    const dense_matrix *a = &p->pivots[step % 2][0], *b = &p->pivots[step % 2][1];
    if (!p->c.entries) return YOKE_OK;
    yoke_status status = YOKE_OK;
    if (!p->gemm) status = dense_gemm_open(p->context, p->run, p->blas, p->why_no_blas, &p->options, a, &p->c, &p->gemm);
    if (!status) status = dense_gemm_multiply(p->gemm, a, b, &p->c, p->shared);
    if (!status) mine->seconds = add_devices(p);
    mine->predicted_s = p->shared->predicted_s;
    p->compute_s += mine->seconds;
    return status;
}

/* -------------------------------------------------------------------------------------------------- moving C */

/* Moves C to a new partition.  Errors: all ranks agree on them. */
static yoke_status move(dense_product *p, dense_rank_step *told)
{
    const int me = app_ranks_number(p->ranks), ranks = p->grid.ranks;
    const double begin_s = yoke_clock_s();
    dense_matrix moved = {.entries = NULL};
    double seconds;
    memcpy(p->scratch, p->places_c, (size_t)ranks * sizeof *p->scratch);
    for (int i = 0; i < ranks; i++) p->places_c[i] = dense_grid_of_c(&p->grid, p->now[i]);
    const dense_parts from = {p->scratch, &p->c}, to = {p->places_c, &moved};
    yoke_status status = app_ranks_agree(p->ranks, create_part(p, p->places_c[me], &moved));
    if (!status) {
        dense_exchange_clear(&p->exchange);
        dense_exchange_add(&p->exchange, TAG_C, &from, &to);
        status = dense_exchange_start(&p->exchange, p->grid.precision);
    }
    if (status) {
        dense_matrix_destroy(&moved);
        return status;
    }
    dense_exchange_finish(&p->exchange, &seconds);
    dense_matrix_destroy(&p->c);
    p->c = moved;
    double bytes = p->exchange.bytes;
    app_ranks_sum(p->ranks, &bytes, 1);
    status = app_ranks_agree(p->ranks, create_pivots(p));
    told->move_bytes = bytes;
    told->move_s = yoke_clock_s() - begin_s;
    p->move_s += told->move_s;
    if (!status && p->nodes) dense_nodes_moved(p->nodes, told->move_s);
    return status;
}

/* All ranks report what they did in a step, and receive the decision for the next one.  Errors: all ranks agree on them. */
static yoke_status tell(dense_product *p, int64_t step, const dense_node_report *mine, yoke_status status)
{
    const int ranks = p->grid.ranks;
    double begin_s = yoke_clock_s();
    dense_rank_step *told = &p->steps[step];
    dense_node_decision decision = {.predicted_s = NAN};
    double predicted_s = 0;
    app_ranks_gather(p->ranks, mine, sizeof *mine, p->reports);
    p->idle_s += yoke_clock_s() - begin_s;
    begin_s = yoke_clock_s();
    if (!status && p->nodes) status = dense_nodes_decide(p->nodes, step, p->reports, p->now, &decision);
    status = app_ranks_agree(p->ranks, status);
    if (status) return status;
    app_ranks_broadcast(p->ranks, &decision, sizeof decision);
    app_ranks_broadcast(p->ranks, p->now, (int)((size_t)ranks * sizeof *p->now));
    for (int i = 0; i < ranks; i++) {
        const dense_node_report *r = &p->reports[i];
        told->longest_s = fmax(told->longest_s, r->seconds);
        told->transfer_s = fmax(told->transfer_s, r->transfer_s);
        told->wait_s = fmax(told->wait_s, r->wait_s);
        told->bytes += r->bytes;
        if (r->seconds > 0) predicted_s = r->predicted_s <= predicted_s ? predicted_s : r->predicted_s; /* NaN is kept */
    }
    if (step == 0) told->predicted_s = predicted_s;
    told->imbalance = decision.imbalance;
    told->moved = decision.moves;
    told->gain_s = decision.gain_s;
    told->cost_s = decision.cost_s;
    if (step + 1 < p->grid.steps) p->steps[step + 1].predicted_s = decision.predicted_s;
    p->partition_s += yoke_clock_s() - begin_s;
    return YOKE_OK;
}

/* The pivots of this step have arrived; those of the next step are fetched during the work. */
static yoke_status do_step(dense_product *p, int64_t step)
{
    dense_node_report mine = {.seconds = 0};
    const bool last = step + 1 == p->grid.steps;
    yoke_status status = last ? YOKE_OK : fetch(p, step + 1);
    if (status) return status;
    yoke_status worked = work(p, step, &mine);
    const double begin_s = yoke_clock_s();
    if (!last) {
        dense_exchange_finish(&p->exchange, &mine.transfer_s);
        mine.bytes = p->exchange.bytes;
        mine.wait_s = yoke_clock_s() - begin_s;
    }
    p->communicate_s += mine.wait_s;
    status = tell(p, step, &mine, worked);
    if (status || !p->steps[step].moved) return status;
    status = move(p, &p->steps[step]);
    if (!status) status = fetch(p, step + 1);
    if (!status) dense_exchange_finish(&p->exchange, &mine.wait_s);
    p->communicate_s += mine.wait_s;
    return status;
}

/* Fetches the first pivots twice, because the first messages also establish the connections. */
static yoke_status measure_messages(dense_product *p)
{
    const double begin_s = yoke_clock_s();
    dense_node_report mine = {.filling = p->filling, .memory_bytes = p->memory_bytes};
    yoke_status status = YOKE_OK;
    for (int time = 0; time < 2 && !status; time++) {
        status = fetch(p, 0);
        if (!status) dense_exchange_finish(&p->exchange, &mine.transfer_s);
        mine.bytes = p->exchange.bytes;
        if (!status) app_ranks_gather(p->ranks, &mine, sizeof mine, p->reports);
    }
    if (!status && p->nodes) dense_nodes_messages(p->nodes, p->reports);
    p->communicate_s += yoke_clock_s() - begin_s;
    return status;
}

yoke_status dense_product_multiply(dense_product *p)
{
    const double begin_s = yoke_clock_s();
    for (int64_t i = 0; i < p->grid.steps; i++) p->steps[i].predicted_s = p->steps[i].gain_s = p->steps[i].cost_s = NAN;
    yoke_status status = measure_messages(p);
    for (int64_t step = 0; step < p->grid.steps && !status; step++) {
        status = do_step(p, step);
        if (!status && p->progress) p->progress(p->user, step + 1, p->grid.steps);
    }
    p->seconds = yoke_clock_s() - begin_s;
    return status;
}
