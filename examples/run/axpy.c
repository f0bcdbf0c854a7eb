/*
 * y += a x on all devices of this machine, in five calls: create, define, loop, explain, destroy.
 *
 *     axpy [DEVICES [MACHINE_FILE [RECORD]]]
 *
 * DEVICES: names separated by commas, as in openmp,cuda:0; "auto": all devices.
 *
 * Both vectors stay on the devices between loops (keep), so only elements that move to another device are copied.
 */
#include <math.h>
#include <stdio.h>

#include "yoke/dialect.h"
#include "yoke/yoke.h"

enum { N = 1 << 20, LOOPS = 12, TIMED = 4 };

YOKE_SOURCE(
    axpy_text, YOKE_KERNEL(axpy, (yoke_long first, yoke_long last, YOKE_GLOBAL const double *x, YOKE_GLOBAL double *y, double a)) {
        YOKE_FOR_ALL (i, last - first) y[first + i] += a * x[first + i];
    })

static double x[N], y[N];

/* Writes the latest loop as JSON, for programs that keep a record. */
static yoke_status write_record(yoke_context *context, yoke_run *run, const char *path)
{
    char *json = NULL;
    yoke_status status = yoke_run_record(run, &json);
    FILE *file = status ? NULL : fopen(path, "w");
    if (!status && (!file || fputs(json, file) < 0)) status = yoke_fail(context, YOKE_ERROR_SYSTEM, "%s cannot be written", path);
    if (file) fclose(file);
    yoke_release(context, json);
    return status;
}

/* Runs loops on these devices.  Returns the seconds of one loop by the run's clock, and the name of the first device. */
static yoke_status work(yoke_context *context, const char *devices, const char *record, double *seconds, char *first)
{
    static const yoke_host_kernel kernels[] = {{"axpy", axpy}};
    const char *const texts[] = {axpy_text};
    const yoke_program_source source = {.name = "axpy", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 1};
    const yoke_run_array arrays[] = {{x, sizeof x, sizeof x[0], YOKE_RUN_READ, .keep = 1},
                                     {y, sizeof y, sizeof y[0], YOKE_RUN_READ_WRITE, .keep = 1}};
    const yoke_run_definition definition = {.work = "axpy", .source = &source, .function = "axpy", .num_arrays = 2, .arrays = arrays};
    const yoke_run_options options = {.devices = devices};
    const yoke_argument a = yoke_argument_double(0.5);
    const yoke_run_device *list = NULL;
    int64_t count = 0;
    char *text = NULL;
    yoke_run *run = NULL;
    yoke_run_kernel *kernel = NULL;

    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 1;
    }
    yoke_status status = yoke_run_create(context, &options, &run);
    if (!status) status = yoke_run_define(run, &definition, &kernel);
    if (!status) status = yoke_run_devices(run, &list, &count);
    for (int k = 0; k < LOOPS && !status; k++) {
        double begin_s = yoke_device_clock_s(list[0].device);
        status = yoke_run_loop(run, kernel, N, &a, 1);
        double loop_s = yoke_device_clock_s(list[0].device) - begin_s;
        if (k == LOOPS - TIMED || (k > LOOPS - TIMED && loop_s < *seconds)) *seconds = loop_s;
    }
    if (!status) status = yoke_run_sync(run, kernel); /* copies y back to this program's memory */
    if (!status) status = yoke_run_explain(run, &text);
    if (!status) printf("%s\n", text);
    if (!status && record) status = write_record(context, run, record);
    if (!status) snprintf(first, 64, "%s", list[0].info->name);
    yoke_release(context, text);
    yoke_run_destroy(run);
    for (int i = 0; i < N && !status; i++)
        if (y[i] != 1 + LOOPS * 0.5 * i) status = yoke_fail(context, YOKE_ERROR_INTERNAL, "y[%d] is %g", i, y[i]);
    return status;
}

int main(int argc, char **argv)
{
    yoke_context *context = NULL;
    char first[64];
    double together_s = NAN, alone_s = NAN;
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status && argc > 2) status = yoke_machine_read(context, argv[2]);
    if (!status) status = work(context, argc > 1 ? argv[1] : "auto", argc > 3 ? argv[3] : NULL, &together_s, first);
    if (!status) status = work(context, first, NULL, &alone_s, first);
    if (status)
        fprintf(stderr, "axpy: %s\n", yoke_last_error(context));
    else
        printf("all %.3g ms, %s alone %.3g ms: speed-up %.2f\n", 1e3 * together_s, first, 1e3 * alone_s, alone_s / together_s);
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
