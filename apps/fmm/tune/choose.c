#include "tune/choose.h"

#include <math.h>

enum {
    TREE_SIZE = 32, /* works whose units the phases are counted in: of these sizes, which are measured */
    NEAR_SIZE = FMM_SMALL_LEAF,
    BLOCKS = 1024, /* of near pairs */
    PHASES = 3
};

void fmm_depth_predict(const fmm_machine *machine, const fmm_analysis *analysis, int depth, int order, fmm_depth *of)
{
    int orders[FMM_MAX_DEPTH + 1];
    for (int l = 0; l <= depth; l++) orders[l] = order;
    const fmm_counts *counts = analysis->counts;
    *of = (fmm_depth){.order = order,
                      .near_pairs = 2 * (double)counts[depth].near,
                      .far_pairs = 2 * (double)counts[depth].far,
                      .predicted = fmm_predict(machine, analysis->tree->count, counts, analysis->cells, depth, orders),
                      .predicted_j = NAN};
}

/* The greatest order up to `order` that is measured. */
static int measured_order(int order)
{
    const int *sizes;
    int k = fmm_measured_sizes(FMM_PAIR, &sizes) - 1;
    while (sizes[k] > order) k--;
    return sizes[k];
}

/* The names of works of the phases of a round. */
typedef struct names {
    char tree[FMM_WORK_BYTES], near[FMM_WORK_BYTES], far[FMM_WORK_BYTES];
} names;

/* The units of a work that take so long. */
static int64_t units_of(double seconds, double unit_s) { return unit_s > 0 ? llround(seconds / unit_s) : 0; }

static void make_round(const fmm_machine *machine, const fmm_depth *of, int gradient, int64_t host, names *work, yoke_phase phases[PHASES])
{
    const int order = measured_order(of->order);
    fmm_work_name(FMM_TREE, TREE_SIZE, gradient, work->tree);
    fmm_work_name(FMM_NEAR, NEAR_SIZE, gradient, work->near);
    fmm_work_name(FMM_PAIR, order, gradient, work->far);
    phases[0] = (yoke_phase){.work = work->tree,
                             .calls = 1,
                             .cut = -1,
                             .device = host,
                             .units = units_of(of->predicted.tree, TREE_SIZE * machine->tree_particle + machine->tree_leaf),
                             .barrier = 1};
    phases[1] = (yoke_phase){.work = work->near, .calls = 1, .cut = 0, .units = units_of(of->predicted.near, machine->near[NEAR_SIZE])};
    phases[2] = (yoke_phase){
        .work = work->far, .calls = 1, .cut = -1, .device = host, .units = units_of(of->predicted.far, machine->pair[order]), .barrier = 1};
}

/* Where the host is the only device that works, its power at work. */
static yoke_status predict_energies(yoke_run *run, int64_t host, fmm_choice *choice)
{
    const yoke_run_device *devices;
    int64_t count = 0;
    yoke_status status = yoke_run_devices(run, &devices, &count);
    if (status) return status;
    for (int d = choice->first; d <= choice->last && count == 1; d++)
        choice->of[d].predicted_j = choice->of[d].predicted.total * (devices[host].idle_w + devices[host].dynamic_w);
    return YOKE_OK;
}

static int fastest(const fmm_choice *choice)
{
    int best = choice->first;
    for (int d = choice->first; d <= choice->last; d++)
        if (choice->of[d].predicted.total < choice->of[best].predicted.total) best = d;
    return best;
}

yoke_status fmm_choose(yoke_run *run, int64_t host, int gradient, const fmm_machine *machine, fmm_choice *choice)
{
    static const int64_t blocks = BLOCKS;
    names works[FMM_MAX_DEPTH + 1];
    yoke_phase phases[FMM_MAX_DEPTH + 1][PHASES];
    yoke_round rounds[FMM_MAX_DEPTH + 1];
    const int count = choice->last - choice->first + 1;
    const yoke_assignment *assignment = NULL;
    for (int r = 0; r < count; r++) {
        make_round(machine, &choice->of[choice->first + r], gradient, host, &works[r], phases[r]);
        rounds[r] = (yoke_round){.num_cuts = 1, .cut_units = &blocks, .num_phases = PHASES, .phases = phases[r]};
    }
    yoke_status status = yoke_run_plan(run, rounds, count, &assignment);
    if (!status) status = predict_energies(run, host, choice);
    if (status) return status;
    choice->depth = choice->first + (int)assignment->round;
    choice->predicted = assignment->predicted;
    if (!isnan(assignment->predicted.time_s)) return YOKE_OK;
    /* A run that does not know all yet takes a round to learn; ours is the only one.  On one device the fastest takes least energy, too. */
    choice->depth = fastest(choice);
    choice->predicted.time_s = choice->of[choice->depth].predicted.total;
    choice->predicted.energy_j = choice->of[choice->depth].predicted_j;
    return YOKE_OK;
}
