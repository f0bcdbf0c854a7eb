#include "scaling/model.h"

#include <math.h>

/*
 * A smoother of degree 4 before the correction, whose first step needs no product, then the residual, and a smoother after the correction
 * (multigrid.c).
 */
enum { BEFORE = 4, AFTER = 4, COMPONENTS = 3 };
static const double single_bytes = 4 * COMPONENTS, double_bytes = 8 * COMPONENTS;
static const double addition_s = 1e-9; /* seconds to add one number of a rank to a sum */

void scaling_make_levels(double elements, const scaling_solver *solver, scaling_levels *levels)
{
    *levels = (scaling_levels){.count = 2, .elements = {elements, elements}, .granule = 1};
    for (int64_t coarser = 0; coarser < solver->aligned && levels->count < SCALING_MAX_LEVELS; coarser++) {
        const double last = levels->elements[levels->count - 1];
        if (last <= (double)solver->gathered) break;
        levels->elements[levels->count++] = last / 8;
        levels->granule *= 8;
    }
}

static void add_products(const scaling_machine *machine, int level, int count, scaling_operation *operations, int *at)
{
    const double seconds = level == 0 ? machine->fine_s / (BEFORE + AFTER + 1) : machine->coarse_s / (BEFORE + AFTER);
    for (int i = 0; i < count; i++) operations[(*at)++] = (scaling_operation){SCALING_PRODUCT, level, single_bytes, seconds};
}

int scaling_iteration(const scaling_machine *machine, const scaling_levels *levels, scaling_operation operations[SCALING_MAX_OPERATIONS])
{
    const int last = levels->count - 1;
    int at = 0;
    operations[at++] = (scaling_operation){.kind = SCALING_AGREE}; /* whether a rank was interrupted */
    for (int l = 0; l < last; l++) {
        add_products(machine, l, BEFORE, operations, &at);
        operations[at++] = (scaling_operation){SCALING_EXCHANGE, l + 1, single_bytes, 0}; /* restriction */
    }
    operations[at++] = (scaling_operation){SCALING_GATHER, last, double_bytes, 0};
    operations[at++] = (scaling_operation){.kind = SCALING_LAST, .level = last};
    operations[at++] = (scaling_operation){.kind = SCALING_AGREE}; /* whether rank 0 succeeded */
    operations[at++] = (scaling_operation){SCALING_SPREAD, last, double_bytes, 0};
    for (int l = last - 1; l >= 0; l--) {
        operations[at++] = (scaling_operation){SCALING_EXCHANGE, l, single_bytes, 0}; /* interpolation, from the rank that counts */
        add_products(machine, l, AFTER, operations, &at);
    }
    operations[at++] = (scaling_operation){.kind = SCALING_AGREE};                /* whether all devices work */
    operations[at++] = (scaling_operation){SCALING_EXCHANGE, 0, double_bytes, 0}; /* makes z the same on all ranks */
    operations[at++] = (scaling_operation){.kind = SCALING_REDUCE, .bytes = 8};   /* (r, z) */
    add_products(machine, 0, 1, operations, &at);
    operations[at - 1].bytes = double_bytes;
    operations[at++] = (scaling_operation){.kind = SCALING_REDUCE, .bytes = 3 * 8}; /* (p, q), (r, q), (q, q) */
    return at;
}

double scaling_intervals(int level) { return level == 0 ? 2 : 1; }

/* Rounds of messages until all ranks know of each other: the base-2 logarithm of their number, rounded up. */
static int rounds_of(int64_t ranks)
{
    int rounds = 0;
    while (((int64_t)1 << rounds) < ranks) rounds++;
    return rounds;
}

double scaling_last_s(const scaling_machine *machine, const scaling_levels *levels)
{
    return levels->elements[levels->count - 1] * machine->coarse_s * 8 / 7;
}

/* ---------------------------------------------------------------------------------------------------- formula */

/* Neighbours of a rank along one axis: of an inner rank, and on average. */
typedef struct row {
    double most, mean;
} row;

static row row_of(int64_t ranks)
{
    const double side = cbrt((double)ranks);
    /* In a short row all ranks are neighbours; otherwise the two at the ends have only one neighbour. */
    return (row){fmin(2, side - 1), side < 2 ? side - 1 : 2 - 2 / side};
}

static double neighbours(double directions) { return pow(1 + directions, 3) - 1; }

/* Nodes that a cube shares by faces, edges and corners, counted once for each neighbour; a side has `nodes` nodes. */
static double shared_nodes(double directions, double nodes)
{
    return 3 * directions * nodes * nodes + 3 * directions * directions * nodes + directions * directions * directions;
}

static double side_of(const scaling_levels *levels, int level, double of_all) { return cbrt(levels->elements[level] * of_all); }

/* Seconds by which an exchange exceeds the work that hides it. */
static double exchange_s(const scaling_network *network, double count, double bytes, double hidden_s)
{
    if (count <= 0) return 0;
    return 2 * count * network->overhead_s + fmax(0, network->latency_s + bytes / network->bytes_per_s - hidden_s);
}

/* Seconds of work on the elements that touch no shared node. */
static double inner_s(double side, double directions, double element_s) { return element_s * pow(fmax(0, side - directions), 3); }

/* Rank 0 receives a message from each other rank, and all their bytes pass one after another. */
static double at_first_s(const scaling_network *network, int64_t ranks, double bytes)
{
    return ranks == 1 ? 0 : network->latency_s + (double)(ranks - 1) * network->overhead_s + bytes / network->bytes_per_s;
}

typedef struct formula {
    const scaling_network *network;
    const scaling_levels *levels;
    int64_t ranks;
    double largest, mean; /* fraction of all elements on the largest rank, and 1 / ranks */
    row along;
} formula;

static double allgather_s(const formula *f, double bytes)
{
    const double others = (double)(f->ranks - 1);
    return rounds_of(f->ranks) * (f->network->latency_s + 2 * f->network->overhead_s) +
           others * (bytes / f->network->bytes_per_s + bytes / 8 * addition_s);
}

static void add_exchange(const formula *f, const scaling_operation *o, scaling_terms *terms)
{
    const double intervals = scaling_intervals(o->level), side = side_of(f->levels, o->level, f->largest);
    const double most = o->bytes * shared_nodes(f->along.most, intervals * side + 1);
    const double mean = o->bytes * shared_nodes(f->along.mean, intervals * side_of(f->levels, o->level, f->mean) + 1);
    const double inner = o->kind == SCALING_PRODUCT ? inner_s(side, f->along.most, o->element_s) : 0;
    terms->halo_s += exchange_s(f->network, neighbours(f->along.most), most, inner);
    terms->messages += (double)f->ranks * neighbours(f->along.mean);
    terms->bytes += (double)f->ranks * mean;
    terms->most_messages += neighbours(f->along.most);
    terms->most_bytes += most;
}

/* q1 has as many nodes as elements if each node is counted once; the shared nodes of each rank come in addition. */
static void add_gathering(const formula *f, const scaling_operation *o, scaling_terms *terms)
{
    const double others = 1 - f->mean, elements = f->levels->elements[o->level];
    const double nodes = o->kind == SCALING_GATHER ? elements : (double)f->ranks * pow(cbrt(elements * f->mean) + 1, 3);
    const double bytes = o->bytes * nodes * others;
    terms->gather_s += at_first_s(f->network, f->ranks, bytes);
    terms->messages += (double)(f->ranks - 1);
    terms->bytes += bytes;
    if (o->kind == SCALING_SPREAD) return;
    terms->most_messages += f->ranks > 1;
    terms->most_bytes += f->ranks > 1 ? bytes / (double)(f->ranks - 1) : 0;
}

static void add_operation(const formula *f, const scaling_operation *o, scaling_terms *terms)
{
    const double elements = f->levels->elements[o->level];
    switch (o->kind) {
    case SCALING_PRODUCT:
        terms->work_s += o->element_s * elements * f->mean;
        terms->imbalance_s += o->element_s * elements * (f->largest - f->mean);
        add_exchange(f, o, terms);
        break;
    case SCALING_EXCHANGE:
        add_exchange(f, o, terms);
        break;
    case SCALING_REDUCE:
        terms->reduction_s += allgather_s(f, o->bytes);
        break;
    case SCALING_AGREE:
        terms->reduction_s += rounds_of(f->ranks) * (f->network->latency_s + 2 * f->network->overhead_s + 8 / f->network->bytes_per_s);
        break;
    case SCALING_GATHER:
    case SCALING_SPREAD:
        add_gathering(f, o, terms);
        break;
    case SCALING_LAST:
        break;
    }
}

void scaling_formula(const scaling_network *network, const scaling_machine *machine, const scaling_solver *solver, double elements,
                     int64_t ranks, scaling_terms *terms)
{
    scaling_levels levels;
    scaling_operation operations[SCALING_MAX_OPERATIONS];
    scaling_make_levels(elements, solver, &levels);
    const double granules = elements / levels.granule, own = granules / (double)ranks;
    const double largest = fmin(granules, ceil(own * (1 - 1e-12))) / granules;
    const formula f = {network, &levels, ranks, fmax(largest, 1 / (double)ranks), 1 / (double)ranks, row_of(ranks)};
    const int count = scaling_iteration(machine, &levels, operations);
    *terms = (scaling_terms){.last_s = scaling_last_s(machine, &levels)};
    for (int i = 0; i < count; i++) add_operation(&f, &operations[i], terms);
    terms->total_s = terms->work_s + terms->imbalance_s + terms->halo_s + terms->reduction_s + terms->gather_s + terms->last_s;
}

const char *scaling_largest(const scaling_terms *terms)
{
    static const char *const names[] = {"cuts", "halo", "sums", "gather", "rank 0"};
    const double seconds[] = {terms->imbalance_s, terms->halo_s, terms->reduction_s, terms->gather_s, terms->last_s};
    int largest = 0;
    for (int i = 1; i < 5; i++)
        if (seconds[i] > seconds[largest]) largest = i;
    return names[largest];
}
