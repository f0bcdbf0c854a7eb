/*
 * factor_store.h - numbers that a run's store keeps beside costs: what runs taught of the predictions.
 *
 * Each is a work of the run, as costs are (machine.h), whose one unit takes as many seconds as the number is.
 */
#ifndef FMM_TUNE_COSTS_FACTOR_STORE_H
#define FMM_TUNE_COSTS_FACTOR_STORE_H

#include "tune/costs/factors.h"
#include "tune/costs/machine.h"

enum { FMM_FACTOR_NUMBERS = 4 };
/* The work's name of a number, 0 ... FMM_FACTOR_NUMBERS - 1, of the factor of a part. */
void fmm_factor_name(int part, int number, int gradient, char name[FMM_WORK_BYTES]);

/* Keeps a number above 0 as the seconds of so many units of a work.  Errors: those of yoke_run_calibrate. */
yoke_status fmm_number_put(yoke_run *run, const char *name, int64_t units, double number);
/* The same of all numbers of a factor. */
yoke_status fmm_factor_put(yoke_run *run, int part, int gradient, fmm_factor factor);
/* As it was kept for a device; one of no run, where it was not. */
fmm_factor fmm_factor_get(yoke_run *run, int64_t device, int part, int gradient);

#endif
