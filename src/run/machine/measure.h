/*
 * measure.h - readings of open meters outside regions.
 */
#ifndef YOKE_RUN_MEASURE_H
#define YOKE_RUN_MEASURE_H

#include <stdint.h>

#include "yoke/meter.h"

/*
 * Joules that the open meter has counted since it was opened, read now.  *faults: number of its faults; before: that number at the first
 * reading, or -1.
 * Errors: UNAVAILABLE (it cannot be read, or there was a fault meanwhile: why).
 */
yoke_status run_meter_joules(yoke_meters *meters, int64_t index, double *joules, int64_t *faults);

#endif
