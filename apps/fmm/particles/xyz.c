/* xyz.c - reads particles from XYZ files, plain or extended, frame by frame. */
#include <stdlib.h>
#include <string.h>

#include "particles/lines.h"
#include "particles/readers.h"

enum { MAX_COLUMNS = 64 };

struct fmm_xyz {
    yoke_context *context;
    fmm_lines lines;
    int64_t frames, capacity;
    fmm_place *place; /* [frames] */
};

/* Columns in the lines of a frame: those of the first coordinate and of the charge, and their minimum number. */
typedef struct layout {
    int position, charge, least;
    bool given; /* by Properties */
} layout;

/* Reads a whole number, alone in its line. */
static yoke_status read_count(const fmm_lines *lines, char *line, int64_t *count)
{
    char *word, *end;
    if (fmm_fields_cut(line, false, 1, &word) == 1 && strspn(word, "0123456789") == strlen(word)) {
        *count = strtoll(word, &end, 10);
        if (*count <= FMM_MAX_PARTICLES) return YOKE_OK;
        return fmm_lines_fail(lines, "%.40s particles; there may be up to %d", word, FMM_MAX_PARTICLES);
    }
    return fmm_lines_fail(lines, "expected the number of particles, alone in the line");
}

static bool names_charge(const char *name)
{
    return !strcmp(name, "charge") || !strcmp(name, "charges") || !strcmp(name, "initial_charges") || !strcmp(name, "q");
}

/* Reads Properties=species:S:1:pos:R:3:charge:R:1: triples of name, type and number of columns, up to a blank or in quotes. */
static yoke_status read_properties(const fmm_lines *lines, char *text, layout *l)
{
    int column = 0;
    *l = (layout){.position = -1, .charge = -1, .given = true};
    if (*text == '"') text++;
    text[strcspn(text, "\" \t")] = 0;
    for (char *name = text; name && *name;) {
        char *type = strchr(name, ':'), *width = type ? strchr(type + 1, ':') : NULL, *next;
        if (!width) return fmm_lines_fail(lines, "Properties: expected triples name:type:columns");
        *type = 0;
        long columns = strtol(width + 1, &next, 10);
        if (columns < 1 || columns > MAX_COLUMNS || (*next && *next != ':'))
            return fmm_lines_fail(lines, "Properties: expected a number of columns from 1 to %d after %.40s", MAX_COLUMNS, name);
        if (!strcmp(name, "pos") && columns == 3) l->position = column;
        if (names_charge(name) && columns == 1) l->charge = column;
        column += (int)columns;
        if (column > MAX_COLUMNS) return fmm_lines_fail(lines, "Properties: more than %d columns", MAX_COLUMNS);
        name = *next ? next + 1 : next;
    }
    l->least = column;
    if (l->position < 0) return fmm_lines_fail(lines, "Properties has no pos of 3 columns");
    if (l->charge < 0) return fmm_lines_fail(lines, "Properties has no charge (or charges, initial_charges, q) of 1 column");
    return YOKE_OK;
}

static yoke_status read_comment(const fmm_lines *lines, char *comment, layout *l)
{
    *l = (layout){.position = 1, .charge = 4, .least = 5};
    char *properties = strstr(comment, "Properties=");
    return properties ? read_properties(lines, properties + strlen("Properties="), l) : YOKE_OK;
}

static yoke_status read_particle(const fmm_lines *lines, const layout *l, char *line, fmm_particles *p, int64_t i)
{
    char *fields[MAX_COLUMNS];
    int count = fmm_fields_cut(line, false, MAX_COLUMNS, fields);
    if (count < l->least)
        return fmm_lines_fail(lines, "%d columns; expected %d%s", count, l->least, l->given ? " as in Properties" : ": kind x y z q");
    yoke_status status = fmm_lines_number(lines, fields[l->position], "x", p->x + i);
    if (!status) status = fmm_lines_number(lines, fields[l->position + 1], "y", p->y + i);
    if (!status) status = fmm_lines_number(lines, fields[l->position + 2], "z", p->z + i);
    if (!status) status = fmm_lines_number(lines, fields[l->charge], "q", p->charge + i);
    return status;
}

static yoke_status ended(const fmm_lines *lines, int64_t there, int64_t count)
{
    return fmm_lines_fail(lines, "the file ends after %lld of %lld particles: it is truncated, or the number is wrong", (long long)there,
                          (long long)count);
}

/* Skips the next frame, and records its position.  *more: there was a frame. */
static yoke_status find_frame(fmm_xyz *xyz, bool *more)
{
    fmm_lines *lines = &xyz->lines;
    fmm_place place;
    char *line;
    int64_t count = 0;
    do {
        place = lines->next;
        line = fmm_lines_next(lines);
    } while (line && !line[strspn(line, " \t\r")]);
    *more = line != NULL;
    if (!line) return YOKE_OK;
    yoke_status status = read_count(lines, line, &count);
    if (!status && fmm_lines_skip(lines, 1) < 1) status = ended(lines, 0, count);
    int64_t there = status ? 0 : fmm_lines_skip(lines, count);
    if (!status && there < count) status = ended(lines, there, count);
    if (!status) status = yoke_grow(lines->context, &xyz->place, xyz->frames, &xyz->capacity, 16, sizeof *xyz->place);
    if (!status) xyz->place[xyz->frames++] = place;
    return status;
}

yoke_status fmm_xyz_open(yoke_context *context, const char *path, fmm_xyz **xyz, int64_t *frames)
{
    fmm_xyz *created = NULL;
    bool more = true;
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_xyz){.context = context};
    status = fmm_lines_read(context, path, &created->lines);
    while (!status && more) status = find_frame(created, &more);
    if (status) {
        fmm_xyz_close(created);
        return status;
    }
    *xyz = created;
    *frames = created->frames;
    return YOKE_OK;
}

yoke_status fmm_xyz_read(fmm_xyz *xyz, int64_t frame, fmm_particles **particles)
{
    fmm_lines *lines = &xyz->lines;
    fmm_particles *created = NULL;
    int64_t count = 0;
    layout l = {0};
    lines->next = xyz->place[frame - 1];
    yoke_status status = read_count(lines, fmm_lines_next(lines), &count);
    if (!status) status = read_comment(lines, fmm_lines_next(lines), &l);
    if (!status) status = fmm_particles_create(xyz->context, count, &created);
    for (int64_t i = 0; i < count && !status; i++) status = read_particle(lines, &l, fmm_lines_next(lines), created, i);
    if (status)
        fmm_particles_destroy(created);
    else
        *particles = created;
    return status;
}

void fmm_xyz_close(fmm_xyz *xyz)
{
    if (!xyz) return;
    yoke_context *context = xyz->context;
    fmm_lines_release(&xyz->lines);
    yoke_release(context, xyz->place);
    yoke_release(context, xyz);
}
