/*
 * helper.h - programs of yoke's own that the library starts: where they are.
 */
#ifndef YOKE_BASE_HELPER_H
#define YOKE_BASE_HELPER_H

#include <stddef.h>

/*
 * Writes the path of the helper program `name` to `program`: what the environment variable says, which must be an absolute path; else beside
 * this program, in ../libexec/yoke and ../bin from there, where yoke was installed, or in an absolute directory of PATH.
 * Returns 1; or 0 and why not, at most `why_bytes` - 1 bytes, in which `purpose` says what the program is for ("restores the frequencies").
 */
int yoke_helper_find(const char *name, const char *variable, const char *purpose, char *program, size_t bytes, char *why, size_t why_bytes);

#endif
