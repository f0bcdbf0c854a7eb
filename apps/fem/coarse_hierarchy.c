#include "coarse_parts.h"

#include <limits.h>
#include <math.h>

/* hypre's public interface applies its cycle but does not give its levels away; the internal headers that it installs do. */
#include <mpi.h>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>

_Static_assert(sizeof(HYPRE_Int) == sizeof(int) && sizeof(HYPRE_BigInt) == sizeof(int), "hypre is expected with 32-bit integers");
_Static_assert(sizeof(HYPRE_Real) == sizeof(double), "hypre is expected in double precision");

/* Unknowns at which coarsening stops at the latest.  A factor of so many takes less time than the levels that would be made below. */
enum { coarsest_size = 12000 };
/*
 * A level on which a Cholesky factor costs at most this many operations per unknown of the finest level (a part of what the set-up takes
 * anyway) becomes the last: slender bodies lose most where BoomerAMG coarsens a second time, and bend on the first coarse level already.
 */
static const double direct_operations = 1e5;
/* Levels, work arrays and the matrix itself, as a multiple of the matrix's entries in hypre; measured 2 to 2.4 for elasticity. */
static const double set_up_growth = 2.5;
/* Added to the diagonal of a last level that is singular, relative to its largest entry. */
static const double dependence_shift = 1e-10;
enum { entry_bytes = sizeof(double) + sizeof(int), num_rotations = 3 };

/* All that lives in hypre while the levels are made. */
typedef struct amg_setup {
    yoke_context *context;
    const fem_coarse_matrix *matrix;
    double scale;
    HYPRE_IJMatrix entries;
    HYPRE_IJVector vector[num_rotations + 2]; /* rotations; right side and solution, which the interface wants */
    HYPRE_ParVector par_vector[num_rotations + 2];
    HYPRE_Solver solver;
} amg_setup;

static yoke_status check_hypre(amg_setup *setup, const char *doing)
{
    const HYPRE_Int error = HYPRE_GetError();
    if (!error) return YOKE_OK;
    char text[256] = "";
    HYPRE_DescribeError(error, text);
    HYPRE_ClearAllErrors();
    return yoke_fail(setup->context, error & HYPRE_ERROR_MEMORY ? YOKE_ERROR_MEMORY : YOKE_ERROR_NUMERIC,
                     "BoomerAMG failed while %s (error %d: %s): check the materials and the elements' shapes, or choose the jacobi "
                     "preconditioner",
                     doing, (int)error, text);
}

static void setup_destroy(amg_setup *setup)
{
    if (setup->solver) HYPRE_BoomerAMGDestroy(setup->solver);
    for (int i = 0; i < num_rotations + 2; i++) {
        if (setup->vector[i]) HYPRE_IJVectorDestroy(setup->vector[i]);
    }
    if (setup->entries) HYPRE_IJMatrixDestroy(setup->entries);
    HYPRE_ClearAllErrors();
}

/* --------------------------------------------------------------------------------------------------- matrix */

/* Scalar columns and values of one row without its zeros; returns their number.  column and value NULL: the number only. */
static int gather_row(const amg_setup *setup, int32_t node, int i, int *column, double *value)
{
    const fem_coarse_matrix *matrix = setup->matrix;
    const int m = matrix->components;
    int count = 0;
    if (!fem_coarse_is_free(matrix, node, i)) {
        if (column) column[0] = node * m + i;
        if (column) value[0] = 1.0;
        return 1;
    }
    for (int64_t entry = matrix->row_start[node]; entry < matrix->row_start[node + 1]; entry++) {
        const int32_t other = matrix->column[entry];
        for (int j = 0; j < m; j++) {
            const double number = matrix->value[(entry * m + i) * m + j];
            if (number == 0.0 || !fem_coarse_is_free(matrix, other, j)) continue;
            if (column) column[count] = other * m + j;
            if (column) value[count] = number * setup->scale;
            count++;
        }
    }
    return count;
}

/* Entries of each row into sizes [rows], exactly: hypre would take what is not set for zeros in the first column.  Returns the sum. */
static int64_t count_entries(const amg_setup *setup, int *sizes)
{
    const fem_coarse_matrix *matrix = setup->matrix;
    const int m = matrix->components;
    int64_t sum = 0;
    for (int32_t node = 0; node < matrix->num_nodes; node++) {
        for (int i = 0; i < m; i++) {
            sizes[(int64_t)node * m + i] = gather_row(setup, node, i, NULL, NULL);
            sum += sizes[(int64_t)node * m + i];
        }
    }
    return sum;
}

/* One row after the other into hypre. */
static yoke_status enter_rows(amg_setup *setup, int longest)
{
    const fem_coarse_matrix *matrix = setup->matrix;
    int *column = NULL;
    double *value = NULL;
    yoke_status status = yoke_allocate(setup->context, longest, sizeof *column, (void **)&column);
    if (!status) status = yoke_allocate(setup->context, longest, sizeof *value, (void **)&value);
    for (int32_t node = 0; !status && node < matrix->num_nodes; node++) {
        for (int i = 0; i < matrix->components; i++) {
            HYPRE_Int count = gather_row(setup, node, i, column, value);
            const HYPRE_BigInt row = node * matrix->components + i;
            HYPRE_IJMatrixSetValues(setup->entries, 1, &count, &row, column, value);
        }
    }
    yoke_release(setup->context, value);
    yoke_release(setup->context, column);
    return status;
}

/* hypre does not survive a failed allocation of its own, so a limit on the address space is met here first. */
static yoke_status try_memory(yoke_context *context, int64_t entries)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate_untouched(context, (int64_t)(set_up_growth * (double)entries), entry_bytes, &memory);
    yoke_release(context, memory);
    return status;
}

static yoke_status make_matrix(amg_setup *setup)
{
    const fem_coarse_matrix *matrix = setup->matrix;
    const int64_t rows = (int64_t)matrix->num_nodes * matrix->components;
    int *sizes = NULL;
    yoke_status status = yoke_allocate(setup->context, 2 * rows, sizeof *sizes, (void **)&sizes);
    if (status) return status;
    const int64_t entries = count_entries(setup, sizes); /* the second half, other ranks' columns, stays 0 */
    if (entries > INT_MAX / 3) {
        status = yoke_fail(setup->context, YOKE_ERROR_INPUT,
                           "the coarse problem has %lld entries, more than algebraic multigrid can number: use a coarser mesh and "
                           "refine it",
                           (long long)entries);
    } else {
        status = try_memory(setup->context, entries);
    }
    int longest = 1;
    for (int64_t row = 0; row < rows; row++) longest = sizes[row] > longest ? sizes[row] : longest;
    if (!status) {
        const HYPRE_BigInt last = (HYPRE_BigInt)(rows - 1);
        HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, last, 0, last, &setup->entries);
        HYPRE_IJMatrixSetObjectType(setup->entries, HYPRE_PARCSR);
        HYPRE_IJMatrixSetDiagOffdSizes(setup->entries, sizes, sizes + rows);
        HYPRE_IJMatrixInitialize(setup->entries);
        status = check_hypre(setup, "taking the matrix");
    }
    yoke_release(setup->context, sizes);
    if (!status) status = enter_rows(setup, longest);
    if (status) return status;
    HYPRE_IJMatrixAssemble(setup->entries);
    return check_hypre(setup, "assembling the matrix");
}

/* -------------------------------------------------------------------------------------------------- vectors */

/* Component i of the rigid body rotation about axis `axis` at y, a position relative to the body's size. */
static double rotation(int axis, const double y[3], int i)
{
    if (i == (axis + 1) % 3) return -y[(axis + 2) % 3];
    if (i == (axis + 2) % 3) return y[(axis + 1) % 3];
    return 0.0;
}

/* Middle and half the largest extent of the nodes. */
static double measure_body(const fem_coarse_matrix *matrix, double middle[3])
{
    double size = 0.0;
    for (int d = 0; d < 3; d++) {
        double low = matrix->x[d], high = matrix->x[d];
        for (int64_t node = 1; node < matrix->num_nodes; node++) {
            low = fmin(low, matrix->x[3 * node + d]);
            high = fmax(high, matrix->x[3 * node + d]);
        }
        middle[d] = 0.5 * low + 0.5 * high;
        size = fmax(size, 0.5 * high - 0.5 * low);
    }
    return size > 0.0 ? size : 1.0;
}

static void fill_rotations(amg_setup *setup)
{
    const fem_coarse_matrix *matrix = setup->matrix;
    double middle[3];
    const double size = measure_body(matrix, middle);
    for (int axis = 0; axis < num_rotations; axis++) {
        double *value = hypre_VectorData(hypre_ParVectorLocalVector((hypre_ParVector *)setup->par_vector[axis]));
        for (int64_t node = 0; node < matrix->num_nodes; node++) {
            double y[3];
            for (int d = 0; d < 3; d++) y[d] = (matrix->x[3 * node + d] - middle[d]) / size;
            for (int i = 0; i < 3; i++) value[3 * node + i] = fem_coarse_is_free(matrix, node, i) ? rotation(axis, y, i) : 0.0;
        }
    }
}

static yoke_status make_vectors(amg_setup *setup)
{
    const HYPRE_BigInt last = (HYPRE_BigInt)setup->matrix->num_nodes * setup->matrix->components - 1;
    for (int i = 0; i < num_rotations + 2; i++) {
        HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, last, &setup->vector[i]);
        HYPRE_IJVectorSetObjectType(setup->vector[i], HYPRE_PARCSR);
        HYPRE_IJVectorInitialize(setup->vector[i]);
        HYPRE_IJVectorAssemble(setup->vector[i]);
        HYPRE_IJVectorGetObject(setup->vector[i], (void **)&setup->par_vector[i]);
        yoke_status status = check_hypre(setup, "making vectors");
        if (status) return status;
    }
    if (setup->matrix->components == 3) fill_rotations(setup);
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- levels */

/*
 * Chosen by measurement (see docs/methods): nodal coarsening (PMIS, the first level aggressively) and interpolation that reproduces the
 * rotations exactly (the global matrix approach, variant 2, of Baker, Kolev, Yang 2010); Poisson without aggressive coarsening.
 */
static void set_options(amg_setup *setup)
{
    HYPRE_Solver solver = setup->solver;
    const int elasticity = setup->matrix->components == 3;
    HYPRE_BoomerAMGSetPrintLevel(solver, 0);
    HYPRE_BoomerAMGSetMaxLevels(solver, FEM_COARSE_MAX_LEVELS);
    HYPRE_BoomerAMGSetMaxCoarseSize(solver, coarsest_size);
    HYPRE_BoomerAMGSetCoarsenType(solver, 8); /* PMIS */
    HYPRE_BoomerAMGSetInterpType(solver, 6);  /* extended+i */
    HYPRE_BoomerAMGSetPMaxElmts(solver, 4);
    HYPRE_BoomerAMGSetStrongThreshold(solver, 0.25);
    HYPRE_BoomerAMGSetAggNumLevels(solver, elasticity ? 1 : 0);
    HYPRE_BoomerAMGSetMaxRowSum(solver, 1.0);
    HYPRE_BoomerAMGSetRelaxType(solver, 0); /* Jacobi, which has no set-up: the cycle here has its own smoother */
    HYPRE_BoomerAMGSetCycleRelaxType(solver, 0, 3);
    if (!elasticity) return;
    HYPRE_BoomerAMGSetNumFunctions(solver, 3);
    HYPRE_BoomerAMGSetNodal(solver, 4); /* strength by the blocks' row sums */
    HYPRE_BoomerAMGSetNodalDiag(solver, 1);
    HYPRE_BoomerAMGSetInterpVecVariant(solver, 2);
    HYPRE_BoomerAMGSetInterpVecQMax(solver, 4);
    HYPRE_BoomerAMGSetInterpVectors(solver, num_rotations, setup->par_vector);
}

static yoke_status copy_matrix(yoke_context *context, hypre_ParCSRMatrix *from, int block, fem_sparse **to)
{
    const hypre_CSRMatrix *matrix = hypre_ParCSRMatrixDiag(from);
    return fem_sparse_create(context, hypre_CSRMatrixNumRows(matrix), hypre_CSRMatrixNumCols(matrix), hypre_CSRMatrixI(matrix),
                             hypre_CSRMatrixJ(matrix), hypre_CSRMatrixData(matrix), block, to);
}

/* Factor of a level's matrix into hierarchy->coarsest; none is made if it takes more than `operations`. */
static yoke_status factor_level(fem_hierarchy *hierarchy, hypre_ParCSRMatrix *from, double operations)
{
    yoke_context *context = hierarchy->context;
    const hypre_CSRMatrix *matrix = hypre_ParCSRMatrixDiag(from);
    const int rows = hypre_CSRMatrixNumRows(matrix);
    const int *start = hypre_CSRMatrixI(matrix), *index = hypre_CSRMatrixJ(matrix);
    int64_t *row_start = NULL, *column = NULL;
    yoke_status status = yoke_allocate(context, rows + 1, sizeof *row_start, (void **)&row_start);
    if (!status) status = yoke_allocate(context, start[rows], sizeof *column, (void **)&column);
    if (!status) {
        for (int row = 0; row <= rows; row++) row_start[row] = start[row];
        for (int entry = 0; entry < start[rows]; entry++) column[entry] = index[entry];
        const double *value = hypre_CSRMatrixData(matrix);
        status = fem_cholesky_create(context, rows, row_start, column, value, 0.0, operations, &hierarchy->coarsest);
        /* Interpolated rotations can depend on one another; then a small shift makes the matrix definite. */
        if (status == YOKE_ERROR_NUMERIC) {
            status = fem_cholesky_create(context, rows, row_start, column, value, dependence_shift, operations, &hierarchy->coarsest);
        }
    }
    yoke_release(context, column);
    yoke_release(context, row_start);
    return status;
}

static yoke_status copy_level(fem_coarse_level *level, amg_setup *setup, int l)
{
    yoke_context *context = setup->context;
    hypre_ParAMGData *amg = (hypre_ParAMGData *)setup->solver;
    /* From the second level on, a node's unknowns are three displacements and three rotations. */
    const int block = setup->matrix->components == 1 ? 1 : l == 0 ? 3 : 6;
    yoke_status status = copy_matrix(context, hypre_ParAMGDataAArray(amg)[l], block, &level->matrix);
    if (!status) status = copy_matrix(context, hypre_ParAMGDataPArray(amg)[l], 1, &level->prolong);
    return status ? status : fem_sparse_transpose(context, level->prolong, &level->restriction);
}

static yoke_status copy_levels(fem_hierarchy *hierarchy, amg_setup *setup)
{
    hypre_ParAMGData *amg = (hypre_ParAMGData *)setup->solver;
    hypre_ParCSRMatrix **matrices = hypre_ParAMGDataAArray(amg);
    const int levels = hypre_ParAMGDataNumLevels(amg);
    if (levels < 1 || levels > FEM_COARSE_MAX_LEVELS) {
        return yoke_fail(hierarchy->context, YOKE_ERROR_INTERNAL, "BoomerAMG made %d levels, between 1 and %d were expected", levels,
                         FEM_COARSE_MAX_LEVELS);
    }
    const double operations = direct_operations * hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(matrices[0]));
    for (int l = 0; l < levels; l++) {
        hierarchy->num_levels = l + 1;
        hierarchy->level[l].size = hypre_CSRMatrixNumRows(hypre_ParCSRMatrixDiag(matrices[l]));
        const int last = l == levels - 1;
        yoke_status status = YOKE_OK;
        if (last || l > 0) status = factor_level(hierarchy, matrices[l], last ? INFINITY : operations);
        if (status || hierarchy->coarsest) return status;
        status = copy_level(&hierarchy->level[l], setup, l);
        if (status) return status;
    }
    return YOKE_OK;
}

static yoke_status make_levels(fem_hierarchy *hierarchy, amg_setup *setup)
{
    HYPRE_ParCSRMatrix matrix = NULL;
    HYPRE_IJMatrixGetObject(setup->entries, (void **)&matrix);
    HYPRE_BoomerAMGCreate(&setup->solver);
    yoke_status status = check_hypre(setup, "starting");
    if (status) return status;
    set_options(setup);
    HYPRE_BoomerAMGSetup(setup->solver, matrix, setup->par_vector[num_rotations], setup->par_vector[num_rotations + 1]);
    /* Some settings leave a harmless ARG flag behind; whether the levels are sound is checked as they are copied. */
    if (!HYPRE_CheckError(HYPRE_GetError(), HYPRE_ERROR_MEMORY)) HYPRE_ClearAllErrors();
    status = check_hypre(setup, "making levels");
    return status ? status : copy_levels(hierarchy, setup);
}

/* Over the largest diagonal entry, so that levels fit single precision in any units.  Errors: NUMERIC (one is not positive). */
static yoke_status find_scale(yoke_context *context, const fem_coarse_matrix *matrix, double *scale)
{
    const int m = matrix->components;
    double largest = 0.0;
    for (int32_t node = 0; node < matrix->num_nodes; node++) {
        double diagonal[3] = {0};
        for (int64_t entry = matrix->row_start[node]; entry < matrix->row_start[node + 1]; entry++) {
            if (matrix->column[entry] != node) continue;
            for (int i = 0; i < m; i++) diagonal[i] += matrix->value[(entry * m + i) * m + i];
        }
        for (int i = 0; i < m; i++) {
            if (!fem_coarse_is_free(matrix, node, i)) continue;
            if (!(diagonal[i] > 0.0)) {
                return yoke_fail(context, YOKE_ERROR_NUMERIC,
                                 "the coarse problem's matrix is not positive definite: component %d of node %d has the diagonal entry %g; "
                                 "a node that no element touches, or a material with a modulus that is zero or negative",
                                 i, (int)node, diagonal[i]);
            }
            largest = fmax(largest, diagonal[i]);
        }
    }
    *scale = 1.0 / largest;
    return YOKE_OK;
}

yoke_status fem_hierarchy_create(yoke_context *context, const fem_coarse_matrix *matrix, fem_hierarchy **result)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (!started || ended) {
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "algebraic multigrid needs MPI: call MPI_Init before, and MPI_Finalize after");
    }
    amg_setup setup = {.context = context, .matrix = matrix};
    yoke_status status = find_scale(context, matrix, &setup.scale);
    if (status) return status;
    fem_hierarchy *hierarchy = NULL;
    status = yoke_allocate(context, 1, sizeof *hierarchy, (void **)&hierarchy);
    if (status) return status;
    hierarchy->context = context;
    hierarchy->scale = setup.scale;
    HYPRE_Init();
    HYPRE_ClearAllErrors();
    status = make_matrix(&setup);
    if (!status) status = make_vectors(&setup);
    if (!status) status = make_levels(hierarchy, &setup);
    setup_destroy(&setup);
    if (!status) status = fem_hierarchy_prepare(hierarchy);
    if (status) {
        fem_hierarchy_destroy(hierarchy);
        return status;
    }
    *result = hierarchy;
    return YOKE_OK;
}

void fem_hierarchy_destroy(fem_hierarchy *hierarchy)
{
    if (!hierarchy) return;
    yoke_context *context = hierarchy->context;
    for (int l = 0; l < hierarchy->num_levels; l++) {
        fem_coarse_level *level = &hierarchy->level[l];
        fem_sparse_destroy(context, level->matrix);
        fem_sparse_destroy(context, level->prolong);
        fem_sparse_destroy(context, level->restriction);
        yoke_release(context, level->inverse_diagonal);
        yoke_release(context, level->x);
        yoke_release(context, level->b);
        yoke_release(context, level->residual);
        yoke_release(context, level->step);
    }
    fem_cholesky_destroy(hierarchy->coarsest);
    yoke_release(context, hierarchy->x);
    yoke_release(context, hierarchy->b);
    yoke_release(context, hierarchy);
}

int64_t fem_hierarchy_memory_bytes(const fem_hierarchy *hierarchy)
{
    int64_t bytes = fem_cholesky_memory_bytes(hierarchy->coarsest) + 2 * hierarchy->level[0].size * (int64_t)sizeof(double);
    for (int l = 0; l < hierarchy->num_levels; l++) {
        const fem_coarse_level *level = &hierarchy->level[l];
        bytes += 2 * level->size * (int64_t)sizeof(double);
        if (!level->matrix) continue;
        bytes += fem_sparse_memory_bytes(level->matrix) + fem_sparse_memory_bytes(level->prolong);
        bytes += fem_sparse_memory_bytes(level->restriction) + 3 * level->size * (int64_t)sizeof(double);
    }
    return bytes;
}
