/*
 * Draws the Mandelbrot set (PGM).  Each row is a unit of a loop shared by all devices of this machine: mandelbrot [DEVICES [MACHINE_FILE]]
 */
#include <stdio.h>

#include "yoke/dialect.h"
#include "yoke/yoke.h"

enum { SIZE = 600 };

YOKE_SOURCE(text, YOKE_KERNEL(rows, (yoke_long first, yoke_long last, YOKE_GLOBAL yoke_int *steps, yoke_long size)) {
    YOKE_FOR_ALL (i, (last - first) * size) {
        double a = -2 + 2.5 * (double)(i % size) / (double)size, b = -1.25 + 2.5 * (double)(first + i / size) / (double)size, x = 0, y = 0;
        yoke_int step = 0;
        for (; step < 255 && x * x + y * y < 4; step++) {
    double next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
        }
        steps[first * size + i] = step;
}
})

static yoke_int steps[SIZE * SIZE];

int main(int argc, char **argv)
{
    static const yoke_host_kernel kernels[] = {{"rows", rows}};
    const char *const texts[] = {text};
    const yoke_program_source source = {.name = "rows", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 1};
    const yoke_run_array array = {steps, sizeof steps, SIZE * sizeof steps[0], YOKE_RUN_WRITE, .keep = 0};
    const yoke_run_definition definition = {
        .work = "mandelbrot", .source = &source, .function = "rows", .num_arrays = 1, .arrays = &array, .items_per_unit = SIZE};
    const yoke_run_options options = {.devices = argc > 1 ? argv[1] : "auto"};
    const yoke_argument size = yoke_argument_int64(SIZE);
    yoke_context *context = NULL;
    yoke_run *run = NULL;
    yoke_run_kernel *kernel = NULL;
    char *report = NULL;

    yoke_status status = yoke_context_create(NULL, &context);
    if (!status && argc > 2) status = yoke_machine_read(context, argv[2]);
    if (!status) status = yoke_run_create(context, &options, &run);
    if (!status) status = yoke_run_define(run, &definition, &kernel);
    if (!status) status = yoke_run_loop(run, kernel, SIZE, &size, 1);
    if (!status) status = yoke_run_explain(run, &report);
    if (!status) printf("P2 %d %d 255\n", SIZE, SIZE);
    for (int i = 0; i < SIZE * SIZE && !status; i++) printf("%d\n", (int)steps[i]);
    fprintf(stderr, "%s\n", status ? yoke_last_error(context) : report);
    yoke_release(context, report);
    yoke_run_destroy(run);
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
