#include "tsp/cities.h"

#include <math.h>
#include <stdio.h>

#include "matrix/matrix.h"

yoke_status dense_cities_create(yoke_context *context, int64_t count, dense_cities *cities)
{
    yoke_topology topology;
    if (count < 1 || count > DENSE_MAX_CITIES)
        return yoke_fail(context, YOKE_ERROR_INPUT, "%lld cities; there must be 1 to %d", (long long)count, DENSE_MAX_CITIES);
    yoke_status status = yoke_topology_get(context, &topology);
    if (!status && count * count * (int64_t)sizeof(int32_t) > topology.memory_bytes)
        return yoke_fail(context, YOKE_ERROR_INPUT, "%lld cities: their distances take %lld bytes, and this process may have %lld",
                         (long long)count, (long long)(count * count * (int64_t)sizeof(int32_t)), (long long)topology.memory_bytes);
    cities->context = context;
    cities->count = (int32_t)count;
    if (!status) status = yoke_allocate(context, count, sizeof *cities->x, &cities->x);
    if (!status) status = yoke_allocate(context, count, sizeof *cities->y, &cities->y);
    return status ? status : yoke_allocate_untouched(context, count * count, sizeof *cities->distance, &cities->distance);
}

void dense_cities_destroy(dense_cities *cities)
{
    if (!cities->context) return;
    yoke_release(cities->context, cities->x);
    yoke_release(cities->context, cities->y);
    yoke_release(cities->context, cities->distance);
    *cities = (dense_cities){.context = NULL};
}

/* nint(x) of TSPLIB is (int)(x + 0.5). */
static double length(dense_metric metric, double dx, double dy)
{
    if (metric == DENSE_CEIL_2D) return ceil(sqrt(dx * dx + dy * dy));
    if (metric == DENSE_MAN_2D) return floor(fabs(dx) + fabs(dy) + 0.5);
    if (metric == DENSE_MAX_2D) return fmax(floor(fabs(dx) + 0.5), floor(fabs(dy) + 0.5));
    if (metric == DENSE_ATT) return ceil(sqrt((dx * dx + dy * dy) / 10));
    return floor(sqrt(dx * dx + dy * dy) + 0.5);
}

yoke_status dense_cities_measure(dense_cities *cities)
{
    const int64_t n = cities->count;
    int64_t wrong = n * n;
#pragma omp parallel for schedule(static) reduction(min : wrong) if (n > 200)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double between = length(cities->metric, cities->x[i] - cities->x[j], cities->y[i] - cities->y[j]);
            if (between <= DENSE_MAX_DISTANCE)
                cities->distance[i * n + j] = (int32_t)between;
            else if (i * n + j < wrong)
                wrong = i * n + j;
        }
    if (wrong == n * n) return YOKE_OK;
    return yoke_fail(cities->context, YOKE_ERROR_INPUT, "%s: cities %lld and %lld are further apart than %d: scale the coordinates",
                     cities->name, (long long)(wrong / n + 1), (long long)(wrong % n + 1), DENSE_MAX_DISTANCE);
}

yoke_status dense_cities_random(yoke_context *context, int64_t count, uint64_t seed, dense_cities *cities)
{
    dense_cities made = {.metric = DENSE_EUC_2D};
    dense_matrix places = {.entries = NULL};
    yoke_status status = dense_cities_create(context, count, &made);
    if (!status) status = dense_matrix_create(context, count, 2, DENSE_DOUBLE, &places);
    if (!status) {
        snprintf(made.name, sizeof made.name, "random%lld", (long long)count);
        dense_matrix_random(&places, seed);
        for (int64_t i = 0; i < count; i++) {
            made.x[i] = 500 * (1 + dense_matrix_entry(&places, i, 0));
            made.y[i] = 500 * (1 + dense_matrix_entry(&places, i, 1));
        }
        status = dense_cities_measure(&made);
    }
    dense_matrix_destroy(&places);
    if (status)
        dense_cities_destroy(&made);
    else
        *cities = made;
    return status;
}
