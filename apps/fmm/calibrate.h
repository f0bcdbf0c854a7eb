/*
 * calibrate.h - `yoke calibrate --kernel fmm`: measures the costs of the method's operations on this machine again, and writes them to the
 * store that yoke fmm reads.
 */
#ifndef FMM_CALIBRATE_H
#define FMM_CALIBRATE_H

#include "common/console/terminal.h"

/*
 * Runs the whole command; argv[1 ...] are its options.  It measures costs with and without gradients, and powers if there is a meter or
 * they are declared.
 * Errors: INPUT (options, the store), those of yoke_run_create, fmm_machine_measure, fmm_machine_measure_powers and yoke_run_save.
 */
yoke_status fmm_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
