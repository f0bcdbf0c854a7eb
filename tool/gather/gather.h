/*
 * gather.h - declarations that the files of `yoke gather` share.
 *
 *     gather.c  what is copied, and the summary
 *     copy.c    copying: patterns, safe reading, what is left out
 *     perf.c    counts of perf events, which no file has
 */
#ifndef TOOL_GATHER_GATHER_H
#define TOOL_GATHER_GATHER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "yoke/yoke.h"

typedef struct gather {
    yoke_context *context;
    const char *root;   /* "" or a recorded tree, without a slash at its end */
    const char *target; /* without a slash at its end */
    int64_t files, bytes, unreadable;
    int notes; /* descriptor of the list of files that could not be read */
} gather;

/*
 * Copies the files that match a pattern: absolute, `*` and `[...]` within a component.  A directory that is a dangling link (masked in a
 * container) becomes such a link.  Missing files are skipped; files that cannot be read are recorded.
 * Errors: SYSTEM (the target cannot be written to).
 */
yoke_status gather_copy(gather *to, const char *pattern);
/* Writes a file of the target: `path` is absolute within the target.  Errors: SYSTEM. */
yoke_status gather_write(gather *to, const char *path, const char *text, size_t bytes);
/* Records that something could not be read. */
void gather_note(gather *to, const char *path, const char *why);

/*
 * Opens each event of the PMU power on its CPUs and writes the counts, or the error's name, to the place where perf.c of the library
 * reads them.
 */
yoke_status gather_perf(gather *to);

#endif
