#include "tune/predict.h"

static double near_of(const fmm_machine *machine, const fmm_cell_counts *cells)
{
    double sum = (double)cells->large * machine->large;
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) sum += (double)cells->sources[n] * machine->near[n];
    return sum;
}

/* counts, cells: of all depths; from level 2 on there are far pairs. */
static double far_of(const fmm_machine *machine, int64_t particles, const fmm_counts *counts, const fmm_cell_counts *cells, int depth,
                     const int *order)
{
    double sum = 0;
    int highest = 0;
    for (int l = 2; l <= depth; l++) {
        const double targets_and_sources = 2 * (double)(counts[l].far - counts[l - 1].far);
        sum += targets_and_sources * (machine->list + machine->pair[order[l]]);
        if (order[l] > highest) highest = order[l];
    }
    sum += (double)cells[depth].cells * machine->cell[highest];
    sum += (double)cells[depth].leaves * machine->leaf[highest] + (double)particles * machine->particle[highest];
    return sum;
}

/* The tables of each order that a level has. */
static double tables_of(const fmm_machine *machine, int depth, const int *order)
{
    double sum = 0;
    for (int l = 2; l <= depth; l++) {
        int there = 0;
        for (int above = 2; above < l; above++) there |= order[above] == order[l];
        if (!there) sum += machine->tables[order[l]];
    }
    return sum;
}

fmm_seconds fmm_predict(const fmm_machine *machine, int64_t particles, const fmm_counts *counts, const fmm_cell_counts *cells, int depth,
                        const int *order)
{
    fmm_seconds s = {.tree = (double)particles * machine->tree_particle + (double)cells[depth].leaves * machine->tree_leaf,
                     .near = near_of(machine, &cells[depth])};
    if (depth > 1) {
        s.tree += tables_of(machine, depth, order);
        s.far = far_of(machine, particles, counts, cells, depth, order);
    }
    s.total = s.tree + s.near + s.far;
    return s;
}
