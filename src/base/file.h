/*
 * file.h - where a path leads.
 */
#ifndef YOKE_BASE_FILE_H
#define YOKE_BASE_FILE_H

/* Room for the endings of names of files that are written beside another one: temporary, lock and backup files. */
enum { YOKE_FILE_SUFFIX_BYTES = 40 };

/*
 * Finds the file that `path` names, with symbolic links followed.  It need not exist: a link may point to a file that is still to be
 * written.  Returns 0, with errno, if that cannot be found or if there is no room for endings (ENAMETOOLONG).  target: [PATH_MAX]
 */
int yoke_file_follow(const char *path, char *target);

#endif
