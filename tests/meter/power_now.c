/* yoke_meters_read: what a meter's hardware shows now, as power profiles read it. */
#include <math.h>

#include "vendor.h"

static vendor_stub stub, amd;
static yoke_context *context;

static int setup(void **state)
{
    (void)state;
    unsetenv("YOKE_SYSROOT");
    vendor_use(&stub, "YOKE_NVML", "YOKE_STUB_NVML", STUB_DIRECTORY "/libstub_nvml.so");
    vendor_use(&amd, "YOKE_AMDSMI", "YOKE_STUB_AMDSMI", STUB_DIRECTORY "/libstub_amdsmi.so");
    return yoke_context_create(NULL, &context) != YOKE_OK;
}

static int teardown(void **state)
{
    (void)state;
    vendor_set(&stub, NULL);
    vendor_set(&amd, NULL);
    yoke_context_destroy(context);
    return 0;
}

static yoke_meters *open_meter(const char *sysroot, const char *select)
{
    const yoke_meter_options options = {.sysroot = sysroot, .select = select, .probe_s = -1};
    yoke_meters *meter = NULL;
    assert_int_equal(yoke_meters_open(context, &options, &meter), YOKE_OK);
    return meter;
}

static const char *machine(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/machines/%s", getenv("YOKE_SOURCE_DIR"), name);
    return path;
}

static void a_card_whose_energy_is_counted_shows_instantaneous_power_too(void **state)
{
    (void)state;
    double watts = 0;
    vendor_set(&stub, "power_mw=123456,average_mw=99000");
    yoke_meters *meter = open_meter(NULL, "nvml");
    assert_int_equal(yoke_meters_read(meter, 0, &watts, NULL), YOKE_OK);
    assert_float_equal(watts, 123.456, 1e-9);
    vendor_set(&stub, "power_mw=123456,average_mw=99000,field.186.0=3"); /* an old driver does not know the field */
    assert_int_equal(yoke_meters_read(meter, 0, &watts, NULL), YOKE_OK);
    assert_float_equal(watts, 99, 1e-9);
    yoke_meters_close(meter);
}

static void a_card_shows_its_temperature(void **state)
{
    (void)state;
    double celsius = 0;
    vendor_set(&stub, "temperature=54");
    yoke_meters *meter = open_meter(NULL, "nvml");
    assert_int_equal(yoke_meters_read(meter, 0, NULL, &celsius), YOKE_OK);
    assert_float_equal(celsius, 54, 0);
    yoke_meters_close(meter);
    meter = open_meter(machine("intel-server"), "powercap:package-0");
    celsius = 77;
    assert_int_equal(yoke_meters_read(meter, 0, NULL, &celsius), YOKE_ERROR_UNAVAILABLE);
    assert_true(celsius == 77);
    yoke_meters_close(meter);
}

static void so_does_a_card_of_amd(void **state)
{
    (void)state;
    double watts = 77;
    vendor_set(&amd, "power_w=123");
    yoke_meters *meter = open_meter(NULL, "amdsmi");
    assert_int_equal(yoke_meters_read(meter, 0, &watts, NULL), YOKE_OK);
    assert_float_equal(watts, 123, 1e-9);
    vendor_set(&amd, "fail.amdsmi_get_power_info=2");
    assert_int_equal(yoke_meters_read(meter, 0, &watts, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "power"));
    assert_float_equal(watts, 123, 0);
    yoke_meters_close(meter);
}

static void a_meter_of_power_shows_what_its_file_says(void **state)
{
    (void)state;
    double watts = 0;
    yoke_meters *meter = open_meter(machine("board-hwmon"), "hwmon:power_meter/power1");
    assert_int_equal(yoke_meters_read(meter, 0, &watts, NULL), YOKE_OK);
    assert_float_equal(watts, 182, 1e-9);
    yoke_meters_close(meter);
}

static void a_meter_that_counts_energy_only_has_no_power(void **state)
{
    (void)state;
    double watts = 77;
    yoke_meters *meter = open_meter(machine("intel-server"), "powercap:package-0");
    assert_int_equal(yoke_meters_read(meter, 0, &watts, NULL), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "shows energy only"));
    assert_int_equal(yoke_meters_read(meter, 1, &watts, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_meters_read(meter, -1, &watts, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_meters_read(NULL, 0, &watts, NULL), YOKE_ERROR_ARGUMENT);
    assert_float_equal(watts, 77, 0);
    yoke_meters_close(meter);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_card_whose_energy_is_counted_shows_instantaneous_power_too),
    cmocka_unit_test(a_card_shows_its_temperature),
    cmocka_unit_test(so_does_a_card_of_amd),
    cmocka_unit_test(a_meter_of_power_shows_what_its_file_says),
    cmocka_unit_test(a_meter_that_counts_energy_only_has_no_power),
};

UNIT_MAIN(tests, setup, teardown)
