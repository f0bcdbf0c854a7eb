/* columns.c - reads particles in columns of text or CSV, with or without a header. */
#include <string.h>
#include <strings.h>

#include "particles/line_parts.h"
#include "particles/readers.h"

enum { MAX_COLUMNS = 64, NEEDED = 4, CHARGE = 3 };

static const char *const names[NEEDED] = {"x", "y", "z", "q"};

/* The columns of the four numbers. */
typedef struct columns {
    bool comma, header;
    int count, at[NEEDED];
} columns;

/* Returns the first column, from `first` on, that holds the value of this number, or -1. */
static int find(int value, int first, int count, char *const *fields)
{
    for (int i = first; i < count; i++)
        if (!strcasecmp(fields[i], names[value]) || (value == CHARGE && !strcasecmp(fields[i], "charge"))) return i;
    return -1;
}

/* The separators of columns in words, for messages. */
static const char *separators(const columns *c)
{
    return c->comma ? "with commas between them, as the end of the file's name says"
                    : "with blanks between them (for commas the file's name ends with .csv)";
}

/* Finds the needed columns in a header.  Returns the name of a missing one, or NULL. */
static const char *find_columns(columns *c, char *const *fields)
{
    for (int n = 0; n < NEEDED; n++) {
        c->at[n] = find(n, 0, c->count, fields);
        if (c->at[n] < 0) return names[n];
    }
    return NULL;
}

/* Skips all characters that fmm_fields_cut omits.  A line that consists of them is empty. */
static char *without_blanks(char *line) { return line + strspn(line, " \t\v\f\r"); }

/* Refuses a header with two columns for the same value. */
static yoke_status check_double(const fmm_lines *lines, const columns *c, char *const *fields)
{
    for (int n = 0; n < NEEDED; n++) {
        const int other = find(n, c->at[n] + 1, c->count, fields);
        if (other >= 0)
            return fmm_lines_fail(lines, "two columns of the header hold %s: \"%.40s\" and \"%.40s\"; which one is meant?", names[n],
                                  fields[c->at[n]], fields[other]);
    }
    return YOKE_OK;
}

/* Reads the c->count fields of a header, which is no comment. */
static yoke_status read_names(const fmm_lines *lines, columns *c, char *const *fields)
{
    if (c->count > MAX_COLUMNS) return fmm_lines_fail(lines, "%d columns; there may be up to %d", c->count, MAX_COLUMNS);
    const char *missing = find_columns(c, fields);
    c->header = !missing;
    if (missing)
        return fmm_lines_fail(lines, "expected numbers, or a header with the columns x, y, z and q, %s; there is no %s in \"%.40s%s\"",
                              separators(c), missing, fields[0], c->count > 1 ? " ..." : "");
    return check_double(lines, c, fields);
}

/* A comment may be a header too: if it names all four columns, and as many columns as the first line of numbers has. */
static yoke_status read_comment(const fmm_lines *lines, columns *c, char *line, int columns_of_numbers)
{
    char *fields[MAX_COLUMNS];
    const int count = fmm_fields_cut(line, c->comma, MAX_COLUMNS, fields);
    if (count != columns_of_numbers || count > MAX_COLUMNS) return YOKE_OK;
    c->count = count;
    c->header = !find_columns(c, fields);
    return c->header ? check_double(lines, c, fields) : YOKE_OK;
}

/* Reads the comments that precede the first line of numbers, which has this number of columns, up to one that is a header. */
static yoke_status read_comments(fmm_lines *lines, columns *c, int columns_of_numbers)
{
    char *line;
    yoke_status status = YOKE_OK;
    while (!status && !c->header && (line = fmm_lines_next(lines))) {
        line = without_blanks(line);
        if (*line && *line != '#') break;
        if (*line == '#') status = read_comment(lines, c, line + 1, columns_of_numbers);
    }
    return status;
}

/* Reads the header, if there is one.  The lines of numbers are next; comments may still precede them. */
static yoke_status read_header(fmm_lines *lines, columns *c)
{
    const fmm_place begin = lines->next;
    fmm_place at = begin;
    char *line = fmm_lines_next(lines), *fields[MAX_COLUMNS];
    while (line && (*(line = without_blanks(line)) == '#' || !*line)) at = lines->next, line = fmm_lines_next(lines);
    if (!line) return YOKE_OK;
    c->count = fmm_fields_cut(line, c->comma, MAX_COLUMNS, fields);
    if (!fmm_field_is_number(fields[0])) return read_names(lines, c, fields);
    lines->next = begin;
    yoke_status status = read_comments(lines, c, c->count);
    lines->next = at;
    return status;
}

/* What the lines of numbers are read into. */
typedef struct table {
    const columns *columns;
    fmm_particles *particles;
} table;

static yoke_status read_particle(const fmm_lines *lines, fmm_line_part *part, char *line, int64_t i, void *user)
{
    (void)part;
    const table *t = user;
    const columns *c = t->columns;
    fmm_particles *p = t->particles;
    char *fields[MAX_COLUMNS];
    double *const values[NEEDED] = {p->x + i, p->y + i, p->z + i, p->charge + i};
    int count = fmm_fields_cut(without_blanks(line), c->comma, MAX_COLUMNS, fields);
    if (count != c->count)
        return fmm_lines_fail(lines, "%d %s; expected %d%s%s", count, count == 1 ? "column" : "columns", c->count,
                              c->header ? " as in the header, " : ": x y z q, ", separators(c));
    yoke_status status = YOKE_OK;
    for (int n = 0; n < NEEDED && !status; n++) status = fmm_lines_number(lines, fields[c->at[n]], names[n], values[n]);
    return status;
}

/* Neither empty nor a comment. */
static bool has_numbers(const char *line)
{
    const char first = line[strspn(line, " \t\v\f\r")];
    return first && first != '\n' && first != '#';
}

static yoke_status read_particles(fmm_lines *lines, const columns *c, fmm_particles **particles)
{
    fmm_line_parts parts;
    table t = {.columns = c};
    yoke_status status = fmm_line_parts_create(lines, lines->size, has_numbers, &parts);
    if (!status && parts.wanted > FMM_MAX_PARTICLES)
        status = yoke_fail(lines->context, YOKE_ERROR_INPUT, "%s: %lld particles; there may be up to %d", lines->path,
                           (long long)parts.wanted, FMM_MAX_PARTICLES);
    if (!status) status = fmm_particles_create(lines->context, parts.wanted, &t.particles);
    if (!status) status = fmm_line_parts_read(&parts, read_particle, &t);
    fmm_line_parts_release(&parts);
    if (status)
        fmm_particles_destroy(t.particles);
    else
        *particles = t.particles;
    return status;
}

yoke_status fmm_columns_read(yoke_context *context, const char *path, bool comma, fmm_particles **particles)
{
    fmm_lines lines;
    columns c = {.comma = comma};
    yoke_status status = fmm_lines_read(context, path, &lines);
    if (status) return status;
    status = read_header(&lines, &c);
    if (!c.header) c = (columns){comma, false, NEEDED, {0, 1, 2, 3}};
    if (!status) status = read_particles(&lines, &c, particles);
    fmm_lines_release(&lines);
    return status;
}
