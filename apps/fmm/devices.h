/*
 * devices.h - what the command line has to do with devices that share the near field.
 */
#ifndef FMM_DEVICES_H
#define FMM_DEVICES_H

#include "common/terminal.h"
#include "method/shared.h"
#include "output/record.h"
#include "tuning.h"

/* What is wrong with --share, before anything is computed.  Errors: INPUT. */
yoke_status fmm_devices_check(yoke_context *context, const char *share);

/* Opens the devices; share NULL: chosen.  Errors: INPUT, those of fmm_shared_open. */
yoke_status fmm_devices_open(yoke_context *context, const char *devices, const char *share, const fmm_tuning_words *words, yoke_run **run);

/* As fmm_method_run on the devices of the run; result->part and parts are written.  tries: as in fmm_shared_create.  Errors: those of shared.h. */
yoke_status fmm_devices_run(yoke_run *run, fmm_method *method, int tries, const double *charge, fmm_field *field,
                            fmm_method_seconds *seconds, fmm_result *result);

/* What each device did, and with `explain` why.  Errors: MEMORY. */
yoke_status fmm_devices_show(app_terminal *terminal, yoke_context *context, yoke_run *run, bool explain, const fmm_result *result);

#endif
