#include "coarse_parts.h"

#include <math.h>
#include <string.h>

/*
 * Smoother: Chebyshev polynomial of the diagonally scaled matrix (Adams, Brezina, Hu, Tuminaro 2003), a polynomial in the matrix and so
 * symmetric: the same before and after the coarse correction.  It damps eigenvalues in [largest / smoothed_range, largest].
 */
enum { smoother_degree = 2 };
static const double smoothed_range = 10.0;

/* The power method's value is at most the largest eigenvalue and comes close from below; this takes it above. */
enum { power_steps = 15 };
static const double power_margin = 1.1;

static double dot(int32_t size, const double *a, const double *b)
{
    double sum = 0.0;
    for (int32_t i = 0; i < size; i++) sum += a[i] * b[i];
    return sum;
}

static yoke_status invert_diagonal(yoke_context *context, const fem_sparse *matrix, double *inverse)
{
    const int block = matrix->block;
    for (int32_t row = 0; row < matrix->rows / block; row++) {
        for (int64_t entry = matrix->row_start[row]; entry < matrix->row_start[row + 1]; entry++) {
            if (matrix->column[entry] != row) continue;
            const float *value = matrix->value + entry * block * block;
            for (int i = 0; i < block; i++) {
                const double diagonal = (double)value[i * block + i];
                if (diagonal < 0.0) {
                    return yoke_fail(context, YOKE_ERROR_NUMERIC,
                                     "a diagonal entry on a level of the algebraic multigrid method is negative: the coarse problem's "
                                     "matrix is not positive definite; check the materials and the elements' shapes");
                }
                /* A basis function that vanishes has no unknown: the smoother leaves it alone. */
                inverse[row * block + i] = diagonal > 0.0 ? 1.0 / diagonal : 0.0;
            }
        }
    }
    return YOKE_OK;
}

/* Rayleigh quotient after some steps of the power method on the scaled matrix, in the inner product of the diagonal. */
static double largest_eigenvalue(fem_coarse_level *level)
{
    double *x = level->x, *y = level->residual, *scaled = level->step;
    uint64_t state = 1;
    for (int32_t i = 0; i < level->size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = sqrt(level->inverse_diagonal[i]) * ((double)(state >> 11) / 4503599627370496.0 - 1.0);
    }
    double value = 0.0;
    for (int step = 0; step < power_steps; step++) {
        fem_sparse_multiply(level->matrix, 1.0, x, NULL, y);
        for (int32_t i = 0; i < level->size; i++) scaled[i] = level->inverse_diagonal[i] * y[i];
        const double energy = dot(level->size, x, y), square = dot(level->size, y, scaled);
        if (!(square > 0.0) || !(energy > 0.0)) return 1.0;
        value = square / energy; /* (S x, S x) / (x, S x) in that inner product, S the scaled matrix */
        const double factor = 1.0 / sqrt(square);
        for (int32_t i = 0; i < level->size; i++) x[i] = factor * scaled[i];
    }
    return value;
}

yoke_status fem_hierarchy_prepare(fem_hierarchy *hierarchy)
{
    yoke_context *context = hierarchy->context;
    yoke_status status = yoke_allocate(context, hierarchy->level[0].size, sizeof(double), (void **)&hierarchy->x);
    if (!status) status = yoke_allocate(context, hierarchy->level[0].size, sizeof(double), (void **)&hierarchy->b);
    if (status) return status;
    for (int l = 0; l < hierarchy->num_levels; l++) {
        fem_coarse_level *level = &hierarchy->level[l];
        status = yoke_allocate(context, level->size, sizeof(double), (void **)&level->x);
        if (!status) status = yoke_allocate(context, level->size, sizeof(double), (void **)&level->b);
        if (status) return status;
        if (!level->matrix) continue;
        status = yoke_allocate(context, level->size, sizeof(double), (void **)&level->residual);
        if (!status) status = yoke_allocate(context, level->size, sizeof(double), (void **)&level->step);
        if (!status) status = yoke_allocate(context, level->size, sizeof(double), (void **)&level->inverse_diagonal);
        if (!status) status = invert_diagonal(context, level->matrix, level->inverse_diagonal);
        if (status) return status;
        level->largest = power_margin * largest_eigenvalue(level);
        if (!isfinite(level->largest)) {
            return yoke_fail(context, YOKE_ERROR_NUMERIC,
                             "the eigenvalues of the coarse problem's matrix are not finite: check the materials' moduli");
        }
    }
    return YOKE_OK;
}

/* step = keep x step + take x D^-1 residual;  x = (start from zero ? 0 : x) + step */
static void advance(fem_coarse_level *level, const double *residual, double keep, double take, int from_zero)
{
    double *x = level->x, *step = level->step;
    const double *inverse = level->inverse_diagonal;
#pragma omp parallel for schedule(static) if (level->size > 5000)
    for (int32_t i = 0; i < level->size; i++) {
        step[i] = (keep != 0.0 ? keep * step[i] : 0.0) + take * inverse[i] * residual[i];
        x[i] = (from_zero ? 0.0 : x[i]) + step[i];
    }
}

static void smooth(fem_coarse_level *level, int from_zero)
{
    const double smallest = level->largest / smoothed_range;
    const double middle = 0.5 * (level->largest + smallest), radius = 0.5 * (level->largest - smallest);
    const double ratio = middle / radius;
    const double *residual = level->b;
    double rho = 1.0 / ratio;
    for (int k = 0; k < smoother_degree; k++) {
        if (k > 0 || !from_zero) {
            fem_sparse_multiply(level->matrix, -1.0, level->x, level->b, level->residual);
            residual = level->residual;
        }
        if (k == 0) {
            advance(level, residual, 0.0, 1.0 / middle, from_zero);
        } else {
            const double next = 1.0 / (2.0 * ratio - rho);
            advance(level, residual, next * rho, 2.0 * next / radius, 0);
            rho = next;
        }
    }
}

static yoke_status cycle(fem_hierarchy *hierarchy)
{
    const int last = hierarchy->num_levels - 1;
    fem_coarse_level *level = hierarchy->level;
    for (int l = 0; l < last; l++) {
        smooth(&level[l], 1);
        fem_sparse_multiply(level[l].matrix, -1.0, level[l].x, level[l].b, level[l].residual);
        fem_sparse_multiply(level[l].restriction, 1.0, level[l].residual, NULL, level[l + 1].b);
    }
    yoke_status status = fem_cholesky_solve(hierarchy->coarsest, level[last].b, level[last].x);
    if (status) return status;
    for (int l = last - 1; l >= 0; l--) {
        fem_sparse_multiply(level[l].prolong, 1.0, level[l + 1].x, level[l].x, level[l].x);
        smooth(&level[l], 0);
    }
    return YOKE_OK;
}

/*
 * Two V-cycles B, combined by Chebyshev's semi-iteration for eigenvalues of B A in [smallest_reached, 1]: one alone reduces the error by
 * too little for the levels above, two combined by more than one after the other, at the same cost.
 */
yoke_status fem_hierarchy_solve(fem_hierarchy *hierarchy)
{
    static const double smallest_reached = 0.2;
    const double middle = 0.5 * (1.0 + smallest_reached), radius = 0.5 * (1.0 - smallest_reached), rho = radius / middle;
    const double next = 1.0 / (2.0 / rho - rho);
    fem_coarse_level *level = hierarchy->level;
    yoke_status status = cycle(hierarchy);
    if (status || hierarchy->num_levels == 1) return status;
    double *b = hierarchy->b, *x = hierarchy->x;
    memcpy(b, level->b, sizeof(double) * (size_t)level->size);
    for (int32_t i = 0; i < level->size; i++) x[i] = level->x[i] / middle;
    fem_sparse_multiply(level->matrix, -1.0, x, b, level->b);
    status = cycle(hierarchy);
    for (int32_t i = 0; i < level->size; i++) level->x[i] = (1.0 + next * rho) * x[i] + 2.0 * next / radius * level->x[i];
    return status;
}
