/*
 * frequency_sim.h - the frequencies of a simulated machine: a domain for each device that has frequencies in the machine file
 * (docs/reference/machine-file.md).
 */
#ifndef YOKE_RUN_FREQUENCY_SIM_H
#define YOKE_RUN_FREQUENCY_SIM_H

#include "frequency/frequency.h"

/* Appends the domains of the context's machine; none if there is no machine, or none of its devices has frequencies.  Errors: MEMORY. */
yoke_status run_frequency_sim_find(yoke_context *context, frequency_list *list);

#endif
