/* Frequencies of processors: the policies of the kernel's cpufreq. */
#define _GNU_SOURCE /* sched_getcpu */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frequency/frequency.h"
#include "meter/kernel/sysfs.h"

static const char cpus[] = "/sys/devices/system/cpu";

enum { MAX_LEVELS = 128 };

/* A policy: CPUs that share a frequency, or, with newer drivers, a single CPU. */
typedef struct policy {
    int64_t number;
    int64_t least_khz, most_khz; /* limits of the hardware */
    int64_t levels_khz[MAX_LEVELS];
    int64_t num_levels; /* 0: any frequency between the limits */
    int userspace;      /* nonzero: set through the governor userspace; zero: by equal limits */
    int64_t asked_khz;  /* requested by the latest change; 0: none yet */
    int guided;         /* nonzero: the hardware chooses a frequency within the limits, even under userspace */
} policy;

typedef struct cpufreq {
    meter_site site;
    int by_cpu; /* nonzero: cpuN/cpufreq in place of cpufreq/policyN, as before Linux 4.3, and in trees that were recorded without links */
    policy *policies;
    int64_t count;
    char driver[FREQUENCY_WORD_BYTES], governor[FREQUENCY_WORD_BYTES], mode[FREQUENCY_WORD_BYTES];
    uint64_t throttled; /* number of thermal throttling events before the latest change */
} cpufreq;

/* --------------------------------------------------------------------------------------------------- files */

/* Paths fit: the length of the root is checked when policies are searched. */
static void policy_directory(const cpufreq *domain, int64_t number, char directory[FREQUENCY_PATH_BYTES])
{
    const char *before = domain->by_cpu ? "cpu" : "cpufreq/policy", *after = domain->by_cpu ? "/cpufreq" : "";
    snprintf(directory, FREQUENCY_PATH_BYTES, "%s%s/%s%lld%s", domain->site.root, cpus, before, (long long)number, after);
}

static int read_text(const cpufreq *domain, int64_t number, const char *name, char *text, size_t bytes)
{
    char directory[FREQUENCY_PATH_BYTES], path[FREQUENCY_PATH_BYTES + 64];
    policy_directory(domain, number, directory);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int error = meter_read_line(path, text, bytes);
    if (error != 0) text[0] = '\0';
    return error;
}

static int64_t read_khz(const cpufreq *domain, int64_t number, const char *name)
{
    char text[FREQUENCY_WORD_BYTES];
    return read_text(domain, number, name, text, sizeof text) == 0 ? frequency_khz(text) : -1;
}

/* Whether this process may write the file: 0, or errno. */
static int may_write(const cpufreq *domain, int64_t number, frequency_file file)
{
    char directory[FREQUENCY_PATH_BYTES], path[FREQUENCY_PATH_BYTES + 64];
    policy_directory(domain, number, directory);
    snprintf(path, sizeof path, "%s/%s", directory, frequency_file_name(file));
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static int has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return 1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ policies */

static int compare_khz(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t sort_levels(int64_t *levels, int64_t count)
{
    int64_t kept = 0;
    qsort(levels, (size_t)count, sizeof *levels, compare_khz);
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || levels[i] != levels[kept - 1]) levels[kept++] = levels[i];
    return kept;
}

static void read_levels(const cpufreq *domain, policy *found)
{
    char text[2048], word[FREQUENCY_WORD_BYTES];
    int used;
    if (read_text(domain, found->number, "scaling_available_frequencies", text, sizeof text) != 0) return;
    for (const char *at = text; sscanf(at, "%47s%n", word, &used) == 1; at += used) {
        int64_t khz = frequency_khz(word);
        if (khz <= 0 || found->num_levels == MAX_LEVELS) { /* the file is not a table of frequencies */
            found->num_levels = 0;
            return;
        }
        found->levels_khz[found->num_levels++] = khz;
    }
    found->num_levels = sort_levels(found->levels_khz, found->num_levels);
}

/* Returns 0, or errno for the policy's limits: EBUSY while its CPUs are offline. */
static int read_policy(const cpufreq *domain, int64_t number, policy *found)
{
    char text[1024];
    *found = (policy){.number = number};
    int error = read_text(domain, number, "scaling_min_freq", text, sizeof text);
    if (error != 0) return error;
    found->least_khz = read_khz(domain, number, "cpuinfo_min_freq");
    found->most_khz = read_khz(domain, number, "cpuinfo_max_freq");
    if (found->least_khz <= 0 || found->most_khz < found->least_khz || frequency_khz(text) < 0) return EINVAL;
    read_levels(domain, found);
    if (read_text(domain, number, "scaling_available_governors", text, sizeof text) == 0 && has_word(text, "userspace"))
        found->userspace = may_write(domain, number, FREQUENCY_GOVERNOR) == 0 && may_write(domain, number, FREQUENCY_SPEED) == 0;
    found->guided = strcmp(domain->mode, "guided") == 0;
    return 0;
}

/* CPUs that share a frequency share the directory, which is counted once. */
static int is_link(const cpufreq *domain, int64_t number)
{
    char directory[FREQUENCY_PATH_BYTES];
    struct stat about;
    policy_directory(domain, number, directory);
    return lstat(directory, &about) == 0 && S_ISLNK(about.st_mode);
}

/* The names of directories that contain policies, or may contain them. */
static yoke_status list_policies(cpufreq *domain, sysfs_names *found, int *error)
{
    char path[FREQUENCY_PATH_BYTES];
    snprintf(path, sizeof path, "%s%s/cpufreq", domain->site.root, cpus);
    yoke_status status = sysfs_list(domain->site.context, path, "policy", found, error);
    domain->by_cpu = status == YOKE_OK && found->count == 0;
    if (!domain->by_cpu) return status;
    yoke_release(domain->site.context, found->names);
    snprintf(path, sizeof path, "%s%s", domain->site.root, cpus);
    return sysfs_list(domain->site.context, path, "cpu", found, error);
}

/*
 * Finds the policies whose CPUs are online; frequencies that were requested of them are kept.  *error: if there is none, errno of the file
 * that could not be read.
 */
static yoke_status scan(cpufreq *domain, int *error)
{
    sysfs_names found = {0};
    void *memory = NULL;
    int64_t count = 0;
    yoke_status status = list_policies(domain, &found, error);
    if (status == YOKE_OK) status = yoke_allocate(domain->site.context, found.count, sizeof(policy), &memory);
    if (*error == 0) *error = ENOENT;
    for (int64_t i = 0; i < found.count && status == YOKE_OK; i++) {
        policy *next = (policy *)memory + count;
        int64_t number = frequency_khz(found.names[i] + strlen(domain->by_cpu ? "cpu" : "policy"));
        if (number < 0) continue; /* other directories, such as cpuidle */
        int unread = is_link(domain, number) ? ENOENT : read_policy(domain, number, next);
        if (unread != 0 && unread != ENOENT) *error = unread;
        if (unread != 0) continue;
        for (int64_t j = 0; j < domain->count; j++)
            if (domain->policies[j].number == number) next->asked_khz = domain->policies[j].asked_khz;
        count++;
    }
    yoke_release(domain->site.context, found.names);
    if (status != YOKE_OK) return status;
    yoke_release(domain->site.context, domain->policies);
    domain->policies = memory;
    domain->count = count;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------- save and set */

static int any_policy(const frequency_book *book)
{
    for (int64_t i = 0; i < book->count; i++)
        if (book->entries[i].place == FREQUENCY_OF_POLICY) return 1;
    return 0;
}

static yoke_status cpufreq_save(frequency_entry *entry, frequency_book *book)
{
    cpufreq *domain = entry->state;
    int error, again = any_policy(book);
    int64_t kept = 0;
    yoke_status status = scan(domain, &error);
    for (int64_t i = 0; i < domain->count && status == YOKE_OK; i++) {
        frequency_saved saved = {.place = FREQUENCY_OF_POLICY};
        policy_directory(domain, domain->policies[i].number, saved.where);
        if (!frequency_book_has(book, saved.where)) {
            if (frequency_policy_read(saved.where, &saved.setting) != 0) continue; /* its CPUs have just gone offline */
            if (again)
                yoke_log(book->context, YOKE_LOG_WARNING, "%s has come since frequencies were first changed; it is saved now", saved.where);
            status = frequency_book_add(book, &saved);
        }
        domain->policies[kept++] = domain->policies[i];
    }
    if (status == YOKE_OK) domain->count = kept;
    if (status == YOKE_OK && kept == 0)
        return yoke_fail(book->context, YOKE_ERROR_SYSTEM, "no policy of %s%s/cpufreq can be read any more: %s", domain->site.root, cpus,
                         strerror(error));
    return status;
}

static int64_t nearest_level(const policy *of, int64_t khz)
{
    int64_t nearest = khz < of->least_khz ? of->least_khz : khz > of->most_khz ? of->most_khz : khz;
    for (int64_t i = 0; i < of->num_levels; i++)
        if (i == 0 || llabs(of->levels_khz[i] - khz) < llabs(nearest - khz)) nearest = of->levels_khz[i];
    return nearest;
}

/*
 * The wanted contents of the policy's files.  Under userspace the limits are only widened, except if the hardware would choose a frequency
 * between them.
 */
static void want(const policy *of, int64_t khz, const frequency_setting *now, frequency_setting *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    int limits = !of->userspace || of->guided;
    if (of->userspace) snprintf(wanted->value[FREQUENCY_GOVERNOR], FREQUENCY_WORD_BYTES, "userspace");
    if (of->userspace) frequency_khz_text(khz, wanted->value[FREQUENCY_SPEED]);
    if (limits || frequency_khz(now->value[FREQUENCY_MIN]) > khz) frequency_khz_text(khz, wanted->value[FREQUENCY_MIN]);
    if (limits || frequency_khz(now->value[FREQUENCY_MAX]) < khz) frequency_khz_text(khz, wanted->value[FREQUENCY_MAX]);
}

static yoke_status cpufreq_set(frequency_entry *entry, double hz)
{
    cpufreq *domain = entry->state;
    yoke_context *context = domain->site.context;
    int64_t set = 0;
    char why[METER_WHY_BYTES] = "";
    for (int64_t i = 0; i < domain->count; i++) {
        policy *of = &domain->policies[i];
        char directory[FREQUENCY_PATH_BYTES];
        frequency_setting now, wanted;
        int error = 0;
        policy_directory(domain, of->number, directory);
        frequency_policy_read(directory, &now);
        of->asked_khz = nearest_level(of, (int64_t)llround(hz / 1000));
        want(of, of->asked_khz, &now, &wanted);
        int done = frequency_policy_apply(directory, &wanted, why, &error);
        if (!done && (error == ENOENT || error == EBUSY || error == ENODEV))
            yoke_log(context, YOKE_LOG_WARNING, "%s", why);
        else if (!done && error != 0)
            return yoke_fail(context, YOKE_ERROR_SYSTEM, "the frequency of the cores cannot be set: %s", why);
        else
            set++;
        /* Some drivers round the values that they accept; reading the frequency back shows whether it is correct. */
        if (!done && error == 0) yoke_log(context, YOKE_LOG_DEBUG, "%s", why);
    }
    if (set == 0) return yoke_fail(context, YOKE_ERROR_SYSTEM, "the frequency of no core could be set: %s", why);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ read back */

static double policy_hz(const cpufreq *domain, const policy *of)
{
    int64_t khz = read_khz(domain, of->number, "scaling_cur_freq");
    if (khz <= 0) khz = read_khz(domain, of->number, "cpuinfo_cur_freq");
    return khz > 0 ? 1000.0 * (double)khz : NAN;
}

/* The policy of the core that runs this thread.  This core is not idle, so its frequency is reliable.  NULL if it is not known. */
static const policy *own_policy(const cpufreq *domain)
{
    char path[128], target[FREQUENCY_PATH_BYTES];
    int cpu = domain->site.root[0] == '\0' ? sched_getcpu() : -1;
    if (cpu < 0) return NULL;
    snprintf(path, sizeof path, "%s/cpu%d/cpufreq", cpus, cpu);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *name = strstr(target, "policy");
    int64_t number = name != NULL ? frequency_khz(name + strlen("policy")) : -1;
    for (int64_t i = 0; i < domain->count; i++)
        if (domain->policies[i].number == number) return &domain->policies[i];
    return NULL;
}

/* The frequency of this thread's core; if that is not known, as in a recorded tree, the mean over all policies. */
static double cpufreq_read(frequency_entry *entry, double *asked_hz)
{
    const cpufreq *domain = entry->state;
    const policy *own = own_policy(domain);
    double hz = own != NULL ? policy_hz(domain, own) : NAN, sum = 0, asked = 0;
    int64_t known = 0;
    if (isfinite(hz)) {
        *asked_hz = 1000.0 * (double)own->asked_khz;
        return hz;
    }
    for (int64_t i = 0; i < domain->count; i++) {
        hz = policy_hz(domain, &domain->policies[i]);
        if (!isfinite(hz)) continue;
        sum += hz;
        asked += 1000.0 * (double)domain->policies[i].asked_khz;
        known++;
    }
    *asked_hz = known > 0 ? asked / (double)known : NAN;
    return known > 0 ? sum / (double)known : NAN;
}

/* The number of times that CPUs have been throttled because of heat. */
static uint64_t count_throttles(const cpufreq *domain)
{
    static const char *const counters[] = {"core_throttle_count", "package_throttle_count"};
    char path[FREQUENCY_PATH_BYTES + 2 * SYSFS_NAME_BYTES];
    sysfs_names found = {0};
    uint64_t sum = 0, number;
    int error;
    snprintf(path, sizeof path, "%s%s", domain->site.root, cpus);
    if (sysfs_list(domain->site.context, path, "cpu", &found, &error) != YOKE_OK) return 0;
    for (int64_t i = 0; i < found.count; i++)
        for (size_t k = 0; k < sizeof counters / sizeof *counters; k++) {
            snprintf(path, sizeof path, "%s%s/%s/thermal_throttle/%s", domain->site.root, cpus, found.names[i], counters[k]);
            if (meter_read_number(path, &number) == 0) sum += number;
        }
    yoke_release(domain->site.context, found.names);
    return sum;
}

static void cpufreq_mark(frequency_entry *entry)
{
    cpufreq *domain = entry->state;
    domain->throttled = count_throttles(domain);
}

static void cpufreq_why(frequency_entry *entry, char text[METER_WHY_BYTES])
{
    const cpufreq *domain = entry->state;
    uint64_t throttled = count_throttles(domain);
    snprintf(text, METER_WHY_BYTES, "the system gives no reason: a power limit, or firmware that overrules the system");
    for (int64_t i = 0; i < domain->count; i++) {
        const policy *of = &domain->policies[i];
        int64_t most = read_khz(domain, of->number, "scaling_max_freq"), firmware = read_khz(domain, of->number, "bios_limit");
        if (firmware > 0 && firmware < of->asked_khz)
            snprintf(text, METER_WHY_BYTES, "the firmware limits policy%lld to %g MHz", (long long)of->number, (double)firmware / 1e3);
        else if (most > 0 && most < of->asked_khz)
            snprintf(text, METER_WHY_BYTES, "the system limits policy%lld to %g MHz", (long long)of->number, (double)most / 1e3);
    }
    if (throttled > domain->throttled)
        snprintf(text, METER_WHY_BYTES, "heat: the processor slowed down %llu times meanwhile (thermal_throttle)",
                 (unsigned long long)(throttled - domain->throttled));
}

/* ---------------------------------------------------------------------------------------------------- find */

static void cpufreq_close(void *state)
{
    cpufreq *domain = state;
    yoke_context *context = domain->site.context;
    yoke_release(context, domain->policies);
    yoke_release(context, domain);
}

static const frequency_functions functions = {
    .save = cpufreq_save, .set = cpufreq_set, .read = cpufreq_read, .mark = cpufreq_mark, .why = cpufreq_why, .close = cpufreq_close};

static void refuse_absent(const cpufreq *domain, int error, frequency_entry *entry)
{
    char machine[64], why[METER_WHY_BYTES];
    meter_virtual_machine(&domain->site, machine);
    if (error == EBUSY)
        frequency_entry_refuse(entry, "the CPUs of all frequency policies are offline",
                               "switch CPUs on: echo 1 > /sys/devices/system/cpu/cpuN/online");
    else if (error == EINVAL)
        frequency_entry_refuse(entry, "the frequency limits in cpufreq/policy*/ are not what the kernel writes there", "");
    else if (error != ENOENT) {
        snprintf(why, sizeof why, "%s/cpufreq cannot be read: %s", cpus, strerror(error));
        frequency_entry_refuse(entry, why, "look at the rights of /sys in this container or session");
    } else if (machine[0] != '\0') {
        snprintf(why, sizeof why, "this is %s, and its host does not let it control frequencies", machine);
        frequency_entry_refuse(entry, why, "run on the machine itself, or set the frequency on the host");
    } else
        frequency_entry_refuse(
            entry, "there is no CPU frequency control (cpufreq/policy*): a virtual machine, or a kernel without a driver for it",
            "on hardware: switch on SpeedStep, Cool'n'Quiet or CPPC in the firmware, take intel_pstate=disable off the "
            "kernel's command line, or modprobe acpi-cpufreq; a virtual machine's frequency is set on its host");
}

static void refuse_right(int error, frequency_file file, frequency_entry *entry)
{
    char why[METER_WHY_BYTES];
    const char *remedy =
        "run as root, or give a group the right: put the lines 'z /sys/devices/system/cpu/cpufreq/policy*/scaling_[gms]* "
        "0664 root yoke - -' and "
        "'z /sys/devices/system/cpu/cpufreq/policy*/energy_performance_preference 0664 root yoke - -' into "
        "/etc/tmpfiles.d/yoke-clocks.conf; "
        "groupadd yoke; usermod -aG yoke USER; systemd-tmpfiles --create yoke-clocks.conf; log in again (docs/reference/frequencies.md)";
    if (error == EROFS) remedy = "sysfs is mounted read-only, as in containers: start the container with -v /sys:/sys:rw or --privileged";
    snprintf(why, sizeof why, "%s cannot be written: %s", frequency_file_name(file), strerror(error));
    frequency_entry_refuse(entry, why, remedy);
}

/* The limits of all policies must be writable. */
static int check_rights(const cpufreq *domain, frequency_entry *entry)
{
    static const frequency_file needed[] = {FREQUENCY_MIN, FREQUENCY_MAX};
    for (int64_t i = 0; i < domain->count; i++)
        for (size_t k = 0; k < sizeof needed / sizeof *needed; k++) {
            int error = may_write(domain, domain->policies[i].number, needed[k]);
            if (error == 0) continue;
            refuse_right(error, needed[k], entry);
            return 0;
        }
    return 1;
}

static void fill_levels(const cpufreq *domain, yoke_frequency_info *info)
{
    int64_t all[2 * MAX_LEVELS], count = 0;
    for (int64_t i = 0; i < domain->count; i++) {
        const policy *of = &domain->policies[i];
        if (of->num_levels == 0) return;
        memcpy(all + count, of->levels_khz, (size_t)of->num_levels * sizeof *all);
        count = sort_levels(all, count + of->num_levels);
        if (count > MAX_LEVELS) return;
    }
    for (int64_t i = 0; i < count; i++) info->levels_hz[i] = 1000.0 * (double)all[i];
    info->num_levels = count;
}

static void fill_info(cpufreq *domain, frequency_entry *entry)
{
    yoke_frequency_info *info = &entry->info;
    double asked_hz;
    int64_t least = INT64_MAX, most = 0, by_speed = 0;
    for (int64_t i = 0; i < domain->count; i++) {
        const policy *of = &domain->policies[i];
        least = of->least_khz < least ? of->least_khz : least;
        most = of->most_khz > most ? of->most_khz : most;
        by_speed += of->userspace;
    }
    info->min_hz = 1000.0 * (double)least;
    info->max_hz = 1000.0 * (double)most;
    info->current_hz = cpufreq_read(entry, &asked_hz);
    fill_levels(domain, info);
    snprintf(info->description, sizeof info->description, "all cores; driver %s%s%s, governor %s, %lld %s; set by %s", domain->driver,
             domain->mode[0] != '\0' ? " " : "", domain->mode, domain->governor, (long long)domain->count,
             domain->count == 1 ? "policy" : "policies", by_speed == domain->count ? "the governor userspace" : "equal limits");
}

/* Reads the driver, its mode, and the governor of the first policy. */
static void read_driver(cpufreq *domain)
{
    char path[FREQUENCY_PATH_BYTES];
    int64_t number = domain->policies[0].number;
    read_text(domain, number, "scaling_driver", domain->driver, sizeof domain->driver);
    read_text(domain, number, "scaling_governor", domain->governor, sizeof domain->governor);
    const char *owner = strncmp(domain->driver, "intel_", 6) == 0 ? "intel_pstate"
                        : strncmp(domain->driver, "amd", 3) == 0  ? "amd_pstate"
                                                                  : NULL;
    if (owner == NULL) return;
    snprintf(path, sizeof path, "%s%s/%s/status", domain->site.root, cpus, owner);
    if (meter_read_line(path, domain->mode, sizeof domain->mode) != 0) domain->mode[0] = '\0';
}

yoke_status frequency_cpufreq_find(const meter_site *site, frequency_list *list)
{
    frequency_entry entry;
    void *memory = NULL;
    int error;
    if (strlen(site->root) > FREQUENCY_PATH_BYTES / 2)
        return yoke_fail(site->context, YOKE_ERROR_INPUT, "the root directory's path is longer than %d bytes", FREQUENCY_PATH_BYTES / 2);
    yoke_status status = yoke_allocate(site->context, 1, sizeof(cpufreq), &memory);
    if (status != YOKE_OK) return status;
    cpufreq *domain = memory;
    domain->site = *site;
    frequency_entry_start(&entry, "cpufreq", "cpu");
    entry.state = domain;
    entry.functions = &functions;
    status = scan(domain, &error);
    if (status != YOKE_OK) {
        cpufreq_close(domain);
        return status;
    }
    if (domain->count == 0)
        refuse_absent(domain, error, &entry);
    else {
        read_driver(domain);
        for (int64_t i = 0; i < domain->count; i++) domain->policies[i].guided = strcmp(domain->mode, "guided") == 0;
        fill_info(domain, &entry);
        entry.tolerance_hz = 50e6; /* half a step of the bus clock */
        entry.info.settable = check_rights(domain, &entry);
    }
    return frequency_list_add(list, &entry);
}
