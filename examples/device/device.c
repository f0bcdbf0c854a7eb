/*
 * Computes the heat in a rod on one device, with memory, a program, a queue and events, but without a run that shares work.
 *
 *     device [DEVICE [MACHINE_FILE]]
 *
 * DEVICE: a name as shown by `yoke info`; default: openmp.
 *
 * A step moves each temperature towards the mean of its neighbours.  A sine wave keeps its shape and shrinks by a known factor in each
 * step; the result is compared with this.
 */
#include <math.h>
#include <stdio.h>

#include "yoke/dialect.h"
#include "yoke/yoke.h"

enum { POINTS = 99999, WAVES = 5000, STEPS = 100, GROUPS = 64, ITEMS = 64 };

/* Becomes C code for devices that are the host, and a text for devices that compile it. */
YOKE_SOURCE(
    heat_text, YOKE_KERNEL(heat, (yoke_long n, float rate, YOKE_GLOBAL const float *old, YOKE_GLOBAL float *now)) {
        YOKE_FOR_ALL (i, n) {
            float left = i > 0 ? old[i - 1] : 0, right = i < n - 1 ? old[i + 1] : 0;
            now[i] = old[i] + rate * (left - 2 * old[i] + right);
}
})

static const float rate = 0.05F;
static float rod[POINTS];

static double wave(int point) { return sin(acos(-1) * WAVES * (point + 1) / (POINTS + 1)); }

/*
 * Copies data to the device, performs all steps, and copies the result back.  The calls return at once; the device processes them in this
 * order.
 */
static yoke_status work(yoke_queue *queue, yoke_function *heat_of, yoke_buffer *const *buffers, yoke_event *begin, yoke_event *end)
{
    yoke_status status = yoke_queue_write(queue, buffers[0], 0, sizeof rod, rod);
    if (!status) status = yoke_queue_record(queue, begin);
    for (int k = 0; k < STEPS && !status; k++) {
        const yoke_argument arguments[] = {yoke_argument_int64(POINTS), yoke_argument_float(rate), yoke_argument_buffer(buffers[k % 2]),
                                           yoke_argument_buffer(buffers[(k + 1) % 2])};
        status = yoke_queue_launch(queue, heat_of, GROUPS, ITEMS, POINTS, arguments, 4);
    }
    if (!status) status = yoke_queue_record(queue, end);
    if (!status) status = yoke_queue_read(queue, buffers[STEPS % 2], 0, sizeof rod, rod);
    return status ? status : yoke_queue_finish(queue);
}

static yoke_status run(yoke_context *context, const char *name)
{
    static const yoke_host_kernel kernels[] = {{"heat", heat}};
    const char *const texts[] = {heat_text};
    const yoke_program_source source = {"heat", texts, 1, .host_kernels = kernels, .num_host_kernels = 1};
    yoke_device *device = NULL;
    yoke_queue *queue = NULL;
    yoke_program *program = NULL;
    yoke_function *function = NULL;
    yoke_buffer *buffers[2] = {NULL, NULL};
    yoke_event *begin = NULL, *end = NULL;
    double seconds = NAN, largest = 0;

    yoke_status status = yoke_device_open(context, name, &device);
    if (!status) status = yoke_queue_create(device, 0, &queue);
    if (!status) status = yoke_program_create(device, &source, &program);
    if (!status) status = yoke_program_function(program, "heat", &function);
    for (int k = 0; k < 2 && !status; k++) status = yoke_buffer_create(device, sizeof rod, &buffers[k]);
    if (!status) status = yoke_event_create(device, &begin);
    if (!status) status = yoke_event_create(device, &end);
    if (!status) status = work(queue, function, buffers, begin, end);
    if (!status) status = yoke_event_elapsed_s(begin, end, &seconds);
    const double factor = pow(1 - 4 * rate * pow(sin(acos(-1) / 2 * WAVES / (POINTS + 1)), 2), STEPS);
    for (int i = 0; i < POINTS && !status; i++) largest = fmax(largest, fabs(rod[i] - factor * wave(i)));
    if (!status) printf("%s: %d steps in %.3g ms, factor %.4f, largest error %.1e\n", name, STEPS, 1e3 * seconds, factor, largest);
    if (!status && !(largest < 1e-4)) status = yoke_fail(context, YOKE_ERROR_INTERNAL, "the temperatures are wrong");
    yoke_event_destroy(end);
    yoke_event_destroy(begin);
    for (int k = 0; k < 2; k++) yoke_buffer_destroy(buffers[k]);
    yoke_program_destroy(program);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
    return status;
}

int main(int argc, char **argv)
{
    yoke_context *context = NULL;
    for (int i = 0; i < POINTS; i++) rod[i] = (float)wave(i);
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status && argc > 2) status = yoke_machine_read(context, argv[2]);
    if (!status) status = run(context, argc > 1 ? argv[1] : "openmp");
    if (status) fprintf(stderr, "device: %s\n", yoke_last_error(context));
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
