#include "checkpoint/identity.h"

#include <stdio.h>
#include <string.h>

#include <zlib.h>

#include "common/files/record.h"

/* Keys, or beginnings of keys, whose values may change before a restart. */
static const char *const changeable[] = {"mesh",    "refine.steps", "refine.tolerance", "refine.fraction", "refine.max_elements",
                                         "solver.", "objective.",   "energy.",          "output.",         "checkpoint."};

/*
 * An entry that ends with a point stands for all keys that begin with it.  `mesh` may change because the mesh itself is compared by its
 * checksum.
 */
static int may_change(const char *key)
{
    for (size_t i = 0; i < sizeof changeable / sizeof changeable[0]; i++) {
        const size_t length = strlen(changeable[i]);
        if (changeable[i][length - 1] == '.' ? !strncmp(key, changeable[i], length) : !strcmp(key, changeable[i])) return 1;
    }
    return 0;
}

static void keep_value(const char *key, const char *value, void *user)
{
    json_t *values = user;
    if (!may_change(key)) json_object_set_new(values, key, app_json_text(value));
}

static json_t *values_of(const fem_case *input)
{
    json_t *values = json_object();
    app_schema_values(fem_case_schema, &input->keys, keep_value, values);
    return values;
}

static uint32_t add(uint32_t checksum, const void *data, int64_t count, size_t size)
{
    return (uint32_t)crc32_z(checksum, data, (size_t)count * size);
}

/* Checksum of everything in the mesh that a solution depends on: geometry, neighbours, volumes, and members of groups. */
static uint32_t mesh_checksum(const fem_mesh *mesh)
{
    const int64_t positions = mesh->order == 2 ? 27 : 8, elements = mesh->num_elements;
    uint32_t checksum = (uint32_t)crc32_z(0, NULL, 0);
    checksum = add(checksum, mesh->vertices, 3 * mesh->num_vertices, sizeof *mesh->vertices);
    checksum = add(checksum, mesh->corners, 8 * elements, sizeof *mesh->corners);
    checksum = add(checksum, mesh->geometry, 3 * positions * elements, sizeof *mesh->geometry);
    checksum = add(checksum, mesh->volume, elements, sizeof *mesh->volume);
    for (int g = 0; g < mesh->num_groups; g++) {
        const fem_group *group = &mesh->groups[g];
        checksum = add(checksum, group->name, (int64_t)strlen(group->name) + 1, 1);
        checksum = add(checksum, group->element, group->count, sizeof *group->element);
        if (group->local) checksum = add(checksum, group->local, group->count, sizeof *group->local);
    }
    return checksum;
}

json_t *fem_identity(const fem_case *input, const fem_mesh *mesh)
{
    return json_pack("{s:I, s:I, s:I, s:o}", "mesh", (json_int_t)mesh_checksum(mesh), "hexahedra", (json_int_t)mesh->num_elements,
                     "heat_case", (json_int_t)input->heat_checksum, "case", values_of(input));
}

static yoke_status fail_of_key(const fem_case *input, const char *path, const char *key, const json_t *was, const json_t *is)
{
    static const char *const nothing = "not given";
    const char *before = json_string_value(was), *now = json_string_value(is);
    return yoke_fail(input->context, YOKE_ERROR_INPUT,
                     "%s belongs to another case: %s was %s, and is %s in %s; restart it as it was, or start again without --restart", path,
                     key, before ? before : nothing, now ? now : nothing, input->path);
}

/* Returns the first key of `a` whose value differs in `b`, or NULL. */
static const char *other_key(json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach (a, key, value)
        if (!json_equal(value, json_object_get(b, key))) return key;
    return NULL;
}

yoke_status fem_identity_check(const fem_case *input, const fem_mesh *mesh, const json_t *identity, const char *path)
{
    yoke_context *context = input->context;
    json_int_t checksum = 0, hexahedra = 0, heat = input->heat_checksum;
    json_t *was = NULL, *is = values_of(input);
    yoke_status status = YOKE_OK;
    if (!is) return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the keys of %s", input->path);
    if (json_unpack((json_t *)identity, "{s:I, s:I, s?I, s:o}", "mesh", &checksum, "hexahedra", &hexahedra, "heat_case", &heat, "case",
                    &was) != 0 ||
        !json_is_object(was))
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: is damaged: it does not say which case and mesh it belongs to", path);
    const char *key = status ? NULL : other_key(was, is);
    if (!status && !key) key = other_key(is, was);
    if (key) status = fail_of_key(input, path, key, json_object_get(was, key), json_object_get(is, key));
    if (!status && (checksum != (json_int_t)mesh_checksum(mesh) || hexahedra != mesh->num_elements))
        status = yoke_fail(context, YOKE_ERROR_INPUT,
                           "%s belongs to another mesh: %s has %lld hexahedra and has changed since, which had %lld; restart with the mesh "
                           "as it was, or start again without --restart",
                           path, mesh->path, (long long)mesh->num_elements, (long long)hexahedra);
    if (!status && heat != (json_int_t)input->heat_checksum)
        status =
            yoke_fail(context, YOKE_ERROR_INPUT,
                      "%s belongs to another heat case: %s, which temperature.case names, has changed since; restart with it as it was, or "
                      "begin anew without --restart",
                      path, input->heat_path);
    json_decref(is);
    return status;
}
