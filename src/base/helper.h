/*
 * helper.h - programs of yoke's own that the library starts: where they are, and what they get.
 */
#ifndef YOKE_BASE_HELPER_H
#define YOKE_BASE_HELPER_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Writes the path of the helper program `name` to `program`: what the environment variable says, which must be an absolute path; else beside
 * this program, in ../libexec/yoke and ../bin from there, where yoke was installed, or in an absolute directory of PATH.
 * Returns 1; or 0 and why not, at most `why_bytes` - 1 bytes, in which `purpose` says what the program is for ("restores the frequencies").
 */
int yoke_helper_find(const char *name, const char *variable, const char *purpose, char *program, size_t bytes, char *why, size_t why_bytes);

/*
 * Moves both ends of a pipe or of sockets above the descriptors that a helper gets, which would be overwritten while it is started; they are closed in programs
 * that are started.  Where that fails both are closed.  Returns 0 or errno.
 */
int yoke_helper_move_up(const int low[2], int ends[2]);

/*
 * Starts arguments[0] with these signals blocked.  files[i] becomes its descriptor i; -1: /dev/null.  Returns 0 or errno.
 */
int yoke_helper_spawn(char *const arguments[], const sigset_t *blocked, const int *files, int num_files, pid_t *process);

/* In the helper: closes what else the program that started it had open, all descriptors above `last`. */
void yoke_helper_close_above(int last);

#endif
