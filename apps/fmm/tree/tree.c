#include "tree/tree.h"

#include <float.h>
#include <math.h>

#include "particles/scale.h"
#include "tree/levels.h"
#include "tree/sort.h"

/*
 * Enlarges a box that is not far from the origin (particles/origin.h) slightly, at least up to high[3], so that the centres of its cells can be represented and computed without rounding.  The
 * side has SIDE_BITS bits, which leaves FMM_MAX_DEPTH + 1 bits for the centres.  Otherwise the vectors of translations between cells of
 * deep levels would differ from the differences of the centres that are used for particles.
 */
static void make_centres_exact(const double high[3], fmm_box *box)
{
    enum { SIDE_BITS = DBL_MANT_DIG - 1 - FMM_MAX_DEPTH };
    int exponent;
    frexp(box->side, &exponent);
    if (exponent < -900 || exponent > 900) return; /* far outside of the range that fmm_scale_create produces */
    const double unit = ldexp(1, exponent - SIDE_BITS);
    double side = box->side;
    for (int c = 0; c < 3; c++) {
        box->low[c] = floor(box->low[c] / unit) * unit;
        side = fmax(side, high[c] - box->low[c]);
    }
    box->side = ceil(side / unit) * unit;
}

/* The smallest cube around the particles. */
static fmm_box tight_box(const fmm_extent *extent)
{
    fmm_box box = {.side = 0};
    for (int c = 0; c < 3; c++) {
        box.low[c] = extent->low[c];
        box.side = fmax(box.side, extent->high[c] - extent->low[c]);
    }
    if (box.side == 0) box.side = 1;
    return box;
}

int fmm_depth_of_cells(int64_t cells)
{
    int depth = cells < 1 ? -1 : 0;
    while (cells > 1 && depth <= FMM_MAX_DEPTH && (int64_t)1 << depth < cells) depth++;
    return depth;
}

/* cells: those along each side of the particles, as of fmm_box_scaled. */
static fmm_box box_around(const fmm_extent *extent, int64_t count, int64_t cells)
{
    fmm_box box = tight_box(extent);
    if (cells) {
        const double spacings = cbrt((double)count) - 1, margin = box.side / 2 / fmax(spacings, 1);
        for (int c = 0; c < 3; c++) box.low[c] -= margin;
        box.side = ldexp((box.side + 2 * margin) / (double)cells, fmm_depth_of_cells(cells));
    }
    make_centres_exact(extent->high, &box);
    return box;
}

fmm_box fmm_box_around(const fmm_particles *particles)
{
    const fmm_extent extent = fmm_extent_of(particles);
    return box_around(&extent, particles->count, 0);
}

/* A coordinate in units of the box. */
static inline double place(double value, fmm_power unit) { return unit.exponent ? fmm_scale_coordinate(value, unit) : value; }

fmm_box fmm_box_scaled(const fmm_particles *particles, int64_t cells)
{
    fmm_extent extent = fmm_extent_of(particles);
    const int length = fmm_scale_length(particles, &extent);
    const fmm_power unit = fmm_power_of(-length);
    for (int c = 0; c < 3; c++) {
        extent.low[c] = place(extent.low[c], unit);
        extent.high[c] = place(extent.high[c], unit);
    }
    fmm_box box = box_around(&extent, particles->count, cells);
    box.length = length;
    return box;
}

/* The cell of a level in one coordinate, at a fraction t of the box's side.  The result has no meaning unless t is between 0 and 1. */
static uint32_t cell_of(double t, int32_t cells)
{
    const int32_t cell = (int32_t)(t * cells);
    return (uint32_t)(cell - (cell == cells));
}

/* Computes the keys of the particles' cells on a level.  Errors: ARGUMENT. */
static yoke_status make_keys(const fmm_particles *p, const fmm_box *box, int level, uint64_t *keys)
{
    int64_t bad = p->count;
    const int32_t cells = (int32_t)1 << level;
    const fmm_power unit = fmm_power_of(-box->length);
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < p->count; i++) {
        const double x = (place(p->x[i], unit) - box->low[0]) / box->side, y = (place(p->y[i], unit) - box->low[1]) / box->side,
                     z = (place(p->z[i], unit) - box->low[2]) / box->side;
        if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1 && z >= 0 && z <= 1)) { /* or not finite */
            bad = i < bad ? i : bad;
            continue;
        }
        keys[i] = fmm_key((const uint32_t[3]){cell_of(x, cells), cell_of(y, cells), cell_of(z, cells)});
    }
    if (bad == p->count) return YOKE_OK;
    return yoke_fail(p->context, YOKE_ERROR_ARGUMENT,
                     "particle %lld at (%g, %g, %g) lies outside of the tree's box, which begins at (%g, %g, %g) and has sides of %g: "
                     "take a box around all particles",
                     (long long)bad + 1, p->x[bad], p->y[bad], p->z[bad], ldexp(box->low[0], box->length), ldexp(box->low[1], box->length),
                     ldexp(box->low[2], box->length), ldexp(box->side, box->length));
}

/* Creates a tree with sorted keys, but without levels.  Errors: those of fmm_tree_create. */
static yoke_status create_sorted(const fmm_particles *particles, fmm_box box, int key_level, fmm_tree **tree)
{
    yoke_context *context = particles->context;
    if (key_level < 0 || key_level > FMM_MAX_DEPTH)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a tree of depth %d; depths are 0 to %d", key_level, FMM_MAX_DEPTH);
    if (!(box.side > 0 && box.side <= 0x1p1022))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a box with sides of %g; they must be positive and finite", box.side);
    fmm_tree *created = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_tree){.context = context, .box = box, .count = particles->count, .key_level = key_level, .asked_depth = -1};
    status = yoke_allocate_untouched(context, created->count, sizeof *created->key, &created->key);
    if (!status) status = yoke_allocate_untouched(context, created->count, sizeof *created->order, &created->order);
    if (!status) status = make_keys(particles, &box, key_level, created->key);
    if (!status) status = fmm_sort(context, created->count, 3 * key_level, created->key, created->order);
    if (status)
        fmm_tree_destroy(created);
    else
        *tree = created;
    return status;
}

static yoke_status create(const fmm_particles *particles, fmm_box box, int depth, int64_t capacity, fmm_tree **tree)
{
    fmm_tree *created = NULL;
    yoke_status status = create_sorted(particles, box, depth, &created);
    if (!status) status = fmm_levels_create(created, depth, capacity);
    if (status)
        fmm_tree_destroy(created);
    else
        *tree = created;
    return status;
}

yoke_status fmm_tree_create(const fmm_particles *particles, fmm_box box, int depth, fmm_tree **tree)
{
    return create(particles, box, depth, 0, tree);
}

yoke_status fmm_tree_create_adaptive(const fmm_particles *particles, fmm_box box, int depth, int64_t capacity, fmm_tree **tree)
{
    if (capacity < 1)
        return yoke_fail(particles->context, YOKE_ERROR_ARGUMENT, "leaves of at most %lld particles; they must have room for one",
                         (long long)capacity);
    return create(particles, box, depth, capacity, tree);
}

yoke_status fmm_tree_create_undivided(const fmm_particles *particles, int64_t cells, fmm_tree **tree)
{
    const fmm_box box = fmm_box_scaled(particles, cells);
    if (cells) return fmm_tree_create(particles, box, fmm_depth_of_cells(cells), tree);
    return fmm_tree_create_adaptive(particles, box, FMM_MAX_DEPTH, particles->count + 1, tree);
}

yoke_status fmm_tree_divide(fmm_tree *tree, int depth, int64_t capacity)
{
    if (depth < 0 || depth > tree->key_level || capacity < 0)
        return yoke_fail(
            tree->context, YOKE_ERROR_ARGUMENT,
            "a tree of depth %d with leaves of at most %lld particles; depths are 0 to %d here, and numbers of particles not negative",
            depth, (long long)capacity, tree->key_level);
    if (depth == tree->asked_depth && capacity == tree->asked_capacity) return YOKE_OK;
    return fmm_levels_create(tree, depth, capacity);
}

int64_t fmm_tree_cells(const fmm_tree *tree, int level)
{
    const int shift = 3 * (tree->key_level - level);
    int64_t cells = tree->count > 0;
#pragma omp parallel for schedule(static) reduction(+ : cells)
    for (int64_t i = 1; i < tree->count; i++) cells += tree->key[i] >> shift != tree->key[i - 1] >> shift;
    return cells;
}

/* Parts of a tree whose particles are compared by one thread; the most particles with equal keys that are compared. */
enum { COMPARED = 2048, MOST_EQUAL = 256 };

/* As fmm_tree_may_coincide, for particles first ... end - 1 and those before them.  Instead of positions it compares their products with a
 * vector, which are equal for different positions only by chance. */
static bool may_coincide(const fmm_tree *tree, const fmm_particles *p, int64_t first, int64_t end)
{
    double product[MOST_EQUAL + COMPARED];
    int64_t begin = first, equal;
    while (begin > 0 && first - begin < MOST_EQUAL && tree->key[begin - 1] == tree->key[first]) begin--;
    for (int64_t i = begin; i < end; i++) product[i - begin] = p->x[i] + 0.618033988749895 * p->y[i] + 0.414213562373095 * p->z[i];
    double same = 0; /* a number of pairs; GCC 12 does not vectorize the search with integers */
    equal = begin;   /* the first particle with the key of particle i */
    for (int64_t i = first; i < end && same == 0; i++) {
        if (tree->key[i] != tree->key[equal]) equal = i;
        if (i - equal >= MOST_EQUAL) return true;
        const double own = product[i - begin];
#pragma omp simd reduction(+ : same)
        for (int64_t k = equal - begin; k < i - begin; k++) same += product[k] == own ? 1.0 : 0.0;
    }
    return same > 0;
}

bool fmm_tree_may_coincide(const fmm_tree *tree, const fmm_particles *sorted)
{
    bool may = false;
#pragma omp parallel for schedule(static) reduction(|| : may)
    for (int64_t first = 0; first < tree->count; first += COMPARED)
        if (may_coincide(tree, sorted, first, first + COMPARED < tree->count ? first + COMPARED : tree->count)) may = true;
    return may;
}

void fmm_tree_destroy(fmm_tree *tree)
{
    if (!tree) return;
    yoke_context *context = tree->context;
    fmm_levels_destroy(tree);
    yoke_release(context, tree->key);
    yoke_release(context, tree->order);
    yoke_release(context, tree);
}

void fmm_tree_centre(const fmm_tree *tree, int level, int64_t cell, double centre[3])
{
    uint32_t at[3];
    const double part = 1 / (double)(UINT64_C(1) << level); /* exact, as are products with it */
    fmm_key_coordinates(tree->level[level].key[cell], at);
    for (int c = 0; c < 3; c++) centre[c] = tree->box.low[c] + tree->box.side * ((at[c] + 0.5) * part);
}

double fmm_tree_edge(const fmm_tree *tree, int level) { return ldexp(tree->box.side, -level); }

void fmm_tree_sort(const fmm_tree *tree, const double *values, double *sorted)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < tree->count; i++) sorted[i] = values[tree->order[i]];
}

void fmm_tree_restore(const fmm_tree *tree, const double *sorted, double *values)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < tree->count; i++) values[tree->order[i]] = sorted[i];
}
