#include "output/record.h"

#include <math.h>

#include "common/files/record.h"
#include "output/explain.h"

static json_t *seconds_of(const fmm_result *r)
{
    const fmm_solution *f = &r->solved;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read", app_json_number(r->read_s), "memory",
                     app_json_number(f->memory_s), "tree", app_json_number(f->tree_s), "tune", app_json_number(f->tune_s), "near",
                     app_json_number(f->near_s), "far", app_json_number(f->far_s), "check", app_json_number(f->check_s), "write",
                     app_json_number(r->write_s), "total", app_json_number(r->total_s));
}

/* A number; null if it is negative. */
static json_t *whole(int64_t number) { return number < 0 ? json_null() : json_integer(number); }

static json_t *text_or_null(const char *text) { return text ? json_string(text) : json_null(); }

typedef struct entry {
    const char *key;
    json_t *value;
} entry;

/* Sets all keys of the object.  The references to all values are released, even after an error. */
static yoke_status set_all(yoke_context *context, json_t *object, int count, const entry *entries)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < count; i++)
        if (status)
            json_decref(entries[i].value);
        else
            status = app_record_set(context, object, entries[i].key, entries[i].value);
    return status;
}

/* The part of each device in the near field; null if it was not shared. */
static json_t *near_field_of(const fmm_solution *f)
{
    json_t *list = f->parts ? json_array() : json_null();
    for (int i = 0; i < f->parts; i++) {
        const fmm_shared_part *part = &f->part[i];
        list = app_json_append(list, json_pack("{s:o, s:o, s:o, s:o, s:b}", "device", app_json_text(part->device), "pairs",
                                               app_json_number(part->pairs), "seconds", app_json_number(part->seconds), "frequency_hz",
                                               app_json_number(part->frequency_hz), "failed", part->failed));
    }
    return list;
}

/* New memory that the system provided; null if this is not known. */
static json_t *memory_of(const fmm_solution *f)
{
    if (isnan(f->memory_bytes)) return json_null();
    return json_pack("{s:o, s:o, s:o}", "new_bytes", app_json_number(f->memory_bytes), "predicted_s",
                     app_json_number(f->memory_predicted_s), "measured_s", app_json_number(f->memory_s));
}

/* Time and energy of both fields, by the devices' clock and meters; null if they were not shared. */
static json_t *shared_of(const fmm_solution *f)
{
    const fmm_shared_told *told = &f->devices;
    if (!f->parts) return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "predicted_s", app_json_number(told->predicted.time_s), "measured_s",
                     app_json_number(told->measured.time_s), "predicted_j", app_json_number(told->predicted.energy_j), "measured_j",
                     app_json_number(told->measured.energy_j));
}

/* Null: energies were not asked for, or are those of devices. */
static json_t *energy_of(const yoke_energy *energy)
{
    if (energy->kind == YOKE_ENERGY_NONE && !*energy->why_not) return json_null();
    return json_pack("{s:o, s:o, s:s, s:o}", "value_j", app_json_number(energy->value_j), "uncertainty_j",
                     app_json_number(energy->uncertainty_j), "kind", yoke_energy_kind_text(energy->kind), "why_not",
                     text_or_null(*energy->why_not ? energy->why_not : NULL));
}

/* Sets the keys of one frame. */
static yoke_status set_frame(yoke_context *context, json_t *object, const fmm_result *r)
{
    const fmm_solution *f = &r->solved;
    const entry entries[] = {{"frame", json_integer(r->frame)},
                             {"particles", json_integer(r->particles)},
                             {"order", whole(f->order)},
                             {"plane_waves", fmm_waves_json(f->waves, f->set)},
                             {"near_precision", f->depth < 0 ? json_null() : json_string(f->single ? "single" : "double")},
                             {"depth", whole(f->depth)},
                             {"cells", whole(f->cells > 0 ? f->cells : -1)},
                             {"leaf_capacity", whole(f->leaf > 0 ? f->leaf : -1)},
                             {"leaves", whole(f->leaves)},
                             {"tuned", json_boolean(f->chose)},
                             {"tuned_because", text_or_null(fmm_reason_text(f->tree_because))},
                             {"order_chosen_because", text_or_null(fmm_reason_text(f->order_because))},
                             {"requested_error", app_json_number(f->requested_error)},
                             {"error_of", isnan(f->requested_error) ? json_null() : json_string(fmm_quantity_names[f->of])},
                             {"predicted_error", app_json_number(f->predicted_potential)},
                             {"predicted_error_of_forces", app_json_number(f->predicted_force)},
                             {"predicted_error_of_energy", app_json_number(f->predicted_energy)},
                             {"order_raised", json_integer(f->raised)},
                             {"sampled_error", app_json_number(f->sample.potential)},
                             {"sampled_error_of_forces", app_json_number(f->sample.force)},
                             {"sampled_error_of_energy", app_json_number(f->sample.energy + 2 * f->sample.energy_deviation)},
                             {"sampled_error_uncertainty", app_json_number(f->sample.potential_uncertainty)},
                             {"sampled_error_of_forces_uncertainty", app_json_number(f->sample.force_uncertainty)},
                             {"sampled_particles", whole(f->sample.count ? f->sample.count : -1)},
                             {"total_energy", app_json_number(r->total_energy)},
                             {"total_force", app_json_numbers(r->total_force, 3)},
                             {"pairs", app_json_number(f->pairs)},
                             {"far_pairs", app_json_number(f->far_pairs)},
                             {"w_pairs", app_json_number(f->w_pairs)},
                             {"memory", memory_of(f)},
                             {"near_field", near_field_of(f)},
                             {"shared", shared_of(f)},
                             {"energy", energy_of(&f->energy)},
                             {"seconds", seconds_of(r)}};
    return set_all(context, object, (int)(sizeof entries / sizeof *entries), entries);
}

static yoke_status set_sequence(yoke_context *context, json_t *record, const fmm_result *results, int64_t count)
{
    json_t *sequence = json_array();
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        json_t *one = json_object();
        status = set_frame(context, one, &results[i]);
        sequence = app_json_append(sequence, one);
    }
    if (!status) return app_record_set(context, record, "sequence", sequence);
    json_decref(sequence);
    return status;
}

/* Adds what one frame has; NaN: it has none, as a frame that keeps the choice of the last one. */
static void add_known(double *sum, double one)
{
    if (!isnan(one)) *sum = isnan(*sum) ? one : *sum + one;
}

/* The result of the last frame, with the sums of seconds over all frames. */
static fmm_result sum_up(const fmm_result *results, int64_t count)
{
    fmm_result all = results[count - 1];
    for (int64_t i = 0; i + 1 < count; i++) {
        const fmm_result *r = &results[i];
        const fmm_solution *f = &r->solved;
        fmm_solution *of = &all.solved;
        add_known(&all.read_s, r->read_s), add_known(&all.write_s, r->write_s), add_known(&all.total_s, r->total_s);
        add_known(&of->tree_s, f->tree_s), add_known(&of->tune_s, f->tune_s), add_known(&of->far_s, f->far_s);
        add_known(&of->near_s, f->near_s), add_known(&of->check_s, f->check_s);
        add_known(&of->memory_bytes, f->memory_bytes), add_known(&of->memory_s, f->memory_s);
        add_known(&of->memory_predicted_s, f->memory_predicted_s);
    }
    return all;
}

yoke_status fmm_record_write(yoke_context *context, const char *path, int argc, char **argv, const fmm_result *results, int64_t sequence)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(context, "yoke fmm", argc, argv, &record);
    if (status) return status;
    const fmm_result all = sum_up(results, sequence ? sequence : 1);
    const entry entries[] = {{"input", app_json_text(all.input)},
                             {"frames", all.frames ? json_integer(all.frames) : json_null()},
                             {"method", json_string(all.solved.depth < 0 ? "direct" : "fmm")},
                             {"instructions", app_json_text(all.instructions)},
                             {"gradient", json_boolean(all.gradient)},
                             {"softening", all.softening > 0 ? app_json_number(all.softening) : json_null()},
                             {"model", fmm_explain_json(all.solved.tuned)}};
    status = set_all(context, record, (int)(sizeof entries / sizeof *entries), entries);
    if (!status) status = set_frame(context, record, &all);
    if (!status && sequence) status = set_sequence(context, record, results, sequence);
    if (!status) status = app_record_write(context, record, path);
    json_decref(record);
    return status;
}
