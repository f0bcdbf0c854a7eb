/*
 * calibrate.h - `yoke calibrate` with the kernels of a program: options, devices, what is told, kept and written are the same for all of them.
 *
 * A program names its kernels and hands the command line to app_calibrate.  For each kernel it has a function that makes it ready on the devices of a run
 * and returns trial functions as those of yoke_run_calibrate (yoke/run.h), which measures.  docs/guide/calibrate-kernel.md shows one.
 */
#ifndef APP_CALIBRATE_H
#define APP_CALIBRATE_H

#include "common/console/options.h"
#include "common/console/terminal.h"

/* A kernel that is ready on all active devices of a run. */
typedef struct app_calibrate_trial {
    const char *work;  /* key of the store and of models, as in the phases of the application; borrowed until it is closed */
    int64_t max_units; /* that a device is given at most, 1 to 10^15: what fits on each real one.  Simulated ones are given any number */
    /*
     * All units of the work whose models these are: sizes go up to it, as far as they fit and time allows, and the model file is of one such call.  0: none are; sizes go
     * up to longest_call_s, and the model file is of more.
     */
    int64_t whole_units;
    double longest_call_s; /* sizes end where a call takes so long; 0: 50 ms.  Less where trials of another size are costly to make ready */
    double copy_bytes_per_unit, memory_bytes_per_unit; /* for the model file: to an accelerator before a call; of its memory */
    double difference; /* of results from a reference, relative, the largest of all devices; NaN: they are not compared */
    /*
     * On one real device, and on several at once; `together` NULL: what they lose beside each other is not measured.  What simulated devices take is said by
     * their machine file: there neither is called.
     */
    yoke_run_trial *alone;
    yoke_run_trial_together *together;
    void *user; /* of both, and what `close` gives back */
} app_calibrate_trial;

typedef struct app_calibrate_kernel {
    const char *name;     /* as in --kernel NAME; NULL ends a list */
    const char *help;     /* one line: what it is, and what a unit of it is */
    const void *settings; /* handed to the functions; borrowed */
    /* Before devices are opened: looks at the settings, starts libraries.  NULL: nothing to do. */
    yoke_status (*prepare)(yoke_context *context, const void *settings);
    /*
     * Makes it ready on the run's active devices, names the texts of its kernels (yoke_run_work) and fills *trial.  A device that cannot, or whose results are
     * wrong, is told to the run (yoke_run_fail).  Whatever it returns, `close` follows where trial->user is set.
     */
    yoke_status (*open)(yoke_context *context, yoke_run *run, const void *settings, app_calibrate_trial *trial);
    void (*close)(void *user);
} app_calibrate_kernel;

/* A kernel of another program, which is named in the help. */
typedef struct app_calibrate_other {
    const char *name, *help; /* as above */
    const char *program;     /* that has it: PROGRAM calibrate --kernel NAME */
} app_calibrate_other;

typedef struct app_calibrate_front {
    const app_calibrate_kernel *kernels; /* the first is the default */
    const app_option *options;           /* of the program's kernels, a table as in app_usage; NULL: none */
    const app_calibrate_other *others;   /* NULL: none */
} app_calibrate_front;

/*
 * The whole command: argv[1 ..] are its options.  Devices that fail are left out, and the others are told before the failure is returned.
 * Errors: INPUT (options, files, machine), UNAVAILABLE, DEVICE (one was left out), those of prepare, open and yoke_run_calibrate, MEMORY, SYSTEM.
 */
yoke_status app_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv, const app_calibrate_front *front);

/*
 * Before measurements: whether the run's store, if it is this machine's (*store is ""), can be written.  *store becomes NULL where there is no place for that of this machine, of
 * which the run has warned.  Errors: those of yoke_run_save.
 */
yoke_status app_calibrate_try_store(yoke_run *run, const char **store);

/* The other program that has the kernel for which these words ask (--kernel NAME), or NULL. */
const char *app_calibrate_program(const app_calibrate_front *front, int argc, char **argv);

#endif
