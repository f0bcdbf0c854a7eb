/*
 * lines.h - a text file in memory, its lines one after the other, and numbers in them.
 */
#ifndef FMM_PARTICLES_LINES_H
#define FMM_PARTICLES_LINES_H

#include <stdbool.h>

#include "yoke/yoke.h"

/* Where a line begins, and how many are before it. */
typedef struct fmm_place {
    int64_t at, before;
} fmm_place;

typedef struct fmm_lines {
    yoke_context *context;
    const char *path; /* borrowed */
    char *bytes;      /* [size + 1] */
    char *line;       /* the line that was taken last; there is room for the longest */
    int64_t size;
    fmm_place next;
} fmm_lines;

/* Reads the whole file, which may be a pipe and may begin with UTF-8's byte order mark.  Errors: INPUT (it cannot be read: path and cause; it has bytes of value 0, and is no text), MEMORY. */
yoke_status fmm_lines_read(yoke_context *context, const char *path, fmm_lines *lines);
void fmm_lines_release(fmm_lines *lines);

/* How many lines are left. */
int64_t fmm_lines_left(const fmm_lines *lines);

/* The next line, without its end (LF or CR LF), ended by 0; NULL behind the last.  It may be changed, and is there until the next one is taken. */
char *fmm_lines_next(fmm_lines *lines);

/* Passes over the next lines; returns how many there were, at most `count`. */
int64_t fmm_lines_skip(fmm_lines *lines, int64_t count);

/* Fails with INPUT, with path and number of the line that was taken last before the text, in which control characters become "?". */
yoke_status fmm_lines_fail(const fmm_lines *lines, const char *format, ...) YOKE_PRINTF(2, 3);

/*
 * Cuts a line into fields: words with blanks between them, or with `comma` what lies between commas, without blanks and then double quotes about it.
 * Returns how many there are, also where that is more than `most`, of which no more are kept.
 */
int fmm_fields_cut(char *line, bool comma, int most, char **fields);

/* Whether the field, up to a blank or a comma, is a number, finite or not: such a line is no header. */
bool fmm_field_is_number(const char *field);

/* A finite decimal number, and 0 only where 0 stands.  Errors: INPUT (`what` it is, and what stands there). */
yoke_status fmm_lines_number(const fmm_lines *lines, const char *field, const char *what, double *value);

#endif
