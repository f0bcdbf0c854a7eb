#include <stdlib.h>
#include <string.h>

#include "particles/lines.h"
#include "particles/readers.h"

enum { MAX_COLUMNS = 64 };

/* Columns of a frame's lines: of the first coordinate and of the charge, and how many there are at least. */
typedef struct layout {
    int position, charge, least;
    bool given; /* by Properties */
} layout;

/* A whole number, alone in its line. */
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

/* Properties=species:S:1:pos:R:3:charge:R:1, triples of name, type and number of columns; up to a blank, or within quotes. */
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

/* The lines of a frame behind its first; particles NULL: they are passed over. */
static yoke_status read_frame(fmm_lines *lines, int64_t count, fmm_particles *particles)
{
    layout l = {0};
    char *line = fmm_lines_next(lines);
    if (!line) return ended(lines, 0, count);
    yoke_status status = particles ? read_comment(lines, line, &l) : YOKE_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        line = fmm_lines_next(lines);
        if (!line) return ended(lines, i, count);
        if (particles) status = read_particle(lines, &l, line, particles, i);
    }
    return status;
}

/* Whether as many lines follow the comment, before memory is asked for: counted only where the bytes are too few for lines of four columns. */
static yoke_status check_left(const fmm_lines *lines, int64_t count)
{
    if (count <= (lines->size - lines->at) / 8) return YOKE_OK;
    int64_t left = fmm_lines_left(lines) - 1;
    return count > 0 && count > left ? ended(lines, left > 0 ? left : 0, count) : YOKE_OK;
}

/* Passes over or reads the next frame; *more: there was one. */
static yoke_status next_frame(fmm_lines *lines, bool wanted, fmm_particles **particles, bool *more)
{
    char *line;
    int64_t count = 0;
    do line = fmm_lines_next(lines);
    while (line && !line[strspn(line, " \t\r")]);
    *more = line != NULL;
    if (!line) return YOKE_OK;
    yoke_status status = read_count(lines, line, &count);
    if (!status && wanted) status = check_left(lines, count);
    if (!status && wanted) status = fmm_particles_create(lines->context, count, particles);
    return status ? status : read_frame(lines, count, wanted ? *particles : NULL);
}

yoke_status fmm_xyz_read(yoke_context *context, const char *path, int64_t frame, fmm_particles **particles, int64_t *frames)
{
    fmm_lines lines;
    fmm_particles *created = NULL;
    bool more = true;
    int64_t found = 0;
    yoke_status status = fmm_lines_read(context, path, &lines);
    if (status) return status;
    while (!status && more) {
        status = next_frame(&lines, found + 1 == frame, &created, &more);
        found += !status && more;
    }
    if (!status && !created)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: there is no frame %lld; it has %lld", path, (long long)frame, (long long)found);
    fmm_lines_release(&lines);
    if (status) {
        fmm_particles_destroy(created);
        return status;
    }
    *particles = created;
    *frames = found;
    return YOKE_OK;
}
