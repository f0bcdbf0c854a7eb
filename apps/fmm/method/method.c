#include "method/method.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "method/parts.h"
#include "particles/coincident.h"

/* --------------------------------------------------------------------------------------------------- create */

int fmm_method_deepest(const fmm_box *box, double softening)
{
    int depth = 1;
    while (depth < FMM_MAX_DEPTH && ldexp(box->side, -depth - 1) >= softening) depth++;
    return depth;
}

/* The depth that the options set.  In adaptive trees it is limited so that no leaf is smaller than the softening. */
static yoke_status limit_depth(const fmm_method *m, const fmm_particles *particles, const fmm_box *box, double softening,
                               const fmm_method_options *o, int *depth)
{
    const int deepest = fmm_method_deepest(box, softening);
    *depth = o->cells ? fmm_depth_of_cells(o->cells) : o->depth;
    if (o->capacity && *depth > deepest) *depth = deepest;
    if (*depth <= deepest || *depth > FMM_MAX_DEPTH) return YOKE_OK;
    return yoke_fail(
        m->context, YOKE_ERROR_INPUT,
        "a tree of depth %d has leaves with edges of %.3g, shorter than the softening of %g: take a depth of at most %d, or leave "
        "the choice to yoke",
        *depth, ldexp(box->side, m->scale.length - *depth), particles->softening, deepest);
}

/* Divides the tree that was given into levels, or creates a tree. */
static yoke_status divide(fmm_method *m, const fmm_particles *particles, const fmm_method_options *o)
{
    const fmm_box box = m->tree ? m->tree->box : fmm_box_scaled(particles, o->capacity ? 0 : o->cells);
    const double softening = ldexp(particles->softening, -box.length);
    int depth;
    m->scale.length = box.length;
    yoke_status status = fmm_scale_check_softening(particles, softening);
    if (!status) status = limit_depth(m, particles, &box, softening, o, &depth);
    if (status) return status;
    if (m->tree) return fmm_tree_divide(m->tree, depth, o->capacity);
    if (o->capacity) return fmm_tree_create_adaptive(particles, box, depth, o->capacity, &m->tree);
    return fmm_tree_create(particles, box, depth, &m->tree);
}

/* Copies the positions into the tree's order and converts them to its units. */
static void sort_positions(const fmm_method *m, const fmm_particles *particles)
{
    const fmm_power unit = fmm_power_of(-m->scale.length);
    const double *const from[3] = {particles->x, particles->y, particles->z};
    double *const to[3] = {m->sorted->x, m->sorted->y, m->sorted->z};
    for (int c = 0; c < 3; c++) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < m->tree->count; i++) to[c][i] = fmm_scale_coordinate(from[c][m->tree->order[i]], unit);
    }
    m->sorted->softening = fmm_times(particles->softening, unit);
}

/* Creates the tree, the particles in its order, and the field of the sums. */
static yoke_status create_tree(fmm_method *m, const fmm_particles *particles, const fmm_method_options *options)
{
    m->tree = options->tree;
    yoke_status status = divide(m, particles, options);
    if (!status) status = fmm_particles_create_unplaced(m->context, particles->count, &m->sorted);
    if (!status) sort_positions(m, particles);
    if (!status) status = fmm_field_create(m->context, particles->count, options->gradient, &m->sum);
    return status;
}

/* The maximum number of particles of the cells of W and X that are summed directly. */
static int32_t limit_of_direct(const fmm_method_options *options)
{
    const int order = options->order ? *options->order : 0;
    const int64_t limit = options->direct < 0 ? fmm_method_direct(order, options->gradient) : options->direct;
    return limit < INT32_MAX ? (int32_t)limit : INT32_MAX;
}

/* The stored multipole expansions have at least the order `held`. */
static yoke_status create_operators(fmm_method *m, int order, int held)
{
    m->order = order;
    m->held = (fmm_held){.multipole = held > order ? held : order, .local = order};
    return fmm_operators_create_within(m->context, order, m->held, &m->operators);
}

static void destroy_operators(fmm_method *m)
{
    fmm_waves_forget(m);
    fmm_operators_destroy(m->operators);
    m->operators = NULL;
    m->order = 0;
}

/* The end of the group that begins with cell `first` of a level: it consists of as many whole families as fit into FMM_MAX_TARGETS
 * cells. */
static int32_t end_of_group(const fmm_level *above, const fmm_level *cells, int32_t first)
{
    int64_t limit = (int64_t)first + FMM_MAX_TARGETS;
    if (limit >= cells->count) return (int32_t)cells->count;
    return above->child[cells->parent[limit]]; /* the beginning of the first family that does not fit */
}

/* The size of groups is limited by the number of children, not of parents: parents have one to eight, and in adaptive trees many cells
 * have none. */
static yoke_status create_groups(fmm_method *m)
{
    yoke_status status = YOKE_OK;
    int64_t room = 0;
    m->groups = 0;
    for (int l = m->tree->depth; l >= FMM_FAR_LEVEL; l--) {
        const fmm_level *above = &m->tree->level[l - 1], *cells = &m->tree->level[l];
        m->first_group[l] = m->groups;
        for (int32_t first = 0, last; first < cells->count && !status; first = last) {
            last = end_of_group(above, cells, first);
            status = yoke_grow(m->context, &m->group, m->groups, &room, 64, sizeof *m->group);
            if (!status) m->group[m->groups++] = (fmm_siblings){l, first, last, cells->particle[first]};
        }
    }
    m->first_group[FMM_FAR_LEVEL - 1] = m->groups;
    if (!status) return YOKE_OK;
    yoke_release(m->context, m->group);
    m->group = NULL;
    return status;
}

/* The number of cells that have expansions. */
static int64_t expanded_cells(const fmm_method *m)
{
    int64_t cells = 0;
    for (int l = FMM_FAR_LEVEL; l <= m->tree->depth; l++) cells += m->tree->level[l].count;
    return cells;
}

static void get_expansions(fmm_method *m, double *const *expansions, int64_t stride)
{
    double *const all = expansions[FMM_FAR_LEVEL];
    if (all && m->memory) fmm_pages_get(all, (size_t)(expanded_cells(m) * stride) * sizeof *all, m->memory);
}

void fmm_method_get_memory(fmm_method *m)
{
    get_expansions(m, m->multipole, m->stride);
    get_expansions(m, m->local, m->local_stride);
    if (m->family_waves && m->memory) fmm_pages_get(m->family_waves, (size_t)m->waves_size * sizeof *m->family_waves, m->memory);
}

static void destroy_expansions(fmm_method *m, double **expansions)
{
    yoke_release(m->context, expansions[FMM_FAR_LEVEL]);
    for (int l = FMM_FAR_LEVEL; l <= FMM_MAX_DEPTH; l++) expansions[l] = NULL;
}

/* Allocates the expansions of all levels as one block.  New memory for many small blocks takes up to several times as long. */
static yoke_status create_expansions(fmm_method *m, int64_t stride, double **expansions)
{
    if (m->tree->depth < FMM_FAR_LEVEL) return YOKE_OK;
    yoke_status status = fmm_allocate_large(m->context, expanded_cells(m), (size_t)stride * sizeof(double), &expansions[FMM_FAR_LEVEL]);
    for (int l = FMM_FAR_LEVEL; l < m->tree->depth && !status; l++) expansions[l + 1] = expansions[l] + m->tree->level[l].count * stride;
    return status;
}

/* Allocates the local expansions unless they have the right size.  They have no contents that must be kept between runs. */
static yoke_status have_locals(fmm_method *m)
{
    const int64_t stride = fmm_stride(m->order);
    if (m->local[FMM_FAR_LEVEL] && m->local_stride == stride) return YOKE_OK;
    destroy_expansions(m, m->local);
    m->local_stride = stride;
    return create_expansions(m, stride, m->local);
}

/* Creates what a far field needs.  The multipole expansions of fmm_method_expand are kept if they have all degrees that the order needs. */
static yoke_status create_far(fmm_method *m, int order)
{
    const int expanded = m->is_expanded ? m->held.multipole : -1;
    yoke_status status = m->far ? YOKE_OK : fmm_field_create(m->context, m->tree->count, m->sum->gx != NULL, &m->far);
    if (!status) status = create_operators(m, order, expanded);
    if (!status && !m->group) status = create_groups(m);
    if (status || m->order > expanded) {
        m->is_expanded = false;
        m->stride = fmm_stride(m->held.multipole);
        destroy_expansions(m, m->multipole);
        if (!status) status = create_expansions(m, m->stride, m->multipole);
    }
    return status ? status : have_locals(m);
}

yoke_status fmm_method_set_order(fmm_method *m, int order)
{
    destroy_operators(m);
    if (order < 0 || order > FMM_MAX_ORDER) /* also in trees without a far field */
        return yoke_fail(m->context, YOKE_ERROR_ARGUMENT, "order %d of expansions: give 0 to %d", order, FMM_MAX_ORDER);
    if (m->tree->depth < FMM_FAR_LEVEL) return YOKE_OK;
    yoke_status status = create_far(m, order);
    if (status) destroy_operators(m);
    return status;
}

static double lap(const fmm_method *m, double *since_s)
{
    const double clock_s = fmm_clock_now_s(m->clock), past_s = clock_s - *since_s;
    *since_s = clock_s;
    return past_s;
}

yoke_status fmm_method_create(const fmm_particles *particles, const fmm_method_options *options, fmm_method **method)
{
    fmm_method *m = NULL;
    yoke_status status = yoke_allocate(particles->context, 1, sizeof *m, &m);
    if (status) {
        fmm_tree_destroy(options->tree);
        return status;
    }
    m->context = particles->context;
    m->clock = options->clock;
    m->memory = options->memory;
    m->stop = options->stop;
    double clock_s = fmm_clock_now_s(m->clock);
    status = create_tree(m, particles, options);
    if (!status) m->tree->direct = limit_of_direct(options);
    if (!status) status = fmm_leaf_lists_create(m->tree, &m->near, &m->w);
    if (!status) status = fmm_x_list_create(m->tree, &m->w, &m->x);
    if (!status) status = fmm_near_plan(m);
    if (!status && options->order) status = fmm_method_set_order(m, *options->order);
    m->tree_s = lap(m, &clock_s);
    if (status)
        fmm_method_destroy(m);
    else
        *method = m;
    return status;
}

void fmm_method_destroy(fmm_method *m)
{
    if (!m) return;
    yoke_context *context = m->context;
    destroy_expansions(m, m->multipole);
    destroy_expansions(m, m->local);
    yoke_release(context, m->group);
    destroy_operators(m);
    if (m->tree) fmm_near_list_destroy(m->tree, &m->near);
    if (m->tree) fmm_w_list_destroy(m->tree, &m->w);
    if (m->tree) fmm_x_list_destroy(m->tree, &m->x);
    fmm_rounded_destroy(m);
    yoke_release(context, m->around);
    yoke_release(context, m->is_large);
    yoke_release(context, m->slice);
    yoke_release(context, m->block);
    fmm_field_destroy(m->sum);
    fmm_field_destroy(m->far);
    fmm_particles_destroy(m->sorted);
    fmm_tree_destroy(m->tree);
    yoke_release(context, m);
}

int64_t fmm_method_direct(int order, int gradient)
{
    /* For each particle of a leaf, M2P and P2L take as long as this number of pairs in double precision: fitted to measurements with
     * AVX-512, leaves of 50 particles and p up to 30, within 10 %. */
    const double p = order, pairs = gradient ? 12 + 1.3 * p + 0.31 * p * p : 16 + 1.3 * p + 0.45 * p * p;
    /* With twice this number, runs take as long within 5 %, or less: finding cells takes time too, and pairs may be in single precision. */
    return (int64_t)(2 * pairs);
}

void fmm_method_set_single(fmm_method *m, bool single)
{
    if (m->wants_single == single) return;
    m->wants_single = single;
    m->near_is_known = false;
}

bool fmm_method_is_single(const fmm_method *m) { return m->is_single; }

bool fmm_method_may_coincide(const fmm_method *m) { return fmm_tree_may_coincide(m->tree, m->sorted); }

const fmm_tree *fmm_method_tree(const fmm_method *m) { return m->tree; }
fmm_method_pairs fmm_method_count(const fmm_method *m) { return m->pairs; }

/* ------------------------------------------------------------------------------------------------------ run */

void fmm_workers_destroy(fmm_method *m, int threads, fmm_worker *workers)
{
    for (int t = 0; t < threads && workers; t++) yoke_release(m->context, workers[t].work);
    yoke_release(m->context, workers);
}

yoke_status fmm_workers_create(fmm_method *m, int threads, fmm_worker **workers)
{
    const size_t rotations = fmm_translation_work(m->operators), waves = m->wave_tables ? fmm_waves_work(m->wave_tables) : 0;
    const int64_t size = (int64_t)(waves > rotations ? waves : rotations);
    yoke_status status = yoke_allocate_untouched(m->context, threads, sizeof **workers, workers);
    if (status) return status;
    for (int t = 0; t < threads; t++) (*workers)[t].work = NULL;
    for (int t = 0; t < threads && !status; t++)
        status = yoke_allocate_untouched(m->context, size, sizeof *(*workers)[t].work, &(*workers)[t].work);
    return status;
}

void fmm_add_far(fmm_method *m, int threads, fmm_worker *workers, fmm_method_seconds *seconds)
{
    double clock_s = fmm_clock_now_s(m->clock);
    if (!m->is_expanded) fmm_pass_upward(m, threads, workers);
    seconds->upward = lap(m, &clock_s) + fmm_method_saved_s(m);
    m->is_expanded = false; /* only one run uses them, so that the next one measures their time */
    m->pairs.far = fmm_pass_between(m, threads, workers);
    m->pairs.far += fmm_pass_waves(m, threads, workers);
    seconds->between = lap(m, &clock_s);
    fmm_pass_downward(m, threads, workers);
    seconds->downward = lap(m, &clock_s);
}

/* Whether the sorted charges, which the multipole expansions belong to, equal `charge` (scaled, in the order of the given particles). */
static bool are_of(const fmm_method *m, int exponent, const double *charge)
{
    bool same = exponent == m->scale.charge;
#pragma omp parallel for schedule(static) reduction(&& : same)
    for (int64_t i = 0; i < m->tree->count; i++) same = same && m->sorted->charge[i] == charge[m->tree->order[i]];
    return same;
}

/* Scales the charges and sorts them into the tree's order. */
static yoke_status sort_charges(fmm_method *m, const double *charge)
{
    int exponent;
    m->near_is_known = false; /* m->sum->potential holds the scaled charges for a while */
    yoke_status status = fmm_scale_charges(m->context, m->tree->count, charge, &exponent, m->sum->potential);
    if (status || (m->is_expanded && are_of(m, exponent, m->sum->potential))) return status;
    m->is_expanded = false;
    m->scale.charge = exponent;
    fmm_tree_sort(m->tree, m->sum->potential, m->sorted->charge);
    return YOKE_OK;
}

static fmm_expanded expanded_of(const fmm_method *m, int order)
{
    return (fmm_expanded){.tree = m->tree,
                          .particles = m->sorted,
                          .operators = m->operators,
                          .order = order,
                          .stride = m->stride,
                          .multipole = (double *const *)m->multipole,
                          .w = &m->w};
}

yoke_status fmm_method_sort_charges(fmm_method *m, const double *charge, fmm_expanded *expanded)
{
    yoke_status status = sort_charges(m, charge);
    if (!status) *expanded = expanded_of(m, -1);
    return status;
}

yoke_status fmm_method_expand(fmm_method *m, int order, fmm_expanded *expanded)
{
    int threads = omp_get_max_threads();
    fmm_worker *workers = NULL;
    m->is_expanded = false;
    yoke_status status = fmm_method_set_order(m, order);
    if (!status && m->operators) {
        status = fmm_workers_create(m, threads, &workers);
        get_expansions(m, m->multipole, m->stride);
        double clock_s = fmm_clock_now_s(m->clock);
        if (!status) fmm_pass_upward(m, threads, workers);
        m->expanded_s = lap(m, &clock_s);
        if (!status && fmm_stops(m->stop)) status = m->stop->fail(m->stop->user);
        m->is_expanded = !status;
        fmm_workers_destroy(m, threads, workers);
    }
    if (!status) *expanded = expanded_of(m, order);
    return status;
}

double fmm_method_saved_s(const fmm_method *m)
{
    return m->is_expanded ? m->expanded_s * fmm_harmonics(m->order) / fmm_harmonics(m->held.multipole) : 0;
}

static yoke_status check_field(const fmm_method *m, const fmm_field *field)
{
    if (field->count != m->tree->count || !field->gx != !m->sum->gx)
        return yoke_fail(m->context, YOKE_ERROR_ARGUMENT, "a field of %lld particles %s gradients, where the method has %lld %s them",
                         (long long)field->count, field->gx ? "with" : "without", (long long)m->tree->count,
                         m->sum->gx ? "with" : "without");
    if (!m->operators && m->tree->depth >= FMM_FAR_LEVEL)
        return yoke_fail(m->context, YOKE_ERROR_ARGUMENT, "no order was set: call fmm_method_set_order before a run");
    return YOKE_OK;
}

/* Whether single precision can represent the scaled charges, the largest of which is between 1/2 and 1, and there is no softening. */
static bool fits_single(const fmm_method *m)
{
    static const double least = 0x1p-60;
    const double *charge = m->sorted->charge;
    bool fits = m->sorted->softening == 0;
#pragma omp parallel for schedule(static) reduction(&& : fits)
    for (int64_t i = 0; i < m->tree->count; i++) fits = fits && (charge[i] == 0 || fabs(charge[i]) >= least);
    return fits;
}

yoke_status fmm_method_begin(fmm_method *m, const double *charge, const fmm_field *field)
{
    yoke_status status = check_field(m, field);
    if (!status) status = sort_charges(m, charge);
    if (status) return status;
    m->is_single = m->wants_single && fits_single(m);
    if (m->is_single) status = fmm_rounded_create(m);
    if (!status) fmm_field_set_to_zero(m->sum);
    return status;
}

/* Adds the near and the far field, in the order in which the particles were given. */
static void restore(const fmm_method *m, const double *near, const double *far, double *values)
{
    const int32_t *order = m->tree->order;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->tree->count; i++) values[order[i]] = near[i] + far[i];
}

yoke_status fmm_method_finish(fmm_method *m, const double *charge, fmm_field *field)
{
    if (fmm_stops(m->stop)) return m->stop->fail(m->stop->user);
    yoke_status status = m->near_is_known ? YOKE_OK : fmm_coincident_add(m->sorted, m->sorted->count, NULL, m->sum->potential);
    if (status) return status;
    double *const near[4] = {m->sum->potential, m->sum->gx, m->sum->gy, m->sum->gz};
    double *const values[4] = {field->potential, field->gx, field->gy, field->gz};
    const bool both = fmm_has_far(m);
    double *const far[4] = {both ? m->far->potential : NULL, both ? m->far->gx : NULL, both ? m->far->gy : NULL, both ? m->far->gz : NULL};
    for (int c = 0; c < 4 && values[c]; c++)
        if (both)
            restore(m, near[c], far[c], values[c]);
        else
            fmm_tree_restore(m->tree, near[c], values[c]);
    m->near_is_known = true;
    return fmm_scale_field(charge, NULL, m->scale, field);
}

/* Computes the far field, on the host's cores. */
static yoke_status add_far(fmm_method *m, fmm_method_seconds *seconds)
{
    int threads = omp_get_max_threads();
    fmm_worker *workers = NULL;
    if (!fmm_has_far(m)) return YOKE_OK;
    yoke_status status = fmm_workers_create(m, threads, &workers);
    if (!status) fmm_add_far(m, threads, workers, seconds);
    fmm_workers_destroy(m, threads, workers);
    return status;
}

/* Computes the near field, and adds it to the far field that was computed before. */
static yoke_status add_near(fmm_method *m, const double *charge, fmm_field *field, double *seconds)
{
    double clock_s = fmm_clock_now_s(m->clock);
    fmm_pass_near(m, omp_get_max_threads(), 0, m->tree->leaves.count);
    yoke_status status = fmm_method_finish(m, charge, field);
    *seconds = lap(m, &clock_s);
    return status;
}

yoke_status fmm_method_run(fmm_method *m, const double *charge, fmm_field *field, fmm_method_seconds *seconds)
{
    fmm_method_seconds taken = {.tree = m->tree_s};
    yoke_status status = fmm_method_begin(m, charge, field);
    if (!status) status = add_far(m, &taken);
    if (!status) status = add_near(m, charge, field, &taken.near);
    if (seconds && !status) *seconds = taken;
    return status;
}

yoke_status fmm_method_run_near(fmm_method *m, const double *charge, fmm_field *field, double *seconds)
{
    yoke_status status = fmm_method_begin(m, charge, field);
    return status ? status : add_near(m, charge, field, seconds);
}

yoke_status fmm_method_run_far(fmm_method *m, const double *charge, fmm_field *field, fmm_method_seconds *seconds)
{
    fmm_method_seconds taken = {.tree = m->tree_s};
    yoke_status status = check_field(m, field);
    if (!status && !m->near_is_known)
        return yoke_fail(m->context, YOKE_ERROR_ARGUMENT, "there is no run whose near field could be kept: call fmm_method_run");
    if (!status) status = add_far(m, &taken);
    if (status) return status;
    double clock_s = fmm_clock_now_s(m->clock);
    status = fmm_method_finish(m, charge, field);
    taken.near = lap(m, &clock_s);
    if (seconds && !status) *seconds = taken;
    return status;
}
