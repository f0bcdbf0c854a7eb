#include "show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/explain.h"

/* Times below this are not shown: reading the store takes less. */
static const double least_told_s = 0.1;
/* Less memory than this is not shown: the system provides it almost instantly. */
static const double least_told_bytes = 1e6;

static void show_times(app_terminal *terminal, const fmm_result *r)
{
    const fmm_solution *f = &r->solved;
    app_print(terminal, "read %.3g s, ", r->read_s);
    if (f->depth < 0) {
        app_print(terminal, "sums %.3g s (%.3g pairs/s)", f->near_s, f->pairs / f->near_s);
    } else {
        if (f->memory_bytes >= least_told_bytes) app_print(terminal, "memory %.3g s (%.3g MB), ", f->memory_s, 1e-6 * f->memory_bytes);
        app_print(terminal, "tree %.3g s, ", f->tree_s);
        if (!isnan(f->tune_s)) app_print(terminal, "choice %.3g s, ", f->tune_s);
        app_print(terminal, "far field %.3g s (%.3g pairs of cells), near field %.3g s (%.3g pairs%s, %.3g pairs/s)", f->far_s,
                  f->far_pairs, f->near_s, f->pairs, f->single ? " in single precision" : "", f->pairs / f->near_s);
    }
    if (f->sample.count) app_print(terminal, ", check %.3g s", f->check_s);
    app_print(terminal, ", total %.3g s\n", r->total_s);
}

/* Prints the text and releases it. */
static yoke_status show_text(app_terminal *terminal, yoke_context *context, yoke_status status, char *text)
{
    if (!status) app_print(terminal, "%s", text);
    yoke_release(context, text);
    return status;
}

static yoke_status show_devices(app_terminal *terminal, yoke_context *context, const fmm_solution *f)
{
    char *text = NULL;
    yoke_status status = fmm_parts_text(context, f, &text);
    return show_text(terminal, context, status, text);
}

static yoke_status explain_devices(app_terminal *terminal, yoke_context *context, yoke_run *devices)
{
    char *text = NULL;
    yoke_status status = yoke_run_explain(devices, &text);
    return show_text(terminal, context, status, text);
}

static yoke_status explain_choice(app_terminal *terminal, yoke_context *context, const fmm_tuned *tuned)
{
    char *text = NULL;
    yoke_status status = fmm_tuned_text(context, tuned, &text);
    return show_text(terminal, context, status, text);
}

/* Prints the predicted and the measured time of the chosen tree, including that of new memory if it is known. */
static void show_predicted(app_terminal *terminal, const fmm_result *r)
{
    const fmm_solution *f = &r->solved;
    const fmm_tuned *tuned = f->tuned;
    const bool has_memory = !tuned->measure && !f->devices.simulated && f->memory_bytes >= least_told_bytes;
    const double unit = tuned->measure ? FMM_COUNTS_OF_SECOND : 1;
    const double predicted = unit * tuned->choice.predicted.time_s + (has_memory ? f->memory_predicted_s : 0);
    const double measured = unit * fmm_chosen(&tuned->choice)->measured.total + (has_memory ? f->memory_s : 0);
    const char *name = tuned->measure ? fmm_measure_names[tuned->measure] : "s";
    app_print(terminal, "%s: predicted %.3g %s", has_memory ? "memory, tree and both fields" : "tree and both fields", predicted, name);
    if (!isnan(measured)) app_print(terminal, tuned->measure ? ", measured %.3g" : ", measured %.3g s", measured);
    if (predicted > 0 && !isnan(measured)) app_print(terminal, " (%+.1f %%)", 100 * (measured / predicted - 1));
}

/* Whether the cores were the only device. */
static bool is_host_alone(const fmm_solution *f) { return f->parts == 1 && !strncmp(f->part[0].device, "openmp", strlen("openmp")); }

/* Prints the energy of the chosen tree, as far as it is known. */
static void show_energy(app_terminal *terminal, const fmm_solution *f)
{
    const double predicted_j = f->tuned->choice.predicted.energy_j;
    const yoke_energy *energy = &f->energy;
    if (!isnan(predicted_j)) app_print(terminal, "; predicted energy %.4g J", predicted_j);
    if (f->parts && !isnan(f->devices.measured.energy_j)) app_print(terminal, ", measured %.4g J", f->devices.measured.energy_j);
    if (!isnan(energy->value_j))
        app_print(terminal, "; %s energy %.4g +- %.2g J", yoke_energy_kind_text(energy->kind), energy->value_j, energy->uncertainty_j);
    else if (*energy->why_not)
        app_print(terminal, "; energy not metered: %s", energy->why_not);
}

/* Prints how the tree was chosen. */
static yoke_status show_choice(app_terminal *terminal, yoke_context *context, const fmm_command *line, const fmm_result *r)
{
    const fmm_tuned *tuned = r->solved.tuned;
    const fmm_choice *choice = &tuned->choice;
    const fmm_solution *f = &r->solved;
    yoke_status status = line->explain || line->measure_all ? explain_choice(terminal, context, tuned) : YOKE_OK;
    if (status) return status;
    if (choice->takes_cells)
        app_print(terminal, "%lld cells along each side chosen, between depths %d and %d, in %.3g s (%.1f %% of all)\n",
                  (long long)choice->cells, choice->depth - 1, choice->depth, tuned->analysis_s, 100 * tuned->analysis_s / r->total_s);
    else if (choice->last > choice->first && choice->adaptive < 0)
        app_print(terminal, "depth %d chosen of %d to %d, in %.3g s (%.1f %% of all)\n", choice->depth, choice->first, choice->last,
                  tuned->analysis_s, 100 * tuned->analysis_s / r->total_s);
    if (choice->adaptive >= 0)
        app_print(terminal, "adaptive tree chosen, leaves of at most %lld particles, in %.3g s (%.1f %% of all)\n",
                  (long long)choice->capacity[choice->adaptive], tuned->analysis_s, 100 * tuned->analysis_s / r->total_s);
    if (tuned->machine_s >= least_told_s)
        app_print(terminal, "costs of operations and powers of devices: %s in %.3g s\n",
                  tuned->measured_now ? "measured" : "read and measured", tuned->machine_s);
    if (f->parts && !fmm_chosen(choice)->devices && !is_host_alone(f)) {
        app_print(terminal, "this tree is the best for the cores alone: none of the devices does the far field\n");
        return line->plot ? fmm_explain_plot(context, line->plot, tuned) : YOKE_OK;
    }
    show_predicted(terminal, r);
    show_energy(terminal, f);
    app_print(terminal, "\n");
    return line->plot ? fmm_explain_plot(context, line->plot, tuned) : YOKE_OK;
}

/* Prints the error relative to the energy, as far as it is known. */
static void show_energy_error(app_terminal *terminal, const fmm_solution *f)
{
    const double most = f->sample.energy + 2 * f->sample.energy_deviation;
    const bool is_above = f->of != FMM_ENERGY && f->predicted_energy > f->requested_error;
    if (f->sample.count && !isnan(most)) app_print(terminal, "error of the energy at most %.2g by these sums", most);
    if (f->sample.count && !isnan(most) && !isnan(f->predicted_energy)) {
        app_print(terminal, ", predicted %.2g", f->predicted_energy);
        if (is_above) app_print(terminal, ", above the request for %s (--error-of energy keeps it below)", fmm_quantity_names[f->of]);
    }
    if (f->sample.count && !isnan(most)) app_print(terminal, "\n");
}

yoke_status fmm_show(app_terminal *terminal, yoke_context *context, const fmm_command *line, const fmm_result *r, yoke_run *devices)
{
    const fmm_solution *f = &r->solved;
    app_print(terminal, "%lld particle%s (%s), ", (long long)r->particles, r->particles == 1 ? "" : "s", r->input);
    if (f->depth < 0)
        app_print(terminal, "direct summation\n");
    else if (f->cells > 0)
        app_print(terminal, "fast multipole method, %lld cell%s along each side, depth %d, order %d\n", (long long)f->cells,
                  f->cells == 1 ? "" : "s", f->depth, f->order);
    else if (f->leaf > 0)
        app_print(terminal, "fast multipole method, %lld leaves of at most %lld particles, depth %d, order %d\n", (long long)f->leaves,
                  (long long)f->leaf, f->depth, f->order);
    else if (f->far_pairs > 0)
        app_print(terminal, "fast multipole method, depth %d, order %d\n", f->depth, f->order);
    else
        app_print(terminal, "fast multipole method, depth %d: no far field, all pairs are summed\n", f->depth);
    if (!isnan(f->requested_error))
        app_print(terminal, "requested error of %s %.2g, predicted %.2g\n", fmm_quantity_names[f->of], f->requested_error,
                  f->of == FMM_FORCES   ? f->predicted_force
                  : f->of == FMM_ENERGY ? f->predicted_energy
                                        : f->predicted_potential);
    app_print(terminal, "total energy %.15g\n", r->total_energy);
    if (r->gradient)
        app_print(terminal, "sum of all forces (%.2g, %.2g, %.2g), of their lengths %.4g\n", r->total_force[0], r->total_force[1],
                  r->total_force[2], r->force_lengths);
    if (f->sample.count) app_print(terminal, "error of potentials %.2g", f->sample.potential);
    if (f->sample.count && r->gradient) app_print(terminal, ", of forces %.2g", f->sample.force);
    if (f->sample.count)
        app_print(terminal, ", relative, in the 2-norm; direct sums at %lld particle%s\n", (long long)f->sample.count,
                  f->sample.count == 1 ? "" : "s");
    show_energy_error(terminal, f);
    show_times(terminal, r);
    yoke_status status = f->parts ? show_devices(terminal, context, f) : YOKE_OK;
    if (!status && f->parts && line->explain) status = explain_devices(terminal, context, devices);
    if (!status && !f->tuned && line->solve.predict)
        app_print(terminal, "fewer than %d particles: nothing is measured or predicted for them, and no tree is chosen\n",
                  FMM_FEW_PARTICLES);
    if (!status && !f->tuned && line->plot) yoke_log(context, YOKE_LOG_WARNING, "%s: not drawn: no trees were compared", line->plot);
    return status || !f->tuned ? status : show_choice(terminal, context, line, r);
}

void fmm_show_frame(app_terminal *terminal, const fmm_result *r, bool first)
{
    const fmm_solution *f = &r->solved;
    char error[20] = "-";
    double force = hypot(hypot(r->total_force[0], r->total_force[1]), r->total_force[2]);
    if (f->sample.count) snprintf(error, sizeof error, "%.2g", f->sample.potential);
    if (first)
        app_print(terminal, "%8s  %10s  %22s  %13s  %8s  %8s\n", "frame", "particles", "total energy", "sum of forces", "error", "seconds");
    app_print(terminal, "%8lld  %10lld  %22.15g  %13.2g  %8s  %8.3g\n", (long long)r->frame, (long long)r->particles, r->total_energy,
              r->force_lengths > 0 ? force / r->force_lengths : force, error, r->total_s);
}
