/*
 * meter.h - declarations that the files of this room share: the places of meters, domains, and the functions of a kind of meter.
 *
 *     kernel/     kinds that are files and events of the kernel (powercap.c perf.c hwmon.c), on directories and numbers (sysfs.c)
 *     vendor/     kinds that are libraries of vendors (nvml.c amdsmi.c; gpu.c for both), opened by library.c
 *     declared.c replay.c    kinds that are declared or recorded; each kind finds its domains and reads them
 *     track.c     joules from counters and readings of power: wraps, faults, uncertainty; arithmetic only
 *     set.c       selection, the tree, the counted meters, opening
 *     watch.c     the thread that reads often enough
 *     region.c    intervals of time
 */
#ifndef YOKE_METER_METER_H
#define YOKE_METER_METER_H

#include <stdint.h>

#include "yoke/yoke.h"

enum { METER_WHY_BYTES = 256 };

/* The clock of a meter set: yoke_clock_s, or the virtual one of a simulated machine or a replay. */
typedef struct meter_time {
    double (*now_s)(void *user);
    double (*suspended_s)(void *user); /* seconds that the machine was suspended since some start, on top of now_s */
    int virtual_time;                  /* nonzero: the clock advances only by calls, and there is no sampling thread */
    void *user;
} meter_time;

/* The places in which a kind finds its meters. */
typedef struct meter_site {
    yoke_context *context;
    const char *root;     /* prefix of absolute paths: "" or a directory of a recorded tree (no slash at its end) */
    const char *declared; /* see yoke_meter_options; NULL: none */
    const char *replay;
    int64_t pid;
    const meter_time *time;
} meter_site;

/*
 * Vendor libraries and system calls belong to this machine, not to a recorded tree: with a root other than "" a kind uses them only if the
 * environment names a replacement (YOKE_NVML, YOKE_AMDSMI, ...; "" means that there is no such library).
 */

/* One reading. */
typedef struct meter_sample {
    double time_s;   /* on the set's clock; if the kind leaves NaN the caller writes the time before the reading */
    uint64_t count;  /* of a counter */
    double power_w;  /* of a power meter */
    double energy_j; /* of a meter that reports joules itself */
    double took_s;   /* duration of the reading; written by the caller */
} meter_sample;

typedef enum meter_quantity { METER_COUNTER, METER_POWER, METER_ENERGY } meter_quantity;

typedef enum meter_result {
    METER_READ,   /* the sample is filled */
    METER_FAILED, /* not read this time, but possibly later; `why` has the reason */
    METER_GONE    /* not read, and never again: the device is lost */
} meter_result;

/* Reads once.  One thread at a time for a domain; no allocation, no text on the context. */
typedef meter_result meter_read_function(void *state, meter_sample *sample, char why[METER_WHY_BYTES]);

/* A piece of hardware with a meter. */
typedef struct meter_domain {
    yoke_meter_info info; /* filled by the kind, except the check of parent, `counted`, and a measured period */
    meter_quantity quantity;
    double unit_j;  /* joules of one count of a counter */
    uint64_t range; /* a counter is counted modulo this; 0: modulo 2^64 */
    int64_t rank;   /* of two domains that cover the same hardware the one with the smaller rank is used */
    /* Upper bound of the power of such hardware; to poll in time for wraps, and to distinguish wraps from faults; never NaN. */
    double most_w;
    double quantum_w; /* a power meter's smallest step; NaN: not known */
    double window_s;  /* a power meter reports the mean over this time; 0: instantaneous; NaN: not known */
    int always_moves; /* nonzero: idle hardware draws power too, so a counter that does not change for a second is stuck */
    int overlaps;     /* nonzero: it is not known what else it contains (psu, battery, board rail): shown, never part of the total */
    meter_read_function *read;             /* NULL if info.usable is 0 */
    meter_read_function *read_power;       /* of a counter whose hardware also reports power, into power_w; NULL: it does not */
    meter_read_function *read_temperature; /* of hardware that reports its temperature, degrees Celsius, into power_w; NULL: it does not */
    void (*close)(void *state);            /* NULL: nothing to close */
    void *state;
} meter_domain;

/* The domains found so far. */
typedef struct meter_list {
    yoke_context *context;
    meter_domain *domains;
    int64_t count, capacity;
} meter_list;

/* Copies the domain to the list, which owns its state from then on; on failure the state is closed.  Errors: MEMORY. */
yoke_status meter_list_add(meter_list *list, const meter_domain *domain);
/* A domain with every number NaN, rank 0, and kind and name set; both are cut if they are too long. */
void meter_domain_start(meter_domain *domain, const char *kind, const char *name);
/* Appends an unusable entry. */
yoke_status meter_list_add_missing(meter_list *list, const char *kind, const char *name, const char *description, const char *why_not,
                                   const char *remedy);
/* The domain of this kind that covers this hardware, or NULL; valid until another domain is added. */
const meter_domain *meter_list_find_cover(const meter_list *list, const char *kind, const char *covers);
/* Closes all states and removes the domains. */
void meter_list_clear(meter_list *list);

typedef struct meter_kind {
    const char *kind;
    /*
     * Appends the domains that it finds, open for reading, or, if it finds none, one unusable entry (not for declared, replay and sim,
     * which are shown only on request).  Errors: MEMORY, INPUT (options).
     */
    yoke_status (*find)(const meter_site *site, meter_list *list);
} meter_kind;

/* Ranks: powercap 10, perf 20; nvml 10, amdsmi 10, hwmon 30; declared 90.  Of two that cover the same hardware the smaller is preferred. */
extern const meter_kind meter_powercap, meter_perf, meter_nvml, meter_amdsmi, meter_hwmon, meter_declared, meter_replay;

/*
 * Checks a text of declared powers, without opening a meter.  NULL: none are declared.  Errors: INPUT (what is wrong, and what was
 * expected).
 */
yoke_status meter_declared_check(yoke_context *context, const char *text);

/* ------------------------------------------------------------------------------------------- files (site.c) */

/* Writes root + path to text.  Errors: INPUT (too long). */
yoke_status meter_path(const meter_site *site, char *text, size_t bytes, const char *format, ...) YOKE_PRINTF(4, 5);
/* Reads a small file's first line without the newline.  Returns 0, or errno. */
int meter_read_line(const char *path, char *text, size_t bytes);
/* Reads a whole non-negative decimal number and nothing else; returns 0, EINVAL, or errno of reading. */
int meter_read_number(const char *path, uint64_t *number);
/* As meter_read_number, from an open descriptor, by pread: for counters. */
int meter_pread_number(int descriptor, uint64_t *number);
/* "a virtual machine (kvm)" or similar if the CPU reports it and the root is "", else "". */
void meter_virtual_machine(const meter_site *site, char text[64]);

#endif
