/*
 * meter.h - the energy of regions of a program.  Part of yoke.h.
 */
#ifndef YOKE_METER_H
#define YOKE_METER_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A meter measures the energy of one domain of the machine ("powercap:package-0", "nvml:0").  Meters form a tree, so that nothing is
 * counted twice; the total is the sum over the disjoint meters at its top.  A set of meters is opened and closed by one thread, its
 * context outlives it, and it outlives its regions.  An unknown value is NaN with a reason, never zero.
 */

typedef struct yoke_meter_info {
    char name[64];         /* kind:domain, "powercap:package-0", "nvml:0"; the kind alone if a source has no domain here */
    char kind[16];         /* powercap, perf, nvml, amdsmi, hwmon, declared, replay, sim */
    char description[256]; /* the hardware that it covers, and the place from which it is read */
    char covers[64]; /* the hardware in words that agree between kinds: package-0, package-0/core, dram-0, psys, gpu-0000:3b:00.0, host */
    char parent[64]; /* name of the meter of the same kind whose energy contains this one's; "" at the top */
    char pci[16];    /* "" if it is no PCI device */
    yoke_energy_kind source; /* kind of its energies */
    int usable;              /* 0: see why_not and remedy */
    int counted;             /* nonzero: part of the total */
    int integrated;          /* nonzero: energy by integrating readings of power, else from a counter */
    char why_not[256];       /* why it is not usable; "" if it is */
    char remedy[512];        /* what the user can do; "" if usable or nothing helps */
    double resolution_j;     /* energy of one count; NaN: not known */
    double period_s;         /* between updates; measured during opening if possible, else as documented; NaN: not known */
    int period_measured;
    double wrap_j;     /* the counter restarts after this number of joules; NaN: never, or there is no counter */
    double gain_error; /* relative: half width of the factor's interval; NaN: not known */
} yoke_meter_info;

/* All members may be zero. */
typedef struct yoke_meter_options {
    const char *select;   /* names and kinds, comma-separated; NULL: the best source of each piece of hardware */
    const char *sysroot;  /* replaces the root directory, as recorded by `yoke gather`; NULL: $YOKE_SYSROOT, else / */
    const char *declared; /* "idle=W,busy=W": powers of the machine; NULL: none (docs/methods/energy.md) */
    const char *replay;   /* a recorded stream (docs/methods/energy.md); NULL: none */
    double probe_s;       /* longest time to measure update periods during opening; 0: 0.25 s; negative: they are not measured */
    int64_t pid;          /* process whose CPU time weights declared powers; 0: this process and its children that were waited for */
} yoke_meter_options;

/* A set of meters.  These members are for reading; others are private. */
typedef struct yoke_meters {
    const yoke_meter_info *infos; /* [count] the open ones, in the order of energies */
    int64_t count;
    const yoke_meter_info *others; /* [num_others] not usable (why, remedy), or not selected; one entry for each kind that finds none */
    int64_t num_others;
} yoke_meters;
/*
 * Opens the selected usable meters.  options may be NULL.  No usable meter is not an error: energies are then NaN, with the reason.  A
 * thread reads counters often enough that no wrap is missed, and integrates powers.  Regions may begin and end on any thread, nested or
 * overlapping.
 * Errors: INPUT (options: what is wrong with them), UNAVAILABLE (a meter named in `select` is not usable: why, remedy), MEMORY, SYSTEM.
 */
YOKE_API yoke_status yoke_meters_open(yoke_context *context, const yoke_meter_options *options, yoke_meters **meters);
/* All regions must have ended. */
YOKE_API void yoke_meters_close(yoke_meters *meters);
/*
 * Reads the present values of an open meter (index into infos), for power profiles: its power, and the temperature in degrees Celsius of
 * the metered hardware (GPUs by NVML).  Either pointer may be NULL.
 * Errors: ARGUMENT, UNAVAILABLE (the meter counts energy only, has no temperature, or cannot be read: why).
 */
YOKE_API yoke_status yoke_meters_read(yoke_meters *meters, int64_t index, double *power_w, double *temperature_c);

typedef struct yoke_energy {
    double value_j; /* NaN: not metered, or a fault: see why_not */
    /* Half width of the interval that contains the true value: 2 counts + power x period + gain error (docs/methods/energy.md). */
    double uncertainty_j;
    yoke_energy_kind kind; /* YOKE_ENERGY_NONE, which is 0: there is no value */
    char why_not[256];     /* why there is no value, or which part of the machine the total lacks; "" otherwise */
} yoke_energy;

/* An interval of time whose energy is measured. */
typedef struct yoke_region yoke_region;
YOKE_API yoke_status yoke_region_begin(yoke_meters *meters, yoke_region **region);
/*
 * Ends the region and frees it, also on an error.  seconds: its length on the meter's clock.  energies: one for each open meter, in their
 * order, or NULL.  total: sum over the meters that are counted, or NULL.
 * A region shorter than a meter's period has no value for this meter, and the reason states the shortest length that would have one.
 * Errors: ARGUMENT.  A meter that failed gives NaN with the reason, not an error.
 */
YOKE_API yoke_status yoke_region_end(yoke_region *region, double *seconds, yoke_energy *energies, yoke_energy *total);

#ifdef __cplusplus
}
#endif

#endif
