/*
 * suite.h - what the files of the device suite share.
 *
 * The suite is one program that takes the name of a device: as its argument, or in YOKE_TEST_DEVICE.  It shows that the device does what
 * yoke.h promises.  A device that is not there makes it end with 77, which ctest shows as skipped.
 */
#ifndef YOKE_TESTS_DEVICE_SUITE_H
#define YOKE_TESTS_DEVICE_SUITE_H

#include "base/failing.h"
#include "unit.h"
#include "yoke/yoke.h"

typedef struct suite {
    const char *name;    /* of the device */
    const char *machine; /* file to read before the device is opened, or NULL */
    failing memory;      /* the context's */
    yoke_context *context;
    yoke_device *device;
    yoke_queue *queue;
    yoke_program *program; /* of kernels.h */
} suite;

/* Does the call and shows the library's own words where it fails. */
#define OK(s, call)                                                                                              \
    do {                                                                                                         \
        yoke_status status_of_call = (call);                                                                     \
        if (status_of_call != YOKE_OK) fail_msg("status %d: %s", status_of_call, yoke_last_error((s)->context)); \
    } while (0)

/* The call fails so, and the text holds these words. */
#define FAILS(s, status, words, call)                                                                                                     \
    do {                                                                                                                                  \
        assert_int_equal((call), (status));                                                                                               \
        if (strstr(yoke_last_error((s)->context), (words)) == NULL) fail_msg("no \"%s\" in: %s", (words), yoke_last_error((s)->context)); \
    } while (0)

/* Opens context, device, queue and program; gives them back and shows that nothing is left. */
int suite_open(void **state);
int suite_close(void **state);

/* The kernels of kernels.h, as text and compiled. */
yoke_program_source suite_source(void);

yoke_buffer *suite_buffer(suite *s, int64_t bytes, const void *content); /* content may be NULL */
void suite_read(suite *s, const yoke_buffer *buffer, int64_t bytes, void *to);
yoke_function *suite_function(suite *s, const char *name);

/* Devices whose kernels are C functions, and those that compile texts. */
int suite_is_host(const suite *s);

int suite_run_memory(void);
int suite_run_queues(void);
int suite_run_kernels(void);
/* Run after the others, since they lose and open devices of their own. */
int suite_run_whole(void);

#endif
