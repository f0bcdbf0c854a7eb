/*
 * devices.h - which devices a program takes where the user named none.
 */
#ifndef APP_DEVICES_H
#define APP_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "yoke/yoke.h"

/*
 * Writes names separated by commas: with `simulated` every device of the context's machine file; else all cores ("openmp", with `cpu`) and each
 * usable GPU that computes in double precision (with `gpu`), once: one card may be seen by several interfaces.  *gpus, which may be NULL: how many.
 * Errors: MEMORY, SYSTEM; ARGUMENT (size is too small for all names).
 */
yoke_status app_devices_automatic(yoke_context *context, bool simulated, bool cpu, bool gpu, char *names, size_t size, int *gpus);

#endif
