#include "tune/cost.h"

double fmm_cost(const fmm_counts *counts, const fmm_costs *costs)
{
    double loops = (double)counts->parents * costs->parent + (double)counts->z * costs->z + (double)counts->y * costs->y;
    loops += (double)counts->x * costs->x + (double)counts->neighbours * costs->neighbour;
    return (double)counts->near * costs->near + (double)counts->far * costs->far + loops;
}

int fmm_cheapest_depth(const fmm_counts *counts, int depth, const fmm_costs *costs)
{
    int cheapest = 0;
    for (int d = 1; d <= depth; d++)
        if (fmm_cost(&counts[d], costs) < fmm_cost(&counts[cheapest], costs)) cheapest = d;
    return cheapest;
}
