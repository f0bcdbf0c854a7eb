#include "tune/costs/surface.h"

#include <math.h>

static const double radius = 7. / 16; /* exact in units of cells, so that all levels are consistent */

int fmm_surface_cuts(int level, const int64_t at[3])
{
    const int64_t side = (int64_t)1 << level;
    const double r = radius * (double)side;
    double nearest = 0, farthest = 0;
    int first = 1, last = 1;
    for (int c = 0; c < 3; c++) {
        const double low = (double)at[c] - (double)side / 2, high = low + 1, near = fmax(fmax(low, -high), 0), far = fmax(-low, high);
        nearest += near * near;
        farthest += far * far;
        first &= at[c] == 0;
        last &= at[c] == side - 1;
    }
    return first || last || (nearest < r * r && farthest >= r * r);
}

/* The counts are tabulated, because they are needed whenever costs are read, and counting takes milliseconds. */
fmm_surface_counts fmm_surface_count(int level)
{
    static const fmm_surface_counts of[FMM_MAX_SURFACE_LEVEL + 1] = {{1, 0, 0},
                                                                     {8, 0, 0},
                                                                     {56, 2504, 158},
                                                                     {226, 10500, 316},
                                                                     {874, 39364, 1055},
                                                                     {3658, 174960, 3693},
                                                                     {14698, 702336, 12016},
                                                                     {59050, 2836128, 41307}};
    return of[level];
}
