/* gemm_command.c - yoke dense gemm: its own part of the common frame of operations (operation.h). */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "gemm/block.h"
#include "gemm/freivalds.h"
#include "gemm/gemm.h"
#include "gemm_ranks.h"
#include "inputs.h"
#include "operation.h"
#include "output/output.h"

typedef struct gemm {
    int64_t k, version; /* 0: not given */
    app_list limits;
    const char *partition;        /* NULL: not given */
    int64_t rows, columns, depth; /* of C; columns of A */
    dense_precision precision;
    dense_npy file[2]; /* A, B */
    dense_matrix a, b, c;
    app_blas blas;
    const char *why_no_blas;
    dense_freivalds freivalds;
    double ceiling_s, difference;
} gemm;

static void add_options(void *own, app_option_table *table)
{
    gemm *g = own;
    const app_option options[] = {
        {.name = "k",
         .value = "K",
         .help = "columns of A, rows of B; by default N",
         .number = &g->k,
         .minimum = 1,
         .maximum = DENSE_MAX_SIDE},
        {.name = "memory-limit",
         .value = "DEVICE=BYTES",
         .help = "memory that a GPU may use; if B does not fit, it is copied in panels; may be repeated",
         .list = &g->limits},
        {.name = "kernel",
         .value = "V",
         .help = "GPU version 1: C moves for each panel of B, 2: C stays, 3 (the default): C stays, copies overlap",
         .number = &g->version,
         .minimum = 1,
         .maximum = 3},
        {.name = "partition",
         .value = "WHAT",
         .help = "partition of C among the ranks of mpirun: fpm (the default), cpm-multi, cpm or even",
         .text = &g->partition},
        {.name = NULL},
    };
    app_options_add(table, options);
}

/* In the order of dense_partition. */
static const char *const partitions[] = {"fpm", "cpm-multi", "cpm", "even", NULL};

static yoke_status check(const dense_work *w)
{
    const gemm *g = w->own;
    int partition;
    if (w->operands.count == 1) return yoke_fail(w->context, YOKE_ERROR_INPUT, "one file is given; expected two, A.npy and B.npy");
    const bool raw = w->operands.count && (dense_npy_is_raw(w->operands.text[0]) || dense_npy_is_raw(w->operands.text[1]));
    if (w->operands.count && (((w->n || w->m || g->k) && !raw) || w->seed_given))
        return yoke_fail(w->context, YOKE_ERROR_INPUT,
                         "-n, -m, -k and --seed describe random matrices; .npy files have sizes of their own");
    if (!w->operands.count && !w->n) return yoke_fail(w->context, YOKE_ERROR_INPUT, "no matrices: give -n N, or two files A.npy B.npy");
    yoke_status status = app_option_choice(w->context, "partition", g->partition, partitions, &partition);
    return status ? status : dense_npy_check_name(w->context, w->output);
}

static int64_t block_of(const dense_work *w)
{
    if (w->block) return w->block;
    return app_ranks_count(w->ranks) > 1 ? DENSE_GEMM_BLOCK : DENSE_GEMM_ROWS;
}

/* -------------------------------------------------------------------------------------------------- matrices */

static yoke_status open_files(const dense_work *w)
{
    gemm *g = w->own;
    const char *const *path = w->operands.text;
    yoke_status status = dense_input_precision(w->context, w->precision, &g->precision); /* precision of raw files */
    if (!status) status = dense_input_open(w->context, path[0], g->rows, g->depth, g->precision, &g->file[0]);
    if (!status) status = dense_input_open(w->context, path[1], g->depth, g->columns, g->precision, &g->file[1]);
    if (status) return status;
    const dense_npy *a = &g->file[0], *b = &g->file[1];
    if (a->columns != b->rows)
        return yoke_fail(w->context, YOKE_ERROR_INPUT, "%s has %lld columns and %s %lld rows: a product needs equal numbers", path[0],
                         (long long)a->columns, path[1], (long long)b->rows);
    g->rows = a->rows;
    g->depth = a->columns;
    g->columns = b->columns;
    g->precision = a->precision == DENSE_SINGLE && b->precision == DENSE_SINGLE ? DENSE_SINGLE : DENSE_DOUBLE;
    return YOKE_OK;
}

static yoke_status find_sizes(const dense_work *w)
{
    gemm *g = w->own;
    yoke_status status = YOKE_OK;
    g->precision = DENSE_DOUBLE;
    g->columns = w->n;
    g->rows = w->m ? w->m : w->n;
    g->depth = g->k ? g->k : w->n;
    if (w->operands.count) status = open_files(w);
    return status ? status : dense_input_precision(w->context, w->precision, &g->precision);
}

static yoke_status check_memory(const dense_work *w)
{
    const gemm *g = w->own;
    const int64_t rows[] = {g->rows, g->depth, g->rows, g->rows}, columns[] = {g->depth, g->columns, g->columns, g->columns};
    return dense_matrix_check(w->context, g->precision, w->ceiling ? 4 : 3, rows, columns);
}

static yoke_status get_matrix(const dense_work *w, int which, int64_t rows, int64_t columns, dense_matrix *matrix)
{
    gemm *g = w->own;
    if (!w->operands.count) return dense_input_random(w->context, rows, columns, g->precision, (uint64_t)w->seed + (uint64_t)which, matrix);
    yoke_status status = dense_input_read(w->terminal, &g->file[which], g->precision, matrix);
    if (status) return status;
    const dense_wrong wrong = dense_matrix_find_wrong(matrix, 0, 0, columns);
    return dense_wrong_check(w->context, &wrong, rows, columns, w->operands.text[which]);
}

static yoke_status begin(dense_work *w)
{
    gemm *g = w->own;
    yoke_status status = find_sizes(w);
    if (!status) status = check_memory(w);
    if (!status) status = get_matrix(w, 0, g->rows, g->depth, &g->a);
    if (!status) status = get_matrix(w, 1, g->depth, g->columns, &g->b);
    if (!status) status = dense_matrix_create(w->context, g->rows, g->columns, g->precision, &g->c);
    return status ? status : app_interrupt_check(w->context);
}

/* -------------------------------------------------------------------------------------------------- computing */

static yoke_status show_progress(void *user, int64_t done, int64_t units)
{
    return dense_work_progress(user, "blocks of rows", done, units);
}

/* Reads DEVICE=BYTES; the device names are stored in `names`. */
static yoke_status read_limits(const dense_work *w, char names[][64], dense_memory_limit *limits)
{
    const app_list *list = &((const gemm *)w->own)->limits;
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

/* Options of the product given on the command line. */
typedef struct choices {
    char names[DENSE_MAX_DEVICES][64];
    dense_memory_limit limits[DENSE_MAX_DEVICES];
    dense_gemm_options options;
} choices;

/* Reads the choices and opens the BLAS. */
static yoke_status choose(dense_work *w, choices *c)
{
    gemm *g = w->own;
    c->options = (dense_gemm_options){.block = block_of(w),
                                      .version = (int)g->version,
                                      .num_limits = g->limits.count,
                                      .limits = c->limits,
                                      .progress = {show_progress, w}};
    g->why_no_blas = app_blas_open(&g->blas);
    if (g->limits.count > DENSE_MAX_DEVICES)
        return yoke_fail(w->context, YOKE_ERROR_INPUT, "--memory-limit: given %d times; at most %d", g->limits.count, DENSE_MAX_DEVICES);
    return read_limits(w, c->names, c->limits);
}

/* The devices of one rank share the work only by functional models. */
static yoke_status check_partition(const dense_work *w)
{
    const gemm *g = w->own;
    const yoke_run_device *devices = NULL;
    int64_t count = 0, active = 0;
    if (!g->partition || !strcmp(g->partition, partitions[DENSE_PARTITION_FPM])) return YOKE_OK;
    yoke_status status = yoke_run_devices(w->run, &devices, &count);
    for (int64_t i = 0; i < count && !status; i++) active += devices[i].active;
    if (status || active < 2) return status;
    return yoke_fail(
        w->context, YOKE_ERROR_INPUT,
        "--partition %s divides C among ranks, and there is only one; its %lld devices share by functional models; start several ranks "
        "(mpirun -n R), or give the accelerators a fixed part (--share X)",
        g->partition, (long long)active);
}

static yoke_status compute(dense_work *w)
{
    gemm *g = w->own;
    choices c;
    yoke_status status = check_partition(w);
    if (!status) status = choose(w, &c);
    if (!status)
        status =
            dense_gemm(w->context, w->run, g->why_no_blas ? NULL : &g->blas, g->why_no_blas, &c.options, &g->a, &g->b, &g->c, w->shared);
    if (!status && w->check) status = dense_freivalds_check(&g->a, &g->b, &g->c, UINT64_C(0x5eed) + (uint64_t)w->seed, &g->freivalds);
    return status;
}

/* Chooses the widest block that any rank prefers; for products of less than about a second, the default.  Collective. */
static yoke_status choose_block(dense_work *w, int64_t *block)
{
    /* Minimum number of blocks along a side of C: shares are whole rows and columns of blocks, thus accurate to about 3 %. */
    enum { SIDES = 32 };
    gemm *g = w->own;
    double speed[DENSE_BLOCK_WIDTHS], mine = 0;
    const double flops = 2.0 * (double)g->rows * (double)g->columns * (double)g->depth;
    if (flops < 1e11) return YOKE_OK;
    for (int i = 0; i < DENSE_BLOCK_WIDTHS; i++) speed[i] = NAN;
    yoke_status status = g->why_no_blas ? YOKE_OK : dense_block_measure(w->context, w->run, &g->blas, g->precision, speed);
    status = app_ranks_agree(w->ranks, status);
    if (status) return status;
    const int64_t least = g->rows < g->columns ? g->rows : g->columns;
    mine = (double)dense_block_choose(speed, least / SIDES);
    double *all = NULL;
    status = app_ranks_agree(w->ranks, yoke_allocate(w->context, app_ranks_count(w->ranks), sizeof *all, &all));
    if (status) return status;
    app_ranks_gather(w->ranks, &mine, sizeof mine, all);
    for (int i = 0; i < app_ranks_count(w->ranks); i++) mine = fmax(mine, all[i]);
    yoke_release(w->context, all);
    *block = (int64_t)mine;
    return YOKE_OK;
}

static yoke_status on_ranks(dense_work *w, int argc, char **argv)
{
    gemm *g = w->own;
    choices c;
    int partition = 0;
    yoke_status status = find_sizes(w);
    if (!status) status = choose(w, &c);
    if (!status) status = app_option_choice(w->context, "partition", g->partition, partitions, &partition);
    status = app_ranks_agree(w->ranks, status);
    if (status) return status;
    dense_gemm_ranks asked = {.rows = g->rows,
                              .columns = g->columns,
                              .depth = g->depth,
                              .precision = g->precision,
                              .partition = (dense_partition)partition,
                              .file = w->operands.count ? g->file : NULL,
                              .blas = g->why_no_blas ? NULL : &g->blas,
                              .why_no_blas = g->why_no_blas,
                              .options = c.options};
    status = dense_gemm_check_alike(w, &asked);
    if (!status && !w->block) status = choose_block(w, &asked.options.block);
    return status ? status : dense_gemm_on_ranks(w, &asked, argc, argv);
}

static bool is_wrong(const dense_work *w) { return w->check && !((const gemm *)w->own)->freivalds.passed; }

static yoke_status write(dense_work *w) { return is_wrong(w) ? YOKE_OK : dense_npy_write(&((gemm *)w->own)->c, w->output); }

/* Computes the whole product with one call of the BLAS. */
static yoke_status compare(dense_work *w)
{
    gemm *g = w->own;
    dense_matrix direct = {.entries = NULL};
    double largest = 0, difference = 0;
    if (!g->blas.library) return yoke_fail(w->context, YOKE_ERROR_UNAVAILABLE, "--ceiling: %s", g->why_no_blas);
    yoke_status status = dense_matrix_create(w->context, g->rows, g->columns, g->precision, &direct);
    if (status) return status;
    dense_gemm_direct(&g->blas, omp_get_max_threads(), &g->a, &g->b, &direct, &g->ceiling_s);
#pragma omp parallel for schedule(static) reduction(max : largest, difference)
    for (int64_t i = 0; i < g->rows; i++)
        for (int64_t j = 0; j < g->columns; j++) {
            const double entry = dense_matrix_entry(&direct, i, j);
            largest = fmax(largest, fabs(entry));
            difference = fmax(difference, fabs(entry - dense_matrix_entry(&g->c, i, j)));
        }
    g->difference = largest > 0 ? difference / largest : difference;
    dense_matrix_destroy(&direct);
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- output */

static double gflops(const gemm *g, double seconds) { return dense_gemm_flops(&g->a, &g->b) / seconds * 1e-9; }

static void show_head(const dense_work *w)
{
    const gemm *g = w->own;
    app_print(w->terminal, "gemm, %lld x %lld by %lld x %lld, %s precision: %.4g s, %.4g GFLOP/s; a unit is %lld rows of C\n",
              (long long)g->rows, (long long)g->depth, (long long)g->depth, (long long)g->columns, dense_precision_text(g->precision),
              w->shared->measured_s, gflops(g, w->shared->measured_s), (long long)block_of(w));
}

static void show_tail(const dense_work *w)
{
    const gemm *g = w->own;
    const char *kernel = g->blas.kernel ? g->blas.kernel() : "";
    if (w->ceiling)
        app_print(
            w->terminal,
            "one call of %s%s%s: %.4g s, %.4g GFLOP/s; the speed above is %.1f %% of it; entries differ by %.2g of the largest at most\n",
            g->blas.name, kernel[0] ? ", " : "", kernel, g->ceiling_s, gflops(g, g->ceiling_s), 100 * g->ceiling_s / w->shared->measured_s,
            g->difference);
    if (w->check)
        app_print(w->terminal, "check: relative error %.2g, rounding errors are below %.2g: %s\n", g->freivalds.relative_error,
                  g->freivalds.limit, g->freivalds.passed ? "passed" : "failed");
}

static json_t *check_of(const dense_work *w)
{
    const gemm *g = w->own;
    if (!w->check) return json_null();
    return json_pack("{s:s, s:o, s:o, s:b}", "kind", "freivalds", "relative_error", app_json_number(g->freivalds.relative_error), "limit",
                     app_json_number(g->freivalds.limit), "passed", g->freivalds.passed);
}

static json_t *ceiling_of(const dense_work *w)
{
    const gemm *g = w->own;
    if (!w->ceiling) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "library", app_json_text(g->blas.name), "kernel",
                     g->blas.kernel ? app_json_text(g->blas.kernel()) : json_null(), "seconds", app_json_number(g->ceiling_s), "gflops",
                     app_json_number(gflops(g, g->ceiling_s)), "difference", app_json_number(g->difference));
}

static json_t *keys(const dense_work *w)
{
    const gemm *g = w->own;
    return json_pack("{s:I, s:I, s:I, s:s, s:I, s:I, s:o, s:o, s:o}", "m", (json_int_t)g->rows, "n", (json_int_t)g->columns, "k",
                     (json_int_t)g->depth, "precision", dense_precision_text(g->precision), "block", (json_int_t)block_of(w), "kernel",
                     (json_int_t)(g->version ? g->version : DENSE_OVERLAPPED), "gflops", app_json_number(gflops(g, w->shared->measured_s)),
                     "check", check_of(w), "ceiling", ceiling_of(w));
}

static yoke_status judge(const dense_work *w)
{
    const dense_freivalds *found = &((const gemm *)w->own)->freivalds;
    if (!is_wrong(w)) return YOKE_OK;
    return yoke_fail(w->context, YOKE_ERROR_NUMERIC,
                     "the product failed the check: relative error %.2g, and rounding errors are below %.2g%s", found->relative_error,
                     found->limit, isfinite(found->relative_error) ? "" : "; entries of C are too large for its precision");
}

static void destroy(dense_work *w)
{
    gemm *g = w->own;
    app_blas_close(&g->blas);
    for (int i = 0; i < 2; i++) dense_npy_close(&g->file[i]);
    dense_matrix_destroy(&g->a);
    dense_matrix_destroy(&g->b);
    dense_matrix_destroy(&g->c);
}

const dense_operation dense_operation_gemm = {
    .name = "gemm",
    .summary = "product of two matrices",
    .usage =
        {.program = "yoke dense gemm",
         .operands = "[A.npy B.npy]",
         .operands_most = 2,
         .summary = "Multiplies two matrices, C = A B, on all devices of the machine.",
         .details =
             "Without files the matrices have random numbers from -1 to 1; -n, -m and -k give their sizes.\n"
             "Files are NumPy's .npy with two dimensions of float64 or float32, or raw (.raw, .bin). Raw files have only numbers, by "
             "rows,\n"
             "little-endian; -n, -m, -k and --precision give their sizes and type.\n"
             "Cores multiply by the installed BLAS (or the one that YOKE_LIBBLAS names), other devices by the BLAS of their vendor, or by\n"
             "a kernel of yoke. A unit is a block of rows of A and C.\n"
             "Exit codes: 0 done, 1 failed while running (or the check failed), 2 bad input, 3 a device or the BLAS is not there,\n"
             "130 or 143 interrupted."},
    .help = {.n = "columns of B and C; if given alone, all matrices have N rows and columns",
             .m = "rows of A and C; by default N",
             .precision = "double or single; by default that of .npy files, else double",
             .seed = "seed of the random numbers in A; B has the seed S + 1; by default 1",
             .output_value = "C.npy",
             .output = "write the product; C.raw has only its numbers",
             .block = "rows of a block, which is not divided; by default 16, on several ranks from a benchmark",
             .check = "check the product with a random vector (Freivalds)",
             .ceiling = "also compute the product by one call of the cores' BLAS, and compare",
             .most_n = DENSE_MAX_SIDE,
             .most_block = DENSE_MAX_BLOCK},
    .own_bytes = sizeof(gemm),
    .may_replace_input = true,
    .options = add_options,
    .check = check,
    .begin = begin,
    .compute = compute,
    .on_ranks = on_ranks,
    .write = write,
    .compare = compare,
    .show_head = show_head,
    .show_tail = show_tail,
    .keys = keys,
    .judge = judge,
    .destroy = destroy,
};
