/*
 * sim.h - simulated machines.  Part of yoke.h.
 */
#ifndef YOKE_SIM_H
#define YOKE_SIM_H

#include "yoke/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a machine file (JSON, docs/reference/machine-file.md), whose devices can then be opened as "sim:NAME".  Each device has a speed
 * function, copy times, frequencies, noise and faults.  It computes real results on this host, and takes the time of the file on a virtual
 * clock.
 * A context has one machine; a second call fails.  Errors: INPUT (file, key, what was expected), ARGUMENT, MEMORY.
 */
YOKE_API yoke_status yoke_machine_read(yoke_context *context, const char *path);
/*
 * The host of the context's simulated machine sleeps: its virtual clock advances, and devices continue their work.
 * Errors: ARGUMENT (no machine; not 0 to 1e9 s).
 */
YOKE_API yoke_status yoke_machine_sleep(yoke_context *context, double seconds);

#ifdef __cplusplus
}
#endif

#endif
