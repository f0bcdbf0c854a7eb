/* Powers that the user states. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "context.h"

#include "run/machine/list.h"
#include "yoke/yoke.h"

/* A machine that stops the program for a while makes it read late, which adds to the uncertainty: so many regions may be tried until one is read in time. */
#define REGIONS 10

static yoke_status try_open(const char *declared, int64_t pid, yoke_meters **meter)
{
    const yoke_meter_options options = {.select = "declared", .declared = declared, .pid = pid, .probe_s = -1};
    return yoke_meters_open(context, &options, meter);
}

static yoke_meters *open_declared(const char *declared, int64_t pid)
{
    yoke_meters *meter = NULL;
    if (try_open(declared, pid, &meter) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    return meter;
}

static void sleep_s(double seconds) { nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL); }

static double cpu_s(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void burn(double seconds)
{
    volatile double x = 1;
    for (double end = cpu_s(RUSAGE_SELF) + seconds; cpu_s(RUSAGE_SELF) < end;)
        for (int i = 0; i < 100000; i++) x = x * 1.0000001;
}

static void sleeping_costs_the_idle_power(void **state)
{
    (void)state;
    yoke_topology topology;
    assert_int_equal(yoke_topology_get(context, &topology), YOKE_OK);
    yoke_meters *meter = open_declared("idle=20,busy=60", 0);
    yoke_region *region;
    yoke_energy energy, total;
    double seconds, away = INFINITY;
    for (int i = 0; i < REGIONS && away >= 1; i++) {
        const double before = cpu_s(RUSAGE_SELF);
        assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
        sleep_s(0.3);
        assert_int_equal(yoke_region_end(region, &seconds, &energy, &total), YOKE_OK);
        assert_true(seconds >= 0.3);
        const double used = cpu_s(RUSAGE_SELF) - before; /* a little, and with sanitizers on a slow machine more */
        assert_true(energy.value_j >= 20 * seconds - 0.01);
        assert_true(energy.value_j <= 20 * seconds + 40 * used / (double)topology.cores + 0.01);
        assert_int_equal(energy.kind, YOKE_ENERGY_ESTIMATED);
        assert_int_equal(total.kind, YOKE_ENERGY_ESTIMATED);
        assert_true(total.value_j == energy.value_j);
        away = fabs(energy.uncertainty_j - 20 * seconds); /* half of what CPU time decides */
    }
    assert_true(away < 1);
    yoke_meters_close(meter);
}

static void computing_costs_by_its_cpu_time(void **state)
{
    (void)state;
    yoke_topology topology;
    assert_int_equal(yoke_topology_get(context, &topology), YOKE_OK);
    yoke_meters *meter = open_declared("busy=100,idle=0,uncertainty=3", 0);
    yoke_region *region;
    yoke_energy energy;
    double seconds, away = INFINITY;
    for (int i = 0; i < REGIONS && away >= 1; i++) {
        const double before = cpu_s(RUSAGE_SELF);
        assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
        burn(0.3);
        assert_int_equal(yoke_region_end(region, &seconds, &energy, NULL), YOKE_OK);
        const double used = cpu_s(RUSAGE_SELF) - before;
        assert_true(energy.value_j >= 100 * 0.3 / (double)topology.cores - 0.01);
        assert_true(energy.value_j <= 100 * used / (double)topology.cores + 0.01);
        away = fabs(energy.uncertainty_j - 53 * seconds);
    }
    assert_true(away < 1);
    yoke_meters_close(meter);
}

static void children_that_were_waited_for_count(void **state)
{
    (void)state;
    yoke_topology topology;
    assert_int_equal(yoke_topology_get(context, &topology), YOKE_OK);
    yoke_meters *meter = open_declared("idle=10,busy=110", 0);
    yoke_region *region;
    yoke_energy energy;
    double seconds;
    assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
    pid_t child = fork();
    if (child == 0) {
        burn(0.2);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(yoke_region_end(region, &seconds, &energy, NULL), YOKE_OK);
    assert_true(energy.value_j > 10 * seconds + 100 * 0.19 / (double)topology.cores);
    yoke_meters_close(meter);
}

static void another_process_is_watched_until_it_ends(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    yoke_meters *meter = open_declared("idle=20,busy=60", child);
    yoke_region *region;
    yoke_energy energy;
    double seconds;
    assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
    burn(0.1); /* ours does not count */
    assert_int_equal(yoke_region_end(region, &seconds, &energy, NULL), YOKE_OK);
    assert_true(fabs(energy.value_j - 20 * seconds) < 1.5);
    assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(yoke_region_end(region, &seconds, &energy, NULL), YOKE_OK);
    assert_true(isnan(energy.value_j));
    assert_non_null(strstr(energy.why_not, "has ended"));
    yoke_meters_close(meter);
    assert_int_equal(try_open("idle=20,busy=60", child, &meter), YOKE_ERROR_INPUT);
}

static void hostile_texts_are_refused_with_what_was_expected(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "idle",
        "idle=",
        "idle=20",
        "busy=60",
        "idle=20,busy=",
        "idle=20,busy=60,",
        ",idle=20,busy=60",
        "idle=20;busy=60",
        "idle=20, busy=60",
        "idle=20,busy=60W",
        "idle=60,busy=20",
        "idle=-1,busy=20",
        "idle=nan,busy=20",
        "idle=20,busy=inf",
        "idle=20,busy=1e99",
        "idle=20,idle=20",
        "idle=20,idle=20,busy=60",
        "idle=0,busy=0",
        "idle=20,busy=60,gpu=100",
        "idle=20,busy=60,uncertainty=-1",
        "idle=20,busy=60,uncertainty=",
        "IDLE=20,BUSY=60",
        "%s%s%n",
        "idle=0x10,busy=60",
    };
    yoke_meters *meter = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(try_open(bad[i], 0, &meter), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), "expected \"idle=W,busy=W\""));
    }
    char *huge = malloc(1000001);
    memset(huge, '9', 1000000);
    huge[1000000] = '\0';
    memcpy(huge, "idle=", 5);
    assert_int_equal(try_open(huge, 0, &meter), YOKE_ERROR_INPUT);
    free(huge);
    assert_null(meter);
}

static void a_list_shows_declared_powers_only_where_there_are_some(void **state)
{
    (void)state;
    for (int declared = 0; declared < 2; declared++) {
        const yoke_meter_options options = {.declared = declared ? "idle=20,busy=60" : NULL};
        yoke_meter_info *list = NULL;
        int64_t count = 0, found = 0;
        assert_int_equal(yoke_meters_list(context, &options, &list, &count), YOKE_OK);
        for (int64_t i = 0; i < count; i++) {
            if (strcmp(list[i].kind, "declared") != 0) continue;
            found++;
            assert_string_equal(list[i].name, "declared:host");
            assert_string_equal(list[i].covers, "host");
            assert_int_equal(list[i].source, YOKE_ENERGY_ESTIMATED);
        }
        yoke_release(context, list);
        assert_int_equal(found, declared);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sleeping_costs_the_idle_power),
    cmocka_unit_test(computing_costs_by_its_cpu_time),
    cmocka_unit_test(children_that_were_waited_for_count),
    cmocka_unit_test(another_process_is_watched_until_it_ends),
    cmocka_unit_test(hostile_texts_are_refused_with_what_was_expected),
    cmocka_unit_test(a_list_shows_declared_powers_only_where_there_are_some),
};

UNIT_MAIN(tests, context_start, context_end)
