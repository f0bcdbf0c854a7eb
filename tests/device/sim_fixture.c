#include "sim_fixture.h"

#include <math.h>

static void nothing(const yoke_group *group, void *const *arguments)
{
    (void)group;
    (void)arguments;
}

static const yoke_host_kernel kernels[] = {{"nothing", nothing}};
static const yoke_program_source source = {.name = "one kernel", .host_kernels = kernels, .num_host_kernels = 1};

device open_device(yoke_context *context, const char *name)
{
    device d;
    assert_int_equal(yoke_device_open(context, name, &d.device), YOKE_OK);
    for (int i = 0; i < QUEUES; i++) assert_int_equal(yoke_queue_create(d.device, 0, &d.queues[i]), YOKE_OK);
    assert_int_equal(yoke_buffer_create(d.device, 1000, &d.buffer), YOKE_OK);
    assert_int_equal(yoke_program_create(d.device, &source, &d.program), YOKE_OK);
    assert_int_equal(yoke_program_function(d.program, "nothing", &d.function), YOKE_OK);
    return d;
}

void close_device(device *d)
{
    yoke_program_destroy(d->program);
    yoke_buffer_destroy(d->buffer);
    for (int i = 0; i < QUEUES; i++) yoke_queue_destroy(d->queues[i]);
    yoke_device_close(d->device);
}

yoke_status launch(device *d, int queue, int64_t units) { return yoke_queue_launch(d->queues[queue], d->function, 1, 1, units, NULL, 0); }

yoke_status copy(device *d, int queue, int64_t bytes)
{
    char memory[1000] = {0};
    return yoke_queue_write(d->queues[queue], d->buffer, 0, bytes, memory);
}

yoke_status copy_back(device *d, int queue, int64_t bytes)
{
    static char memory[1000];
    return yoke_queue_read(d->queues[queue], d->buffer, 0, bytes, memory);
}

void finish(device *d)
{
    for (int i = 0; i < QUEUES; i++) assert_int_equal(yoke_queue_finish(d->queues[i]), YOKE_OK);
}

void expect(double found, double expected, const char *what)
{
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected))) fail_msg("%s: %.17g instead of %.17g", what, found, expected);
}
