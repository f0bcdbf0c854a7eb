#include "tune/counts/thin.h"

#include <math.h>

static int inside(const fmm_tree *tree, int64_t i, int shift, uint64_t cell)
{
    return i >= 0 && i < tree->count && tree->key[i] >> shift == cell;
}

/* Number of particles in the cell of particle i of the tree, found by steps from this particle that double and then halve. */
static int64_t particles_around(const fmm_tree *tree, int64_t i, int shift)
{
    const uint64_t cell = tree->key[i] >> shift;
    int64_t last[2]; /* the last particle of the cell in both directions */
    for (int d = 0; d < 2; d++) {
        int64_t step = d ? 1 : -1;
        for (last[d] = i; inside(tree, last[d] + step, shift, cell); step *= 2) last[d] += step;
        for (; step != 0; step /= 2)
            if (inside(tree, last[d] + step, shift, cell)) last[d] += step;
    }
    return last[1] - last[0] + 1;
}

/* Mean number of particles in a particle's cell of a level, of some particles. */
static double crowd(const fmm_tree *tree, int level)
{
    enum { SOME = 1024 };
    const int64_t some = tree->count < SOME ? tree->count : SOME;
    double sum = 0;
    for (int64_t k = 0; k < some; k++)
        sum += (double)particles_around(tree, (int64_t)(((double)k + 0.5) * (double)tree->count / (double)some),
                                        3 * (tree->key_level - level));
    return sum / (double)some;
}

/* A curve has about twice as many cells as on the level above, a surface four times, a volume eight times. */
static int has_children_of_surface(int64_t cells, int64_t above) { return 2 * cells >= 3 * above && cells < 5 * above; }

int fmm_is_thin(const fmm_analysis *counts, const fmm_tree *tree, int level)
{
    static const double most = 1.7;
    if (!tree || level < 1 || counts->particles <= 0) return 0;
    const int64_t cells = counts->cells[level].leaves;
    return has_children_of_surface(cells, counts->cells[level - 1].leaves) &&
           crowd(tree, level) * (double)cells < most * (double)counts->particles;
}

int fmm_thin_deepen(fmm_analysis *a)
{
    const int d = a->depth;
    const fmm_cell_counts *above = &a->cells[d];
    const int64_t cells = d < a->deepest && d > 1 ? fmm_analysis_cells_below(a) : 0;
    if (!has_children_of_surface(cells, above->leaves)) return 0;
    const double more = (double)cells / (double)above->leaves, particles = (double)a->particles;
    const double pairs = (2 * (double)a->counts[d].near + particles) / more;
    const int64_t far = a->counts[d].far - a->counts[d - 1].far;
    a->counts[d + 1] = (fmm_counts){.parents = a->counts[d].parents + above->leaves,
                                    .near = llround((pairs - particles) / 2),
                                    .far = a->counts[d].far + llround(more * (double)far)};
    a->cells[d + 1] = (fmm_cell_counts){.leaves = cells, .cells = above->cells + cells, .beside = a->particles};
    fmm_cells_of_size(particles / (double)cells, pairs, &a->cells[d + 1]);
    a->depth++;
    a->cells_below = 0;
    return 1;
}
