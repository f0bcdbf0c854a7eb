#include "meter/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ choosing */

static int starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static int covers_the_same(const yoke_meter_info *a, const yoke_meter_info *b)
{
    return a->covers[0] != '\0' && strcmp(a->covers, b->covers) == 0;
}

/* Of two domains that cover the same hardware, whether the first one is preferred. */
static int is_preferred(const meter_list *list, int64_t first, int64_t second)
{
    const meter_domain *a = &list->domains[first], *b = &list->domains[second];
    return a->rank != b->rank ? a->rank < b->rank : first < second;
}

static void choose_best(const meter_list *list, const char *sole, unsigned char *chosen)
{
    for (int64_t i = 0; i < list->count; i++) {
        const yoke_meter_info *info = &list->domains[i].info;
        chosen[i] = info->usable && (sole == NULL || strcmp(info->kind, sole) == 0);
    }
    for (int64_t i = 0; i < list->count; i++)
        for (int64_t j = 0; j < list->count && chosen[i]; j++) {
            int both = i != j && chosen[j] && covers_the_same(&list->domains[i].info, &list->domains[j].info);
            if (both && is_preferred(list, j, i)) chosen[i] = 0;
        }
}

/* The names of all domains, usable or not, truncated to `bytes`. */
static void names_text(const meter_list *list, char *text, size_t bytes)
{
    size_t length = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < list->count; i++) {
        const char *name = list->domains[i].info.name;
        if (length + strlen(name) + 8 > bytes) {
            snprintf(text + length, bytes - length, ", ...");
            return;
        }
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", i > 0 ? ", " : "", name);
    }
}

static yoke_status unknown(yoke_context *context, const meter_list *list, const char *name, int length)
{
    char names[1024];
    names_text(list, names, sizeof names);
    const char *how = "";
    if (length == 8 && starts_with(name, "declared")) how = "no powers are declared (\"idle=W,busy=W\"); ";
    if (length == 6 && starts_with(name, "replay")) how = "no recording is given; ";
    if (length == 3 && starts_with(name, "sim")) how = "no machine file with powers was read; ";
    return yoke_fail(context, YOKE_ERROR_INPUT, "there is no meter and no kind of meter \"%.*s\"; %sthe meters are: %s", length, name, how,
                     names);
}

/* Chooses the usable domains with this name or kind. */
static yoke_status choose_named(yoke_context *context, const meter_list *list, const char *name, int length, unsigned char *chosen)
{
    const yoke_meter_info *unusable = NULL;
    int64_t usable = 0;
    for (int64_t i = 0; i < list->count; i++) {
        const yoke_meter_info *info = &list->domains[i].info;
        int is_name = (int)strlen(info->name) == length && strncmp(info->name, name, (size_t)length) == 0;
        int is_kind = (int)strlen(info->kind) == length && strncmp(info->kind, name, (size_t)length) == 0;
        if (!is_name && !is_kind) continue;
        if (info->usable) {
            chosen[i] = 1;
            usable++;
        } else if (unusable == NULL)
            unusable = info;
    }
    if (usable > 0) return YOKE_OK;
    if (unusable == NULL) return unknown(context, list, name, length);
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "the meter %s cannot be used: %s%s%s", unusable->name, unusable->why_not,
                     unusable->remedy[0] != '\0' ? "; " : "", unusable->remedy);
}

yoke_status meter_select(yoke_context *context, const meter_list *list, const char *select, const char *sole, unsigned char *chosen)
{
    memset(chosen, 0, (size_t)list->count);
    if (select == NULL) {
        choose_best(list, sole, chosen);
        return YOKE_OK;
    }
    for (const char *at = select;;) {
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= 64)
            return yoke_fail(context, YOKE_ERROR_INPUT,
                             "\"%.200s\" is no selection of meters: expected names and kinds with commas between them", select);
        yoke_status status = choose_named(context, list, at, (int)length, chosen);
        if (status != YOKE_OK) return status;
        if (at[length] == '\0') return YOKE_OK;
        at += length + 1;
    }
}

/* --------------------------------------------------------------------------------------------------- total */

static int is_psys(const yoke_meter_info *info) { return strcmp(info->covers, "psys") == 0; }
static int is_of_package(const yoke_meter_info *info) { return starts_with(info->covers, "package"); }
/* The whole package, or one of its dies. */
static int is_package(const yoke_meter_info *info) { return is_of_package(info) && strchr(info->covers, '/') == NULL; }
/* A GPU and a CPU that share one meter. */
static int is_module(const yoke_meter_info *info) { return starts_with(info->covers, "module"); }
static int is_declared_host(const yoke_meter_info *info)
{
    return strcmp(info->covers, "host") == 0 && info->source == YOKE_ENERGY_ESTIMATED;
}

/* Summary of the chosen domains. */
typedef struct overview {
    int package, of_package, psys, host, measured_host, module;
} overview;

static overview look(const meter_list *list, const unsigned char *chosen)
{
    overview seen = {0};
    for (int64_t i = 0; i < list->count; i++) {
        const yoke_meter_info *info = &list->domains[i].info;
        if (!chosen[i] || list->domains[i].overlaps) continue;
        seen.module |= is_module(info);
        seen.package |= is_package(info);
        seen.of_package |= is_of_package(info);
        seen.psys |= is_psys(info);
        seen.host |= is_declared_host(info);
        seen.measured_host |= strcmp(info->covers, "host") == 0 && !is_declared_host(info);
    }
    return seen;
}

/* "package-0" contains "package-0/core". */
static int path_contains(const char *whole, const char *part)
{
    size_t length = strlen(whole);
    return length > 0 && strncmp(whole, part, length) == 0 && part[length] == '/';
}

/* The index of the parent, which has this name and the same kind; -1: none. */
static int64_t parent_of(const meter_list *list, int64_t of)
{
    const yoke_meter_info *info = &list->domains[of].info;
    if (info->parent[0] == '\0') return -1;
    for (int64_t i = 0; i < list->count; i++) {
        const yoke_meter_info *other = &list->domains[i].info;
        if (i != of && strcmp(other->kind, info->kind) == 0 && strcmp(other->name, info->parent) == 0) return i;
    }
    return -1;
}

/* Whether the energy of a chosen domain contains this one's.  psys is treated separately. */
static int has_chosen_ancestor(const meter_list *list, const unsigned char *chosen, int64_t of)
{
    int64_t above = parent_of(list, of);
    /* Not more steps than domains, since a list may contain a cycle of parents. */
    for (int64_t steps = 0; above >= 0 && steps < list->count; steps++) {
        const meter_domain *domain = &list->domains[above];
        if (chosen[above] && above != of && !domain->overlaps && !is_psys(&domain->info)) return 1;
        above = parent_of(list, above);
    }
    return 0;
}

static int is_counted(const meter_list *list, const unsigned char *chosen, const overview *seen, int64_t of)
{
    const yoke_meter_info *info = &list->domains[of].info;
    int is_cpu = is_of_package(info) || is_psys(info);
    if (list->domains[of].overlaps) return 0;
    for (int64_t i = 0; i < list->count; i++) {
        const yoke_meter_info *other = &list->domains[i].info;
        if (i == of || !chosen[i] || list->domains[i].overlaps) continue;
        if (covers_the_same(info, other) && is_preferred(list, i, of)) return 0;
        if (path_contains(other->covers, info->covers)) return 0;
    }
    if (has_chosen_ancestor(list, chosen, of)) return 0;
    /* These are parts of a module, in addition to its GPU. */
    if (seen->module && (is_cpu || is_declared_host(info) || starts_with(info->covers, "dram"))) return 0;
    if (is_psys(info)) return !seen->package && !seen->measured_host;
    /* A power declared for the whole host is not added to measurements of a part of it. */
    if (is_declared_host(info)) return !seen->of_package && !seen->psys && !seen->measured_host;
    if (seen->measured_host) return strcmp(info->covers, "host") == 0 || !(is_cpu || starts_with(info->covers, "dram"));
    if (seen->package) return 1;
    /* psys without packages: it contains the whole platform, possibly including cards. */
    if (seen->psys) return !is_cpu && !starts_with(info->covers, "dram") && !starts_with(info->covers, "gpu");
    if (seen->host) return !starts_with(info->covers, "dram");
    return 1;
}

void meter_select_counted(meter_list *list, const unsigned char *chosen)
{
    overview seen = look(list, chosen);
    for (int64_t i = 0; i < list->count; i++) list->domains[i].info.counted = chosen[i] && is_counted(list, chosen, &seen, i);
}

/* --------------------------------------------------------------------------------------------------- lacks */

static void append(char text[METER_WHY_BYTES], const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, METER_WHY_BYTES - length, "%s", more);
}

/* Describes why there is no meter, with the reasons of the first kinds. */
static void say_why_none(const meter_list *list, const unsigned char *chosen, char text[METER_WHY_BYTES])
{
    int open = memchr(chosen, 1, (size_t)list->count) != NULL;
    append(text, open ? "none of the open meters is counted" : "no usable meter");
    const char *between = ": ";
    for (int64_t i = 0; i < list->count; i++) {
        const yoke_meter_info *info = &list->domains[i].info;
        if (info->usable || info->why_not[0] == '\0') continue;
        if (strlen(text) + strlen(info->name) + strlen(info->why_not) + 5 > METER_WHY_BYTES) continue;
        append(text, between);
        append(text, info->name);
        append(text, ": ");
        append(text, info->why_not);
        between = "; ";
    }
}

static int is_counted_of(const meter_list *list, const char *start)
{
    for (int64_t i = 0; i < list->count; i++)
        if (list->domains[i].info.counted && starts_with(list->domains[i].info.covers, start)) return 1;
    return 0;
}

/* Whether this hardware exists but no counted meter covers it. */
static int is_left_out(const meter_list *list, int64_t of)
{
    const yoke_meter_info *info = &list->domains[of].info;
    return !info->usable && starts_with(info->covers, "gpu") && !is_counted_of(list, info->covers);
}

void meter_select_lacks(const meter_list *list, const unsigned char *chosen, char text[METER_WHY_BYTES])
{
    int any = 0, real = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < list->count; i++) {
        any |= list->domains[i].info.counted;
        real |= list->domains[i].info.counted && list->domains[i].info.source == YOKE_ENERGY_MEASURED;
    }
    if (!any) {
        say_why_none(list, chosen, text);
        return;
    }
    if (!real) return;
    overview seen = look(list, chosen);
    int cpu = seen.package || seen.psys || seen.host || seen.measured_host || seen.module;
    const char *between = "without ";
    if (!cpu) {
        append(text, "without the CPU and its memory");
        between = ", ";
    } else if (seen.package && !seen.module && !seen.measured_host && !is_counted_of(list, "dram")) {
        append(text, "without the main memory");
        between = ", ";
    }
    for (int64_t i = 0; i < list->count; i++) {
        if (!is_left_out(list, i)) continue;
        append(text, between);
        append(text, list->domains[i].info.name);
        between = ", ";
    }
    if (seen.psys && !seen.package && !seen.module && !seen.measured_host)
        append(text, "; GPUs may be part of psys and are not added to it");
}
