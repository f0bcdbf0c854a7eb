/* Result files that are complete or not there at all: the only place that writes them. */
#define _XOPEN_SOURCE 700 /* realpath, dirfd */

#include "yoke/yoke.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

typedef struct written_file {
    yoke_file file;                                    /* its path is that of this struct */
    yoke_context *context;                             /* borrowed */
    char path[PATH_MAX];                               /* where the file is to be, after links were followed */
    char temporary[PATH_MAX + YOKE_FILE_SUFFIX_BYTES]; /* "" if the path is written to directly */
} written_file;

/* The directory part of path; "." if there is none. */
static void directory_of(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(directory, path, length);
    strcpy(directory + length, length == 0 ? "." : "");
}

static bool is_short(const char *path)
{
    if (strlen(path) < PATH_MAX - YOKE_FILE_SUFFIX_BYTES) return true;
    errno = ENAMETOOLONG;
    return false;
}

/* Follows links that lead to a file that does not exist, which realpath does not follow. */
static bool follow_links(const char *path, char target[PATH_MAX])
{
    enum { MOST_LINKS = 40 };
    char link[PATH_MAX], directory[PATH_MAX], next[2 * PATH_MAX];
    strcpy(target, path);
    for (int k = 0; k < MOST_LINKS; k++) {
        const ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0) return errno == EINVAL || errno == ENOENT; /* no link, or no file */
        link[length] = '\0';
        directory_of(target, directory);
        snprintf(next, sizeof next, "%s%s%s", link[0] == '/' ? "" : directory, link[0] == '/' ? "" : "/", link);
        if (!is_short(next)) return false;
        strcpy(target, next);
    }
    errno = ELOOP;
    return false;
}

int yoke_file_follow(const char *path, char *target)
{
    if (!is_short(path)) return 0;
    if (realpath(path, target) != NULL) return is_short(target);
    return errno == ENOENT && follow_links(path, target);
}

/* Whether the entry is called NAME.PROCESS-NUMBER.part. */
static bool is_temporary(const char *entry, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0 || entry[length] != '.') return false;
    const char *rest = entry + length + 1;
    size_t digits = strspn(rest, "0123456789");
    if (digits == 0 || rest[digits] != '-') return false;
    rest += digits + 1;
    digits = strspn(rest, "0123456789");
    return digits > 0 && strcmp(rest + digits, ".part") == 0;
}

/* Removes temporary files that killed processes left while they wrote this file: files of this user that no process has locked. */
static void remove_left(const char *path)
{
    char place[PATH_MAX];
    directory_of(path, place);
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    DIR *directory = opendir(place);
    if (directory == NULL) return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat about;
        if (!is_temporary(entry->d_name, name)) continue;
        int left = openat(dirfd(directory), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (left < 0) continue;
        if (fstat(left, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() && flock(left, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
        close(left);
    }
    closedir(directory);
}

/* Opens a new file next to file->path, and locks it for as long as it is written.  Returns a descriptor, or -1 with errno. */
static int open_temporary(written_file *file)
{
    remove_left(file->path);
    for (int attempt = 0; attempt < 100; attempt++) {
        struct stat about;
        snprintf(file->temporary, sizeof file->temporary, "%s.%ld-%d.part", file->path, (long)getpid(), attempt);
        int descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) return -1;
        if (descriptor < 0) continue;
        /* A file system may have no locks.  Before the file is locked, another process may remove it as one that was left. */
        bool held = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (held && fstat(descriptor, &about) == 0 && about.st_nlink > 0) return descriptor;
        close(descriptor);
        errno = EEXIST;
    }
    return -1;
}

/* The number of the open descriptor that the path names, or -1.  A file there may be written to by others as well: it is not replaced. */
static int descriptor_of(const char *path)
{
    static const char *const places[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(places[i]), digits = strspn(path + strnlen(path, length), "0123456789");
        if (strncmp(path, places[i], length) == 0 && digits > 0 && digits < 9 && path[length + digits] == '\0') return atoi(path + length);
    }
    return -1;
}

/* Follows links, and opens the file that is to be written.  Returns a descriptor, or -1 with errno. */
static int open_for(written_file *file, const char *path)
{
    struct stat found;
    if (strcmp(path, YOKE_FILE_STANDARD_OUTPUT) == 0) {
        strcpy(file->path, "standard output");
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (stat(path, &found) != 0) {
        if (errno != ENOENT || !yoke_file_follow(path, file->path)) return -1;
        return open_temporary(file);
    }
    if (S_ISREG(found.st_mode) && descriptor_of(path) >= 0) {
        strcpy(file->path, path);
        return fcntl(descriptor_of(path), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    if (!S_ISREG(found.st_mode)) {
        strcpy(file->path, path);
        return open(path, O_WRONLY | O_CLOEXEC);
    }
    /* Renaming would replace a file that may not be written to. */
    if (access(path, W_OK) != 0 || !yoke_file_follow(path, file->path)) return -1;
    const int descriptor = open_temporary(file);
    if (descriptor >= 0) (void)fchmod(descriptor, found.st_mode & 0777); /* a file system may have no modes */
    return descriptor;
}

static yoke_status check_length(yoke_context *context, const char *path)
{
    if (strlen(path) < PATH_MAX - YOKE_FILE_SUFFIX_BYTES && path[0] != '\0') return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "the name of a result file is %s", path[0] == '\0' ? "empty" : "too long");
}

/* Checks whether a file of this name can be created, as far as that can be known. */
static yoke_status check_path(yoke_context *context, const char *path)
{
    struct stat found;
    char target[PATH_MAX], directory[PATH_MAX];
    if (strcmp(path, YOKE_FILE_STANDARD_OUTPUT) == 0) return YOKE_OK;
    bool exists = stat(path, &found) == 0;
    if (exists && S_ISDIR(found.st_mode))
        errno = EISDIR;
    else if ((exists && access(path, W_OK) == 0) || (!exists && errno == ENOENT)) {
        if (exists && (!S_ISREG(found.st_mode) || descriptor_of(path) >= 0)) return YOKE_OK;
        const bool followed = yoke_file_follow(path, target);
        if (followed) directory_of(target, directory);
        if (followed && access(directory, W_OK | X_OK) == 0) return YOKE_OK;
    }
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s cannot be written: %s", path, strerror(errno));
}

yoke_status yoke_file_create(yoke_context *context, const char *path, yoke_file **file)
{
    if (context == NULL || path == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_file_create: %s is NULL", context == NULL ? "context" : "path");
    void *memory = NULL;
    yoke_status status = check_length(context, path);
    if (status == YOKE_OK && file == NULL) return check_path(context, path);
    if (status == YOKE_OK) status = yoke_allocate(context, 1, sizeof(written_file), &memory);
    if (status != YOKE_OK) return status;
    written_file *created = memory;
    created->context = context;
    created->file = (yoke_file){.descriptor = open_for(created, path), .path = created->path};
    if (created->file.descriptor < 0) {
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s cannot be written: %s", path, strerror(errno));
        yoke_release(context, created);
        return status;
    }
    *file = &created->file;
    return YOKE_OK;
}

/* The name is on disk only when the directory is, too.  If directories cannot be synchronised, the file system does it by itself. */
static void synchronise_directory(const char *path)
{
    char directory[PATH_MAX];
    directory_of(path, directory);
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

static void give_up(written_file *file)
{
    if (file->temporary[0] != '\0') unlink(file->temporary);
    if (file->file.descriptor >= 0) close(file->file.descriptor);
    yoke_release(file->context, file);
}

static yoke_status put_in_place(written_file *file)
{
    bool direct = file->temporary[0] == '\0';
    bool written = direct || fsync(file->file.descriptor) == 0;
    int error = errno;
    if (written && !direct && rename(file->temporary, file->path) != 0) {
        written = false;
        error = errno;
    }
    /* Locked until here, so that no other process removes it. */
    if (close(file->file.descriptor) != 0 && written) {
        written = false;
        error = errno;
    }
    file->file.descriptor = -1;
    yoke_status status = YOKE_OK;
    if (!written)
        status = yoke_fail(file->context, YOKE_ERROR_SYSTEM, "%s could not be written: %s", file->path, strerror(error));
    else if (!direct) {
        synchronise_directory(file->path);
        file->temporary[0] = '\0';
    }
    give_up(file);
    return status;
}

yoke_status yoke_file_close(yoke_file *file, int keep)
{
    if (file == NULL) return YOKE_OK;
    written_file *written = (written_file *)file; /* `file` is its first member */
    if (keep) return put_in_place(written);
    give_up(written);
    return YOKE_OK;
}
