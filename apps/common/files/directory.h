/*
 * directory.h - directories for results.
 */
#ifndef APP_DIRECTORY_H
#define APP_DIRECTORY_H

#include "yoke/yoke.h"

/*
 * Makes sure that the directory exists and can be written to; creates it and its parents if needed.
 * Errors: INPUT (not a directory, not writable, cannot be created: path and cause).
 */
yoke_status app_directory_make(yoke_context *context, const char *path);

#endif
