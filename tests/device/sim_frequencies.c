/* Frequencies of simulated devices, and what these and their hosts draw. */
#include <math.h>

#include "sim_fixture.h"

/* --------------------------------------------------------------------------------------------- frequencies */

#define LEVELS                                                                                                            \
    "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"start_s\": 2,"      \
    " \"power\": {\"idle_w\": 10, \"busy_w\": 100, \"copy_w\": 5}, \"copy\": {\"latency_s\": 1, \"bytes_per_s\": 10}, %s" \
    " \"clock\": {\"levels\": ["                                                                                          \
    "  {\"frequency_hz\": 1e9, \"seconds_per_unit\": [[0, 4], [10, 2]], \"power\": {\"idle_w\": 5, \"busy_w\": 50}},"     \
    "  {\"frequency_hz\": 15e8, \"start_s\": 0, \"power\": {\"idle_w\": 8, \"busy_w\": 70, \"copy_w\": 2}},"              \
    "  {\"frequency_hz\": 2e9}]}}]}"

static yoke_context *machine_with_levels(const char *more, failing *memory)
{
    char text[2048];
    snprintf(text, sizeof text, LEVELS, more);
    return machine(text, memory);
}

static void launches_have_the_frequency_that_they_begin_with(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine_with_levels("", &memory);
    device a = open_device(context, "sim:a");
    assert_int_equal(launch(&a, 0, 10), YOKE_OK); /* at the highest frequency: 0 to 12 at 100 W */
    assert_int_equal(launch(&a, 0, 20), YOKE_OK); /* asked for before the change, begins after it: 12 to 54 at 50 W */
    wait_until(context, 4);
    set_level(context, 0);
    expect(device_j(context, 0), 400, "under way");
    wait_until(context, 12);
    expect(device_j(context, 0), 1200, "what runs is not changed");
    finish(&a);
    assert_true(host_s(context) == 54);
    expect(device_j(context, 0), 1200 + 42 * 50, "at the lowest clock");
    wait_until(context, 60);
    expect(device_j(context, 0), 3300 + 6 * 5, "idle at it");
    assert_int_equal(launch(&a, 0, 5), YOKE_OK); /* 5 units between two points: 3 s each */
    finish(&a);
    assert_true(host_s(context) == 77);
    set_level(context, 1); /* has the device's own seconds a unit, and no start */
    wait_until(context, 80);
    expect(device_j(context, 0), 3330 + 17 * 50 + 3 * 8, "idle at the middle clock");
    assert_int_equal(launch(&a, 0, 7), YOKE_OK);
    assert_int_equal(copy(&a, 1, 30), YOKE_OK); /* 4 s */
    finish(&a);
    assert_true(host_s(context) == 87);
    expect(device_j(context, 0), 4204 + 7 * 70 + 4 * 2, "busy and copying at the middle clock");
    close_device(&a);
    close_all(context, &memory);
}

/* Two launches of two frequencies at once: the power of the one that began last until both are done. */
static void launches_of_two_frequencies_draw_what_the_later_one_draws(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine_with_levels("", &memory);
    device a = open_device(context, "sim:a");
    assert_int_equal(launch(&a, 0, 18), YOKE_OK); /* 0 to 20 */
    wait_until(context, 5);
    set_level(context, 1);
    assert_int_equal(launch(&a, 1, 4), YOKE_OK); /* 5 to 9 */
    wait_until(context, 30);
    expect(device_j(context, 0), 5 * 100 + 15 * 70 + 10 * 8, "both");
    close_device(&a);
    close_all(context, &memory);
}

static void a_slow_meter_shows_what_was_drawn_at_its_update(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine_with_levels("\"meter\": {\"period_s\": 8},", &memory);
    const sim_machine *all = sim_machine_of(context);
    const sim_domain *domain = &all->devices[0].domain;
    device a = open_device(context, "sim:a");
    static const int64_t levels[] = {0, 2, 1};
    static const double idle_w[] = {5, 10, 8};
    double drawn = 0, shown = 0, now = 0;
    for (int k = 0; k < 300; k++) { /* idle at one level after the other, second by second */
        set_level(context, levels[k / 5 % 3]);
        assert_int_equal(yoke_machine_sleep(context, 1), YOKE_OK);
        drawn += idle_w[k / 5 % 3];
        now += 1;
        if (fmod(now, 8) == 0) shown = drawn;
        expect(sim_energy_j(domain, all->host_s), drawn, "drawn");
        expect(sim_energy_shown_j(domain, all->host_s), shown, "shown");
    }
    close_device(&a);
    close_all(context, &memory);
}

/* -------------------------------------------------------------------------------------------------- host overhead */

#define WITH_OVERHEAD(host)                                                                                                \
    "{\"name\": \"m\", \"hosting_w\": 30, " host                                                                           \
    "\"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1}, {\"name\": \"b\", \"class\": \"gpu\", " \
    "\"seconds_per_unit\": 1, \"copy\": {\"latency_s\": 7, \"bytes_per_s\": 1e9}}, {\"name\": \"c\", \"class\": \"gpu\", " \
    "\"seconds_per_unit\": 1}]}"

static void host_overhead_is_drawn_while_only_gpus_work(void **state)
{
    (void)state;
    for (int described = 0; described < 2; described++) {
        failing memory = {0};
        yoke_context *context = machine(described ? WITH_OVERHEAD("\"host\": {\"idle_w\": 20}, ") : WITH_OVERHEAD(""), &memory);
        const sim_machine *all = sim_machine_of(context);
        double idle_w = described ? 20 : 0;
        device a = open_device(context, "sim:a"), b = open_device(context, "sim:b"), c = open_device(context, "sim:c");
        assert_int_equal(launch(&a, 0, 10), YOKE_OK); /* 0 to 10 */
        assert_int_equal(launch(&b, 0, 25), YOKE_OK); /* 0 to 25 */
        assert_int_equal(launch(&c, 0, 28), YOKE_OK); /* 0 to 28: one host for both */
        wait_until(context, 12);
        expect(sim_energy_j(&all->host, all->host_s), 12 * idle_w + 2 * 30, "the GPUs alone");
        assert_int_equal(launch(&a, 0, 2), YOKE_OK); /* 12 to 14 */
        finish(&c);
        assert_int_equal(copy(&b, 0, 100), YOKE_OK); /* hosts nothing */
        wait_until(context, 40);
        expect(sim_energy_j(&all->host, all->host_s), 40 * idle_w + (2 + 14) * 30, "all");
        close_device(&a);
        close_device(&b);
        close_device(&c);
        close_all(context, &memory);
    }
}

#define WITH_OVERHEADS                                                                                                              \
    "{\"name\": \"m\", \"hosting_w\": 30, \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1, \"clock\": " \
    "{\"levels\": ["                                                                                                                \
    "{\"frequency_hz\": 1, \"hosting_w\": 10}, {\"frequency_hz\": 2}, {\"frequency_hz\": 3, \"hosting_w\": 40}]}}, "                \
    "{\"name\": \"b\", \"class\": \"gpu\", \"seconds_per_unit\": 1}]}"

static void host_overhead_goes_with_the_frequency_of_the_cpu(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = machine(WITH_OVERHEADS, &memory);
    const sim_machine *all = sim_machine_of(context);
    device a = open_device(context, "sim:a"), b = open_device(context, "sim:b");
    set_level(context, 0);
    assert_int_equal(launch(&b, 0, 10), YOKE_OK); /* 0 to 10 */
    wait_until(context, 4);
    expect(sim_energy_j(&all->host, all->host_s), 4 * 10, "at its lowest frequency");
    set_level(context, 1);
    wait_until(context, 6);
    expect(sim_energy_j(&all->host, all->host_s), 4 * 10 + 2 * 30, "at one that has the machine's");
    set_level(context, 2);
    wait_until(context, 12);
    expect(sim_energy_j(&all->host, all->host_s), 4 * 10 + 2 * 30 + 4 * 40, "at its highest, and none while nothing works");
    expect(all->host.busy_w, 40, "the most that its meter may show");
    close_device(&a);
    close_device(&b);
    close_all(context, &memory);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(launches_have_the_frequency_that_they_begin_with),
    cmocka_unit_test(launches_of_two_frequencies_draw_what_the_later_one_draws),
    cmocka_unit_test(a_slow_meter_shows_what_was_drawn_at_its_update),
    cmocka_unit_test(host_overhead_is_drawn_while_only_gpus_work),
    cmocka_unit_test(host_overhead_goes_with_the_frequency_of_the_cpu),
};

UNIT_MAIN(tests, NULL, NULL)
