#include "tune/counts/cost.h"

fmm_costs fmm_costs_of_operations(int order, int gradient, double operation_s)
{
    const double p = order;
    return (fmm_costs){.near = (gradient ? 27 : 16) * operation_s, .far = 2 * (p + 1) * (p + 2) * (2 * p + 3) * operation_s};
}

double fmm_cost(const fmm_counts *counts, const fmm_costs *costs)
{
    double loops = (double)counts->parents * costs->parent + (double)counts->z * costs->z + (double)counts->y * costs->y;
    loops += (double)counts->x * costs->x + (double)counts->neighbours * costs->neighbour;
    return (double)counts->near * costs->near + (double)counts->far * costs->far + loops;
}
