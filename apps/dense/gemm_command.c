/*
 * gemm_command.c - yoke dense gemm: the command line, and what it asks for in its order.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "common/interrupt.h"
#include "devices.h"
#include "gemm/freivalds.h"
#include "gemm/gemm.h"
#include "inputs.h"
#include "output/output.h"

typedef struct command_line {
    app_list operands;
    int64_t n, m, k, block, seed, kernel;
    app_list limits;
    const char *precision, *output;
    bool check, ceiling;
    dense_words words;
} command_line;

typedef struct work {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    int64_t m, n, k;
    dense_precision precision;
    dense_npy file[2]; /* A, B */
    dense_matrix a, b, c;
    app_blas blas;
    const char *why_no_blas;
    yoke_run *run;
    dense_shared *shared;
    dense_freivalds freivalds;
    double begin_s, total_s;
    double ceiling_s, difference; /* NaN: not measured */
} work;

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    enum { OWN = 11 };
    app_option options[OWN + DENSE_DEVICE_OPTIONS + 1] = {
        {.name = "n",
         .value = "N",
         .help = "columns of B and C; alone: all matrices have N rows and columns",
         .number = &line->n,
         .minimum = 1,
         .maximum = DENSE_MAX_SIDE},
        {.name = "m", .value = "M", .help = "rows of A and C; by default N", .number = &line->m, .minimum = 1, .maximum = DENSE_MAX_SIDE},
        {.name = "k",
         .value = "K",
         .help = "columns of A, rows of B; by default N",
         .number = &line->k,
         .minimum = 1,
         .maximum = DENSE_MAX_SIDE},
        {.name = "precision",
         .value = "KIND",
         .help = "double or single; by default that of the files, else double",
         .text = &line->precision},
        {.name = "seed",
         .value = "S",
         .help = "of the random numbers in A; those in B take S + 1; by default 1",
         .number = &line->seed,
         .minimum = 0,
         .maximum = INT64_MAX - 2},
        {.name = "output", .value = "C.npy", .help = "write the product", .text = &line->output},
        {.name = "b",
         .value = "B",
         .help = "rows of a block, which devices get as a whole; by default 64",
         .number = &line->block,
         .minimum = 1,
         .maximum = DENSE_MAX_BLOCK},
        {.name = "memory-limit",
         .value = "DEVICE=BYTES",
         .help = "memory that a GPU may take; B goes through in panels where it does not fit; may be given for several",
         .list = &line->limits},
        {.name = "kernel",
         .value = "V",
         .help = "of GPUs: 1: all moves for each panel of B; 2: C stays; 3 (by default): and copies overlap",
         .number = &line->kernel,
         .minimum = 1,
         .maximum = 3},
        {.name = "check", .help = "check the product with a random vector (Freivalds)", .flag = &line->check},
        {.name = "ceiling", .help = "also call the cores' BLAS once for all of it, and compare", .flag = &line->ceiling},
    };
    dense_device_options(options + OWN, &line->words, terminal);
    const app_usage usage = {
        .program = "yoke dense gemm",
        .operands = "[A.npy B.npy]",
        .operands_most = 2,
        .summary = "Multiplies two matrices, C = A B, on all devices of the machine.",
        .options = options,
        .columns = dense_columns,
        .details =
            "Without files the matrices have random numbers from -1 to 1; -n, -m and -k say how many. Files are NumPy's .npy with two\n"
            "dimensions of float64 or float32. Cores multiply by the BLAS that is installed (or that YOKE_LIBBLAS names), other devices\n"
            "by a kernel of yoke. A unit is a block of rows of A and C.\n"
            "Exit codes: 0 done, 1 failed while running (as the check), 2 bad input, 3 a device or the BLAS is not there, 130 or 143\n"
            "interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

static yoke_status check(yoke_context *context, const command_line *line)
{
    const bool sizes = line->n || line->m || line->k;
    if (line->operands.count == 1) return yoke_fail(context, YOKE_ERROR_INPUT, "one file is given; expected two, A.npy and B.npy");
    if (line->operands.count && (sizes || line->seed >= 0))
        return yoke_fail(context, YOKE_ERROR_INPUT, "-n, -m, -k and --seed are of random matrices; files have sizes of their own");
    if (!line->operands.count && !line->n) return yoke_fail(context, YOKE_ERROR_INPUT, "no matrices: give -n N, or two files A.npy B.npy");
    yoke_status status = dense_devices_check(context, &line->words);
    return status ? status : dense_input_check_output(context, line->output, line->words.json);
}

/* -------------------------------------------------------------------------------------------------- matrices */

static yoke_status open_files(work *w)
{
    const char *const *path = w->line->operands.text;
    yoke_status status = dense_npy_open(w->context, path[0], &w->file[0]);
    if (!status) status = dense_npy_open(w->context, path[1], &w->file[1]);
    if (status) return status;
    const dense_npy *a = &w->file[0], *b = &w->file[1];
    if (a->columns != b->rows)
        return yoke_fail(w->context, YOKE_ERROR_INPUT, "%s has %lld columns and %s %lld rows: a product needs as many", path[0],
                         (long long)a->columns, path[1], (long long)b->rows);
    w->m = a->rows;
    w->k = a->columns;
    w->n = b->columns;
    w->precision = a->precision == DENSE_SINGLE && b->precision == DENSE_SINGLE ? DENSE_SINGLE : DENSE_DOUBLE;
    return YOKE_OK;
}

static yoke_status find_sizes(work *w)
{
    const command_line *line = w->line;
    yoke_status status = YOKE_OK;
    w->precision = DENSE_DOUBLE;
    w->n = line->n;
    w->m = line->m ? line->m : line->n;
    w->k = line->k ? line->k : line->n;
    if (line->operands.count) status = open_files(w);
    if (!status) status = dense_input_precision(w->context, line->precision, &w->precision);
    const int64_t rows[] = {w->m, w->k, w->m, w->m}, columns[] = {w->k, w->n, w->n, w->n};
    return status ? status : dense_matrix_check(w->context, w->precision, line->ceiling ? 4 : 3, rows, columns);
}

static yoke_status get_matrix(work *w, int which, int64_t rows, int64_t columns, dense_matrix *matrix)
{
    const command_line *line = w->line;
    const uint64_t seed = (uint64_t)(line->seed >= 0 ? line->seed : 1) + (uint64_t)which;
    if (!line->operands.count) return dense_input_random(w->context, rows, columns, w->precision, seed, matrix);
    yoke_status status = dense_input_read(w->terminal, &w->file[which], w->precision, matrix);
    return status ? status : dense_matrix_check_finite(matrix, line->operands.text[which]);
}

static yoke_status get_matrices(work *w)
{
    yoke_status status = get_matrix(w, 0, w->m, w->k, &w->a);
    if (!status) status = get_matrix(w, 1, w->k, w->n, &w->b);
    if (!status) status = dense_matrix_create(w->context, w->m, w->n, w->precision, &w->c);
    return status ? status : app_interrupt_check(w->context);
}

/* -------------------------------------------------------------------------------------------------- computing */

static yoke_status show_progress(void *user, int64_t done, int64_t units)
{
    work *w = user;
    app_progress(w->terminal, "%lld of %lld blocks of rows", (long long)done, (long long)units);
    return app_interrupt_check(w->context);
}

/* The whole product by one call of the BLAS. */
static yoke_status measure_ceiling(work *w)
{
    dense_matrix direct = {.entries = NULL};
    double largest = 0, difference = 0;
    if (!w->blas.library) return yoke_fail(w->context, YOKE_ERROR_UNAVAILABLE, "--ceiling: %s", w->why_no_blas);
    yoke_status status = dense_matrix_create(w->context, w->m, w->n, w->precision, &direct);
    if (status) return status;
    dense_gemm_direct(&w->blas, omp_get_max_threads(), &w->a, &w->b, &direct, &w->ceiling_s);
#pragma omp parallel for schedule(static) reduction(max : largest, difference)
    for (int64_t i = 0; i < w->m; i++)
        for (int64_t j = 0; j < w->n; j++) {
            const double entry = dense_matrix_entry(&direct, i, j);
            largest = fmax(largest, fabs(entry));
            difference = fmax(difference, fabs(entry - dense_matrix_entry(&w->c, i, j)));
        }
    w->difference = largest > 0 ? difference / largest : difference;
    dense_matrix_destroy(&direct);
    return YOKE_OK;
}

/* DEVICE=BYTES; the text before the sign is kept in names. */
static yoke_status read_limits(const work *w, char names[][64], dense_memory_limit *limits)
{
    const app_list *list = &w->line->limits;
    const yoke_run_device *devices = NULL;
    int64_t count = 0;
    yoke_status status = yoke_run_devices(w->run, &devices, &count);
    for (int i = 0; i < list->count && !status; i++) {
        const char *sign = strchr(list->text[i], '=');
        double bytes = 0;
        int64_t found = 0;
        if (!sign || sign - list->text[i] >= 64)
            return yoke_fail(w->context, YOKE_ERROR_INPUT, "--memory-limit %s: expected DEVICE=BYTES, as in cuda:0=4e9", list->text[i]);
        snprintf(names[i], 64, "%.*s", (int)(sign - list->text[i]), list->text[i]);
        status = app_option_real(w->context, "memory-limit", sign + 1, 1, 1e18, &bytes);
        while (found < count && strcmp(devices[found].info->name, names[i]) != 0) found++;
        if (!status && (found == count || !devices[found].accelerator))
            return yoke_fail(w->context, YOKE_ERROR_INPUT, "--memory-limit %s: %s", list->text[i],
                             found == count ? "this device does not work here; --devices names those that do"
                                            : "a device that works in the memory of this process has no limit of its own");
        limits[i] = (dense_memory_limit){names[i], (int64_t)bytes};
    }
    return status;
}

static yoke_status multiply(work *w)
{
    char names[DENSE_MAX_DEVICES][64];
    dense_memory_limit limits[DENSE_MAX_DEVICES];
    const dense_gemm_options options = {.block = w->line->block ? w->line->block : DENSE_GEMM_BLOCK,
                                        .version = (int)w->line->kernel,
                                        .num_limits = w->line->limits.count,
                                        .limits = limits,
                                        .progress = show_progress,
                                        .user = w};
    if (w->line->limits.count > DENSE_MAX_DEVICES)
        return yoke_fail(w->context, YOKE_ERROR_INPUT, "--memory-limit: given %d times; at most %d", w->line->limits.count,
                         DENSE_MAX_DEVICES);
    yoke_status status = read_limits(w, names, limits);
    if (status) return status;
    return dense_gemm(w->context, w->run, w->why_no_blas ? NULL : &w->blas, w->why_no_blas, &options, &w->a, &w->b, &w->c, w->shared);
}

static yoke_status compute(work *w)
{
    const uint64_t seed = UINT64_C(0x5eed) + (w->line->seed >= 0 ? (uint64_t)w->line->seed : 1);
    yoke_status status = yoke_allocate(w->context, 1, sizeof *w->shared, &w->shared);
    if (!status) status = dense_devices_open(w->context, &w->line->words, &w->run);
    w->why_no_blas = app_blas_open(&w->blas);
    if (!status) status = multiply(w);
    if (!status && w->line->ceiling) status = measure_ceiling(w);
    if (!status && w->line->check) status = dense_freivalds_check(&w->a, &w->b, &w->c, seed, &w->freivalds);
    return status;
}

/* -------------------------------------------------------------------------------------------------- telling */

static double gflops(const work *w, double seconds) { return dense_gemm_flops(&w->a, &w->b) / seconds * 1e-9; }

static yoke_status show(work *w)
{
    const dense_shared *s = w->shared;
    const long long block = w->line->block ? w->line->block : DENSE_GEMM_BLOCK;
    app_print(w->terminal, "gemm, %lld x %lld by %lld x %lld, %s precision: %.4g s, %.4g GFLOP/s; a unit is %lld rows of C\n",
              (long long)w->m, (long long)w->k, (long long)w->k, (long long)w->n, dense_precision_text(w->precision), s->measured_s,
              gflops(w, s->measured_s), block);
    dense_show(w->terminal, s);
    if (w->line->ceiling)
        app_print(
            w->terminal,
            "one call of %s%s%s: %.4g s, %.4g GFLOP/s; the speed above is %.1f %% of it; entries differ by %.2g of the largest at most\n",
            w->blas.name, w->blas.kernel ? ", " : "", w->blas.kernel ? w->blas.kernel() : "", w->ceiling_s, gflops(w, w->ceiling_s),
            100 * w->ceiling_s / s->measured_s, w->difference);
    if (w->line->check)
        app_print(w->terminal, "check: relative error %.2g, rounding errors are below %.2g: %s\n", w->freivalds.relative_error,
                  w->freivalds.limit, w->freivalds.passed ? "passed" : "failed");
    return w->line->words.explain ? dense_explain(w->terminal, w->context, w->run) : YOKE_OK;
}

static json_t *check_of(const work *w)
{
    if (!w->line->check) return json_null();
    return json_pack("{s:s, s:o, s:o, s:b}", "kind", "freivalds", "relative_error", app_json_number(w->freivalds.relative_error), "limit",
                     app_json_number(w->freivalds.limit), "passed", w->freivalds.passed);
}

static json_t *ceiling_of(const work *w)
{
    if (!w->line->ceiling) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "library", app_json_text(w->blas.name), "kernel",
                     w->blas.kernel ? app_json_text(w->blas.kernel()) : json_null(), "seconds", app_json_number(w->ceiling_s), "gflops",
                     app_json_number(gflops(w, w->ceiling_s)), "difference", app_json_number(w->difference));
}

static yoke_status write_record(work *w, int argc, char **argv)
{
    json_t *record = NULL;
    const int64_t block = w->line->block ? w->line->block : DENSE_GEMM_BLOCK;
    yoke_status status = dense_record_create(w->context, "gemm", argc, argv, w->shared, w->total_s, &record);
    if (!status) status = app_record_set(w->context, record, "m", json_integer(w->m));
    if (!status) status = app_record_set(w->context, record, "n", json_integer(w->n));
    if (!status) status = app_record_set(w->context, record, "k", json_integer(w->k));
    if (!status) status = app_record_set(w->context, record, "precision", json_string(dense_precision_text(w->precision)));
    if (!status) status = app_record_set(w->context, record, "block", json_integer(block));
    if (!status) status = app_record_set(w->context, record, "kernel", json_integer(w->line->kernel ? w->line->kernel : DENSE_OVERLAPPED));
    if (!status) status = app_record_set(w->context, record, "gflops", app_json_number(gflops(w, w->shared->measured_s)));
    if (!status) status = app_record_set(w->context, record, "check", check_of(w));
    if (!status) status = app_record_set(w->context, record, "ceiling", ceiling_of(w));
    if (!status) status = app_record_write(w->context, record, w->line->words.json);
    json_decref(record);
    return status;
}

static yoke_status run(work *w, int argc, char **argv)
{
    yoke_status status = find_sizes(w);
    if (!status) status = get_matrices(w);
    if (!status) status = compute(w);
    const bool wrong = w->line->check && !w->freivalds.passed;
    if (!status && w->line->output && !wrong) status = dense_npy_write(&w->c, w->line->output);
    w->total_s = yoke_clock_s() - w->begin_s;
    if (!status) status = show(w);
    if (!status && w->line->words.json) status = write_record(w, argc, argv);
    if (!status && wrong)
        return yoke_fail(w->context, YOKE_ERROR_NUMERIC,
                         "the product failed the check: relative error %.2g, and rounding errors are below %.2g%s",
                         w->freivalds.relative_error, w->freivalds.limit,
                         isfinite(w->freivalds.relative_error) ? "" : "; entries of C are too large for its precision");
    return status;
}

yoke_status dense_command_gemm(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.seed = -1};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    work w = {.context = context, .terminal = terminal, .line = &line, .begin_s = yoke_clock_s(), .ceiling_s = NAN, .difference = NAN};
    if (line.output && !strcmp(line.output, "-")) terminal->aside = true; /* only the matrix is written there then */
    status = check(context, &line);
    if (!status) status = run(&w, argc, argv);
    yoke_run_destroy(w.run);
    app_blas_close(&w.blas);
    dense_npy_close(&w.file[0]);
    dense_npy_close(&w.file[1]);
    dense_matrix_destroy(&w.a);
    dense_matrix_destroy(&w.b);
    dense_matrix_destroy(&w.c);
    yoke_release(context, w.shared);
    return status;
}
