#include "particles/coincident.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "particles/scale.h"

/*
 * A hash table of particles with charges.  The hash is that of the bits of their coordinates, and particles at the same position are found
 * by comparison.  The table has at least twice as many entries as there are particles.  All threads fill it to find out whether any
 * particles coincide.  Only in this case one thread fills it again, in the order of the particles.
 */
typedef struct table {
    const fmm_particles *particles;
    fmm_power unit; /* of coordinates, as in sums */
    int64_t mask;
    _Atomic int32_t *first; /* [mask + 1] 1 + number of the particle in this entry; 0: free */
} table;

static uint64_t bits(double value)
{
    uint64_t bits;
    value += 0.0; /* -0 is the same position as 0 */
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

static uint64_t hash(const table *t, int64_t i)
{
    const fmm_particles *p = t->particles;
    const double x = fmm_scale_coordinate(p->x[i], t->unit), y = fmm_scale_coordinate(p->y[i], t->unit);
    return mix(mix(mix(bits(x)) + bits(y)) + bits(fmm_scale_coordinate(p->z[i], t->unit)));
}

static int same_place(const table *t, int64_t i, int64_t j)
{
    const fmm_particles *p = t->particles;
    const double *const at[3] = {p->x, p->y, p->z};
    for (int c = 0; c < 3; c++)
        if (fmm_scale_coordinate(at[c][i], t->unit) != fmm_scale_coordinate(at[c][j], t->unit)) return 0;
    return 1;
}

/* Returns the first particle that was entered at the position of i; i if it is the first. */
static int64_t first_at(const table *t, int64_t i)
{
    for (int64_t at = (int64_t)(hash(t, i) & (uint64_t)t->mask);; at = (at + 1) & t->mask) {
        int32_t there = atomic_load_explicit(&t->first[at], memory_order_relaxed);
        if (!there &&
            atomic_compare_exchange_strong_explicit(&t->first[at], &there, (int32_t)i + 1, memory_order_relaxed, memory_order_relaxed))
            return i;
        if (same_place(t, there - 1, i)) return there - 1;
    }
}

/* Whether any particles coincide.  all: includes particles without a charge. */
static bool any(const table *t, bool all)
{
    const fmm_particles *p = t->particles;
    bool found = false;
#pragma omp parallel for schedule(static) reduction(|| : found)
    for (int64_t i = 0; i < p->count; i++)
        if ((all || p->charge[i] != 0) && first_at(t, i) != i) found = true;
    return found;
}

static void clear(table *t)
{
    for (int64_t at = 0; at <= t->mask; at++) t->first[at] = 0;
}

static yoke_status create(const fmm_particles *p, table *t)
{
    const fmm_extent extent = fmm_extent_of(p);
    *t = (table){.particles = p, .unit = fmm_power_of(-fmm_scale_length(p, &extent)), .mask = 1};
    while (t->mask + 1 < 2 * p->count) t->mask = 2 * t->mask + 1;
    return yoke_allocate(p->context, t->mask + 1, sizeof *t->first, &t->first);
}

yoke_status fmm_coincident(const fmm_particles *particles, fmm_coincidence *found)
{
    table t;
    yoke_status status = create(particles, &t);
    if (status) return status;
    fmm_coincidence result = {0};
    bool some = any(&t, false);
    if (some) clear(&t);
    for (int64_t i = 0; i < particles->count && some; i++) {
        int64_t first = particles->charge[i] != 0 ? first_at(&t, i) : i;
        if (first == i) continue;
        if (!result.count) result.first = first, result.second = i;
        result.count++;
    }
    yoke_release(particles->context, t.first);
    *found = result;
    return YOKE_OK;
}

/* Adds the potentials of other particles at the same positions, in the order of the particles.  One thread suffices, because usually few
 * coincide. */
static yoke_status add_others(table *t, int64_t count, const int64_t *which, double *potential)
{
    const fmm_particles *p = t->particles;
    const double nearest = 15 / (8 * p->softening);
    double *charge = NULL; /* [count] sum over all particles at a position, stored at the first of them */
    yoke_status status = yoke_allocate(p->context, p->count, sizeof *charge, &charge);
    if (status) return status;
    clear(t);
    for (int64_t i = 0; i < p->count; i++) charge[first_at(t, i)] += p->charge[i];
    for (int64_t k = 0; k < count; k++) {
        int64_t i = which ? which[k] : k;
        potential[k] += nearest * (charge[first_at(t, i)] - p->charge[i]);
    }
    yoke_release(p->context, charge);
    return YOKE_OK;
}

yoke_status fmm_coincident_add(const fmm_particles *particles, int64_t count, const int64_t *which, double *potential)
{
    table t;
    if (!(particles->softening > 0)) return YOKE_OK;
    yoke_status status = create(particles, &t);
    if (status) return status;
    if (any(&t, true)) status = add_others(&t, count, which, potential);
    yoke_release(particles->context, t.first);
    return status;
}

yoke_status fmm_coincident_refuse(const fmm_particles *particles, const char *remedy)
{
    fmm_coincidence found = {0};
    yoke_status status = fmm_coincident(particles, &found);
    if (status || !found.count) return status;
    const int64_t i = found.first, j = found.second;
    const bool differ = particles->x[i] != particles->x[j] || particles->y[i] != particles->y[j] || particles->z[i] != particles->z[j];
    const char *nearly = differ ? ", but for less than 4e-87 of the largest coordinate:" : "";
    return yoke_fail(particles->context, YOKE_ERROR_INPUT,
                     "particles %lld and %lld have charges and lie at the same place%s (%.17g, %.17g, %.17g)%s; %s", (long long)i + 1,
                     (long long)found.second + 1, nearly, particles->x[i], particles->y[i], particles->z[i],
                     found.count > 1 ? ", and there are more" : "", remedy);
}
