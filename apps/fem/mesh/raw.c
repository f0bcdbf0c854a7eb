/* Turns the stream of yoke-fem-mesh into arrays. */
#include "mesh/private.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mesh/file/wire.h"

/* The rest of the stream. */
typedef struct cursor {
    yoke_context *context;
    const char *path;
    const unsigned char *bytes;
    int64_t left, file_bytes;
} cursor;

static yoke_status damaged(const cursor *at, const char *what)
{
    return yoke_fail(at->context, YOKE_ERROR_INPUT, "mesh '%s': Gmsh reads %s: the file is damaged; write it again", at->path, what);
}

/* Takes count x size bytes and the padding after them. */
static yoke_status take(cursor *at, int64_t count, int64_t size, const void **payload)
{
    if (count < 0 || (size > 0 && count > at->left / size)) return damaged(at, "more than it could return");
    int64_t padded = (count * size + 7) / 8 * 8;
    if (padded > at->left) return damaged(at, "more than it could return");
    *payload = at->bytes;
    at->bytes += padded;
    at->left -= padded;
    return YOKE_OK;
}

static yoke_status take_record(cursor *at, fem_wire_record *record)
{
    const void *header = NULL;
    yoke_status status = take(at, 1, sizeof *record, &header);
    if (status) return status;
    memcpy(record, header, sizeof *record);
    /* A file needs at least one byte for each of its nodes, elements and entities. */
    if (record->count < 0 || (record->count > at->file_bytes && record->kind != FEM_WIRE_FAILURE))
        return damaged(at, "more nodes, elements or groups than the file has bytes");
    if (record->dimension < 0 || record->dimension > 3) return damaged(at, "a dimension other than 0 to 3");
    return YOKE_OK;
}

static yoke_status take_nodes(cursor *at, const fem_wire_record *record, fem_raw *raw)
{
    const void *number = NULL, *x = NULL;
    if (raw->node_number) return damaged(at, "its nodes twice");
    if (record->count > INT32_MAX)
        return yoke_fail(at->context, YOKE_ERROR_INPUT,
                         "mesh '%s' has %lld nodes; at most %d are possible: mesh more coarsely and refine in yoke", at->path,
                         (long long)record->count, INT32_MAX);
    yoke_status status = take(at, record->count, sizeof(int64_t), &number);
    if (!status) status = take(at, record->count, 3 * sizeof(double), &x);
    if (status) return status;
    raw->num_nodes = record->count;
    raw->node_number = number;
    raw->x = x;
    return YOKE_OK;
}

static yoke_status take_elements(cursor *at, const fem_wire_record *record, fem_raw_block *block)
{
    const void *number = NULL, *node = NULL;
    if (record->type < 1 || record->type > INT_MAX) return damaged(at, "an element type that does not exist");
    yoke_status status = take(at, record->count, sizeof(int64_t), &number);
    int nodes = fem_wire_nodes(record->type);
    if (!status && nodes > 0) status = take(at, record->count, nodes * (int64_t)sizeof(int64_t), &node);
    if (!status) *block = (fem_raw_block){record->dimension, (int)record->type, record->tag, record->count, number, node};
    return status;
}

static yoke_status take_group(cursor *at, const fem_wire_record *record, fem_raw_group *group)
{
    const void *name = NULL, *entity = NULL;
    if (record->type < 0 || record->type > 4096 || record->tag < INT_MIN || record->tag > INT_MAX)
        return damaged(at, "a group with an impossible name or number");
    yoke_status status = take(at, record->type, 1, &name);
    if (!status) status = take(at, record->count, sizeof(int64_t), &entity);
    if (status) return status;
    *group = (fem_raw_group){record->dimension, (int)record->tag, (int)record->type, name, record->count, entity};
    for (int i = 0; i < group->name_bytes; i++)
        if ((unsigned char)group->name[i] < 0x20 || group->name[i] == 0x7f)
            return yoke_fail(at->context, YOKE_ERROR_INPUT,
                             "mesh '%s': the name of group %d (dimension %d) holds control characters: rename it", at->path, group->tag,
                             group->dimension);
    return YOKE_OK;
}

/* Reports Gmsh's own message.  Control characters, which could disturb a terminal, are replaced. */
static yoke_status take_failure(cursor *at, const fem_wire_record *record)
{
    const void *payload = NULL;
    yoke_status status = take(at, record->count, 1, &payload);
    if (status) return status;
    char text[400];
    const size_t count = (uint64_t)record->count < sizeof text - 1 ? (size_t)record->count : sizeof text - 1;
    memcpy(text, payload, count);
    text[count] = 0;
    for (size_t i = 0; i < count; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) text[i] = '?';
    return yoke_fail(at->context, YOKE_ERROR_INPUT, "mesh '%s' cannot be read by Gmsh: %s", at->path, text);
}

static yoke_status count_records(cursor at, int64_t *blocks, int64_t *groups)
{
    for (;;) {
        fem_wire_record record;
        const void *skipped = NULL;
        yoke_status status = take_record(&at, &record);
        int nodes = fem_wire_nodes(record.type);
        if (status || record.kind == FEM_WIRE_END) return status;
        switch (record.kind) {
        case FEM_WIRE_NODES:
            status = take(&at, record.count, 4 * sizeof(double), &skipped);
            break;
        case FEM_WIRE_ELEMENTS:
            ++*blocks;
            status = take(&at, record.count, (1 + nodes) * (int64_t)sizeof(int64_t), &skipped);
            break;
        case FEM_WIRE_GROUP:
            ++*groups;
            status = take(&at, record.type, 1, &skipped);
            if (!status) status = take(&at, record.count, sizeof(int64_t), &skipped);
            break;
        case FEM_WIRE_FAILURE:
            return take_failure(&at, &record);
        default:
            return damaged(&at, "something unknown");
        }
        if (status) return status;
    }
}

static yoke_status take_all(cursor at, fem_raw *raw)
{
    for (;;) {
        fem_wire_record record;
        yoke_status status = take_record(&at, &record);
        if (status || record.kind == FEM_WIRE_END) return status;
        if (record.kind == FEM_WIRE_NODES)
            status = take_nodes(&at, &record, raw);
        else if (record.kind == FEM_WIRE_ELEMENTS)
            status = take_elements(&at, &record, &raw->blocks[raw->num_blocks++]);
        else
            status = take_group(&at, &record, &raw->groups[raw->num_groups++]);
        if (status) return status;
    }
}

static yoke_status scale_nodes(yoke_context *context, double scale, fem_raw *raw)
{
    yoke_status status = yoke_allocate_untouched(context, raw->num_nodes, 3 * sizeof *raw->scaled, &raw->scaled);
    for (int64_t i = 0; i < 3 * raw->num_nodes && !status; i++) raw->scaled[i] = scale * raw->x[i];
    if (!status) raw->x = raw->scaled;
    return status;
}

/*
 * Whether products of six lengths, also those of elements far smaller than the body, are within double precision.  A coordinate that is not
 * finite in the file is refused with its node, if an element has that.
 */
static yoke_status check_lengths(yoke_context *context, const char *path, double scale, const fem_raw *raw)
{
    static const double least = 1e-40, most = 1e40;
    double largest = 0, extent = 0;
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = axis; i < 3 * raw->num_nodes; i += 3) {
            if (!isfinite(raw->x[i])) continue;
            low = fmin(low, raw->x[i]);
            high = fmax(high, raw->x[i]);
        }
        largest = fmax(largest, fmax(high, -low));
        extent = fmax(extent, high - low);
    }
    const bool large = scale * largest > most, small = extent > 0 && scale * extent < least;
    char by[64] = "";
    if (!large && !small) return YOKE_OK;
    if (scale != 1) snprintf(by, sizeof by, " times %g (mesh_scale)", scale);
    return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' has %s %g%s; lengths from %g to %g can be computed: change %s", path,
                     large ? "coordinates up to" : "an extent of", large ? largest : extent, by, least, most,
                     scale != 1 ? "mesh_scale" : "the unit of its coordinates");
}

yoke_status fem_raw_create(yoke_context *context, const char *path, int64_t file_bytes, double scale, const fem_mesh_stream *stream,
                           fem_raw *raw)
{
    cursor begin = {context, path, stream->bytes, stream->count, file_bytes};
    int64_t blocks = 0, groups = 0;
    fem_raw made = {.last_of_file = INT64_MAX};
    yoke_status status = count_records(begin, &blocks, &groups);
    if (status) return status;
    if (blocks > INT_MAX || groups > INT16_MAX) return damaged(&begin, "more groups than are possible (32767)");
    status = yoke_allocate(context, blocks, sizeof *made.blocks, &made.blocks);
    if (!status) status = yoke_allocate(context, groups, sizeof *made.groups, &made.groups);
    if (!status) status = take_all(begin, &made);
    if (!status && made.num_nodes == 0)
        status =
            yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' holds no nodes that Gmsh understands: write it again, or as MSH 4.1", path);
    if (!status) status = check_lengths(context, path, scale, &made);
    if (!status && scale != 1) status = scale_nodes(context, scale, &made);
    if (status)
        fem_raw_clear(context, &made);
    else
        *raw = made;
    return status;
}

void fem_raw_clear(yoke_context *context, fem_raw *raw)
{
    yoke_release(context, raw->blocks);
    yoke_release(context, raw->groups);
    yoke_release(context, raw->scaled);
    *raw = (fem_raw){0};
}

const char *fem_raw_type_name(int type, char buffer[48])
{
    switch (type) {
#define NAME_OF(name, number, dimension, nodes, corners, text) \
    case number:                                               \
        return text;
        FEM_WIRE_TYPES(NAME_OF)
#undef NAME_OF
    case 7:
        return "pyramid with 5 nodes";
    case 14:
        return "pyramid with 14 nodes";
    case 19:
        return "pyramid with 13 nodes";
    case 92:
        return "hexahedron with 64 nodes";
    default:
        snprintf(buffer, 48, "element of Gmsh's type %d", type);
        return buffer;
    }
}

yoke_status fem_raw_find_nodes(yoke_context *context, const char *path, const fem_raw *raw, const fem_numbers *numbers, int64_t element,
                               const int64_t *number, int nodes, int32_t *index)
{
    for (int i = 0; i < nodes; i++) {
        int64_t found = fem_numbers_find(numbers, number[i]);
        if (found < 0)
            return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s': element %lld has the node %lld, which does not exist", path,
                             (long long)element, (long long)number[i]);
        for (int axis = 0; axis < 3; axis++)
            if (!isfinite(raw->x[3 * found + axis]))
                return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s': node %lld has a coordinate that is not finite", path,
                                 (long long)number[i]);
        index[i] = (int32_t)found;
        for (int j = 0; j < i; j++)
            if (index[j] == index[i])
                return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s': element %lld is degenerate: it has the node %lld twice", path,
                                 (long long)element, (long long)number[i]);
    }
    return YOKE_OK;
}
