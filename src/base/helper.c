#include "base/helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Helpers get fewer files. */
enum { MIN_DESCRIPTOR = 10 };

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
        /* A helper may run as root, so the current directory and relative ones are not searched for it. */
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

int yoke_helper_move_up(const int low[2], int ends[2])
{
    for (int i = 0; i < 2; i++) ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, MIN_DESCRIPTOR);
    int error = ends[0] < 0 || ends[1] < 0 ? errno : 0;
    for (int i = 0; i < 2; i++) {
        close(low[i]);
        if (error != 0 && ends[i] >= 0) close(ends[i]);
    }
    return error;
}

static int add_file(posix_spawn_file_actions_t *actions, int file, int number)
{
    if (file == number) return 0;
    if (file >= 0) return posix_spawn_file_actions_adddup2(actions, file, number);
    return posix_spawn_file_actions_addopen(actions, number, "/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
}

int yoke_helper_spawn(char *const arguments[], const sigset_t *blocked, const int *files, int num_files, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        posix_spawnattr_setsigmask(&attributes, blocked);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        for (int i = 0; i < num_files && error == 0; i++) error = add_file(&actions, files[i], i);
        if (error == 0) error = posix_spawn(process, arguments[0], &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

void yoke_helper_close_above(int last)
{
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) return;
    const int own = dirfd(directory);
    for (const struct dirent *file; (file = readdir(directory)) != NULL;) {
        const int descriptor = atoi(file->d_name);
        if (descriptor > last && descriptor != own) close(descriptor);
    }
    closedir(directory);
}
