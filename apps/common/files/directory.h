/*
 * directory.h - directories for results.
 */
#ifndef APP_DIRECTORY_H
#define APP_DIRECTORY_H

#include "yoke/yoke.h"

/*
 * Makes sure that the directory is there and can be written to; makes it and those above it where needed.
 * Errors: INPUT (not a directory, not writable, cannot be made: path and cause).
 */
yoke_status app_directory_make(yoke_context *context, const char *path);

#endif
