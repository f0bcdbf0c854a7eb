/* solver.c - creates a solver, and runs it for one set of particles after another. */
#include "solve/solve.h"

#include <math.h>

#include "particles/coincident.h"
#include "particles/origin.h"
#include "solve/parts.h"

fmm_solution fmm_solution_none(void)
{
    return (fmm_solution){.depth = -1,
                          .order = -1,
                          .leaves = -1,
                          .pairs = NAN,
                          .far_pairs = NAN,
                          .w_pairs = NAN,
                          .requested_error = NAN,
                          .predicted_potential = NAN,
                          .predicted_force = NAN,
                          .predicted_energy = NAN,
                          .sample = {.energy = NAN,
                                     .energy_deviation = NAN,
                                     .potential = NAN,
                                     .force = NAN,
                                     .potential_uncertainty = NAN,
                                     .force_uncertainty = NAN},
                          .tree_s = NAN,
                          .tune_s = NAN,
                          .far_s = NAN,
                          .near_s = NAN,
                          .check_s = NAN,
                          .energy = {.value_j = NAN, .uncertainty_j = NAN},
                          .memory_bytes = NAN,
                          .memory_s = NAN,
                          .memory_predicted_s = NAN};
}

yoke_status fmm_solver_tell(const fmm_solver *s, fmm_stage stage, const char *what)
{
    return s->options.progress ? s->options.progress(s->options.user, stage, what) : YOKE_OK;
}

static yoke_status tell_costs(void *user, const char *what) { return fmm_solver_tell(user, FMM_STAGE_COSTS, what); }

static void forget_reference(fmm_solver *s)
{
    fmm_reference_destroy(s->reference);
    s->reference = NULL;
}

static void forget_tree(fmm_solver *s)
{
    fmm_method_destroy(s->method);
    s->method = NULL;
}

void fmm_solver_destroy(fmm_solver *s)
{
    if (!s) return;
    forget_tree(s);
    forget_reference(s);
    fmm_tuner_destroy(s->tuner);
    yoke_run_destroy(s->run);
    yoke_meters_close(s->meters);
    yoke_release(s->context, s->with_cores);
    yoke_release(s->context, s);
}

yoke_status fmm_solver_create(yoke_context *context, const fmm_solver_options *options, fmm_solver **solver)
{
    fmm_solver *s = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *s, &s);
    if (status) return status;
    s->context = context;
    s->options = *options;
    s->share = options->share;
    s->sampled = NAN;
    s->tune = (fmm_tune_options){.objective = options->objective,
                                 .measure = options->measure,
                                 .store = options->store,
                                 .declared = options->declared,
                                 .gradient = options->gradient,
                                 .order = options->order < 0 ? fmm_order_guess(options->request.error) : options->order,
                                 .by_operations = options->by_operations,
                                 .depth = options->measure_all ? -1 : options->depth,
                                 .all = options->measure_all,
                                 .keeps_memory = options->keeps_memory,
                                 .progress = tell_costs,
                                 .user = s};
    status = fmm_solver_open_meters(s);
    if (status)
        fmm_solver_destroy(s);
    else
        *solver = s;
    return status;
}

const fmm_tuned *fmm_solver_tuned(const fmm_solver *s) { return s->chosen ? &s->tuned : NULL; }
yoke_run *fmm_solver_devices(const fmm_solver *s) { return s->run; }

yoke_status fmm_solver_refuse_coincident(const fmm_solver *s)
{
    if (!s->options.remedy || s->given->softening > 0 || !fmm_method_may_coincide(s->method)) return YOKE_OK;
    return fmm_coincident_refuse(s->given, s->options.remedy);
}

/* Makes sure that there is a tree of the particles, and an order.  given: the particles before they were moved. */
static yoke_status prepare(fmm_solver *s, const fmm_particles *given, const fmm_particles *particles, fmm_change change, bool anew)
{
    fmm_solution *found = &s->solution;
    yoke_status status = YOKE_OK;
    s->given = given;
    *found = fmm_solution_none();
    s->memory = (fmm_new_memory){0};
    if (anew || change == FMM_NEW_PLACES || !s->method)
        status = fmm_solver_grow(s, particles, anew);
    else if (change == FMM_NEW_CHARGES)
        s->ordered = false, status = fmm_solver_refuse_coincident(s);
    if (status) return status;
    s->last = fmm_solver_sizes(s, particles);
    status = fmm_solver_find_order(s, particles, anew);
    if (status) return status;
    s->order = found->order;
    const fmm_tree *tree = fmm_method_tree(s->method);
    const fmm_method_pairs pairs = fmm_method_count(s->method);
    found->depth = tree->depth;
    found->cells = s->cells;
    found->leaf = s->capacity;
    found->leaves = tree->leaves.count;
    found->pairs = (double)pairs.near;
    found->w_pairs = (double)pairs.w;
    found->tuned = fmm_solver_tuned(s);
    return YOKE_OK;
}

yoke_status fmm_solver_choose(fmm_solver *s, const fmm_particles *particles, fmm_solution *solution)
{
    fmm_moved moved;
    yoke_status status = fmm_move_to_origin(particles, &moved);
    if (!status) status = prepare(s, particles, &moved.particles, FMM_NEW_PLACES, true);
    fmm_moved_destroy(&moved);
    forget_reference(s);
    if (status)
        forget_tree(s);
    else
        *solution = s->solution;
    return status;
}

yoke_status fmm_solver_run(fmm_solver *s, const fmm_particles *particles, fmm_change change, fmm_field *field, fmm_solution *solution)
{
    fmm_moved moved;
    yoke_status status = fmm_move_to_origin(particles, &moved);
    if (!status) status = prepare(s, particles, &moved.particles, change, false);
    if (status) forget_tree(s);
    if (!status) status = fmm_solver_compute(s, &moved.particles, field);
    if (!status) fmm_solver_remember(s);
    fmm_moved_destroy(&moved);
    forget_reference(s);
    if (!status) *solution = s->solution;
    return status;
}
