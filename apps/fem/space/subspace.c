#include "space/subspace.h"

#include <string.h>

/* Local numbers of nodes of the whole space while a subspace is created. */
enum { OUTSIDE = -1, ADDITIONAL = -2 };

/* Copies element data and numbers the nodes in the order in which the elements touch them.  Returns the number of touched nodes. */
static int32_t copy_elements(const fem_space *whole, int32_t begin, fem_space *space, int32_t *local)
{
    int32_t touched = 0;
    for (int32_t e = 0; e < space->num_elements; e++) {
        int64_t from = (int64_t)begin + e;
        space->face_code[e] = whole->face_code[from];
        space->tree[e] = whole->tree[from];
        space->level[e] = whole->level[from];
        memcpy(space->corner + 3 * (int64_t)e, whole->corner + 3 * from, 3 * sizeof *space->corner);
        for (int s = 0; s < whole->slots; s++) {
            int32_t node = whole->element_nodes[from * whole->slots + s];
            if (node >= 0 && local[node] < 0) local[node] = touched++;
            space->element_nodes[(int64_t)e * whole->slots + s] = node < 0 ? -1 : local[node];
        }
    }
    return touched;
}

/* Numbers the additional nodes after the others.  Returns the number of all nodes. */
static int32_t number_additional(const fem_space *whole, int64_t num_more, const int32_t *more, int32_t touched, int32_t *local)
{
    int32_t count = touched;
    for (int64_t i = 0; i < num_more; i++)
        if (local[more[i]] == OUTSIDE) local[more[i]] = ADDITIONAL;
    for (int32_t node = 0; node < whole->num_nodes; node++)
        if (local[node] == ADDITIONAL) local[node] = count++;
    return count;
}

static yoke_status allocate_elements(fem_space *space)
{
    yoke_context *c = space->context;
    int64_t elements = space->num_elements;
    yoke_status status = yoke_allocate(c, elements * space->slots, sizeof(int32_t), &space->element_nodes);
    if (!status) status = yoke_allocate(c, elements, sizeof(int16_t), &space->face_code);
    if (!status) status = yoke_allocate(c, elements, sizeof(int32_t), &space->tree);
    if (!status) status = yoke_allocate(c, elements, sizeof(int8_t), &space->level);
    if (!status) status = yoke_allocate(c, 3 * elements, sizeof(int32_t), &space->corner);
    return status;
}

/* Copies positions and constraints of the nodes. */
static yoke_status copy_nodes(const fem_space *whole, const fem_constraints *constraints, const int32_t *local, fem_subspace *subspace)
{
    fem_space *space = subspace->space;
    fem_constraints *own = subspace->constraints;
    int n = whole->components;
    int64_t nodes = space->num_nodes;
    yoke_status status = yoke_allocate(whole->context, 3 * nodes, sizeof(double), &space->x);
    if (!status) status = yoke_allocate(whole->context, nodes, sizeof(int32_t), &subspace->global_node);
    if (!status) status = yoke_allocate(whole->context, nodes, sizeof(uint8_t), &own->prescribed);
    if (!status) status = yoke_allocate(whole->context, nodes * n, sizeof(double), &own->value);
    if (status) return status;
    for (int64_t global = 0; global < whole->num_nodes; global++) {
        int64_t node = local[global];
        if (node < 0) continue;
        subspace->global_node[node] = (int32_t)global;
        memcpy(space->x + 3 * node, whole->x + 3 * global, 3 * sizeof *space->x);
        own->prescribed[node] = constraints->prescribed[global];
        memcpy(own->value + n * node, constraints->value + n * global, (size_t)n * sizeof *own->value);
    }
    return YOKE_OK;
}

static yoke_status fill(const fem_space *whole, const fem_constraints *constraints, int32_t begin, int64_t num_more, const int32_t *more,
                        fem_subspace *subspace)
{
    int32_t *local;
    yoke_status status = allocate_elements(subspace->space);
    if (!status) status = yoke_allocate(whole->context, whole->num_nodes, sizeof *local, &local);
    if (status) return status;
    for (int32_t i = 0; i < whole->num_nodes; i++) local[i] = OUTSIDE;
    subspace->num_touched = copy_elements(whole, begin, subspace->space, local);
    subspace->space->num_nodes = number_additional(whole, num_more, more, subspace->num_touched, local);
    status = copy_nodes(whole, constraints, local, subspace);
    yoke_release(whole->context, local);
    return status;
}

static yoke_status allocate_space(const fem_space *whole, int32_t elements, fem_subspace *subspace)
{
    yoke_context *c = whole->context;
    yoke_status status = yoke_allocate(c, 1, sizeof *subspace->space, &subspace->space);
    if (status) return status;
    *subspace->space = (fem_space){.context = c,
                                   .problem = whole->problem,
                                   .element = whole->element,
                                   .components = whole->components,
                                   .slots_1d = whole->slots_1d,
                                   .slots = whole->slots,
                                   .num_elements = elements};
    status = yoke_allocate(c, 1, sizeof *subspace->constraints, &subspace->constraints);
    if (!status) subspace->constraints->context = c;
    return status;
}

yoke_status fem_subspace_create(const fem_space *whole, const fem_constraints *constraints, int32_t begin, int32_t end, int64_t num_more,
                                const int32_t *more, fem_subspace **out)
{
    yoke_context *c = whole->context;
    fem_subspace *subspace;
    yoke_status status = yoke_allocate(c, 1, sizeof *subspace, &subspace);
    if (status) return status;
    subspace->context = c;
    status = allocate_space(whole, end - begin, subspace);
    if (!status) status = fill(whole, constraints, begin, num_more, more, subspace);
    if (status) {
        fem_subspace_destroy(subspace);
        return status;
    }
    *out = subspace;
    return YOKE_OK;
}

void fem_subspace_destroy(fem_subspace *subspace)
{
    if (!subspace) return;
    fem_constraints_destroy(subspace->constraints);
    fem_space_destroy(subspace->space);
    yoke_release(subspace->context, subspace->global_node);
    yoke_release(subspace->context, subspace);
}
