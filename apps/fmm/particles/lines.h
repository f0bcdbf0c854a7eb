/*
 * lines.h - a text file in memory: returns its lines one after the other, and the numbers in them.
 */
#ifndef FMM_PARTICLES_LINES_H
#define FMM_PARTICLES_LINES_H

#include <stdbool.h>

#include "yoke/yoke.h"

/* Where a line begins, and how many lines precede it. */
typedef struct fmm_place {
    int64_t at, before;
} fmm_place;

typedef struct fmm_lines {
    yoke_context *context;
    const char *path;      /* borrowed */
    char *bytes;           /* [size + 1] */
    char *line;            /* the line that was returned last; it has room for the longest line */
    int64_t size, longest; /* bytes of the file, and of its longest line */
    fmm_place next;
} fmm_lines;

/*
 * Reads the whole file, which may be a pipe ("-" is standard input) and may begin with the UTF-8 byte order mark.  Errors: INPUT (the file
 * cannot be read: the message has path and cause; it has bytes of value 0, and is no text), MEMORY.
 */
yoke_status fmm_lines_read(yoke_context *context, const char *path, fmm_lines *lines);
void fmm_lines_release(fmm_lines *lines);

/* The next line, without its line end (LF or CR LF), terminated by 0; NULL after the last.  The caller may change it.  It is valid until
 * the next call. */
char *fmm_lines_next(fmm_lines *lines);

/* Skips the next lines; returns their number, at most `count`. */
int64_t fmm_lines_skip(fmm_lines *lines, int64_t count);

/* Fails with INPUT.  The message is path and number of the line that was returned last, and then the text, in which control characters
 * become "?". */
yoke_status fmm_lines_fail(const fmm_lines *lines, const char *format, ...) YOKE_PRINTF(2, 3);

/*
 * Splits a line into fields: words separated by blanks, or with `comma` the texts between commas, without surrounding blanks and then
 * without surrounding double quotes.  Returns the number of fields.  At most `most` fields are written, also if there are more.
 */
int fmm_fields_cut(char *line, bool comma, int most, char **fields);

/* Whether the field, up to a blank or a comma, is a number, finite or not.  A line that begins with such a field is no header. */
bool fmm_field_is_number(const char *field);

/* Reads a finite decimal number; the result is 0 only if the field is 0.  Errors: INPUT (the message has `what` the number is, and the
 * field). */
yoke_status fmm_lines_number(const fmm_lines *lines, const char *field, const char *what, double *value);

#endif
