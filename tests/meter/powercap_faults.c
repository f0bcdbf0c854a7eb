/* Energy counters of /sys/class/powercap that wrap, fail, vanish or say what makes no sense. */
#include <math.h>

#include "tree.h"

#define ZONES "sys/class/powercap/"

static const meter_kind *const kinds[] = {&meter_powercap};
static const double range_2_14 = 262143.32885; /* max_energy_range_uj of a unit of 2^-14 J, in joules */

static void open_all(tree *where) { tree_open(where, kinds, 1, NULL); }

/* --------------------------------------------------------------------------------------------------- wraps */

static void a_single_wrap_is_counted(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "intel-rapl:0/energy_uj", "262143000000\n");
    open_all(&here);
    tree_begin_region(&here);
    tree_write(&here, ZONES "intel-rapl:0/energy_uj", "99671150\n");
    here.now_s += 1;
    tree_near(tree_end_region(&here, "powercap:package-0").value_j, 100, 62e-6); /* 0.32885 J before the wrap */
    tree_end(&here);
}

static void three_wraps_are_counted(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "amd-server"); /* 65532.6 J, two minutes at 500 W */
    const double unit_j = 15.258e-6, range_j = unit_j * 4294967296.0;
    double truth_j = 60000;
    tree_write_number(&here, ZONES "intel-rapl:0/energy_uj", (unsigned long long)llround(truth_j * 1e6));
    open_all(&here);
    tree_begin_region(&here);
    for (int seconds = 0; seconds < 350; seconds++) {
        truth_j += 450;
        tree_write_number(&here, ZONES "intel-rapl:0/energy_uj", (unsigned long long)(fmod(truth_j, range_j) * 1e6));
        tree_wait(&here, 1);
    }
    yoke_energy energy = tree_end_region(&here, "powercap:package-0");
    tree_near(energy.value_j, 157500, 4 * unit_j);
    assert_true(energy.uncertainty_j >= fabs(energy.value_j - 157500));
    tree_end(&here);
}

static void the_last_count_before_a_wrap_is_in_range(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "intel-rapl:0/energy_uj", "262143328850\n");
    tree_find(&here, &meter_powercap);
    assert_int_equal(tree_read(tree_domain(&here, "powercap:package-0")).count, 262143328850);
    tree_end(&here);
}

static void a_step_back_is_no_wrap(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    open_all(&here);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", -5000000);
    here.now_s += 1;
    tree_no_value(tree_end_region(&here, "powercap:package-0"), "stepped back");
    tree_end(&here);
}

static void a_package_that_stands_still_is_stuck(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    open_all(&here);
    tree_begin_region(&here);
    for (int i = 0; i < 3; i++) tree_wait(&here, 1);
    tree_no_value(tree_end_region(&here, "powercap:package-0"), "stuck");
    tree_end(&here);
}

/* ------------------------------------------------------------------------------------------- cannot be read */

static void without_rights_there_is_a_remedy(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_forbid(&here, ZONES "intel-rapl:0/energy_uj");
    tree_find_as_user(&here, &meter_powercap);
    tree_unusable(&here, "powercap:package-0", "root only", "sudo chmod a+r /sys/class/powercap/*/energy_uj");
    tree_unusable(&here, "powercap:package-0", "root only", "z /sys/class/powercap/intel-rapl:*/energy_uj 0440 root power - -");
    tree_unusable(&here, "powercap:package-0", "root only",
                  "SUBSYSTEM==\"powercap\", ACTION==\"add\", RUN+=\"/bin/chmod a+r /sys%p/energy_uj\"");
    assert_true(tree_domain(&here, "powercap:package-1")->info.usable);
    tree_end(&here);
}

static void a_zone_that_fails_from_the_beginning_says_why(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_remove(&here, ZONES "intel-rapl:0/energy_uj");
    tree_link(&here, ZONES "intel-rapl:0/energy_uj", "/proc/self/mem"); /* EIO at its beginning */
    tree_remove(&here, ZONES "intel-rapl:0:0/energy_uj");
    tree_directory(&here, ZONES "intel-rapl:0:0/energy_uj");
    tree_remove(&here, ZONES "intel-rapl:1/energy_uj");
    tree_remove(&here, ZONES "intel-rapl:1:0/energy_uj");
    tree_link(&here, ZONES "intel-rapl:1:0/energy_uj", "nowhere");
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap:package-0", "Input/output error", "perf");
    tree_unusable(&here, "powercap:dram-0", "Is a directory", "perf");
    tree_unusable(&here, "powercap:package-1", "no energy_uj", NULL);
    tree_unusable(&here, "powercap:dram-1", "no energy_uj", NULL);
    tree_end(&here);
}

static void a_pipe_in_place_of_a_counter_does_not_hang(void **state)
{
    (void)state;
    static const char *const files[] = {"name", "energy_uj", "max_energy_range_uj"};
    for (int i = 0; i < 3; i++) {
        char path[96];
        tree here;
        tree_begin(&here, "intel-server");
        snprintf(path, sizeof path, ZONES "intel-rapl:1/%s", files[i]);
        tree_remove(&here, path);
        tree_pipe(&here, path);
        tree_find(&here, &meter_powercap);
        assert_true(tree_domain(&here, "powercap:package-0")->info.usable);
        tree_end(&here);
    }
}

static void an_error_in_mid_run_is_no_number(void **state)
{
    (void)state;
    tree here;
    int kept = -1;
    tree_begin(&here, "intel-server");
    open_all(&here);
    tree_begin_region(&here);
    int broken = tree_break(&here, ZONES "intel-rapl:0/energy_uj", &kept);
    tree_add(&here, ZONES "intel-rapl:1/energy_uj", 33000000);
    here.now_s += 1;
    yoke_energy total = tree_end_region(&here, NULL);
    tree_heal(broken, kept);
    tree_no_value(total, "Input/output error");
    /* And it comes back. */
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 1000000);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 44000000);
    here.now_s += 1;
    tree_near(tree_end_region(&here, "powercap:package-0").value_j, 44, 1e-9);
    tree_end(&here);
}

static void an_error_that_passes_within_a_region_costs_nothing(void **state)
{
    (void)state;
    tree here;
    int kept = -1;
    tree_begin(&here, "intel-server");
    open_all(&here);
    tree_begin_region(&here);
    int broken = tree_break(&here, ZONES "intel-rapl:0/energy_uj", &kept);
    tree_wait(&here, 0.5);
    tree_heal(broken, kept);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 44000000);
    tree_wait(&here, 0.5);
    tree_near(tree_end_region(&here, "powercap:package-0").value_j, 44, 1e-9);
    tree_end(&here);
}

static void a_zone_that_goes_away_in_mid_run_is_lost(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    open_all(&here);
    tree_begin_region(&here);
    tree_remove(&here, ZONES "intel-rapl:1"); /* all CPUs of the package were taken offline */
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 33000000);
    here.now_s += 1;
    tree_no_value(tree_end_region(&here, NULL), "lost");
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 12000000);
    here.now_s += 1;
    tree_near(tree_end_region(&here, "powercap:package-0").value_j, 12, 1e-9);
    tree_end(&here);
}

static void what_is_no_number_is_no_count(void **state)
{
    (void)state;
    static const char *const contents[] = {"",
                                           "\n",
                                           "abc\n",
                                           "12 34\n",
                                           "-5\n",
                                           "+5\n",
                                           "0x10\n",
                                           "1e9\n",
                                           "nan\n",
                                           " 7\n",
                                           "7\n7\n",
                                           "99999999999999999999999999\n",
                                           "18446744073709551615\n",
                                           "262143328912\n"};
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        tree here;
        meter_sample sample;
        char why[METER_WHY_BYTES];
        tree_begin(&here, "intel-server");
        tree_find(&here, &meter_powercap);
        const meter_domain *package = tree_domain(&here, "powercap:package-0");
        tree_write(&here, ZONES "intel-rapl:0/energy_uj", contents[i]);
        assert_int_equal(tree_try(package, &sample, why), METER_FAILED);
        assert_non_null(strstr(why, "intel-rapl:0/energy_uj"));
        tree_find(&here, &meter_powercap); /* and so from the beginning */
        assert_false(tree_domain(&here, "powercap:package-0")->info.usable);
        tree_end(&here);
    }
}

static void a_huge_file_is_no_count(void **state)
{
    (void)state;
    tree here;
    char *huge = malloc(1 << 20);
    assert_non_null(huge);
    memset(huge, '1', (1 << 20) - 1);
    huge[(1 << 20) - 1] = '\0';
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "intel-rapl:0/energy_uj", huge);
    tree_write(&here, ZONES "intel-rapl:0:0/max_energy_range_uj", huge);
    tree_write(&here, ZONES "intel-rapl:1/name", huge);
    free(huge);
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap:package-0", "does not hold a number", NULL);
    assert_true(tree_domain(&here, "powercap:dram-0")->info.usable); /* with the range of the other memory */
    tree_unusable(&here, "powercap:powercap/intel-rapl:1", "name cannot be read", NULL);
    tree_end(&here);
}

/* -------------------------------------------------------------------------------------------------- ranges */

static void a_missing_range_is_that_of_a_zone_with_the_same_unit(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_remove(&here, ZONES "intel-rapl:0/max_energy_range_uj");
    tree_write(&here, ZONES "intel-rapl:0/energy_uj", "262143000000\n");
    tree_find(&here, &meter_powercap);
    assert_non_null(strstr(tree_domain(&here, "powercap:package-0")->info.description, "its range is that of intel-rapl"));
    open_all(&here);
    tree_begin_region(&here);
    tree_write(&here, ZONES "intel-rapl:0/energy_uj", "671150\n");
    here.now_s += 1;
    tree_near(tree_end_region(&here, "powercap:package-0").value_j, 1, 62e-6);
    tree_end(&here);
}

static void a_range_that_nobody_knows_makes_a_zone_unusable(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_remove(&here, ZONES "intel-rapl:1/max_energy_range_uj"); /* psys has a unit of its own */
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap:psys", "max_energy_range_uj cannot be read", "perf");
    assert_true(tree_domain(&here, "powercap:package-0")->info.usable);
    tree_end(&here);
}

static void an_absurd_range_is_not_believed(void **state)
{
    (void)state;
    static const char *const ranges[] = {"0\n",       "1\n", "65535\n", "-1\n", "18446744073709551615\n", "9223372036854775807\n",
                                         "garbage\n", ""};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        tree here;
        tree_begin(&here, "intel-server");
        tree_write(&here, ZONES "intel-rapl:0/max_energy_range_uj", ranges[i]);
        tree_write(&here, ZONES "intel-rapl:0:0/max_energy_range_uj", ranges[i]);
        tree_write(&here, ZONES "intel-rapl:1:0/max_energy_range_uj", ranges[i]);
        tree_find(&here, &meter_powercap);
        tree_near(tree_domain(&here, "powercap:package-0")->info.wrap_j, range_2_14, 1e-4); /* of package-1 */
        tree_unusable(&here, "powercap:dram-0", "max_energy_range_uj", NULL);
        tree_end(&here);
    }
}

static void a_counter_beyond_its_range_is_not_believed(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "intel-rapl:0:0/max_energy_range_uj", "30000000000\n"); /* and the counter is at 40123 J */
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap:dram-0", "no range of a counter that shows 40123456789 uJ", NULL);
    tree_end(&here);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_single_wrap_is_counted),
    cmocka_unit_test(three_wraps_are_counted),
    cmocka_unit_test(the_last_count_before_a_wrap_is_in_range),
    cmocka_unit_test(a_step_back_is_no_wrap),
    cmocka_unit_test(a_package_that_stands_still_is_stuck),
    cmocka_unit_test(without_rights_there_is_a_remedy),
    cmocka_unit_test(a_zone_that_fails_from_the_beginning_says_why),
    cmocka_unit_test(a_pipe_in_place_of_a_counter_does_not_hang),
    cmocka_unit_test(an_error_in_mid_run_is_no_number),
    cmocka_unit_test(an_error_that_passes_within_a_region_costs_nothing),
    cmocka_unit_test(a_zone_that_goes_away_in_mid_run_is_lost),
    cmocka_unit_test(what_is_no_number_is_no_count),
    cmocka_unit_test(a_huge_file_is_no_count),
    cmocka_unit_test(a_missing_range_is_that_of_a_zone_with_the_same_unit),
    cmocka_unit_test(a_range_that_nobody_knows_makes_a_zone_unusable),
    cmocka_unit_test(an_absurd_range_is_not_believed),
    cmocka_unit_test(a_counter_beyond_its_range_is_not_believed),
};

UNIT_MAIN(tests, NULL, NULL)
