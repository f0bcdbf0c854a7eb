#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clouds.h"
#include "costs.h"
#include "tune/tune.h"

/* The leaves of a tree that was divided, by level and key: the same for the same tree. */
static int have_same_leaves(const fmm_tree *a, const fmm_tree *b)
{
    if (a->leaves.count != b->leaves.count) return 0;
    for (int64_t i = 0; i < a->leaves.count; i++) {
        const int level = a->leaves.level[i];
        if (level != b->leaves.level[i] || a->level[level].key[a->leaves.cell[i]] != b->level[level].key[b->leaves.cell[i]]) return 0;
    }
    return 1;
}

/* Whether the tree of this capacity is one of the choice's uniform ones, or one of its adaptive ones up to `count`. */
static int is_there(const fmm_choice *choice, const fmm_tree *adaptive, fmm_tree *other, int count)
{
    int found = 0;
    for (int d = choice->first; d <= choice->last && !found; d++) {
        assert_int_equal(fmm_tree_divide(other, d, 0), YOKE_OK);
        found = have_same_leaves(adaptive, other);
    }
    for (int k = 0; k < count && !found; k++) {
        assert_int_equal(fmm_tree_divide(other, FMM_MAX_DEPTH, choice->capacity[k]), YOKE_OK);
        found = have_same_leaves(adaptive, other);
    }
    return found;
}

/* Of evenly filled cells (8 x 8 x 8 particles), shells, clusters, and those of which a pair is so near that it has a long chain of cells. */
static fmm_particles *create_particles(int which)
{
    enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
    static const enum cloud clouds[] = {SHELLS, CLUSTERED, FAR_PARTICLE};
    fmm_particles *p = cloud_create(context, which ? clouds[which - 1] : UNIFORM, COUNT);
    for (int i = 0; i < COUNT && which == 0; i++) {
        p->x[i] = i % SIDE;
        p->y[i] = i / SIDE % SIDE;
        p->z[i] = i / SIDE / SIDE;
    }
    return p;
}

enum { KINDS = 4, CAPACITIES = 11 };

/* All that are left are trees of their own, and those that are left out are among them. */
static void each_tree_is_compared_once(void **state)
{
    (void)state;
    static const int64_t capacities[CAPACITIES] = {1, 2, 4, 7, 8, 16, 32, 63, 64, 256, 511};
    static const fmm_machine machine = {0};
    for (int which = 0; which < KINDS; which++) {
        fmm_particles *p = create_particles(which);
        fmm_analysis *analysis = NULL;
        fmm_tree *one = NULL, *other = NULL;
        fmm_choice choice = {.first = 0, .last = 3, .num_capacities = CAPACITIES};
        memcpy(choice.capacity, capacities, sizeof capacities);
        assert_int_equal(fmm_analysis_create(p, choice.last, &analysis), YOKE_OK);
        assert_int_equal(fmm_capacities_predict(&machine, analysis, 4, 1, &choice), YOKE_OK);
        const fmm_choice all = choice;
        fmm_choice_leave_equal_out(analysis, &choice);
        assert_int_equal(fmm_tree_create_adaptive(p, fmm_box_around(p), FMM_MAX_DEPTH, 1, &one), YOKE_OK);
        assert_int_equal(fmm_tree_create_adaptive(p, fmm_box_around(p), FMM_MAX_DEPTH, 1, &other), YOKE_OK);
        for (int k = 0, kept = 0; k < CAPACITIES; k++) {
            assert_int_equal(fmm_tree_divide(one, FMM_MAX_DEPTH, capacities[k]), YOKE_OK);
            const int is_kept = kept < choice.num_capacities && choice.capacity[kept] == capacities[k];
            assert_int_equal(is_there(&choice, one, other, kept), !is_kept);
            if (!is_kept) continue;
            assert_int_equal(choice.depth_at[kept], one->depth);
            assert_memory_equal(&choice.at[kept], &all.at[k], sizeof all.at[k]);
            kept++;
        }
        assert_int_equal(choice.num_capacities > 0, which > 0);
        fmm_tree_destroy(one);
        fmm_tree_destroy(other);
        fmm_analysis_destroy(analysis);
        fmm_particles_destroy(p);
    }
}

/* On an evenly filled lattice all adaptive trees are uniform ones, and one of these is taken at each order. */
static void evenly_filled_boxes_take_a_uniform_tree(void **state)
{
    (void)state;
    char path[64];
    fmm_particles *p = create_particles(0);
    (void)snprintf(path, sizeof path, "equal-trees-%ld.json", (long)getpid());
    const fmm_tune_options options = {.store = path, .gradient = 1, .depth = -1};
    for (int cheap = 0; cheap < 2; cheap++) {
        keep_costs(path, cheap ? 1e-9 : 1e-6);
        for (int order = 2; order <= 20; order += 6) {
            fmm_tuner *tuner = NULL;
            fmm_tuned tuned;
            assert_int_equal(fmm_tuner_create(context, &options, &tuner), YOKE_OK);
            fmm_tuner_set_particles(tuner, p);
            assert_int_equal(fmm_tuner_choose(tuner, order, &tuned), YOKE_OK);
            assert_true(tuned.choice.adaptive < 0);
            for (int k = 0; k < tuned.choice.num_capacities; k++) assert_true(tuned.choice.depth_at[k] > tuned.choice.last);
            fmm_tuner_destroy(tuner);
        }
        (void)remove(path);
    }
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_tree_is_compared_once),
    cmocka_unit_test(evenly_filled_boxes_take_a_uniform_tree),
};

UNIT_MAIN(tests, context_start, context_end)
