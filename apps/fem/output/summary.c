#include "output/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files/file.h"
#include "common/files/record.h"
#include "output/results.h"

/* One step of one probe. */
typedef struct probe_row {
    int step, probe;
    int64_t dofs;
    fem_probe_value value;
} probe_row;

struct fem_summary {
    yoke_context *context; /* borrowed, as are the next three */
    const fem_case *input;
    const fem_problem *problem;
    const fem_probe *probes;
    int num_probes;
    uint8_t *shared; /* shared faces of the coarse mesh; NULL before the first step of elasticity */
    int64_t num_peaks, most_peaks, num_rows, most_rows;
    fem_peak *peaks;      /* [num_peaks] of each step */
    probe_row *rows;      /* [num_rows] */
    fem_step_record step; /* the last step, as far as it is printed */
    int num_reactions;
    fem_reaction *reactions; /* [num_reactions] of the last step */
    double load_force[3], load_moment[3];
};

yoke_status fem_summary_create(const fem_case *input, const fem_problem *problem, int num_probes, const fem_probe *probes,
                               fem_summary **result)
{
    fem_summary *summary = NULL;
    yoke_status status = yoke_allocate(problem->context, 1, sizeof *summary, &summary);
    if (status) return status;
    summary->context = problem->context;
    summary->input = input;
    summary->problem = problem;
    summary->probes = probes;
    summary->num_probes = num_probes;
    *result = summary;
    return YOKE_OK;
}

void fem_summary_destroy(fem_summary *summary)
{
    if (!summary) return;
    yoke_release(summary->context, summary->shared);
    yoke_release(summary->context, summary->peaks);
    yoke_release(summary->context, summary->rows);
    yoke_release(summary->context, summary->reactions);
    yoke_release(summary->context, summary);
}

/* ------------------------------------------------------------------------------------------------- a step */

static yoke_status keep_peak(fem_summary *s, const fem_space *space, const fem_boundary *boundary, const fem_step_record *step)
{
    if (space->components != 3) return YOKE_OK;
    yoke_status status = s->shared ? YOKE_OK : fem_shared_faces(s->problem->mesh, &s->shared);
    if (!status) status = yoke_grow(s->context, &s->peaks, s->num_peaks, &s->most_peaks, s->num_peaks + 1, sizeof *s->peaks);
    status = app_ranks_agree(space->ranks, status);
    if (status) return status;
    status = fem_peak_find(space, boundary, s->shared, &step->extremes[FEM_EXTREME_VON_MISES], step->relative_error_estimate,
                           &s->peaks[s->num_peaks]);
    s->num_peaks += !status;
    return status;
}

static yoke_status keep_results(fem_summary *s, const fem_step_record *step, const fem_step_results *results)
{
    int64_t rows = s->num_rows + s->num_probes;
    yoke_status status = yoke_grow(s->context, &s->rows, s->num_rows, &s->most_rows, rows, sizeof *s->rows);
    fem_reaction *reactions = NULL;
    if (!status) status = yoke_allocate(s->context, results->num_reactions, sizeof *reactions, &reactions);
    if (status) return status;
    for (int i = 0; i < results->num_reactions; i++) reactions[i] = results->reactions[i];
    yoke_release(s->context, s->reactions);
    s->reactions = reactions;
    s->num_reactions = results->num_reactions;
    for (int i = 0; i < s->num_probes; i++)
        s->rows[s->num_rows++] = (probe_row){.step = step->step, .probe = i, .dofs = step->dofs, .value = results->values[i]};
    s->step = *step;
    memcpy(s->load_force, results->load_force_n, sizeof s->load_force);
    memcpy(s->load_moment, results->load_moment_nm, sizeof s->load_moment);
    return YOKE_OK;
}

yoke_status fem_summary_step(fem_summary *summary, const fem_space *space, const fem_boundary *boundary, const fem_step_record *step,
                             const fem_step_results *results)
{
    yoke_status status = keep_peak(summary, space, boundary, step);
    return status ? status : keep_results(summary, step, results);
}

/* ----------------------------------------------------------------------------------------------- derived values */

static double length3(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void add3(double sum[3], const double v[3])
{
    for (int a = 0; a < 3; a++) sum[a] += v[a];
}

/* Norm of the sum divided by the sum of norms; 0 if all are zero. */
static double imbalance(const double sum[3], double sizes) { return sizes > 0 ? length3(sum) / sizes : 0; }

/* Sum of the reactions and loads of the last step, relative to the sum of their norms: forces and moments (Poisson: flow, and NaN). */
static void find_balance(const fem_step_results *results, double *force, double *moment)
{
    double force_sum[3], moment_sum[3], forces = length3(results->load_force_n), moments = length3(results->load_moment_nm);
    memcpy(force_sum, results->load_force_n, sizeof force_sum);
    memcpy(moment_sum, results->load_moment_nm, sizeof moment_sum);
    for (int i = 0; i < results->num_reactions; i++) {
        add3(force_sum, results->reactions[i].force_n);
        add3(moment_sum, results->reactions[i].moment_nm);
        forces += length3(results->reactions[i].force_n);
        moments += length3(results->reactions[i].moment_nm);
    }
    *force = imbalance(force_sum, forces);
    *moment = results->problem->components == 3 ? imbalance(moment_sum, moments) : NAN;
}

void fem_summary_warning(const fem_summary *s, char warning[FEM_SUMMARY_WARNING])
{
    double factor;
    warning[0] = '\0';
    if (!fem_peak_grows(s->peaks, (int)s->num_peaks, &factor)) return;
    const fem_peak *peak = &s->peaks[s->num_peaks - 1];
    snprintf(
        warning, FEM_SUMMARY_WARNING,
        "the maximum of von Mises' stress grows with each refinement at (%.6g, %.6g, %.6g), at or beside %s, by %.0f %% each time that the "
        "elements "
        "there are halved: probably a singularity, not a result; judge the stress some distance away, or model the rounding or the give "
        "that is there",
        peak->x[0], peak->x[1], peak->x[2], fem_feature_text(peak->feature), 100 * (factor - 1));
}

/* ------------------------------------------------------------------------------------------------- text */

static void print_head(const fem_summary *s, const char *stopped_by, FILE *out)
{
    static const char *const problems[] = {"elasticity", "heat conduction (poisson)"}, *const elements[] = {"q1", "s2", "q2"};
    const fem_case *input = s->input;
    const fem_mesh *mesh = s->problem->mesh;
    fprintf(out, "case      %s: %s, %s elements%s%s\n", input->path, problems[input->keys.problem.value],
            elements[input->keys.element.value], input->units.name[0] ? ", units " : "", input->units.name);
    fprintf(out, "mesh      %s: %lld hexahedra of order %d\n", mesh->path, (long long)mesh->num_elements, mesh->order);
    fprintf(out, "solved    step %d: %lld elements, %lld dofs; stopped by: %s\n", s->step.step, (long long)s->step.elements,
            (long long)s->step.dofs, stopped_by ? stopped_by : "-");
    fprintf(out, "error     %.2g %% of the energy norm, estimated\n", 100 * s->step.relative_error_estimate);
}

static void print_extremes(const fem_summary *s, FILE *out)
{
    const fem_units *units = &s->input->units;
    const struct {
        const char *name, *unit;
    } rows[FEM_EXTREMES] = {
        [FEM_EXTREME_DISPLACEMENT] = {"largest displacement", units->length},
        [FEM_EXTREME_VON_MISES] = {"largest von Mises stress", units->stress},
        [FEM_EXTREME_PRINCIPAL_LARGEST] = {"largest principal stress", units->stress},
        [FEM_EXTREME_PRINCIPAL_SMALLEST] = {"smallest principal stress", units->stress},
        [FEM_EXTREME_VALUE_LARGEST] = {"largest value", units->temperature},
        [FEM_EXTREME_VALUE_SMALLEST] = {"smallest value", units->temperature},
        [FEM_EXTREME_GRADIENT] = {"largest gradient", units->temperature_gradient},
    };
    fprintf(out, "\n");
    for (int k = 0; k < FEM_EXTREMES; k++) {
        const fem_extreme *extreme = &s->step.extremes[k];
        if (!fem_extreme_applies((fem_extreme_kind)k, s->problem->components)) continue;
        fprintf(out, "%-26s %13.5e%s%s  at (%.5g, %.5g, %.5g)\n", rows[k].name, extreme->value, FEM_UNIT_AFTER(rows[k].unit), extreme->x[0],
                extreme->x[1], extreme->x[2]);
    }
}

static void print_force(FILE *out, const char *name, const double force[3], const double moment[3])
{
    fprintf(out, "%-24s", name);
    for (int a = 0; a < 3; a++) fprintf(out, " %12.4e", force[a]);
    for (int a = 0; a < 3; a++) fprintf(out, " %12.4e", moment[a]);
    fprintf(out, "\n");
}

static void print_balance(const fem_summary *s, FILE *out)
{
    double force[3] = {0}, moment[3] = {0}, force_off, moment_off;
    const fem_units *units = &s->input->units;
    const fem_step_results results = {.problem = s->problem,
                                      .num_reactions = s->num_reactions,
                                      .reactions = s->reactions,
                                      .load_force_n = {s->load_force[0], s->load_force[1], s->load_force[2]},
                                      .load_moment_nm = {s->load_moment[0], s->load_moment[1], s->load_moment[2]}};
    const fem_group *groups = s->problem->mesh->groups;
    find_balance(&results, &force_off, &moment_off);
    for (int i = 0; i < s->num_reactions; i++) {
        add3(force, s->reactions[i].force_n);
        add3(moment, s->reactions[i].moment_nm);
    }
    if (s->problem->components == 1) {
        fprintf(out, "\n%-24s %12s%s%s\n", "flow into the body", "total", FEM_UNIT_AFTER(units->power));
        for (int i = 0; i < s->num_reactions; i++)
            fprintf(out, "%-24s %12.4e\n", groups[s->reactions[i].group].name, s->reactions[i].force_n[0]);
        fprintf(out, "%-24s %12.4e\n%-24s %12.4e\n%-24s %12.1e of their sizes\n", "all of these", force[0], "sources and fluxes",
                s->load_force[0], "difference", force_off);
        return;
    }
    fprintf(out, "\n%-24s %12s %12s %12s %12s %12s %12s\n", "forces upon the body", "x", "y", "z", "moment x", "y", "z");
    if (units->name[0])
        fprintf(out, "%-24s %12s %12s %12s %12s %12s %12s\n", "", units->force, units->force, units->force, units->moment, units->moment,
                units->moment);
    for (int i = 0; i < s->num_reactions; i++)
        print_force(out, groups[s->reactions[i].group].name, s->reactions[i].force_n, s->reactions[i].moment_nm);
    print_force(out, "all supports", force, moment);
    print_force(out, "all loads", s->load_force, s->load_moment);
    fprintf(out, "%-24s %12.1e of the forces, %.1e of the moments (about the origin)\n", "difference", force_off, moment_off);
}

static void print_probes(const fem_summary *s, FILE *out)
{
    const fem_units *units = &s->input->units;
    if (!s->num_probes) return;
    if (s->problem->components == 1)
        fprintf(out, "\n%-24s %12s %12s %12s %12s\n", "probe", "value", "gradient x", "y", "z");
    else
        fprintf(out, "\n%-24s %12s %12s %12s %12s %12s %12s %12s\n", "probe", "displ. x", "y", "z", "von Mises", "principal 1", "2", "3");
    if (units->name[0] && s->problem->components == 1)
        fprintf(out, "%-24s %12s %12s %12s %12s\n", "", units->temperature, units->temperature_gradient, units->temperature_gradient,
                units->temperature_gradient);
    else if (units->name[0])
        fprintf(out, "%-24s %12s %12s %12s %12s %12s %12s %12s\n", "", units->length, units->length, units->length, units->stress,
                units->stress, units->stress, units->stress);
    for (int64_t i = s->num_rows - s->num_probes; i < s->num_rows; i++) {
        const fem_probe_value *v = &s->rows[i].value;
        fprintf(out, "%-24s", s->probes[s->rows[i].probe].name);
        if (s->problem->components == 1)
            fprintf(out, " %12.5e %12.5e %12.5e %12.5e\n", v->value[0], v->tensor[0], v->tensor[1], v->tensor[2]);
        else
            fprintf(out, " %12.5e %12.5e %12.5e %12.5e %12.5e %12.5e %12.5e\n", v->value[0], v->value[1], v->value[2], v->von_mises_pa,
                    v->principal_pa[0], v->principal_pa[1], v->principal_pa[2]);
    }
}

static void print_all(const fem_summary *summary, const char *stopped_by, FILE *out)
{
    char warning[FEM_SUMMARY_WARNING];
    print_head(summary, stopped_by, out);
    print_extremes(summary, out);
    print_balance(summary, out);
    print_probes(summary, out);
    fem_summary_warning(summary, warning);
    if (warning[0]) fprintf(out, "\nwarning: %s\n", warning);
}

yoke_status fem_summary_text(const fem_summary *summary, const char *stopped_by, char **text)
{
    char *made = NULL, *copy = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&made, &bytes);
    if (!out) return yoke_fail(summary->context, YOKE_ERROR_MEMORY, "out of memory for the summary");
    print_all(summary, stopped_by, out);
    yoke_status status = fclose(out) == 0 ? yoke_allocate(summary->context, (int64_t)bytes + 1, 1, &copy)
                                          : yoke_fail(summary->context, YOKE_ERROR_MEMORY, "out of memory for the summary");
    if (!status) {
        memcpy(copy, made, bytes);
        *text = copy;
    }
    free(made);
    return status;
}

/* ------------------------------------------------------------------------------------------------- probes.csv */

/* Prints text in quotes, with its quotes doubled. */
static void print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_columns(FILE *out, const char *names, const char *unit)
{
    for (const char *at = names; *at;) {
        size_t length = strcspn(at, " ");
        fprintf(out, ",%.*s", (int)length, at);
        if (unit[0]) fprintf(out, " (%s)", unit);
        at += length + (at[length] == ' ');
    }
}

static void print_numbers(FILE *out, const double *numbers, int count)
{
    for (int i = 0; i < count; i++) fprintf(out, ",%.17g", numbers[i]);
}

static void print_table_of_probes(FILE *out, const void *data)
{
    const fem_summary *s = data;
    const fem_units *units = &s->input->units;
    int elastic = s->problem->components == 3;
    fprintf(out, "step,dofs,probe");
    print_columns(out, "x y z", units->length);
    if (elastic) {
        print_columns(out, "displacement_x displacement_y displacement_z", units->length);
        print_columns(out, "stress_xx stress_yy stress_zz stress_yz stress_xz stress_xy von_mises principal_1 principal_2 principal_3",
                      units->stress);
    } else {
        print_columns(out, "value", units->temperature);
        print_columns(out, "gradient_x gradient_y gradient_z", units->temperature_gradient);
    }
    fprintf(out, "\n");
    for (int64_t i = 0; i < s->num_rows; i++) {
        const probe_row *row = &s->rows[i];
        fprintf(out, "%d,%lld,", row->step, (long long)row->dofs);
        print_quoted(out, s->probes[row->probe].name);
        print_numbers(out, s->probes[row->probe].x, 3);
        print_numbers(out, row->value.value, elastic ? 3 : 1);
        print_numbers(out, row->value.tensor, elastic ? 6 : 3);
        if (elastic) {
            print_numbers(out, &row->value.von_mises_pa, 1);
            print_numbers(out, row->value.principal_pa, 3);
        }
        fprintf(out, "\n");
    }
}

yoke_status fem_summary_write_probes(const fem_summary *summary, const char *directory)
{
    if (!summary->num_probes) return YOKE_OK;
    return app_file_write(summary->context, directory, FEM_RESULTS_PROBES, print_table_of_probes, summary);
}

/* ------------------------------------------------------------------------------------------------- checkpoints */

enum { PEAK_NUMBERS = 7, PROBE_NUMBERS = 3 + FEM_MAX_TENSOR + 4, EXTREME_NUMBERS = 4, STEP_NUMBERS = 4, RESULTANT = 6 };

static json_t *peak_state(const fem_peak *peak)
{
    const double numbers[PEAK_NUMBERS] = {peak->value, peak->x[0], peak->x[1], peak->x[2], peak->size, peak->relative_error, peak->feature};
    return app_json_numbers(numbers, PEAK_NUMBERS);
}

static int read_peak(const json_t *state, fem_peak *peak)
{
    double n[PEAK_NUMBERS];
    if (!app_json_read_numbers(state, n, PEAK_NUMBERS) || !(n[6] >= 0 && n[6] < FEM_FEATURES)) return 0;
    *peak = (fem_peak){.value = n[0], .x = {n[1], n[2], n[3]}, .size = n[4], .relative_error = n[5], .feature = (fem_feature)n[6]};
    return 1;
}

static json_t *row_state(const probe_row *row)
{
    double numbers[PROBE_NUMBERS];
    memcpy(numbers, row->value.value, 3 * sizeof numbers[0]);
    memcpy(numbers + 3, row->value.tensor, FEM_MAX_TENSOR * sizeof numbers[0]);
    memcpy(numbers + 3 + FEM_MAX_TENSOR, row->value.principal_pa, 3 * sizeof numbers[0]);
    numbers[PROBE_NUMBERS - 1] = row->value.von_mises_pa;
    return json_pack("{s:i, s:I, s:o}", "step", row->step, "dofs", (json_int_t)row->dofs, "values",
                     app_json_numbers(numbers, PROBE_NUMBERS));
}

static int read_row(const json_t *state, int probe, probe_row *row)
{
    double n[PROBE_NUMBERS];
    json_int_t dofs;
    json_t *values;
    if (json_unpack((json_t *)state, "{s:i, s:I, s:o}", "step", &row->step, "dofs", &dofs, "values", &values) != 0 ||
        !app_json_read_numbers(values, n, PROBE_NUMBERS))
        return 0;
    row->probe = probe;
    row->dofs = dofs;
    memcpy(row->value.value, n, 3 * sizeof n[0]);
    memcpy(row->value.tensor, n + 3, FEM_MAX_TENSOR * sizeof n[0]);
    memcpy(row->value.principal_pa, n + 3 + FEM_MAX_TENSOR, 3 * sizeof n[0]);
    row->value.von_mises_pa = n[PROBE_NUMBERS - 1];
    return 1;
}

static json_t *reaction_state(const fem_reaction *reaction)
{
    double numbers[1 + RESULTANT] = {reaction->group};
    memcpy(numbers + 1, reaction->force_n, 3 * sizeof numbers[0]);
    memcpy(numbers + 4, reaction->moment_nm, 3 * sizeof numbers[0]);
    return app_json_numbers(numbers, 1 + RESULTANT);
}

static int read_reaction(const fem_summary *s, const json_t *state, fem_reaction *reaction)
{
    double n[1 + RESULTANT];
    if (!app_json_read_numbers(state, n, 1 + RESULTANT) || !(n[0] >= 0 && n[0] < s->problem->mesh->num_groups)) return 0;
    *reaction = (fem_reaction){.group = (int)n[0], .force_n = {n[1], n[2], n[3]}, .moment_nm = {n[4], n[5], n[6]}};
    return 1;
}

/* The numbers printed about the last step. */
static json_t *step_state(const fem_summary *s)
{
    double numbers[STEP_NUMBERS + RESULTANT + EXTREME_NUMBERS * FEM_EXTREMES] = {s->step.step, (double)s->step.elements,
                                                                                 (double)s->step.dofs, s->step.relative_error_estimate};
    memcpy(numbers + STEP_NUMBERS, s->load_force, 3 * sizeof numbers[0]);
    memcpy(numbers + STEP_NUMBERS + 3, s->load_moment, 3 * sizeof numbers[0]);
    for (int k = 0; k < FEM_EXTREMES; k++) {
        double *at = numbers + STEP_NUMBERS + RESULTANT + EXTREME_NUMBERS * k;
        at[0] = s->step.extremes[k].value;
        memcpy(at + 1, s->step.extremes[k].x, 3 * sizeof *at);
    }
    return app_json_numbers(numbers, sizeof numbers / sizeof numbers[0]);
}

static int read_step(fem_summary *s, const json_t *state)
{
    double n[STEP_NUMBERS + RESULTANT + EXTREME_NUMBERS * FEM_EXTREMES];
    if (!app_json_read_numbers(state, n, sizeof n / sizeof n[0]) ||
        !(n[0] >= 0 && n[0] < 1e6 && n[1] >= 0 && n[1] < 1e15 && n[2] >= 0 && n[2] < 1e15))
        return 0;
    s->step = fem_step_unknown((int)n[0]);
    s->step.elements = (int64_t)n[1];
    s->step.dofs = (int64_t)n[2];
    s->step.relative_error_estimate = n[3];
    memcpy(s->load_force, n + STEP_NUMBERS, sizeof s->load_force);
    memcpy(s->load_moment, n + STEP_NUMBERS + 3, sizeof s->load_moment);
    for (int k = 0; k < FEM_EXTREMES; k++) {
        const double *at = n + STEP_NUMBERS + RESULTANT + EXTREME_NUMBERS * k;
        s->step.extremes[k].value = at[0];
        memcpy(s->step.extremes[k].x, at + 1, sizeof s->step.extremes[k].x);
    }
    return 1;
}

json_t *fem_summary_state(const fem_summary *s)
{
    json_t *peaks = json_array(), *rows = json_array(), *reactions = json_array();
    for (int64_t i = 0; i < s->num_peaks; i++) peaks = app_json_append(peaks, peak_state(&s->peaks[i]));
    for (int64_t i = 0; i < s->num_rows; i++) rows = app_json_append(rows, row_state(&s->rows[i]));
    for (int i = 0; i < s->num_reactions; i++) reactions = app_json_append(reactions, reaction_state(&s->reactions[i]));
    return json_pack("{s:o, s:o, s:o, s:o}", "peaks", peaks, "probes", rows, "reactions", reactions, "step", step_state(s));
}

yoke_status fem_summary_resume(fem_summary *s, const json_t *state)
{
    json_t *peaks, *rows, *reactions, *step;
    int good =
        json_unpack((json_t *)state, "{s:o, s:o, s:o, s:o}", "peaks", &peaks, "probes", &rows, "reactions", &reactions, "step", &step) == 0;
    good = good && json_is_array(peaks) && json_is_array(rows) && json_is_array(reactions);
    const int64_t num_peaks = good ? (int64_t)json_array_size(peaks) : 0, num_rows = good ? (int64_t)json_array_size(rows) : 0;
    const int num_reactions = good ? (int)json_array_size(reactions) : 0;
    if (!good || (num_rows && (!s->num_probes || num_rows % s->num_probes)) || !read_step(s, step))
        return yoke_fail(s->context, YOKE_ERROR_INPUT, "the summary's state is not that of this case");
    yoke_status status = num_peaks ? fem_shared_faces(s->problem->mesh, &s->shared) : YOKE_OK;
    if (!status) status = yoke_grow(s->context, &s->peaks, 0, &s->most_peaks, num_peaks, sizeof *s->peaks);
    if (!status) status = yoke_grow(s->context, &s->rows, 0, &s->most_rows, num_rows, sizeof *s->rows);
    if (!status) status = yoke_allocate(s->context, num_reactions, sizeof *s->reactions, &s->reactions);
    if (status) return status;
    for (int64_t i = 0; i < num_peaks && good; i++) good = read_peak(json_array_get(peaks, (size_t)i), &s->peaks[i]);
    for (int64_t i = 0; i < num_rows && good; i++) good = read_row(json_array_get(rows, (size_t)i), (int)(i % s->num_probes), &s->rows[i]);
    for (int i = 0; i < num_reactions && good; i++) good = read_reaction(s, json_array_get(reactions, (size_t)i), &s->reactions[i]);
    if (!good) return yoke_fail(s->context, YOKE_ERROR_INPUT, "the summary's state is not that of this case");
    s->num_peaks = num_peaks;
    s->num_rows = num_rows;
    s->num_reactions = num_reactions;
    return YOKE_OK;
}
