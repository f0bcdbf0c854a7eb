#include "calibrate.h"

#include <math.h>
#include <string.h>

#include "common/calibrate/calibrate.h"
#include "gemm/gemm.h"
#include "inputs.h"
#include "transpose/transpose.h"
#include "tsp/tsp.h"

enum { SIDE = 4096, CITIES = 100, RESTARTS = 100000 };

/* Options; 0 or NULL: not given. */
typedef struct command_words {
    int64_t n, m, k, block, restarts;
    const char *precision;
} command_words;

/* An operation opened on the devices of a run. */
typedef struct operation {
    yoke_context *context;
    int only_simulated; /* nothing is computed, and matrices have no entries */
    dense_precision precision;
    dense_matrix a, b, c;
    app_blas blas;
    dense_gemm_options gemm_options;
    dense_gemm_state *gemm;
    dense_transpose_options transpose_options;
    dense_transpose_state *transpose;
    dense_cities cities;
    dense_tsp_options tsp_options;
    dense_tsp_state *tsp;
    dense_sharing *sharing;
} operation;

static yoke_status try_alone(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    return dense_sharing_try(((operation *)user)->sharing, device, units, calls, seconds);
}

static yoke_status try_together(void *user, const int64_t *units, int64_t calls, double *seconds, int64_t *failed)
{
    return dense_sharing_try_together(((operation *)user)->sharing, units, calls, seconds, failed);
}

static yoke_status open_operation(yoke_context *context, yoke_run *run, const command_words *words, app_calibrate_trial *trial,
                                  operation **opened)
{
    const yoke_run_device *list;
    int64_t count;
    operation *o = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *o, &o);
    if (status) return status;
    *o = (operation){.context = context, .only_simulated = 1, .precision = DENSE_DOUBLE};
    *trial = (app_calibrate_trial){.difference = NAN, .alone = try_alone, .together = try_together, .user = o};
    *opened = o;
    status = yoke_run_devices(run, &list, &count);
    for (int64_t i = 0; i < count && !status; i++)
        if (list[i].active && strcmp(list[i].info->kind, "sim") != 0) o->only_simulated = 0;
    return status ? status : dense_input_precision(context, words->precision, &o->precision);
}

static void close_operation(void *user)
{
    operation *o = user;
    dense_gemm_close(o->gemm);
    dense_transpose_close(o->transpose);
    dense_tsp_close(o->tsp);
    app_blas_close(&o->blas);
    dense_cities_destroy(&o->cities);
    dense_matrix *const matrices[] = {&o->a, &o->b, &o->c};
    for (int i = 0; i < 3; i++)
        if (matrices[i]->entries) dense_matrix_destroy(matrices[i]);
    yoke_release(o->context, o);
}

/* Creates a matrix of random numbers; without entries if nothing is computed. */
static yoke_status make_matrix(const operation *o, int64_t rows, int64_t columns, dense_matrix *matrix)
{
    if (!o->only_simulated) return dense_input_random(o->context, rows, columns, o->precision, 1, matrix);
    *matrix = (dense_matrix){.context = o->context, .rows = rows, .columns = columns, .precision = o->precision};
    return YOKE_OK;
}

/* Sets what is common to all operations, after they are opened. */
static yoke_status tell(operation *o, const char *work, dense_sharing *sharing, int64_t units, double unit_bytes,
                        app_calibrate_trial *trial)
{
    yoke_status status = dense_sharing_open_rest(sharing);
    o->sharing = sharing;
    trial->work = work;
    trial->whole_units = units;
    trial->max_units = o->only_simulated ? units : dense_sharing_most_units(sharing);
    trial->memory_bytes_per_unit = unit_bytes;
    /* The seconds of trials on real devices include the copies. */
    trial->copy_bytes_per_unit = o->only_simulated ? unit_bytes : 0;
    return status;
}

static yoke_status open_gemm(yoke_context *context, yoke_run *run, const void *settings, app_calibrate_trial *trial)
{
    const command_words *w = settings;
    const int64_t n = w->n ? w->n : SIDE, m = w->m ? w->m : n, k = w->k ? w->k : n;
    const int64_t rows[] = {m, k, m}, columns[] = {k, n, n};
    operation *o = NULL;
    yoke_status status = open_operation(context, run, w, trial, &o);
    if (status) return status;
    const char *why_no_blas = app_blas_open(&o->blas);
    o->gemm_options = (dense_gemm_options){.block = w->block ? w->block : DENSE_GEMM_ROWS};
    if (!o->only_simulated) status = dense_matrix_check(context, o->precision, 3, rows, columns);
    dense_matrix *const matrices[] = {&o->a, &o->b, &o->c};
    for (int i = 0; i < 3 && !status; i++) status = make_matrix(o, rows[i], columns[i], matrices[i]);
    if (!status)
        status = dense_gemm_open(context, run, why_no_blas ? NULL : &o->blas, why_no_blas, &o->gemm_options, &o->a, &o->c, &o->gemm);
    if (!status) status = dense_gemm_take(o->gemm, &o->a, &o->b, &o->c);
    if (status) return status;
    const double row_bytes = (double)(k + n) * (double)o->precision;
    return tell(o, dense_gemm_work(o->gemm), dense_gemm_sharing(o->gemm), dense_matrix_blocks(&o->c, o->gemm_options.block),
                row_bytes * (double)o->gemm_options.block, trial);
}

static yoke_status open_transpose(yoke_context *context, yoke_run *run, const void *settings, app_calibrate_trial *trial)
{
    const command_words *w = settings;
    const int64_t n = w->n ? w->n : SIDE, m = w->m ? w->m : n, rows[] = {m, n}, columns[] = {n, m};
    operation *o = NULL;
    yoke_status status = open_operation(context, run, w, trial, &o);
    if (status) return status;
    o->transpose_options = (dense_transpose_options){.block = w->block ? w->block : DENSE_TRANSPOSE_BLOCK};
    if (!o->only_simulated) status = dense_matrix_check(context, o->precision, 2, rows, columns);
    if (!status) status = make_matrix(o, m, n, &o->a);
    if (!status) status = make_matrix(o, n, m, &o->b);
    if (!status) status = dense_transpose_open(context, run, &o->transpose_options, &o->a, &o->b, &o->transpose);
    if (status) return status;
    return tell(o, dense_transpose_work(o->transpose), dense_transpose_sharing(o->transpose),
                dense_matrix_blocks(&o->a, o->transpose_options.block),
                2.0 * (double)n * (double)o->precision * (double)o->transpose_options.block, trial);
}

static yoke_status open_tsp(yoke_context *context, yoke_run *run, const void *settings, app_calibrate_trial *trial)
{
    const command_words *w = settings;
    operation *o = NULL;
    yoke_status status = open_operation(context, run, w, trial, &o);
    if (status) return status;
    o->tsp_options = (dense_tsp_options){.restarts = w->restarts ? w->restarts : RESTARTS, .seed = 1};
    status = dense_cities_random(context, w->n ? w->n : CITIES, 1, &o->cities);
    if (!status) status = dense_tsp_open(run, &o->cities, &o->tsp_options, &o->tsp);
    if (status) return status;
    return tell(o, dense_tsp_work(o->tsp), dense_tsp_sharing(o->tsp), o->tsp_options.restarts, 0, trial);
}

/* Refuses options of other operations than the measured one, which would have no effect. */
static yoke_status refuse(yoke_context *context, const char *option, const char *kernel)
{
    return yoke_fail(context, YOKE_ERROR_INPUT, "--kernel %s has no %s; its options: %s", kernel, option,
                     !strcmp(kernel, "gemm")        ? "-n, -m, -k, -b, --precision"
                     : !strcmp(kernel, "transpose") ? "-n, -m, -b, --precision"
                                                    : "-n, --restarts");
}

static yoke_status prepare_gemm(yoke_context *context, const void *settings)
{
    return ((const command_words *)settings)->restarts ? refuse(context, "--restarts", "gemm") : YOKE_OK;
}

static yoke_status prepare_transpose(yoke_context *context, const void *settings)
{
    const command_words *w = settings;
    return w->restarts || w->k ? refuse(context, w->k ? "-k" : "--restarts", "transpose") : YOKE_OK;
}

static yoke_status prepare_tsp(yoke_context *context, const void *settings)
{
    const command_words *w = settings;
    if (w->m || w->k || w->block || w->precision)
        return refuse(context, w->m ? "-m" : w->k ? "-k" : w->block ? "-b" : "--precision", "tsp");
    if (w->n <= DENSE_MAX_CITIES) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "--kernel tsp: -n %lld: at most %d cities", (long long)w->n, DENSE_MAX_CITIES);
}

static app_option number(const char *name, const char *value, const char *help, int64_t *to, int64_t most)
{
    return (app_option){.name = name, .value = value, .help = help, .number = to, .minimum = 1, .maximum = most};
}

yoke_status dense_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_words w = {0};
    const app_option options[] = {
        number("n", "N", "columns of B and C, or of the matrix to transpose (4096); cities of tsp (100)", &w.n, DENSE_MAX_SIDE),
        number("m", "M", "rows of A and C, or of the matrix to transpose; by default N", &w.m, DENSE_MAX_SIDE),
        number("k", "K", "columns of A, rows of B; by default N", &w.k, DENSE_MAX_SIDE),
        number("b", "B", "rows of a unit, as in yoke dense (gemm 16, transpose 64)", &w.block, DENSE_MAX_BLOCK),
        {.name = "precision", .value = "KIND", .help = "double (the default) or single", .text = &w.precision},
        number("restarts", "R", "total number of restarts of tsp (100000)", &w.restarts, DENSE_MAX_RESTARTS),
        {0},
    };
    const app_calibrate_kernel kernels[] = {
        {"gemm", "product of two matrices of yoke dense; a unit is a block of rows", &w, prepare_gemm, open_gemm, close_operation},
        {"transpose", "transposition of yoke dense; a unit is a block of rows", &w, prepare_transpose, open_transpose, close_operation},
        {"tsp", "tours of yoke dense; a unit is a restart", &w, prepare_tsp, open_tsp, close_operation},
        {0},
    };
    const app_calibrate_front front = {.kernels = kernels, .options = options};
    return app_calibrate(context, terminal, argc, argv, &front);
}
