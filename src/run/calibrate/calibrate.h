/*
 * calibrate.h - declarations that the files of a calibration share.
 *
 *   calibrate.c         the order of the measurements       sizes.c     sizes at the highest frequency, and sizes held out
 *   powers.c            powers at work, copies              together.c  all devices at once
 *   quiet.c             trials that other programs disturb
 */
#ifndef YOKE_RUN_CALIBRATE_H
#define YOKE_RUN_CALIBRATE_H

#include "run/run.h"

enum {
    CALIBRATE_HELD_OUT = 4,
    CALIBRATE_MAX_SIZES = MODEL_MAX_POINTS - CALIBRATE_HELD_OUT, /* a model keeps this number of points */
    CALIBRATE_SIZES_OF_A_LEVEL = 5,
    CALIBRATE_MAX_SAMPLES = CALIBRATE_MAX_SIZES + RUN_MAX_LEVELS * CALIBRATE_SIZES_OF_A_LEVEL + 2
};

/* The results for one device. */
typedef struct run_calibrated {
    yoke_run_accuracy accuracy;
    yoke_sample samples[CALIBRATE_MAX_SAMPLES];
    yoke_run_held_out held_out[CALIBRATE_HELD_OUT];
    yoke_run_level levels[RUN_MAX_LEVELS];
} run_calibrated;

typedef struct calibrating {
    yoke_run *run;
    const yoke_run_calibration *of;
    int work, device, level;
    uint64_t resting;           /* bit i: device i rests, as others work on the same cores, and the calibration leaves it out */
    int64_t max_units;          /* of the device */
    double budget_s;            /* of one size */
    int64_t units;              /* of the calls that are measured now */
    run_calibrated *found;      /* results of the device */
    double error;               /* relative, of the prediction before the latest measurement; NaN: there was none */
    double counted_s, lost_s;   /* of the trials of a size that count: their time, and the part of it that other programs had */
    double least_part, least_s; /* of the trials of a size: the least part that others had of one, and the least time of one */
} calibrating;

yoke_status run_calibrate_progress(const calibrating *c, int64_t device, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Makes `calls` calls, which are counted. */
yoke_status run_calibrate_try(calibrating *c, int64_t units, int64_t calls, double *seconds);
/*
 * The same, but a trial on the cores that other programs disturbed is repeated several times, and the least disturbed one counts.  It is
 * added to c->counted_s and the members after it.
 */
yoke_status run_calibrate_try_quietly(calibrating *c, int64_t units, int64_t calls, double *seconds);
/* Repeats a size at the present level until its time is known, and learns it.  longer: factor of the usual duration. */
yoke_status run_calibrate_measure(calibrating *c, int64_t units, double longer, yoke_sample *sample);
void run_calibrate_keep(calibrating *c, const yoke_sample *sample);

yoke_status run_calibrate_sizes(calibrating *c);
/* Powers at the present level. */
yoke_status run_calibrate_powers(calibrating *c);
/*
 * The power of the host while it waits for the device (an accelerator), at the frequencies at which the device was measured but this
 * power was not.
 */
yoke_status run_calibrate_overheads(calibrating *c);
/* Copies to the device, and the power during them. */
yoke_status run_calibrate_copies(calibrating *c);
/* How much all devices slow each other down. */
yoke_status run_calibrate_together(calibrating *c);
/* Joules of samples, computed from the powers at their frequencies. */
void run_calibrate_joules(const yoke_run *run, int device, run_calibrated *found);

#endif
