#include "solver/direct/cholesky.h"

#include <math.h>
#include <omp.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "solver/direct/blas_threads.h"

struct fem_cholesky {
    yoke_context *context;
    cholmod_common common;
    int components;
    int32_t num_nodes, num_active; /* active: at least one component is an unknown */
    uint8_t *unknown;              /* [num_nodes] bit i: component i is an unknown */
    int32_t *place;                /* [num_nodes] in the order of elimination; -1: not active */
    int64_t *first;                /* [num_active + 1] by place: the node's first unknown */
    fem_cholesky_cost cost;
    cholmod_sparse *matrix; /* lower triangle, rows ascending, in the order of elimination; NULL before begin and after factorize */
    cholmod_factor *factor;
    cholmod_dense *right, *solution, *work_y, *work_e; /* kept between solves */
};

/*
 * A pivot below this fraction of its diagonal entry is rounding error, and the matrix is singular.  The pivots of a constrained body are
 * larger, even if it is slender: 1e-8 for a plate whose thickness is a thousandth of its side, 1e-10 for steel on a block 1e8 times as
 * soft.
 */
static const double smallest_pivot = 1e-13;

/*
 * Up to this number of unknowns, minimum degree takes half the time of nested dissection and gives less fill-in; for more unknowns it gives
 * up to twice as much.
 */
enum { MINIMUM_DEGREE_UNKNOWNS = 3000 };
/* From this number of operations on, several BLAS threads are worth the time to start them. */
static const double many_operations = 2e9;
/*
 * CHOLMOD merges supernodes and stores their diagonal blocks as squares.  The factor therefore needs this many times the memory of its
 * entries.
 */
static const double supernodal_padding = 1.25;

void fem_cholesky_destroy(fem_cholesky *cholesky)
{
    if (!cholesky) return;
    cholmod_common *common = &cholesky->common;
    cholmod_l_free_sparse(&cholesky->matrix, common);
    cholmod_l_free_dense(&cholesky->right, common);
    cholmod_l_free_dense(&cholesky->solution, common);
    cholmod_l_free_dense(&cholesky->work_y, common);
    cholmod_l_free_dense(&cholesky->work_e, common);
    cholmod_l_free_factor(&cholesky->factor, common);
    cholmod_l_finish(common);
    yoke_release(cholesky->context, cholesky->unknown);
    yoke_release(cholesky->context, cholesky->place);
    yoke_release(cholesky->context, cholesky->first);
    yoke_release(cholesky->context, cholesky);
}

static yoke_status fail(fem_cholesky *cholesky)
{
    const int status = cholesky->common.status;
    const long long unknowns = (long long)cholesky->cost.unknowns;
    if (status == CHOLMOD_OUT_OF_MEMORY || status == CHOLMOD_TOO_LARGE) {
        return yoke_fail(cholesky->context, YOKE_ERROR_MEMORY,
                         "no memory for the Cholesky factor of %lld unknowns (some %.2g GB): use a coarser mesh, or another "
                         "solver.preconditioner",
                         unknowns, cholesky->cost.bytes * 1e-9);
    }
    return yoke_fail(cholesky->context, YOKE_ERROR_NUMERIC, "CHOLMOD could not factor a matrix of %lld unknowns (its status %d)", unknowns,
                     status);
}

static yoke_status fail_singular(fem_cholesky *cholesky)
{
    return yoke_fail(cholesky->context, YOKE_ERROR_NUMERIC,
                     "the matrix is not positive definite: the body, or a piece of it, is not constrained against rigid "
                     "motion (check the Dirichlet conditions), or a material or an element is bad (modulus, Poisson's ratio, shape)");
}

/* ------------------------------------------------------------------------------------------- order of elimination */

static int count_unknowns(unsigned unknown) { return (int)(unknown & 1) + (int)(unknown >> 1 & 1) + (int)(unknown >> 2 & 1); }

/* Numbers the active nodes in place[]. */
static void number_active(fem_cholesky *cholesky, const fem_cholesky_graph *graph)
{
    const unsigned all = (1u << graph->components) - 1;
    for (int32_t node = 0; node < graph->num_nodes; node++) {
        cholesky->unknown[node] = (uint8_t)(~graph->prescribed[node] & all);
        cholesky->place[node] = cholesky->unknown[node] ? cholesky->num_active++ : -1;
        cholesky->cost.unknowns += count_unknowns(cholesky->unknown[node]);
    }
}

/* Returns the pattern of the lower triangle of the active nodes' graph, without values. */
static cholmod_sparse *node_pattern(fem_cholesky *cholesky, const fem_cholesky_graph *graph)
{
    const int32_t *number = cholesky->place;
    cholmod_sparse *pattern = NULL;
    for (int fill = 0; fill < 2; fill++) {
        int64_t entries = 0;
        for (int32_t node = 0; node < graph->num_nodes; node++) {
            if (number[node] < 0) continue;
            if (fill) ((SuiteSparse_long *)pattern->p)[number[node]] = entries;
            for (int64_t i = graph->row_start[node]; i < graph->row_start[node + 1]; i++) {
                if (number[graph->column[i]] < number[node]) continue; /* or the column's node is not active */
                if (fill) ((SuiteSparse_long *)pattern->i)[entries] = number[graph->column[i]];
                entries++;
            }
        }
        const size_t n = (size_t)cholesky->num_active;
        if (!fill) pattern = cholmod_l_allocate_sparse(n, n, (size_t)entries, 0, 1, -1, CHOLMOD_PATTERN, &cholesky->common);
        if (!pattern) return NULL;
        if (fill) ((SuiteSparse_long *)pattern->p)[n] = entries;
    }
    return pattern;
}

static void set_ordering(cholmod_common *common, int ordering, int postorder, int supernodal)
{
    common->nmethods = 1;
    common->method[0].ordering = ordering;
    common->postorder = postorder;
    common->supernodal = supernodal;
}

/* A column of the nodes' factor stands for as many columns as its node has unknowns, and each of its entries for as many rows. */
static void predict_cost(fem_cholesky *cholesky, const cholmod_factor *nodes, int64_t pattern_entries)
{
    const SuiteSparse_long *count = nodes->ColCount;
    const double width = (double)cholesky->cost.unknowns / cholesky->num_active;
    double entries = 0, operations = 0;
    for (int32_t i = 0; i < cholesky->num_active; i++) {
        entries += (double)count[i];
        operations += (double)count[i] * (double)count[i];
    }
    cholesky->cost.entries = width * width * entries;
    cholesky->cost.operations = width * width * width * operations;
    cholesky->cost.bytes = 8 * supernodal_padding * cholesky->cost.entries + 16 * width * width * (double)pattern_entries;
}

/* Converts the order of the active nodes, which are numbered as in place[], to place[] and first[] in the order of elimination. */
static void number_unknowns(fem_cholesky *cholesky, const SuiteSparse_long *order, int32_t *place_of)
{
    for (int32_t i = 0; i < cholesky->num_active; i++) place_of[order[i]] = i;
    for (int32_t node = 0; node < cholesky->num_nodes; node++) {
        if (cholesky->place[node] < 0) continue;
        cholesky->place[node] = place_of[cholesky->place[node]];
        cholesky->first[cholesky->place[node] + 1] = count_unknowns(cholesky->unknown[node]);
    }
    for (int32_t i = 0; i < cholesky->num_active; i++) cholesky->first[i + 1] += cholesky->first[i];
}

static yoke_status order_nodes(fem_cholesky *cholesky, const fem_cholesky_graph *graph)
{
    cholmod_common *common = &cholesky->common;
    int32_t *place_of = NULL;
    cholmod_sparse *pattern = node_pattern(cholesky, graph);
    cholmod_factor *nodes = NULL;
    set_ordering(common, cholesky->cost.unknowns <= MINIMUM_DEGREE_UNKNOWNS ? CHOLMOD_AMD : CHOLMOD_METIS, 1, CHOLMOD_SIMPLICIAL);
    if (pattern) nodes = cholmod_l_analyze(pattern, common);
    yoke_status status = nodes ? YOKE_OK : fail(cholesky);
    if (!status) status = yoke_allocate(cholesky->context, (int64_t)cholesky->num_active + 1, sizeof(int64_t), &cholesky->first);
    if (!status) status = yoke_allocate(cholesky->context, cholesky->num_active, sizeof *place_of, &place_of);
    if (!status) {
        predict_cost(cholesky, nodes, ((SuiteSparse_long *)pattern->p)[cholesky->num_active]);
        number_unknowns(cholesky, nodes->Perm, place_of);
    }
    yoke_release(cholesky->context, place_of);
    cholmod_l_free_factor(&nodes, common);
    cholmod_l_free_sparse(&pattern, common);
    return status;
}

yoke_status fem_cholesky_analyze(yoke_context *context, const fem_cholesky_graph *graph, fem_cholesky **result)
{
    fem_cholesky *cholesky = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *cholesky, &cholesky);
    if (status) return status;
    cholesky->context = context;
    cholesky->components = graph->components;
    cholesky->num_nodes = graph->num_nodes;
    cholmod_common *common = &cholesky->common;
    cholmod_l_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->final_ll = 1;
    common->quick_return_if_not_posdef = 1;
    status = yoke_allocate(context, graph->num_nodes, sizeof *cholesky->unknown, &cholesky->unknown);
    if (!status) status = yoke_allocate(context, graph->num_nodes, sizeof *cholesky->place, &cholesky->place);
    if (!status) number_active(cholesky, graph);
    if (!status && cholesky->num_active) status = order_nodes(cholesky, graph);
    if (status)
        fem_cholesky_destroy(cholesky);
    else
        *result = cholesky;
    return status;
}

fem_cholesky_cost fem_cholesky_get_cost(const fem_cholesky *cholesky) { return cholesky->cost; }

/* ------------------------------------------------------------------------------------------------------- the matrix */

/*
 * For each place: the places of the node itself and of its later neighbours, ascending.  Each node is entered in the lists of the nodes
 * before it.
 */
typedef struct later_neighbours {
    int64_t *start;
    int32_t *place;
} later_neighbours;

static yoke_status list_later(const fem_cholesky *cholesky, const fem_cholesky_graph *graph, const int32_t *node_at,
                              later_neighbours *later)
{
    const int32_t *place = cholesky->place;
    yoke_status status = yoke_allocate(cholesky->context, (int64_t)cholesky->num_active + 2, sizeof(int64_t), &later->start);
    if (status) return status;
    int64_t *next = later->start + 1;
    for (int fill = 0; fill < 2 && !status; fill++) {
        for (int32_t p = 0; p < cholesky->num_active; p++) {
            for (int64_t i = graph->row_start[node_at[p]]; i < graph->row_start[node_at[p] + 1]; i++) {
                const int32_t before = place[graph->column[i]];
                if (before < 0 || before > p) continue;
                if (fill)
                    later->place[next[before]++] = p;
                else
                    next[before + 1]++;
            }
        }
        if (fill) break;
        for (int32_t p = 0; p < cholesky->num_active; p++) next[p + 1] += next[p];
        status = yoke_allocate_untouched(cholesky->context, next[cholesky->num_active], sizeof(int32_t), &later->place);
    }
    return status;
}

/* Fills the columns of the node at place p.  Their rows are the unknowns of all later neighbours, except those above the diagonal. */
static int64_t fill_columns(const fem_cholesky *cholesky, const later_neighbours *later, int32_t p, SuiteSparse_long *start,
                            SuiteSparse_long *row, int64_t end)
{
    const int64_t *first = cholesky->first;
    for (int64_t column = first[p]; column < first[p + 1]; column++) {
        start[column] = end;
        for (int64_t i = later->start[p]; i < later->start[p + 1]; i++)
            for (int64_t r = first[later->place[i]]; r < first[later->place[i] + 1]; r++)
                if (r >= column) row[end++] = r;
    }
    return end;
}

static yoke_status allocate_matrix(fem_cholesky *cholesky, const later_neighbours *later)
{
    const int64_t *first = cholesky->first, unknowns = cholesky->cost.unknowns;
    size_t entries = 0;
    for (int32_t p = 0; p < cholesky->num_active; p++) {
        const size_t width = (size_t)(first[p + 1] - first[p]);
        size_t rows = 0;
        for (int64_t i = later->start[p]; i < later->start[p + 1]; i++)
            rows += (size_t)(first[later->place[i] + 1] - first[later->place[i]]);
        entries += width * rows - width * (width - 1) / 2;
    }
    cholmod_sparse *matrix =
        cholmod_l_allocate_sparse((size_t)unknowns, (size_t)unknowns, entries, 1, 1, -1, CHOLMOD_REAL, &cholesky->common);
    if (!matrix) return fail(cholesky);
    cholesky->matrix = matrix;
    SuiteSparse_long *start = matrix->p;
    int64_t end = 0;
    for (int32_t p = 0; p < cholesky->num_active; p++) end = fill_columns(cholesky, later, p, start, matrix->i, end);
    start[unknowns] = end;
    memset(matrix->x, 0, entries * sizeof(double));
    return YOKE_OK;
}

/* Lets CHOLMOD count the factor's entries and operations for the order that was found.  The order no longer changes. */
static yoke_status count_exactly(fem_cholesky *cholesky)
{
    cholmod_common *common = &cholesky->common;
    set_ordering(common, CHOLMOD_NATURAL, 0, CHOLMOD_SUPERNODAL);
    cholesky->factor = cholmod_l_analyze(cholesky->matrix, common);
    if (!cholesky->factor) return fail(cholesky);
    const cholmod_factor *factor = cholesky->factor;
    cholesky->cost.operations = common->fl;
    cholesky->cost.entries = common->lnz;
    cholesky->cost.bytes =
        8.0 * ((double)factor->xsize + (double)factor->ssize + (double)factor->maxcsize) + 16.0 * (double)cholesky->matrix->nzmax;
    return YOKE_OK;
}

yoke_status fem_cholesky_begin(fem_cholesky *cholesky, const fem_cholesky_graph *graph)
{
    yoke_context *context = cholesky->context;
    later_neighbours later = {NULL, NULL};
    int32_t *node_at = NULL;
    if (!cholesky->num_active) return YOKE_OK;
    yoke_status status = yoke_allocate(context, cholesky->num_active, sizeof *node_at, &node_at);
    if (!status) {
        for (int32_t node = 0; node < cholesky->num_nodes; node++)
            if (cholesky->place[node] >= 0) node_at[cholesky->place[node]] = node;
        status = list_later(cholesky, graph, node_at, &later);
    }
    if (!status) status = allocate_matrix(cholesky, &later);
    yoke_release(context, node_at);
    yoke_release(context, later.start);
    yoke_release(context, later.place);
    return status ? status : count_exactly(cholesky);
}

/* Returns the position of a row in a column that has an entry there. */
static int64_t find_row(const SuiteSparse_long *row, int64_t begin, int64_t end, int64_t wanted)
{
    while (end - begin > 1) {
        const int64_t middle = begin + (end - begin) / 2;
        if (row[middle] <= wanted)
            begin = middle;
        else
            end = middle;
    }
    return begin;
}

void fem_cholesky_add(fem_cholesky *cholesky, int32_t row, int32_t column, const double *block)
{
    const int n = cholesky->components;
    if (cholesky->place[row] < 0 || cholesky->place[column] < 0) return;
    const int across = cholesky->place[row] < cholesky->place[column]; /* true if the transpose of the block lies in the lower triangle */
    const int32_t below = across ? column : row, left = across ? row : column;
    const int64_t first_column = cholesky->first[cholesky->place[left]], first_row = cholesky->first[cholesky->place[below]];
    const SuiteSparse_long *start = cholesky->matrix->p;
    double *value = cholesky->matrix->x;
    const int64_t at = find_row(cholesky->matrix->i, start[first_column], start[first_column + 1], first_row) - start[first_column];
    for (int j = 0, q = 0; j < n; j++) {
        if (!(cholesky->unknown[left] >> j & 1)) continue;
        double *to = value + start[first_column + q] + at - q; /* each further column of a node begins one row lower */
        for (int i = 0, p = 0; i < n; i++) {
            if (!(cholesky->unknown[below] >> i & 1)) continue;
            if (below != left || p >= q) to[p] += across ? block[j * n + i] : block[i * n + j];
            p++;
        }
        q++;
    }
}

/* -------------------------------------------------------------------------------------------------------- the factor */

/* Copies the diagonal to cholesky->right, for the check of the pivots. */
static yoke_status keep_diagonal(fem_cholesky *cholesky)
{
    const size_t rows = (size_t)cholesky->cost.unknowns;
    const SuiteSparse_long *start = cholesky->matrix->p;
    const double *value = cholesky->matrix->x;
    cholesky->right = cholmod_l_allocate_dense(rows, 1, rows, CHOLMOD_REAL, &cholesky->common);
    if (!cholesky->right) return fail(cholesky);
    for (size_t i = 0; i < rows; i++) ((double *)cholesky->right->x)[i] = value[start[i]];
    return YOKE_OK;
}

/*
 * Returns nonzero if each pivot of the supernodal factor is a number and exceeds the rounding error of the diagonal entry in
 * cholesky->right.
 */
static int pivots_are_sound(const fem_cholesky *cholesky)
{
    const cholmod_factor *factor = cholesky->factor;
    const SuiteSparse_long *first = factor->super, *rows = factor->pi, *place = factor->px;
    const double *value = factor->x, *diagonal = cholesky->right->x;
    for (size_t s = 0; s < factor->nsuper; s++) {
        const SuiteSparse_long stride = rows[s + 1] - rows[s];
        for (SuiteSparse_long column = first[s]; column < first[s + 1]; column++) {
            const double root = value[place[s] + (column - first[s]) * (stride + 1)];
            if (!(root * root > smallest_pivot * diagonal[column])) return 0;
        }
    }
    return 1;
}

/*
 * CHOLMOD divides the copying of a handful of rows among as many threads as it was built for (four in Debian), whatever the number of
 * cores.  On two cores, three quarters of the time went into that.  With zero active levels of parallelism CHOLMOD stays on this thread,
 * and so does a BLAS that uses OpenMP.
 */
static void run_cholmod(fem_cholesky *cholesky, int threads)
{
    const int levels = omp_get_max_active_levels(), shared = threads > 1 && cholesky->cost.operations > many_operations;
    omp_set_max_active_levels(0);
    if (shared) fem_blas_set_threads(threads);
    cholmod_l_factorize(cholesky->matrix, cholesky->factor, &cholesky->common);
    if (shared) fem_blas_set_threads(1);
    omp_set_max_active_levels(levels);
}

yoke_status fem_cholesky_factorize(fem_cholesky *cholesky, int threads)
{
    if (!cholesky->num_active) return YOKE_OK;
    yoke_status status = keep_diagonal(cholesky);
    if (status) return status;
    run_cholmod(cholesky, threads);
    cholmod_l_free_sparse(&cholesky->matrix, &cholesky->common);
    if (cholesky->common.status < CHOLMOD_OK) return fail(cholesky);
    if (cholesky->factor->minor < cholesky->factor->n || !pivots_are_sound(cholesky)) return fail_singular(cholesky);
    return YOKE_OK;
}

yoke_status fem_cholesky_solve(fem_cholesky *cholesky, const double *b, double *x)
{
    const int n = cholesky->components;
    double *right = cholesky->num_active ? cholesky->right->x : NULL;
    for (int32_t node = 0; node < cholesky->num_nodes; node++) {
        if (cholesky->place[node] < 0) continue;
        double *to = right + cholesky->first[cholesky->place[node]];
        for (int i = 0; i < n; i++)
            if (cholesky->unknown[node] >> i & 1) *to++ = b[(int64_t)node * n + i];
    }
    if (cholesky->num_active) {
        const int done = cholmod_l_solve2(CHOLMOD_A, cholesky->factor, cholesky->right, NULL, &cholesky->solution, NULL, &cholesky->work_y,
                                          &cholesky->work_e, &cholesky->common);
        if (!done || !cholesky->solution) return fail(cholesky);
    }
    const double *solution = cholesky->num_active ? cholesky->solution->x : NULL;
    for (int32_t node = 0; node < cholesky->num_nodes; node++) {
        const double *from = cholesky->place[node] < 0 ? NULL : solution + cholesky->first[cholesky->place[node]];
        for (int i = 0; i < n; i++) x[(int64_t)node * n + i] = cholesky->unknown[node] >> i & 1 ? *from++ : 0.0;
    }
    return YOKE_OK;
}

int64_t fem_cholesky_memory_bytes(const fem_cholesky *cholesky)
{
    return (int64_t)cholesky->common.memory_inuse + 5 * (int64_t)cholesky->num_nodes + 8 * (int64_t)cholesky->num_active;
}
