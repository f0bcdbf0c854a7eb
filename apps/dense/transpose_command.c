/* transpose_command.c - yoke dense transpose: its own part of the common frame of operations (operation.h). */
#include <string.h>

#include "common/console/interrupt.h"
#include "inputs.h"
#include "operation.h"
#include "output/output.h"
#include "transpose/transpose.h"

typedef struct transposition {
    dense_npy file;
    dense_matrix a, b;
    double ceiling_s;
} transposition;

static yoke_status check(const dense_work *w)
{
    const bool raw = w->operands.count && dense_npy_is_raw(w->operands.text[0]);
    if (w->operands.count && (((w->n || w->m) && !raw) || w->seed_given))
        return yoke_fail(w->context, YOKE_ERROR_INPUT, "-n, -m and --seed describe a random matrix; a .npy file has a size of its own");
    if (!w->operands.count && !w->n) return yoke_fail(w->context, YOKE_ERROR_INPUT, "no matrix: give -n N, or a file A.npy");
    return dense_npy_check_name(w->context, w->output);
}

static int64_t block_of(const dense_work *w) { return w->block ? w->block : DENSE_TRANSPOSE_BLOCK; }

static yoke_status begin(dense_work *w)
{
    transposition *t = w->own;
    const bool is_file = w->operands.count > 0;
    dense_precision precision = DENSE_DOUBLE;
    int64_t rows[2] = {w->m ? w->m : w->n, 0}, columns[2] = {w->n, 0};
    yoke_status status = dense_input_precision(w->context, w->precision, &precision);
    if (!status && is_file) status = dense_input_open(w->context, w->operands.text[0], rows[0], columns[0], precision, &t->file);
    if (status) return status;
    if (is_file) {
        rows[0] = t->file.rows;
        columns[0] = t->file.columns;
        precision = t->file.precision;
    }
    rows[1] = rows[0], columns[1] = columns[0];
    status = dense_input_precision(w->context, w->precision, &precision);
    if (!status) status = dense_matrix_check(w->context, precision, 2, rows, columns);
    if (!status && is_file) status = dense_input_read(w->terminal, &t->file, precision, &t->a);
    if (!status && !is_file) status = dense_input_random(w->context, rows[0], columns[0], precision, (uint64_t)w->seed, &t->a);
    if (!status) status = dense_matrix_create(w->context, columns[0], rows[0], precision, &t->b);
    if (!status) memset(t->b.entries, 0, (size_t)dense_matrix_bytes(&t->b)); /* so that its pages are in memory */
    return status ? status : app_interrupt_check(w->context);
}

static yoke_status show_progress(void *user, int64_t done, int64_t units)
{
    return dense_work_progress(user, "blocks of rows", done, units);
}

static yoke_status compute(dense_work *w)
{
    transposition *t = w->own;
    const dense_transpose_options options = {.block = block_of(w), .progress = {show_progress, w}};
    int64_t row = 0, column = 0;
    yoke_status status = dense_transpose(w->context, w->run, &options, &t->a, &t->b, w->shared);
    if (status || !w->check || dense_transpose_check(&t->a, &t->b, &row, &column)) return status;
    return yoke_fail(w->context, YOKE_ERROR_NUMERIC,
                     "entry (%lld, %lld) of A is not entry (%lld, %lld) of the result: a device computes wrong results", (long long)row,
                     (long long)column, (long long)column, (long long)row);
}

static yoke_status write(dense_work *w) { return dense_npy_write(&((transposition *)w->own)->b, w->output); }

/* Measures the time in which the cores read all of A and write as many bytes. */
static yoke_status compare(dense_work *w)
{
    transposition *t = w->own;
    const double begin_s = yoke_clock_s();
    const int64_t bytes = t->a.columns * (int64_t)t->a.precision;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->a.rows; i++) memcpy((char *)t->b.entries + i * bytes, (const char *)t->a.entries + i * bytes, (size_t)bytes);
    t->ceiling_s = yoke_clock_s() - begin_s;
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- output */

/* Bytes read and written per second. */
static double rate(const transposition *t, double seconds) { return 2 * (double)dense_matrix_bytes(&t->a) / seconds; }

static void show_head(const dense_work *w)
{
    const transposition *t = w->own;
    const double seconds = w->shared->measured_s;
    app_print(w->terminal, "transpose, %lld x %lld, %s precision: %.4g s, %.4g GB/s; a unit is %lld rows\n", (long long)t->a.rows,
              (long long)t->a.columns, dense_precision_text(t->a.precision), seconds, rate(t, seconds) * 1e-9, (long long)block_of(w));
}

static void show_tail(const dense_work *w)
{
    const transposition *t = w->own;
    if (w->ceiling)
        app_print(w->terminal, "a copy on the cores: %.4g s, %.4g GB/s; the speed above is %.1f %% of it\n", t->ceiling_s,
                  rate(t, t->ceiling_s) * 1e-9, 100 * t->ceiling_s / w->shared->measured_s);
    if (w->check) app_print(w->terminal, "check: all entries are right\n");
}

static json_t *keys(const dense_work *w)
{
    const transposition *t = w->own;
    json_t *checked = w->check ? json_pack("{s:s, s:b}", "kind", "entries", "passed", 1) : json_null();
    json_t *ceiling = w->ceiling ? json_pack("{s:o, s:o}", "seconds", app_json_number(t->ceiling_s), "bytes_per_s",
                                             app_json_number(rate(t, t->ceiling_s)))
                                 : json_null();
    return json_pack("{s:I, s:I, s:s, s:I, s:o, s:o, s:o}", "m", (json_int_t)t->a.rows, "n", (json_int_t)t->a.columns, "precision",
                     dense_precision_text(t->a.precision), "block", (json_int_t)block_of(w), "bytes_per_s",
                     app_json_number(rate(t, w->shared->measured_s)), "check", checked, "ceiling", ceiling);
}

static void destroy(dense_work *w)
{
    transposition *t = w->own;
    dense_npy_close(&t->file);
    dense_matrix_destroy(&t->a);
    dense_matrix_destroy(&t->b);
}

const dense_operation dense_operation_transpose = {
    .name = "transpose",
    .summary = "transposition of a matrix",
    .usage = {.program = "yoke dense transpose",
              .operands = "[A.npy]",
              .operands_most = 1,
              .summary = "Transposes a matrix, on those devices of the machine for which the copies pay off.",
              .details = "Without a file the matrix has random numbers from -1 to 1; -n and -m give its size.\n"
                         "Files are NumPy's .npy with two dimensions of float64 or float32, or raw (.raw, .bin). Raw files have only "
                         "numbers, by rows,\n"
                         "little-endian; -n, -m and --precision give their size and type.\n"
                         "Nothing is computed: the time is that of moving data. A unit is a block of rows of A.\n"
                         "Exit codes: 0 done, 1 failed while running, 2 bad input, 3 a device is not there, 130 or 143 interrupted."},
    .help = {.n = "columns of A",
             .m = "rows of A; by default N",
             .precision = "double or single; by default that of a .npy file, else double",
             .seed = "seed of the random numbers; by default 1",
             .output_value = "B.npy",
             .output = "write the transposed matrix; B.raw has only its numbers",
             .block = "rows of a block, which is not divided; by default 64",
             .check = "compare all entries",
             .ceiling = "also copy the matrix on the cores, and compare the times",
             .most_n = DENSE_MAX_SIDE,
             .most_block = 65536},
    .own_bytes = sizeof(transposition),
    .may_replace_input = true,
    .check = check,
    .begin = begin,
    .compute = compute,
    .write = write,
    .compare = compare,
    .show_head = show_head,
    .show_tail = show_tail,
    .keys = keys,
    .destroy = destroy,
};
