#include "mesh/split.h"

#include <stdio.h>
#include <string.h>

#include "mesh/file/wire.h"

/* ------------------------------------------------------------------------------------------------- nodes */

/* The node in the middle of the edge or face with these corners (ascending, -1 beyond the last). */
typedef struct middle {
    int32_t corner[4], node;
} middle;

typedef struct builder {
    fem_mesh *mesh;
    const fem_raw *raw;
    fem_split *split;
    double *x; /* [num_nodes][3]: the file's nodes, then those that splitting makes */
    int64_t num_nodes, node_capacity;
    middle *middles; /* in a hash table */
    int64_t num_middles, middle_capacity, num_slots;
    int32_t *slot; /* [num_slots] index of a middle, -1: empty; a power of two */
} builder;

static int64_t place_of(const builder *make, const int32_t corner[4])
{
    int64_t place = fem_hash_place(corner, make->num_slots);
    while (make->slot[place] >= 0 && memcmp(make->middles[make->slot[place]].corner, corner, 4 * sizeof *corner) != 0)
        place = (place + 1) & (make->num_slots - 1);
    return place;
}

static void sort_corners(const int32_t *corner, int count, int32_t sorted[4])
{
    for (int k = 0; k < 4; k++) {
        int to = k;
        int32_t value = k < count ? corner[k] : -1;
        if (k < count)
            for (; to > 0 && sorted[to - 1] > value; to--) sorted[to] = sorted[to - 1];
        sorted[to] = value;
    }
}

static int32_t find_middle(const builder *make, const int32_t *corner, int count)
{
    int32_t sorted[4];
    sort_corners(corner, count, sorted);
    int32_t found = make->slot[place_of(make, sorted)];
    return found < 0 ? -1 : make->middles[found].node;
}

/* Keeps at most half of the slots occupied. */
static yoke_status widen(builder *make)
{
    if (2 * make->num_middles < make->num_slots) return YOKE_OK;
    int64_t wider = make->num_slots > 0 ? 2 * make->num_slots : 1024;
    int32_t *slot = NULL;
    yoke_status status = yoke_allocate_untouched(make->mesh->context, wider, sizeof *slot, &slot);
    if (status) return status;
    memset(slot, 0xff, (size_t)wider * sizeof *slot);
    yoke_release(make->mesh->context, make->slot);
    make->slot = slot;
    make->num_slots = wider;
    for (int64_t i = 0; i < make->num_middles; i++) slot[place_of(make, make->middles[i].corner)] = (int32_t)i;
    return YOKE_OK;
}

static yoke_status add_middle(builder *make, const int32_t *corner, int count, int32_t node)
{
    middle made = {.node = node};
    sort_corners(corner, count, made.corner);
    yoke_status status =
        yoke_grow(make->mesh->context, &make->middles, make->num_middles, &make->middle_capacity, 1024, sizeof *make->middles);
    if (!status) status = widen(make);
    if (status) return status;
    make->slot[place_of(make, made.corner)] = (int32_t)make->num_middles;
    make->middles[make->num_middles++] = made;
    return YOKE_OK;
}

static yoke_status add_node(builder *make, const double x[3], int32_t *node)
{
    if (make->num_nodes >= INT32_MAX)
        return yoke_fail(make->mesh->context, YOKE_ERROR_INPUT,
                         "mesh '%s': split into hexahedra it has more than %d nodes: mesh more coarsely and refine in yoke",
                         make->mesh->path, INT32_MAX);
    yoke_status status = yoke_grow(make->mesh->context, &make->x, make->num_nodes, &make->node_capacity, 1024, 3 * sizeof *make->x);
    if (status) return status;
    memcpy(make->x + 3 * make->num_nodes, x, 3 * sizeof *x);
    *node = (int32_t)make->num_nodes++;
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------------- one element */

/* Data common to all elements of a type. */
typedef struct type_plan {
    const fem_solid *kind;
    int type, order, places;
    int part[FEM_SOLID_PARTS][8];
    double weight[FEM_SOLID_NODES][FEM_SOLID_NODES]; /* order 2 only: weights of an element's node positions at each place */
} type_plan;

static int order_of(int type) { return fem_wire_nodes(type) == fem_wire_corners(type) ? 1 : 2; }

static void make_plan(int type, type_plan *plan)
{
    double at[FEM_SOLID_NODES][3];
    *plan = (type_plan){.kind = fem_solid_of(type), .type = type, .order = order_of(type)};
    plan->places = fem_solid_places(plan->kind, at);
    for (int corner = 0; corner < plan->kind->corners; corner++) fem_solid_part(plan->kind, corner, plan->part[corner]);
    for (int p = 0; p < plan->places && plan->order == 2; p++) fem_solid_shape(plan->kind, at[p], plan->weight[p]);
}

static void mean_of(const builder *make, const int32_t *corner, int count, double x[3])
{
    for (int axis = 0; axis < 3; axis++) {
        double sum = 0;
        for (int k = 0; k < count; k++) sum += make->raw->x[3 * (int64_t)corner[k] + axis];
        x[axis] = sum / count;
    }
}

/* Finds or creates the middle of an edge.  An element of second order has its own mid-node, which its neighbours must share. */
static yoke_status split_edge(builder *make, const type_plan *plan, int64_t number, const int32_t *index, int e, int32_t *node)
{
    const int8_t *end = plan->kind->edge[e];
    const int32_t corner[2] = {index[end[0]], index[end[1]]}, own = plan->order == 2 ? index[plan->kind->corners + e] : -1;
    *node = find_middle(make, corner, 2);
    if (*node >= 0 && own >= 0 && own != *node)
        return yoke_fail(make->mesh->context, YOKE_ERROR_INPUT,
                         "mesh '%s': element %lld has the node %lld in the middle of its edge from node %lld to %lld, another element "
                         "has the node %lld there: they must share it",
                         make->mesh->path, (long long)number, (long long)make->raw->node_number[own],
                         (long long)make->raw->node_number[corner[0]], (long long)make->raw->node_number[corner[1]],
                         (long long)make->raw->node_number[*node]);
    if (*node >= 0) return YOKE_OK;
    yoke_status status = YOKE_OK;
    *node = own;
    if (own < 0) {
        double x[3];
        mean_of(make, corner, 2, x);
        status = add_node(make, x, node);
    }
    return status ? status : add_middle(make, corner, 2, *node);
}

/* Creates a node at a place of the element by the element's map. */
static yoke_status place_node(builder *make, const type_plan *plan, const int32_t *index, int place, const int32_t *corner, int corners,
                              int32_t *node)
{
    double x[3], position[FEM_SOLID_NODES][3];
    if (plan->order == 2) {
        int count = fem_solid_positions(make->raw, plan->type, index, position);
        fem_solid_evaluate(count, plan->weight[place], position, x);
    } else {
        mean_of(make, corner, corners, x);
    }
    return add_node(make, x, node);
}

static yoke_status split_face(builder *make, const type_plan *plan, const int32_t *index, int f, int32_t *node)
{
    const int8_t *local = plan->kind->face[f];
    const int corners = local[3] < 0 ? 3 : 4;
    int32_t corner[4];
    for (int k = 0; k < corners; k++) corner[k] = index[local[k]];
    *node = find_middle(make, corner, corners);
    if (*node >= 0) return YOKE_OK;
    yoke_status status = place_node(make, plan, index, plan->kind->corners + plan->kind->edges + f, corner, corners, node);
    return status ? status : add_middle(make, corner, corners, *node);
}

/* Writes the nodes of the parts, in Gmsh's order, to out [corners][8]. */
static yoke_status split_solid(builder *make, const type_plan *plan, int64_t number, const int64_t *nodes, int64_t *out)
{
    const fem_solid *kind = plan->kind;
    int32_t index[FEM_SOLID_NODES], node[FEM_SOLID_NODES];
    yoke_status status = fem_raw_find_nodes(make->mesh->context, make->mesh->path, make->raw, &make->split->numbers, number, nodes,
                                            fem_wire_nodes(plan->type), index);
    int place = kind->corners;
    memcpy(node, index, (size_t)place * sizeof *node);
    for (int e = 0; !status && e < kind->edges; e++) status = split_edge(make, plan, number, index, e, &node[place++]);
    for (int f = 0; !status && f < kind->faces; f++) status = split_face(make, plan, index, f, &node[place++]);
    if (!status) status = place_node(make, plan, index, place, index, kind->corners, &node[place]);
    for (int corner = 0; !status && corner < kind->corners; corner++)
        for (int k = 0; k < 8; k++) out[8 * corner + k] = node[plan->part[corner][fem_mesh_hexahedron_corner[k]]];
    return status;
}

/* ------------------------------------------------------------------------------------------------- blocks */

/* Allocates a block with `parts` elements of the given type for each element of `from`.  The parts keep the numbers of the elements. */
static yoke_status make_block(builder *make, const fem_raw_block *from, int type, int parts, fem_raw_block *block, int64_t **node)
{
    const int nodes = fem_wire_nodes(type);
    fem_split *split = make->split;
    int64_t **memory = &split->memory[split->num_memory], *number;
    yoke_status status = yoke_allocate_untouched(make->mesh->context, from->count, (size_t)(parts * (1 + nodes)) * sizeof **memory, memory);
    if (status) return status;
    split->num_memory++;
    number = *memory;
    *node = number + parts * from->count;
    for (int64_t i = 0; i < parts * from->count; i++) number[i] = from->number[i / parts];
    *block = *from;
    block->type = type;
    block->count = parts * from->count;
    block->number = number;
    block->node = *node;
    return YOKE_OK;
}

static yoke_status split_solids(builder *make, const fem_raw_block *from, fem_raw_block *block)
{
    type_plan plan;
    int64_t *node = NULL;
    const int nodes = fem_wire_nodes(from->type);
    make_plan(from->type, &plan);
    const int parts = plan.kind->corners;
    yoke_status status = make_block(make, from, FEM_GMSH_HEX8, parts, block, &node);
    for (int64_t i = 0; !status && i < from->count; i++)
        status = split_solid(make, &plan, from->number[i], from->node + nodes * i, node + 8 * parts * i);
    make->split->count[parts == 4 ? 0 : parts == 6 ? 1 : 2] += from->count;
    return status;
}

static yoke_status not_of_the_body(const builder *make, const fem_raw_block *block, int64_t i)
{
    const fem_raw *raw = make->raw;
    char buffer[48], name[80] = "";
    for (int g = 0; g < raw->num_groups && !name[0]; g++)
        for (int64_t k = 0; k < raw->groups[g].num_entities && !name[0]; k++)
            if (raw->groups[g].dimension == block->dimension && raw->groups[g].entity[k] == block->entity)
                snprintf(name, sizeof name, " group '%.*s':", raw->groups[g].name_bytes < 60 ? raw->groups[g].name_bytes : 60,
                         raw->groups[g].name);
    return yoke_fail(make->mesh->context, YOKE_ERROR_INPUT,
                     "mesh '%s':%s element %lld (%s) is not %s of any volume element: take it out of the group, or mesh it together with "
                     "the volume",
                     make->mesh->path, name, (long long)block->number[i], fem_raw_type_name(block->type, buffer),
                     block->dimension == 2 ? "a face" : "an edge");
}

/* Splits a face into three or four quadrangles.  Returns 0 if it is not a face of the body. */
static int split_quadrangles(const builder *make, const int32_t *corner, int corners, int64_t *out)
{
    int32_t edge[4], centre = find_middle(make, corner, corners);
    int found = centre >= 0;
    for (int k = 0; k < corners; k++) {
        edge[k] = find_middle(make, (int32_t[]){corner[k], corner[(k + 1) % corners]}, 2);
        found = found && edge[k] >= 0;
    }
    for (int k = 0; k < corners && found; k++) {
        const int64_t quadrangle[4] = {corner[k], edge[k], centre, edge[(k + corners - 1) % corners]};
        memcpy(out + 4 * k, quadrangle, sizeof quadrangle);
    }
    return found;
}

static int split_line(const builder *make, const int32_t *corner, int64_t *out)
{
    int32_t middle_node = find_middle(make, corner, 2);
    const int64_t halves[4] = {corner[0], middle_node, middle_node, corner[1]};
    memcpy(out, halves, sizeof halves);
    return middle_node >= 0;
}

/* Splits the faces and edges of groups. */
static yoke_status split_members(builder *make, const fem_raw_block *from, fem_raw_block *block)
{
    const int corners = fem_wire_corners(from->type), nodes = fem_wire_nodes(from->type), line = from->dimension == 1;
    int64_t *node = NULL;
    yoke_status status = make_block(make, from, line ? FEM_GMSH_LINE2 : FEM_GMSH_QUAD4, corners, block, &node);
    for (int64_t i = 0; !status && i < from->count; i++) {
        int32_t corner[4];
        int found = 1;
        for (int k = 0; k < corners; k++) {
            int64_t index = fem_numbers_find(&make->split->numbers, from->node[nodes * i + k]);
            corner[k] = (int32_t)index;
            found = found && index >= 0;
        }
        int64_t *out = node + (line ? 4 : 4 * corners) * i;
        if (found) found = line ? split_line(make, corner, out) : split_quadrangles(make, corner, corners, out);
        if (!found) status = not_of_the_body(make, from, i);
    }
    return status;
}

/* Replaces node indices in the blocks by numbers.  Nodes created by splitting get numbers beyond those of the file. */
static yoke_status number_nodes(builder *make)
{
    fem_split *split = make->split;
    int64_t largest = 0, file_nodes = make->raw->num_nodes;
    yoke_status status = yoke_allocate_untouched(make->mesh->context, make->num_nodes, sizeof *split->node_number, &split->node_number);
    if (status) return status;
    for (int64_t i = 0; i < file_nodes; i++)
        if (make->raw->node_number[i] > largest) largest = make->raw->node_number[i];
    if (largest >= INT64_MAX - make->num_nodes)
        return yoke_fail(make->mesh->context, YOKE_ERROR_INPUT, "mesh '%s' has a node with the number %lld: renumber its nodes",
                         make->mesh->path, (long long)largest);
    for (int64_t i = 0; i < make->num_nodes; i++)
        split->node_number[i] = i < file_nodes ? make->raw->node_number[i] : largest + 1 + i - file_nodes;
    for (int m = 0; m < split->num_memory; m++) {
        const fem_raw_block *block = &split->raw.blocks[split->block_of[m]];
        int64_t *node = split->memory[m] + block->count;
        for (int64_t k = 0; k < block->count * fem_wire_nodes(block->type); k++) node[k] = split->node_number[node[k]];
    }
    split->raw.num_nodes = make->num_nodes;
    split->raw.last_of_file = largest;
    split->raw.node_number = split->node_number;
    split->raw.x = split->x = make->x;
    make->x = NULL;
    return YOKE_OK;
}

static yoke_status split_all(builder *make)
{
    const fem_raw *raw = make->raw;
    fem_split *split = make->split;
    yoke_status status = widen(make);
    /* Faces and edges of groups are looked up among those of the volumes, so the volumes are split first. */
    for (int dimension = 3; dimension >= 0; dimension--)
        for (int b = 0; !status && b < raw->num_blocks; b++) {
            const fem_raw_block *from = &raw->blocks[b];
            if (from->dimension != dimension) continue;
            split->raw.blocks[b] = *from;
            if (dimension == 0 || from->count == 0 || !from->node) continue;
            split->block_of[split->num_memory] = b;
            status = dimension == 3 ? split_solids(make, from, &split->raw.blocks[b]) : split_members(make, from, &split->raw.blocks[b]);
        }
    return status ? status : number_nodes(make);
}

/* -------------------------------------------------------------------------------------------------- whole */

/*
 * Chooses the order of the mesh to be split.  The order is 0 if nothing is to be split, or if there are volume elements of unsupported
 * kinds, which fem_mesh_convert refuses.
 */
static yoke_status choose_order(const fem_mesh *mesh, const fem_raw *raw, int *order)
{
    const fem_raw_block *first = NULL;
    int64_t parts = 0;
    int wanted = 0;
    *order = 0;
    for (int b = 0; b < raw->num_blocks; b++) {
        const fem_raw_block *block = &raw->blocks[b];
        if (block->dimension != 3 || block->count == 0) continue;
        const fem_solid *kind = fem_solid_of(block->type);
        if (!kind) return YOKE_OK;
        wanted = wanted || kind->corners < 8;
        if (!first) first = block;
        if (order_of(first->type) != order_of(block->type)) {
            char one[48], other[48];
            return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                             "mesh '%s' mixes orders: element %lld is a %s, element %lld is a %s; save all of them with one order",
                             mesh->path, (long long)first->number[0], fem_raw_type_name(first->type, one), (long long)block->number[0],
                             fem_raw_type_name(block->type, other));
        }
        parts += kind->corners * block->count;
    }
    if (wanted && parts > INT32_MAX / 27)
        return yoke_fail(mesh->context, YOKE_ERROR_INPUT,
                         "mesh '%s' gives %lld hexahedra when it is split; at most %d are possible: mesh more coarsely and refine in yoke",
                         mesh->path, (long long)parts, INT32_MAX / 27);
    if (wanted) *order = order_of(first->type);
    return YOKE_OK;
}

yoke_status fem_split_create(fem_mesh *mesh, const fem_raw *raw, fem_split *split)
{
    yoke_context *context = mesh->context;
    fem_split made = {.raw = {.num_blocks = raw->num_blocks, .num_groups = raw->num_groups, .groups = raw->groups}};
    builder make = {.mesh = mesh, .raw = raw, .split = &made};
    yoke_status status = choose_order(mesh, raw, &made.order);
    if (status || made.order == 0) return status;
    make.node_capacity = 2 * raw->num_nodes;
    make.num_nodes = raw->num_nodes;
    status = fem_numbers_create(context, mesh->path, raw->num_nodes, raw->node_number, &made.numbers);
    if (!status) status = yoke_allocate(context, raw->num_blocks, sizeof *made.raw.blocks, &made.raw.blocks);
    if (!status) status = yoke_allocate(context, raw->num_blocks, sizeof *made.memory, &made.memory);
    if (!status) status = yoke_allocate(context, raw->num_blocks, sizeof *made.block_of, &made.block_of);
    if (!status) status = yoke_allocate_untouched(context, make.node_capacity, 3 * sizeof *make.x, &make.x);
    if (!status) memcpy(make.x, raw->x, (size_t)raw->num_nodes * 3 * sizeof *make.x);
    if (!status) status = split_all(&make);
    yoke_release(context, make.x);
    yoke_release(context, make.middles);
    yoke_release(context, make.slot);
    if (status)
        fem_split_clear(context, &made);
    else
        *split = made;
    return status;
}

void fem_split_clear(yoke_context *context, fem_split *split)
{
    for (int m = 0; m < split->num_memory; m++) yoke_release(context, split->memory[m]);
    yoke_release(context, split->memory);
    yoke_release(context, split->block_of);
    yoke_release(context, split->node_number);
    yoke_release(context, split->x);
    yoke_release(context, split->raw.blocks);
    fem_numbers_clear(context, &split->numbers);
    *split = (fem_split){0};
}
