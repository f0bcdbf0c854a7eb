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
 * Clock frequencies.  Before one is changed for the first time what it had is saved, and a small guard process (yoke-clock-guard) restores
 * that, in an order the hardware accepts, when the set is closed, and also when this process ends in any other way, SIGKILL included.
 * Where the context has a simulated machine whose file gives devices clocks, the clocks are those instead: sim:NAME is the clock of that device,
 * what is asked for is reached at once, launches that begin later have it, and closing the set restores.
 * A set serves one thread at a time, and its context outlives it.
 */
typedef struct yoke_frequency_info {
    char name[64];         /* "cpu" (all cores), "nvml:0", "sim:NAME" */
    char kind[16];         /* cpufreq, nvml, sim */
    char description[256]; /* driver, governor, what is behind the name */
    char pci[16];
    int settable;
    char why_not[256]; /* "" if settable */
    char remedy[512];
    double current_hz; /* NaN: not known */
    double min_hz, max_hz;
    double levels_hz[128]; /* ascending; num_levels 0: any between min_hz and max_hz */
    int64_t num_levels;
} yoke_frequency_info;

/* All members may be zero; docs/reference/frequencies.md says how frequencies are set and what is restored. */
typedef struct yoke_frequency_options {
    const char *sysroot; /* as in yoke_meter_options */
    double settle_s;     /* how long a clock may take to reach what was asked for, at most 60; 0: 0.2 s */
} yoke_frequency_options;

/* A set of clocks: more is behind these members, which are for reading. */
typedef struct yoke_frequencies {
    const yoke_frequency_info
        *infos; /* [count] all clocks, settable or not, and one entry for each kind that finds none; as they were when the set was opened */
    int64_t count;
} yoke_frequencies;
/*
 * Takes the machine's clocks for this process; nothing is changed yet.  options may be NULL.
 * Errors: ARGUMENT, INPUT (options), UNAVAILABLE (another yoke holds the machine's clocks: which process), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_frequencies_open(yoke_context *context, const yoke_frequency_options *options, yoke_frequencies **frequencies);
/* Restores, and says so as a log line where a clock could not be restored.  Takes NULL. */
YOKE_API void yoke_frequencies_close(yoke_frequencies *frequencies);
/*
 * Asks for a frequency (the nearest level) and reads back.  reached_hz: what the hardware says then, NaN where it does not say.
 * reached_hz may be NULL.  Errors: INPUT (no such clock; outside its range), UNAVAILABLE (not settable: why, remedy), SYSTEM (refused; then
 * cores have what they had before the first change).  That another frequency was reached than asked for is no error but a warning in the log
 * with the hardware's reason (power cap, heat).
 */
YOKE_API yoke_status yoke_frequency_set(yoke_frequencies *frequencies, const char *name, double hz, double *reached_hz);

#ifdef __cplusplus
}
#endif

#endif
