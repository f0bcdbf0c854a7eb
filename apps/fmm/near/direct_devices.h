/*
 * direct_devices.h - direct summation shared among devices.
 */
#ifndef FMM_NEAR_DIRECT_DEVICES_H
#define FMM_NEAR_DIRECT_DEVICES_H

#include "particles/field.h"
#include "particles/particles.h"

/* As fmm_direct, for particles whose sums neither overflow nor underflow (scale.h). */
yoke_status fmm_direct_on_devices(const fmm_particles *particles, const char *devices, const char *machine, fmm_field *field);

#endif
