/*
 * calibrate.h - what the files of a calibration share.
 *
 *   calibrate.c         in which order what is measured     sizes.c     sizes at the highest frequency, and sizes held out
 *   powers.c            powers at work, copies              together.c  all devices at once
 *   quiet.c             trials that other programs disturb
 */
#ifndef YOKE_RUN_CALIBRATE_H
#define YOKE_RUN_CALIBRATE_H

#include "run/run.h"

enum {
    CALIBRATE_HELD_OUT = 4,
    CALIBRATE_MAX_SIZES = MODEL_MAX_POINTS - CALIBRATE_HELD_OUT, /* a model keeps as many points */
    CALIBRATE_SIZES_OF_A_LEVEL = 5,
    CALIBRATE_MAX_SAMPLES = CALIBRATE_MAX_SIZES + RUN_MAX_LEVELS * CALIBRATE_SIZES_OF_A_LEVEL + 2
};

/* What is known of one device after it. */
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
    uint64_t resting;           /* bit i: device i rests beside others on the same cores, and the calibration leaves it out */
    int64_t max_units;          /* of the device */
    double budget_s;            /* of one size */
    int64_t units;              /* of the calls that are measured now */
    run_calibrated *found;      /* of the device */
    double error;               /* of the prediction before the latest measurement, relative; NaN: there was none */
    double counted_s, lost_s;   /* of the trials of a size that count: their time, and what other programs had of it */
    double least_part, least_s; /* of one of them: the least part that others had, and the least time that it told */
} calibrating;

yoke_status run_calibrate_progress(const calibrating *c, int64_t device, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* So many calls, which are counted. */
yoke_status run_calibrate_try(calibrating *c, int64_t units, int64_t calls, double *seconds);
/*
 * The same; a trial on the cores that other programs disturbed is repeated some times, and the least disturbed one counts.  It is added to c->counted_s and
 * what follows that.
 */
yoke_status run_calibrate_try_quietly(calibrating *c, int64_t units, int64_t calls, double *seconds);
/* Repeats a size at the present level until its time is known, and learns it.  longer: so many times as long as usual. */
yoke_status run_calibrate_measure(calibrating *c, int64_t units, double longer, yoke_sample *sample);
void run_calibrate_keep(calibrating *c, const yoke_sample *sample);

yoke_status run_calibrate_sizes(calibrating *c);
/* Powers at the present level. */
yoke_status run_calibrate_powers(calibrating *c);
/* What the host draws while it waits for the device (an accelerator), at the frequencies at which it was measured and this was not. */
yoke_status run_calibrate_overheads(calibrating *c);
/* Copies to the device, and what is drawn meanwhile. */
yoke_status run_calibrate_copies(calibrating *c);
/* What all lose beside each other. */
yoke_status run_calibrate_together(calibrating *c);
/* Joules of samples, by the powers at their frequencies. */
void run_calibrate_joules(const yoke_run *run, int device, run_calibrated *found);

#endif
