/*
 * powercap.c - the energy counters of /sys/class/powercap: RAPL of Intel and AMD processors.
 *
 * Facts from drivers/powercap/{powercap_sys,intel_rapl_common,intel_rapl_msr}.c of Linux: `energy_uj` is a counter of 32 bits in hardware
 * units, shown in microjoules and readable by root only; `max_energy_range_uj` is the energy of (2^32 - 1) units.  Zones are identified by
 * `name`, never by number.  A zone's place in the tree is in its directory's name, but the kernel places dram below the package, although
 * the package's counter does not contain it, and psys, which contains the package, on the same level as the package.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meter/kernel/sysfs.h"
#include "meter/meter.h"

static const char class_directory[] = "/sys/class/powercap";
static const double counts_of_32_bits = 4294967295.0;
/* Counters of 32 bits have units between 2^-22 J and 1 J (the fixed unit of psys on Sapphire Rapids). */
static const uint64_t least_range_uj = 1000000000U, most_range_uj = 4294967295000000U;

typedef struct powercap_zone {
    char entry[SYSFS_NAME_BYTES]; /* the directory's name, intel-rapl:0:1 */
    char name[SYSFS_NAME_BYTES];  /* content of `name`; "" if it cannot be read */
    int name_error;
    char type[SYSFS_NAME_BYTES];    /* intel-rapl, intel-rapl-mmio */
    char package[SYSFS_NAME_BYTES]; /* package-0, package-1-die-0: the package that the zone is, or is in; "" for others */
    char covers[SYSFS_NAME_BYTES];
    char meter[64]; /* name of the meter that it became */
    int64_t inside; /* the zone whose directory contains this one's; -1: none */
    uint64_t range_uj, shown_range_uj;
    int range_error;
    int64_t range_of; /* the zone whose range it uses; -1: its own */
} powercap_zone;

typedef struct powercap_search {
    const meter_site *site;
    meter_list *list;
    powercap_zone *zones;
    int64_t num_zones, dangling; /* dangling: number of broken links: entries that are masked in a container */
    int is_amd;
} powercap_search;

/* ------------------------------------------------------------------------------------------------- reading */

typedef struct powercap_state {
    yoke_context *context;
    int descriptor, recorded;
    uint64_t range;
    char what[128];
} powercap_state;

static meter_result read_zone(void *of, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const powercap_state *state = of;
    uint64_t count = 0;
    meter_result result = sysfs_read_number(state->descriptor, state->recorded, state->what, &count, why);
    if (result != METER_READ) return result;
    if (count >= state->range) {
        snprintf(why, METER_WHY_BYTES, "%s shows %llu uJ, beyond its range of %llu uJ", state->what, (unsigned long long)count,
                 (unsigned long long)state->range);
        return METER_FAILED;
    }
    sample->count = count;
    return METER_READ;
}

static void close_zone(void *of)
{
    powercap_state *state = of;
    close(state->descriptor);
    yoke_release(state->context, state);
}

/* ------------------------------------------------------------------------------------------------- kinds of zones */

/* Whether the text is the prefix followed by digits only. */
static int is_numbered(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && text[length] != '\0' && strspn(text + length, "0123456789") == strlen(text + length);
}

/* Whether the name is package-N or package-N-die-D, with numbers of a reasonable length. */
static int is_package(const char *name)
{
    char rest[SYSFS_NAME_BYTES];
    if (strlen(name) > 32 || strncmp(name, "package-", 8) != 0) return 0;
    snprintf(rest, sizeof rest, "%s", name);
    char *die = strstr(rest, "-die-");
    if (die != NULL) {
        if (!is_numbered(die, "-die-")) return 0;
        *die = '\0';
    }
    return is_numbered(rest, "package-");
}

static int is_psys(const char *name) { return strcmp(name, "psys") == 0 || (strlen(name) < 16 && is_numbered(name, "psys-")); }

static const powercap_zone *package_around(const powercap_search *search, const powercap_zone *zone)
{
    for (; zone->inside >= 0;) {
        zone = &search->zones[zone->inside];
        if (is_package(zone->name)) return zone;
    }
    return NULL;
}

/* Fills package and covers. */
static void place_zone(const powercap_search *search, powercap_zone *zone)
{
    const powercap_zone *around = package_around(search, zone);
    const char *where = around != NULL ? around->name : "";
    snprintf(zone->package, sizeof zone->package, "%s", is_package(zone->name) ? zone->name : where);
    if (is_package(zone->name) || is_psys(zone->name))
        snprintf(zone->covers, sizeof zone->covers, "%s", zone->name);
    else if (around != NULL && strcmp(zone->name, "dram") == 0)
        snprintf(zone->covers, sizeof zone->covers, "dram%.40s", where + strlen("package"));
    else if (around != NULL && strcmp(zone->name, "core") == 0 && search->is_amd)
        snprintf(zone->covers, sizeof zone->covers, "%.40s/one-core", where);
    else {
        char clean[SYSFS_NAME_BYTES];
        snprintf(clean, sizeof clean, "%s", zone->name[0] != '\0' ? zone->name : zone->entry);
        sysfs_clean(clean);
        snprintf(zone->covers, sizeof zone->covers, "%.32s/%.24s", around != NULL ? where : "powercap", clean);
    }
}

/* The psys zone of the whole platform.  It is not documented what psys-1, of a second package, contains. */
static int64_t find_psys(const powercap_search *search, const powercap_zone *zone)
{
    for (int64_t i = 0; i < search->num_zones; i++)
        if (strcmp(search->zones[i].type, zone->type) == 0 && strcmp(search->zones[i].name, "psys") == 0) return i;
    return -1;
}

/* The zone whose energy contains this one's; -1: none. */
static int64_t container_of_zone(const powercap_search *search, const powercap_zone *zone)
{
    if (is_psys(zone->name)) return -1;
    if (is_package(zone->name) || strcmp(zone->name, "dram") == 0) return find_psys(search, zone);
    return zone->inside;
}

/* --------------------------------------------------------------------------------------------------- ranges */

static int is_sane(uint64_t range_uj) { return range_uj >= least_range_uj && range_uj <= most_range_uj; }

/* Whether the counters of two zones have the same unit: the kernel uses one unit for a processor, but dram and psys may have others. */
static int share_unit(const powercap_zone *a, const powercap_zone *b)
{
    static const char *const shared[] = {"core", "uncore"};
    if (strcmp(a->covers, b->covers) == 0) return 1; /* the same zone through another interface */
    if (strcmp(a->type, b->type) != 0) return 0;
    int a_shares = is_package(a->name), b_shares = is_package(b->name);
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        a_shares = a_shares || strcmp(a->name, shared[i]) == 0;
        b_shares = b_shares || strcmp(b->name, shared[i]) == 0;
    }
    return (a_shares && b_shares) || (strcmp(a->name, "dram") == 0 && strcmp(b->name, "dram") == 0);
}

/* A zone whose range cannot be read, or is impossible, uses that of a zone with the same unit. */
static void borrow_ranges(powercap_search *search)
{
    for (int64_t i = 0; i < search->num_zones; i++) {
        powercap_zone *zone = &search->zones[i];
        if (zone->range_error == 0 && is_sane(zone->shown_range_uj)) zone->range_uj = zone->shown_range_uj;
    }
    for (int64_t i = 0; i < search->num_zones; i++) {
        powercap_zone *zone = &search->zones[i];
        for (int64_t j = 0; zone->range_uj == 0 && j < search->num_zones; j++) {
            const powercap_zone *other = &search->zones[j];
            if (other->range_uj == 0 || other->range_of >= 0 || !share_unit(zone, other)) continue;
            zone->range_uj = other->range_uj;
            zone->range_of = j;
        }
    }
}

/* ------------------------------------------------------------------------------------------------- domains */

static const char remedy_of_permission[] =
    "until the next boot: sudo chmod a+r /sys/class/powercap/*/energy_uj; for good, as a line of /etc/tmpfiles.d/yoke.conf: "
    "z /sys/class/powercap/intel-rapl:*/energy_uj 0440 root power - - (for users in the group power), or as a udev rule in "
    "/etc/udev/rules.d/90-yoke.rules: SUBSYSTEM==\"powercap\", ACTION==\"add\", RUN+=\"/bin/chmod a+r /sys%p/energy_uj\"";

static void explain_unreadable(const powercap_zone *zone, int error, yoke_meter_info *info)
{
    if (error == EACCES || error == EPERM) {
        snprintf(info->why_not, sizeof info->why_not, "%.64s/energy_uj may be read by root only (Linux 5.10 and later)", zone->entry);
        snprintf(info->remedy, sizeof info->remedy, "%s", remedy_of_permission);
    } else if (error == ENOENT) {
        snprintf(info->why_not, sizeof info->why_not, "%.64s has no energy_uj: the zone limits power but counts no energy", zone->entry);
    } else if (error == EINVAL) {
        snprintf(info->why_not, sizeof info->why_not, "%.64s/energy_uj does not hold a number", zone->entry);
    } else {
        snprintf(info->why_not, sizeof info->why_not, "%.64s/energy_uj cannot be read: %.80s", zone->entry, strerror(error));
        snprintf(info->remedy, sizeof info->remedy,
                 "use perf, which reads the same counters another way; see the kernel's log (dmesg) for why");
    }
}

static void explain_range(const powercap_zone *zone, uint64_t count, yoke_meter_info *info)
{
    if (zone->range_error != 0)
        snprintf(info->why_not, sizeof info->why_not,
                 "%.64s/max_energy_range_uj cannot be read (%.60s), so a wrap could not be told from a fault", zone->entry,
                 zone->range_error == EINVAL ? "no number" : strerror(zone->range_error));
    else
        snprintf(info->why_not, sizeof info->why_not,
                 "%.64s/max_energy_range_uj says %llu, which is no range of a counter that shows %llu uJ", zone->entry,
                 (unsigned long long)zone->shown_range_uj, (unsigned long long)count);
    snprintf(info->remedy, sizeof info->remedy, "use perf, which reads the same counters another way");
}

/* Sets an upper bound of the power, and whether the hardware always draws power. */
static void set_limits(const powercap_zone *zone, meter_domain *domain)
{
    domain->most_w = is_psys(zone->name) ? 8000 : strcmp(zone->name, "dram") == 0 ? 500 : 2000;
    domain->always_moves = is_package(zone->name) || is_psys(zone->name) || strcmp(zone->name, "dram") == 0;
    domain->overlaps = is_psys(zone->name) && strcmp(zone->name, "psys") != 0;
}

static void describe_zone(const powercap_search *search, const powercap_zone *zone, yoke_meter_info *info)
{
    const char *what = is_package(zone->name)              ? "processor package"
                       : is_psys(zone->name)               ? "platform: the processor and what its board adds"
                       : strcmp(zone->name, "dram") == 0   ? "memory of the package, not part of the package's energy"
                       : strcmp(zone->name, "uncore") == 0 ? "graphics of the package"
                       : strcmp(zone->name, "core") != 0   ? "zone"
                       : search->is_amd                    ? "one core only, since AMD counts each apart"
                                                           : "cores of the package";
    char lent[96] = "";
    if (zone->range_of >= 0) snprintf(lent, sizeof lent, "; its range is that of %.64s", search->zones[zone->range_of].entry);
    snprintf(info->description, sizeof info->description, "%.64s, %.64s/%.48s%.90s", what, class_directory, zone->entry, lent);
}

static yoke_status open_zone(const powercap_search *search, const powercap_zone *zone, meter_domain *domain)
{
    char path[SYSFS_PATH_BYTES];
    yoke_meter_info *info = &domain->info;
    yoke_status status = meter_path(search->site, path, sizeof path, "%s/%s/energy_uj", class_directory, zone->entry);
    if (status != YOKE_OK) return status;
    int descriptor = -1;
    uint64_t count = 0;
    int error = zone->name_error != 0 ? 0 : sysfs_open_number(path, &descriptor, &count);
    if (zone->name_error != 0) {
        snprintf(info->why_not, sizeof info->why_not, "%.64s/name cannot be read: %.80s", zone->entry, strerror(zone->name_error));
        return YOKE_OK;
    }
    if (error != 0) {
        explain_unreadable(zone, error, info);
        return YOKE_OK;
    }
    uint64_t unit_uj = (uint64_t)llround((double)zone->range_uj / counts_of_32_bits);
    uint64_t range = zone->range_uj + unit_uj;
    if (zone->range_uj == 0 || count >= range) {
        close(descriptor);
        explain_range(zone, count, info);
        return YOKE_OK;
    }
    void *memory = NULL;
    status = yoke_allocate(search->site->context, 1, sizeof(powercap_state), &memory);
    if (status != YOKE_OK) {
        close(descriptor);
        return status;
    }
    powercap_state *state = memory;
    *state = (powercap_state){search->site->context, descriptor, search->site->root[0] != '\0', range, ""};
    snprintf(state->what, sizeof state->what, "%s/energy_uj", zone->entry);
    domain->state = state;
    domain->read = read_zone;
    domain->close = close_zone;
    domain->range = range;
    info->usable = 1;
    info->wrap_j = (double)range * 1e-6;
    info->resolution_j = fmax((double)zone->range_uj / counts_of_32_bits, 1.0) * 1e-6;
    info->period_s = 1e-3;
    return YOKE_OK;
}

static int is_first_interface(const powercap_zone *zone) { return strcmp(zone->type, "intel-rapl") == 0; }

static yoke_status add_zone(powercap_search *search, powercap_zone *zone)
{
    char wanted[2 * SYSFS_NAME_BYTES];
    if (is_first_interface(zone))
        snprintf(wanted, sizeof wanted, "%s", zone->covers);
    else /* intel-rapl-mmio:0, which is package-0 again */
        snprintf(wanted, sizeof wanted, "%.20s/%s", strncmp(zone->type, "intel-rapl-", 11) == 0 ? zone->type + 11 : zone->type,
                 zone->covers);
    sysfs_unique(search->list, "powercap", wanted, zone->entry, zone->meter);
    meter_domain domain;
    meter_domain_start(&domain, "powercap", zone->meter);
    yoke_meter_info *info = &domain.info;
    info->source = YOKE_ENERGY_MEASURED;
    snprintf(info->covers, sizeof info->covers, "%s", zone->covers);
    int64_t around = container_of_zone(search, zone);
    /* The zone that contains it has been added before, since shorter names and psys come first. */
    if (around >= 0) snprintf(info->parent, sizeof info->parent, "%s", search->zones[around].meter);
    describe_zone(search, zone, info);
    domain.quantity = METER_COUNTER;
    domain.unit_j = 1e-6;
    domain.rank = is_first_interface(zone) ? 10 : 15;
    set_limits(zone, &domain);
    yoke_status status = open_zone(search, zone, &domain);
    return status == YOKE_OK ? meter_list_add(search->list, &domain) : status;
}

/* ------------------------------------------------------------------------------------------------- finding */

static yoke_status read_zone_files(powercap_search *search, const char *entry)
{
    char path[SYSFS_PATH_BYTES];
    powercap_zone *zone = &search->zones[search->num_zones];
    *zone = (powercap_zone){.inside = -1, .range_of = -1};
    snprintf(zone->entry, sizeof zone->entry, "%s", entry);
    snprintf(zone->type, sizeof zone->type, "%.*s", (int)strcspn(entry, ":"), entry);
    yoke_status status = meter_path(search->site, path, sizeof path, "%s/%s", class_directory, entry);
    if (status != YOKE_OK) return status;
    if (access(path, F_OK) != 0) { /* a broken link */
        search->dangling++;
        return YOKE_OK;
    }
    if (strchr(entry, ':') == NULL) return YOKE_OK; /* a control type, which contains zones */
    status = meter_path(search->site, path, sizeof path, "%s/%s/name", class_directory, entry);
    if (status != YOKE_OK) return status;
    zone->name_error = meter_read_line(path, zone->name, sizeof zone->name);
    if (zone->name_error != 0) zone->name[0] = '\0';
    status = meter_path(search->site, path, sizeof path, "%s/%s/max_energy_range_uj", class_directory, entry);
    if (status != YOKE_OK) return status;
    zone->range_error = meter_read_number(path, &zone->shown_range_uj);
    char energy[SYSFS_PATH_BYTES];
    status = meter_path(search->site, energy, sizeof energy, "%s/%s/energy_uj", class_directory, entry);
    if (status != YOKE_OK) return status;
    /* Zones of other kinds (dtpm, idle injection) only limit power. */
    if (strncmp(zone->type, "intel-rapl", 10) != 0 && access(energy, F_OK) != 0) return YOKE_OK;
    search->num_zones++;
    return YOKE_OK;
}

static void link_zones(powercap_search *search)
{
    for (int64_t i = 0; i < search->num_zones; i++) {
        powercap_zone *zone = &search->zones[i];
        size_t length = (size_t)(strrchr(zone->entry, ':') - zone->entry);
        for (int64_t j = 0; j < i; j++)
            if (strlen(search->zones[j].entry) == length && strncmp(search->zones[j].entry, zone->entry, length) == 0) zone->inside = j;
    }
    for (int64_t i = 0; i < search->num_zones; i++) place_zone(search, &search->zones[i]);
}

/* Appends the reason why there is no zone at all. */
static yoke_status add_nothing(const powercap_search *search, int error)
{
    char machine[64], why[256], remedy[512] = "";
    sysfs_virtual_machine(search->site, machine);
    if (search->dangling > 0 || (error == 0 && sysfs_in_container(search->site))) {
        snprintf(why, sizeof why, "masked in this container: the zones in %s lead nowhere", class_directory);
        if (search->dangling == 0) snprintf(why, sizeof why, "masked in this container: %s is empty", class_directory);
        snprintf(remedy, sizeof remedy,
                 "start the container with it: docker run --security-opt systempaths=unconfined, podman run --security-opt "
                 "unmask=/sys/devices/virtual/powercap (and let the user read energy_uj on the host); or %s",
                 SYSFS_ON_THE_HOST);
    } else if (machine[0] != '\0') {
        snprintf(why, sizeof why, "%s, which passes no energy counters on", machine);
        snprintf(remedy, sizeof remedy, "%s", SYSFS_ON_THE_HOST);
    } else if (error == EACCES || error == EPERM) {
        snprintf(why, sizeof why, "%s may not be read: %.60s", class_directory, strerror(error));
        snprintf(remedy, sizeof remedy, "a sandbox or security policy keeps it from this process; run outside of it, or as root");
    } else if (error != 0) {
        snprintf(why, sizeof why, "the kernel has no powercap (%s: %.60s)", class_directory, strerror(error));
        snprintf(remedy, sizeof remedy,
                 "on Intel and AMD processors: sudo modprobe intel_rapl_msr, or a kernel with CONFIG_POWERCAP and CONFIG_INTEL_RAPL");
    } else {
        snprintf(why, sizeof why, "%s has no zones: no driver for energy counters is loaded, or it does not know this processor",
                 class_directory);
        snprintf(remedy, sizeof remedy,
                 "sudo modprobe intel_rapl_msr (for Intel and AMD Zen); a newer kernel where dmesg says that the model is unknown");
    }
    return meter_list_add_missing(search->list, "powercap", "powercap", "energy counters of the processor (RAPL)", why, remedy);
}

static yoke_status find(const meter_site *site, meter_list *list)
{
    char path[SYSFS_PATH_BYTES];
    yoke_status status = meter_path(site, path, sizeof path, "%s", class_directory);
    if (status != YOKE_OK) return status;
    sysfs_names entries;
    int error = 0;
    status = sysfs_list(site->context, path, "", &entries, &error);
    if (status != YOKE_OK) return status;
    powercap_search search = {.site = site, .list = list};
    search.is_amd = sysfs_processor_has(site, "vendor_id", "AuthenticAMD") || sysfs_processor_has(site, "vendor_id", "HygonGenuine");
    void *memory = NULL;
    status = yoke_allocate(site->context, entries.count, sizeof(powercap_zone), &memory);
    search.zones = memory;
    for (int64_t i = 0; status == YOKE_OK && i < entries.count; i++) status = read_zone_files(&search, entries.names[i]);
    yoke_release(site->context, entries.names);
    if (status == YOKE_OK) {
        link_zones(&search);
        borrow_ranges(&search);
    }
    /* psys first, since it contains zones with shorter numbers. */
    for (int64_t i = 0; status == YOKE_OK && i < search.num_zones; i++)
        if (is_psys(search.zones[i].name)) status = add_zone(&search, &search.zones[i]);
    for (int64_t i = 0; status == YOKE_OK && i < search.num_zones; i++)
        if (!is_psys(search.zones[i].name)) status = add_zone(&search, &search.zones[i]);
    if (status == YOKE_OK && search.num_zones == 0) status = add_nothing(&search, error);
    yoke_release(site->context, search.zones);
    return status;
}

const meter_kind meter_powercap = {"powercap", find};
