/* Energy of kernels on real devices, from RAPL's counters (meter/stub/rapl.h): what comes out against what went in. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "meter/stub/rapl.h"
#include "meter/tree.h"
#include "unit.h"

static const char *path_of(int package, const char *file)
{
    static char path[96];
    snprintf(path, sizeof path, "sys/class/powercap/intel-rapl:%d/%s", package, file);
    return path;
}

static void packages_begin(tree *where)
{
    tree_begin(where, NULL);
    for (int i = 0; i < STUB_RAPL_PACKAGES; i++) {
        char name[32];
        snprintf(name, sizeof name, "package-%d\n", i);
        tree_write(where, path_of(i, "name"), name);
        tree_write_number(where, path_of(i, "max_energy_range_uj"), (unsigned long long)(1e6 * stub_rapl_range_j));
        tree_write(where, path_of(i, "energy_uj"), "0\n");
    }
}

/* ------------------------------------------------------------------------------------------------ an application */

enum { DEVICES = 2 };

static const char *const names[] = {"hot", "warm"};

/* Kernels sleep: then a busy machine does not change what they draw. */
typedef struct task {
    double watts, seconds;
    double drawn_j; /* so far */
} task;

static void rest_s(double seconds)
{
    const struct timespec nap = {.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&nap, NULL);
}

static void draw_power(void *user)
{
    task *of = user;
    const double before_j = stub_rapl_set_power(of->watts);
    rest_s(of->seconds);
    of->drawn_j += stub_rapl_set_power(0) - before_j; /* what the counters get: this thread may wait before and after */
}

typedef struct application {
    yoke_run *run;
    const yoke_run_device *devices;
    int64_t num_devices;
    yoke_queue *queues[DEVICES];
} application;

static void ok(const tree *where, yoke_status status)
{
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(where->context));
}

static void application_begin(application *a, tree *where, const char *devices)
{
    const yoke_run_options options = {.devices = devices, .keep_frequencies = 1, .sysroot = where->root, .profile = 0.2};
    *a = (application){0};
    ok(where, yoke_run_create(where->context, &options, &a->run));
    ok(where, yoke_run_devices(a->run, &a->devices, &a->num_devices));
    assert_in_range(a->num_devices, 1, DEVICES);
    for (int64_t i = 0; i < a->num_devices; i++) ok(where, yoke_queue_create(a->devices[i].device, 0, &a->queues[i]));
}

static void application_end(application *a)
{
    for (int64_t i = 0; i < a->num_devices; i++) yoke_queue_destroy(a->queues[i]);
    yoke_run_destroy(a->run);
}

static void begin_round(application *a, tree *where)
{
    static const int64_t n = 16;
    static const yoke_phase phase = {.work = "work", .calls = 1, .units = 16, .barrier = 1};
    static const yoke_round round = {.num_cuts = 1, .cut_units = &n, .num_phases = 1, .phases = &phase};
    const yoke_assignment *assignment = NULL;
    ok(where, yoke_run_plan(a->run, &round, 1, &assignment));
    ok(where, yoke_run_begin(a->run));
}

static void call(application *a, tree *where, int64_t device, const char *name, task *of)
{
    ok(where, yoke_run_mark(a->run, device, a->queues[device], name));
    ok(where, yoke_queue_call(a->queues[device], draw_power, of, 1));
    ok(where, yoke_run_mark(a->run, device, a->queues[device], NULL));
}

/* Calls of two kernels in turn, and pauses; returns the joules that the meters tell of the round. */
static double work(application *a, tree *where, task tasks[2], int calls)
{
    yoke_cost measured;
    begin_round(a, where);
    for (int k = 0; k < calls; k++) {
        call(a, where, 0, names[k % 2], &tasks[k % 2]);
        ok(where, yoke_queue_finish(a->queues[0]));
        rest_s(1e-3 * (k % 3));
    }
    ok(where, yoke_run_end(a->run, NULL, &measured));
    return measured.energy_j;
}

static const yoke_run_profile *row_of(application *a, int64_t device, const char *kernel)
{
    const yoke_run_profile *rows = NULL;
    int64_t count = 0;
    assert_int_equal(yoke_run_profile_get(a->run, &rows, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++)
        if (rows[i].device == device && strcmp(rows[i].kernel ? rows[i].kernel : "", kernel ? kernel : "") == 0) return &rows[i];
    fail_msg("there is no row of %s", kernel ? kernel : "what is between kernels");
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------- tests */

/* On a busy machine readings are few, and it takes more rounds.  If the counters' clock was found while others had the cores, it takes another beginning. */
enum { MAX_ROUNDS = 25, MAX_BEGINNINGS = 6 };

static int is_known(application *a, const char *kernel)
{
    const yoke_run_profile *row = row_of(a, 0, kernel);
    return row->uncertainty_j < 0.2 * row->energy_j;
}

/* Rounds until all powers are known, of an application that begins anew where they do not become known.  Returns how many; *joules is what the meters tell. */
static int begin_until_known(application *a, tree *where, task tasks[2], double *joules)
{
    for (int beginning = 1;; beginning++) {
        int rounds = 0, known = 0;
        tasks[0] = (task){.watts = 40, .seconds = 3e-3};
        tasks[1] = (task){.watts = 12, .seconds = 2e-3};
        *joules = 0;
        application_begin(a, where, "openmp");
        while (rounds < 3 || (rounds < MAX_ROUNDS && !known)) {
            *joules += work(a, where, tasks, 120);
            rounds++;
            known = is_known(a, "hot") && is_known(a, "warm") && is_known(a, NULL);
        }
        if (known || beginning == MAX_BEGINNINGS) return rounds;
        application_end(a);
    }
}

/* What is told of kernels beside what they drew: 40 and 12 W above the 13 W of both packages' idling. */
static bool energies_are_right(application *a, const task tasks[2], double joules)
{
    const double all_idle_w = stub_rapl_idle_w[0] + stub_rapl_idle_w[1];
    double told = 0, uncertain_j = 0;
    bool right = true;
    for (int i = 0; i < 3; i++) {
        const yoke_run_profile *row = row_of(a, 0, i == 0 ? "hot" : i == 1 ? "warm" : NULL);
        double truth = all_idle_w * row->call_s + (i < 2 ? tasks[i].drawn_j / row->calls : 0);
        print_message("%s: %g J +- %.2g instead of %g J\n", row->kernel ? row->kernel : "-", row->energy_j, row->uncertainty_j, truth);
        right &= row->why_not[0] == '\0' && fabs(row->energy_j - truth) <= fmax(2 * row->uncertainty_j, 0.05 * truth);
        told += row->energy_j * row->calls;
        uncertain_j = hypot(uncertain_j, row->uncertainty_j * row->calls);
    }
    return right && fabs(told - joules) < fmax(uncertain_j, 0.02 * joules);
}

/*
 * Through a wrap of the first package's counter.  Beside programs that take the cores some calls are many times as long as others, and which of them are timed is
 * not left to chance; then another beginning may tell.
 */
static void kernels_have_the_energy_that_went_into_the_counters(void **state)
{
    (void)state;
    tree where;
    application a;
    task tasks[2];
    bool right = false;
    for (int tries = 0; tries < MAX_BEGINNINGS && !right; tries++) {
        double joules = 0;
        packages_begin(&where);
        int rounds = begin_until_known(&a, &where, tasks, &joules);
        assert_true(0.5 * joules > stub_rapl_range_j - stub_rapl_first_j[0]); /* more than half is the first one's, which has wrapped */
        right = energies_are_right(&a, tasks, joules);
        assert_true(row_of(&a, 0, "hot")->calls == 60 * rounds);
        application_end(&a);
        tree_end(&where);
    }
    assert_true(right);
}

/* The times of kernels are known without it. */
static void expect_seconds_only(const yoke_run_profile *row, double calls, double least_s, const char *why)
{
    if (row->calls != calls) fail_msg("%g calls instead of %g", row->calls, calls);
    if (!(row->call_s >= least_s)) fail_msg("%g s a call, of at least %g", row->call_s, least_s);
    assert_true(isnan(row->energy_j) && isnan(row->uncertainty_j) && isnan(row->dynamic_j) && isnan(row->part));
    if (strstr(row->why_not, why) == NULL) fail_msg("\"%s\" does not say \"%s\"", row->why_not, why);
}

static void a_meter_that_vanishes_ends_the_energies_and_not_the_seconds(void **state)
{
    (void)state;
    tree where;
    application a;
    packages_begin(&where);
    task tasks[2];
    double joules;
    const int rounds = begin_until_known(&a, &where, tasks, &joules);
    assert_false(isnan(joules));
    assert_string_equal(row_of(&a, 0, "hot")->why_not, "");
    tree_remove(&where, path_of(1, "energy_uj"));
    for (int round = 0; round < 2; round++) assert_true(isnan(work(&a, &where, tasks, 60)));
    expect_seconds_only(row_of(&a, 0, "hot"), 60 * (rounds + 1), tasks[0].seconds, "intel-rapl:1/energy_uj is gone");
    expect_seconds_only(row_of(&a, 0, "warm"), 60 * (rounds + 1), tasks[1].seconds, "intel-rapl:1/energy_uj is gone");
    expect_seconds_only(row_of(&a, 0, NULL), rounds + 2, 10e-3, "intel-rapl:1/energy_uj is gone");
    application_end(&a);
    tree_end(&where);
}

/* Cores that share the packages: only the sum of what they draw is known. */
static void devices_behind_one_meter_are_refused_and_say_so(void **state)
{
    (void)state;
    yoke_topology topology;
    tree where;
    application a;
    yoke_cost measured;
    packages_begin(&where);
    assert_int_equal(yoke_topology_get(where.context, &topology), YOKE_OK);
    if (topology.cores < 2) {
        tree_end(&where);
        skip();
    }
    application_begin(&a, &where, "openmp:0-0,openmp:1-1");
    assert_int_equal(a.num_devices, 2);
    task tasks[2] = {{.watts = 40, .seconds = 2e-3}, {.watts = 12, .seconds = 1e-3}};
    int rounds = 0; /* on a busy machine calls are timed in later rounds only */
    for (; rounds < 2 || (rounds < MAX_ROUNDS && (isnan(row_of(&a, 0, "hot")->call_s) || isnan(row_of(&a, 1, "hot")->call_s))); rounds++) {
        begin_round(&a, &where);
        for (int k = 0; k < 40; k++) {
            call(&a, &where, 0, names[k % 2], &tasks[k % 2]);
            if (rounds > 0) call(&a, &where, 1, names[1 - k % 2], &tasks[1 - k % 2]);
            for (int i = 0; i < 2; i++) ok(&where, yoke_queue_finish(a.queues[i]));
        }
        ok(&where, yoke_run_end(a.run, NULL, &measured));
        assert_false(isnan(measured.energy_j));
        /* As long as only one of them has kernels it is known whose energy it is. */
        if (rounds == 0) assert_null(strstr(row_of(&a, 0, "hot")->why_not, "behind"));
    }
    expect_seconds_only(row_of(&a, 0, "hot"), 20 * rounds, 2e-3, "kernels of openmp:1-1 run at the same time behind the same meter");
    expect_seconds_only(row_of(&a, 1, "hot"), 20 * (rounds - 1), 2e-3, "kernels of openmp:0-0 run at the same time behind the same meter");
    application_end(&a);
    tree_end(&where);
}

/* NVIDIA Grace shows the power of its package by hwmon. */
static void a_sensor_of_power_is_refused_and_says_what_to_do(void **state)
{
    (void)state;
    tree where;
    application a;
    tree_begin(&where, NULL);
    tree_write(&where, "sys/class/hwmon/hwmon0/name", "power_meter\n");
    tree_write(&where, "sys/class/hwmon/hwmon0/power1_label", "Grace Power Socket 0\n");
    tree_write(&where, "sys/class/hwmon/hwmon0/power1_average", "42000000\n");
    application_begin(&a, &where, "openmp");
    task tasks[2] = {{.watts = 40, .seconds = 2e-3}, {.watts = 12, .seconds = 1e-3}};
    int rounds = 0; /* on a busy machine it times no call at first, since that takes more of the time than it may */
    for (; rounds == 0 || (rounds < MAX_ROUNDS && isnan(row_of(&a, 0, "hot")->call_s)); rounds++) (void)work(&a, &where, tasks, 40);
    expect_seconds_only(row_of(&a, 0, "hot"), 20 * rounds, 2e-3, "shows power and counts no energy");
    assert_non_null(strstr(row_of(&a, 0, "hot")->why_not, "`yoke profile`"));
    application_end(&a);
    tree_end(&where);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_meter_that_vanishes_ends_the_energies_and_not_the_seconds),
    cmocka_unit_test(devices_behind_one_meter_are_refused_and_say_so),
    cmocka_unit_test(a_sensor_of_power_is_refused_and_says_what_to_do),
    cmocka_unit_test(kernels_have_the_energy_that_went_into_the_counters),
};

UNIT_MAIN(tests, NULL, NULL)
