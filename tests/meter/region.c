/* Regions on the real clock, with the watching thread: nested, overlapping, from many threads. */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "context.h"

#include "base/failing.h"
#include "run/machine/list.h"
#include "scripted.h"

static void sleep_s(double seconds)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * fmod(seconds, 1))}, NULL);
}

/* A meter of so many watts from now on. */
static scripted_meter *add_moving(const char *name, meter_quantity quantity, double watts)
{
    scripted_meter *meter = scripted_add(name, quantity);
    meter->watts = watts;
    meter->sample.time_s = yoke_clock_s();
    return meter;
}

static meter_set *open_moving(double probe_s)
{
    static const meter_kind *const kinds[] = {&scripted_kind};
    const meter_site site = {.context = context, .root = "", .time = &scripted_real_time};
    const meter_set_options options = {.probe_s = probe_s};
    meter_set *set = NULL;
    assert_int_equal(meter_set_open(&site, kinds, 1, &options, &set), YOKE_OK);
    return set;
}

/* That the interval holds the constant power's energy. */
static void check(const yoke_energy *energy, double watts, double seconds)
{
    if (isnan(energy->value_j)) fail_msg("no value: %s", energy->why_not);
    if (!(fabs(energy->value_j - watts * seconds) <= energy->uncertainty_j + 1e-9))
        fail_msg("%.9g +- %.3g J in %.9g s does not hold %.9g J", energy->value_j, energy->uncertainty_j, seconds, watts * seconds);
}

static void nested_and_overlapping_regions_have_their_own_energies(void **state)
{
    (void)state;
    scripted_clear();
    add_moving("package-0", METER_COUNTER, 70);
    add_moving("gpu-0", METER_COUNTER, 130);
    meter_set *set = open_moving(0);
    yoke_region *outer, *inner, *across;
    yoke_energy energies[2], total;
    double seconds;
    assert_int_equal(meter_region_begin(set, &outer), YOKE_OK);
    sleep_s(0.01);
    assert_int_equal(meter_region_begin(set, &inner), YOKE_OK);
    sleep_s(0.02);
    assert_int_equal(meter_region_begin(set, &across), YOKE_OK);
    sleep_s(0.01);
    assert_int_equal(meter_region_end(inner, &seconds, energies, &total), YOKE_OK);
    check(&energies[0], 70, seconds);
    check(&energies[1], 130, seconds);
    check(&total, 200, seconds);
    assert_true(fabs(total.value_j - energies[0].value_j - energies[1].value_j) < 1e-9);
    assert_true(seconds >= 0.03);
    assert_int_equal(meter_region_end(outer, &seconds, energies, NULL), YOKE_OK);
    assert_true(seconds >= 0.04);
    check(&energies[1], 130, seconds);
    sleep_s(0.01);
    assert_int_equal(meter_region_end(across, &seconds, NULL, &total), YOKE_OK);
    check(&total, 200, seconds);
    meter_set_close(set);
}

static void wraps_are_caught_by_the_thread(void **state)
{
    (void)state;
    scripted_clear();
    scripted_meter *meter = add_moving("package-0", METER_COUNTER, 100);
    meter->domain.range = 40000000; /* 40 J: every 400 ms at these 100 W */
    meter->domain.most_w = 110;
    meter->domain.info.period_s = 0;
    meter_set *set = open_moving(0);
    yoke_region *region;
    yoke_energy energy = {.value_j = NAN};
    double seconds;
    /* A busy machine may stop the thread for longer than a turn takes, which is then a fault and no number. */
    for (int attempt = 0; attempt < 30 && isnan(energy.value_j); attempt++) {
        assert_int_equal(meter_region_begin(set, &region), YOKE_OK);
        sleep_s(1);
        assert_int_equal(meter_region_end(region, &seconds, &energy, NULL), YOKE_OK);
        if (isnan(energy.value_j)) assert_non_null(strstr(energy.why_not, "fault"));
    }
    check(&energy, 100, seconds);
    assert_true(energy.value_j > 99);
    meter_set_close(set);
}

static void power_is_integrated_by_the_thread(void **state)
{
    (void)state;
    scripted_clear();
    scripted_meter *meter = add_moving("gpu-0", METER_POWER, 250);
    meter->domain.info.period_s = meter->domain.window_s = 0.02;
    meter_set *set = open_moving(0);
    yoke_region *region;
    yoke_energy energy;
    double seconds;
    assert_int_equal(meter_region_begin(set, &region), YOKE_OK);
    int before = scripted_reads(meter);
    sleep_s(0.3);
    assert_int_equal(meter_region_end(region, &seconds, &energy, NULL), YOKE_OK);
    check(&energy, 250, seconds);
    int reads = scripted_reads(meter) - before;
    assert_true(reads >= 3);
    /* Twice in a period; one that was late may be followed by the next after half an interval. */
    assert_true(reads <= 4 * seconds / 0.02 + 4);
    meter_set_close(set);
}

static void nothing_is_read_between_regions_where_nothing_needs_it(void **state)
{
    (void)state;
    scripted_clear();
    scripted_meter *meter = add_moving("gpu-0", METER_COUNTER, 100); /* 64 bits do not wrap */
    meter_set *set = open_moving(0);
    assert_false(set->watch.running);
    int before = scripted_reads(meter);
    sleep_s(0.05);
    assert_int_equal(scripted_reads(meter), before);
    meter_set_close(set);
}

static void the_update_period_is_measured_while_opening(void **state)
{
    (void)state;
    scripted_clear();
    add_moving("gpu-0", METER_COUNTER, 100)->domain.info.period_s = 0.02;
    scripted_add("gpu-1", METER_COUNTER); /* stands still */
    meter_set *set = open_moving(0.5);
    assert_true(set->infos[0].period_measured);
    assert_true(set->infos[0].period_s > 0.018); /* a busy machine sees updates late, or misses them */
    assert_false(set->infos[1].period_measured);
    assert_true(set->infos[1].period_s == 0.001);
    meter_set_close(set);
}

enum { THREADS = 4, REGIONS = 200 };

typedef struct worker {
    meter_set *set;
    int good, bad;
} worker;

/* A busy machine may stop all threads for longer than a wrap takes, which is then a fault and no number. */
static void judge(worker *own, const yoke_energy *energy, double seconds)
{
    const bool fault = isnan(energy->value_j) && strstr(energy->why_not, "fault");
    const bool right = fabs(energy->value_j - 100 * seconds) <= energy->uncertainty_j + 1e-9;
    own->good += right;
    own->bad += !right && !fault;
}

static void *work(void *user)
{
    worker *own = user;
    for (int i = 0; i < REGIONS; i++) {
        yoke_region *outer, *inner;
        yoke_energy energies[2], total;
        double seconds;
        if (meter_region_begin(own->set, &outer) != YOKE_OK || meter_region_begin(own->set, &inner) != YOKE_OK) {
            own->bad++;
            break;
        }
        sleep_s(0.0002);
        meter_region_end(inner, &seconds, energies, &total);
        meter_region_end(outer, &seconds, energies, &total);
        judge(own, &energies[0], seconds);
        judge(own, &total, seconds);
    }
    return NULL;
}

static void regions_of_many_threads_are_right(void **state)
{
    (void)state;
    scripted_clear();
    scripted_meter *meter = add_moving("package-0", METER_COUNTER, 100);
    meter->domain.info.period_s = 0;
    meter->domain.range = 262143328850;
    meter->domain.most_w = 1e6; /* the thread reads often */
    meter_set *set = open_moving(0);
    assert_true(set->watch.running);
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.set = set};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].bad, 0);
        assert_true(workers[i].good > 0);
    }
    meter_set_close(set);
}

static void a_second_region_allocates_nothing(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *counted = NULL;
    assert_int_equal(yoke_context_create(&options, &counted), YOKE_OK);
    scripted_clear();
    scripted_add("package-0", METER_COUNTER);
    meter_set *set = NULL;
    yoke_region *regions[3];
    int64_t first = 0;
    assert_int_equal(scripted_open(counted, NULL, &set), YOKE_OK);
    for (int i = 0; i < 10; i++) {
        for (int nested = 0; nested < 3; nested++) assert_int_equal(meter_region_begin(set, &regions[nested]), YOKE_OK);
        for (int nested = 0; nested < 3; nested++) meter_region_end(regions[nested], NULL, NULL, NULL);
        if (i == 0) first = memory.calls;
    }
    assert_int_equal(memory.calls, first);
    meter_set_close(set);
    yoke_context_destroy(counted);
    assert_int_equal(memory.outstanding, 0);
}

static void a_total_of_several_kinds_is_of_the_weakest(void **state)
{
    (void)state;
    scripted_clear();
    add_moving("package-0", METER_COUNTER, 100);
    add_moving("gpu-0", METER_COUNTER, 100)->domain.info.source = YOKE_ENERGY_ESTIMATED;
    add_moving("gpu-1", METER_COUNTER, 100)->domain.info.source = YOKE_ENERGY_SIMULATED;
    meter_set *set = open_moving(0);
    yoke_region *region;
    yoke_energy total;
    assert_int_equal(meter_region_begin(set, &region), YOKE_OK);
    sleep_s(0.01);
    meter_region_end(region, NULL, NULL, &total);
    assert_int_equal(total.kind, YOKE_ENERGY_ESTIMATED);
    meter_set_close(set);
}

static void arguments_are_checked_and_kinds_have_names(void **state)
{
    (void)state;
    assert_int_equal(yoke_meters_open(NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_meters_list(context, NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_region_begin(NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_region_end(NULL, NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    yoke_meters_close(NULL);
    yoke_meters *meter = NULL;
    assert_int_equal(yoke_meters_open(context, &(yoke_meter_options){.probe_s = NAN}, &meter), YOKE_ERROR_INPUT);
    assert_int_equal(yoke_meters_open(context, &(yoke_meter_options){.pid = -3}, &meter), YOKE_ERROR_INPUT);
    assert_string_equal(yoke_energy_kind_text(YOKE_ENERGY_REPLAYED), "replayed");
    assert_string_equal(yoke_energy_kind_text((yoke_energy_kind)99), "none");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nested_and_overlapping_regions_have_their_own_energies),
    cmocka_unit_test(wraps_are_caught_by_the_thread),
    cmocka_unit_test(power_is_integrated_by_the_thread),
    cmocka_unit_test(nothing_is_read_between_regions_where_nothing_needs_it),
    cmocka_unit_test(the_update_period_is_measured_while_opening),
    cmocka_unit_test(regions_of_many_threads_are_right),
    cmocka_unit_test(a_second_region_allocates_nothing),
    cmocka_unit_test(a_total_of_several_kinds_is_of_the_weakest),
    cmocka_unit_test(arguments_are_checked_and_kinds_have_names),
};

UNIT_MAIN(tests, context_start, context_end)
