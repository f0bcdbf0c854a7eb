/* Checks whether the content of a mesh file agrees with its extension. */
#include "mesh/file/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLE = 65536 };

/* The beginning and the end of a file, both terminated by a zero byte. */
typedef struct sample {
    char head[SAMPLE + 1], tail[SAMPLE + 1];
    size_t head_bytes, tail_bytes;
} sample;

static const char *const expected = "expected a mesh file .msh (MSH 2.2 or 4.x), .unv, .bdf, .nas or .med";

static yoke_status fail(yoke_context *context, const char *path, const char *text)
{
    return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' %s", path, text);
}

static yoke_status read_part(yoke_context *context, const char *path, int descriptor, int64_t from, int64_t bytes, char *part)
{
    int64_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(descriptor, part + done, (size_t)(bytes - done), (off_t)(from + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be read: %s", path,
                             got < 0 ? strerror(errno) : "it became shorter");
        done += got;
    }
    part[bytes] = 0;
    return YOKE_OK;
}

static yoke_status take_sample(yoke_context *context, const char *path, int descriptor, int64_t size, sample *part)
{
    int64_t bytes = size < SAMPLE ? size : SAMPLE;
    part->head_bytes = part->tail_bytes = (size_t)bytes;
    yoke_status status = read_part(context, path, descriptor, 0, bytes, part->head);
    if (!status) status = read_part(context, path, descriptor, size - bytes, bytes, part->tail);
    return status;
}

/* Returns the last line that is not blank, and its length in *length. */
static const char *last_line(const char *text, size_t bytes, size_t *length)
{
    while (bytes > 0 && isspace((unsigned char)text[bytes - 1])) bytes--;
    size_t begin = bytes;
    while (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r') begin--;
    while (begin < bytes && isblank((unsigned char)text[begin])) begin++;
    *length = bytes - begin;
    return text + begin;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Whether the line closes a section of an MSH file.  A file that ends with such a line is not truncated. */
static int closes_section(const char *line, size_t length)
{
    static const char *const sections[] = {"Elements", "Periodic",      "NodeData",      "ElementData",         "ElementNodeData",
                                           "Nodes",    "Entities",      "MeshFormat",    "InterpolationScheme", "PartitionedEntities",
                                           "Comments", "PhysicalNames", "GhostElements", "Parametrizations"};
    if (length < 4 || strncmp(line, "$End", 4) != 0) return 0;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (length - 4 == strlen(sections[i]) && strncmp(line + 4, sections[i], length - 4) == 0) return 1;
    return 0;
}

static yoke_status check_msh(yoke_context *context, const char *path, const sample *part)
{
    static const char first[] = "$MeshFormat";
    if (strncmp(part->head, first, sizeof first - 1) != 0 || !isspace((unsigned char)part->head[sizeof first - 1]))
        return fail(context, path,
                    "does not begin with $MeshFormat: it is no MSH file of version 2.2 or 4.x; save the mesh with "
                    "`gmsh -save -format msh41`");
    double version = 0;
    int binary = -1, size = 0;
    if (sscanf(next_line(part->head), "%lf %d %d", &version, &binary, &size) != 3)
        return fail(context, path, "has no version, file type and data size in its second line: the MSH file is damaged");
    if (!((version >= 2 && version < 3) || (version >= 4 && version < 5)))
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "mesh '%s' has MSH version %g; versions 2.2 and 4.x are read: save it with `gmsh -save -format msh41`", path,
                         version);
    if ((binary != 0 && binary != 1) || size != 8)
        return fail(context, path, "has a file type or data size in its second line that MSH does not know: the file is damaged");
    size_t length = 0;
    const char *line = last_line(part->tail, part->tail_bytes, &length);
    if (!closes_section(line, length))
        return fail(context, path, "does not end with a line such as $EndElements: the MSH file is truncated; write it again");
    return YOKE_OK;
}

static yoke_status check_unv(yoke_context *context, const char *path, const sample *part)
{
    const char *line = part->head;
    while (*line && isspace((unsigned char)*line) && strncmp(line, "    -1", 6) != 0) line++;
    int dataset = 0;
    if (strncmp(line, "    -1", 6) != 0 || sscanf(next_line(line), "%d", &dataset) != 1 || dataset <= 0)
        return fail(context, path, "does not begin with a dataset (a line with -1 in columns 5 and 6, then its number): it is no UNV file");
    size_t length = 0;
    const char *last = last_line(part->tail, part->tail_bytes, &length);
    if (length != 2 || strncmp(last, "-1", 2) != 0)
        return fail(context, path, "does not end with a line -1: the UNV file is truncated; write it again");
    return YOKE_OK;
}

static int starts_with_one_of(const char *line, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncasecmp(line, words[i], strlen(words[i])) == 0) return 1;
    return 0;
}

static yoke_status check_bdf(yoke_context *context, const char *path, const sample *part)
{
    static const char *const words[] = {"GRID", "CHEXA", "BEGIN BULK", "CEND", "SOL ", "NASTRAN"};
    int found = 0;
    if (strlen(part->head) == part->head_bytes)
        for (const char *line = part->head; *line && !found; line = next_line(line))
            found = starts_with_one_of(line, words, sizeof words / sizeof *words);
    if (!found) return fail(context, path, "has no line that begins with GRID, CHEXA, BEGIN BULK, CEND, SOL or NASTRAN: it is no BDF file");
    size_t length = 0, bytes = part->tail_bytes;
    const char *line = last_line(part->tail, bytes, &length);
    while (length > 0 && *line == '$') { /* comments may follow */
        bytes = (size_t)(line - part->tail);
        line = last_line(part->tail, bytes, &length);
    }
    if (length < 7 || strncasecmp(line, "ENDDATA", 7) != 0)
        return fail(context, path, "does not end with ENDDATA: the BDF file is truncated; write it again (or add the line)");
    return YOKE_OK;
}

static yoke_status check_med(yoke_context *context, const char *path, const sample *part)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    if (part->head_bytes < sizeof signature || memcmp(part->head, signature, sizeof signature) != 0)
        return fail(context, path, "does not begin with HDF5's signature: it is no MED file of version 3 or later");
    return YOKE_OK;
}

static yoke_status check_content(yoke_context *context, const char *path, const char *extension, const sample *part)
{
    switch (extension[1]) {
    case 'm':
        return extension[2] == 's' ? check_msh(context, path, part) : check_med(context, path, part);
    case 'u':
        return check_unv(context, path, part);
    default:
        return check_bdf(context, path, part);
    }
}

static const char *find_dot(const char *path)
{
    const char *base = strrchr(path, '/');
    return strrchr(base ? base : path, '.');
}

static const char *find_extension(const char *path)
{
    const char *dot = find_dot(path);
    if (!dot) return NULL;
#define FIND(extension, canonical, name) \
    if (strcasecmp(dot, extension) == 0) return canonical;
    FEM_MESH_FORMATS(FIND)
#undef FIND
    return NULL;
}

bool fem_mesh_is_name_of_geometry(const char *path)
{
    static const char *const cad[] = {".geo", ".geo_unrolled", ".step", ".stp", ".iges", ".igs", ".brep", ".stl"};
    const char *dot = find_dot(path);
    bool is = find_extension(path) != NULL;
    for (size_t i = 0; i < sizeof cad / sizeof *cad && dot; i++) is = is || strcasecmp(dot, cad[i]) == 0;
    return is;
}

static yoke_status inspect(yoke_context *context, const char *path, int descriptor, const char *extension, int64_t *bytes)
{
    struct stat facts;
    if (fstat(descriptor, &facts) != 0) return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode)) return fail(context, path, "is not a regular file");
    if (facts.st_size == 0) return fail(context, path, "is empty");
    sample *part = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *part, &part);
    if (!status) status = take_sample(context, path, descriptor, facts.st_size, part);
    if (!status) status = check_content(context, path, extension, part);
    yoke_release(context, part);
    *bytes = facts.st_size;
    return status;
}

/* The link to the mesh is in another directory, so its target must be an absolute path. */
static yoke_status copy_absolute_path(yoke_context *context, const char *path, char **copy)
{
    char directory[PATH_MAX] = "";
    if (path[0] != '/' && !getcwd(directory, sizeof directory))
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "the working directory has no name: %s", strerror(errno));
    size_t bytes = strlen(directory) + strlen(path) + 2;
    yoke_status status = yoke_allocate(context, (int64_t)bytes, 1, copy);
    if (!status) snprintf(*copy, bytes, "%s%s%s", directory, path[0] == '/' ? "" : "/", path);
    return status;
}

yoke_status fem_mesh_recognise(yoke_context *context, const char *path, fem_mesh_file *file)
{
    const char *extension = find_extension(path);
    if (!extension) return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' has an unknown extension: %s", path, expected);
    /* Without O_NONBLOCK, opening a named pipe would block. */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be opened: %s", path, strerror(errno));
    fem_mesh_file found = {.extension = extension};
    yoke_status status = inspect(context, path, descriptor, extension, &found.bytes);
    close(descriptor);
    if (!status) status = copy_absolute_path(context, path, &found.absolute_path);
    if (!status && strcmp(extension, ".bdf") == 0) status = fem_mesh_rewrite_bdf(context, path, &found.text, &found.text_bytes);
    if (status)
        fem_mesh_file_clear(context, &found);
    else
        *file = found;
    return status;
}

void fem_mesh_file_clear(yoke_context *context, fem_mesh_file *file)
{
    yoke_release(context, file->absolute_path);
    yoke_release(context, file->text);
    file->absolute_path = file->text = NULL;
}
