#include "common/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct app_file {
    yoke_context *context; /* borrowed */
    yoke_file *file;
    FILE *stream; /* has a descriptor of its own */
};

yoke_status app_file_create(yoke_context *context, const char *path, app_file **file)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(app_file), &memory);
    if (status != YOKE_OK) return status;
    app_file *created = memory;
    created->context = context;
    status = yoke_file_create(context, path, &created->file);
    int descriptor = status == YOKE_OK ? fcntl(created->file->descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    if (descriptor >= 0) created->stream = fdopen(descriptor, "w");
    if (status == YOKE_OK && created->stream == NULL) {
        status = yoke_fail(context, YOKE_ERROR_MEMORY, "%s cannot be written: %s", path, strerror(errno));
        if (descriptor >= 0) close(descriptor);
    }
    if (status != YOKE_OK) {
        app_file_abandon(created);
        return status;
    }
    *file = created;
    return YOKE_OK;
}

yoke_status app_file_check(yoke_context *context, const char *path)
{
    return path == NULL ? YOKE_OK : yoke_file_create(context, path, NULL);
}

/* A path, split into its existing part and the names below that do not exist: each after a slash, without empty names and ".". */
typedef struct place {
    struct stat there;
    char names[PATH_MAX + 1];
} place;

static bool find_place(const char *path, place *found)
{
    char part[PATH_MAX], *end = found->names + sizeof found->names - 1, *names = end;
    if (strlen(path) >= sizeof part) return false;
    strcpy(part, path);
    *end = '\0';
    while (stat(part, &found->there) != 0) { /* up to a path that exists */
        char *slash = strrchr(part, '/');
        const char *name = slash != NULL ? slash + 1 : part;
        const size_t length = strlen(name);
        if (strcmp(part, ".") == 0 || strcmp(part, "/") == 0) return false;
        if (length > 0 && strcmp(name, ".") != 0) {
            names -= length + 1;
            *names = '/';
            memcpy(names + 1, name, length);
        }
        if (slash == NULL)
            strcpy(part, ".");
        else
            slash[slash == part] = '\0';
    }
    memmove(found->names, names, (size_t)(end - names) + 1);
    return true;
}

bool app_is_same_place(const char *a, const char *b)
{
    place of_a, of_b;
    if (!find_place(a, &of_a) || !find_place(b, &of_b)) return strcmp(a, b) == 0;
    return of_a.there.st_dev == of_b.there.st_dev && of_a.there.st_ino == of_b.there.st_ino && strcmp(of_a.names, of_b.names) == 0;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat about;
    if (strncmp(a, "/dev/", 5) == 0) return false; /* /dev/stdout may be redirected to a file */
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return strcmp(a, b) == 0;
    return app_is_same_place(a, b) && (stat(a, &about) != 0 || S_ISREG(about.st_mode));
}

yoke_status app_files_check(yoke_context *context, const app_named_file *files)
{
    yoke_status status = YOKE_OK;
    for (const app_named_file *file = files; file->option != NULL && status == YOKE_OK; file++) {
        if (!file->input) status = app_file_check(context, file->path);
        for (const app_named_file *other = files; other < file && status == YOKE_OK; other++)
            if (file->path != NULL && other->path != NULL && !(file->input && other->input) && is_same_file(file->path, other->path))
                status = yoke_fail(context, YOKE_ERROR_INPUT, "%s and %s both name %s: give different files", other->option, file->option,
                                   file->path);
    }
    return status;
}

FILE *app_file_stream(app_file *file) { return file->stream; }

static yoke_status not_written(const app_file *file, int error)
{
    return yoke_fail(file->context, YOKE_ERROR_SYSTEM, "%s could not be written: %s", file->file->path,
                     error != 0 ? strerror(error) : "an earlier write failed; is the disk full?");
}

yoke_status app_file_store(app_file *file)
{
    errno = 0;
    if (ferror(file->stream) || fflush(file->stream) != 0) return not_written(file, errno);
    if (fsync(fileno(file->stream)) != 0 && errno != EINVAL) return not_written(file, errno); /* EINVAL: a pipe or a device */
    return YOKE_OK;
}

yoke_status app_file_commit(app_file *file)
{
    errno = 0;
    bool written = !ferror(file->stream) && fflush(file->stream) == 0;
    int error = errno;
    if (fclose(file->stream) != 0 && written) {
        written = false;
        error = errno;
    }
    file->stream = NULL;
    yoke_status status = YOKE_OK;
    if (written) {
        status = yoke_file_close(file->file, 1);
        file->file = NULL;
    } else
        status = not_written(file, error);
    app_file_abandon(file);
    return status;
}

void app_file_abandon(app_file *file)
{
    if (file == NULL) return;
    if (file->stream != NULL) fclose(file->stream);
    yoke_file_close(file->file, 0);
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
