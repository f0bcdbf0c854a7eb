/* Reads machine files. */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "device/sim.h"

typedef struct reader {
    yoke_context *context;
    const char *file;
    char where[128]; /* "devices[1].copy." stands before a key */
} reader;

typedef enum key_kind {
    NUMBER, /* double */
    COUNT,  /* int64_t: an integer, or a number without a fraction as in 8e9 */
    TEXT,   /* char[size], 1 to size - 1 printable bytes */
    OTHER   /* by the key's own function */
} key_kind;

/* A key of an object; a table of them is all that an object may hold. */
typedef struct key {
    const char *name;
    key_kind kind;
    size_t offset; /* of the member in the structure that is filled */
    double least, most;
    size_t size;
    int required;
    yoke_status (*read)(reader *r, const struct key *key, const json_t *value, void *member);
} key;

/* ------------------------------------------------------------------------------------------------ failures */

static YOKE_PRINTF(3, 4) yoke_status fail_at(const reader *r, const char *name, const char *format, ...)
{
    char text[YOKE_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    yoke_format_text(text, format, arguments);
    va_end(arguments);
    return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: %s%.64s: %s", r->file, r->where, name, text);
}

/* What stands there, for messages. */
static const char *shown(const json_t *value, char text[64])
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return json_array_size(value) == 0 ? "an empty array" : "an array";
    case JSON_STRING:
        snprintf(text, 64, "the text \"%.40s\"", json_string_value(value));
        return text;
    case JSON_INTEGER:
        snprintf(text, 64, "%lld", (long long)json_integer_value(value));
        return text;
    case JSON_REAL:
        snprintf(text, 64, "%.17g", json_real_value(value));
        return text;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

/* ------------------------------------------------------------------------------------------- single values */

static yoke_status read_number(reader *r, const key *expected, const json_t *value, double *number)
{
    char text[64];
    double found = json_is_number(value) ? json_number_value(value) : NAN;
    if (!(found >= expected->least && found <= expected->most))
        return fail_at(r, expected->name, "expected a number from %g to %g, found %s", expected->least, expected->most, shown(value, text));
    *number = found;
    return YOKE_OK;
}

static yoke_status read_count(reader *r, const key *expected, const json_t *value, int64_t *count)
{
    char text[64];
    double found = json_is_number(value) ? json_number_value(value) : NAN;
    if (!(found >= expected->least && found <= expected->most && floor(found) == found))
        return fail_at(r, expected->name, "expected a whole number from %.0f to %.0f, found %s", expected->least, expected->most,
                       shown(value, text));
    *count = json_is_integer(value) ? (int64_t)json_integer_value(value) : (int64_t)found;
    return YOKE_OK;
}

static yoke_status read_text(reader *r, const key *expected, const json_t *value, char *member)
{
    char text[64];
    if (!json_is_string(value)) return fail_at(r, expected->name, "expected a text, found %s", shown(value, text));
    const char *found = json_string_value(value);
    size_t length = json_string_length(value);
    if (length == 0 || length >= expected->size || strlen(found) != length)
        return fail_at(r, expected->name, "expected a text of 1 to %zu bytes, found %zu", expected->size - 1, length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)found[i] < ' ' || found[i] == 0x7f)
            return fail_at(r, expected->name, "expected a text of one line, found the control character %d", found[i]);
    strcpy(member, found);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- objects */

static const key *find_key(const key *keys, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i].name, name) == 0) return &keys[i];
    return NULL;
}

static yoke_status fail_unknown(const reader *r, const key *keys, int count, const char *name)
{
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", keys[i].name);
    return fail_at(r, name, "there is no such key here; there are: %s", names);
}

static yoke_status read_value(reader *r, const key *expected, const json_t *value, char *member)
{
    switch (expected->kind) {
    case NUMBER:
        return read_number(r, expected, value, (double *)(void *)member);
    case COUNT:
        return read_count(r, expected, value, (int64_t *)(void *)member);
    case TEXT:
        return read_text(r, expected, value, member);
    case OTHER:
        break;
    }
    return expected->read(r, expected, value, member);
}

/* Fills the members of `object` whose keys the document has; the others keep what they are. */
static yoke_status read_object(reader *r, const key *keys, int count, const json_t *document, void *object)
{
    const char *name;
    const json_t *value;
    yoke_status status = YOKE_OK;
    /* jansson's loop wants an object that is not const, though it does not change it. */
    json_object_foreach ((json_t *)(uintptr_t)document, name, value) {
        const key *expected = find_key(keys, count, name);
        status = expected != NULL ? read_value(r, expected, value, (char *)object + expected->offset) : fail_unknown(r, keys, count, name);
        if (status != YOKE_OK) return status;
    }
    for (int i = 0; i < count; i++)
        if (keys[i].required && json_object_get(document, keys[i].name) == NULL) return fail_at(r, keys[i].name, "this key is missing");
    return YOKE_OK;
}

/* The value of a key that is an object itself. */
static yoke_status read_inner(reader *r, const char *name, const key *keys, int count, const json_t *document, void *object)
{
    char text[64], outer[sizeof r->where];
    if (!json_is_object(document)) return fail_at(r, name, "expected an object {...}, found %s", shown(document, text));
    strcpy(outer, r->where);
    snprintf(r->where + strlen(outer), sizeof r->where - strlen(outer), "%.40s.", name);
    yoke_status status = read_object(r, keys, count, document, object);
    strcpy(r->where, outer);
    return status;
}

/* ------------------------------------------------------------------------------------------ keys of a device */

static yoke_status read_class(reader *r, const key *expected, const json_t *value, void *member)
{
    char text[64];
    const char *name = json_string_value(value);
    if (name != NULL && strcmp(name, "cpu") == 0)
        *(yoke_device_class *)member = YOKE_DEVICE_CPU;
    else if (name != NULL && strcmp(name, "gpu") == 0)
        *(yoke_device_class *)member = YOKE_DEVICE_GPU;
    else
        return fail_at(r, expected->name, "expected \"cpu\" or \"gpu\", found %s", shown(value, text));
    return YOKE_OK;
}

static yoke_status read_name(reader *r, const key *expected, const json_t *value, void *member)
{
    yoke_status status = read_text(r, expected, value, member);
    if (status != YOKE_OK) return status;
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (strspn(member, allowed) != strlen(member))
        return fail_at(r, expected->name, "expected letters, digits, '_', '.' and '-', found \"%s\"", (const char *)member);
    return YOKE_OK;
}

/* Point i of a speed function: [units, seconds per unit], with more units than the one before. */
static yoke_status read_point(reader *r, const key *expected, const json_t *point, int64_t i, sim_speed *speed)
{
    char text[64], name[64];
    snprintf(name, sizeof name, "%s[%lld]", expected->name, (long long)i);
    if (!json_is_array(point) || json_array_size(point) != 2)
        return fail_at(r, name, "expected a pair [units, seconds per unit], found %s", shown(point, text));
    const key units = {.name = name, .least = 0, .most = 1e18};
    const key seconds = {.name = name, .least = expected->least, .most = expected->most};
    yoke_status status = read_number(r, &units, json_array_get(point, 0), &speed->units[i]);
    if (status == YOKE_OK) status = read_number(r, &seconds, json_array_get(point, 1), &speed->seconds_per_unit[i]);
    if (status == YOKE_OK && i > 0 && !(speed->units[i] > speed->units[i - 1]))
        return fail_at(r, name, "expected more units than in the point before (%g), found %g", speed->units[i - 1], speed->units[i]);
    return status;
}

/* A number, or points of a piecewise linear function. */
static yoke_status read_speed(reader *r, const key *expected, const json_t *value, void *member)
{
    char text[64];
    sim_speed *speed = member;
    if (!json_is_number(value) && json_array_size(value) == 0)
        return fail_at(r, expected->name, "expected a number, or an array of pairs [units, seconds per unit], found %s",
                       shown(value, text));
    int64_t count = json_is_array(value) ? (int64_t)json_array_size(value) : 1;
    void *memory = NULL;
    yoke_status status = yoke_allocate(r->context, count, 2 * sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    *speed = (sim_speed){.num_points = count, .units = memory, .seconds_per_unit = (double *)memory + count};
    if (json_is_number(value)) return read_number(r, expected, value, &speed->seconds_per_unit[0]);
    for (int64_t i = 0; status == YOKE_OK && i < count; i++) status = read_point(r, expected, json_array_get(value, (size_t)i), i, speed);
    return status;
}

static yoke_status read_copy(reader *r, const key *expected, const json_t *value, void *member)
{
    static const key keys[] = {
        {"latency_s", NUMBER, offsetof(sim_copy, latency_s), .least = 0, .most = 1e6, .required = 1},
        {"bytes_per_s", NUMBER, offsetof(sim_copy, bytes_per_s), .least = 1, .most = 1e18, .required = 1},
        {"free_bytes", NUMBER, offsetof(sim_copy, free_bytes), .least = 0, .most = 1e15},
    };
    return read_inner(r, expected->name, keys, sizeof keys / sizeof keys[0], value, member);
}

static yoke_status read_fault_kind(reader *r, const key *expected, const json_t *value, void *member)
{
    char text[64];
    const char *name = json_string_value(value);
    if (name != NULL && strcmp(name, "lost") == 0)
        *(yoke_status *)member = YOKE_ERROR_DEVICE;
    else if (name != NULL && strcmp(name, "memory") == 0)
        *(yoke_status *)member = YOKE_ERROR_DEVICE_MEMORY;
    else
        return fail_at(r, expected->name, "expected \"lost\" or \"memory\", found %s", shown(value, text));
    return YOKE_OK;
}

static yoke_status read_fault(reader *r, const key *expected, const json_t *value, void *member)
{
    static const key keys[] = {
        {"call", COUNT, offsetof(sim_fault, call), .least = 1, .most = 1e15, .required = 1},
        {"kind", OTHER, offsetof(sim_fault, status), .required = 1, .read = read_fault_kind},
    };
    return read_inner(r, expected->name, keys, sizeof keys / sizeof keys[0], value, member);
}

/* ------------------------------------------------------------------------------------------------- powers */

static yoke_status read_power(reader *r, const key *expected, const json_t *value, void *member)
{
    static const key keys[] = {
        {"idle_w", NUMBER, offsetof(sim_level, idle_w), .least = 0, .most = 1e7, .required = 1},
        {"busy_w", NUMBER, offsetof(sim_level, busy_w), .least = 0, .most = 1e7, .required = 1},
        {"copy_w", NUMBER, offsetof(sim_level, copy_w), .least = 0, .most = 1e7},
    };
    ((sim_level *)member)->powered = 1;
    return read_inner(r, expected->name, keys, sizeof keys / sizeof keys[0], value, member);
}

static yoke_status read_meter(reader *r, const key *expected, const json_t *value, void *member)
{
    static const key keys[] = {
        {"period_s", NUMBER, offsetof(sim_domain, period_s), .least = 0, .most = 1e3},
        {"resolution_j", NUMBER, offsetof(sim_domain, resolution_j), .least = 1e-12, .most = 1e6},
        {"wrap_j", NUMBER, offsetof(sim_domain, wrap_j), .least = 1e-9, .most = 1e15},
        {"gain", NUMBER, offsetof(sim_domain, gain), .least = 0.1, .most = 10},
        {"gain_error", NUMBER, offsetof(sim_domain, gain_error), .least = 0, .most = 1},
    };
    sim_domain *domain = member;
    yoke_status status = read_inner(r, expected->name, keys, sizeof keys / sizeof keys[0], value, domain);
    if (status != YOKE_OK || domain->wrap_j == 0) return status;
    double counts = domain->resolution_j > 0 ? floor(domain->wrap_j / domain->resolution_j + 0.5) : 0;
    if (!(counts >= 2 && counts <= 9007199254740992.0 && fabs(counts * domain->resolution_j / domain->wrap_j - 1) <= 1e-9))
        return fail_at(r, "meter.wrap_j", "expected 2 to 2^53 times resolution_j (%g), found %.17g", domain->resolution_j, domain->wrap_j);
    return YOKE_OK;
}

/* Host and memory of the machine, which are no devices: their powers and meter stand together. */
static yoke_status read_host(reader *r, const key *expected, const json_t *value, void *member)
{
    static const key keys[] = {
        {"idle_w", NUMBER, offsetof(sim_domain, idle_w), .least = 0, .most = 1e7, .required = 1},
        {"meter", OTHER, 0, .read = read_meter},
    };
    ((sim_domain *)member)->powered = 1;
    return read_inner(r, expected->name, keys, sizeof keys / sizeof keys[0], value, member);
}

static yoke_status read_dram(reader *r, const key *expected, const json_t *value, void *member)
{
    static const key keys[] = {
        {"idle_w", NUMBER, offsetof(sim_domain, idle_w), .least = 0, .most = 1e7, .required = 1},
        {"busy_w", NUMBER, offsetof(sim_domain, busy_w), .least = 0, .most = 1e7, .required = 1},
        {"copy_w", NUMBER, offsetof(sim_domain, copy_w), .least = 0, .most = 1e7},
        {"meter", OTHER, 0, .read = read_meter},
    };
    ((sim_domain *)member)->powered = 1;
    return read_inner(r, expected->name, keys, sizeof keys / sizeof keys[0], value, member);
}

/* -------------------------------------------------------------------------------------------------- clocks */

/* A level holds what all have until its own keys replace that. */
static yoke_status read_level(reader *r, const json_t *document, sim_level *level)
{
    static const key keys[] = {
        {"frequency_hz", NUMBER, offsetof(sim_level, frequency_hz), .least = 1, .most = 1e12, .required = 1},
        {"seconds_per_unit", OTHER, offsetof(sim_level, speed), .least = 1e-30, .most = 1e9, .read = read_speed},
        {"start_s", NUMBER, offsetof(sim_level, start_s), .least = 0, .most = 1e6},
        {"power", OTHER, 0, .read = read_power},
    };
    char text[64];
    if (!json_is_object(document)) return fail_at(r, "", "expected an object {...}, found %s", shown(document, text));
    strcat(r->where, ".");
    return read_object(r, keys, sizeof keys / sizeof keys[0], document, level);
}

enum { MOST_LEVELS = 128 }; /* as many as yoke_clock_info shows */

static yoke_status read_levels(reader *r, const key *expected, const json_t *value, void *member)
{
    char text[64], outer[sizeof r->where];
    sim_profile *device = member;
    int64_t count = (int64_t)json_array_size(value);
    if (count > MOST_LEVELS)
        return fail_at(r, expected->name, "expected an array of 1 to %d levels, found %lld", MOST_LEVELS, (long long)count);
    if (count < 1) return fail_at(r, expected->name, "expected an array of 1 to %d levels, found %s", MOST_LEVELS, shown(value, text));
    void *memory = NULL;
    yoke_status status = yoke_allocate(r->context, count, sizeof(sim_level), &memory);
    if (status != YOKE_OK) return status;
    sim_level *levels = device->levels = memory;
    device->num_levels = count;
    strcpy(outer, r->where);
    for (int64_t i = 0; status == YOKE_OK && i < count; i++) {
        levels[i] = (sim_level){.frequency_hz = NAN, .start_s = NAN};
        snprintf(r->where + strlen(outer), sizeof r->where - strlen(outer), "%s[%lld]", expected->name, (long long)i);
        status = read_level(r, json_array_get(value, (size_t)i), &levels[i]);
        if (status == YOKE_OK && i > 0 && !(levels[i].frequency_hz > levels[i - 1].frequency_hz))
            status = fail_at(r, "frequency_hz", "expected more than in the level before (%g), found %g", levels[i - 1].frequency_hz,
                             levels[i].frequency_hz);
    }
    if (status == YOKE_OK) strcpy(r->where, outer);
    return status;
}

static yoke_status read_clock(reader *r, const key *expected, const json_t *value, void *member)
{
    static const key keys[] = {{"levels", OTHER, 0, .required = 1, .read = read_levels}};
    return read_inner(r, expected->name, keys, sizeof keys / sizeof keys[0], value, member);
}

/* What the device has is that of each level which does not say otherwise; without a clock the device is at its only level. */
static yoke_status complete_levels(reader *r, sim_profile *device)
{
    if (device->num_levels == 0) {
        void *memory = NULL;
        yoke_status status = yoke_allocate(r->context, 1, sizeof(sim_level), &memory);
        if (status != YOKE_OK) return status;
        device->levels = memory;
        device->num_levels = 1;
        device->levels[0] = (sim_level){.frequency_hz = NAN, .start_s = NAN};
    }
    int64_t powered = 0;
    for (int64_t i = 0; i < device->num_levels; i++) {
        sim_level *level = &device->levels[i];
        if (level->speed.num_points == 0) level->speed = device->own.speed;
        if (isnan(level->start_s)) level->start_s = device->own.start_s;
        if (!level->powered && device->own.powered) {
            level->idle_w = device->own.idle_w;
            level->busy_w = device->own.busy_w;
            level->copy_w = device->own.copy_w;
        }
        powered += level->powered || device->own.powered;
        if (level->speed.num_points == 0)
            return fail_at(r, "seconds_per_unit", "this key is missing%s",
                           isnan(level->frequency_hz) ? "" : ", and not all levels of the clock have it");
    }
    if (powered > 0 && powered < device->num_levels)
        return fail_at(r, "power", "this key is missing, and some levels of the clock have it, but not all");
    device->domain.powered = powered > 0;
    device->level = device->num_levels - 1;
    return YOKE_OK;
}

static yoke_status read_device(reader *r, const json_t *document, sim_profile *device)
{
    static const key keys[] = {
        {"name", OTHER, offsetof(sim_profile, name), .size = sizeof device->name, .required = 1, .read = read_name},
        {"class", OTHER, offsetof(sim_profile, device_class), .required = 1, .read = read_class},
        {"description", TEXT, offsetof(sim_profile, description), .size = sizeof device->description},
        {"memory_bytes", COUNT, offsetof(sim_profile, memory_bytes), .least = 1, .most = 1e15},
        {"compute_units", COUNT, offsetof(sim_profile, compute_units), .least = 1, .most = 1e6},
        {"threads", COUNT, offsetof(sim_profile, threads), .least = 1, .most = 1024},
        {"seconds_per_unit", OTHER, offsetof(sim_profile, own.speed), .least = 1e-30, .most = 1e9, .read = read_speed},
        {"start_s", NUMBER, offsetof(sim_profile, own.start_s), .least = 0, .most = 1e6},
        {"copy", OTHER, offsetof(sim_profile, copy), .read = read_copy},
        {"clock", OTHER, 0, .read = read_clock},
        {"noise", NUMBER, offsetof(sim_profile, noise), .least = 0, .most = 1},
        {"contention", NUMBER, offsetof(sim_profile, contention), .least = 0, .most = 1e3},
        {"seed", COUNT, offsetof(sim_profile, seed), .least = 0, .most = 9007199254740992.0},
        {"fault", OTHER, offsetof(sim_profile, fault), .read = read_fault},
        {"power", OTHER, offsetof(sim_profile, own), .read = read_power},
        {"meter", OTHER, offsetof(sim_profile, domain), .read = read_meter},
    };
    yoke_status status = read_object(r, keys, sizeof keys / sizeof keys[0], document, device);
    if (status == YOKE_OK) status = complete_levels(r, device);
    if (status == YOKE_OK && !device->domain.powered && json_object_get(document, "meter") != NULL)
        return fail_at(r, "meter", "a meter without a power shows nothing; expected the key \"power\" beside it");
    return status;
}

int64_t sim_nearest_level(const sim_profile *device, double frequency_hz)
{
    int64_t nearest = 0;
    for (int64_t i = 1; i < device->num_levels; i++)
        if (fabs(device->levels[i].frequency_hz - frequency_hz) < fabs(device->levels[nearest].frequency_hz - frequency_hz)) nearest = i;
    return nearest;
}

/* ----------------------------------------------------------------------------------------- keys of the file */

/* What a device has that the file does not describe. */
static sim_profile default_profile(int64_t number)
{
    return (sim_profile){.memory_bytes = yoke_memory_limit(),
                         .compute_units = 1,
                         .threads = 1,
                         .copy = {.latency_s = 0, .bytes_per_s = INFINITY},
                         .contention = NAN, /* of the machine */
                         .seed = number,
                         .domain = {.gain = 1}};
}

static yoke_status read_devices(reader *r, const key *expected, const json_t *value, void *member)
{
    char text[64];
    sim_machine *machine = (sim_machine *)(void *)((char *)member - expected->offset);
    if (json_array_size(value) == 0) return fail_at(r, expected->name, "expected an array of devices, found %s", shown(value, text));
    int64_t count = (int64_t)json_array_size(value);
    void *memory = NULL;
    yoke_status status = yoke_allocate(r->context, count, sizeof(sim_profile), &memory);
    if (status != YOKE_OK) return status;
    machine->devices = memory;
    machine->count = count;
    for (int64_t i = 0; status == YOKE_OK && i < count; i++) {
        const json_t *document = json_array_get(value, (size_t)i);
        sim_profile *device = &machine->devices[i];
        *device = default_profile(i);
        snprintf(r->where, sizeof r->where, "devices[%lld]", (long long)i);
        if (!json_is_object(document)) return fail_at(r, "", "expected an object {...}, found %s", shown(document, text));
        strcat(r->where, ".");
        status = read_device(r, document, device);
        for (int64_t j = 0; status == YOKE_OK && j < i; j++)
            if (strcmp(device->name, machine->devices[j].name) == 0)
                status = fail_at(r, "name", "there is a device \"%s\" already; expected another name", device->name);
    }
    if (status == YOKE_OK) r->where[0] = '\0';
    return status;
}

/* The names of meters are those of devices, host and memory. */
static yoke_status check_powers(reader *r, sim_machine *machine)
{
    const char *host = machine->host_described ? "host" : "hosting";
    machine->host.powered |= machine->hosting_w > 0;
    machine->host.busy_w = machine->host.idle_w + machine->hosting_w;
    machine->powered = machine->host.powered || machine->dram.powered;
    for (int64_t i = 0; i < machine->count; i++) {
        sim_profile *device = &machine->devices[i];
        int taken =
            (machine->host.powered && strcmp(device->name, host) == 0) || (machine->dram.powered && strcmp(device->name, "dram") == 0);
        snprintf(r->where, sizeof r->where, "devices[%lld].", (long long)i);
        if (taken && device->domain.powered)
            return fail_at(r, "name", "\"%s\" is what the machine's own meter is called; expected another name", device->name);
        r->where[0] = '\0';
        machine->powered |= device->domain.powered;
        if (isnan(device->contention)) device->contention = machine->contention;
    }
    return YOKE_OK;
}

static yoke_status read_machine(reader *r, const json_t *document, sim_machine *machine)
{
    static const key keys[] = {
        {"name", TEXT, offsetof(sim_machine, name), .size = sizeof machine->name, .required = 1},
        {"description", TEXT, offsetof(sim_machine, description), .size = sizeof machine->description},
        {"devices", OTHER, offsetof(sim_machine, devices), .required = 1, .read = read_devices},
        {"host", OTHER, offsetof(sim_machine, host), .read = read_host},
        {"dram", OTHER, offsetof(sim_machine, dram), .read = read_dram},
        {"hosting_w", NUMBER, offsetof(sim_machine, hosting_w), .least = 0, .most = 1e7},
        {"contention", NUMBER, offsetof(sim_machine, contention), .least = 0, .most = 1e3},
    };
    char text[64];
    if (!json_is_object(document))
        return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s: expected an object {\"name\": ..., \"devices\": [...]}, found %s", r->file,
                         shown(document, text));
    machine->host.gain = machine->dram.gain = 1;
    yoke_status status = read_object(r, keys, sizeof keys / sizeof keys[0], document, machine);
    machine->host_described = json_object_get(document, "host") != NULL;
    if (status == YOKE_OK) status = check_powers(r, machine);
    if (status == YOKE_OK) sim_energy_start(machine);
    return status;
}

yoke_status sim_machine_create(yoke_context *context, const char *path, sim_machine **machine)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (document == NULL)
        return error.line > 0
                   ? yoke_fail(context, YOKE_ERROR_INPUT, "%s:%d:%d: this is not JSON: %s", path, error.line, error.column, error.text)
                   : yoke_fail(context, YOKE_ERROR_INPUT, "%s: the machine file cannot be read: %s", path, error.text);
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(sim_machine), &memory);
    if (status == YOKE_OK) {
        sim_machine *created = memory;
        reader r = {.context = context, .file = path};
        created->context = context;
        status = read_machine(&r, document, created);
        if (status == YOKE_OK)
            *machine = created;
        else
            sim_machine_destroy(created);
    }
    json_decref(document);
    return status;
}

void sim_machine_destroy(sim_machine *machine)
{
    if (machine == NULL) return;
    for (int64_t i = 0; i < machine->count; i++) {
        sim_profile *device = &machine->devices[i];
        for (int64_t k = 0; k < device->num_levels; k++) /* speeds are the level's own, or the device's */
            if (device->levels[k].speed.units != device->own.speed.units) yoke_release(machine->context, device->levels[k].speed.units);
        yoke_release(machine->context, device->own.speed.units);
        yoke_release(machine->context, device->levels);
    }
    yoke_release(machine->context, machine->devices);
    yoke_release(machine->context, machine);
}
