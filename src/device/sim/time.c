/* The time per unit of a simulated device, and its noise. */
#include <math.h>

#include "device/sim/sim.h"

double sim_seconds_per_unit(const sim_speed *speed, double units)
{
    const double *at = speed->units, *value = speed->seconds_per_unit;
    if (units <= at[0]) return value[0];
    for (int64_t i = 1; i < speed->num_points; i++)
        if (units < at[i]) return value[i - 1] + (value[i] - value[i - 1]) * ((units - at[i - 1]) / (at[i] - at[i - 1]));
    return value[speed->num_points - 1];
}

/* Uniformly distributed in (0, 1]. */
static double uniform(sim_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    mixed ^= mixed >> 31;
    return (double)((mixed >> 11) + 1) * 0x1p-53;
}

double sim_noise_factor(sim_random *random, double sigma)
{
    if (sigma == 0) return 1;
    const double two_pi = 6.283185307179586;
    /* Box and Muller 1958; the second number of the pair is not used. */
    double radius = sqrt(-2 * log(uniform(random)));
    double factor = 1 + sigma * radius * cos(two_pi * uniform(random));
    return factor > 0 ? factor : 0;
}
