#include "output/quantities/extremes.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "output/quantities/principal.h"

/* For each extreme, the best value so far (with reversed sign for a minimum) and its node or point. */
typedef struct candidates {
    double value[FEM_EXTREMES];
    int32_t index[FEM_EXTREMES];
} candidates;

static const candidates none = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
                                {-1, -1, -1, -1, -1, -1, -1}};

static void offer(candidates *best, fem_extreme_kind kind, double value, int32_t index)
{
    if (!(value > best->value[kind])) return;
    best->value[kind] = value;
    best->index[kind] = index;
}

static double length3(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static void offer_node(candidates *best, int components, const double *u, int32_t i)
{
    if (components == 3) {
        offer(best, FEM_EXTREME_DISPLACEMENT, length3(u + 3 * (int64_t)i), i);
        return;
    }
    offer(best, FEM_EXTREME_VALUE_LARGEST, u[i], i);
    offer(best, FEM_EXTREME_VALUE_SMALLEST, -u[i], i);
}

/*
 * A principal stress differs from the mean stress by at most two thirds of the von Mises stress, so eigenvalues are needed only at few
 * points.
 */
static void offer_point(candidates *best, const fem_stress *stress, int32_t i)
{
    const double *value = stress->value + (int64_t)stress->tensor * i;
    if (stress->tensor == 3) {
        offer(best, FEM_EXTREME_GRADIENT, length3(value), i);
        return;
    }
    double von_mises = fem_von_mises(value), mean = (value[0] + value[1] + value[2]) / 3;
    double reach = 0.667 * von_mises + 1e-9 * fabs(mean), principal[3];
    offer(best, FEM_EXTREME_VON_MISES, von_mises, i);
    if (!(mean + reach > best->value[FEM_EXTREME_PRINCIPAL_LARGEST]) && !(reach - mean > best->value[FEM_EXTREME_PRINCIPAL_SMALLEST]))
        return;
    fem_principal(value, principal);
    offer(best, FEM_EXTREME_PRINCIPAL_LARGEST, principal[0], i);
    offer(best, FEM_EXTREME_PRINCIPAL_SMALLEST, -principal[2], i);
}

static int is_smallest(int kind) { return kind == FEM_EXTREME_PRINCIPAL_SMALLEST || kind == FEM_EXTREME_VALUE_SMALLEST; }

static int is_of_point(int kind)
{
    return kind == FEM_EXTREME_GRADIENT || (kind >= FEM_EXTREME_VON_MISES && kind <= FEM_EXTREME_PRINCIPAL_SMALLEST);
}

void fem_extremes_unknown(fem_extreme extremes[FEM_EXTREMES])
{
    for (int k = 0; k < FEM_EXTREMES; k++) extremes[k] = (fem_extreme){NAN, {NAN, NAN, NAN}, -1};
}

/* Whether a is the extreme of the two; of equal values, that of the lower node. */
static int precedes(int kind, const fem_extreme *a, const fem_extreme *b)
{
    if (a->node < 0 || b->node < 0) return b->node < 0;
    if (a->value != b->value) return is_smallest(kind) ? a->value < b->value : a->value > b->value;
    return a->node < b->node;
}

static yoke_status merge_ranks(const fem_space *space, fem_extreme extremes[FEM_EXTREMES])
{
    const int count = app_ranks_count(space->ranks);
    fem_extreme(*all)[FEM_EXTREMES] = NULL;
    if (count == 1) return YOKE_OK;
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate(space->context, count, sizeof *all, &all));
    if (!status) app_ranks_gather(space->ranks, extremes, sizeof *all, all);
    for (int k = 0; k < FEM_EXTREMES && !status; k++) {
        extremes[k] = all[0][k];
        for (int rank = 1; rank < count; rank++)
            if (precedes(k, &all[rank][k], &extremes[k])) extremes[k] = all[rank][k];
    }
    yoke_release(space->context, all);
    return status;
}

yoke_status fem_extremes_find(const fem_space *space, const double *u, const fem_stress *stress, fem_extreme extremes[FEM_EXTREMES])
{
    candidates best = none;
#pragma omp parallel
    {
        candidates own = none;
#pragma omp for schedule(static) nowait
        for (int32_t i = 0; i < space->num_nodes; i++) offer_node(&own, space->components, u, i);
#pragma omp for schedule(static)
        for (int32_t i = 0; i < stress->points.num_nodes; i++) offer_point(&own, stress, i);
        /* In the order of the threads, so that the first of equal values counts. */
        for (int thread = 0; thread < omp_get_num_threads(); thread++) {
            if (thread == omp_get_thread_num())
                for (int k = 0; k < FEM_EXTREMES; k++)
                    if (own.index[k] >= 0) offer(&best, (fem_extreme_kind)k, own.value[k], own.index[k]);
#pragma omp barrier
        }
    }
    fem_extremes_unknown(extremes);
    for (int k = 0; k < FEM_EXTREMES; k++) {
        if (best.index[k] < 0) continue;
        fem_extreme *extreme = &extremes[k];
        const int32_t node = is_of_point(k) ? stress->node[best.index[k]] : best.index[k];
        extreme->value = is_smallest(k) ? -best.value[k] : best.value[k];
        extreme->node = fem_space_global_node(space, node);
        memcpy(extreme->x, space->x + 3 * (int64_t)node, sizeof extreme->x);
    }
    return merge_ranks(space, extremes);
}
