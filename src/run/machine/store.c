/* Finds the file that keeps the measurements of this machine. */
#include "model/store/store.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/sim/sim.h"

enum { MACHINE_BYTES = 256 };

/*
 * A text of what does not change on a machine: its processor, and its numbers of hardware threads and of bytes of memory, whatever part of
 * these a job may use.  Devices are not included, as each entry of a store names its own.
 */
static yoke_status fingerprint(yoke_context *context, char machine[MACHINE_BYTES])
{
    yoke_topology topology;
    yoke_status status = yoke_topology_get(context, &topology);
    if (status != YOKE_OK) return status;
    const double gibibyte = 1024.0 * 1024.0 * 1024.0;
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    long long four = (long long)(bytes / (4 * gibibyte)) + 1; /* the operating system reserves a small part that varies */
    snprintf(machine, MACHINE_BYTES, "%s, %s, %ld hardware threads, %lld GiB",
             topology.processor[0] != '\0' ? topology.processor : "processor", topology.instruction_set, sysconf(_SC_NPROCESSORS_CONF),
             4 * four);
    return YOKE_OK;
}

/* FNV-1a with 64 bits: a name for a file, not a secret. */
static unsigned long long hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return hash;
}

static unsigned long long hash_number(unsigned long long hash, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g;", value);
    for (const char *p = text; *p != '\0'; p++) hash = (hash ^ (unsigned char)*p) * 0x100000001b3U;
    return hash;
}

/* A text of a simulated machine: its name, and a hash of what times and powers depend on, so that a changed file is another machine. */
static void fingerprint_simulated(const sim_machine *simulated, char machine[MACHINE_BYTES])
{
    unsigned long long hash = hash_number(hash_text(simulated->name), simulated->host_overhead_w + simulated->host.idle_w);
    for (int64_t i = 0; i < simulated->count; i++) {
        const sim_profile *device = &simulated->devices[i];
        const double own[] = {device->copy.latency_s, device->copy.bytes_per_s,  device->copy.free_bytes, device->contention,
                              device->noise,          (double)device->num_levels};
        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++) hash = hash_number(hash, own[k]);
        for (int64_t l = 0; l < device->num_levels; l++) {
            const sim_level *level = &device->levels[l];
            const double of_level[] = {level->frequency_hz, level->start_s, level->idle_w, level->busy_w, level->copy_w};
            for (size_t k = 0; k < sizeof of_level / sizeof of_level[0]; k++) hash = hash_number(hash, of_level[k]);
            if (!isnan(level->hosting_w)) hash = hash_number(hash, level->hosting_w);
            for (int64_t k = 0; k < level->speed.num_points; k++)
                hash = hash_number(hash_number(hash, level->speed.units[k]), level->speed.seconds_per_unit[k]);
        }
    }
    snprintf(machine, MACHINE_BYTES, "simulated %s, %016llx", simulated->name, hash);
}

/* Chooses a path if none was given.  *own: nonzero: its directories may be created. */
static yoke_status choose_path(yoke_context *context, const char *machine, char path[PATH_MAX], int *own)
{
    const char *named = getenv("YOKE_STORE"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length;
    *own = 0;
    if (named != NULL && named[0] != '\0') {
        length = snprintf(path, PATH_MAX, "%s", named);
    } else {
        int has_data = data != NULL && data[0] == '/'; /* the XDG specification wants relative paths to be ignored */
        if (!has_data && (home == NULL || home[0] != '/'))
            return yoke_fail(context, YOKE_ERROR_UNAVAILABLE,
                             "there is no HOME for a store; name a file (--store FILE), or set YOKE_STORE to one");
        length = snprintf(path, PATH_MAX, "%s%s/yoke/store-%016llx.json", has_data ? data : home, has_data ? "" : "/.local/share",
                          hash_text(machine));
        *own = 1;
    }
    if (length > 0 && length < PATH_MAX) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "the path of the store is too long; name a file with a shorter one (--store FILE)");
}

/* Sets the name of the machine: the caller's text, or one that is written to of_this. */
static yoke_status name_machine(yoke_context *context, const char **machine, char of_this[MACHINE_BYTES])
{
    const sim_machine *simulated = *machine == NULL ? sim_machine_of(context) : NULL;
    if (*machine != NULL) return YOKE_OK;
    *machine = of_this;
    if (simulated == NULL) return fingerprint(context, of_this);
    fingerprint_simulated(simulated, of_this);
    return YOKE_OK;
}

yoke_status yoke_store_open_text(yoke_context *context, const char *text, const char *name, const char *machine, yoke_store **store,
                                 const char **declined)
{
    char of_this[MACHINE_BYTES];
    yoke_status status = name_machine(context, &machine, of_this);
    return status == YOKE_OK ? store_open_text(context, text, name, machine, store, declined) : status;
}

yoke_status yoke_store_open(yoke_context *context, const char *path, const char *machine, yoke_store **store, const char **declined)
{
    char chosen[PATH_MAX], of_this[MACHINE_BYTES];
    int own = 0;
    if (context == NULL || store == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_store_open: %s is NULL", context == NULL ? "context" : "store");
    if (path != NULL && path[0] == '\0') return yoke_fail(context, YOKE_ERROR_INPUT, "the name of the store is empty");
    yoke_status status = name_machine(context, &machine, of_this);
    if (status == YOKE_OK && path == NULL) status = choose_path(context, machine, chosen, &own);
    if (status != YOKE_OK) return status;
    return store_open(context, path != NULL ? path : chosen, machine, own, store, declined);
}
