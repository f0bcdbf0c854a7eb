#include "output/record.h"

#include <math.h>

#include "common/record.h"
#include "output/explain.h"

static json_t *seconds_of(const fmm_result *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read", app_json_number(r->read_s), "tree", app_json_number(r->tree_s),
                     "tune", app_json_number(r->tuned ? r->tuned->analysis_s : (double)NAN), "near", app_json_number(r->near_s), "far",
                     app_json_number(r->far_s), "check", app_json_number(r->check_s), "write", app_json_number(r->write_s), "total",
                     app_json_number(r->total_s));
}

/* null for what there is not. */
static json_t *whole(int64_t number) { return number < 0 ? json_null() : json_integer(number); }

static yoke_status fill(yoke_context *context, json_t *record, const fmm_result *r)
{
    const struct {
        const char *key;
        json_t *value;
    } entries[] = {{"input", app_json_text(r->input)},
                   {"frame", json_integer(r->frame)},
                   {"frames", r->frames ? json_integer(r->frames) : json_null()},
                   {"particles", json_integer(r->particles)},
                   {"method", json_string(r->depth < 0 ? "direct" : "fmm")},
                   {"instructions", app_json_text(r->instructions)},
                   {"gradient", json_boolean(r->gradient)},
                   {"order", whole(r->order)},
                   {"depth", whole(r->depth)},
                   {"leaf_capacity", whole(r->leaf > 0 ? r->leaf : -1)},
                   {"leaves", whole(r->leaves)},
                   {"requested_error", json_null()},
                   {"sampled_error", app_json_number(r->sample.potential)},
                   {"sampled_error_of_forces", app_json_number(r->sample.force)},
                   {"sampled_particles", whole(r->sample.count ? r->sample.count : -1)},
                   {"total_energy", app_json_number(r->total_energy)},
                   {"total_force", app_json_numbers(r->total_force, 3)},
                   {"pairs", app_json_number(r->pairs)},
                   {"far_pairs", app_json_number(r->far_pairs)},
                   {"w_pairs", app_json_number(r->w_pairs)},
                   {"seconds", seconds_of(r)},
                   {"model", fmm_explain_json(r->tuned)}};
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (status)
            json_decref(entries[i].value);
        else
            status = app_record_set(context, record, entries[i].key, entries[i].value);
    return status;
}

yoke_status fmm_record_write(yoke_context *context, const char *path, int argc, char **argv, const fmm_result *result)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke fmm", argc, argv, &record);
    if (status) return status;
    status = fill(context, record, result);
    if (!status) status = app_record_write(context, record, path);
    json_decref(record);
    return status;
}
