/*
 * Simulates bodies that attract each other on all devices of this machine, which share the bodies.  Each device needs the positions of all
 * bodies.
 *
 *     n_body [DEVICES [MACHINE_FILE]]
 *
 * Positions are sent whole before each step; velocities stay on the devices that have the bodies (keep); new positions are copied back.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "yoke/dialect.h"
#include "yoke/yoke.h"

enum { BODIES = 1500, STEPS = 12, TIMED = 4 };

YOKE_SOURCE(
    text_of_kernel, YOKE_KERNEL(move_bodies, (yoke_long first, yoke_long last, YOKE_GLOBAL const float *from, YOKE_GLOBAL float *velocity,
                                              YOKE_GLOBAL float *to, yoke_long bodies)) {
        const float dt = 1e-3f;
        YOKE_FOR_ALL (i, last - first) {
            yoke_long me = first + i;
            float pull[3] = {0, 0, 0};
            for (yoke_long k = 0; k < bodies; k++) {
                float d[3];
                for (int c = 0; c < 3; c++) d[c] = from[3 * k + c] - from[3 * me + c];
                float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.1f, weight = 1 / (square * square);
                for (int c = 0; c < 3; c++) pull[c] += d[c] * weight;
            }
            for (int c = 0; c < 3; c++) {
                velocity[3 * me + c] += dt * pull[c];
                to[3 * me + c] = from[3 * me + c] + dt * velocity[3 * me + c];
            }
        }
    })

static float places[3 * BODIES], velocities[3 * BODIES], moved[3 * BODIES], expected[3 * BODIES];

static yoke_status work(yoke_context *context, const char *devices, double *seconds, char *first)
{
    static const yoke_host_kernel kernels[] = {{"move_bodies", move_bodies}};
    const char *const texts[] = {text_of_kernel};
    const yoke_program_source source = {.name = "n_body", .texts = texts, .num_texts = 1, .host_kernels = kernels, .num_host_kernels = 1};
    const yoke_run_array arrays[] = {{places, sizeof places, 0, YOKE_RUN_READ, .keep = 0},
                                     {velocities, sizeof velocities, 3 * sizeof(float), YOKE_RUN_READ_WRITE, .keep = 1},
                                     {moved, sizeof moved, 3 * sizeof(float), YOKE_RUN_WRITE, .keep = 0}};
    const yoke_run_definition definition = {
        .work = "n-body 1500", .source = &source, .function = "move_bodies", .num_arrays = 3, .arrays = arrays};
    const yoke_run_options options = {.devices = devices};
    const yoke_argument bodies = yoke_argument_int64(BODIES);
    const yoke_run_device *list = NULL;
    int64_t count = 0;
    char *text = NULL;
    yoke_run *run = NULL;
    yoke_run_kernel *kernel = NULL;
    for (int i = 0; i < 3 * BODIES; i++) {
        places[i] = (float)((i * 7919 % 1000) / 1000.0);
        velocities[i] = 0;
    }
    yoke_status status = yoke_run_create(context, &options, &run);
    if (!status) status = yoke_run_define(run, &definition, &kernel);
    if (!status) status = yoke_run_devices(run, &list, &count);
    for (int k = 0; k < STEPS && !status; k++) {
        double begin_s = yoke_device_clock_s(list[0].device);
        status = yoke_run_loop(run, kernel, BODIES, &bodies, 1);
        double loop_s = yoke_device_clock_s(list[0].device) - begin_s;
        if (k == STEPS - TIMED || (k > STEPS - TIMED && loop_s < *seconds)) *seconds = loop_s;
        memcpy(places, moved, sizeof places);
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
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status && argc > 2) status = yoke_machine_read(context, argv[2]);
    if (!status) status = work(context, argc > 1 ? argv[1] : "auto", &together_s, first);
    memcpy(expected, places, sizeof expected);
    if (!status) status = work(context, first, &alone_s, first);
    for (int i = 0; i < 3 * BODIES && !status; i++) /* independent of the device that computed it */
        if (!(fabsf(places[i] - expected[i]) <= 1e-4f))
            status = yoke_fail(context, YOKE_ERROR_INTERNAL, "place %d is %g instead of %g", i, places[i], expected[i]);
    if (status)
        fprintf(stderr, "n_body: %s\n", yoke_last_error(context));
    else
        printf("all %.3g ms, %s alone %.3g ms: speed-up %.2f\n", 1e3 * together_s, first, 1e3 * alone_s, alone_s / together_s);
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
