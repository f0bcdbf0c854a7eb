/*
 * match.h - which meters and which frequency domain belong to a device: the only place that decides it (docs/methods/run.md).
 *
 *                      meter                                          frequency domain
 *   simulated          that of its name                               that of its name
 *   GPU                that of its PCI address, never of its number   the same
 *   cores              those of the processor packages; without       "cpu", if the device has all cores and is the only one made of
 *                      these a declared meter of the whole machine    cores: the domain is that of all cores
 *
 * Meters of packages belong to every device that is made of cores: the powers of several such devices are distinguished only in rounds in
 * which one of them works.
 */
#ifndef YOKE_RUN_MATCH_H
#define YOKE_RUN_MATCH_H

#include "yoke/yoke.h"

enum { RUN_WHY_BYTES = 256 };

/* Nonzero: made of this machine's cores (OpenMP on all or some of them, or OpenCL). */
int run_is_cores(const yoke_device_info *device);

/* Nonzero: the meter is counted and measures this device; num_counted: number of all counted meters. */
int run_meter_belongs(const yoke_meter_info *meter, int64_t num_counted, const yoke_device_info *device);

/*
 * The domain among the `count` entries of `list` that can be set for device number `index` of `devices`; NULL: none, and
 * why[RUN_WHY_BYTES] has the reason.
 */
const yoke_frequency_info *run_frequency_of(const yoke_frequency_info *list, int64_t count, const yoke_device_info *const *devices,
                                            int64_t num_devices, int64_t index, char *why);

/*
 * Nonzero: OpenCL's device number `index`, made of cores, has more compute units than OpenMP's devices leave hardware threads of the
 * machine.  Each OpenMP device has at most `threads` threads.
 */
int run_shares_cores(const yoke_device_info *const *devices, int64_t num_devices, int64_t index, const yoke_topology *topology,
                     int64_t threads);

#endif
