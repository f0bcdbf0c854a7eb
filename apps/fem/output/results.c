#define _XOPEN_SOURCE 700 /* fdopendir, PATH_MAX */

#include "output/results.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/directory.h"

struct fem_results {
    yoke_context *context; /* borrowed */
    int descriptor;        /* of the directory; what holds the lock */
    bool replaced;         /* the old run's files are gone */
    char directory[PATH_MAX], path[PATH_MAX];
};

/* Those that make a directory look like a whole run come first. */
static const char *const names[] = {FEM_RESULTS_SERIES, FEM_RESULTS_RECORD, FEM_RESULTS_SUMMARY, FEM_RESULTS_PROBES};
enum { NAMES = sizeof names / sizeof names[0] };

/* ------------------------------------------------------------------------------------------------- names */

static bool is_step(const char *name, size_t length)
{
    static const char before[] = "step-", after[] = ".vtu";
    size_t around = sizeof before - 1 + sizeof after - 1, digits = length > around ? length - around : 0;
    if (digits < 2 || strncmp(name, before, sizeof before - 1) != 0 ||
        strncmp(name + length - (sizeof after - 1), after, sizeof after - 1) != 0)
        return false;
    for (size_t i = 0; i < digits; i++)
        if (!isdigit((unsigned char)name[sizeof before - 1 + i])) return false;
    return true;
}

static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0) return true;
    return is_step(name, length);
}

bool fem_results_is_ours(const char *name) { return is_name(name, strlen(name)); }

/* NAME.PROCESS-NUMBER.part of another process: nobody else works here, so that it is of a run that was killed. */
static bool is_remnant(const char *name)
{
    size_t length = strlen(name);
    if (length < 5 || strcmp(name + length - 5, ".part") != 0) return false;
    const char *number = name + length - 5;
    while (number > name && (isdigit((unsigned char)number[-1]) || number[-1] == '-')) number--;
    if (number == name || number[-1] != '.') return false;
    return is_name(name, (size_t)(number - 1 - name)) && strtol(number, NULL, 10) != (long)getpid();
}

/* ------------------------------------------------------------------------------------------------- lock */

yoke_status fem_results_open(yoke_context *context, const char *directory, fem_results **out)
{
    fem_results *results = NULL;
    yoke_status status = app_directory_make(context, directory); /* refuses names that are too long */
    if (!status) status = yoke_allocate(context, 1, sizeof *results, &results);
    if (status) return status;
    results->context = context;
    strcpy(results->directory, directory);
    results->descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A directory that may be written to and not read cannot be locked, nor can one on a file system without locks. */
    if (results->descriptor >= 0 && flock(results->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        fem_results_close(results);
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "output directory %s: another run writes its results there; wait for its end, or give another directory "
                         "(--set output.directory=...)",
                         directory);
    }
    *out = results;
    return YOKE_OK;
}

void fem_results_close(fem_results *results)
{
    if (!results) return;
    if (results->descriptor >= 0) close(results->descriptor);
    yoke_release(results->context, results);
}

/* ------------------------------------------------------------------------------------------------- files */

yoke_status fem_results_path(fem_results *results, const char *name, const char **path)
{
    if (snprintf(results->path, sizeof results->path, "%s/%s", results->directory, name) >= (int)sizeof results->path)
        return yoke_fail(results->context, YOKE_ERROR_INPUT, "the name of the output directory is too long: %s", results->directory);
    *path = results->path;
    return YOKE_OK;
}

/* Removes a file or link; what is not there or of another kind stays as it is. */
static yoke_status remove_file(fem_results *results, const char *name)
{
    const char *path = NULL;
    struct stat about;
    yoke_status status = fem_results_path(results, name, &path);
    if (status) return status;
    if (lstat(path, &about) != 0 || !(S_ISREG(about.st_mode) || S_ISLNK(about.st_mode))) return YOKE_OK;
    if (unlink(path) == 0 || errno == ENOENT) return YOKE_OK;
    return yoke_fail(results->context, YOKE_ERROR_SYSTEM, "%s, of an earlier run, cannot be removed: %s", path, strerror(errno));
}

static yoke_status remove_old_run(fem_results *results)
{
    yoke_status status = YOKE_OK;
    for (size_t i = 0; !status && i < NAMES; i++) status = remove_file(results, names[i]);
    DIR *directory = status ? NULL : opendir(results->directory);
    for (const struct dirent *entry = NULL; !status && directory && (entry = readdir(directory));)
        if (fem_results_is_ours(entry->d_name) || is_remnant(entry->d_name)) status = remove_file(results, entry->d_name);
    if (directory) closedir(directory);
    results->replaced = !status;
    return status;
}

/* Whether what was written is on the disk, so that little can fail from here on. */
static bool is_stored(FILE *stream) { return !ferror(stream) && fflush(stream) == 0 && fsync(fileno(stream)) == 0; }

yoke_status fem_results_step(fem_results *results, const fem_vtu *vtu, int step)
{
    char name[FEM_VTU_NAME];
    const char *path = NULL;
    app_file *file = NULL;
    fem_vtu_name(step, name);
    yoke_status status = fem_results_path(results, name, &path);
    if (!status) status = fem_vtu_start(vtu, path, &file);
    if (status) return status;
    if (!results->replaced && is_stored(app_file_stream(file))) status = remove_old_run(results);
    if (status) {
        app_file_abandon(file);
        return status;
    }
    status = app_file_commit(file); /* says what went wrong where the file was not stored */
    if (!status) status = fem_results_path(results, FEM_RESULTS_SERIES, &path);
    return status ? status : fem_vtu_write_series(results->context, path, step + 1);
}
