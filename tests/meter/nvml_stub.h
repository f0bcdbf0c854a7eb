/*
 * nvml_stub.h - what tests of NVIDIA GPUs start from: the stand-in of libnvidia-ml (stub/nvml.c), without settings.
 */
#ifndef YOKE_TESTS_METER_NVML_STUB_H
#define YOKE_TESTS_METER_NVML_STUB_H

#include "vendor.h"

static vendor_stub stub;

/* Each test begins with the stand-in, and without settings. */
static inline int begin(void **state)
{
    (void)state;
    unsetenv("YOKE_SYSROOT");
    unsetenv("YOKE_STUB_NVML_STATE");
    vendor_use(&stub, "YOKE_NVML", "YOKE_STUB_NVML", STUB_DIRECTORY "/libstub_nvml.so");
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    vendor_write(&stub, NULL);
    vendor_set(&stub, NULL);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
