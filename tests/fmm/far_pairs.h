/* far_pairs.h - visits the far pairs of a level, as fmm_far_list finds them. */
#ifndef TESTS_FMM_FAR_PAIRS_H
#define TESTS_FMM_FAR_PAIRS_H

#include <stdlib.h>

#include "tree/lists.h"

typedef void far_pair(void *user, int level, int direction, int32_t target, int32_t source);

/* Returns the number of pairs.  visit: NULL is allowed. */
static inline int64_t each_far_pair(const fmm_tree *tree, int level, far_pair *visit, void *user)
{
    enum { TOGETHER = 7 }; /* parents */
    int64_t pairs = 0, visited = 0;
    fmm_walk walk;
    fmm_far_list *far = calloc(1, sizeof *far);
    assert_non_null(far);
    fmm_walk_start(&walk, tree);
    const int32_t *child = tree->level[level - 1].child;
    for (int64_t first = 0, last; first < tree->level[level - 1].count; first = last) {
        last = first + TOGETHER < tree->level[level - 1].count ? first + TOGETHER : tree->level[level - 1].count;
        fmm_far_list_fill(far, &walk, level, first, last);
        assert_int_equal(far->first, child[first]);
        pairs += far->pairs;
        for (int d = 0; d < FMM_DIRECTIONS; d++)
            for (int t = 0; t < FMM_MAX_TARGETS; t++) {
                if (!fmm_far_list_has(far, d, t)) continue;
                assert_true(far->first + t < child[last]);
                if (visit) visit(user, level, d, far->first + t, far->source[d][t]);
                visited++;
            }
    }
    free(far);
    assert_int_equal(visited, pairs);
    return pairs;
}

#endif
