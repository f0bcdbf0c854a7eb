#include "output/record.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "common/files/record.h"

struct fem_record {
    yoke_context *context;
    json_t *root;
    json_t *steps; /* borrowed from root */
    int num_paths;
    const char *paths[FEM_RECORD_PATHS];
    double start_s;
};

fem_step_record fem_step_unknown(int step)
{
    fem_step_record record = {
        .step = step,
        .multigrid_operations = NAN,
        .direct_operations = NAN,
        .relative_residual = NAN,
        .energy_error = NAN,
        .error_estimate = NAN,
        .relative_error_estimate = NAN,
        .strain_energy_j = NAN,
        .max_displacement_m = NAN,
        .max_von_mises_pa = NAN,
        .gpu_share = NAN,
        .predicted_time_s = NAN,
        .predicted_energy_j = NAN,
        .predicted_product_s = NAN,
        .predicted_product_j = NAN,
        .predicted_applications = NAN,
        .time_with_l_s = NAN,
        .energy_with_l_j = NAN,
        .measured_time_s = NAN,
        .measured_energy_j = NAN,
        .measured_product_s = NAN,
        .measured_product_j = NAN,
        .memory_bytes = NAN,
        .messages_per_iteration = NAN,
        .sent_bytes_per_iteration = NAN,
        .most_messages_per_iteration = NAN,
        .most_sent_bytes_per_iteration = NAN,
        .refine_s = NAN,
        .setup_s = NAN,
        .solve_s = NAN,
        .estimate_s = NAN,
        .write_s = NAN,
    };
    fem_extremes_unknown(record.extremes);
    return record;
}

/* ------------------------------------------------------------------------------------------------- values */

static json_t *text_or_null(const char *text) { return text ? app_json_text(text) : json_null(); }

static json_t *case_value(const fem_case *input)
{
    static const char *const elements[] = {"q1", "s2", "q2"};
    static const char *const problems[] = {"elasticity", "poisson"};
    static const char *const preconditioners[] = {"auto", "jacobi", "multigrid", "direct"};
    static const char *const operators[] = {"matrixfree", "stored"};
    const fem_case_keys *keys = &input->keys;
    const fem_case_refine *refine = &keys->refine;
    const fem_case_solver *solver = &keys->solver;
    json_t *refine_value = json_pack("{s:I, s:I, s:o, s:o, s:I}", "initial", (json_int_t)refine->initial.value, "steps",
                                     (json_int_t)refine->steps.value, "tolerance", app_json_number(refine->tolerance.value), "fraction",
                                     app_json_number(refine->fraction.value), "max_elements", (json_int_t)refine->max_elements.value);
    json_t *solver_value =
        json_pack("{s:o, s:o, s:s, s:s, s:I}", "energy_error", app_json_number(solver->energy_error.value), "relative_residual", app_json_number(solver->relative_residual.value), "preconditioner",
                  preconditioners[solver->preconditioner.value], "operator", operators[solver->operator.value], "max_iterations",
                  (json_int_t)solver->max_iterations.value);
    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:o}", "path", app_json_text(input->path), "mesh",
                     app_json_text(input->mesh_path), "mesh_scale", app_json_number(keys->mesh_scale.value), "problem",
                     problems[keys->problem.value], "units", text_or_null(keys->units.value), "element", elements[keys->element.value],
                     "refine", refine_value, "solver", solver_value);
}

/* Numbers of the file's elements, by kind, that were split into hexahedra. */
static json_t *split_value(const fem_mesh *mesh)
{
    static const char *const kinds[3] = {"tetrahedra", "prisms", "hexahedra"};
    static const int parts[3] = {4, 6, 8};
    json_t *array = json_array();
    for (int kind = 0; kind < 3; kind++)
        if (mesh->split[kind] > 0)
            array = app_json_append(array, json_pack("{s:s, s:I, s:I}", "kind", kinds[kind], "elements", (json_int_t)mesh->split[kind],
                                                     "hexahedra", (json_int_t)(parts[kind] * mesh->split[kind])));
    return array;
}

static json_t *mesh_value(const fem_mesh *mesh)
{
    return json_pack("{s:I, s:i, s:o, s:o, s:I}", "hexahedra", (json_int_t)mesh->num_elements, "order", mesh->order, "split",
                     split_value(mesh), "worst_shape", app_json_number(mesh->worst_shape), "worst_element", (json_int_t)mesh->worst_tag);
}

static json_t *part_value(const fem_part_record *part)
{
    return json_pack("{s:i, s:o, s:i, s:I, s:o, s:o, s:o, s:I, s:o, s:o}", "rank", part->rank, "device", text_or_null(part->device),
                     "threads", part->threads, "elements", (json_int_t)part->elements, "seconds_per_element",
                     app_json_number(part->seconds_per_element), "seconds_per_product", app_json_number(part->seconds_per_product),
                     "predicted_seconds_per_product", app_json_number(part->predicted_seconds_per_product), "halo_bytes",
                     (json_int_t)part->halo_bytes, "setup_moved_s", app_json_number(part->setup_moved_s), "frequency_hz",
                     app_json_number(part->frequency_hz));
}

static json_t *failures_value(const fem_step_record *step)
{
    json_t *array = json_array();
    for (int i = 0; i < step->num_failures; i++)
        if (json_array_append_new(array, json_pack("{s:o, s:i, s:o}", "device", text_or_null(step->failures[i].device), "rank",
                                                   step->failures[i].rank, "why", text_or_null(step->failures[i].why))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* The shares that were considered; null if there were none. */
static json_t *alternatives_value(const fem_step_record *step)
{
    if (!step->num_weighed) return json_null();
    json_t *array = json_array();
    for (int k = 0; k < step->num_weighed; k++) {
        const fem_weighed_record *weighed = &step->weighed[k];
        json_t *elements = json_object();
        for (int i = 0; i < step->num_devices; i++)
            json_object_set_new(elements, step->device_names[i], json_integer((json_int_t)weighed->elements[i]));
        json_t *value =
            json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", text_or_null(weighed->name), "note", text_or_null(weighed->note), "elements",
                      elements, "time_s", app_json_number(weighed->time_s), "energy_j", app_json_number(weighed->energy_j));
        if (json_array_append_new(array, value) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static double relative_error(double predicted, double measured) { return predicted / measured - 1; }

/* Sets predicted and measured values, separately for one product, for the step, and for the number of products. */
static int set_predictions(json_t *value, const fem_step_record *step)
{
    int failed = json_object_set_new(value, "predicted",
                                     json_pack("{s:o, s:o, s:o, s:o, s:o}", "time_s", app_json_number(step->predicted_time_s), "energy_j",
                                               app_json_number(step->predicted_energy_j), "seconds_per_product",
                                               app_json_number(step->predicted_product_s), "joules_per_product",
                                               app_json_number(step->predicted_product_j), "operator_applications",
                                               app_json_number(step->predicted_applications)));
    failed |= json_object_set_new(
        value, "predicted_with_l",
        json_pack("{s:o, s:o}", "time_s", app_json_number(step->time_with_l_s), "energy_j", app_json_number(step->energy_with_l_j)));
    failed |= json_object_set_new(value, "measured",
                                  json_pack("{s:o, s:o, s:o, s:o, s:o}", "time_s", app_json_number(step->measured_time_s), "energy_j",
                                            app_json_number(step->measured_energy_j), "energy_kind", text_or_null(step->energy_kind),
                                            "seconds_per_product", app_json_number(step->measured_product_s), "joules_per_product",
                                            app_json_number(step->measured_product_j)));
    const struct {
        const char *key;
        double error;
    } errors[] = {
        {"seconds_per_product", relative_error(step->predicted_product_s, step->measured_product_s)},
        {"joules_per_product", relative_error(step->predicted_product_j, step->measured_product_j)},
        {"time_with_l", relative_error(step->time_with_l_s, step->measured_time_s)},
        {"energy_with_l", relative_error(step->energy_with_l_j, step->measured_energy_j)},
        {"operator_applications", relative_error(step->predicted_applications, (double)step->operator_applications)},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        failed |= json_object_set_new(object, errors[i].key, app_json_number(errors[i].error));
    return failed | json_object_set_new(value, "prediction_errors", object);
}

/*
 * Sets the extremes that have no key of their own from earlier versions, and the positions of all extremes; null if they do not exist for
 * the problem type.
 */
static int set_extremes(json_t *value, const fem_step_record *step)
{
    static const struct {
        const char *key, *place; /* key NULL: another function sets it */
    } names[FEM_EXTREMES] = {
        [FEM_EXTREME_DISPLACEMENT] = {NULL, "max_displacement"},
        [FEM_EXTREME_VON_MISES] = {NULL, "max_von_mises"},
        [FEM_EXTREME_PRINCIPAL_LARGEST] = {"max_principal_pa", "max_principal"},
        [FEM_EXTREME_PRINCIPAL_SMALLEST] = {"min_principal_pa", "min_principal"},
        [FEM_EXTREME_VALUE_LARGEST] = {"max_value", "max_value"},
        [FEM_EXTREME_VALUE_SMALLEST] = {"min_value", "min_value"},
        [FEM_EXTREME_GRADIENT] = {"max_gradient", "max_gradient"},
    };
    json_t *places = json_object();
    int failed = 0;
    for (int k = 0; k < FEM_EXTREMES; k++) {
        const fem_extreme *extreme = &step->extremes[k];
        if (names[k].key) failed |= json_object_set_new(value, names[k].key, app_json_number(extreme->value));
        failed |= json_object_set_new(places, names[k].place, isnan(extreme->value) ? json_null() : app_json_numbers(extreme->x, 3));
    }
    return failed | json_object_set_new(value, "places", places);
}

static json_t *partition_value(const fem_partition_record *partition, int64_t elements)
{
    if (!partition->num_ranks) return json_null();
    json_t *ranks = json_array();
    int failed = 0;
    for (int i = 0; i < partition->num_ranks; i++)
        failed |=
            json_array_append_new(ranks, json_pack("{s:I, s:o, s:o, s:o}", "elements", (json_int_t)partition->elements[i], "share",
                                                   app_json_number((double)partition->elements[i] / (double)elements),
                                                   "predicted_seconds_per_product", app_json_number(partition->predicted_per_product_s[i]),
                                                   "seconds_per_product", app_json_number(partition->seconds_per_product[i])));
    json_t *value = failed ? NULL
                           : json_pack("{s:s, s:o, s:o, s:o, s:I, s:o, s:O}", "choice", partition->choice, "tolerance",
                                       app_json_number(partition->tolerance), "gain_s", app_json_number(partition->gain_s), "cost_s",
                                       app_json_number(partition->cost_s), "moved_elements", (json_int_t)partition->moved, "moved_s",
                                       app_json_number(partition->moved_s), "ranks", ranks);
    json_decref(ranks);
    return value;
}

static json_t *step_value(const fem_step_record *step)
{
    static const char *const shares[] = {"cpu", "gpu", "both"};
    json_t *parts = json_array();
    for (int i = 0; i < step->num_parts; i++)
        if (json_array_append_new(parts, part_value(&step->parts[i])) != 0) {
            json_decref(parts);
            return NULL;
        }
    json_t *value = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I}", "step", step->step, "elements", (json_int_t)step->elements, "dofs",
                              (json_int_t)step->dofs, "hanging_nodes", (json_int_t)step->hanging_nodes, "iterations",
                              (json_int_t)step->iterations, "operator_applications", (json_int_t)step->operator_applications);
    const struct {
        const char *key;
        double number;
    } numbers[] = {
        {"relative_residual", step->relative_residual}, {"energy_error", step->energy_error},
        {"error_estimate", step->error_estimate},       {"relative_error_estimate", step->relative_error_estimate},
        {"strain_energy_j", step->strain_energy_j},     {"max_displacement_m", step->max_displacement_m},
        {"max_von_mises_pa", step->max_von_mises_pa},   {"gpu_share", step->gpu_share},
    };
    int failed = value == NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        failed |= json_object_set_new(value, numbers[i].key, app_json_number(numbers[i].number));
    failed |= set_extremes(value, step);
    failed |= json_object_set_new(value, "stopped_by_rounding", json_boolean(step->stopped_by_rounding));
    failed |= json_object_set_new(value, "preconditioner", text_or_null(step->preconditioner));
    failed |=
        json_object_set_new(value, "preconditioner_reason",
                            text_or_null(step->preconditioner_reason && *step->preconditioner_reason ? step->preconditioner_reason : NULL));
    failed |= json_object_set_new(value, "preconditioner_models",
                                  json_pack("{s:o, s:o}", "multigrid_operations", app_json_number(step->multigrid_operations),
                                            "direct_operations", app_json_number(step->direct_operations)));
    failed |= json_object_set_new(value, "parts", parts);
    failed |= json_object_set_new(value, "partition", partition_value(&step->partition, step->elements));
    failed |= json_object_set_new(value, "case", json_string(shares[step->share]));
    failed |= json_object_set_new(value, "decision", text_or_null(step->decision));
    failed |= json_object_set_new(value, "failed_devices", failures_value(step));
    failed |= json_object_set_new(value, "objective", text_or_null(step->objective));
    failed |= json_object_set_new(value, "powers", text_or_null(step->powers));
    failed |= json_object_set_new(value, "alternatives", alternatives_value(step));
    failed |= set_predictions(value, step);
    failed |= json_object_set_new(value, "memory_bytes", app_json_number(step->memory_bytes));
    failed |= json_object_set_new(value, "messages",
                                  json_pack("{s:o, s:o, s:o, s:o}", "per_iteration", app_json_number(step->messages_per_iteration),
                                            "bytes_per_iteration", app_json_number(step->sent_bytes_per_iteration), "most_per_iteration",
                                            app_json_number(step->most_messages_per_iteration), "most_bytes_per_iteration",
                                            app_json_number(step->most_sent_bytes_per_iteration)));
    failed |= json_object_set_new(value, "seconds",
                                  json_pack("{s:o, s:o, s:o, s:o, s:o}", "refine", app_json_number(step->refine_s), "setup",
                                            app_json_number(step->setup_s), "solve", app_json_number(step->solve_s), "estimate",
                                            app_json_number(step->estimate_s), "write", app_json_number(step->write_s)));
    if (!failed) return value;
    json_decref(value);
    return NULL;
}

/* Force and moment; for a scalar problem, the flow. */
static json_t *force_value(const fem_problem *problem, const double force_n[3], const double moment_nm[3])
{
    if (problem->components == 1) return json_pack("{s:o}", "flow", app_json_number(force_n[0]));
    return json_pack("{s:o, s:o}", "force_n", app_json_numbers(force_n, 3), "moment_nm", app_json_numbers(moment_nm, 3));
}

static json_t *reactions_value(const fem_step_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->num_reactions; i++) {
        const fem_reaction *reaction = &results->reactions[i];
        json_t *value = force_value(results->problem, reaction->force_n, reaction->moment_nm);
        int failed = json_object_set_new(value, "face", app_json_text(results->problem->mesh->groups[reaction->group].name));
        if (json_array_append_new(array, value) != 0 || failed) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *probe_value(const fem_problem *problem, const fem_probe *probe, const fem_probe_value *value)
{
    if (problem->components == 1)
        return json_pack("{s:o, s:o, s:o, s:o}", "name", text_or_null(probe->name), "x", app_json_numbers(probe->x, 3), "value",
                         app_json_number(value->value[0]), "gradient", app_json_numbers(value->tensor, 3));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", text_or_null(probe->name), "x", app_json_numbers(probe->x, 3),
                     "displacement", app_json_numbers(value->value, 3), "stress", app_json_numbers(value->tensor, 6), "von_mises",
                     app_json_number(value->von_mises_pa), "principal", app_json_numbers(value->principal_pa, 3));
}

static json_t *probes_value(const fem_step_results *results)
{
    json_t *array = json_array();
    for (int i = 0; i < results->num_probes; i++)
        if (json_array_append_new(array, probe_value(results->problem, &results->probes[i], &results->values[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* ------------------------------------------------------------------------------------------------- record */

yoke_status fem_record_create(const fem_case *input, int argc, char **argv, int num_paths, const char *const *paths, fem_record **result)
{
    yoke_context *context = input->context;
    fem_record *record = NULL;
    if (num_paths < 0 || num_paths > FEM_RECORD_PATHS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%d files for one run record; at most %d", num_paths, FEM_RECORD_PATHS);
    yoke_status status = yoke_allocate(context, 1, sizeof *record, &record);
    if (status != YOKE_OK) return status;
    record->context = context;
    record->start_s = yoke_clock_s();
    for (int i = 0; i < num_paths; i++)
        if (paths[i]) record->paths[record->num_paths++] = paths[i];
    status = app_record_create(context, "yoke fem", argc, argv, &record->root);
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"case", case_value(input)}, {"mesh", json_null()},       {"stopped_by", json_null()}, {"elapsed_s", json_null()},
        {"steps", json_array()},     {"reactions", json_array()}, {"loads", json_null()},      {"probes", json_array()},
        {"warnings", json_array()},  {"restarts", json_array()},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (status == YOKE_OK)
            status = app_record_set(context, record->root, members[i].key, members[i].value);
        else
            json_decref(members[i].value);
    }
    if (status != YOKE_OK) {
        fem_record_destroy(record);
        return status;
    }
    record->steps = json_object_get(record->root, "steps");
    *result = record;
    return YOKE_OK;
}

yoke_status fem_record_mesh(fem_record *record, const fem_mesh *mesh)
{
    yoke_status status = app_record_set(record->context, record->root, "ranks", json_integer(app_ranks_count(mesh->ranks)));
    return status ? status : app_record_set(record->context, record->root, "mesh", mesh_value(mesh));
}

/* Keys that a resumed run takes over. */
static const char *const kept[] = {"steps", "reactions", "loads", "probes", "warnings", "restarts"};

json_t *fem_record_state(const fem_record *record)
{
    json_t *state = json_pack("{s:o}", "elapsed_s", app_json_number(yoke_clock_s() - record->start_s));
    int failed = state == NULL;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0] && !failed; i++)
        failed = json_object_set(state, kept[i], json_object_get(record->root, kept[i]));
    if (!failed) return state;
    json_decref(state);
    return NULL;
}

yoke_status fem_record_resume(fem_record *record, const json_t *state, json_t *restart)
{
    yoke_context *context = record->context;
    const json_t *elapsed = json_object_get(state, "elapsed_s");
    yoke_status status = restart ? YOKE_OK : yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the run record");
    for (size_t i = 0; i < sizeof kept / sizeof kept[0] && !status; i++) {
        json_t *value = json_object_get(state, kept[i]), *own = json_object_get(record->root, kept[i]);
        if (!value || (json_is_array(own) && !json_is_array(value)))
            status = yoke_fail(context, YOKE_ERROR_INPUT, "the record lacks %s", kept[i]);
        else
            status = app_record_set(context, record->root, kept[i], json_deep_copy(value));
    }
    record->steps = json_object_get(record->root, "steps");
    if (!status && json_is_number(elapsed)) record->start_s -= json_number_value(elapsed);
    if (status) json_decref(restart);
    if (status || json_array_append_new(json_object_get(record->root, "restarts"), restart) == 0) return status;
    return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for the run record");
}

yoke_status fem_record_ended(const fem_case *input, const char *path, char **stopped_by)
{
    json_t *root = json_load_file(path, 0, NULL), *now = case_value(input), *was = json_object_get(root, "case");
    const char *text = json_string_value(json_object_get(root, "stopped_by"));
    const int ended = text && strcmp(text, "interrupted") != 0 &&
                      json_equal(json_object_get(was, "refine"), json_object_get(now, "refine")) &&
                      json_equal(json_object_get(was, "solver"), json_object_get(now, "solver"));
    *stopped_by = NULL;
    yoke_status status = ended ? yoke_allocate(input->context, (int64_t)strlen(text) + 1, 1, stopped_by) : YOKE_OK;
    if (*stopped_by) strcpy(*stopped_by, text);
    json_decref(now);
    json_decref(root);
    return status;
}

void fem_record_destroy(fem_record *record)
{
    if (!record) return;
    json_decref(record->root);
    yoke_release(record->context, record);
}

/* Whether a file can be written repeatedly: a regular file or one that does not exist yet, but not standard output ("-"). */
static int is_rewritable(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && (stat(path, &about) != 0 || S_ISREG(about.st_mode));
}

static yoke_status write_files(fem_record *record, int at_end)
{
    yoke_status status = app_record_set(record->context, record->root, "elapsed_s", app_json_number(yoke_clock_s() - record->start_s));
    for (int i = 0; status == YOKE_OK && i < record->num_paths; i++)
        if (at_end || is_rewritable(record->paths[i])) status = app_record_write(record->context, record->root, record->paths[i]);
    return status;
}

yoke_status fem_record_write(fem_record *record) { return write_files(record, 0); }

yoke_status fem_record_step(fem_record *record, const fem_step_record *step, const fem_step_results *results)
{
    yoke_context *context = record->context;
    if (json_array_append_new(record->steps, step_value(step)) != 0)
        return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for step %d of the run record", step->step);
    yoke_status status = app_record_set(context, record->root, "reactions", reactions_value(results));
    if (status == YOKE_OK)
        status =
            app_record_set(context, record->root, "loads", force_value(results->problem, results->load_force_n, results->load_moment_nm));
    if (status == YOKE_OK) status = app_record_set(context, record->root, "probes", probes_value(results));
    return status == YOKE_OK ? write_files(record, 0) : status;
}

yoke_status fem_record_warn(fem_record *record, const char *warning)
{
    if (json_array_append_new(json_object_get(record->root, "warnings"), app_json_text(warning)) == 0) return YOKE_OK;
    return yoke_fail(record->context, YOKE_ERROR_MEMORY, "out of memory for the warnings of the run record");
}

yoke_status fem_record_profile(fem_record *record, const fem_profile *profile)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < profile->count; i++) {
        const yoke_run_profile *row = &profile->rows[i];
        json_t *const rank = profile->ranks ? json_integer(profile->ranks[i]) : json_integer(0);
        array = app_json_append(array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel",
                                                 app_json_text(fem_profile_name(row)), "device", app_json_text(profile->names[row->device]),
                                                 "rank", rank, "frequency_hz", app_json_number(row->frequency_hz), "calls",
                                                 app_json_number(row->calls), "call_s", app_json_number(row->call_s), "energy_j",
                                                 app_json_number(row->energy_j), "uncertainty_j", app_json_number(row->uncertainty_j),
                                                 "dynamic_j", app_json_number(row->dynamic_j), "share", app_json_number(row->part),
                                                 "why_not", row->why_not[0] ? app_json_text(row->why_not) : json_null()));
    }
    return app_record_set(record->context, record->root, "profile", array);
}

yoke_status fem_record_finish(fem_record *record, const char *stopped_by)
{
    yoke_status status = app_record_set(record->context, record->root, "stopped_by", text_or_null(stopped_by));
    return status == YOKE_OK ? write_files(record, 1) : status;
}
