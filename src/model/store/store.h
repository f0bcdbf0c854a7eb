/*
 * store.h - the store that keeps what a run learns: text of a file, entries in memory.  src/run/machine/store.c chooses the file and the
 * machine.
 */
#ifndef YOKE_MODEL_STORE_STORE_H
#define YOKE_MODEL_STORE_STORE_H

#include "yoke/yoke.h"

/*
 * Measurements of this machine, in one readable JSON file (docs/reference/store.md).  Entries are identified by work and device; each has
 * the device's description and the hash of the kernel text for which it is valid.  An entry that does not match is declined with a
 * reason, and never used.  A store serves one thread at a time; its context outlives it.
 */
typedef struct yoke_store yoke_store;

/* Powers of a device at one of its frequencies, or, with frequency NaN, if that is not set.  NaN: not known. */
typedef struct yoke_store_power {
    double frequency_hz;
    double idle_power_w, idle_power_interval_w, busy_power_w, busy_power_interval_w; /* as in yoke_store_entry */
    double memory_power_w;                            /* part of busy_power_w that memory draws in addition to the device's meters */
    double hosting_power_w, hosting_power_interval_w; /* of a host: the host overhead */
} yoke_store_power;

/* Measurements of one kind of work on one device.  NaN: not known. */
typedef struct yoke_store_entry {
    const char *work;        /* the kind of work: "q2 elasticity matrixfree", "fma" */
    const char *device;      /* name */
    const char *description; /* of the device, as in yoke_device_info */
    const char *kernel;      /* hash of the kernel's text and version, or "" */
    int64_t num_samples;     /* may be 0 */
    const yoke_sample *samples;
    double idle_power_w, idle_power_interval_w; /* of the device, with its context open */
    double busy_power_w, busy_power_interval_w; /* while it works */
    double copy_start_s, copy_seconds_per_byte; /* to the device */
    yoke_energy_kind power_kind;                /* source of the powers */
    int64_t num_powers;                         /* number of frequencies whose powers are known; may be 0 */
    const yoke_store_power *powers;
    double disturbed; /* 0 ... 1: part of the time of measurements in which other programs had the cores; 0: little, or not known */
} yoke_store_entry;

/*
 * Opens a store; a missing file is an empty store.
 *
 * path NULL: $YOKE_STORE, else the file for this machine's fingerprint under $XDG_DATA_HOME/yoke (~/.local/share/yoke), whose directories
 * the first write creates.  machine: text that identifies the machine of the store.  NULL: this machine's fingerprint (processor, all its
 * hardware threads, memory), or, if the context has read a machine file, that of the simulated machine (its name, and a hash of the
 * content of its file).
 *
 * A file of another machine or format is opened as empty, and *declined (may be NULL; borrowed from the store) has the reason.  At the
 * first write to its path it is kept as PATH.bak.  *declined is NULL if nothing was declined.
 * Errors: ARGUMENT, UNAVAILABLE (path NULL: the environment names no place), INPUT (the file is no store: file, place, what was
 * expected), MEMORY, SYSTEM.
 */
yoke_status yoke_store_open(yoke_context *context, const char *path, const char *machine, yoke_store **store, const char **declined);
/*
 * Opens a store in memory alone, with the content of `text`, which is that of a file; text NULL: empty.  name: its name in messages.  It
 * is not locked or written.  Errors: those of yoke_store_open except SYSTEM.
 */
yoke_status yoke_store_open_text(yoke_context *context, const char *text, const char *name, const char *machine, yoke_store **store,
                                 const char **declined);
void yoke_store_close(yoke_store *store);
/* The text of the file that yoke_store_write would write, freed with yoke_release.  Errors: MEMORY. */
yoke_status yoke_store_text(const yoke_store *store, char **text);
const char *yoke_store_path(const yoke_store *store);
/*
 * The entry for this work on this device, borrowed until the next put, lock or write.  NULL if there is none (*why, which may be NULL, is
 * "" then) or if it is declined, and *why has the reason.  description and kernel must be equal to the entry's.
 */
const yoke_store_entry *yoke_store_find(const yoke_store *store, const char *work, const char *device, const char *description,
                                        const char *kernel, const char **why);
/*
 * Adds an entry (copied; bytes that are not UTF-8 as "?"), or replaces that of the same work and device.  Errors: ARGUMENT (which
 * member), MEMORY.
 */
yoke_status yoke_store_put(yoke_store *store, const yoke_store_entry *entry);
/*
 * Removes the entry for this work on this device if it was measured there with another version of the kernel: nothing that knows the
 * work as it is now can use it.  All arguments must be set.
 */
void yoke_store_remove_outdated(yoke_store *store, const char *work, const char *device, const char *description, const char *kernel);
/*
 * Waits until no other store, of this process or another one, writes the file; then reads what was written to it since this store was
 * opened: entries that this store lacks, and newer versions of entries that were not put here.  Others wait until yoke_store_write,
 * yoke_store_unlock or yoke_store_close.
 * Errors: INPUT (the file is no longer a store), SYSTEM (another program has not ended its writing for a long time), MEMORY.
 */
yoke_status yoke_store_lock(yoke_store *store);
void yoke_store_unlock(yoke_store *store);
/*
 * Writes the whole file, or leaves the old one; calls yoke_store_lock if that was not called.  If several stores on one file have an
 * entry of the same work and device, the one that is written last remains.  Errors: those of yoke_store_lock.
 */
yoke_status yoke_store_write(yoke_store *store);

enum { STORE_FORMAT = 2, STORE_REASON_BYTES = 512 }; /* format 1: yoke fem's own, before there was this one */

/* The reasons of yoke_store_find and yoke_store_open for what they decline. */
typedef struct store_reason {
    char text[STORE_REASON_BYTES];
} store_reason;

typedef struct store_item {
    yoke_store_entry entry;
    void *memory; /* contains its texts and samples */
    int is_put;   /* nonzero: since the last write */
} store_item;

/*
 * Distinguishes a file from one that was written later; `settled` 0: there was none, or it was so new that another one may look the same.
 */
typedef struct store_stamp {
    int settled;
    uint64_t device, number;
    int64_t bytes, changed_s, changed_ns;
} store_stamp;

struct yoke_store {
    yoke_context *context;
    char *path;        /* as it was given */
    char *machine;     /* the machine of the store, as plain text */
    int own_directory; /* nonzero: the directories of the path are created at the first write */
    int keep_old;      /* nonzero: the file at the path was declined, and is kept as PATH.bak when it is replaced */
    store_item *items; /* ascending by work, then device */
    int64_t count, capacity;
    store_stamp stamp;              /* of the file as it was read */
    char *lock_path;                /* a file that exists while some store writes; NULL: this one does not */
    int lock;                       /* its descriptor */
    store_reason *declined, *found; /* why the file was declined, why the last requested entry was */
};

/* Opens the file at a path for the machine of this text; the rest is the contract of yoke_store_open. */
yoke_status store_open(yoke_context *context, const char *path, const char *machine, int own_directory, yoke_store **store,
                       const char **declined);

/* As store_open, for a store in memory with this text; NULL: it is empty. */
yoke_status store_open_text(yoke_context *context, const char *text, const char *name, const char *machine, yoke_store **store,
                            const char **declined);

/* Reads a text in the same way as store_read reads a file. */
yoke_status store_read_text(yoke_store *store, const char *text);
/* Reads the file into an empty store.  If the file does not exist, or is declined: no entries, and the reason ("" if it does not exist). */
yoke_status store_read(yoke_store *store);

/* Nonzero: the file is the one that was read, so it need not be read again. */
int store_is_unchanged(const yoke_store *store);

/* Adds a copy of an entry without looking for one of the same work and device, at the end: store_sort must follow. */
yoke_status store_append(yoke_store *store, const yoke_store_entry *entry);
void store_sort(yoke_store *store);
/* As strcmp, by work and then device. */
int store_compare(const yoke_store_entry *a, const yoke_store_entry *b);

/* NULL if an entry keeps its contract, else what is wrong, and *where is a JSON pointer below the entry ("/samples/3/seconds"). */
const char *store_entry_fault(const yoke_store_entry *entry, char where[64]);

#endif
