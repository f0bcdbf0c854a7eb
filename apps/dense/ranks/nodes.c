#include "ranks/nodes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Steps that count of a partition: the latest ones, as loads come and go.  Where there are MANY steps a partition has two before there is another. */
enum { MOST_POINTS = 16, RECENT = 5, MANY = 8 };

/* Of a rank with so many blocks: seconds of a pivot column, as steps have different numbers of them. */
typedef struct point {
    double blocks, recent_s[RECENT];
    int64_t calls;
} point;

typedef struct node {
    point points[MOST_POINTS]; /* the latest is the last one */
    int count;
    yoke_model *model;
} node;

struct dense_nodes {
    yoke_context *context;
    const dense_grid *grid;
    dense_partition partition;
    double limit;
    node *nodes;             /* [ranks] */
    int *known, num_known;   /* [ranks]: those that were measured */
    yoke_rectangle *best;    /* [ranks] */
    double seconds_per_byte; /* of messages, the least that was seen; 0: there were none */
    double filling;          /* of new memory, of the slowest rank */
    double move_s;           /* that the latest move took; 0: there was none */
    int64_t moves;
    int64_t steps; /* with this partition */
};

yoke_status dense_nodes_create(yoke_context *context, const dense_grid *grid, dense_partition partition, double limit, dense_nodes **nodes)
{
    dense_nodes *all = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *all, &all);
    if (status) return status;
    *all = (dense_nodes){.context = context, .grid = grid, .partition = partition, .limit = limit};
    status = yoke_allocate(context, grid->ranks, sizeof *all->nodes, &all->nodes);
    if (!status) status = yoke_allocate(context, grid->ranks, sizeof *all->known, &all->known);
    if (!status) status = yoke_allocate(context, grid->ranks, sizeof *all->best, &all->best);
    if (status)
        dense_nodes_destroy(all);
    else
        *nodes = all;
    return status;
}

static void release_models(dense_nodes *all)
{
    for (int i = 0; all->nodes && i < all->grid->ranks; i++) {
        yoke_release(all->context, all->nodes[i].model);
        all->nodes[i].model = NULL;
    }
}

void dense_nodes_destroy(dense_nodes *nodes)
{
    if (!nodes) return;
    release_models(nodes);
    yoke_release(nodes->context, nodes->nodes);
    yoke_release(nodes->context, nodes->known);
    yoke_release(nodes->context, nodes->best);
    yoke_release(nodes->context, nodes);
}

yoke_status dense_nodes_start(yoke_context *context, const dense_grid *grid, yoke_rectangle *rectangles)
{
    double *areas = NULL;
    yoke_status status = yoke_allocate(context, grid->ranks, sizeof *areas, &areas);
    if (status) return status;
    for (int i = 0; i < grid->ranks; i++)
        areas[i] = i < grid->rows * grid->columns ? 1 : 0; /* more ranks than entries have nothing to do */
    status = yoke_plan_columns(context, grid->ranks, areas, grid->rows, grid->columns, rectangles, NULL);
    yoke_release(context, areas);
    return status;
}

/* -------------------------------------------------------------------------------------------------- learning */

static void learn(const dense_nodes *all, node *n, double blocks, double seconds)
{
    point *latest = n->count ? &n->points[n->count - 1] : NULL;
    if (latest && latest->blocks == blocks && all->steps > 0) {
        latest->recent_s[latest->calls++ % RECENT] = seconds;
        return;
    }
    /* What was measured earlier with as many blocks is replaced; then the oldest point makes room. */
    int drop = n->count == MOST_POINTS ? 0 : -1;
    for (int k = 0; k < n->count; k++)
        if (n->points[k].blocks == blocks) drop = k;
    if (drop >= 0) {
        memmove(n->points + drop, n->points + drop + 1, (size_t)(n->count - drop - 1) * sizeof *n->points);
        n->count--;
    }
    n->points[n->count++] = (point){blocks, {seconds}, 1};
}

/* Others who are late make messages slow, so the least counts. */
void dense_nodes_messages(dense_nodes *nodes, const dense_node_report *reports)
{
    double longest = 0, most = 0;
    for (int i = 0; i < nodes->grid->ranks; i++) {
        if (reports[i].bytes > 0) longest = fmax(longest, reports[i].transfer_s);
        most = fmax(most, reports[i].bytes);
        nodes->filling = fmax(nodes->filling, reports[i].filling);
    }
    if (most > 0 && longest > 0 && (nodes->seconds_per_byte == 0 || longest / most < nodes->seconds_per_byte))
        nodes->seconds_per_byte = longest / most;
}

void dense_nodes_moved(dense_nodes *nodes, double seconds) { nodes->move_s = seconds; }

/*
 * The median, of two the smaller one: what other programs take now and then does not count.  *noise becomes at least about the relative error of it, by how far the
 * steps, but for the slowest of three or more, are apart.
 */
static double seconds_of(const point *p, double *noise)
{
    const int count = p->calls < RECENT ? (int)p->calls : RECENT;
    double sorted[RECENT] = {0};
    for (int i = 0; i < count; i++) {
        int k = i;
        for (; k > 0 && sorted[k - 1] > p->recent_s[i]; k--) sorted[k] = sorted[k - 1];
        sorted[k] = p->recent_s[i];
    }
    const double median = sorted[(count - 1) / 2], largest = sorted[count > 2 ? count - 2 : count - 1];
    if (noise) *noise = fmax(*noise, (largest - sorted[0]) / median / sqrt(count));
    return median;
}

static double imbalance(double longest, double shortest) { return longest > 0 && shortest > 0 ? (longest - shortest) / shortest : 0; }

static double pivots(const dense_nodes *all, int64_t step)
{
    return (double)(dense_grid_pivot(all->grid, step + 1) - dense_grid_pivot(all->grid, step));
}

/* Returns the imbalance of the medians since this partition is there, less what noise may have of it.  *longest_s: of these medians. */
static double learn_all(dense_nodes *all, int64_t step, const dense_node_report *reports, const yoke_rectangle *rectangles,
                        dense_node_decision *decision, double *longest_s)
{
    double longest = 0, shortest = INFINITY, longest_median = 0, shortest_median = INFINITY, noise = 0;
    for (int i = 0; i < all->grid->ranks; i++) {
        const dense_node_report *r = &reports[i];
        if (!(r->seconds > 0)) continue;
        node *n = &all->nodes[i];
        learn(all, n, (double)rectangles[i].rows * (double)rectangles[i].columns, r->seconds / pivots(all, step));
        longest = fmax(longest, r->seconds);
        shortest = fmin(shortest, r->seconds);
        const double median = seconds_of(&n->points[n->count - 1], &noise);
        longest_median = fmax(longest_median, median);
        shortest_median = fmin(shortest_median, median);
    }
    all->steps++;
    decision->imbalance = imbalance(longest, shortest);
    *longest_s = longest_median;
    return imbalance(longest_median, shortest_median) - noise;
}

/* -------------------------------------------------------------------------------------------------- models */

static yoke_sample sample_of(double blocks, double seconds, int64_t repeats)
{
    return (yoke_sample){.units = blocks,
                         .frequency_hz = NAN,
                         .seconds = seconds,
                         .seconds_interval = NAN,
                         .joules = NAN,
                         .joules_interval = NAN,
                         .repeats = repeats,
                         .together = 1};
}

/*
 * Halfway between two points of which the second has less speed: the mean of linear seconds and linear speed, or linear speed where the first one was
 * measured two or more partitions later.  The model's speed is linear between samples.
 */
static bool middle_of(const point *here, const point *next, yoke_sample *sample)
{
    enum { TWICE = 2 };
    const double t = seconds_of(here, NULL), next_t = seconds_of(next, NULL), blocks = (here->blocks + next->blocks) / 2;
    const double line = (t + next_t) / 2, by_speed = blocks / ((here->blocks / t + next->blocks / next_t) / 2);
    *sample = sample_of(blocks, here - next >= TWICE ? by_speed : (line + by_speed) / 2, 1);
    return by_speed < line;
}

static int by_blocks(const void *left, const void *right)
{
    const point *const *a = left, *const *b = right;
    return ((*a)->blocks > (*b)->blocks) - ((*a)->blocks < (*b)->blocks);
}

static yoke_status fit(dense_nodes *all, node *n)
{
    const int points = all->partition == DENSE_PARTITION_FPM ? n->count : 1;
    const point *sorted[MOST_POINTS];
    yoke_sample samples[2 * MOST_POINTS];
    int count = 0;
    for (int k = 0; k < points; k++) sorted[k] = &n->points[n->count - points + k];
    qsort(sorted, (size_t)points, sizeof *sorted, by_blocks);
    for (int k = 0; k < points; k++) {
        samples[count++] = sample_of(sorted[k]->blocks, seconds_of(sorted[k], NULL), sorted[k]->calls);
        if (k + 1 < points) count += middle_of(sorted[k], sorted[k + 1], &samples[count]);
    }
    return yoke_model_fit(all->context, count > 1 ? YOKE_MODEL_PIECEWISE : YOKE_MODEL_CONSTANT, samples, count, &n->model);
}

static yoke_status fit_all(dense_nodes *all)
{
    yoke_status status = YOKE_OK;
    all->num_known = 0;
    release_models(all);
    for (int i = 0; i < all->grid->ranks && !status; i++)
        if (all->nodes[i].count) {
            all->known[all->num_known++] = i;
            status = fit(all, &all->nodes[i]);
        }
    return status;
}

/* A pivot column of a rank with a rectangle of blocks: its work, or the messages of the next one, which come meanwhile. */
static yoke_status predict(const dense_nodes *all, int i, int64_t rows, int64_t columns, double *seconds)
{
    const dense_grid *g = all->grid;
    const double side = (double)(rows + columns) * (double)g->block;
    yoke_prediction call;
    yoke_status status = yoke_model_predict(all->nodes[i].model, (double)rows * (double)columns, NAN, 1, &call);
    if (!status) *seconds = fmax(call.seconds, side * (double)g->precision * all->seconds_per_byte);
    return status;
}

/* The kernel of yoke_plan_nested: nodes are the ranks that are known, each with one device. */
static yoke_status answer(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    const dense_nodes *all = user;
    yoke_status status = YOKE_OK;
    for (int i = 0; i < all->num_known && !status; i++)
        if (columns[i] > 0) status = predict(all, all->known[i], rows[i], columns[i], &seconds[i]);
    return status;
}

static double entries(yoke_rectangle r) { return (double)r.rows * (double)r.columns; }

static double entries_of_both(yoke_rectangle a, yoke_rectangle b)
{
    const double high = fmin((double)(a.row + a.rows), (double)(b.row + b.rows)) - fmax((double)a.row, (double)b.row);
    const double wide = fmin((double)(a.column + a.columns), (double)(b.column + b.columns)) - fmax((double)a.column, (double)b.column);
    return high > 0 && wide > 0 ? high * wide : 0;
}

static yoke_rectangle turned(const dense_grid *g, yoke_rectangle r, int which)
{
    if (r.rows == 0) return r;
    if (which & 1) r.row = g->rows - r.row - r.rows;
    if (which & 2) r.column = g->columns - r.column - r.columns;
    return r;
}

/* An arrangement is as good upside down, or left to right: the one of these in which most blocks stay where they are. */
static void turn_best(dense_nodes *all, const yoke_rectangle *now)
{
    int best = 0;
    double most = -1;
    for (int which = 0; which < 4; which++) {
        double stay = 0;
        for (int i = 0; i < all->grid->ranks; i++) stay += entries_of_both(turned(all->grid, all->best[i], which), now[i]);
        if (stay > most) best = which;
        most = fmax(most, stay);
    }
    for (int i = 0; i < all->grid->ranks; i++) all->best[i] = turned(all->grid, all->best[i], best);
}

/* The best partition by the models, and its longest rank. */
static yoke_status find_best(dense_nodes *all, double *longest)
{
    int64_t *devices = NULL;
    yoke_nested_plan *plan = NULL;
    yoke_status status = yoke_allocate(all->context, all->num_known, sizeof *devices, &devices);
    if (status) return status;
    for (int i = 0; i < all->num_known; i++) devices[i] = 1;
    const yoke_nested_options options = {.blocks = all->grid->rows,
                                         .columns = all->grid->columns,
                                         .num_nodes = all->num_known,
                                         .devices = devices,
                                         .strategy = YOKE_NESTED_FPM,
                                         .node_tolerance = all->limit / 4,
                                         .kernel = answer,
                                         .user = all};
    status = yoke_plan_nested(all->context, &options, &plan);
    memset(all->best, 0, (size_t)all->grid->ranks * sizeof *all->best);
    *longest = 0;
    for (int i = 0; i < all->num_known && !status; i++) {
        all->best[all->known[i]] = plan->nodes[i];
        *longest = fmax(*longest, plan->node_s[i]);
    }
    yoke_release(all->context, plan);
    yoke_release(all->context, devices);
    return status;
}

/* -------------------------------------------------------------------------------------------------- deciding */

/* Blocks of C go to their new ranks, where all get new memory, and pivots that are on their way are fetched again; but no less than it took before. */
static double cost_of_moving(const dense_nodes *all, const yoke_rectangle *now)
{
    const dense_grid *g = all->grid;
    double most = 0;
    for (int i = 0; i < g->ranks; i++) {
        const yoke_rectangle to = dense_grid_of_c(g, all->best[i]), from = dense_grid_of_c(g, now[i]);
        const double got = entries(to) - entries_of_both(to, from);
        const double pivots = (double)(to.rows + to.columns) * (double)dense_grid_most_pivots(g);
        most = fmax(most, (got + pivots) * all->seconds_per_byte + (entries(to) + 2 * pivots) * all->filling);
    }
    return fmax(most * (double)g->precision, all->move_s);
}

static bool may_move(const dense_nodes *all, double found)
{
    if (all->partition == DENSE_PARTITION_EVEN || (all->partition == DENSE_PARTITION_CPM && all->moves > 0)) return false;
    return found > all->limit && all->steps >= (all->grid->steps < MANY ? 1 : 2);
}

yoke_status dense_nodes_decide(dense_nodes *nodes, int64_t step, const dense_node_report *reports, yoke_rectangle *rectangles,
                               dense_node_decision *decision)
{
    const size_t bytes = (size_t)nodes->grid->ranks * sizeof *rectangles;
    const double left = (double)(nodes->grid->k - dense_grid_pivot(nodes->grid, step + 1));
    double now = 0, longest = 0;
    *decision = (dense_node_decision){.gain_s = NAN, .cost_s = NAN};
    dense_nodes_messages(nodes, reports);
    const double found = learn_all(nodes, step, reports, rectangles, decision, &now), next = left > 0 ? pivots(nodes, step + 1) : 0;
    decision->predicted_s = now * next;
    if (!may_move(nodes, found) || left < 1) return YOKE_OK;
    yoke_status status = fit_all(nodes);
    if (!status) status = find_best(nodes, &longest);
    if (!status) turn_best(nodes, rectangles);
    if (nodes->partition == DENSE_PARTITION_CPM) nodes->moves++; /* it decides once */
    if (status || memcmp(nodes->best, rectangles, bytes) == 0) return status;
    decision->gain_s = (now - longest) * left;
    decision->cost_s = cost_of_moving(nodes, rectangles);
    if (!(decision->gain_s > decision->cost_s)) return YOKE_OK;
    decision->moves = 1;
    decision->predicted_s = longest * next;
    nodes->moves++;
    nodes->steps = 0;
    memcpy(rectangles, nodes->best, bytes);
    return YOKE_OK;
}
