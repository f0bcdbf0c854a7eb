#define _GNU_SOURCE /* O_NOFOLLOW */
#include "gather/gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/console/options.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "common/machine/sysroot.h"
#include "tool.h"

/* All files that meters and frequencies read, and files that identify the type of machine, but not its owner. */
static const char *const patterns[] = {
    "/proc/cpuinfo",
    "/proc/stat",
    "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/kernel/osrelease",
    "/proc/driver/nvidia/version",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/product_family",
    "/sys/class/dmi/id/board_vendor",
    "/sys/class/dmi/id/board_name",
    "/sys/class/dmi/id/bios_version",
    "/sys/class/powercap/*/name",
    "/sys/class/powercap/*/energy_uj",
    "/sys/class/powercap/*/max_energy_range_uj",
    "/sys/class/powercap/*/power_uw",
    "/sys/class/powercap/*/max_power_range_uw",
    "/sys/class/powercap/*/enabled",
    "/sys/class/powercap/*/constraint_*",
    "/sys/bus/event_source/devices/*/type",
    "/sys/bus/event_source/devices/power*/cpumask",
    "/sys/bus/event_source/devices/power*/perf_event_mux_interval_ms",
    "/sys/bus/event_source/devices/power*/events/*",
    "/sys/bus/event_source/devices/power*/format/*",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/offline",
    "/sys/devices/system/cpu/present",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/smt/*",
    "/sys/devices/system/cpu/intel_pstate/*",
    "/sys/devices/system/cpu/amd_pstate/*",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/cpufreq/policy[0-9]*/*",
    "/sys/devices/system/cpu/cpu[0-9]*/online",
    "/sys/devices/system/cpu/cpu[0-9]*/topology/*",
    "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/*",
    "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*",
    "/sys/class/hwmon/hwmon[0-9]*/name",
    "/sys/class/hwmon/hwmon[0-9]*/energy[0-9]*",
    "/sys/class/hwmon/hwmon[0-9]*/power[0-9]*",
    "/sys/class/hwmon/hwmon[0-9]*/temp[0-9]*_input",
    "/sys/class/hwmon/hwmon[0-9]*/temp[0-9]*_label",
    "/sys/class/hwmon/hwmon[0-9]*/device/uevent",
    "/sys/class/hwmon/hwmon[0-9]*/device/type",
    "/sys/class/hwmon/hwmon[0-9]*/device/status",
    "/sys/class/hwmon/hwmon[0-9]*/device/name",
    "/sys/class/hwmon/hwmon[0-9]*/device/energy[0-9]*",
    "/sys/class/hwmon/hwmon[0-9]*/device/power[0-9]*",
    /* for recording a recorded tree again */
    "/yoke/perf/*/*/cpu[0-9]*",
};

/* Only the existence of these files matters; their contents may name a container. */
static const char *const marks[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};

static const char details[] =
    "DIR must be empty or must not exist. yoke info --sysroot DIR shows it, and it can be sent with a problem report.\n"
    "It holds no names of users and hosts, no serial numbers and no network addresses.\n"
    "DIR/yoke/unreadable.txt lists the files that cannot be read; root can read more.";

enum { NUM_PATTERNS = sizeof patterns / sizeof patterns[0], NUM_MARKS = sizeof marks / sizeof marks[0] };

/* Creates the directory, or accepts an empty one. */
static yoke_status take_directory(yoke_context *context, const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL) {
        if (errno != ENOENT) return yoke_fail(context, YOKE_ERROR_INPUT, "%s cannot be recorded into: %s", path, strerror(errno));
        return app_directory_make(context, path);
    }
    bool empty = true;
    for (struct dirent *entry; empty && (entry = readdir(directory)) != NULL;)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(directory);
    if (!empty) return yoke_fail(context, YOKE_ERROR_INPUT, "%s is not empty; give a new directory, so that nothing is mixed", path);
    return app_directory_make(context, path);
}

static yoke_status open_notes(gather *to)
{
    char path[PATH_MAX];
    yoke_status status = gather_write(to, "/yoke/unreadable.txt", "", 0);
    if (status != YOKE_OK) return status;
    to->files = 0;
    if (snprintf(path, sizeof path, "%s/yoke/unreadable.txt", to->target) < (int)sizeof path)
        to->notes = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (to->notes < 0) return yoke_fail(to->context, YOKE_ERROR_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
    return YOKE_OK;
}

static yoke_status copy_marks(gather *to)
{
    yoke_status status = YOKE_OK;
    char path[PATH_MAX];
    for (int i = 0; i < NUM_MARKS && status == YOKE_OK; i++)
        if (snprintf(path, sizeof path, "%s%s", to->root, marks[i]) < (int)sizeof path && access(path, F_OK) == 0)
            status = gather_write(to, marks[i], "", 0);
    return status;
}

/* Writes yoke's own description of the machine, to be compared with that of the record. */
static yoke_status write_description(gather *to)
{
    char *text = NULL;
    yoke_status status = yoke_describe(to->context, 0, &text);
    if (status != YOKE_OK) return status;
    status = gather_write(to, "/yoke/info.json", text, strlen(text));
    yoke_release(to->context, text);
    return status;
}

static yoke_status record(gather *to)
{
    yoke_status status = open_notes(to);
    for (int i = 0; i < NUM_PATTERNS && status == YOKE_OK; i++) status = gather_copy(to, patterns[i]);
    if (status == YOKE_OK) status = copy_marks(to);
    if (status == YOKE_OK && to->root[0] == '\0') status = gather_perf(to);
    if (status == YOKE_OK) status = write_description(to);
    return status;
}

static void print_summary(app_terminal *terminal, const gather *from)
{
    app_print(terminal, "recorded: %lld files, %.4g KiB, in %s\n", (long long)from->files, (double)from->bytes / 1024, from->target);
    if (from->unreadable > 0)
        app_print(terminal, "not readable: %lld, listed in %s/yoke/unreadable.txt%s\n", (long long)from->unreadable, from->target,
                  geteuid() != 0 ? " (root can read more)" : "");
    app_print(terminal, "personal: nothing; no names of users and hosts, no serial numbers, no addresses of a network\n");
    app_print(terminal, "look at it with: yoke info --sysroot %s\n", from->target);
}

/* Removes slashes at the end, so that paths can be appended. */
static yoke_status trim(yoke_context *context, const char *path, char text[PATH_MAX])
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    if (length == 0 || length >= PATH_MAX)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the name of a directory is %s", length == 0 ? "empty" : "too long");
    memcpy(text, path, length);
    text[length] = '\0';
    return YOKE_OK;
}

static yoke_status write_record(const gather *from, json_t *record, const char *path)
{
    yoke_status status = app_record_set(from->context, record, "directory", app_json_text(from->target));
    if (status == YOKE_OK) status = app_record_set(from->context, record, "files", json_integer(from->files));
    if (status == YOKE_OK) status = app_record_set(from->context, record, "bytes", json_integer(from->bytes));
    if (status == YOKE_OK) status = app_record_set(from->context, record, "unreadable", json_integer(from->unreadable));
    return status == YOKE_OK ? app_record_write(from->context, record, path) : status;
}

typedef struct gather_request {
    const char *target, *sysroot, *json;
} gather_request;

static yoke_status prepare(yoke_context *context, gather_request *request, char directory[PATH_MAX], char root[PATH_MAX])
{
    yoke_status status = trim(context, request->target, directory);
    if (status == YOKE_OK) status = app_file_check(context, request->json);
    if (status == YOKE_OK) status = app_set_sysroot(context, &request->sysroot);
    if (status == YOKE_OK && request->sysroot != NULL) status = trim(context, request->sysroot, root);
    if (strcmp(root, "/") == 0) root[0] = '\0';
    return status == YOKE_OK ? take_directory(context, directory) : status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, gather_request *request, int argc, char **argv)
{
    char root[PATH_MAX] = "", directory[PATH_MAX];
    json_t *document = NULL;
    yoke_status status = prepare(context, request, directory, root);
    if (status == YOKE_OK && request->json != NULL) status = app_record_create(context, terminal->program, argc, argv, &document);
    gather to = {.context = context, .root = root, .target = directory, .notes = -1};
    if (status == YOKE_OK) status = record(&to);
    if (to.notes >= 0) close(to.notes);
    if (status == YOKE_OK) print_summary(terminal, &to);
    if (status == YOKE_OK && document != NULL) status = write_record(&to, document, request->json);
    json_decref(document);
    return status;
}

yoke_status tool_gather(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    gather_request request = {0};
    const app_option options[] = {
        {.name = "sysroot", .value = "ROOT", .help = "record from this tree instead of /", .text = &request.sysroot},
        app_option_json(&request.json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "DIR",
        .operands_least = 1,
        .operands_most = 1,
        .summary = "Records the files of this machine's meters and frequencies, for problem reports and for tests.",
        .options = options,
        .details = details,
    };
    bool answered;
    app_list operands = {0};
    yoke_status status = app_options_parse(context, &usage, argc, argv, &operands, &answered);
    if (status != YOKE_OK || answered) return status;
    request.target = operands.text[0];
    return run(context, terminal, &request, argc, argv);
}
