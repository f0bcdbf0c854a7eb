/*
 * Gmsh's BDF reader passes over some of what a file says: coordinate systems of nodes, mid-nodes of elements whose lines are not joined by
 * continuation marks, and of elements that do not have all mid-nodes.  What it would read as another body is refused here.
 */
#include "mesh_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256, SMALL_FIELD = 8, LONG_FIELD = 16 };

typedef struct bdf_line {
    char text[LINE_BYTES];
    int64_t number;
} bdf_line;

static int is_free(const bdf_line *line) { return strchr(line->text, ',') != NULL; }

static int is_long(const bdf_line *line)
{
    size_t name = strcspn(line->text, "* ,");
    return !is_free(line) && name < SMALL_FIELD && line->text[name] == '*';
}

static int next_line(FILE *file, bdf_line *line)
{
    if (!fgets(line->text, sizeof line->text, file)) return 0;
    line->number++;
    line->text[strcspn(line->text, "\r\n")] = 0;
    return 1;
}

/* Copies data field k = 1, 2, ... of the line; 0 where there is none or it is blank. */
static int get_field(const bdf_line *line, int k, char field[LONG_FIELD + 1])
{
    const char *begin = line->text;
    size_t width = 0;
    if (is_free(line)) {
        for (int i = 0; i < k && begin; i++) {
            begin = strchr(begin, ',');
            begin = begin ? begin + 1 : NULL;
        }
        width = begin ? strcspn(begin, ",") : 0;
    } else {
        size_t each = is_long(line) ? LONG_FIELD : SMALL_FIELD, from = SMALL_FIELD + (size_t)(k - 1) * each;
        begin = from < strlen(line->text) ? line->text + from : NULL;
        width = each;
    }
    if (!begin) return 0;
    snprintf(field, LONG_FIELD + 1, "%.*s", (int)(width < LONG_FIELD ? width : LONG_FIELD), begin);
    return field[strspn(field, " \t")] != 0;
}

static int count_fields(const bdf_line *line)
{
    char field[LONG_FIELD + 1];
    int count = 0;
    for (int k = 1; k <= (is_long(line) ? 4 : 8); k++) count += get_field(line, k, field);
    return count;
}

static int continues(const bdf_line *line) { return line->text[0] && strchr("+*, ", line->text[0]) != NULL; }

static yoke_status check_grid(yoke_context *context, const char *path, const bdf_line *line)
{
    char field[LONG_FIELD + 1];
    if (get_field(line, 2, field) && strtol(field, NULL, 10) != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "mesh '%s' line %lld: the node is given in coordinate system %ld, which is not read: save the mesh in "
                         "the basic system",
                         path, (long long)line->number, strtol(field, NULL, 10));
    return YOKE_OK;
}

/* Leaves *line at the first line that does not belong to the element; *more: there is one. */
static yoke_status check_hexahedron(yoke_context *context, const char *path, FILE *file, bdf_line *line, int *more)
{
    char mark[LONG_FIELD + 1];
    int64_t first = line->number;
    int fields = count_fields(line), marked = !is_long(line), last_marked = get_field(line, 9, mark);
    while ((*more = next_line(file, line)) && continues(line)) {
        marked = marked && last_marked;
        fields += count_fields(line);
        last_marked = get_field(line, 9, mark);
    }
    int nodes = fields - 2;
    if (nodes != 8 && nodes != 20)
        return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: a hexahedron with %d nodes; 8 or 20 are expected, without gaps",
                         path, (long long)first, nodes);
    if (nodes == 20 && !marked)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "mesh '%s' line %lld: a hexahedron with 20 nodes whose lines are not joined by continuation marks (such as "
                         "+1 in columns 73 to 80), of which Gmsh reads 8: save the mesh with such marks",
                         path, (long long)first);
    return YOKE_OK;
}

static yoke_status check_lines(yoke_context *context, const char *path, FILE *file)
{
    bdf_line line = {"", 0};
    yoke_status status = YOKE_OK;
    int more = next_line(file, &line);
    while (more && !status) {
        if (strncmp(line.text, "CHEXA", 5) == 0) {
            status = check_hexahedron(context, path, file, &line, &more);
            continue;
        }
        if (strncmp(line.text, "GRID", 4) == 0) status = check_grid(context, path, &line);
        more = next_line(file, &line);
    }
    return status;
}

yoke_status fem_mesh_check_bdf(yoke_context *context, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be opened: %s", path, strerror(errno));
    yoke_status status = check_lines(context, path, file);
    fclose(file);
    return status;
}
