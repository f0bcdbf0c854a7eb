/*
 * calibrate.h - the tool's own kernels of `yoke calibrate`: those of profile/kernel.h in pieces of equal size.
 */
#ifndef TOOL_CALIBRATE_CALIBRATE_H
#define TOOL_CALIBRATE_CALIBRATE_H

#include "common/calibrate/calibrate.h"

/* settings: the name, "fma" or "triad", which is also that of the work. */
yoke_status calibrate_open(yoke_context *context, yoke_run *run, const void *settings, app_calibrate_trial *trial);
void calibrate_close(void *user);

#endif
