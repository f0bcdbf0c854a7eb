/* What runs when on simulated devices: contention, copies and queues. */
#include <math.h>

#include "sim_fixture.h"

/* ------------------------------------------------------------------------------------------- contention */

#define THREE(own)                                                                                                        \
    "{\"name\": \"m\", \"contention\": 0.5, \"devices\": ["                                                               \
    "{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"power\": {\"idle_w\": 1, \"busy_w\": 3}, "          \
    " \"copy\": {\"latency_s\": 1, \"bytes_per_s\": 10}" own "},"                                                         \
    "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1, \"copy\": {\"latency_s\": 8, \"bytes_per_s\": 1e3}}," \
    "{\"name\": \"c\", \"class\": \"gpu\", \"seconds_per_unit\": 1}]}"

/* 10 s and 4 s of work begin together, each takes half as long again while the other works: to 6 s, and to 6 + (10 - 4). */
static void both_devices_suffer_whichever_was_asked_first(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        failing memory = {0};
        yoke_context *context = machine(THREE(""), &memory);
        device a = open_device(context, "sim:a"), b = open_device(context, "sim:b");
        assert_int_equal(first == 0 ? launch(&a, 0, 10) : launch(&b, 0, 4), YOKE_OK);
        assert_int_equal(first == 0 ? launch(&b, 0, 4) : launch(&a, 0, 10), YOKE_OK);
        finish(&b);
        assert_true(host_s(context) == 6);
        finish(&a);
        assert_true(host_s(context) == 12);
        expect(device_j(context, 0), 12 * 3, "busy for as long as it takes");
        close_device(&a);
        close_device(&b);
        close_all(context, &memory);
    }
}

static void only_the_time_together_costs(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(THREE(""), &memory);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b");
    assert_int_equal(launch(&a, 0, 10), YOKE_OK);
    wait_until(context, 3);
    assert_int_equal(launch(&b, 0, 4), YOKE_OK); /* 3 to 9 */
    wait_until(context, 8.5);
    finish(&a); /* 3 before, 4 of 6 together, 3 after */
    assert_true(host_s(context) == 12);
    assert_int_equal(launch(&b, 0, 2), YOKE_OK); /* alone again */
    finish(&b);
    assert_true(host_s(context) == 14);
    close_device(&a);
    close_device(&b);
    close_all(context, &memory);
}

static void a_device_may_suffer_more_than_the_machine_says(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(THREE(", \"contention\": 1"), &memory);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b"), c = open_device(context, "sim:c");
    assert_int_equal(launch(&a, 0, 10), YOKE_OK);
    assert_int_equal(launch(&b, 0, 4), YOKE_OK);
    assert_int_equal(launch(&c, 0, 2), YOKE_OK); /* two others cost no more than one: 0 to 3 */
    finish(&c);
    assert_true(host_s(context) == 3);
    finish(&b);
    assert_true(host_s(context) == 6);
    finish(&a); /* 3 of 6 together */
    assert_true(host_s(context) == 13);
    close_device(&a);
    close_device(&b);
    close_device(&c);
    close_all(context, &memory);
}

static void copies_and_queues_of_the_same_device_do_not_disturb(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(THREE(""), &memory);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b");
    assert_int_equal(launch(&a, 0, 10), YOKE_OK);
    assert_int_equal(launch(&a, 1, 7), YOKE_OK);
    assert_int_equal(copy(&b, 0, 1), YOKE_OK); /* 8 s */
    assert_int_equal(launch(&b, 1, 0), YOKE_OK);
    finish(&a);
    assert_true(host_s(context) == 10);
    close_device(&a);
    close_device(&b);
    close_all(context, &memory);
}

/*
 * Three copies of 4 s on queues of their own, two of them to the device: all at once, one by one, or one in each direction.  A launch of 5 s stands behind the first
 * one, and disturbs none.
 */
static void copies_wait_for_engines(void **state)
{
    (void)state;
    static const char *const engines[] = {"", ", \"engines\": 1", ", \"engines\": 2"};
    for (int i = 0; i < 3; i++) {
        char text[300];
        failing memory = {0};
        snprintf(text, sizeof text,
                 "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"gpu\", \"seconds_per_unit\": 1, "
                 "\"copy\": {\"latency_s\": 1, \"bytes_per_s\": 10%s}, \"power\": {\"idle_w\": 0, \"busy_w\": 100, \"copy_w\": 1}}]}",
                 engines[i]);
        yoke_context *context = machine(text, &memory);
        device a = open_device(context, "sim:a");
        assert_int_equal(copy(&a, 0, 30), YOKE_OK);
        assert_int_equal(copy(&a, 1, 30), YOKE_OK);
        assert_int_equal(copy_back(&a, 2, 30), YOKE_OK);
        assert_int_equal(launch(&a, 0, 5), YOKE_OK); /* behind the first copy */
        for (int queue = 2; queue >= 0; queue--) assert_int_equal(yoke_queue_finish(a.queues[queue]), YOKE_OK);
        expect(host_s(context), i == 1 ? 12 : 9, "the end");
        expect(device_j(context, 0), 500 + (i == 0 ? 4 : i == 1 ? 12 : 8), "copies draw power while they run");
        close_device(&a);
        close_all(context, &memory);
    }
}

enum { LAUNCHES = 600, DEVICES = 3 };

typedef struct interval {
    int device;
    double units, begin_s, end_s;
} interval;

/* Seconds of [begin_s, end_s] in which a launch runs on another device than `own`. */
static double disturbed_s(const interval *all, int count, int own, double begin_s, double end_s)
{
    double seconds = 0, at = begin_s;
    while (at < end_s) { /* from one change to the next */
        double next = end_s;
        int others = 0;
        for (int i = 0; i < count; i++) {
            if (all[i].begin_s > at) next = fmin(next, all[i].begin_s);
            if (all[i].end_s > at) next = fmin(next, all[i].end_s);
            others |= all[i].device != own && all[i].begin_s <= at && all[i].end_s > at;
        }
        if (others) seconds += next - at;
        at = next;
    }
    return seconds;
}

/* Random launches and waits; the times of events around each launch are its begin and its end. */
static void any_work_is_done_in_full_at_the_speed_that_the_others_leave(void **state)
{
    (void)state;
    static interval done[LAUNCHES];
    static yoke_event *events[LAUNCHES][2];
    static const char *const names[] = {"sim:a", "sim:b", "sim:c"};
    failing memory = {0};
    yoke_context *context = machine(THREE(", \"contention\": 0.3"), &memory);
    const double slows[] = {1.3, 1.5, 1.5};
    device all[DEVICES];
    yoke_event *zero[DEVICES];
    for (int i = 0; i < DEVICES; i++) {
        all[i] = open_device(context, names[i]);
        assert_int_equal(yoke_event_create(all[i].device, &zero[i]), YOKE_OK);
        assert_int_equal(yoke_queue_record(all[i].queues[0], zero[i]), YOKE_OK);
    }
    uint32_t random = 7;
    for (int k = 0; k < LAUNCHES; k++) {
        random = random * 1664525u + 1013904223u;
        int i = (int)(random >> 8) % DEVICES, queue = (int)(random >> 12) % QUEUES;
        done[k] = (interval){.device = i, .units = 1 + (random >> 20) % 50};
        for (int end = 0; end < 2; end++) {
            assert_int_equal(yoke_event_create(all[i].device, &events[k][end]), YOKE_OK);
            assert_int_equal(yoke_queue_record(all[i].queues[queue], events[k][end]), YOKE_OK);
            if (end == 0) assert_int_equal(launch(&all[i], queue, (int64_t)done[k].units), YOKE_OK);
        }
        if ((random >> 16) % 3 == 0) assert_int_equal(yoke_machine_sleep(context, (random >> 18) % 60), YOKE_OK);
        if ((random >> 16) % 7 == 0) assert_int_equal(yoke_queue_finish(all[i].queues[queue]), YOKE_OK);
    }
    for (int k = 0; k < LAUNCHES; k++) {
        int i = done[k].device;
        assert_int_equal(yoke_event_elapsed_s(zero[i], events[k][0], &done[k].begin_s), YOKE_OK);
        assert_int_equal(yoke_event_elapsed_s(zero[i], events[k][1], &done[k].end_s), YOKE_OK);
    }
    double together = 0;
    for (int k = 0; k < LAUNCHES; k++) {
        double length = done[k].end_s - done[k].begin_s;
        double disturbed = disturbed_s(done, LAUNCHES, done[k].device, done[k].begin_s, done[k].end_s);
        double work = length - disturbed + disturbed / slows[done[k].device];
        if (!(fabs(work - done[k].units) <= 1e-9 * done[k].units)) fail_msg("launch %d: %.17g of %g", k, work, done[k].units);
        together += disturbed;
    }
    assert_true(together > 1000);
    for (int k = 0; k < 2 * LAUNCHES; k++) yoke_event_destroy(events[k / 2][k % 2]);
    for (int i = 0; i < DEVICES; i++) {
        yoke_event_destroy(zero[i]);
        close_device(&all[i]);
    }
    close_all(context, &memory);
}

/* Of two devices the one that ends first, however often the caller asks; an event that nothing leads to does not keep it for ever. */
static void a_caller_waits_until_the_first_device_ends(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine("{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1},"
                                    "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1}]}",
                                    &memory);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b");
    yoke_event *events[2] = {NULL, NULL};
    int reached[2] = {0, 0};
    assert_int_equal(yoke_event_create(a.device, &events[0]), YOKE_OK);
    assert_int_equal(yoke_event_create(b.device, &events[1]), YOKE_OK);
    assert_int_equal(launch(&a, 0, 10), YOKE_OK);
    assert_int_equal(yoke_queue_record(a.queues[0], events[0]), YOKE_OK);
    for (int k = 1; k <= 3; k++) {
        assert_int_equal(launch(&b, 0, 3), YOKE_OK);
        assert_int_equal(yoke_queue_record(b.queues[0], events[1]), YOKE_OK);
        assert_int_equal(yoke_event_wait_any(events, 2, reached), YOKE_OK);
        assert_true(host_s(context) == 3 * k && !reached[0] && reached[1]);
    }
    assert_int_equal(yoke_event_wait_any(events, 1, reached), YOKE_OK);
    assert_true(host_s(context) == 10 && reached[0]);
    yoke_event_destroy(events[0]);
    yoke_event_destroy(events[1]);
    close_device(&a);
    close_device(&b);
    close_all(context, &memory);
}

/* Events are those of the moment when they were recorded, also where they are recorded again before that is reached. */
static void queues_wait_for_what_was_recorded_then(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(THREE(""), &memory);
    device a = open_device(context, "sim:a");
    yoke_event *event = NULL, *end = NULL;
    double seconds = 0;
    assert_int_equal(yoke_event_create(a.device, &event), YOKE_OK);
    assert_int_equal(yoke_event_create(a.device, &end), YOKE_OK);
    assert_int_equal(launch(&a, 0, 5), YOKE_OK); /* 0 to 5 */
    assert_int_equal(yoke_queue_record(a.queues[0], event), YOKE_OK);
    assert_int_equal(yoke_event_wait(event, a.queues[1]), YOKE_OK);
    assert_int_equal(launch(&a, 0, 20), YOKE_OK);
    assert_int_equal(yoke_queue_record(a.queues[0], event), YOKE_OK); /* again, at 25 */
    assert_int_equal(launch(&a, 1, 3), YOKE_OK);                      /* 5 to 8 */
    assert_int_equal(yoke_queue_record(a.queues[1], end), YOKE_OK);
    assert_int_equal(yoke_event_wait(end, NULL), YOKE_OK);
    assert_true(host_s(context) == 8);
    assert_int_equal(yoke_event_elapsed_s(end, event, &seconds), YOKE_OK);
    assert_true(seconds == 17 && host_s(context) == 25);
    assert_int_equal(yoke_event_wait(event, a.queues[2]), YOKE_OK); /* reached already */
    yoke_event_destroy(event);
    assert_int_equal(launch(&a, 2, 1), YOKE_OK);
    finish(&a);
    assert_true(host_s(context) == 26);
    yoke_event_destroy(end);
    close_device(&a);
    close_all(context, &memory);
}

/* ------------------------------------------------------------------------------------------------- everything */

#define EVERYTHING                                                                                                                     \
    "{\"name\": \"m\", \"hosting_w\": 13, \"contention\": 0.04, \"devices\": ["                                                        \
    "{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1e-6, \"noise\": 0.03, \"power\": {\"idle_w\": 90, \"busy_w\": 250}," \
    " \"clock\": {\"levels\": [{\"frequency_hz\": 1, \"seconds_per_unit\": 2e-6}, {\"frequency_hz\": 2}]}},"                           \
    "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 4e-7, \"noise\": 0.03, \"power\": {\"idle_w\": 60, \"busy_w\": 450}}]}"

static void run_everything(double found[4])
{
    failing memory = {0};
    yoke_context *context = machine(EVERYTHING, &memory);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b");
    for (int k = 0; k < 500; k++) {
        if (k % 50 == 0) set_level(context, k / 50 % 2);
        assert_int_equal(launch(&a, k % QUEUES, 1000 + k), YOKE_OK);
        assert_int_equal(launch(&b, k % QUEUES, 3000 - k), YOKE_OK);
        if (k % 3 == 0) finish(k % 2 ? &a : &b);
    }
    finish(&a);
    finish(&b);
    found[0] = host_s(context);
    found[1] = device_j(context, 0);
    found[2] = device_j(context, 1);
    found[3] = sim_energy_j(&sim_machine_of(context)->host, host_s(context));
    close_device(&a);
    close_device(&b);
    close_all(context, &memory);
}

static void the_same_is_the_same_to_the_bit(void **state)
{
    (void)state;
    double first[4], second[4];
    run_everything(first);
    run_everything(second);
    assert_memory_equal(first, second, sizeof first);
    for (int i = 0; i < 4; i++) assert_true(first[i] > 0);
}

/* A lost device's queue is destroyed without being finished: what it ran ends there. */
static void a_queue_that_is_given_up_stops(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context =
        machine("{\"name\": \"m\", \"contention\": 1, \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, "
                "\"power\": {\"idle_w\": 1, \"busy_w\": 3}, \"fault\": {\"call\": 11, \"kind\": \"lost\"}},"
                "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1}]}",
                &memory);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b"); /* 6 calls */
    yoke_event *event = NULL;
    assert_int_equal(yoke_event_create(a.device, &event), YOKE_OK);
    assert_int_equal(launch(&a, 0, 100), YOKE_OK);
    assert_int_equal(yoke_queue_record(a.queues[0], event), YOKE_OK);
    assert_int_equal(yoke_event_wait(event, a.queues[1]), YOKE_OK);
    assert_int_equal(launch(&a, 1, 5), YOKE_ERROR_DEVICE);
    assert_int_equal(launch(&b, 0, 10), YOKE_OK);
    wait_until(context, 4); /* 2 of 10 done */
    yoke_event_destroy(event);
    close_device(&a);
    finish(&b);
    assert_true(host_s(context) == 12);
    expect(device_j(context, 0), 4 * 3 + 8 * 1, "busy until it was given up");
    close_device(&b);
    close_all(context, &memory);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(both_devices_suffer_whichever_was_asked_first),
    cmocka_unit_test(only_the_time_together_costs),
    cmocka_unit_test(a_device_may_suffer_more_than_the_machine_says),
    cmocka_unit_test(copies_and_queues_of_the_same_device_do_not_disturb),
    cmocka_unit_test(copies_wait_for_engines),
    cmocka_unit_test(any_work_is_done_in_full_at_the_speed_that_the_others_leave),
    cmocka_unit_test(a_caller_waits_until_the_first_device_ends),
    cmocka_unit_test(queues_wait_for_what_was_recorded_then),
    cmocka_unit_test(the_same_is_the_same_to_the_bit),
    cmocka_unit_test(a_queue_that_is_given_up_stops),
};

UNIT_MAIN(tests, NULL, NULL)
