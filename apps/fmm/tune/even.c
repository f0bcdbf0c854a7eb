#include "tune/even.h"

#include <math.h>

enum {
    IN_CELL = 32,    /* particles, about */
    FEWEST = 1 << 10 /* that are looked at */
};
/*
 * Mean square of what numbers in cells differ from the mean, by the mean: 1 where particles are anywhere, up to 2.4 for a lattice whose planes do not fit the cells, and
 * 2.6 where densities differ by 22 % besides.
 */
#define MOST_SCATTER 2.6

/* The box around them; returns its longest side, which is not above 0 or not finite where there is none. */
static double longest_side(const fmm_particles *p, double low[3], double side[3])
{
    const double *const at[3] = {p->x, p->y, p->z};
    double longest = 0;
    for (int c = 0; c < 3; c++) {
        double least = INFINITY, most = -INFINITY;
#pragma omp parallel for reduction(min : least) reduction(max : most)
        for (int64_t i = 0; i < p->count; i++) least = fmin(least, at[c][i]), most = fmax(most, at[c][i]);
        low[c] = least;
        side[c] = most - least;
        longest = fmax(longest, side[c]);
    }
    return longest;
}

/* The cell of a place, of n along the side; the last one's upper end is in it. */
static int cell_at(double place, double low, double side, int n)
{
    const int cell = (int)((place - low) / side * n);
    return cell < n ? cell : n - 1;
}

/* How many are in each of the cells of the box, n[c] along each side. */
static void count_in_cells(const fmm_particles *p, const double low[3], const double side[3], const int n[3], int32_t *in)
{
#pragma omp parallel for
    for (int64_t i = 0; i < p->count; i++) {
        const int x = cell_at(p->x[i], low[0], side[0], n[0]), y = cell_at(p->y[i], low[1], side[1], n[1]);
        int32_t *const row = in + ((int64_t)cell_at(p->z[i], low[2], side[2], n[2]) * n[1] + y) * n[0];
#pragma omp atomic
        ++row[x];
    }
}

static double scatter_of(const int32_t *in, int64_t cells, double mean)
{
    double sum = 0;
    for (int64_t k = 0; k < cells; k++) sum += (in[k] - mean) * (in[k] - mean);
    return sum / ((double)cells * mean);
}

yoke_status fmm_even_find(const fmm_particles *p, fmm_even *found)
{
    double low[3], side[3];
    int n[3];
    int32_t *in = NULL;
    *found = (fmm_even){.count = p->count};
    const double longest = longest_side(p, low, side);
    if (p->count < FEWEST || !(longest > 0) || !isfinite(longest)) return YOKE_OK;
    for (int c = 0; c < 3; c++) found->side[c] = side[c] / longest;
    const double volume = found->side[0] * found->side[1] * found->side[2], along = cbrt((double)p->count / IN_CELL / volume);
    for (int c = 0; c < 3; c++)
        if (!(found->side[c] * along >= 1)) return YOKE_OK; /* flat: along an axis there is less than a cell */
    for (int c = 0; c < 3; c++) n[c] = (int)(found->side[c] * along);
    const int64_t cells = (int64_t)n[0] * n[1] * n[2];
    yoke_status status = yoke_allocate(p->context, cells, sizeof *in, &in);
    if (status) return status;
    count_in_cells(p, low, side, n, in);
    found->is_even = scatter_of(in, cells, (double)p->count / (double)cells) <= MOST_SCATTER;
    yoke_release(p->context, in);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------------- counts */

/* Cells along a side that have particles, as the boxes of tree.h lie. */
static int64_t cells_along(const fmm_even *even, int64_t cells, int axis)
{
    const int is_depth = (cells & (cells - 1)) == 0;
    const double margin = is_depth ? 0 : 0.5 / fmax(cbrt((double)even->count) - 1, 1), edge = (1 + 2 * margin) / (double)cells;
    const int64_t along = (int64_t)((even->side[axis] + margin) / edge) + 1;
    return along < cells ? along : cells;
}

/* Ordered pairs of cells in a row of n that touch, or are the same. */
static double touching(int64_t n) { return (double)(3 * n - 2); }

/* Ordered pairs of those whose parents touch or are the same; the last of an odd number is alone in its parent. */
static double below_touching(int64_t n)
{
    const int64_t parents = (n + 1) / 2, last = n - 2 * (parents - 1);
    if (parents == 1) return (double)(last * last);
    return 4 * touching(parents - 1) + (double)(last * (4 + last)); /* the last parent, its neighbour twice, and itself */
}

static void count_level(const int64_t n[3], int level, fmm_counts *counts, fmm_cell_counts *cells, const fmm_even *even)
{
    double near = 1, around = 1;
    int64_t all = 1;
    for (int c = 0; c < 3; c++) near *= touching(n[c]), around *= below_touching(n[c]), all *= n[c];
    fmm_cell_counts *own = &cells[level];
    const double mean = (double)even->count / (double)all, sources = mean * near;
    counts[level].near = llround((mean * sources - (double)even->count) / 2);
    counts[level].far = level > 1 ? llround((around - near) / 2) : 0; /* of this level alone */
    own->leaves = all;
    if (mean > FMM_SMALL_LEAF) {
        own->large = llround(mean * sources);
        return;
    }
    const int fewer = mean > 1 ? (int)mean : 1;
    const double part = mean > 1 ? mean - fewer : 0;
    own->sources[fewer] = llround((1 - part) * sources);
    if (part > 0) own->sources[fewer + 1] = llround(part * sources);
}

void fmm_even_count(const fmm_even *even, int64_t cells, fmm_analysis *a)
{
    const int depth = fmm_depth_of_cells(cells);
    int64_t n[3];
    *a = (fmm_analysis){.particles = even->count, .depth = depth, .deepest = depth};
    for (int c = 0; c < 3; c++) n[c] = cells_along(even, cells, c);
    for (int l = depth; l >= 0; l--) {
        count_level(n, l, a->counts, a->cells, even);
        for (int c = 0; c < 3; c++) n[c] = (n[c] + 1) / 2;
    }
    for (int l = 2; l <= depth; l++) {
        a->counts[l].parents = a->counts[l - 1].parents + a->cells[l - 1].leaves;
        a->counts[l].far += a->counts[l - 1].far;
        a->cells[l].cells = l > 2 ? a->cells[l - 1].cells + a->cells[l].leaves : 0;
    }
}
