#include "solver/direct/node_graph.h"

#include <string.h>

/* The elements of each node. */
typedef struct node_elements {
    int64_t *start;
    int32_t *element;
} node_elements;

static yoke_status list_elements(const fem_space *space, node_elements *list)
{
    const int64_t entries = (int64_t)space->slots * space->num_elements;
    yoke_status status = yoke_allocate(space->context, (int64_t)space->num_nodes + 2, sizeof(int64_t), &list->start);
    if (!status) status = yoke_allocate_untouched(space->context, entries, sizeof(int32_t), &list->element);
    if (status) return status;
    int64_t *next = list->start + 1;
    for (int64_t i = 0; i < entries; i++)
        if (space->element_nodes[i] >= 0) next[space->element_nodes[i] + 1]++;
    for (int32_t i = 0; i < space->num_nodes; i++) next[i + 1] += next[i];
    for (int64_t i = 0; i < entries; i++)
        if (space->element_nodes[i] >= 0) list->element[next[space->element_nodes[i]]++] = (int32_t)(i / space->slots);
    return YOKE_OK;
}

/*
 * Fills each row with the nodes in the order in which the elements list them.  mark[node] = row + 1 if the node is in the row already.  If
 * column is NULL, only counts.
 */
static int64_t fill_rows(const fem_space *space, const node_elements *list, int32_t *mark, int64_t *row_start, int32_t *column)
{
    int64_t count = 0;
    memset(mark, 0, sizeof(int32_t) * (size_t)space->num_nodes);
    for (int32_t row = 0; row < space->num_nodes; row++) {
        row_start[row] = count;
        for (int64_t i = list->start[row]; i < list->start[row + 1]; i++) {
            const int32_t *nodes = space->element_nodes + space->slots * (int64_t)list->element[i];
            for (int s = 0; s < space->slots; s++) {
                if (nodes[s] < 0 || mark[nodes[s]] == row + 1) continue;
                mark[nodes[s]] = row + 1;
                if (column) column[count] = nodes[s];
                count++;
            }
        }
    }
    row_start[space->num_nodes] = count;
    return count;
}

yoke_status fem_node_graph_create(const fem_space *space, int64_t **row_start, int32_t **column)
{
    yoke_context *context = space->context;
    node_elements list = {NULL, NULL};
    int32_t *mark = NULL;
    yoke_status status = list_elements(space, &list);
    if (!status) status = yoke_allocate(context, space->num_nodes, sizeof *mark, &mark);
    if (!status) status = yoke_allocate(context, (int64_t)space->num_nodes + 1, sizeof(int64_t), row_start);
    if (!status) {
        const int64_t count = fill_rows(space, &list, mark, *row_start, NULL);
        status = yoke_allocate_untouched(context, count, sizeof(int32_t), column);
        if (!status) fill_rows(space, &list, mark, *row_start, *column);
    }
    yoke_release(context, list.start);
    yoke_release(context, list.element);
    yoke_release(context, mark);
    return status;
}
