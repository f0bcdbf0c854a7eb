/* Powers that the user declares for a machine: E = idle t + (busy - idle) CPU seconds / cores. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "meter/meter.h"
#include "meter/text.h"

static const double most_declared_w = 1e7;

typedef struct declared {
    yoke_context *context;
    const meter_time *time;
    double idle_w, busy_w, uncertainty_w;
    double cores;
    int64_t pid;
    double ticks_per_s;
    double opened_s, opened_cpu_s;
} declared;

/* ------------------------------------------------------------------------------------------------- parsing */

static yoke_status bad_text(yoke_context *context, const char *text, const char *why)
{
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "declared powers \"%.200s\": %s; expected \"idle=W,busy=W\" with watts of the whole machine, busy not below idle, and "
                     "optionally \",uncertainty=W\"",
                     text, why);
}

/* Reads "key=number" at *at. */
static const char *parse_item(const char **at, declared *powers)
{
    static const char *const keys[] = {"idle=", "busy=", "uncertainty="};
    double *const values[] = {&powers->idle_w, &powers->busy_w, &powers->uncertainty_w};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(keys[i]);
        if (strncmp(*at, keys[i], length) != 0) continue;
        *at += length;
        if (!isnan(*values[i])) return "a key is given twice";
        if (!meter_text_double(at, values[i])) return "a value is no number";
        if (!(*values[i] >= 0 && *values[i] <= most_declared_w)) return "a power is not in the range 0 to 1e7 W";
        return NULL;
    }
    return "a key is not known";
}

static yoke_status parse(yoke_context *context, const char *text, declared *powers)
{
    powers->idle_w = powers->busy_w = powers->uncertainty_w = NAN;
    for (const char *at = text;; at++) {
        const char *wrong = parse_item(&at, powers);
        if (wrong == NULL && *at != ',' && *at != '\0') wrong = "something stands behind a number";
        if (wrong != NULL) return bad_text(context, text, wrong);
        if (*at == '\0') break;
    }
    if (isnan(powers->idle_w) || isnan(powers->busy_w)) return bad_text(context, text, "idle or busy is missing");
    if (powers->busy_w < powers->idle_w) return bad_text(context, text, "busy is below idle");
    if (powers->busy_w == 0) return bad_text(context, text, "a machine without any power");
    if (isnan(powers->uncertainty_w)) powers->uncertainty_w = 0;
    return YOKE_OK;
}

yoke_status meter_declared_check(yoke_context *context, const char *text)
{
    declared powers;
    return text == NULL ? YOKE_OK : parse(context, text, &powers);
}

/* ------------------------------------------------------------------------------------------------ CPU time */

static double seconds_of(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

static int own_cpu_s(double *seconds)
{
    struct rusage self, children;
    if (getrusage(RUSAGE_SELF, &self) != 0 || getrusage(RUSAGE_CHILDREN, &children) != 0) return 0;
    *seconds = seconds_of(self.ru_utime) + seconds_of(self.ru_stime) + seconds_of(children.ru_utime) + seconds_of(children.ru_stime);
    return 1;
}

/* Fields 14 to 17 of /proc/PID/stat: user and system time of the process, and of its children that were waited for, in ticks (proc(5)). */
static int process_cpu_s(int64_t pid, double ticks_per_s, double *seconds)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (meter_read_line(path, line, sizeof line) != 0) return 0;
    const char *at = strrchr(line, ')'); /* the program's name may contain any character */
    if (at == NULL) return 0;
    at++;
    for (int field = 3; field < 14; field++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    uint64_t ticks = 0;
    for (int field = 14; field <= 17; field++) {
        uint64_t value;
        at += strspn(at, " ");
        if (!meter_text_uint64(&at, &value)) return 0;
        ticks += value;
    }
    *seconds = (double)ticks / ticks_per_s;
    return 1;
}

static int cpu_s(const declared *powers, double *seconds)
{
    return powers->pid == 0 ? own_cpu_s(seconds) : process_cpu_s(powers->pid, powers->ticks_per_s, seconds);
}

/* ------------------------------------------------------------------------------------------------- reading */

static meter_result read_energy(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const declared *powers = state;
    double cpu = 0;
    double now_s = powers->time->now_s(powers->time->user);
    if (!cpu_s(powers, &cpu)) {
        if (powers->pid == 0)
            snprintf(why, METER_WHY_BYTES, "the system does not show the CPU time of this process");
        else
            snprintf(why, METER_WHY_BYTES, "process %lld has ended, or does not show its CPU time", (long long)powers->pid);
        return powers->pid == 0 ? METER_FAILED : METER_GONE;
    }
    /* With more threads than cores (SMT) the CPU time may exceed that of all cores. */
    double open_s = now_s - powers->opened_s;
    double busy_s = fmin((cpu - powers->opened_cpu_s) / powers->cores, open_s);
    sample->time_s = now_s;
    sample->energy_j = powers->idle_w * open_s + (powers->busy_w - powers->idle_w) * fmax(busy_s, 0);
    return METER_READ;
}

static void close_declared(void *state) { yoke_release(((declared *)state)->context, state); }

/* ------------------------------------------------------------------------------------------------- finding */

static yoke_status start(const meter_site *site, declared *powers)
{
    yoke_topology topology;
    yoke_status status = yoke_topology_get(site->context, &topology);
    if (status != YOKE_OK) return status;
    powers->context = site->context;
    powers->time = site->time;
    powers->cores = topology.cores > 0 ? (double)topology.cores : 1;
    powers->pid = site->pid;
    powers->ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    if (!(powers->ticks_per_s > 0)) powers->ticks_per_s = 100; /* the value that Linux has always reported */
    powers->opened_s = site->time->now_s(site->time->user);
    if (cpu_s(powers, &powers->opened_cpu_s)) return YOKE_OK;
    return yoke_fail(site->context, YOKE_ERROR_INPUT,
                     "there is no process %lld, whose CPU time the declared powers need; name a process that runs", (long long)site->pid);
}

static void describe(const declared *powers, meter_domain *domain)
{
    yoke_meter_info *info = &domain->info;
    snprintf(info->description, sizeof info->description,
             "declared powers: %.6g W idle, %.6g W with all of %.0f cores busy, weighed with CPU time", powers->idle_w, powers->busy_w,
             powers->cores);
    snprintf(info->covers, sizeof info->covers, "host");
    info->source = YOKE_ENERGY_ESTIMATED;
    info->usable = 1;
    info->period_s = 0;
    domain->quantity = METER_ENERGY;
    domain->rank = 90;
    domain->most_w = fmax(powers->busy_w, 1);
    /* The load of other processes, and the nonlinearity of the power, may be as large as half of the part that CPU time determines. */
    domain->quantum_w = 0.5 * (powers->busy_w - powers->idle_w) + powers->uncertainty_w;
}

static yoke_status find(const meter_site *site, meter_list *list)
{
    if (site->declared == NULL) return YOKE_OK;
    declared powers = {0};
    void *state = NULL;
    yoke_status status = parse(site->context, site->declared, &powers);
    if (status == YOKE_OK) status = start(site, &powers);
    if (status == YOKE_OK) status = yoke_allocate(site->context, 1, sizeof(declared), &state);
    if (status != YOKE_OK) return status;
    *(declared *)state = powers;
    meter_domain domain;
    meter_domain_start(&domain, "declared", "declared:host");
    describe(&powers, &domain);
    domain.read = read_energy;
    domain.close = close_declared;
    domain.state = state;
    return meter_list_add(list, &domain);
}

const meter_kind meter_declared = {"declared", find};
