/* columns.c - reads particles in columns of text or CSV, with or without a header. */
#include <string.h>

#include "particles/lines.h"
#include "particles/readers.h"

enum { MAX_COLUMNS = 64, NEEDED = 4 };

static const char *const names[NEEDED] = {"x", "y", "z", "q"};

/* The columns of the four numbers. */
typedef struct columns {
    bool comma, header;
    int count, at[NEEDED];
} columns;

static int find(const char *name, int count, char *const *fields)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(fields[i], name)) return i;
    return -1;
}

/* The separators of columns in words, for messages. */
static const char *separators(const columns *c)
{
    return c->comma ? "with commas between them, as the end of the file's name says"
                    : "with blanks between them (for commas the file's name ends with .csv)";
}

/* Returns the name of the first needed column that occurs twice in a header; NULL: none. */
static const char *find_double(const columns *c, char *const *fields)
{
    for (int n = 0; n < NEEDED; n++)
        if (c->at[n] + 1 < c->count && find(fields[c->at[n]], c->count - c->at[n] - 1, fields + c->at[n] + 1) >= 0) return fields[c->at[n]];
    return NULL;
}

/* Finds the needed columns in a header.  Returns the name of a missing one, or NULL. */
static const char *find_columns(columns *c, char *const *fields)
{
    for (int n = 0; n < NEEDED; n++) {
        c->at[n] = find(names[n], c->count, fields);
        if (c->at[n] < 0 && n == 3) c->at[n] = find("charge", c->count, fields);
        if (c->at[n] < 0) return names[n];
    }
    return NULL;
}

/* Skips all characters that fmm_fields_cut omits.  A line that consists of them is empty. */
static char *without_blanks(char *line) { return line + strspn(line, " \t\v\f\r"); }

/*
 * Reads up to the header or the first line of numbers.  *first: this line of numbers; NULL: there is a header, or nothing at all.  A
 * comment that names all four columns is a header too.
 */
static yoke_status read_header(fmm_lines *lines, columns *c, char **first)
{
    char *fields[MAX_COLUMNS], *line;
    *first = NULL;
    while ((line = fmm_lines_next(lines))) {
        line = without_blanks(line);
        bool comment = *line == '#';
        if (!*line) continue;
        if (!comment && fmm_field_is_number(line)) {
            *first = line;
            return YOKE_OK;
        }
        c->count = fmm_fields_cut(line + comment, c->comma, MAX_COLUMNS, fields);
        if (c->count > MAX_COLUMNS && !comment) return fmm_lines_fail(lines, "%d columns; there may be up to %d", c->count, MAX_COLUMNS);
        const char *missing = c->count <= MAX_COLUMNS ? find_columns(c, fields) : names[0];
        c->header = !missing;
        const char *twice = c->header ? find_double(c, fields) : NULL;
        if (twice) return fmm_lines_fail(lines, "two columns of the header are called %s; which one is meant?", twice);
        if (c->header) return YOKE_OK;
        if (!comment)
            return fmm_lines_fail(lines, "expected numbers, or a header with the columns x, y, z and q, %s; there is no %s in \"%.40s%s\"",
                                  separators(c), missing, fields[0], c->count > 1 ? " ..." : "");
    }
    return YOKE_OK;
}

static yoke_status read_particle(const fmm_lines *lines, const columns *c, char *line, fmm_particles *p, int64_t i)
{
    char *fields[MAX_COLUMNS];
    double *const values[NEEDED] = {p->x + i, p->y + i, p->z + i, p->charge + i};
    int count = fmm_fields_cut(line, c->comma, MAX_COLUMNS, fields);
    if (count != c->count)
        return fmm_lines_fail(lines, "%d %s; expected %d%s%s", count, count == 1 ? "column" : "columns", c->count,
                              c->header ? " as in the header, " : ": x y z q, ", separators(c));
    yoke_status status = YOKE_OK;
    for (int n = 0; n < NEEDED && !status; n++) status = fmm_lines_number(lines, fields[c->at[n]], names[n], values[n]);
    return status;
}

static yoke_status read_particles(fmm_lines *lines, const columns *c, char *first, fmm_particles *particles)
{
    int64_t count = 0;
    yoke_status status = YOKE_OK;
    for (char *line = first ? first : fmm_lines_next(lines); line && !status; line = fmm_lines_next(lines)) {
        line = without_blanks(line);
        if (*line && *line != '#') status = read_particle(lines, c, line, particles, count++);
    }
    particles->count = count;
    return status;
}

yoke_status fmm_columns_read(yoke_context *context, const char *path, bool comma, fmm_particles **particles)
{
    fmm_lines lines;
    fmm_particles *created = NULL;
    columns c = {.comma = comma};
    char *first = NULL;
    yoke_status status = fmm_lines_read(context, path, &lines);
    if (status) return status;
    status = read_header(&lines, &c, &first);
    if (!c.header) c = (columns){comma, false, NEEDED, {0, 1, 2, 3}};
    int64_t most = !status ? fmm_lines_left(&lines) + 1 : 0;
    if (!status && most > FMM_MAX_PARTICLES)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: %lld lines; there may be up to %d particles", path, (long long)most,
                           FMM_MAX_PARTICLES);
    if (!status) status = fmm_particles_create(context, most, &created);
    if (!status) status = read_particles(&lines, &c, first, created);
    fmm_lines_release(&lines);
    if (status)
        fmm_particles_destroy(created);
    else
        *particles = created;
    return status;
}
