/*
 * line_parts.h - reads many lines of a file concurrently.
 */
#ifndef FMM_PARTICLES_LINE_PARTS_H
#define FMM_PARTICLES_LINE_PARTS_H

#include "particles/lines.h"

typedef struct fmm_line_part {
    fmm_place begin; /* the first line */
    int64_t end;     /* offset in the file after the last line */
    int64_t first;   /* number of wanted lines in the parts before this one */
    int64_t used;    /* 0 at the beginning; for `read` alone */
} fmm_line_part;

/* Successive parts of a file that consist of whole lines. */
typedef struct fmm_line_parts {
    fmm_lines *lines; /* borrowed */
    bool (*is_wanted)(const char *line);
    int64_t count, wanted; /* numbers of parts, and of wanted lines in all of them */
    fmm_line_part *part;
} fmm_line_parts;

/*
 * Divides the lines from the next one to the offset `end` into parts, and counts the wanted lines.  is_wanted is called by several threads,
 * with a line that ends with LF or 0; NULL: all lines are wanted.  Errors: MEMORY.
 */
yoke_status fmm_line_parts_create(fmm_lines *lines, int64_t end, bool (*is_wanted)(const char *line), fmm_line_parts *parts);
void fmm_line_parts_release(fmm_line_parts *parts);

/*
 * Reads the i-th wanted line of all parts.  Called by several threads, each of which reads one part at a time, line by line.  The lines are
 * those of the thread, for fmm_lines_number and fmm_lines_fail.
 */
typedef yoke_status fmm_line_reader(const fmm_lines *lines, fmm_line_part *part, char *line, int64_t i, void *user);

/* Reads all wanted lines.  If `read` fails, the error is that of the first line for which it does.  Errors: those of `read`, MEMORY. */
yoke_status fmm_line_parts_read(fmm_line_parts *parts, fmm_line_reader *read, void *user);

#endif
