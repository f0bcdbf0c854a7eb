/*
 * nested_devices.c - IDPA (Clarke, sect. 1.9): the columns of one node's rectangle are shared by its devices while these are measured.
 *
 * It differs from the published outline in three points.  Models are in blocks and are kept from one rectangle to the next, so the height
 * of a rectangle may change.  Devices without columns are not timed.  It ends if a partition is repeated, with the best partition that was
 * measured.
 */
#include <math.h>
#include <string.h>

#include "plan/partition/nested.h"

static size_t bytes(const nested_node *node) { return (size_t)node->devices * sizeof(int64_t); }

void nested_node_begin(nested_node *node, const nested_settings *settings, int64_t rows, int64_t width)
{
    node->rows = rows;
    node->width = width;
    node->rounds = 0;
    node->best_s = 0;
    node->done = rows == 0 || width == 0;
    if (node->done) {
        memset(node->columns, 0, bytes(node));
        memset(node->best, 0, bytes(node));
    } else if (node->placed && settings->strategy != YOKE_NESTED_HOMOGENEOUS) {
        nested_share(node->devices, node->models, width, (double)rows, node->columns);
    } else {
        nested_share_evenly(node->devices, width, node->columns);
    }
}

static void learn(nested_node *node, const nested_settings *settings, const double *seconds, int64_t round)
{
    const double sides = node->devices > 1 ? (double)(node->rows + node->width) : 0;
    for (int64_t i = 0; i < node->devices; i++)
        if (node->columns[i] > 0)
            nested_model_add(&node->models[i], (double)node->rows * (double)node->columns[i], seconds[i], sides, round,
                             settings->strategy != YOKE_NESTED_FPM);
    node->placed = true;
}

static void take_as_best(nested_node *node, double seconds)
{
    memcpy(node->best, node->columns, bytes(node));
    node->best_s = seconds;
}

void nested_node_take(nested_node *node, const nested_settings *settings, const double *seconds, int64_t round)
{
    double longest, imbalance = nested_imbalance(node->devices, node->columns, seconds, &longest);
    bool balanced = imbalance <= settings->device_tolerance, first = !node->placed;
    for (int64_t i = 0; i < node->devices; i++) balanced = balanced && node->columns[i] > 0;
    bool iterated = settings->strategy == YOKE_NESTED_FPM || settings->strategy == YOKE_NESTED_MULTIPLE_CPM;
    if (!iterated || balanced || node->rounds == 0 || longest < node->best_s) take_as_best(node, longest);
    memcpy(node->tried + node->rounds * node->devices, node->columns, bytes(node));
    node->rounds++;
    /* Speeds of the single CPM are constants, known from the first shares; they are not measured again. */
    node->done = settings->strategy == YOKE_NESTED_HOMOGENEOUS || (settings->strategy == YOKE_NESTED_SINGLE_CPM && !first);
    if (node->done) return;
    learn(node, settings, seconds, round);
    if (balanced || node->devices == 1 || node->rounds == settings->max_rounds) {
        node->done = true;
        return;
    }
    nested_share(node->devices, node->models, node->width, (double)node->rows, node->columns);
    node->done = nested_tried(node->rounds, node->devices, node->tried, node->columns);
}
