#include "tree/tree.h"

#include <math.h>
#include <omp.h>

#include "clouds.h"
#include "context.h"
#include "far_pairs.h"
#include "particles/generate.h"
#include "particles/scale.h"
#include "tree/lists.h"
#include "tree/sort.h"

static fmm_tree *tree_of(const fmm_particles *particles, int depth)
{
    fmm_tree *tree = NULL;
    assert_int_equal(fmm_tree_create(particles, fmm_box_around(particles), depth, &tree), YOKE_OK);
    return tree;
}

static void keys_interleave_coordinates_and_give_them_back(void **state)
{
    (void)state;
    assert_true(fmm_key((const uint32_t[3]){1, 0, 0}) == 1);
    assert_true(fmm_key((const uint32_t[3]){0, 1, 0}) == 2);
    assert_true(fmm_key((const uint32_t[3]){0, 0, 1}) == 4);
    assert_true(fmm_key((const uint32_t[3]){0x1FFFFF, 0x1FFFFF, 0x1FFFFF}) == UINT64_MAX >> 1);
    uint64_t random = 1;
    for (int i = 0; i < 1000; i++) {
        uint32_t at[3], back[3];
        uint64_t plain = 0;
        for (int c = 0; c < 3; c++) at[c] = (uint32_t)(cloud_random(&random) * 0x1p21);
        for (int b = 0; b < 21; b++)
            for (int c = 0; c < 3; c++) plain |= (uint64_t)(at[c] >> b & 1) << (3 * b + c);
        assert_true(fmm_key(at) == plain);
        fmm_key_coordinates(plain, back);
        assert_memory_equal(at, back, sizeof at);
    }
}

typedef struct numbered {
    uint64_t key;
    int32_t number;
} numbered;

static int compare(const void *a, const void *b)
{
    const numbered *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

enum { SORTED = 30000 };

/* Many keys with the same high bits, some equal ones: of eight such sets, of one, of a thousand. */
static uint64_t alike(uint64_t key, int i, int sets)
{
    if (sets == 1000) return (key & 0xFFFFFFFFFF) | (uint64_t)(i % 1000) << 50;
    return i % 3 == 0 ? key : key & (sets == 8 ? 0x7000000000000FFF : 0x3FFFFF0F);
}

static void check_sort(int bits, int sets)
{
    static numbered expected[SORTED];
    static uint64_t keys[SORTED];
    static int32_t order[SORTED];
    const uint64_t all = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
    uint64_t random = 3;
    for (int i = 0; i < SORTED; i++) {
        keys[i] = alike((uint64_t)(cloud_random(&random) * ldexp(1, bits)), i, sets) & all;
        expected[i] = (numbered){keys[i], i};
    }
    qsort(expected, SORTED, sizeof expected[0], compare);
    assert_int_equal(fmm_sort(context, SORTED, bits, keys, order), YOKE_OK);
    for (int i = 0; i < SORTED; i++) assert_true(keys[i] == expected[i].key && order[i] == expected[i].number);
}

static void sort_is_stable_at_each_number_of_threads(void **state)
{
    (void)state;
    const int threads = omp_get_max_threads(), bits[] = {63, 64, 40, 12, 5, 0}, sets[] = {8, 1, 1000};
    for (size_t b = 0; b < sizeof bits / sizeof bits[0]; b++)
        for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
            for (int t = 1; t <= 7; t += 3) {
                omp_set_num_threads(t);
                check_sort(bits[b], sets[s]);
            }
    assert_int_equal(fmm_sort(context, 0, 63, NULL, NULL), YOKE_OK);
    omp_set_num_threads(threads);
}

/* Cells ascend, have the ranges that their children have, and particles that lie in them. */
static void check_level(const fmm_tree *tree, const fmm_particles *p, int l)
{
    const fmm_level *level = &tree->level[l];
    /* With rounding errors, also those of denormal numbers. */
    double half = ldexp(tree->box.side, -l - 1) + 0x1p-50 * tree->box.side + 0x1p-1072;
    assert_true(level->count <= tree->count && level->particle[0] == 0 && level->particle[level->count] == tree->count);
    for (int64_t c = 0; c < level->count; c++) {
        double centre[3];
        assert_true(level->particle[c] < level->particle[c + 1] && (c == 0 || level->key[c - 1] < level->key[c]) &&
                    level->key[c] >> 3 * l == 0);
        fmm_tree_centre(tree, l, c, centre);
        for (int32_t i = level->particle[c]; i < level->particle[c + 1]; i++) {
            const double at[3] = {p->x[tree->order[i]], p->y[tree->order[i]], p->z[tree->order[i]]};
            for (int k = 0; k < 3; k++) assert_true(fabs(at[k] - centre[k]) <= half + 0x1p-52 * fabs(at[k]));
        }
        if (l == tree->depth) continue;
        int octants = 0;
        for (int32_t k = level->child[c]; k < level->child[c + 1]; k++) {
            assert_true(tree->level[l + 1].parent[k] == c && tree->level[l + 1].key[k] >> 3 == level->key[c]);
            octants |= 1 << (tree->level[l + 1].key[k] & 7);
        }
        assert_int_equal(octants, level->octants[c]);
        assert_int_equal(level->particle[c], tree->level[l + 1].particle[level->child[c]]);
    }
}

static void check_order(const fmm_tree *tree)
{
    const fmm_level *leaves = &tree->level[tree->depth];
    for (int64_t c = 0; c < leaves->count; c++)
        for (int32_t i = leaves->particle[c] + 1; i < leaves->particle[c + 1]; i++) assert_true(tree->order[i - 1] < tree->order[i]);
}

static void cells_hold_the_particles_that_lie_in_them(void **state)
{
    (void)state;
    const int depths[] = {0, 1, 4, FMM_MAX_DEPTH};
    for (int cloud = 0; cloud < CLOUDS; cloud++)
        for (int d = 0; d < 4; d++) {
            fmm_particles *p = cloud_create(context, cloud, 500);
            fmm_tree *tree = tree_of(p, depths[d]);
            char seen[500] = {0};
            for (int i = 0; i < 500; i++) seen[tree->order[i]]++;
            for (int i = 0; i < 500; i++) assert_int_equal(seen[i], 1);
            for (int l = 0; l <= tree->depth; l++) {
                check_level(tree, p, l);
                assert_int_equal(fmm_tree_cells(tree, l), tree->level[l].count);
            }
            check_order(tree);
            assert_int_equal(tree->level[0].count, 1);
            double values[500], sorted[500], back[500];
            for (int i = 0; i < 500; i++) values[i] = i;
            fmm_tree_sort(tree, values, sorted);
            fmm_tree_restore(tree, sorted, back);
            for (int i = 0; i < 500; i++) assert_true(sorted[i] == tree->order[i] && back[i] == i);
            fmm_tree_destroy(tree);
            fmm_particles_destroy(p);
        }
}

static void trees_are_the_same_at_each_number_of_threads(void **state)
{
    (void)state;
    const int threads = omp_get_max_threads();
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 20000);
        omp_set_num_threads(1);
        fmm_tree *one = tree_of(p, 9);
        omp_set_num_threads(5);
        fmm_tree *five = tree_of(p, 9);
        assert_memory_equal(one->order, five->order, 20000 * sizeof *one->order);
        for (int l = 0; l <= 9; l++) {
            size_t cells = (size_t)one->level[l].count;
            assert_int_equal(cells, five->level[l].count);
            assert_memory_equal(one->level[l].key, five->level[l].key, cells * sizeof(uint64_t));
            assert_memory_equal(one->level[l].particle, five->level[l].particle, (cells + 1) * sizeof(int32_t));
        }
        fmm_tree_destroy(one);
        fmm_tree_destroy(five);
        fmm_particles_destroy(p);
    }
    omp_set_num_threads(threads);
}

enum { COVERED = 150 };

/* How often each ordered pair of particles is in the near or far field. */
typedef struct cover {
    const fmm_tree *tree;
    unsigned char (*times)[COVERED];
} cover;

static void cover_cells(cover *c, int l, int32_t target, int32_t source)
{
    const fmm_level *level = &c->tree->level[l];
    for (int32_t i = level->particle[target]; i < level->particle[target + 1]; i++)
        for (int32_t j = level->particle[source]; j < level->particle[source + 1]; j++) c->times[i][j]++;
}

static int distance(const fmm_level *level, int32_t a, int32_t b, int shift, int d[3])
{
    uint32_t at[3], to[3];
    int largest = 0;
    fmm_key_coordinates(level->key[a], at);
    fmm_key_coordinates(level->key[b], to);
    for (int c = 0; c < 3; c++) {
        d[c] = (int)(to[c] >> shift) - (int)(at[c] >> shift);
        largest = abs(d[c]) > largest ? abs(d[c]) : largest;
    }
    return largest;
}

static void cover_near(cover *c)
{
    fmm_near_list near;
    fmm_w_list w;
    int d[3], leaves = c->tree->depth;
    assert_int_equal(fmm_leaf_lists_create(c->tree, &near, &w), YOKE_OK);
    assert_int_equal(w.start[c->tree->leaves.count], 0);
    fmm_w_list_destroy(c->tree, &w);
    for (int32_t t = 0; t < c->tree->level[leaves].count; t++) {
        cover_cells(c, leaves, t, t);
        for (int64_t k = near.start[t]; k < near.start[t + 1]; k++) {
            assert_true(k == near.start[t] || near.cell[k - 1] < near.cell[k]);
            assert_int_equal(distance(&c->tree->level[leaves], t, near.cell[k], 0, d), 1);
            cover_cells(c, leaves, t, near.cell[k]);
        }
    }
    fmm_near_list_destroy(c->tree, &near);
}

static void cover_pair(void *user, int level, int direction, int32_t target, int32_t source)
{
    cover *c = user;
    const fmm_level *cells = &c->tree->level[level];
    int d[3];
    assert_true(distance(cells, target, source, 1, d) == 1);
    assert_true(distance(cells, target, source, 0, d) > 1);
    assert_int_equal(direction, d[0] + 7 * d[1] + 49 * d[2] + FMM_NO_DIRECTION);
    cover_cells(c, level, target, source);
}

static void each_pair_of_particles_is_in_one_field_once(void **state)
{
    (void)state;
    static unsigned char times[COVERED][COVERED];
    const int depths[] = {0, 1, 2, 3, 5, FMM_MAX_DEPTH};
    for (int cloud = 0; cloud < CLOUDS; cloud++)
        for (int d = 0; d < 6; d++) {
            fmm_particles *p = cloud_create(context, cloud, COVERED);
            fmm_tree *tree = tree_of(p, depths[d]);
            cover c = {tree, times};
            memset(times, 0, sizeof times);
            cover_near(&c);
            for (int l = 1; l <= tree->depth; l++) (void)each_far_pair(tree, l, cover_pair, &c);
            for (int i = 0; i < COVERED; i++)
                for (int j = 0; j < COVERED; j++) assert_int_equal(times[i][j], 1);
            fmm_tree_destroy(tree);
            fmm_particles_destroy(p);
        }
}

/* Coordinates that are rounded to 0 in the tree's units; without a scale they keep their sign. */
static void boxes_hold_particles_just_below_zero(void **state)
{
    (void)state;
    for (int exponent = -2; exponent <= 2; exponent++) {
        fmm_particles *p = cloud_create(context, UNIFORM, 100);
        fmm_tree *tree = NULL;
        for (int64_t i = 0; i < p->count; i++) p->x[i] = ldexp(p->x[i] / 2 + 0.25, exponent);
        p->x[7] = -1e-200;
        if (fmm_tree_create(p, fmm_box_scaled(p, 0), 3, &tree)) fail_msg("%s", yoke_last_error(context));
        fmm_tree_destroy(tree);
        fmm_particles_destroy(p);
    }
}

/* The lowest cells in each coordinate hold all particles. */
static void boxes_of_cells_have_so_many_along_each_side(void **state)
{
    (void)state;
    for (int cloud = 0; cloud < HUGE_EXTENT; cloud++)
        for (int64_t cells = 1; cells <= 40; cells += 3) {
            fmm_particles *p = cloud_create(context, cloud, 500);
            const int depth = fmm_depth_of_cells(cells);
            fmm_tree *tree = NULL;
            uint32_t least = UINT32_MAX, most = 0;
            assert_true((int64_t)1 << depth >= cells && (depth == 0 || (int64_t)1 << (depth - 1) < cells));
            assert_int_equal(fmm_tree_create(p, fmm_box_scaled(p, cells), depth, &tree), YOKE_OK);
            for (int64_t c = 0; c < tree->level[depth].count; c++) {
                uint32_t at[3];
                fmm_key_coordinates(tree->level[depth].key[c], at);
                for (int k = 0; k < 3; k++) {
                    if (at[k] < least) least = at[k];
                    if (at[k] > most) most = at[k];
                }
            }
            assert_true(most < cells);
            if (cloud == UNIFORM && cells < 7) assert_true(least == 0 && most == cells - 1);
            fmm_tree_destroy(tree);
            fmm_particles_destroy(p);
        }
}

/* Half a spacing lies between particles and faces of the box, so that all leaves have the same number. */
static void cells_of_a_lattice_are_alike(void **state)
{
    (void)state;
    fmm_particles *p = NULL;
    fmm_tree *tree = NULL;
    assert_int_equal(fmm_particles_generate(context, FMM_GRID, 12 * 12 * 12, FMM_EQUAL, 1, &p), YOKE_OK);
    for (int64_t cells = 3; cells <= 12; cells *= 2) {
        const int64_t inside = 1728 / (cells * cells * cells);
        assert_int_equal(fmm_tree_create(p, fmm_box_scaled(p, cells), fmm_depth_of_cells(cells), &tree), YOKE_OK);
        assert_int_equal(tree->leaves.count, cells * cells * cells);
        for (int64_t i = 0; i < tree->leaves.count; i++) assert_int_equal(tree->leaves.particle[i + 1] - tree->leaves.particle[i], inside);
        fmm_tree_destroy(tree);
    }
    fmm_particles_destroy(p);
}

/* The unit is a power of two, which rounds nothing: trees are those over a copy of the particles in it. */
static void trees_in_a_scaled_box_are_those_of_scaled_particles(void **state)
{
    enum { COUNT = 500 };
    static const int exponents[] = {-1000, -3, 0, 40, 990};
    (void)state;
    for (int cloud = 0; cloud < HUGE_EXTENT; cloud++)
        for (int k = 0; k < 5; k++)
            for (int64_t cells = 0; cells <= 11; cells += 11) {
                fmm_particles *p = cloud_create(context, cloud, COUNT), *scaled = cloud_create(context, UNIFORM, COUNT);
                fmm_tree *one = NULL, *other = NULL;
                int length;
                double *const places[3] = {p->x, p->y, p->z};
                for (int c = 0; c < 3; c++)
                    for (int i = 0; i < COUNT; i++) places[c][i] = ldexp(places[c][i], exponents[k]);
                p->x[3] = 0x1p-1070; /* nothing beside the others */
                fmm_scale_positions(p, &length, scaled);
                const fmm_box box = fmm_box_scaled(p, cells), of_scaled = fmm_box_scaled(scaled, cells);
                const int depth = cells ? fmm_depth_of_cells(cells) : 5;
                assert_int_equal(box.length, length);
                assert_memory_equal(box.low, of_scaled.low, sizeof box.low);
                assert_memory_equal(&box.side, &of_scaled.side, sizeof box.side);
                assert_int_equal(fmm_tree_create(p, box, depth, &one), YOKE_OK);
                assert_int_equal(fmm_tree_create(scaled, of_scaled, depth, &other), YOKE_OK);
                assert_memory_equal(one->key, other->key, COUNT * sizeof *one->key);
                assert_memory_equal(one->order, other->order, COUNT * sizeof *one->order);
                fmm_tree_destroy(one);
                fmm_tree_destroy(other);
                fmm_particles_destroy(p);
                fmm_particles_destroy(scaled);
            }
}

/* Where they are divided as they are asked for. */
static void trees_that_are_divided_so_stay(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, CLUSTERED, 700);
    for (int64_t capacity = 0; capacity <= 30; capacity += 30) {
        fmm_tree *tree = tree_of(p, 6), *other = tree_of(p, 6);
        assert_int_equal(fmm_tree_divide(tree, 5, capacity), YOKE_OK);
        const uint64_t *key = tree->level[1].key;
        assert_int_equal(fmm_tree_divide(tree, 5, capacity), YOKE_OK);
        assert_true(tree->level[1].key == key);
        assert_int_equal(fmm_tree_divide(tree, 1, 0), YOKE_OK);
        assert_int_equal(tree->depth, 1);
        assert_int_equal(fmm_tree_divide(tree, 5, capacity), YOKE_OK);
        assert_int_equal(fmm_tree_divide(other, 5, capacity), YOKE_OK);
        assert_int_equal(tree->depth, 5);
        assert_int_equal(tree->leaves.count, other->leaves.count);
        assert_memory_equal(tree->leaves.particle, other->leaves.particle, (size_t)(tree->leaves.count + 1) * sizeof(int32_t));
        fmm_tree_destroy(tree);
        fmm_tree_destroy(other);
    }
    fmm_particles_destroy(p);
}

/* Whether particles may coincide, by the tree that the depth and the capacity give. */
static bool may_coincide(const fmm_particles *p, int depth, int64_t capacity)
{
    fmm_particles *sorted = NULL;
    fmm_tree *tree = NULL;
    const fmm_box box = fmm_box_around(p);
    assert_int_equal(capacity ? fmm_tree_create_adaptive(p, box, depth, capacity, &tree) : fmm_tree_create(p, box, depth, &tree), YOKE_OK);
    assert_int_equal(fmm_particles_create(context, p->count, &sorted), YOKE_OK);
    fmm_tree_sort(tree, p->x, sorted->x);
    fmm_tree_sort(tree, p->y, sorted->y);
    fmm_tree_sort(tree, p->z, sorted->z);
    const bool may = fmm_tree_may_coincide(tree, sorted);
    fmm_particles_destroy(sorted);
    fmm_tree_destroy(tree);
    return may;
}

static void move_to(fmm_particles *p, int64_t i, const double at[3]) { p->x[i] = at[0], p->y[i] = at[1], p->z[i] = at[2]; }

/* Wherever they are in the tree's order; those at other positions only if many have the same key. */
static void particles_at_one_position_are_never_missed(void **state)
{
    enum { COUNT = 9000 };
    (void)state;
    uint64_t random = 1;
    fmm_particles *p = cloud_create(context, UNIFORM, COUNT);
    assert_false(may_coincide(p, 2, 0)); /* cells of 140 */
    assert_false(may_coincide(p, 5, 0));
    assert_false(may_coincide(p, FMM_MAX_DEPTH, 50));
    assert_true(may_coincide(p, 1, 0)); /* cells of 1100, which are not compared */
    for (int pair = 0; pair < 300; pair++) {
        const int64_t i = (int64_t)(COUNT * cloud_random(&random)),
                      other = (i + 1 + (int64_t)((COUNT - 1) * cloud_random(&random))) % COUNT;
        const double was[3] = {p->x[i], p->y[i], p->z[i]};
        move_to(p, i, (const double[]){p->x[other], p->y[other], p->z[other]});
        assert_true(may_coincide(p, pair % 2 ? 2 : 5, 0));
        assert_true(may_coincide(p, FMM_MAX_DEPTH, 50));
        move_to(p, i, was);
    }
    move_to(p, 70, (const double[]){-0.0, 0.5, 0.0});
    move_to(p, 8000, (const double[]){0.0, 0.5, -0.0});
    assert_true(may_coincide(p, 2, 0));
    fmm_particles_destroy(p);
}

static void one_particle_and_none_make_trees(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 2; count++) {
        fmm_particles *p = cloud_create(context, UNIFORM, count);
        fmm_tree *tree = tree_of(p, 3);
        fmm_near_list near;
        fmm_w_list w;
        fmm_x_list x;
        for (int l = 0; l <= 3; l++) assert_int_equal(tree->level[l].count, count);
        assert_false(fmm_tree_may_coincide(tree, p));
        assert_int_equal(fmm_leaf_lists_create(tree, &near, &w), YOKE_OK);
        assert_int_equal(fmm_x_list_create(tree, &w, &x), YOKE_OK);
        assert_int_equal(near.start[count], 0);
        assert_int_equal(w.start[count], 0);
        assert_null(x.start[0]);
        fmm_near_list_destroy(tree, &near);
        fmm_w_list_destroy(tree, &w);
        fmm_tree_destroy(tree);
        fmm_particles_destroy(p);
    }
}

static void what_makes_no_tree_is_refused(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, UNIFORM, 10);
    const fmm_box box = {.side = 1};
    fmm_tree *tree = NULL;
    assert_int_equal(fmm_tree_create(p, box, -1, &tree), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_tree_create(p, box, FMM_MAX_DEPTH + 1, &tree), YOKE_ERROR_ARGUMENT);
    const double sides[] = {0, -1, NAN, INFINITY};
    for (int s = 0; s < 4; s++) assert_int_equal(fmm_tree_create(p, (fmm_box){.side = sides[s]}, 3, &tree), YOKE_ERROR_ARGUMENT);
    const double places[] = {NAN, INFINITY, 1.5, -1e-9};
    for (int s = 0; s < 4; s++) {
        p->y[6] = places[s];
        assert_int_equal(fmm_tree_create(p, box, 3, &tree), YOKE_ERROR_ARGUMENT);
        assert_non_null(strstr(yoke_last_error(context), "particle 7 "));
    }
    assert_null(tree);
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keys_interleave_coordinates_and_give_them_back),
    cmocka_unit_test(sort_is_stable_at_each_number_of_threads),
    cmocka_unit_test(cells_hold_the_particles_that_lie_in_them),
    cmocka_unit_test(trees_are_the_same_at_each_number_of_threads),
    cmocka_unit_test(each_pair_of_particles_is_in_one_field_once),
    cmocka_unit_test(boxes_hold_particles_just_below_zero),
    cmocka_unit_test(boxes_of_cells_have_so_many_along_each_side),
    cmocka_unit_test(cells_of_a_lattice_are_alike),
    cmocka_unit_test(trees_in_a_scaled_box_are_those_of_scaled_particles),
    cmocka_unit_test(trees_that_are_divided_so_stay),
    cmocka_unit_test(particles_at_one_position_are_never_missed),
    cmocka_unit_test(one_particle_and_none_make_trees),
    cmocka_unit_test(what_makes_no_tree_is_refused),
};

UNIT_MAIN(tests, context_start, context_end)
