/* The list of domains that kinds of meters have found. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meter/meter.h"

void meter_domain_start(meter_domain *domain, const char *kind, const char *name)
{
    memset(domain, 0, sizeof *domain);
    yoke_meter_info *info = &domain->info;
    snprintf(info->name, sizeof info->name, "%s", name);
    snprintf(info->kind, sizeof info->kind, "%s", kind);
    info->resolution_j = info->period_s = info->wrap_j = info->gain_error = NAN;
    domain->unit_j = domain->most_w = domain->quantum_w = domain->window_s = NAN;
}

yoke_status meter_list_add(meter_list *list, const meter_domain *domain)
{
    yoke_status status = yoke_grow(list->context, &list->domains, list->count, &list->capacity, 8, sizeof(meter_domain));
    if (status != YOKE_OK) {
        if (domain->close != NULL) domain->close(domain->state);
        return status;
    }
    list->domains[list->count++] = *domain;
    return YOKE_OK;
}

yoke_status meter_list_add_missing(meter_list *list, const char *kind, const char *name, const char *description, const char *why_not,
                                   const char *remedy)
{
    meter_domain domain;
    meter_domain_start(&domain, kind, name);
    yoke_meter_info *info = &domain.info;
    snprintf(info->description, sizeof info->description, "%s", description != NULL ? description : "");
    snprintf(info->why_not, sizeof info->why_not, "%s", why_not != NULL ? why_not : "");
    snprintf(info->remedy, sizeof info->remedy, "%s", remedy != NULL ? remedy : "");
    return meter_list_add(list, &domain);
}

const meter_domain *meter_list_find_cover(const meter_list *list, const char *kind, const char *covers)
{
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(list->domains[i].info.kind, kind) == 0 && strcmp(list->domains[i].info.covers, covers) == 0) return &list->domains[i];
    return NULL;
}

void meter_list_clear(meter_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        if (list->domains[i].close != NULL) list->domains[i].close(list->domains[i].state);
    yoke_release(list->context, list->domains);
    *list = (meter_list){.context = list->context};
}
