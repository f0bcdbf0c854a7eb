/* yoke-bench-meter: the cost of metering (beginning and ending a region, and sampling), on files in memory. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/console/interrupt.h"
#include "common/console/numbers.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/file.h"
#include "common/files/record.h"

enum { PATH_BYTES = 512 };

static const double update_s = 0.02; /* update period of the power meters, which are read twice in a period */
static const double goal_region_us = 10, goal_share = 1e-3;

typedef struct command_line {
    int64_t regions, seconds;
    const char *directory, *json;
} command_line;

typedef struct figures {
    double region_us, region_p99_us; /* of beginning and ending a region with two counters */
    double rate_hz, share;           /* two power meters: readings of each per second, and CPU seconds per second */
    double sleeping_share;           /* the same for a thread that only wakes up as often: the part due to the system */
} figures;

/* --------------------------------------------------------------------------------------------------- tree */

static const char *const tree[][2] = {
    {"class/powercap/intel-rapl:0/name", "package-0"},
    {"class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850"},
    {"class/powercap/intel-rapl:0/energy_uj", "123456789012"},
    {"class/powercap/intel-rapl:1/name", "package-1"},
    {"class/powercap/intel-rapl:1/max_energy_range_uj", "262143328850"},
    {"class/powercap/intel-rapl:1/energy_uj", "234567890123"},
    {"class/hwmon/hwmon0/name", "first"},
    {"class/hwmon/hwmon0/power1_input", "100000000"},
    {"class/hwmon/hwmon1/name", "second"},
    {"class/hwmon/hwmon1/power1_input", "100000000"},
};
static const char *const directories[] = {
    "",
    "class",
    "class/powercap",
    "class/powercap/intel-rapl:0",
    "class/powercap/intel-rapl:1",
    "class/hwmon",
    "class/hwmon/hwmon0",
    "class/hwmon/hwmon1",
};

enum { NUM_FILES = sizeof tree / sizeof tree[0], NUM_DIRECTORIES = sizeof directories / sizeof directories[0] };

static yoke_status make_tree(yoke_context *context, const char *root)
{
    char path[PATH_BYTES];
    for (int i = 0; i < NUM_DIRECTORIES; i++) {
        snprintf(path, sizeof path, "%s/sys/%s", root, directories[i]);
        if (mkdir(path, 0700) != 0) return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s cannot be made: %s", path, strerror(errno));
    }
    for (int i = 0; i < NUM_FILES; i++) {
        snprintf(path, sizeof path, "%s/sys/%s", root, tree[i][0]);
        FILE *file = fopen(path, "w");
        int bad = file == NULL || fprintf(file, "%s\n", tree[i][1]) < 0;
        if (file != NULL && fclose(file) != 0) bad = 1;
        if (bad) return yoke_fail(context, YOKE_ERROR_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
    }
    return YOKE_OK;
}

static void remove_tree(const char *root)
{
    char path[PATH_BYTES];
    for (int i = 0; i < NUM_FILES; i++) {
        snprintf(path, sizeof path, "%s/sys/%s", root, tree[i][0]);
        unlink(path);
    }
    for (int i = NUM_DIRECTORIES - 1; i >= 0; i--) {
        snprintf(path, sizeof path, "%s/sys/%s", root, directories[i]);
        rmdir(path);
    }
    rmdir(root);
}

/* ------------------------------------------------------------------------------------------------- regions */

static yoke_status time_regions(yoke_context *context, const char *root, int64_t regions, figures *found)
{
    const yoke_meter_options options = {.select = "powercap", .sysroot = root, .probe_s = -1};
    yoke_meters *meter = NULL;
    void *memory = NULL;
    yoke_energy energies[2], total;
    yoke_status status = yoke_allocate(context, regions, sizeof(double), &memory);
    if (!status) status = yoke_meters_open(context, &options, &meter);
    double *us = memory;
    for (int64_t i = 0; i < regions && !status; i++) {
        yoke_region *region = NULL;
        double begin_s = yoke_clock_s();
        status = yoke_region_begin(meter, &region);
        if (!status) status = yoke_region_end(region, NULL, energies, &total);
        us[i] = 1e6 * (yoke_clock_s() - begin_s);
    }
    yoke_meters_close(meter);
    if (!status) {
        app_sort(us, regions);
        found->region_us = us[regions / 2];
        found->region_p99_us = us[regions - 1 - regions / 100];
    }
    yoke_release(context, memory);
    return status;
}

/* ------------------------------------------------------------------------------------------------ sampling */

typedef struct sensor { /* updates the power meters while their period is measured */
    const char *root;
    atomic_int stop;
} sensor;

static void *update(void *user)
{
    sensor *own = user;
    int descriptors[2];
    char path[PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/sys/class/hwmon/hwmon%d/power1_input", own->root, i);
        descriptors[i] = open(path, O_WRONLY | O_CLOEXEC);
    }
    double next_s = yoke_clock_s();
    for (int step = 0; !atomic_load(&own->stop); step++) {
        for (int i = 0; i < 2; i++)
            if (pwrite(descriptors[i], step % 2 != 0 ? "100000000" : "110000000", 9, 0) != 9) return NULL;
        next_s += update_s;
        double wait_s = fmax(next_s - yoke_clock_s(), 1e-4);
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * wait_s)}, NULL);
    }
    for (int i = 0; i < 2; i++) close(descriptors[i]);
    return NULL;
}

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static yoke_status open_sampled(yoke_context *context, const char *root, yoke_meters **meter)
{
    const yoke_meter_options options = {.select = "hwmon", .sysroot = root, .probe_s = 0.5};
    sensor updating = {.root = root};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, update, &updating);
    if (error != 0) return yoke_fail(context, YOKE_ERROR_SYSTEM, "no thread can be started: %s", strerror(error));
    yoke_status status = yoke_meters_open(context, &options, meter);
    atomic_store(&updating.stop, 1);
    pthread_join(thread, NULL);
    return status;
}

static yoke_status time_sampling(yoke_context *context, const char *root, int64_t seconds, figures *found)
{
    yoke_meters *meter = NULL;
    const yoke_meter_info *infos = NULL;
    int64_t count = 0;
    yoke_status status = open_sampled(context, root, &meter);
    if (status) return status;
    infos = meter->infos;
    count = meter->count;
    double period_s = 0;
    for (int64_t i = 0; i < count; i++) period_s = fmax(period_s, infos[i].period_s);
    double begin_s = yoke_clock_s(), begin_cpu_s = cpu_s();
    for (int64_t i = 0; i < seconds && !status; i++) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        status = app_interrupt_check(context);
    }
    found->share = (cpu_s() - begin_cpu_s) / (yoke_clock_s() - begin_s);
    found->rate_hz = 2 / period_s;
    yoke_meters_close(meter);
    begin_s = yoke_clock_s();
    begin_cpu_s = cpu_s();
    while (!status && yoke_clock_s() < begin_s + (double)seconds) {
        nanosleep(&(struct timespec){.tv_nsec = (long)(0.5e9 * fmin(period_s, 1))}, NULL);
        status = app_interrupt_check(context);
    }
    found->sleeping_share = (cpu_s() - begin_cpu_s) / (yoke_clock_s() - begin_s);
    return status;
}

/* --------------------------------------------------------------------------------------------------- main */

static yoke_status write_record(yoke_context *context, const command_line *line, const figures *found, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke bench meter", argc, argv, &record);
    if (status) return status;
    status = app_record_set(context, record, "regions", json_integer(line->regions));
    if (!status) status = app_record_set(context, record, "region_median_us", app_json_number(found->region_us));
    if (!status) status = app_record_set(context, record, "region_p99_us", app_json_number(found->region_p99_us));
    if (!status) status = app_record_set(context, record, "sampling_rate_hz", app_json_number(found->rate_hz));
    if (!status) status = app_record_set(context, record, "sampling_cpu_share", app_json_number(found->share));
    if (!status) status = app_record_set(context, record, "waking_cpu_share", app_json_number(found->sleeping_share));
    if (!status) status = app_record_write(context, record, line->json);
    json_decref(record);
    return status;
}

static yoke_status run(yoke_context *context, app_terminal *terminal, const command_line *line, int argc, char **argv)
{
    char root[PATH_BYTES / 2];
    figures found = {0};
    int length = snprintf(root, sizeof root, "%s/yoke-bench-meter-XXXXXX", line->directory);
    if (length < 0 || length >= (int)sizeof root || mkdtemp(root) == NULL)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--directory %.200s: no directory can be made there; name one in memory (tmpfs)",
                         line->directory);
    yoke_status status = app_file_check(context, line->json);
    if (!status) status = make_tree(context, root);
    if (!status) status = time_regions(context, root, line->regions, &found);
    if (!status) status = time_sampling(context, root, line->seconds, &found);
    remove_tree(root);
    if (status) return status;
    app_print(terminal, "begin and end of a region, 2 counters: %.2f us (median of %lld; 99 %% %.2f us; goal %.0f us)\n", found.region_us,
              (long long)line->regions, found.region_p99_us, goal_region_us);
    app_print(terminal,
              "sampling of 2 power meters at %.0f Hz: %.3f %% of one core (over %lld s; goal %.1f %%); waking up alone: %.3f %%\n",
              found.rate_hz, 100 * found.share, (long long)line->seconds, 100 * goal_share, 100 * found.sleeping_share);
    return line->json ? write_record(context, line, &found, argc, argv) : YOKE_OK;
}

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "regions",
         .value = "N",
         .help = "regions to time; by default 20000",
         .number = &line->regions,
         .minimum = 1,
         .maximum = 10000000},
        {.name = "seconds",
         .value = "N",
         .help = "how long to sample; by default 10",
         .number = &line->seconds,
         .minimum = 1,
         .maximum = 3600},
        {.name = "directory", .value = "DIRECTORY", .help = "where the files are made; by default /dev/shm", .text = &line->directory},
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .summary = "Measures the cost of metering, on files in memory that stand for counters of two packages and two power sensors.",
        .operands = "",
        .options = options,
        .details = "Exit codes: 0 done (whether goals are met or not), 1 failed while running, 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.regions = 20000, .seconds = 10, .directory = "/dev/shm"};
    bool answered = false;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_interrupt_catch(context);
    return status ? status : run(context, terminal, &line, argc, argv);
}

int main(int argc, char **argv) { return app_program("yoke bench meter", start, argc, argv); }
