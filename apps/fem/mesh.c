#include "mesh_private.h"

#include <string.h>

yoke_status fem_mesh_create_empty(yoke_context *context, const char *path, fem_mesh **mesh)
{
    fem_mesh *made = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *made, (void **)&made);
    if (status) return status;
    made->context = context;
    status = yoke_allocate(context, (int64_t)strlen(path) + 1, 1, (void **)&made->path);
    if (status) {
        yoke_release(context, made);
        return status;
    }
    strcpy(made->path, path);
    *mesh = made;
    return YOKE_OK;
}

static yoke_status fill(fem_mesh *mesh, const fem_raw *raw)
{
    fem_conversion conversion = {.used = NULL};
    fem_faces faces = {.face = NULL};
    yoke_status status = fem_mesh_convert(mesh, raw, &conversion);
    if (!status) status = fem_mesh_check_elements(mesh);
    if (!status) status = fem_faces_create(mesh, &faces);
    if (!status) status = fem_mesh_make_groups(mesh, raw, &conversion, &faces);
    fem_faces_clear(mesh->context, &faces);
    fem_conversion_clear(mesh->context, &conversion);
    return status;
}

yoke_status fem_mesh_from_stream(yoke_context *context, const char *path, int64_t file_bytes, const fem_mesh_stream *stream,
                                 fem_mesh **mesh)
{
    fem_raw raw = {0};
    fem_mesh *made = NULL;
    yoke_status status = fem_raw_create(context, path, file_bytes, stream, &raw);
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

yoke_status fem_mesh_read(yoke_context *context, const char *path, const fem_mesh_limits *limits, fem_mesh **mesh)
{
    if (!path || !mesh) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "fem_mesh_read needs a path and a place for the mesh");
    fem_mesh_file file = {.absolute_path = NULL};
    fem_mesh_stream stream = {NULL, 0};
    yoke_status status = fem_mesh_recognise(context, path, &file);
    if (!status) status = fem_mesh_run_reader(context, path, &file, limits, &stream);
    if (!status) status = fem_mesh_from_stream(context, path, file.bytes, &stream, mesh);
    yoke_release(context, stream.bytes);
    fem_mesh_file_clear(context, &file);
    return status;
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
