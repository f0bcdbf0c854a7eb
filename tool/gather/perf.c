/* Records the energy counters of perf as files, with one count each. */
#define _GNU_SOURCE /* syscall */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gather/gather.h"

static const char devices[] = "/sys/bus/event_source/devices";
/* The kernel's names of the energy counters: of packages, and of cores. */
static const char *const pmus[] = {"power", "power_core"};
static const char *const events[] = {"energy-pkg", "energy-ram", "energy-cores", "energy-core", "energy-gpu", "energy-psys"};

enum { NUM_PMUS = sizeof pmus / sizeof pmus[0], NUM_EVENTS = sizeof events / sizeof events[0], LINE_BYTES = 4096 };

/* Reads the first line of a small file.  Returns false if there is none. */
static bool read_line(const char *path, char line[LINE_BYTES])
{
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return false;
    ssize_t got = read(descriptor, line, LINE_BYTES - 1);
    close(descriptor);
    if (got <= 0) return false;
    line[got] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* The present count of an event as text, or the name of the error in the form that the library reads. */
static void count_text(uint32_t type, uint64_t config, int cpu, char text[32])
{
    static const struct {
        int error;
        const char *name;
    } names[] = {{EACCES, "EACCES"}, {EPERM, "EPERM"}, {ENOSYS, "ENOSYS"}, {ENODEV, "ENODEV"}};
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = type;
    attributes.config = config;
    uint64_t count = 0;
    snprintf(text, 32, "EINVAL\n");
    long descriptor = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor >= 0) {
        if (read((int)descriptor, &count, sizeof count) == (ssize_t)sizeof count) snprintf(text, 32, "%llu\n", (unsigned long long)count);
        close((int)descriptor);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (errno == names[i].error) snprintf(text, 32, "%s\n", names[i].name);
}

static yoke_status write_count(gather *to, const char *pmu, const char *event, uint32_t type, uint64_t config, int cpu)
{
    char path[256], text[32];
    snprintf(path, sizeof path, "/yoke/perf/%s/%s/cpu%d", pmu, event, cpu);
    count_text(type, config, cpu, text);
    if (text[0] == 'E')
        gather_note(to, path, text[1] == 'A' ? "the kernel lets only the privileged count on whole CPUs" : "perf_event_open fails");
    return gather_write(to, path, text, strlen(text));
}

/* Writes the counts for each CPU of a list such as "0,28" or "0-3". */
static yoke_status write_counts(gather *to, const char *pmu, const char *event, uint32_t type, uint64_t config, const char *mask)
{
    yoke_status status = YOKE_OK;
    int written = 0;
    for (const char *at = mask; *at != '\0' && status == YOKE_OK;) {
        char *end = NULL;
        long first = strtol(at, &end, 10), last = first;
        if (end == at) break;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu >= 0 && cpu <= last && cpu < 65536 && written < 1024 && status == YOKE_OK; cpu++, written++)
            status = write_count(to, pmu, event, type, config, (int)cpu);
        at = *end == ',' ? end + 1 : "";
    }
    return status;
}

static yoke_status gather_pmu(gather *to, const char *pmu)
{
    char path[256], line[LINE_BYTES], mask[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s/type", devices, pmu);
    if (!read_line(path, line)) return YOKE_OK;
    uint32_t type = (uint32_t)strtoul(line, NULL, 10);
    snprintf(path, sizeof path, "%s/%s/cpumask", devices, pmu);
    if (!read_line(path, mask)) return YOKE_OK;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < NUM_EVENTS && status == YOKE_OK; i++) {
        snprintf(path, sizeof path, "%s/%s/events/%s", devices, pmu, events[i]);
        if (!read_line(path, line) || strncmp(line, "event=", 6) != 0) continue;
        status = write_counts(to, pmu, events[i], type, strtoull(line + 6, NULL, 0), mask);
    }
    return status;
}

yoke_status gather_perf(gather *to)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < NUM_PMUS && status == YOKE_OK; i++) status = gather_pmu(to, pmus[i]);
    return status;
}
