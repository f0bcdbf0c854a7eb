#include "tune/choose.h"

#include <math.h>

#include "method/method.h"
#include "tune/counts/cost.h"

enum {
    TREE_SIZE = 32, /* measured sizes of the works in whose units the phases are counted */
    NEAR_SIZE = FMM_SMALL_LEAF,
    BLOCKS = 1024, /* number of parts of the near field that devices can share */
    PHASES = 3,
    MAX_ROUNDS = FMM_MAX_DEPTH + 1 + FMM_MAX_CAPACITIES + 1
};

/* Mean number of particles of a leaf, weighted with the near pairs.  Leaves of more than FMM_SMALL_LEAF count with the mean over all
 * leaves, or with FMM_SMALL_LEAF if that is larger. */
static double leaf_particles_of(const int64_t sources[FMM_SMALL_LEAF + 1], int64_t large, int64_t leaves, int64_t particles)
{
    const double mean = leaves > 0 ? (double)particles / (double)leaves : 0;
    double pairs = (double)large, sum = pairs * fmax(mean, FMM_SMALL_LEAF);
    for (int n = 1; n <= FMM_SMALL_LEAF; n++) {
        pairs += (double)n * (double)sources[n];
        sum += (double)n * n * (double)sources[n];
    }
    return pairs > 0 ? sum / pairs : 0;
}

void fmm_depth_predict(const fmm_machine *machine, const fmm_analysis *analysis, int depth, int order, int gradient, fmm_depth *of)
{
    int orders[FMM_MAX_DEPTH + 1];
    for (int l = 0; l <= depth; l++) orders[l] = order;
    const fmm_counts *counts = analysis->counts;
    const fmm_cell_counts *cells = &analysis->cells[depth];
    /* Seconds of an operation: those in the near field of large leaves, where nearly all time is that of the kernels. */
    const fmm_costs costs = fmm_costs_of_operations(order, gradient, machine->pairs.large / (gradient ? 13.5 : 8));
    *of = (fmm_depth){.order = order,
                      .set = fmm_set_of(machine, order),
                      .near_pairs = 2 * (double)counts[depth].near,
                      .far_pairs = 2 * (double)counts[depth].far,
                      .leaves = cells->leaves,
                      .leaf_particles = leaf_particles_of(cells->sources, cells->large, cells->leaves, analysis->particles),
                      .measured = FMM_NOT_MEASURED,
                      .predicted_j = NAN,
                      .by_operations = fmm_cost(&counts[depth], &costs)};
    of->predicted = fmm_predict(machine, analysis->particles, counts, analysis->cells, depth, orders, &of->waves);
}

yoke_status fmm_capacities_predict(const fmm_machine *machine, fmm_analysis *analysis, int order, int gradient, fmm_choice *choice)
{
    int orders[FMM_MAX_DEPTH + 1];
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) orders[l] = order;
    yoke_status status = fmm_analysis_capacities(analysis, fmm_method_direct(order, gradient), choice->num_capacities, choice->capacity);
    choice->direct = analysis->direct;
    for (int k = 0; k < choice->num_capacities && !status; k++) {
        const fmm_operations *o = &analysis->operations[k];
        double far = 0;
        for (int l = 0; l <= o->depth; l++) far += 2 * (double)o->level[l].far;
        choice->depth_at[k] = o->depth;
        choice->at[k] = (fmm_depth){.order = order,
                                    .set = fmm_set_of(machine, order),
                                    .near_pairs = 2 * (double)o->near,
                                    .far_pairs = far,
                                    .leaves = o->leaves,
                                    .leaf_particles = leaf_particles_of(o->sources, o->large, o->leaves, analysis->particles),
                                    .measured = FMM_NOT_MEASURED,
                                    .predicted_j = NAN};
        choice->at[k].predicted = fmm_predict_adaptive(machine, analysis->particles, o, orders, &choice->at[k].waves);
    }
    return status;
}

/* Whether two trees are identical.  All cells of the tree of a larger capacity are also in that of a smaller one, so it suffices to
 * compare the number of cells on each level. */
static int has_same_cells(const fmm_operations *a, const fmm_operations *b)
{
    if (a->depth != b->depth) return 0;
    for (int l = 0; l <= a->depth; l++)
        if (a->level[l].cells != b->level[l].cells) return 0;
    return 1;
}

void fmm_choice_leave_equal_out(const fmm_analysis *analysis, fmm_choice *choice)
{
    const fmm_operations *of = analysis->operations, *before = NULL;
    const int count = choice->num_capacities;
    choice->num_capacities = 0;
    for (int k = 0; k < count; before = &of[k++]) {
        const int depth = of[k].depth, is_uniform = of[k].level[depth].leaves == of[k].leaves;
        if (is_uniform && depth >= choice->first && depth <= choice->last) continue;
        if (before && has_same_cells(before, &of[k])) continue;
        const int kept = choice->num_capacities++;
        choice->capacity[kept] = choice->capacity[k];
        choice->depth_at[kept] = choice->depth_at[k];
        choice->at[kept] = choice->at[k];
    }
}

int fmm_cells_between(int depth, int64_t cells[FMM_MAX_BETWEEN])
{
    enum { SIXTEENTHS = 16 };
    const int64_t all = (int64_t)1 << depth,
                  step = all > SIXTEENTHS ? all / SIXTEENTHS : all / 8; /* numbers above 8 are even, so that parents have all children */
    int count = 0;
    for (int64_t some = all / 2 + step; step > 0 && some < all; some += step) cells[count++] = some;
    return count;
}

double fmm_between(double fewer, int64_t cells_fewer, double more, int64_t cells_more, int64_t cells)
{
    const double part = log((double)cells / (double)cells_fewer) / log((double)cells_more / (double)cells_fewer);
    return fewer > 0 && more > 0 ? fewer * pow(more / fewer, part) : 0;
}

void fmm_depth_estimate(const fmm_estimating *of, int64_t cells, fmm_depth *tree)
{
    fmm_analysis even;
    fmm_even_count(of->even, cells, &even);
    fmm_depth_predict(of->machine, &even, fmm_depth_of_cells(cells), of->order, of->gradient, tree);
}

int64_t fmm_cells_estimate(const fmm_estimating *of, int last, int64_t kept, double sort_s, double *total_s)
{
    static const double clearly = 0.95;
    double best_s = INFINITY, of_depths_s = INFINITY, kept_s = INFINITY;
    int64_t best = 0, cells[FMM_MAX_BETWEEN];
    fmm_depth tree;
    for (int d = 0; d <= last; d++) {
        const int count = d > 2 ? fmm_cells_between(d, cells) : 0;
        fmm_depth_estimate(of, (int64_t)1 << d, &tree);
        of_depths_s = fmin(of_depths_s, tree.predicted.total);
        for (int k = 0; k < count; k++) {
            fmm_depth_estimate(of, cells[k], &tree);
            if (cells[k] == kept) kept_s = tree.predicted.total;
            if (tree.predicted.total < best_s) best_s = tree.predicted.total, best = cells[k];
        }
    }
    const int stays = kept && clearly * kept_s <= fmin(best_s, of_depths_s) + sort_s;
    *total_s = stays ? kept_s : best_s;
    return stays ? kept : best_s + sort_s < clearly * of_depths_s ? best : 0;
}

int fmm_depth_by_operations(const fmm_choice *choice)
{
    int best = choice->first;
    for (int d = choice->first; d <= choice->last; d++)
        if (choice->of[d].by_operations < choice->of[best].by_operations) best = d;
    return best;
}

/* Sets choice->predicted to the prediction for the chosen tree. */
static void set_predicted(fmm_choice *choice)
{
    const fmm_depth *of = fmm_chosen(choice);
    choice->predicted = (yoke_cost){.time_s = of->predicted.total,
                                    .energy_j = of->predicted_j,
                                    .peak_power_w = NAN,
                                    .time_uncertainty_s = NAN,
                                    .energy_uncertainty_j = NAN};
}

void fmm_choice_take_depth(fmm_choice *choice, int depth)
{
    if (choice->adaptive < 0 && !choice->takes_cells && depth == choice->depth) return;
    choice->adaptive = -1;
    choice->takes_cells = 0;
    choice->depth = depth;
    set_predicted(choice);
}

int fmm_choice_taken(const fmm_choice *choice)
{
    const int depths = choice->last - choice->first + 1;
    if (choice->takes_cells) return depths + choice->num_capacities;
    return choice->adaptive < 0 ? choice->depth - choice->first : depths + choice->adaptive;
}

int fmm_choice_keep(fmm_choice *choice, int depth, int64_t capacity, int64_t cells, double least_s)
{
    int number = capacity > 0 || cells > 0 || depth < choice->first || depth > choice->last ? -1 : depth - choice->first;
    for (int k = 0; k < choice->num_capacities; k++)
        if (capacity > 0 && choice->capacity[k] == capacity) number = choice->last - choice->first + 1 + k;
    if (cells > 0 && choice->cells == cells) number = fmm_choice_count(choice) - 1;
    if (number < 0 || fmm_choice_tree(choice, number)->predicted.total - fmm_chosen(choice)->predicted.total > least_s) return 0;
    fmm_choice_take(choice, number);
    set_predicted(choice);
    return 1;
}

/* Returns the highest measured order up to `order`. */
static int measured_order(int order)
{
    const int *sizes;
    int k = fmm_measured_sizes(FMM_PAIR, &sizes) - 1;
    while (sizes[k] > order) k--;
    return sizes[k];
}

/* Names of the works of a round's phases. */
typedef struct names {
    char tree[FMM_WORK_BYTES], near[FMM_WORK_BYTES], far[FMM_WORK_BYTES];
} names;

/* Number of units of a work that take this time. */
static int64_t units_of(double seconds, double unit_s) { return unit_s > 0 ? llround(seconds / unit_s) : 0; }

static void make_round(const fmm_machine *machine, const fmm_naming *naming, const fmm_depth *of, int64_t host, names *work,
                       yoke_phase phases[PHASES])
{
    const int order = measured_order(of->order);
    fmm_work_name(naming, FMM_TREE, TREE_SIZE, work->tree);
    fmm_work_name(naming, machine->single ? FMM_SINGLE_NEAR : FMM_NEAR, NEAR_SIZE, work->near);
    fmm_work_name(naming, FMM_PAIR, order, work->far);
    phases[0] = (yoke_phase){.work = work->tree,
                             .calls = 1,
                             .cut = -1,
                             .device = host,
                             .units = units_of(of->predicted.tree, TREE_SIZE * machine->tree_particle + machine->tree_leaf),
                             .barrier = 1};
    phases[1] = (yoke_phase){.work = work->near, .calls = 1, .cut = 0, .units = units_of(of->predicted.near, machine->pairs.unit)};
    phases[2] = (yoke_phase){.work = work->far,
                             .calls = 1,
                             .cut = -1,
                             .device = host,
                             .units = units_of(of->predicted.far, machine->pair_unit[order]),
                             .barrier = 1};
}

int fmm_choice_count(const fmm_choice *choice) { return choice->last - choice->first + 1 + choice->num_capacities + (choice->cells > 0); }

fmm_depth *fmm_choice_tree(fmm_choice *choice, int r)
{
    int depths = choice->last - choice->first + 1;
    if (r < depths) return &choice->of[choice->first + r];
    return r < depths + choice->num_capacities ? &choice->at[r - depths] : &choice->of_cells;
}

/* Predicts energies if the host is the only device: the times multiplied by its power at work. */
static void predict_energies(double power_w, fmm_choice *choice)
{
    for (int r = 0; r < fmm_choice_count(choice); r++)
        fmm_choice_tree(choice, r)->predicted_j = fmm_choice_tree(choice, r)->predicted.total * power_w;
}

static int fastest(fmm_choice *choice)
{
    int best = 0;
    for (int r = 1; r < fmm_choice_count(choice); r++)
        if (fmm_choice_tree(choice, r)->predicted.total < fmm_choice_tree(choice, best)->predicted.total) best = r;
    return best;
}

void fmm_choice_take(fmm_choice *choice, int r)
{
    int depths = choice->last - choice->first + 1;
    choice->takes_cells = r == depths + choice->num_capacities;
    choice->adaptive = r < depths || choice->takes_cells ? -1 : r - depths;
    choice->depth = choice->takes_cells ? fmm_depth_of_cells(choice->cells) : r < depths ? choice->first + r : choice->depth_at[r - depths];
}

/*
 * Plans the rounds.  If powers come from the store, the first plan measures the power of the rest of the machine and has no prediction yet.
 * A second plan then uses all data.
 */
static yoke_status plan(yoke_run *run, const yoke_round *rounds, int count, const yoke_assignment **assignment)
{
    yoke_status status = yoke_run_plan(run, rounds, count, assignment);
    return status || !isnan((*assignment)->predicted.time_s) ? status : yoke_run_plan(run, rounds, count, assignment);
}

/* Takes the fastest tree: on one device it also takes the least energy. */
static void take_fastest(fmm_choice *choice)
{
    fmm_choice_take(choice, fastest(choice));
    set_predicted(choice);
}

/* Chooses among all trees by a plan of the run. */
static yoke_status choose_by_plan(yoke_run *run, int64_t host, int gradient, const fmm_machine *machine, fmm_choice *choice)
{
    static const int64_t blocks = BLOCKS;
    names works[MAX_ROUNDS];
    yoke_phase phases[MAX_ROUNDS][PHASES];
    yoke_round rounds[MAX_ROUNDS];
    const int count = fmm_choice_count(choice);
    const yoke_assignment *assignment = NULL;
    const fmm_naming naming = fmm_naming_create(gradient, machine->measure);
    for (int r = 0; r < count; r++) {
        make_round(machine, &naming, fmm_choice_tree(choice, r), host, &works[r], phases[r]);
        rounds[r] = (yoke_round){.num_cuts = 1, .cut_units = &blocks, .num_phases = PHASES, .phases = phases[r]};
    }
    const yoke_status status = plan(run, rounds, count, &assignment);
    if (status) return status;
    /* A run that lacks data would take a round to learn from it, but this run has one round only. */
    if (isnan(assignment->predicted.time_s)) {
        take_fastest(choice);
        return YOKE_OK;
    }
    fmm_choice_take(choice, (int)assignment->round);
    choice->predicted = assignment->predicted;
    return YOKE_OK;
}

yoke_status fmm_choose(yoke_run *run, int64_t host, int gradient, const fmm_machine *machine, fmm_choice *choice)
{
    const yoke_run_device *devices;
    int64_t count = 0;
    yoke_status status = yoke_run_devices(run, &devices, &count);
    if (status) return status;
    const double power_w =
        count == 1 && !machine->measure ? devices[host].idle_w + devices[host].dynamic_w : NAN; /* counts have no power */
    predict_energies(power_w, choice);
    if (count > 1 || !isnan(power_w)) return choose_by_plan(run, host, gradient, machine, choice);
    take_fastest(choice); /* a plan would find the same, but takes longer */
    return YOKE_OK;
}
