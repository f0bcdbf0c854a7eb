/* Which meters and which frequency belong to a device. */
#include "run/machine/match.h"

#include "unit.h"

static yoke_device_info cores(const char *name)
{
    yoke_device_info info = {.kind = "openmp", .device_class = YOKE_DEVICE_CPU, .usable = 1};
    snprintf(info.name, sizeof info.name, "%s", name);
    return info;
}

static yoke_device_info card(const char *name, const char *pci)
{
    yoke_device_info info = {.kind = "cuda", .device_class = YOKE_DEVICE_GPU, .usable = 1};
    snprintf(info.name, sizeof info.name, "%s", name);
    snprintf(info.pci, sizeof info.pci, "%s", pci);
    return info;
}

static yoke_meter_info meter(const char *name, const char *kind, const char *covers, const char *pci)
{
    yoke_meter_info info = {.usable = 1, .counted = 1};
    snprintf(info.name, sizeof info.name, "%s", name);
    snprintf(info.kind, sizeof info.kind, "%s", kind);
    snprintf(info.covers, sizeof info.covers, "%s", covers);
    snprintf(info.pci, sizeof info.pci, "%s", pci);
    return info;
}

static yoke_frequency_info domain(const char *name, const char *pci)
{
    yoke_frequency_info info = {.settable = 1, .num_levels = 2, .levels_hz = {1e9, 2e9}, .min_hz = 1e9, .max_hz = 2e9};
    snprintf(info.name, sizeof info.name, "%s", name);
    snprintf(info.pci, sizeof info.pci, "%s", pci);
    return info;
}

/* The numbers of NVML and CUDA need not agree: cuda:0 here is nvml:1. */
static void cards_are_matched_by_address_and_not_by_number(void **state)
{
    (void)state;
    const yoke_device_info first = card("cuda:0", "0000:af:00.0"), second = card("cuda:1", "0000:3b:00.0");
    const yoke_device_info *devices[] = {&first, &second};
    const yoke_frequency_info domains[] = {domain("nvml:0", "0000:3b:00.0"), domain("nvml:1", "0000:af:00.0"), domain("cpu", "")};
    const yoke_meter_info meters[] = {meter("nvml:0", "nvml", "gpu-0000:3b:00.0", "0000:3b:00.0"),
                                      meter("nvml:1", "nvml", "gpu-0000:af:00.0", "0000:af:00.0")};
    char why[RUN_WHY_BYTES];
    assert_string_equal(run_frequency_of(domains, 3, devices, 2, 0, why)->name, "nvml:1");
    assert_string_equal(run_frequency_of(domains, 3, devices, 2, 1, why)->name, "nvml:0");
    assert_false(run_meter_belongs(&meters[0], 2, &first));
    assert_true(run_meter_belongs(&meters[1], 2, &first));
    assert_true(run_meter_belongs(&meters[0], 2, &second));
}

static void the_frequency_of_all_cores_is_not_set_for_some_of_them(void **state)
{
    (void)state;
    const yoke_device_info all = cores("openmp"), some = cores("openmp:0-1"), others = cores("openmp:2-3");
    yoke_device_info pocl = cores("opencl:0.0");
    snprintf(pocl.kind, sizeof pocl.kind, "opencl");
    const yoke_frequency_info domains[] = {domain("cpu", "")};
    char why[RUN_WHY_BYTES];
    const yoke_device_info *alone[] = {&all}, *part[] = {&some}, *parts[] = {&some, &others}, *shared[] = {&all, &pocl};
    assert_ptr_equal(run_frequency_of(domains, 1, alone, 1, 0, why), &domains[0]);
    assert_null(run_frequency_of(domains, 1, part, 1, 0, why));
    assert_non_null(strstr(why, "part of the cores"));
    assert_null(run_frequency_of(domains, 1, parts, 2, 1, why));
    assert_null(run_frequency_of(domains, 1, shared, 2, 0, why));
    assert_non_null(strstr(why, "opencl:0.0"));
}

static void what_cannot_be_set_says_why(void **state)
{
    (void)state;
    const yoke_device_info all = cores("openmp"), gpu = card("cuda:0", "0000:af:00.0");
    const yoke_device_info *devices[] = {&all, &gpu};
    yoke_frequency_info domains[] = {domain("cpu", "")};
    char why[RUN_WHY_BYTES];
    domains[0].settable = 0;
    snprintf(domains[0].why_not, sizeof domains[0].why_not, "no right to set it");
    assert_null(run_frequency_of(domains, 1, devices, 2, 0, why));
    assert_string_equal(why, "no right to set it");
    assert_null(run_frequency_of(domains, 1, devices, 2, 1, why));
    assert_true(why[0] != '\0');
}

static void cores_have_the_meters_of_their_packages(void **state)
{
    (void)state;
    const yoke_device_info all = cores("openmp"), gpu = card("cuda:0", "0000:af:00.0");
    const yoke_meter_info package = meter("powercap:package-0", "powercap", "package-0", ""),
                          dram = meter("powercap:dram", "powercap", "dram-0", "");
    const yoke_meter_info declared = meter("declared", "declared", "host", "");
    yoke_meter_info uncounted = package;
    uncounted.counted = 0;
    assert_true(run_meter_belongs(&package, 2, &all));
    assert_false(run_meter_belongs(&dram, 2, &all));
    assert_false(run_meter_belongs(&package, 2, &gpu));
    assert_false(run_meter_belongs(&uncounted, 2, &all));
    assert_true(run_meter_belongs(&declared, 1, &all));
    assert_false(run_meter_belongs(&declared, 2, &all)); /* then others tell more than a guess of the whole machine */
}

static void simulated_devices_are_matched_by_name(void **state)
{
    (void)state;
    yoke_device_info cpu = cores("sim:cpu"), gpu = cores("sim:gpu");
    snprintf(cpu.kind, sizeof cpu.kind, "sim");
    snprintf(gpu.kind, sizeof gpu.kind, "sim");
    const yoke_device_info *devices[] = {&cpu, &gpu};
    const yoke_frequency_info domains[] = {domain("sim:gpu", ""), domain("sim:cpu", "")};
    const yoke_meter_info of_gpu = meter("sim:gpu", "sim", "sim:gpu", ""),
                          package = meter("powercap:package-0", "powercap", "package-0", "");
    char why[RUN_WHY_BYTES];
    assert_ptr_equal(run_frequency_of(domains, 2, devices, 2, 0, why), &domains[1]);
    assert_ptr_equal(run_frequency_of(domains, 2, devices, 2, 1, why), &domains[0]);
    assert_true(run_meter_belongs(&of_gpu, 2, &gpu));
    assert_false(run_meter_belongs(&of_gpu, 2, &cpu));
    assert_false(run_meter_belongs(&package, 2, &cpu));
}

/* Four cores with two hardware threads each. */
static void opencl_on_cores_shares_them_where_not_enough_are_left(void **state)
{
    (void)state;
    const yoke_topology topology = {.cores = 4, .hardware_threads = 8};
    yoke_device_info all = cores("openmp"), some = cores("openmp:0-1"), pocl = cores("opencl:0.0"), simulated = cores("sim:gpu");
    const yoke_device_info gpu = card("cuda:0", "0000:af:00.0");
    const yoke_device_info *whole[] = {&all, &pocl, &gpu, &simulated}, *part[] = {&pocl, &some}, *alone[] = {&pocl, &gpu};
    snprintf(pocl.kind, sizeof pocl.kind, "opencl");
    snprintf(simulated.kind, sizeof simulated.kind, "sim");
    all.compute_units = 4;
    some.compute_units = 2;
    pocl.compute_units = simulated.compute_units = 8;
    assert_true(run_shares_cores(whole, 4, 1, &topology, 4));
    assert_true(run_shares_cores(whole, 4, 1, &topology, 1)); /* it uses all cores, and the host one */
    for (int other = 0; other < 4; other++)
        if (other != 1) assert_false(run_shares_cores(whole, 4, other, &topology, 4));
    assert_false(run_shares_cores(alone, 2, 0, &topology, 4));
    assert_true(run_shares_cores(part, 2, 0, &topology, 4));
    pocl.compute_units = 4;
    assert_false(run_shares_cores(part, 2, 0, &topology, 4));
    pocl.compute_units = 1;
    assert_true(run_shares_cores(whole, 4, 1, &topology, 4));
    assert_false(run_shares_cores(whole, 4, 1, &topology, 3));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cards_are_matched_by_address_and_not_by_number),
    cmocka_unit_test(the_frequency_of_all_cores_is_not_set_for_some_of_them),
    cmocka_unit_test(what_cannot_be_set_says_why),
    cmocka_unit_test(cores_have_the_meters_of_their_packages),
    cmocka_unit_test(simulated_devices_are_matched_by_name),
    cmocka_unit_test(opencl_on_cores_shares_them_where_not_enough_are_left),
};

UNIT_MAIN(tests, NULL, NULL)
