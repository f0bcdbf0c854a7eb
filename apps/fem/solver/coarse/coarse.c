#include "solver/coarse/private.h"
#include "solver/direct/cholesky.h"

#include <math.h>

/* Has either cholesky or amg, or neither if no unknown is free. */
struct fem_coarse {
    yoke_context *context;
    int64_t size; /* num_nodes x components */
    int64_t num_free;
    int32_t *number; /* [size] number of a free unknown among the free ones; -1: prescribed */
    fem_cholesky *cholesky;
    fem_amg *amg;
};

/* -------------------------------------------------------------------------------------------------- checks */

static yoke_status check_row(yoke_context *context, const fem_coarse_matrix *matrix, int32_t node)
{
    const int64_t first = matrix->row_start[node], end = matrix->row_start[node + 1];
    const int square = matrix->components * matrix->components;
    if (end < first) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "coarse problem: row_start falls at node %d", (int)node);
    for (int64_t entry = first; entry < end; entry++) {
        if (matrix->column[entry] < 0 || matrix->column[entry] >= matrix->all_nodes) {
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "coarse problem: node %d has column %d, outside 0 to %d", (int)node,
                             (int)matrix->column[entry], (int)matrix->all_nodes - 1);
        }
    }
    for (int64_t i = first * square; i < end * square; i++) {
        if (!isfinite(matrix->value[i])) {
            return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                             "coarse problem: an entry of node %d is not a finite number: check the moduli and the elements' shapes",
                             (int)node);
        }
    }
    return YOKE_OK;
}

static yoke_status check(yoke_context *context, fem_coarse_method method, const fem_coarse_matrix *matrix)
{
    if (matrix->components != 1 && matrix->components != 3) {
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "coarse problem: 1 or 3 components, not %d", matrix->components);
    }
    if (method != FEM_COARSE_AMG && (matrix->ranks || (method != FEM_COARSE_AUTO && method != FEM_COARSE_CHOLMOD))) {
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "coarse problem: no method%s has the number %d",
                         matrix->ranks ? " on several ranks" : "", (int)method);
    }
    if (matrix->num_nodes < 0 || matrix->first_node < 0 || matrix->first_node + matrix->num_nodes > matrix->all_nodes ||
        matrix->all_nodes > INT32_MAX / matrix->components) {
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "coarse problem: %lld nodes are outside 0 to %d", (long long)matrix->all_nodes,
                         INT32_MAX / matrix->components);
    }
    const int arrays = matrix->column && matrix->value && matrix->prescribed && (matrix->x || matrix->components == 1);
    if (!matrix->row_start || matrix->row_start[0] != 0 || (matrix->num_nodes > 0 && !arrays)) {
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "coarse problem: an array is missing or row_start does not start at 0");
    }
    for (int32_t node = 0; node < matrix->num_nodes; node++) {
        yoke_status status = check_row(context, matrix, node);
        if (status) return status;
        for (int d = 0; matrix->x && d < 3; d++) {
            if (!isfinite(matrix->x[3 * (int64_t)node + d])) {
                return yoke_fail(context, YOKE_ERROR_ARGUMENT, "coarse problem: the position of node %d is not finite", (int)node);
            }
        }
    }
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------------- direct solver */

static fem_cholesky_graph graph_of(const fem_coarse_matrix *matrix)
{
    return (fem_cholesky_graph){.num_nodes = matrix->num_nodes,
                                .components = matrix->components,
                                .row_start = matrix->row_start,
                                .column = matrix->column,
                                .prescribed = matrix->prescribed};
}

static yoke_status make_direct(fem_coarse *coarse, const fem_coarse_matrix *matrix)
{
    const int square = matrix->components * matrix->components;
    const fem_cholesky_graph graph = graph_of(matrix);
    yoke_status status = coarse->cholesky ? YOKE_OK : fem_cholesky_analyze(coarse->context, &graph, &coarse->cholesky);
    if (!status) status = fem_cholesky_begin(coarse->cholesky, &graph);
    for (int32_t node = 0; !status && node < matrix->num_nodes; node++)
        for (int64_t entry = matrix->row_start[node]; entry < matrix->row_start[node + 1]; entry++)
            if (matrix->column[entry] <= node)
                fem_cholesky_add(coarse->cholesky, node, matrix->column[entry], matrix->value + entry * square);
    return status ? status : fem_cholesky_factorize(coarse->cholesky, 1);
}

/* Chooses by counts alone, so that the choice is the same on every machine.  If CHOLMOD is chosen, its analysis is kept. */
static yoke_status choose(fem_coarse *coarse, const fem_coarse_matrix *matrix, fem_coarse_method *method)
{
    const fem_cholesky_graph graph = graph_of(matrix);
    const double most = FEM_COARSE_OPERATIONS * (double)coarse->num_free;
    *method = coarse->num_free <= FEM_COARSE_DIRECT_LIMIT ? FEM_COARSE_CHOLMOD : FEM_COARSE_AMG;
    if (*method == FEM_COARSE_CHOLMOD || coarse->num_free > FEM_COARSE_ANALYSED_LIMIT) return YOKE_OK;
    yoke_status status = fem_cholesky_analyze(coarse->context, &graph, &coarse->cholesky);
    if (status) return status;
    if (fem_cholesky_get_cost(coarse->cholesky).operations <= most) {
        *method = FEM_COARSE_CHOLMOD;
    } else {
        fem_cholesky_destroy(coarse->cholesky);
        coarse->cholesky = NULL;
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ interface */

void fem_coarse_destroy(fem_coarse *coarse)
{
    if (!coarse) return;
    fem_cholesky_destroy(coarse->cholesky);
    fem_amg_destroy(coarse->amg);
    yoke_release(coarse->context, coarse->number);
    yoke_release(coarse->context, coarse);
}

static void number_free(fem_coarse *coarse, const fem_coarse_matrix *matrix)
{
    for (int64_t i = 0; i < coarse->size; i++) {
        const int is_free = fem_coarse_is_free(matrix, i / matrix->components, (int)(i % matrix->components));
        coarse->number[i] = is_free ? (int32_t)coarse->num_free++ : -1;
    }
}

static yoke_status make(fem_coarse *coarse, fem_coarse_method method, const fem_coarse_matrix *matrix)
{
    yoke_status status = yoke_allocate(coarse->context, coarse->size, sizeof *coarse->number, &coarse->number);
    if (!status) number_free(coarse, matrix);
    if (!status && method == FEM_COARSE_AUTO) status = choose(coarse, matrix, &method);
    double any = (double)coarse->num_free;
    status = app_ranks_agree(matrix->ranks, status);
    if (status) return status;
    app_ranks_max(matrix->ranks, &any, 1);
    if (!(any > 0)) return YOKE_OK;
    return method == FEM_COARSE_CHOLMOD ? make_direct(coarse, matrix) : fem_amg_create(coarse->context, matrix, &coarse->amg);
}

yoke_status fem_coarse_create(yoke_context *context, fem_coarse_method method, const fem_coarse_matrix *given, fem_coarse **result)
{
    fem_coarse *coarse = NULL;
    fem_coarse_matrix matrix = *given;
    if (!matrix.ranks) {
        matrix.first_node = 0;
        matrix.all_nodes = matrix.num_nodes;
    }
    yoke_status status = check(context, method, &matrix);
    if (!status) status = yoke_allocate(context, 1, sizeof *coarse, &coarse);
    status = app_ranks_agree(matrix.ranks, status);
    if (status) {
        yoke_release(context, coarse);
        return status;
    }
    coarse->context = context;
    coarse->size = (int64_t)matrix.num_nodes * matrix.components;
    status = make(coarse, method, &matrix);
    if (status)
        fem_coarse_destroy(coarse);
    else
        *result = coarse;
    return status;
}

yoke_status fem_coarse_solve(fem_coarse *coarse, const double *b, double *x)
{
    if (coarse->cholesky) return fem_cholesky_solve(coarse->cholesky, b, x);
    if (coarse->amg) return fem_amg_solve(coarse->amg, coarse->number, b, x);
    for (int64_t i = 0; i < coarse->size; i++) x[i] = 0.0;
    return YOKE_OK;
}

int fem_coarse_is_algebraic(const fem_coarse *coarse) { return coarse->amg != NULL; }

const char *fem_coarse_name(const fem_coarse *coarse)
{
    if (coarse->cholesky) return "cholmod";
    return coarse->amg ? "boomeramg" : "none";
}

int64_t fem_coarse_memory_bytes(const fem_coarse *coarse)
{
    int64_t bytes = coarse->size * (int64_t)sizeof *coarse->number;
    if (coarse->cholesky) bytes += fem_cholesky_memory_bytes(coarse->cholesky);
    if (coarse->amg) bytes += fem_amg_memory_bytes(coarse->amg);
    return bytes;
}
