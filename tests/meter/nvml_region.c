/* Energy of intervals on NVIDIA GPUs, by the functions that programs call, on a stand-in of libnvidia-ml. */
#include <math.h>
#include <time.h>

#include "nvml_stub.h"

typedef struct measured {
    double seconds;
    yoke_energy energy, total;
    yoke_meter_info info;
} measured;

static void sleep_ms(unsigned milliseconds)
{
    const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

/* A region of nvml:0 between two contents of the stand-in's file. */
static measured measure(const char *before, const char *after, unsigned milliseconds)
{
    measured m;
    yoke_context *context;
    yoke_meters *meter;
    yoke_region *region;
    const yoke_meter_info *infos;
    int64_t count;
    const yoke_meter_options options = {.select = "nvml:0", .sysroot = "/nowhere", .probe_s = -1};
    memset(&m, 0, sizeof m);
    vendor_write(&stub, before);
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    if (yoke_meters_open(context, &options, &meter) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    infos = meter->infos;
    count = meter->count;
    assert_int_equal(count, 1);
    m.info = infos[0];
    assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
    sleep_ms(milliseconds);
    vendor_write(&stub, after);
    sleep_ms(10);
    assert_int_equal(yoke_region_end(region, &m.seconds, &m.energy, &m.total), YOKE_OK);
    yoke_meters_close(meter);
    yoke_context_destroy(context);
    assert_int_equal(stub.balance(), 0);
    assert_int_equal(stub.misuse(), 0);
    return m;
}

static void expect_fault(const measured *m, const char *word)
{
    assert_true(isnan(m->energy.value_j) && isnan(m->total.value_j));
    vendor_mentions(m->energy.why_not, word);
}

static void test_a_region_has_the_counters_joules(void **state)
{
    (void)state;
    measured m = measure("energy_mj=1000000000001", "energy_mj=1000000012346", 250);
    vendor_near(m.energy.value_j, 12.345, 1e-9);
    assert_int_equal(m.energy.kind, YOKE_ENERGY_MEASURED);
    vendor_near(m.total.value_j, 12.345, 1e-9);
    assert_true(m.info.counted && !m.info.integrated);
    assert_true(m.energy.uncertainty_j >= 0.06 * 12.345);
}

static void test_integrated_power_is_power_times_time(void **state)
{
    (void)state;
    const char *settings = "field.191.0=3\nfail.nvmlDeviceGetTotalEnergyConsumption=3\npower_mw=200000\n";
    measured m = measure(settings, settings, 600);
    assert_true(m.info.integrated && m.energy.kind == YOKE_ENERGY_MEASURED);
    assert_true(fabs(m.energy.value_j - 200 * m.seconds) <= m.energy.uncertainty_j);
    assert_true(m.energy.value_j > 100);
}

static void test_a_card_that_is_lost_in_a_region_has_no_energy(void **state)
{
    (void)state;
    measured m = measure("energy_mj=1000000", "energy_mj=1010000\nlost=1", 250);
    expect_fault(&m, "lost");
}

/* The driver was loaded anew: it counts from zero. */
static void test_a_counter_that_starts_anew_in_a_region_has_no_energy(void **state)
{
    (void)state;
    measured m = measure("energy_mj=1000000", "energy_mj=100", 250);
    expect_fault(&m, "stepped back");
}

static void test_a_counter_that_stands_still_has_no_energy(void **state)
{
    (void)state;
    measured m = measure("energy_mj=1000000", "energy_mj=1000000", 250);
    assert_true(isnan(m.energy.value_j) && m.energy.why_not[0] != '\0');
    m = measure("energy_mj=1000000", "energy_mj=1000000", 2500);
    expect_fault(&m, "stuck");
}

static const struct CMUnitTest tests[] = {
    TEST(test_a_region_has_the_counters_joules),
    TEST(test_integrated_power_is_power_times_time),
    TEST(test_a_card_that_is_lost_in_a_region_has_no_energy),
    TEST(test_a_counter_that_starts_anew_in_a_region_has_no_energy),
    TEST(test_a_counter_that_stands_still_has_no_energy),
};

UNIT_MAIN(tests, NULL, NULL)
