/*
 * Checks the elements of a text file of MSH 2 for errors that Gmsh does not report: of several elements with the same number Gmsh keeps
 * one, and it reads only as many elements as the first line of the section states.  An element may be listed several times, once for each
 * of its groups, but then always with the same nodes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/file/file.h"

typedef struct numbered {
    int64_t number, line;
    uint64_t nodes; /* hash of the type and the nodes */
} numbered;

typedef struct scanner {
    yoke_context *context;
    const char *path;
    FILE *file;
    char *text; /* the current line */
    size_t size;
    int64_t line, count, capacity;
    numbered *element;
} scanner;

static int next_line(scanner *scan)
{
    scan->line++;
    return getline(&scan->text, &scan->size, scan->file) > 0;
}

/* Goes on to the line after the heading of a section.  Returns 0 if the section is missing. */
static int find_section(scanner *scan, const char *name)
{
    while (next_line(scan))
        if (strncmp(scan->text, name, strlen(name)) == 0) return next_line(scan);
    return 0;
}

static uint64_t add_to_hash(uint64_t hash, long long value) { return (hash ^ (uint64_t)value) * UINT64_C(1099511628211); } /* as FNV-1a */

/* A line holds number, type, number of tags, tags, and nodes.  Gmsh reports lines that do not. */
static yoke_status add_element(scanner *scan)
{
    char *at = scan->text, *end = NULL;
    long long head[3] = {0};
    for (int k = 0; k < 3; k++, at = end) head[k] = strtoll(at, &end, 10);
    for (long long k = 0; k < head[2] && *at; k++, at = end) {
        (void)strtoll(at, &end, 10);
        if (end == at) return YOKE_OK;
    }
    uint64_t hash = add_to_hash(UINT64_C(14695981039346656037), head[1]);
    for (long long node = strtoll(at, &end, 10); end != at; at = end, node = strtoll(at, &end, 10)) hash = add_to_hash(hash, node);
    yoke_status status = yoke_grow(scan->context, &scan->element, scan->count, &scan->capacity, 1024, sizeof *scan->element);
    if (!status) scan->element[scan->count++] = (numbered){head[0], scan->line, hash};
    return status;
}

static int by_number(const void *a, const void *b)
{
    const numbered *left = a, *right = b;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

static yoke_status check_numbers(const scanner *scan)
{
    if (scan->count > 0) qsort(scan->element, (size_t)scan->count, sizeof *scan->element, by_number);
    for (int64_t i = 1; i < scan->count; i++) {
        const numbered *one = &scan->element[i - 1], *other = &scan->element[i];
        if (one->number == other->number && one->nodes != other->nodes)
            return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                             "mesh '%s' line %lld: another element has the number %lld, too (line %lld): give each element its own",
                             scan->path, (long long)other->line, (long long)other->number, (long long)one->line);
    }
    return YOKE_OK;
}

static yoke_status check_elements(scanner *scan)
{
    yoke_status status = YOKE_OK;
    if (!find_section(scan, "$Elements")) return YOKE_OK;
    const long long stated = strtoll(scan->text, NULL, 10);
    long long found = 0;
    while (!status && next_line(scan) && scan->text[0] != '$') {
        if (strspn(scan->text, " \t\r\n") == strlen(scan->text)) continue;
        if (++found > stated)
            return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                             "mesh '%s' line %lld: there are more elements than the %lld that the section's first line says: write the "
                             "file again",
                             scan->path, (long long)scan->line, stated);
        status = add_element(scan);
    }
    return status ? status : check_numbers(scan);
}

yoke_status fem_mesh_check_msh(yoke_context *context, const char *path)
{
    double version = 0;
    int binary = 1;
    scanner scan = {.context = context, .path = path, .file = fopen(path, "r")};
    yoke_status status = YOKE_OK;
    if (!scan.file) return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be opened: %s", path, strerror(errno));
    if (find_section(&scan, "$MeshFormat") && sscanf(scan.text, "%lf %d", &version, &binary) == 2 && version < 3 && binary == 0)
        status = check_elements(&scan);
    free(scan.text);
    fclose(scan.file);
    yoke_release(context, scan.element);
    return status;
}
