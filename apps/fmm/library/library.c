/*
 * library.c - the functions of yoke_fmm.h: a solver, and the last particles, to find out what has changed.
 */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "library/arrays.h"
#include "solve/solve.h"

enum { MAX_THREADS = 1024 };

struct yoke_fmm {
    yoke_context *context;
    yoke_fmm_options options; /* as given; of texts and share the copies below are used */
    char *store, *declared, *devices;
    double share;
    fmm_solver *solver;
    fmm_particles *particles; /* those of the solver's last call */
    fmm_solution solution;
    yoke_fmm_result result;
};

/* ------------------------------------------------------------------------------------------- creation */

static yoke_status check_options(yoke_context *context, const yoke_fmm_options *o)
{
    if (o->order < 0 || o->order > FMM_MAX_ORDER)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: order %d; it has to be 0 (chosen) to %d", o->order, FMM_MAX_ORDER);
    if (!(o->error >= 0 && o->error <= 1))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: error %g; it has to be above 0 and at most 1, or 0 for 1e-3",
                         o->error);
    if (o->error > 0 && (o->order || o->direct))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: error chooses the order: give one of error, order and direct");
    if (o->error_of_forces && o->potential_only)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: error_of_forces needs forces: leave potential_only 0");
    if (o->depth < 0 || o->depth > FMM_MAX_DEPTH)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: depth %d; it has to be 0 (chosen) to %d", o->depth, FMM_MAX_DEPTH);
    if (o->leaf < 0) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: leaf %lld is negative", (long long)o->leaf);
    if (o->direct && (o->depth || o->leaf))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: direct sums have no tree: leave depth and leaf 0");
    if (o->threads < 0 || o->threads > MAX_THREADS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: %d threads; there may be 0 (all) to %d", o->threads, MAX_THREADS);
    if ((int)o->objective < YOKE_OBJECTIVE_TIME || (int)o->objective > YOKE_OBJECTIVE_ED2P)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: objective %d is not a yoke_objective", (int)o->objective);
    if (o->check < 0) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: check %lld is negative", (long long)o->check);
    if (!(o->softening >= 0 && o->softening <= DBL_MAX))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: softening %g; it has to be a length, or 0 for none", o->softening);
    if (o->softening > 0 && o->skip_coincident)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "yoke_fmm_create: with a softening particles at the same place act on each other: leave skip_coincident 0");
    if (o->share && !o->devices)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: a share of the near field, but no devices: name them");
    if (o->share && !(*o->share >= 0 && *o->share <= 1))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: share %g; it has to be 0 to 1, or NULL (chosen)", *o->share);
    return YOKE_OK;
}

static yoke_status copy_text(yoke_context *context, const char *text, char **copy)
{
    if (!text) return YOKE_OK;
    yoke_status status = yoke_allocate(context, (int64_t)strlen(text) + 1, 1, copy);
    if (!status) strcpy(*copy, text);
    return status;
}

static int tree_is_given(const yoke_fmm *fmm) { return fmm->options.direct || fmm->options.depth > 0 || fmm->options.leaf > 0; }

static yoke_status tell(void *user, fmm_stage stage, const char *what)
{
    const yoke_fmm *fmm = user;
    char text[128];
    (void)snprintf(text, sizeof text, stage == FMM_STAGE_COSTS ? "measuring %s" : "%s", what);
    if (!fmm->options.progress || !fmm->options.progress(fmm->options.user, text)) return YOKE_OK;
    return yoke_fail(fmm->context, YOKE_ERROR_INTERRUPTED, "interrupted by the program, before: %s", text);
}

static yoke_status create_solver(yoke_fmm *fmm)
{
    const yoke_fmm_options *o = &fmm->options;
    const fmm_solver_options options = {
        .request = {.error = o->error > 0 ? o->error : 1e-3, .of = o->error_of_forces ? FMM_FORCES : FMM_POTENTIALS},
        .order = o->direct      ? 0
                 : o->order > 0 ? o->order
                                : -1,
        .depth = o->direct      ? 0
                 : o->depth > 0 ? o->depth
                                : -1,
        .leaf = o->leaf,
        .remedy = o->skip_coincident ? NULL : "set softening, and they act by a finite potential, or skip_coincident, and they do not",
        .check = o->check,
        .gradient = !o->potential_only,
        .objective = o->objective,
        .store = !fmm->store                  ? ""
                 : strcmp(fmm->store, "none") ? fmm->store
                                              : NULL,
        .declared = fmm->declared,
        .devices = fmm->devices,
        .share = o->share ? &fmm->share : NULL,
        .progress = tell,
        .user = fmm};
    return fmm_solver_create(fmm->context, &options, &fmm->solver);
}

/* Converts a solution to a result. */
static yoke_fmm_result result_of(const fmm_solution *found, int64_t particles)
{
    int failed = 0;
    for (int i = 0; i < found->parts; i++) failed += found->part[i].failed;
    const bool sampled = found->sample.count > 0;
    const fmm_tuned *tuned = found->tuned;
    return (yoke_fmm_result){.particles = particles,
                             .order = found->order < 0 ? 0 : found->order,
                             .depth = found->depth < 0 ? 0 : found->depth,
                             .leaf = found->leaf,
                             .leaves = found->leaves < 0 ? 0 : found->leaves,
                             .tuned = found->chose,
                             .built = found->built,
                             .near_pairs = found->pairs,
                             .far_pairs = found->far_pairs,
                             .predicted_s = tuned ? tuned->choice.predicted.time_s : (double)NAN,
                             .predicted_j = tuned ? tuned->choice.predicted.energy_j : (double)NAN,
                             .tune_s = found->tune_s + (found->chose && tuned->measured_now ? tuned->machine_s : 0),
                             .tree_s = found->tree_s,
                             .near_s = found->near_s,
                             .far_s = found->far_s,
                             .total_energy = NAN,
                             .predicted_potential_error = found->predicted_potential,
                             .predicted_force_error = found->predicted_force,
                             .sampled = found->sample.count,
                             .sampled_potential_error = sampled ? found->sample.potential : (double)NAN,
                             .sampled_force_error = sampled ? found->sample.force : (double)NAN,
                             .tuned_because = fmm_reason_text(found->tree_because),
                             .order_chosen_because = fmm_reason_text(found->order_because),
                             .raised = found->raised,
                             .devices = found->parts,
                             .failed_devices = failed};
}

static void forget_result(yoke_fmm *fmm)
{
    fmm->solution = fmm_solution_none();
    fmm->result = result_of(&fmm->solution, 0);
}

yoke_status yoke_fmm_create_for(int interface_number, yoke_context *context, const yoke_fmm_options *options, yoke_fmm **fmm)
{
    yoke_fmm *created = NULL;
    if (interface_number != YOKE_INTERFACE)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "this program was built for libyoke_fmm %d.%d, and runs with %d.%d: build it again",
                         interface_number / 1000, interface_number % 1000, YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR);
    if (!context || !options || !fmm) return yoke_fail(context, YOKE_ERROR_ARGUMENT, "yoke_fmm_create: context, options or fmm is NULL");
    yoke_status status = check_options(context, options);
    if (!status) status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    created->context = context;
    created->options = *options;
    status = copy_text(context, options->store, &created->store);
    if (!status) status = copy_text(context, options->declared, &created->declared);
    if (!status) status = copy_text(context, options->devices, &created->devices);
    if (options->share) created->share = *options->share;
    if (!status) status = create_solver(created);
    forget_result(created);
    if (status)
        yoke_fmm_destroy(created);
    else
        *fmm = created;
    return status;
}

void yoke_fmm_destroy(yoke_fmm *fmm)
{
    if (!fmm) return;
    fmm_solver_destroy(fmm->solver);
    fmm_particles_destroy(fmm->particles);
    yoke_release(fmm->context, fmm->store);
    yoke_release(fmm->context, fmm->declared);
    yoke_release(fmm->context, fmm->devices);
    yoke_release(fmm->context, fmm);
}

/* ---------------------------------------------------------------------------------------- the particles */

static fmm_change compare(const fmm_particles *a, const fmm_particles *b)
{
    const size_t bytes = (size_t)a->count * sizeof *a->x;
    if (!b || a->count != b->count || memcmp(a->x, b->x, bytes) || memcmp(a->y, b->y, bytes) || memcmp(a->z, b->z, bytes))
        return FMM_NEW_PLACES;
    return memcmp(a->charge, b->charge, bytes) ? FMM_NEW_CHARGES : FMM_NOTHING_NEW;
}

/* After a call that failed, the solver may have a tree of other particles: the next call must not find that nothing has changed. */
static void forget_particles(yoke_fmm *fmm)
{
    fmm_particles_destroy(fmm->particles);
    fmm->particles = NULL;
}

/* Copies the particles for a call of the solver.  *change: difference to the last ones. */
static yoke_status take(yoke_fmm *fmm, const yoke_fmm_particles *given, fmm_change *change)
{
    fmm_particles *particles = NULL;
    forget_result(fmm);
    yoke_status status = fmm_arrays_take(fmm->context, given, &particles);
    if (!status) particles->softening = fmm->options.softening;
    if (status) {
        fmm_particles_destroy(particles);
        return status;
    }
    *change = compare(particles, fmm->particles);
    forget_particles(fmm);
    fmm->particles = particles;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ calls */

/*
 * Sets the number of threads, unless it is 0.  Returns the previous number.  Within a parallel region of the caller OpenMP gives one
 * thread, unless nested regions are allowed; this number is set too, so that costs are measured and stored for it.
 */
static int use_threads(int threads)
{
    const int before = omp_get_max_threads();
    if (omp_get_active_level() >= omp_get_max_active_levels()) threads = 1;
    if (threads > 0) omp_set_num_threads(threads);
    return before;
}

yoke_status yoke_fmm_tune(yoke_fmm *fmm, const yoke_fmm_particles *particles)
{
    fmm_change change;
    if (!fmm) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_tune: fmm is NULL: make one with yoke_fmm_create");
    int before = use_threads(fmm->options.threads);
    yoke_status status = take(fmm, particles, &change);
    if (!status) status = fmm_solver_choose(fmm->solver, fmm->particles, &fmm->solution);
    if (!status) fmm->result = result_of(&fmm->solution, fmm->particles->count);
    if (status) forget_particles(fmm);
    omp_set_num_threads(before);
    return status;
}

static yoke_status compute(yoke_fmm *fmm, fmm_change change, const yoke_fmm_field *wanted)
{
    fmm_field *field = NULL;
    yoke_status status = fmm_field_create(fmm->context, fmm->particles->count, !fmm->options.potential_only, &field);
    if (!status) status = fmm_solver_run(fmm->solver, fmm->particles, change, field, &fmm->solution);
    if (!status) {
        fmm->result = result_of(&fmm->solution, fmm->particles->count);
        fmm->result.total_energy = fmm_field_energy(fmm->particles, field);
        fmm_arrays_give(field, wanted);
    }
    fmm_field_destroy(field);
    return status;
}

yoke_status yoke_fmm_run(yoke_fmm *fmm, const yoke_fmm_particles *particles, const yoke_fmm_field *wanted)
{
    fmm_change change;
    if (!fmm) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_run: fmm is NULL: make one with yoke_fmm_create");
    yoke_status status = fmm_arrays_check(fmm->context, wanted, !fmm->options.potential_only);
    if (status) return status;
    int before = use_threads(fmm->options.threads);
    status = take(fmm, particles, &change);
    if (!status) status = compute(fmm, change, wanted);
    if (status) forget_particles(fmm);
    omp_set_num_threads(before);
    return status;
}

yoke_status yoke_fmm_get_result(const yoke_fmm *fmm, yoke_fmm_result *result)
{
    if (!fmm || !result) return yoke_fail(fmm ? fmm->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_get_result: fmm or result is NULL");
    *result = fmm->result;
    return YOKE_OK;
}

/* A text for the case that no trees were compared. */
static const char *why_no_trees(const yoke_fmm *fmm)
{
    if (tree_is_given(fmm)) return "the options give the tree\n";
    return fmm->result.particles > 0 ? "few particles: all pairs are summed\n" : "no tree is chosen yet\n";
}

yoke_status yoke_fmm_explain(const yoke_fmm *fmm, char **text)
{
    char *made = NULL, *both = NULL;
    if (!fmm || !text) return yoke_fail(fmm ? fmm->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_fmm_explain: fmm or text is NULL");
    yoke_status status = fmm_solver_explain(fmm->solver, &fmm->solution, &made);
    const char *first = fmm_solver_tuned(fmm->solver) ? "" : why_no_trees(fmm);
    if (!status) status = yoke_allocate(fmm->context, (int64_t)(strlen(first) + strlen(made)) + 1, 1, &both);
    if (!status) {
        strcpy(both, first);
        strcat(both, made);
        *text = both;
    }
    yoke_release(fmm->context, made);
    return status;
}
