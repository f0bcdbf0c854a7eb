/*
 * temperature.h - the temperature of a problem at the nodes of a space: thermal strains follow from its interpolation, as displacements do.
 *
 * A temperature that is linear in x is therefore exact on every mesh.  In a material the thermal strain is
 * eps_T = thermal_strain + expansion x temperature, the same in all directions.
 */
#ifndef FEM_SPACE_TEMPERATURE_H
#define FEM_SPACE_TEMPERATURE_H

#include "space/space.h"

/* temperature [num_nodes], K; NULL if the problem has none; release it with yoke_release.  Collective.  Errors: MEMORY. */
yoke_status fem_temperature_nodal(const fem_space *space, double **temperature);

static inline double fem_thermal_strain(const fem_material *material, double temperature)
{
    return material->thermal_strain + material->expansion * temperature;
}

/* 3 lambda + 2 mu: the pressure of a strain of 1 in all directions, by which a thermal strain reduces the stress. */
static inline double fem_thermal_modulus(const fem_material *material) { return 3 * material->lambda + 2 * material->mu; }

#endif
