#include "distribution_store.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "common/record.h"

struct fem_store {
    yoke_context *context;
    const char *path;
    json_t *root;    /* {"format": 1, "entries": [{work, device, description, seconds_per_element}]} */
    json_t *entries; /* borrowed from root */
};

static yoke_status refuse(const fem_store *store, const char *why)
{
    return yoke_fail(store->context, YOKE_ERROR_INPUT, "%s: %s; it is not a store of yoke fem: name another file or remove this one",
                     store->path, why);
}

static int is_entry(const json_t *entry)
{
    double seconds = json_number_value(json_object_get(entry, "seconds_per_element"));
    return json_is_string(json_object_get(entry, "work")) && json_is_string(json_object_get(entry, "device")) &&
           json_is_string(json_object_get(entry, "description")) && isfinite(seconds) && seconds > 0;
}

static yoke_status check(fem_store *store)
{
    size_t index;
    json_t *entry;
    if (json_integer_value(json_object_get(store->root, "format")) != 1) return refuse(store, "\"format\" is not 1");
    store->entries = json_object_get(store->root, "entries");
    if (!json_is_array(store->entries)) return refuse(store, "\"entries\" is not an array");
    json_array_foreach (store->entries, index, entry)
        if (!is_entry(entry)) return refuse(store, "an entry lacks work, device, description or a positive seconds_per_element");
    return YOKE_OK;
}

static yoke_status load(fem_store *store)
{
    json_error_t error;
    if (access(store->path, F_OK) != 0 && errno == ENOENT)
        store->root = json_pack("{s:i, s:[]}", "format", 1, "entries");
    else
        store->root = json_load_file(store->path, JSON_REJECT_DUPLICATES, &error);
    if (store->root) return check(store);
    return access(store->path, F_OK) == 0 ? refuse(store, error.text)
                                          : yoke_fail(store->context, YOKE_ERROR_MEMORY, "out of memory for the store %s", store->path);
}

yoke_status fem_store_read(yoke_context *context, const char *path, fem_store **out)
{
    fem_store *store;
    yoke_status status = yoke_allocate(context, 1, sizeof *store, (void **)&store);
    if (status) return status;
    store->context = context;
    store->path = path;
    status = load(store);
    if (status)
        fem_store_destroy(store);
    else
        *out = store;
    return status;
}

void fem_store_destroy(fem_store *store)
{
    if (!store) return;
    json_decref(store->root);
    yoke_release(store->context, store);
}

static int is_text(const json_t *entry, const char *key, const char *text)
{
    return !strcmp(json_string_value(json_object_get(entry, key)), text);
}

static json_t *find(const fem_store *store, const char *work, const yoke_device_info *device)
{
    size_t index;
    json_t *entry;
    json_array_foreach (store->entries, index, entry)
        if (is_text(entry, "work", work) && is_text(entry, "device", device->name) && is_text(entry, "description", device->description))
            return entry;
    return NULL;
}

double fem_store_find(const fem_store *store, const char *work, const yoke_device_info *device)
{
    const json_t *entry = find(store, work, device);
    return entry ? json_number_value(json_object_get(entry, "seconds_per_element")) : (double)NAN;
}

yoke_status fem_store_put(fem_store *store, const char *work, const yoke_device_info *device, double seconds_per_element)
{
    json_t *entry = find(store, work, device);
    if (!(seconds_per_element > 0) || !isfinite(seconds_per_element)) return YOKE_OK; /* nothing was measured */
    if (entry) return app_record_set(store->context, entry, "seconds_per_element", app_json_number(seconds_per_element));
    entry = json_pack("{s:s, s:o, s:o, s:o}", "work", work, "device", app_json_text(device->name), "description",
                      app_json_text(device->description), "seconds_per_element", app_json_number(seconds_per_element));
    if (json_array_append_new(store->entries, entry) == 0) return YOKE_OK;
    return yoke_fail(store->context, YOKE_ERROR_MEMORY, "out of memory for the store %s", store->path);
}

yoke_status fem_store_write(const fem_store *store) { return app_record_write(store->context, store->root, store->path); }
