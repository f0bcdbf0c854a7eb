/*
 * subdomain_host.c - the device subdomain's kernels for devices that are the host; compiled for each FEM_N x FEM_C x FEM_REAL as
 * FEM_INSTANCE.
 */
#include "operator/kernels/subdomain_sizes.h"

#include "operator/kernels/subdomain_element.h"
#include "operator/kernels/subdomain_setup.h"
#include "operator/kernels/subdomain_values.h"

#include "operator/kernels/subdomain_host.h"

#define NAMED(name) {#name, name},
const yoke_host_kernel FEM_INSTANCE[FEM_SUBDOMAIN_NUM_KERNELS] = {FEM_SUBDOMAIN_KERNELS(NAMED)};
