#include "tree/lists.h"

yoke_status fmm_far_list_create(yoke_context *context, int64_t max_parents, fmm_far_list *list)
{
    *list = (fmm_far_list){.max_parents = max_parents};
    yoke_status status = yoke_allocate(context, max_parents * FMM_MAX_FAR, sizeof *list->target, &list->target);
    if (!status) status = yoke_allocate(context, max_parents * FMM_MAX_FAR, sizeof *list->source, &list->source);
    if (status) fmm_far_list_destroy(context, list);
    return status;
}

void fmm_far_list_destroy(yoke_context *context, fmm_far_list *list)
{
    yoke_release(context, list->target);
    yoke_release(context, list->source);
    *list = (fmm_far_list){0};
}

/* The direction of an octant from octant 0, and twice that of a neighbour. */
static int octant_offset(int octant) { return (octant & 1) + 7 * (octant >> 1 & 1) + 49 * (octant >> 2); }
static int neighbour_offset(int neighbour) { return 2 * (neighbour % 3 - 1 + 7 * (neighbour / 3 % 3 - 1) + 49 * (neighbour / 9 - 1)); }

/* Counts the pairs of a target, next[direction]++, with the children of its parent's neighbour n, and writes them there before, if `fill`. */
static void visit_target(fmm_far_list *list, const fmm_walk *walk, int level, int32_t target, int n, fmm_pairs pairs, int fill,
                         int64_t *next)
{
    const fmm_level *above = &walk->tree->level[level - 1];
    int32_t near = walk->near[level - 1][n];
    int octant = fmm_octant(&walk->tree->level[level], target), base = FMM_NO_DIRECTION + neighbour_offset(n) - octant_offset(octant);
    unsigned sources = above->octants[near] & walk->separated[octant][n];
    for (int s = 0; sources >> s; s++) {
        int d = base + octant_offset(s);
        if (!(sources >> s & 1) || (pairs == FMM_PAIRS_ONCE && d < FMM_NO_DIRECTION)) continue;
        if (fill) {
            list->target[next[d]] = target;
            list->source[next[d]] = fmm_child(above, near, s);
        }
        next[d]++;
    }
}

static void visit_parent(fmm_far_list *list, const fmm_walk *walk, int level, fmm_pairs pairs, int fill, int64_t *next)
{
    const int32_t *child = walk->tree->level[level - 1].child + walk->cell[level - 1];
    for (int32_t t = child[0]; t < child[1]; t++)
        for (int n = 0; n < FMM_NEIGHBOURS; n++)
            if (n != FMM_SELF && walk->near[level - 1][n] >= 0) visit_target(list, walk, level, t, n, pairs, fill, next);
}

void fmm_far_list_fill(fmm_far_list *list, fmm_walk *walk, int level, int64_t first, int64_t last, fmm_pairs pairs)
{
    const int32_t *child = walk->tree->level[level - 1].child;
    int64_t next[FMM_DIRECTIONS] = {0}, sum = 0;
    for (int fill = 0; fill < 2; fill++) {
        for (int64_t p = first; p < last; p++) {
            if (child[p] == child[p + 1]) continue;
            fmm_walk_to(walk, level - 1, (int32_t)p);
            visit_parent(list, walk, level, pairs, fill, next);
        }
        if (fill) break;
        for (int d = 0; d < FMM_DIRECTIONS; d++) {
            list->start[d] = sum;
            sum += next[d];
            next[d] = list->start[d];
        }
        list->start[FMM_DIRECTIONS] = sum;
    }
}

int64_t fmm_far_list_sides(const fmm_far_list *list, int d, int32_t *target, int32_t *ahead, int32_t *behind)
{
    const int opposite = FMM_DIRECTIONS - 1 - d;
    int64_t a = list->start[d], b = list->start[opposite], count = 0;
    for (; a < list->start[d + 1] || b < list->start[opposite + 1]; count++) {
        const int32_t of_a = a < list->start[d + 1] ? list->target[a] : INT32_MAX;
        const int32_t of_b = b < list->start[opposite + 1] ? list->target[b] : INT32_MAX;
        target[count] = of_a < of_b ? of_a : of_b;
        ahead[count] = of_a <= of_b ? list->source[a++] : -1;
        behind[count] = of_b <= of_a ? list->source[b++] : -1;
    }
    return count;
}
