/* part_host.c - the device part's kernels for devices that are the host; compiled for each FEM_N x FEM_C x FEM_REAL as FEM_INSTANCE. */
#include "operator/kernels/part_sizes.h"

#include "operator/kernels/part_element.h"
#include "operator/kernels/part_setup.h"
#include "operator/kernels/part_values.h"

#include "operator/kernels/part_host.h"

#define NAMED(name) {#name, name},
const yoke_host_kernel FEM_INSTANCE[FEM_PART_NUM_KERNELS] = {FEM_PART_KERNELS(NAMED)};
