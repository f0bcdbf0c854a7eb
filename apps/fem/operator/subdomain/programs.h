/*
 * programs.h - the compiled kernels of device subdomains (device.c), kept for a device, so that all its subdomains share them.
 */
#ifndef FEM_OPERATOR_SUBDOMAIN_PROGRAMS_H
#define FEM_OPERATOR_SUBDOMAIN_PROGRAMS_H

#include "yoke/yoke.h"

typedef struct fem_programs fem_programs;

/* Nothing is compiled before a subdomain requests it.  The device is borrowed and must outlive the programs.  Errors: MEMORY. */
yoke_status fem_programs_create(yoke_context *context, yoke_device *device, fem_programs **programs);
/* The kernels' texts [*count], which determine whether stored measurements are still valid. */
const char *const *fem_programs_texts(int64_t *count);
/* No subdomain may use it any more.  NULL allowed. */
void fem_programs_destroy(fem_programs *programs);

#endif
