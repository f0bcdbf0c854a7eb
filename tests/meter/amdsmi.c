/* Energy of AMD GPUs, on stand-ins of libamd_smi and librocm_smi64 (stub/amd.h). */
#include "meter/vendor/amdsmi.h"

#include <math.h>
#include <time.h>

#include "vendor.h"

static vendor_stub smi, rocm;

/* Each test begins with both stand-ins, and without settings. */
static int begin(void **state)
{
    (void)state;
    unsetenv("YOKE_SYSROOT");
    vendor_use(&smi, "YOKE_AMDSMI", "YOKE_STUB_AMDSMI", STUB_DIRECTORY "/libstub_amdsmi.so");
    vendor_use(&rocm, "YOKE_ROCM_SMI", "YOKE_STUB_ROCM_SMI", STUB_DIRECTORY "/libstub_rocm_smi.so");
    return 0;
}

static int end(void **state)
{
    (void)state;
    vendor_write(&smi, NULL);
    vendor_set(&smi, NULL);
    vendor_set(&rocm, NULL);
    return 0;
}

static vendor_found find_with(const char *settings)
{
    vendor_set(&smi, settings);
    return vendor_find(&meter_amdsmi, "");
}

static vendor_found find_rocm(const char *settings)
{
    setenv("YOKE_AMDSMI", "", 1);
    vendor_set(&rocm, settings);
    return vendor_find(&meter_amdsmi, "");
}

static void finish(vendor_found *found)
{
    vendor_end(found, &smi);
    assert_int_equal(rocm.balance(), 0);
    assert_int_equal(rocm.misuse(), 0);
}

/* ------------------------------------------------------------------------------------------------ counters */

static void test_the_counter_is_read_to_the_count(void **state)
{
    (void)state;
    vendor_found found = find_with("energy=9007199254740993,bus=193,domain=2");
    const meter_domain *domain = vendor_domain(&found, "amdsmi:0");
    assert_true(domain->quantity == METER_COUNTER && !domain->info.integrated && domain->range == 0);
    assert_true(vendor_read(domain).count == UINT64_C(9007199254740993));
    assert_string_equal(domain->info.pci, "0002:c1:00.0");
    assert_string_equal(domain->info.covers, "gpu-0002:c1:00.0");
    assert_string_equal(domain->info.kind, "amdsmi");
    vendor_mentions(domain->info.description, "AMD Instinct MI300X");
    vendor_mentions(domain->info.description, "AMD SMI");
    assert_true(domain->most_w == 1500 && domain->always_moves && domain->rank == 10);
    finish(&found);
}

/* The library's 15.3 uJ are the kernel's 2^-16 J, rounded; the difference is inside the stated error. */
static void test_the_unit_is_the_kernels(void **state)
{
    (void)state;
    vendor_found found = find_with("resolution_nj=15300");
    const meter_domain *domain = vendor_domain(&found, "amdsmi:0");
    assert_true(domain->unit_j == 0x1p-16 && domain->info.resolution_j == 0x1p-16);
    assert_true(fabs(15.3e-6 / domain->unit_j - 1) <= domain->info.gain_error);
    finish(&found);
    found = find_with("resolution_nj=1000");
    domain = vendor_domain(&found, "amdsmi:0");
    vendor_near(domain->unit_j, 1e-6, 1e-12);
    finish(&found);
}

static void test_gpus_of_all_sockets_are_found(void **state)
{
    (void)state;
    vendor_found found = find_with("devices=5,per_socket=2,energy.0=1,energy.1=2,energy.2=3,energy.3=4,energy.4=5");
    assert_int_equal(found.list.count, 5);
    for (int i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "amdsmi:%d", i);
        assert_true(vendor_read(vendor_domain(&found, name)).count == (uint64_t)i + 1);
    }
    finish(&found);
}

/* CPUs, which AMD SMI may list too, are not GPUs. */
static void test_other_processors_are_left_out(void **state)
{
    (void)state;
    vendor_found found = find_with("devices=3,per_socket=3,type.0=2,type.2=5,energy.1=77");
    assert_int_equal(found.list.count, 1);
    assert_true(vendor_read(vendor_domain(&found, "amdsmi:0")).count == 77);
    finish(&found);
}

static void test_partitions_of_a_card_are_metered_once(void **state)
{
    (void)state;
    vendor_found found = find_with("devices=4,bus=12,function.1=1,function.2=2,function.3=3");
    assert_int_equal(found.list.count, 1);
    vendor_mentions(vendor_domain(&found, "amdsmi:0")->info.description, "all partitions");
    finish(&found);
}

/* --------------------------------------------------------------------------------------------------- power */

/* The layout of the library's structure by its version, and which of the powers in it is there. */
static void test_without_a_counter_power_takes_over(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double power_w;
    } ways[] = {
        {"version=24,power_w=321,average_w=222", 321},          {"version=24,power_w=4294967295,average_w=222", 222},
        {"version=25,power_w=321,average_w=222", 321},          {"version=25,power_w=65535,average_w=222", 222},
        {"version=26,power_w=321,average_w=222", 321},          {"version=26,power_w=4294967295,average_w=4294967295,socket_w=99", 99},
        {"version=27,power_w=0,average_w=222,socket_w=1", 222},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char settings[160];
        snprintf(settings, sizeof settings, "%s,fail.amdsmi_get_energy_count=2", ways[i].settings);
        vendor_found found = find_with(settings);
        const meter_domain *domain = vendor_domain(&found, "amdsmi:0");
        assert_true(domain->quantity == METER_POWER && domain->info.integrated && domain->quantum_w == 1);
        assert_true(vendor_read(domain).power_w == ways[i].power_w);
        finish(&found);
    }
}

/* All ones: the firmware does not count. */
static void test_a_counter_of_all_ones_is_none(void **state)
{
    (void)state;
    vendor_found found = find_with("energy=18446744073709551615,power_w=55");
    const meter_domain *domain = vendor_domain(&found, "amdsmi:0");
    assert_int_equal(domain->quantity, METER_POWER);
    assert_true(vendor_read(domain).power_w == 55);
    finish(&found);
    found = find_with("resolution_nj=0,power_w=55");
    assert_int_equal(vendor_domain(&found, "amdsmi:0")->quantity, METER_POWER);
    finish(&found);
}

static void test_zero_watts_are_not_believed(void **state)
{
    (void)state;
    vendor_set(&smi, "fail.amdsmi_get_energy_count=2,power_w=0");
    vendor_expect_missing(&meter_amdsmi, &smi, "neither energy nor power", "--declare");
    vendor_set(&smi, "fail.amdsmi_get_energy_count=2,power_w=140");
    vendor_found found = vendor_find(&meter_amdsmi, "");
    const meter_domain *domain = vendor_domain(&found, "amdsmi:0");
    meter_sample sample;
    char why[METER_WHY_BYTES];
    vendor_set(&smi, "fail.amdsmi_get_energy_count=2,power_w=0");
    assert_int_equal(domain->read(domain->state, &sample, why), METER_FAILED);
    vendor_mentions(why, "power cannot be read");
    finish(&found);
}

/* A version whose structures are not known is not guessed at. */
static void test_power_of_an_unknown_version_is_not_guessed(void **state)
{
    (void)state;
    vendor_set(&smi, "version=5,fail.amdsmi_get_energy_count=2");
    vendor_expect_missing(&meter_amdsmi, &smi, "neither energy nor power", "--declare");
}

/* ------------------------------------------------------------------------------------------------ ROCm SMI */

static void test_rocm_smi_stands_in_for_amd_smi(void **state)
{
    (void)state;
    vendor_found found = find_rocm("devices=2,energy.0=11,energy.1=12,bus=65,domain.1=3,partition.1=2");
    assert_int_equal(found.list.count, 2);
    const meter_domain *domain = vendor_domain(&found, "amdsmi:1");
    assert_true(vendor_read(vendor_domain(&found, "amdsmi:0")).count == 11 && vendor_read(domain).count == 12);
    assert_string_equal(domain->info.pci, "0003:41:00.0");
    assert_true(domain->unit_j == 0x1p-16 && domain->most_w == 600);
    vendor_mentions(domain->info.description, "ROCm SMI");
    vendor_mentions(domain->info.description, "MI210");
    finish(&found);
    static const char *const powers[] = {"fail.rsmi_dev_energy_count_get=2,power_uw=123456789",
                                         "fail.rsmi_dev_energy_count_get=9,fail.rsmi_dev_power_get=2,average_uw=123456789"};
    for (size_t i = 0; i < 2; i++) {
        found = find_rocm(powers[i]);
        vendor_near(vendor_read(vendor_domain(&found, "amdsmi:0")).power_w, 123.456789, 1e-9);
        finish(&found);
    }
}

static void test_rocm_smi_is_tried_where_amd_smi_does_not_start(void **state)
{
    (void)state;
    vendor_set(&smi, "fail.amdsmi_init=34");
    vendor_found found = vendor_find(&meter_amdsmi, "");
    vendor_mentions(vendor_domain(&found, "amdsmi:0")->info.description, "ROCm SMI");
    finish(&found);
    vendor_set(&smi, NULL);
    setenv("YOKE_AMDSMI", "libm.so.6", 1);
    found = vendor_find(&meter_amdsmi, "");
    vendor_mentions(vendor_domain(&found, "amdsmi:0")->info.description, "ROCm SMI");
    finish(&found);
}

/* ------------------------------------------------------------------------------------------ what is missing */

static void test_no_library_says_why_and_what_to_do(void **state)
{
    (void)state;
    setenv("YOKE_AMDSMI", "", 1);
    setenv("YOKE_ROCM_SMI", "", 1);
    vendor_expect_missing(&meter_amdsmi, &smi, "YOKE_AMDSMI is set to nothing", "amd-smi-lib");
    setenv("YOKE_AMDSMI", "libm.so.6", 1);
    vendor_expect_missing(&meter_amdsmi, &smi, "has no function amdsmi_init", "amd-smi-lib");
    unsetenv("YOKE_AMDSMI");
    unsetenv("YOKE_ROCM_SMI");
    vendor_found found = vendor_find(&meter_amdsmi, "/nowhere");
    assert_false(found.list.domains[0].info.usable);
    vendor_mentions(found.list.domains[0].info.why_not, "recorded machine");
    finish(&found);
}

static void test_a_driver_that_does_not_start_says_why_and_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *why, *remedy;
    } cases[] = {
        {"fail.amdsmi_init=34", "driver not loaded", "modprobe amdgpu"},
        {"fail.amdsmi_init=10", "Permission denied", "render,video"},
        {"fail.amdsmi_init=77", "unknown error (AMD SMI status 77)", "amd-smi"},
        {"fail.amdsmi_get_socket_handles=7", "does not list GPUs", "amd-smi"},
        {"devices=0", "finds no GPU", "/dev/kfd"},
        {"fail.amdsmi_get_processor_handles=7", "finds no GPU", "/dev/kfd"},
        {"fail.amdsmi_get_gpu_device_bdf=10", "Permission denied", "render,video"},
        {"fail.amdsmi_get_energy_count=10,fail.amdsmi_get_power_info=2", "Permission denied", "render,video"},
        {"fail.amdsmi_get_energy_count=2,fail.amdsmi_get_power_info=2", "neither energy nor power", "--declare"},
    };
    vendor_set(&rocm, "fail.rsmi_init=8");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vendor_set(&smi, cases[i].settings);
        vendor_expect_missing(&meter_amdsmi, &smi, cases[i].why, cases[i].remedy);
    }
    setenv("YOKE_AMDSMI", "", 1);
    vendor_expect_missing(&meter_amdsmi, &smi, "ROCm SMI status 8", "modprobe amdgpu");
    vendor_set(&rocm, "fail.rsmi_num_monitor_devices=4");
    vendor_expect_missing(&meter_amdsmi, &smi, "permission denied", "render,video");
    assert_int_equal(rocm.balance(), 0);
}

static void test_no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    vendor_set(&smi, "devices=10");
    vendor_fail_allocations(&meter_amdsmi, &smi);
}

/* ------------------------------------------------------------------------------------------------ mid-run */

static void test_a_lost_card_is_gone(void **state)
{
    (void)state;
    vendor_found found = find_with("energy=10");
    const meter_domain *domain = vendor_domain(&found, "amdsmi:0");
    meter_sample sample;
    char why[METER_WHY_BYTES];
    vendor_set(&smi, "fail.amdsmi_get_energy_count=12");
    assert_int_equal(domain->read(domain->state, &sample, why), METER_FAILED);
    vendor_mentions(why, "AMD SMI status 12");
    vendor_set(&smi, "lost=1");
    assert_int_equal(domain->read(domain->state, &sample, why), METER_GONE);
    vendor_mentions(why, "is lost");
    finish(&found);
}

/* 65536 counts are a joule; a counter that stands still, or that steps back, is a fault. */
static void test_a_region_has_the_counters_joules(void **state)
{
    (void)state;
    static const struct {
        const char *after, *fault;
    } runs[] = {{"energy=6619136", NULL}, {"energy=6553600", ""}, {"energy=3276800", "stepped back"}};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const yoke_meter_options options = {.select = "amdsmi:0", .sysroot = "/nowhere", .probe_s = -1};
        const struct timespec time = {0, 250000000};
        yoke_context *context;
        yoke_meters *meter;
        yoke_region *region;
        yoke_energy energy;
        vendor_write(&smi, "energy=6553600");
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        if (yoke_meters_open(context, &options, &meter) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
        assert_int_equal(yoke_region_begin(meter, &region), YOKE_OK);
        nanosleep(&time, NULL);
        vendor_write(&smi, runs[i].after);
        assert_int_equal(yoke_region_end(region, NULL, &energy, NULL), YOKE_OK);
        if (runs[i].fault == NULL)
            assert_true(energy.value_j == 1 && energy.kind == YOKE_ENERGY_MEASURED && energy.uncertainty_j >= 0.003);
        else {
            assert_true(isnan(energy.value_j) && energy.why_not[0] != '\0');
            vendor_mentions(energy.why_not, runs[i].fault);
        }
        yoke_meters_close(meter);
        yoke_context_destroy(context);
        assert_int_equal(smi.balance(), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static const struct CMUnitTest tests[] = {
    TEST(test_the_counter_is_read_to_the_count),
    TEST(test_the_unit_is_the_kernels),
    TEST(test_gpus_of_all_sockets_are_found),
    TEST(test_other_processors_are_left_out),
    TEST(test_partitions_of_a_card_are_metered_once),
    TEST(test_without_a_counter_power_takes_over),
    TEST(test_a_counter_of_all_ones_is_none),
    TEST(test_zero_watts_are_not_believed),
    TEST(test_power_of_an_unknown_version_is_not_guessed),
    TEST(test_rocm_smi_stands_in_for_amd_smi),
    TEST(test_rocm_smi_is_tried_where_amd_smi_does_not_start),
    TEST(test_no_library_says_why_and_what_to_do),
    TEST(test_a_driver_that_does_not_start_says_why_and_what_to_do),
    TEST(test_no_memory_leaves_nothing_behind),
    TEST(test_a_lost_card_is_gone),
    TEST(test_a_region_has_the_counters_joules),
};

UNIT_MAIN(tests, NULL, NULL)
