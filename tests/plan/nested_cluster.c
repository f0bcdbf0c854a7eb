#include "nested_cluster.h"

#include <math.h>

#include "random_part.h"
#include "unit.h"

yoke_context *cluster_context(void)
{
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    return context;
}

double cluster_seconds(const device *d, double blocks)
{
    double more = blocks > d->memory ? d->jump + d->beyond * (blocks - d->memory) : 0;
    return d->start + d->per_block * blocks + more;
}

static yoke_status simulate(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    cluster *all = user;
    if (++all->calls == all->fail_call) return yoke_fail(all->context, YOKE_ERROR_DEVICE, "the card fell off the bus");
    for (int64_t i = 0, k = 0; i < all->num_nodes; i++) {
        int64_t width = 0;
        for (int64_t j = 0; j < all->devices[i]; j++) width += columns[k + j];
        for (int64_t j = 0; j < all->devices[i]; j++, k++) {
            seconds[k] = NAN;
            if (columns[k] == 0) continue;
            assert_true(rows[i] > 0 && columns[k] > 0);
            double shape = 1 + all->shape * fabs(log2((double)rows[i] / (double)columns[k]));
            seconds[k] = cluster_seconds(&all->device[i][j], (double)rows[i] * (double)columns[k]) * shape *
                             (1 + all->noise * (2 * random_part(&all->seed) - 1)) +
                         all->side_s * (double)(rows[i] + width);
            if (i == 1 && j == 1 && all->bad != 0) seconds[k] = all->bad;
        }
    }
    return YOKE_OK;
}

yoke_nested_options cluster_options(cluster *all, int64_t blocks, yoke_nested_strategy strategy)
{
    return (yoke_nested_options){
        .blocks = blocks, .num_nodes = all->num_nodes, .devices = all->devices, .strategy = strategy, .kernel = simulate, .user = all};
}

bool cluster_are_disjoint(const yoke_rectangle *a, const yoke_rectangle *b)
{
    return a->row + a->rows <= b->row || b->row + b->rows <= a->row || a->column + a->columns <= b->column ||
           b->column + b->columns <= a->column;
}

double cluster_check(const cluster *all, int64_t blocks, const yoke_nested_plan *plan)
{
    int64_t sum = 0;
    double most = 0, least = INFINITY;
    for (int64_t i = 0; i < all->num_nodes; i++) {
        const yoke_rectangle *r = &plan->nodes[i];
        assert_true(r->row >= 0 && r->column >= 0 && r->row + r->rows <= blocks && r->column + r->columns <= blocks);
        assert_true((r->rows > 0) == (r->columns > 0));
        sum += r->rows * r->columns;
        for (int64_t j = 0; j < i; j++)
            if (r->rows > 0 && plan->nodes[j].rows > 0) assert_true(cluster_are_disjoint(r, &plan->nodes[j]));
        int64_t columns = 0;
        double longest = 0;
        for (int64_t j = 0; j < all->devices[i]; j++) {
            int64_t of_device = plan->device_columns[i][j];
            assert_true(of_device >= 0);
            columns += of_device;
            double shape = 1 + all->shape * fabs(log2((double)r->rows / (double)of_device));
            const double sides = all->side_s * (double)(r->rows + r->columns);
            if (of_device > 0) longest = fmax(longest, cluster_seconds(&all->device[i][j], (double)(r->rows * of_device)) * shape + sides);
        }
        assert_int_equal(columns, r->columns);
        assert_float_equal(plan->node_s[i], longest, (1e-12 + all->noise) * longest);
        if (r->rows == 0) continue;
        most = fmax(most, plan->node_s[i]);
        least = fmin(least, plan->node_s[i]);
    }
    assert_true(sum == blocks * blocks);
    assert_float_equal(plan->imbalance, (most - least) / least, 1e-9 * (1 + most / least));
    if (plan->converged) assert_true(plan->imbalance <= 0.05);
    return most;
}

double cluster_makespan(yoke_context *context, cluster *all, int64_t blocks, yoke_nested_strategy strategy, int *converged, int64_t *rounds)
{
    yoke_nested_options options = cluster_options(all, blocks, strategy);
    yoke_nested_plan *plan = NULL;
    assert_int_equal(yoke_plan_nested(context, &options, &plan), YOKE_OK);
    double longest = cluster_check(all, blocks, plan);
    if (converged != NULL) *converged = plan->converged;
    if (rounds != NULL) *rounds = plan->rounds;
    yoke_release(context, plan);
    return longest;
}

void cluster_make(cluster *all, int64_t nodes)
{
    *all = (cluster){.num_nodes = nodes};
    for (int64_t i = 0; i < nodes; i++) {
        double core = 4.2e-4, cores = (double)(1 + i * 5 % 8);
        all->devices[i] = 1;
        all->device[i][0] = (device){.start = 1e-4, .per_block = core / cores, .memory = 20000, .beyond = 5 * core / cores};
        if (i % 4 != 3) continue;
        all->devices[i] = 2;
        all->device[i][1] = (device){.start = 2e-3, .per_block = 1.4e-5, .memory = 16000, .beyond = 7e-5};
    }
}

void cluster_make_random(cluster *all, uint64_t *seed)
{
    *all = (cluster){.num_nodes = 1 + random_below(seed, 12), .seed = *seed};
    for (int64_t i = 0; i < all->num_nodes; i++) {
        all->devices[i] = 1 + random_below(seed, MAX_DEVICES);
        for (int64_t j = 0; j < all->devices[i]; j++) {
            double per_block = 1e-4 * exp(3 * random_part(seed));
            all->device[i][j] = (device){.start = random_below(seed, 2) == 0 ? 0 : 1e-3 * random_part(seed),
                                         .per_block = per_block,
                                         .memory = random_below(seed, 2) == 0 ? INFINITY : 2000 + 50000 * random_part(seed),
                                         .beyond = 8 * random_part(seed) * per_block};
            if (random_below(seed, 4) == 0 && isfinite(all->device[i][j].memory))
                all->device[i][j].jump = random_part(seed) * per_block * all->device[i][j].memory;
        }
    }
}
