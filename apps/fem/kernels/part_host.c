/* part_host.c - the device part's kernels for devices that are the host; compiled for each FEM_N x FEM_C x FEM_REAL as FEM_INSTANCE. */
#include "part_sizes.h"

#include "part_element.h"
#include "part_setup.h"
#include "part_values.h"

#include "part_host.h"

#define NAMED(name) {#name, name},
const yoke_host_kernel FEM_INSTANCE[FEM_PART_NUM_KERNELS] = {FEM_PART_KERNELS(NAMED)};
