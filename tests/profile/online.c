/* Energy of kernels from the calls of an application. */
#include "profile/online.h"

#include <math.h>

#include "base/failing.h"
#include "context.h"
#include "random_part.h"

/* A device on a virtual clock: kernels one after the other, and between them pauses. */
typedef struct counter {
    double now_s, joules;    /* drawn so far */
    double shown_j, shown_s; /* at the latest update */
    double period_s, resolution_j, gain, read_s;
    double busy_s, busy_from_s; /* another program has the processor for so long, every 0.5 to 1 ms */
    double late_s;              /* no update comes from 0.655 s on for so long, as where the counter's own processor is busy */
    int fails_after;            /* readings; 0: never */
    int reads;
    double looked_s; /* in the profiler */
    uint64_t random;
} counter;

static double draw(counter *c) { return random_part(&c->random); }

static void pass(counter *c, double seconds, double watts)
{
    double end = c->now_s + seconds;
    if (c->period_s > 0) {
        double last = floor(end / c->period_s) * c->period_s;
        if (last > c->shown_s && !(last > 0.655 && last < 0.655 + c->late_s)) {
            c->shown_s = last;
            c->shown_j = c->joules + watts * fmax(0, last - c->now_s);
        }
    }
    c->joules += watts * seconds;
    c->now_s = end;
    if (!(c->period_s > 0)) c->shown_j = c->joules;
}

enum { IDLE_W = 40 };

static yoke_status count_energy(double *joules, void *user)
{
    counter *c = user;
    if (c->fails_after > 0 && ++c->reads > c->fails_after) return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "the meter is lost");
    if (c->busy_s > 0 && c->now_s >= c->busy_from_s) {
        pass(c, c->busy_s, IDLE_W);
        c->busy_from_s = c->now_s + 5e-4 * (1 + draw(c));
    }
    pass(c, 0.5 * c->read_s, IDLE_W);
    double shown = c->gain * c->shown_j;
    pass(c, 0.5 * c->read_s, IDLE_W);
    *joules = c->resolution_j > 0 ? floor(shown / c->resolution_j) * c->resolution_j : shown;
    return YOKE_OK;
}

static double counter_updated(void *user)
{
    const counter *c = user;
    return c->period_s > 0 ? c->shown_s : c->now_s;
}

static yoke_status counter_wait(double time_s, void *user)
{
    counter *c = user;
    if (time_s > c->now_s) pass(c, time_s - c->now_s, IDLE_W);
    return YOKE_OK;
}

static double counter_clock(void *user) { return ((const counter *)user)->now_s; }

static profiler_meter meter_of(counter *c, double gain_error)
{
    return (profiler_meter){.energy_j = count_energy,
                            .clock_s = counter_clock,
                            .updated_s = c->read_s > 0 ? NULL : counter_updated,
                            .wait_until = counter_wait,
                            .resolution_j = c->resolution_j,
                            .gain_error = gain_error,
                            .user = c};
}

static yoke_status look(counter *c, profiler *p)
{
    double before = c->now_s;
    yoke_status status = profiler_look(p);
    c->looked_s += c->now_s - before;
    return status;
}

/* Three kernels in an order that changes, as levels of a multigrid do; *part (may be NULL): of the time that the profiler took. */
static yoke_status run_counted_in(yoke_context *in, counter *c, int64_t rounds, double gain_error, profile_joules *joules, double *part)
{
    static const double seconds[] = {2e-3, 5e-4, 3e-4}, watts[] = {220, 150, 90};
    const profiler_meter meter = meter_of(c, gain_error);
    profiler *p = NULL;
    yoke_status status = profiler_create(in, &meter, 0.01, &p);
    if (!status) status = profiler_begin(p, 0);
    double begin = c->now_s;
    for (int64_t r = 0; r < rounds && !status; r++)
        for (int i = 0; i < 3 && !status; i++)
            for (int repeat = (int)(3 * draw(c)); repeat >= 0 && !status; repeat--) {
                double start = c->now_s;
                pass(c, seconds[i] * (0.95 + 0.1 * draw(c)), watts[i]);
                status = profiler_call(p, &(profile_call){.start_s = start, .end_s = c->now_s, .kernel = i});
                pass(c, 2e-4 * draw(c), IDLE_W);
                if (!status) status = profiler_known(p, c->now_s);
                if (!status) status = look(c, p);
            }
    if (part) *part = c->looked_s / (c->now_s - begin);
    if (!status) status = profiler_result(p, 0, joules, NULL);
    profiler_destroy(p);
    return status;
}

static yoke_status run_counted(counter *c, int64_t rounds, double gain_error, profile_joules *joules, double *part)
{
    return run_counted_in(context, c, rounds, gain_error, joules, part);
}

static void counters_tell_the_energy_of_kernels(void **state)
{
    (void)state;
    static const double watts[] = {220, 150, 90};
    static const counter counters[] = {
        {.gain = 1},                                                            /* shows what was drawn, at once */
        {.gain = 1, .period_s = 4e-3, .resolution_j = 1e-3},                    /* tells when it was updated */
        {.gain = 1, .read_s = 2e-6, .period_s = 1e-3, .resolution_j = 6.1e-5},  /* RAPL */
        {.gain = 1.04, .read_s = 3e-5, .period_s = 0.02, .resolution_j = 1e-3}, /* a card */
    };
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        int covered = 0;
        double error = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            profile_joules joules[PROFILE_MAX_KERNELS + 1];
            counter c = counters[i];
            double part;
            c.random = seed;
            assert_int_equal(run_counted(&c, 3000, 0, joules, &part), YOKE_OK);
            assert_true(part < 0.011);
            for (int k = 0; k < 3; k++) {
                double truth = counters[i].gain * watts[k] * joules[k].call_s; /* as the counter shows it */
                covered += fabs(joules[k].energy_j - truth) <= joules[k].uncertainty_j;
                error = fmax(error, fabs(joules[k].energy_j - truth) / truth);
            }
        }
        assert_in_range(covered, 54, 60);
        assert_true(error < (i == 0 ? 1e-5 : 0.1));
    }
}

/* The counter stands still where calls begin: these readings must not outweigh the others. */
static void updates_that_come_late_at_first_do_not_count_as_no_power(void **state)
{
    (void)state;
    profile_joules joules[PROFILE_MAX_KERNELS + 1];
    counter c = {.gain = 1, .read_s = 2e-6, .period_s = 0.01, .resolution_j = 6.1e-5, .late_s = 0.15, .random = 3};
    assert_int_equal(run_counted(&c, 2000, 0, joules, NULL), YOKE_OK);
    assert_true(joules[0].energy_j > 0.5 * 220 * joules[0].call_s);
    assert_true(fabs(joules[0].energy_j - 220 * joules[0].call_s) <= joules[0].uncertainty_j);
}

static void a_counter_that_fails_ends_the_profile_and_says_so(void **state)
{
    (void)state;
    profile_joules joules[PROFILE_MAX_KERNELS + 1];
    counter c = {.gain = 1, .fails_after = 50, .random = 1};
    assert_int_equal(run_counted(&c, 1000, 0, joules, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "is lost"));
}

static void few_readings_of_a_counter_are_no_result(void **state)
{
    (void)state;
    profile_joules joules[PROFILE_MAX_KERNELS + 1];
    counter c = {.gain = 1, .period_s = 1, .random = 1};
    assert_int_equal(run_counted(&c, 1000, 0, joules, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "at least 24 are needed"));
}

/* Most updates come while nobody reads: they are seen late, and must not hide the period of the others. */
static void a_busy_machine_does_not_hide_the_period_of_a_counter(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        profile_joules joules[PROFILE_MAX_KERNELS + 1];
        counter c = {.gain = 1, .read_s = 2e-6, .period_s = 1.0 / 1024, .resolution_j = 6.1e-5, .busy_s = 6e-3, .random = seed};
        assert_int_equal(run_counted(&c, 1000, 0, joules, NULL), YOKE_OK);
        assert_true(fabs(joules[0].energy_j - 220 * joules[0].call_s) <= fmax(2 * joules[0].uncertainty_j, 0.05 * 220 * joules[0].call_s));
    }
}

/* Joules have no limit, as watts of a sensor have: half an hour of these are more than ten million. */
static void a_counter_may_show_any_number_of_joules(void **state)
{
    (void)state;
    profile_joules joules[PROFILE_MAX_KERNELS + 1];
    counter c = {.gain = 1e5, .read_s = 2e-6, .period_s = 1e-3, .resolution_j = 6.1, .random = 1};
    assert_int_equal(run_counted(&c, 1000, 0, joules, NULL), YOKE_OK);
    assert_true(c.gain * c.shown_j > 1e7);
    assert_true(fabs(joules[0].energy_j / (1e5 * 220 * joules[0].call_s) - 1) < 0.05);
}

static void a_counter_that_stands_still_is_refused(void **state)
{
    (void)state;
    counter c = {.gain = 0, .read_s = 1e-4, .period_s = 1e-3, .random = 1};
    const profiler_meter meter = meter_of(&c, 0);
    profiler *p = NULL;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "changed only 0 times in 10 s"));
    assert_null(p);
}

static double standing_s(void *user)
{
    (void)user;
    return 5;
}

static void a_clock_that_stands_still_is_refused(void **state)
{
    (void)state;
    counter c = {.gain = 1, .random = 1};
    const profiler_meter meter = {.energy_j = count_energy, .clock_s = standing_s, .user = &c};
    profiler *p = NULL;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "does not advance"));
}

static void a_meter_that_cannot_be_read_and_calls_without_time_are_refused(void **state)
{
    (void)state;
    counter c = {.gain = 1, .random = 1};
    profiler *p = NULL;
    profiler_meter meter = meter_of(&c, 0);
    meter.energy_j = NULL;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_ERROR_ARGUMENT);
    meter.energy_j = count_energy;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_OK);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 1, .end_s = 2, .kernel = 0}), YOKE_ERROR_ARGUMENT); /* nothing has begun */
    assert_int_equal(profiler_result(p, 0, (profile_joules[PROFILE_MAX_KERNELS + 1]){{0}}, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_int_equal(profiler_begin(p, 0), YOKE_OK);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 1, .end_s = 2, .kernel = -1}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 1, .end_s = 2, .kernel = PROFILE_MAX_KERNELS}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = 2, .end_s = 1, .kernel = 0}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(profiler_call(p, &(profile_call){.start_s = NAN, .end_s = 1, .kernel = 0}), YOKE_ERROR_ARGUMENT);
    profiler_destroy(p);
    profiler_destroy(NULL);
}

/* Kernels in which nothing differs from one reading to the next share their power, and what is not known is stated. */
static void kernels_that_readings_do_not_tell_apart_say_so(void **state)
{
    (void)state;
    counter c = {.gain = 1, .random = 7};
    const profiler_meter meter = {
        .energy_j = count_energy, .updated_s = counter_updated, .clock_s = counter_clock, .gain_error = 0, .user = &c};
    profile_joules joules[PROFILE_MAX_KERNELS + 1];
    profiler *p = NULL;
    assert_int_equal(profiler_create(context, &meter, 0.01, &p), YOKE_OK);
    assert_int_equal(profiler_begin(p, 0), YOKE_OK);
    for (int r = 0; r < 400; r++) {
        double start = c.now_s;
        pass(&c, 2e-3, 200);
        profiler_call(p, &(profile_call){.start_s = start, .end_s = c.now_s, .kernel = 0});
        start = c.now_s;
        pass(&c, 1e-3, 110);
        profiler_call(p, &(profile_call){.start_s = start, .end_s = c.now_s, .kernel = 1});
        pass(&c, 1e-3 * draw(&c), IDLE_W);
        profiler_known(p, c.now_s);
        assert_int_equal(profiler_look(p), YOKE_OK); /* once for both */
    }
    assert_int_equal(profiler_result(p, 0, joules, NULL), YOKE_OK);
    for (int k = 0; k < 2; k++) {
        double truth = k ? 110e-3 : 400e-3;
        assert_true(joules[k].uncertainty_j > 0.1 * truth);
        assert_true(fabs(joules[k].energy_j - truth) <= joules[k].uncertainty_j);
    }
    assert_float_equal(joules[0].energy_j + joules[1].energy_j, 510e-3, 5e-3);
    profiler_destroy(p);
}

static void a_failing_allocation_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    failing memory = {.fail_at = 0};
    const yoke_options limits = failing_options(&memory);
    yoke_context *limited = NULL;
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t tries = 0;
    assert_int_equal(yoke_context_create(&limits, &limited), YOKE_OK);
    int64_t before = memory.outstanding;
    for (; status != YOKE_OK; tries++) {
        profile_joules joules[PROFILE_MAX_KERNELS + 1];
        counter c = {.gain = 1, .read_s = 2e-6, .period_s = 1e-3, .resolution_j = 6.1e-5, .random = 1};
        failing_allow(&memory, tries);
        status = run_counted_in(limited, &c, 200, 0, joules, NULL);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_int_equal(memory.outstanding, before);
        assert_true(tries < 200);
    }
    assert_true(tries > 10);
    yoke_context_destroy(limited);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_clock_that_stands_still_is_refused),
    cmocka_unit_test(a_meter_that_cannot_be_read_and_calls_without_time_are_refused),
    cmocka_unit_test(counters_tell_the_energy_of_kernels),
    cmocka_unit_test(updates_that_come_late_at_first_do_not_count_as_no_power),
    cmocka_unit_test(a_counter_that_fails_ends_the_profile_and_says_so),
    cmocka_unit_test(few_readings_of_a_counter_are_no_result),
    cmocka_unit_test(a_busy_machine_does_not_hide_the_period_of_a_counter),
    cmocka_unit_test(a_counter_may_show_any_number_of_joules),
    cmocka_unit_test(a_counter_that_stands_still_is_refused),
    cmocka_unit_test(kernels_that_readings_do_not_tell_apart_say_so),
    cmocka_unit_test(a_failing_allocation_is_an_error_and_leaves_nothing),
};

UNIT_MAIN(tests, context_start, context_end)
