/*
 * frequency.h - clock frequencies: finding, saving, setting, restoring.  A frequency domain is hardware with one frequency: all cores, or
 * a GPU.
 *
 *     limit_order.c the order in which a policy's files are written; arithmetic only
 *     policy.c      a policy's files (cpufreq): reading, writing in the plan's order, reading back
 *     book.c        saved settings, as a list and as lines of text, and restoring all of them
 *     cpufreq.c     the domain "cpu"
 *     nvml.c        the domains "nvml:N"
 *     lock.c        one yoke at a time
 *     guard.c       this process's end of the guard
 *     guard_main.c  the guard, a separate program (yoke-clock-guard): restores on request, or when this process is gone
 *     frequency.c   a set of domains
 */
#ifndef YOKE_FREQUENCY_FREQUENCY_H
#define YOKE_FREQUENCY_FREQUENCY_H

#include <sys/types.h>

#include "meter/meter.h"

enum {
    FREQUENCY_WORD_BYTES = 48,   /* of a governor's name, a number of kHz, ... */
    FREQUENCY_PATH_BYTES = 1024, /* of a policy's directory, including the root before it */
    FREQUENCY_MAX_STEPS = 8,
    FREQUENCY_TEXT_BYTES = FREQUENCY_PATH_BYTES + 8 * (FREQUENCY_WORD_BYTES + 16) /* of a saved entry as lines */
};

/* ----------------------------------------------------------------------------------- plans (limit_order.c) */

/* The files of a cpufreq policy that determine its frequency. */
typedef enum frequency_file {
    FREQUENCY_GOVERNOR,   /* scaling_governor */
    FREQUENCY_MIN,        /* scaling_min_freq, kHz */
    FREQUENCY_MAX,        /* scaling_max_freq */
    FREQUENCY_SPEED,      /* scaling_setspeed: a number under the governor userspace only */
    FREQUENCY_PREFERENCE, /* energy_performance_preference */
    FREQUENCY_NUM_FILES
} frequency_file;

/* The file's name in the policy's directory. */
const char *frequency_file_name(frequency_file file);

/*
 * The contents of these files, without the newline; "": there is no such file, it is not known, or (in a wanted setting) it is not changed.
 */
typedef struct frequency_setting {
    char value[FREQUENCY_NUM_FILES][FREQUENCY_WORD_BYTES];
} frequency_setting;

typedef struct frequency_step {
    frequency_file file;
    const char *value; /* of `wanted` */
} frequency_step;

/* A whole number of kHz; -1 if the text is none. */
int64_t frequency_khz(const char *text);
void frequency_khz_text(int64_t khz, char text[FREQUENCY_WORD_BYTES]);

/*
 * The writes that lead from `now` to `wanted`, in an order that the kernel accepts at every step: the lower limit never above the upper
 * one, a speed under the governor userspace only and inside the limits, the energy preference under the governor to which it belongs.
 * Returns the number of writes; 0: nothing differs.
 */
int frequency_plan(const frequency_setting *now, const frequency_setting *wanted, frequency_step steps[FREQUENCY_MAX_STEPS]);

/* ------------------------------------------------------------------------------------- policies (policy.c) */

/*
 * Reads the files of a policy.  Returns 0, or errno if not even the limits can be read (EBUSY: its CPUs are offline; ENOENT: it is gone).
 */
int frequency_policy_read(const char *directory, frequency_setting *setting);
/*
 * Writes the files until they have the wanted contents, in the plan's order, and repeatedly and in other orders if the kernel refuses.
 * Returns 1 if they have them in the end; otherwise 0, and `why` has file, value and reason, and *error is errno of the refused write, or
 * 0 if all writes were accepted but the files read differently.
 */
int frequency_policy_apply(const char *directory, const frequency_setting *wanted, char why[METER_WHY_BYTES], int *error);

/* -------------------------------------------------------------------------------------- what was saved (book.c) */

typedef enum frequency_place { FREQUENCY_OF_POLICY, FREQUENCY_OF_GPU } frequency_place;

typedef struct frequency_saved {
    frequency_place place;
    char where[FREQUENCY_PATH_BYTES]; /* a policy's directory, or a GPU's PCI address, whose locked clocks are reset */
    frequency_setting setting;        /* of a policy */
} frequency_saved;

typedef struct frequency_book {
    yoke_context *context;
    frequency_saved *entries;
    int64_t count, capacity;
} frequency_book;

yoke_status frequency_book_add(frequency_book *book, const frequency_saved *saved);
int frequency_book_has(const frequency_book *book, const char *where);
void frequency_book_clear(frequency_book *book);

/* An entry as lines of text, for the guard; returns the length. */
size_t frequency_saved_print(const frequency_saved *saved, char text[FREQUENCY_TEXT_BYTES]);
/*
 * Reads such a line (without newline; it is changed): it begins an entry, or belongs to the last entry of the book.
 * Errors: INPUT (the line is none of these), MEMORY.
 */
yoke_status frequency_book_parse(frequency_book *book, char *line);

/* Receives a line for each entry that could not be restored, and why. */
typedef void frequency_report(void *user, const char *text);

struct yoke_nvml;
/* Restores all entries; nvml may be NULL if no entry is a GPU.  Returns the number of entries that could not be restored. */
int64_t frequency_book_restore(const frequency_book *book, const struct yoke_nvml *nvml, frequency_report *report, void *user);

/* ------------------------------------------------------------------------------------------------- domains */

typedef struct frequency_entry frequency_entry;

/* The functions of a kind of domain.  state belongs to the kind. */
typedef struct frequency_functions {
    /* Adds the present settings of a domain to the book, unless it has them already: called before each change. */
    yoke_status (*save)(frequency_entry *entry, frequency_book *book);
    /*
     * Requests the level nearest to a frequency.  Errors: UNAVAILABLE (not with this device, or without the permission), SYSTEM (refused).
     */
    yoke_status (*set)(frequency_entry *entry, double hz);
    /* The frequency that the hardware reports now, NaN if it reports none, and the frequency that was requested of it. */
    double (*read)(frequency_entry *entry, double *asked_hz);
    /* Called before a change: records the counters that `why` compares. */
    void (*mark)(frequency_entry *entry);
    /* Why the frequency was not reached. */
    void (*why)(frequency_entry *entry, char text[METER_WHY_BYTES]);
    void (*close)(void *state);
} frequency_functions;

struct frequency_entry {
    yoke_frequency_info info;
    double tolerance_hz; /* a frequency within this distance is reached */
    const frequency_functions *functions;
    void *state; /* NULL if the frequency is not settable */
};

typedef struct frequency_list {
    yoke_context *context;
    frequency_entry *entries;
    int64_t count, capacity;
} frequency_list;

/* Copies the entry to the list, which owns its state from then on; on failure the state is closed.  Errors: MEMORY. */
yoke_status frequency_list_add(frequency_list *list, const frequency_entry *entry);
void frequency_list_clear(frequency_list *list);
/* An entry with all numbers NaN that is not settable; texts that are too long are cut. */
void frequency_entry_start(frequency_entry *entry, const char *kind, const char *name);
/* Marks the entry as not settable, for this reason. */
void frequency_entry_refuse(frequency_entry *entry, const char *why_not, const char *remedy);

/* Each appends its domains, or, if it finds none, one entry with the reason.  Errors: MEMORY, INPUT (root too long). */
yoke_status frequency_cpufreq_find(const meter_site *site, frequency_list *list);
yoke_status frequency_nvml_find(const meter_site *site, frequency_list *list);

/* Resets the locked clocks of the GPU at that PCI address.  Returns 1; otherwise 0 and the reason in `why`. */
int frequency_nvml_reset(const struct yoke_nvml *nvml, const char *pci, char why[METER_WHY_BYTES]);

/* All domains, settable or not. */
yoke_status frequencies_find(const meter_site *site, frequency_list *list);

/* -------------------------------------------------------------------------------------------- lock (lock.c) */

/*
 * Locks the machine's frequencies for this process: a lock (flock) on the directory of the CPUs itself, which every user can open, nobody
 * can replace by a link, and whose lock ends with the last process that holds the descriptor.  If the owner of a lock has just died the
 * call waits, since its guard is restoring.  Errors: UNAVAILABLE (another process has the lock: its process id), SYSTEM.
 */
yoke_status frequency_lock_take(const meter_site *site, int *descriptor);

/* ----------------------------------------------------------------------------------------- guard (guard.c) */

typedef struct frequency_guard {
    yoke_context *context;
    int socket; /* -1: there is none */
} frequency_guard;

/* Finds the path of yoke-clock-guard.  Returns 1, or 0 if it does not exist: `why` lists the places that were searched. */
int frequency_guard_find(char program[FREQUENCY_PATH_BYTES], char why[METER_WHY_BYTES]);
/* Starts the guard.  lock: the guard holds it too.  Errors: UNAVAILABLE (no such program), SYSTEM. */
yoke_status frequency_guard_start(yoke_context *context, const char *root, int lock, frequency_guard *guard);
/* Sends the book's entries from number `first` on to the guard, and waits until it is ready for them.  Errors: SYSTEM (why not). */
yoke_status frequency_guard_tell(frequency_guard *guard, const frequency_book *book, int64_t first);
/* Whether the guard still runs. */
int frequency_guard_lives(const frequency_guard *guard);
/*
 * Lets the guard restore, reports what could not be restored, and waits for its end.  Returns 1; 0 if the guard did not do it.
 */
int frequency_guard_finish(frequency_guard *guard, frequency_report *report, void *user);

/* The lines with which the guard answers. */
#define FREQUENCY_GUARD_READY "ready"
#define FREQUENCY_GUARD_DONE "done"

/* --------------------------------------------------------------------------------------- sets (frequency.c) */

/* The implementation of yoke_frequencies.  site.root is copied for the set. */
yoke_status frequencies_open(const meter_site *site, double settle_s, yoke_frequencies **frequencies);
/*
 * Opens a set of domains without hardware: they reach a requested frequency at once, need neither lock nor guard, and are restored by
 * closing the set.  It takes ownership of the list, also on failure.  Errors: MEMORY.
 */
yoke_status frequencies_open_simulated(yoke_context *context, frequency_list *list, yoke_frequencies **frequencies);
void frequencies_close(yoke_frequencies *frequencies);
yoke_status frequencies_set(yoke_frequencies *frequencies, const char *name, double hz, double *reached_hz);

#endif
