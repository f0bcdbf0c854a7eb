/* The latest round as JSON. */
#include <math.h>

#include "base/json.h"
#include "run/run.h"

static json_t *text(const char *value) { return value[0] != '\0' ? json_string(value) : json_null(); }

static json_t *part_json(const yoke_run *run, int cut, int device)
{
    const run_plan *plan = run->plan;
    const int64_t units = plan->units[cut][device], all = plan->cut_units[cut];
    int first = cut == 0;
    return json_pack("{s:s, s:i, s:I, s:I, s:o, s:o, s:o, s:o}", "device", run->devices[device].info->name, "cut", cut, "first",
                     (json_int_t)run->first[cut][device], "units", (json_int_t)units, "share",
                     yoke_json_number(all > 0 ? (double)units / (double)all : (double)NAN), "frequency_hz",
                     yoke_json_number(run->frequency_hz[device]), "predicted_s",
                     yoke_json_number(first ? plan->predicted_s[device] : (double)NAN), "seconds",
                     yoke_json_number(first ? run->measured_s[device] : (double)NAN));
}

static json_t *alternative_json(const yoke_run *run, const run_alternative *a)
{
    json_t *parts = json_array();
    for (int i = 0; i < run->num_devices; i++)
        parts = yoke_json_append(parts, json_pack("{s:s, s:I, s:o}", "device", run->devices[i].info->name, "units", (json_int_t)a->units[i],
                                                  "frequency_hz", yoke_json_number(a->hz[i])));
    return json_pack("{s:s, s:b, s:o, s:o, s:o}", "name", a->name, "feasible", a->feasible, "time_s", yoke_json_number(a->time_s),
                     "energy_j", yoke_json_number(a->energy_j), "parts", parts);
}

static json_t *failed_json(const yoke_run *run)
{
    json_t *failed = json_array();
    for (int i = 0; i < run->num_devices; i++)
        if (run->devices[i].failed)
            failed =
                yoke_json_append(failed, json_pack("{s:s, s:o}", "device", run->devices[i].info->name, "why", text(run->devices[i].why)));
    return failed;
}

static json_t *devices_json(const yoke_run *run)
{
    const run_plan *plan = run->plan;
    json_t *devices = json_array();
    for (int i = 0; i < run->num_devices; i++) {
        const run_device *d = &run->devices[i];
        devices =
            yoke_json_append(devices, json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "device", d->info->name, "kind",
                                                d->info->kind, "accelerator", d->accelerator, "active", run_is_active(run, i), "why",
                                                text(d->why), "rests", text(run_why_rests(run, plan, i)), "frequency_domain",
                                                text(d->domain), "why_no_frequency", text(d->domain[0] != '\0' ? "" : d->why_no_frequency),
                                                "meters", text(d->meter_names), "idle_w", yoke_json_number(run_idle_w(run, i, d->level)),
                                                "dynamic_w", yoke_json_number(run_dynamic_w(run, i, d->level, NULL))));
    }
    return devices;
}

static json_t *predicted_json(const yoke_cost *cost)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "time_s", yoke_json_number(cost->time_s), "time_uncertainty_s",
                     yoke_json_number(cost->time_uncertainty_s), "energy_j", yoke_json_number(cost->energy_j), "energy_uncertainty_j",
                     yoke_json_number(cost->energy_uncertainty_j), "peak_power_w", yoke_json_number(cost->peak_power_w));
}

static json_t *measured_json(const yoke_run *run)
{
    return json_pack("{s:o, s:o, s:o, s:s, s:o}", "time_s", yoke_json_number(run->measured.time_s), "energy_j",
                     yoke_json_number(run->measured.energy_j), "energy_uncertainty_j", yoke_json_number(run->measured.energy_uncertainty_j),
                     "energy_kind", yoke_energy_kind_text(run->energy_kind), "why_not",
                     text(isnan(run->measured.energy_j) ? run->energy_why : ""));
}

static json_t *limit_json(const run_plan *plan)
{
    if (plan->feasible) return json_null();
    return json_pack("{s:s, s:o}", "limit", plan->binding, "nearest", yoke_json_number(plan->nearest));
}

yoke_status yoke_run_record(yoke_run *run, char **text_out)
{
    double regret = NAN;
    if (run == NULL || text_out == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_record: an argument is NULL");
    yoke_status status = run_regret(run, &regret);
    if (status != YOKE_OK) return status;
    json_t *parts = json_array(), *alternatives = json_array();
    const run_plan *plan = run->plan;
    for (int c = 0; run->has_plan && c < plan->num_cuts; c++)
        for (int i = 0; i < run->num_devices; i++) parts = yoke_json_append(parts, part_json(run, c, i));
    for (int a = 0; a < plan->num_alternatives; a++)
        alternatives = yoke_json_append(alternatives, alternative_json(run, &plan->alternatives[a]));
    char *decision = NULL;
    status = yoke_run_explain(run, &decision);
    json_t *document =
        status != YOKE_OK || decision == NULL
            ? NULL
            : json_pack("{s:s, s:o, s:I, s:s, s:s, s:b, s:o, s:b, s:o, s:o, s:O, s:O, s:o, s:o, s:o, s:o, s:o}", "objective",
                        run_objective_text(run->options.objective), "work",
                        text(run->has_plan && plan->num_phases > 0 ? run->run_works[plan->works[0]].name : ""), "rounds",
                        (json_int_t)run->rounds, "decision", decision, "chosen_by", run_decision_text(plan->decision), "feasible",
                        !run->has_plan || plan->feasible, "nearest", limit_json(plan), "optimal", plan->optimal, "gap",
                        yoke_json_number(plan->gap), "regret", yoke_json_number(regret), "parts", parts, "alternatives", alternatives,
                        "predicted", predicted_json(&plan->predicted), "measured", measured_json(run), "devices", devices_json(run),
                        "failed", failed_json(run), "total",
                        json_pack("{s:o, s:o}", "time_s", yoke_json_number(run->sum_s), "energy_j", yoke_json_number(run->sum_j)));
    yoke_release(run->context, decision);
    json_decref(parts);
    json_decref(alternatives);
    return status == YOKE_OK ? yoke_json_text(run->context, document, text_out) : status;
}
