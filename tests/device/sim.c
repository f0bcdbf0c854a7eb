/* Simulated devices: what they compute is right, and the time that it takes is what the machine file says, to the digit. */
#include <math.h>

#include "machine_text.h"
#include "unit.h"

static void add_one(const yoke_group *group, void *const *arguments)
{
    int64_t *y = *(int64_t **)arguments[0];
    if (group->index == 0) (*y)++;
}

static const yoke_host_kernel kernels[] = {{"add_one", add_one}};
static const yoke_program_source source = {.name = "one kernel", .host_kernels = kernels, .num_host_kernels = 1};

static void add_two(void *user) { *(int64_t *)user += 2; }

typedef struct device { /* with all that a test of times needs */
    yoke_device *device;
    yoke_queue *queues[2];
    yoke_buffer *buffer;
    yoke_program *program;
    yoke_function *function;
} device;

static yoke_status open_all(yoke_context *context, const char *name, device *d)
{
    *d = (device){0};
    yoke_status status = yoke_device_open(context, name, &d->device);
    for (int i = 0; i < 2; i++)
        if (status == YOKE_OK) status = yoke_queue_create(d->device, 0, &d->queues[i]);
    if (status == YOKE_OK) status = yoke_buffer_create(d->device, 4096, &d->buffer);
    if (status == YOKE_OK) status = yoke_program_create(d->device, &source, &d->program);
    if (status == YOKE_OK) status = yoke_program_function(d->program, "add_one", &d->function);
    return status;
}

static void close_all(device *d)
{
    yoke_program_destroy(d->program);
    yoke_buffer_destroy(d->buffer);
    for (int i = 0; i < 2; i++) yoke_queue_destroy(d->queues[i]);
    yoke_device_close(d->device);
}

static yoke_status launch(device *d, int queue, int64_t units)
{
    const yoke_argument arguments[] = {yoke_argument_buffer(d->buffer)};
    return yoke_queue_launch(d->queues[queue], d->function, 3, 1, units, arguments, 1);
}

/* The virtual seconds of a launch on an idle queue. */
static double seconds_of(device *d, int64_t units)
{
    double before_s = yoke_device_clock_s(d->device);
    assert_int_equal(launch(d, 0, units), YOKE_OK);
    assert_int_equal(yoke_queue_finish(d->queues[0]), YOKE_OK);
    return yoke_device_clock_s(d->device) - before_s;
}

static void expect_s(double found_s, double expected_s)
{
    if (!(fabs(found_s - expected_s) <= 1e-12 * expected_s)) fail_msg("%.17g s instead of %.17g s", found_s, expected_s);
}

/* ------------------------------------------------------------------------------------------------- tests */

static void a_launch_takes_the_time_of_its_units(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine("{\"name\": \"m\", \"devices\": ["
                                    "{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 0.5},"
                                    "{\"name\": \"b\", \"class\": \"gpu\", \"start_s\": 3,"
                                    " \"seconds_per_unit\": [[10, 1], [20, 2], [100, 0.5]]}]}",
                                    &memory);
    device a, b;
    assert_int_equal(open_all(context, "sim:a", &a), YOKE_OK);
    assert_int_equal(open_all(context, "sim:b", &b), YOKE_OK);
    expect_s(seconds_of(&a, 1), 0.5);
    expect_s(seconds_of(&a, 1000000), 500000);
    assert_true(seconds_of(&a, 0) == 0);
    static const double expected[][2] = {{1, 3 + 1},          {10, 3 + 10},  {15, 3 + 15 * 1.5}, {20, 3 + 40},
                                         {60, 3 + 60 * 1.25}, {100, 3 + 50}, {1000, 3 + 500}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) expect_s(seconds_of(&b, (int64_t)expected[i][0]), expected[i][1]);
    assert_true(seconds_of(&b, 0) == 0); /* no start either: it is work beside the units */
    assert_true(isfinite(seconds_of(&b, INT64_MAX)));
    close_all(&a);
    close_all(&b);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void the_computing_is_real(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine("{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1,"
                                    "\"threads\": 3}, {\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1}]}",
                                    &memory);
    device a, b;
    int64_t number = 0;
    assert_int_equal(open_all(context, "sim:a", &a), YOKE_OK);
    assert_int_equal(open_all(context, "sim:b", &b), YOKE_OK);
    assert_int_equal(yoke_queue_clear(a.queues[0], a.buffer, 0, 8), YOKE_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(launch(&a, 0, 1), YOKE_OK);
    assert_int_equal(yoke_queue_read(a.queues[0], a.buffer, 0, 8, &number), YOKE_OK);
    assert_int_equal(yoke_queue_call(a.queues[0], add_two, &number, 7), YOKE_OK);
    assert_int_equal(yoke_queue_finish(a.queues[0]), YOKE_OK);
    assert_int_equal(number, 7);
    assert_true(yoke_device_clock_s(a.device) == 12);
    assert_int_equal(yoke_queue_call(b.queues[0], add_two, &number, 7), YOKE_ERROR_UNAVAILABLE);
    assert_int_equal(number, 7);
    close_all(&a);
    close_all(&b);
    yoke_context_destroy(context);
}

/* Two devices and two queues: each has its time line, the host waits only where it is told to. */
static void what_overlaps_takes_the_longest_way(void **state)
{
    (void)state;
    failing memory = {0};
    static char bytes[4096];
    yoke_context *context = machine("{\"name\": \"m\", \"devices\": ["
                                    "{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1},"
                                    "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 0.25,"
                                    " \"copy\": {\"latency_s\": 2, \"bytes_per_s\": 1024}}]}",
                                    &memory);
    device a, b;
    yoke_event *written = NULL, *begin = NULL, *end = NULL;
    double seconds = 0;
    assert_int_equal(open_all(context, "sim:a", &a), YOKE_OK);
    assert_int_equal(open_all(context, "sim:b", &b), YOKE_OK);
    assert_int_equal(yoke_event_create(b.device, &written), YOKE_OK);
    assert_int_equal(yoke_event_create(b.device, &begin), YOKE_OK);
    assert_int_equal(yoke_event_create(b.device, &end), YOKE_OK);
    assert_int_equal(launch(&a, 0, 10), YOKE_OK);                                       /* a: 0 to 10 */
    assert_int_equal(yoke_queue_write(b.queues[0], b.buffer, 0, 4096, bytes), YOKE_OK); /* b.0: 0 to 6 */
    assert_int_equal(yoke_queue_record(b.queues[0], written), YOKE_OK);                 /* at 6 */
    assert_int_equal(launch(&b, 1, 4), YOKE_OK);                                        /* b.1: 0 to 1 */
    assert_int_equal(yoke_queue_record(b.queues[1], begin), YOKE_OK);                   /* at 1 */
    assert_int_equal(yoke_event_wait(written, b.queues[1]), YOKE_OK);
    assert_int_equal(launch(&b, 1, 8), YOKE_OK);                                       /* b.1: 6 to 8 */
    assert_int_equal(yoke_queue_record(b.queues[1], end), YOKE_OK);                    /* at 8 */
    assert_int_equal(yoke_queue_read(b.queues[1], b.buffer, 0, 1024, bytes), YOKE_OK); /* b.1: 8 to 11 */
    assert_true(yoke_device_clock_s(a.device) == 0);                                   /* the host did not wait */
    assert_int_equal(yoke_event_wait(written, NULL), YOKE_OK);
    assert_true(yoke_device_clock_s(b.device) == 6);
    assert_int_equal(yoke_event_elapsed_s(begin, end, &seconds), YOKE_OK);
    assert_true(seconds == 7);
    assert_true(yoke_device_clock_s(b.device) == 8);
    assert_int_equal(yoke_queue_finish(a.queues[0]), YOKE_OK);
    assert_true(yoke_device_clock_s(a.device) == 10);
    assert_int_equal(yoke_queue_finish(b.queues[1]), YOKE_OK);
    assert_true(yoke_device_clock_s(a.device) == 11);
    assert_int_equal(launch(&a, 1, 1), YOKE_OK); /* begins now, not at 0: the host was at 11 */
    assert_int_equal(yoke_queue_finish(a.queues[1]), YOKE_OK);
    assert_true(yoke_device_clock_s(a.device) == 12);
    assert_int_equal(yoke_event_wait(written, NULL), YOKE_OK);
    assert_true(yoke_device_clock_s(a.device) == 12); /* never back */
    yoke_event_destroy(written);
    yoke_event_destroy(begin);
    yoke_event_destroy(end);
    close_all(&a);
    close_all(&b);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

enum { DRAWS = 20000 };

/* Times of launches of one unit, 1 s without noise. */
static void draw(const char *text, double *seconds)
{
    failing memory = {0};
    yoke_context *context = machine(text, &memory);
    device d;
    yoke_event *events[2] = {NULL, NULL};
    assert_int_equal(open_all(context, "sim:a", &d), YOKE_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(yoke_event_create(d.device, &events[i]), YOKE_OK);
    for (int i = 0; i < DRAWS; i++) {
        assert_int_equal(yoke_queue_record(d.queues[0], events[0]), YOKE_OK);
        assert_int_equal(launch(&d, 0, 1), YOKE_OK);
        assert_int_equal(launch(&d, 0, 0), YOKE_OK); /* takes nothing, and draws nothing */
        assert_int_equal(yoke_queue_record(d.queues[0], events[1]), YOKE_OK);
        assert_int_equal(yoke_event_elapsed_s(events[0], events[1], &seconds[i]), YOKE_OK);
    }
    for (int i = 0; i < 2; i++) yoke_event_destroy(events[i]);
    close_all(&d);
    yoke_context_destroy(context);
}

static void noise_is_normal_and_seeded(void **state)
{
    (void)state;
    static double first[DRAWS], again[DRAWS], other[DRAWS];
    const char *seven =
        "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"noise\": 0.05, \"seed\": 7}]}";
    const char *eight =
        "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"noise\": 0.05, \"seed\": 8}]}";
    draw(seven, first);
    draw(seven, again);
    draw(eight, other);
    assert_memory_equal(first, again, sizeof first);
    double mean = 0, square = 0, product = 0, beyond = 0, neighbours = 0;
    for (int i = 0; i < DRAWS; i++) {
        double z = (first[i] - 1) / 0.05;
        mean += z / DRAWS;
        square += z * z / DRAWS;
        product += z * (other[i] - 1) / 0.05 / DRAWS;
        beyond += fabs(z) > 1.959964 ? 1.0 / DRAWS : 0;
        if (i > 0) neighbours += z * (first[i - 1] - 1) / 0.05 / DRAWS;
    }
    /* Six standard deviations of each mean. */
    const double n = DRAWS;
    assert_true(fabs(mean) < 6 / sqrt(n));
    assert_true(fabs(square - 1) < 6 * sqrt(2 / n));
    assert_true(fabs(product) < 6 / sqrt(n));
    assert_true(fabs(neighbours) < 6 / sqrt(n));
    assert_true(fabs(beyond - 0.05) < 6 * sqrt(0.05 * 0.95 / n));
}

/* One after the other, every call of the driver fails: a status, no crash, nothing left. */
static yoke_status everything(yoke_context *context, int64_t *number)
{
    device d;
    yoke_event *event = NULL, *end = NULL;
    void *host = NULL;
    double seconds = 0;
    int64_t zero = 0;
    yoke_status status = open_all(context, "sim:a", &d);
    if (status == YOKE_OK) status = yoke_event_create(d.device, &event);
    if (status == YOKE_OK) status = yoke_event_create(d.device, &end);
    if (status == YOKE_OK) status = yoke_host_allocate(d.device, 64, &host);
    if (status == YOKE_OK) status = yoke_queue_clear(d.queues[0], d.buffer, 0, 64);
    if (status == YOKE_OK) status = yoke_queue_write(d.queues[0], d.buffer, 8, 8, &zero);
    if (status == YOKE_OK) status = yoke_queue_record(d.queues[0], event);
    if (status == YOKE_OK) status = yoke_event_wait(event, d.queues[0]);
    if (status == YOKE_OK) status = launch(&d, 0, 5);
    if (status == YOKE_OK) status = yoke_queue_read(d.queues[0], d.buffer, 0, 8, number);
    if (status == YOKE_OK) status = yoke_queue_call(d.queues[0], add_two, number, 5);
    if (status == YOKE_OK) status = yoke_queue_record(d.queues[0], end);
    if (status == YOKE_OK) status = yoke_event_wait(end, NULL);
    if (status == YOKE_OK) status = yoke_event_elapsed_s(event, end, &seconds);
    if (status == YOKE_OK) status = yoke_queue_finish(d.queues[0]);
    yoke_event_destroy(event);
    yoke_event_destroy(end);
    yoke_host_release(d.device, host);
    close_all(&d);
    return status;
}

static void fail_everywhere(const char *kind, yoke_status with)
{
    yoke_status status = with;
    int at = 0;
    while (status != YOKE_OK) {
        char text[512];
        failing memory = {0};
        int64_t number = 0;
        at++;
        snprintf(text, sizeof text,
                 "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"fault\": {\"call\": %d, "
                 "\"kind\": "
                 "\"%s\"}}]}",
                 at, kind);
        yoke_context *context = machine(text, &memory);
        status = everything(context, &number);
        assert_true(status == YOKE_OK || status == with);
        if (status == with) assert_non_null(strstr(yoke_last_error(context), "as the machine file prescribes"));
        if (status == YOKE_OK) assert_int_equal(number, 3);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
    }
    /* Of open_all and of `everything`; the one after them finishes a queue that goes, which tells nobody. */
    assert_int_equal(at, 5 + 14 + 1);
}

static void a_device_can_be_lost_at_every_call(void **state)
{
    (void)state;
    fail_everywhere("lost", YOKE_ERROR_DEVICE);
}

static void memory_can_be_full_at_every_call(void **state)
{
    (void)state;
    fail_everywhere("memory", YOKE_ERROR_DEVICE_MEMORY);
}

static void memory_is_as_large_as_the_file_says(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context =
        machine("{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"gpu\", \"seconds_per_unit\": 1, \"memory_bytes\": 5000}]}",
                &memory);
    device d;
    yoke_buffer *buffer = NULL;
    int64_t unused = 0, all = 0;
    assert_int_equal(open_all(context, "sim:a", &d), YOKE_OK);
    assert_int_equal(yoke_device_memory(d.device, &unused, &all), YOKE_OK);
    assert_int_equal(all, 5000);
    assert_int_equal(unused, 904);
    assert_int_equal(yoke_buffer_create(d.device, 905, &buffer), YOKE_ERROR_DEVICE_MEMORY);
    assert_int_equal(yoke_buffer_create(d.device, 904, &buffer), YOKE_OK);
    yoke_buffer_destroy(buffer);
    close_all(&d);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_launch_takes_the_time_of_its_units), cmocka_unit_test(the_computing_is_real),
    cmocka_unit_test(what_overlaps_takes_the_longest_way),  cmocka_unit_test(noise_is_normal_and_seeded),
    cmocka_unit_test(a_device_can_be_lost_at_every_call),   cmocka_unit_test(memory_can_be_full_at_every_call),
    cmocka_unit_test(memory_is_as_large_as_the_file_says),
};

UNIT_MAIN(tests, NULL, NULL)
