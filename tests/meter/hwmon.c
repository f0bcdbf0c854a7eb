/* Energy and power sensors of /sys/class/hwmon. */
#include <math.h>

#include "tree.h"

#define MONITORS "sys/class/hwmon/"

static const meter_kind *const kinds[] = {&meter_hwmon};

/* ------------------------------------------------------------------------------------------- what is there */

static void intel_cards_are_told_by_their_address(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    const meter_domain *card = tree_domain(&here, "hwmon:xe-0000:03:00.0/card");
    assert_true(card->info.usable);
    assert_string_equal(card->info.covers, "gpu-0000:03:00.0");
    assert_string_equal(card->info.pci, "0000:03:00.0");
    assert_int_equal(card->quantity, METER_COUNTER);
    assert_int_equal(card->rank, 30);
    assert_int_equal(tree_read(card).count, 7654321098);
    assert_string_equal(tree_domain(&here, "hwmon:i915-0000:0a:00.0/energy1")->info.covers, "gpu-0000:0a:00.0");
    tree_end(&here);
}

static void parts_of_a_card_are_not_counted_beside_it(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    const meter_domain *chip = tree_domain(&here, "hwmon:xe-0000:03:00.0/pkg");
    assert_string_equal(chip->info.covers, "gpu-0000:03:00.0/pkg");
    assert_string_equal(chip->info.parent, "hwmon:xe-0000:03:00.0/card");
    const meter_domain *tile = tree_domain(&here, "hwmon:i915_gt0-0000:0a:00.0/energy1");
    assert_string_equal(tile->info.covers, "gpu-0000:0a:00.0/gt0");
    assert_string_equal(tile->info.parent, "hwmon:i915-0000:0a:00.0/energy1");
    tree_end(&here);
}

static void a_tile_that_is_listed_first_is_still_a_part(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_move(&here, MONITORS "hwmon3", MONITORS "hwmon");
    tree_find(&here, &meter_hwmon);
    assert_string_equal(tree_domain(&here, "hwmon:i915_gt0-0000:0a:00.0/energy1")->info.parent, "hwmon:i915-0000:0a:00.0/energy1");
    tree_end(&here);
}

static void a_card_that_shows_only_its_chip_is_covered_by_that(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_remove(&here, MONITORS "hwmon1/energy1_input");
    tree_find(&here, &meter_hwmon);
    const meter_domain *chip = tree_domain(&here, "hwmon:xe-0000:03:00.0/pkg");
    assert_string_equal(chip->info.covers, "gpu-0000:03:00.0");
    assert_string_equal(chip->info.parent, "");
    tree_end(&here);
}

static void joules_of_a_card_are_right_to_the_quantum(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_open(&here, kinds, 1, "hwmon:xe-0000:03:00.0/card,hwmon:xe-0000:03:00.0/pkg");
    tree_begin_region(&here);
    tree_add(&here, MONITORS "hwmon1/energy1_input", 150000061);
    tree_add(&here, MONITORS "hwmon1/energy2_input", 120000000);
    here.now_s += 1;
    tree_near(tree_end_region(&here, NULL).value_j, 150.000061, 1e-9);
    tree_end(&here);
}

static void a_sensor_of_power_is_integrated(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    const meter_domain *card = tree_domain(&here, "hwmon:amdgpu-0000:0c:00.0/PPT");
    assert_int_equal(card->quantity, METER_POWER);
    assert_true(card->info.integrated);
    assert_true(isnan(card->info.wrap_j));
    tree_near(tree_read(card).power_w, 35, 1e-9);
    tree_open(&here, kinds, 1, "hwmon:amdgpu-0000:0c:00.0/PPT");
    tree_begin_region(&here);
    for (int i = 0; i < 40; i++) {
        tree_write_number(&here, MONITORS "hwmon8/power1_average", i < 20 ? 100000000 : 50000000);
        tree_wait(&here, 0.1);
    }
    yoke_energy energy = tree_end_region(&here, NULL);
    assert_true(fabs(energy.value_j - 300) <= energy.uncertainty_j);
    assert_true(energy.uncertainty_j < 300); /* the window is not known: up to a second at both ends */
    tree_end(&here);
}

static void energy_is_preferred_to_power_of_the_same(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_write(&here, MONITORS "hwmon1/power1_input", "90000000\n");
    tree_find(&here, &meter_hwmon);
    const meter_domain *power = tree_domain(&here, "hwmon:xe-0000:03:00.0/card@hwmon1");
    assert_string_equal(power->info.covers, "gpu-0000:03:00.0");
    assert_true(power->info.usable && power->info.integrated);
    assert_true(power->rank > tree_domain(&here, "hwmon:xe-0000:03:00.0/card")->rank);
    tree_end(&here);
}

static void what_may_contain_other_meters_is_not_added_to_them(void **state)
{
    (void)state;
    static const char *const names[] = {"hwmon:power_meter/power1", "hwmon:corsairpsu/power-total", "hwmon:corsairpsu/power-+12v",
                                        "hwmon:BAT0/power1", "hwmon:ltc4282/VPOWER"};
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) assert_true(tree_domain(&here, names[i])->overlaps);
    assert_false(tree_domain(&here, "hwmon:xe-0000:03:00.0/card")->overlaps);
    assert_string_equal(tree_domain(&here, names[0])->info.covers, "machine");
    assert_string_equal(tree_domain(&here, names[1])->info.covers, "psu-corsairpsu/power-total");
    assert_string_equal(tree_domain(&here, names[3])->info.covers, "battery-BAT0/power1");
    tree_open(&here, kinds, 1, "hwmon:xe-0000:03:00.0/card,hwmon:corsairpsu/power-total,hwmon:power_meter/power1");
    tree_begin_region(&here);
    tree_add(&here, MONITORS "hwmon1/energy1_input", 150000000);
    tree_wait(&here, 0.5);
    tree_wait(&here, 0.5);
    tree_wait(&here, 0.5);
    tree_near(tree_end_region(&here, NULL).value_j, 150, 1e-9);
    tree_end(&here);
}

static void graphics_in_a_processor_is_not_added_to_it(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    assert_false(tree_domain(&here, "hwmon:amdgpu-0000:0c:00.0/PPT")->overlaps);
    tree_remove(&here, MONITORS "hwmon8/power1_cap"); /* which only cards have */
    tree_find(&here, &meter_hwmon);
    assert_true(tree_domain(&here, "hwmon:amdgpu-0000:0c:00.0/PPT")->overlaps);
    tree_end(&here);
}

static void a_supplys_average_tells_its_window(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    tree_near(tree_domain(&here, "hwmon:power_meter/power1")->window_s, 1, 1e-12);
    assert_true(isnan(tree_domain(&here, "hwmon:amdgpu-0000:0c:00.0/PPT")->window_s));
    tree_end(&here);
}

static void instantaneous_power_is_preferred_to_its_average(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    int64_t before = here.list.count;
    tree_write(&here, MONITORS "hwmon8/power1_input", "41000000\n");
    tree_find(&here, &meter_hwmon);
    assert_int_equal(here.list.count, before);
    tree_near(tree_read(tree_domain(&here, "hwmon:amdgpu-0000:0c:00.0/PPT")).power_w, 41, 1e-9);
    tree_end(&here);
}

static void an_old_driver_has_its_files_in_the_device(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_move(&here, MONITORS "hwmon4/power1_average", MONITORS "hwmon4/device/power1_average");
    tree_move(&here, MONITORS "hwmon4/power1_average_interval", MONITORS "hwmon4/device/power1_average_interval");
    tree_find(&here, &meter_hwmon);
    tree_near(tree_read(tree_domain(&here, "hwmon:power_meter/power1")).power_w, 182, 1e-9);
    tree_near(tree_domain(&here, "hwmon:power_meter/power1")->window_s, 1, 1e-12);
    tree_end(&here);
}

static void an_old_amd_processor_shows_its_power(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    const meter_domain *package = tree_domain(&here, "hwmon:fam15h_power-0000:00:18.4/power1");
    assert_string_equal(package->info.covers, "package-0");
    tree_near(tree_read(package).power_w, 45.34, 1e-9);
    tree_end(&here);
}

static void grace_has_a_module_a_package_and_its_cores(void **state)
{
    (void)state;
    static const char *const labels[] = {"Module Power Socket 0\n", "Grace Power Socket 0\n", "CPU Power Socket 0\n",
                                         "SysIO Power Socket 0\n"};
    tree here;
    tree_begin(&here, NULL);
    for (int i = 0; i < 4; i++) {
        char path[96];
        snprintf(path, sizeof path, MONITORS "hwmon%d/name", i);
        tree_write(&here, path, "power_meter\n");
        snprintf(path, sizeof path, MONITORS "hwmon%d/device/power1_average", i);
        tree_write_number(&here, path, 400000000ULL >> i);
        snprintf(path, sizeof path, MONITORS "hwmon%d/device/power1_average_interval", i);
        tree_write(&here, path, "50\n");
        snprintf(path, sizeof path, MONITORS "hwmon%d/device/power1_oem_info", i);
        tree_write(&here, path, labels[i]);
    }
    tree_find(&here, &meter_hwmon);
    assert_int_equal(here.list.count, 4);
    const meter_domain *module = tree_domain(&here, "hwmon:power_meter/Module-Power-Socket-0");
    const meter_domain *grace = tree_domain(&here, "hwmon:power_meter/Grace-Power-Socket-0");
    const meter_domain *cores = tree_domain(&here, "hwmon:power_meter/CPU-Power-Socket-0");
    assert_true(module->overlaps); /* with the GPU in it */
    assert_string_equal(module->info.covers, "module-0");
    assert_string_equal(grace->info.covers, "package-0");
    assert_string_equal(cores->info.covers, "package-0/core");
    assert_string_equal(cores->info.parent, grace->info.name);
    tree_near(grace->window_s, 0.05, 1e-12);
    tree_end(&here);
}

/* ------------------------------------------------------------------------------------------- wraps, faults */

static void a_card_is_read_before_its_driver_misses_a_wrap(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_open(&here, kinds, 1, "hwmon:xe-0000:03:00.0/card");
    assert_true(meter_set_interval_s(here.set) <= 262144.0 / 2000);
    tree_begin_region(&here);
    tree_add(&here, MONITORS "hwmon1/energy1_input", 60000000000LL);
    tree_wait(&here, 60);
    tree_add(&here, MONITORS "hwmon1/energy1_input", 60000000000LL);
    tree_wait(&here, 60);
    tree_near(tree_end_region(&here, NULL).value_j, 120000, 1e-3);
    tree_end(&here);
}

static void a_wrap_that_the_driver_missed_is_counted(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_write(&here, MONITORS "hwmon2/energy1_input", "1000000000000\n");
    tree_open(&here, kinds, 1, "hwmon:i915-0000:0a:00.0/energy1");
    tree_begin_region(&here);
    tree_add(&here, MONITORS "hwmon2/energy1_input", 20000000000LL - 262144000000LL); /* 20 kJ, and a wrap that nobody saw */
    here.now_s += 100;
    tree_near(tree_end_region(&here, NULL).value_j, 20000, 1e-3);
    tree_end(&here);
}

static void a_card_that_is_lost_has_no_energy(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_open(&here, kinds, 1, "hwmon:xe-0000:03:00.0/card");
    tree_begin_region(&here);
    tree_remove(&here, MONITORS "hwmon1");
    here.now_s += 1;
    tree_no_value(tree_end_region(&here, NULL), "lost");
    tree_end(&here);
}

static void an_error_in_mid_run_is_no_number(void **state)
{
    (void)state;
    tree here;
    int kept = -1;
    tree_begin(&here, "board-hwmon");
    tree_open(&here, kinds, 1, "hwmon:xe-0000:03:00.0/card");
    tree_begin_region(&here);
    int broken = tree_break(&here, MONITORS "hwmon1/energy1_input", &kept);
    here.now_s += 1;
    yoke_energy energy = tree_end_region(&here, NULL);
    tree_heal(broken, kept);
    tree_no_value(energy, "Input/output error");
    tree_end(&here);
}

static void what_is_no_number_is_no_reading(void **state)
{
    (void)state;
    static const char *const contents[] = {
        "", "\n", "-35000000\n", "35.5\n", "nan\n", "1e6\n", "99999999999999999999999\n", "1000000000001\n"};
    for (size_t i = 0; i < sizeof contents / sizeof contents[0]; i++) {
        tree here;
        meter_sample sample;
        char why[METER_WHY_BYTES];
        tree_begin(&here, "board-hwmon");
        tree_find(&here, &meter_hwmon);
        tree_write(&here, MONITORS "hwmon8/power1_average", contents[i]);
        assert_int_equal(tree_try(tree_domain(&here, "hwmon:amdgpu-0000:0c:00.0/PPT"), &sample, why), METER_FAILED);
        tree_find(&here, &meter_hwmon);
        tree_unusable(&here, "hwmon:amdgpu-0000:0c:00.0/PPT", "cannot be read", NULL);
        tree_end(&here);
    }
}

static void without_rights_there_is_a_remedy(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_forbid(&here, MONITORS "hwmon1/energy1_input");
    tree_find_as_user(&here, &meter_hwmon);
    tree_unusable(&here, "hwmon:xe-0000:03:00.0/card", "Permission denied", "sudo chmod a+r /sys/class/hwmon/hwmon1/energy1_input");
    tree_end(&here);
}

static void a_sensor_that_is_switched_off_says_so(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_write(&here, MONITORS "hwmon7/energy1_enable", "0\n");
    tree_find(&here, &meter_hwmon);
    tree_unusable(&here, "hwmon:ltc4282/energy1", "switched off", "echo 1 | sudo tee /sys/class/hwmon/hwmon7/energy1_enable");
    tree_end(&here);
}

static void a_battery_counts_only_while_it_discharges(void **state)
{
    (void)state;
    tree here;
    meter_sample sample;
    char why[METER_WHY_BYTES];
    tree_begin(&here, "board-hwmon");
    tree_find(&here, &meter_hwmon);
    tree_unusable(&here, "hwmon:BAT0/power1", "not discharging", "unplug");
    tree_write(&here, MONITORS "hwmon6/device/status", "Discharging\n");
    tree_write(&here, MONITORS "hwmon6/power1_input", "9500000\n");
    tree_find(&here, &meter_hwmon);
    const meter_domain *battery = tree_domain(&here, "hwmon:BAT0/power1");
    tree_near(tree_read(battery).power_w, 9.5, 1e-9);
    tree_write(&here, MONITORS "hwmon6/device/status", "Charging\n");
    assert_int_equal(tree_try(battery, &sample, why), METER_FAILED);
    assert_non_null(strstr(why, "not discharging"));
    tree_end(&here);
}

/* ----------------------------------------------------------------------------------------------- odd trees */

static void a_machine_without_sensors_says_so(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "virtual-machine");
    tree_find(&here, &meter_hwmon);
    tree_unusable(&here, "hwmon", "no hardware monitors", NULL);
    tree_write(&here, MONITORS "hwmon0/name", "k10temp\n");
    tree_write(&here, MONITORS "hwmon0/temp1_input", "40000\n");
    tree_find(&here, &meter_hwmon);
    tree_unusable(&here, "hwmon", "none of the 1 hardware monitors", NULL);
    tree_end(&here);
}

static void names_that_no_kernel_writes_do_no_harm(void **state)
{
    (void)state;
    static const char *const odd[] = {"",           "a,b\n",
                                      "%s%n\n",     "../..\n",
                                      "\x01\xff\n", "Module Power Socket 99999999999999999999\n",
                                      "Esocket\n",  "0123456789012345678901234567890123456789012345678901234567890\n"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        tree here;
        tree_begin(&here, "board-hwmon");
        tree_write(&here, MONITORS "hwmon4/name", odd[i]);
        tree_write(&here, MONITORS "hwmon1/energy1_label", odd[i]);
        tree_write(&here, MONITORS "hwmon1/energy2_label", odd[i]);
        tree_write(&here, MONITORS "hwmon8/device/uevent", "PCI_SLOT_NAME=zzzz\nPCI_SLOT_NAME=0000:0c:00.0.and.more\nPCI_SLOT_NAME=\n");
        tree_write(&here, MONITORS "hwmon7/power99999_input", "1\n");
        tree_write(&here, MONITORS "hwmon7/power_input", "1\n");
        tree_write(&here, MONITORS "hwmon7/energyx_input", "1\n");
        tree_find(&here, &meter_hwmon);
        for (int64_t j = 0; j < here.list.count; j++) {
            const yoke_meter_info *info = &here.list.domains[j].info;
            assert_null(strchr(info->name, ','));
            assert_null(strchr(info->name, '\x01'));
            assert_null(strstr(info->name, "power99999"));
        }
        assert_true(tree_has(&here, "hwmon:amdgpu/PPT"));
        assert_string_equal(tree_domain(&here, "hwmon:amdgpu/PPT")->info.pci, "");
        tree_end(&here);
    }
}

static void sensors_of_one_name_are_told_apart(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    for (int i = 20; i < 24; i++) {
        char path[64];
        snprintf(path, sizeof path, MONITORS "hwmon%d/name", i);
        tree_write(&here, path, "ina226\n");
        snprintf(path, sizeof path, MONITORS "hwmon%d/power1_input", i);
        tree_write(&here, path, "5000000\n");
    }
    tree_find(&here, &meter_hwmon); /* which shows that all names differ */
    assert_true(tree_has(&here, "hwmon:ina226/power1"));
    assert_true(tree_has(&here, "hwmon:ina226/power1@hwmon23"));
    tree_end(&here);
}

static void without_memory_nothing_is_kept(void **state)
{
    (void)state;
    tree here;
    tree_begin(&here, "board-hwmon");
    tree_without_memory(&here, &meter_hwmon);
    tree_end(&here);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(intel_cards_are_told_by_their_address),
    cmocka_unit_test(parts_of_a_card_are_not_counted_beside_it),
    cmocka_unit_test(a_tile_that_is_listed_first_is_still_a_part),
    cmocka_unit_test(a_card_that_shows_only_its_chip_is_covered_by_that),
    cmocka_unit_test(joules_of_a_card_are_right_to_the_quantum),
    cmocka_unit_test(a_sensor_of_power_is_integrated),
    cmocka_unit_test(energy_is_preferred_to_power_of_the_same),
    cmocka_unit_test(what_may_contain_other_meters_is_not_added_to_them),
    cmocka_unit_test(graphics_in_a_processor_is_not_added_to_it),
    cmocka_unit_test(a_supplys_average_tells_its_window),
    cmocka_unit_test(instantaneous_power_is_preferred_to_its_average),
    cmocka_unit_test(an_old_driver_has_its_files_in_the_device),
    cmocka_unit_test(an_old_amd_processor_shows_its_power),
    cmocka_unit_test(grace_has_a_module_a_package_and_its_cores),
    cmocka_unit_test(a_card_is_read_before_its_driver_misses_a_wrap),
    cmocka_unit_test(a_wrap_that_the_driver_missed_is_counted),
    cmocka_unit_test(a_card_that_is_lost_has_no_energy),
    cmocka_unit_test(an_error_in_mid_run_is_no_number),
    cmocka_unit_test(what_is_no_number_is_no_reading),
    cmocka_unit_test(without_rights_there_is_a_remedy),
    cmocka_unit_test(a_sensor_that_is_switched_off_says_so),
    cmocka_unit_test(a_battery_counts_only_while_it_discharges),
    cmocka_unit_test(a_machine_without_sensors_says_so),
    cmocka_unit_test(names_that_no_kernel_writes_do_no_harm),
    cmocka_unit_test(sensors_of_one_name_are_told_apart),
    cmocka_unit_test(without_memory_nothing_is_kept),
};

UNIT_MAIN(tests, NULL, NULL)
