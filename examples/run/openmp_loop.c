/*
 * Lets several devices share an existing OpenMP loop: for each row of a picture, it counts how often z = z^2 + c can be iterated.
 *
 *     openmp_loop [DEVICES [MACHINE_FILE]]
 *
 * The loop becomes a function of a range of rows, which the cores execute.  The work on a row also becomes a kernel, for accelerators.
 */
#include <math.h>
#include <stdio.h>

#include "yoke/dialect.h"
#include "yoke/yoke.h"

enum { ROWS = 240, COLUMNS = 320, LOOPS = 12, TIMED = 4 };

YOKE_SOURCE(
    text_of_row,
    YOKE_FUNCTION void row(YOKE_GLOBAL yoke_int *counts, yoke_long y, int columns, int rows) {
        for (int x = 0; x < columns; x++) {
            double cx = -2.0 + 2.6 * x / columns, cy = -1.2 + 2.4 * (double)y / rows, zx = 0, zy = 0;
            int count = 0;
            while (count < 300 && zx * zx + zy * zy < 4) {
                double next = zx * zx - zy * zy + cx;
                zy = 2 * zx * zy + cy;
                zx = next;
                count++;
            }
            counts[y * columns + x] = count;
        }
    } YOKE_KERNEL(rows, (yoke_long first, yoke_long last, YOKE_GLOBAL yoke_int *counts, yoke_int columns, yoke_int all)) {
        YOKE_FOR_ALL (i, last - first) row(counts, first + i, columns, all);
    })

static int32_t counts[ROWS * COLUMNS], expected[ROWS * COLUMNS];

/* Accelerators may round differently, which affects a few points at the border of the set. */
static int is_right(void)
{
    int different = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) different += counts[i] != expected[i];
    return different <= ROWS * COLUMNS / 500;
}

/* The original loop, except for its bounds. */
static void loop(int64_t first, int64_t last, void *const *arrays, void *unused)
{
    (void)unused;
#pragma omp parallel for schedule(dynamic)
    for (int64_t y = first; y < last; y++) row(arrays[0], y, COLUMNS, ROWS);
}

static yoke_status work(yoke_context *context, const char *devices, double *seconds, char *first)
{
    static const yoke_host_kernel kernels[] = {{"rows", rows}};
    const char *const texts[] = {text_of_row};
    const yoke_program_source source = {"openmp_loop", texts, 1, .host_kernels = kernels, .num_host_kernels = 1};
    const yoke_run_array array = {counts, sizeof counts, COLUMNS * sizeof counts[0], YOKE_RUN_WRITE, .keep = 0};
    const yoke_run_definition definition = {"rows of 320", &source, "rows", .host = loop, .num_arrays = 1, .arrays = &array};
    const yoke_run_options options = {.devices = devices};
    const yoke_argument sizes[] = {yoke_argument_int32(COLUMNS), yoke_argument_int32(ROWS)};
    const yoke_run_device *list;
    int64_t count;
    char *text = NULL;
    yoke_run *run = NULL;
    yoke_run_kernel *kernel;
    yoke_status status = yoke_run_create(context, &options, &run);
    if (!status) status = yoke_run_define(run, &definition, &kernel);
    if (!status) status = yoke_run_devices(run, &list, &count);
    for (int k = 0; k < LOOPS && !status; k++) {
        double begin_s = yoke_device_clock_s(list[0].device);
        status = yoke_run_loop(run, kernel, ROWS, sizes, 2);
        double loop_s = yoke_device_clock_s(list[0].device) - begin_s;
        if (k == LOOPS - TIMED || (k > LOOPS - TIMED && loop_s < *seconds)) *seconds = loop_s;
        if (!status && !is_right()) status = yoke_fail(context, YOKE_ERROR_INTERNAL, "the picture is wrong");
    }
    if (!status && !(status = yoke_run_explain(run, &text))) printf("%s\n", text);
    if (!status) snprintf(first, 64, "%s", list[0].info->name);
    yoke_release(context, text);
    yoke_run_destroy(run);
    return status;
}

int main(int argc, char **argv)
{
    yoke_context *context = NULL;
    char first[64];
    double together_s, alone_s;
    for (int64_t y = 0; y < ROWS; y++) row(expected, y, COLUMNS, ROWS);
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status && argc > 2) status = yoke_machine_read(context, argv[2]);
    if (!status) status = work(context, argc > 1 ? argv[1] : "auto", &together_s, first);
    if (!status) status = work(context, first, &alone_s, first);
    if (status)
        fprintf(stderr, "openmp_loop: %s\n", yoke_last_error(context));
    else
        printf("all %.3g ms, %s alone %.3g ms: speed-up %.2f\n", 1e3 * together_s, first, 1e3 * alone_s, alone_s / together_s);
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
