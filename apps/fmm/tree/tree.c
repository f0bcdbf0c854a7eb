#include "tree/tree.h"

#include <math.h>
#include <omp.h>

#include "tree/sort.h"

enum { MAX_CHUNKS = 256 };

static void bounds(int64_t count, const double *values, double *low, double *high)
{
    double least = INFINITY, largest = -INFINITY;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : largest)
    for (int64_t i = 0; i < count; i++) {
        least = fmin(least, values[i]);
        largest = fmax(largest, values[i]);
    }
    *low = count ? least : 0;
    *high = count ? largest : 0;
}

fmm_box fmm_box_around(const fmm_particles *particles)
{
    const double *const values[3] = {particles->x, particles->y, particles->z};
    fmm_box box = {.side = 0};
    for (int c = 0; c < 3; c++) {
        double high = 0;
        bounds(particles->count, values[c], &box.low[c], &high);
        box.side = fmax(box.side, high - box.low[c]);
    }
    if (box.side == 0) box.side = 1;
    return box;
}

/* The cell of a level in one coordinate; -1: outside or not finite. */
static int64_t cell_of(double value, double low, double side, int level)
{
    const int64_t cells = (int64_t)1 << level;
    double t = (value - low) / side;
    if (!(t >= 0 && t <= 1)) return -1;
    int64_t cell = (int64_t)(t * (double)cells);
    return cell < cells ? cell : cells - 1;
}

/* Keys of the particles' cells on a level.  Errors: ARGUMENT. */
static yoke_status make_keys(const fmm_particles *p, const fmm_box *box, int level, uint64_t *keys)
{
    int64_t bad = p->count;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < p->count; i++) {
        int64_t at[3] = {cell_of(p->x[i], box->low[0], box->side, level), cell_of(p->y[i], box->low[1], box->side, level),
                         cell_of(p->z[i], box->low[2], box->side, level)};
        if ((at[0] < 0 || at[1] < 0 || at[2] < 0) && i < bad) bad = i;
        keys[i] = fmm_key((const uint32_t[3]){(uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]});
    }
    if (bad == p->count) return YOKE_OK;
    return yoke_fail(p->context, YOKE_ERROR_ARGUMENT,
                     "particle %lld at (%g, %g, %g) lies outside of the tree's box, which begins at (%g, %g, %g) and has sides of %g: "
                     "take a box around all particles",
                     (long long)bad + 1, p->x[bad], p->y[bad], p->z[bad], box->low[0], box->low[1], box->low[2], box->side);
}

/* What begins a run of equal keys, when their lowest `shift` bits are left off. */
static int begins(const uint64_t *keys, int64_t i, int shift) { return i == 0 || keys[i] >> shift != keys[i - 1] >> shift; }

/*
 * The level's cells: the different values of keys [count] (ascending) without their lowest `shift` bits, and in first[] where each begins.  Every chunk
 * counts its cells, and then writes them behind those of the chunks before it.  Errors: MEMORY.
 */
static yoke_status group(yoke_context *context, int64_t count, const uint64_t *keys, int shift, fmm_level *level, int32_t **first)
{
    int64_t place[MAX_CHUNKS + 1] = {0}, chunks = omp_get_max_threads();
    if (chunks > MAX_CHUNKS) chunks = MAX_CHUNKS;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < chunks; c++)
        for (int64_t i = count * c / chunks; i < count * (c + 1) / chunks; i++) place[c + 1] += begins(keys, i, shift);
    for (int64_t c = 0; c < chunks; c++) place[c + 1] += place[c];
    level->count = place[chunks];
    yoke_status status = yoke_allocate(context, level->count, sizeof *level->key, &level->key);
    if (!status) status = yoke_allocate(context, level->count + 1, sizeof **first, first);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < chunks; c++) {
        int64_t next = place[c];
        for (int64_t i = count * c / chunks; i < count * (c + 1) / chunks; i++) {
            if (!begins(keys, i, shift)) continue;
            level->key[next] = keys[i] >> shift;
            (*first)[next++] = (int32_t)i;
        }
    }
    (*first)[level->count] = (int32_t)count;
    return YOKE_OK;
}

/* A level from the one below it.  Errors: MEMORY. */
static yoke_status make_parents(yoke_context *context, fmm_level *below, fmm_level *level)
{
    yoke_status status = group(context, below->count, below->key, 3, level, &level->child);
    if (!status) status = yoke_allocate(context, level->count + 1, sizeof *level->particle, &level->particle);
    if (!status) status = yoke_allocate(context, level->count, sizeof *level->octants, &level->octants);
    if (!status) status = yoke_allocate(context, below->count, sizeof *below->parent, &below->parent);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < level->count; c++) {
        level->particle[c] = below->particle[level->child[c]];
        for (int32_t k = level->child[c]; k < level->child[c + 1]; k++) {
            below->parent[k] = (int32_t)c;
            level->octants[c] |= (unsigned char)(1 << (below->key[k] & 7));
        }
    }
    level->particle[level->count] = below->particle[below->count];
    return YOKE_OK;
}

yoke_status fmm_tree_create(const fmm_particles *particles, fmm_box box, int depth, fmm_tree **tree)
{
    yoke_context *context = particles->context;
    if (depth < 0 || depth > FMM_MAX_DEPTH)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a tree of depth %d; depths are 0 to %d", depth, FMM_MAX_DEPTH);
    if (!(box.side > 0 && box.side <= 0x1p1022))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "a box with sides of %g; they must be positive and finite", box.side);
    fmm_tree *created = NULL;
    uint64_t *keys = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_tree){.context = context, .box = box, .count = particles->count, .depth = depth};
    status = yoke_allocate(context, created->count, sizeof *keys, &keys);
    if (!status) status = yoke_allocate(context, created->count, sizeof *created->order, &created->order);
    if (!status) status = make_keys(particles, &box, depth, keys);
    if (!status) status = fmm_sort(context, created->count, 3 * depth, keys, created->order);
    if (!status) status = group(context, created->count, keys, 0, &created->level[depth], &created->level[depth].particle);
    yoke_release(context, keys);
    for (int l = depth - 1; l >= 0 && !status; l--) status = make_parents(context, &created->level[l + 1], &created->level[l]);
    if (status)
        fmm_tree_destroy(created);
    else
        *tree = created;
    return status;
}

/* Leaves a level without children. */
static void release_children(yoke_context *context, fmm_level *level)
{
    yoke_release(context, level->child);
    yoke_release(context, level->octants);
    level->child = NULL;
    level->octants = NULL;
}

static void release_level(yoke_context *context, fmm_level *level)
{
    release_children(context, level);
    yoke_release(context, level->key);
    yoke_release(context, level->particle);
    yoke_release(context, level->parent);
    *level = (fmm_level){0};
}

void fmm_tree_cut(fmm_tree *tree, int depth)
{
    for (; tree->depth > depth; tree->depth--) release_level(tree->context, &tree->level[tree->depth]);
    release_children(tree->context, &tree->level[tree->depth]);
}

void fmm_tree_destroy(fmm_tree *tree)
{
    if (!tree) return;
    yoke_context *context = tree->context;
    for (int l = 0; l <= tree->depth; l++) release_level(context, &tree->level[l]);
    yoke_release(context, tree->order);
    yoke_release(context, tree);
}

void fmm_tree_centre(const fmm_tree *tree, int level, int64_t cell, double centre[3])
{
    uint32_t at[3];
    fmm_key_coordinates(tree->level[level].key[cell], at);
    for (int c = 0; c < 3; c++) centre[c] = tree->box.low[c] + tree->box.side * ldexp(at[c] + 0.5, -level);
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
