/*
 * file.h - result files that are there whole or not at all: yoke_file of the library with a stream.
 */
#ifndef APP_FILE_H
#define APP_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "yoke/yoke.h"

typedef struct app_file app_file;

/*
 * Starts to write the file at `path`.  What is written to `app_file_stream` goes to a temporary name in the same directory until
 * app_file_commit; until then, and when the program ends otherwise, an old file at `path` stays as it was.  A path that is a symbolic link
 * is followed; a pipe or a device (/dev/stdout) is written to directly; "-" is standard output.  What an earlier process that was killed
 * left of its writing this file is removed.
 * Errors: INPUT (no such directory, not writable, is a directory: path and cause), MEMORY.
 */
yoke_status app_file_create(yoke_context *context, const char *path, app_file **file);
FILE *app_file_stream(app_file *file);

/*
 * Whether app_file_create would succeed, as far as that can be known beforehand: for use before long work whose result goes to `path`.
 * NULL stands for a result that is not wanted.  Touches nothing.
 * Errors: INPUT, as app_file_create.
 */
yoke_status app_file_check(yoke_context *context, const char *path);

/* A file that a command line names. */
typedef struct app_named_file {
    const char *option; /* "--json", as a message has it; NULL ends a list */
    const char *path;   /* NULL: not given */
    bool input;         /* it is only read */
} app_named_file;

/*
 * app_file_check of each file that is written; and whether each has a file of its own.  Without that the last one that is written takes the place of a result, of
 * a store or of an input.  Devices and pipes may be named several times, standard output ("-") only once.
 * Errors: INPUT (both options and the name; as app_file_check).
 */
yoke_status app_files_check(yoke_context *context, const app_named_file *files);

/*
 * Brings what was written to the disk, so that little can fail in app_file_commit.  After a failure the file is to be given up: a second attempt may
 * succeed without the data.
 * Errors: SYSTEM, as app_file_commit.
 */
yoke_status app_file_store(app_file *file);

/*
 * Puts the file in place, safely on disk.  `file` is gone afterwards, also on failure, which leaves the old file.
 * Errors: SYSTEM (something could not be written, as on a full disk: path and cause).
 */
yoke_status app_file_commit(app_file *file);

/* Gives up: removes the temporary file.  NULL allowed. */
void app_file_abandon(app_file *file);

/* Prints what a file is to hold. */
typedef void app_file_printer(FILE *out, const void *data);

/* All of this at once: the file DIRECTORY/NAME, printed by `print`.  Errors: INPUT, MEMORY, SYSTEM, as above. */
yoke_status app_file_write(yoke_context *context, const char *directory, const char *name, app_file_printer *print, const void *data);

#endif
