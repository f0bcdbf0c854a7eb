/* Topology, devices, meters and frequencies of the machine as JSON. */
#include "base/json.h"
#include "device/registry.h"
#include "run/machine/list.h"

static json_t *topology_document(const yoke_topology *topology)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s}", "packages", (json_int_t)topology->packages, "numa_nodes",
                     (json_int_t)topology->numa_nodes, "cores", (json_int_t)topology->cores, "hardware_threads",
                     (json_int_t)topology->hardware_threads, "l1_bytes", (json_int_t)topology->l1_bytes, "l2_bytes",
                     (json_int_t)topology->l2_bytes, "l3_bytes", (json_int_t)topology->l3_bytes, "memory_bytes",
                     (json_int_t)topology->memory_bytes, "processor", topology->processor, "instruction_set", topology->instruction_set);
}

/* Makes a JSON text, which must be UTF-8; a driver's text may contain any bytes.  "" becomes null. */
static json_t *text_document(const char *text)
{
    char plain[512];
    size_t length = 0;
    if (text[0] == '\0') return json_null();
    json_t *document = json_string(text);
    if (document != NULL) return document;
    for (; text[length] != '\0' && length + 1 < sizeof plain; length++)
        plain[length] = (char)(text[length] >= ' ' && text[length] <= '~' ? text[length] : '?');
    plain[length] = '\0';
    return json_string(plain);
}

static json_t *device_document(const yoke_device_info *info)
{
    static const char *const classes[] = {[YOKE_DEVICE_CPU] = "cpu", [YOKE_DEVICE_GPU] = "gpu", [YOKE_DEVICE_OTHER] = "other"};
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:b, s:o, s:o, s:I, s:I, s:b}", "name", text_document(info->name), "kind",
                     text_document(info->kind), "class", classes[info->device_class], "description", text_document(info->description),
                     "driver", text_document(info->driver), "pci", text_document(info->pci), "usable", info->usable, "why_not",
                     text_document(info->why_not), "remedy", text_document(info->remedy), "memory_bytes", (json_int_t)info->memory_bytes,
                     "compute_units", (json_int_t)info->compute_units, "double_precision", info->double_precision);
}

/* Returns NULL if jansson has no memory. */
static json_t *devices_document(const yoke_device_info *list, int64_t count)
{
    json_t *devices = json_array();
    for (int64_t i = 0; i < count; i++) devices = yoke_json_append(devices, device_document(&list[i]));
    return devices;
}

static json_t *meter_document(const yoke_meter_info *info)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:b, s:b, s:o, s:o, s:b, s:o, s:o}", "name",
                     text_document(info->name), "kind", text_document(info->kind), "description", text_document(info->description),
                     "covers", text_document(info->covers), "parent", text_document(info->parent), "pci", text_document(info->pci),
                     "source", yoke_energy_kind_text(info->source), "usable", info->usable, "why_not", text_document(info->why_not),
                     "remedy", text_document(info->remedy), "counted", info->counted, "integrated", info->integrated, "resolution_j",
                     yoke_json_number(info->resolution_j), "period_s", yoke_json_number(info->period_s), "period_measured",
                     info->period_measured, "wrap_j", yoke_json_number(info->wrap_j), "gain_error", yoke_json_number(info->gain_error));
}

/* Returns NULL if jansson has no memory. */
static json_t *levels_document(const yoke_frequency_info *info)
{
    json_t *levels = json_array();
    for (int64_t i = 0; i < info->num_levels; i++) levels = yoke_json_append(levels, yoke_json_number(info->levels_hz[i]));
    return levels;
}

static json_t *frequency_document(const yoke_frequency_info *info)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name", text_document(info->name), "kind",
                     text_document(info->kind), "description", text_document(info->description), "pci", text_document(info->pci),
                     "settable", info->settable, "why_not", text_document(info->why_not), "remedy", text_document(info->remedy),
                     "current_hz", yoke_json_number(info->current_hz), "least_hz", yoke_json_number(info->min_hz), "most_hz",
                     yoke_json_number(info->max_hz), "levels_hz", levels_document(info));
}

static yoke_status describe_devices(yoke_context *context, int only_asked, json_t **document, json_t **others)
{
    yoke_device_info *list = NULL;
    int64_t count = 0;
    int num_others = 0;
    const char *kinds[YOKE_REGISTRY_VENDORS];
    yoke_status status = only_asked ? yoke_registry_list_asked(context, &list, &count, kinds, &num_others)
                                    : yoke_devices_list(context, NULL, 0, &list, &count);
    if (status != YOKE_OK) return status;
    *document = devices_document(list, count);
    *others = json_array();
    for (int i = 0; i < num_others; i++) *others = yoke_json_append(*others, json_string(kinds[i]));
    yoke_release(context, list);
    return YOKE_OK;
}

static yoke_status describe_meters(yoke_context *context, json_t **document)
{
    yoke_meter_info *list = NULL;
    int64_t count = 0;
    yoke_status status = yoke_meters_list(context, NULL, &list, &count);
    if (status != YOKE_OK) return status;
    json_t *meters = json_array();
    for (int64_t i = 0; i < count; i++) meters = yoke_json_append(meters, meter_document(&list[i]));
    yoke_release(context, list);
    *document = meters;
    return YOKE_OK;
}

static yoke_status describe_frequencies(yoke_context *context, json_t **document)
{
    yoke_frequency_info *list = NULL;
    int64_t count = 0;
    yoke_status status = yoke_frequencies_list(context, NULL, &list, &count);
    if (status != YOKE_OK) return status;
    json_t *frequencies = json_array();
    for (int64_t i = 0; i < count; i++) frequencies = yoke_json_append(frequencies, frequency_document(&list[i]));
    yoke_release(context, list);
    *document = frequencies;
    return YOKE_OK;
}

yoke_status yoke_describe(yoke_context *context, int only_asked, char **text)
{
    if (context == NULL || text == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_describe: %s is NULL", context == NULL ? "context" : "text");
    yoke_topology topology;
    json_t *devices = NULL, *others = NULL, *meters = NULL, *frequencies = NULL;
    yoke_status status = yoke_topology_get(context, &topology);
    if (status == YOKE_OK) status = describe_devices(context, only_asked, &devices, &others);
    if (status == YOKE_OK) status = describe_meters(context, &meters);
    if (status == YOKE_OK) status = describe_frequencies(context, &frequencies);
    if (status == YOKE_OK)
        return yoke_json_text(context,
                              json_pack("{s:o, s:o, s:o, s:o, s:o}", "topology", topology_document(&topology), "devices", devices,
                                        "devices_not_looked_at", others, "meters", meters, "clocks", frequencies),
                              text);
    json_decref(devices);
    json_decref(others);
    json_decref(meters);
    json_decref(frequencies);
    return status;
}
