#include "ranks/nodes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/*
 * RECENT: for each partition only the latest steps are used, because the load of a machine changes.  MANY: in products of at least so many
 * steps, a partition is kept for two steps before another one.
 */
enum { MOST_POINTS = 16, RECENT = 5, MANY = 8 };

/* Measurement of a rank with a number of blocks: seconds per pivot column, because steps have different numbers of columns. */
typedef struct point {
    double blocks, recent_s[RECENT];
    int64_t calls;
} point;

typedef struct node {
    point points[MOST_POINTS]; /* the latest point is the last one */
    int count;
} node;

struct dense_nodes {
    yoke_context *context;
    const dense_grid *grid;
    dense_partition partition;
    double limit;
    node *nodes;                     /* [ranks] */
    int *known, num_known;           /* [ranks] the ranks that were measured */
    int64_t *one_each;               /* [ranks] number of devices, always 1 */
    yoke_nested_point *known_points; /* [MOST_POINTS ranks] */
    double *memory_bytes;            /* [ranks]; infinite: not known */
    double *fitting_blocks;          /* [num_known] blocks of C */
    yoke_rectangle *first, *best;    /* [ranks] */
    double seconds_per_byte;         /* shortest measured time of messages; 0: there were none */
    double filling;                  /* seconds per byte of new memory, of the slowest rank */
    double move_s;                   /* seconds of the latest move; 0: there was none */
    int64_t moves;
    int64_t steps; /* with this partition */
};

static void set_up(dense_nodes *all, const yoke_rectangle *first)
{
    const int ranks = all->grid->ranks;
    all->best = all->first + ranks;
    all->fitting_blocks = all->memory_bytes + ranks;
    for (int i = 0; i < ranks; i++) {
        all->one_each[i] = 1;
        all->first[i] = first[i];
        all->memory_bytes[i] = INFINITY;
    }
}

yoke_status dense_nodes_create(yoke_context *context, const dense_grid *grid, const yoke_rectangle *first, dense_partition partition,
                               double limit, dense_nodes **nodes)
{
    dense_nodes *all = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *all, &all);
    if (status) return status;
    *all = (dense_nodes){.context = context, .grid = grid, .partition = partition, .limit = limit};
    status = yoke_allocate(context, grid->ranks, sizeof *all->nodes, &all->nodes);
    if (!status) status = yoke_allocate(context, grid->ranks, sizeof *all->known, &all->known);
    if (!status) status = yoke_allocate(context, grid->ranks, sizeof *all->one_each, &all->one_each);
    if (!status) status = yoke_allocate(context, MOST_POINTS * grid->ranks, sizeof *all->known_points, &all->known_points);
    if (!status) status = yoke_allocate(context, 2 * grid->ranks, sizeof *all->memory_bytes, &all->memory_bytes);
    if (!status) status = yoke_allocate(context, 2 * grid->ranks, sizeof *all->first, &all->first);
    if (!status) set_up(all, first);
    if (status)
        dense_nodes_destroy(all);
    else
        *nodes = all;
    return status;
}

void dense_nodes_destroy(dense_nodes *nodes)
{
    if (!nodes) return;
    yoke_release(nodes->context, nodes->nodes);
    yoke_release(nodes->context, nodes->known);
    yoke_release(nodes->context, nodes->one_each);
    yoke_release(nodes->context, nodes->known_points);
    yoke_release(nodes->context, nodes->memory_bytes);
    yoke_release(nodes->context, nodes->first);
    yoke_release(nodes->context, nodes);
}

yoke_status dense_nodes_start(yoke_context *context, const dense_grid *grid, yoke_rectangle *rectangles)
{
    double *areas = NULL;
    yoke_status status = yoke_allocate(context, grid->ranks, sizeof *areas, &areas);
    if (status) return status;
    for (int i = 0; i < grid->ranks; i++)
        areas[i] = i < grid->rows * grid->columns ? 1 : 0; /* surplus ranks have no work if there are more ranks than blocks */
    status = yoke_plan_columns(context, grid->ranks, areas, grid->rows, grid->columns, rectangles, NULL);
    yoke_release(context, areas);
    return status;
}

/* ---------------------------------------------------------------------------------------------- measurements */

static void learn(const dense_nodes *all, node *n, double blocks, double seconds)
{
    point *latest = n->count ? &n->points[n->count - 1] : NULL;
    if (latest && latest->blocks == blocks && all->steps > 0) {
        latest->recent_s[latest->calls++ % RECENT] = seconds;
        return;
    }
    /* An earlier point with the same number of blocks is replaced; otherwise, if the list is full, the oldest point is dropped. */
    int drop = n->count == MOST_POINTS ? 0 : -1;
    for (int k = 0; k < n->count; k++)
        if (n->points[k].blocks == blocks) drop = k;
    if (drop >= 0) {
        memmove(n->points + drop, n->points + drop + 1, (size_t)(n->count - drop - 1) * sizeof *n->points);
        n->count--;
    }
    n->points[n->count++] = (point){blocks, {seconds}, 1};
}

/* Delays of other ranks prolong messages, so the shortest time is used. */
void dense_nodes_messages(dense_nodes *nodes, const dense_node_report *reports)
{
    double longest = 0, most = 0;
    for (int i = 0; i < nodes->grid->ranks; i++) {
        if (reports[i].bytes > 0) longest = fmax(longest, reports[i].transfer_s);
        most = fmax(most, reports[i].bytes);
        nodes->filling = fmax(nodes->filling, reports[i].filling);
        if (reports[i].memory_bytes > 0) nodes->memory_bytes[i] = reports[i].memory_bytes;
    }
    if (most > 0 && longest > 0 && (nodes->seconds_per_byte == 0 || longest / most < nodes->seconds_per_byte))
        nodes->seconds_per_byte = longest / most;
}

void dense_nodes_moved(dense_nodes *nodes, double seconds) { nodes->move_s = seconds; }

/*
 * Returns the median (of two values, the smaller one), so that occasional loads by other programs do not count.  *noise becomes at least
 * about the relative error of the median, estimated from the spread of the steps without the slowest of three or more.
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

/* Returns the imbalance of the medians with this partition, minus the part that may be noise.  *longest_s: the longest of these medians. */
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

/* ------------------------------------------------------------------------------------------------------ best partition */

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

/* An arrangement may be mirrored vertically and horizontally.  Chooses the variant in which most blocks stay where they are. */
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

/*
 * Collects the measurements of the known ranks, for each rank that of the latest partition last; for constant models only that one.
 * Returns the number of points.
 */
static int64_t points_of(const dense_nodes *all, yoke_nested_point *points)
{
    int64_t count = 0;
    for (int i = 0; i < all->num_known; i++) {
        const node *n = &all->nodes[all->known[i]];
        for (int k = all->partition == DENSE_PARTITION_FPM ? 0 : n->count - 1; k < n->count; k++)
            points[count++] = (yoke_nested_point){.node = i, .blocks = n->points[k].blocks, .seconds = seconds_of(&n->points[k], NULL)};
    }
    return count;
}

/* Memory of a rank for the new partition: while C moves, the rank also holds its old part. */
static double bytes_for_c(const dense_nodes *all, int rank, yoke_rectangle now)
{
    return all->memory_bytes[rank] - entries(dense_grid_of_c(all->grid, now)) * (double)all->grid->precision;
}

/*
 * Whether all ranks have enough memory to change from the present partition to the best one.  Reduces the limits of ranks that do not:
 * their rectangles have longer sides than a square.
 */
static bool fits(dense_nodes *all, const yoke_rectangle *now)
{
    bool all_fit = true;
    for (int k = 0; k < all->num_known; k++) {
        const int i = all->known[k];
        const double more = dense_grid_bytes(all->grid, all->first[i], all->best[i]) - bytes_for_c(all, i, now[i]);
        if (!(more > 0)) continue;
        const double of_block = (double)all->grid->block * (double)all->grid->block * (double)all->grid->precision;
        all->fitting_blocks[k] = fmax(1, fmin(all->fitting_blocks[k], entries(all->best[i])) - ceil(more / of_block));
        all_fit = false;
    }
    return all_fit;
}

/*
 * Computes the best partition by the models of the known ranks, and the time of its slowest rank.  A pivot column takes a rank the time of
 * its work, or of the messages for the next column.
 */
static yoke_status plan_best(dense_nodes *all, int64_t points, double *longest)
{
    const dense_grid *g = all->grid;
    yoke_nested_plan *plan = NULL;
    const yoke_nested_options options = {.blocks = g->rows,
                                         .columns = g->columns,
                                         .num_nodes = all->num_known,
                                         .devices = all->one_each,
                                         .strategy = YOKE_NESTED_FPM,
                                         .node_tolerance = all->limit / 4,
                                         .node_blocks = all->fitting_blocks,
                                         .points = all->known_points,
                                         .num_points = points,
                                         .message_s = (double)g->block * (double)g->precision * all->seconds_per_byte};
    yoke_status status = yoke_plan_nested(all->context, &options, &plan);
    memset(all->best, 0, (size_t)g->ranks * sizeof *all->best);
    *longest = 0;
    for (int i = 0; i < all->num_known && !status; i++) {
        all->best[all->known[i]] = plan->nodes[i];
        *longest = fmax(*longest, plan->node_s[i]);
    }
    yoke_release(all->context, plan);
    return status;
}

/* Finds the best partition for which the ranks have enough memory; *found: whether there is one. */
static yoke_status find_best(dense_nodes *all, const yoke_rectangle *now, double *longest, bool *found)
{
    enum { TRIES = 4 };
    const dense_grid *g = all->grid;
    all->num_known = 0;
    for (int i = 0; i < g->ranks; i++)
        if (all->nodes[i].count) {
            all->fitting_blocks[all->num_known] = dense_grid_fitting(g, all->first[i], bytes_for_c(all, i, now[i]));
            all->known[all->num_known++] = i;
        }
    const int64_t points = points_of(all, all->known_points);
    yoke_status status = YOKE_OK;
    *found = false;
    for (int k = 0; k < TRIES && !*found && !status; k++) {
        status = plan_best(all, points, longest);
        *found = !status && fits(all, now);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------- decisions */

/*
 * Seconds of a move: blocks of C are sent to their new ranks, all of which allocate new memory, and pivots that are being sent are fetched
 * again; at least the time of the latest move.
 */
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
    bool enough_memory = false;
    yoke_status status = find_best(nodes, rectangles, &longest, &enough_memory);
    if (!status) turn_best(nodes, rectangles);
    if (nodes->partition == DENSE_PARTITION_CPM) nodes->moves++; /* this partition changes only once */
    if (status || memcmp(nodes->best, rectangles, bytes) == 0 || !enough_memory) return status;
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
