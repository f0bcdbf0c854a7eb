#include "base/json.h"

static json_t *topology_document(const yoke_topology *topology)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s}", "packages", (json_int_t)topology->packages, "numa_nodes",
                     (json_int_t)topology->numa_nodes, "cores", (json_int_t)topology->cores, "hardware_threads",
                     (json_int_t)topology->hardware_threads, "l1_bytes", (json_int_t)topology->l1_bytes, "l2_bytes",
                     (json_int_t)topology->l2_bytes, "l3_bytes", (json_int_t)topology->l3_bytes, "memory_bytes",
                     (json_int_t)topology->memory_bytes, "processor", topology->processor, "instruction_set", topology->instruction_set);
}

/* A driver's text may hold any bytes; JSON wants UTF-8.  "" becomes null. */
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

/* NULL where jansson has no memory. */
static json_t *devices_document(const yoke_device_info *list, int64_t count)
{
    json_t *devices = json_array();
    for (int64_t i = 0; i < count; i++)
        if (json_array_append_new(devices, device_document(&list[i])) != 0) {
            json_decref(devices);
            return NULL;
        }
    return devices;
}

yoke_status yoke_describe(yoke_context *context, char **text)
{
    if (context == NULL || text == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_describe: %s is NULL", context == NULL ? "context" : "text");
    yoke_topology topology;
    yoke_status status = yoke_topology_get(context, &topology);
    yoke_device_info *list = NULL;
    int64_t count = 0;
    if (status == YOKE_OK) status = yoke_devices_list(context, &list, &count);
    if (status != YOKE_OK) return status;
    json_t *devices = devices_document(list, count);
    yoke_release(context, list);
    return yoke_json_text(
        context, json_pack("{s:o, s:o, s:[], s:[]}", "topology", topology_document(&topology), "devices", devices, "meters", "clocks"),
        text);
}
