/* The meters of a simulated machine, through the public interface: what they show is the machine file's arithmetic, and says what it is. */
#include <math.h>

#include "device/machine_text.h"
#include "run/machine/list.h"
#include "unit.h"
#include "yoke/yoke.h"

enum { MAX_METERS = 8 };

static void add_one(const yoke_group *group, void *const *arguments)
{
    (void)group;
    (void)arguments;
}

static const yoke_host_kernel kernels[] = {{"add_one", add_one}};
static const yoke_program_source source = {.name = "one kernel", .host_kernels = kernels, .num_host_kernels = 1};

typedef struct fixture {
    failing memory;
    yoke_context *context;
    yoke_device *device;
    yoke_queue *queue;
    yoke_buffer *buffer;
    yoke_program *program;
    yoke_function *function;
    yoke_meters *meter;
    const yoke_meter_info *infos;
    int64_t count;
} fixture;

static void read_machine(fixture *f, const char *text)
{
    *f = (fixture){.memory = {0}};
    f->context = machine(text, &f->memory);
}

static void open_all(fixture *f, const char *text, const char *device)
{
    read_machine(f, text);
    assert_int_equal(yoke_device_open(f->context, device, &f->device), YOKE_OK);
    assert_int_equal(yoke_queue_create(f->device, 0, &f->queue), YOKE_OK);
    assert_int_equal(yoke_buffer_create(f->device, 1000, &f->buffer), YOKE_OK);
    assert_int_equal(yoke_program_create(f->device, &source, &f->program), YOKE_OK);
    assert_int_equal(yoke_program_function(f->program, "add_one", &f->function), YOKE_OK);
    yoke_status status = yoke_meters_open(f->context, NULL, &f->meter);
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(f->context));
    f->infos = f->meter->infos;
    f->count = f->meter->count;
    assert_true(f->count <= MAX_METERS);
}

static void close_all(fixture *f)
{
    yoke_meters_close(f->meter);
    yoke_program_destroy(f->program);
    yoke_buffer_destroy(f->buffer);
    yoke_queue_destroy(f->queue);
    yoke_device_close(f->device);
    yoke_context_destroy(f->context);
    assert_int_equal(f->memory.outstanding, 0);
}

static void work(fixture *f, int64_t units)
{
    assert_int_equal(yoke_queue_launch(f->queue, f->function, 1, 1, units, NULL, 0), YOKE_OK);
    assert_int_equal(yoke_queue_finish(f->queue), YOKE_OK);
}

static void expect(double found, double expected, const char *what)
{
    if (!(fabs(found - expected) <= 1e-11 * fabs(expected))) fail_msg("%s: %.17g instead of %.17g", what, found, expected);
}

#define DEVICE_A                                                                                                         \
    "{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"copy\": {\"latency_s\": 1, \"bytes_per_s\": 100}," \
    " \"power\": {\"idle_w\": 10, \"busy_w\": 100, \"copy_w\": 5}"
#define MACHINE                                                                                                             \
    "{\"name\": \"m\", \"host\": {\"idle_w\": 20}, \"dram\": {\"idle_w\": 1, \"busy_w\": 8}, \"devices\": [" DEVICE_A "}, " \
    "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1, \"power\": {\"idle_w\": 50, \"busy_w\": 300}},"         \
    "{\"name\": \"c\", \"class\": \"gpu\", \"seconds_per_unit\": 1}]}"

static void every_power_has_a_meter_and_all_are_counted(void **state)
{
    (void)state;
    static const char *const names[] = {"sim:a", "sim:b", "sim:host", "sim:dram"};
    fixture f;
    open_all(&f, MACHINE, "sim:a");
    assert_int_equal(f.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(f.infos[i].name, names[i]);
        assert_string_equal(f.infos[i].kind, "sim");
        assert_string_equal(f.infos[i].covers, names[i]);
        assert_int_equal(f.infos[i].source, YOKE_ENERGY_SIMULATED);
        assert_true(f.infos[i].usable && f.infos[i].counted && !f.infos[i].integrated);
        assert_non_null(strstr(f.infos[i].description, "machine m"));
    }
    yoke_meter_info *list = NULL;
    int64_t count = 0, found = 0;
    assert_int_equal(yoke_meters_list(f.context, NULL, &list, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++) found += strcmp(list[i].kind, "sim") == 0 && list[i].counted;
    for (int64_t i = 0; i < count; i++) assert_true(list[i].counted == 0 || strcmp(list[i].kind, "sim") == 0);
    assert_int_equal(found, 4);
    /* What is not open is shown beside what is, with its reason. */
    assert_int_equal(f.meter->count + f.meter->num_others, count);
    for (int64_t i = 0; i < f.meter->num_others; i++) {
        const yoke_meter_info *other = &f.meter->others[i];
        assert_string_not_equal(other->kind, "sim");
        assert_true(!other->counted && (other->usable || other->why_not[0] != '\0'));
        for (found = 0; found < count && strcmp(list[found].name, other->name) != 0; found++) continue;
        assert_true(found < count);
    }
    yoke_release(f.context, list);
    close_all(&f);
}

static void a_region_is_the_arithmetic_of_the_file(void **state)
{
    (void)state;
    fixture f;
    yoke_region *outer = NULL, *inner = NULL;
    yoke_energy energies[MAX_METERS], total;
    double seconds = 0;
    open_all(&f, MACHINE, "sim:a");
    work(&f, 7); /* before the region */
    assert_int_equal(yoke_region_begin(f.meter, &outer), YOKE_OK);
    work(&f, 30);
    assert_int_equal(yoke_region_begin(f.meter, &inner), YOKE_OK);
    assert_int_equal(yoke_machine_sleep(f.context, 12), YOKE_OK);
    char bytes[900] = {0};
    assert_int_equal(yoke_queue_write(f.queue, f.buffer, 0, 900, bytes), YOKE_OK); /* 10 s */
    assert_int_equal(yoke_queue_finish(f.queue), YOKE_OK);
    assert_int_equal(yoke_region_end(inner, &seconds, energies, &total), YOKE_OK);
    assert_true(seconds == 22);
    expect(energies[0].value_j, 22 * 10 + 10 * 5, "a");
    expect(energies[1].value_j, 22 * 50, "b, idle");
    expect(energies[2].value_j, 22 * 20, "host");
    expect(energies[3].value_j, 22, "dram");
    expect(total.value_j, 22 * 81 + 50, "total");
    assert_int_equal(total.kind, YOKE_ENERGY_SIMULATED);
    assert_true(total.uncertainty_j >= 0 && total.uncertainty_j <= 1e-6 * total.value_j);
    assert_int_equal(yoke_region_end(outer, &seconds, energies, &total), YOKE_OK);
    assert_true(seconds == 52);
    expect(energies[0].value_j, 52 * 10 + 30 * 90 + 10 * 5, "a");
    expect(energies[3].value_j, 52 + 30 * 7, "dram");
    expect(total.value_j, 52 * 81 + 30 * (90 + 7) + 50, "total");
    close_all(&f);
}

/* Beside the host's power where that is described, else on a meter of its own. */
static void host_overhead_is_metered(void **state)
{
    (void)state;
    for (int described = 0; described < 2; described++) {
        fixture f;
        yoke_region *region = NULL;
        yoke_energy energies[MAX_METERS], total;
        open_all(&f,
                 described
                     ? "{\"name\": \"m\", \"hosting_w\": 30, \"host\": {\"idle_w\": 20}, \"devices\": [{\"name\": \"b\", \"class\": "
                       "\"gpu\", \"seconds_per_unit\": 1}]}"
                     : "{\"name\": \"m\", \"hosting_w\": 30, \"devices\": [{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": "
                       "1, \"power\": {\"idle_w\": 50, \"busy_w\": 300}}]}",
                 "sim:b");
        int64_t own = f.count - 1;
        assert_int_equal(f.count, described ? 1 : 2);
        assert_string_equal(f.infos[own].name, described ? "sim:host" : "sim:hosting");
        assert_true(f.infos[own].counted);
        assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
        assert_int_equal(yoke_machine_sleep(f.context, 5), YOKE_OK);
        work(&f, 8);
        assert_int_equal(yoke_region_end(region, NULL, energies, &total), YOKE_OK);
        expect(energies[own].value_j, 8 * 30 + (described ? 13 * 20 : 0), "host");
        expect(total.value_j, described ? 8 * 30 + 13 * 20 : 8 * 30 + 5 * 50 + 8 * 300, "total");
        close_all(&f);
    }
}

static void a_region_without_length_has_no_energy(void **state)
{
    (void)state;
    fixture f;
    yoke_region *region = NULL;
    yoke_energy total;
    double seconds = 1;
    open_all(&f, MACHINE, "sim:a");
    assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
    assert_int_equal(yoke_region_end(region, &seconds, NULL, &total), YOKE_OK);
    assert_true(seconds == 0);
    assert_true(isnan(total.value_j) || total.value_j == 0); /* nothing in no time, or no value */
    close_all(&f);
}

/* 1000 s at 10 W and 100 W on a counter that starts again every 16 J: thousands of times within one wait. */
static void counters_may_wrap_within_one_wait(void **state)
{
    (void)state;
    fixture f;
    yoke_region *region = NULL;
    yoke_energy energy;
    open_all(&f,
             "{\"name\": \"m\", \"devices\": [" DEVICE_A
             ", \"meter\": {\"period_s\": 0.0009765625, \"resolution_j\": 0.00006103515625, \"wrap_j\": 16}}]}",
             "sim:a");
    assert_true(f.infos[0].wrap_j == 16 && f.infos[0].resolution_j == 0x1p-14);
    work(&f, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
        if (k != 1) assert_int_equal(yoke_machine_sleep(f.context, 1000), YOKE_OK);
        if (k != 0) work(&f, 1000);
        double expected = k == 0 ? 1e4 : k == 1 ? 1e5 : 1.1e5;
        assert_int_equal(yoke_region_end(region, NULL, &energy, NULL), YOKE_OK);
        if (isnan(energy.value_j)) fail_msg("%s", energy.why_not);
        if (!(fabs(energy.value_j - expected) <= energy.uncertainty_j)) fail_msg("%.17g +- %g", energy.value_j, energy.uncertainty_j);
        assert_true(energy.uncertainty_j < 0.5);
    }
    close_all(&f);
}

/* Less than a count is no energy, and never a zero. */
static void what_is_less_than_a_count_has_no_value(void **state)
{
    (void)state;
    fixture f;
    yoke_region *region = NULL;
    yoke_energy energy;
    open_all(&f, "{\"name\": \"m\", \"devices\": [" DEVICE_A ", \"meter\": {\"resolution_j\": 1000}}]}", "sim:a");
    assert_true(f.infos[0].resolution_j == 1000 && isnan(f.infos[0].wrap_j));
    assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
    assert_int_equal(yoke_machine_sleep(f.context, 50), YOKE_OK); /* 500 J */
    assert_int_equal(yoke_region_end(region, NULL, &energy, NULL), YOKE_OK);
    assert_true(isnan(energy.value_j) && energy.why_not[0] != '\0');
    assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
    work(&f, 1000); /* 100 000 J */
    assert_int_equal(yoke_region_end(region, NULL, &energy, NULL), YOKE_OK);
    assert_true(fabs(energy.value_j - 1e5) <= energy.uncertainty_j && energy.uncertainty_j <= 2100);
    assert_true(fmod(energy.value_j, 1000) == 0);
    close_all(&f);
}

static void a_period_makes_short_regions_unknown_and_long_ones_uncertain(void **state)
{
    (void)state;
    fixture f;
    yoke_region *region = NULL;
    yoke_energy energy;
    open_all(&f, "{\"name\": \"m\", \"devices\": [" DEVICE_A ", \"meter\": {\"period_s\": 1}}]}", "sim:a");
    assert_true(f.infos[0].period_s == 1);
    work(&f, 10);
    assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
    assert_int_equal(yoke_machine_sleep(f.context, 0.125), YOKE_OK);
    assert_int_equal(yoke_region_end(region, NULL, &energy, NULL), YOKE_OK);
    assert_true(isnan(energy.value_j) && energy.why_not[0] != '\0');
    for (int k = 1; k <= 80; k++) { /* idle, then busy, each at any phase of the period */
        double length = 50.0 + k % 7;
        int busy = k > 40;
        if (k == 41) work(&f, 20);
        assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
        if (busy)
            work(&f, (int64_t)length);
        else
            assert_int_equal(yoke_machine_sleep(f.context, length += 0.375), YOKE_OK);
        assert_int_equal(yoke_region_end(region, NULL, &energy, NULL), YOKE_OK);
        double expected = length * (busy ? 100 : 10);
        if (!(fabs(energy.value_j - expected) <= energy.uncertainty_j && energy.uncertainty_j <= 116))
            fail_msg("%.17g +- %g instead of %g", energy.value_j, energy.uncertainty_j, expected);
    }
    close_all(&f);
}

static void a_gain_is_within_what_the_meter_states(void **state)
{
    (void)state;
    fixture f;
    yoke_region *region = NULL;
    yoke_energy energy;
    open_all(&f, "{\"name\": \"m\", \"devices\": [" DEVICE_A ", \"meter\": {\"gain\": 1.04, \"gain_error\": 0.05}}]}", "sim:a");
    assert_int_equal(yoke_region_begin(f.meter, &region), YOKE_OK);
    work(&f, 100);
    assert_int_equal(yoke_region_end(region, NULL, &energy, NULL), YOKE_OK);
    expect(energy.value_j, 10400, "with the gain");
    assert_true(fabs(energy.value_j - 10000) <= energy.uncertainty_j && energy.uncertainty_j <= 0.06 * energy.value_j);
    close_all(&f);
}

static void without_powers_there_is_no_simulated_meter(void **state)
{
    (void)state;
    fixture f;
    yoke_meter_info *list = NULL;
    int64_t count = 0;
    read_machine(&f, "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1}]}");
    assert_int_equal(yoke_meters_list(f.context, NULL, &list, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++) assert_string_not_equal(list[i].kind, "sim");
    yoke_release(f.context, list);
    yoke_context_destroy(f.context);
    assert_int_equal(f.memory.outstanding, 0);
}

static void memory_may_end_while_opening(void **state)
{
    (void)state;
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t at = 0;
    while (status == YOKE_ERROR_MEMORY) {
        fixture f;
        read_machine(&f, MACHINE);
        f.memory.fail_at = f.memory.calls + ++at;
        status = yoke_meters_open(f.context, NULL, &f.meter);
        f.memory.fail_at = 0;
        if (status == YOKE_OK) yoke_meters_close(f.meter);
        yoke_context_destroy(f.context);
        assert_int_equal(f.memory.outstanding, 0);
    }
    assert_int_equal(status, YOKE_OK);
    assert_true(at > 5);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_power_has_a_meter_and_all_are_counted),
    cmocka_unit_test(a_region_is_the_arithmetic_of_the_file),
    cmocka_unit_test(host_overhead_is_metered),
    cmocka_unit_test(a_region_without_length_has_no_energy),
    cmocka_unit_test(counters_may_wrap_within_one_wait),
    cmocka_unit_test(what_is_less_than_a_count_has_no_value),
    cmocka_unit_test(a_period_makes_short_regions_unknown_and_long_ones_uncertain),
    cmocka_unit_test(a_gain_is_within_what_the_meter_states),
    cmocka_unit_test(without_powers_there_is_no_simulated_meter),
    cmocka_unit_test(memory_may_end_while_opening),
};

UNIT_MAIN(tests, NULL, NULL)
