#include "base/core_time.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>

/*
 * Reads the first two numbers of a thread's schedstat (Documentation/scheduler/sched-stats.rst), in nanoseconds.  Returns 0 if there are
 * none.
 */
static int read_thread(const char *thread, double *used_ns, double *waited_ns)
{
    char path[300];
    (void)snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", thread);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    const int read = fscanf(file, "%lf %lf", used_ns, waited_ns);
    (void)fclose(file);
    return read == 2;
}

void yoke_core_time_get(yoke_core_time *time)
{
    double used_ns = 0, waited_ns = 0;
    int threads = 0;
    DIR *directory = opendir("/proc/self/task");
    for (const struct dirent *one; directory != NULL && (one = readdir(directory)) != NULL;) {
        double used = 0, waited = 0;
        if (one->d_name[0] == '.' || !read_thread(one->d_name, &used, &waited)) continue;
        used_ns += used;
        waited_ns += waited;
        threads++;
    }
    if (directory != NULL) (void)closedir(directory);
    *time = threads > 0 ? (yoke_core_time){1e-9 * used_ns, 1e-9 * waited_ns} : (yoke_core_time){NAN, NAN};
}

double yoke_core_time_lost(const yoke_core_time *before, const yoke_core_time *after, double seconds, double cores)
{
    const double waited_s = after->waited_s - before->waited_s, free_s = cores * seconds - (after->used_s - before->used_s);
    return waited_s > 0 && free_s > 0 ? fmin(waited_s, free_s) : 0;
}
