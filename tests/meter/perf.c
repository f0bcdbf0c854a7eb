/* Energy counters as perf events, on recorded machines (counts are files) and on this one (whatever it has). */
#define _GNU_SOURCE /* uselocale */
#include <locale.h>

#include "perf_counts.h"

static const meter_kind *const kinds[] = {&meter_perf}, *const both[] = {&meter_powercap, &meter_perf};

/* ------------------------------------------------------------------------------------------- what is there */

static void an_intel_server_has_packages_and_memory(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_find(&here, &meter_perf);
    assert_int_equal(here.list.count, 4);
    const meter_domain *package = tree_domain(&here, "perf:package-1"), *memory = tree_domain(&here, "perf:dram-1");
    assert_true(package->info.usable && memory->info.usable);
    assert_string_equal(package->info.covers, "package-1"); /* by the place of CPU 2, not by number */
    assert_string_equal(memory->info.covers, "dram-1");
    assert_int_equal(package->rank, 20);
    assert_true(package->unit_j == 1 / perf_joule);
    assert_int_equal(tree_read(package).count, 12884901888000 % (1LL << 48));
    tree_end(&here);
}

static void what_it_covers_agrees_with_powercap(void **state)
{
    (void)state;
    static const char *const machines[] = {"intel-server", "intel-laptop"};
    for (int i = 0; i < 2; i++) {
        tree here;
        meter_list powercap;
        tree_begin(&here, machines[i]);
        meter_site site = {.context = here.context, .root = here.root, .time = &here.time};
        const meter_kind *first = &meter_powercap;
        assert_int_equal(meter_find(&site, &first, 1, &powercap), YOKE_OK);
        tree_find(&here, &meter_perf);
        for (int64_t j = 0; j < powercap.count; j++) {
            int64_t matches = 0;
            for (int64_t k = 0; k < here.list.count; k++)
                matches += strcmp(powercap.domains[j].info.covers, here.list.domains[k].info.covers) == 0;
            assert_int_equal(matches, 1);
        }
        meter_list_clear(&powercap);
        tree_end(&here);
    }
}

static void joules_are_right_to_the_quantum(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_open(&here, kinds, 1, NULL);
    tree_begin_region(&here);
    add_j(&here, COUNTS "energy-pkg/cpu0", 81.25);
    add_j(&here, COUNTS "energy-pkg/cpu2", 42.5);
    add_j(&here, COUNTS "energy-ram/cpu0", 7);
    add_j(&here, COUNTS "energy-ram/cpu2", 5.125);
    here.now_s += 1;
    tree_near(tree_end_region(&here, NULL).value_j, 81.25 + 42.5 + 7 + 5.125, 1e-9);
    tree_end(&here);
}

static void the_parts_of_a_package_are_its_children(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_find(&here, &meter_perf);
    assert_string_equal(tree_domain(&here, "perf:package-0/core")->info.parent, "perf:package-0");
    assert_string_equal(tree_domain(&here, "perf:package-0/uncore")->info.parent, "perf:package-0");
    assert_string_equal(tree_domain(&here, "perf:package-0")->info.parent, "perf:psys");
    assert_string_equal(tree_domain(&here, "perf:psys")->info.covers, "psys");
    tree_end(&here);
}

static void it_stands_in_where_powercap_may_not_be_read(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "sys/class/powercap/intel-rapl:%d/energy_uj", i);
        tree_remove(&here, path);
        tree_directory(&here, path);
    }
    tree_open(&here, both, 2, NULL);
    tree_begin_region(&here);
    add_j(&here, COUNTS "energy-pkg/cpu0", 10);
    add_j(&here, COUNTS "energy-pkg/cpu2", 20);
    add_j(&here, COUNTS "energy-ram/cpu0", 1000); /* not taken: powercap is there for memory */
    tree_add(&here, "sys/class/powercap/intel-rapl:0:0/energy_uj", 3000000);
    tree_add(&here, "sys/class/powercap/intel-rapl:1:0/energy_uj", 4000000);
    here.now_s += 1;
    tree_near(tree_end_region(&here, NULL).value_j, 37, 1e-6);
    tree_end(&here);
}

static void amd_has_packages_and_the_sum_of_their_cores(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "amd-server");
    tree_find(&here, &meter_perf);
    assert_int_equal(here.list.count, 4);
    assert_true(tree_domain(&here, "perf:package-1")->info.usable);
    const meter_domain *cores = tree_domain(&here, "perf:package-1/core");
    assert_string_equal(cores->info.parent, "perf:package-1");
    assert_int_equal(tree_read(cores).count, 268435456000 + 134217728000);
    tree_end(&here);
}

static void so_many_cores_that_reading_disturbs_are_left_alone(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "amd-server");
    tree_write(&here, "sys/bus/event_source/devices/power_core/cpumask", "0-31\n");
    for (int cpu = 0; cpu < 32; cpu++) {
        char path[96];
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        tree_write(&here, path, "0\n");
        snprintf(path, sizeof path, "yoke/perf/power_core/energy-core/cpu%d", cpu);
        tree_write(&here, path, "1000\n");
    }
    tree_write(&here, "sys/bus/event_source/devices/power/cpumask", "0\n");
    tree_find(&here, &meter_perf);
    tree_unusable(&here, "perf:package-0/core", "32 cores", "the package");
    assert_true(tree_domain(&here, "perf:package-0")->info.usable);
    tree_end(&here);
}

static void a_platform_counter_in_whole_joules_says_so(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_find(&here, &meter_perf);
    tree_near(tree_domain(&here, "perf:psys")->info.resolution_j, 61.035e-6, 1e-9);
    tree_write(&here, "proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\n\n"); /* Sapphire Rapids */
    tree_find(&here, &meter_perf);
    tree_near(tree_domain(&here, "perf:psys")->info.resolution_j, 1, 1e-9);
    tree_end(&here);
}

static void a_second_packages_platform_counter_is_not_added(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, PMU "events/energy-psys", "event=0x05\n");
    tree_write(&here, PMU "events/energy-psys.scale", "2.3283064365386962890625e-10\n");
    tree_write(&here, PMU "events/energy-psys.unit", "Joules\n");
    tree_write(&here, COUNTS "energy-psys/cpu0", "0\n");
    tree_write(&here, COUNTS "energy-psys/cpu2", "0\n");
    tree_find(&here, &meter_perf);
    assert_false(tree_domain(&here, "perf:psys")->overlaps);
    assert_true(tree_domain(&here, "perf:psys-1")->overlaps);
    tree_open(&here, kinds, 1, "perf:package-0,perf:package-1,perf:psys,perf:psys-1");
    tree_begin_region(&here);
    add_j(&here, COUNTS "energy-pkg/cpu0", 10);
    add_j(&here, COUNTS "energy-pkg/cpu2", 20);
    add_j(&here, COUNTS "energy-psys/cpu0", 50);
    add_j(&here, COUNTS "energy-psys/cpu2", 60);
    here.now_s += 1;
    tree_near(tree_end_region(&here, NULL).value_j, 30, 1e-6);
    tree_end(&here);
}

static void dies_have_counters_of_their_own(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, "sys/devices/system/cpu/cpu2/topology/physical_package_id", "0\n");
    tree_write(&here, "sys/devices/system/cpu/cpu2/topology/die_id", "1\n");
    tree_find(&here, &meter_perf);
    assert_string_equal(tree_domain(&here, "perf:package-0-die-0")->info.covers, "package-0-die-0");
    assert_string_equal(tree_domain(&here, "perf:dram-0-die-1")->info.covers, "dram-0-die-1");
    tree_end(&here);
}

static void a_decimal_comma_does_not_spoil_the_scale(void **state)
{
    (void)state;
    locale_t comma = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    if (comma == (locale_t)0) skip();
    locale_t before = uselocale(comma);
    tree here;
    tree_begin(&here, "intel-server");
    tree_find(&here, &meter_perf);
    uselocale(before);
    freelocale(comma);
    assert_true(tree_domain(&here, "perf:package-0")->unit_j == 1 / perf_joule);
    tree_end(&here);
}

/* --------------------------------------------------------------------------------------------------- wraps */

static void it_is_read_before_the_signed_difference_overflows(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "amd-server");
    tree_open(&here, kinds, 1, NULL);
    assert_true(meter_set_interval_s(here.set) <= 30);
    for (int64_t i = 0; i < here.set->count; i++) assert_true(here.set->members[i].interval_s <= 30);
    tree_end(&here);
}

static void a_step_back_by_the_kernels_signed_difference_is_invisible(void **state)
{
    (void)state;
    static const double steps_j[] = {65536, 262144}; /* 2^32 counts of 2^-16 J and of 2^-14 J */
    for (int i = 0; i < 2; i++) {
        tree here;
        tree_begin(&here, "intel-server");
        tree_write_number(&here, COUNTS "energy-pkg/cpu0", (unsigned long long)(300000 * perf_joule));
        tree_open(&here, kinds, 1, NULL);
        tree_begin_region(&here);
        /* 40 kJ went by unread, which the kernel took for a step back. */
        add_j(&here, COUNTS "energy-pkg/cpu0", 40000 - steps_j[i]);
        here.now_s += 25;
        tree_near(tree_end_region(&here, "perf:package-0").value_j, 40000, 1e-6);
        tree_end(&here);
    }
}

static void counts_far_beyond_the_range_are_right(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_open(&here, kinds, 1, NULL);
    tree_begin_region(&here);
    for (int minutes = 0; minutes < 60; minutes++) {
        for (int part = 0; part < 4; part++) {
            add_j(&here, COUNTS "energy-pkg/cpu0", 6000);
            tree_wait(&here, 15);
        }
    }
    tree_near(tree_end_region(&here, "perf:package-0").value_j, 60 * 24000.0, 1e-3); /* 22 times the range */
    tree_end(&here);
}

static void a_small_step_back_is_a_fault(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_open(&here, kinds, 1, NULL);
    tree_begin_region(&here);
    add_j(&here, COUNTS "energy-pkg/cpu0", -100);
    here.now_s += 1;
    tree_no_value(tree_end_region(&here, "perf:package-0"), "stepped back");
    tree_end(&here);
}

static void this_machine_is_metered_or_says_why(void **state)
{
    (void)state;
    tree here;
    char root[sizeof here.root];
    tree_begin(&here, NULL);
    memcpy(root, here.root, sizeof root);
    here.root[0] = '\0'; /* the real root, and the real system call */
    tree_find(&here, &meter_perf);
    for (int64_t i = 0; i < here.list.count; i++) {
        const meter_domain *domain = &here.list.domains[i];
        if (!domain->info.usable) continue;
        uint64_t first = tree_read(domain).count, second = tree_read(domain).count;
        assert_true((second - first) % (1ULL << 48) < (1ULL << 44)); /* less than 4096 J between two readings */
    }
    memcpy(here.root, root, sizeof root);
    tree_end(&here);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_intel_server_has_packages_and_memory),
    cmocka_unit_test(what_it_covers_agrees_with_powercap),
    cmocka_unit_test(joules_are_right_to_the_quantum),
    cmocka_unit_test(the_parts_of_a_package_are_its_children),
    cmocka_unit_test(it_stands_in_where_powercap_may_not_be_read),
    cmocka_unit_test(amd_has_packages_and_the_sum_of_their_cores),
    cmocka_unit_test(so_many_cores_that_reading_disturbs_are_left_alone),
    cmocka_unit_test(a_platform_counter_in_whole_joules_says_so),
    cmocka_unit_test(a_second_packages_platform_counter_is_not_added),
    cmocka_unit_test(dies_have_counters_of_their_own),
    cmocka_unit_test(a_decimal_comma_does_not_spoil_the_scale),
    cmocka_unit_test(it_is_read_before_the_signed_difference_overflows),
    cmocka_unit_test(a_step_back_by_the_kernels_signed_difference_is_invisible),
    cmocka_unit_test(counts_far_beyond_the_range_are_right),
    cmocka_unit_test(a_small_step_back_is_a_fault),
    cmocka_unit_test(this_machine_is_metered_or_says_why),
};

UNIT_MAIN(tests, NULL, NULL)
