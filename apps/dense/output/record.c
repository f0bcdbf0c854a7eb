/* The run record of an operation. */
#include <math.h>
#include <string.h>

#include "output/output.h"

static json_t *cost(double time_s, double energy_j)
{
    return json_pack("{s:o, s:o}", "time_s", app_json_number(time_s), "energy_j", app_json_number(energy_j));
}

/* Energy computed as power times seconds is never of kind "measured". */
const char *dense_energy_kind(const char *powers)
{
    return yoke_energy_kind_text(strcmp(powers, "simulated") == 0 ? YOKE_ENERGY_SIMULATED : YOKE_ENERGY_ESTIMATED);
}

static json_t *range_of(const dense_part *part, int i)
{
    return json_pack("[I, I]", (json_int_t)part->range[i].first, (json_int_t)part->range[i].last);
}

static json_t *part_of(const dense_shared *shared, const dense_part *part, int64_t all)
{
    json_t *ranges = json_array();
    const bool known = !isnan(part->energy_j) && shared->powers[0];
    for (int i = 0; i < part->num_ranges && i < DENSE_MAX_RANGES; i++) ranges = app_json_append(ranges, range_of(part, i));
    return json_pack("{s:i, s:o, s:o, s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "rank", 0, "device", app_json_text(part->device),
                     "by", part->by[0] ? app_json_text(part->by) : json_null(), "accelerator", part->accelerator, "units",
                     (json_int_t)part->units, "range", part->num_ranges == 1 ? range_of(part, 0) : json_null(), "ranges", ranges, "share",
                     app_json_number(all ? (double)part->units / (double)all : NAN), "seconds",
                     app_json_number(part->units ? part->seconds : NAN), "energy_j", app_json_number(known ? part->energy_j : NAN),
                     "energy_kind", known ? json_string(dense_energy_kind(shared->powers)) : json_null(), "failed", part->failed, "why",
                     app_json_text(part->why));
}

static json_t *parts_of(const dense_shared *shared)
{
    json_t *list = json_array();
    int64_t all = 0;
    for (int i = 0; i < shared->num_parts; i++) all += shared->part[i].units;
    for (int i = 0; i < shared->num_parts; i++) list = app_json_append(list, part_of(shared, &shared->part[i], all));
    return list;
}

static const char *decision_text(yoke_run_decision decision)
{
    static const char *const texts[] = {"fixed", "started", "explored", "balanced", "planned", "kept"};
    return texts[decision];
}

static json_t *round_parts_of(const dense_shared *shared, const dense_round *round)
{
    json_t *list = json_array();
    for (int i = 0; i < shared->num_parts; i++)
        list = app_json_append(list,
                               json_pack("{s:o, s:I, s:o}", "device", app_json_text(shared->part[i].device), "units",
                                         (json_int_t)round->part[i].units, "frequency_hz", app_json_number(round->part[i].frequency_hz)));
    return list;
}

static json_t *rounds_of(const dense_shared *shared)
{
    json_t *list = json_array();
    for (int i = 0; i < shared->num_rounds && i < DENSE_MAX_ROUNDS; i++) {
        const dense_round *round = &shared->round[i];
        list = app_json_append(list, json_pack("{s:I, s:o, s:s, s:o, s:o, s:o}", "units", (json_int_t)round->units, "parts",
                                               round_parts_of(shared, round), "chosen_by", decision_text(round->decision), "imbalance",
                                               app_json_number(round->imbalance), "predicted",
                                               cost(round->predicted.time_s, round->predicted.energy_j), "measured",
                                               cost(round->measured.time_s, round->measured.energy_j)));
    }
    return list;
}

static json_t *measured_of(const dense_shared *shared)
{
    json_t *measured = cost(shared->measured_s, shared->measured_j);
    if (measured && (json_object_set_new(measured, "energy_kind", json_string(yoke_energy_kind_text(shared->kind))) != 0 ||
                     json_object_set_new(measured, "why_not", app_json_text(shared->why_no_energy)) != 0)) {
        json_decref(measured);
        return NULL;
    }
    return measured;
}

static json_t *seconds_of(const dense_shared *shared, double total_s)
{
    return json_pack("{s:o, s:o, s:o}", "total", app_json_number(total_s), "compute", app_json_number(shared->measured_s), "partition",
                     app_json_number(shared->plan_s));
}

yoke_status dense_record_create(yoke_context *context, const char *operation, int argc, char **argv, const dense_shared *shared,
                                double total_s, json_t **record)
{
    json_t *created = NULL;
    yoke_status status = app_record_create(context, "yoke dense", argc, argv, &created);
    if (!status) status = app_record_set(context, created, "operation", json_string(operation));
    if (!status) status = app_record_set(context, created, "ranks", json_integer(1));
    if (!status) status = app_record_set(context, created, "parts", parts_of(shared));
    if (!status) status = app_record_set(context, created, "rounds", rounds_of(shared));
    if (!status) status = app_record_set(context, created, "imbalance", app_json_number(dense_imbalance(shared)));
    if (!status) status = app_record_set(context, created, "predicted", cost(shared->predicted_s, shared->predicted_j));
    if (!status) status = app_record_set(context, created, "measured", measured_of(shared));
    if (!status) status = app_record_set(context, created, "seconds", seconds_of(shared, total_s));
    if (status)
        json_decref(created);
    else
        *record = created;
    return status;
}

yoke_status dense_record_add(yoke_context *context, json_t *record, json_t *keys)
{
    const int failed = !keys || json_object_update(record, keys) != 0;
    json_decref(keys);
    return failed ? yoke_fail(context, YOKE_ERROR_MEMORY, "no memory for the run record") : YOKE_OK;
}
