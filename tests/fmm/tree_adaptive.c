#include <omp.h>

#include "base/failing.h"
#include "clouds.h"
#include "context.h"
#include "far_pairs.h"
#include "tree/lists.h"
#include "tune/counts/count.h"
#include "tune/counts/operations.h"

static fmm_tree *tree_of(const fmm_particles *particles, int64_t capacity)
{
    fmm_tree *tree = NULL;
    assert_int_equal(fmm_tree_create_adaptive(particles, fmm_box_around(particles), FMM_MAX_DEPTH, capacity, &tree), YOKE_OK);
    return tree;
}

/* Cells are split where they have more particles than the capacity, and children share the particles of their parents. */
static void check_cells(const fmm_tree *tree, int64_t capacity)
{
    assert_int_equal(tree->level[0].count, 1);
    for (int l = 0; l <= tree->depth; l++) {
        const fmm_level *level = &tree->level[l];
        for (int64_t c = 0; c < level->count; c++) {
            int32_t next = level->particle[c];
            assert_true(level->particle[c] < level->end[c] && (c == 0 || level->key[c - 1] < level->key[c]));
            for (int32_t i = level->particle[c]; i < level->end[c]; i++)
                assert_true(tree->key[i] >> 3 * (tree->key_level - l) == level->key[c]);
            assert_int_equal(fmm_is_leaf(tree, l, c), l == tree->key_level || fmm_particles_in(tree, l, c) <= capacity);
            if (fmm_is_leaf(tree, l, c)) continue;
            for (int32_t k = level->child[c]; k < level->child[c + 1]; k++) {
                assert_true(tree->level[l + 1].parent[k] == c && tree->level[l + 1].key[k] >> 3 == level->key[c]);
                assert_true(level->octants[c] >> (tree->level[l + 1].key[k] & 7) & 1);
                assert_int_equal(tree->level[l + 1].particle[k], next);
                next = tree->level[l + 1].end[k];
            }
            assert_int_equal(next, level->end[c]);
        }
    }
}

/* Leaves follow one another in the order of their particles, and each cell knows its first one. */
static void check_leaves(const fmm_tree *tree)
{
    const fmm_leaves *leaves = &tree->leaves;
    int64_t found = 0;
    assert_true(leaves->particle[0] == 0 && leaves->particle[leaves->count] == tree->count);
    for (int64_t i = 0; i < leaves->count; i++) {
        const fmm_level *level = &tree->level[leaves->level[i]];
        assert_true(fmm_is_leaf(tree, leaves->level[i], leaves->cell[i]) && leaves->level[i] >= tree->coarsest);
        assert_int_equal(level->particle[leaves->cell[i]], leaves->particle[i]);
        assert_int_equal(level->end[leaves->cell[i]], leaves->particle[i + 1]);
    }
    for (int l = 0; l <= tree->depth; l++)
        for (int64_t c = 0; c < tree->level[l].count; c++) {
            assert_int_equal(leaves->particle[tree->level[l].leaf[c]], tree->level[l].particle[c]);
            found += fmm_is_leaf(tree, l, c);
        }
    assert_int_equal(found, leaves->count);
}

static void cells_with_more_particles_than_the_capacity_are_split(void **state)
{
    (void)state;
    const int64_t capacities[] = {1, 4, 30, 600};
    for (int cloud = 0; cloud < CLOUDS; cloud++)
        for (int k = 0; k < 4; k++) {
            fmm_particles *p = cloud_create(context, cloud, 500);
            fmm_tree *tree = tree_of(p, capacities[k]);
            check_cells(tree, capacities[k]);
            check_leaves(tree);
            assert_int_equal(tree->depth == 0, capacities[k] >= 500);
            fmm_tree_destroy(tree);
            fmm_particles_destroy(p);
        }
}

static void assert_same_trees(const fmm_tree *a, const fmm_tree *b)
{
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->coarsest, b->coarsest);
    for (int l = 0; l <= a->depth; l++) {
        size_t cells = (size_t)a->level[l].count;
        assert_int_equal(cells, b->level[l].count);
        assert_memory_equal(a->level[l].key, b->level[l].key, cells * sizeof(uint64_t));
        assert_memory_equal(a->level[l].particle, b->level[l].particle, cells * sizeof(int32_t));
        assert_memory_equal(a->level[l].end, b->level[l].end, cells * sizeof(int32_t));
        assert_memory_equal(a->level[l].leaf, b->level[l].leaf, cells * sizeof(int32_t));
    }
    assert_int_equal(a->leaves.count, b->leaves.count);
    assert_memory_equal(a->leaves.cell, b->leaves.cell, (size_t)a->leaves.count * sizeof(int32_t));
    assert_memory_equal(a->leaves.level, b->leaves.level, (size_t)a->leaves.count);
    assert_memory_equal(a->leaves.particle, b->leaves.particle, (size_t)(a->leaves.count + 1) * sizeof(int32_t));
}

static void adaptive_trees_are_the_same_at_each_number_of_threads(void **state)
{
    (void)state;
    const int threads = omp_get_max_threads();
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 20000);
        omp_set_num_threads(1);
        fmm_tree *one = tree_of(p, 5);
        omp_set_num_threads(5);
        fmm_tree *five = tree_of(p, 5);
        assert_memory_equal(one->order, five->order, 20000 * sizeof *one->order);
        assert_same_trees(one, five);
        fmm_tree_destroy(one);
        fmm_tree_destroy(five);
        fmm_particles_destroy(p);
    }
    omp_set_num_threads(threads);
}

static void trees_are_divided_anew_without_sorting(void **state)
{
    (void)state;
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 700);
        fmm_tree *tree = tree_of(p, 3), *coarse = tree_of(p, 40), *uniform = NULL;
        assert_int_equal(fmm_tree_divide(tree, FMM_MAX_DEPTH, 40), YOKE_OK);
        assert_same_trees(tree, coarse);
        assert_int_equal(fmm_tree_create(p, fmm_box_around(p), 4, &uniform), YOKE_OK);
        assert_int_equal(fmm_tree_divide(tree, 4, 0), YOKE_OK);
        assert_same_trees(tree, uniform);
        assert_true(tree->coarsest == 4 && tree->depth == 4);
        assert_int_equal(fmm_tree_divide(tree, 2, 1), YOKE_OK);
        assert_true(tree->depth <= 2);
        check_leaves(tree);
        fmm_tree_destroy(tree);
        fmm_tree_destroy(coarse);
        fmm_tree_destroy(uniform);
        fmm_particles_destroy(p);
    }
}

enum { COVERED = 150 };

/* How often each ordered pair of particles is in one of the lists. */
typedef struct cover {
    const fmm_tree *tree;
    unsigned char (*times)[COVERED];
} cover;

typedef struct cell {
    int level;
    int32_t number;
} cell;

static cell leaf_cell(const fmm_tree *tree, int32_t leaf) { return (cell){tree->leaves.level[leaf], tree->leaves.cell[leaf]}; }

static void cover_cells(cover *c, cell target, cell source)
{
    const fmm_level *to = &c->tree->level[target.level], *from = &c->tree->level[source.level];
    for (int32_t i = to->particle[target.number]; i < to->end[target.number]; i++)
        for (int32_t j = from->particle[source.number]; j < from->end[source.number]; j++) c->times[i][j]++;
}

/* Whether two cells share a point: by the intervals that they cover of the deepest cells there could be. */
static int touch(const fmm_tree *tree, cell a, cell b)
{
    uint32_t at[3], to[3];
    fmm_key_coordinates(tree->level[a.level].key[a.number], at);
    fmm_key_coordinates(tree->level[b.level].key[b.number], to);
    for (int c = 0; c < 3; c++) {
        double low = ldexp(at[c], -a.level), high = ldexp(at[c] + 1., -a.level);
        if (ldexp(to[c], -b.level) > high || ldexp(to[c] + 1., -b.level) < low) return 0;
    }
    return 1;
}

static cell parent(const fmm_tree *tree, cell c) { return (cell){c.level - 1, tree->level[c.level].parent[c.number]}; }

/* Near leaves touch, or are in a direct cell of W of the other. */
static int is_near(const fmm_tree *tree, cell a, cell b)
{
    if (touch(tree, a, b)) return 1;
    cell coarse = a.level < b.level ? a : b, fine = a.level < b.level ? b : a;
    while (fine.level > coarse.level && !touch(tree, parent(tree, fine), coarse)) fine = parent(tree, fine);
    return fine.level > coarse.level && fmm_is_direct(tree, fine.level, fine.number);
}

static void cover_near(cover *c, const fmm_near_list *near)
{
    for (int32_t t = 0; t < c->tree->leaves.count; t++) {
        cell target = leaf_cell(c->tree, t);
        cover_cells(c, target, target);
        for (int64_t k = near->start[t]; k < near->start[t + 1]; k++) {
            cell source = leaf_cell(c->tree, near->cell[k]);
            assert_true(near->cell[k] != t && (k == near->start[t] || near->cell[k - 1] < near->cell[k]));
            assert_true(is_near(c->tree, target, source));
            cover_cells(c, target, source);
        }
    }
}

static void cover_pair(void *user, int level, int direction, int32_t target, int32_t source)
{
    (void)direction;
    cover_cells(user, (cell){level, target}, (cell){level, source});
}

static void cover_w(cover *c, const fmm_w_list *w)
{
    const fmm_tree *tree = c->tree;
    for (int32_t t = 0; t < tree->leaves.count; t++)
        for (int64_t k = w->start[t]; k < w->start[t + 1]; k++) {
            cell target = leaf_cell(tree, t), source = {w->level[k], w->cell[k]};
            assert_true(source.level > target.level && !touch(tree, target, source) && touch(tree, target, parent(tree, source)));
            assert_true(!fmm_is_direct(tree, source.level, source.number));
            cover_cells(c, target, source);
        }
}

/* Each list X is that of a walk to its cell, too. */
static void cover_x(cover *c, const fmm_x_list *x)
{
    fmm_walk walk;
    fmm_walk_start(&walk, c->tree);
    for (int l = 1; l <= c->tree->depth && x->start[0]; l++)
        for (int32_t t = 0; t < c->tree->level[l].count; t++) {
            const int64_t *start = x->start[l] + t;
            fmm_walk_to(&walk, l, t);
            fmm_walk_find_coarser(&walk, l);
            assert_int_equal(start[1] - start[0], fmm_is_direct(c->tree, l, t) ? 0 : walk.num_x[l]);
            for (int64_t k = start[0]; k < start[1]; k++) {
                assert_true(k == start[0] || x->leaf[k - 1] < x->leaf[k]);
                cover_cells(c, (cell){l, t}, leaf_cell(c->tree, x->leaf[k]));
            }
        }
}

static void check_cover(const fmm_particles *p, int64_t capacity, int32_t direct)
{
    static unsigned char times[COVERED][COVERED];
    fmm_tree *tree = tree_of(p, capacity);
    cover c = {tree, times};
    fmm_near_list near;
    fmm_w_list w;
    fmm_x_list x;
    tree->direct = direct;
    assert_int_equal(fmm_leaf_lists_create(tree, &near, &w), YOKE_OK);
    assert_int_equal(fmm_x_list_create(tree, &w, &x), YOKE_OK);
    memset(times, 0, sizeof times);
    cover_near(&c, &near);
    for (int l = 1; l <= tree->depth; l++) (void)each_far_pair(tree, l, cover_pair, &c);
    cover_w(&c, &w);
    cover_x(&c, &x);
    for (int i = 0; i < COVERED; i++)
        for (int j = 0; j < COVERED; j++) assert_int_equal(times[i][j], 1);
    fmm_x_list_destroy(tree, &x);
    fmm_w_list_destroy(tree, &w);
    fmm_near_list_destroy(tree, &near);
    fmm_tree_destroy(tree);
}

static void each_pair_of_particles_is_in_one_list_once(void **state)
{
    (void)state;
    const int64_t capacities[] = {1, 2, 5, 20, 60, COVERED};
    const int32_t directs[] = {0, 3, 30};
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, COVERED);
        for (int k = 0; k < 6; k++)
            for (int d = 0; d < 3; d++) check_cover(p, capacities[k], directs[d]);
        fmm_particles_destroy(p);
    }
}

static void add_sources(fmm_operations *sum, int64_t own, int64_t sources)
{
    if (own <= FMM_SMALL_LEAF)
        sum->sources[own] += sources;
    else
        sum->large += own * sources;
}

static void mark_direction(void *user, int level, int direction, int32_t target, int32_t source)
{
    bool *has = user;
    (void)level, (void)target, (void)source;
    has[direction] = true;
}

/* The operations of a tree, from its lists. */
static fmm_operations operations_of_lists(const fmm_tree *tree)
{
    fmm_operations sum = {.depth = tree->depth, .leaves = tree->leaves.count};
    fmm_near_list near;
    fmm_w_list w;
    const int32_t *particle = tree->leaves.particle;
    assert_int_equal(fmm_leaf_lists_create(tree, &near, &w), YOKE_OK);
    for (int64_t t = 0; t < tree->leaves.count; t++) {
        int64_t particles = particle[t + 1] - particle[t];
        sum.near += particles * (particles - 1) / 2;
        add_sources(&sum, particles, particles);
        sum.level[tree->leaves.level[t]].leaves++;
        sum.level[tree->leaves.level[t]].particles += particles;
        for (int64_t k = near.start[t]; k < near.start[t + 1]; k++) {
            if (near.cell[k] < t) continue; /* that pair was counted */
            int64_t there = particle[near.cell[k] + 1] - particle[near.cell[k]];
            sum.near += particles * there;
            add_sources(&sum, particles, there);
            add_sources(&sum, there, particles);
            if (tree->leaves.level[near.cell[k]] != tree->leaves.level[t]) sum.uneven += particles * there;
        }
        for (int64_t k = w.start[t]; k < w.start[t + 1]; k++) {
            sum.level[w.level[k]].w++;
            sum.level[w.level[k]].w_particles += particles;
        }
    }
    fmm_near_list_destroy(tree, &near);
    fmm_w_list_destroy(tree, &w);
    for (int l = 0; l <= tree->depth; l++) {
        sum.level[l].cells = tree->level[l].count;
        if (l == 0) continue;
        bool has[FMM_DIRECTIONS] = {false};
        sum.level[l].far = each_far_pair(tree, l, mark_direction, has) / 2;
        for (int d = FMM_NO_DIRECTION; d < FMM_DIRECTIONS; d++) sum.level[l].directions += has[d];
    }
    return sum;
}

/* is_finest: a is of the least capacity; larger ones may have fewer directions than are told. */
static void assert_same_operations(const fmm_operations *a, const fmm_operations *b, int is_finest)
{
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->leaves, b->leaves);
    assert_int_equal(a->near, b->near);
    assert_int_equal(a->uneven, b->uneven);
    for (int l = 0; l <= FMM_MAX_DEPTH; l++) {
        assert_int_equal(a->level[l].cells, b->level[l].cells);
        assert_int_equal(a->level[l].leaves, b->level[l].leaves);
        assert_int_equal(a->level[l].particles, b->level[l].particles);
        assert_int_equal(a->level[l].far, b->level[l].far);
        assert_true(is_finest ? a->level[l].directions == b->level[l].directions : a->level[l].directions >= b->level[l].directions);
        assert_int_equal(a->level[l].w, b->level[l].w);
        assert_int_equal(a->level[l].w_particles, b->level[l].w_particles);
    }
}

static void operations_of_all_capacities_are_those_of_their_lists(void **state)
{
    (void)state;
    enum { CAPACITIES = 5 };
    const int64_t capacities[CAPACITIES] = {2, 7, 20, 90, 5000};
    const int threads = omp_get_max_threads();
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 2000);
        fmm_tree *tree = tree_of(p, 2);
        fmm_operations operations[CAPACITIES];
        int64_t direct = cloud % 3 * 10;
        omp_set_num_threads(1 + cloud % 4);
        assert_int_equal(fmm_count_operations(tree, direct, CAPACITIES, capacities, operations), YOKE_OK);
        for (int k = 0; k < CAPACITIES; k++) {
            assert_int_equal(fmm_tree_divide(tree, FMM_MAX_DEPTH, capacities[k]), YOKE_OK);
            tree->direct = (int32_t)direct;
            fmm_operations expected = operations_of_lists(tree);
            assert_same_operations(&operations[k], &expected, k == 0);
            if (direct > 0) continue; /* direct cells are no leaves of the lists */
            assert_memory_equal(operations[k].sources, expected.sources, sizeof expected.sources);
            assert_int_equal(operations[k].large, expected.large);
        }
        fmm_tree_destroy(tree);
        fmm_particles_destroy(p);
    }
    omp_set_num_threads(threads);
}

/* 16^3 particles in a lattice: 8^l leaves for capacities of 4096 / 8^l, those of the uniform tree of depth l. */
static void operations_on_a_lattice_are_those_of_uniform_trees(void **state)
{
    (void)state;
    enum { EDGE = 16 };
    const int64_t capacities[5] = {1, 8, 64, 512, 4096};
    fmm_particles *p = NULL;
    fmm_tree *tree = NULL;
    fmm_counts counts[5];
    fmm_operations operations[5];
    assert_int_equal(fmm_particles_create(context, EDGE * EDGE * EDGE, &p), YOKE_OK);
    for (int i = 0; i < EDGE * EDGE * EDGE; i++) {
        p->x[i] = (i % EDGE + 0.5) / EDGE;
        p->y[i] = (i / EDGE % EDGE + 0.5) / EDGE;
        p->z[i] = (i / EDGE / EDGE + 0.5) / EDGE;
    }
    assert_int_equal(fmm_tree_create(p, (fmm_box){.side = 1}, 4, &tree), YOKE_OK);
    assert_int_equal(fmm_count_cells(tree, counts, NULL), YOKE_OK);
    assert_int_equal(fmm_count_operations(tree, 0, 5, capacities, operations), YOKE_OK);
    for (int k = 0; k < 5; k++) {
        int64_t far = 0;
        for (int l = 0; l <= 4; l++) {
            far += operations[k].level[l].far;
            assert_int_equal(operations[k].level[l].directions, l < 2 ? 0 : FMM_FAR_DIRECTIONS);
        }
        assert_true(operations[k].depth == 4 - k && operations[k].leaves == 1LL << 3 * (4 - k));
        assert_int_equal(operations[k].near, counts[4 - k].near);
        assert_int_equal(far, counts[4 - k].far);
    }
    fmm_tree_destroy(tree);
    fmm_particles_destroy(p);
}

static void one_particle_and_none_make_adaptive_trees(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 2; count++) {
        fmm_particles *p = cloud_create(context, UNIFORM, count);
        fmm_tree *tree = tree_of(p, 1);
        fmm_operations operations;
        fmm_near_list near;
        fmm_w_list w;
        assert_true(tree->depth == 0 && tree->level[0].count == count && tree->leaves.count == count);
        assert_int_equal(fmm_leaf_lists_create(tree, &near, &w), YOKE_OK);
        assert_int_equal(near.start[count] + w.start[count], 0);
        assert_int_equal(fmm_count_operations(tree, 0, 1, (const int64_t[]){1}, &operations), YOKE_OK);
        assert_true(operations.leaves == count && operations.near == 0);
        fmm_near_list_destroy(tree, &near);
        fmm_w_list_destroy(tree, &w);
        fmm_tree_destroy(tree);
        fmm_particles_destroy(p);
    }
}

static void what_makes_no_adaptive_tree_is_refused(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, UNIFORM, 100);
    fmm_tree *tree = NULL;
    fmm_operations operations[2];
    assert_int_equal(fmm_tree_create_adaptive(p, fmm_box_around(p), 5, 0, &tree), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_tree_create_adaptive(p, fmm_box_around(p), FMM_MAX_DEPTH + 1, 4, &tree), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_tree_create_adaptive(p, (fmm_box){.side = NAN}, 5, 4, &tree), YOKE_ERROR_ARGUMENT);
    assert_null(tree);
    tree = tree_of(p, 4);
    assert_int_equal(fmm_tree_divide(tree, FMM_MAX_DEPTH + 1, 4), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_tree_divide(tree, -1, 4), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_tree_divide(tree, 3, -1), YOKE_ERROR_ARGUMENT);
    check_cells(tree, 4);
    assert_int_equal(fmm_count_operations(tree, 0, 0, (const int64_t[]){4}, operations), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_count_operations(tree, 0, 2, (const int64_t[]){8, 8}, operations), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_count_operations(tree, 0, 1, (const int64_t[]){0}, operations), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_count_operations(tree, 0, 1, (const int64_t[]){2}, operations), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "make a finer tree"));
    fmm_tree_destroy(tree);
    fmm_particles_destroy(p);
}

/* A tree, what is made from it, and a division that fails and leaves it as it is. */
static yoke_status make_all(const fmm_particles *p, fmm_tree **tree)
{
    const int64_t capacities[] = {3, 30};
    fmm_operations operations[2];
    fmm_near_list near;
    fmm_w_list w;
    fmm_x_list x;
    yoke_status status = fmm_tree_create_adaptive(p, fmm_box_around(p), FMM_MAX_DEPTH, 3, tree);
    if (status) return status;
    status = fmm_leaf_lists_create(*tree, &near, &w);
    if (status) return status;
    status = fmm_x_list_create(*tree, &w, &x);
    assert_true(status || x.start[0]);
    if (!status) fmm_x_list_destroy(*tree, &x);
    fmm_near_list_destroy(*tree, &near);
    fmm_w_list_destroy(*tree, &w);
    if (!status) status = fmm_count_operations(*tree, 5, 2, capacities, operations);
    if (!status) status = fmm_tree_divide(*tree, FMM_MAX_DEPTH, 30);
    check_cells(*tree, status ? 3 : 30);
    check_leaves(*tree);
    return status;
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *limited = NULL;
    int failures = 0;
    assert_int_equal(yoke_context_create(&options, &limited), YOKE_OK);
    fmm_particles *p = cloud_create(limited, CLUSTERED, 400);
    int64_t before = memory.outstanding;
    for (int64_t k = 1;; k++) {
        fmm_tree *tree = NULL;
        memory.calls = 0;
        memory.fail_at = k;
        yoke_status status = make_all(p, &tree);
        fmm_tree_destroy(tree);
        assert_int_equal(memory.outstanding, before);
        if (status == YOKE_OK) break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures > 50);
    memory.fail_at = 0;
    fmm_particles_destroy(p);
    yoke_context_destroy(limited);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cells_with_more_particles_than_the_capacity_are_split),
    cmocka_unit_test(adaptive_trees_are_the_same_at_each_number_of_threads),
    cmocka_unit_test(trees_are_divided_anew_without_sorting),
    cmocka_unit_test(each_pair_of_particles_is_in_one_list_once),
    cmocka_unit_test(operations_of_all_capacities_are_those_of_their_lists),
    cmocka_unit_test(operations_on_a_lattice_are_those_of_uniform_trees),
    cmocka_unit_test(one_particle_and_none_make_adaptive_trees),
    cmocka_unit_test(what_makes_no_adaptive_tree_is_refused),
    cmocka_unit_test(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, context_start, context_end)
