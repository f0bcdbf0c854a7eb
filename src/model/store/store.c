#include "model/store/store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "model/sample.h"

/* ------------------------------------------------------------------------------------------------- texts */

/* The length of the first character of the text in UTF-8; 0: the bytes are not a valid character. */
static size_t character_length(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80                    ? 1
                    : c[0] >= 0xc2 && c[0] <= 0xdf ? 2
                    : c[0] >= 0xe0 && c[0] <= 0xef ? 3
                    : c[0] >= 0xf0 && c[0] <= 0xf4 ? 4
                                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;                                                       /* also at the end of the text */
    if (length == 3 && ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f))) return 0; /* overlong form; surrogate */
    if (length == 4 && ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))) return 0; /* overlong form; beyond Unicode */
    return length;
}

/* Writes the text, with "?" for invalid bytes, and a terminating zero to `to`.  Returns the position after the zero. */
static char *write_plain(char *to, const char *text)
{
    while (*text != '\0') {
        size_t length = character_length(text);
        if (length == 0) {
            *to++ = '?';
            text++;
            continue;
        }
        memcpy(to, text, length);
        to += length;
        text += length;
    }
    *to++ = '\0';
    return to;
}

/* A copy of the text with "?" for every byte that is not UTF-8, since a JSON file cannot have such bytes.  Free it with yoke_release. */
static yoke_status plain_text(yoke_context *context, const char *text, char **plain)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate_untouched(context, (int64_t)strlen(text) + 1, 1, &memory);
    if (status != YOKE_OK) return status;
    write_plain(memory, text);
    *plain = memory;
    return YOKE_OK;
}

/* As strcmp of the stored text and the output of write_plain for the other text. */
static int compare_plain(const char *stored, const char *text)
{
    while (*text != '\0') {
        size_t length = character_length(text);
        const int order = length == 0 ? strncmp(stored, "?", 1) : strncmp(stored, text, length);
        if (order != 0) return order;
        stored += length == 0 ? 1 : length;
        text += length == 0 ? 1 : length;
    }
    return *stored != '\0';
}

/* ----------------------------------------------------------------------------------------------- entries */

static int is_power(double number) { return isnan(number) || (isfinite(number) && number >= 0); }

static const char *power_fault(const yoke_store_power *power, const char **member)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"frequency_hz", power->frequency_hz},
                   {"idle_power_w", power->idle_power_w},
                   {"idle_power_interval_w", power->idle_power_interval_w},
                   {"busy_power_w", power->busy_power_w},
                   {"busy_power_interval_w", power->busy_power_interval_w},
                   {"memory_power_w", power->memory_power_w},
                   {"hosting_power_w", power->hosting_power_w},
                   {"hosting_power_interval_w", power->hosting_power_interval_w}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *member = numbers[i].name;
        if (!is_power(numbers[i].value)) return "must be 0 or more, or not known";
    }
    return NULL;
}

const char *store_entry_fault(const yoke_store_entry *entry, char where[64])
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"idle_power_w", entry->idle_power_w}, {"idle_power_interval_w", entry->idle_power_interval_w},
                   {"busy_power_w", entry->busy_power_w}, {"busy_power_interval_w", entry->busy_power_interval_w},
                   {"copy_start_s", entry->copy_start_s}, {"copy_seconds_per_byte", entry->copy_seconds_per_byte}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!is_power(numbers[i].value)) {
            snprintf(where, 64, "/%s", numbers[i].name);
            return "must be 0 or more, or not known";
        }
    if (!(entry->disturbed >= 0 && entry->disturbed <= 1)) {
        snprintf(where, 64, "/disturbed");
        return "must be from 0 to 1";
    }
    for (int64_t i = 0; i < entry->num_powers; i++) {
        const char *member = NULL, *fault = power_fault(&entry->powers[i], &member);
        if (fault == NULL) continue;
        snprintf(where, 64, "/powers/%lld/%s", (long long)i, member);
        return fault;
    }
    for (int64_t i = 0; i < entry->num_samples; i++) {
        const char *member = NULL, *fault = sample_fault(&entry->samples[i], &member);
        if (fault == NULL) continue;
        snprintf(where, 64, "/samples/%lld/%s", (long long)i, member);
        return fault;
    }
    return NULL;
}

int store_compare(const yoke_store_entry *a, const yoke_store_entry *b)
{
    int order = strcmp(a->work, b->work);
    return order != 0 ? order : strcmp(a->device, b->device);
}

static int compare_items(const void *a, const void *b)
{
    return store_compare(&((const store_item *)a)->entry, &((const store_item *)b)->entry);
}

void store_sort(yoke_store *store)
{
    if (store->count > 1) qsort(store->items, (size_t)store->count, sizeof store->items[0], compare_items);
}

/* Copies an entry; its texts, samples and powers are in one block of memory. */
static yoke_status copy_entry(yoke_context *context, const yoke_store_entry *entry, store_item *item)
{
    const char *texts[] = {entry->work, entry->device, entry->description, entry->kernel};
    const char **copies[] = {&item->entry.work, &item->entry.device, &item->entry.description, &item->entry.kernel};
    const int64_t samples_bytes = entry->num_samples * (int64_t)sizeof(yoke_sample);
    const int64_t powers_bytes = entry->num_powers * (int64_t)sizeof(yoke_store_power);
    int64_t bytes = samples_bytes + powers_bytes;
    for (size_t i = 0; i < 4; i++) bytes += (int64_t)strlen(texts[i]) + 1;
    yoke_status status = yoke_allocate_untouched(context, bytes, 1, &item->memory);
    if (status != YOKE_OK) return status;
    item->entry = *entry;
    item->entry.samples = item->memory;
    item->entry.powers = (void *)((char *)item->memory + samples_bytes);
    if (samples_bytes > 0) memcpy(item->memory, entry->samples, (size_t)samples_bytes);
    if (powers_bytes > 0) memcpy((char *)item->memory + samples_bytes, entry->powers, (size_t)powers_bytes);
    char *text = (char *)item->memory + samples_bytes + powers_bytes;
    for (size_t i = 0; i < 4; i++) {
        *copies[i] = text;
        text = write_plain(text, texts[i]);
    }
    return YOKE_OK;
}

static yoke_status make_room(yoke_store *store)
{
    return yoke_grow(store->context, &store->items, store->count, &store->capacity, 8, sizeof store->items[0]);
}

yoke_status store_append(yoke_store *store, const yoke_store_entry *entry)
{
    yoke_status status = make_room(store);
    if (status == YOKE_OK) status = copy_entry(store->context, entry, &store->items[store->count]);
    if (status == YOKE_OK) store->count++;
    return status;
}

/* Index of the first entry that does not precede this work and device, whose texts may have invalid bytes. */
static int64_t place_of(const yoke_store *store, const char *work, const char *device)
{
    int64_t low = 0, high = store->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const yoke_store_entry *entry = &store->items[middle].entry;
        const int order = compare_plain(entry->work, work);
        if (order < 0 || (order == 0 && compare_plain(entry->device, device) < 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ------------------------------------------------------------------------------------------------ public */

yoke_status yoke_store_put(yoke_store *store, const yoke_store_entry *entry)
{
    char where[64] = "";
    if (store == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_store_put: store is NULL");
    yoke_context *context = store->context;
    if (entry == NULL || entry->work == NULL || entry->device == NULL || entry->description == NULL || entry->kernel == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_store_put: the entry, or one of its texts, is NULL");
    if (entry->num_samples < 0 || (entry->num_samples > 0 && entry->samples == NULL) || entry->num_samples > INT32_MAX)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_store_put: %lld samples%s", (long long)entry->num_samples,
                         entry->samples == NULL ? " at NULL" : "");
    if (entry->num_powers < 0 || (entry->num_powers > 0 && entry->powers == NULL) || entry->num_powers > INT32_MAX)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_store_put: %lld powers%s", (long long)entry->num_powers,
                         entry->powers == NULL ? " at NULL" : "");
    const char *fault = (int)entry->power_kind < YOKE_ENERGY_NONE || (int)entry->power_kind > YOKE_ENERGY_REPLAYED
                            ? "must be a yoke_energy_kind"
                            : store_entry_fault(entry, where);
    if (fault != NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_store_put: %s of %s on %s %s", where[0] != '\0' ? where + 1 : "power_kind",
                         entry->work, entry->device, fault);
    store_item item = {.is_put = 1};
    yoke_status status = make_room(store);
    if (status == YOKE_OK) status = copy_entry(context, entry, &item);
    if (status != YOKE_OK) return status;
    int64_t place = place_of(store, item.entry.work, item.entry.device);
    if (place < store->count && store_compare(&store->items[place].entry, &item.entry) == 0) {
        yoke_release(context, store->items[place].memory);
    } else {
        memmove(&store->items[place + 1], &store->items[place], (size_t)(store->count - place) * sizeof item);
        store->count++;
    }
    store->items[place] = item;
    return YOKE_OK;
}

static const yoke_store_entry *look_for(const yoke_store *store, const char *work, const char *device)
{
    const int64_t place = place_of(store, work, device);
    if (place == store->count) return NULL;
    const yoke_store_entry *entry = &store->items[place].entry;
    return compare_plain(entry->work, work) == 0 && compare_plain(entry->device, device) == 0 ? entry : NULL;
}

void yoke_store_remove_outdated(yoke_store *store, const char *work, const char *device, const char *description, const char *kernel)
{
    const yoke_store_entry *entry = look_for(store, work, device);
    if (entry == NULL || compare_plain(entry->description, description) != 0 || compare_plain(entry->kernel, kernel) == 0) return;
    const int64_t place = place_of(store, work, device);
    yoke_release(store->context, store->items[place].memory);
    store->count--;
    memmove(&store->items[place], &store->items[place + 1], (size_t)(store->count - place) * sizeof store->items[0]);
}

const yoke_store_entry *yoke_store_find(const yoke_store *store, const char *work, const char *device, const char *description,
                                        const char *kernel, const char **why)
{
    const char *unused, **reason = why != NULL ? why : &unused;
    *reason = "";
    if (store == NULL || work == NULL || device == NULL || description == NULL || kernel == NULL) {
        *reason = "yoke_store_find: an argument is NULL";
        return NULL;
    }
    const yoke_store_entry *entry = look_for(store, work, device);
    char *text = store->found->text;
    *reason = text;
    if (entry == NULL) {
        *reason = "";
    } else if (compare_plain(entry->description, description) != 0) {
        snprintf(text, STORE_REASON_BYTES,
                 "what was measured for %s on %s was on another device, or with another driver: \"%.120s\", here \"%.120s\"", work, device,
                 entry->description, description);
    } else if (compare_plain(entry->kernel, kernel) != 0) {
        snprintf(text, STORE_REASON_BYTES,
                 "what was measured for %s on %s was with another version of the kernel, or by other threads: \"%.80s\", here \"%.80s\"",
                 work, device, entry->kernel, kernel);
    } else {
        *reason = "";
        return entry;
    }
    return NULL;
}

const char *yoke_store_path(const yoke_store *store) { return store != NULL ? store->path : ""; }

static yoke_status create(yoke_context *context, const char *path, const char *machine, yoke_store **store)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof(yoke_store), &memory);
    if (status != YOKE_OK) return status;
    yoke_store *created = memory;
    created->context = context;
    *store = created;
    status = yoke_allocate(context, 2, sizeof(store_reason), &memory);
    if (status != YOKE_OK) return status;
    created->declined = memory;
    created->found = created->declined + 1;
    status = yoke_allocate(context, (int64_t)strlen(path) + 1, 1, &memory);
    if (status != YOKE_OK) return status;
    created->path = strcpy(memory, path);
    return plain_text(context, machine, &created->machine);
}

yoke_status store_open(yoke_context *context, const char *path, const char *machine, int own_directory, yoke_store **store,
                       const char **declined)
{
    yoke_store *created = NULL;
    yoke_status status = create(context, path, machine, &created);
    if (status == YOKE_OK) status = store_read(created);
    if (status != YOKE_OK) {
        yoke_store_close(created);
        return status;
    }
    created->own_directory = own_directory;
    created->keep_old = created->declined->text[0] != '\0';
    *store = created;
    if (declined != NULL) *declined = created->keep_old ? created->declined->text : NULL;
    return YOKE_OK;
}

yoke_status store_open_text(yoke_context *context, const char *text, const char *name, const char *machine, yoke_store **store,
                            const char **declined)
{
    yoke_store *created = NULL;
    yoke_status status = create(context, name, machine, &created);
    if (status == YOKE_OK && text != NULL) status = store_read_text(created, text);
    if (status != YOKE_OK) {
        yoke_store_close(created);
        return status;
    }
    *store = created;
    if (declined != NULL) *declined = created->declined->text[0] != '\0' ? created->declined->text : NULL;
    return YOKE_OK;
}

void yoke_store_close(yoke_store *store)
{
    if (store == NULL) return;
    yoke_context *context = store->context;
    yoke_store_unlock(store);
    for (int64_t i = 0; i < store->count; i++) yoke_release(context, store->items[i].memory);
    yoke_release(context, store->items);
    yoke_release(context, store->declined);
    yoke_release(context, store->path);
    yoke_release(context, store->machine);
    yoke_release(context, store);
}
