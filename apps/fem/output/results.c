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

#include "common/files/directory.h"
#include "common/files/file.h"

struct fem_results {
    yoke_context *context; /* borrowed */
    app_ranks *ranks;      /* borrowed */
    int64_t *processes;    /* [count of ranks] */
    int descriptor;        /* of the directory; it holds the lock */
    bool replaced;         /* the old run's files are removed */
    int64_t first;         /* first checkpoint of this run; none yet: INT64_MAX */
    char directory[PATH_MAX], path[PATH_MAX];
};

/* Files to be removed.  Those that make a directory look like a complete run come first. */
static const char *const names[] = {FEM_RESULTS_SERIES, FEM_RESULTS_RECORD, FEM_RESULTS_SUMMARY, FEM_RESULTS_PROBES};
enum { NAMES = sizeof names / sizeof names[0] };

/* ------------------------------------------------------------------------------------------------- names */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && isdigit((unsigned char)*at)) at++;
    return at;
}

/* Returns the number in step-NN.vtu, step-NN.pvtu or step-NN-RANK.vtu; -1: no such name. */
static int64_t step_number(const char *name, size_t length)
{
    static const char before[] = "step-";
    const char *end = name + length, *number = name + sizeof before - 1;
    if (length < sizeof before || strncmp(name, before, sizeof before - 1) != 0) return -1;
    const char *rest = skip_digits(number, end);
    const int64_t step = strtoll(number, NULL, 10);
    if (rest - number < 2) return -1;
    if (end - rest == 5 && strncmp(rest, ".pvtu", 5) == 0) return step;
    if (rest < end && *rest == '-') {
        number = rest + 1;
        rest = skip_digits(number, end);
        if (rest == number) return -1;
    }
    return end - rest == 4 && strncmp(rest, ".vtu", 4) == 0 ? step : -1;
}

static int64_t checkpoint_number(const char *name, size_t length)
{
    static const char before[] = "checkpoint-";
    const char *end = name + length, *number = name + sizeof before - 1;
    if (length < sizeof before || strncmp(name, before, sizeof before - 1) != 0) return -1;
    const char *rest = skip_digits(number, end);
    return rest > number && rest - number <= 18 && end - rest == 4 && strncmp(rest, ".bin", 4) == 0 ? strtoll(number, NULL, 10) : -1;
}

int64_t fem_results_checkpoint_number(const char *name) { return checkpoint_number(name, strlen(name)); }

static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0) return true;
    return step_number(name, length) >= 0 || checkpoint_number(name, length) >= 0;
}

bool fem_results_has(const char *directory, const char *path)
{
    char above[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strlen(path) >= sizeof above || !is_name(name, strlen(name))) return false;
    if (slash) {
        memcpy(above, path, (size_t)(name - path));
        above[name - path] = '\0';
    }
    return app_is_same_place(above, directory);
}

static bool is_of_this_run(const fem_results *results, int64_t process)
{
    for (int rank = 0; rank < app_ranks_count(results->ranks); rank++)
        if (results->processes[rank] == process) return true;
    return false;
}

/*
 * Whether the name is NAME.PROCESS-NUMBER.part of a process outside this run.  The directory is locked, so that process belonged to a run
 * that was killed.
 */
static bool is_remnant(const fem_results *results, const char *name)
{
    size_t length = strlen(name);
    if (length < 5 || strcmp(name + length - 5, ".part") != 0) return false;
    const char *number = name + length - 5;
    while (number > name && (isdigit((unsigned char)number[-1]) || number[-1] == '-')) number--;
    if (number == name || number[-1] != '.') return false;
    return is_name(name, (size_t)(number - 1 - name)) && !is_of_this_run(results, strtol(number, NULL, 10));
}

/* ------------------------------------------------------------------------------------------------- lock */

/* Locks the directory, on rank 0. */
static yoke_status lock(fem_results *results)
{
    results->descriptor = open(results->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A directory that is writable but not readable cannot be locked, nor can one on a file system without locks. */
    if (results->descriptor < 0 || flock(results->descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return YOKE_OK;
    return yoke_fail(results->context, YOKE_ERROR_INPUT,
                     "output directory %s: another run writes its results there; wait for its end, or give another directory "
                     "(--set output.directory=...)",
                     results->directory);
}

/* Checks that the directory made by rank 0 exists for this rank. */
static yoke_status look_for(const fem_results *results)
{
    struct stat about;
    if (app_ranks_number(results->ranks) == 0 || (stat(results->directory, &about) == 0 && S_ISDIR(about.st_mode))) return YOKE_OK;
    return yoke_fail(results->context, YOKE_ERROR_INPUT,
                     "output directory %s, which rank 0 has made, is not there: give one on a file system that all ranks share "
                     "(--set output.directory=...)",
                     results->directory);
}

yoke_status fem_results_open(yoke_context *context, app_ranks *ranks, const char *directory, fem_results **out)
{
    fem_results *results = NULL;
    const int64_t process = (int64_t)getpid();
    yoke_status status = yoke_allocate(context, 1, sizeof *results, &results);
    if (!status) {
        *results = (fem_results){.context = context, .ranks = ranks, .descriptor = -1, .first = INT64_MAX};
        status = yoke_allocate(context, app_ranks_count(ranks), sizeof *results->processes, &results->processes);
    }
    if (!status && app_ranks_number(ranks) == 0) status = app_directory_make(context, directory); /* refuses names that are too long */
    status = app_ranks_agree(ranks, status);
    if (!status) {
        strcpy(results->directory, directory);
        app_ranks_gather(ranks, &process, sizeof process, results->processes);
        status = look_for(results);
        if (!status && app_ranks_number(ranks) == 0) status = lock(results);
        status = app_ranks_agree(ranks, status);
    }
    if (status)
        fem_results_close(results);
    else
        *out = results;
    return status;
}

void fem_results_close(fem_results *results)
{
    if (!results) return;
    if (results->descriptor >= 0) close(results->descriptor);
    yoke_release(results->context, results->processes);
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

/* Removes a file or link.  Other kinds of files stay, and a missing file is no error. */
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

/* Removes the steps from `steps` on, checkpoints of earlier runs, and unfinished files of killed runs. */
static yoke_status remove_numbered(fem_results *results, int64_t steps)
{
    yoke_status status = YOKE_OK;
    DIR *directory = opendir(results->directory);
    for (const struct dirent *entry = NULL; !status && directory && (entry = readdir(directory));) {
        const char *name = entry->d_name;
        const int64_t number = fem_results_checkpoint_number(name);
        if (step_number(name, strlen(name)) >= steps || (number >= 0 && number < results->first) || is_remnant(results, name))
            status = remove_file(results, name);
    }
    if (directory) closedir(directory);
    return status;
}

static yoke_status remove_old_run(fem_results *results)
{
    yoke_status status = YOKE_OK;
    for (size_t i = 0; !status && i < NAMES; i++) status = remove_file(results, names[i]);
    if (!status) status = remove_numbered(results, 0);
    results->replaced = !status;
    return status;
}

void fem_results_own_checkpoints(fem_results *results, int64_t first) { results->first = first; }

static yoke_status cut_off(fem_results *results, int steps)
{
    const char *path = NULL;
    yoke_status status = fem_results_path(results, FEM_RESULTS_SERIES, &path);
    if (!status) status = fem_vtu_write_series(results->context, path, steps);
    if (!status) status = remove_file(results, FEM_RESULTS_SUMMARY);
    return status ? status : remove_numbered(results, steps);
}

yoke_status fem_results_continue(fem_results *results, int steps)
{
    if (!steps) return YOKE_OK;
    yoke_status status = app_ranks_agree(results->ranks, app_ranks_number(results->ranks) == 0 ? cut_off(results, steps) : YOKE_OK);
    results->replaced = !status;
    return status;
}

/* Puts this rank's file in place.  Before the first step, all files of the old run are removed. */
static yoke_status put(fem_results *results, app_file *file)
{
    yoke_status status = YOKE_OK;
    if (!results->replaced) {
        status = app_ranks_agree(results->ranks, app_file_store(file));
        if (!status && app_ranks_number(results->ranks) == 0) status = remove_old_run(results);
        status = app_ranks_agree(results->ranks, status);
        results->replaced = !status;
    }
    if (!status)
        status = app_file_commit(file);
    else
        app_file_abandon(file);
    return app_ranks_agree(results->ranks, status);
}

yoke_status fem_results_step(fem_results *results, const fem_vtu *vtu, int step)
{
    char name[FEM_VTU_NAME];
    const char *path = NULL;
    app_file *file = NULL;
    const int ranks = app_ranks_count(results->ranks), rank = app_ranks_number(results->ranks);
    if (ranks > 1)
        fem_vtu_piece_name(step, rank, name);
    else
        fem_vtu_name(step, ranks, name);
    yoke_status status = fem_results_path(results, name, &path);
    if (!status) status = fem_vtu_start(vtu, path, &file);
    status = app_ranks_agree(results->ranks, status);
    if (status) {
        app_file_abandon(file);
        return status;
    }
    status = put(results, file);
    if (status) {
        if (ranks > 1 && results->replaced) remove_file(results, name); /* the pieces of the other ranks are useless without this one */
        return status;
    }
    if (ranks > 1 && rank == 0) {
        fem_vtu_name(step, ranks, name);
        status = fem_results_path(results, name, &path);
        if (!status) status = fem_vtu_write_pieces(vtu, path, step, ranks);
    }
    if (!status && rank == 0) status = fem_results_path(results, FEM_RESULTS_SERIES, &path);
    if (!status && rank == 0) status = fem_vtu_write_series(results->context, path, step + 1);
    return app_ranks_agree(results->ranks, status);
}
