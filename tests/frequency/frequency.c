#define _XOPEN_SOURCE 700
#include "policy_tree.h"
#include "run/machine/list.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NUM_POLICIES = 4 };

/* ----------------------------------------------------------------------------------------- set and restore */

static void every_driver_is_set_its_way_and_restored_byte_for_byte(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_DRIVERS; i++) {
        frequency_tree machine;
        frequency_tree_begin(&machine, frequency_tree_drivers[i], NUM_POLICIES);
        frequency_tree_write(&machine, 3, "scaling_min_freq", "1000000");
        frequency_tree_write(&machine, 3, "scaling_max_freq", "1500000");
        char *before = frequency_tree_picture(&machine);
        yoke_frequencies *frequencies = frequency_tree_open(&machine);
        int limits = strcmp(frequency_tree_drivers[i], "intel_pstate") == 0 || strcmp(frequency_tree_drivers[i], "amd-pstate-epp") == 0 ||
                     strcmp(frequency_tree_drivers[i], "amd-pstate") == 0;
        int speed = strcmp(frequency_tree_drivers[i], "intel_pstate") != 0 && strcmp(frequency_tree_drivers[i], "amd-pstate-epp") != 0;
        static const int64_t khz[] = {2400000, 800000, 3600000, 1600000};
        for (int k = 0; k < 4; k++) {
            char text[32];
            double reached_hz = 0;
            snprintf(text, sizeof text, "%lld", (long long)khz[k]);
            for (int policy = 0; policy < NUM_POLICIES; policy++) frequency_tree_write(&machine, policy, "scaling_cur_freq", text);
            assert_int_equal(yoke_frequency_set(frequencies, "cpu", 1000.0 * (double)khz[k], &reached_hz), YOKE_OK);
            assert_true(reached_hz == 1000.0 * (double)khz[k]);
            for (int policy = 0; policy < NUM_POLICIES; policy++) {
                if (limits) frequency_tree_holds(&machine, policy, "scaling_min_freq", text);
                if (limits) frequency_tree_holds(&machine, policy, "scaling_max_freq", text);
                if (speed) frequency_tree_holds(&machine, policy, "scaling_setspeed", text);
                frequency_tree_holds(&machine, policy, "scaling_governor", speed ? "userspace" : "powersave");
                frequency_tree_write(&machine, policy, "scaling_cur_freq", "1200000");
            }
        }
        yoke_frequencies_close(frequencies);
        char *after = frequency_tree_picture(&machine);
        assert_string_equal(after, before);
        assert_string_equal(machine.log, "");
        free(before);
        free(after);
        frequency_tree_end(&machine);
    }
}

static void a_speed_outside_the_limits_widens_them_and_only_so_far(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "acpi-cpufreq", 1);
    frequency_tree_write(&machine, 0, "scaling_max_freq", "2400000");
    char *before = frequency_tree_picture(&machine);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 3e9, NULL), YOKE_OK);
    frequency_tree_holds(&machine, 0, "scaling_max_freq", "3000000");
    frequency_tree_holds(&machine, 0, "scaling_min_freq", "800000");
    yoke_frequencies_close(frequencies);
    char *after = frequency_tree_picture(&machine);
    assert_string_equal(after, before);
    free(before);
    free(after);
    frequency_tree_end(&machine);
}

static void the_nearest_level_is_asked_for(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "acpi-cpufreq", 2);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 1.9e9, NULL), YOKE_OK);
    frequency_tree_holds(&machine, 1, "scaling_setspeed", "1600000");
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2.1e9, NULL), YOKE_OK);
    frequency_tree_holds(&machine, 1, "scaling_setspeed", "2400000");
    yoke_frequencies_close(frequencies);
    frequency_tree_end(&machine);
}

static void cores_of_two_kinds_get_each_what_they_can(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 2);
    frequency_tree_write(&machine, 1, "cpuinfo_max_freq", "2000000");
    frequency_tree_write(&machine, 1, "scaling_max_freq", "2000000");
    yoke_frequency_options options = frequency_tree_options(&machine);
    assert_true(frequency_tree_find(machine.context, &options, "cpu").max_hz == 3.6e9);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 3e9, NULL), YOKE_OK);
    frequency_tree_holds(&machine, 0, "scaling_max_freq", "3000000");
    frequency_tree_holds(&machine, 1, "scaling_max_freq", "2000000");
    yoke_frequencies_close(frequencies);
    frequency_tree_holds(&machine, 1, "scaling_min_freq", "800000");
    frequency_tree_end(&machine);
}

static void a_governor_with_a_speed_of_its_own_comes_back_with_it(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_cpufreq", 1);
    frequency_tree_write(&machine, 0, "scaling_governor", "userspace");
    frequency_tree_write(&machine, 0, "scaling_setspeed", "1700000");
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 3e9, NULL), YOKE_OK);
    frequency_tree_holds(&machine, 0, "scaling_setspeed", "3000000");
    yoke_frequencies_close(frequencies);
    frequency_tree_holds(&machine, 0, "scaling_governor", "userspace");
    frequency_tree_holds(&machine, 0, "scaling_setspeed", "1700000");
    frequency_tree_end(&machine);
}

static void what_others_change_meanwhile_is_put_back_too(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 2);
    char *before = frequency_tree_picture(&machine);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_OK);
    frequency_tree_write(&machine, 0, "energy_performance_preference", "power");
    frequency_tree_write(&machine, 1, "scaling_governor", "performance");
    yoke_frequencies_close(frequencies);
    char *after = frequency_tree_picture(&machine);
    assert_string_equal(after, before);
    free(before);
    free(after);
    frequency_tree_end(&machine);
}

static void names_and_frequencies_that_are_wrong_are_refused(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    char *before = frequency_tree_picture(&machine);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0, -1e9, 0.5e9, 3.7e9, 1e300};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(yoke_frequency_set(frequencies, "cpu", bad[i], NULL), YOKE_ERROR_INPUT);
    frequency_tree_mentions(yoke_last_error(machine.context), "its range is 0.8 to 3.6 GHz");
    assert_int_equal(yoke_frequency_set(frequencies, "gpu", 1e9, NULL), YOKE_ERROR_INPUT);
    frequency_tree_mentions(yoke_last_error(machine.context), "there are: cpu, nvml");
    assert_int_equal(yoke_frequency_set(frequencies, NULL, 1e9, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_frequency_set(NULL, "cpu", 1e9, NULL), YOKE_ERROR_ARGUMENT);
    char *after = frequency_tree_picture(&machine);
    assert_string_equal(after, before);
    free(before);
    free(after);
    yoke_frequencies_close(frequencies);
    yoke_frequencies_close(NULL);
    frequency_tree_end(&machine);
}

static void options_that_are_wrong_are_refused(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    yoke_frequency_options options = {.sysroot = "/nowhere/at/all"};
    yoke_frequencies *frequencies = NULL;
    assert_int_equal(yoke_frequencies_open(machine.context, &options, &frequencies), YOKE_ERROR_INPUT);
    frequency_tree_mentions(yoke_last_error(machine.context), "/nowhere/at/all");
    static const double bad[] = {NAN, INFINITY, -1, 61};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options = (yoke_frequency_options){.sysroot = machine.files.root, .settle_s = bad[i]};
        assert_int_equal(yoke_frequencies_open(machine.context, &options, &frequencies), YOKE_ERROR_ARGUMENT);
    }
    assert_int_equal(yoke_frequencies_open(machine.context, NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_frequencies_list(NULL, NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    frequency_tree_end(&machine);
}

static void a_change_that_is_refused_half_way_is_taken_back(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", NUM_POLICIES);
    /* Takes no write, not even from root. */
    tree_remove(&machine.files, CPUFREQ "policy2/scaling_max_freq");
    tree_link(&machine.files, CPUFREQ "policy2/scaling_max_freq", "/dev/full");
    char *before = frequency_tree_picture(&machine);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    double reached_hz = -1;
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, &reached_hz), YOKE_ERROR_SYSTEM);
    frequency_tree_mentions(yoke_last_error(machine.context), "policy2/scaling_max_freq does not take '2000000': No space left on device");
    assert_true(reached_hz == -1);
    char *after = frequency_tree_picture(&machine); /* before closing */
    assert_string_equal(after, before);
    yoke_frequencies_close(frequencies);
    free(before);
    free(after);
    frequency_tree_end(&machine);
}

/* What can stand in place of a file. */
static void put_something_bad(const frequency_tree *machine, const char *path, int what)
{
    static char many[4096];
    memset(many, '7', sizeof many - 1);
    const char *const texts[] = {"",  "\n", "-1\n", "nan\n", "1e9\n", "99999999999999999999\n", "\x01\x02\xff\n", "userspace userspace\n",
                                 many};
    const int num_texts = sizeof texts / sizeof *texts;
    tree_remove(&machine->files, path);
    if (what < num_texts) tree_write(&machine->files, path, texts[what]);
    if (what == num_texts) tree_pipe(&machine->files, path);
    if (what == num_texts + 1) tree_directory(&machine->files, path);
    if (what == num_texts + 2) tree_link(&machine->files, path, "/dev/zero");
    if (what == num_texts + 3) tree_link(&machine->files, path, path); /* a loop */
}

static void whatever_stands_in_a_file_others_are_restored_and_nothing_hangs(void **state)
{
    (void)state;
    static const char *const names[] = {
        "scaling_governor",
        "scaling_min_freq",
        "scaling_max_freq",
        "scaling_setspeed",
        "energy_performance_preference",
        "cpuinfo_min_freq",
        "cpuinfo_max_freq",
        "scaling_available_governors",
        "scaling_driver",
        "scaling_cur_freq",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int what = 0; what < 14; what++) { /* 13: the file is not there */
            frequency_tree machine;
            char path[256];
            frequency_tree_begin(&machine, "intel_cpufreq", 2);
            snprintf(path, sizeof path, CPUFREQ "policy0/%s", names[i]);
            put_something_bad(&machine, path, what);
            yoke_frequencies *frequencies = frequency_tree_open(&machine);
            yoke_status status = yoke_frequency_set(frequencies, "cpu", 2e9, NULL);
            assert_true(status == YOKE_OK || status == YOKE_ERROR_SYSTEM || status == YOKE_ERROR_UNAVAILABLE);
            yoke_frequencies_close(frequencies);
            frequency_tree_holds(&machine, 1, "scaling_min_freq", "800000");
            frequency_tree_holds(&machine, 1, "scaling_max_freq", "3600000");
            frequency_tree_holds(&machine, 1, "scaling_governor", "schedutil");
            frequency_tree_holds(&machine, 1, "scaling_setspeed", "<unsupported>");
            frequency_tree_end(&machine);
        }
}

static void directories_that_are_no_policies_are_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {"policy", "policy-1", "policy0x", "policy007", "policy99999999999999999999", "policyA"};
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        snprintf(path, sizeof path, CPUFREQ "%s/scaling_min_freq", names[i]);
        tree_write(&machine.files, path, "800000\n");
    }
    yoke_frequency_options options = frequency_tree_options(&machine);
    frequency_tree_mentions(frequency_tree_find(machine.context, &options, "cpu").description, "1 policy;");
    frequency_tree_end(&machine);
}

/* ----------------------------------------------------------------------------------------- CPUs come and go */

static void a_policy_that_vanishes_is_reported_and_the_others_are_restored(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", NUM_POLICIES);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_OK);
    tree_remove(&machine.files, "sys/devices/system/cpu/cpufreq/policy1");
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 1e9, NULL), YOKE_OK);
    frequency_tree_holds(&machine, 3, "scaling_min_freq", "1000000");
    machine.log[0] = '\0';
    yoke_frequencies_close(frequencies);
    frequency_tree_mentions(machine.log, "E a frequency could not be restored");
    frequency_tree_mentions(machine.log, "policy1");
    static const int left[] = {0, 2, 3};
    for (int i = 0; i < 3; i++) {
        frequency_tree_holds(&machine, left[i], "scaling_min_freq", "800000");
        frequency_tree_holds(&machine, left[i], "scaling_max_freq", "3600000");
    }
    frequency_tree_end(&machine);
}

static void a_policy_that_comes_is_saved_set_and_restored(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 2);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, NULL), YOKE_OK);
    frequency_tree_add_policy(&machine, "intel_pstate", 7);
    frequency_tree_write(&machine, 7, "scaling_max_freq", "3100000");
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2.5e9, NULL), YOKE_OK);
    frequency_tree_mentions(machine.log, "policy7 has come");
    frequency_tree_holds(&machine, 7, "scaling_max_freq", "2500000");
    yoke_frequencies_close(frequencies);
    frequency_tree_holds(&machine, 7, "scaling_max_freq", "3100000");
    frequency_tree_holds(&machine, 7, "scaling_min_freq", "800000");
    frequency_tree_end(&machine);
}

/* ------------------------------------------------------------------------------------------------ read back */

static void a_frequency_that_is_not_reached_is_a_warning_with_a_reason(void **state)
{
    (void)state;
    frequency_tree machine;
    double reached_hz = 0;
    frequency_tree_begin(&machine, "intel_pstate", 2);
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 3e9, &reached_hz), YOKE_OK);
    assert_true(reached_hz == 1.2e9);
    frequency_tree_mentions(machine.log, "W cpu was asked for 3 GHz and runs at 1.2 GHz");
    frequency_tree_mentions(machine.log, "no reason");
    machine.log[0] = '\0';
    frequency_tree_write(&machine, 1, "bios_limit", "1200000");
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 3e9, &reached_hz), YOKE_OK);
    frequency_tree_mentions(machine.log, "the firmware limits policy1 to 1200 MHz");
    yoke_frequencies_close(frequencies);
    frequency_tree_end(&machine);
}

typedef struct heater {
    const frequency_tree *machine;
    atomic_int stop;
} heater;

static void *heat(void *user)
{
    heater *heats = user;
    for (unsigned long long count = 5; !atomic_load(&heats->stop); count++)
        tree_write_number(&heats->machine->files, "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", count);
    return NULL;
}

static void heat_is_named_as_the_reason(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    tree_write(&machine.files, "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "4\n");
    yoke_frequency_options options = frequency_tree_options(&machine);
    options.settle_s = 0.2;
    yoke_frequencies *frequencies = NULL;
    assert_int_equal(yoke_frequencies_open(machine.context, &options, &frequencies), YOKE_OK);
    heater heats = {.machine = &machine};
    pthread_t thread;
    /* The file is now and then empty while it is written: then the counter is not known, so it takes a few attempts. */
    assert_int_equal(pthread_create(&thread, NULL, heat, &heats), 0);
    for (int attempt = 0; attempt < 50 && strstr(machine.log, "heat: ") == NULL; attempt++)
        assert_int_equal(yoke_frequency_set(frequencies, "cpu", 3e9, NULL), YOKE_OK);
    atomic_store(&heats.stop, 1);
    pthread_join(thread, NULL);
    frequency_tree_mentions(machine.log, "heat: ");
    yoke_frequencies_close(frequencies);
    frequency_tree_end(&machine);
}

static void a_frequency_that_cannot_be_read_is_not_known(void **state)
{
    (void)state;
    frequency_tree machine;
    double reached_hz = 0;
    frequency_tree_begin(&machine, "intel_pstate", 1);
    frequency_tree_write(&machine, 0, "scaling_cur_freq", "<unknown>");
    yoke_frequencies *frequencies = frequency_tree_open(&machine);
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 3e9, &reached_hz), YOKE_OK);
    assert_true(isnan(reached_hz));
    yoke_frequencies_close(frequencies);
    frequency_tree_end(&machine);
}

/* ---------------------------------------------------------------------------------------------------- memory */

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "acpi-cpufreq", 12);
    yoke_frequency_options options = frequency_tree_options(&machine);
    char *before = frequency_tree_picture(&machine);
    int64_t kept = machine.memory.outstanding;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t at = 1; status != YOKE_OK; at++) {
        yoke_frequencies *frequencies = NULL;
        machine.memory.fail_at = machine.memory.calls + at;
        status = yoke_frequencies_open(machine.context, &options, &frequencies);
        if (status == YOKE_OK) status = yoke_frequency_set(frequencies, "cpu", 2.4e9, NULL);
        machine.memory.fail_at = 0;
        yoke_frequencies_close(frequencies);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_int_equal(machine.memory.outstanding, kept);
        assert_in_range(at, 1, 1000);
        char *after = frequency_tree_picture(&machine);
        assert_string_equal(after, before);
        free(after);
    }
    status = YOKE_ERROR_MEMORY;
    for (int64_t at = 1; status != YOKE_OK; at++) {
        yoke_frequency_info *list = NULL;
        int64_t count = 0;
        machine.memory.fail_at = machine.memory.calls + at;
        status = yoke_frequencies_list(machine.context, &options, &list, &count);
        machine.memory.fail_at = 0;
        yoke_release(machine.context, list);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        assert_int_equal(machine.memory.outstanding, kept);
    }
    free(before);
    frequency_tree_end(&machine);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_driver_is_set_its_way_and_restored_byte_for_byte),
    cmocka_unit_test(a_speed_outside_the_limits_widens_them_and_only_so_far),
    cmocka_unit_test(the_nearest_level_is_asked_for),
    cmocka_unit_test(cores_of_two_kinds_get_each_what_they_can),
    cmocka_unit_test(a_governor_with_a_speed_of_its_own_comes_back_with_it),
    cmocka_unit_test(what_others_change_meanwhile_is_put_back_too),
    cmocka_unit_test(names_and_frequencies_that_are_wrong_are_refused),
    cmocka_unit_test(options_that_are_wrong_are_refused),
    cmocka_unit_test(a_change_that_is_refused_half_way_is_taken_back),
    cmocka_unit_test(whatever_stands_in_a_file_others_are_restored_and_nothing_hangs),
    cmocka_unit_test(directories_that_are_no_policies_are_left_out),
    cmocka_unit_test(a_policy_that_vanishes_is_reported_and_the_others_are_restored),
    cmocka_unit_test(a_policy_that_comes_is_saved_set_and_restored),
    cmocka_unit_test(a_frequency_that_is_not_reached_is_a_warning_with_a_reason),
    cmocka_unit_test(heat_is_named_as_the_reason),
    cmocka_unit_test(a_frequency_that_cannot_be_read_is_not_known),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, NULL, NULL)
