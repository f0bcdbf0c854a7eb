/*
 * calibrate.h - `yoke calibrate --kernel gemm`, `transpose` and `tsp`: measures the time of devices for the units of yoke dense, and stores
 * it under the names that yoke dense uses.
 */
#ifndef DENSE_CALIBRATE_H
#define DENSE_CALIBRATE_H

#include "common/console/terminal.h"

/* argv[1 ..]: the options of `yoke calibrate`.  Errors: those of app_calibrate (common/calibrate/calibrate.h). */
yoke_status dense_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
