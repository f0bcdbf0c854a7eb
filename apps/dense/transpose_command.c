/*
 * transpose_command.c - yoke dense transpose: the command line, and what it asks for in its order.
 */
#include <math.h>
#include <string.h>

#include "command.h"
#include "common/interrupt.h"
#include "devices.h"
#include "inputs.h"
#include "output/output.h"
#include "transpose/transpose.h"

typedef struct command_line {
    app_list operands;
    int64_t n, m, block, seed;
    const char *precision, *output;
    bool check, ceiling;
    dense_words words;
} command_line;

typedef struct work {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    dense_npy file;
    dense_matrix a, b;
    yoke_run *run;
    dense_shared *shared;
    int64_t block;
    int passed;
    double begin_s, total_s, ceiling_s; /* NaN: not measured */
} work;

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    enum { OWN = 8 };
    app_option options[OWN + DENSE_DEVICE_OPTIONS + 1] = {
        {.name = "n", .value = "N", .help = "columns of A", .number = &line->n, .minimum = 1, .maximum = DENSE_MAX_SIDE},
        {.name = "m", .value = "M", .help = "rows of A; by default N", .number = &line->m, .minimum = 1, .maximum = DENSE_MAX_SIDE},
        {.name = "precision",
         .value = "KIND",
         .help = "double or single; by default that of the file, else double",
         .text = &line->precision},
        {.name = "seed",
         .value = "S",
         .help = "of the random numbers; by default 1",
         .number = &line->seed,
         .minimum = 0,
         .maximum = INT64_MAX},
        {.name = "output", .value = "B.npy", .help = "write the transposed matrix", .text = &line->output},
        {.name = "b",
         .value = "B",
         .help = "rows of a block, which devices get as a whole; by default 64",
         .number = &line->block,
         .minimum = 1,
         .maximum = 65536},
        {.name = "check", .help = "compare all entries", .flag = &line->check},
        {.name = "ceiling", .help = "also copy the matrix on the cores, and compare the times", .flag = &line->ceiling},
    };
    dense_device_options(options + OWN, &line->words, terminal);
    const app_usage usage = {
        .program = "yoke dense transpose",
        .operands = "[A.npy]",
        .operands_most = 1,
        .summary = "Transposes a matrix, on those devices of the machine for which it is worth the way.",
        .options = options,
        .columns = dense_columns,
        .details = "Without a file the matrix has random numbers from -1 to 1; -n and -m say how many. Files are NumPy's .npy with two "
                   "dimensions\n"
                   "of float64 or float32. Nothing is computed: time is that of moving data. A unit is a block of rows of A.\n"
                   "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, &line->operands, answered);
}

static yoke_status check(yoke_context *context, const command_line *line)
{
    if (line->operands.count && (line->n || line->m || line->seed >= 0))
        return yoke_fail(context, YOKE_ERROR_INPUT, "-n, -m and --seed are of a random matrix; a file has a size of its own");
    if (!line->operands.count && !line->n) return yoke_fail(context, YOKE_ERROR_INPUT, "no matrix: give -n N, or a file A.npy");
    yoke_status status = dense_devices_check(context, &line->words);
    return status ? status : dense_input_check_output(context, line->output, line->words.json);
}

static yoke_status get_matrices(work *w)
{
    const command_line *line = w->line;
    dense_precision precision = DENSE_DOUBLE;
    int64_t rows[2] = {line->m ? line->m : line->n, 0}, columns[2] = {line->n, 0};
    yoke_status status = line->operands.count ? dense_npy_open(w->context, line->operands.text[0], &w->file) : YOKE_OK;
    if (status) return status;
    if (line->operands.count) {
        rows[0] = w->file.rows;
        columns[0] = w->file.columns;
        precision = w->file.precision;
    }
    rows[1] = rows[0], columns[1] = columns[0];
    status = dense_input_precision(w->context, line->precision, &precision);
    if (!status) status = dense_matrix_check(w->context, precision, 2, rows, columns);
    if (!status && line->operands.count) status = dense_input_read(w->terminal, &w->file, precision, &w->a);
    if (!status && !line->operands.count)
        status = dense_input_random(w->context, rows[0], columns[0], precision, line->seed >= 0 ? (uint64_t)line->seed : 1, &w->a);
    if (!status) status = dense_matrix_create(w->context, columns[0], rows[0], precision, &w->b);
    return status ? status : app_interrupt_check(w->context);
}

static yoke_status show_progress(void *user, int64_t done, int64_t units)
{
    work *w = user;
    app_progress(w->terminal, "%lld of %lld blocks of rows", (long long)done, (long long)units);
    return app_interrupt_check(w->context);
}

/* What the cores take to read all of A and write as much. */
static void measure_ceiling(work *w)
{
    const double begin_s = yoke_clock_s();
    const int64_t bytes = w->a.columns * (int64_t)w->a.precision;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < w->a.rows; i++) memcpy((char *)w->b.entries + i * bytes, (const char *)w->a.entries + i * bytes, (size_t)bytes);
    w->ceiling_s = yoke_clock_s() - begin_s;
}

static yoke_status compute(work *w)
{
    const dense_transpose_options options = {.block = w->block, .progress = show_progress, .user = w};
    int64_t row = 0, column = 0;
    yoke_status status = yoke_allocate(w->context, 1, sizeof *w->shared, &w->shared);
    if (!status) status = dense_devices_open(w->context, &w->line->words, &w->run);
    memset(w->b.entries, 0, (size_t)dense_matrix_bytes(&w->b)); /* so that its pages are there */
    if (!status) status = dense_transpose(w->context, w->run, &options, &w->a, &w->b, w->shared);
    if (status || !w->line->check) return status;
    w->passed = dense_transpose_check(&w->a, &w->b, &row, &column);
    if (w->passed) return YOKE_OK;
    return yoke_fail(w->context, YOKE_ERROR_NUMERIC,
                     "entry (%lld, %lld) of A is not entry (%lld, %lld) of the result: a device does not work right", (long long)row,
                     (long long)column, (long long)column, (long long)row);
}

/* -------------------------------------------------------------------------------------------------- telling */

/* Bytes that are read and written, in a second. */
static double rate(const work *w, double seconds) { return 2 * (double)dense_matrix_bytes(&w->a) / seconds; }

static yoke_status show(work *w)
{
    const dense_shared *s = w->shared;
    app_print(w->terminal, "transpose, %lld x %lld, %s precision: %.4g s, %.4g GB/s; a unit is %lld rows\n", (long long)w->a.rows,
              (long long)w->a.columns, dense_precision_text(w->a.precision), s->measured_s, rate(w, s->measured_s) * 1e-9,
              (long long)w->block);
    dense_show(w->terminal, s);
    if (w->line->ceiling)
        app_print(w->terminal, "a copy on the cores: %.4g s, %.4g GB/s; the speed above is %.1f %% of it\n", w->ceiling_s,
                  rate(w, w->ceiling_s) * 1e-9, 100 * w->ceiling_s / s->measured_s);
    if (w->line->check) app_print(w->terminal, "check: all entries are right\n");
    return w->line->words.explain ? dense_explain(w->terminal, w->context, w->run) : YOKE_OK;
}

static json_t *ceiling_of(const work *w)
{
    if (!w->line->ceiling) return json_null();
    return json_pack("{s:o, s:o}", "seconds", app_json_number(w->ceiling_s), "bytes_per_s", app_json_number(rate(w, w->ceiling_s)));
}

static yoke_status write_record(work *w, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = dense_record_create(w->context, "transpose", argc, argv, w->shared, w->total_s, &record);
    if (!status) status = app_record_set(w->context, record, "m", json_integer(w->a.rows));
    if (!status) status = app_record_set(w->context, record, "n", json_integer(w->a.columns));
    if (!status) status = app_record_set(w->context, record, "precision", json_string(dense_precision_text(w->a.precision)));
    if (!status) status = app_record_set(w->context, record, "block", json_integer(w->block));
    if (!status) status = app_record_set(w->context, record, "bytes_per_s", app_json_number(rate(w, w->shared->measured_s)));
    if (!status)
        status = app_record_set(w->context, record, "check",
                                w->line->check ? json_pack("{s:s, s:b}", "kind", "entries", "passed", w->passed) : json_null());
    if (!status) status = app_record_set(w->context, record, "ceiling", ceiling_of(w));
    if (!status) status = app_record_write(w->context, record, w->line->words.json);
    json_decref(record);
    return status;
}

static yoke_status run(work *w, int argc, char **argv)
{
    yoke_status status = get_matrices(w);
    if (!status) status = compute(w);
    if (!status && w->line->output) status = dense_npy_write(&w->b, w->line->output);
    w->total_s = yoke_clock_s() - w->begin_s;
    if (!status && w->line->ceiling) measure_ceiling(w);
    if (!status) status = show(w);
    return status || !w->line->words.json ? status : write_record(w, argc, argv);
}

yoke_status dense_command_transpose(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.seed = -1};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    work w = {.context = context,
              .terminal = terminal,
              .line = &line,
              .block = line.block ? line.block : DENSE_TRANSPOSE_BLOCK,
              .begin_s = yoke_clock_s(),
              .ceiling_s = NAN};
    if (line.output && !strcmp(line.output, "-")) terminal->aside = true; /* only the matrix is written there then */
    status = check(context, &line);
    if (!status) status = run(&w, argc, argv);
    yoke_run_destroy(w.run);
    dense_npy_close(&w.file);
    dense_matrix_destroy(&w.a);
    dense_matrix_destroy(&w.b);
    yoke_release(context, w.shared);
    return status;
}
