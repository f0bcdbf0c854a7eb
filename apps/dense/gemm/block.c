#include "gemm/block.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 1024, LEAST = 32 }; /* rows and columns of C; the least width */

/* Time for measuring a width: several products, of 1 to 20 ms each on a core. */
static const double budget_s = 0.05;

typedef struct measuring {
    yoke_context *context;
    const app_blas *blas;
    const yoke_run_device *list;
    dense_matrix a, b, c;
    int64_t width, calls;
} measuring;

int64_t dense_block_width(int i) { return (int64_t)LEAST << i; }

int64_t dense_block_choose(const double *speed, int64_t most)
{
    double best = 0;
    for (int i = 0; i < DENSE_BLOCK_WIDTHS; i++)
        if (speed[i] > best) best = speed[i];
    int64_t chosen = DENSE_GEMM_BLOCK;
    for (int i = DENSE_BLOCK_WIDTHS - 1; i >= 0 && best > 0; i--)
        if (speed[i] >= 0.98 * best) chosen = dense_block_width(i);
    while (chosen > most && chosen > LEAST) chosen /= 2;
    return chosen;
}

static void update(void *user)
{
    const measuring *m = user;
    const dense_matrix a = {.rows = SIDE, .columns = m->width, .precision = m->a.precision, .entries = m->a.entries};
    const dense_matrix b = {.rows = m->width, .columns = SIDE, .precision = m->b.precision, .entries = m->b.entries};
    dense_matrix c = m->c;
    for (int64_t i = 0; i < m->calls; i++) dense_gemm_rows(m->blas, &a, &b, 1, &c, 0, SIDE, 0);
}

/* A trial on the host; a unit is one product. */
static yoke_status try_host(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    measuring *m = user;
    yoke_device *host = m->list[device].device;
    yoke_queue *queue = NULL;
    yoke_event *marks[2] = {NULL, NULL};
    yoke_status status = yoke_queue_create(host, 0, &queue);
    for (int i = 0; i < 2 && !status; i++) status = yoke_event_create(host, &marks[i]);
    m->calls = 1;
    if (!status) status = yoke_queue_call(queue, update, m, 0); /* the BLAS creates its threads and memory in the first call */
    if (!status) status = yoke_queue_finish(queue);
    m->calls = units * calls;
    if (!status) status = yoke_queue_record(queue, marks[0]);
    if (!status) status = yoke_queue_call(queue, update, m, units * calls);
    if (!status) status = yoke_queue_record(queue, marks[1]);
    if (!status) status = yoke_event_elapsed_s(marks[0], marks[1], seconds);
    if (!status) *seconds /= (double)calls;
    yoke_queue_destroy(queue);
    for (int i = 0; i < 2; i++) yoke_event_destroy(marks[i]);
    return status;
}

static yoke_status make_matrices(measuring *m, dense_precision precision)
{
    const int64_t widest = dense_block_width(DENSE_BLOCK_WIDTHS - 1);
    yoke_status status = m->a.entries ? YOKE_OK : dense_matrix_create(m->context, SIDE, widest, precision, &m->a);
    if (!status && !m->b.entries) status = dense_matrix_create(m->context, widest, SIDE, precision, &m->b);
    return status || m->c.entries ? status : dense_matrix_create(m->context, SIDE, SIDE, precision, &m->c);
}

/* Seconds of a product of this width, measured if they are not known. */
static yoke_status measure_width(yoke_run *run, measuring *m, dense_precision precision, int64_t host, double *seconds)
{
    char work[64];
    const char *const texts[] = {m->blas->kernel ? m->blas->kernel() : m->blas->name};
    yoke_prediction call;
    snprintf(work, sizeof work, "gemm update %s b=%lld", dense_precision_text(precision), (long long)m->width);
    yoke_status status = yoke_run_work(run, work, texts, 1);
    if (status == YOKE_ERROR_ARGUMENT) status = YOKE_OK; /* this run has registered the work before */
    if (status) return status;
    if (yoke_run_predict(run, work, host, 1, NAN, 0, &call) != YOKE_OK) {
        const yoke_run_calibration of = {.work = work,
                                         .min_units = 1,
                                         .max_units = 2,
                                         .sizes = 2,
                                         .brief = 1,
                                         .budget_s = budget_s,
                                         .trial = try_host,
                                         .user = m,
                                         .use = YOKE_RUN_HOSTS};
        status = make_matrices(m, precision);
        if (!status) status = yoke_run_calibrate(run, &of, NULL);
        if (!status) status = yoke_run_predict(run, work, host, 1, NAN, 0, &call);
    }
    if (!status) *seconds = call.seconds;
    return status;
}

yoke_status dense_block_measure(yoke_context *context, yoke_run *run, const app_blas *blas, dense_precision precision, double *speed)
{
    measuring m = {.context = context, .blas = blas};
    int64_t count = 0, host = 0;
    for (int i = 0; i < DENSE_BLOCK_WIDTHS; i++) speed[i] = NAN;
    yoke_status status = yoke_run_devices(run, &m.list, &count);
    while (!status && host < count && !(m.list[host].active && !m.list[host].accelerator)) host++;
    if (status || host == count || !strcmp(m.list[host].info->kind, "sim")) return status;
    for (int i = 0; i < DENSE_BLOCK_WIDTHS && !status; i++) {
        double seconds = NAN;
        m.width = dense_block_width(i);
        status = measure_width(run, &m, precision, host, &seconds);
        if (!status) speed[i] = 2.0 * SIDE * SIDE * (double)m.width / seconds;
    }
    dense_matrix_destroy(&m.a);
    dense_matrix_destroy(&m.b);
    dense_matrix_destroy(&m.c);
    return status;
}
