/* Writes a plan as CSV, figure and record. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/console/options.h"
#include "common/files/file.h"
#include "common/files/plot.h"
#include "common/files/record.h"
#include "plan/plan.h"

/* ------------------------------------------------------------------------------------------------------ table */

static void write_name(FILE *out, const char *name, const char *ending)
{
    fputc('"', out);
    for (const char *c = name; *c; c++) {
        if (*c == '"') fputc('"', out);
        fputc(*c, out);
    }
    fprintf(out, "%s\"", ending);
}

yoke_status plan_write_csv(const plan_answer *answer, const char *path)
{
    app_file *file = NULL;
    const yoke_plan_problem *problem = answer->problem;
    yoke_status status = app_file_create(answer->context, path, &file);
    if (status) return status;
    FILE *out = app_file_stream(file);
    fputs("time_s,energy_j,peak_power_w", out);
    for (int64_t i = 0; i < problem->num_devices; i++) {
        fputc(',', out);
        write_name(out, problem->devices[i].name, "_units");
        fputc(',', out);
        write_name(out, problem->devices[i].name, "_hz");
    }
    fputc('\n', out);
    for (int64_t k = 0; k < answer->plan->num_front; k++) {
        const yoke_plan_choice *choice = &answer->plan->front[k];
        fprintf(out, "%.12g,%.12g,%.12g", choice->time_s, choice->energy_j, choice->peak_power_w);
        for (int64_t i = 0; i < problem->num_devices; i++) {
            double frequency_hz = problem->devices[i].levels[choice->levels[i]].frequency_hz;
            fprintf(out, ",%lld,", (long long)choice->units[i]);
            if (!isnan(frequency_hz)) fprintf(out, "%.12g", frequency_hz);
        }
        fputc('\n', out);
    }
    return app_file_commit(file);
}

/* ------------------------------------------------------------------------------------------------------ figure */

typedef struct figure {
    const plan_answer *answer;
    app_plot_place place;
} figure;

/* Writes a text without the characters that gnuplot would treat as the end of a column or of the text. */
static void write_plain(FILE *out, const char *name)
{
    for (const char *c = name; *c; c++) fputc(strchr("\"'\\\n", *c) != NULL ? ' ' : *c, out);
}

/* Whether a choice is near enough to the front: points far away would leave no room for the front. */
static bool in_picture(const yoke_plan *plan, const yoke_plan_choice *choice)
{
    double time_s = 0, energy_j = 0;
    for (int64_t i = 0; i < plan->num_front; i++) {
        time_s = fmax(time_s, plan->front[i].time_s);
        energy_j = fmax(energy_j, plan->front[i].energy_j);
    }
    return plan->num_front == 0 || (choice->time_s <= 1.5 * time_s && choice->energy_j <= 1.5 * energy_j);
}

static bool at_one_place(const yoke_plan_choice *a, const yoke_plan_choice *b)
{
    return fabs(a->time_s - b->time_s) <= 1e-9 * a->time_s && fabs(a->energy_j - b->energy_j) <= 1e-9 * a->energy_j;
}

/* Writes a point once, labelled with the names of all alternatives at it. */
static void write_alternative(FILE *out, const yoke_plan *plan, int64_t number)
{
    const yoke_plan_choice *choices = plan->alternatives, *choice = &choices[number];
    for (int64_t i = 0; i < number; i++)
        if (at_one_place(&choices[i], choice)) return;
    fprintf(out, "%.9g %.9g \"", choice->time_s, choice->energy_j);
    for (int64_t i = number; i < plan->num_alternatives; i++) {
        if (!at_one_place(&choices[i], choice)) continue;
        if (i > number) fputs(", ", out);
        write_plain(out, choices[i].name);
    }
    fputs("\"\n", out);
}

static void print_data(FILE *out, const void *data)
{
    const figure *f = data;
    const yoke_plan *plan = f->answer->plan;
    fputs("# time s, energy J: the front\n", out);
    for (int64_t i = 0; i < plan->num_front; i++) fprintf(out, "%.9g %.9g\n", plan->front[i].time_s, plan->front[i].energy_j);
    if (plan->num_front == 0) fputs("NaN NaN\n", out);
    fputs("\n\n# time s, energy J, names: the alternatives\n", out);
    for (int64_t i = 0; i < plan->num_alternatives; i++)
        if (in_picture(plan, &plan->alternatives[i])) write_alternative(out, plan, i);
}

static void print_script(FILE *out, const void *data)
{
    const figure *f = data;
    const plan_answer *answer = f->answer;
    const yoke_plan *plan = answer->plan;
    fprintf(out, "set terminal svg size 800,600 noenhanced\nset output '%s.svg'\n", f->place.base);
    fprintf(out, "set title '%lld units, repeated %.6g times: least %s'\n", (long long)answer->problem->units, answer->problem->repetitions,
            app_objective_names[plan->objective]);
    fputs("set xlabel 'time, s", out);
    for (int64_t i = 0, beyond = 0; i < plan->num_alternatives; i++) {
        const yoke_plan_choice *other = &plan->alternatives[i];
        if (isnan(other->energy_j) || in_picture(plan, other) || beyond > 3) continue;
        fputs(beyond++ == 0 ? "; beyond: " : ", ", out);
        if (beyond > 3)
            fputs("...", out);
        else {
            write_plain(out, other->name);
            fprintf(out, " %.4g s %.4g J", other->time_s, other->energy_j);
        }
    }
    fputs("'\nset ylabel 'energy, J'\nset offsets graph 0.05, graph 0.25, graph 0.2, graph 0.05\nset key top right\n", out);
    fprintf(out,
            "plot '%s.dat' index 0 using 1:2 with linespoints pointtype 7 pointsize 0.4 title 'none is faster and cheaper', '' index 1 "
            "using 1:2:3 with labels rotate by 30 point pointtype 6 left offset 0.7,0.5 title 'alternatives'\n",
            f->place.base);
}

yoke_status plan_write_plot(const plan_answer *answer, const char *path, bool *drawn)
{
    figure f = {.answer = answer};
    const app_plot plot = {.directory = f.place.directory, .base = f.place.base, .print_data = print_data, .print_script = print_script};
    yoke_status status = app_plot_split(answer->context, path, &f.place);
    return status ? status : app_plot_write(answer->context, &plot, &f, drawn);
}

/* ------------------------------------------------------------------------------------------------------ record */

/* Units of a device in each cut. */
static json_t *cut_units_array(const yoke_plan_problem *problem, const yoke_plan_choice *choice, int64_t device)
{
    json_t *array = json_array();
    for (int64_t c = 0; c < problem->round->num_cuts; c++)
        array = app_json_append(array, json_integer((json_int_t)choice->units[c * problem->num_devices + device]));
    return array;
}

/* The phases of the request. */
static json_t *phases_array(const yoke_plan_problem *problem)
{
    json_t *array = json_array();
    for (int64_t p = 0; p < problem->round->num_phases; p++) {
        const yoke_phase *phase = &problem->round->phases[p];
        json_t *cut = phase->cut >= 0 ? json_integer((json_int_t)phase->cut) : json_null();
        json_t *device = phase->cut < 0 ? app_json_text(problem->devices[phase->device].name) : json_null();
        array = app_json_append(
            array, json_pack("{s:o, s:o, s:o, s:o, s:I, s:b, s:o}", "work", app_json_text(phase->work != NULL ? phase->work : ""), "calls",
                             app_json_number(phase->calls), "cut", cut, "device", device, "units", (json_int_t)phase->units, "barrier",
                             phase->barrier, "call_seconds", app_json_number(phase->call_seconds)));
    }
    return array;
}

/* Shares and frequencies; empty if there is no choice. */
static json_t *parts_array(const plan_answer *answer, const yoke_plan_choice *choice)
{
    json_t *array = json_array();
    const yoke_plan_problem *problem = answer->problem;
    for (int64_t i = 0; !isnan(choice->time_s) && choice->units != NULL && i < problem->num_devices; i++) {
        double share = problem->units > 0 ? (double)choice->units[i] / (double)problem->units : 0;
        json_t *part = json_pack("{s:o, s:o, s:I, s:I, s:o}", "device", app_json_text(problem->devices[i].name), "share",
                                 app_json_number(share), "units", (json_int_t)choice->units[i], "level", (json_int_t)choice->levels[i],
                                 "frequency_hz", app_json_number(problem->devices[i].levels[choice->levels[i]].frequency_hz));
        if (problem->round != NULL && part != NULL) json_object_set_new(part, "cut_units", cut_units_array(problem, choice, i));
        array = app_json_append(array, part);
    }
    return array;
}

static json_t *choice_object(const plan_answer *answer, const yoke_plan_choice *choice)
{
    return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", app_json_text(choice->name), "feasible", choice->feasible,
                     "parts", parts_array(answer, choice), "time_s", app_json_number(choice->time_s), "energy_j",
                     app_json_number(choice->energy_j), "time_uncertainty_s", app_json_number(choice->time_uncertainty_s),
                     "energy_uncertainty_j", app_json_number(choice->energy_uncertainty_j), "peak_power_w",
                     app_json_number(choice->peak_power_w), "note", app_json_text(choice->note));
}

static json_t *choices_array(const plan_answer *answer, const yoke_plan_choice *choices, int64_t count)
{
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++) array = app_json_append(array, choice_object(answer, &choices[i]));
    return array;
}

static json_t *number_or_null(double number) { return number > 0 ? json_real(number) : json_null(); }

/* The request, without date and machine, so that the same request gives the same record, byte by byte. */
static json_t *question_object(const plan_answer *answer, int argc, char **argv)
{
    const yoke_plan_options *options = answer->options;
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:o, s:s, s:o, s:o, s:o}", "program", "yoke plan", "version", yoke_version(), "command",
                     app_json_texts((const char *const *)argv, argc), "model", app_json_text(answer->model), "units",
                     (json_int_t)answer->problem->units, "repetitions", app_json_number(answer->problem->repetitions), "objective",
                     app_objective_names[options->objective], "deadline_s", number_or_null(options->deadline_s), "max_slowdown",
                     number_or_null(options->max_slowdown), "power_cap_w", number_or_null(options->power_cap_w));
}

static json_t *result_object(const plan_answer *answer)
{
    const yoke_plan *plan = answer->plan;
    const yoke_plan_choice none = {
        .time_s = NAN, .energy_j = NAN, .peak_power_w = NAN, .time_uncertainty_s = NAN, .energy_uncertainty_j = NAN};
    const yoke_plan_choice *best = plan->feasible ? &plan->best : &none;
    return json_pack("{s:b, s:b, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "feasible", plan->feasible, "optimal",
                     plan->optimal, "gap", app_json_number(plan->gap), "tie", plan->tie, "parts", parts_array(answer, best), "time_s",
                     app_json_number(best->time_s), "energy_j", app_json_number(best->energy_j), "time_uncertainty_s",
                     app_json_number(best->time_uncertainty_s), "energy_uncertainty_j", app_json_number(best->energy_uncertainty_j),
                     "peak_power_w", app_json_number(best->peak_power_w), "binding",
                     plan->feasible ? json_null() : json_string(plan->binding), "nearest", app_json_number(plan->nearest), "decision",
                     app_json_text(plan->decision), "nodes", (json_int_t)plan->nodes);
}

yoke_status plan_write_record(const plan_answer *answer, const char *path, int argc, char **argv)
{
    const yoke_plan *plan = answer->plan;
    json_t *record = question_object(answer, argc, argv), *result = result_object(answer);
    yoke_status status = YOKE_OK;
    if (record == NULL || result == NULL || json_object_update(record, result) != 0)
        status = yoke_fail(answer->context, YOKE_ERROR_MEMORY, "out of memory for the plan's record");
    json_decref(result);
    if (!status && answer->problem->round != NULL)
        status = app_record_set(answer->context, record, "phases", phases_array(answer->problem));
    if (!status)
        status = app_record_set(answer->context, record, "alternatives", choices_array(answer, plan->alternatives, plan->num_alternatives));
    if (!status && answer->options->pareto)
        status = app_record_set(answer->context, record, "front", choices_array(answer, plan->front, plan->num_front));
    if (!status && answer->options->pareto)
        status = app_record_set(answer->context, record, "front_optimal", json_boolean(plan->front_optimal));
    if (!status) status = app_record_write(answer->context, record, path);
    json_decref(record);
    return status;
}
