/*
 * calibrate.h - `yoke calibrate --kernel fmm`: what the method's operations take on this machine, measured anew into the store that yoke fmm reads.
 */
#ifndef FMM_CALIBRATE_H
#define FMM_CALIBRATE_H

#include "common/console/terminal.h"

/*
 * The whole command; argv[1 ...] are its options.  Costs with and without gradients, and powers where there is a meter or they are declared.
 * Errors: INPUT (options, the store), those of yoke_run_create, fmm_machine_measure, fmm_machine_measure_powers and yoke_run_save.
 */
yoke_status fmm_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
