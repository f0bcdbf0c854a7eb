/*
 * nested.c - INPA (Clarke, sect. 1.9): a matrix divided into rectangles for nodes, by partial functional performance models of the nodes.
 * These are measured while the devices of each node share its columns (nested_devices.c), for all nodes at the same time.
 *
 * It differs from the published outline in three points.  A node's speed is that of its rectangle, m_i n_i blocks, and not that of the w_i
 * blocks that were requested.  Its first point is one block on its fastest device, since one block cannot be divided.  It ends if an
 * arrangement is repeated.
 */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "plan/partition/nested.h"

enum { MAX_BLOCKS = 1000000000, MAX_ROUNDS = 1000, DEFAULT_ROUNDS = 20 };
static const double default_tolerance = 0.05;

typedef struct inpa {
    yoke_context *context;
    const yoke_nested_options *options;
    nested_settings settings;
    int64_t num_nodes, num_devices; /* num_devices: of all nodes */
    nested_node *nodes;             /* [num_nodes] */
    nested_model *models;           /* [num_nodes + num_devices]: of nodes, then of devices */
    /* counts is the whole allocation; blocks, rows [num_nodes]: blocks requested, then received; rows of rectangles */
    int64_t *counts, *blocks, *rows;
    int64_t *columns;                   /* [num_devices] */
    int64_t *tried;                     /* [max_rounds][2 num_nodes]: rows and columns of rectangles */
    double *numbers, *seconds, *node_s; /* numbers is the whole allocation; [num_devices]; [num_nodes] */
    double *areas;                      /* [num_nodes] */
    yoke_rectangle *rectangles;         /* [num_nodes]: rectangles being measured */
    bool kept;                          /* the stated limits of nodes are never exceeded */
    double longest;                     /* longest seconds of the best arrangement */
    bool fits;                          /* the best arrangement is within these limits */
    yoke_nested_plan *plan;
    yoke_rectangle *plan_nodes; /* the memory of *plan, writable */
    int64_t **plan_columns;
    double *plan_node_s;
} inpa;

double nested_stated(const yoke_nested_options *options, const double *blocks, int64_t i)
{
    return blocks != NULL && blocks[i] > 0 && options->strategy == YOKE_NESTED_FPM ? blocks[i] : INFINITY;
}

static double tolerance(double given) { return given > 0 ? given : default_tolerance; }

int64_t nested_columns(const yoke_nested_options *options) { return options->columns ? options->columns : options->blocks; }

/* Checks stated limits, one for each node or device. */
static yoke_status check_limits(yoke_context *context, const double *blocks, int64_t count, const char *of)
{
    for (int64_t i = 0; blocks != NULL && i < count; i++)
        if (blocks[i] < 0)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s %lld holds %g blocks; that must not be negative (0: not known)", of,
                             (long long)i, blocks[i]);
    return YOKE_OK;
}

static yoke_status check(yoke_context *context, const yoke_nested_options *options)
{
    const int64_t rows = options->blocks, columns = nested_columns(options);
    if (rows < 1 || rows > MAX_BLOCKS || columns < 1 || columns > MAX_BLOCKS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a matrix of %lld x %lld blocks; each side must have 1 to %d", (long long)rows,
                         (long long)columns, MAX_BLOCKS);
    if (options->num_nodes < 1 || options->num_nodes > rows * columns)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld nodes for %lld x %lld blocks; give at least one node, and a block for each",
                         (long long)options->num_nodes, (long long)rows, (long long)columns);
    if (options->devices == NULL || (options->kernel == NULL && options->points == NULL))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "devices, or kernel and points are missing; say how many devices each node has, and how they are timed");
    int64_t devices = 0;
    for (int64_t i = 0; i < options->num_nodes; i++) {
        if (options->devices[i] < 1 || options->devices[i] > MAX_BLOCKS || (devices += options->devices[i]) > MAX_BLOCKS)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                             "node %lld has %lld devices; it must have at least one, and all nodes at most %d", (long long)i,
                             (long long)options->devices[i], MAX_BLOCKS);
    }
    if (options->strategy < YOKE_NESTED_FPM || options->strategy > YOKE_NESTED_HOMOGENEOUS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "strategy %d; take one of yoke_nested_strategy", (int)options->strategy);
    if (!(options->node_tolerance >= 0) || !(options->device_tolerance >= 0))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "tolerances of %g and %g; they must not be negative", options->node_tolerance,
                         options->device_tolerance);
    if (options->max_rounds < 0 || options->max_rounds > MAX_ROUNDS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld rounds; at most %d are possible", (long long)options->max_rounds, MAX_ROUNDS);
    yoke_status status = check_limits(context, options->node_blocks, options->num_nodes, "node");
    return status == YOKE_OK ? check_limits(context, options->device_blocks, devices, "device") : status;
}

static yoke_status get(inpa *all, int64_t count, size_t size, void *pointer)
{
    void *memory;
    yoke_status status = yoke_allocate(all->context, count, size, &memory);
    if (status == YOKE_OK) memcpy(pointer, &memory, sizeof memory);
    return status;
}

static void set_up_nodes(inpa *all)
{
    int64_t rounds = all->settings.max_rounds;
    all->blocks = all->counts;
    all->rows = all->blocks + all->num_nodes;
    all->tried = all->rows + all->num_nodes;
    all->columns = all->tried + 2 * rounds * all->num_nodes;
    all->seconds = all->numbers;
    all->node_s = all->seconds + all->num_devices;
    all->areas = all->node_s + all->num_nodes;
    int64_t *best = all->columns + all->num_devices, *tried = best + all->num_devices;
    for (int64_t i = 0, device = 0; i < all->num_nodes; i++) {
        int64_t devices = all->options->devices[i];
        all->nodes[i] = (nested_node){.devices = devices,
                                      .models = all->models + all->num_nodes + device,
                                      .columns = all->columns + device,
                                      .best = best + device,
                                      .tried = tried + device * rounds};
        for (int64_t j = 0; j < devices; j++)
            all->nodes[i].models[j].fitting = nested_stated(all->options, all->options->device_blocks, device + j);
        all->models[i].fitting = nested_stated(all->options, all->options->node_blocks, i);
        all->models[i].kept = all->kept;
        if (devices == 1) all->models[i].fitting = fmin(all->models[i].fitting, all->nodes[i].models[0].fitting);
        device += devices;
    }
}

static void release_parts(yoke_context *context, void *memory)
{
    const yoke_nested_plan *plan = memory;
    if (plan->device_columns != NULL) yoke_release(context, (void *)plan->device_columns[0]);
    yoke_release(context, (void *)plan->device_columns);
    yoke_release(context, (void *)plan->node_s);
    yoke_release(context, (void *)plan->nodes);
}

static yoke_status get_memory(inpa *all)
{
    int64_t q = all->num_nodes, p = all->num_devices, rounds = all->settings.max_rounds;
    yoke_status status = get(all, q, sizeof *all->nodes, &all->nodes);
    if (status == YOKE_OK) status = get(all, q + p, sizeof *all->models, &all->models);
    if (status == YOKE_OK) status = get(all, (2 + 2 * rounds) * q + (2 + rounds) * p, sizeof *all->counts, &all->counts);
    if (status == YOKE_OK) status = get(all, p + 2 * q, sizeof *all->numbers, &all->numbers);
    if (status == YOKE_OK) status = get(all, q, sizeof *all->rectangles, &all->rectangles);
    void *plan = NULL;
    if (status == YOKE_OK) status = yoke_allocate_owner(all->context, sizeof *all->plan, release_parts, &plan);
    all->plan = plan;
    if (status == YOKE_OK) status = get(all, q, sizeof *all->plan_nodes, &all->plan_nodes);
    if (status == YOKE_OK) all->plan->nodes = all->plan_nodes;
    if (status == YOKE_OK) status = get(all, q, sizeof *all->plan_node_s, &all->plan_node_s);
    if (status == YOKE_OK) all->plan->node_s = all->plan_node_s;
    if (status == YOKE_OK) status = get(all, q, sizeof *all->plan_columns, &all->plan_columns);
    if (status == YOKE_OK) all->plan->device_columns = (const int64_t *const *)all->plan_columns;
    if (status == YOKE_OK) status = get(all, p, sizeof(int64_t), &all->plan_columns[0]);
    if (status != YOKE_OK) return status;
    for (int64_t i = 1; i < q; i++) all->plan_columns[i] = all->plan_columns[i - 1] + all->options->devices[i - 1];
    set_up_nodes(all);
    return YOKE_OK;
}

/* Runs the kernel on all->rows and all->columns, and checks its seconds. */
static yoke_status measure(inpa *all)
{
    memset(all->seconds, 0, (size_t)all->num_devices * sizeof *all->seconds);
    yoke_status status = all->options->kernel(all->options->user, all->rows, all->columns, all->seconds);
    if (status != YOKE_OK) return status;
    double longest = 0;
    for (int64_t i = 0, k = 0; i < all->num_nodes; i++)
        for (int64_t j = 0; j < all->options->devices[i]; j++, k++) {
            if (all->columns[k] == 0) continue;
            if (!(all->seconds[k] >= nested_least_s && all->seconds[k] <= nested_most_s))
                return yoke_fail(all->context, YOKE_ERROR_NUMERIC,
                                 "device %lld of node %lld reports %g s for %lld x %lld blocks; check how its kernel is timed",
                                 (long long)j, (long long)i, all->seconds[k], (long long)all->rows[i], (long long)all->columns[k]);
            longest = fmax(longest, all->seconds[k]);
            all->plan->timings++;
        }
    all->plan->kernel_calls++;
    all->plan->measuring_s += longest;
    return YOKE_OK;
}

/* Step 1 of INPA and of IDPA: one block on each device; the model of a node has the time of its fastest device. */
static yoke_status measure_one_block(inpa *all)
{
    for (int64_t i = 0; i < all->num_nodes; i++) all->rows[i] = 1;
    for (int64_t k = 0; k < all->num_devices; k++) all->columns[k] = 1;
    yoke_status status = measure(all);
    if (status != YOKE_OK) return status;
    bool constant = all->settings.strategy != YOKE_NESTED_FPM;
    for (int64_t i = 0, k = 0; i < all->num_nodes; i++) {
        double least = INFINITY;
        for (int64_t j = 0; j < all->nodes[i].devices; j++, k++) {
            nested_model_add(&all->nodes[i].models[j], 1, all->seconds[k], (double)(1 + all->nodes[i].devices), 0, constant);
            least = fmin(least, all->seconds[k]);
        }
        nested_model_add(&all->models[i], 1, least, 0, 0, constant);
    }
    return YOKE_OK;
}

/* IDPA on all nodes at the same time, until the last one is done. */
static yoke_status balance_devices(inpa *all, int64_t round)
{
    for (int64_t i = 0; i < all->num_nodes; i++) {
        all->rows[i] = all->rectangles[i].rows;
        nested_node_begin(&all->nodes[i], &all->settings, all->rectangles[i].rows, all->rectangles[i].columns);
    }
    for (;;) {
        bool done = true;
        for (int64_t i = 0; i < all->num_nodes; i++) {
            nested_node *node = &all->nodes[i];
            if (node->done) memset(node->columns, 0, (size_t)node->devices * sizeof *node->columns);
            done = done && node->done;
        }
        if (done) return YOKE_OK;
        yoke_status status = measure(all);
        if (status != YOKE_OK) return status;
        for (int64_t i = 0; i < all->num_nodes; i++)
            if (!all->nodes[i].done)
                nested_node_take(&all->nodes[i], &all->settings, all->seconds + (all->nodes[i].columns - all->columns), round);
    }
}

static void take_as_best(inpa *all, double longest, double imbalance, bool balanced)
{
    all->longest = longest;
    all->plan->imbalance = imbalance;
    all->plan->converged = balanced;
    memcpy(all->plan_nodes, all->rectangles, (size_t)all->num_nodes * sizeof *all->rectangles);
    memcpy(all->plan_node_s, all->node_s, (size_t)all->num_nodes * sizeof *all->node_s);
    for (int64_t i = 0; i < all->num_nodes; i++)
        memcpy(all->plan_columns[i], all->nodes[i].best, (size_t)all->nodes[i].devices * sizeof(int64_t));
}

/* Whether all nodes are within their stated limits, if these must be kept. */
static bool fit(const inpa *all)
{
    for (int64_t i = 0; i < all->num_nodes; i++)
        if (all->kept && (double)all->blocks[i] > all->models[i].held) return false;
    return true;
}

/* Arranges and measures rectangles, and sets the areas of the next round.  *done: this was the last round. */
static yoke_status take_round(inpa *all, int64_t round, bool *done)
{
    yoke_nested_strategy strategy = all->settings.strategy;
    yoke_status status = nested_arrange(all->context, all->num_nodes, round > 1 ? all->models : NULL, all->nodes, all->areas,
                                        all->options->blocks, nested_columns(all->options), all->settings.node_tolerance, all->rectangles);
    if (status != YOKE_OK) return status;
    int64_t length = 2 * all->num_nodes, *shapes = all->tried + length * (round - 1);
    for (int64_t i = 0; i < all->num_nodes; i++) {
        shapes[2 * i] = all->rectangles[i].rows;
        shapes[2 * i + 1] = all->rectangles[i].columns;
        all->blocks[i] = all->rectangles[i].rows * all->rectangles[i].columns;
    }
    if (nested_tried(round - 1, length, all->tried, shapes)) {
        *done = true;
        return YOKE_OK;
    }
    status = balance_devices(all, round);
    if (status != YOKE_OK) return status;
    all->plan->rounds = round;
    bool working = true, iterated = strategy == YOKE_NESTED_FPM || strategy == YOKE_NESTED_MULTIPLE_CPM;
    for (int64_t i = 0; i < all->num_nodes; i++) {
        all->node_s[i] = all->nodes[i].best_s;
        working = working && all->blocks[i] > 0;
        if (all->blocks[i] > 0)
            nested_model_add(&all->models[i], (double)all->blocks[i], all->node_s[i],
                             nested_longer((double)all->rectangles[i].rows, (double)all->rectangles[i].columns), round,
                             strategy != YOKE_NESTED_FPM);
    }
    if (strategy == YOKE_NESTED_FPM) nested_find_sides(all->num_nodes, all->models, all->nodes);
    double longest, imbalance = nested_imbalance(all->num_nodes, all->blocks, all->node_s, &longest);
    const bool fits = fit(all), balanced = imbalance <= all->settings.node_tolerance && fits;
    *done = (balanced && working) || strategy == YOKE_NESTED_HOMOGENEOUS || (strategy == YOKE_NESTED_SINGLE_CPM && round == 2) ||
            round == all->settings.max_rounds;
    if (!iterated || (balanced && working) || round == 1 || (fits && !all->fits) || (fits == all->fits && longest < all->longest)) {
        take_as_best(all, longest, imbalance, balanced);
        all->fits = fits;
    }
    return YOKE_OK;
}

static yoke_status partition(inpa *all)
{
    yoke_status status = all->settings.strategy == YOKE_NESTED_HOMOGENEOUS ? YOKE_OK : measure_one_block(all);
    for (int64_t i = 0; i < all->num_nodes; i++) all->areas[i] = 1;
    bool done = false;
    for (int64_t round = 1; !done && status == YOKE_OK; round++) {
        status = take_round(all, round, &done);
        if (done || status != YOKE_OK) break;
        nested_share(all->num_nodes, all->models, all->options->blocks * nested_columns(all->options), 1, all->blocks);
        for (int64_t i = 0; i < all->num_nodes; i++) all->areas[i] = (double)all->blocks[i];
    }
    return status;
}

yoke_status yoke_plan_nested(yoke_context *context, const yoke_nested_options *options, yoke_nested_plan **plan)
{
    yoke_status status = check(context, options);
    if (status != YOKE_OK) return status;
    return options->points != NULL ? nested_plan_known(context, options, plan) : nested_plan(context, options, false, plan);
}

yoke_status nested_plan(yoke_context *context, const yoke_nested_options *options, bool kept, yoke_nested_plan **plan)
{
    inpa all = {.context = context,
                .options = options,
                .kept = kept,
                .num_nodes = options->num_nodes,
                .settings = {.strategy = options->strategy,
                             .node_tolerance = tolerance(options->node_tolerance),
                             .device_tolerance = tolerance(options->device_tolerance),
                             .max_rounds = options->max_rounds > 0 ? options->max_rounds : DEFAULT_ROUNDS}};
    for (int64_t i = 0; i < options->num_nodes; i++) all.num_devices += options->devices[i];
    yoke_status status = get_memory(&all);
    if (status == YOKE_OK) status = partition(&all);
    yoke_release(context, all.nodes);
    yoke_release(context, all.models);
    yoke_release(context, all.counts);
    yoke_release(context, all.numbers);
    yoke_release(context, all.rectangles);
    if (status == YOKE_OK)
        *plan = all.plan;
    else
        yoke_release(context, all.plan);
    return status;
}
