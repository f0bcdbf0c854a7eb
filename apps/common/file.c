#define _XOPEN_SOURCE 700 /* realpath */

#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUFFIX_BYTES = 40 };

struct app_file {
    yoke_context *context; /* borrowed */
    FILE *stream;
    char path[PATH_MAX];                     /* where the file shall be, links followed */
    char temporary[PATH_MAX + SUFFIX_BYTES]; /* "" where the path is written to directly */
};

/* The directory part of path, "." where there is none. */
static void directory_of(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    memcpy(directory, path, length);
    strcpy(directory + length, length == 0 ? "." : "");
}

/* Opens a new file beside file->path.  Returns a descriptor, or -1 with errno. */
static int open_temporary(app_file *file)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(file->temporary, sizeof file->temporary, "%s.%ld-%d.part", file->path, (long)getpid(), attempt);
        int descriptor = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

/* Follows links, and opens what shall be written to.  Returns a descriptor, or -1 with errno. */
static int open_for(app_file *file, const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0) {
        if (errno != ENOENT) return -1;
        strcpy(file->path, path);
        return open_temporary(file);
    }
    if (!S_ISREG(found.st_mode)) {
        strcpy(file->path, path);
        return open(path, O_WRONLY | O_CLOEXEC);
    }
    /* Renaming would replace a file that may not be written to. */
    if (access(path, W_OK) != 0 || realpath(path, file->path) == NULL) return -1;
    return open_temporary(file);
}

static yoke_status check_length(yoke_context *context, const char *path)
{
    if (strlen(path) < PATH_MAX - SUFFIX_BYTES && path[0] != '\0') return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "the name of a result file is %s", path[0] == '\0' ? "empty" : "too long");
}

yoke_status app_file_create(yoke_context *context, const char *path, app_file **file)
{
    void *memory = NULL;
    yoke_status status = check_length(context, path);
    if (status == YOKE_OK) status = yoke_allocate(context, 1, sizeof(app_file), &memory);
    if (status != YOKE_OK) return status;
    app_file *created = memory;
    created->context = context;
    int descriptor = open_for(created, path);
    if (descriptor < 0) {
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s cannot be written: %s", path, strerror(errno));
        yoke_release(context, created);
        return status;
    }
    created->stream = fdopen(descriptor, "w");
    if (created->stream == NULL) {
        status = yoke_fail(context, YOKE_ERROR_MEMORY, "%s cannot be written: %s", path, strerror(errno));
        close(descriptor);
        app_file_abandon(created);
        return status;
    }
    *file = created;
    return YOKE_OK;
}

yoke_status app_file_check(yoke_context *context, const char *path)
{
    struct stat found;
    char target[PATH_MAX], directory[PATH_MAX];
    if (path == NULL) return YOKE_OK;
    yoke_status status = check_length(context, path);
    if (status != YOKE_OK) return status;
    bool exists = stat(path, &found) == 0;
    if (exists && S_ISDIR(found.st_mode))
        errno = EISDIR;
    else if ((exists && access(path, W_OK) == 0) || (!exists && errno == ENOENT)) {
        if (exists && !S_ISREG(found.st_mode)) return YOKE_OK;
        if (!exists || realpath(path, target) == NULL) strcpy(target, path);
        directory_of(target, directory);
        if (access(directory, W_OK | X_OK) == 0) return YOKE_OK;
    }
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s cannot be written: %s", path, strerror(errno));
}

FILE *app_file_stream(app_file *file) { return file->stream; }

/* The name, too, is on disk only when the directory is.  Where directories cannot be synchronised, the file system does it by itself. */
static void synchronise_directory(const char *path)
{
    char directory[PATH_MAX];
    directory_of(path, directory);
    int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

yoke_status app_file_commit(app_file *file)
{
    bool direct = file->temporary[0] == '\0';
    errno = 0;
    bool written = !ferror(file->stream) && fflush(file->stream) == 0 && (direct || fsync(fileno(file->stream)) == 0);
    int error = errno;
    if (fclose(file->stream) != 0 && written) {
        written = false;
        error = errno;
    }
    file->stream = NULL;
    if (written && !direct && rename(file->temporary, file->path) != 0) {
        written = false;
        error = errno;
    }
    yoke_status status = YOKE_OK;
    if (!written)
        status = yoke_fail(file->context, YOKE_ERROR_SYSTEM, "%s could not be written: %s", file->path,
                           error != 0 ? strerror(error) : "an earlier write failed; is the disk full?");
    else if (!direct) {
        synchronise_directory(file->path);
        file->temporary[0] = '\0';
    }
    app_file_abandon(file);
    return status;
}

void app_file_abandon(app_file *file)
{
    if (file == NULL) return;
    if (file->stream != NULL) fclose(file->stream);
    if (file->temporary[0] != '\0') unlink(file->temporary);
    yoke_release(file->context, file);
}

yoke_status app_file_write(yoke_context *context, const char *directory, const char *name, app_file_printer *print, const void *data)
{
    char path[PATH_MAX];
    app_file *file;
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the name of the directory is too long: %s", directory);
    yoke_status status = app_file_create(context, path, &file);
    if (status != YOKE_OK) return status;
    print(app_file_stream(file), data);
    return app_file_commit(file);
}
