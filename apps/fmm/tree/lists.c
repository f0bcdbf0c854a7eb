#include "tree/lists.h"

#include <string.h>

/* Adds the far pairs of the children of a parent, which the walk is at, and those of its neighbour n. */
static inline void add_family(fmm_far_list *list, const fmm_walk *walk, int level, int n)
{
    const fmm_level *above = &walk->tree->level[level - 1];
    const int32_t parent = walk->cell[level - 1], near = walk->near[level - 1][n];
    const unsigned targets = above->octants[parent], sources = above->octants[near];
    const uint64_t target_ranks = fmm_octant_ranks(targets), source_ranks = fmm_octant_ranks(sources);
    const int first_target = above->child[parent] - list->first, base = FMM_NO_DIRECTION + fmm_neighbour_offset(n);
    fmm_octant_pairs pairs = fmm_pair_octants(targets, sources) & walk->separated[n];
    list->pairs += fmm_count_octant_pairs(pairs);
    for (; pairs; pairs &= pairs - 1) {
        const int pair = __builtin_ctzll(pairs), t = pair / 8, s = pair % 8, d = base + fmm_octant_offset(s) - fmm_octant_offset(t);
        const int target = first_target + (int)(target_ranks >> 8 * t & 0xF);
        list->has[d][target / 64] |= UINT64_C(1) << target % 64;
        list->source[d][target] = above->child[near] + (int32_t)(source_ranks >> 8 * s & 0xF);
    }
}

void fmm_far_list_fill(fmm_far_list *list, fmm_walk *walk, int level, int64_t first, int64_t last)
{
    const fmm_level *above = &walk->tree->level[level - 1];
    const int32_t *near = walk->near[level - 1];
    list->first = above->child[first];
    list->pairs = 0;
    memset(list->has, 0, sizeof list->has);
    for (int64_t p = first; p < last; p++) {
        if (!above->octants[p]) continue;
        fmm_walk_to(walk, level - 1, (int32_t)p);
        for (int n = 0; n < FMM_NEIGHBOURS; n++)
            if (n != FMM_SELF && near[n] >= 0 && above->octants[near[n]]) add_family(list, walk, level, n);
    }
}
