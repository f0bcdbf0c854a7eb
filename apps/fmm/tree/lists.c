#include "tree/lists.h"

yoke_status fmm_far_list_create(yoke_context *context, int64_t max_parents, fmm_far_list *list)
{
    enum { OTHERS = FMM_NEIGHBOURS - 1 };
    const int64_t most = 8 * max_parents; /* each of these children may have no siblings */
    *list = (fmm_far_list){0};
    yoke_status status = yoke_allocate_untouched(context, max_parents * FMM_MAX_FAR, sizeof *list->target, &list->target);
    if (!status) status = yoke_allocate_untouched(context, max_parents * FMM_MAX_FAR, sizeof *list->source, &list->source);
    if (!status) status = yoke_allocate_untouched(context, most, sizeof *list->family, &list->family);
    if (!status) status = yoke_allocate_untouched(context, most * OTHERS, sizeof *list->near, &list->near);
    if (status) fmm_far_list_destroy(context, list);
    return status;
}

void fmm_far_list_destroy(yoke_context *context, fmm_far_list *list)
{
    yoke_release(context, list->target);
    yoke_release(context, list->source);
    yoke_release(context, list->family);
    yoke_release(context, list->near);
    *list = (fmm_far_list){0};
}

/* Lists the parents that have children, with those of their neighbours that have children.  Returns the number of these parents. */
static int64_t find_families(fmm_far_list *list, fmm_walk *walk, int level, int64_t first, int64_t last)
{
    const fmm_level *above = &walk->tree->level[level - 1];
    int64_t families = 0;
    int32_t end = 0;
    for (int64_t p = first; p < last; p++) {
        if (!above->octants[p]) continue;
        fmm_walk_to(walk, level - 1, (int32_t)p);
        const int32_t *near = walk->near[level - 1];
        for (int n = 0; n < FMM_NEIGHBOURS; n++)
            if (n != FMM_SELF && near[n] >= 0 && above->octants[near[n]])
                list->near[end++] = (fmm_near_family){above->child[near[n]], (unsigned char)n, above->octants[near[n]]};
        list->family[families++] = (fmm_family){(int32_t)p, end};
    }
    return families;
}

/* Differences of numbers of directions: from octant 0 to an octant, and to a neighbour of the parent, which is two cells away. */
static const int octant_offset[8] = {0, 1, 7, 8, 49, 50, 56, 57};
static int neighbour_offset(int neighbour) { return 2 * (neighbour % 3 - 1 + 7 * (neighbour / 3 % 3 - 1) + 49 * (neighbour / 9 - 1)); }

/* Counts the pairs of a target with some children of a family.  next: pairs by direction, from the direction of octant 0 on. */
static inline void count_sources(unsigned sources, int64_t *next)
{
    for (int s = 0; sources; s++, sources >>= 1) next[octant_offset[s]] += sources & 1;
}

/* The same, and writes each pair to its position next[direction]. */
static inline void write_sources(const fmm_near_family *of, unsigned sources, int32_t target, fmm_far_list *list, int64_t *next)
{
    int32_t child = of->child;
    for (unsigned s = 0, octants = of->octants; octants >> s; s++) {
        if (!(octants >> s & 1)) continue;
        if (sources >> s & 1) {
            const int64_t at = next[octant_offset[s]]++;
            list->target[at] = target;
            list->source[at] = child;
        }
        child++;
    }
}

/* Counts the pairs of the children of a parent, next[direction]++.  If `fill`, each pair is also written to the position that next had. */
static inline void visit_family(fmm_far_list *list, const fmm_walk *walk, int level, int64_t family, int fill, int64_t *next)
{
    const fmm_level *cells = &walk->tree->level[level];
    const int32_t *child = walk->tree->level[level - 1].child + list->family[family].parent;
    const int32_t begin = family ? list->family[family - 1].end : 0, end = list->family[family].end;
    for (int32_t target = child[0]; target < child[1]; target++) {
        const int octant = fmm_octant(cells, target), base = FMM_NO_DIRECTION - octant_offset[octant];
        for (int32_t i = begin; i < end; i++) {
            const fmm_near_family *of = &list->near[i];
            const unsigned sources = of->octants & (unsigned)(walk->separated[of->neighbour] >> 8 * octant & 0xFF);
            int64_t *from = next + base + neighbour_offset(of->neighbour);
            if (fill)
                write_sources(of, sources, target, list, from);
            else
                count_sources(sources, from);
        }
    }
}

void fmm_far_list_fill(fmm_far_list *list, fmm_walk *walk, int level, int64_t first, int64_t last)
{
    const int64_t families = find_families(list, walk, level, first, last);
    int64_t next[FMM_DIRECTIONS] = {0}, sum = 0;
    for (int64_t f = 0; f < families; f++) visit_family(list, walk, level, f, 0, next);
    for (int d = 0; d < FMM_DIRECTIONS; d++) {
        list->start[d] = sum;
        sum += next[d];
        next[d] = list->start[d];
    }
    list->start[FMM_DIRECTIONS] = sum;
    for (int64_t f = 0; f < families; f++) visit_family(list, walk, level, f, 1, next);
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
