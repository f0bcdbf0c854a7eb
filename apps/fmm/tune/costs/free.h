/*
 * free.h - tests whether the cores are currently free of other programs.
 */
#ifndef FMM_TUNE_COSTS_FREE_H
#define FMM_TUNE_COSTS_FREE_H

#include "yoke/yoke.h"

/* The test takes some hundredths of a second, on all threads.  Errors: those of yoke_run_create and yoke_run_calibrate. */
yoke_status fmm_cores_are_free(yoke_context *context, int *are_free);

#endif
