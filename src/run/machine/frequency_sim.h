/*
 * frequency_sim.h - the clocks of a simulated machine: one for each device whose clock the machine file describes (docs/reference/machine-file.md).
 */
#ifndef YOKE_RUN_FREQUENCY_SIM_H
#define YOKE_RUN_FREQUENCY_SIM_H

#include "frequency/frequency.h"

/* Appends the clocks of the context's machine; none where there is no machine, or none of its devices has a clock.  Errors: MEMORY. */
yoke_status run_frequency_sim_find(yoke_context *context, frequency_list *list);

#endif
