#include "solver/coarse/keeper_ranks.h"

#include <string.h>

void coarse_runs_release(yoke_context *context, coarse_runs *runs)
{
    yoke_release(context, runs->first_element);
    yoke_release(context, runs->first_node);
    yoke_release(context, runs->elements);
    yoke_release(context, runs->nodes);
    fem_coarse_destroy(runs->coarse);
    memset(runs, 0, sizeof *runs);
}

static void fill(const fem_space *space, const fem_constraints *constraints, coarse_runs *runs)
{
    for (int32_t e = 0; e < space->num_elements; e++) {
        const fem_material *material = fem_space_material(space, e);
        coarse_runs_element *element = &runs->elements[e];
        for (int s = 0; s < 8; s++) element->node[s] = fem_space_global_node(space, space->element_nodes[8 * (int64_t)e + s]);
        element->face_code = space->face_code[e];
        element->moduli[0] = material->lambda;
        element->moduli[1] = material->mu;
    }
    for (int32_t i = 0; i < space->num_nodes; i++) {
        if (!fem_space_owns(space, i)) continue;
        coarse_runs_node *node = &runs->nodes[fem_space_global_node(space, i) - space->first_owned];
        memcpy(node->x, space->x + 3 * (int64_t)i, sizeof node->x);
        node->prescribed = constraints->prescribed[i];
    }
}

static yoke_status describe(const fem_space *space, const fem_constraints *constraints, coarse_runs *runs)
{
    yoke_context *c = space->context;
    const int64_t ends = app_ranks_count(space->ranks) + 1;
    yoke_status status = yoke_allocate(c, ends, sizeof *runs->first_element, &runs->first_element);
    if (!status) status = yoke_allocate(c, ends, sizeof *runs->first_node, &runs->first_node);
    if (!status) status = yoke_allocate_untouched(c, space->num_elements, sizeof *runs->elements, &runs->elements);
    if (!status) status = yoke_allocate_untouched(c, space->num_owned, sizeof *runs->nodes, &runs->nodes);
    status = app_ranks_agree(space->ranks, status);
    if (status) return status;
    runs->components = space->components;
    fem_runs_list(space->ranks, space->first_element, space->num_global_elements, runs->first_element);
    fem_runs_list(space->ranks, space->first_owned, space->num_global_nodes, runs->first_node);
    fill(space, constraints, runs);
    return YOKE_OK;
}

static int64_t own(const app_ranks *ranks, const int64_t *list)
{
    return list[app_ranks_number(ranks) + 1] - list[app_ranks_number(ranks)];
}

/*
 * Sets *same to whether both have the same elements and nodes, on whichever ranks these are.  `vectors` moves nodal values from the
 * distribution of `now` to that of `kept`.
 */
static yoke_status compare(yoke_context *c, app_ranks *ranks, const coarse_runs *now, const coarse_runs *kept, fem_runs *vectors, int *same)
{
    const int64_t num_elements = own(ranks, kept->first_element), num_nodes = own(ranks, kept->first_node);
    fem_runs *leaves = NULL;
    coarse_runs_element *elements = NULL;
    coarse_runs_node *nodes = NULL;
    yoke_status status = fem_runs_create(c, ranks, now->first_element, kept->first_element, &leaves);
    if (!status) status = yoke_allocate_untouched(c, num_elements, sizeof *elements, &elements);
    if (!status) status = yoke_allocate_untouched(c, num_nodes, sizeof *nodes, &nodes);
    status = app_ranks_agree(ranks, status);
    if (!status) {
        fem_runs_move(leaves, 0, sizeof *elements, now->elements, elements);
        fem_runs_move(vectors, 0, sizeof *nodes, now->nodes, nodes);
        double differ = memcmp(elements, kept->elements, sizeof *elements * (size_t)num_elements) != 0 ||
                        memcmp(nodes, kept->nodes, sizeof *nodes * (size_t)num_nodes) != 0;
        app_ranks_max(ranks, &differ, 1);
        *same = differ == 0;
    }
    fem_runs_destroy(leaves);
    yoke_release(c, elements);
    yoke_release(c, nodes);
    return status;
}

static int is_as_large(app_ranks *ranks, const coarse_runs *a, const coarse_runs *b)
{
    const int end = app_ranks_count(ranks);
    return a->components == b->components && a->first_element[end] == b->first_element[end] && a->first_node[end] == b->first_node[end];
}

yoke_status coarse_runs_find(coarse_runs *kept, const fem_space *space, const fem_constraints *constraints, fem_runs **out)
{
    yoke_context *c = space->context;
    coarse_runs now = {.components = 0};
    fem_runs *vectors = NULL;
    int same = 0;
    yoke_status status = describe(space, constraints, &now);
    if (!status && kept->coarse && is_as_large(space->ranks, &now, kept)) {
        status = app_ranks_agree(space->ranks, fem_runs_create(c, space->ranks, now.first_node, kept->first_node, &vectors));
        if (!status) status = compare(c, space->ranks, &now, kept, vectors, &same);
    }
    if (!status && same) {
        coarse_runs_release(c, &now);
        *out = vectors;
        return YOKE_OK;
    }
    fem_runs_destroy(vectors);
    coarse_runs_release(c, kept);
    if (status)
        coarse_runs_release(c, &now);
    else
        *kept = now;
    *out = NULL;
    return status;
}
