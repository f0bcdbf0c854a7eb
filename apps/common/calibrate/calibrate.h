/*
 * calibrate.h - `yoke calibrate` with the kernels of a program: options, devices, reports, the store and files are the same for all
 * programs.
 *
 * A program lists its kernels and passes the command line to app_calibrate.  For each kernel it has a function that prepares the kernel
 * on the devices of a run and returns trial functions like those of yoke_run_calibrate (yoke/run.h), which measures.
 * docs/guide/calibrate-kernel.md shows an example.
 */
#ifndef APP_CALIBRATE_H
#define APP_CALIBRATE_H

#include "common/console/options.h"
#include "common/console/terminal.h"

/* A kernel that is prepared on all active devices of a run. */
typedef struct app_calibrate_trial {
    const char *work;  /* key of the store and of models, as in the phases of the application; borrowed until the kernel is closed */
    int64_t max_units; /* largest number of units on a device, 1 to 10^15: what fits on each real one.  Simulated devices get any number */
    /*
     * All units of the work of these models.  Sizes go up to this number, as far as they fit and time allows, and the model file is for
     * one such call.  0: there is no such number; sizes go up to longest_call_s, and the model file is for more units.
     */
    int64_t whole_units;
    double longest_call_s; /* sizes end if a call takes this long; 0: 50 ms.  Smaller if trials of another size are costly to prepare */
    double copy_bytes_per_unit, memory_bytes_per_unit; /* for the model file: to an accelerator before a call; of its memory */
    double difference; /* of results from a reference, relative, the largest of all devices; NaN: results are not compared */
    /*
     * Trials on one real device, and on several at once; `together` NULL: it is not measured how much devices slow each other down.  The
     * times of simulated devices come from their machine file, and neither function is called for them.
     */
    yoke_run_trial *alone;
    yoke_run_trial_together *together;
    void *user; /* passed to both; `close` frees it */
} app_calibrate_trial;

typedef struct app_calibrate_kernel {
    const char *name;     /* as in --kernel NAME; NULL ends a list */
    const char *help;     /* one line: what the kernel is, and what a unit of it is */
    const void *settings; /* passed to the functions; borrowed */
    /* Called before devices are opened: checks the settings, starts libraries.  NULL: nothing to do. */
    yoke_status (*prepare)(yoke_context *context, const void *settings);
    /*
     * Prepares the kernel on the run's active devices, identifies the texts of its kernels (yoke_run_work) and fills *trial.  A device on
     * which this fails, or whose results are wrong, is reported to the run (yoke_run_fail).  Whatever it returns, `close` follows if
     * trial->user is set.
     */
    yoke_status (*open)(yoke_context *context, yoke_run *run, const void *settings, app_calibrate_trial *trial);
    void (*close)(void *user);
} app_calibrate_kernel;

/* A kernel of another program, which the help mentions. */
typedef struct app_calibrate_other {
    const char *name, *help; /* as above */
    const char *program;     /* the program that has it: PROGRAM calibrate --kernel NAME */
} app_calibrate_other;

typedef struct app_calibrate_front {
    const app_calibrate_kernel *kernels; /* the first is the default */
    const app_option *options;           /* of the program's kernels, a table as in app_usage; NULL: none */
    const app_calibrate_other *others;   /* NULL: none */
} app_calibrate_front;

/*
 * The whole command: argv[1 ..] are its options.  Devices that fail are left out, and the results of the others are reported before the
 * failure is returned.
 * Errors: INPUT (options, files, machine), UNAVAILABLE, DEVICE (one was left out), those of prepare, open and yoke_run_calibrate, MEMORY,
 * SYSTEM.
 */
yoke_status app_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv, const app_calibrate_front *front);

/*
 * Checks before measurements whether the run's store can be written, if it is that of this machine (*store is "").  *store becomes NULL
 * if there is no place for the store of this machine; the run has warned of that.  Errors: those of yoke_run_save.
 */
yoke_status app_calibrate_try_store(yoke_run *run, const char **store);

/* The other program that has the kernel which the command line requests (--kernel NAME), or NULL. */
const char *app_calibrate_program(const app_calibrate_front *front, int argc, char **argv);

#endif
