/* Energy of NVIDIA GPUs, on a stand-in of libnvidia-ml (stub/nvml.c). */
#include "meter/vendor/nvml.h"

#include <math.h>
#include <unistd.h>

#include "nvml_stub.h"

#define CHECK_MEMBER(type, member, offset, size) \
    _Static_assert(offsetof(type, member) == (offset) && sizeof((type *)0)->member == (size), #type "." #member);
#define CHECK_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type);
YOKE_NVML_LAYOUT(CHECK_MEMBER)
YOKE_NVML_SIZES(CHECK_SIZE)

static vendor_found find_with(const char *settings)
{
    vendor_set(&stub, settings);
    return vendor_find(&meter_nvml, "");
}

/* ------------------------------------------------------------------------------------------------ counters */

static void test_the_counter_is_read_to_the_millijoule(void **state)
{
    (void)state;
    vendor_found found = find_with("energy_mj=123456789012345");
    const meter_domain *domain = vendor_domain(&found, "nvml:0");
    assert_int_equal(domain->quantity, METER_COUNTER);
    assert_false(domain->info.integrated);
    assert_true(domain->unit_j == 1e-3 && domain->info.resolution_j == 1e-3 && domain->range == 0 && isnan(domain->info.wrap_j));
    assert_true(domain->always_moves);
    assert_true(vendor_read(domain).count == UINT64_C(123456789012345));
    vendor_set(&stub, "energy_mj=18446744073709551615");
    assert_true(vendor_read(domain).count == UINT64_MAX);
    vendor_mentions(domain->info.description, "scope GPU");
    vendor_end(&found, &stub);
}

static void test_a_card_says_what_and_where_it_is(void **state)
{
    (void)state;
    vendor_found found = find_with("bus=175,slot=31,domain=43981,name=NVIDIA H100,capability=90,driver=580.65.06,limit_most_mw=700000");
    const meter_domain *domain = vendor_domain(&found, "nvml:0");
    assert_string_equal(domain->info.kind, "nvml");
    assert_string_equal(domain->info.pci, "abcd:af:1f.0");
    assert_string_equal(domain->info.covers, "gpu-abcd:af:1f.0");
    assert_string_equal(domain->info.parent, "");
    assert_int_equal(domain->info.source, YOKE_ENERGY_MEASURED);
    vendor_mentions(domain->info.description, "NVIDIA H100");
    vendor_mentions(domain->info.description, "580.65.06");
    vendor_mentions(domain->info.description, "Hopper");
    assert_true(domain->most_w == 1400 && domain->rank == 10);
    vendor_end(&found, &stub);
}

static void test_two_cards_are_two_meters_of_one_library(void **state)
{
    (void)state;
    int before = stub.starts();
    vendor_found found = find_with("devices=2,energy_mj.0=1000,energy_mj.1=2000");
    assert_int_equal(found.list.count, 2);
    assert_true(vendor_read(vendor_domain(&found, "nvml:0")).count == 1000);
    assert_true(vendor_read(vendor_domain(&found, "nvml:1")).count == 2000);
    assert_string_equal(vendor_domain(&found, "nvml:0")->info.pci, "0000:3b:00.0");
    assert_string_equal(vendor_domain(&found, "nvml:1")->info.pci, "0000:3c:00.0");
    assert_int_equal(stub.starts() - before, 1);
    vendor_end(&found, &stub);
}

/* What a number in a field may be typed as: C has no other way to hand it out, and drivers differ. */
static void test_numbers_of_all_types_are_understood(void **state)
{
    (void)state;
    static const char *const right[] = {"energy_type=0,energy_mj=4711", "energy_type=1,energy_mj=4711", "energy_type=2,energy_mj=4711",
                                        "energy_type=3,energy_mj=4711", "energy_type=4,energy_mj=4711"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        vendor_found found = find_with(right[i]);
        assert_true(vendor_read(vendor_domain(&found, "nvml:0")).count == 4711);
        vendor_end(&found, &stub);
    }
}

/* A counter below zero, or of a type that nobody knows, is none: the function without fields is asked. */
static void test_fields_that_are_no_counts_are_not_taken(void **state)
{
    (void)state;
    static const char *const wrong[] = {"energy_type=4,energy_mj=-5", "energy_type=0,energy_mj=-5", "energy_type=77,energy_mj=5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vendor_found found = find_with(wrong[i]);
        const meter_domain *domain = vendor_domain(&found, "nvml:0");
        assert_null(strstr(domain->info.description, "scope GPU"));
        vendor_end(&found, &stub);
    }
}

/* -------------------------------------------------------------------------------------------------- scopes */

static void test_on_a_module_the_gpu_alone_is_preferred(void **state)
{
    (void)state;
    vendor_found found = find_with("name=NVIDIA GH200 480GB,capability=90,module=1,field.191.1=0,field.186.1=0,energy_mj=1,module_mj=2");
    const meter_domain *domain = vendor_domain(&found, "nvml:0");
    assert_string_equal(domain->info.covers, "gpu-0000:3b:00.0");
    assert_true(vendor_read(domain).count == 1);
    vendor_end(&found, &stub);
}

static void test_a_meter_of_the_whole_module_says_so(void **state)
{
    (void)state;
    static const char *const modules[] = {
        "module=1,field.191.0=3,field.186.1=0,energy_mj=1,module_mj=2",                 /* only power tells the scopes apart */
        "module=1,field.191.0=3,field.191.1=0,energy_mj=1,module_mj=2",                 /* energy has the scope of the module only */
        "module=1,name=NVIDIA GH200 480GB,fail.nvmlDeviceGetFieldValues=2,module_mj=2", /* a driver without scopes */
    };
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        vendor_found found = find_with(modules[i]);
        const meter_domain *domain = vendor_domain(&found, "nvml:0");
        assert_string_equal(domain->info.covers, "module-0000:3b:00.0");
        assert_string_equal(domain->info.pci, "0000:3b:00.0");
        vendor_mentions(domain->info.description, "WHOLE MODULE");
        assert_true(vendor_read(domain).count == 2);
        vendor_end(&found, &stub);
    }
}

/* A counter that is read without a scope is the card's own where there is no module. */
static void test_a_card_without_scopes_is_no_module(void **state)
{
    (void)state;
    vendor_found found = find_with("field.191.0=3,energy_mj=5");
    const meter_domain *domain = vendor_domain(&found, "nvml:0");
    assert_string_equal(domain->info.covers, "gpu-0000:3b:00.0");
    assert_null(strstr(domain->info.description, "MODULE"));
    assert_true(domain->quantity == METER_COUNTER && vendor_read(domain).count == 5);
    vendor_end(&found, &stub);
}

/* ------------------------------------------------------------------------------------------------- power */

static void test_without_a_counter_power_takes_over(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *says;
        double power_w, window_s;
    } ways[] = {
        {"field.191.0=3,power_mw=300125,average_mw=250000,usage_mw=200000", "instantaneous power", 300.125, 0.025},
        {"field.191.0=3,field.186.0=3,power_mw=300125,average_mw=250000,usage_mw=200000", "power of 1 s", 250, 1},
        {"field.191.0=3,field.186.0=3,field.185.0=3,power_mw=300125,average_mw=250000,usage_mw=200000", "power usage", 200, 0.025},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char settings[256];
        snprintf(settings, sizeof settings, "%s,fail.nvmlDeviceGetTotalEnergyConsumption=3", ways[i].settings);
        vendor_found found = find_with(settings);
        const meter_domain *domain = vendor_domain(&found, "nvml:0");
        assert_int_equal(domain->quantity, METER_POWER);
        assert_true(domain->info.integrated && isnan(domain->info.resolution_j) && domain->quantum_w == 1e-3);
        vendor_near(vendor_read(domain).power_w, ways[i].power_w, 1e-9);
        vendor_near(domain->window_s, ways[i].window_s, 0);
        vendor_mentions(domain->info.description, ways[i].says);
        vendor_end(&found, &stub);
    }
}

/* A driver of 2017 has neither energy, nor fields, nor MIG. */
static void test_an_old_driver_without_these_functions_is_enough(void **state)
{
    (void)state;
    vendor_stub old;
    vendor_use(&old, "YOKE_NVML", "YOKE_STUB_NVML", STUB_DIRECTORY "/libstub_nvml_old.so");
    vendor_set(&old, "capability=61,usage_mw=123456");
    vendor_found found = vendor_find(&meter_nvml, "");
    const meter_domain *domain = vendor_domain(&found, "nvml:0");
    assert_true(domain->quantity == METER_POWER && domain->info.period_s == 0.02 && domain->window_s == 0.01);
    vendor_near(vendor_read(domain).power_w, 123.456, 1e-9);
    vendor_end(&found, &old);
}

/* The table of generations, as far as it differs: period, window of plain power usage, gain error. */
static void test_sensors_behave_as_their_generation_is_known_to(void **state)
{
    (void)state;
    static const struct {
        int capability;
        const char *name;
        double period_s, window_s, gain_error;
    } cards[] = {{52, "Maxwell", NAN, NAN, 0.05},  {61, "Pascal", 0.02, 0.01, 0.05},
                 {70, "Volta", 0.02, 0.01, 0.05},  {75, "Turing", 0.1, 0.1, 0.13},
                 {80, "GA100", 0.1, 0.025, 0.06},  {86, "GA10x", 0.1, 1, 0.07},
                 {89, "Ada", 0.1, 1, 0.06},        {90, "Hopper", 0.1, 1, 0.05},
                 {100, "Blackwell", 0.1, 1, 0.05}, {120, "Blackwell or newer", 0.1, 1, 0.05}};
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        char settings[160];
        snprintf(settings, sizeof settings, "capability=%d,fail.nvmlDeviceGetFieldValues=3,fail.nvmlDeviceGetTotalEnergyConsumption=3",
                 cards[i].capability);
        vendor_found found = find_with(settings);
        const meter_domain *domain = vendor_domain(&found, "nvml:0");
        vendor_mentions(domain->info.description, cards[i].name);
        assert_true(isnan(cards[i].period_s) ? isnan(domain->info.period_s) : domain->info.period_s == cards[i].period_s);
        assert_true(isnan(cards[i].window_s) ? isnan(domain->window_s) : domain->window_s == cards[i].window_s);
        assert_true(domain->info.gain_error == cards[i].gain_error);
        vendor_end(&found, &stub);
    }
}

/* -------------------------------------------------------------------------------------- slices, virtual cards */

static void test_mig_is_metered_as_the_whole_card(void **state)
{
    (void)state;
    vendor_found found = find_with("mig=1");
    assert_int_equal(found.list.count, 1);
    vendor_mentions(vendor_domain(&found, "nvml:0")->info.description, "MIG: the whole card");
    vendor_end(&found, &stub);
}

static void test_a_slice_that_tells_the_cards_energy_is_not_metered_again(void **state)
{
    (void)state;
    vendor_found found = find_with("devices=3,mig=1,bus=59,energy_mj=5000");
    assert_int_equal(found.list.count, 3);
    vendor_domain(&found, "nvml:0");
    for (int i = 1; i < 3; i++) {
        const yoke_meter_info *info = &found.list.domains[i].info;
        assert_false(info->usable);
        vendor_mentions(info->why_not, "MIG");
        vendor_mentions(info->remedy, "nvml:0");
    }
    vendor_end(&found, &stub);
}

static void test_a_virtual_gpu_has_no_meter_and_says_so(void **state)
{
    (void)state;
    vendor_set(&stub, "virtualization=2,fail.nvmlDeviceGetFieldValues=3,fail.nvmlDeviceGetTotalEnergyConsumption=3,"
                      "fail.nvmlDeviceGetPowerUsage=3");
    vendor_expect_missing(&meter_nvml, &stub, "virtual GPU", "on the host");
}

static void test_a_card_without_energy_and_power_says_so(void **state)
{
    (void)state;
    vendor_set(&stub, "fail.nvmlDeviceGetFieldValues=3,fail.nvmlDeviceGetTotalEnergyConsumption=3,fail.nvmlDeviceGetPowerUsage=3");
    vendor_expect_missing(&meter_nvml, &stub, "neither energy nor power", "--declare");
    vendor_set(&stub, "mig=1,fail.nvmlDeviceGetFieldValues=3,fail.nvmlDeviceGetTotalEnergyConsumption=4,fail.nvmlDeviceGetPowerUsage=4");
    vendor_expect_missing(&meter_nvml, &stub, "Insufficient Permissions", "--gpus all");
}

/* ------------------------------------------------------------------------------------------ what is missing */

static void test_no_library_says_why_and_what_to_do(void **state)
{
    (void)state;
    setenv("YOKE_NVML", "", 1);
    vendor_expect_missing(&meter_nvml, &stub, "YOKE_NVML is set to nothing", "unset YOKE_NVML");
    setenv("YOKE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
    vendor_expect_missing(&meter_nvml, &stub, "/nowhere/libnvidia-ml.so.1", "YOKE_NVML");
    setenv("YOKE_NVML", "/etc/passwd", 1); /* no library */
    vendor_expect_missing(&meter_nvml, &stub, "/etc/passwd", "YOKE_NVML");
    setenv("YOKE_NVML", "libm.so.6", 1);
    vendor_expect_missing(&meter_nvml, &stub, "has no function nvmlInit_v2", "YOKE_NVML");
}

/* On the machine that tests run on there may be a driver: of a recorded one it says nothing. */
static void test_a_recorded_machine_has_only_the_library_that_is_named(void **state)
{
    (void)state;
    vendor_found found = vendor_find(&meter_nvml, "/nowhere");
    vendor_domain(&found, "nvml:0");
    vendor_end(&found, &stub);
    unsetenv("YOKE_NVML");
    found = vendor_find(&meter_nvml, "/nowhere");
    assert_int_equal(found.list.count, 1);
    assert_false(found.list.domains[0].info.usable);
    vendor_mentions(found.list.domains[0].info.why_not, "recorded machine");
    vendor_end(&found, &stub);
}

static void test_a_driver_that_does_not_start_says_why_and_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *why, *remedy;
    } cases[] = {
        {"fail.nvmlInit_v2=9", "Driver Not Loaded", "modprobe nvidia"},
        {"fail.nvmlInit_v2=18", "version mismatch", "different versions"},
        {"fail.nvmlInit_v2=4", "Insufficient Permissions", "--gpus all"},
        {"fail.nvmlInit_v2=17", "error 17", "cgroup"},
        {"fail.nvmlInit_v2=999", "unknown error (NVML error 999)", "dmesg"},
        {"fail.nvmlDeviceGetCount_v2=1", "nvmlDeviceGetCount", "nvidia-smi"},
        {"devices=0", "finds no GPU", "--gpus all"},
        {"fail.nvmlDeviceGetHandleByIndex_v2=8", "nvmlDeviceGetHandleByIndex", "power cables"},
        {"fail.nvmlDeviceGetHandleByIndex_v2=11", "error 11", "interrupt"},
        {"fail.nvmlDeviceGetPciInfo_v3=16", "nvmlDeviceGetPciInfo", "--gpu-reset"},
        {"lost=1", "GPU is lost", "dmesg"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vendor_set(&stub, cases[i].settings);
        vendor_expect_missing(&meter_nvml, &stub, cases[i].why, cases[i].remedy);
    }
}

static void test_one_bad_card_does_not_hide_the_others(void **state)
{
    (void)state;
    vendor_found found = find_with("devices=3,fail.nvmlDeviceGetHandleByIndex_v2.0=4,lost.1=1,energy_mj.2=7");
    assert_int_equal(found.list.count, 3);
    vendor_mentions(found.list.domains[0].info.why_not, "Insufficient Permissions");
    vendor_mentions(found.list.domains[1].info.why_not, "GPU is lost");
    assert_true(vendor_read(vendor_domain(&found, "nvml:2")).count == 7);
    vendor_end(&found, &stub);
}

static void test_no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    vendor_set(&stub, "devices=10");
    vendor_fail_allocations(&meter_nvml, &stub);
}

/* --------------------------------------------------------------------------------------------- in mid-run */

static void test_a_reading_that_fails_once_comes_back(void **state)
{
    (void)state;
    vendor_found found = find_with("energy_mj=10");
    const meter_domain *domain = vendor_domain(&found, "nvml:0");
    meter_sample sample;
    char why[METER_WHY_BYTES];
    vendor_set(&stub, "energy_mj=20,field.191.0=999");
    assert_int_equal(domain->read(domain->state, &sample, why), METER_FAILED);
    vendor_mentions(why, "0000:3b:00.0");
    vendor_mentions(why, "NVML error 999");
    vendor_set(&stub, "energy_mj=30");
    assert_true(vendor_read(domain).count == 30);
    vendor_end(&found, &stub);
}

static void test_a_lost_card_is_gone(void **state)
{
    (void)state;
    vendor_found found = find_with("devices=2,energy_mj=10");
    const meter_domain *domain = vendor_domain(&found, "nvml:0");
    meter_sample sample;
    char why[METER_WHY_BYTES];
    vendor_set(&stub, "devices=2,energy_mj=20,lost.0=1");
    assert_int_equal(domain->read(domain->state, &sample, why), METER_GONE);
    vendor_mentions(why, "is lost");
    assert_true(vendor_read(vendor_domain(&found, "nvml:1")).count == 20);
    vendor_end(&found, &stub);
}

/* --------------------------------------------------------------------------------------------- table of clocks */

static void test_locked_clocks_are_kept_for_other_processes(void **state)
{
    (void)state;
    char path[] = "/tmp/yoke-stub-state-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0);
    setenv("YOKE_STUB_NVML_STATE", path, 1);
    meter_site site = {.root = ""};
    yoke_nvml nvml;
    nvmlDevice_t device;
    unsigned clock = 0;
    unsigned long long reasons = 0;
    char pci[16], model[96], why[METER_WHY_BYTES], remedy[512];
    assert_int_equal(yoke_nvml_load(&site, &nvml), 1);
    assert_int_equal(yoke_nvml_device(&nvml, 0, &device, pci, model, why, remedy), 1);
    assert_int_equal(nvml.call.nvmlDeviceSetGpuLockedClocks(device, 1200, 1200), NVML_SUCCESS);
    assert_int_equal(nvml.call.nvmlDeviceGetClockInfo(device, NVML_CLOCK_GRAPHICS, &clock), NVML_SUCCESS);
    assert_int_equal(clock, 1200);
    char text[64] = "";
    FILE *kept = fopen(path, "r");
    assert_true(kept != NULL && fgets(text, sizeof text, kept) != NULL && fclose(kept) == 0);
    assert_string_equal(text, "locked_least.0=1200\n");
    vendor_set(&stub, "cap_mhz=900");
    assert_int_equal(nvml.call.nvmlDeviceGetClockInfo(device, NVML_CLOCK_GRAPHICS, &clock), NVML_SUCCESS);
    assert_int_equal(clock, 900);
    assert_int_equal(nvml.call.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons), NVML_SUCCESS);
    assert_true(reasons == nvmlClocksThrottleReasonSwPowerCap);
    vendor_set(&stub, "fail.nvmlDeviceSetGpuLockedClocks=4");
    assert_int_equal(nvml.call.nvmlDeviceSetGpuLockedClocks(device, 600, 600), NVML_ERROR_NO_PERMISSION);
    assert_int_equal(nvml.call.nvmlDeviceResetGpuLockedClocks(device), NVML_SUCCESS);
    assert_int_equal(nvml.call.nvmlDeviceGetClockInfo(device, NVML_CLOCK_GRAPHICS, &clock), NVML_SUCCESS);
    assert_int_equal(clock, 210);
    yoke_nvml_unload(&nvml);
    yoke_nvml_unload(&nvml); /* once more is nothing */
    assert_int_equal(stub.balance(), 0);
    unlink(path);
}

static const struct CMUnitTest tests[] = {
    TEST(test_the_counter_is_read_to_the_millijoule),
    TEST(test_a_card_says_what_and_where_it_is),
    TEST(test_two_cards_are_two_meters_of_one_library),
    TEST(test_numbers_of_all_types_are_understood),
    TEST(test_fields_that_are_no_counts_are_not_taken),
    TEST(test_on_a_module_the_gpu_alone_is_preferred),
    TEST(test_a_meter_of_the_whole_module_says_so),
    TEST(test_a_card_without_scopes_is_no_module),
    TEST(test_without_a_counter_power_takes_over),
    TEST(test_an_old_driver_without_these_functions_is_enough),
    TEST(test_sensors_behave_as_their_generation_is_known_to),
    TEST(test_mig_is_metered_as_the_whole_card),
    TEST(test_a_slice_that_tells_the_cards_energy_is_not_metered_again),
    TEST(test_a_virtual_gpu_has_no_meter_and_says_so),
    TEST(test_a_card_without_energy_and_power_says_so),
    TEST(test_no_library_says_why_and_what_to_do),
    TEST(test_a_recorded_machine_has_only_the_library_that_is_named),
    TEST(test_a_driver_that_does_not_start_says_why_and_what_to_do),
    TEST(test_one_bad_card_does_not_hide_the_others),
    TEST(test_no_memory_leaves_nothing_behind),
    TEST(test_a_reading_that_fails_once_comes_back),
    TEST(test_a_lost_card_is_gone),
    TEST(test_locked_clocks_are_kept_for_other_processes),
};

UNIT_MAIN(tests, NULL, NULL)
