/* xyz.c - reads particles from XYZ files, plain or extended, frame by frame. */
#include <stdlib.h>
#include <string.h>

#include "particles/line_parts.h"
#include "particles/readers.h"
#include "particles/xyz_comment.h"

enum { MAX_COLUMNS = 64 };

struct fmm_xyz {
    yoke_context *context;
    fmm_lines lines;
    int64_t frames, capacity;
    fmm_place *place; /* [frames] */
};

/* Columns in the lines of a frame: those of the kind (-1: none), the first coordinate and the charge, and their number. */
typedef struct layout {
    int kind, position, charge, number;
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

/* Reads species:S:1:pos:R:3:charge:R:1: triples of name, type and number of columns. */
static yoke_status read_properties(const fmm_lines *lines, char *text, layout *l)
{
    int column = 0;
    *l = (layout){.kind = -1, .position = -1, .charge = -1, .given = true};
    for (char *name = text; name && *name;) {
        char *type = strchr(name, ':'), *width = type ? strchr(type + 1, ':') : NULL, *next;
        if (!width) return fmm_lines_fail(lines, "Properties: expected triples name:type:columns");
        *type = 0;
        long columns = strtol(width + 1, &next, 10);
        if (columns < 1 || columns > MAX_COLUMNS || (*next && *next != ':'))
            return fmm_lines_fail(lines, "Properties: expected a number of columns from 1 to %d after %.40s", MAX_COLUMNS, name);
        if (!strcmp(name, "species") && columns == 1) l->kind = column;
        if (!strcmp(name, "pos") && columns == 3) l->position = column;
        if (names_charge(name) && columns == 1) {
            if (l->charge >= 0) return fmm_lines_fail(lines, "Properties has two columns of charges; rename the one that is not meant");
            l->charge = column;
        }
        column += (int)columns;
        if (column > MAX_COLUMNS) return fmm_lines_fail(lines, "Properties: more than %d columns", MAX_COLUMNS);
        name = *next ? next + 1 : next;
    }
    l->number = column;
    if (l->position < 0) return fmm_lines_fail(lines, "Properties has no pos of 3 columns");
    if (l->charge < 0) return fmm_lines_fail(lines, "Properties has no charge (or charges, initial_charges, q) of 1 column");
    return YOKE_OK;
}

static yoke_status read_comment(const fmm_lines *lines, char *comment, layout *l, fmm_notes *notes)
{
    char *properties;
    *l = (layout){.kind = 0, .position = 1, .charge = 4, .number = 5};
    yoke_status status = fmm_xyz_comment_read(lines->context, comment, notes, &properties);
    return status || !properties ? status : read_properties(lines, properties, l);
}

/* What the lines of a frame's particles are read into. */
typedef struct table {
    const layout *layout;
    fmm_particles *particles;
    int64_t begin; /* offset of the first line */
    char *kinds;   /* [bytes of the lines] the kinds of each part begin where its lines begin; NULL: there are none */
} table;

static yoke_status read_particle(const fmm_lines *lines, fmm_line_part *part, char *line, int64_t i, void *user)
{
    const table *t = user;
    const layout *l = t->layout;
    fmm_particles *p = t->particles;
    char *fields[MAX_COLUMNS];
    int count = fmm_fields_cut(line, false, MAX_COLUMNS, fields);
    if (count != l->number)
        return fmm_lines_fail(lines, "%d columns; expected %d%s", count, l->number,
                              l->given ? " as in Properties" : ": kind x y z q (Properties=... in the comment describes others)");
    yoke_status status = fmm_lines_number(lines, fields[l->position], "x", p->x + i);
    if (!status) status = fmm_lines_number(lines, fields[l->position + 1], "y", p->y + i);
    if (!status) status = fmm_lines_number(lines, fields[l->position + 2], "z", p->z + i);
    if (!status) status = fmm_lines_number(lines, fields[l->charge], "q", p->charge + i);
    if (status || !t->kinds) return status;
    const int64_t bytes = (int64_t)strlen(fields[l->kind]) + 1;
    memcpy(t->kinds + (part->begin.at - t->begin) + part->used, fields[l->kind], (size_t)bytes);
    part->used += bytes;
    return YOKE_OK;
}

/* Moves the kinds of all parts together. */
static void join_kinds(const fmm_line_parts *parts, const table *t)
{
    int64_t size = 0;
    for (int64_t k = 0; k < parts->count && t->kinds; size += parts->part[k++].used)
        memmove(t->kinds + size, t->kinds + (parts->part[k].begin.at - t->begin), (size_t)parts->part[k].used);
}

/* Reads the next `count` lines. */
static yoke_status read_particles(fmm_lines *lines, const layout *l, int64_t count, fmm_particles *particles)
{
    fmm_lines end = *lines;
    fmm_line_parts parts;
    table t = {l, particles, lines->next.at, NULL};
    (void)fmm_lines_skip(&end, count);
    yoke_status status = fmm_line_parts_create(lines, end.next.at, NULL, &parts);
    if (!status && l->kind >= 0) status = yoke_allocate_untouched(lines->context, end.next.at - t.begin + 1, 1, &t.kinds);
    if (!status) status = fmm_line_parts_read(&parts, read_particle, &t);
    if (!status) join_kinds(&parts, &t);
    fmm_line_parts_release(&parts);
    particles->notes.kinds = t.kinds;
    return status;
}

/* Refuses a frame at whose place the file ends, or leaves it out if there are others before it. */
static yoke_status ended(const fmm_xyz *xyz, int64_t there, int64_t count)
{
    if (xyz->frames == 0)
        return fmm_lines_fail(&xyz->lines, "the file ends after %lld of %lld particles: it is truncated, or the number is wrong",
                              (long long)there, (long long)count);
    yoke_log(xyz->context, YOKE_LOG_WARNING, "%s: frame %lld is left out, because the file ends after %lld of its %lld particles",
             xyz->lines.path, (long long)xyz->frames + 1, (long long)there, (long long)count);
    return YOKE_OK;
}

/*
 * Whether the file ends within the last of the frame's `count` lines of particles, which begin at `first` and were skipped: this line has no
 * LF, and fewer columns than the first one.  A cut within its last column is not noticed.
 */
static bool ends_within_line(const fmm_lines *lines, fmm_place first, int64_t count)
{
    fmm_lines again = *lines;
    if (count == 0 || lines->next.at <= lines->size) return false;
    again.next = first;
    const int columns = fmm_fields_cut(fmm_lines_next(&again), false, 0, NULL);
    again.next = first;
    (void)fmm_lines_skip(&again, count - 1);
    return fmm_fields_cut(fmm_lines_next(&again), false, 0, NULL) < columns;
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
    if (status) return status;
    const bool commented = fmm_lines_skip(lines, 1) == 1;
    const fmm_place first = lines->next;
    int64_t there = fmm_lines_skip(lines, count);
    if (xyz->frames > 0 && there == count && ends_within_line(lines, first, count)) there--;
    if (!commented || there < count) {
        *more = false;
        return ended(xyz, there, count);
    }
    status = yoke_grow(lines->context, &xyz->place, xyz->frames, &xyz->capacity, 16, sizeof *xyz->place);
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
    if (!status) status = fmm_particles_create(xyz->context, count, &created);
    if (!status) status = read_comment(lines, fmm_lines_next(lines), &l, &created->notes);
    if (!status) status = read_particles(lines, &l, count, created);
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
