/*
 * device.h - a context and the device of a test: openmp, or YOKE_TEST_DEVICE of the machine file YOKE_TEST_MACHINE.  The program is left out (77) where the
 * device is not there, or has no double precision.
 */
#ifndef YOKE_TESTS_FMM_DEVICE_H
#define YOKE_TESTS_FMM_DEVICE_H

#include "context.h"

static const char *device, *machine;

static inline int device_start(void **state)
{
    yoke_device *opened = NULL;
    device = getenv("YOKE_TEST_DEVICE") ? getenv("YOKE_TEST_DEVICE") : "openmp";
    machine = getenv("YOKE_TEST_MACHINE");
    if (context_start(state) || (machine && yoke_machine_read(context, machine))) return 1;
    yoke_status status = yoke_device_open(context, device, &opened);
    if (status == YOKE_OK && !yoke_device_info_get(opened)->double_precision) status = YOKE_ERROR_UNAVAILABLE;
    if (status == YOKE_OK) yoke_device_close(opened);
    if (status == YOKE_ERROR_UNAVAILABLE || (status == YOKE_ERROR_INPUT && strcmp(device, "openmp"))) {
        fprintf(stderr, "left out: %s\n", yoke_last_error(context));
        exit(77);
    }
    return status != YOKE_OK;
}

#endif
