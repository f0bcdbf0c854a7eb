/* Kernels of the device suite, in the dialect; suite_kernels.c compiles them for the host, and devices that compile get this text. */
#include "yoke/dialect.h"

/* y = 2 y + 1: after k times from 0, y is 2^k - 1, so that a launch that is lost or done twice shows. */
YOKE_KERNEL(double_and_one, (yoke_long n, YOKE_GLOBAL yoke_long *y))
{
    YOKE_FOR_ALL (i, n) y[i] = 2 * y[i] + 1;
}

YOKE_KERNEL(axpy, (yoke_long n, double alpha, YOKE_GLOBAL const double *x, YOKE_GLOBAL double *y))
{
    YOKE_FOR_ALL (i, n) y[i] += alpha * x[i];
}

/* Each kind of argument, and a null pointer. */
YOKE_KERNEL(every_kind, (YOKE_GLOBAL double *out, yoke_int a, yoke_long b, float c, double d, YOKE_GLOBAL const double *nothing))
{
    YOKE_FOR_ALL (i, 5) {
        double value = nothing == 0 ? 1.0 : 0.0;
        if (i == 0) value = a;
        if (i == 1) value = (double)b;
        if (i == 2) value = c;
        if (i == 3) value = d;
        out[i] = value;
    }
}

/* As many parameters as there may be: out [19] = the others. */
YOKE_KERNEL(most_parameters,
            (YOKE_GLOBAL double *out, yoke_int a, yoke_long b, float c, double d, yoke_int e, yoke_long f, float g, double h, yoke_int i,
             yoke_long j, float k, double l, yoke_int m, yoke_long n, float o, double p, yoke_int q, yoke_long r, float s))
{
    const double values[19] = {a, (double)b, c, d, e, (double)f, g, h, i, (double)j, k, l, m, (double)n, o, p, q, (double)r, s};
    YOKE_FOR_ALL (at, 19) out[at] = values[at];
}

YOKE_KERNEL(sizes, (YOKE_GLOBAL yoke_int * out, yoke_int unused))
{
    YOKE_FOR_ALL (i, 1) {
        out[0] = (yoke_int)sizeof(yoke_byte);
        out[1] = (yoke_int)sizeof(yoke_ubyte);
        out[2] = (yoke_int)sizeof(yoke_short);
        out[3] = (yoke_int)sizeof(yoke_int);
        out[4] = (yoke_int)sizeof(yoke_long);
        out[5] = (yoke_int)((yoke_byte)-1 < 0);
        out[6] = (yoke_int)((yoke_ubyte)-1 > 0);
        out[7] = unused;
    }
}

/* How often each row was met, and the group and groups that met it: every item of a group must see the same. */
YOKE_KERNEL(count_visits, (yoke_long n, YOKE_GLOBAL yoke_int *visits, YOKE_GLOBAL yoke_long *groups))
{
    YOKE_FOR_ALL (i, n) {
        visits[i] += 1;
        groups[i] = YOKE_GROUPS;
    }
}

YOKE_CONSTANT double weights[4] = {1.0, 2.0, 4.0, 8.0};

/* The sum over the group's items of what each has put into its place; every item gets it. */
YOKE_FUNCTION double sum_over_items(YOKE_LOCAL_POINTER double *places)
{
    double sum = 0;
    YOKE_BARRIER();
    for (int item = 0; item < YOKE_ITEMS; item++) sum += places[item];
    YOKE_BARRIER();
    return sum;
}

/* out[row] = sum over columns of weights[column % 4] a[row][column]: a row a group, a place of local memory an item (at most 256). */
YOKE_KERNEL(row_sums, (yoke_long rows, yoke_int columns, YOKE_GLOBAL const double *a, YOKE_GLOBAL double *out))
{
    YOKE_LOCAL double places[256];
    for (yoke_long row = YOKE_GROUP; row < rows; row += YOKE_GROUPS) {
        double own = 0;
        YOKE_FOR_ITEMS (column, columns) own += weights[column % 4] * a[row * columns + column];
        places[YOKE_ITEM] = own;
        double sum = sum_over_items(places);
        YOKE_FOR_ITEMS (i, 1) out[row] = sum;
    }
}

/* A long way round to a number that can be known beforehand: x -> 5 x + 3 modulo 2^31, `rounds` times. */
YOKE_KERNEL(go_round, (yoke_long n, yoke_int rounds, YOKE_GLOBAL yoke_long *x))
{
    YOKE_FOR_ALL (i, n) {
        yoke_long value = x[i];
        for (yoke_int round = 0; round < rounds; round++) value = (5 * value + 3) % 2147483648;
        x[i] = value;
    }
}

/* Each of the three sums of both kinds = how many i < n fall to it; the first is -1 where there is no atomic addition. */
YOKE_KERNEL(count_by_atomics, (yoke_long n, YOKE_GLOBAL double *sum, YOKE_GLOBAL float *small_sum))
{
#if defined(YOKE_ATOMIC_ADD)
    YOKE_FOR_ALL (i, n) {
        YOKE_ATOMIC_ADD(&sum[i % 3], 1.0);
        YOKE_ATOMIC_ADD(&small_sum[i % 3], 1.0f);
    }
#else
    YOKE_FOR_ALL (i, n) sum[0] = -1;
#endif
}
