/* multigrid_coarse.c - the last level's solver: a kept one, or its matrix is assembled for coarse.h. */
#include <stdlib.h>
#include <string.h>

#include "solver/multigrid_parts.h"

/* The matrix in block rows by nodes while element matrices are added. */
typedef struct assembly {
    const fem_space *space;
    int64_t *row_start;
    int32_t *column;
    double *value;
} assembly;

/* Nodes are neighbours when they share an element; each row's columns are found by visiting the row node's elements. */
typedef struct node_elements {
    int64_t *start;
    int32_t *element;
} node_elements;

static yoke_status list_elements(const fem_space *space, node_elements *list)
{
    yoke_context *context = space->context;
    int64_t entries = 8 * (int64_t)space->num_elements;
    yoke_status status = yoke_allocate(context, (int64_t)space->num_nodes + 2, sizeof(int64_t), (void **)&list->start);
    if (!status) status = yoke_allocate(context, entries, sizeof(int32_t), (void **)&list->element);
    if (status) return status;
    int64_t *next = list->start + 1;
    for (int64_t i = 0; i < entries; i++) next[space->element_nodes[i] + 1]++;
    for (int32_t i = 0; i < space->num_nodes; i++) next[i + 1] += next[i];
    for (int64_t i = 0; i < entries; i++) list->element[next[space->element_nodes[i]]++] = (int32_t)(i / 8);
    return YOKE_OK;
}

/* Columns of each row, as the elements show them; mark[node] = row + 1 when the node is in the row already. */
static int64_t fill_pattern(const fem_space *space, const node_elements *list, int32_t *mark, int64_t *row_start, int32_t *column)
{
    int64_t count = 0;
    memset(mark, 0, sizeof(int32_t) * (size_t)space->num_nodes);
    for (int32_t row = 0; row < space->num_nodes; row++) {
        row_start[row] = count;
        for (int64_t i = list->start[row]; i < list->start[row + 1]; i++) {
            const int32_t *nodes = space->element_nodes + 8 * (int64_t)list->element[i];
            for (int s = 0; s < 8; s++) {
                if (mark[nodes[s]] == row + 1) continue;
                mark[nodes[s]] = row + 1;
                if (column) column[count] = nodes[s];
                count++;
            }
        }
    }
    row_start[space->num_nodes] = count;
    return count;
}

static yoke_status make_pattern(assembly *a)
{
    yoke_context *context = a->space->context;
    node_elements list = {NULL, NULL};
    int32_t *mark = NULL;
    yoke_status status = list_elements(a->space, &list);
    if (!status) status = yoke_allocate(context, a->space->num_nodes, sizeof(int32_t), (void **)&mark);
    if (!status) status = yoke_allocate(context, (int64_t)a->space->num_nodes + 1, sizeof(int64_t), (void **)&a->row_start);
    if (!status) {
        int64_t count = fill_pattern(a->space, &list, mark, a->row_start, NULL);
        status = yoke_allocate(context, count, sizeof(int32_t), (void **)&a->column);
        if (!status) {
            fill_pattern(a->space, &list, mark, a->row_start, a->column);
            int n = a->space->components;
            status = yoke_allocate(context, count * n * n, sizeof(double), (void **)&a->value);
        }
    }
    yoke_release(context, list.start);
    yoke_release(context, list.element);
    yoke_release(context, mark);
    return status;
}

static void add_element(int32_t element, const double *packed, void *user)
{
    assembly *a = user;
    int n = a->space->components;
    const int32_t *nodes = a->space->element_nodes + 8 * (int64_t)element;
    for (int s = 0; s < 8; s++) {
        for (int t = 0; t < 8; t++) {
            int64_t at = a->row_start[nodes[s]];
            while (a->column[at] != nodes[t]) at++;
            double *block = a->value + at * n * n;
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    int row = s * n + i, column = t * n + j;
                    block[i * n + j] += row >= column ? packed[row * (row + 1) / 2 + column] : packed[column * (column + 1) / 2 + row];
                }
            }
        }
    }
}

static yoke_status add_elements(const multigrid_level *last, assembly *a)
{
    /* the level's own team works in single precision, too little for a factorisation */
    fem_part_options options = {.precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    fem_part *part;
    yoke_status status = fem_part_cpu_create(last->space, last->constraints, &options, &part);
    if (status) return status;
    status = part->call->visit_matrices(part, add_element, a);
    part->call->destroy(part);
    return status;
}

static yoke_status assemble_and_create(fem_multigrid *m, const multigrid_level *last)
{
    const fem_space *space = last->space;
    assembly a = {.space = space};
    yoke_status status = make_pattern(&a);
    if (!status) status = add_elements(last, &a);
    if (!status)
        status = fem_coarse_create(m->context, FEM_COARSE_AUTO, space->num_nodes, space->components, a.row_start, a.column, a.value,
                                   space->x, last->constraints->prescribed, &m->coarse);
    yoke_release(m->context, a.row_start);
    yoke_release(m->context, a.column);
    yoke_release(m->context, a.value);
    return status;
}

yoke_status multigrid_create_coarse(fem_multigrid *m)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    fem_coarse_keeper *keeper = m->options.keeper;
    if (!keeper) return assemble_and_create(m, last);
    m->coarse = fem_coarse_keeper_find(keeper, last->space, last->constraints);
    if (m->coarse) return YOKE_OK;
    yoke_status status = fem_coarse_keeper_start(keeper, last->space, last->constraints);
    if (!status) status = assemble_and_create(m, last);
    if (!status) fem_coarse_keeper_keep(keeper, m->coarse);
    return status;
}
