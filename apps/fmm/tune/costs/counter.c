#define _GNU_SOURCE /* syscall */
#include "tune/costs/counter.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const fmm_measure_names[4] = {"seconds", "instructions", "cycles", NULL};

struct fmm_counter {
    yoke_context *context;
    fmm_clock clock;
    int64_t count, room;
    int *descriptor; /* [count] one for each thread */
};

/* ------------------------------------------------------------------------------------------------------ reading */

/* The data that the kernel writes, by the attributes' read_format. */
typedef struct reading {
    uint64_t value, enabled_ns, running_ns;
} reading;

/* Reads the counter of a thread; NaN: it cannot be read.  If other programs used the counter for a part of the time, the count is scaled
 * to the whole time. */
static double read_thread(int descriptor)
{
    reading now;
    ssize_t got;
    do got = read(descriptor, &now, sizeof now);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof now || (now.running_ns == 0 && now.enabled_ns > 0)) return NAN;
    if (now.running_ns >= now.enabled_ns) return (double)now.value;
    return (double)now.value * ((double)now.enabled_ns / (double)now.running_ns);
}

static double count_now(void *of)
{
    const fmm_counter *c = of;
    double sum = 0;
    for (int64_t i = 0; i < c->count; i++) sum += read_thread(c->descriptor[i]);
    return sum / FMM_COUNTS_OF_SECOND;
}

/* ------------------------------------------------------------------------------------------------------ opening */

static int error_of(const char *name)
{
    static const struct {
        const char *name;
        int error;
    } known[] = {{"ENOENT", ENOENT}, {"EACCES", EACCES}, {"EPERM", EPERM}, {"ENOSYS", ENOSYS}};
    for (size_t i = 0; name && i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(name, known[i].name)) return known[i].error;
    return 0;
}

static bool is_stand_in(void)
{
    const char *stand_in = getenv("YOKE_COUNTERS");
    return stand_in && !strcmp(stand_in, "software");
}

const char *fmm_counter_source(void) { return is_stand_in() ? "nanoseconds of threads" : "processor"; }

/* Returns 0, or the error; ESRCH: the thread has ended. */
static int open_thread(fmm_measure measure, pid_t thread, int *descriptor)
{
    const char *stand_in = getenv("YOKE_COUNTERS");
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = measure == FMM_MEASURE_CYCLES ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attributes.inherit = attributes.exclude_kernel = attributes.exclude_hv = 1;
    if (error_of(stand_in)) return error_of(stand_in);
    if (is_stand_in()) {
        attributes.type = PERF_TYPE_SOFTWARE;
        attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    }
    const long got = syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (got < 0) return errno;
    *descriptor = (int)got;
    return 0;
}

static yoke_status refuse(yoke_context *context, fmm_measure measure, int error)
{
    const char *why = "the kernel or a container does not allow it";
    const char *remedy =
        "sudo sysctl kernel.perf_event_paranoid=2 allows it until the next boot, in a container docker run --cap-add PERFMON";
    if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) {
        why = "the processor has no such counter, or a virtual machine hides it";
        remedy = "take another machine";
    } else if (error == ENOSYS) {
        why = "the kernel has no perf events, or a sandbox filters the call";
        remedy = "take a kernel with CONFIG_PERF_EVENTS, or another sandbox";
    } else if (error == EMFILE || error == ENFILE) {
        why = "too many files are open";
        remedy = "close some, or raise the limit (ulimit -n)";
    }
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE,
                     "%s cannot be counted on this machine: %s (perf_event_open: %s); %s, or choose by counted operations (--baseline "
                     "operations) or by time (--objective time)",
                     fmm_measure_names[measure], why, strerror(error), remedy);
}

static yoke_status add_thread(fmm_counter *c, fmm_measure measure, pid_t thread)
{
    yoke_status status = yoke_grow(c->context, &c->descriptor, c->count, &c->room, 16, sizeof *c->descriptor);
    if (status) return status;
    const int error = open_thread(measure, thread, &c->descriptor[c->count]);
    if (error == ESRCH) return YOKE_OK;
    if (error) return refuse(c->context, measure, error);
    c->count++;
    return YOKE_OK;
}

static yoke_status add_threads(fmm_counter *c, fmm_measure measure)
{
    yoke_status status = YOKE_OK;
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return yoke_fail(c->context, YOKE_ERROR_UNAVAILABLE, "the threads of this process are not known: %s", strerror(errno));
    for (const struct dirent *entry; !status && (entry = readdir(threads));) {
        const long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0) status = add_thread(c, measure, (pid_t)thread);
    }
    (void)closedir(threads);
    return status;
}

yoke_status fmm_counter_open(yoke_context *context, fmm_measure measure, fmm_counter **counter)
{
    fmm_counter *c = NULL;
    bool started = false;
    yoke_status status = yoke_allocate(context, 1, sizeof *c, &c);
    if (status) return status;
    c->context = context;
    c->clock = (fmm_clock){count_now, c};
    if (is_stand_in())
        yoke_log(context, YOKE_LOG_WARNING, "YOKE_COUNTERS=software: nanoseconds of the threads stand in for %s, which are not counted",
                 fmm_measure_names[measure]);
#pragma omp parallel reduction(|| : started) /* starts the threads that are to be counted */
    started = true;
    status = started ? add_threads(c, measure) : YOKE_OK;
    if (status)
        fmm_counter_close(c);
    else
        *counter = c;
    return status;
}

const fmm_clock *fmm_counter_clock(const fmm_counter *counter) { return &counter->clock; }

void fmm_counter_close(fmm_counter *counter)
{
    if (!counter) return;
    for (int64_t i = 0; i < counter->count; i++) (void)close(counter->descriptor[i]);
    yoke_release(counter->context, counter->descriptor);
    yoke_release(counter->context, counter);
}
