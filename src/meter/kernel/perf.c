/*
 * perf.c - the same energy counters through perf_event_open: the PMUs `power` and `power_core`.
 *
 * Facts from arch/x86/events/rapl.c of Linux: an event belongs to a CPU (one for each package, die or core: `cpumask`), not to a process;
 * its count is in units of `events/NAME.scale` joules (2^-32) and starts at zero with the event.  The kernel adds the hardware's counter of
 * 32 bits as a signed difference, so that a count may step back by 2^32 hardware units if it is not read for a long time (65 s at 500 W and
 * 2^-16 J).  Counted modulo 2^48 (65536 J), which divides that step for every unit in use, such a step is invisible, and differences are
 * correct as long as there are less than 65536 J between two readings.  So this is the range, and the sampling thread reads in time.
 *
 * In a recorded tree, counts are read from ROOT/yoke/perf/PMU/EVENT/cpuN: a decimal number, or the name of an error of perf_event_open
 * (EACCES, EPERM, ENOSYS, ENODEV, EINVAL).
 */
#define _GNU_SOURCE /* syscall */
#include <errno.h>
#include <linux/perf_event.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meter/kernel/sysfs.h"
#include "meter/meter.h"

static const char pmu_directory[] = "/sys/bus/event_source/devices";

enum {
    MAX_UNITS = 1024, /* packages, dies or cores */
    MAX_SUMMED = 16   /* counters of cores that are read together: each reading interrupts the core */
};

static const uint64_t perf_range = (uint64_t)1 << 48;

/* A CPU of the cpumask, with the package and die for which it counts. */
typedef struct perf_unit {
    int64_t cpu, package, die;
} perf_unit;

typedef struct perf_pmu {
    const meter_site *site;
    meter_list *list;
    const char *name;
    uint64_t type;
    perf_unit *units;
    int64_t num_units;
    int many_dies;   /* a package has several dies */
    int has_package; /* the PMU has energy-pkg */
} perf_pmu;

typedef struct perf_event {
    char name[SYSFS_NAME_BYTES];
    uint64_t config;
    double scale_j;
    char why_not[128]; /* "" if it can be used */
} perf_event;

/* ------------------------------------------------------------------------------------------------- reading */

typedef struct perf_state {
    yoke_context *context;
    int recorded;
    int64_t count;
    int descriptors[MAX_SUMMED];
    char what[96];
} perf_state;

static meter_result read_live(int descriptor, const char *what, uint64_t *count, char why[METER_WHY_BYTES])
{
    ssize_t got;
    do got = read(descriptor, count, sizeof *count);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof *count) return METER_READ;
    if (got == 0 || (got < 0 && errno == ENODEV)) {
        snprintf(why, METER_WHY_BYTES, "%.90s is gone: its CPU was taken offline", what);
        return METER_GONE;
    }
    snprintf(why, METER_WHY_BYTES, "%.90s cannot be read: %s", what, got < 0 ? strerror(errno) : "too short an answer");
    return METER_FAILED;
}

static meter_result read_event(void *of, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const perf_state *state = of;
    uint64_t sum = 0;
    for (int64_t i = 0; i < state->count; i++) {
        uint64_t count = 0;
        meter_result result = state->recorded ? sysfs_read_number(state->descriptors[i], 1, state->what, &count, why)
                                              : read_live(state->descriptors[i], state->what, &count, why);
        if (result != METER_READ) return result;
        sum += count;
    }
    sample->count = sum % perf_range;
    return METER_READ;
}

static void close_event(void *of)
{
    perf_state *state = of;
    for (int64_t i = 0; i < state->count; i++) close(state->descriptors[i]);
    yoke_release(state->context, state);
}

/* ------------------------------------------------------------------------------------------------- opening */

/* The error that a recorded tree has in place of a count; 0: none. */
static int recorded_error(const char *path)
{
    static const struct {
        const char *name;
        int error;
    } known[] = {{"EACCES", EACCES}, {"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"ENODEV", ENODEV}, {"EINVAL", EINVAL}};
    char text[32];
    if (meter_read_line(path, text, sizeof text) != 0) return 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(text, known[i].name) == 0) return known[i].error;
    return 0;
}

static yoke_status open_recorded(const perf_pmu *pmu, const perf_event *event, int64_t cpu, int *descriptor, int *error)
{
    char path[SYSFS_PATH_BYTES];
    yoke_status status = meter_path(pmu->site, path, sizeof path, "/yoke/perf/%s/%s/cpu%lld", pmu->name, event->name, (long long)cpu);
    if (status != YOKE_OK) return status;
    uint64_t count = 0;
    *error = recorded_error(path);
    if (*error == 0) {
        *error = sysfs_open_number(path, descriptor, &count);
        if (*error == EINVAL) *error = EIO; /* the content is not a number, which differs from EINVAL of the system call */
    }
    return YOKE_OK;
}

static int open_live(const perf_pmu *pmu, const perf_event *event, int64_t cpu, int *descriptor)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = (uint32_t)pmu->type;
    attributes.config = event->config;
    long got = syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (got < 0) return errno;
    *descriptor = (int)got;
    return 0;
}

static void explain(const perf_pmu *pmu, int error, yoke_meter_info *info)
{
    char path[SYSFS_PATH_BYTES];
    uint64_t paranoid = 0;
    int known = meter_path(pmu->site, path, sizeof path, "/proc/sys/kernel/perf_event_paranoid") == YOKE_OK &&
                meter_read_number(path, &paranoid) == 0;
    if (error == EACCES || error == EPERM) {
        snprintf(info->why_not, sizeof info->why_not, "the kernel lets only the privileged count on whole CPUs");
        if (known && paranoid > 0)
            snprintf(
                info->why_not, sizeof info->why_not,
                "the kernel lets only the privileged count on whole CPUs: perf_event_paranoid is %llu, and this process lacks CAP_PERFMON",
                (unsigned long long)paranoid);
        snprintf(info->remedy, sizeof info->remedy,
                 "until the next boot: sudo sysctl kernel.perf_event_paranoid=0; for good, as a line of /etc/sysctl.d/90-yoke.conf: "
                 "kernel.perf_event_paranoid = 0; or for one program only: sudo setcap cap_perfmon=ep PROGRAM%s",
                 sysfs_in_container(pmu->site) ? "; in a container also: docker run --cap-add PERFMON" : "");
    } else if (error == ENOSYS) {
        snprintf(info->why_not, sizeof info->why_not, "the kernel has no perf events, or a sandbox filters the call");
        snprintf(info->remedy, sizeof info->remedy, "a kernel with CONFIG_PERF_EVENTS, or another sandbox profile");
    } else if (error == ENODEV || error == ENXIO || error == EINVAL) {
        snprintf(info->why_not, sizeof info->why_not, "the kernel does not open the event (%.60s): its CPU may be offline",
                 strerror(error));
    } else if (error == ENOENT && pmu->site->root[0] != '\0') {
        snprintf(info->why_not, sizeof info->why_not, "the recorded tree has no counts of this event (yoke/perf)");
    } else {
        snprintf(info->why_not, sizeof info->why_not, "the event cannot be opened: %.100s", strerror(error));
    }
}

/* Opens the event on all these units.  If that fails, the domain has the reason. */
static yoke_status open_event(const perf_pmu *pmu, const perf_event *event, const perf_unit *const *units, int64_t count,
                              meter_domain *domain)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(pmu->site->context, 1, sizeof(perf_state), &memory);
    if (status != YOKE_OK) return status;
    perf_state *state = memory;
    *state = (perf_state){.context = pmu->site->context, .recorded = pmu->site->root[0] != '\0'};
    snprintf(state->what, sizeof state->what, "%.16s/%.60s/", pmu->name, event->name);
    int error = 0;
    for (int64_t i = 0; status == YOKE_OK && error == 0 && i < count; i++) {
        int descriptor = -1;
        if (state->recorded)
            status = open_recorded(pmu, event, units[i]->cpu, &descriptor, &error);
        else
            error = open_live(pmu, event, units[i]->cpu, &descriptor);
        if (descriptor >= 0) state->descriptors[state->count++] = descriptor;
    }
    if (status != YOKE_OK || error != 0) {
        close_event(state);
        if (status == YOKE_OK) explain(pmu, error, &domain->info);
        return status;
    }
    domain->state = state;
    domain->read = read_event;
    domain->close = close_event;
    domain->info.usable = 1;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- domains */

/* package-0, dram-0, package-0/core: the names that powercap uses. */
static void name_cover(const perf_pmu *pmu, const perf_event *event, const perf_unit *unit, char covers[64])
{
    char number[48], clean[SYSFS_NAME_BYTES];
    snprintf(number, sizeof number, "%lld", (long long)unit->package);
    if (pmu->many_dies) snprintf(number, sizeof number, "%lld-die-%lld", (long long)unit->package, (long long)unit->die);
    const char *domain = event->name + strlen("energy-");
    if (strcmp(domain, "pkg") == 0)
        snprintf(covers, 64, "package-%s", number);
    else if (strcmp(domain, "ram") == 0)
        snprintf(covers, 64, "dram-%s", number);
    else if (strcmp(domain, "psys") == 0 && unit->package == 0)
        snprintf(covers, 64, "psys");
    else if (strcmp(domain, "psys") == 0)
        snprintf(covers, 64, "psys-%lld", (long long)unit->package);
    else if (strcmp(domain, "cores") == 0 || strcmp(domain, "core") == 0)
        snprintf(covers, 64, "package-%s/core", number);
    else if (strcmp(domain, "gpu") == 0)
        snprintf(covers, 64, "package-%s/uncore", number);
    else {
        snprintf(clean, sizeof clean, "%s", domain);
        sysfs_clean(clean);
        snprintf(covers, 64, "package-%.30s/%.20s", number, clean);
    }
}

/* The domain that contains this one: psys contains package and dram, a package its parts.  Domains are found in this order. */
static void set_parent(const perf_pmu *pmu, yoke_meter_info *info)
{
    char covers[64];
    const meter_domain *found = NULL;
    const char *slash = strchr(info->covers, '/');
    if (slash != NULL) {
        snprintf(covers, sizeof covers, "%.*s", (int)(slash - info->covers), info->covers);
        found = meter_list_find_cover(pmu->list, "perf", covers);
    } else if (strncmp(info->covers, "psys", 4) != 0) {
        found = meter_list_find_cover(pmu->list, "perf", "psys");
    }
    if (found != NULL) snprintf(info->parent, sizeof info->parent, "%s", found->info.name);
}

static void set_numbers(const perf_pmu *pmu, const perf_event *event, int64_t count, meter_domain *domain)
{
    int is_psys = strcmp(event->name, "energy-psys") == 0, is_ram = strcmp(event->name, "energy-ram") == 0;
    domain->quantity = METER_COUNTER;
    domain->unit_j = event->scale_j;
    domain->range = perf_range;
    domain->rank = 20;
    domain->most_w = is_psys ? 8000 : is_ram ? 500 : 2000;
    domain->always_moves = is_psys || is_ram || strcmp(event->name, "energy-pkg") == 0;
    domain->overlaps = strncmp(domain->info.covers, "psys-", 5) == 0; /* it is not documented what the psys of a second package contains */
    domain->info.source = YOKE_ENERGY_MEASURED;
    domain->info.wrap_j = (double)perf_range * event->scale_j;
    domain->info.period_s = 1e-3;
    /*
     * The kernel does not report the hardware's unit: 2^-14 J on Intel, 2^-16 J on AMD and for some memory; 1 J for psys of two generations
     * of Xeons.
     */
    domain->info.resolution_j = (double)count * ldexp(1, -14);
    if (is_psys && (sysfs_processor_has(pmu->site, "model", "143") || sysfs_processor_has(pmu->site, "model", "207")))
        domain->info.resolution_j = 1;
}

/*
 * Whether this is a virtual machine with an event that counts nothing.  The kernel omits events whose registers are zero or cannot be read,
 * except psys of Xeons of the fourth and fifth generation, which it does not check (intel_rapl_spr_msrs in rapl.c, no_check in probe.c).
 * So psys without the package that it contains means that all registers are empty.
 */
static int counts_nothing(const perf_pmu *pmu, const perf_event *event, yoke_meter_info *info)
{
    char machine[64];
    if (strcmp(event->name, "energy-psys") != 0 || pmu->has_package) return 0;
    sysfs_virtual_machine(pmu->site, machine);
    if (machine[0] == '\0') return 0;
    snprintf(info->why_not, sizeof info->why_not,
             "%s, which passes no energy counters on: the kernel shows this event without looking whether it counts", machine);
    snprintf(info->remedy, sizeof info->remedy, "%s", SYSFS_ON_THE_HOST);
    return 1;
}

static yoke_status add_domain(const perf_pmu *pmu, const perf_event *event, const perf_unit *const *units, int64_t count, int64_t all)
{
    char covers[64], name[64], where[24];
    name_cover(pmu, event, units[0], covers);
    snprintf(where, sizeof where, "cpu%lld", (long long)units[0]->cpu);
    sysfs_unique(pmu->list, "perf", covers, where, name);
    meter_domain domain;
    meter_domain_start(&domain, "perf", name);
    yoke_meter_info *info = &domain.info;
    snprintf(info->covers, sizeof info->covers, "%s", covers);
    snprintf(info->description, sizeof info->description, "perf event %.16s/%.60s/ on CPU %lld", pmu->name, event->name,
             (long long)units[0]->cpu);
    if (count > 1)
        snprintf(info->description, sizeof info->description, "perf events %.16s/%.60s/ on %lld CPUs, one for each core", pmu->name,
                 event->name, (long long)count);
    set_parent(pmu, info);
    set_numbers(pmu, event, count, &domain);
    yoke_status status = YOKE_OK;
    if (event->why_not[0] != '\0') {
        snprintf(info->why_not, sizeof info->why_not, "%s", event->why_not);
    } else if (all > count) {
        snprintf(info->why_not, sizeof info->why_not,
                 "each of the %lld cores has a counter of its own; to read so many at once would disturb what is measured", (long long)all);
        snprintf(info->remedy, sizeof info->remedy, "use the counter of the package, which contains them");
    } else if (!counts_nothing(pmu, event, info)) {
        status = open_event(pmu, event, units, count, &domain);
    }
    return status == YOKE_OK ? meter_list_add(pmu->list, &domain) : status;
}

/* One domain for each unit; for cores, one for each package. */
static yoke_status add_event(const perf_pmu *pmu, const perf_event *event)
{
    int summed = strcmp(event->name, "energy-core") == 0;
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; status == YOKE_OK && i < pmu->num_units; i++) {
        const perf_unit *together[MAX_SUMMED] = {&pmu->units[i]};
        int64_t count = 1, all = 1, before = 0;
        for (int64_t j = 0; summed && j < pmu->num_units; j++) {
            if (j == i || pmu->units[j].package != pmu->units[i].package) continue;
            if (j < i) before++;
            all++;
            if (count < MAX_SUMMED) together[count++] = &pmu->units[j];
        }
        if (before == 0) status = add_domain(pmu, event, together, count, all);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- finding */

/* Parses a decimal fraction in the C locale, independent of the program's.  Returns NaN if the text is not one. */
static double parse_scale(const char *text)
{
    char *end = NULL;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) return NAN;
    locale_t before = uselocale(plain);
    double value = strtod(text, &end);
    uselocale(before);
    freelocale(plain);
    return end != text && *end == '\0' ? value : NAN;
}

static yoke_status read_event_files(const perf_pmu *pmu, const char *name, perf_event *event)
{
    char path[SYSFS_PATH_BYTES], text[128], *end = NULL;
    *event = (perf_event){.scale_j = NAN};
    snprintf(event->name, sizeof event->name, "%s", name);
    yoke_status status = meter_path(pmu->site, path, sizeof path, "%s/%s/events/%s", pmu_directory, pmu->name, name);
    if (status != YOKE_OK) return status;
    int known = meter_read_line(path, text, sizeof text) == 0 && strncmp(text, "event=", 6) == 0;
    if (known) {
        event->config = strtoull(text + 6, &end, 16);
        known = end != text + 6 && *end == '\0' && event->config > 0 && event->config <= 255;
    }
    if (!known) snprintf(event->why_not, sizeof event->why_not, "the file of the event %.60s does not say its number", name);
    status = meter_path(pmu->site, path, sizeof path, "%s/%s/events/%s.scale", pmu_directory, pmu->name, name);
    if (status != YOKE_OK) return status;
    if (meter_read_line(path, text, sizeof text) == 0) event->scale_j = parse_scale(text);
    if (!(event->scale_j >= 1e-15 && event->scale_j <= 1)) {
        event->scale_j = NAN;
        snprintf(event->why_not, sizeof event->why_not, "the scale of the event %.60s is no number of joules", name);
    }
    status = meter_path(pmu->site, path, sizeof path, "%s/%s/events/%s.unit", pmu_directory, pmu->name, name);
    if (status == YOKE_OK && (meter_read_line(path, text, sizeof text) != 0 || strcmp(text, "Joules") != 0))
        snprintf(event->why_not, sizeof event->why_not, "the unit of the event %.60s is not Joules", name);
    return status;
}

static yoke_status place_unit(const perf_pmu *pmu, perf_unit *unit, int *error)
{
    char path[SYSFS_PATH_BYTES];
    uint64_t package = 0, die = 0;
    yoke_status status =
        meter_path(pmu->site, path, sizeof path, "/sys/devices/system/cpu/cpu%lld/topology/physical_package_id", (long long)unit->cpu);
    if (status != YOKE_OK) return status;
    *error = meter_read_number(path, &package);
    status = meter_path(pmu->site, path, sizeof path, "/sys/devices/system/cpu/cpu%lld/topology/die_id", (long long)unit->cpu);
    if (status != YOKE_OK) return status;
    if (meter_read_number(path, &die) != 0) die = 0; /* kernels before 5.2 */
    if (package > 4095 || die > 4095) *error = EINVAL;
    unit->package = (int64_t)package;
    unit->die = (int64_t)die;
    return YOKE_OK;
}

/* Parses CPUs in the form "0-3,8".  *error is nonzero if a CPU cannot be assigned to a package. */
static yoke_status read_units(perf_pmu *pmu, const char *mask, int *error)
{
    const char *at = mask;
    *error = *at == '\0' ? EINVAL : 0;
    while (*error == 0 && *at != '\0') {
        char *end = NULL;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (end == at || *at == '-' || *at == '+') *error = EINVAL;
        if (*error == 0 && *end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            if (end == at) *error = EINVAL;
        }
        if (last < first || last > 1 << 20 || (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0')) *error = EINVAL;
        for (unsigned long cpu = first; *error == 0 && cpu <= last && pmu->num_units < MAX_UNITS; cpu++) {
            perf_unit *unit = &pmu->units[pmu->num_units++];
            unit->cpu = (int64_t)cpu;
            yoke_status status = place_unit(pmu, unit, error);
            if (status != YOKE_OK) return status;
        }
        at = *end == ',' ? end + 1 : end;
    }
    /* The counters of `power` belong to dies if there are several; those of cores are summed per package. */
    for (int64_t i = 0; strcmp(pmu->name, "power") == 0 && i < pmu->num_units; i++)
        for (int64_t j = 0; j < i; j++)
            if (pmu->units[i].package == pmu->units[j].package && pmu->units[i].die != pmu->units[j].die) pmu->many_dies = 1;
    return YOKE_OK;
}

static yoke_status add_events(perf_pmu *pmu, const char *directory, int64_t *found)
{
    /* Domains that contain others come first. */
    static const char *const order[] = {"energy-psys", "energy-pkg", ""};
    sysfs_names names;
    int error = 0;
    yoke_status status = sysfs_list(pmu->site->context, directory, "energy-", &names, &error);
    for (int64_t i = 0; status == YOKE_OK && i < names.count; i++) pmu->has_package |= strcmp(names.names[i], "energy-pkg") == 0;
    for (int64_t pass = 0; status == YOKE_OK && pass < 3; pass++)
        for (int64_t i = 0; status == YOKE_OK && i < names.count; i++) {
            const char *name = names.names[i];
            int is_first = strcmp(name, order[0]) == 0, is_second = strcmp(name, order[1]) == 0;
            if (strchr(name, '.') != NULL || pass != (is_first ? 0 : is_second ? 1 : 2)) continue;
            perf_event event;
            status = read_event_files(pmu, name, &event);
            if (status == YOKE_OK) status = add_event(pmu, &event);
            ++*found;
        }
    yoke_release(pmu->site->context, names.names);
    return status;
}

/* Appends the domains of a PMU.  *found counts events, whether usable or not. */
static yoke_status find_pmu(const meter_site *site, meter_list *list, const char *name, int64_t *found)
{
    char path[SYSFS_PATH_BYTES], mask[512] = "";
    perf_pmu pmu = {.site = site, .list = list, .name = name};
    yoke_status status = meter_path(site, path, sizeof path, "%s/%s/type", pmu_directory, name);
    if (status != YOKE_OK) return status;
    int error = meter_read_number(path, &pmu.type);
    if (error == ENOENT || error == ENOTDIR) return YOKE_OK;
    if (error == 0 && pmu.type > UINT32_MAX) error = EINVAL;
    if (error == 0) {
        status = meter_path(site, path, sizeof path, "%s/%s/cpumask", pmu_directory, name);
        if (status != YOKE_OK) return status;
        error = meter_read_line(path, mask, sizeof mask);
    }
    void *memory = NULL;
    status = yoke_allocate(site->context, MAX_UNITS, sizeof(perf_unit), &memory);
    pmu.units = memory;
    if (status == YOKE_OK && error == 0) status = read_units(&pmu, mask, &error);
    if (status == YOKE_OK && error != 0) {
        char where[64], why[256];
        snprintf(where, sizeof where, "perf:%s", name);
        snprintf(why, sizeof why, "type, cpumask or the place of a CPU of the PMU %s cannot be read: %.100s", name,
                 error == EINVAL ? "not as the kernel writes it" : strerror(error));
        ++*found;
        status = meter_list_add_missing(list, "perf", where, "energy counters of the processor as perf events", why,
                                        "use powercap, which reads the same counters another way");
    } else if (status == YOKE_OK) {
        status = meter_path(site, path, sizeof path, "%s/%s/events", pmu_directory, name);
        if (status == YOKE_OK) status = add_events(&pmu, path, found);
    }
    yoke_release(site->context, memory);
    return status;
}

static yoke_status find(const meter_site *site, meter_list *list)
{
    int64_t found = 0;
    yoke_status status = find_pmu(site, list, "power", &found);
    if (status == YOKE_OK) status = find_pmu(site, list, "power_core", &found);
    if (status != YOKE_OK || found > 0) return status;
    char machine[64], why[256];
    sysfs_virtual_machine(site, machine);
    const char *remedy = "sudo modprobe rapl (intel_rapl_perf before Linux 5.8); a newer kernel where it does not know this processor";
    snprintf(why, sizeof why, "the kernel has no perf events for energy (%s/power)", pmu_directory);
    if (machine[0] != '\0') {
        snprintf(why, sizeof why, "%s, which passes no energy counters on", machine);
        remedy = SYSFS_ON_THE_HOST;
    }
    return meter_list_add_missing(list, "perf", "perf", "energy counters of the processor as perf events", why, remedy);
}

const meter_kind meter_perf = {"perf", find};
