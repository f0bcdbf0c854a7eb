/*
 * failing_backend.h - a backend that counts its calls, and fails when told: kind "test", with one device, "test:1", of 1000 bytes.
 */
#ifndef YOKE_TESTS_DEVICE_FAILING_BACKEND_H
#define YOKE_TESTS_DEVICE_FAILING_BACKEND_H

#include "yoke/backend.h"

typedef struct bench { /* what the backend of a test knows */
    int calls;         /* of the driver since it was opened, destroying ones not counted */
    int fail_at;       /* this call fails; 0: none */
    yoke_status with;
    int outstanding;      /* objects that were made and not destroyed */
    int calls_after_loss; /* must stay 0 */
    int started, stopped;
    const char *why_not; /* listed as unusable */
    const char *pci;
    yoke_context *context;
} bench;

extern bench the_bench;
extern const yoke_backend failing_backend;

/* Another `list`: shows no device at all. */
yoke_status failing_backend_list_nothing(void *state, yoke_backend_found *found, void *user);

#endif
