/*
 * nested_known.c - partitions from earlier measurements: the models of nodes with one device are made of given points, not measured with a
 * kernel.
 */
#include <math.h>

#include "base/context.h"
#include "plan/partition/nested.h"

enum { MOST_POINTS = 1000000 };

typedef struct known {
    yoke_context *context;
    const yoke_nested_options *options;
    nested_model *models; /* [num_nodes] */
    double *limits;       /* [num_nodes]: blocks that are not exceeded; infinite: no limit is stated, or all limits together have no room */
} known;

static yoke_status check(yoke_context *context, const yoke_nested_options *options)
{
    if (options->kernel != NULL || options->num_points < 1 || options->num_points > MOST_POINTS)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld points%s; give 1 to %d points, or a kernel that measures",
                         (long long)options->num_points, options->kernel != NULL ? " and a kernel" : "", MOST_POINTS);
    if (!(options->message_s >= 0 && isfinite(options->message_s)))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "messages of %g s for a block; that must not be negative", options->message_s);
    for (int64_t i = 0; i < options->num_nodes; i++)
        if (options->devices[i] != 1)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "node %lld has %lld devices; with points each has one", (long long)i,
                             (long long)options->devices[i]);
    for (int64_t k = 0; k < options->num_points; k++) {
        const yoke_nested_point *p = &options->points[k];
        if (p->node < 0 || p->node >= options->num_nodes || !(p->blocks >= 1 && isfinite(p->blocks)) ||
            !(p->seconds >= nested_least_s && p->seconds <= nested_most_s))
            return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                             "point %lld: node %lld, %g blocks, %g s; expected a node below %lld, blocks from 1 on, seconds above 0",
                             (long long)k, (long long)p->node, p->blocks, p->seconds, (long long)options->num_nodes);
    }
    return YOKE_OK;
}

/* Adds a point as the next measurement of its node. */
static void add_point(nested_model *model, const yoke_nested_point *point)
{
    int64_t round = 0;
    for (int64_t k = 0; k < model->count; k++)
        if (model->points[k].round >= round) round = model->points[k].round + 1;
    nested_model_add(model, point->blocks, point->seconds, 0, round, false);
}

static yoke_status learn(known *all)
{
    const yoke_nested_options *options = all->options;
    double room = 0;
    for (int64_t i = 0; i < options->num_nodes; i++)
        all->models[i].fitting = fmin(nested_stated(options, options->node_blocks, i), nested_stated(options, options->device_blocks, i));
    for (int64_t k = 0; k < options->num_points; k++) add_point(&all->models[options->points[k].node], &options->points[k]);
    for (int64_t i = 0; i < options->num_nodes; i++) {
        if (all->models[i].count == 0)
            return yoke_fail(all->context, YOKE_ERROR_ARGUMENT, "node %lld has no point; leave out nodes that were not measured",
                             (long long)i);
        room += all->models[i].fitting;
    }
    const bool kept = room >= (double)options->blocks * (double)nested_columns(options);
    for (int64_t i = 0; i < options->num_nodes; i++) all->limits[i] = kept ? all->models[i].fitting : INFINITY;
    return YOKE_OK;
}

/* Predicted seconds: the longer of the work and the messages that overlap with it. */
static yoke_status predict(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    const known *all = user;
    for (int64_t i = 0; i < all->options->num_nodes; i++) {
        if (columns[i] == 0) continue;
        const double work_s = yoke_curve_seconds(&all->models[i].curve, (double)rows[i] * (double)columns[i]);
        seconds[i] = fmax(work_s, all->options->message_s * (double)(rows[i] + columns[i]));
    }
    return YOKE_OK;
}

yoke_status nested_plan_known(yoke_context *context, const yoke_nested_options *options, yoke_nested_plan **plan)
{
    known all = {.context = context, .options = options};
    yoke_status status = check(context, options);
    if (status != YOKE_OK) return status;
    status = yoke_allocate(context, options->num_nodes, sizeof *all.models, &all.models);
    if (status == YOKE_OK) status = yoke_allocate(context, options->num_nodes, sizeof *all.limits, &all.limits);
    if (status == YOKE_OK) status = learn(&all);
    if (status == YOKE_OK) {
        yoke_nested_options by_models = *options;
        by_models.points = NULL;
        by_models.kernel = predict;
        by_models.user = &all;
        by_models.node_blocks = all.limits;
        by_models.device_blocks = NULL;
        status = nested_plan(context, &by_models, true, plan);
    }
    yoke_release(context, all.models);
    yoke_release(context, all.limits);
    return status;
}
