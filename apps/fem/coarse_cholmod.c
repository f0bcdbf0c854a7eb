#include "coarse_parts.h"

#include <omp.h>
#include <string.h>
#include <suitesparse/cholmod.h>

struct fem_cholesky {
    yoke_context *context;
    cholmod_common common;
    cholmod_factor *factor;
    cholmod_dense *right, *solution, *work_y, *work_e; /* kept between solves */
};

/*
 * What elimination leaves of a diagonal entry, relative to the entry, below which it is rounding: the matrix is singular.  The measure does
 * not depend on how stiff the materials are to one another; that of a held body, slender or not, is far above.
 */
static const double smallest_pivot = 1e-12;

/* Up to so many rows minimum degree orders in half the time of nested dissection and fills in less; of more it fills in up to twice as much. */
enum { minimum_degree_rows = 3000 };

void fem_cholesky_destroy(fem_cholesky *cholesky)
{
    if (!cholesky) return;
    cholmod_common *common = &cholesky->common;
    cholmod_l_free_dense(&cholesky->right, common);
    cholmod_l_free_dense(&cholesky->solution, common);
    cholmod_l_free_dense(&cholesky->work_y, common);
    cholmod_l_free_dense(&cholesky->work_e, common);
    cholmod_l_free_factor(&cholesky->factor, common);
    cholmod_l_finish(common);
    yoke_release(cholesky->context, cholesky);
}

static yoke_status fail(fem_cholesky *cholesky, int64_t rows)
{
    const int status = cholesky->common.status;
    if (status == CHOLMOD_OUT_OF_MEMORY || status == CHOLMOD_TOO_LARGE) {
        return yoke_fail(cholesky->context, YOKE_ERROR_MEMORY,
                         "no memory for the Cholesky factor of the coarse problem (%lld unknowns): use a coarser mesh and refine it, or "
                         "choose algebraic multigrid",
                         (long long)rows);
    }
    return yoke_fail(cholesky->context, YOKE_ERROR_NUMERIC, "CHOLMOD could not solve the coarse problem (its status %d)", status);
}

static yoke_status fail_singular(fem_cholesky *cholesky)
{
    return yoke_fail(cholesky->context, YOKE_ERROR_NUMERIC,
                     "the coarse problem's matrix is not positive definite: the body, or a piece of it, is not held against rigid "
                     "motion (check the Dirichlet conditions), or a material or an element is bad (modulus, Poisson's ratio, shape)");
}

/* The upper triangle in CSR is the lower one in compressed columns.  Its diagonal goes to cholesky->right too. */
static cholmod_sparse *lower_triangle(fem_cholesky *cholesky, int64_t rows, const int64_t *row_start, const int64_t *column,
                                      const double *value, double shift)
{
    size_t entries = 0;
    double largest = 0.0;
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t entry = row_start[row]; entry < row_start[row + 1]; entry++) {
            entries += column[entry] >= row;
            if (column[entry] == row && value[entry] > largest) largest = value[entry];
        }
    }
    cholmod_sparse *matrix = cholmod_l_allocate_sparse((size_t)rows, (size_t)rows, entries, 0, 1, -1, CHOLMOD_REAL, &cholesky->common);
    if (!matrix) return NULL;
    SuiteSparse_long *start = matrix->p, *index = matrix->i, end = 0;
    double *number = matrix->x, *diagonal = cholesky->right->x;
    memset(diagonal, 0, (size_t)rows * sizeof *diagonal);
    for (int64_t row = 0; row < rows; row++) {
        start[row] = end;
        for (int64_t entry = row_start[row]; entry < row_start[row + 1]; entry++) {
            if (column[entry] < row) continue;
            index[end] = column[entry];
            number[end] = value[entry] + (column[entry] == row ? shift * largest : 0.0);
            if (column[entry] == row) diagonal[row] = number[end];
            end++;
        }
    }
    start[rows] = end;
    return matrix;
}

/* Whether each pivot of the supernodal factor is a number and more than rounding of the diagonal entry in cholesky->right. */
static int pivots_are_sound(const fem_cholesky *cholesky)
{
    const cholmod_factor *factor = cholesky->factor;
    const SuiteSparse_long *first = factor->super, *rows = factor->pi, *place = factor->px, *order = factor->Perm;
    const double *value = factor->x, *diagonal = cholesky->right->x;
    for (size_t s = 0; s < factor->nsuper; s++) {
        const SuiteSparse_long stride = rows[s + 1] - rows[s];
        for (SuiteSparse_long column = first[s]; column < first[s + 1]; column++) {
            const double root = value[place[s] + (column - first[s]) * (stride + 1)];
            if (!(root * root > smallest_pivot * diagonal[order[column]])) return 0;
        }
    }
    return 1;
}

static void set_options(cholmod_common *common, int64_t rows)
{
    common->print = 0;
    common->error_handler = NULL;
    common->supernodal = CHOLMOD_SUPERNODAL;
    common->final_ll = 1;
    common->quick_return_if_not_posdef = 1;
    common->nmethods = 1;
    common->method[0].ordering = rows <= minimum_degree_rows ? CHOLMOD_AMD : CHOLMOD_METIS;
    common->postorder = 1;
}

/*
 * CHOLMOD divides the copying of a handful of rows among as many threads as it was built for (four in Debian), however many cores there
 * are: on two, three quarters of the time went into that.  With no active level it stays on this thread, and so does a BLAS that uses OpenMP.
 */
static void factorize(cholmod_sparse *matrix, fem_cholesky *cholesky)
{
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    cholmod_l_factorize(matrix, cholesky->factor, &cholesky->common);
    omp_set_max_active_levels(levels);
}

yoke_status fem_cholesky_create(yoke_context *context, int64_t rows, const int64_t *row_start, const int64_t *column, const double *value,
                                double shift, double operations, fem_cholesky **result)
{
    fem_cholesky *cholesky = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *cholesky, (void **)&cholesky);
    if (status) return status;
    cholesky->context = context;
    cholmod_common *common = &cholesky->common;
    cholmod_l_start(common);
    set_options(common, rows);
    cholmod_sparse *matrix = NULL;
    cholesky->right = cholmod_l_allocate_dense((size_t)rows, 1, (size_t)rows, CHOLMOD_REAL, common);
    if (cholesky->right) matrix = lower_triangle(cholesky, rows, row_start, column, value, shift);
    if (matrix) cholesky->factor = cholmod_l_analyze(matrix, common);
    if (cholesky->factor && common->fl > operations) {
        cholmod_l_free_sparse(&matrix, common);
        fem_cholesky_destroy(cholesky);
        *result = NULL;
        return YOKE_OK;
    }
    if (cholesky->factor) factorize(matrix, cholesky);
    if (!cholesky->factor || common->status < CHOLMOD_OK)
        status = fail(cholesky, rows);
    else if (cholesky->factor->minor < (size_t)rows || !pivots_are_sound(cholesky))
        status = fail_singular(cholesky);
    cholmod_l_free_sparse(&matrix, common);
    if (status) {
        fem_cholesky_destroy(cholesky);
        return status;
    }
    *result = cholesky;
    return YOKE_OK;
}

yoke_status fem_cholesky_solve(fem_cholesky *cholesky, const double *b, double *x)
{
    const size_t rows = cholesky->factor->n;
    memcpy(cholesky->right->x, b, rows * sizeof *b);
    const int done = cholmod_l_solve2(CHOLMOD_A, cholesky->factor, cholesky->right, NULL, &cholesky->solution, NULL, &cholesky->work_y,
                                      &cholesky->work_e, &cholesky->common);
    if (!done || !cholesky->solution) return fail(cholesky, (int64_t)rows);
    memcpy(x, cholesky->solution->x, rows * sizeof *x);
    return YOKE_OK;
}

int64_t fem_cholesky_memory_bytes(const fem_cholesky *cholesky) { return (int64_t)cholesky->common.memory_inuse; }
