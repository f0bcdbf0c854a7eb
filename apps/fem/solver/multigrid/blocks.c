#include "solver/multigrid/blocks.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "operator/kernels/smoother.h"
#include "operator/subdomain/subdomain.h"
#include "solver/direct/direct.h"
#include "solver/multigrid/couplings.h"

enum { LANES = FEM_BLOCK_LANES };

/* Blocks of the same structure: `lanes` of them, 1 or LANES, of which the first `count` exist. */
typedef struct block_group {
    int32_t lanes, count, rows; /* rows: dofs of each block */
    const int32_t *first;       /* [rows] first column of each row's profile */
    int64_t node_begin;         /* in `node`: [lanes][rows / components], lane by lane; no nodes are stored for absent lanes */
    int64_t value_begin;        /* in `value`: the entries of each row from its first column to the diagonal, [entry][lanes] */
} block_group;

struct multigrid_blocks {
    yoke_context *context;
    int components;
    int32_t num_groups, most_rows;
    block_group *group;
    int64_t num_first, num_values;
    int32_t *first; /* profiles, one per group */
    int32_t *node;  /* [num_nodes] block by block */
    multigrid_reach *reach;
    int32_t num_nodes; /* of the reach; nodes of blocks that other ranks solve are in no block here */
    float *value;      /* the factors, with the inverse of the diagonal in place of the diagonal */
    const fem_smoother_functions *kernels;
    int threads;
    float *work; /* [threads][LANES][most_rows] */
};

/* --------------------------------------------------------------------------------------------------- structure */

/* Lowers the profiles for each pair of the given nodes of one element that are in the same block. */
static void lower_profiles(const multigrid_partition *p, int count, const int32_t *nodes, int32_t *first)
{
    for (int s = 0; s < count; s++) {
        const int32_t block = p->block[nodes[s]];
        if (block < 0) continue;
        int32_t *of = first + p->begin[block] + p->place[nodes[s]];
        for (int t = 0; t < count; t++)
            if (p->block[nodes[t]] == block && p->place[nodes[t]] < *of) *of = p->place[nodes[t]];
    }
}

/* Lists the independent nodes of an element; returns their number. */
static int list_nodes(const fem_space *space, int32_t element, int32_t nodes[27])
{
    int count = 0;
    for (int s = 0; s < space->slots; s++) {
        const int32_t node = space->element_nodes[space->slots * (int64_t)element + s];
        if (node >= 0) nodes[count++] = node;
    }
    return count;
}

static int list_piece(const multigrid_piece *piece, int32_t nodes[27])
{
    for (int i = 0; i < piece->count; i++) nodes[i] = (int32_t)piece->node[i];
    return piece->count;
}

/* first [as p->node]: lowest place of a node of the same block that shares an element with the node. */
static void find_profiles(const multigrid_reach *reach, const multigrid_partition *p, int32_t *first)
{
    int32_t nodes[27];
    for (int32_t i = 0; i < p->begin[p->num_blocks]; i++) first[i] = p->place[p->node[i]];
    for (int32_t e = 0; e < reach->space->num_elements; e++) lower_profiles(p, list_nodes(reach->space, e, nodes), nodes, first);
    for (int64_t i = 0; i < reach->num_pieces; i++) lower_profiles(p, list_piece(&reach->piece[i], nodes), nodes, first);
}

/* A block, for sorting by structure: blocks of equal structure become adjacent. */
typedef struct structure {
    const int32_t *first; /* [nodes] the profile */
    int32_t nodes, block;
} structure;

/*
 * Blocks whose rows are longer than this are processed one at a time: such a row is long enough for vector operations along it, and sixteen
 * matrices at once would not fit into the processor's caches.
 */
static const int64_t long_row = 64;

static int has_long_rows(const structure *of, int components)
{
    int64_t entries = 0;
    for (int32_t i = 0; i < of->nodes; i++) entries += i - of->first[i] + 1;
    return components * entries > long_row * of->nodes;
}

static int compare_structures(const structure *a, const structure *b)
{
    if (a->nodes != b->nodes) return a->nodes < b->nodes ? -1 : 1;
    return memcmp(a->first, b->first, sizeof *a->first * (size_t)a->nodes);
}

static int compare_blocks(const void *a, const void *b)
{
    const structure *x = a, *y = b;
    const int order = compare_structures(x, y);
    return order ? order : (x->block > y->block) - (x->block < y->block);
}

/* The group of a block and its lane in the group. */
typedef struct block_place {
    int32_t group, lane;
} block_place;

/* Makes the group of the blocks of[0 .. count - 1], which have the same structure. */
static void add_group(multigrid_blocks *b, const multigrid_partition *p, const structure *of, int32_t count, int64_t *node_at,
                      block_place *places)
{
    const int n = b->components;
    int32_t *first = b->first + b->num_first;
    block_group *group = &b->group[b->num_groups];
    *group = (block_group){.lanes = count > 1 ? LANES : 1,
                           .count = count,
                           .rows = of->nodes * n,
                           .first = first,
                           .node_begin = *node_at,
                           .value_begin = b->num_values};
    int64_t entries = 0;
    for (int32_t row = 0; row < group->rows; row++) {
        first[row] = of->first[row / n] * n;
        entries += row - first[row] + 1;
    }
    for (int32_t lane = 0; lane < count; lane++) {
        memcpy(b->node + *node_at, p->node + p->begin[of[lane].block], sizeof *b->node * (size_t)of->nodes);
        places[of[lane].block] = (block_place){b->num_groups, lane};
        *node_at += of->nodes;
    }
    if (group->rows > b->most_rows) b->most_rows = group->rows;
    b->num_first += group->rows;
    b->num_values += entries * group->lanes;
    b->num_groups++;
}

static yoke_status make_groups(multigrid_blocks *b, const multigrid_partition *p, const int32_t *first, block_place *places)
{
    yoke_context *context = b->context;
    structure *of = NULL;
    int64_t node_at = 0;
    yoke_status status = yoke_allocate_untouched(context, p->num_blocks, sizeof *of, &of);
    if (!status) status = yoke_allocate(context, p->num_blocks, sizeof *b->group, &b->group);
    if (!status) status = yoke_allocate_untouched(context, (int64_t)b->num_nodes * b->components, sizeof *b->first, &b->first);
    if (!status) status = yoke_allocate_untouched(context, b->num_nodes, sizeof *b->node, &b->node);
    if (!status) {
        for (int32_t i = 0; i < p->num_blocks; i++) of[i] = (structure){first + p->begin[i], p->begin[i + 1] - p->begin[i], i};
        qsort(of, (size_t)p->num_blocks, sizeof *of, compare_blocks);
        for (int32_t i = 0, end; i < p->num_blocks; i = end) {
            for (end = i + 1; end < p->num_blocks && end - i < LANES && !compare_structures(&of[i], &of[end]);) end++;
            /* many empty lanes would cost more than the common lanes save */
            if (end - i < LANES / 2 || has_long_rows(&of[i], b->components)) end = i + 1;
            add_group(b, p, of + i, end - i, &node_at, places);
        }
    }
    yoke_release(context, of);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- matrices */

typedef struct assembly {
    const multigrid_blocks *blocks;
    const multigrid_partition *p;
    const block_place *places;
    const int64_t *row_at; /* for each group's rows, like `first`: where column 0 would be among the group's values */
    /* Groups of this portion, and their values. */
    int32_t begin, end;
    double *value;
} assembly;

static double *entry(const assembly *a, const block_group *group, int lane, int32_t row, int32_t column)
{
    const int64_t at = a->row_at[group->first - a->blocks->first + row] + column;
    return a->value + (group->value_begin - a->blocks->group[a->begin].value_begin) + at * group->lanes + lane;
}

static void add_matrix(const assembly *a, int count, const int32_t *nodes, const double *packed)
{
    const int n = a->blocks->components;
    for (int s = 0; s < count; s++) {
        const int32_t block = a->p->block[nodes[s]], place = a->p->place[nodes[s]];
        if (block < 0) continue;
        const block_place at = a->places[block];
        if (at.group < a->begin || at.group >= a->end) continue;
        const block_group *group = &a->blocks->group[at.group];
        for (int t = 0; t < count; t++) {
            if (a->p->block[nodes[t]] != block || a->p->place[nodes[t]] > place) continue;
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    const int row = s * n + i, column = t * n + j;
                    const int32_t to_row = place * n + i, to_column = a->p->place[nodes[t]] * n + j;
                    if (to_column > to_row) continue;
                    *entry(a, group, at.lane, to_row, to_column) +=
                        row >= column ? packed[row * (row + 1) / 2 + column] : packed[column * (column + 1) / 2 + row];
                }
            }
        }
    }
}

static void add_element(int32_t element, const double *packed, void *user)
{
    const assembly *a = user;
    int32_t nodes[27];
    add_matrix(a, list_nodes(a->blocks->reach->space, element, nodes), nodes, packed);
}

static void add_pieces(const assembly *a)
{
    const multigrid_reach *reach = a->blocks->reach;
    int32_t nodes[27];
    for (int64_t i = 0; i < reach->num_pieces; i++) add_matrix(a, list_piece(&reach->piece[i], nodes), nodes, reach->piece[i].packed);
}

static int64_t value_end(const multigrid_blocks *b, int32_t group)
{
    return group + 1 < b->num_groups ? b->group[group + 1].value_begin : b->num_values;
}

/* Replaces prescribed rows and columns, and those of absent lanes, by those of the identity. */
static void prescribe(const assembly *a, const block_group *group)
{
    const multigrid_blocks *b = a->blocks;
    const int n = b->components;
    const int32_t *node = b->node + group->node_begin;
    for (int lane = 0; lane < group->lanes; lane++) {
        for (int32_t row = 0; row < group->rows; row++) {
            const int constrained = lane >= group->count || b->reach->prescribed[node[lane * (group->rows / n) + row / n]] >> row % n & 1;
            for (int32_t column = group->first[row]; column <= row; column++) {
                const int other =
                    lane >= group->count || b->reach->prescribed[node[lane * (group->rows / n) + column / n]] >> column % n & 1;
                if (constrained || other) *entry(a, group, lane, row, column) = row == column;
            }
        }
    }
}

/* Factors the portion, and stores the factors in single precision. */
static yoke_status factorize_portion(const assembly *a)
{
    const multigrid_blocks *b = a->blocks;
    int sound = 1;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : sound)
    for (int32_t g = a->begin; g < a->end; g++) {
        const block_group *group = &b->group[g];
        const int64_t values = value_end(b, g) - group->value_begin;
        double *value = a->value + (group->value_begin - b->group[a->begin].value_begin);
        prescribe(a, group);
        sound = b->kernels->factorize(group->rows, group->lanes, group->first, a->row_at + (group->first - b->first), value) && sound;
        for (int64_t i = 0; i < values; i++) b->value[group->value_begin + i] = (float)value[i];
    }
    if (sound) return YOKE_OK;
    return yoke_fail(b->context, YOKE_ERROR_NUMERIC,
                     "a block of the multigrid's smoother is not positive definite: a material or an element is bad (modulus, Poisson's "
                     "ratio, shape), or elements are stretched beyond what double precision can tell");
}

static void place_rows(const multigrid_blocks *b, int64_t *row_at)
{
    for (int32_t g = 0; g < b->num_groups; g++) {
        const block_group *group = &b->group[g];
        int64_t at = 0, *to = row_at + (group->first - b->first);
        for (int32_t i = 0; i < group->rows; i++) {
            to[i] = at - group->first[i];
            at += i - group->first[i] + 1;
        }
    }
}

/*
 * Matrices are assembled in double precision.  If rows are long they are assembled in portions of this many values (or of one group), to
 * keep the memory that is needed besides the factors small.  The element matrices are recomputed for each portion, which then costs little.
 */
static int64_t portion_values(const multigrid_blocks *b)
{
    const int64_t least = 1 << 22, part = b->num_values / 8;
    if (b->num_values <= long_row * b->num_nodes * b->components) return b->num_values;
    return part > least ? part : least;
}

static yoke_status make_portions(assembly *a, fem_subdomain *subdomain)
{
    const multigrid_blocks *b = a->blocks;
    const int64_t most = portion_values(b);
    yoke_status status = YOKE_OK;
    for (a->begin = 0; a->begin < b->num_groups && !status; a->begin = a->end) {
        const int64_t first = b->group[a->begin].value_begin;
        a->end = a->begin + 1;
        while (a->end < b->num_groups && value_end(b, a->end) - first <= most) a->end++;
        status = yoke_allocate(b->context, value_end(b, a->end - 1) - first, sizeof *a->value, &a->value);
        if (!status) status = subdomain->call->visit_matrices(subdomain, add_element, a);
        if (!status) add_pieces(a);
        if (!status) status = factorize_portion(a);
        yoke_release(b->context, a->value);
        a->value = NULL;
    }
    return status;
}

static yoke_status make_factors(multigrid_blocks *b, fem_subdomain *subdomain, const multigrid_partition *p, const block_place *places)
{
    int64_t *row_at = NULL;
    yoke_status status = yoke_allocate_untouched(b->context, b->num_first, sizeof *row_at, &row_at);
    if (!status) status = yoke_allocate_untouched(b->context, b->num_values, sizeof *b->value, &b->value);
    if (!status) {
        assembly a = {.blocks = b, .p = p, .places = places, .row_at = row_at};
        place_rows(b, row_at);
        status = make_portions(&a, subdomain);
    }
    yoke_release(b->context, row_at);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- creation */

/* Fraction of the available memory that factors of wide blocks may use. */
static const double memory_share = 0.5;

/* Makes the blocks that this rank solves. */
static yoke_status make_blocks(multigrid_blocks *b, fem_subdomain *subdomain)
{
    yoke_context *context = b->context;
    multigrid_partition p;
    int32_t *first = NULL;
    block_place *places = NULL;
    b->num_nodes = b->reach->num_nodes;
    yoke_status status = multigrid_partition_create(b->reach, memory_share * fem_direct_left_bytes(context, 0), &p);
    if (!status) status = yoke_allocate_untouched(context, b->num_nodes, sizeof *first, &first);
    if (!status) status = yoke_allocate_untouched(context, p.num_blocks, sizeof *places, &places);
    if (!status) {
        find_profiles(b->reach, &p, first);
        status = make_groups(b, &p, first, places);
    }
    if (!status) status = make_factors(b, subdomain, &p, places);
    if (!status) status = yoke_allocate_untouched(context, (int64_t)b->threads * LANES * b->most_rows, sizeof *b->work, &b->work);
    multigrid_partition_release(context, &p);
    yoke_release(context, first);
    yoke_release(context, places);
    return status;
}

static yoke_status setup(multigrid_blocks *b, const fem_space *space, const fem_constraints *constraints)
{
    const fem_subdomain_options options = {.precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    fem_subdomain *subdomain = NULL;
    yoke_status status = app_ranks_agree(space->ranks, fem_subdomain_cpu_create(space, constraints, &options, &subdomain));
    if (!status) status = multigrid_reach_create(space, constraints, subdomain, &b->reach);
    if (!status) status = app_ranks_agree(space->ranks, make_blocks(b, subdomain));
    if (!status) multigrid_reach_release_pieces(b->reach);
    if (subdomain) subdomain->call->destroy(subdomain);
    return status;
}

yoke_status multigrid_blocks_create(const fem_space *space, const fem_constraints *constraints, multigrid_blocks **out)
{
    multigrid_blocks *b = NULL;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate(space->context, 1, sizeof *b, &b));
    if (status) {
        yoke_release(space->context, b);
        return status;
    }
    b->context = space->context;
    b->components = space->components;
    b->kernels = &fem_kernels_select()->smoother[FEM_SINGLE];
    b->threads = omp_get_max_threads();
    status = setup(b, space, constraints);
    if (status)
        multigrid_blocks_destroy(b);
    else
        *out = b;
    return status;
}

void multigrid_blocks_destroy(multigrid_blocks *b)
{
    if (!b) return;
    void *arrays[] = {b->group, b->first, b->node, b->value, b->work};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(b->context, arrays[i]);
    multigrid_reach_destroy(b->reach);
    yoke_release(b->context, b);
}

void multigrid_blocks_size(const multigrid_blocks *b, double *entries, double *operations)
{
    *entries = (double)b->num_values;
    *operations = 0;
    for (int32_t g = 0; g < b->num_groups; g++) {
        const block_group *group = &b->group[g];
        for (int32_t row = 0; row < group->rows; row++) {
            const double length = row - group->first[row] + 1;
            *operations += length * length * group->lanes;
        }
    }
}

int64_t multigrid_blocks_memory_bytes(const multigrid_blocks *b)
{
    return b->num_values * (int64_t)sizeof *b->value + b->num_first * (int64_t)sizeof *b->first +
           b->num_groups * (int64_t)sizeof *b->group + b->num_nodes * (int64_t)sizeof *b->node + multigrid_reach_memory_bytes(b->reach) +
           b->threads * (int64_t)LANES * b->most_rows * (int64_t)sizeof *b->work;
}

/* ------------------------------------------------------------------------------------------------------- solve */

/* These two functions copy to and from the lanes of x [rows][lanes]. */
static void gather(const multigrid_blocks *b, const block_group *group, const double *r, float *x)
{
    const int n = b->components, lanes = group->lanes;
    const int32_t nodes = group->rows / n;
    for (int l = 0; l < lanes; l++) {
        const int32_t *node = b->node + group->node_begin + (int64_t)l * nodes;
        float *to = x + l;
        for (int32_t i = 0; i < nodes; i++)
            for (int c = 0; c < n; c++, to += lanes)
                *to = l >= group->count || b->reach->prescribed[node[i]] >> c & 1 ? 0 : (float)r[(int64_t)node[i] * n + c];
    }
}

static void scatter(const multigrid_blocks *b, const block_group *group, const float *x, double c, double *z)
{
    const int n = b->components, lanes = group->lanes;
    const int32_t nodes = group->rows / n;
    for (int l = 0; l < group->count; l++) {
        const int32_t *node = b->node + group->node_begin + (int64_t)l * nodes;
        const float *from = x + l;
        for (int32_t i = 0; i < nodes; i++)
            for (int k = 0; k < n; k++, from += lanes) z[(int64_t)node[i] * n + k] = c * (double)*from;
    }
}

static void solve_groups(const multigrid_blocks *b, double c, const double *r, double *z)
{
#pragma omp parallel for schedule(dynamic, 16) num_threads(b->threads)
    for (int32_t g = 0; g < b->num_groups; g++) {
        const block_group *group = &b->group[g];
        float *x = b->work + (int64_t)omp_get_thread_num() * LANES * b->most_rows;
        gather(b, group, r, x);
        b->kernels->substitute(group->rows, group->lanes, group->first, b->value + group->value_begin, x);
        scatter(b, group, x, c, z);
    }
}

void multigrid_blocks_solve(const multigrid_blocks *b, double c, const double *r, double *z)
{
    double *all = b->reach->all;
    if (!all) {
        solve_groups(b, c, r, z);
        return;
    }
    multigrid_reach_collect(b->reach, r);
    solve_groups(b, c, all, all);
    multigrid_reach_spread(b->reach, z);
}

void multigrid_blocks_add_sent(const multigrid_blocks *b, int64_t *messages, int64_t *bytes)
{
    *messages += b->reach->num_messages;
    *bytes += b->reach->num_bytes;
}
