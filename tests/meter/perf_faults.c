/* Energy counters as perf events: such as cannot be read, and trees of files that are odd. */
#include "perf_counts.h"

static const meter_kind *const kinds[] = {&meter_perf};

static void without_rights_there_is_a_remedy(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, COUNTS "energy-pkg/cpu2", "EACCES\n");
    tree_find(&here, &meter_perf);
    tree_unusable(&here, "perf:package-1", "perf_event_paranoid is 2", "sudo sysctl kernel.perf_event_paranoid=0");
    tree_unusable(&here, "perf:package-1", "CAP_PERFMON", "sudo setcap cap_perfmon=ep");
    assert_true(tree_domain(&here, "perf:package-0")->info.usable);
    tree_end(&here);
}

static void in_a_container_the_right_has_to_be_given(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "container");
    tree_find(&here, &meter_perf);
    tree_unusable(&here, "perf:package-0", "perf_event_paranoid is 4", "docker run --cap-add PERFMON");
    tree_end(&here);
}

static void every_error_of_the_call_has_its_reason(void **state)
{
    (void)state;
    static const struct {
        const char *error, *why;
    } known[] = {{"EPERM\n", "privileged"},
                 {"ENOSYS\n", "no perf events"},
                 {"ENODEV\n", "offline"},
                 {"EINVAL\n", "offline"},
                 {"EWHAT\n", "cannot be opened"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        tree here;
        tree_begin(&here, "intel-server");
        tree_write(&here, COUNTS "energy-pkg/cpu0", known[i].error);
        tree_find(&here, &meter_perf);
        tree_unusable(&here, "perf:package-0", known[i].why, NULL);
        tree_end(&here);
    }
}

static void a_tree_without_counts_says_so(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_remove(&here, "yoke/perf");
    tree_find(&here, &meter_perf);
    tree_unusable(&here, "perf:package-0", "no counts", NULL);
    tree_end(&here);
}

static void a_package_taken_offline_in_mid_run_is_lost(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_open(&here, kinds, 1, NULL);
    tree_begin_region(&here);
    add_j(&here, COUNTS "energy-pkg/cpu0", 5);
    tree_remove(&here, COUNTS "energy-pkg/cpu2");
    here.now_s += 1;
    tree_no_value(tree_end_region(&here, NULL), "lost");
    tree_end(&here);
}

static void an_error_in_mid_run_is_no_number(void **state)
{
    (void)state;
    tree here;
    int kept = -1;
    tree_begin(&here, "intel-server");
    tree_open(&here, kinds, 1, NULL);
    tree_begin_region(&here);
    int broken = tree_break(&here, COUNTS "energy-pkg/cpu0", &kept);
    here.now_s += 1;
    yoke_energy energy = tree_end_region(&here, "perf:package-0");
    tree_heal(broken, kept);
    tree_no_value(energy, "Input/output error");
    tree_end(&here);
}

static void one_core_that_fails_spoils_the_sum(void **state)
{
    (void)state;
    tree here;
    meter_sample sample;
    char why[METER_WHY_BYTES];
    tree_begin(&here, "amd-server");
    tree_find(&here, &meter_perf);
    tree_write(&here, "yoke/perf/power_core/energy-core/cpu1", "nonsense\n");
    assert_int_equal(tree_try(tree_domain(&here, "perf:package-0/core"), &sample, why), METER_FAILED);
    tree_remove(&here, "yoke/perf/power_core/energy-core/cpu1");
    assert_int_equal(tree_try(tree_domain(&here, "perf:package-0/core"), &sample, why), METER_GONE);
    tree_end(&here);
}

/* ----------------------------------------------------------------------------------------------- odd trees */

static void a_scale_or_unit_that_is_none_is_not_believed(void **state)
{
    (void)state;
    static const struct {
        const char *file, *content, *why;
    } known[] = {
        {"energy-pkg.scale", "0\n", "scale"},
        {"energy-pkg.scale", "nan\n", "scale"},
        {"energy-pkg.scale", "-1e-10\n", "scale"},
        {"energy-pkg.scale", "1e300\n", "scale"},
        {"energy-pkg.scale", "", "scale"},
        {"energy-pkg.scale", "2.3e-10 J\n", "scale"},
        {"energy-pkg.scale", "1e-400\n", "scale"},
        {"energy-pkg.unit", "Watts\n", "unit"},
        {"energy-pkg.unit", "", "unit"},
        {"energy-pkg", "event=0x100\n", "number"},
        {"energy-pkg", "event=\n", "number"},
        {"energy-pkg", "config=2\n", "number"},
        {"energy-pkg", "event=0x02,umask=1\n", "number"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char path[96];
        tree here;
        tree_begin(&here, "intel-server");
        snprintf(path, sizeof path, PMU "events/%s", known[i].file);
        tree_write(&here, path, known[i].content);
        tree_find(&here, &meter_perf);
        tree_unusable(&here, "perf:package-0", known[i].why, NULL);
        assert_true(tree_domain(&here, "perf:dram-0")->info.usable);
        tree_end(&here);
    }
}

static void a_mask_of_cpus_that_is_none_is_not_believed(void **state)
{
    (void)state;
    static const char *const masks[] = {
        "", "\n", "x\n", "0-\n", "2-0\n", "0,\n", ",0\n", "-1\n", "0 2\n", "99999999999999999999\n", "0,7\n", "0-1000000\n"};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        tree here;
        tree_begin(&here, "intel-server");
        tree_write(&here, PMU "cpumask", masks[i]);
        tree_find(&here, &meter_perf);
        assert_int_equal(here.list.count, 1);
        tree_unusable(&here, "perf:power", "cannot be read", "powercap");
        tree_end(&here);
    }
}

static void a_type_that_is_none_is_not_believed(void **state)
{
    (void)state;
    static const char *const types[] = {"", "-1\n", "4294967296\n", "power\n"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        tree here;
        tree_begin(&here, "intel-server");
        tree_write(&here, PMU "type", types[i]);
        tree_find(&here, &meter_perf);
        tree_unusable(&here, "perf:power", "cannot be read", NULL);
        tree_end(&here);
    }
}

static void counts_that_are_none_are_not_believed(void **state)
{
    (void)state;
    static const char *const counts[] = {"", "\n", "-1\n", "1e9\n", "99999999999999999999999\n"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        tree here;
        meter_sample sample;
        char why[METER_WHY_BYTES];
        tree_begin(&here, "intel-server");
        tree_find(&here, &meter_perf);
        tree_write(&here, COUNTS "energy-ram/cpu0", counts[i]);
        assert_int_equal(tree_try(tree_domain(&here, "perf:dram-0"), &sample, why), METER_FAILED);
        tree_end(&here);
    }
}

static void a_machine_without_energy_events_says_why(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "virtual-machine");
    tree_find(&here, &meter_perf);
    assert_int_equal(here.list.count, 1);
    tree_unusable(&here, "perf", "virtual machine", "--declare");
    tree_end(&here);
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_perf);
    tree_unusable(&here, "perf", "no perf events for energy", "modprobe rapl");
    tree_end(&here);
}

static void without_memory_nothing_is_kept(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "amd-server");
    tree_without_memory(&here, &meter_perf);
    tree_end(&here);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(without_rights_there_is_a_remedy),
    cmocka_unit_test(in_a_container_the_right_has_to_be_given),
    cmocka_unit_test(every_error_of_the_call_has_its_reason),
    cmocka_unit_test(a_tree_without_counts_says_so),
    cmocka_unit_test(a_package_taken_offline_in_mid_run_is_lost),
    cmocka_unit_test(an_error_in_mid_run_is_no_number),
    cmocka_unit_test(one_core_that_fails_spoils_the_sum),
    cmocka_unit_test(a_scale_or_unit_that_is_none_is_not_believed),
    cmocka_unit_test(a_mask_of_cpus_that_is_none_is_not_believed),
    cmocka_unit_test(a_type_that_is_none_is_not_believed),
    cmocka_unit_test(counts_that_are_none_are_not_believed),
    cmocka_unit_test(a_machine_without_energy_events_says_why),
    cmocka_unit_test(without_memory_nothing_is_kept),
};

UNIT_MAIN(tests, NULL, NULL)
