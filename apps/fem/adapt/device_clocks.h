/*
 * device_clocks.h - the clocks of the devices that a run works on: which can be set, to which levels.
 */
#ifndef FEM_ADAPT_DEVICE_CLOCKS_H
#define FEM_ADAPT_DEVICE_CLOCKS_H

#include "operator/devices.h"

/* Of a clock with more levels, or any frequency, so many are used, evenly spread, with both ends. */
enum { FEM_MOST_CLOCK_LEVELS = 16 };

/* What one device's clock can be set to.  One level of a frequency that is not known: it cannot be set. */
typedef struct fem_clock_levels {
    char name[64]; /* of the clock; "": none that could be set */
    int count;
    double hz[FEM_MOST_CLOCK_LEVELS]; /* ascending */
} fem_clock_levels;

typedef struct fem_device_clocks fem_device_clocks;

/*
 * Finds the clocks of the devices: that of a simulated device has its name, "cpu" belongs to an openmp device of all cores, that of a GPU has
 * its PCI address.  Takes them for this process where there is one to set; where another process has them, that is logged, and none can be set.
 * Errors: MEMORY, SYSTEM.
 */
yoke_status fem_device_clocks_open(yoke_context *context, const fem_devices *devices, fem_device_clocks **clocks);
/* Restores what was changed.  NULL allowed. */
void fem_device_clocks_close(fem_device_clocks *clocks);

/* clocks may be NULL: then none can be set. */
const fem_clock_levels *fem_device_clocks_levels(const fem_device_clocks *clocks, int device);

/* Sets a device's clock to a level; does nothing where it cannot be set, or has it already, or clocks is NULL.  Errors: those of yoke_frequency_set. */
yoke_status fem_device_clocks_set(fem_device_clocks *clocks, int device, int level);

#endif
