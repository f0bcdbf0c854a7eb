#include "base/helper.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_program(char *program, size_t bytes, const char *directory, int length, const char *below, const char *name)
{
    int all = snprintf(program, bytes, "%.*s%s%s", length, directory, below, name);
    return all > 0 && (size_t)all < bytes && access(program, X_OK) == 0;
}

static int find_in_path(const char *name, char *program, size_t bytes)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        /* A helper may run as root: the current directory and relative ones are no places for it. */
        if (path[0] == '/' && length < PATH_MAX && is_program(program, bytes, path, (int)length, "/", name)) return 1;
        path += length + (path[length] == ':');
    }
    return 0;
}

int yoke_helper_find(const char *name, const char *variable, const char *purpose, char *program, size_t bytes, char *why, size_t why_bytes)
{
    static const char *const places[] = {"/", "/../libexec/yoke/", "/../bin/"};
    const char *asked = getenv(variable);
    if (asked != NULL) {
        if (asked[0] == '/' && strlen(asked) < bytes && is_program(program, bytes, asked, (int)strlen(asked), "", "")) return 1;
        snprintf(why, why_bytes, "%s is '%.120s', which is not the absolute path of a program", variable, asked);
        return 0;
    }
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(own, '/');
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof *places; i++)
        if (is_program(program, bytes, own, (int)(slash - own), places[i], name)) return 1;
#ifdef YOKE_LIBEXEC
    if (is_program(program, bytes, YOKE_LIBEXEC, (int)strlen(YOKE_LIBEXEC), "/", name)) return 1;
#endif
    if (find_in_path(name, program, bytes)) return 1;
    snprintf(why, why_bytes, "the program %s, which %s, is neither beside this program nor where yoke is installed nor in PATH", name,
             purpose);
    return 0;
}
