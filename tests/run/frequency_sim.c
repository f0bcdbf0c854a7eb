/* The frequencies of a simulated machine, through the public interface. */
#include <math.h>

#include "device/machine_text.h"
#include "run/machine/list.h"
#include "unit.h"

static void close_context(yoke_context *context, const failing *memory)
{
    yoke_context_destroy(context);
    assert_int_equal(memory->outstanding, 0);
}

#define MACHINE                                                                                                               \
    "{\"name\": \"m\", \"devices\": ["                                                                                        \
    "{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"power\": {\"idle_w\": 10, \"busy_w\": 100},"            \
    " \"clock\": {\"levels\": [{\"frequency_hz\": 1e9, \"seconds_per_unit\": 3, \"power\": {\"idle_w\": 5, \"busy_w\": 40}}," \
    "  {\"frequency_hz\": 15e8, \"seconds_per_unit\": 2}, {\"frequency_hz\": 2e9}]}},"                                        \
    "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1},"                                                         \
    "{\"name\": \"c\", \"class\": \"gpu\", \"seconds_per_unit\": 1, \"clock\": {\"levels\": [{\"frequency_hz\": 7e8}]}}]}"

static void nothing(void *user) { (void)user; }

/* Virtual seconds that 10 units take on sim:a. */
static double measure_s(yoke_context *context)
{
    yoke_device *device = NULL;
    yoke_queue *queue = NULL;
    assert_int_equal(yoke_device_open(context, "sim:a", &device), YOKE_OK);
    assert_int_equal(yoke_queue_create(device, 0, &queue), YOKE_OK);
    double begin_s = yoke_device_clock_s(device);
    assert_int_equal(yoke_queue_call(queue, nothing, NULL, 10), YOKE_OK);
    assert_int_equal(yoke_queue_finish(queue), YOKE_OK);
    double seconds = yoke_device_clock_s(device) - begin_s;
    yoke_queue_destroy(queue);
    yoke_device_close(device);
    return seconds;
}

static double current_hz(yoke_context *context)
{
    yoke_frequency_info *list = NULL;
    int64_t count = 0;
    assert_int_equal(yoke_frequencies_list(context, NULL, &list, &count), YOKE_OK);
    double hz = list[0].current_hz;
    yoke_release(context, list);
    return hz;
}

static void devices_with_levels_have_a_frequency_and_the_real_machine_none(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    yoke_frequency_info *list = NULL;
    int64_t count = 0;
    assert_int_equal(yoke_frequencies_list(context, NULL, &list, &count), YOKE_OK);
    assert_int_equal(count, 2);
    for (int64_t i = 0; i < count; i++) {
        assert_string_equal(list[i].kind, "sim");
        assert_true(list[i].settable && list[i].why_not[0] == '\0');
        assert_non_null(strstr(list[i].description, "machine m"));
    }
    assert_string_equal(list[0].name, "sim:a");
    assert_true(list[0].current_hz == 2e9 && list[0].min_hz == 1e9 && list[0].max_hz == 2e9);
    assert_int_equal(list[0].num_levels, 3);
    assert_true(list[0].levels_hz[0] == 1e9 && list[0].levels_hz[1] == 1.5e9 && list[0].levels_hz[2] == 2e9);
    assert_string_equal(list[1].name, "sim:c");
    assert_true(list[1].current_hz == 7e8 && list[1].num_levels == 1);
    yoke_release(context, list);
    close_context(context, &memory);
}

static void a_machine_without_levels_leaves_the_real_frequencies(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context =
        machine("{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1}]}", &memory);
    const yoke_frequency_options nowhere = {.sysroot = "/proc/self/fdinfo"};
    yoke_frequency_info *list = NULL;
    int64_t count = 0;
    assert_int_equal(yoke_frequencies_list(context, &nowhere, &list, &count), YOKE_OK);
    assert_true(count > 0);
    for (int64_t i = 0; i < count; i++) assert_string_not_equal(list[i].kind, "sim");
    yoke_release(context, list);
    close_context(context, &memory);
}

static void what_is_set_is_reached_at_once_and_restored_by_closing(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    yoke_frequencies *frequencies = NULL;
    double reached = 0;
    assert_true(measure_s(context) == 10);
    assert_int_equal(yoke_frequencies_open(context, NULL, &frequencies), YOKE_OK);
    assert_int_equal(frequencies->count, 2);
    assert_string_equal(frequencies->infos[0].name, "sim:a");
    assert_true(frequencies->infos[0].settable && frequencies->infos[0].num_levels == 3);
    assert_true(measure_s(context) == 10);
    assert_int_equal(yoke_frequency_set(frequencies, "sim:a", 1e9, &reached), YOKE_OK);
    assert_true(reached == 1e9 && measure_s(context) == 30 && current_hz(context) == 1e9);
    assert_int_equal(yoke_frequency_set(frequencies, "sim:a", 1.6e9, &reached), YOKE_OK); /* the nearest level */
    assert_true(reached == 1.5e9 && measure_s(context) == 20);
    assert_int_equal(yoke_frequency_set(frequencies, "sim:c", 7e8, NULL), YOKE_OK);
    yoke_frequencies_close(frequencies);
    assert_true(measure_s(context) == 10 && current_hz(context) == 2e9);
    /* Another set of frequencies begins where the first one left off, and a set that changed nothing restores nothing. */
    assert_int_equal(yoke_frequencies_open(context, NULL, &frequencies), YOKE_OK);
    assert_int_equal(yoke_frequency_set(frequencies, "sim:a", 1e9, NULL), YOKE_OK);
    yoke_frequencies *inner = NULL;
    assert_int_equal(yoke_frequencies_open(context, NULL, &inner), YOKE_OK);
    yoke_frequencies_close(inner);
    assert_true(current_hz(context) == 1e9);
    yoke_frequencies_close(frequencies);
    assert_true(current_hz(context) == 2e9);
    close_context(context, &memory);
}

static void joules_are_those_of_each_stretch(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    yoke_frequencies *frequencies = NULL;
    yoke_meters *meter = NULL;
    yoke_region *region = NULL;
    yoke_energy energy;
    double seconds = 0;
    assert_int_equal(yoke_meters_open(context, NULL, &meter), YOKE_OK);
    assert_int_equal(yoke_frequencies_open(context, NULL, &frequencies), YOKE_OK);
    assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
    assert_true(measure_s(context) == 10); /* at 100 W */
    assert_int_equal(yoke_frequency_set(frequencies, "sim:a", 1e9, NULL), YOKE_OK);
    assert_int_equal(yoke_machine_sleep(context, 7), YOKE_OK); /* at 5 W */
    assert_true(measure_s(context) == 30);                     /* at 40 W */
    yoke_frequencies_close(frequencies);
    assert_int_equal(yoke_machine_sleep(context, 3), YOKE_OK); /* at 10 W */
    assert_int_equal(yoke_region_end(region, &seconds, NULL, &energy), YOKE_OK);
    assert_true(seconds == 50);
    assert_true(fabs(energy.value_j - (1000 + 35 + 1200 + 30)) <= 1e-9);
    yoke_meters_close(meter);
    close_context(context, &memory);
}

static void what_cannot_be_set_is_named(void **state)
{
    (void)state;
    static const double wrong_hz[] = {0.5e9, 2.1e9, 0, -1e9, INFINITY, NAN};
    failing memory = {0};
    yoke_context *context = machine(MACHINE, &memory);
    yoke_frequencies *frequencies = NULL;
    const yoke_frequency_options hasty = {.settle_s = -1};
    assert_int_equal(yoke_frequencies_open(context, &hasty, &frequencies), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_frequencies_open(context, NULL, &frequencies), YOKE_OK);
    for (size_t i = 0; i < sizeof wrong_hz / sizeof wrong_hz[0]; i++) {
        assert_int_equal(yoke_frequency_set(frequencies, "sim:a", wrong_hz[i], NULL), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), "its range is 1 to 2 GHz"));
    }
    assert_int_equal(yoke_frequency_set(frequencies, "sim:b", 1e9, NULL), YOKE_ERROR_INPUT); /* has no frequency */
    assert_non_null(strstr(yoke_last_error(context), "there are: sim:a, sim:c"));
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 1e9, NULL), YOKE_ERROR_INPUT);
    assert_int_equal(yoke_frequency_set(frequencies, NULL, 1e9, NULL), YOKE_ERROR_ARGUMENT);
    assert_true(measure_s(context) == 10);
    yoke_frequencies_close(frequencies);
    close_context(context, &memory);
}

static void memory_may_end(void **state)
{
    (void)state;
    for (int listed = 0; listed < 2; listed++) {
        yoke_status status = YOKE_ERROR_MEMORY;
        int64_t at = 0;
        while (status == YOKE_ERROR_MEMORY) {
            failing memory = {0};
            yoke_frequencies *frequencies = NULL;
            yoke_frequency_info *list = NULL;
            int64_t count = 0;
            yoke_context *context = machine(MACHINE, &memory);
            memory.fail_at = memory.calls + ++at;
            status = listed ? yoke_frequencies_list(context, NULL, &list, &count) : yoke_frequencies_open(context, NULL, &frequencies);
            memory.fail_at = 0;
            if (status == YOKE_OK && listed) yoke_release(context, list);
            if (status == YOKE_OK && !listed) yoke_frequencies_close(frequencies);
            close_context(context, &memory);
        }
        assert_int_equal(status, YOKE_OK);
        assert_true(at > 3);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(devices_with_levels_have_a_frequency_and_the_real_machine_none),
    cmocka_unit_test(a_machine_without_levels_leaves_the_real_frequencies),
    cmocka_unit_test(what_is_set_is_reached_at_once_and_restored_by_closing),
    cmocka_unit_test(joules_are_those_of_each_stretch),
    cmocka_unit_test(what_cannot_be_set_is_named),
    cmocka_unit_test(memory_may_end),
};

UNIT_MAIN(tests, NULL, NULL)
