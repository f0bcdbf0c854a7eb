#include "scripted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

scripted_machine scripted = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double now_s(void *user)
{
    (void)user;
    return scripted.now_s;
}

static double suspended_s(void *user)
{
    (void)user;
    return scripted.suspended_s;
}

static double real_now_s(void *user)
{
    (void)user;
    return yoke_clock_s();
}

const meter_time scripted_time = {.now_s = now_s, .suspended_s = suspended_s, .virtual_time = 1};
const meter_time scripted_real_time = {.now_s = real_now_s};

static meter_result read_scripted(void *state, meter_sample *sample, char why[METER_WHY_BYTES])
{
    scripted_meter *meter = state;
    pthread_mutex_lock(&scripted.lock);
    meter_result result = meter->result;
    meter->reads++;
    if (meter->fails > 0) {
        meter->fails--;
        result = METER_FAILED;
    }
    if (meter->watts != 0 && !isnan(meter->sample.time_s)) {
        /* Energy since time 0, in updates of one period. */
        double period_s = meter->domain.info.period_s, time_s = real_now_s(NULL) - meter->sample.time_s;
        double energy_j = meter->watts * (period_s > 0 ? period_s * floor(time_s / period_s) : time_s);
        sample->count = (uint64_t)(energy_j / meter->domain.unit_j);
        if (meter->domain.range != 0) sample->count %= meter->domain.range;
        sample->energy_j = energy_j;
        sample->power_w = meter->watts;
    } else
        *sample = meter->sample;
    sample->time_s = NAN;
    snprintf(why, METER_WHY_BYTES, "%s", meter->why);
    pthread_mutex_unlock(&scripted.lock);
    return result;
}

static void close_scripted(void *state) { ((scripted_meter *)state)->closed++; }

static yoke_status find(const meter_site *site, meter_list *list)
{
    (void)site;
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; status == YOKE_OK && i < scripted.count; i++) {
        meter_domain domain = scripted.meters[i].domain;
        if (domain.info.usable) {
            domain.read = read_scripted;
            domain.close = close_scripted;
            domain.state = &scripted.meters[i];
        }
        status = meter_list_add(list, &domain);
    }
    return status;
}

const meter_kind scripted_kind = {"scripted", find};

void scripted_clear(void)
{
    scripted.now_s = scripted.suspended_s = 0;
    scripted.count = 0;
    memset(scripted.meters, 0, sizeof scripted.meters);
}

scripted_meter *scripted_add(const char *name, meter_quantity quantity)
{
    char full[64];
    if (scripted.count == SCRIPTED_METERS) return NULL;
    snprintf(full, sizeof full, "scripted:%s", name);
    scripted_meter *meter = &scripted.meters[scripted.count++];
    meter_domain *domain = &meter->domain;
    meter_domain_start(domain, "scripted", full);
    snprintf(domain->info.covers, sizeof domain->info.covers, "%s", name);
    domain->info.usable = 1;
    domain->info.source = YOKE_ENERGY_MEASURED;
    domain->info.period_s = 0.001;
    domain->quantity = quantity;
    domain->unit_j = 1e-6;
    domain->most_w = 1000;
    if (quantity == METER_POWER) domain->window_s = domain->info.period_s;
    meter->result = METER_READ;
    meter->sample.time_s = NAN;
    return meter;
}

scripted_meter *scripted_find(const char *name)
{
    for (int64_t i = 0; i < scripted.count; i++)
        if (strcmp(scripted.meters[i].domain.info.name + strlen("scripted:"), name) == 0) return &scripted.meters[i];
    return NULL;
}

int scripted_reads(const scripted_meter *meter)
{
    pthread_mutex_lock(&scripted.lock);
    int reads = meter->reads;
    pthread_mutex_unlock(&scripted.lock);
    return reads;
}

yoke_status scripted_open(yoke_context *context, const char *select, meter_set **set)
{
    static const meter_kind *const kinds[] = {&scripted_kind};
    const meter_site site = {.context = context, .root = "", .time = &scripted_time};
    const meter_set_options options = {.select = select};
    return meter_set_open(&site, kinds, 1, &options, set);
}
