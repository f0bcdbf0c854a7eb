/* Converts physical groups to elements, faces, edges and vertices of the mesh. */
#include "mesh/private.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/file/wire.h"

/* ------------------------------------------------------------------------------------------------- edges */

typedef struct edge {
    int32_t vertex[2]; /* ascending */
    int32_t element;
    int8_t local;
} edge;

/* All edges in a hash table, each with one element that has it. */
typedef struct edges {
    int64_t count, capacity;
    edge *list;
    int32_t *slot;
} edges;

static int64_t place_of(const edges *all, const int32_t vertex[2])
{
    uint64_t hash = ((uint64_t)(uint32_t)vertex[0] << 32 | (uint32_t)vertex[1]) * 0x9e3779b97f4a7c15u;
    int64_t place = (int64_t)((hash ^ hash >> 32) & (uint64_t)(all->capacity - 1));
    while (all->slot[place] >= 0 && memcmp(all->list[all->slot[place]].vertex, vertex, 2 * sizeof *vertex) != 0)
        place = (place + 1) & (all->capacity - 1);
    return place;
}

static void ascending(const int32_t vertex[2], int32_t sorted[2])
{
    int swap = vertex[0] > vertex[1];
    sorted[0] = vertex[swap];
    sorted[1] = vertex[!swap];
}

static yoke_status edges_create(const fem_mesh *mesh, edges *all)
{
    all->capacity = 64;
    while (all->capacity < 16 * mesh->num_elements) all->capacity *= 2;
    yoke_status status = yoke_allocate_untouched(mesh->context, 12 * mesh->num_elements, sizeof *all->list, &all->list);
    if (!status) status = yoke_allocate_untouched(mesh->context, all->capacity, sizeof *all->slot, &all->slot);
    if (status) return status;
    memset(all->slot, 0xff, (size_t)all->capacity * sizeof *all->slot);
    for (int64_t e = 0; e < mesh->num_elements; e++)
        for (int local = 0; local < 12; local++) {
            const int8_t *corner = fem_edge_corner[local];
            int32_t vertex[2] = {mesh->corners[8 * e + corner[0]], mesh->corners[8 * e + corner[1]]}, sorted[2];
            ascending(vertex, sorted);
            int64_t place = place_of(all, sorted);
            if (all->slot[place] >= 0) continue;
            all->list[all->count] = (edge){{sorted[0], sorted[1]}, (int32_t)e, (int8_t)local};
            all->slot[place] = (int32_t)all->count++;
        }
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ builder */

typedef struct block_place {
    int dimension;
    int64_t entity;
    int32_t block;
} block_place;

typedef struct builder {
    fem_mesh *mesh;
    const fem_raw *raw;
    const fem_conversion *conversion;
    const fem_faces *faces;
    block_place *places;    /* [raw->num_blocks] by dimension and entity */
    int64_t *first_element; /* [raw->num_blocks] of blocks of hexahedra */
    int64_t *corner_owner;  /* [num_vertices] 8 x element + corner */
    edges edges;
    int num_groups;
    const fem_raw_group *groups;
    fem_raw_group *made; /* groups made for a file without groups */
} builder;

static int by_entity(const void *a, const void *b)
{
    const block_place *left = a, *right = b;
    if (left->dimension != right->dimension) return left->dimension - right->dimension;
    if (left->entity != right->entity) return left->entity < right->entity ? -1 : 1;
    return (left->block > right->block) - (left->block < right->block);
}

static yoke_status sort_blocks(builder *make)
{
    const fem_raw *raw = make->raw;
    yoke_status status = yoke_allocate(make->mesh->context, raw->num_blocks, sizeof *make->places, &make->places);
    if (!status) status = yoke_allocate(make->mesh->context, raw->num_blocks, sizeof *make->first_element, &make->first_element);
    if (status) return status;
    int64_t elements = 0;
    for (int b = 0; b < raw->num_blocks; b++) {
        make->places[b] = (block_place){raw->blocks[b].dimension, raw->blocks[b].entity, b};
        make->first_element[b] = elements;
        if (raw->blocks[b].dimension == 3) elements += raw->blocks[b].count;
    }
    qsort(make->places, (size_t)raw->num_blocks, sizeof *make->places, by_entity);
    return YOKE_OK;
}

/* Returns the first of the places with this dimension and entity, or raw->num_blocks. */
static int find_places(const builder *make, int dimension, int64_t entity)
{
    int low = 0, high = make->raw->num_blocks;
    const block_place key = {dimension, entity, -1};
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (by_entity(&make->places[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int place_has(const builder *make, int place, int dimension, int64_t entity)
{
    return place < make->raw->num_blocks && make->places[place].dimension == dimension && make->places[place].entity == entity;
}

/* In a file without groups, each volume or face entity becomes a group with the entity's number as its name. */
static yoke_status groups_of_entities(builder *make)
{
    const fem_raw *raw = make->raw;
    yoke_status status = yoke_allocate(make->mesh->context, raw->num_blocks, sizeof *make->made, &make->made);
    if (status) return status;
    int count = 0;
    for (int p = 0; p < raw->num_blocks; p++) {
        const fem_raw_block *block = &raw->blocks[make->places[p].block];
        if (block->dimension < 2 || block->count == 0 || block->entity < INT_MIN || block->entity > INT_MAX) continue;
        if (count > 0 && make->made[count - 1].dimension == block->dimension && *make->made[count - 1].entity == block->entity) continue;
        make->made[count++] = (fem_raw_group){block->dimension, (int)block->entity, 0, "", 1, &block->entity};
    }
    make->num_groups = count;
    make->groups = make->made;
    return YOKE_OK;
}

static int has_dimension(const builder *make, int dimension)
{
    for (int g = 0; g < make->num_groups; g++)
        if (make->groups[g].dimension == dimension) return 1;
    return 0;
}

static yoke_status own_corners(builder *make)
{
    const fem_mesh *mesh = make->mesh;
    yoke_status status = yoke_allocate_untouched(mesh->context, mesh->num_vertices, sizeof *make->corner_owner, &make->corner_owner);
    for (int64_t i = 8 * mesh->num_elements - 1; i >= 0 && !status; i--) make->corner_owner[mesh->corners[i]] = i;
    return status;
}

static yoke_status prepare(builder *make)
{
    yoke_status status = sort_blocks(make);
    if (status) return status;
    make->num_groups = make->raw->num_groups;
    make->groups = make->raw->groups;
    if (make->num_groups == 0) status = groups_of_entities(make);
    if (!status && has_dimension(make, 1)) status = edges_create(make->mesh, &make->edges);
    if (!status && has_dimension(make, 0)) status = own_corners(make);
    return status;
}

static void builder_clear(builder *make)
{
    yoke_context *context = make->mesh->context;
    yoke_release(context, make->places);
    yoke_release(context, make->first_element);
    yoke_release(context, make->corner_owner);
    yoke_release(context, make->edges.list);
    yoke_release(context, make->edges.slot);
    yoke_release(context, make->made);
}

/* ------------------------------------------------------------------------------------------------ members */

/* Members, each encoded as one sortable number: 16 x element + local. */
typedef struct members {
    int64_t count, *key;
} members;

static int ascending_keys(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void sort_members(members *list)
{
    qsort(list->key, (size_t)list->count, sizeof *list->key, ascending_keys);
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++)
        if (i == 0 || list->key[i] != list->key[i - 1]) list->key[kept++] = list->key[i];
    list->count = kept;
}

static void add_member(members *list, int64_t element, int local) { list->key[list->count++] = 16 * element + local; }

static yoke_status unmatched(const builder *make, const char *name, const fem_raw_block *block, int64_t i)
{
    static const char *const places[3] = {"a corner", "an edge", "a face"};
    char buffer[48], nodes[128] = "";
    int corners = fem_wire_corners(block->type), length = 0;
    for (int k = 0; k < corners; k++)
        length += snprintf(nodes + length, sizeof nodes - (size_t)length, "%s%lld", k ? ", " : "",
                           (long long)block->node[fem_wire_nodes(block->type) * i + k]);
    return yoke_fail(make->mesh->context, YOKE_ERROR_INPUT,
                     "mesh '%s': group '%s': element %lld (%s%s%s) is not %s of any hexahedron: take it out of the "
                     "group, or mesh it together with the volume",
                     make->mesh->path, name, (long long)block->number[i], fem_raw_type_name(block->type, buffer), corners ? ", nodes " : "",
                     nodes, places[block->dimension]);
}

/* Finds the face, edge or corner that corresponds to element i of the block.  Returns 0 if there is none. */
static int match(const builder *make, const fem_raw_block *block, int64_t i, members *list)
{
    int corners = fem_wire_corners(block->type), needed = 1 << block->dimension;
    int32_t vertex[4];
    if (corners != needed) return 0;
    for (int k = 0; k < corners; k++) {
        int64_t node = fem_numbers_find(&make->conversion->numbers, block->node[fem_wire_nodes(block->type) * i + k]);
        vertex[k] = node < 0 ? -1 : make->conversion->vertex_of[node];
        if (vertex[k] < 0) return 0;
    }
    if (block->dimension == 2) {
        const fem_face *face = fem_faces_find(make->faces, vertex);
        for (int side = 0; face && side < 2; side++)
            if (face->element[side] >= 0) add_member(list, face->element[side], face->local[side]);
        return face != NULL;
    }
    if (block->dimension == 1) {
        int32_t sorted[2];
        ascending(vertex, sorted);
        int32_t found = make->edges.slot[place_of(&make->edges, sorted)];
        if (found >= 0) add_member(list, make->edges.list[found].element, make->edges.list[found].local);
        return found >= 0;
    }
    add_member(list, make->corner_owner[vertex[0]] / 8, (int)(make->corner_owner[vertex[0]] % 8));
    return 1;
}

static yoke_status collect_block(const builder *make, const char *name, int32_t b, members *list)
{
    const fem_raw_block *block = &make->raw->blocks[b];
    for (int64_t i = 0; i < block->count; i++) {
        if (block->dimension == 3)
            add_member(list, make->first_element[b] + i, 0);
        else if (!match(make, block, i, list))
            return unmatched(make, name, block, i);
    }
    return YOKE_OK;
}

static yoke_status collect(const builder *make, const fem_raw_group *raw, const char *name, members *list)
{
    yoke_context *context = make->mesh->context;
    int64_t most = 0;
    for (int64_t k = 0; k < raw->num_entities; k++)
        for (int p = find_places(make, raw->dimension, raw->entity[k]); place_has(make, p, raw->dimension, raw->entity[k]); p++)
            most += 2 * make->raw->blocks[make->places[p].block].count;
    if (most == 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s': group '%s' (dimension %d) has no elements: mesh it, or delete the group",
                         make->mesh->path, name, raw->dimension);
    yoke_status status = yoke_allocate_untouched(context, most, sizeof *list->key, &list->key);
    for (int64_t k = 0; k < raw->num_entities; k++)
        for (int p = find_places(make, raw->dimension, raw->entity[k]); !status && place_has(make, p, raw->dimension, raw->entity[k]); p++)
            status = collect_block(make, name, make->places[p].block, list);
    if (!status) sort_members(list);
    return status;
}

/* ------------------------------------------------------------------------------------------------- groups */

static yoke_status name_group(const fem_mesh *mesh, const fem_raw_group *raw, fem_group *group)
{
    char number[16];
    snprintf(number, sizeof number, "%d", raw->tag);
    const char *name = raw->name_bytes > 0 ? raw->name : number;
    int64_t bytes = raw->name_bytes > 0 ? raw->name_bytes : (int64_t)strlen(number);
    yoke_status status = yoke_allocate(mesh->context, bytes + 1, 1, &group->name);
    if (!status) memcpy(group->name, name, (size_t)bytes);
    return status;
}

static yoke_status store_members(const fem_mesh *mesh, const members *list, fem_group *group)
{
    yoke_status status = yoke_allocate(mesh->context, list->count, sizeof *group->element, &group->element);
    if (!status && group->dimension < 3) status = yoke_allocate(mesh->context, list->count, sizeof *group->local, &group->local);
    if (status) return status;
    group->count = list->count;
    for (int64_t i = 0; i < list->count; i++) {
        group->element[i] = (int32_t)(list->key[i] / 16);
        if (group->local) group->local[i] = (int8_t)(list->key[i] % 16);
    }
    return YOKE_OK;
}

static yoke_status make_group(builder *make, const fem_raw_group *raw)
{
    fem_mesh *mesh = make->mesh;
    int index = mesh->num_groups++;
    fem_group *group = &mesh->groups[index];
    group->dimension = raw->dimension;
    group->tag = raw->tag;
    yoke_status status = name_group(mesh, raw, group);
    if (status) return status;
    for (int g = 0; g < index; g++)
        if (mesh->groups[g].dimension == group->dimension && strcmp(mesh->groups[g].name, group->name) == 0)
            return yoke_fail(mesh->context, YOKE_ERROR_INPUT, "mesh '%s' has two groups '%s' of dimension %d: rename one", mesh->path,
                             group->name, group->dimension);
    members list = {0, NULL};
    status = collect(make, raw, group->name, &list);
    if (!status) status = store_members(mesh, &list, group);
    yoke_release(mesh->context, list.key);
    for (int64_t i = 0; !status && raw->dimension == 3 && i < group->count; i++)
        if (mesh->volume[group->element[i]] < 0) mesh->volume[group->element[i]] = index;
    return status;
}

yoke_status fem_mesh_make_groups(fem_mesh *mesh, const fem_raw *raw, const fem_conversion *conversion, const fem_faces *faces)
{
    builder make = {.mesh = mesh, .raw = raw, .conversion = conversion, .faces = faces};
    yoke_status status = prepare(&make);
    if (!status) status = yoke_allocate(mesh->context, make.num_groups, sizeof *mesh->groups, &mesh->groups);
    for (int g = 0; !status && g < make.num_groups; g++) status = make_group(&make, &make.groups[g]);
    builder_clear(&make);
    return status;
}
