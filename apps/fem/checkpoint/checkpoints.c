#define _XOPEN_SOURCE 700 /* PATH_MAX */

#include "checkpoint/checkpoints.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits that apply if the case gives no interval: working time that may be lost, and fraction of the time that writing may take. */
static const double may_be_lost_s = 5, may_take = 0.01;
/* Before the first checkpoint is written: that of a slow disk, 100 MB/s. */
static const double usual_seconds_per_value = 8e-8;

/* The largest number of checkpoints that a case may keep, and a new one. */
enum { MOST = 101 };

struct fem_checkpoints {
    yoke_context *context; /* borrowed, as the next two */
    app_ranks *ranks;
    const fem_case_checkpoint *keys;
    char directory[PATH_MAX];
    int64_t next;             /* number of the next checkpoint */
    int64_t kept, own[MOST];  /* numbers of this run's checkpoints, the latest last; including a new one */
    int64_t steps;            /* since the latest checkpoint */
    double latest_s;          /* time when it was written, or when the run began */
    double seconds_per_value; /* needed for the latest checkpoint */
};

/* ------------------------------------------------------------------------------------------------- numbers */

/* Returns the largest number below `below` in the directory; -1: none.  *opened: whether the directory can be read. */
static int64_t largest_below(const char *directory, int64_t below, int *opened)
{
    int64_t largest = -1;
    DIR *entries = opendir(directory);
    if (opened) *opened = entries != NULL;
    for (const struct dirent *entry = NULL; entries && (entry = readdir(entries));) {
        const int64_t number = fem_results_checkpoint_number(entry->d_name);
        if (number > largest && number < below) largest = number;
    }
    if (entries) closedir(entries);
    return largest;
}

static void path_of(const char *directory, int64_t number, char path[PATH_MAX + 64])
{
    char name[64];
    snprintf(name, sizeof name, FEM_RESULTS_CHECKPOINT, (long long)number);
    snprintf(path, PATH_MAX + 64, "%s/%s", directory, name);
}

/*
 * Takes over the checkpoint from which the run continues.  If the run has finished a step, all earlier checkpoints in the directory are its
 * own, too, because that step replaced the files of other runs.  They stay until a new one is complete.
 */
static void take_over(fem_checkpoints *c, int64_t latest, bool begun)
{
    int64_t before = begun && app_ranks_number(c->ranks) == 0 ? largest_below(c->directory, latest, NULL) : -1;
    c->own[c->kept++] = latest;
    for (; before >= 0 && c->kept < MOST - 1; before = largest_below(c->directory, before, NULL)) {
        memmove(c->own + 1, c->own, (size_t)c->kept++ * sizeof c->own[0]);
        c->own[0] = before;
    }
}

yoke_status fem_checkpoints_create(fem_results *results, yoke_context *context, app_ranks *ranks, const char *directory,
                                   const fem_case_checkpoint *keys, int64_t latest, bool begun, fem_checkpoints **out)
{
    fem_checkpoints *c = NULL;
    yoke_status status = app_ranks_agree(ranks, yoke_allocate(context, 1, sizeof *c, &c));
    if (status) {
        yoke_release(context, c);
        return status;
    }
    c->context = context;
    c->ranks = ranks;
    c->keys = keys;
    c->next = app_ranks_number(ranks) == 0 ? largest_below(directory, INT64_MAX, NULL) + 1 : 0;
    app_ranks_broadcast(ranks, &c->next, sizeof c->next);
    c->latest_s = yoke_clock_s();
    c->seconds_per_value = usual_seconds_per_value;
    snprintf(c->directory, sizeof c->directory, "%s", directory);
    if (latest >= 0) take_over(c, latest, begun);
    fem_results_own_checkpoints(results, latest >= 0 ? c->own[0] : c->next);
    *out = c;
    return YOKE_OK;
}

void fem_checkpoints_destroy(fem_checkpoints *checkpoints)
{
    if (checkpoints) yoke_release(checkpoints->context, checkpoints);
}

/* --------------------------------------------------------------------------------------------- schedule */

/* Time after the latest checkpoint from which writing `numbers` values stays within the allowed fraction of the time. */
static double affordable_s(const fem_checkpoints *c, int64_t numbers) { return c->seconds_per_value * (double)numbers / may_take; }

/* Rank 0 decides, because the ranks have different clocks. */
static int agree(const fem_checkpoints *c, int due)
{
    app_ranks_broadcast(c->ranks, &due, sizeof due);
    return due;
}

int fem_checkpoints_due_after_step(fem_checkpoints *c, int64_t numbers)
{
    const double worked_s = yoke_clock_s() - c->latest_s;
    c->steps++;
    if (c->keys->every.value == 0 || c->steps < c->keys->every.value) return 0;
    if (app_given(c->keys->every.place)) return 1;
    return agree(c, worked_s >= fmax(may_be_lost_s, affordable_s(c, numbers)));
}

int fem_checkpoints_due_within(const fem_checkpoints *c, int iteration, int64_t numbers, int leaving)
{
    enum { FEW = 16 };
    const double period_s = 60 * c->keys->minutes.value;
    if (!(period_s > 0) || !iteration || (app_ranks_count(c->ranks) > 1 && iteration % FEW && !leaving)) return 0;
    const double worked_s = yoke_clock_s() - c->latest_s;
    if (leaving) return agree(c, worked_s >= fmin(may_be_lost_s, period_s));
    return agree(c, worked_s >= (app_given(c->keys->minutes.place) ? period_s : fmax(period_s, affordable_s(c, numbers))));
}

/* ------------------------------------------------------------------------------------------------- writing */

static void remove_too_many(fem_checkpoints *c)
{
    char path[PATH_MAX + 64];
    while (c->kept > c->keys->keep.value) {
        path_of(c->directory, c->own[0], path);
        if (app_ranks_number(c->ranks) == 0) unlink(path); /* if it cannot be removed, it does no harm */
        memmove(c->own, c->own + 1, (size_t)--c->kept * sizeof c->own[0]);
    }
}

int64_t fem_checkpoints_kept(const fem_checkpoints *c) { return c->kept; }

yoke_status fem_checkpoints_write(fem_checkpoints *c, const fem_checkpoint_part *part)
{
    char path[PATH_MAX + 64];
    const double begin_s = yoke_clock_s();
    int64_t numbers = 0;
    app_ranks_offset(c->ranks, part->num_nodes * part->components, &numbers);
    path_of(c->directory, c->next, path);
    yoke_status status = fem_checkpoint_write(c->context, part, path);
    c->latest_s = yoke_clock_s(); /* even after a failure, so that writing is not repeated at once */
    c->seconds_per_value = (c->latest_s - begin_s) / (double)numbers;
    c->steps = 0;
    if (status) return status;
    c->own[c->kept++] = c->next++;
    remove_too_many(c);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- reading */

static yoke_status find_latest(yoke_context *context, const char *directory, fem_checkpoint **checkpoint, int64_t *number)
{
    char path[PATH_MAX + 64];
    struct stat about;
    int opened = 0, damaged = 0;
    if (strlen(directory) >= PATH_MAX) return yoke_fail(context, YOKE_ERROR_INPUT, "--restart: the name of the directory is too long");
    for (int64_t n = largest_below(directory, INT64_MAX, &opened); n >= 0; n = largest_below(directory, n, NULL)) {
        path_of(directory, n, path);
        if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode)) continue;
        yoke_status status = fem_checkpoint_open(context, path, 1, checkpoint);
        *number = n;
        if (status != YOKE_ERROR_INPUT) return status;
        damaged++;
        yoke_log(context, YOKE_LOG_WARNING, "%s; trying the checkpoint before it", yoke_last_error(context));
    }
    if (!opened) return yoke_fail(context, YOKE_ERROR_INPUT, "--restart %s: the directory cannot be read: %s", directory, strerror(errno));
    if (damaged)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--restart %s: every checkpoint there is damaged; start again: yoke fem CASE",
                         directory);
    return yoke_fail(
        context, YOKE_ERROR_INPUT,
        "--restart %s: there is no checkpoint; a run writes its first one after 5 s of work (key checkpoint of the case); start "
        "again: yoke fem CASE",
        directory);
}

yoke_status fem_checkpoints_open_latest(yoke_context *context, app_ranks *ranks, const char *directory, fem_checkpoint **checkpoint,
                                        int64_t *number)
{
    char path[PATH_MAX + 64];
    fem_checkpoint *opened = NULL;
    yoke_status status = app_ranks_agree(ranks, app_ranks_number(ranks) == 0 ? find_latest(context, directory, &opened, number) : YOKE_OK);
    if (!status) {
        app_ranks_broadcast(ranks, number, sizeof *number);
        path_of(directory, *number, path);
        status = app_ranks_agree(ranks, app_ranks_number(ranks) ? fem_checkpoint_open(context, path, 0, &opened) : YOKE_OK);
    }
    if (status)
        fem_checkpoint_close(opened);
    else
        *checkpoint = opened;
    return status;
}
