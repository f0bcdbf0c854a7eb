#include "tune/shares.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tune/counts/analysis.h"

/* If the far field of a tree takes more than `hopeless` times as long as the best tree on the host alone, nothing is measured for that
 * tree. */
static const double hopeless = 4, rounding = 1e-9;

typedef struct choosing {
    yoke_context *context;
    const fmm_shares_options *options;
    const fmm_machine *machine;
    int64_t particles;
    fmm_choice *choice;
    const yoke_run_device *devices;
    int64_t num_devices;
    int host, trees;
    bool simulated;
    /* works are measured again although their times are known, because the run lacks other data, such as powers */
    bool anew;
    fmm_bench *bench;          /* NULL until it is needed */
    fmm_shared_rounds *rounds; /* [trees] */
    yoke_round *all;           /* rounds of all trees */
} choosing;

/* -------------------------------------------------------------------------------------------------------- hosts */

yoke_status fmm_shares_host(yoke_run *run, fmm_host_kind *kind)
{
    const yoke_run_device *devices;
    int64_t count = 0;
    yoke_status status = yoke_run_devices(run, &devices, &count);
    if (status) return status;
    const int host = fmm_shared_host(devices, count);
    *kind = host < 0 ? FMM_HOST_NONE : strcmp(devices[host].info->kind, "sim") ? FMM_HOST_CORES : FMM_HOST_SIMULATED;
    return YOKE_OK;
}

void fmm_machine_count_work(fmm_machine *machine)
{
    *machine = (fmm_machine){.in_double = {.large = 1}};
    for (int part = 0; part < FMM_TIMED_PARTS; part++) machine->factor[part] = (fmm_factor){.value = 1};
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) machine->in_double.near[n] = n;
    fmm_machine_take_single(machine, 0);
    for (int p = 0; p <= FMM_MAX_ORDER; p++) {
        const double square = (double)(p + 1) * (p + 1);
        machine->pair[p] = square * (p + 1);
        machine->cell[p] = 2 * square * (p + 1); /* M2M and L2L */
        machine->particle[p] = 2 * square;       /* P2M and L2P */
        machine->visited[p] = 2 * square;        /* M2P and P2L */
    }
}

static yoke_status get_devices(choosing *c)
{
    yoke_status status = yoke_run_devices(c->options->run, &c->devices, &c->num_devices);
    if (status) return status;
    c->host = fmm_shared_host(c->devices, c->num_devices);
    if (c->host < 0) return yoke_fail(c->context, YOKE_ERROR_UNAVAILABLE, "no host is left that does the far field");
    c->simulated = !strcmp(c->devices[c->host].info->kind, "sim");
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------------------------- units */

/* Time of a pair in leaves of this size. */
static double pair_of(const fmm_machine *machine, int leaf)
{
    return leaf <= FMM_SMALL_LEAF ? machine->pairs.near[leaf] / leaf : machine->pairs.large;
}

/* Time of a unit of the far field. */
static double far_unit_of(const fmm_machine *machine, int order)
{
    const double p = order + 1;
    return (machine->pair[order] + machine->batch[order] / fmm_bench_batch(FMM_PAIR, order)) / (p * p * p);
}

static fmm_shared_work work_of(const fmm_machine *machine, const fmm_depth *tree, const fmm_seconds *seconds)
{
    fmm_shared_work work = {.leaf = fmm_shared_leaf_size(tree->leaf_particles), .order = tree->order};
    work.near_units = seconds->near / pair_of(machine, work.leaf);
    work.far_units = seconds->far / far_unit_of(machine, tree->order);
    return work;
}

/* ---------------------------------------------------------------------------------------------------- measuring */

/* Nonzero: for some active device of this kind the work was never measured. */
static int is_unknown(const choosing *c, const char *work, yoke_run_use use)
{
    yoke_prediction call;
    for (int i = 0; i < c->num_devices; i++) {
        const yoke_run_device *d = &c->devices[i];
        if (!d->active || use == (d->accelerator ? YOKE_RUN_HOSTS : YOKE_RUN_ACCELERATORS)) continue;
        if (fmm_shared_rests(c->options->run, c->devices, i, work, 1)) continue;
        if (yoke_run_predict(c->options->run, work, i, 1, NAN, 0, &call) != YOKE_OK) return 1;
    }
    return 0;
}

/* Measures works on a full cube with `each` particles in a leaf.  waves: levels with plane waves, of this set. */
static yoke_status measure_cube(choosing *c, int depth, int each, const fmm_shared_work *work, int order, uint64_t waves, int set,
                                int parts, const char *what)
{
    const fmm_shared_options options = {.work = *work};
    fmm_bench_cube cube;
    fmm_shared *shared = NULL;
    yoke_status status = c->options->progress ? c->options->progress(c->options->user, what) : YOKE_OK;
    if (!status && !c->bench) status = fmm_bench_create(c->context, c->options->gradient, NULL, &c->bench);
    if (!status) status = fmm_bench_make_cube(c->bench, depth, each, &cube);
    if (!status) status = fmm_method_set_order(cube.method, order);
    if (!status) status = fmm_method_set_waves(cube.method, waves, set);
    if (!status) status = fmm_shared_create(cube.method, c->options->run, &options, &shared);
    if (!status) status = fmm_shared_measure(shared, cube.particles->charge, cube.field, parts);
    fmm_shared_destroy(shared);
    return status ? status : get_devices(c);
}

static yoke_status know_near(choosing *c, int leaf)
{
    enum { LARGE = 64, SMALL = 8 };
    static const fmm_shared_work by_tree = {0};
    char name[FMM_SHARED_NAME];
    int parts = 0;
    fmm_shared_near_name(leaf, c->options->gradient, name);
    if (c->anew || is_unknown(c, name, YOKE_RUN_ANY)) parts |= FMM_SHARED_NEAR;
    if (c->anew || is_unknown(c, fmm_shared_places_name(), YOKE_RUN_ACCELERATORS) ||
        is_unknown(c, fmm_shared_results_name(c->options->gradient), YOKE_RUN_ANY))
        parts |= FMM_SHARED_COPIES;
    return parts ? measure_cube(c, leaf >= LARGE ? 3 : leaf > SMALL ? 4 : 5, leaf, &by_tree, 0, 0, 0, parts, name) : YOKE_OK;
}

/* Measures the far field, unless it is known, on a cube whose cells have about as many far pairs as those of large trees. */
static yoke_status know_far(choosing *c, int order)
{
    enum { DEPTH = 4, EACH = 8 };
    char name[FMM_SHARED_NAME];
    fmm_bench_cube cube;
    fmm_analysis *analysis = NULL;
    fmm_depth tree;
    fmm_shared_far_name(order, c->options->gradient, name);
    if (!c->anew && !is_unknown(c, name, YOKE_RUN_HOSTS)) return YOKE_OK;
    yoke_status status = c->bench ? YOKE_OK : fmm_bench_create(c->context, c->options->gradient, NULL, &c->bench);
    if (!status) status = fmm_bench_make_cube(c->bench, DEPTH, EACH, &cube);
    if (!status) status = fmm_analysis_create(cube.particles, DEPTH, &analysis);
    if (status) return status;
    fmm_depth_predict(c->machine, analysis, DEPTH, order, c->options->gradient, &tree);
    fmm_analysis_destroy(analysis);
    const fmm_shared_work work = work_of(c->machine, &tree, &tree.predicted);
    return measure_cube(c, DEPTH, EACH, &work, order, tree.waves, fmm_set_of(c->machine, order), FMM_SHARED_FAR, name);
}

static bool is_hopeless(const choosing *c, const fmm_depth *tree)
{
    double best_s = INFINITY;
    for (int r = 0; r < c->trees; r++) best_s = fmin(best_s, fmm_choice_tree(c->choice, r)->predicted.total);
    return tree->predicted.far > hopeless * best_s;
}

/* Measures the missing works of all trees that are not hopeless.  Large leaves come first, because powers are measured best with them. */
static yoke_status know_all(choosing *c)
{
    const int *sizes, count = fmm_shared_leaf_sizes(&sizes);
    const double begin_s = yoke_clock_s();
    yoke_status status = YOKE_OK;
    for (int k = count - 1; k >= 0 && !status; k--) {
        bool wanted = false;
        for (int r = 0; r < c->trees && !wanted; r++) {
            const fmm_depth *tree = fmm_choice_tree(c->choice, r);
            wanted = !is_hopeless(c, tree) && fmm_shared_leaf_size(tree->leaf_particles) == sizes[k];
        }
        if (wanted) status = know_near(c, sizes[k]);
    }
    if (!status) status = know_far(c, fmm_choice_tree(c->choice, 0)->order);
    *c->options->measured_s += yoke_clock_s() - begin_s;
    return status;
}

/* ----------------------------------------------------------------------------------------------------- planning */

/* If the tree's size of leaves was not measured, because the tree is hopeless, the next larger measured size is used. */
static void use_known_leaf(const choosing *c, fmm_depth *tree, const fmm_seconds *seconds)
{
    const int *sizes, count = fmm_shared_leaf_sizes(&sizes);
    char name[FMM_SHARED_NAME];
    for (int k = 0; k < count; k++) {
        if (sizes[k] < tree->work.leaf) continue;
        fmm_shared_near_name(sizes[k], c->options->gradient, name);
        if (is_unknown(c, name, YOKE_RUN_ANY)) continue;
        tree->work.leaf = sizes[k];
        tree->work.near_units = seconds->near / pair_of(c->machine, sizes[k]);
        return;
    }
}

/* Makes the rounds of a tree.  tree->predicted: seconds on the host alone. */
static yoke_status make_rounds(choosing *c, fmm_depth *tree, fmm_shared_rounds *rounds)
{
    enum { MOST_BLOCKS = 4096 }; /* parts of the leaves; more would not make shares more accurate */
    const fmm_seconds seconds = tree->predicted;
    tree->work = work_of(c->machine, tree, &seconds);
    use_known_leaf(c, tree, &seconds);
    const fmm_shared_demand demand = {.work = tree->work,
                                      .gradient = c->options->gradient,
                                      .particles = c->particles,
                                      .leaves = tree->leaves < MOST_BLOCKS ? tree->leaves : MOST_BLOCKS,
                                      .before_s = c->simulated ? 0 : seconds.tree};
    return fmm_shared_make_rounds(c->context, c->devices, c->num_devices, c->options->share, &demand, rounds);
}

/* Whether the run still lacks data, so that it took a round only to learn from it. */
static bool learns(const yoke_assignment *of)
{
    return isnan(of->predicted.time_s) || of->decision == YOKE_RUN_STARTED || of->decision == YOKE_RUN_EXPLORED;
}

/* Stores the run's prediction for a tree alone, and its shares and frequencies. */
static void keep(const choosing *c, const yoke_assignment *of, fmm_depth *tree)
{
    char name[FMM_SHARED_NAME];
    yoke_prediction far = {.seconds = 0};
    const int64_t all = of->first[0][of->num_devices];
    fmm_shared_far_name(tree->work.order, c->options->gradient, name);
    if (tree->work.far_units > 0 &&
        yoke_run_predict(c->options->run, name, c->host, tree->work.far_units, of->frequency_hz[c->host], 0, &far) != YOKE_OK)
        far.seconds = NAN;
    if (c->simulated) tree->predicted.tree = 0;
    tree->predicted.far = far.seconds;
    tree->predicted.total = of->predicted.time_s;
    tree->predicted.near = of->predicted.time_s - tree->predicted.tree - far.seconds;
    if (tree->predicted.near < rounding * tree->predicted.total) tree->predicted.near = 0;
    tree->predicted_j = of->predicted.energy_j;
    tree->devices = (int)of->num_devices;
    for (int i = 0; i < of->num_devices; i++) {
        tree->part[i] = all > 0 ? (double)(of->first[0][i + 1] - of->first[0][i]) / (double)all : 0;
        tree->frequency_hz[i] = of->frequency_hz[i];
    }
}

/* The number of the tree with the least predicted time. */
static int fastest(const choosing *c)
{
    int best = 0;
    for (int r = 1; r < c->trees; r++)
        if (fmm_choice_tree(c->choice, r)->predicted.total < fmm_choice_tree(c->choice, best)->predicted.total) best = r;
    return best;
}

/* Chooses the best of all rounds.  They are listed from the last tree to the first.  Of equal rounds the last one is taken, so a uniform
 * tree is preferred to an adaptive one. */
static yoke_status take_best(choosing *c, bool *learned)
{
    const yoke_assignment *of = NULL;
    int count = 0, before = 0, best = fastest(c);
    for (int r = c->trees - 1; r >= 0; r--)
        for (int k = 0; k < c->rounds[r].count; k++) c->all[count++] = c->rounds[r].rounds[k];
    yoke_status status = yoke_run_plan(c->options->run, c->all, count, &of);
    if (status) return status;
    *learned = !learns(of);
    for (int r = c->trees - 1; r >= 0 && *learned; before += c->rounds[r--].count)
        if (of->round >= before && of->round < before + c->rounds[r].count) best = r;
    fmm_choice_take(c->choice, best);
    const fmm_depth *chosen = fmm_chosen(c->choice);
    c->choice->predicted = *learned ? of->predicted : (yoke_cost){chosen->devices ? chosen->predicted.total : NAN, NAN, NAN, NAN, NAN};
    return YOKE_OK;
}

/* Measures the idle powers of the devices, if they are needed: the first plan that uses powers does this. */
static yoke_status rest(choosing *c)
{
    const yoke_assignment *of = NULL;
    const double begin_s = yoke_clock_s();
    if (!c->options->rests) return YOKE_OK;
    yoke_status status = yoke_run_plan(c->options->run, c->rounds[0].rounds, c->rounds[0].count, &of);
    *c->options->measured_s += yoke_clock_s() - begin_s;
    return status;
}

/* Plans all trees.  before: [trees] seconds on the host alone. */
static yoke_status plan_all(choosing *c, const fmm_seconds *before, bool *learned)
{
    yoke_status status = YOKE_OK;
    for (int r = 0; r < c->trees && !status; r++) {
        fmm_choice_tree(c->choice, r)->predicted = before[r];
        status = make_rounds(c, fmm_choice_tree(c->choice, r), &c->rounds[r]);
    }
    if (!status && !c->anew) status = rest(c);
    for (int r = 0; r < c->trees && !status; r++) {
        const yoke_assignment *of = NULL;
        status = yoke_run_plan(c->options->run, c->rounds[r].rounds, c->rounds[r].count, &of);
        if (!status && !learns(of)) keep(c, of, fmm_choice_tree(c->choice, r));
    }
    return status ? status : take_best(c, learned);
}

static yoke_status choose(choosing *c, fmm_seconds *before)
{
    bool learned = false;
    for (int r = 0; r < c->trees; r++) before[r] = fmm_choice_tree(c->choice, r)->predicted;
    yoke_status status = know_all(c);
    if (!status) status = plan_all(c, before, &learned);
    if (status || learned) return status;
    c->anew = true; /* the store has no powers at some frequencies, as after runs for least time */
    status = know_all(c);
    return status ? status : plan_all(c, before, &learned);
}

yoke_status fmm_shares_choose(yoke_context *context, const fmm_shares_options *options, const fmm_machine *machine, int64_t particles,
                              fmm_choice *choice)
{
    choosing c = {.context = context,
                  .options = options,
                  .machine = machine,
                  .particles = particles,
                  .choice = choice,
                  .trees = fmm_choice_count(choice)};
    fmm_seconds *before = NULL;
    if (particles == 0) { /* there is nothing to plan */
        fmm_choice_take(choice, 0);
        choice->predicted = (yoke_cost){0};
        return YOKE_OK;
    }
    yoke_status status = get_devices(&c);
    if (!status) status = yoke_allocate(context, c.trees, sizeof *before, &before);
    if (!status) status = yoke_allocate(context, c.trees, sizeof *c.rounds, &c.rounds);
    if (!status) status = yoke_allocate(context, (int64_t)c.trees * (FMM_FEW_ACCELERATORS + 2), sizeof *c.all, &c.all);
    if (!status) status = choose(&c, before);
    fmm_bench_destroy(c.bench);
    yoke_release(context, before);
    yoke_release(context, c.rounds);
    yoke_release(context, c.all);
    return status;
}

/* ---------------------------------------------------------------------------------------- between two depths */

/* Seconds on the host alone for a tree that was planned. */
static fmm_seconds host_seconds(const fmm_machine *machine, const fmm_depth *tree)
{
    return (fmm_seconds){.tree = tree->predicted.tree,
                         .near = tree->work.near_units * pair_of(machine, tree->work.leaf),
                         .far = tree->work.far_units * far_unit_of(machine, tree->work.order)};
}

/* Estimates a tree with `cells` cells along each side, by interpolation between the next trees with fewer and with more cells.  These
 * are the trees of the two depths around it, or the one between two depths that was counted. */
static fmm_depth estimate(const fmm_machine *machine, const fmm_choice *choice, int depth, int64_t cells)
{
    int64_t more = (int64_t)1 << depth, fewer = more / 2;
    const fmm_depth *above = &choice->of[depth - 1], *below = &choice->of[depth];
    if (choice->cells > fewer && choice->cells < cells) fewer = choice->cells, above = &choice->of_cells;
    if (choice->cells > cells && choice->cells < more) more = choice->cells, below = &choice->of_cells;
    const fmm_seconds a = host_seconds(machine, above), b = host_seconds(machine, below);
    return (fmm_depth){.order = below->order,
                       .leaves = llround(fmm_between((double)above->leaves, fewer, (double)below->leaves, more, cells)),
                       .leaf_particles = fmm_between(above->leaf_particles, fewer, below->leaf_particles, more, cells),
                       .predicted = {.tree = fmm_between(a.tree, fewer, b.tree, more, cells),
                                     .near = fmm_between(a.near, fewer, b.near, more, cells),
                                     .far = fmm_between(a.far, fewer, b.far, more, cells)}};
}

/* Plans the estimated trees and, after them, the chosen tree, so that this is kept if another one is equal. */
static yoke_status plan_estimates(choosing *c, int first, double sort_s, int64_t *cells)
{
    const yoke_assignment *of = NULL;
    int64_t between[FMM_MAX_BETWEEN], tree_of[FMM_MAX_DEPTH * FMM_MAX_BETWEEN];
    int trees = 0, count = 0;
    yoke_status status = YOKE_OK;
    for (int d = first; d <= c->choice->last && !status; d++)
        for (int k = 0, some = fmm_cells_between(d, between); k < some && !status; k++) {
            if (between[k] == c->choice->cells) continue;
            fmm_depth tree = estimate(c->machine, c->choice, d, between[k]);
            tree.predicted.tree += sort_s;
            tree_of[trees] = between[k];
            status = make_rounds(c, &tree, &c->rounds[trees++]);
        }
    fmm_depth chosen = *fmm_chosen(c->choice);
    chosen.predicted = host_seconds(c->machine, &chosen);
    if (!status) status = make_rounds(c, &chosen, &c->rounds[trees]);
    for (int r = 0; r <= trees && !status; r++)
        for (int k = 0; k < c->rounds[r].count; k++) c->all[count++] = c->rounds[r].rounds[k];
    if (!status) status = yoke_run_plan(c->options->run, c->all, count, &of);
    if (status || learns(of)) return status;
    for (int r = 0, before = 0; r < trees; before += c->rounds[r++].count)
        if (of->round >= before && of->round < before + c->rounds[r].count) *cells = tree_of[r];
    return YOKE_OK;
}

yoke_status fmm_shares_between(yoke_context *context, const fmm_shares_options *options, const fmm_machine *machine, int64_t particles,
                               fmm_choice *choice, double sort_s, int64_t *cells)
{
    const int first = choice->first < 2 ? 3 : choice->first + 1;
    const int64_t most = first > choice->last ? 0 : (int64_t)(choice->last - first + 1) * FMM_MAX_BETWEEN + 1;
    choosing c = {.context = context, .options = options, .machine = machine, .particles = particles, .choice = choice};
    *cells = 0;
    if (!most || !fmm_chosen(choice)->devices) return YOKE_OK;
    yoke_status status = get_devices(&c);
    if (!status) status = yoke_allocate(context, most, sizeof *c.rounds, &c.rounds);
    if (!status) status = yoke_allocate(context, most * (FMM_FEW_ACCELERATORS + 2), sizeof *c.all, &c.all);
    if (!status) status = plan_estimates(&c, first, sort_s, cells);
    yoke_release(context, c.rounds);
    yoke_release(context, c.all);
    return status;
}
