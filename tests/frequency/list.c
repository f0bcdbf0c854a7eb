/* What there is of cpufreq, and why not. */
#define _XOPEN_SOURCE 700
#include "run/machine/list.h"
#include "policy_tree.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUM_POLICIES = 4 };

static void every_driver_is_listed_with_its_range_and_way(void **state)
{
    (void)state;
    for (int i = 0; i < NUM_DRIVERS; i++) {
        frequency_tree machine;
        frequency_tree_begin(&machine, frequency_tree_drivers[i], NUM_POLICIES);
        yoke_frequency_options options = frequency_tree_options(&machine);
        yoke_frequency_info cpu = frequency_tree_find(machine.context, &options, "cpu");
        int active = strcmp(frequency_tree_drivers[i], "intel_pstate") == 0 || strcmp(frequency_tree_drivers[i], "amd-pstate-epp") == 0;
        assert_true(cpu.settable);
        assert_string_equal(cpu.why_not, "");
        assert_string_equal(cpu.remedy, "");
        assert_string_equal(cpu.kind, "cpufreq");
        assert_true(cpu.max_hz == 3.6e9 && cpu.current_hz == 1.2e9);
        assert_true(cpu.min_hz == (strncmp(frequency_tree_drivers[i], "amd", 3) == 0 ? 0.4e9 : 0.8e9));
        assert_int_equal(cpu.num_levels, strcmp(frequency_tree_drivers[i], "acpi-cpufreq") == 0 ? 5 : 0);
        for (int64_t k = 1; k < cpu.num_levels; k++) assert_true(cpu.levels_hz[k - 1] < cpu.levels_hz[k]);
        frequency_tree_mentions(cpu.description, frequency_tree_drivers[i]);
        frequency_tree_mentions(cpu.description, active ? "equal limits" : "userspace");
        frequency_tree_end(&machine);
    }
}

static void listing_changes_nothing(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_cpufreq", NUM_POLICIES);
    char *before = frequency_tree_picture(&machine);
    yoke_frequency_options options = frequency_tree_options(&machine);
    frequency_tree_find(machine.context, &options, "cpu");
    yoke_frequencies_close(frequency_tree_open(&machine));
    char *after = frequency_tree_picture(&machine);
    assert_string_equal(after, before);
    assert_int_equal(frequency_tree_guard_of(getpid()), 0);
    free(before);
    free(after);
    frequency_tree_end(&machine);
}

/* What `yoke info` shows where frequencies cannot be set: each with a reason and a remedy. */
static void expect_refused(frequency_tree *machine, const char *why, const char *remedy)
{
    yoke_frequency_options options = frequency_tree_options(machine);
    yoke_frequency_info cpu = frequency_tree_find(machine->context, &options, "cpu");
    assert_false(cpu.settable);
    frequency_tree_mentions(cpu.why_not, why);
    frequency_tree_mentions(cpu.remedy, remedy);
    yoke_frequencies *frequencies = frequency_tree_open(machine);
    double reached_hz = -1;
    assert_int_equal(yoke_frequency_set(frequencies, "cpu", 2e9, &reached_hz), YOKE_ERROR_UNAVAILABLE);
    frequency_tree_mentions(yoke_last_error(machine->context), why);
    frequency_tree_mentions(yoke_last_error(machine->context), remedy);
    assert_true(reached_hz == -1);
    yoke_frequencies_close(frequencies);
}

static void a_machine_without_cpufreq_says_why(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "", 0);
    expect_refused(&machine, "cpufreq", "host");
    frequency_tree_end(&machine);
}

static void without_the_guard_frequencies_are_not_settable(void **state)
{
    (void)state;
    frequency_tree machine;
    frequency_tree_begin(&machine, "intel_pstate", NUM_POLICIES);
    assert_int_equal(setenv("YOKE_CLOCK_GUARD", "/nowhere/yoke-clock-guard", 1), 0);
    expect_refused(&machine, "/nowhere/yoke-clock-guard", "YOKE_CLOCK_GUARD");
    setenv("YOKE_CLOCK_GUARD", "yoke-clock-guard", 1); /* a relative path could be anybody's program */
    expect_refused(&machine, "absolute path", "YOKE_CLOCK_GUARD");
    unsetenv("YOKE_CLOCK_GUARD");
    frequency_tree_end(&machine);
}

static void without_the_right_to_write_the_rule_for_it_is_named(void **state)
{
    (void)state;
    frequency_tree machine;
    char path[256];
    frequency_tree_begin(&machine, "intel_pstate", NUM_POLICIES);
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpufreq/policy2/scaling_max_freq", machine.files.root);
    assert_int_equal(chmod(path, 0444), 0);
    int root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0);
    yoke_frequency_options options = frequency_tree_options(&machine);
    yoke_frequency_info cpu = frequency_tree_find(machine.context, &options, "cpu");
    if (root) assert_int_equal(seteuid(0), 0);
    assert_false(cpu.settable);
    frequency_tree_mentions(cpu.why_not, "Permission denied");
    frequency_tree_mentions(cpu.remedy, "run as root");
    frequency_tree_mentions(cpu.remedy, "/etc/tmpfiles.d/yoke-clocks.conf");
    frequency_tree_mentions(cpu.remedy, "docs/reference/frequencies.md"); /* the end of it: it is not cut */
    assert_true(cpu.current_hz == 1.2e9);                                 /* seen all the same */
    frequency_tree_end(&machine);
}

static void policies_that_are_nonsense_are_no_frequency(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"cpuinfo_max_freq", "-1"},  {"cpuinfo_max_freq", "99999999999999999999999"},
        {"cpuinfo_min_freq", "nan"}, {"cpuinfo_min_freq", "4000000"},
        {"cpuinfo_max_freq", ""},    {"scaling_min_freq", "<unknown>"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        frequency_tree machine;
        frequency_tree_begin(&machine, "intel_pstate", 1);
        frequency_tree_write(&machine, 0, bad[i][0], bad[i][1]);
        yoke_frequency_options options = frequency_tree_options(&machine);
        yoke_frequency_info cpu = frequency_tree_find(machine.context, &options, "cpu");
        assert_false(cpu.settable);
        frequency_tree_mentions(cpu.why_not, "limits");
        assert_true(isnan(cpu.max_hz) && isnan(cpu.current_hz));
        frequency_tree_end(&machine);
    }
}

static void trees_recorded_without_links_are_read_too(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    char root[1024];
    static const char *const machines[] = {"intel-server", "intel-laptop", "amd-server"};
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        snprintf(root, sizeof root, "%s/tests/machines/%s", getenv("YOKE_SOURCE_DIR"), machines[i]);
        yoke_frequency_options options = {.sysroot = root};
        yoke_frequency_info cpu = frequency_tree_find(context, &options, "cpu");
        assert_true(cpu.min_hz > 0 && cpu.max_hz > cpu.min_hz);
    }
    snprintf(root, sizeof root, "%s/tests/machines/virtual-machine", getenv("YOKE_SOURCE_DIR"));
    yoke_frequency_options options = {.sysroot = root};
    assert_false(frequency_tree_find(context, &options, "cpu").settable);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_driver_is_listed_with_its_range_and_way),
    cmocka_unit_test(listing_changes_nothing),
    cmocka_unit_test(a_machine_without_cpufreq_says_why),
    cmocka_unit_test(without_the_guard_frequencies_are_not_settable),
    cmocka_unit_test(without_the_right_to_write_the_rule_for_it_is_named),
    cmocka_unit_test(policies_that_are_nonsense_are_no_frequency),
    cmocka_unit_test(trees_recorded_without_links_are_read_too),
};

UNIT_MAIN(tests, NULL, NULL)
