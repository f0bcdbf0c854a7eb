/* Reads the text of a store. */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json_document.h"
#include "model/store/store.h"

/* ----------------------------------------------------------------------------------------------- entries */

/* An entry while it is read; its texts belong to the document. */
typedef struct read_entry {
    yoke_store_entry entry;
    yoke_sample *samples;     /* the same as entry.samples, to be freed */
    yoke_store_power *powers; /* likewise */
} read_entry;

static yoke_status read_text(yoke_json_reader *reader, const json_t *value, void *member)
{
    if (!json_is_string(value)) return yoke_json_expected(reader, "a text", value);
    *(const char **)member = json_string_value(value);
    return YOKE_OK;
}

static yoke_status read_source(yoke_json_reader *reader, const json_t *value, void *member)
{
    for (int kind = YOKE_ENERGY_NONE; kind <= (int)YOKE_ENERGY_REPLAYED && json_is_string(value); kind++)
        if (strcmp(yoke_energy_kind_text((yoke_energy_kind)kind), json_string_value(value)) == 0) {
            *(yoke_energy_kind *)member = (yoke_energy_kind)kind;
            return YOKE_OK;
        }
    return yoke_json_expected(reader, "\"none\", \"measured\", \"estimated\", \"simulated\" or \"replayed\"", value);
}

/* sample_fault checks the narrower limits. */
#define SAMPLE_NUMBER(member)                                                                   \
    {                                                                                           \
#member, YOKE_JSON_NUMBER, offsetof(yoke_sample, member), -DBL_MAX, DBL_MAX, 1, 1, NULL \
    }
#define SAMPLE_COUNT(member)                                                                       \
    {                                                                                              \
#member, YOKE_JSON_COUNT, offsetof(yoke_sample, member), 0, 9007199254740992.0, 1, 0, NULL \
    }
static const yoke_json_key sample_keys[] = {SAMPLE_NUMBER(units),
                                            SAMPLE_NUMBER(frequency_hz),
                                            SAMPLE_NUMBER(seconds),
                                            SAMPLE_NUMBER(seconds_interval),
                                            SAMPLE_NUMBER(joules),
                                            SAMPLE_NUMBER(joules_interval),
                                            SAMPLE_COUNT(repeats),
                                            SAMPLE_COUNT(rejected),
                                            {"together", YOKE_JSON_FLAG, offsetof(yoke_sample, together), 0, 0, 1, 0, NULL}};
enum { SAMPLE_KEYS = sizeof sample_keys / sizeof sample_keys[0] };

static yoke_status read_samples(yoke_json_reader *reader, const json_t *value, void *member)
{
    read_entry *into = member;
    void *memory = NULL;
    if (!json_is_array(value)) return yoke_json_expected(reader, "an array [...]", value);
    int64_t count = (int64_t)json_array_size(value);
    yoke_status status = yoke_allocate(reader->context, count, sizeof(yoke_sample), &memory);
    if (status != YOKE_OK) return status;
    into->samples = memory;
    into->entry.samples = memory;
    into->entry.num_samples = count;
    for (int64_t i = 0; i < count; i++) {
        size_t outer = yoke_json_enter_item(reader, i);
        status = yoke_json_read_object(reader, sample_keys, SAMPLE_KEYS, json_array_get(value, (size_t)i), &into->samples[i]);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    return YOKE_OK;
}

/* power_fault checks the narrower limits. */
#define POWER_NUMBER(member)                                                                         \
    {                                                                                                \
#member, YOKE_JSON_NUMBER, offsetof(yoke_store_power, member), -DBL_MAX, DBL_MAX, 1, 1, NULL \
    }
static const yoke_json_key power_keys[] = {POWER_NUMBER(frequency_hz),          POWER_NUMBER(idle_power_w),
                                           POWER_NUMBER(idle_power_interval_w), POWER_NUMBER(busy_power_w),
                                           POWER_NUMBER(busy_power_interval_w), POWER_NUMBER(memory_power_w),
                                           POWER_NUMBER(hosting_power_w),       POWER_NUMBER(hosting_power_interval_w)};
enum { POWER_KEYS = sizeof power_keys / sizeof power_keys[0] };

static yoke_status read_powers(yoke_json_reader *reader, const json_t *value, void *member)
{
    read_entry *into = member;
    void *memory = NULL;
    if (!json_is_array(value)) return yoke_json_expected(reader, "an array [...]", value);
    int64_t count = (int64_t)json_array_size(value);
    yoke_status status = yoke_allocate(reader->context, count, sizeof(yoke_store_power), &memory);
    if (status != YOKE_OK) return status;
    into->powers = memory;
    into->entry.powers = memory;
    into->entry.num_powers = count;
    for (int64_t i = 0; i < count; i++) {
        size_t outer = yoke_json_enter_item(reader, i);
        status = yoke_json_read_object(reader, power_keys, POWER_KEYS, json_array_get(value, (size_t)i), &into->powers[i]);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    return YOKE_OK;
}

#define ENTRY_TEXT(member)                                                                  \
    {                                                                                       \
#member, YOKE_JSON_OTHER, offsetof(yoke_store_entry, member), 0, 0, 1, 0, read_text \
    }
#define ENTRY_NUMBER(member)                                                                  \
    {                                                                                         \
#member, YOKE_JSON_NUMBER, offsetof(yoke_store_entry, member), 0, DBL_MAX, 1, 1, NULL \
    }
static const yoke_json_key entry_keys[] = {
    ENTRY_TEXT(work),
    ENTRY_TEXT(device),
    ENTRY_TEXT(description),
    ENTRY_TEXT(kernel),
    ENTRY_NUMBER(idle_power_w),
    ENTRY_NUMBER(idle_power_interval_w),
    ENTRY_NUMBER(busy_power_w),
    ENTRY_NUMBER(busy_power_interval_w),
    {"power_kind", YOKE_JSON_OTHER, offsetof(yoke_store_entry, power_kind), 0, 0, 1, 0, read_source},
    ENTRY_NUMBER(copy_start_s),
    ENTRY_NUMBER(copy_seconds_per_byte),
    {"disturbed", YOKE_JSON_NUMBER, offsetof(yoke_store_entry, disturbed), 0, 1, 0, 0, NULL},
    {"powers", YOKE_JSON_OTHER, 0, 0, 0, 0, 0, read_powers},
    {"samples", YOKE_JSON_OTHER, 0, 0, 0, 1, 0, read_samples},
};
enum { ENTRY_KEYS = sizeof entry_keys / sizeof entry_keys[0] };

/* Adds the entry that was read, if it is valid. */
static yoke_status take_entry(yoke_json_reader *reader, yoke_store *store, const yoke_store_entry *entry)
{
    char where[64] = "";
    const char *fault = store_entry_fault(entry, where);
    if (fault == NULL) return store_append(store, entry);
    yoke_json_enter(reader, "");
    snprintf(reader->pointer + strlen(reader->pointer) - 1, sizeof where, "%s", where); /* in place of the slash */
    return yoke_json_fail(reader, "this %s", fault);
}

static yoke_status read_entries(yoke_json_reader *reader, const json_t *value, void *member)
{
    yoke_store *store = member;
    if (!json_is_array(value)) return yoke_json_expected(reader, "an array [...]", value);
    for (size_t i = 0; i < json_array_size(value); i++) {
        read_entry into = {.samples = NULL};
        size_t outer = yoke_json_enter_item(reader, (int64_t)i);
        yoke_status status = yoke_json_read_object(reader, entry_keys, ENTRY_KEYS, json_array_get(value, i), &into);
        if (status == YOKE_OK) status = take_entry(reader, store, &into.entry);
        yoke_release(reader->context, into.samples);
        yoke_release(reader->context, into.powers);
        if (status != YOKE_OK) return status;
        yoke_json_leave(reader, outer);
    }
    store_sort(store);
    for (int64_t i = 0; i + 1 < store->count; i++)
        if (store_compare(&store->items[i].entry, &store->items[i + 1].entry) == 0)
            return yoke_json_fail(reader, "there are two entries for %s on %s; remove one of them", store->items[i].entry.work,
                                  store->items[i].entry.device);
    return YOKE_OK;
}

/* ---------------------------------------------------------------------------------------------- the file */

static yoke_status read_format(yoke_json_reader *reader, const json_t *value, void *member)
{
    (void)reader, (void)value, (void)member; /* checked before */
    return YOKE_OK;
}

static yoke_status read_store(yoke_json_reader *reader, const json_t *root, yoke_store *store)
{
    static const yoke_json_key keys[] = {{"format", YOKE_JSON_OTHER, 0, 0, 0, 1, 0, read_format},
                                         {"machine", YOKE_JSON_OTHER, 0, 0, 0, 1, 0, read_format},
                                         {"entries", YOKE_JSON_OTHER, 0, 0, 0, 1, 0, read_entries}};
    const json_t *format = json_object_get(root, "format"), *machine = json_object_get(root, "machine");
    const yoke_status status = yoke_json_expect_document(reader, YOKE_JSON_STORE, root);
    if (status) return status;
    if (!json_is_object(root) || !json_is_integer(format) || !json_is_array(json_object_get(root, "entries")))
        return yoke_json_fail(reader, "this is no store of yoke: expected an object with \"format\" and \"entries\"; name another file");
    if (json_integer_value(format) != STORE_FORMAT) {
        snprintf(store->declined->text, STORE_REASON_BYTES, "%s has format %lld, and this version of yoke reads format %d", store->path,
                 (long long)json_integer_value(format), STORE_FORMAT);
        return YOKE_OK;
    }
    if (json_is_string(machine) && strcmp(json_string_value(machine), store->machine) != 0) {
        snprintf(store->declined->text, STORE_REASON_BYTES, "%s is of another machine: \"%.100s\"; this is \"%.100s\"", store->path,
                 json_string_value(machine), store->machine);
        return YOKE_OK;
    }
    if (machine != NULL && !json_is_string(machine)) {
        yoke_json_enter(reader, "machine");
        return yoke_json_expected(reader, "a text", machine);
    }
    return yoke_json_read_object(reader, keys, sizeof keys / sizeof keys[0], root, store);
}

yoke_status store_read_text(yoke_store *store, const char *text)
{
    json_t *root = NULL;
    yoke_json_reader reader = {.context = store->context, .file = store->path};
    yoke_status status = yoke_json_parse(store->context, store->path, text, strlen(text), &root);
    if (status == YOKE_OK) status = read_store(&reader, root, store);
    json_decref(root);
    return status;
}

/*
 * Nonzero: a later write has another time stamp.  Clocks of file systems have a resolution of some milliseconds; those of servers may
 * differ more.
 */
static int is_settled(const struct stat *found)
{
    enum { SETTLES_S = 2 };
    return found->st_ctim.tv_sec + SETTLES_S <= time(NULL);
}

/* The file is opened because a server then reports its present state. */
static store_stamp stamp_of(const char *path)
{
    struct stat found;
    store_stamp stamp = {.settled = 0};
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0) return stamp;
    if (fstat(descriptor, &found) == 0)
        stamp = (store_stamp){.settled = is_settled(&found),
                              .device = (uint64_t)found.st_dev,
                              .number = (uint64_t)found.st_ino,
                              .bytes = (int64_t)found.st_size,
                              .changed_s = (int64_t)found.st_ctim.tv_sec,
                              .changed_ns = (int64_t)found.st_ctim.tv_nsec};
    close(descriptor);
    return stamp;
}

int store_is_unchanged(const yoke_store *store)
{
    const store_stamp *was = &store->stamp, is = was->settled ? stamp_of(store->path) : *was;
    return was->settled && is.settled && is.device == was->device && is.number == was->number && is.bytes == was->bytes &&
           is.changed_s == was->changed_s && is.changed_ns == was->changed_ns;
}

yoke_status store_read(yoke_store *store)
{
    struct stat found;
    json_t *root = NULL;
    yoke_json_reader reader = {.context = store->context, .file = store->path};
    if (strcmp(store->path, YOKE_FILE_STANDARD_OUTPUT) == 0) return yoke_json_fail(&reader, "a store is a regular file; name another one");
    if (stat(store->path, &found) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return YOKE_OK;
        return yoke_json_fail(&reader, "the store cannot be read: %s", strerror(errno));
    }
    if (!S_ISREG(found.st_mode)) return yoke_json_fail(&reader, "a store is a regular file; name another one");
    store->stamp = stamp_of(store->path); /* before the file is read, so that a later file is not mistaken for this one */
    yoke_status status = yoke_json_load(store->context, store->path, &root);
    if (status == YOKE_OK) status = read_store(&reader, root, store);
    json_decref(root);
    return status;
}
