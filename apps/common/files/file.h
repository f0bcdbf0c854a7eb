/*
 * file.h - result files that are complete or do not exist: yoke_file of the library with a stream.
 */
#ifndef APP_FILE_H
#define APP_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "yoke/yoke.h"

typedef struct app_file app_file;

/*
 * Starts to write the file at `path`.  Data written to `app_file_stream` goes to a temporary name in the same directory until
 * app_file_commit.  Until then, and if the program ends earlier, an old file at `path` stays as it was.  A path that is a symbolic link
 * is followed; a pipe, a device or an open descriptor (/dev/stdout) is written to directly; "-" is standard output.  Temporary files of
 * this file that an earlier, killed process left are removed.
 * Errors: INPUT (no such directory, not writable, is a directory: path and cause), MEMORY.
 */
yoke_status app_file_create(yoke_context *context, const char *path, app_file **file);
FILE *app_file_stream(app_file *file);

/*
 * Checks whether app_file_create would succeed, as far as that can be known beforehand: for use before long work whose result goes to
 * `path`.  NULL stands for a result that is not wanted.  Changes nothing.
 * Errors: INPUT, as app_file_create.
 */
yoke_status app_file_check(yoke_context *context, const char *path);

/*
 * Whether two paths lead to the same file or directory.  If that does not exist yet, the deepest existing directory above it and the names
 * below that directory are compared.  Links are followed as far as they lead to something.
 */
bool app_is_same_place(const char *a, const char *b);

/* A file named on a command line. */
typedef struct app_named_file {
    const char *option; /* "--json", as a message has it; NULL ends a list */
    const char *path;   /* NULL: not given */
    bool input;         /* it is only read */
} app_named_file;

/*
 * Checks each file that is written by app_file_check, and that each file has a name of its own: otherwise the file that is written last
 * would replace a result, a store or an input.  Devices and pipes may be named several times, standard output ("-") only once.
 * Errors: INPUT (both options and the name; as app_file_check).
 */
yoke_status app_files_check(yoke_context *context, const app_named_file *files);

/*
 * Writes the data to the disk, so that little can fail in app_file_commit.  After a failure the file must be abandoned: a second attempt
 * may succeed without the data.
 * Errors: SYSTEM, as app_file_commit.
 */
yoke_status app_file_store(app_file *file);

/*
 * Puts the file in place, safely on disk.  `file` is freed, also on failure, which leaves the old file.
 * Errors: SYSTEM (something could not be written, as on a full disk: path and cause).
 */
yoke_status app_file_commit(app_file *file);

/* Discards the data: removes the temporary file.  NULL allowed. */
void app_file_abandon(app_file *file);

/* Prints the content of a file. */
typedef void app_file_printer(FILE *out, const void *data);

/* All steps at once: writes the file DIRECTORY/NAME, printed by `print`.  Errors: INPUT, MEMORY, SYSTEM, as above. */
yoke_status app_file_write(yoke_context *context, const char *directory, const char *name, app_file_printer *print, const void *data);

#endif
