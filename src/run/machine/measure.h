/*
 * measure.h - what the room reads of open meters beside regions.
 */
#ifndef YOKE_RUN_MEASURE_H
#define YOKE_RUN_MEASURE_H

#include <stdint.h>

#include "yoke/meter.h"

/*
 * Joules that the open meter showed since it was opened, read now.  *faults: how many it had; before: when it was read first, or -1.
 * Errors: UNAVAILABLE (it cannot be read, or there was a fault meanwhile: why).
 */
yoke_status run_meter_joules(yoke_meters *meters, int64_t index, double *joules, int64_t *faults);

#endif
