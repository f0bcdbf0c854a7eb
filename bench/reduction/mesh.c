#include "reduction/mesh.h"

#include <string.h>

/* Extracts every third bit of a place on the space-filling curve; these bits belong to one axis. */
static int64_t every_third_bit(int64_t code)
{
    int64_t value = 0;
    for (int bit = 0; bit < 20; bit++) value |= (code >> (3 * bit) & 1) << bit;
    return value;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void shuffle(int64_t count, int32_t *values, uint64_t seed)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)(next_random(&seed) % (uint64_t)(i + 1));
        int32_t value = values[i];
        values[i] = values[j];
        values[j] = value;
    }
}

/* place[e]: position of element e in the cube, as (z side + y) side + x. */
static void place_elements(int64_t elements, int64_t side, reduction_order order, int32_t *place)
{
    if (order == REDUCTION_MORTON) {
        int64_t e = 0;
        for (int64_t code = 0; e < elements; code++) {
            int64_t x = every_third_bit(code), y = every_third_bit(code >> 1), z = every_third_bit(code >> 2);
            if (x < side && y < side && z < side) place[e++] = (int32_t)((z * side + y) * side + x);
        }
        return;
    }
    for (int64_t e = 0; e < elements; e++) place[e] = (int32_t)e;
    if (order == REDUCTION_RANDOM) shuffle(elements, place, 1);
}

/* Numbers the points of the cube's lattice in the order in which the elements touch them; `number` is -1 for all points on entry. */
static void number_nodes(reduction_mesh *mesh, int64_t side, const int32_t *place, int32_t *number)
{
    const int64_t points = 2 * side + 1;
    for (int64_t e = 0; e < mesh->elements; e++) {
        int64_t x = place[e] % side, y = place[e] / side % side, z = place[e] / side / side;
        for (int k = 0; k < ELEMENT_NODES; k++) {
            int64_t point = ((2 * z + k / 9) * points + 2 * y + k / 3 % 3) * points + 2 * x + k % 3;
            if (number[point] < 0) number[point] = (int32_t)mesh->nodes++;
            mesh->node[e * ELEMENT_NODES + k] = number[point];
        }
    }
}

/* renumber: room for all nodes. */
static void shuffle_nodes(reduction_mesh *mesh, int32_t *renumber)
{
    for (int64_t n = 0; n < mesh->nodes; n++) renumber[n] = (int32_t)n;
    shuffle(mesh->nodes, renumber, 2);
    for (int64_t i = 0; i < mesh->elements * ELEMENT_NODES; i++) mesh->node[i] = renumber[mesh->node[i]];
}

yoke_status reduction_mesh_create(yoke_context *context, int64_t elements, reduction_order order, reduction_mesh *mesh)
{
    if (elements < 1 || elements > 2000000) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "expected 1 to 2000000 elements");
    reduction_mesh made = {.context = context, .elements = elements};
    void *place = NULL, *number = NULL, *node = NULL;
    int64_t side = 1;
    while (side * side * side < elements) side++;
    int64_t points = (2 * side + 1) * (2 * side + 1) * (2 * side + 1);
    yoke_status status = yoke_allocate(context, elements, sizeof(int32_t), &place);
    if (!status) status = yoke_allocate(context, points, sizeof(int32_t), &number);
    if (!status) status = yoke_allocate(context, elements * ELEMENT_NODES, sizeof(int32_t), &node);
    if (!status) {
        made.node = node;
        memset(number, 0xff, (size_t)points * sizeof(int32_t));
        place_elements(elements, side, order, place);
        number_nodes(&made, side, place, number);
        if (order == REDUCTION_RANDOM) shuffle_nodes(&made, number);
        *mesh = made;
    }
    yoke_release(context, number);
    yoke_release(context, place);
    return status;
}

void reduction_mesh_release(reduction_mesh *mesh)
{
    yoke_release(mesh->context, mesh->node);
    *mesh = (reduction_mesh){.context = mesh->context};
}

void reduction_groups_release(reduction_groups *groups)
{
    yoke_release(groups->context, groups->first);
    yoke_release(groups->context, groups->element);
    *groups = (reduction_groups){.context = groups->context};
}

static yoke_status allocate_groups(yoke_context *context, int64_t count, int64_t members, reduction_groups *groups)
{
    void *first = NULL, *element = NULL;
    yoke_status status = yoke_allocate(context, count + 1, sizeof(int64_t), &first);
    if (!status) status = yoke_allocate(context, members, sizeof(int32_t), &element);
    if (status) {
        yoke_release(context, first);
        return status;
    }
    *groups = (reduction_groups){.context = context, .count = count, .first = first, .element = element};
    return YOKE_OK;
}

/* Assigns colour[e] to each element; seen: a bit for each colour that a node already has.  Returns the number of colours. */
static int choose_colours(const reduction_mesh *mesh, uint64_t *seen, int8_t *colour)
{
    int colours = 0;
    for (int64_t e = 0; e < mesh->elements; e++) {
        const int32_t *node = mesh->node + e * ELEMENT_NODES;
        uint64_t taken = 0;
        for (int k = 0; k < ELEMENT_NODES; k++) taken |= seen[node[k]];
        int8_t free = 0;
        while (taken >> free & 1) free++;
        for (int k = 0; k < ELEMENT_NODES; k++) seen[node[k]] |= (uint64_t)1 << free;
        colour[e] = free;
        if (free >= colours) colours = free + 1;
    }
    return colours;
}

yoke_status reduction_colour(const reduction_mesh *mesh, reduction_groups *groups)
{
    void *seen = NULL, *memory = NULL;
    yoke_status status = yoke_allocate(mesh->context, mesh->nodes, sizeof(uint64_t), &seen);
    if (!status) status = yoke_allocate(mesh->context, mesh->elements, sizeof(int8_t), &memory);
    if (!status) {
        int8_t *colour = memory;
        int colours = choose_colours(mesh, seen, colour);
        status = allocate_groups(mesh->context, colours, mesh->elements, groups);
        int64_t at = 0;
        for (int c = 0; !status && c < colours; c++) {
            groups->first[c] = at;
            for (int64_t e = 0; e < mesh->elements; e++)
                if (colour[e] == c) groups->element[at++] = (int32_t)e;
        }
        if (!status) groups->first[colours] = at;
    }
    yoke_release(mesh->context, memory);
    yoke_release(mesh->context, seen);
    return status;
}

/* Returns how many elements touch nodes [begin, end), and lists them if `element` is not NULL. */
static int64_t touching(const reduction_mesh *mesh, int64_t begin, int64_t end, int32_t *element)
{
    int64_t count = 0;
    for (int64_t e = 0; e < mesh->elements; e++) {
        const int32_t *node = mesh->node + e * ELEMENT_NODES;
        bool touches = false;
        for (int k = 0; k < ELEMENT_NODES; k++) touches |= node[k] >= begin && node[k] < end;
        if (!touches) continue;
        if (element != NULL) element[count] = (int32_t)e;
        count++;
    }
    return count;
}

yoke_status reduction_own(const reduction_mesh *mesh, int64_t parts, reduction_groups *groups)
{
    int64_t members = 0;
    for (int64_t p = 0; p < parts; p++)
        members += touching(mesh, reduction_begin(mesh->nodes, parts, p), reduction_begin(mesh->nodes, parts, p + 1), NULL);
    yoke_status status = allocate_groups(mesh->context, parts, members, groups);
    if (status) return status;
    groups->first[0] = 0;
    for (int64_t p = 0; p < parts; p++)
        groups->first[p + 1] = groups->first[p] + touching(mesh, reduction_begin(mesh->nodes, parts, p),
                                                           reduction_begin(mesh->nodes, parts, p + 1), groups->element + groups->first[p]);
    return YOKE_OK;
}
