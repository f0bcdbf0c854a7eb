/*
 * nested_sides.c - the cost of the sides of rectangles for nodes, such as messages along them.
 */
#include <math.h>
#include <stdlib.h>

#include "plan/partition/nested.h"

typedef struct estimate {
    double side_s, weight;
} estimate;

static int ascending(const void *left, const void *right)
{
    const estimate *a = left, *b = right;
    return a->side_s < b->side_s ? -1 : a->side_s > b->side_s;
}

/* An estimate from two points of a model with about the same number of blocks.  Weight 0: no estimate. */
static estimate compare(const nested_point *a, const nested_point *b)
{
    static const double alike = 0.15;
    const double of_a = a->longer + 2 * sqrt(a->blocks), of_b = b->longer + 2 * sqrt(b->blocks);
    const double sides = of_a / a->blocks - of_b / b->blocks, seconds = a->measured_s / a->blocks - b->measured_s / b->blocks;
    if (fabs(a->blocks - b->blocks) > alike * a->blocks || sides == 0) return (estimate){0, 0};
    return (estimate){seconds / sides, fabs(sides) * a->blocks / a->measured_s};
}

/* The smallest value for which the sum of weights reaches `weight`. */
static double quantile(const estimate *list, int64_t count, double weight)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        if ((sum += list[i].weight) >= weight) return list[i].side_s;
    return list[count - 1].side_s;
}

/* Seconds of a square, shared by the devices of a node. */
static double together_s(const nested_model *model, const nested_node *node, double blocks)
{
    return nested_together_s(node->devices, node->models, blocks) + 2 * model->side_s * sqrt(blocks);
}

/* The next time after `seconds` at which a device reaches a limit that is held; infinite: none does. */
static double next_limit_s(const nested_node *node, double seconds)
{
    double next = INFINITY;
    for (int64_t j = 0; j < node->devices; j++) {
        const nested_model *model = &node->models[j];
        const double full_s = isinf(model->held) ? INFINITY : yoke_curve_seconds(&model->curve, model->held);
        if (full_s > seconds * (1 + 1e-9)) next = fmin(next, full_s);
    }
    return next;
}

/* The number of blocks that the devices of a node do within `seconds`. */
static double blocks_within(const nested_node *node, double seconds)
{
    double blocks = 0;
    for (int64_t j = 0; j < node->devices; j++) blocks += nested_units(&node->models[j], seconds, 1, true);
    return blocks;
}

/*
 * After the last point devices reach held limits one after the other, and the remaining devices do the rest.  Up to the first limit the
 * curve is not changed, so that distant limits have no effect.
 */
static void add_limits(nested_model *model, const nested_node *node)
{
    double room = 0, last = model->curve.units[model->curve.knots - 1];
    double seconds = next_limit_s(node, nested_together_s(node->devices, node->models, last));
    for (int64_t j = 0; j < node->devices; j++) room += node->models[j].held;
    model->held = fmin(model->held, room);
    while (!isinf(seconds)) {
        const double here = blocks_within(node, seconds), next_s = next_limit_s(node, seconds);
        const double next = isinf(next_s) ? fmin(2 * here, room) : blocks_within(node, next_s);
        if (!(here > last)) return;
        const double slope = next > here ? (together_s(model, node, next) - together_s(model, node, here)) / (next - here) : 0;
        nested_model_bend(model, here, slope);
        last = here;
        seconds = next_s;
    }
}

/* Replaces the seconds of a node's points by those of squares, computed from its devices. */
static void join_devices(nested_model *model, const nested_node *node)
{
    for (int64_t k = 0; k < model->count; k++) {
        nested_point *point = &model->points[k];
        point->seconds = together_s(model, node, point->blocks);
    }
    nested_model_draw(model);
    bool held = false;
    for (int64_t j = 0; j < node->devices; j++) held = held || !isinf(node->models[j].held);
    if (held) add_limits(model, node);
}

void nested_find_sides(int64_t count, nested_model *models, const nested_node *nodes)
{
    enum { MOST = 1024, FEWEST = 4 };
    static const double agreement = 0.5; /* largest distance of the quartiles from each other, relative to the median */
    estimate list[MOST];
    int64_t found = 0;
    double all = 0, side_s = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k + 1 < models[i].count && found < MOST; k++) {
            list[found] = compare(&models[i].points[k], &models[i].points[k + 1]);
            all += list[found].weight;
            found += list[found].weight > 0;
        }
    if (found >= FEWEST) {
        qsort(list, (size_t)found, sizeof *list, ascending);
        const double median = quantile(list, found, all / 2);
        if (quantile(list, found, 0.75 * all) - quantile(list, found, all / 4) < agreement * median) side_s = median;
    }
    for (int64_t i = 0; i < count; i++) {
        nested_model_set_sides(&models[i], side_s);
        if (nodes[i].devices == 1) continue;
        for (int64_t j = 0; j < nodes[i].devices; j++) nested_model_set_sides(&nodes[i].models[j], side_s);
        join_devices(&models[i], &nodes[i]);
    }
}
