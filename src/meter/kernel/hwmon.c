/*
 * hwmon.c - energy and power sensors of /sys/class/hwmon: graphics cards, boards, power supplies, batteries, NVIDIA Grace.
 *
 * Facts from Documentation/hwmon/sysfs-interface.rst of Linux: energyN_input is in microjoules, powerN_input and powerN_average in
 * microwatts, powerN_average_interval in milliseconds.  The energy of Intel's cards (xe_hwmon.c, i915_hwmon.c) is summed in the driver,
 * from a counter of 32 bits, whenever it is read; it misses a wrap (2^18 J) if it is not read for a long time.  Counted modulo 2^18 J =
 * 262144000000 uJ a missed wrap is invisible.  So this is the range, and the sampling thread reads in time.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meter/kernel/sysfs.h"
#include "meter/meter.h"

static const char class_directory[] = "/sys/class/hwmon";
static const uint64_t intel_range = 262144000000U, most_uw = 1000000000000U; /* no sensor measures more than a megawatt */

typedef struct hwmon_chip {
    const meter_site *site;
    meter_list *list;
    const char *entry;                /* hwmon3 */
    char directory[SYSFS_NAME_BYTES]; /* below class_directory: hwmon3, or hwmon3/device for the files of old interfaces */
    char name[SYSFS_NAME_BYTES];
    char pci[16];
    int is_battery;
} hwmon_chip;

typedef struct hwmon_channel {
    int is_energy;
    char value[SYSFS_NAME_BYTES]; /* energy1_input */
    char stem[SYSFS_NAME_BYTES];  /* energy1 */
    char label[SYSFS_NAME_BYTES]; /* "" if there is none */
} hwmon_channel;

/* ------------------------------------------------------------------------------------------------- reading */

typedef struct hwmon_state {
    yoke_context *context;
    int descriptor, recorded, is_energy;
    uint64_t range;
    char status_path[256]; /* for a battery; "" otherwise */
    char what[128];
} hwmon_state;

static meter_result read_channel(void *of, meter_sample *sample, char why[METER_WHY_BYTES])
{
    const hwmon_state *state = of;
    uint64_t count = 0;
    meter_result result = sysfs_read_number(state->descriptor, state->recorded, state->what, &count, why);
    if (result != METER_READ) return result;
    if (state->is_energy) {
        sample->count = state->range > 0 ? count % state->range : count;
        return METER_READ;
    }
    if (count > most_uw) {
        snprintf(why, METER_WHY_BYTES, "%s shows %llu uW, which is no power of a computer", state->what, (unsigned long long)count);
        return METER_FAILED;
    }
    char status[32];
    if (state->status_path[0] != '\0' &&
        (meter_read_line(state->status_path, status, sizeof status) != 0 || strcmp(status, "Discharging") != 0)) {
        snprintf(why, METER_WHY_BYTES, "%s is not the power of the machine: the battery is not discharging", state->what);
        return METER_FAILED;
    }
    sample->power_w = (double)count * 1e-6;
    return METER_READ;
}

static void close_channel(void *of)
{
    hwmon_state *state = of;
    close(state->descriptor);
    yoke_release(state->context, state);
}

/* ------------------------------------------------------------------------------------------------- covers */

static yoke_status chip_path(const hwmon_chip *chip, char path[SYSFS_PATH_BYTES], const char *file, const char *after)
{
    return meter_path(chip->site, path, SYSFS_PATH_BYTES, "%s/%s/%s%s", class_directory, chip->directory, file, after);
}

static int is_gpu(const hwmon_chip *chip)
{
    return chip->pci[0] != '\0' &&
           (strcmp(chip->name, "xe") == 0 || strncmp(chip->name, "i915", 4) == 0 || strcmp(chip->name, "amdgpu") == 0 ||
            strcmp(chip->name, "radeon") == 0 || strcmp(chip->name, "nouveau") == 0);
}

static int is_intel_gpu(const hwmon_chip *chip) { return is_gpu(chip) && (chip->name[0] == 'x' || chip->name[0] == 'i'); }

/* AMD's integrated graphics reports the power of the whole processor.  It has no power limit (amdgpu_pm.c), or two of them (Van Gogh). */
static int is_apu(const hwmon_chip *chip)
{
    char path[SYSFS_PATH_BYTES];
    if (strcmp(chip->name, "amdgpu") != 0) return 0;
    if (chip_path(chip, path, "power1_cap", "") != YOKE_OK || access(path, F_OK) != 0) return 1;
    return chip_path(chip, path, "power2_cap", "") == YOKE_OK && access(path, F_OK) == 0;
}

/* Covers the card, or a part of it if another channel covers the whole card. */
static void cover_gpu(const hwmon_chip *chip, const hwmon_channel *channel, yoke_meter_info *info)
{
    char card[64], part[32] = "";
    snprintf(card, sizeof card, "gpu-%s", chip->pci);
    const meter_domain *whole = meter_list_find_cover(chip->list, "hwmon", card);
    if (strncmp(chip->name, "i915_", 5) == 0)
        snprintf(part, sizeof part, "%.24s", chip->name + 5); /* i915_gt0: a tile */
    else if (whole != NULL && channel->label[0] != '\0' && strcmp(channel->label, "card") != 0 && strcmp(channel->label, "PPT") != 0)
        snprintf(part, sizeof part, "%.24s", channel->label);
    sysfs_clean(part);
    if (part[0] == '\0')
        snprintf(info->covers, sizeof info->covers, "%s", card);
    else
        snprintf(info->covers, sizeof info->covers, "%.32s/%.24s", card, part);
    if (part[0] != '\0' && whole != NULL) snprintf(info->parent, sizeof info->parent, "%s", whole->info.name);
}

/* "Grace Power Socket 0" and its parts (NVIDIA Grace Performance Tuning Guide, power telemetry).  Nonzero: the label is one of them. */
static int cover_grace(const hwmon_chip *chip, const char *label, meter_domain *domain)
{
    static const struct {
        const char *begins, *covers, *inside;
    } known[] = {{"Module Power Socket ", "module-%s", ""},
                 {"Grace Power Socket ", "package-%s", "module-%s"},
                 {"CPU Power Socket ", "package-%s/core", "package-%s"},
                 {"SysIO Power Socket ", "package-%s/io", "package-%s"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t length = strlen(known[i].begins);
        const char *number = label + length;
        if (strncmp(label, known[i].begins, length) != 0 || *number == '\0' || strlen(number) > 4 ||
            strspn(number, "0123456789") != strlen(number))
            continue;
        char text[64];
        const char *percent = strchr(known[i].covers, '%');
        snprintf(domain->info.covers, sizeof domain->info.covers, "%.*s%s%s", (int)(percent - known[i].covers), known[i].covers, number,
                 percent + 2);
        percent = strchr(known[i].inside, '%');
        if (percent == NULL) {
            domain->overlaps = 1; /* it contains the GPU, which has a meter of its own */
            return 1;
        }
        snprintf(text, sizeof text, "%.*s%s", (int)(percent - known[i].inside), known[i].inside, number);
        const meter_domain *whole = meter_list_find_cover(chip->list, "hwmon", text);
        if (whole != NULL && !whole->overlaps) snprintf(domain->info.parent, sizeof domain->info.parent, "%s", whole->info.name);
        return 1;
    }
    return 0;
}

/* Fills covers and parent, and marks sensors that may include other hardware. */
static void cover(const hwmon_chip *chip, const hwmon_channel *channel, meter_domain *domain)
{
    yoke_meter_info *info = &domain->info;
    char clean[SYSFS_NAME_BYTES], label[SYSFS_NAME_BYTES];
    if (is_gpu(chip)) {
        cover_gpu(chip, channel, info);
        domain->overlaps = is_apu(chip);
        return;
    }
    if (strcmp(chip->name, "power_meter") == 0 && cover_grace(chip, channel->label, domain)) return;
    if (strncmp(channel->label, "Esocket", 7) == 0 && strspn(channel->label + 7, "0123456789") == strlen(channel->label + 7)) {
        snprintf(info->covers, sizeof info->covers, "package-%.8s", channel->label + 7); /* amd_energy */
        return;
    }
    if (strcmp(chip->name, "fam15h_power") == 0 && strcmp(chip->pci, "0000:00:18.4") == 0) {
        snprintf(info->covers, sizeof info->covers, "package-0");
        return;
    }
    domain->overlaps = 1;
    if (strcmp(chip->name, "power_meter") == 0 && channel->label[0] == '\0' && strcmp(channel->stem, "power1") == 0) {
        snprintf(info->covers, sizeof info->covers, "machine"); /* ACPI: all power that the machine draws from its supply */
        return;
    }
    snprintf(clean, sizeof clean, "%s%.40s", chip->is_battery && strncmp(chip->name, "BAT", 3) != 0 ? "BAT-" : "", chip->name);
    sysfs_clean(clean);
    snprintf(label, sizeof label, "%s", channel->label[0] != '\0' ? channel->label : channel->stem);
    sysfs_clean(label);
    const char *sort = chip->is_battery ? "battery-" : strstr(chip->name, "psu") != NULL ? "psu-" : "board-";
    snprintf(info->covers, sizeof info->covers, "%s%.24s/%.24s", sort, clean, label);
}

/* ------------------------------------------------------------------------------------------------- domains */

static void set_numbers(const hwmon_chip *chip, const hwmon_channel *channel, meter_domain *domain)
{
    yoke_meter_info *info = &domain->info;
    info->source = YOKE_ENERGY_MEASURED;
    snprintf(info->pci, sizeof info->pci, "%s", chip->pci);
    domain->most_w = domain->overlaps ? 20000 : 2000;
    /* If a sensor has both, energy is preferred to power, which must be integrated. */
    domain->rank = channel->is_energy ? 30 : 31;
    if (channel->is_energy) {
        domain->quantity = METER_COUNTER;
        domain->unit_j = 1e-6;
        info->resolution_j = 1e-6;
        if (is_intel_gpu(chip)) {
            domain->range = intel_range;
            info->wrap_j = (double)intel_range * 1e-6;
            info->resolution_j = ldexp(1, -14);
        }
        return;
    }
    domain->quantity = METER_POWER;
    info->integrated = 1;
    char path[SYSFS_PATH_BYTES];
    uint64_t interval_ms = 0;
    int is_average = strstr(channel->value, "_average") != NULL;
    if (is_average && chip_path(chip, path, channel->stem, "_average_interval") == YOKE_OK && meter_read_number(path, &interval_ms) == 0 &&
        interval_ms > 0 && interval_ms <= 3600000)
        domain->window_s = (double)interval_ms * 1e-3;
}

static void explain(const hwmon_chip *chip, const hwmon_channel *channel, int error, yoke_meter_info *info)
{
    const char *text = error == EINVAL ? "no number" : strerror(error);
    snprintf(info->why_not, sizeof info->why_not, "%.64s/%.64s cannot be read: %.80s", chip->directory, channel->value, text);
    if (error == EACCES || error == EPERM)
        snprintf(info->remedy, sizeof info->remedy, "until the next boot: sudo chmod a+r %s/%.64s/%.64s", class_directory, chip->directory,
                 channel->value);
}

/* Finds out whether the sensor can be read at present; if not, the domain has the reason. */
static yoke_status is_ready(const hwmon_chip *chip, const hwmon_channel *channel, yoke_meter_info *info, char status_path[256], int *ready)
{
    char path[SYSFS_PATH_BYTES], text[32];
    uint64_t enabled = 1;
    *ready = 1;
    yoke_status status = chip_path(chip, path, channel->stem, "_enable");
    if (status != YOKE_OK) return status;
    if (meter_read_number(path, &enabled) == 0 && enabled == 0) {
        snprintf(info->why_not, sizeof info->why_not, "the sensor is switched off (%.64s_enable is 0)", channel->stem);
        snprintf(info->remedy, sizeof info->remedy, "echo 1 | sudo tee %s/%.64s/%.64s_enable", class_directory, chip->directory,
                 channel->stem);
        *ready = 0;
    }
    if (!chip->is_battery) return YOKE_OK;
    status = meter_path(chip->site, path, sizeof path, "%s/%s/device/status", class_directory, chip->entry);
    if (status != YOKE_OK) return status;
    int error = meter_read_line(path, text, sizeof text);
    if (error != 0 || strcmp(text, "Discharging") != 0 || strlen(path) >= 256) {
        snprintf(info->why_not, sizeof info->why_not, "the battery is not discharging: its power is not that of the machine");
        snprintf(info->remedy, sizeof info->remedy, "unplug the machine");
        *ready = 0;
    } else {
        memcpy(status_path, path, strlen(path) + 1);
    }
    return YOKE_OK;
}

static yoke_status open_channel(const hwmon_chip *chip, const hwmon_channel *channel, meter_domain *domain)
{
    char path[SYSFS_PATH_BYTES], status_path[256] = "";
    int ready = 0, descriptor = -1;
    uint64_t count = 0;
    yoke_status status = is_ready(chip, channel, &domain->info, status_path, &ready);
    if (status != YOKE_OK || !ready) return status;
    status = chip_path(chip, path, channel->value, "");
    if (status != YOKE_OK) return status;
    int error = sysfs_open_number(path, &descriptor, &count);
    if (error == 0 && !channel->is_energy && count > most_uw) {
        close(descriptor);
        error = ERANGE;
    }
    if (error != 0) {
        explain(chip, channel, error, &domain->info);
        return YOKE_OK;
    }
    void *memory = NULL;
    status = yoke_allocate(chip->site->context, 1, sizeof(hwmon_state), &memory);
    if (status != YOKE_OK) {
        close(descriptor);
        return status;
    }
    hwmon_state *state = memory;
    *state = (hwmon_state){chip->site->context, descriptor, chip->site->root[0] != '\0', channel->is_energy, domain->range, "", ""};
    memcpy(state->status_path, status_path, sizeof status_path);
    snprintf(state->what, sizeof state->what, "%.60s/%.60s", chip->directory, channel->value);
    domain->state = state;
    domain->read = read_channel;
    domain->close = close_channel;
    domain->info.usable = 1;
    return YOKE_OK;
}

static yoke_status add_channel(const hwmon_chip *chip, const hwmon_channel *channel)
{
    char wanted[2 * SYSFS_NAME_BYTES], name[64], label[SYSFS_NAME_BYTES];
    snprintf(label, sizeof label, "%s", channel->label[0] != '\0' ? channel->label : channel->stem);
    sysfs_clean(label);
    if (chip->pci[0] != '\0')
        snprintf(wanted, sizeof wanted, "%.16s-%s/%.20s", chip->name, chip->pci, label);
    else
        snprintf(wanted, sizeof wanted, "%.20s/%.24s", chip->name, label);
    for (char *at = wanted; *at != '\0'; at++)
        if (*at == ',' || *at == ' ') *at = '-';
    sysfs_unique(chip->list, "hwmon", wanted, chip->entry, name);
    meter_domain domain;
    meter_domain_start(&domain, "hwmon", name);
    snprintf(domain.info.description, sizeof domain.info.description, "%.40s%s%.60s, %s/%.60s/%.60s", chip->name,
             channel->label[0] != '\0' ? " " : "", channel->label, class_directory, chip->directory, channel->value);
    cover(chip, channel, &domain);
    set_numbers(chip, channel, &domain);
    yoke_status status = open_channel(chip, channel, &domain);
    return status == YOKE_OK ? meter_list_add(chip->list, &domain) : status;
}

/* ------------------------------------------------------------------------------------------------- finding */

/* Whether the name is energyN_input, powerN_input or powerN_average.  If so, fills all members except the label. */
static int is_channel(const char *name, hwmon_channel *channel)
{
    *channel = (hwmon_channel){.is_energy = strncmp(name, "energy", 6) == 0};
    size_t begin = channel->is_energy ? 6 : 5;
    size_t digits = strspn(name + begin, "0123456789");
    const char *end = name + begin + digits;
    if (digits == 0 || digits > 4) return 0;
    if (strcmp(end, "_input") != 0 && (channel->is_energy || strcmp(end, "_average") != 0)) return 0;
    snprintf(channel->value, sizeof channel->value, "%s", name);
    snprintf(channel->stem, sizeof channel->stem, "%.*s", (int)(begin + digits), name);
    return 1;
}

static yoke_status add_named(hwmon_chip *chip, const sysfs_names *names, int64_t i, int64_t *found)
{
    hwmon_channel channel;
    if (!is_channel(names->names[i], &channel)) return YOKE_OK;
    if (strstr(channel.value, "_average") != NULL) {
        char input[2 * SYSFS_NAME_BYTES];
        snprintf(input, sizeof input, "%s_input", channel.stem);
        for (int64_t j = 0; j < names->count; j++)
            if (strcmp(names->names[j], input) == 0) return YOKE_OK; /* the instantaneous power is preferred */
    }
    char path[SYSFS_PATH_BYTES];
    yoke_status status = chip_path(chip, path, channel.stem, "_label");
    if (status != YOKE_OK) return status;
    if (meter_read_line(path, channel.label, sizeof channel.label) != 0) {
        status = chip_path(chip, path, channel.stem, "_oem_info"); /* in which acpi_power_meter describes the sensor */
        if (status != YOKE_OK) return status;
        if (meter_read_line(path, channel.label, sizeof channel.label) != 0) channel.label[0] = '\0';
    }
    if (strncmp(channel.label, "Ecore", 5) == 0) return YOKE_OK; /* amd_energy reports each core as well as its socket */
    ++*found;
    return add_channel(chip, &channel);
}

static yoke_status add_directory(hwmon_chip *chip, int64_t *found)
{
    static const char *const prefixes[] = {"energy", "power"};
    yoke_status status = YOKE_OK;
    for (size_t p = 0; status == YOKE_OK && p < sizeof prefixes / sizeof prefixes[0]; p++) {
        char path[SYSFS_PATH_BYTES];
        sysfs_names names = {0};
        int error = 0;
        status = chip_path(chip, path, "", "");
        if (status == YOKE_OK) status = sysfs_list(chip->site->context, path, prefixes[p], &names, &error);
        for (int64_t i = 0; status == YOKE_OK && i < names.count; i++) status = add_named(chip, &names, i, found);
        yoke_release(chip->site->context, names.names);
    }
    return status;
}

/* Reads PCI_SLOT_NAME from device/uevent. */
static void read_pci(hwmon_chip *chip, const char *path)
{
    char line[256];
    int descriptor = sysfs_open(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    if (file == NULL) {
        if (descriptor >= 0) close(descriptor);
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "PCI_SLOT_NAME=", 14) != 0) continue;
        char *slot = line + 14;
        slot[strcspn(slot, "\n")] = '\0';
        unsigned domain = 0, bus = 0, device = 0, function = 0;
        int length = 0;
        if (strlen(slot) < sizeof chip->pci && sscanf(slot, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &length) == 4 &&
            slot[length] == '\0')
            snprintf(chip->pci, sizeof chip->pci, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff, device & 0xff, function & 0xf);
    }
    fclose(file);
}

/* parts nonzero: only the tiles of cards, which are parts of the hardware of other chips; zero: all other chips. */
static yoke_status add_chip(const meter_site *site, meter_list *list, const char *entry, int parts, int64_t *found)
{
    hwmon_chip chip = {.site = site, .list = list, .entry = entry};
    char path[SYSFS_PATH_BYTES], type[32];
    yoke_status status = meter_path(site, path, sizeof path, "%s/%s/name", class_directory, entry);
    if (status != YOKE_OK) return status;
    if (meter_read_line(path, chip.name, sizeof chip.name) != 0 || chip.name[0] == '\0') snprintf(chip.name, sizeof chip.name, "%s", entry);
    sysfs_clean(chip.name);
    if ((strncmp(chip.name, "i915_", 5) == 0) != (parts != 0)) return YOKE_OK;
    status = meter_path(site, path, sizeof path, "%s/%s/device/uevent", class_directory, entry);
    if (status != YOKE_OK) return status;
    read_pci(&chip, path);
    status = meter_path(site, path, sizeof path, "%s/%s/device/type", class_directory, entry);
    if (status != YOKE_OK) return status;
    chip.is_battery = strncmp(chip.name, "BAT", 3) == 0 || (meter_read_line(path, type, sizeof type) == 0 && strcmp(type, "Battery") == 0);
    int64_t before = *found;
    snprintf(chip.directory, sizeof chip.directory, "%s", entry);
    status = add_directory(&chip, found);
    if (status == YOKE_OK &&
        *found == before) { /* drivers of the old interface, such as acpi_power_meter, have the files in the device's directory */
        snprintf(chip.directory, sizeof chip.directory, "%.48s/device", entry);
        status = add_directory(&chip, found);
    }
    return status;
}

static yoke_status find(const meter_site *site, meter_list *list)
{
    char path[SYSFS_PATH_BYTES];
    sysfs_names names;
    int error = 0;
    int64_t found = 0;
    yoke_status status = meter_path(site, path, sizeof path, "%s", class_directory);
    if (status != YOKE_OK) return status;
    status = sysfs_list(site->context, path, "hwmon", &names, &error);
    int64_t count = names.count;
    for (int parts = 0; parts < 2; parts++)
        for (int64_t i = 0; status == YOKE_OK && i < count; i++) status = add_chip(site, list, names.names[i], parts, &found);
    yoke_release(site->context, names.names);
    if (status != YOKE_OK || found > 0) return status;
    char why[256];
    snprintf(why, sizeof why, "none of the %lld hardware monitors in %s shows energy or power", (long long)count, class_directory);
    if (error != 0) snprintf(why, sizeof why, "there are no hardware monitors (%s: %.60s)", class_directory, strerror(error));
    return meter_list_add_missing(list, "hwmon", "hwmon", "energy and power sensors of cards and boards", why,
                                  "load the board's or card's driver where it has one (sensors-detect of lm-sensors finds it)");
}

const meter_kind meter_hwmon = {"hwmon", find};
