/*
 * helper.h - helper programs of yoke that the library starts: where they are, and the descriptors that they receive.
 */
#ifndef YOKE_BASE_HELPER_H
#define YOKE_BASE_HELPER_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Finds the helper program `name` and writes its path to `program`.  The path is the value of the environment variable, which must be an
 * absolute path.  Otherwise the function looks for it beside this program, in ../libexec/yoke and ../bin from there, in the directory in
 * which yoke was installed, and in the absolute directories of PATH.
 * Returns 1; or 0 and the reason, at most `why_bytes` - 1 bytes, in which `purpose` describes the program ("restores the frequencies").
 */
int yoke_helper_find(const char *name, const char *variable, const char *purpose, char *program, size_t bytes, char *why, size_t why_bytes);

/*
 * Moves both ends of a pipe or of sockets above the descriptors that a helper receives, which would be overwritten while it is started.
 * The ends are closed in programs that are started.  On failure both are closed.  Returns 0 or errno.
 */
int yoke_helper_move_up(const int low[2], int ends[2]);

/*
 * Starts arguments[0] with these signals blocked.  files[i] becomes its descriptor i; -1: /dev/null.  Returns 0 or errno.
 */
int yoke_helper_spawn(char *const arguments[], const sigset_t *blocked, const int *files, int num_files, pid_t *process);

/* In the helper: closes all descriptors above `last`, which the program that started it had open. */
void yoke_helper_close_above(int last);

#endif
