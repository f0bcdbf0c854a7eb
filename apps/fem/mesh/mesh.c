#include "mesh/private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

yoke_status fem_mesh_create_empty(yoke_context *context, const char *path, fem_mesh **mesh)
{
    fem_mesh *made = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *made, &made);
    if (status) return status;
    made->context = context;
    status = yoke_allocate(context, (int64_t)strlen(path) + 1, 1, &made->path);
    if (status) {
        yoke_release(context, made);
        return status;
    }
    strcpy(made->path, path);
    *mesh = made;
    return YOKE_OK;
}

static yoke_status fill(fem_mesh *mesh, const fem_raw *file)
{
    fem_split split = {.order = 0};
    fem_conversion conversion = {.used = NULL};
    fem_faces faces = {.face = NULL};
    yoke_status status = fem_split_create(mesh, file, &split);
    const fem_raw *raw = split.order > 0 ? &split.raw : file;
    if (!status) status = fem_mesh_convert(mesh, raw, &conversion);
    if (!status) status = fem_split_bend(mesh, file, &split);
    if (!status) status = fem_mesh_check_elements(mesh);
    if (!status) status = fem_faces_create(mesh, &faces);
    if (!status) status = fem_mesh_make_groups(mesh, raw, &conversion, &faces);
    fem_faces_clear(mesh->context, &faces);
    fem_conversion_clear(mesh->context, &conversion);
    for (int kind = 0; kind < 3; kind++) mesh->split[kind] = split.count[kind];
    fem_split_clear(mesh->context, &split);
    return status;
}

/* Logs one line if elements were split. */
static void say_what_was_split(const fem_mesh *mesh)
{
    static const char *const kinds[3] = {"tetrahedra", "prisms", "hexahedra"}, *const parts[3] = {"four", "six", "eight"};
    char text[256] = "";
    int length = 0;
    for (int kind = 0; kind < 3; kind++)
        if (mesh->split[kind] > 0)
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%s: each of the %lld is split into %s%s", length ? "; " : "",
                               kinds[kind], (long long)mesh->split[kind], parts[kind], length ? "" : " hexahedra");
    if (length > 0) yoke_log(mesh->context, YOKE_LOG_INFO, "%s: %s", mesh->path, text);
}

yoke_status fem_mesh_from_stream(yoke_context *context, const char *path, int64_t file_bytes, double scale, const fem_mesh_stream *stream,
                                 fem_mesh **mesh)
{
    fem_raw raw = {0};
    fem_mesh *made = NULL;
    yoke_status status = fem_raw_create(context, path, file_bytes, scale, stream, &raw);
    if (!status) status = fem_mesh_create_empty(context, path, &made);
    if (!status) status = fill(made, &raw);
    fem_raw_clear(context, &raw);
    if (!status) status = fem_mesh_order_elements(made);
    if (status)
        fem_mesh_destroy(made);
    else
        *mesh = made;
    return status;
}

/* Broadcasts the data read by rank 0 to the other ranks. */
static yoke_status share(yoke_context *context, app_ranks *ranks, int64_t *file_bytes, fem_mesh_stream *stream)
{
    int64_t told[2] = {*file_bytes, stream->count};
    yoke_status status = YOKE_OK;
    app_ranks_broadcast(ranks, told, sizeof told);
    if (app_ranks_number(ranks) > 0) status = yoke_allocate_untouched(context, told[1], 1, &stream->bytes);
    status = app_ranks_agree(ranks, status);
    if (status) return status;
    *file_bytes = told[0];
    stream->count = told[1];
    app_ranks_broadcast(ranks, stream->bytes, stream->count);
    return YOKE_OK;
}

static yoke_status read_stream(yoke_context *context, const char *path, const fem_mesh_options *options, int64_t *file_bytes,
                               fem_mesh_stream *stream)
{
    fem_mesh_file file = {.absolute_path = NULL};
    yoke_status status = fem_mesh_recognise(context, path, &file);
    if (!status && strcmp(file.extension, ".msh") == 0) status = fem_mesh_check_msh(context, path);
    if (!status && strcmp(file.extension, ".unv") == 0)
        status = fem_mesh_rewrite_unv(context, path, options ? options->scale : 0, &file.text, &file.text_bytes);
    if (!status) status = fem_mesh_run_reader(context, path, &file, options, stream);
    *file_bytes = file.bytes;
    fem_mesh_file_clear(context, &file);
    return status;
}

yoke_status fem_mesh_read(yoke_context *context, const char *path, const fem_mesh_options *options, fem_mesh **mesh)
{
    if (!path || !mesh || (options && !(isfinite(options->scale) && options->scale >= 0)))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "fem_mesh_read needs a path, a place for the mesh, and a scale that is finite");
    app_ranks *ranks = options ? options->ranks : NULL;
    fem_mesh_stream stream = {NULL, 0};
    fem_mesh *made = NULL;
    int64_t file_bytes = 0;
    yoke_status status = app_ranks_number(ranks) > 0 ? YOKE_OK : read_stream(context, path, options, &file_bytes, &stream);
    status = app_ranks_agree(ranks, status);
    if (!status && app_ranks_count(ranks) > 1) status = share(context, ranks, &file_bytes, &stream);
    if (!status)
        status = app_ranks_agree(
            ranks, fem_mesh_from_stream(context, path, file_bytes, options && options->scale > 0 ? options->scale : 1, &stream, &made));
    yoke_release(context, stream.bytes);
    if (status) {
        fem_mesh_destroy(made);
        return status;
    }
    say_what_was_split(made);
    made->ranks = ranks;
    *mesh = made;
    return YOKE_OK;
}

void fem_mesh_destroy(fem_mesh *mesh)
{
    if (!mesh) return;
    yoke_context *context = mesh->context;
    for (int g = 0; g < mesh->num_groups; g++) {
        yoke_release(context, mesh->groups[g].name);
        yoke_release(context, mesh->groups[g].element);
        yoke_release(context, mesh->groups[g].local);
    }
    yoke_release(context, mesh->groups);
    yoke_release(context, mesh->path);
    yoke_release(context, mesh->vertices);
    yoke_release(context, mesh->corners);
    yoke_release(context, mesh->geometry);
    yoke_release(context, mesh->volume);
    yoke_release(context, mesh->element_tag);
    yoke_release(context, mesh->vertex_tag);
    yoke_release(context, mesh);
}

int fem_mesh_find_group(const fem_mesh *mesh, int dimension, const char *name)
{
    for (int g = 0; g < mesh->num_groups; g++)
        if (mesh->groups[g].dimension == dimension && strcmp(mesh->groups[g].name, name) == 0) return g;
    return -1;
}
