/*
 * energy.h - declarations that the files of `yoke energy` share.
 *
 *     energy.c      options, and the order of the steps
 *     process.c     the process whose energy is measured: a command of ours, or a process that already runs; signals
 *     account.c     runs and intervals: sums, statistics, rows of the CSV file and samples of the record
 *     report.c      the printed report and the JSON record
 *     source.c, merge.c    streams that other programs recorded, combined (source.h, merge.h)
 */
#ifndef TOOL_ENERGY_ENERGY_H
#define TOOL_ENERGY_ENERGY_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/console/terminal.h"
#include "common/files/file.h"
#include "yoke/yoke.h"

/* ---------------------------------------------------------------------------------------------- statistics */

/* Mean and spread of numbers that are added one by one (Welford 1962). */
typedef struct energy_statistic {
    int64_t count;
    double mean, squares; /* sum of squared deviations from the mean */
} energy_statistic;

void energy_statistic_add(energy_statistic *statistic, double number);
/* Half width of the 95 % interval of the mean (Student's t); NaN for fewer than two numbers. */
double energy_half_width(const energy_statistic *statistic);

/* ------------------------------------------------------------------------------------------------- process */

enum { ENERGY_SIGNALS = 32 }; /* all except real-time signals */

/* Signals that are blocked for the process and read from a descriptor instead. */
typedef struct energy_signals {
    int descriptor; /* -1: none is blocked */
    sigset_t before, blocked;
    sigset_t standard;                        /* signals that had their default action, which a command gets back */
    struct sigaction actions[ENERGY_SIGNALS]; /* while they are blocked */
    int caught; /* the latest one that requests the end, also if the terminal sent it to the command too; 0: none */
} energy_signals;

/*
 * From now on SIGINT, SIGTERM and similar signals end nothing by themselves, in no thread that is started later; ignored signals stay
 * ignored.  A broken pipe and a file at its limit become errors of writing.  Errors: SYSTEM.
 */
yoke_status energy_signals_hold(yoke_context *context, energy_signals *signals);
/* Reverts what libraries have done to signals since then: LLVM, which OpenCL drivers load, catches all signals that end a process. */
void energy_signals_again(const energy_signals *signals);
void energy_signals_release(energy_signals *signals);

typedef struct energy_process {
    pid_t id;       /* 0: none */
    bool ours;      /* our child */
    int descriptor; /* of a process that is not ours, readable when it has ended; -1: the system has none */
    bool ended;
    int status; /* of our child, as returned by waitpid */
} energy_process;

/*
 * Starts a command, found as a shell finds it, with this process's streams, the environment, and the original signals.
 * *code: the exit code of `env` for such a failure: 126 (cannot be executed), 127 (not found), else 125.  Errors: SYSTEM.
 */
yoke_status energy_process_start(yoke_context *context, const energy_signals *signals, char **command, char **environment,
                                 energy_process *process, int *code);
/*
 * Copies the present environment, without one variable (NULL: with all variables): libraries that look for devices change it.  Freed with
 * yoke_release.  Errors: MEMORY.
 */
yoke_status energy_environment_keep(yoke_context *context, const char *without, char ***environment);
/* Finds a process that already runs.  Errors: INPUT (there is none). */
yoke_status energy_process_find(yoke_context *context, pid_t id, energy_process *process);
void energy_process_forget(energy_process *process);

typedef enum energy_event { ENERGY_TIME, ENERGY_ENDED, ENERGY_INTERRUPTED } energy_event;

/*
 * Waits until the process has ended, a time on yoke_clock_s (infinity: none), or, if there is no command of ours, a signal.  Signals are
 * passed on to a command of ours, except those of the terminal, which it has received already.
 */
energy_event energy_wait(energy_signals *signals, energy_process *process, double until_s);

/* The exit code of a command that ended: its own, or 128 + the signal that ended it.  *ended_by: that signal, else 0. */
int energy_exit_code(const energy_process *process, int *ended_by);

/* ------------------------------------------------------------------------------------------------- account */

/* Results for one meter, or for the total. */
typedef struct energy_result {
    energy_statistic value; /* of the runs that have a value */
    double uncertainty_j;   /* sum over these runs */
    int64_t missing;        /* number of runs without a value */
    yoke_energy_kind kind;
    char why_not[256]; /* the latest reason */
} energy_result;

/* A run of the command, or an interval of watching. */
typedef struct energy_sample {
    int64_t run;
    double start_s, seconds; /* since the first sample's start */
    int code;                /* exit code; -1: it still runs */
} energy_sample;

typedef struct energy_account {
    yoke_context *context; /* borrowed, as are the meter and its infos */
    yoke_meters *meter;
    const yoke_meter_info *infos;
    int64_t num_meters;
    energy_statistic seconds;
    energy_result *results; /* [num_meters] */
    energy_result total;
    yoke_energy *energies; /* [num_meters] of the latest region that ended */
    yoke_energy latest;    /* its total */
    app_file *csv;         /* NULL: none */
    json_t *samples;       /* NULL: none */
    const char *title;     /* what was measured, for the report; NULL: according to the options of the meters; borrowed */
    int64_t num_samples;
} energy_account;

/* Creates an account of the open meters, and begins the CSV file unless its path is NULL.  Errors: MEMORY, INPUT (the file). */
yoke_status energy_account_create(yoke_context *context, yoke_meters *meter, const char *csv, bool record, energy_account *account);
/* Ends a region and writes its energies to the account's `energies` and `latest`. */
yoke_status energy_account_end(energy_account *account, yoke_region *region, double *seconds);
/* Writes them to the CSV file and the samples.  Errors: SYSTEM (the file), MEMORY. */
yoke_status energy_account_row(energy_account *account, const energy_sample *sample);
/* Adds them to the statistics. */
void energy_account_add(energy_account *account, double seconds);
/* Puts the CSV file in place.  Errors: SYSTEM. */
yoke_status energy_account_commit(energy_account *account);
void energy_account_destroy(energy_account *account);

/* -------------------------------------------------------------------------------------------------- report */

/* A frequency that was set for the command. */
typedef struct energy_frequency {
    char name[64];
    double asked_hz, reached_hz;
} energy_frequency;

enum { ENERGY_MAX_FREQUENCIES = 16 };

/* Prints the report on standard error: what was measured; if there is no energy, the reason and the remedy. */
void energy_report(const energy_account *account, const yoke_meter_options *options, char **command);
/* Puts seconds, energies and the rest into the record.  Errors: MEMORY. */
yoke_status energy_record(energy_account *account, const energy_frequency *frequencies, int num_frequencies, json_t *record);
/* Prints a line about the latest interval: the power of each meter.  On a terminal it replaces the previous line. */
void energy_watch_line(const energy_account *account, const app_terminal *terminal, FILE *stream, bool rewrite,
                       const energy_sample *sample);

#endif
