/*
 * rounding.c - estimates the rounding error of the near field in single precision (methods/fmm-order.md).
 */
#include <float.h>
#include <math.h>

#include "method/batch.h"
#include "method/method.h"

static const double rounding = FLT_EPSILON / 2; /* relative, of a number in single precision */

/* Sums over the pairs of a particle that are summed in single precision, in units of the edge of its leaf. */
typedef struct pair_sums {
    double inverse, square;                /* sums of |q| / r and |q| / r^2 */
    double potential_errors, slope_errors; /* sums of squares of independent errors, in units of a rounding */
    double slope[3], bend[6];              /* first and second derivatives of the potential */
} pair_sums;

/* Adds the pair with a charge at distance r; d is the vector from the charge to the particle.  moved: error of the charge's position, in
 * roundings. */
static void add_pair(const double d[3], double r, double charge, double moved, pair_sums *sum)
{
    enum { OF_INVERSE = 7, OF_SLOPE = 20 }; /* roundings of a pair */
    const double inverse = 1 / r, potential = charge * inverse, slope = potential * inverse, bend = slope * inverse;
    sum->inverse += fabs(potential);
    sum->square += fabs(slope);
    sum->potential_errors += pow(OF_INVERSE * potential + moved * slope, 2);
    sum->slope_errors += pow(OF_SLOPE * slope + 2 * moved * bend, 2);
    for (int c = 0, k = 0; c < 3; c++) {
        sum->slope[c] += slope * d[c] * inverse;
        for (int other = c; other < 3; other++, k++) sum->bend[k] += bend * (3 * d[c] * d[other] * inverse * inverse - (c == other));
    }
}

/* Adds the pairs with the particles of a near leaf. */
static void add_leaf(const fmm_method *m, int64_t i, int64_t leaf, int64_t near, pair_sums *sum)
{
    const fmm_particles *p = m->sorted;
    const fmm_leaves *leaves = &m->tree->leaves;
    const double edge = fmm_tree_edge(m->tree, leaves->level[leaf]), of_source = fmm_tree_edge(m->tree, leaves->level[near]) / edge;
    double own[3], other[3], apart = 0;
    fmm_tree_centre(m->tree, leaves->level[leaf], leaves->cell[leaf], own);
    fmm_tree_centre(m->tree, leaves->level[near], leaves->cell[near], other);
    for (int c = 0; c < 3; c++) apart = fmax(apart, fabs(other[c] - own[c]) / edge);
    /* Pairs are summed in the coordinates of the larger leaf, or near a leaf that is cut into slices in those of each leaf.  `moved` is the
     * larger error of both cases, and `least` the smaller distance. */
    const double moved = sqrt(3) * (of_source + apart), least = (apart + fmin(of_source, 1) / 2) / FMM_BATCH_LEAST;
    for (int64_t j = leaves->particle[near]; j < leaves->particle[near + 1]; j++) {
        const double d[3] = {(p->x[i] - p->x[j]) / edge, (p->y[i] - p->y[j]) / edge, (p->z[i] - p->z[j]) / edge};
        const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (r >= least && i != j) add_pair(d, r, p->charge[j], moved, sum);
    }
}

static int64_t leaf_of(const fmm_leaves *leaves, int64_t particle)
{
    int64_t leaf = 0, end = leaves->count;
    while (end - leaf > 1) { /* finds the last leaf whose first particle is this one or an earlier one */
        const int64_t middle = leaf + (end - leaf) / 2;
        *(leaves->particle[middle] <= particle ? &leaf : &end) = middle;
    }
    return leaf;
}

/*
 * Errors of the potential and of the gradient, in units of the edge.  The position of the particle itself has the same error in all pairs.
 * Sums add two roundings of the sum of absolute values.
 */
static void errors_of(const pair_sums *sum, double *potential, double *slope)
{
    enum { OF_SUMS = 2 };
    const double moved = sqrt(3) / 2;
    double slopes = 0, bends = 0;
    for (int c = 0; c < 3; c++) slopes += sum->slope[c] * sum->slope[c];
    for (int k = 0; k < 6; k++) bends += sum->bend[k] * sum->bend[k] * (k == 0 || k == 3 || k == 5 ? 1 : 2);
    *potential = rounding * (sqrt(sum->potential_errors) + moved * sqrt(slopes) + OF_SUMS * sum->inverse);
    *slope = rounding * (sqrt(sum->slope_errors) + moved * sqrt(bends) + OF_SUMS * sum->square);
}

void fmm_near_rounding(const fmm_method *m, int samples, double *potential, double *force)
{
    const int64_t count = m->tree->count < samples ? m->tree->count : samples;
    double potentials = 0, forces = 0;
#pragma omp parallel for ordered schedule(dynamic)
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = (int64_t)(((double)k + 0.5) / (double)count * (double)m->tree->count), leaf = leaf_of(&m->tree->leaves, i);
        const double edge = fmm_tree_edge(m->tree, m->tree->leaves.level[leaf]);
        double of_potential, of_slope;
        pair_sums sum = {0};
        add_leaf(m, i, leaf, leaf, &sum);
        for (int64_t n = m->near.start[leaf]; n < m->near.start[leaf + 1]; n++) add_leaf(m, i, leaf, m->near.cell[n], &sum);
        errors_of(&sum, &of_potential, &of_slope);
#pragma omp ordered /* the sums do not depend on the number of threads */
        {
            potentials += pow(of_potential / edge, 2);
            forces += pow(m->sorted->charge[i] * of_slope / (edge * edge), 2);
        }
    }
    *potential = count ? sqrt(potentials / (double)count) : 0;
    *force = count ? sqrt(forces / (double)count) : 0;
}
