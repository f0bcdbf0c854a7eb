/* maps.h - maps of the unit cube that several tests take (cube_map of cube_mesh.h); more are in body.h. */
#ifndef TEST_MAPS_H
#define TEST_MAPS_H

#include <math.h>

/* Affine: parallelepipeds. */
static inline void map_shear(const double in[3], double out[3])
{
    out[0] = 2 * in[0] + 0.3 * in[1];
    out[1] = in[1] - 0.2 * in[2];
    out[2] = 0.7 * in[2] + 0.1 * in[0];
}

/* Bends a little: faces are curved with order 2. */
static inline void map_bend(const double in[3], double out[3])
{
    out[0] = in[0] + 0.1 * in[1] * in[2];
    out[1] = in[1] - 0.1 * in[0] * in[0];
    out[2] = in[2] + 0.05 * sin(3 * in[0]);
}

/* Smooth waves in all directions. */
static inline void map_wave(const double in[3], double out[3])
{
    const double b = 0.06;
    out[0] = in[0] + b * sin(3 * in[1] + 1) * sin(2 * in[2] + 0.5);
    out[1] = in[1] + b * sin(2 * in[0] + 2) * sin(3 * in[2]);
    out[2] = in[2] + b * sin(4 * in[1]) * sin(2 * in[0] + 0.7);
}

/* A quarter of a hollow cylinder about z: radii 1 and 2, z in [0, 1/2]. */
static inline void map_quarter(const double in[3], double out[3])
{
    double r = 1 + in[0], angle = 1.5707963267948966 * in[1];
    out[0] = r * cos(angle);
    out[1] = r * sin(angle);
    out[2] = 0.5 * in[2];
}

#endif
