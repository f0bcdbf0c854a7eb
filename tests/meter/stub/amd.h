/*
 * amd.h - what the stand-ins of AMD's libamd_smi and librocm_smi64 share (settings.h says how they are driven: YOKE_STUB_AMDSMI... and
 * YOKE_STUB_ROCM_SMI...).
 *
 * By default one idle card like an MI300X: 140 W, a counter that follows it.  Settings:
 *   bus=12 domain=0 slot=0 function=0     PCI address; type=1 (GPU); model=...; per_socket=1 GPUs on a socket
 *   energy=...       the counter is this; without it: 65536000 + power x time, in counts of 2^-16 J
 *   resolution_nj=15300   of a count, as the library says
 *   power_w=140      average_w=...  (ROCm SMI: power_uw=...)   limit_w=750
 *   version=26       of AMD SMI: the layout of amdsmi_power_info_t follows it
 */
#ifndef YOKE_TESTS_METER_STUB_AMD_H
#define YOKE_TESTS_METER_STUB_AMD_H

#include <stddef.h>

#include "meter/vendor/amdsmi_api.h"
#include "settings.h"

static inline uint64_t stub_amd_energy(int n)
{
    long long milliwatts = stub_number("power_w", n, 140) * 1000;
    return (uint64_t)stub_number("energy", n, 65536000 + stub_flown(milliwatts, 1) * 65536 / 1000);
}

static inline float stub_amd_resolution(int n) { return (float)stub_number("resolution_nj", n, 15300) * 1e-3F; }

#endif
