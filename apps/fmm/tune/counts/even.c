#include "tune/counts/even.h"

#include <math.h>

#include "particles/random.h"
#include "particles/scale.h"

enum {
    IN_CELL = 32,     /* approximate number of tested particles in a cell */
    FEWEST = 1 << 10, /* minimum number of particles */
    MOST = 1 << 12    /* maximum number of particles that are tested */
};
/* Maximum mean squared deviation of the numbers of particles in cells from their mean, divided by the mean.  It is 1 for independent
 * random positions, and 2.6 if densities differ by 22 % in addition. */
#define MOST_SCATTER 2.6

/* Maximum size of the box of all particles relative to that of the tested ones: no particle is far away. */
#define ALIKE 1.02

/* Takes one particle from each of `count` equal parts of their order, at a random place in the part, so that a regular order has no
 * effect.  place [3][count]. */
static void take_some(const fmm_particles *p, int64_t count, double *place)
{
    uint64_t seed = 1;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = fmm_random_in_part(&seed, p->count, k, count);
        place[k] = p->x[i], place[count + k] = p->y[i], place[2 * count + k] = p->z[i];
    }
}

/* Shifts one coordinate of the positions so that their box begins at 0.  Returns its side. */
static double begin_at_0(int64_t count, double *place)
{
    double least = place[0], most = place[0];
    for (int64_t k = 1; k < count; k++) least = fmin(least, place[k]), most = fmax(most, place[k]);
    for (int64_t k = 0; k < count; k++) place[k] -= least;
    return most - least;
}

/* Returns the cell of a coordinate, with n cells along the side.  The upper end of the side belongs to the last cell. */
static int cell_at(double place, double side, int n)
{
    const int cell = (int)(place / side * n);
    return cell < n ? cell : n - 1;
}

/* Computes the scatter of the numbers of particles in cells, n[c] of them along axis c. */
static yoke_status find_scatter(yoke_context *context, int64_t count, const double *place, const double side[3], const int n[3],
                                double *scatter)
{
    const int64_t cells = (int64_t)n[0] * n[1] * n[2];
    const double mean = (double)count / (double)cells;
    int32_t *in = NULL;
    yoke_status status = yoke_allocate(context, cells, sizeof *in, &in);
    if (status) return status;
    for (int64_t k = 0; k < count; k++) {
        const int x = cell_at(place[k], side[0], n[0]), y = cell_at(place[count + k], side[1], n[1]);
        in[((int64_t)cell_at(place[2 * count + k], side[2], n[2]) * n[1] + y) * n[0] + x]++;
    }
    *scatter = 0;
    for (int64_t k = 0; k < cells; k++) *scatter += (in[k] - mean) * (in[k] - mean) / ((double)cells * mean);
    yoke_release(context, in);
    return YOKE_OK;
}

/* Tests whether the particles fill their box evenly.  *longest: the longest side of this box. */
static yoke_status look(yoke_context *context, int64_t count, double *place, fmm_even *found, double *longest)
{
    double side[3], scatter;
    int n[3];
    *longest = 0;
    for (int c = 0; c < 3; c++) side[c] = begin_at_0(count, place + c * count), *longest = fmax(*longest, side[c]);
    if (!(*longest > 0) || !isfinite(*longest)) return YOKE_OK;
    for (int c = 0; c < 3; c++) side[c] /= *longest;
    const double along = cbrt((double)count / IN_CELL / (side[0] * side[1] * side[2]));
    for (int c = 0; c < 3; c++)
        if (!(side[c] * along >= 1)) return YOKE_OK; /* flat: the box is thinner than a cell */
    for (int c = 0; c < 3; c++) n[c] = (int)(side[c] * along), side[c] *= *longest;
    yoke_status status = find_scatter(context, count, place, side, n, &scatter);
    if (!status) found->is_even = scatter <= MOST_SCATTER;
    return status;
}

/* Finds the sides of the box around all particles.  Returns the longest one. */
static double find_sides(const fmm_particles *p, double side[3])
{
    const fmm_extent extent = fmm_extent_of(p);
    double longest = 0;
    for (int c = 0; c < 3; c++) {
        side[c] = extent.high[c] - extent.low[c];
        longest = fmax(longest, side[c]);
    }
    return longest;
}

yoke_status fmm_even_find(const fmm_particles *p, fmm_even *found)
{
    const int64_t count = p->count < MOST ? p->count : MOST;
    double *place = NULL, of_some;
    *found = (fmm_even){.count = p->count};
    if (p->count < FEWEST) return YOKE_OK;
    yoke_status status = yoke_allocate(p->context, 3 * count, sizeof *place, &place);
    if (status) return status;
    take_some(p, count, place);
    status = look(p->context, count, place, found, &of_some);
    yoke_release(p->context, place);
    if (status || !found->is_even) return status;
    const double longest = find_sides(p, found->side);
    for (int c = 0; c < 3; c++) found->side[c] /= longest;
    found->is_even = longest <= ALIKE * of_some;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------------- counts */

/* Number of cells along a side that contain particles, in the boxes of tree.h. */
static int64_t cells_along(const fmm_even *even, int64_t cells, int axis)
{
    const int is_depth = (cells & (cells - 1)) == 0;
    const double margin = is_depth ? 0 : 0.5 / fmax(cbrt((double)even->count) - 1, 1), edge = (1 + 2 * margin) / (double)cells;
    const int64_t along = (int64_t)((even->side[axis] + margin) / edge) + 1;
    return along < cells ? along : cells;
}

/* Number of ordered pairs of cells in a row of n that touch or are identical. */
static double touching(int64_t n) { return (double)(3 * n - 2); }

/* Number of ordered pairs of cells in a row of n whose parents touch or are identical.  If n is odd, the last parent has one cell only. */
static double below_touching(int64_t n)
{
    const int64_t parents = (n + 1) / 2, last = n - 2 * (parents - 1);
    if (parents == 1) return (double)(last * last);
    /* the last parent: with its neighbour in both orders, and with itself */
    return 4 * touching(parents - 1) + (double)(last * (4 + last));
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
    own->beside = all > 1 ? even->count : 0;
    fmm_cells_of_size(mean, mean * sources, own);
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
