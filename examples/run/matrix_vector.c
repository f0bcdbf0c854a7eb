/*
 * y = A x on all devices of this machine, which share the rows of A.
 *
 *     matrix_vector [DEVICES [MACHINE_FILE]]
 *
 * A stays on the devices (keep), x is sent whole before each loop, and each device's part of y is copied back after it.
 */
#include <math.h>
#include <stdio.h>

#include "yoke/dialect.h"
#include "yoke/yoke.h"

enum { ROWS = 3000, COLUMNS = 700, LOOPS = 12, TIMED = 4 };

YOKE_SOURCE(
    text_of_kernel, YOKE_KERNEL(matrix_vector, (yoke_long first, yoke_long last, YOKE_GLOBAL const double *a, YOKE_GLOBAL const double *x,
                                                YOKE_GLOBAL double *y, yoke_long columns)) {
        YOKE_FOR_ALL (i, last - first) {
            double sum = 0;
            for (yoke_long k = 0; k < columns; k++) sum += a[(first + i) * columns + k] * x[k];
            y[first + i] = sum;
}
})

static double a[ROWS][COLUMNS], x[COLUMNS], y[ROWS];

/* Compares the result of the devices with the product computed by a plain loop. */
static yoke_status check(yoke_context *context)
{
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int k = 0; k < COLUMNS; k++) sum += a[i][k] * x[k];
        if (!(fabs(sum - y[i]) <= 1e-12 * fabs(sum)))
            return yoke_fail(context, YOKE_ERROR_INTERNAL, "y[%d] is %g instead of %g", i, y[i], sum);
    }
    return YOKE_OK;
}

static yoke_status work(yoke_context *context, const char *devices, double *seconds, char *first)
{
    static const yoke_host_kernel kernels[] = {{"matrix_vector", matrix_vector}};
    const char *const texts[] = {text_of_kernel};
    const yoke_program_source source = {
        .name = "matrix_vector", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 1};
    const yoke_run_array arrays[] = {{a, sizeof a, sizeof a[0], YOKE_RUN_READ, .keep = 1},
                                     {x, sizeof x, 0, YOKE_RUN_READ, .keep = 0},
                                     {y, sizeof y, sizeof y[0], YOKE_RUN_WRITE, .keep = 0}};
    const yoke_run_definition definition = {
        .work = "matrix-vector 700", .source = &source, .function = "matrix_vector", .num_arrays = 3, .arrays = arrays};
    const yoke_run_options options = {.devices = devices};
    const yoke_argument columns = yoke_argument_int64(COLUMNS);
    const yoke_run_device *list = NULL;
    int64_t count = 0;
    char *text = NULL;
    yoke_run *run = NULL;
    yoke_run_kernel *kernel = NULL;
    yoke_status status = yoke_run_create(context, &options, &run);
    if (!status) status = yoke_run_define(run, &definition, &kernel);
    if (!status) status = yoke_run_devices(run, &list, &count);
    for (int loop = 0; loop < LOOPS && !status; loop++) {
        for (int k = 0; k < COLUMNS; k++) x[k] = loop + 1.0 / (k + 1);
        double begin_s = yoke_device_clock_s(list[0].device);
        status = yoke_run_loop(run, kernel, ROWS, &columns, 1);
        double loop_s = yoke_device_clock_s(list[0].device) - begin_s;
        if (loop == LOOPS - TIMED || (loop > LOOPS - TIMED && loop_s < *seconds)) *seconds = loop_s;
        if (!status) status = check(context);
    }
    if (!status) status = yoke_run_explain(run, &text);
    if (!status) printf("%s\n", text);
    if (!status) snprintf(first, 64, "%s", list[0].info->name);
    yoke_release(context, text);
    yoke_run_destroy(run);
    return status;
}

int main(int argc, char **argv)
{
    yoke_context *context = NULL;
    char first[64];
    double together_s = NAN, alone_s = NAN;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++) a[i][k] = 1.0 / (1 + i + k);
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status && argc > 2) status = yoke_machine_read(context, argv[2]);
    if (!status) status = work(context, argc > 1 ? argv[1] : "auto", &together_s, first);
    if (!status) status = work(context, first, &alone_s, first);
    if (status)
        fprintf(stderr, "matrix_vector: %s\n", yoke_last_error(context));
    else
        printf("all %.3g ms, %s alone %.3g ms: speed-up %.2f\n", 1e3 * together_s, first, 1e3 * alone_s, alone_s / together_s);
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
