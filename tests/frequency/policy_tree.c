#define _XOPEN_SOURCE 700
#include "policy_tree.h"
#include "run/machine/list.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const frequency_tree_drivers[NUM_DRIVERS] = {"intel_pstate", "intel_cpufreq", "amd-pstate-epp", "amd-pstate", "acpi-cpufreq"};

enum { PATH_BYTES = 4096, PICTURE_BYTES = 1 << 20 };

static void keep_line(yoke_log_level level, const char *text, void *user)
{
    frequency_tree *machine = user;
    size_t length = strlen(machine->log);
    snprintf(machine->log + length, sizeof machine->log - length, "%c %s\n", "EWID"[level], text);
}

void frequency_tree_write(const frequency_tree *machine, int policy, const char *name, const char *text)
{
    char path[256], line[512];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpufreq/policy%d/%s", policy, name);
    snprintf(line, sizeof line, "%s\n", text);
    tree_write(&machine->files, path, line);
}

void frequency_tree_add_policy(frequency_tree *machine, const char *driver, int number)
{
    int amd = strncmp(driver, "amd", 3) == 0, acpi = strcmp(driver, "acpi-cpufreq") == 0;
    int active = strcmp(driver, "intel_pstate") == 0 || strcmp(driver, "amd-pstate-epp") == 0;
    char cpu[16];
    snprintf(cpu, sizeof cpu, "%d", number);
    const char *const texts[][2] = {
        {"scaling_driver", driver},
        {"affected_cpus", cpu},
        {"related_cpus", cpu},
        {"cpuinfo_min_freq", amd ? "400000" : "800000"},
        {"cpuinfo_max_freq", "3600000"},
        {"scaling_min_freq", amd ? "400000" : "800000"},
        {"scaling_max_freq", "3600000"},
        {"scaling_cur_freq", "1200000"},
        {"scaling_governor", active ? "powersave" : "schedutil"},
        {"scaling_available_governors",
         active ? "performance powersave" : "conservative ondemand userspace powersave performance schedutil"},
        {"scaling_setspeed", "<unsupported>"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) frequency_tree_write(machine, number, texts[i][0], texts[i][1]);
    if (!acpi) frequency_tree_write(machine, number, "energy_performance_preference", "balance_performance");
    if (acpi) frequency_tree_write(machine, number, "scaling_available_frequencies", "3600000 3000000 2400000 1600000 800000 ");
}

void frequency_tree_begin(frequency_tree *machine, const char *driver, int num_policies)
{
    memset(machine, 0, sizeof *machine);
    /* In memory, as sysfs is: on a disk, replacing what a file holds waits for the disk. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    tree_begin(&machine->files, NULL);
    yoke_options options = failing_options(&machine->memory);
    options.log = keep_line;
    options.log_user = machine;
    options.log_level = YOKE_LOG_INFO;
    assert_int_equal(yoke_context_create(&options, &machine->context), YOKE_OK);
    for (int i = 0; i < num_policies; i++) frequency_tree_add_policy(machine, driver, i);
    if (strncmp(driver, "intel_", 6) == 0)
        tree_write(&machine->files, "sys/devices/system/cpu/intel_pstate/status",
                   strcmp(driver, "intel_pstate") == 0 ? "active\n" : "passive\n");
    if (strncmp(driver, "amd", 3) == 0)
        tree_write(&machine->files, "sys/devices/system/cpu/amd_pstate/status",
                   strcmp(driver, "amd-pstate") == 0 ? "guided\n" : "active\n");
    tree_write(&machine->files, "sys/devices/system/cpu/online", "0-3\n");
}

void frequency_tree_end(frequency_tree *machine)
{
    yoke_context_destroy(machine->context);
    assert_int_equal(machine->memory.outstanding, 0);
    tree_end(&machine->files);
}

yoke_frequency_options frequency_tree_options(const frequency_tree *machine)
{
    return (yoke_frequency_options){.sysroot = machine->files.root, .settle_s = 1e-4};
}

yoke_frequencies *frequency_tree_open(frequency_tree *machine)
{
    yoke_frequency_options options = frequency_tree_options(machine);
    yoke_frequencies *frequencies = NULL;
    if (yoke_frequencies_open(machine->context, &options, &frequencies) != YOKE_OK) fail_msg("%s", yoke_last_error(machine->context));
    return frequencies;
}

static size_t read_file(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    size_t length = fread(text, 1, bytes - 1, file);
    fclose(file);
    text[length] = '\0';
    return length;
}

void frequency_tree_holds(const frequency_tree *machine, int policy, const char *name, const char *text)
{
    char path[512], holds[256] = "", wanted[256];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpufreq/policy%d/%s", machine->files.root, policy, name);
    snprintf(wanted, sizeof wanted, "%s\n", text);
    read_file(path, holds, sizeof holds);
    assert_string_equal(holds, wanted);
}

static void add_to_picture(const char *directory, char *picture, size_t *length)
{
    struct dirent **names;
    int count = scandir(directory, &names, NULL, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        char path[PATH_BYTES];
        struct stat about;
        snprintf(path, sizeof path, "%s/%s", directory, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && lstat(path, &about) == 0) {
            *length += (size_t)snprintf(picture + *length, PICTURE_BYTES - *length, "%s %o\n", path, (unsigned)about.st_mode);
            if (S_ISDIR(about.st_mode)) add_to_picture(path, picture, length);
            if (S_ISREG(about.st_mode)) *length += read_file(path, picture + *length, PICTURE_BYTES - *length);
        }
        free(names[i]);
    }
    free(names);
    assert_true(*length < PICTURE_BYTES - PATH_BYTES);
}

char *frequency_tree_picture(const frequency_tree *machine)
{
    size_t length = 0;
    char *picture = calloc(1, PICTURE_BYTES);
    assert_non_null(picture);
    add_to_picture(machine->files.root, picture, &length);
    return picture;
}

static void pause_a_moment(void)
{
    const struct timespec moment = {0, 1000000};
    nanosleep(&moment, NULL);
}

double frequency_tree_wait_for(const frequency_tree *machine, const char *picture, double max_s)
{
    double begin_s = yoke_clock_s();
    for (;;) {
        char *now = frequency_tree_picture(machine);
        int same = strcmp(now, picture) == 0;
        free(now);
        if (same) return yoke_clock_s() - begin_s;
        if (yoke_clock_s() - begin_s > max_s) return NAN;
        pause_a_moment();
    }
}

void frequency_tree_wait_unlocked(frequency_tree *machine)
{
    char path[256];
    double end_s = yoke_clock_s() + 60;
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu", machine->files.root);
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        assert_true(yoke_clock_s() < end_s);
        pause_a_moment();
    }
    close(descriptor);
}

pid_t frequency_tree_guard_of(pid_t process)
{
    pid_t guard = 0;
    DIR *directory = opendir("/proc");
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char path[PATH_BYTES], command[PATH_BYTES];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        size_t length = atoi(entry->d_name) > 0 ? read_file(path, command, sizeof command) : 0;
        const char *program = length > 0 ? strrchr(command, '/') : NULL;
        if (program == NULL || strcmp(program, "/yoke-clock-guard") != 0) continue;
        if (strlen(command) + 1 < length && atoi(command + strlen(command) + 1) == process) guard = (pid_t)atoi(entry->d_name);
    }
    closedir(directory);
    return guard;
}

yoke_frequency_info frequency_tree_find(yoke_context *context, const yoke_frequency_options *options, const char *name)
{
    yoke_frequency_info *list = NULL, found = {.name = ""};
    int64_t count = 0;
    assert_int_equal(yoke_frequencies_list(context, options, &list, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) found = list[i];
    yoke_release(context, list);
    assert_string_equal(found.name, name);
    return found;
}

void frequency_tree_mentions(const char *text, const char *word)
{
    if (strstr(text, word) == NULL) fail_msg("'%s' does not mention '%s'", text, word);
}
