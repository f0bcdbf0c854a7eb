/* Reads machine files. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/json_document.h"
#include "base/limits.h"
#include "device/sim/sim.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* Fails for the member `name` of the object that is being read, where the fault is not in one of its keys alone. */
#define FAIL_AT(reader, name, ...) (yoke_json_enter(reader, name), yoke_json_fail(reader, __VA_ARGS__))

/* ------------------------------------------------------------------------------------------ keys of a device */

static yoke_status read_class(yoke_json_reader *reader, const json_t *value, void *member)
{
    const char *name = json_string_value(value);
    if (name != NULL && strcmp(name, "cpu") == 0)
        *(yoke_device_class *)member = YOKE_DEVICE_CPU;
    else if (name != NULL && strcmp(name, "gpu") == 0)
        *(yoke_device_class *)member = YOKE_DEVICE_GPU;
    else
        return yoke_json_expected(reader, "\"cpu\" or \"gpu\"", value);
    return YOKE_OK;
}

static yoke_status read_name(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *name = NULL;
    yoke_status status = yoke_json_read_text(reader, value, 1, sizeof((sim_profile *)0)->name - 1, &name);
    if (status != YOKE_OK) return status;
    if (strspn(name, allowed) != strlen(name))
        return yoke_json_fail(reader, "expected letters, digits, '_', '.' and '-', found \"%s\"", name);
    strcpy(member, name);
    return YOKE_OK;
}

static const double least_speed = 1e-30, most_speed = 1e9; /* seconds per unit */

/* Reads point i of a speed function: [units, seconds per unit], with more units than the previous one. */
static yoke_status read_point(yoke_json_reader *reader, const json_t *point, int64_t i, sim_speed *speed)
{
    if (json_array_size(point) != 2) return yoke_json_expected(reader, "a pair [units, seconds per unit]", point);
    size_t outer = yoke_json_enter_item(reader, 0);
    yoke_status status = yoke_json_read_number(reader, json_array_get(point, 0), 0, 1e18, &speed->units[i]);
    if (status != YOKE_OK) return status;
    if (i > 0 && !(speed->units[i] > speed->units[i - 1]))
        return yoke_json_fail(reader, "expected more units than in the point before (%g), found %g", speed->units[i - 1], speed->units[i]);
    yoke_json_leave(reader, outer);
    yoke_json_enter_item(reader, 1);
    status = yoke_json_read_number(reader, json_array_get(point, 1), least_speed, most_speed, &speed->seconds_per_unit[i]);
    if (status == YOKE_OK) yoke_json_leave(reader, outer);
    return status;
}

/* Reads a number, or the points of a piecewise linear function. */
static yoke_status read_speed(yoke_json_reader *reader, const json_t *value, void *member)
{
    sim_speed *speed = member;
    if (!json_is_number(value) && json_array_size(value) == 0)
        return yoke_json_expected(reader, "a number, or an array of pairs [units, seconds per unit]", value);
    int64_t count = json_is_array(value) ? (int64_t)json_array_size(value) : 1;
    void *memory = NULL;
    yoke_status status = yoke_allocate(reader->context, count, 2 * sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    *speed = (sim_speed){.num_points = count, .units = memory, .seconds_per_unit = (double *)memory + count};
    if (json_is_number(value)) return yoke_json_read_number(reader, value, least_speed, most_speed, &speed->seconds_per_unit[0]);
    for (int64_t i = 0; status == YOKE_OK && i < count; i++) {
        size_t outer = yoke_json_enter_item(reader, i);
        status = read_point(reader, json_array_get(value, (size_t)i), i, speed);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
    }
    return status;
}

static yoke_status read_copy(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {
        {"latency_s", YOKE_JSON_NUMBER, offsetof(sim_copy, latency_s), .least = 0, .most = 1e6, .required = 1},
        {"bytes_per_s", YOKE_JSON_NUMBER, offsetof(sim_copy, bytes_per_s), .least = 1, .most = 1e18, .required = 1},
        {"free_bytes", YOKE_JSON_NUMBER, offsetof(sim_copy, free_bytes), .least = 0, .most = 1e15},
        {"engines", YOKE_JSON_COUNT, offsetof(sim_copy, engines), .least = 1, .most = 2},
    };
    return yoke_json_read_object(reader, keys, COUNT_OF(keys), value, member);
}

static yoke_status read_fault_kind(yoke_json_reader *reader, const json_t *value, void *member)
{
    const char *name = json_string_value(value);
    if (name != NULL && strcmp(name, "lost") == 0)
        *(yoke_status *)member = YOKE_ERROR_DEVICE;
    else if (name != NULL && strcmp(name, "memory") == 0)
        *(yoke_status *)member = YOKE_ERROR_DEVICE_MEMORY;
    else
        return yoke_json_expected(reader, "\"lost\" or \"memory\"", value);
    return YOKE_OK;
}

static yoke_status read_fault(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {
        {"call", YOKE_JSON_COUNT, offsetof(sim_fault, call), .least = 1, .most = 1e15, .required = 1},
        {"kind", YOKE_JSON_OTHER, offsetof(sim_fault, status), .required = 1, .read = read_fault_kind},
    };
    return yoke_json_read_object(reader, keys, COUNT_OF(keys), value, member);
}

/* ------------------------------------------------------------------------------------------------- powers */

static yoke_status read_power(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {
        {"idle_w", YOKE_JSON_NUMBER, offsetof(sim_level, idle_w), .least = 0, .most = 1e7, .required = 1},
        {"busy_w", YOKE_JSON_NUMBER, offsetof(sim_level, busy_w), .least = 0, .most = 1e7, .required = 1},
        {"copy_w", YOKE_JSON_NUMBER, offsetof(sim_level, copy_w), .least = 0, .most = 1e7},
    };
    ((sim_level *)member)->powered = 1;
    return yoke_json_read_object(reader, keys, COUNT_OF(keys), value, member);
}

static yoke_status read_meter(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {
        {"period_s", YOKE_JSON_NUMBER, offsetof(sim_domain, period_s), .least = 0, .most = 1e3},
        {"resolution_j", YOKE_JSON_NUMBER, offsetof(sim_domain, resolution_j), .least = 1e-12, .most = 1e6},
        {"wrap_j", YOKE_JSON_NUMBER, offsetof(sim_domain, wrap_j), .least = 1e-9, .most = 1e15},
        {"gain", YOKE_JSON_NUMBER, offsetof(sim_domain, gain), .least = 0.1, .most = 10},
        {"gain_error", YOKE_JSON_NUMBER, offsetof(sim_domain, gain_error), .least = 0, .most = 1},
    };
    sim_domain *domain = member;
    yoke_status status = yoke_json_read_object(reader, keys, COUNT_OF(keys), value, domain);
    if (status != YOKE_OK || domain->wrap_j == 0) return status;
    double counts = domain->resolution_j > 0 ? floor(domain->wrap_j / domain->resolution_j + 0.5) : 0;
    if (!(counts >= 2 && counts <= 9007199254740992.0 && fabs(counts * domain->resolution_j / domain->wrap_j - 1) <= 1e-9))
        return FAIL_AT(reader, "wrap_j", "expected 2 to 2^53 times resolution_j (%g), found %.17g", domain->resolution_j, domain->wrap_j);
    return YOKE_OK;
}

/* Host and memory of the machine, which are not devices: each object has both the powers and the meter. */
static yoke_status read_host(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {
        {"idle_w", YOKE_JSON_NUMBER, offsetof(sim_domain, idle_w), .least = 0, .most = 1e7, .required = 1},
        {"meter", YOKE_JSON_OTHER, 0, .read = read_meter},
    };
    ((sim_domain *)member)->powered = 1;
    return yoke_json_read_object(reader, keys, COUNT_OF(keys), value, member);
}

static yoke_status read_dram(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {
        {"idle_w", YOKE_JSON_NUMBER, offsetof(sim_domain, idle_w), .least = 0, .most = 1e7, .required = 1},
        {"busy_w", YOKE_JSON_NUMBER, offsetof(sim_domain, busy_w), .least = 0, .most = 1e7, .required = 1},
        {"copy_w", YOKE_JSON_NUMBER, offsetof(sim_domain, copy_w), .least = 0, .most = 1e7},
        {"meter", YOKE_JSON_OTHER, 0, .read = read_meter},
    };
    ((sim_domain *)member)->powered = 1;
    return yoke_json_read_object(reader, keys, COUNT_OF(keys), value, member);
}

/* --------------------------------------------------------------------------------------------- frequencies */

/* A level has the values common to all levels, unless its own keys replace them. */
static yoke_status read_level(yoke_json_reader *reader, const json_t *document, sim_level *level)
{
    static const yoke_json_key keys[] = {
        {"frequency_hz", YOKE_JSON_NUMBER, offsetof(sim_level, frequency_hz), .least = 1, .most = 1e12, .required = 1},
        {"seconds_per_unit", YOKE_JSON_OTHER, offsetof(sim_level, speed), .read = read_speed},
        {"start_s", YOKE_JSON_NUMBER, offsetof(sim_level, start_s), .least = 0, .most = 1e6},
        {"power", YOKE_JSON_OTHER, 0, .read = read_power},
        {"hosting_w", YOKE_JSON_NUMBER, offsetof(sim_level, hosting_w), .least = 0, .most = 1e7},
    };
    return yoke_json_read_object(reader, keys, COUNT_OF(keys), document, level);
}

enum { MAX_LEVELS = 128 }; /* the limit of yoke_frequency_info */

static yoke_status read_levels(yoke_json_reader *reader, const json_t *value, void *member)
{
    sim_profile *device = member;
    int64_t count = (int64_t)json_array_size(value);
    if (count < 1 || count > MAX_LEVELS) return yoke_json_expected(reader, "an array of 1 to 128 levels", value);
    void *memory = NULL;
    yoke_status status = yoke_allocate(reader->context, count, sizeof(sim_level), &memory);
    if (status != YOKE_OK) return status;
    sim_level *levels = device->levels = memory;
    device->num_levels = count;
    for (int64_t i = 0; status == YOKE_OK && i < count; i++) {
        levels[i] = (sim_level){.frequency_hz = NAN, .start_s = NAN, .hosting_w = NAN};
        size_t outer = yoke_json_enter_item(reader, i);
        status = read_level(reader, json_array_get(value, (size_t)i), &levels[i]);
        if (status == YOKE_OK && i > 0 && !(levels[i].frequency_hz > levels[i - 1].frequency_hz))
            status = FAIL_AT(reader, "frequency_hz", "expected more than in the level before (%g), found %g", levels[i - 1].frequency_hz,
                             levels[i].frequency_hz);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
    }
    return status;
}

static yoke_status read_frequencies(yoke_json_reader *reader, const json_t *value, void *member)
{
    static const yoke_json_key keys[] = {{"levels", YOKE_JSON_OTHER, 0, .required = 1, .read = read_levels}};
    return yoke_json_read_object(reader, keys, COUNT_OF(keys), value, member);
}

/* Values of the device apply to each level that has none of its own.  A device without frequencies has a single level. */
static yoke_status complete_levels(yoke_json_reader *reader, sim_profile *device)
{
    if (device->num_levels == 0) {
        void *memory = NULL;
        yoke_status status = yoke_allocate(reader->context, 1, sizeof(sim_level), &memory);
        if (status != YOKE_OK) return status;
        device->levels = memory;
        device->num_levels = 1;
        device->levels[0] = (sim_level){.frequency_hz = NAN, .start_s = NAN, .hosting_w = NAN};
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
        if (!isnan(level->hosting_w) && device->device_class != YOKE_DEVICE_CPU)
            return FAIL_AT(reader, "hosting_w",
                           "the host overhead depends on the frequency of a CPU; expected it in a device of class \"cpu\"");
        if (level->speed.num_points == 0)
            return FAIL_AT(reader, "seconds_per_unit", "this key is missing%s",
                           isnan(level->frequency_hz) ? "" : ", and not all levels of \"clock\" have it");
    }
    if (powered > 0 && powered < device->num_levels)
        return FAIL_AT(reader, "power", "this key is missing, and some levels of \"clock\" have it, but not all");
    device->domain.powered = powered > 0;
    device->level = device->num_levels - 1;
    return YOKE_OK;
}

static yoke_status read_device(yoke_json_reader *reader, const json_t *document, sim_profile *device)
{
    static const yoke_json_key keys[] = {
        {"name", YOKE_JSON_OTHER, offsetof(sim_profile, name), .required = 1, .read = read_name},
        {"class", YOKE_JSON_OTHER, offsetof(sim_profile, device_class), .required = 1, .read = read_class},
        {"description", YOKE_JSON_TEXT, offsetof(sim_profile, description), .least = 1, .most = sizeof device->description - 1},
        {"memory_bytes", YOKE_JSON_COUNT, offsetof(sim_profile, memory_bytes), .least = 1, .most = 1e15},
        {"compute_units", YOKE_JSON_COUNT, offsetof(sim_profile, compute_units), .least = 1, .most = 1e6},
        {"threads", YOKE_JSON_COUNT, offsetof(sim_profile, threads), .least = 1, .most = 1024},
        {"seconds_per_unit", YOKE_JSON_OTHER, offsetof(sim_profile, own.speed), .read = read_speed},
        {"start_s", YOKE_JSON_NUMBER, offsetof(sim_profile, own.start_s), .least = 0, .most = 1e6},
        {"copy", YOKE_JSON_OTHER, offsetof(sim_profile, copy), .read = read_copy},
        {"clock", YOKE_JSON_OTHER, 0, .read = read_frequencies},
        {"noise", YOKE_JSON_NUMBER, offsetof(sim_profile, noise), .least = 0, .most = 1},
        {"contention", YOKE_JSON_NUMBER, offsetof(sim_profile, contention), .least = 0, .most = 1e3},
        {"seed", YOKE_JSON_COUNT, offsetof(sim_profile, seed), .least = 0, .most = 9007199254740992.0},
        {"fault", YOKE_JSON_OTHER, offsetof(sim_profile, fault), .read = read_fault},
        {"power", YOKE_JSON_OTHER, offsetof(sim_profile, own), .read = read_power},
        {"meter", YOKE_JSON_OTHER, offsetof(sim_profile, domain), .read = read_meter},
    };
    yoke_status status = yoke_json_read_object(reader, keys, COUNT_OF(keys), document, device);
    if (status == YOKE_OK) status = complete_levels(reader, device);
    if (status == YOKE_OK && !device->domain.powered && json_object_get(document, "meter") != NULL)
        return FAIL_AT(reader, "meter", "a meter without a power shows nothing; expected the key \"power\" beside it");
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

/* Defaults for values that the file does not have. */
static sim_profile default_profile(int64_t number)
{
    return (sim_profile){.memory_bytes = yoke_memory_limit(),
                         .compute_units = 1,
                         .threads = 1,
                         .copy = {.latency_s = 0, .bytes_per_s = INFINITY},
                         .contention = NAN, /* that of the machine */
                         .seed = number,
                         .domain = {.gain = 1}};
}

static yoke_status read_devices(yoke_json_reader *reader, const json_t *value, void *member)
{
    sim_machine *machine = member;
    int64_t count = (int64_t)json_array_size(value);
    if (count == 0) return yoke_json_expected(reader, "an array of devices", value);
    void *memory = NULL;
    yoke_status status = yoke_allocate(reader->context, count, sizeof(sim_profile), &memory);
    if (status != YOKE_OK) return status;
    machine->devices = memory;
    machine->count = count;
    for (int64_t i = 0; status == YOKE_OK && i < count; i++) {
        sim_profile *device = &machine->devices[i];
        *device = default_profile(i);
        size_t outer = yoke_json_enter_item(reader, i);
        status = read_device(reader, json_array_get(value, (size_t)i), device);
        for (int64_t j = 0; status == YOKE_OK && j < i; j++)
            if (strcmp(device->name, machine->devices[j].name) == 0)
                status = FAIL_AT(reader, "name", "there is a device \"%s\" already; expected another name", device->name);
        if (status == YOKE_OK) yoke_json_leave(reader, outer);
    }
    return status;
}

/* Completes the host's powers.  Meters have the names of devices, host and memory, which must differ. */
static yoke_status check_powers(yoke_json_reader *reader, sim_machine *machine)
{
    const char *host = machine->host_described ? "host" : "hosting";
    machine->host.busy_w = machine->host.idle_w + sim_most_overhead_w(machine);
    machine->host.powered |= machine->host.busy_w > machine->host.idle_w;
    machine->powered = machine->host.powered || machine->dram.powered;
    for (int64_t i = 0; i < machine->count; i++) {
        sim_profile *device = &machine->devices[i];
        int taken =
            (machine->host.powered && strcmp(device->name, host) == 0) || (machine->dram.powered && strcmp(device->name, "dram") == 0);
        if (taken && device->domain.powered) {
            yoke_json_enter(reader, "devices");
            yoke_json_enter_item(reader, i);
            return FAIL_AT(reader, "name", "\"%s\" is what the machine's own meter is called; expected another name", device->name);
        }
        machine->powered |= device->domain.powered;
        if (isnan(device->contention)) device->contention = machine->contention;
    }
    return YOKE_OK;
}

static yoke_status read_machine(yoke_json_reader *reader, const json_t *document, sim_machine *machine)
{
    static const yoke_json_key keys[] = {
        {"name", YOKE_JSON_TEXT, offsetof(sim_machine, name), .least = 1, .most = sizeof machine->name - 1, .required = 1},
        {"description", YOKE_JSON_TEXT, offsetof(sim_machine, description), .least = 1, .most = sizeof machine->description - 1},
        {"devices", YOKE_JSON_OTHER, 0, .required = 1, .read = read_devices},
        {"host", YOKE_JSON_OTHER, offsetof(sim_machine, host), .read = read_host},
        {"dram", YOKE_JSON_OTHER, offsetof(sim_machine, dram), .read = read_dram},
        {"hosting_w", YOKE_JSON_NUMBER, offsetof(sim_machine, host_overhead_w), .least = 0, .most = 1e7},
        {"contention", YOKE_JSON_NUMBER, offsetof(sim_machine, contention), .least = 0, .most = 1e3},
    };
    if (!json_is_object(document)) return yoke_json_expected(reader, "an object {\"name\": ..., \"devices\": [...]}", document);
    yoke_status status = yoke_json_expect_document(reader, YOKE_JSON_MACHINE_FILE, document);
    if (status) return status;
    machine->host.gain = machine->dram.gain = 1;
    status = yoke_json_read_object(reader, keys, COUNT_OF(keys), document, machine);
    machine->host_described = json_object_get(document, "host") != NULL;
    if (status == YOKE_OK) status = check_powers(reader, machine);
    if (status == YOKE_OK) sim_energy_start(machine);
    return status;
}

yoke_status sim_machine_create(yoke_context *context, const char *path, sim_machine **machine)
{
    json_t *document = NULL;
    yoke_status status = yoke_json_load(context, path, &document);
    if (status != YOKE_OK) return status;
    void *memory = NULL;
    status = yoke_allocate(context, 1, sizeof(sim_machine), &memory);
    if (status == YOKE_OK) {
        sim_machine *created = memory;
        yoke_json_reader reader = {.context = context, .file = path};
        created->context = context;
        status = read_machine(&reader, document, created);
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
        for (int64_t k = 0; k < device->num_levels; k++) /* speeds belong to the level, or to the device */
            if (device->levels[k].speed.units != device->own.speed.units) yoke_release(machine->context, device->levels[k].speed.units);
        yoke_release(machine->context, device->own.speed.units);
        yoke_release(machine->context, device->levels);
    }
    yoke_release(machine->context, machine->devices);
    yoke_release(machine->context, machine);
}
