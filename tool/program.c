/* Executes programs that belong to yoke. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/machine/threads.h"
#include "tool.h"

/* Finds the directory of the running executable, with its last slash.  Returns false if it is not known. */
static bool own_directory(char *directory, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", directory, size - 1);
    if (length <= 0 || (size_t)length >= size - 1) return false;
    directory[length] = '\0';
    char *slash = strrchr(directory, '/');
    if (slash == NULL) return false;
    slash[1] = '\0';
    return true;
}

/* Executes the program in that directory, if it exists.  Returns whether the search continues. */
static bool try_directory(const char *directory, const char *below, const char *program, char **argv, char *path, size_t size)
{
    int length = snprintf(path, size, "%s%s%s", directory, below, program);
    if (length < 0 || (size_t)length >= size) return true;
    execv(path, argv);
    return errno == ENOENT || errno == ENOTDIR;
}

/*
 * The programs load OpenBLAS, some versions of which allocate their work space before main, and retry for ever if the limit of this process
 * leaves no room.
 */
static yoke_status check_memory_limit(yoke_context *context)
{
    enum { MIN_MEBIBYTES = 450 }; /* OpenBLAS 0.3.29 retries for ever below 315 */
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= (rlim_t)MIN_MEBIBYTES << 20) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_MEMORY,
                     "the limit of memory of this process, %llu MiB, is below the %d MiB that the program takes to start: raise it "
                     "(ulimit -v)",
                     (unsigned long long)(limit.rlim_cur >> 20), MIN_MEBIBYTES);
}

yoke_status tool_become(yoke_context *context, const char *program, char **argv)
{
    char own[PATH_MAX], path[2 * PATH_MAX];
    yoke_status status = check_memory_limit(context);
    if (status != YOKE_OK) return status;
    argv[0] = (char *)program; /* the name shown by ps */
    app_threads_settle();
    app_threads_free();
    bool known = own_directory(own, sizeof own);
    if ((known && !try_directory(own, "", program, argv, path, sizeof path)) ||
        (known && !try_directory(own, "../libexec/yoke/", program, argv, path, sizeof path)) ||
        !try_directory(TOOL_LIBEXEC "/", "", program, argv, path, sizeof path))
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s cannot be started: %s", path, strerror(errno));
    execvp(program, argv);
    return yoke_fail(
        context, YOKE_ERROR_UNAVAILABLE,
        "%s cannot be started (%s): it lies neither beside yoke nor in PATH; build it with make build, or install it with make install",
        program, strerror(errno));
}
