/*
 * frequency.h - clock frequencies.  Part of yoke.h.
 */
#ifndef YOKE_FREQUENCY_H
#define YOKE_FREQUENCY_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Clock frequencies.  Before the first change the old setting is saved.  A small guard process (yoke-clock-guard) restores it, in an order
 * that the hardware accepts, when the set is closed and when this process ends in any other way, SIGKILL included.
 *
 * If the context has a simulated machine whose file defines frequencies of devices, only these exist: sim:NAME is the frequency of device
 * NAME.  A simulated frequency is reached at once, applies to launches that begin later, and is restored when the set is closed.
 *
 * A set serves one thread at a time, and its context outlives it.
 */
typedef struct yoke_frequency_info {
    char name[64];         /* "cpu" (all cores), "nvml:0", "sim:NAME" */
    char kind[16];         /* cpufreq, nvml, sim */
    char description[256]; /* driver, governor, the hardware of this name */
    char pci[16];
    int settable;
    char why_not[256]; /* "" if settable */
    char remedy[512];
    double current_hz; /* NaN: not known */
    double min_hz, max_hz;
    double levels_hz[128]; /* ascending; num_levels 0: any value between min_hz and max_hz */
    int64_t num_levels;
} yoke_frequency_info;

/* All members may be zero; docs/reference/frequencies.md describes how frequencies are set and what is restored. */
typedef struct yoke_frequency_options {
    const char *sysroot; /* as in yoke_meter_options */
    double settle_s;     /* how long the hardware may take to reach a frequency, at most 60; 0: 0.2 s */
} yoke_frequency_options;

/* A set of frequencies.  These members are for reading; others are private. */
typedef struct yoke_frequencies {
    /* [count] all frequencies, settable or not, and one entry for each kind that finds none; values are those at opening. */
    const yoke_frequency_info *infos;
    int64_t count;
} yoke_frequencies;
/*
 * Locks the machine's frequencies for this process; nothing is changed yet.  options may be NULL.
 * Errors: ARGUMENT, INPUT (options), UNAVAILABLE (another yoke has locked them: which process), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_frequencies_open(yoke_context *context, const yoke_frequency_options *options, yoke_frequencies **frequencies);
/* Restores the old settings.  The log lists frequencies that could not be restored.  NULL is allowed. */
YOKE_API void yoke_frequencies_close(yoke_frequencies *frequencies);
/*
 * Sets a frequency (the nearest level) and reads it back.  reached_hz: the frequency that the hardware then reports; NaN: it reports none.
 * reached_hz may be NULL.
 * Errors: INPUT (no such name; outside its range), UNAVAILABLE (not settable: why, remedy), SYSTEM (refused; then cores have the setting
 * from before the first change).  If another frequency is reached, that is not an error but a warning in the log with the hardware's
 * reason (power cap, heat).
 */
YOKE_API yoke_status yoke_frequency_set(yoke_frequencies *frequencies, const char *name, double hz, double *reached_hz);

#ifdef __cplusplus
}
#endif

#endif
