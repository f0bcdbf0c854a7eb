/*
 * What Gmsh's UNV reader passes over and changes the body: the file's unit of length (dataset 164), and nodes in coordinate systems of their
 * own (in dataset 2411 of the SDRC I-DEAS universal file format, "export coordinate system"; systems are in dataset 2420).
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/file/file.h"

enum { LINE_BYTES = 256 };

typedef struct scanner {
    yoke_context *context;
    const char *path;
    FILE *file;
    int64_t line;
    double scale; /* of the options */
    char text[LINE_BYTES];
} scanner;

static int next_line(scanner *scan)
{
    if (!fgets(scan->text, sizeof scan->text, scan->file)) return 0;
    scan->line++;
    for (int c = 0; !strchr(scan->text, '\n') && c != EOF && c != '\n';) c = getc(scan->file);
    return 1;
}

static int is_delimiter(const char *text)
{
    while (*text == ' ') text++;
    return strncmp(text, "-1", 2) == 0 && (text[2] == 0 || isspace((unsigned char)text[2]));
}

/* Record 2 begins with the factor by which metres become the file's unit. */
static yoke_status check_units(scanner *scan)
{
    if (!next_line(scan) || is_delimiter(scan->text) || !next_line(scan) || is_delimiter(scan->text)) return YOKE_OK;
    for (char *at = scan->text; *at; at++)
        if (*at == 'D' || *at == 'd') *at = 'E';
    char *end = NULL;
    double factor = strtod(scan->text, &end);
    if (end == scan->text || !(factor > 0) || !isfinite(factor))
        return yoke_fail(scan->context, YOKE_ERROR_INPUT, "mesh '%s' line %lld: the unit of length (dataset 164) is no factor above 0",
                         scan->path, (long long)scan->line);
    if (scan->scale > 0 || fabs(factor - 1) < 1e-6) return YOKE_OK;
    return yoke_fail(
        scan->context, YOKE_ERROR_INPUT,
        "mesh '%s' line %lld: the file's unit of length is %g m (dataset 164): write in the case 'mesh_scale: %g' for metres, or "
        "'mesh_scale: 1' to take the numbers as they are",
        scan->path, (long long)scan->line, 1 / factor, 1 / factor);
}

/* Nodes come in pairs of lines, of which the first has label, system of the position, system of the displacement, and colour. */
static yoke_status check_nodes(scanner *scan)
{
    while (next_line(scan) && !is_delimiter(scan->text)) {
        long long label = 0, system = 0;
        if (sscanf(scan->text, "%lld %lld", &label, &system) == 2 && system != 0 && system != 1)
            return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                             "mesh '%s' line %lld: node %lld is given in coordinate system %lld, which is not read: save the mesh in the "
                             "global system",
                             scan->path, (long long)scan->line, label, system);
        if (!next_line(scan)) break;
    }
    return YOKE_OK;
}

/* A system of type 0 is Cartesian; number 1, to which writers refer as the global one, must be that. */
static yoke_status check_systems(scanner *scan)
{
    static const double unit[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
    for (int k = 0; k < 2; k++)
        if (!next_line(scan) || is_delimiter(scan->text)) return YOKE_OK; /* the part, its name */
    while (next_line(scan) && !is_delimiter(scan->text)) {
        long long label = 0, type = 0;
        if (sscanf(scan->text, "%lld %lld", &label, &type) != 2) return YOKE_OK;
        int global = type == 0;
        int64_t line = scan->line;
        if (!next_line(scan)) return YOKE_OK; /* its name */
        for (int row = 0; row < 4; row++) {
            double x[3] = {0};
            if (!next_line(scan)) return YOKE_OK;
            for (char *at = scan->text; *at; at++)
                if (*at == 'D' || *at == 'd') *at = 'E';
            global = global && sscanf(scan->text, "%lf %lf %lf", &x[0], &x[1], &x[2]) == 3;
            for (int axis = 0; axis < 3; axis++) global = global && fabs(x[axis] - unit[row][axis]) < 1e-9;
        }
        if (label == 1 && !global)
            return yoke_fail(
                scan->context, YOKE_ERROR_INPUT,
                "mesh '%s' line %lld: coordinate system 1 (dataset 2420) is not the global one, which alone is read: save the mesh "
                "in the global system",
                scan->path, (long long)line);
    }
    return YOKE_OK;
}

static yoke_status check_datasets(scanner *scan)
{
    yoke_status status = YOKE_OK;
    while (!status && next_line(scan)) {
        if (!is_delimiter(scan->text) || !next_line(scan)) continue;
        while (is_delimiter(scan->text) && next_line(scan)) continue;
        long dataset = strtol(scan->text, NULL, 10);
        if (dataset == 164)
            status = check_units(scan);
        else if (dataset == 2411)
            status = check_nodes(scan);
        else if (dataset == 2420)
            status = check_systems(scan);
        while (!status && !is_delimiter(scan->text) && next_line(scan)) continue;
    }
    return status;
}

yoke_status fem_mesh_check_unv(yoke_context *context, const char *path, double scale)
{
    scanner scan = {.context = context, .path = path, .file = fopen(path, "r"), .scale = scale};
    if (!scan.file) return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be opened: %s", path, strerror(errno));
    yoke_status status = check_datasets(&scan);
    fclose(scan.file);
    return status;
}
