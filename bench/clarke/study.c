#include "clarke/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *clarke_strategy_name(yoke_nested_strategy strategy)
{
    static const char *const names[CLARKE_STRATEGIES] = {"fpm", "cpm", "cpm-multi", "even"};
    return names[strategy];
}

/* --------------------------------------------------------------------------------------- table and figure 1.10 */

/* Seconds of work of each node in a step according to a plan. */
static void work_of(const clarke_cluster *cluster, const yoke_nested_plan *plan, double node_s[CLARKE_MAX_NODES])
{
    int64_t rows[CLARKE_MAX_NODES], columns[2 * CLARKE_MAX_NODES];
    double seconds[2 * CLARKE_MAX_NODES];
    for (int64_t i = 0, k = 0; i < cluster->num_nodes; i++) {
        rows[i] = plan->nodes[i].rows;
        for (int64_t j = 0; j < cluster->devices[i]; j++) columns[k++] = plan->device_columns[i][j];
    }
    clarke_work(cluster, rows, columns, seconds);
    for (int64_t i = 0, k = 0; i < cluster->num_nodes; i++) {
        node_s[i] = 0;
        for (int64_t j = 0; j < cluster->devices[i]; j++, k++)
            if (rows[i] > 0 && columns[k] > 0) node_s[i] = fmax(node_s[i], seconds[k]);
    }
}

yoke_status clarke_try(yoke_context *context, clarke_cluster *cluster, yoke_nested_strategy strategy, int64_t blocks, int64_t edge,
                       double stated, clarke_run *run)
{
    double node_blocks[CLARKE_MAX_NODES], device_blocks[2 * CLARKE_MAX_NODES];
    const yoke_nested_options options = {.blocks = blocks,
                                         .num_nodes = cluster->num_nodes,
                                         .devices = cluster->devices,
                                         .strategy = strategy,
                                         .kernel = clarke_step,
                                         .user = cluster,
                                         .node_blocks = node_blocks,
                                         .device_blocks = device_blocks};
    yoke_nested_plan *plan = NULL;
    clarke_traffic sent;
    double work_s[CLARKE_MAX_NODES];
    cluster->blocks = blocks;
    clarke_limits(cluster, stated, node_blocks, device_blocks);
    yoke_status status = yoke_plan_nested(context, &options, &plan);
    if (status) return status;
    *run = (clarke_run){.blocks = blocks,
                        .strategy = strategy,
                        .imbalance = plan->imbalance,
                        .rounds = plan->rounds,
                        .timings = plan->timings,
                        .converged = plan->converged != 0,
                        .measuring_s = plan->measuring_s,
                        .edge = edge};
    memcpy(run->nodes, plan->nodes, (size_t)cluster->num_nodes * sizeof *plan->nodes);
    work_of(cluster, plan, work_s);
    clarke_communicate(cluster, blocks, plan->nodes, work_s, &run->traffic);
    const double side = (double)blocks;
    run->operations_per_s = side * side * side * clarke_block_operations() / run->traffic.seconds;
    if (edge > 0) status = clarke_multiply(context, cluster, blocks, edge, plan, &run->wrong, &sent);
    /* the network model counts the blocks that are actually copied */
    if (!status && edge > 0 && (sent.messages != run->traffic.messages || sent.blocks != run->traffic.blocks))
        status =
            yoke_fail(context, YOKE_ERROR_INTERNAL, "%lld messages of %lld blocks were sent, %lld of %lld counted",
                      (long long)sent.messages, (long long)sent.blocks, (long long)run->traffic.messages, (long long)run->traffic.blocks);
    yoke_release(context, plan);
    return status;
}

/* ------------------------------------------------------------------------------------------------- figure 1.6 */

typedef struct recorder {
    clarke_cluster *cluster;
    clarke_study *study;
} recorder;

/* Computes the time of four nodes with one device each, and records it. */
static yoke_status note_step(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    recorder *all = user;
    clarke_study *study = all->study;
    yoke_status status = clarke_step(all->cluster, rows, columns, seconds);
    if (status || study->num_steps == CLARKE_MAX_STEPS) return status;
    clarke_model_step *step = &study->steps[study->num_steps++];
    double longest = 0, shortest = INFINITY;
    for (int i = 0; i < 4; i++) {
        step->units[i] = rows[i] * columns[i];
        step->seconds[i] = step->units[i] > 0 ? seconds[i] : 0;
        if (step->units[i] == 0) continue;
        longest = fmax(longest, seconds[i]);
        shortest = fmin(shortest, seconds[i]);
    }
    step->imbalance = longest / shortest - 1;
    return YOKE_OK;
}

/* Makes a cluster with one device per node from the processors and cards of the others. */
static void take(clarke_cluster *to, const clarke_node *node, bool card)
{
    clarke_node *made = &to->nodes[to->num_nodes];
    *made = *node;
    if (card)
        made->processor = 0, made->cores = 0;
    else
        made->card = NULL;
    to->devices[to->num_nodes++] = 1;
}

yoke_status clarke_partial_models(yoke_context *context, clarke_study *study)
{
    enum { SIDE = 240 }; /* in blocks: more than fits in the memory of the cards */
    clarke_cluster eight, four = {.work_only = true};
    clarke_eight(&eight);
    take(&four, &eight.nodes[2], true);
    take(&four, &eight.nodes[0], true);
    take(&four, &eight.nodes[5], false);
    take(&four, &eight.nodes[3], false);
    recorder all = {&four, study};
    const yoke_nested_options options = {
        .blocks = SIDE, .num_nodes = 4, .devices = four.devices, .strategy = YOKE_NESTED_FPM, .kernel = note_step, .user = &all};
    yoke_nested_plan *plan = NULL;
    study->num_steps = 0;
    yoke_status status = yoke_plan_nested(context, &options, &plan);
    yoke_release(context, plan);
    return status;
}

/* ------------------------------------------------------------------------------------------------- figure 1.9 */

static void name_node(const clarke_node *node, char name[48])
{
    snprintf(name, 48, "%s, %d core%s%s%s", node->kind, node->cores, node->cores == 1 ? "" : "s", node->card ? " and " : "",
             node->card ? node->card->name : "");
}

yoke_status clarke_speed_functions(yoke_context *context, clarke_study *study)
{
    static const int of_eight[CLARKE_CURVES] = {2, 1, 5, 3, 7};
    clarke_cluster eight;
    clarke_eight(&eight);
    for (int c = 0; c < CLARKE_CURVES; c++) {
        clarke_curve *curve = &study->curves[c];
        clarke_cluster one = {
            .num_nodes = 1, .work_only = true, .devices = {eight.devices[of_eight[c]]}, .nodes = {eight.nodes[of_eight[c]]}};
        name_node(&one.nodes[0], curve->name);
        for (int p = 0; p < CLARKE_POINTS; p++) {
            const int64_t side = 20 + 12 * p;
            const yoke_nested_options options = {
                .blocks = side, .num_nodes = 1, .devices = one.devices, .kernel = clarke_step, .user = &one};
            yoke_nested_plan *plan = NULL;
            yoke_status status = yoke_plan_nested(context, &options, &plan);
            if (status) return status;
            curve->blocks[p] = (double)(side * side);
            curve->operations_per_s[p] = curve->blocks[p] * clarke_block_operations() / plan->node_s[0];
            yoke_release(context, plan);
        }
    }
    return YOKE_OK;
}
