/*
 * factor_store.h - numbers that a run's store keeps in addition to costs: corrections of the predictions that were learned from runs.
 *
 * Each number is a work of the run, as costs are (machine.h): one unit of the work takes this number of seconds.
 */
#ifndef FMM_TUNE_COSTS_FACTOR_STORE_H
#define FMM_TUNE_COSTS_FACTOR_STORE_H

#include "tune/costs/factors.h"
#include "tune/costs/machine.h"

enum { FMM_FACTOR_NUMBERS = 4 };
/* The name of the work for a number, 0 ... FMM_FACTOR_NUMBERS - 1, of the factor of a part. */
void fmm_factor_name(const fmm_naming *naming, int part, int number, char name[FMM_WORK_BYTES]);

/* Stores a number above 0 as the seconds of `units` units of a work.  Errors: those of yoke_run_calibrate. */
yoke_status fmm_number_put(yoke_run *run, const char *name, int64_t units, double number);
/* The same for all numbers of a factor. */
yoke_status fmm_factor_put(yoke_run *run, const fmm_naming *naming, int part, fmm_factor factor);
/* The factor that was stored for a device; a factor of no runs if there is none. */
fmm_factor fmm_factor_get(yoke_run *run, int64_t device, const fmm_naming *naming, int part);

#endif
