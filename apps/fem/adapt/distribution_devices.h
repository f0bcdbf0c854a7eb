/*
 * distribution_devices.h - which devices a run has, and which of them may work.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_DEVICES_H
#define FEM_ADAPT_DISTRIBUTION_DEVICES_H

#include "adapt/distribution.h"

/* Nonzero: it works by kernels; zero: it runs functions of the host. */
int fem_is_gpu(const fem_device *device);

/* Reads the machine file, if there is one, and opens the devices.  Errors: as fem_distribution_create. */
yoke_status fem_distribution_open(yoke_context *context, const fem_distribution_options *options, fem_devices **devices);

/*
 * most [devices]: of those that are open, those that `use` wants have no limit, the others 0.
 * Errors: INPUT (none of the kind that is wanted; a share without a CPU or without a GPU).
 */
yoke_status fem_distribution_select(const fem_devices *devices, const fem_distribution_options *options, int64_t *most);

/* shares [devices]: the GPUs' share in equal parts among them, the rest among the others. */
void fem_distribution_fixed(const fem_devices *devices, double gpu_share, double *shares);

#endif
