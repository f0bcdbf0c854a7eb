/* Energy counters of /sys/class/powercap on the machines of tests/machines, whole and with one thing wrong. */
#include <math.h>

#include "tree.h"

#define ZONES "sys/class/powercap/"

static const meter_kind *const kinds[] = {&meter_powercap};
static const double range_2_14 = 262143.32885; /* max_energy_range_uj of a unit of 2^-14 J, in joules */

static void open_all(tree *where) { tree_open(where, kinds, 1, NULL); }

/* ------------------------------------------------------------------------------------------- what is there */

static void an_intel_server_has_packages_and_memory(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 4);
    const meter_domain *package = tree_domain(&here, "powercap:package-1"), *memory = tree_domain(&here, "powercap:dram-1");
    assert_true(package->info.usable && memory->info.usable);
    assert_string_equal(package->info.covers, "package-1");
    assert_string_equal(memory->info.covers, "dram-1");
    assert_string_equal(package->info.parent, "");
    assert_string_equal(memory->info.parent, ""); /* below the package in sysfs, but not in its energy */
    assert_int_equal(package->rank, 10);
    assert_int_equal(package->quantity, METER_COUNTER);
    tree_near(package->info.wrap_j, range_2_14, 1e-4);
    assert_int_equal(tree_read(package).count, 98765432109);
    tree_end(&here);
}

static void the_unit_of_memory_is_its_own(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_find(&here, &meter_powercap);
    tree_near(tree_domain(&here, "powercap:package-0")->info.resolution_j, 61.035e-6, 1e-12);
    tree_near(tree_domain(&here, "powercap:dram-0")->info.resolution_j, 15.3e-6, 1e-12);
    tree_near(tree_domain(&here, "powercap:dram-0")->info.wrap_j, 65712.999628, 1e-5);
    tree_end(&here);
}

static void joules_are_right_to_the_quantum(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    open_all(&here);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 81234567);
    tree_add(&here, ZONES "intel-rapl:1/energy_uj", 42000061);
    tree_add(&here, ZONES "intel-rapl:0:0/energy_uj", 7000015);
    tree_add(&here, ZONES "intel-rapl:1:0/energy_uj", 5000000);
    here.now_s += 1;
    yoke_energy total = tree_end_region(&here, NULL);
    assert_int_equal(total.kind, YOKE_ENERGY_MEASURED);
    tree_near(total.value_j, 81.234567 + 42.000061 + 7.000015 + 5, 1e-9);
    assert_true(total.uncertainty_j > 0 && total.uncertainty_j < 1);
    tree_end(&here);
}

static void zones_are_told_by_name_not_by_number(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "intel-rapl:0/name", "package-1\n");
    tree_write(&here, ZONES "intel-rapl:1/name", "package-0\n");
    tree_find(&here, &meter_powercap);
    assert_int_equal(tree_read(tree_domain(&here, "powercap:package-0")).count, 98765432109);
    assert_int_equal(tree_read(tree_domain(&here, "powercap:dram-0")).count, 30987654321);
    assert_int_equal(tree_read(tree_domain(&here, "powercap:package-1")).count, 123456789012);
    tree_end(&here);
}

static void a_package_of_two_dies_is_two_zones(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "intel-rapl:0/name", "package-0-die-0\n");
    tree_write(&here, ZONES "intel-rapl:1/name", "package-0-die-1\n");
    tree_find(&here, &meter_powercap);
    assert_string_equal(tree_domain(&here, "powercap:package-0-die-1")->info.covers, "package-0-die-1");
    assert_string_equal(tree_domain(&here, "powercap:dram-0-die-1")->info.covers, "dram-0-die-1");
    tree_end(&here);
}

static void the_parts_of_a_package_are_its_children(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_find(&here, &meter_powercap);
    assert_string_equal(tree_domain(&here, "powercap:package-0/core")->info.parent, "powercap:package-0");
    assert_string_equal(tree_domain(&here, "powercap:package-0/uncore")->info.parent, "powercap:package-0");
    assert_string_equal(tree_domain(&here, "powercap:package-0")->info.parent, "powercap:psys");
    assert_string_equal(tree_domain(&here, "powercap:psys")->info.parent, "");
    /* Graphics may be switched off, a package is not. */
    assert_true(tree_domain(&here, "powercap:package-0")->always_moves);
    assert_false(tree_domain(&here, "powercap:package-0/uncore")->always_moves);
    tree_end(&here);
}

static void the_second_interface_to_a_package_is_not_counted_twice(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_find(&here, &meter_powercap);
    const meter_domain *again = tree_domain(&here, "powercap:mmio/package-0");
    assert_true(again->info.usable);
    assert_string_equal(again->info.covers, "package-0");
    assert_true(again->rank > tree_domain(&here, "powercap:package-0")->rank);
    open_all(&here);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 10000000);
    tree_add(&here, ZONES "intel-rapl-mmio:0/energy_uj", 10000000);
    tree_add(&here, ZONES "intel-rapl:0:0/energy_uj", 6000000);
    tree_add(&here, ZONES "intel-rapl:0:1/energy_uj", 1000000);
    here.now_s += 1;
    tree_near(tree_end_region(&here, NULL).value_j, 10, 1e-9);
    tree_end(&here);
}

static void the_second_interface_stands_in_for_the_first(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_remove(&here, ZONES "intel-rapl:0/energy_uj");
    tree_directory(&here, ZONES "intel-rapl:0/energy_uj");
    open_all(&here);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl-mmio:0/energy_uj", 12000000);
    here.now_s += 1;
    tree_near(tree_end_region(&here, "powercap:mmio/package-0").value_j, 12, 1e-9);
    tree_end(&here);
}

static void psys_is_shown_beside_what_it_contains(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    open_all(&here);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 10000000);
    tree_add(&here, ZONES "intel-rapl:1/energy_uj", 17000000);
    here.now_s += 1;
    meter_set_poll(here.set);
    tree_near(tree_end_region(&here, "powercap:psys").value_j, 17, 1e-9);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 10000000);
    tree_add(&here, ZONES "intel-rapl:1/energy_uj", 17000000);
    here.now_s += 1;
    tree_near(tree_end_region(&here, NULL).value_j, 10, 1e-9);
    tree_end(&here);
}

static void a_platform_counter_in_whole_joules_says_so(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_write(&here, ZONES "intel-rapl:1/max_energy_range_uj", "4294967295000000\n"); /* Sapphire Rapids */
    tree_find(&here, &meter_powercap);
    assert_true(tree_domain(&here, "powercap:psys")->info.usable);
    tree_near(tree_domain(&here, "powercap:psys")->info.resolution_j, 1, 1e-9);
    tree_end(&here);
}

static void amd_has_a_package_and_one_of_its_cores(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "amd-server");
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 4);
    tree_near(tree_domain(&here, "powercap:package-0")->info.resolution_j, 15.258e-6, 1e-12);
    /* The zone "core" is that of the first core alone, and no sum of cores. */
    assert_false(tree_has(&here, "powercap:package-0/core"));
    const meter_domain *core = tree_domain(&here, "powercap:package-1/one-core");
    assert_string_equal(core->info.parent, "powercap:package-1");
    assert_non_null(strstr(core->info.description, "one core only"));
    tree_end(&here);
}

static void links_as_in_a_real_sysfs_are_followed(void **state)
{
    (void)state;
    static const char *const zones[] = {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:0"};
    tree here;
    tree_begin(&here, "intel-server");
    tree_directory(&here, "sys/devices/virtual/powercap/intel-rapl");
    for (int i = 0; i < 4; i++) {
        char from[128], to[160], target[160];
        snprintf(from, sizeof from, ZONES "%s", zones[i]);
        snprintf(to, sizeof to, "sys/devices/virtual/powercap/intel-rapl/%s", zones[i]);
        snprintf(target, sizeof target, "../../devices/virtual/powercap/intel-rapl/%s", zones[i]);
        tree_move(&here, from, to);
        tree_link(&here, from, target);
    }
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 4);
    assert_int_equal(tree_read(tree_domain(&here, "powercap:package-0")).count, 123456789012);
    tree_end(&here);
}

static void zones_that_only_limit_power_are_no_meters(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "dtpm:0/name", "package\n");
    tree_write(&here, ZONES "dtpm:0/power_uw", "1000\n");
    tree_write(&here, ZONES "dtpm/enabled", "1\n");
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 4);
    tree_end(&here);
}

/* -------------------------------------------------------------------------------------------- nothing there */

static void a_virtual_machine_says_that_it_is_one(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "virtual-machine");
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 1);
    tree_unusable(&here, "powercap", "virtual machine", "--declare");
    open_all(&here);
    tree_begin_region(&here);
    here.now_s += 1;
    tree_no_value(tree_end_region(&here, NULL), "virtual machine");
    tree_end(&here);
}

static void a_container_that_masks_the_zones_is_told(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "container");
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 1);
    tree_unusable(&here, "powercap", "masked in this container: the zones", "systempaths=unconfined");
    tree_remove(&here, "sys/class/powercap");
    tree_directory(&here, "sys/class/powercap");
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap", "is empty", "unmask=/sys/devices/virtual/powercap");
    tree_end(&here);
}

static void a_kernel_without_the_driver_is_told(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, NULL);
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap", "the kernel has no powercap", "modprobe intel_rapl_msr");
    tree_directory(&here, "sys/class/powercap");
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap", "has no zones", "modprobe intel_rapl_msr");
    tree_write(&here, ZONES "intel-rapl/enabled", "1\n"); /* the driver, without a processor that it knows */
    tree_find(&here, &meter_powercap);
    tree_unusable(&here, "powercap", "has no zones", NULL);
    tree_end(&here);
}

static void a_directory_that_may_not_be_read_is_told(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_forbid(&here, "sys/class/powercap");
    tree_find_as_user(&here, &meter_powercap);
    tree_unusable(&here, "powercap", "may not be read", "sandbox");
    tree_allow(&here, "sys/class/powercap");
    tree_end(&here);
}

/* ----------------------------------------------------------------------------------------------- odd trees */

static void two_zones_of_one_name_are_one_domain(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-server");
    tree_write(&here, ZONES "intel-rapl:1/name", "package-0\n");
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 4);
    assert_string_equal(tree_domain(&here, "powercap:package-0@intel-rapl:1")->info.covers, "package-0");
    open_all(&here);
    tree_begin_region(&here);
    tree_add(&here, ZONES "intel-rapl:0/energy_uj", 10000000);
    tree_add(&here, ZONES "intel-rapl:1/energy_uj", 10000000);
    tree_add(&here, ZONES "intel-rapl:0:0/energy_uj", 1000000);
    here.now_s += 0.5;
    tree_near(tree_end_region(&here, NULL).value_j, 11, 1e-9);
    tree_end(&here);
}

static void names_that_no_kernel_writes_do_no_harm(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",      "package-", "package-999999999999999999999999999999", "package-0-die-", "../../etc", "core,uncore", "\x01\x02\xff", "%s%n",
        "psys-", "dram"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tree here;
        tree_begin(&here, "intel-server");
        tree_write(&here, ZONES "intel-rapl:0/name", names[i]);
        tree_find(&here, &meter_powercap);
        assert_int_equal(here.list.count, 4);
        for (int64_t j = 0; j < here.list.count; j++) {
            const yoke_meter_info *info = &here.list.domains[j].info;
            assert_null(strchr(info->name, ','));
            assert_null(strchr(info->name, '\x01'));
        }
        tree_end(&here);
    }
}

static void a_thousand_zones_are_listed(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, NULL);
    for (int i = 0; i < 1000; i++) {
        char path[128], name[32];
        snprintf(path, sizeof path, ZONES "intel-rapl:%x/name", (unsigned)i);
        snprintf(name, sizeof name, "package-%d\n", i);
        tree_write(&here, path, name);
    }
    tree_find(&here, &meter_powercap);
    assert_int_equal(here.list.count, 1000);
    tree_unusable(&here, "powercap:package-999", "no energy_uj", NULL);
    tree_end(&here);
}

static void without_memory_nothing_is_kept(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "intel-laptop");
    tree_without_memory(&here, &meter_powercap);
    tree_end(&here);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_intel_server_has_packages_and_memory),
    cmocka_unit_test(the_unit_of_memory_is_its_own),
    cmocka_unit_test(joules_are_right_to_the_quantum),
    cmocka_unit_test(zones_are_told_by_name_not_by_number),
    cmocka_unit_test(a_package_of_two_dies_is_two_zones),
    cmocka_unit_test(the_parts_of_a_package_are_its_children),
    cmocka_unit_test(the_second_interface_to_a_package_is_not_counted_twice),
    cmocka_unit_test(the_second_interface_stands_in_for_the_first),
    cmocka_unit_test(psys_is_shown_beside_what_it_contains),
    cmocka_unit_test(a_platform_counter_in_whole_joules_says_so),
    cmocka_unit_test(amd_has_a_package_and_one_of_its_cores),
    cmocka_unit_test(links_as_in_a_real_sysfs_are_followed),
    cmocka_unit_test(zones_that_only_limit_power_are_no_meters),
    cmocka_unit_test(a_virtual_machine_says_that_it_is_one),
    cmocka_unit_test(a_container_that_masks_the_zones_is_told),
    cmocka_unit_test(a_kernel_without_the_driver_is_told),
    cmocka_unit_test(a_directory_that_may_not_be_read_is_told),
    cmocka_unit_test(two_zones_of_one_name_are_one_domain),
    cmocka_unit_test(names_that_no_kernel_writes_do_no_harm),
    cmocka_unit_test(a_thousand_zones_are_listed),
    cmocka_unit_test(without_memory_nothing_is_kept),
};

UNIT_MAIN(tests, NULL, NULL)
