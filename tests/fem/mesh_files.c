#include "mesh_files.h"

#include <dirent.h>

int mesh_files_create(void **state)
{
    mesh_files *files = calloc(1, sizeof *files);
    strcpy(files->directory, "/tmp/yoke-test-XXXXXX");
    if (!mkdtemp(files->directory)) return 1;
    setenv("TMPDIR", files->directory, 1);
    yoke_options options = failing_options(&files->memory);
    *state = files;
    return yoke_context_create(&options, &files->context) != YOKE_OK;
}

/* Removes the directory's files; counts those that the reader has left. */
static int remove_files(const char *directory)
{
    int left = 0;
    DIR *opened = opendir(directory);
    for (struct dirent *entry; opened && (entry = readdir(opened)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        left += strncmp(entry->d_name, "yoke-mesh-", 10) == 0;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(path) != 0) rmdir(path);
    }
    closedir(opened);
    rmdir(directory);
    return left;
}

int mesh_files_destroy(void **state)
{
    mesh_files *files = *state;
    yoke_context_destroy(files->context);
    int left = remove_files(files->directory);
    int64_t outstanding = files->memory.outstanding;
    free(files);
    if (left > 0 || outstanding != 0) fprintf(stderr, "left behind: %d directories, %lld allocations\n", left, (long long)outstanding);
    return left > 0 || outstanding != 0;
}

static char *next_path(void)
{
    static char paths[4][1024];
    static int next;
    return paths[next++ % 4];
}

const char *shipped_path(const char *file)
{
    const char *source = getenv("YOKE_SOURCE_DIR");
    assert_non_null(source);
    char *path = next_path();
    snprintf(path, 1024, "%s/%s", source, file);
    return path;
}

const char *own_path(const mesh_files *files, const char *file)
{
    char *path = next_path();
    snprintf(path, 1024, "%s/%s", files->directory, file);
    return path;
}

void write_text(const char *path, const char *text) { whole_file_write(path, text, strlen(text)); }

fem_mesh *must_read(const mesh_files *files, const char *path)
{
    fem_mesh *mesh = NULL;
    if (fem_mesh_read(files->context, path, NULL, &mesh) != YOKE_OK) fail_msg("%s", yoke_last_error(files->context));
    return mesh;
}

void must_refuse(const mesh_files *files, const char *path, ...)
{
    fem_mesh *mesh = NULL;
    yoke_status status = fem_mesh_read(files->context, path, NULL, &mesh);
    const char *said = yoke_last_error(files->context);
    if (status != YOKE_ERROR_INPUT) fail_msg("status %d (%s) instead of bad input", (int)status, said);
    assert_null(mesh);
    if (!strstr(said, path)) fail_msg("'%s' does not name the file", said);
    va_list texts;
    va_start(texts, path);
    for (const char *text; (text = va_arg(texts, const char *)) != NULL;)
        if (!strstr(said, text)) fail_msg("'%s' does not say '%s'", said, text);
    va_end(texts);
}

/* ------------------------------------------------------------------------------------------------ sketches */

void sketch_node(sketch *drawn, int number, const char *x, const char *y, const char *z)
{
    int n = drawn->num_nodes++;
    drawn->nodes[n].number = number;
    drawn->nodes[n].x = x;
    drawn->nodes[n].y = y;
    drawn->nodes[n].z = z;
}

void sketch_add(sketch *drawn, int number, int type, int group, int entity, ...)
{
    sketch_element *element = &drawn->elements[drawn->num_elements++];
    *element = (sketch_element){.number = number, .type = type, .group = group, .entity = entity};
    va_list nodes;
    va_start(nodes, entity);
    for (int i = 0, node; (node = va_arg(nodes, int)) != 0; i++) element->node[i] = node;
    va_end(nodes);
}

sketch two_cubes(void)
{
    static const char *const digits[3] = {"0", "1", "2"};
    sketch drawn = {.names = "2\n2 2 \"left\"\n3 1 \"body\"\n"};
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 3; i++) sketch_node(&drawn, 100 + 10 * k + 5 * j + i + 1, digits[i], digits[j], digits[k]);
    sketch_add(&drawn, 21, 3, 2, 1, 101, 106, 116, 111, 0);
    sketch_add(&drawn, 11, 5, 1, 1, 101, 102, 107, 106, 111, 112, 117, 116, 0);
    sketch_add(&drawn, 12, 5, 1, 1, 102, 103, 108, 107, 112, 113, 118, 117, 0);
    return drawn;
}

const char *sketch_write(const mesh_files *files, const sketch *drawn, const char *file)
{
    const char *path = own_path(files, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n");
    if (drawn->names) fprintf(out, "$PhysicalNames\n%s$EndPhysicalNames\n", drawn->names);
    fprintf(out, "$Nodes\n%d\n", drawn->num_nodes);
    for (int i = 0; i < drawn->num_nodes; i++)
        fprintf(out, "%d %s %s %s\n", drawn->nodes[i].number, drawn->nodes[i].x, drawn->nodes[i].y, drawn->nodes[i].z);
    fprintf(out, "$EndNodes\n$Elements\n%d\n", drawn->num_elements);
    for (int i = 0; i < drawn->num_elements; i++) {
        const sketch_element *element = &drawn->elements[i];
        fprintf(out, "%d %d 2 %d %d", element->number, element->type, element->group, element->entity);
        for (int k = 0; k < 20 && element->node[k]; k++) fprintf(out, " %d", element->node[k]);
        fprintf(out, "\n");
    }
    fprintf(out, "$EndElements\n");
    assert_int_equal(fclose(out), 0);
    return path;
}
