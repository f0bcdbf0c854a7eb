#include "device/registry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "device/backends.h"
#include "device/list_child.h"

/* Order in which kinds are listed, and searched for a PCI address: the vendor's own interface for a card precedes OpenCL. */
static const yoke_backend *const built_in[] = {
    &yoke_backend_openmp,
    &yoke_backend_cuda,
    &yoke_backend_opencl,
    &yoke_backend_sim,
};

enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

typedef struct entry {
    const yoke_backend *backend;
    void *state;
    int started;
    int asked;  /* its devices, or one of them, were requested */
    int listed; /* nonzero: it was listed in a separate process; infos has the result */
    yoke_device_info *infos;
    int64_t num_infos, room;
} entry;

typedef struct registry {
    yoke_context *context;
    entry *entries;
    int64_t count;
} registry;

/* The order does not matter: backends do not depend on each other. */
static void forget(void *devices)
{
    registry *known = devices;
    for (int64_t i = 0; i < known->count; i++) {
        if (known->entries[i].started) known->entries[i].backend->stop(known->entries[i].state);
        yoke_release(known->context, known->entries[i].infos);
    }
    yoke_release(known->context, known->entries);
    yoke_release(known->context, known);
}

/* The context's registry, created at the first call. */
static yoke_status get(yoke_context *context, registry **known)
{
    if (context->devices == NULL) {
        void *created = NULL, *entries = NULL;
        yoke_status status = yoke_allocate(context, 1, sizeof(registry), &created);
        if (status != YOKE_OK) return status;
        status = yoke_allocate(context, BUILT_IN, sizeof(entry), &entries);
        if (status != YOKE_OK) {
            yoke_release(context, created);
            return status;
        }
        *(registry *)created = (registry){.context = context, .entries = entries, .count = BUILT_IN};
        for (int i = 0; i < BUILT_IN; i++) ((entry *)entries)[i].backend = built_in[i];
        context->devices = created;
        context->devices_forget = forget;
    }
    *known = context->devices;
    return YOKE_OK;
}

static yoke_status start(yoke_context *context, entry *chosen)
{
    chosen->asked = 1;
    if (chosen->started) return YOKE_OK;
    yoke_status status = chosen->backend->start(context, &chosen->state);
    chosen->started = status == YOKE_OK;
    return status;
}

/* The name of a required slot that is NULL, or NULL. */
static const char *missing_slot(const yoke_backend *backend)
{
#define CHECK(slot) \
    if (backend->slot == NULL) return #slot;
    CHECK(start)
    CHECK(stop)
    CHECK(list)
    CHECK(open)
    CHECK(close)
    CHECK(buffer_create)
    CHECK(buffer_destroy)
    CHECK(queue_create)
    CHECK(queue_destroy)
    CHECK(write)
    CHECK(read)
    CHECK(clear)
    CHECK(finish)
    CHECK(event_create)
    CHECK(event_destroy)
    CHECK(record)
    CHECK(wait)
    CHECK(event_wait)
    CHECK(elapsed_s)
    CHECK(program_create)
    CHECK(program_destroy)
    CHECK(function)
    CHECK(launch)
#undef CHECK
    return NULL;
}

static yoke_status check_backend(yoke_context *context, const registry *known, const yoke_backend *backend)
{
    if (backend->version != YOKE_BACKEND_VERSION)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_backend_register: the table has version %d, this library knows version %d",
                         backend->version, YOKE_BACKEND_VERSION);
    const char *kind = backend->kind;
    if (kind == NULL || kind[0] == '\0' || strlen(kind) >= sizeof((yoke_device_info *)0)->kind || strchr(kind, ':') != NULL ||
        strcmp(kind, "pci") == 0)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "yoke_backend_register: the kind must be a word of 1 to 15 characters without ':', and not \"pci\"");
    for (int64_t i = 0; i < known->count; i++)
        if (strcmp(known->entries[i].backend->kind, kind) == 0)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_backend_register: there is a kind \"%s\" already; choose another name",
                             kind);
    const char *slot = missing_slot(backend);
    if (slot != NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_backend_register: the required slot %s of the table of kind \"%s\" is NULL",
                         slot, kind);
    if ((backend->host_allocate == NULL) != (backend->host_release == NULL))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "yoke_backend_register: kind \"%s\" has only one of host_allocate and host_release; give both or none", kind);
    return YOKE_OK;
}

yoke_status yoke_backend_register(yoke_context *context, const yoke_backend *backend)
{
    if (context == NULL || backend == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_backend_register: %s is NULL", context == NULL ? "context" : "backend");
    registry *known = NULL;
    yoke_status status = get(context, &known);
    if (status == YOKE_OK) status = check_backend(context, known, backend);
    void *longer = NULL;
    if (status == YOKE_OK) status = yoke_allocate(context, known->count + 1, sizeof(entry), &longer);
    if (status != YOKE_OK) return status;
    memcpy(longer, known->entries, (size_t)known->count * sizeof(entry));
    yoke_release(context, known->entries);
    known->entries = longer;
    known->entries[known->count++].backend = backend;
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------- finding */

static yoke_status fail_unknown_kind(yoke_context *context, const registry *known, const char *kind, int length)
{
    char kinds[512] = "";
    size_t used = 0;
    for (int64_t i = 0; i < known->count && used < sizeof kinds; i++)
        used += (size_t)snprintf(kinds + used, sizeof kinds - used, "%s%s", i > 0 ? ", " : "", known->entries[i].backend->kind);
    return yoke_fail(context, YOKE_ERROR_INPUT,
                     "there is no kind of device called \"%.*s\"; the kinds are: %s; `yoke info` lists the devices of this machine", length,
                     kind, kinds);
}

yoke_status yoke_registry_find(yoke_context *context, const char *kind, size_t kind_length, const yoke_backend **backend, void **state)
{
    registry *known = NULL;
    yoke_status status = get(context, &known);
    if (status != YOKE_OK) return status;
    for (int64_t i = 0; i < known->count; i++) {
        entry *one = &known->entries[i];
        if (strlen(one->backend->kind) != kind_length || memcmp(one->backend->kind, kind, kind_length) != 0) continue;
        status = start(context, one);
        if (status != YOKE_OK) return status;
        *backend = one->backend;
        *state = one->state;
        return YOKE_OK;
    }
    return fail_unknown_kind(context, known, kind, (int)(kind_length < 64 ? kind_length : 64));
}

/* ---------------------------------------------------------------------------------------------- the list */

typedef struct listing {
    yoke_context *context;
    int gpus_only;
    yoke_device_info *infos;
    int64_t count, capacity;
} listing;

static yoke_status append(const yoke_device_info *info, void *user)
{
    listing *found = user;
    if (found->gpus_only && info->usable && info->device_class != YOKE_DEVICE_GPU) return YOKE_OK;
    yoke_status status = yoke_grow(found->context, &found->infos, found->count, &found->capacity, 4, sizeof *info);
    if (status == YOKE_OK) found->infos[found->count++] = *info;
    return status;
}

/* Adds an unusable entry for a backend that could not be listed. */
static yoke_status append_silent(listing *found, const char *kind, const char *why_not, const char *remedy)
{
    yoke_device_info info = {.device_class = YOKE_DEVICE_OTHER};
    strcpy(info.name, kind);
    strcpy(info.kind, kind);
    snprintf(info.description, sizeof info.description, "devices of kind %s", kind);
    snprintf(info.why_not, sizeof info.why_not, "%s", why_not);
    if (remedy != NULL)
        snprintf(info.remedy, sizeof info.remedy, "%s", remedy);
    else
        snprintf(info.remedy, sizeof info.remedy, "see the documentation of the backend \"%s\"", kind);
    return append(&info, found);
}

static yoke_status keep(const yoke_device_info *info, void *user)
{
    entry *one = ((void **)user)[1];
    yoke_status status = yoke_grow(((void **)user)[0], &one->infos, one->num_infos, &one->room, 4, sizeof *info);
    if (status == YOKE_OK) one->infos[one->num_infos++] = *info;
    return status;
}

static int is_vendors(const entry *one) { return one->backend == &yoke_backend_cuda || one->backend == &yoke_backend_opencl; }

/* Lists devices of vendors' libraries in a separate process, once, unless a device of this kind is used in this process. */
static yoke_status list_apart(yoke_context *context, entry *one)
{
    void *keeping[2] = {context, one};
    one->asked = 1;
    if (one->listed || one->started || !is_vendors(one)) return YOKE_OK;
    return yoke_apart_list(context, one->backend->kind, keep, keeping, &one->listed);
}

static yoke_status list_one(listing *found, entry *one)
{
    int64_t before = found->count;
    if (found->gpus_only && one->backend == &yoke_backend_openmp) return YOKE_OK;
    if (found->gpus_only && one->backend == &yoke_backend_opencl && yoke_opencl_makes_cpus_only())
        return append_silent(found, "opencl", "its only driver is PoCL, which makes devices of the CPU",
                             "install the GPU vendor's OpenCL driver; `yoke info` lists what PoCL has");
    yoke_status status = list_apart(found->context, one);
    if (status == YOKE_OK && one->listed) {
        for (int64_t i = 0; i < one->num_infos && status == YOKE_OK; i++) status = append(&one->infos[i], found);
        return status;
    }
    if (status == YOKE_OK) status = start(found->context, one);
    if (status == YOKE_OK) status = one->backend->list(one->state, append, found);
    if (status == YOKE_ERROR_MEMORY) return status;
    if (status != YOKE_OK) return append_silent(found, one->backend->kind, yoke_last_error(found->context), NULL);
    return found->count > before || found->gpus_only ? YOKE_OK : append_silent(found, one->backend->kind, "the backend finds none", NULL);
}

/* Devices of one kind, or of all kinds if it is NULL.  only_asked: without vendors' kinds that were not requested before. */
static yoke_status list_devices(yoke_context *context, const char *kind, int gpus_only, int only_asked, yoke_device_info **list,
                                int64_t *count)
{
    registry *known = NULL;
    yoke_status status = get(context, &known);
    if (status != YOKE_OK) return status;
    listing found = {.context = context, .gpus_only = gpus_only};
    int64_t asked = 0;
    for (int64_t i = 0; status == YOKE_OK && i < known->count; i++) {
        if (kind != NULL && strcmp(known->entries[i].backend->kind, kind) != 0) continue;
        if (only_asked && is_vendors(&known->entries[i]) && !known->entries[i].asked) continue;
        asked++;
        status = list_one(&found, &known->entries[i]);
    }
    if (status == YOKE_OK && asked == 0) status = fail_unknown_kind(context, known, kind, (int)strnlen(kind, 64));
    if (status != YOKE_OK) {
        yoke_release(context, found.infos);
        return status;
    }
    *list = found.infos;
    *count = found.count;
    return YOKE_OK;
}

yoke_status yoke_devices_list(yoke_context *context, const char *kind, int gpus_only, yoke_device_info **list, int64_t *count)
{
    if (context == NULL || list == NULL || count == NULL)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_devices_list: %s is NULL",
                         context == NULL ? "context" : (list == NULL ? "list" : "count"));
    return list_devices(context, kind, gpus_only, 0, list, count);
}

yoke_status yoke_registry_list_asked(yoke_context *context, yoke_device_info **list, int64_t *count,
                                     const char *others[YOKE_REGISTRY_VENDORS], int *num_others)
{
    registry *known = NULL;
    int found = 0;
    yoke_status status = list_devices(context, NULL, 0, 1, list, count);
    if (status == YOKE_OK) status = get(context, &known);
    if (status != YOKE_OK) return status;
    for (int64_t i = 0; i < known->count; i++)
        if (is_vendors(&known->entries[i]) && !known->entries[i].asked) others[found++] = known->entries[i].backend->kind;
    *num_others = found;
    return YOKE_OK;
}

/* Hexadecimal digits may be in upper or lower case. */
static int same_address(const char *a, const char *b)
{
    while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

yoke_status yoke_registry_find_pci(yoke_context *context, const char *address, char name[64])
{
    yoke_device_info *list = NULL;
    int64_t count = 0;
    yoke_status status = yoke_devices_list(context, NULL, 0, &list, &count);
    if (status != YOKE_OK) return status;
    const yoke_device_info *chosen = NULL;
    char addresses[512] = "";
    size_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        if (list[i].pci[0] == '\0') continue;
        if (used < sizeof addresses)
            used +=
                (size_t)snprintf(addresses + used, sizeof addresses - used, "%s%s (%s)", used > 0 ? ", " : "", list[i].pci, list[i].name);
        if (same_address(list[i].pci, address) && (chosen == NULL || (!chosen->usable && list[i].usable))) chosen = &list[i];
    }
    if (chosen == NULL)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "there is no device with the PCI address \"%.64s\"; there are: %s", address,
                           used > 0 ? addresses : "none whose address is known");
    else if (!chosen->usable)
        status = yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "the device %s with the PCI address %s cannot be used: %s; %s", chosen->name,
                           chosen->pci, chosen->why_not, chosen->remedy);
    else
        memcpy(name, chosen->name, sizeof chosen->name);
    yoke_release(context, list);
    return status;
}
