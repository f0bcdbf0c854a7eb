/*
 * Checks the nodes and elements of a file of MSH 2 for errors that Gmsh does not report: of several nodes or elements with the same number
 * Gmsh keeps one, and it reads only as many elements as the first line of the section states.  An element may be listed several times, once
 * for each of its groups, but then always with the same nodes.  A node may be listed several times with the same coordinates.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/file/file.h"
#include "mesh/file/wire.h"

typedef struct numbered {
    int64_t number, place; /* place: line of a text file, or position in the section of a binary file, from 1 */
    uint64_t content;      /* hash of type and nodes, or of coordinates */
} numbered;

typedef struct scanner {
    yoke_context *context;
    const char *path;
    FILE *file;
    char *text; /* the current line */
    size_t size;
    bool binary, swapped; /* swapped: the file has the other byte order */
    int64_t line, count, capacity;
    numbered *item;
} scanner;

/* -------------------------------------------------------------------------------------------------- reading */

static bool next_line(scanner *scan)
{
    scan->line++;
    return getline(&scan->text, &scan->size, scan->file) > 0;
}

static void swap_bytes(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        const unsigned char kept = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = kept;
    }
}

/* Reads the next numbers of a binary section.  Returns false if the file ends before. */
static bool read_numbers(const scanner *scan, void *numbers, size_t size, size_t count)
{
    if (fread(numbers, size, count, scan->file) != count) return false;
    for (size_t i = 0; i < count && scan->swapped; i++) swap_bytes((unsigned char *)numbers + i * size, size);
    return true;
}

/* Reads the section $MeshFormat.  Returns false if it is not a file of MSH 2. */
static bool read_format(scanner *scan)
{
    double version = 0;
    int binary = 0;
    int32_t one = 1;
    if (!next_line(scan) || strncmp(scan->text, "$MeshFormat", 11) != 0 || !next_line(scan)) return false;
    if (sscanf(scan->text, "%lf %d", &version, &binary) != 2 || !(version < 3)) return false;
    scan->binary = binary != 0;
    if (scan->binary && !read_numbers(scan, &one, sizeof one, 1)) return false;
    scan->swapped = one != 1;
    return true;
}

/* As FNV-1a. */
static const uint64_t hash_of_nothing = UINT64_C(14695981039346656037);

static uint64_t add_to_hash(uint64_t hash, uint64_t value) { return (hash ^ value) * UINT64_C(1099511628211); }

static uint64_t hash_position(const double x[3])
{
    uint64_t hash = hash_of_nothing, bits;
    for (int axis = 0; axis < 3; axis++) {
        const double value = x[axis] + 0.0; /* -0 becomes 0 */
        memcpy(&bits, &value, sizeof bits);
        hash = add_to_hash(hash, bits);
    }
    return hash;
}

static yoke_status add(scanner *scan, int64_t number, int64_t place, uint64_t content)
{
    yoke_status status = yoke_grow(scan->context, &scan->item, scan->count, &scan->capacity, 1024, sizeof *scan->item);
    if (!status) scan->item[scan->count++] = (numbered){number, place, content};
    return status;
}

/* -------------------------------------------------------------------------------------------------- numbers */

static int by_number(const void *a, const void *b)
{
    const numbered *left = a, *right = b;
    if (left->number != right->number) return left->number < right->number ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* kind: "node", "element" */
static yoke_status check_numbers(const scanner *scan, const char *kind)
{
    if (scan->count > 0) qsort(scan->item, (size_t)scan->count, sizeof *scan->item, by_number);
    for (int64_t i = 1; i < scan->count; i++) {
        const numbered *one = &scan->item[i - 1], *other = &scan->item[i];
        if (one->number != other->number || one->content == other->content) continue;
        if (scan->binary)
            return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                             "mesh '%s': two %ss have the number %lld (places %lld and %lld in their section): give each its own",
                             scan->path, kind, (long long)one->number, (long long)one->place, (long long)other->place);
        return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                         "mesh '%s' line %lld: another %s has the number %lld, too (line %lld): give each %s its own", scan->path,
                         (long long)other->place, kind, (long long)other->number, (long long)one->place, kind);
    }
    return YOKE_OK;
}

static yoke_status fail_more(const scanner *scan, const char *place, long long stated)
{
    return yoke_fail(scan->context, YOKE_ERROR_INPUT,
                     "mesh '%s'%s: there are more elements than the %lld that the section's first line says: write the file again",
                     scan->path, place, stated);
}

/* ---------------------------------------------------------------------------------------------------- nodes */

/* A line holds number, x, y, and z.  Gmsh reports lines that do not. */
static yoke_status add_nodes_of_text(scanner *scan)
{
    yoke_status status = YOKE_OK;
    while (!status && next_line(scan) && scan->text[0] != '$') {
        char *at = NULL, *end = NULL;
        double x[3];
        const long long number = strtoll(scan->text, &at, 10);
        for (int axis = 0; axis < 3; axis++, at = end) x[axis] = strtod(at, &end);
        if (at != scan->text) status = add(scan, number, scan->line, hash_position(x));
    }
    return status;
}

static yoke_status add_nodes_of_bytes(scanner *scan, long long stated)
{
    yoke_status status = YOKE_OK;
    for (long long found = 0; !status && found < stated; found++) {
        int32_t number;
        double x[3];
        if (!read_numbers(scan, &number, sizeof number, 1) || !read_numbers(scan, x, sizeof *x, 3)) break;
        status = add(scan, number, found + 1, hash_position(x));
    }
    return status;
}

static yoke_status check_nodes(scanner *scan)
{
    if (!next_line(scan)) return YOKE_OK;
    scan->count = 0;
    yoke_status status = scan->binary ? add_nodes_of_bytes(scan, strtoll(scan->text, NULL, 10)) : add_nodes_of_text(scan);
    return status ? status : check_numbers(scan, "node");
}

/* ------------------------------------------------------------------------------------------------- elements */

/* A line holds number, type, number of tags, tags, and nodes.  Gmsh reports lines that do not. */
static yoke_status add_element_of_text(scanner *scan)
{
    char *at = scan->text, *end = NULL;
    long long head[3] = {0};
    for (int k = 0; k < 3; k++, at = end) head[k] = strtoll(at, &end, 10);
    for (long long k = 0; k < head[2] && *at; k++, at = end) {
        (void)strtoll(at, &end, 10);
        if (end == at) return YOKE_OK;
    }
    uint64_t hash = add_to_hash(hash_of_nothing, (uint64_t)head[1]);
    for (long long node = strtoll(at, &end, 10); end != at; at = end, node = strtoll(at, &end, 10))
        hash = add_to_hash(hash, (uint64_t)node);
    return add(scan, head[0], scan->line, hash);
}

static yoke_status add_elements_of_text(scanner *scan, long long stated)
{
    yoke_status status = YOKE_OK;
    long long found = 0;
    while (!status && next_line(scan) && scan->text[0] != '$') {
        char place[32];
        if (strspn(scan->text, " \t\r\n") == strlen(scan->text)) continue;
        snprintf(place, sizeof place, " line %lld", (long long)scan->line);
        if (++found > stated) return fail_more(scan, place, stated);
        status = add_element_of_text(scan);
    }
    return status;
}

/*
 * A block holds type, number of elements, and number of tags; then number, tags, and nodes of each element.  Types that are not read are
 * reported later (raw.c).
 */
static yoke_status add_elements_of_bytes(scanner *scan, long long stated)
{
    enum { TAGS = 1024, NODES = 27 };
    int32_t head[3], words[1 + TAGS + NODES];
    yoke_status status = YOKE_OK;
    for (long long found = 0; found < stated;) {
        if (!read_numbers(scan, head, sizeof *head, 3)) return YOKE_OK;
        const int nodes = fem_wire_nodes(head[0]);
        if (nodes == 0 || head[1] < 0 || head[2] < 0 || head[2] > TAGS) return YOKE_OK;
        for (int32_t i = 0; i < head[1] && !status; i++) {
            if (!read_numbers(scan, words, sizeof *words, (size_t)(1 + head[2] + nodes))) return YOKE_OK;
            uint64_t hash = add_to_hash(hash_of_nothing, (uint64_t)head[0]);
            for (int k = 0; k < nodes; k++) hash = add_to_hash(hash, (uint64_t)words[1 + head[2] + k]);
            status = add(scan, words[0], ++found, hash);
        }
        if (status) return status;
    }
    int next = getc(scan->file);
    while (isspace(next)) next = getc(scan->file);
    return next == '$' || next == EOF ? YOKE_OK : fail_more(scan, "", stated);
}

static yoke_status check_elements(scanner *scan)
{
    if (!next_line(scan)) return YOKE_OK;
    const long long stated = strtoll(scan->text, NULL, 10);
    scan->count = 0;
    yoke_status status = scan->binary ? add_elements_of_bytes(scan, stated) : add_elements_of_text(scan, stated);
    return status ? status : check_numbers(scan, "element");
}

yoke_status fem_mesh_check_msh(yoke_context *context, const char *path)
{
    scanner scan = {.context = context, .path = path, .file = fopen(path, "r")};
    yoke_status status = YOKE_OK;
    bool ended = false;
    if (!scan.file) return yoke_fail(context, YOKE_ERROR_INPUT, "mesh '%s' cannot be opened: %s", path, strerror(errno));
    if (read_format(&scan))
        while (!status && !ended && next_line(&scan)) {
            if (strncmp(scan.text, "$Nodes", 6) == 0) status = check_nodes(&scan);
            ended = strncmp(scan.text, "$Elements", 9) == 0;
            if (ended) status = check_elements(&scan);
        }
    free(scan.text);
    fclose(scan.file);
    yoke_release(context, scan.item);
    return status;
}
