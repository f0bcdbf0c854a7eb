/* amg.c - a fixed number of BoomerAMG cycles as a fixed linear operator. */
#include "solver/coarse/private.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>

_Static_assert(sizeof(HYPRE_Int) == sizeof(int) && sizeof(HYPRE_BigInt) == sizeof(int), "hypre is expected with 32-bit integers");
_Static_assert(sizeof(HYPRE_Real) == sizeof(double), "hypre is expected in double precision");

/*
 * Memory for levels, work arrays and the matrix itself, as a multiple of the matrix's entries in hypre; 2 to 2.4 were measured for
 * elasticity.
 */
static const double set_up_growth = 2.5;
enum { entry_bytes = sizeof(double) + sizeof(int), num_rotations = 3 };

struct fem_amg {
    yoke_context *context; /* borrowed */
    app_ranks *ranks;      /* borrowed; NULL: one rank */
    MPI_Comm comm;
    int64_t first_row; /* number of the rank's first row */
    double scale;      /* hypre's levels are those of scale x the matrix */
    int64_t rows, num_entries;
    HYPRE_IJMatrix entries;
    HYPRE_ParCSRMatrix matrix;
    HYPRE_IJVector rotation[num_rotations], right, solution, residual;
    HYPRE_ParVector par_rotation[num_rotations], par_right, par_solution, par_residual;
    HYPRE_Solver solver;
    HYPRE_BigInt *row;  /* [rows] numbers from first_row on */
    double *value;      /* [rows] buffer for values that are passed to and from hypre */
    double *sum, *step; /* [rows] of the combination of cycles */
};

static yoke_status check_hypre(const fem_amg *amg, const char *doing)
{
    const HYPRE_Int error = HYPRE_GetError();
    if (!error) return YOKE_OK;
    char text[256] = "";
    HYPRE_DescribeError(error, text);
    HYPRE_ClearAllErrors();
    return yoke_fail(amg->context, error & HYPRE_ERROR_MEMORY ? YOKE_ERROR_MEMORY : YOKE_ERROR_NUMERIC,
                     "BoomerAMG failed while %s (error %d: %s): check the materials and the elements' shapes, or choose the jacobi "
                     "preconditioner",
                     doing, (int)error, text);
}

void fem_amg_destroy(fem_amg *amg)
{
    if (!amg) return;
    if (amg->solver) HYPRE_BoomerAMGDestroy(amg->solver);
    HYPRE_IJVector vectors[] = {amg->rotation[0], amg->rotation[1], amg->rotation[2], amg->right, amg->solution, amg->residual};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        if (vectors[i]) HYPRE_IJVectorDestroy(vectors[i]);
    }
    if (amg->entries) HYPRE_IJMatrixDestroy(amg->entries);
    HYPRE_ClearAllErrors();
    yoke_release(amg->context, amg->row);
    yoke_release(amg->context, amg->value);
    yoke_release(amg->context, amg->sum);
    yoke_release(amg->context, amg->step);
    yoke_release(amg->context, amg);
}

/* --------------------------------------------------------------------------------------------------- matrix */

/* The columns of other ranks already have zeros where they are prescribed. */
static int is_free_column(const fem_coarse_matrix *matrix, int32_t node, int component)
{
    return matrix->ranks || fem_coarse_is_free(matrix, node, component);
}

/* Gathers the scalar columns and values of one row without its zeros; returns their number.  If value is NULL, gathers the columns only. */
static int gather_row(const fem_amg *amg, const fem_coarse_matrix *matrix, int32_t node, int i, int *column, double *value)
{
    const int m = matrix->components;
    int count = 0;
    if (!fem_coarse_is_free(matrix, node, i)) {
        column[0] = (int)(amg->first_row + node * m + i);
        if (value) value[0] = 1.0;
        return 1;
    }
    for (int64_t entry = matrix->row_start[node]; entry < matrix->row_start[node + 1]; entry++) {
        const int32_t other = matrix->column[entry];
        for (int j = 0; j < m; j++) {
            const double number = matrix->value[(entry * m + i) * m + j];
            if (number == 0.0 || !is_free_column(matrix, other, j)) continue;
            column[count] = other * m + j;
            if (value) value[count] = number * amg->scale;
            count++;
        }
    }
    return count;
}

static int64_t longest_row(const fem_coarse_matrix *matrix)
{
    int64_t longest = 1;
    for (int32_t node = 0; node < matrix->num_nodes; node++) {
        const int64_t length = matrix->row_start[node + 1] - matrix->row_start[node];
        longest = length > longest ? length : longest;
    }
    return longest * matrix->components;
}

/*
 * Writes to sizes [rows] how many entries each row has in the rank's own columns, followed by how many it has in other columns.  The counts
 * must be exact, because hypre takes unset entries for zeros in the first column.  column: space for one row.  Returns the sum.
 */
static int64_t count_entries(const fem_amg *amg, const fem_coarse_matrix *matrix, int *column, int *sizes)
{
    const int m = matrix->components;
    int64_t sum = 0;
    for (int32_t node = 0; node < matrix->num_nodes; node++) {
        for (int i = 0; i < m; i++) {
            const int64_t row = (int64_t)node * m + i;
            const int count = gather_row(amg, matrix, node, i, column, NULL);
            for (int k = 0; k < count; k++) {
                const int is_own = column[k] >= amg->first_row && column[k] < amg->first_row + amg->rows;
                sizes[is_own ? row : amg->rows + row]++;
            }
            sum += count;
        }
    }
    return sum;
}

/* Enters the rows into hypre, one after the other.  column, value: space for one row. */
static void enter_rows(fem_amg *amg, const fem_coarse_matrix *matrix, int *column, double *value)
{
    for (int32_t node = 0; node < matrix->num_nodes; node++) {
        for (int i = 0; i < matrix->components; i++) {
            HYPRE_Int count = gather_row(amg, matrix, node, i, column, value);
            const HYPRE_BigInt row = (HYPRE_BigInt)(amg->first_row + node * matrix->components + i);
            HYPRE_IJMatrixSetValues(amg->entries, 1, &count, &row, column, value);
        }
    }
}

/* hypre does not survive a failed allocation of its own, so this allocation detects a limit on the address space first. */
static yoke_status try_memory(yoke_context *context, int64_t entries)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate_untouched(context, (int64_t)(set_up_growth * (double)entries), entry_bytes, &memory);
    yoke_release(context, memory);
    return status;
}

/* Checks that hypre can number the entries, and that there is memory for its levels. */
static yoke_status check_size(const fem_amg *amg)
{
    if (amg->num_entries <= INT_MAX / 3) return try_memory(amg->context, amg->num_entries);
    return yoke_fail(amg->context, YOKE_ERROR_INPUT,
                     "the coarse problem has %lld entries%s, more than algebraic multigrid can number: use a coarser mesh and refine it%s",
                     (long long)amg->num_entries, amg->ranks ? " on a rank" : "", amg->ranks ? ", or more ranks" : "");
}

static yoke_status assemble(fem_amg *amg, const fem_coarse_matrix *matrix, int *sizes, int *column, double *value)
{
    const HYPRE_BigInt first = (HYPRE_BigInt)amg->first_row, last = (HYPRE_BigInt)(amg->first_row + amg->rows - 1);
    void *matrix_object = NULL;
    HYPRE_IJMatrixCreate(amg->comm, first, last, first, last, &amg->entries);
    HYPRE_IJMatrixSetObjectType(amg->entries, HYPRE_PARCSR);
    HYPRE_IJMatrixSetDiagOffdSizes(amg->entries, sizes, sizes + amg->rows);
    HYPRE_IJMatrixInitialize(amg->entries);
    yoke_status status = app_ranks_agree(amg->ranks, check_hypre(amg, "taking the matrix"));
    if (status) return status;
    enter_rows(amg, matrix, column, value);
    HYPRE_IJMatrixAssemble(amg->entries);
    HYPRE_IJMatrixGetObject(amg->entries, &matrix_object);
    amg->matrix = matrix_object;
    return app_ranks_agree(amg->ranks, check_hypre(amg, "assembling the matrix"));
}

static yoke_status make_matrix(fem_amg *amg, const fem_coarse_matrix *matrix)
{
    const int64_t longest = longest_row(matrix);
    int *sizes = NULL, *column = NULL;
    double *value = NULL;
    yoke_status status = yoke_allocate(amg->context, 2 * amg->rows, sizeof *sizes, &sizes);
    if (!status) status = yoke_allocate(amg->context, longest, sizeof *column, &column);
    if (!status) status = yoke_allocate(amg->context, longest, sizeof *value, &value);
    if (!status) {
        amg->num_entries = count_entries(amg, matrix, column, sizes);
        status = check_size(amg);
    }
    status = app_ranks_agree(amg->ranks, status);
    if (!status) status = assemble(amg, matrix, sizes, column, value);
    yoke_release(amg->context, sizes);
    yoke_release(amg->context, column);
    yoke_release(amg->context, value);
    return status;
}

/* -------------------------------------------------------------------------------------------------- vectors */

/* Returns component i of the rigid body rotation about `axis` at y, a position relative to the body's size. */
static double rotation(int axis, const double y[3], int i)
{
    if (i == (axis + 1) % 3) return -y[(axis + 2) % 3];
    if (i == (axis + 2) % 3) return y[(axis + 1) % 3];
    return 0.0;
}

/* Computes the centre of the nodes of all ranks; returns half of their largest extent. */
static double measure_body(const fem_coarse_matrix *matrix, double middle[3])
{
    /* largest coordinates, then the negatives of the smallest ones */
    double size = 0.0, end[6] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int64_t node = 0; node < matrix->num_nodes; node++) {
        for (int d = 0; d < 3; d++) {
            end[d] = fmax(end[d], matrix->x[3 * node + d]);
            end[3 + d] = fmax(end[3 + d], -matrix->x[3 * node + d]);
        }
    }
    app_ranks_max(matrix->ranks, end, 6);
    for (int d = 0; d < 3; d++) {
        middle[d] = 0.5 * end[d] - 0.5 * end[3 + d];
        size = fmax(size, 0.5 * end[d] + 0.5 * end[3 + d]);
    }
    return size > 0.0 ? size : 1.0;
}

static yoke_status make_vector(fem_amg *amg, HYPRE_IJVector *vector, HYPRE_ParVector *par_vector)
{
    HYPRE_IJVectorCreate(amg->comm, (HYPRE_BigInt)amg->first_row, (HYPRE_BigInt)(amg->first_row + amg->rows - 1), vector);
    HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(*vector);
    HYPRE_IJVectorSetValues(*vector, (HYPRE_Int)amg->rows, amg->row, amg->value);
    HYPRE_IJVectorAssemble(*vector);
    void *object = NULL;
    HYPRE_IJVectorGetObject(*vector, &object);
    *par_vector = object;
    return app_ranks_agree(amg->ranks, check_hypre(amg, "making vectors"));
}

/* Creates the right side, solution and residual, which are zero, and the rotations. */
static yoke_status make_vectors(fem_amg *amg, const fem_coarse_matrix *matrix)
{
    yoke_status status = yoke_allocate(amg->context, amg->rows, sizeof *amg->row, &amg->row);
    if (!status) status = yoke_allocate(amg->context, amg->rows, sizeof *amg->value, &amg->value);
    if (!status) status = yoke_allocate(amg->context, amg->rows, sizeof *amg->sum, &amg->sum);
    if (!status) status = yoke_allocate(amg->context, amg->rows, sizeof *amg->step, &amg->step);
    for (int64_t i = 0; !status && i < amg->rows; i++) amg->row[i] = (HYPRE_BigInt)(amg->first_row + i);
    status = app_ranks_agree(amg->ranks, status);
    if (!status) status = make_vector(amg, &amg->right, &amg->par_right);
    if (!status) status = make_vector(amg, &amg->solution, &amg->par_solution);
    if (!status) status = make_vector(amg, &amg->residual, &amg->par_residual);
    if (status || matrix->components == 1) return status;
    double middle[3];
    const double size = measure_body(matrix, middle);
    for (int axis = 0; axis < num_rotations && !status; axis++) {
        for (int64_t node = 0; node < matrix->num_nodes; node++) {
            double y[3];
            for (int d = 0; d < 3; d++) y[d] = (matrix->x[3 * node + d] - middle[d]) / size;
            for (int i = 0; i < 3; i++) amg->value[3 * node + i] = fem_coarse_is_free(matrix, node, i) ? rotation(axis, y, i) : 0.0;
        }
        status = make_vector(amg, &amg->rotation[axis], &amg->par_rotation[axis]);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- levels */

/*
 * The options were chosen by measurement (see docs/methods): nodal coarsening (PMIS with numbers that do not depend on the ranks, the first
 * level aggressively) and interpolation that reproduces the rotations (the global matrix approach, variant 2, of Baker, Kolev, Yang 2010);
 * Poisson without aggressive coarsening.  The cycle is symmetric because Gauss-Seidel goes forward on the way down, backward on the way up,
 * and both ways on the last level.  A factorisation would fail there if interpolated rotations are linearly dependent.  W-cycles would not
 * be symmetric in hypre, which smooths only once between the two coarse corrections.
 */
static void set_options(fem_amg *amg, int elasticity)
{
    enum { V_CYCLE = 1, DOWN = 1, UP = 2, LAST = 3, FORWARD = 13, BACKWARD = 14, BOTH_WAYS = 8, LAST_SWEEPS = 10 };
    HYPRE_Solver solver = amg->solver;
    HYPRE_BoomerAMGSetPrintLevel(solver, 0);
    HYPRE_BoomerAMGSetTol(solver, 0.0);
    HYPRE_BoomerAMGSetMaxIter(solver, 1);
    HYPRE_BoomerAMGSetCycleType(solver, V_CYCLE);
    HYPRE_BoomerAMGSetMaxCoarseSize(solver, 60);
    HYPRE_BoomerAMGSetCoarsenType(solver, 9); /* PMIS; 8 uses other random numbers on each rank, and on one rank the same as this */
    HYPRE_BoomerAMGSetInterpType(solver, 6);  /* extended+i */
    HYPRE_BoomerAMGSetPMaxElmts(solver, 4);
    HYPRE_BoomerAMGSetStrongThreshold(solver, 0.25);
    HYPRE_BoomerAMGSetAggNumLevels(solver, elasticity ? 1 : 0);
    HYPRE_BoomerAMGSetMaxRowSum(solver, 1.0);
    HYPRE_BoomerAMGSetRelaxOrder(solver, 0);
    HYPRE_BoomerAMGSetCycleRelaxType(solver, FORWARD, DOWN);
    HYPRE_BoomerAMGSetCycleRelaxType(solver, BACKWARD, UP);
    HYPRE_BoomerAMGSetCycleRelaxType(solver, BOTH_WAYS, LAST);
    HYPRE_BoomerAMGSetCycleNumSweeps(solver, 1, DOWN);
    HYPRE_BoomerAMGSetCycleNumSweeps(solver, 1, UP);
    HYPRE_BoomerAMGSetCycleNumSweeps(solver, LAST_SWEEPS, LAST);
    if (!elasticity) return;
    HYPRE_BoomerAMGSetNumFunctions(solver, 3);
    HYPRE_BoomerAMGSetNodal(solver, 4); /* strength of connection by the row sums of the blocks */
    HYPRE_BoomerAMGSetNodalDiag(solver, 1);
    HYPRE_BoomerAMGSetInterpVecVariant(solver, 2);
    HYPRE_BoomerAMGSetInterpVecQMax(solver, 4);
    HYPRE_BoomerAMGSetInterpVectors(solver, num_rotations, amg->par_rotation);
}

static yoke_status make_levels(fem_amg *amg, int elasticity)
{
    HYPRE_BoomerAMGCreate(&amg->solver);
    yoke_status status = app_ranks_agree(amg->ranks, check_hypre(amg, "starting"));
    if (status) return status;
    set_options(amg, elasticity);
    HYPRE_BoomerAMGSetup(amg->solver, amg->matrix, amg->par_right, amg->par_solution);
    /* Some settings leave a harmless ARG flag set. */
    if (!HYPRE_CheckError(HYPRE_GetError(), HYPRE_ERROR_MEMORY)) HYPRE_ClearAllErrors();
    return app_ranks_agree(amg->ranks, check_hypre(amg, "making levels"));
}

/* Finds the largest diagonal entry of the rank.  Errors: NUMERIC (one is not positive). */
static yoke_status find_largest(yoke_context *context, const fem_coarse_matrix *matrix, double *largest)
{
    const int m = matrix->components;
    *largest = 0.0;
    for (int32_t node = 0; node < matrix->num_nodes; node++) {
        double diagonal[3] = {0};
        for (int64_t entry = matrix->row_start[node]; entry < matrix->row_start[node + 1]; entry++) {
            if (matrix->column[entry] != matrix->first_node + node) continue;
            for (int i = 0; i < m; i++) diagonal[i] += matrix->value[(entry * m + i) * m + i];
        }
        for (int i = 0; i < m; i++) {
            if (!fem_coarse_is_free(matrix, node, i)) continue;
            if (!(diagonal[i] > 0.0)) {
                return yoke_fail(context, YOKE_ERROR_NUMERIC,
                                 "the coarse problem's matrix is not positive definite: component %d of node %d has the diagonal entry %g; "
                                 "a node that no element touches, or a material with a modulus that is zero or negative",
                                 i, (int)(matrix->first_node + node), diagonal[i]);
            }
            *largest = fmax(*largest, diagonal[i]);
        }
    }
    return YOKE_OK;
}

yoke_status fem_amg_create(yoke_context *context, const fem_coarse_matrix *matrix, fem_amg **result)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (!started || ended) {
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "algebraic multigrid needs MPI: call MPI_Init before, and MPI_Finalize after");
    }
    double largest = 0.0;
    fem_amg *amg = NULL;
    yoke_status status = find_largest(context, matrix, &largest);
    if (!status) status = yoke_allocate(context, 1, sizeof *amg, &amg);
    status = app_ranks_agree(matrix->ranks, status);
    if (status) {
        yoke_release(context, amg);
        return status;
    }
    app_ranks_max(matrix->ranks, &largest, 1);
    amg->context = context;
    amg->ranks = matrix->ranks;
    amg->comm = matrix->ranks ? MPI_COMM_WORLD : MPI_COMM_SELF;
    amg->scale = 1.0 / largest; /* so that the levels stay within the range of single precision in any units */
    amg->first_row = matrix->first_node * matrix->components;
    amg->rows = (int64_t)matrix->num_nodes * matrix->components;
    HYPRE_Init();
    HYPRE_ClearAllErrors();
    status = make_matrix(amg, matrix);
    if (!status) status = make_vectors(amg, matrix);
    if (!status) status = make_levels(amg, matrix->components == 3);
    if (status) {
        fem_amg_destroy(amg);
        return status;
    }
    *result = amg;
    return YOKE_OK;
}

/* value = one cycle from zero, with the vector `from` as right side */
static void apply_cycle(fem_amg *amg, HYPRE_ParVector from)
{
    HYPRE_ParVectorSetConstantValues(amg->par_solution, 0.0);
    HYPRE_BoomerAMGSolve(amg->solver, amg->matrix, from, amg->par_solution);
    HYPRE_ClearError(HYPRE_ERROR_CONV); /* the number of cycles is fixed, so it is no failure that the tolerance was not met */
    HYPRE_IJVectorGetValues(amg->solution, (HYPRE_Int)amg->rows, amg->row, amg->value);
}

/* residual = right - matrix sum */
static void find_residual(fem_amg *amg)
{
    HYPRE_IJVectorSetValues(amg->solution, (HYPRE_Int)amg->rows, amg->row, amg->sum);
    HYPRE_ParVectorCopy(amg->par_right, amg->par_residual);
    HYPRE_ParCSRMatrixMatvec(-1.0, amg->matrix, amg->par_solution, 1.0, amg->par_residual);
}

/*
 * sum = cycles B applied to the right side, combined by Chebyshev's semi-iteration for eigenvalues of B A in [smallest_reached, 1].  This
 * is a polynomial in B A, so the whole is as symmetric as B is.  One cycle alone does not reduce the error enough for the finer levels.
 */
static void combine_cycles(fem_amg *amg)
{
    static const double smallest_reached = 0.1;
    enum { cycles = 3 };
    const double middle = 0.5 * (1.0 + smallest_reached), radius = 0.5 * (1.0 - smallest_reached), ratio = middle / radius;
    double rho = 1.0 / ratio, keep = 0.0, take = 1.0 / middle;
    for (int cycle = 0; cycle < cycles; cycle++) {
        if (cycle > 0) find_residual(amg);
        apply_cycle(amg, cycle > 0 ? amg->par_residual : amg->par_right);
        for (int64_t i = 0; i < amg->rows; i++) {
            amg->step[i] = (cycle > 0 ? keep * amg->step[i] : 0.0) + take * amg->value[i];
            amg->sum[i] = (cycle > 0 ? amg->sum[i] : 0.0) + amg->step[i];
        }
        const double next = 1.0 / (2.0 * ratio - rho);
        keep = next * rho;
        take = 2.0 * next / radius;
        rho = next;
    }
}

yoke_status fem_amg_solve(fem_amg *amg, const int32_t *number, const double *b, double *x)
{
    for (int64_t i = 0; i < amg->rows; i++) amg->value[i] = number[i] >= 0 ? b[i] : 0.0;
    HYPRE_IJVectorSetValues(amg->right, (HYPRE_Int)amg->rows, amg->row, amg->value);
    combine_cycles(amg);
    yoke_status status = app_ranks_agree(amg->ranks, check_hypre(amg, "solving"));
    if (status) return status;
    for (int64_t i = 0; i < amg->rows; i++) x[i] = number[i] >= 0 ? amg->scale * amg->sum[i] : 0.0;
    return YOKE_OK;
}

int64_t fem_amg_memory_bytes(const fem_amg *amg) { return (int64_t)(set_up_growth * (double)amg->num_entries) * entry_bytes; }
