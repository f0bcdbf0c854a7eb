/* Queues and events. */
#include <math.h>

#include "suite.h"

enum { COUNT = 1003 };

static void launch_double_and_one(suite *s, yoke_queue *queue, yoke_buffer *y)
{
    yoke_argument arguments[] = {yoke_argument_int64(COUNT), yoke_argument_buffer(y)};
    OK(s, yoke_queue_launch(queue, suite_function(s, "double_and_one"), 7, 16, COUNT, arguments, 2));
}

static void expect_all(const int64_t *values, int64_t expected)
{
    for (int i = 0; i < COUNT; i++) assert_int_equal(values[i], expected);
}

static void operations_are_done_in_order(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT], after[5][COUNT];
    yoke_buffer *y = suite_buffer(s, sizeof zeros, zeros);
    for (int round = 0; round < 5; round++) {
        /* More operations than any ring of a queue holds, without waiting. */
        for (int i = 0; i < 40; i++) {
            OK(s, yoke_queue_clear(s->queue, y, 0, sizeof zeros));
            for (int k = 0; k <= round; k++) launch_double_and_one(s, s->queue, y);
        }
        OK(s, yoke_queue_read(s->queue, y, 0, sizeof zeros, after[round]));
    }
    OK(s, yoke_queue_finish(s->queue));
    for (int round = 0; round < 5; round++) expect_all(after[round], ((int64_t)2 << round) - 1);
    yoke_buffer_destroy(y);
}

static void many_launches_are_each_done_once(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT], after[COUNT];
    yoke_buffer *y = suite_buffer(s, sizeof zeros, zeros);
    for (int i = 0; i < 62; i++) launch_double_and_one(s, s->queue, y);
    suite_read(s, y, sizeof after, after);
    expect_all(after, ((int64_t)1 << 62) - 1);
    yoke_buffer_destroy(y);
}

static void an_inline_queue_gives_the_same(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT], after[COUNT];
    yoke_queue *queue = NULL;
    OK(s, yoke_queue_create(s->device, YOKE_QUEUE_INLINE, &queue));
    yoke_buffer *y = suite_buffer(s, sizeof zeros, zeros);
    for (int i = 0; i < 20; i++) launch_double_and_one(s, queue, y);
    OK(s, yoke_queue_read(queue, y, 0, sizeof after, after));
    OK(s, yoke_queue_finish(queue));
    expect_all(after, ((int64_t)1 << 20) - 1);
    yoke_queue_destroy(queue);
    yoke_buffer_destroy(y);
    FAILS(s, YOKE_ERROR_ARGUMENT, "flags", yoke_queue_create(s->device, 64, &queue));
}

/* A number goes to and fro between two queues; each waits for the other's event, which is recorded again and again. */
static void two_queues_wait_for_each_others_events(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT], after[COUNT];
    yoke_queue *queues[2] = {NULL, NULL};
    yoke_event *events[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        OK(s, yoke_queue_create(s->device, 0, &queues[i]));
        OK(s, yoke_event_create(s->device, &events[i]));
    }
    yoke_buffer *y = suite_buffer(s, sizeof zeros, zeros);
    for (int i = 0; i < 60; i++) {
        OK(s, yoke_event_wait(events[(i + 1) % 2], queues[i % 2])); /* the first one was never recorded: no wait */
        launch_double_and_one(s, queues[i % 2], y);
        OK(s, yoke_queue_record(queues[i % 2], events[i % 2]));
    }
    OK(s, yoke_event_wait(events[1], NULL));
    suite_read(s, y, sizeof after, after);
    expect_all(after, ((int64_t)1 << 60) - 1);
    for (int i = 0; i < 2; i++) {
        yoke_queue_destroy(queues[i]);
        yoke_event_destroy(events[i]);
    }
    yoke_buffer_destroy(y);
}

static void a_read_is_done_when_its_event_is_reached(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT], after[COUNT];
    yoke_event *event = NULL;
    OK(s, yoke_event_create(s->device, &event));
    OK(s, yoke_event_wait(event, NULL)); /* never recorded */
    yoke_buffer *y = suite_buffer(s, sizeof zeros, zeros);
    for (int i = 1; i <= 10; i++) {
        launch_double_and_one(s, s->queue, y);
        OK(s, yoke_queue_read(s->queue, y, 0, sizeof after, after));
        OK(s, yoke_queue_record(s->queue, event));
        OK(s, yoke_event_wait(event, NULL));
        expect_all(after, ((int64_t)1 << i) - 1);
    }
    yoke_event_destroy(event);
    yoke_buffer_destroy(y);
}

/* Two queues, of which nobody knows which one is done first: both are in the end, and then their results are there. */
static void a_caller_waits_for_whichever_event_is_first(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT], after[COUNT];
    yoke_queue *queues[2] = {NULL, NULL};
    yoke_event *events[2] = {NULL, NULL};
    yoke_buffer *y[2] = {NULL, NULL};
    int reached[2] = {0, 0}, any = 0;
    for (int i = 0; i < 2; i++) {
        OK(s, yoke_queue_create(s->device, 0, &queues[i]));
        OK(s, yoke_event_create(s->device, &events[i]));
        y[i] = suite_buffer(s, sizeof zeros, zeros);
    }
    OK(s, yoke_event_wait_any(events, 2, reached)); /* never recorded */
    assert_true(reached[0] && reached[1]);
    for (int k = 1; k <= 5; k++) {
        for (int i = 0; i < 2; i++) {
            launch_double_and_one(s, queues[i], y[i]);
            OK(s, yoke_queue_record(queues[i], events[i]));
        }
        OK(s, yoke_event_wait_any(events, 2, reached));
        any = reached[0] || reached[1];
        assert_true(any);
        while (!reached[0] || !reached[1]) OK(s, yoke_event_wait_any(&events[reached[0]], 1, &reached[reached[0]]));
    }
    for (int i = 0; i < 2; i++) {
        OK(s, yoke_queue_finish(queues[i]));
        suite_read(s, y[i], sizeof after, after);
        expect_all(after, 31);
        yoke_queue_destroy(queues[i]);
        yoke_event_destroy(events[i]);
        yoke_buffer_destroy(y[i]);
    }
}

static void times_are_finite_and_in_order(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT];
    yoke_event *events[3] = {NULL, NULL, NULL};
    double first_s = NAN, second_s = NAN, both_s = NAN, again_s = NAN;
    for (int i = 0; i < 3; i++) OK(s, yoke_event_create(s->device, &events[i]));
    yoke_buffer *y = suite_buffer(s, sizeof zeros, zeros);
    double before_s = yoke_device_clock_s(s->device);
    for (int i = 0; i < 3; i++) {
        OK(s, yoke_queue_record(s->queue, events[i]));
        for (int k = 0; k < 10; k++) launch_double_and_one(s, s->queue, y);
    }
    OK(s, yoke_event_elapsed_s(events[0], events[1], &first_s));
    OK(s, yoke_event_elapsed_s(events[1], events[2], &second_s));
    OK(s, yoke_event_elapsed_s(events[0], events[2], &both_s));
    OK(s, yoke_event_elapsed_s(events[0], events[1], &again_s));
    OK(s, yoke_queue_finish(s->queue));
    double passed_s = yoke_device_clock_s(s->device) - before_s;
    assert_true(isfinite(first_s) && isfinite(second_s) && isfinite(both_s) && isfinite(passed_s));
    assert_true(first_s >= 0 && second_s >= 0 && passed_s >= 0);
    assert_true(fabs(first_s + second_s - both_s) <= 1e-6 + 1e-3 * both_s); /* drivers round times, CUDA's to half a microsecond */
    assert_true(first_s == again_s);
    for (int i = 0; i < 3; i++) yoke_event_destroy(events[i]);
    yoke_buffer_destroy(y);
}

static void a_time_needs_recorded_events(void **state)
{
    suite *s = *state;
    yoke_event *recorded = NULL, *other = NULL;
    double seconds = 42;
    OK(s, yoke_event_create(s->device, &recorded));
    OK(s, yoke_event_create(s->device, &other));
    OK(s, yoke_queue_record(s->queue, recorded));
    FAILS(s, YOKE_ERROR_ARGUMENT, "never recorded", yoke_event_elapsed_s(recorded, other, &seconds));
    FAILS(s, YOKE_ERROR_ARGUMENT, "never recorded", yoke_event_elapsed_s(other, recorded, &seconds));
    assert_true(seconds == 42);
    OK(s, yoke_event_elapsed_s(recorded, recorded, &seconds));
    assert_true(seconds == 0);
    yoke_event_destroy(recorded);
    yoke_event_destroy(other);
}

/* Work that is under way when its queue goes is done; what it used may go right after. */
static void a_queue_is_finished_before_it_goes(void **state)
{
    suite *s = *state;
    static int64_t zeros[COUNT], after[COUNT];
    for (int round = 0; round < 5; round++) {
        yoke_queue *queue = NULL;
        OK(s, yoke_queue_create(s->device, 0, &queue));
        yoke_buffer *y = suite_buffer(s, sizeof zeros, zeros);
        for (int i = 0; i < 30; i++) launch_double_and_one(s, queue, y);
        OK(s, yoke_queue_read(queue, y, 0, sizeof after, after));
        yoke_queue_destroy(queue);
        expect_all(after, ((int64_t)1 << 30) - 1);
        yoke_buffer_destroy(y);
    }
}

static void destroying_nothing_is_nothing(void **state)
{
    (void)state;
    yoke_queue_destroy(NULL);
    yoke_event_destroy(NULL);
    yoke_buffer_destroy(NULL);
    yoke_program_destroy(NULL);
    yoke_device_close(NULL);
}

int suite_run_queues(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_done_in_order),
        cmocka_unit_test(many_launches_are_each_done_once),
        cmocka_unit_test(an_inline_queue_gives_the_same),
        cmocka_unit_test(two_queues_wait_for_each_others_events),
        cmocka_unit_test(a_read_is_done_when_its_event_is_reached),
        cmocka_unit_test(a_caller_waits_for_whichever_event_is_first),
        cmocka_unit_test(times_are_finite_and_in_order),
        cmocka_unit_test(a_time_needs_recorded_events),
        cmocka_unit_test(a_queue_is_finished_before_it_goes),
        cmocka_unit_test(destroying_nothing_is_nothing),
    };
    return cmocka_run_group_tests_name("queues", tests, suite_open, suite_close);
}
