#include "gemm_ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/files/record.h"
#include "inputs.h"
#include "output/output.h"

/* Options that must be the same on all ranks, each of which has its own command line. */
typedef struct alike {
    int64_t files, rows, columns, depth, block, seed, precision, partition, check, output;
} alike;

static yoke_status compare(const dense_work *w, const dense_gemm_ranks *asked)
{
    static const char *const names[] = {"number of files", "rows of A",   "columns of B", "columns of A", "-b (0: not given)",
                                        "--seed",          "--precision", "--partition",  "--check",      "--output"};
    enum { NUMBERS = sizeof names / sizeof *names };
    const alike mine = {.files = w->operands.count,
                        .rows = asked->rows,
                        .columns = asked->columns,
                        .depth = asked->depth,
                        .block = w->block,
                        .seed = w->seed,
                        .precision = asked->precision,
                        .partition = (int64_t)asked->partition,
                        .check = w->check,
                        .output = w->output != NULL};
    alike first = mine;
    int64_t a[NUMBERS], b[NUMBERS];
    app_ranks_broadcast(w->ranks, &first, sizeof first);
    memcpy(a, &mine, sizeof a);
    memcpy(b, &first, sizeof b);
    for (int i = 0; i < NUMBERS; i++)
        if (a[i] != b[i])
            return yoke_fail(w->context, YOKE_ERROR_INPUT,
                             "%s differs from rank 0 (%lld here, %lld there): only the devices of ranks may differ", names[i],
                             (long long)a[i], (long long)b[i]);
    return YOKE_OK;
}

yoke_status dense_gemm_check_alike(const dense_work *work, const dense_gemm_ranks *asked)
{
    return app_ranks_agree(work->ranks, compare(work, asked));
}

/* -------------------------------------------------------------------------------------------------- matrices */

static yoke_status fill(const dense_work *w, const dense_gemm_ranks *asked, int which, yoke_rectangle place, int64_t all_columns,
                        dense_matrix *part)
{
    if (place.rows == 0) return YOKE_OK;
    if (!asked->file) {
        dense_matrix_random_part(part, (uint64_t)w->seed + (uint64_t)which, place.row, place.column, all_columns);
        return YOKE_OK;
    }
    app_progress(w->terminal, "reading %s", asked->file[which].path);
    return dense_npy_read_part(&asked->file[which], place.row, place.column, part);
}

/* Joins the findings of all ranks about their parts.  All ranks agree on the result. */
static yoke_status check_finite(const dense_work *w, const char *name, int64_t rows, int64_t columns, yoke_rectangle place,
                                const dense_matrix *part)
{
    dense_wrong *all = NULL, sum = dense_matrix_find_wrong(part, place.row, place.column, columns);
    yoke_status status = app_ranks_agree(w->ranks, yoke_allocate(w->context, app_ranks_count(w->ranks), sizeof *all, &all));
    if (!status) {
        const dense_wrong mine = sum;
        app_ranks_gather(w->ranks, &mine, sizeof mine, all);
        sum = all[0];
        for (int i = 1; i < app_ranks_count(w->ranks); i++) sum = dense_wrong_join(sum, all[i]);
        status = app_ranks_agree(w->ranks, dense_wrong_check(w->context, &sum, rows, columns, name));
    }
    yoke_release(w->context, all);
    return status;
}

static yoke_status fill_both(const dense_work *w, const dense_gemm_ranks *asked, dense_product *p)
{
    const int me = app_ranks_number(w->ranks);
    yoke_status status = fill(w, asked, 0, p->places_a[me], asked->depth, &p->a);
    if (!status) status = fill(w, asked, 1, p->places_b[me], asked->columns, &p->b);
    status = app_ranks_agree(w->ranks, status);
    if (status || !asked->file) return status;
    status = check_finite(w, asked->file[0].path, asked->rows, asked->depth, p->places_a[me], &p->a);
    return status ? status : check_finite(w, asked->file[1].path, asked->depth, asked->columns, p->places_b[me], &p->b);
}

/* --------------------------------------------------------------------------------------------------- output */

typedef struct result {
    const dense_work *work;
    const dense_product *product;
    dense_rank_device *devices;
    int num_devices;
    dense_freivalds check;
    double all_blocks, compute_s, communicate_s, partition_s, move_s, idle_s; /* maxima over the ranks */
} result;

static yoke_status collect(result *r)
{
    const dense_product *p = r->product;
    const double mine[5] = {p->compute_s, p->communicate_s, p->partition_s, p->move_s, p->idle_s};
    double *all = NULL;
    yoke_status status = dense_product_devices(p, &r->devices, &r->num_devices);
    if (status) return status;
    status = app_ranks_agree(p->ranks, yoke_allocate(p->context, 5 * (int64_t)p->grid.ranks, sizeof *all, &all));
    if (status) return status;
    app_ranks_gather(p->ranks, mine, sizeof mine, all);
    for (int i = 0; i < p->grid.ranks; i++) {
        r->compute_s = fmax(r->compute_s, all[5 * i]);
        r->communicate_s = fmax(r->communicate_s, all[5 * i + 1]);
        r->partition_s = fmax(r->partition_s, all[5 * i + 2]);
        r->move_s = fmax(r->move_s, all[5 * i + 3]);
        r->idle_s = fmax(r->idle_s, all[5 * i + 4]);
    }
    for (int i = 0; i < r->num_devices; i++) r->all_blocks += r->devices[i].blocks;
    yoke_release(p->context, all);
    return YOKE_OK;
}

static double flops(const dense_grid *g) { return 2 * (double)g->m * (double)g->n * (double)g->k; }

static int count_moves(const dense_product *p)
{
    int moves = 0;
    for (int64_t i = 0; i < p->grid.steps; i++) moves += p->steps[i].moved;
    return moves;
}

/* The steps for which there was a prediction: their number, and their predicted and measured times. */
typedef struct forecast {
    int steps;
    double predicted_s, measured_s;
    double all_s; /* time of all steps and moves, where steps without a prediction count as measured */
} forecast;

static forecast sum_forecast(const dense_product *p)
{
    forecast sum = {0};
    for (int64_t i = 0; i < p->grid.steps; i++) {
        const dense_rank_step *s = &p->steps[i];
        const bool known = !isnan(s->predicted_s);
        sum.steps += known;
        sum.predicted_s += known ? s->predicted_s : 0;
        sum.measured_s += known ? s->longest_s : 0;
        sum.all_s += (known ? s->predicted_s : s->longest_s) + (s->moved ? s->cost_s : 0);
    }
    return sum;
}

static double share(const result *r, const dense_rank_device *d) { return r->all_blocks > 0 ? d->blocks / r->all_blocks : 0; }

static void show_devices(const result *r)
{
    app_terminal *t = r->work->terminal;
    app_print(t, "%-4s  %-20s  %10s  %8s  %10s  by\n", "rank", "device", "units", "share %", "seconds");
    for (int i = 0; i < r->num_devices; i++) {
        const dense_rank_device *d = &r->devices[i];
        app_print(t, "%-4d  %-20s  %10.0f  %8.2f  %10.4g  %s%s%s\n", d->rank, d->name, d->blocks, 100 * share(r, d), d->seconds, d->by,
                  d->failed   ? "  failed: "
                  : d->why[0] ? "  idle: "
                              : "",
                  d->why);
    }
}

static void show(const result *r)
{
    const dense_product *p = r->product;
    const dense_grid *g = &p->grid;
    const int moves = count_moves(p);
    const forecast sum = sum_forecast(p);
    double bytes = 0;
    app_terminal *t = r->work->terminal;
    for (int64_t i = 0; i < g->steps; i++) bytes += p->steps[i].bytes + p->steps[i].move_bytes;
    app_print(t,
              "gemm, %lld x %lld by %lld x %lld, %s precision, %d ranks: %.4g s, %.4g GFLOP/s; a unit is a block of %lld x %lld of C in "
              "one of %lld steps\n",
              (long long)g->m, (long long)g->k, (long long)g->k, (long long)g->n, dense_precision_text(g->precision), g->ranks, p->seconds,
              flops(g) / p->seconds * 1e-9, (long long)g->block, (long long)g->block, (long long)g->steps);
    show_devices(r);
    app_print(t, "imbalance of the ranks: %.1f %% in the first step, %.1f %% in the last one; %d repartition%s%s\n",
              100 * p->steps[0].imbalance, 100 * p->steps[g->steps - 1].imbalance, moves, moves == 1 ? "" : "s", moves ? "" : " paid");
    app_print(t,
              "longest of a rank: %.4g s at work, %.4g s waiting for messages (%.4g MB in all), %.4g s for slower ranks; %.2g s moving C, "
              "%.2g s deciding\n",
              r->compute_s, r->communicate_s, bytes * 1e-6, r->idle_s, r->move_s, r->partition_s);
    if (sum.steps)
        app_print(t, "%d of %lld steps were predicted: %.4g s at work, measured %.4g s (%+.1f %%)\n", sum.steps, (long long)g->steps,
                  sum.predicted_s, sum.measured_s, 100 * (sum.measured_s / sum.predicted_s - 1));
    if (r->work->check)
        app_print(t, "check: relative error %.2g, rounding errors are below %.2g: %s\n", r->check.relative_error, r->check.limit,
                  r->check.passed ? "passed" : "failed");
}

static json_t *rectangle_of(const dense_product *p, int rank)
{
    const yoke_rectangle c = p->places_c[rank];
    return json_pack("{s:I, s:I, s:I, s:I}", "row", (json_int_t)c.row, "column", (json_int_t)c.column, "rows", (json_int_t)c.rows,
                     "columns", (json_int_t)c.columns);
}

static json_t *parts_of(const result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->num_devices; i++) {
        const dense_rank_device *d = &r->devices[i];
        list = app_json_append(list, json_pack("{s:i, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "rank", d->rank, "device",
                                               app_json_text(d->name), "by", d->by[0] ? app_json_text(d->by) : json_null(), "accelerator",
                                               d->accelerator, "rectangle", rectangle_of(r->product, d->rank), "units",
                                               app_json_number(d->blocks), "share", app_json_number(share(r, d)), "seconds",
                                               app_json_number(d->blocks > 0 ? d->seconds : NAN), "energy_j", app_json_number(d->energy_j),
                                               "energy_kind", isnan(d->energy_j) ? json_null() : json_string(dense_energy_kind(d->powers)),
                                               "failed", d->failed, "why", app_json_text(d->why)));
    }
    return list;
}

static json_t *rounds_of(const dense_product *p)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < p->grid.steps; i++) {
        const dense_rank_step *s = &p->steps[i];
        list = app_json_append(list, json_pack("{s:o, s:{s:o}, s:{s:o}, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "imbalance",
                                               app_json_number(s->imbalance), "predicted", "time_s", app_json_number(s->predicted_s),
                                               "measured", "time_s", app_json_number(s->longest_s), "transfer_s",
                                               app_json_number(s->transfer_s), "wait_s", app_json_number(s->wait_s), "bytes",
                                               app_json_number(s->bytes), "moved", s->moved, "gain_s", app_json_number(s->gain_s), "cost_s",
                                               app_json_number(s->cost_s), "move_s", app_json_number(s->moved ? s->move_s : NAN),
                                               "move_bytes", app_json_number(s->moved ? s->move_bytes : NAN)));
    }
    return list;
}

static json_t *check_of(const result *r)
{
    if (!r->work->check) return json_null();
    return json_pack("{s:s, s:o, s:o, s:b}", "kind", "freivalds", "relative_error", app_json_number(r->check.relative_error), "limit",
                     app_json_number(r->check.limit), "passed", r->check.passed);
}

static json_t *keys_of(const result *r)
{
    static const char *const partitions[] = {"fpm", "cpm-multi", "cpm", "even"};
    const dense_product *p = r->product;
    const dense_grid *g = &p->grid;
    const forecast sum = sum_forecast(p);
    return json_pack(
        "{s:s, s:i, s:o, s:o, s:o, s:{s:o, s:n, s:i}, s:{s:o, s:n, s:n, s:s}, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:I, s:I, "
        "s:I, s:s, s:I, s:s, s:i, s:o, s:o}",
        "operation", "gemm", "ranks", g->ranks, "parts", parts_of(r), "rounds", rounds_of(p), "imbalance",
        app_json_number(p->steps[g->steps - 1].imbalance), "predicted", "time_s", app_json_number(sum.all_s), "energy_j", "steps",
        sum.steps, "measured", "time_s", app_json_number(p->seconds), "energy_j", "energy_kind", "why_not",
        "the energy of several ranks is not added up", "seconds", "total", app_json_number(r->work->total_s), "multiply",
        app_json_number(p->seconds), "compute", app_json_number(r->compute_s), "communicate", app_json_number(r->communicate_s),
        "partition", app_json_number(r->partition_s), "move", app_json_number(r->move_s), "idle", app_json_number(r->idle_s), "m",
        (json_int_t)g->m, "n", (json_int_t)g->n, "k", (json_int_t)g->k, "precision", dense_precision_text(g->precision), "block",
        (json_int_t)g->block, "partition", partitions[p->partition], "repartitions", count_moves(p), "gflops",
        app_json_number(flops(g) / p->seconds * 1e-9), "check", check_of(r));
}

static yoke_status write_record(const result *r, int argc, char **argv)
{
    json_t *record = NULL;
    const dense_work *w = r->work;
    yoke_status status = app_record_create(w->context, "yoke dense", argc, argv, &record);
    if (!status) status = dense_record_add(w->context, record, keys_of(r));
    if (!status) status = app_record_write(w->context, record, w->words.json);
    json_decref(record);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- whole product */

static yoke_status finish(dense_work *w, dense_product *p, result *r, int argc, char **argv)
{
    const bool tells = app_ranks_number(w->ranks) == 0;
    yoke_status status = w->check ? dense_product_check(p, UINT64_C(0x5eed) + (uint64_t)w->seed, &r->check) : YOKE_OK;
    const bool wrong = w->check && !r->check.passed;
    if (!status && w->output && !wrong) status = dense_product_write(p, w->output);
    w->total_s = yoke_clock_s() - w->begin_s;
    if (!status) status = collect(r);
    if (status) return status;
    if (tells) show(r);
    if (tells && w->words.json) status = write_record(r, argc, argv);
    if (!status && w->words.explain) status = dense_explain(w->terminal, w->context, w->run);
    if (!status && wrong && tells)
        status = yoke_fail(w->context, YOKE_ERROR_NUMERIC,
                           "the product failed the check: relative error %.2g, and rounding errors are below %.2g", r->check.relative_error,
                           r->check.limit);
    return app_ranks_agree(w->ranks, status);
}

static void show_progress(void *user, int64_t done, int64_t steps)
{
    const dense_work *w = user;
    app_progress(w->terminal, "%lld of %lld steps", (long long)done, (long long)steps);
}

yoke_status dense_gemm_on_ranks(dense_work *work, const dense_gemm_ranks *asked, int argc, char **argv)
{
    dense_product p = {.context = work->context,
                       .ranks = work->ranks,
                       .run = work->run,
                       .blas = asked->blas,
                       .why_no_blas = asked->why_no_blas,
                       .partition = asked->partition,
                       .options = asked->options,
                       .progress = show_progress,
                       .user = work};
    result r = {.work = work, .product = &p};
    yoke_status status = dense_product_create(&p, asked->rows, asked->columns, asked->depth, asked->options.block, asked->precision);
    if (!status) status = fill_both(work, asked, &p);
    if (!status) status = dense_product_multiply(&p);
    if (!status) status = finish(work, &p, &r, argc, argv);
    dense_product_destroy(&p);
    yoke_release(work->context, r.devices);
    return status;
}
