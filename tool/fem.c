#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* The path of `program` in the directory of the running executable; false where that is not known. */
static bool beside(const char *program, char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length <= 0 || (size_t)length >= size) return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash + 1 - path) + strlen(program) >= size) return false;
    strcpy(slash + 1, program);
    return true;
}

yoke_status tool_fem(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    static const char program[] = "yoke-fem";
    char path[PATH_MAX];
    (void)terminal;
    (void)argc;
    if (beside(program, path, sizeof path)) {
        execv(path, argv);
        if (errno != ENOENT) return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s cannot be started: %s", path, strerror(errno));
    }
    execvp(program, argv);
    return yoke_fail(
        context, YOKE_ERROR_UNAVAILABLE,
        "%s cannot be started (%s): it lies neither beside yoke nor in PATH; build it with make build, or install it with make install",
        program, strerror(errno));
}
