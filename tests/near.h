/* near.h - numbers that agree within a tolerance, or within a part of the expected one. */
#ifndef YOKE_TESTS_NEAR_H
#define YOKE_TESTS_NEAR_H

#include <math.h>

#include "unit.h"

/* NaN is near nothing. */
static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g, expected %.17g within %g", value, expected, tolerance);
}

static inline void assert_near_part(double value, double expected, double part) { assert_near(value, expected, part * fabs(expected)); }

#endif
