/*
 * profile.h - the work that `yoke profile` runs, and the files that it writes.
 *
 *     profile.c  the command line, and the order of the steps
 *     work.c     kernels on a device, functions of a library, simulated sensors
 *     output.c   the files
 */
#ifndef TOOL_PROFILE_PROFILE_H
#define TOOL_PROFILE_PROFILE_H

#include <pthread.h>
#include <stdbool.h>

#include "common/machine/simulated_sensor.h"
#include "yoke/yoke.h"

/* The work that runs, and its sensor.  One of device, library and simulated is not NULL. */
typedef struct profile_work {
    yoke_context *context;
    yoke_profile_subject subject;
    char name[256], meter_name[64], meter_text[256]; /* of the kernel, of the meter */
    double gain_error;
    yoke_meters *meter;
    int64_t meter_index;
    yoke_device *device; /* a kernel of ours */
    yoke_queue *queue;
    yoke_program *program;
    yoke_function *function;
    yoke_buffer *x, *y;
    int64_t n, rounds;
    void *library; /* a function of a library, on a thread of its own */
    void (*call)(void);
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool threaded, wanted, done, ended;
    double start_s, end_s;
    app_simulated *simulated;
} profile_work;

/*
 * Opens the meter of this name; NULL: the meter with power of the hardware at `pci`, or the only such meter.  Errors: UNAVAILABLE, INPUT.
 */
yoke_status profile_meter_open(profile_work *work, const char *name, const char *sysroot, const char *pci);
/* Checks whether there is such a built-in kernel; NULL: none is wanted.  Errors: INPUT. */
yoke_status profile_kernel_check(yoke_context *context, const char *kernel);
/* A built-in kernel of about `seconds`.  Errors: those of the device. */
yoke_status profile_kernel_open(profile_work *work, const char *kernel, const char *device, double seconds);
/* PCI address of the device that was opened; "" if it has none. */
const char *profile_kernel_pci(const profile_work *work);
/* LIB:FUNC.  Errors: INPUT. */
yoke_status profile_library_open(profile_work *work, const char *text);
yoke_status profile_simulated_open(profile_work *work, const char *text);
/* Allows a work of all zeros. */
void profile_work_close(profile_work *work);

/* time_s,power_w,uncertainty_w,what: the profile's points, then the readings. */
yoke_status profile_write_csv(yoke_context *context, const yoke_profile *profile, const char *path);
/* Writes the figure to path, drawn from data and script in the same directory; *drawn: gnuplot is installed. */
yoke_status profile_write_plot(const profile_work *work, const yoke_profile *profile, const char *path, bool *drawn);
yoke_status profile_write_record(const profile_work *work, const yoke_sensor *sensor, const yoke_profile *profile, const char *path,
                                 int argc, char **argv);
/* "mean over 25.0 ms" and so on. */
const char *profile_shape_text(const yoke_sensor *sensor, char text[96]);

#endif
