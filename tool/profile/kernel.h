/* Kernels to profile, in the dialect of yoke/dialect.h: one keeps the memory busy, one the arithmetic. */
#include "yoke/dialect.h"

/* x and y change roles from round to round, so that no round can be left out. */
YOKE_KERNEL(profile_triad, (yoke_long n, yoke_long rounds, YOKE_GLOBAL float *x, YOKE_GLOBAL float *y))
{
    for (yoke_long round = 0; round < rounds; round++) {
        YOKE_GLOBAL float *from = round % 2 ? y : x, *to = round % 2 ? x : y;
        YOKE_FOR_ALL (i, n) to[i] = 0.5f * from[i] + 0.25f * to[i];
    }
}

YOKE_KERNEL(profile_fma, (yoke_long n, yoke_long rounds, YOKE_GLOBAL float *x, YOKE_GLOBAL float *y))
{
    YOKE_FOR_ALL (i, n) {
        float a = x[i], b = a + 1, c = a + 2, d = a + 3;
        for (yoke_long round = 0; round < rounds; round++) {
            a = 0.999f * a + 0.001f;
            b = 0.999f * b + 0.001f;
            c = 0.999f * c + 0.001f;
            d = 0.999f * d + 0.001f;
        }
        y[i] = a + b + c + d;
    }
}
