/* Trees that are predicted and chosen. */
#include "tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "clouds.h"
#include "far_pairs.h"
#include "known_costs.h"
#include "method/method.h"
#include "particles/generate.h"
#include "particles/random.h"
#include "tree/lists.h"

/* Ordered pairs of particles of leaves with n particles, by comparing all cells; the same of large ones; and the particles of leaves that touch
 * others. */
static void count_sources(const fmm_tree *tree, fmm_cell_counts *counts)
{
    const fmm_level *leaves = &tree->level[tree->depth];
    for (int64_t a = 0; a < leaves->count; a++) {
        uint32_t at[3], other[3];
        int64_t sources = 0;
        const int64_t own = leaves->particle[a + 1] - leaves->particle[a];
        fmm_key_coordinates(leaves->key[a], at);
        for (int64_t b = 0; b < leaves->count; b++) {
            int far = 0;
            fmm_key_coordinates(leaves->key[b], other);
            for (int c = 0; c < 3; c++) far |= at[c] > other[c] + 1 || other[c] > at[c] + 1;
            if (!far) sources += leaves->particle[b + 1] - leaves->particle[b];
        }
        if (own <= FMM_SMALL_LEAF)
            counts->sources[own] += sources;
        else
            counts->large += own * sources;
        if (sources > own) counts->beside += own;
    }
}

static void sources_of_leaves_are_counted_by_size(void **state)
{
    (void)state;
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 700);
        fmm_tree *tree = NULL;
        fmm_counts counts[4];
        fmm_cell_counts cells[4];
        assert_int_equal(fmm_tree_create(p, fmm_box_around(p), 3, &tree), YOKE_OK);
        assert_int_equal(fmm_count_cells(tree, counts, cells), YOKE_OK);
        for (int d = 3; d >= 0; d--) {
            fmm_cell_counts expected = {0};
            assert_int_equal(fmm_tree_divide(tree, d, 0), YOKE_OK);
            count_sources(tree, &expected);
            int64_t pairs = cells[d].large;
            for (int n = 1; n <= FMM_SMALL_LEAF; n++) {
                assert_int_equal(cells[d].sources[n], expected.sources[n]);
                pairs += n * cells[d].sources[n];
            }
            assert_int_equal(cells[d].large, expected.large);
            assert_int_equal(cells[d].beside, expected.beside);
            assert_int_equal(pairs, 2 * counts[d].near + p->count);
            assert_int_equal(cells[d].leaves, tree->level[d].count);
        }
        assert_int_equal(cells[3].cells, cells[3].leaves);
        fmm_tree_destroy(tree);
        fmm_particles_destroy(p);
    }
}

/* The same by plain arithmetic. */
static double by_hand(const known *k, const fmm_analysis *a, int depth, int p)
{
    const fmm_cell_counts *c = &a->cells[depth];
    double n = (double)a->tree->count, leaves = (double)c->leaves,
           sum = (2e-8 + 1e-8 + k->near_particle) * n + k->near_particle * (double)c->beside + (3e-7 + k->near_leaf) * leaves;
    for (int own = 1; own <= FMM_SMALL_LEAF; own++) sum += (double)c->sources[own] * source_of(k, own);
    sum += (double)c->large * source_of(k, 128) / 128;
    if (depth < 2) return sum;
    sum += 2 * (double)a->counts[depth].far * unit_of(k, FMM_PAIR, p) + (double)c->cells * unit_of(k, FMM_CELL, p);
    return sum + unit_of(k, FMM_TABLES, p) + (p + 1) * (p + 1) * (1e-9 * leaves + k->points * n);
}

static int brute_force(const known *k, const fmm_analysis *a, int order)
{
    int best = 0;
    for (int d = 1; d <= a->tree->depth; d++)
        if (by_hand(k, a, d, order) < by_hand(k, a, best, order)) best = d;
    return best;
}

static void the_depth_of_least_time_is_that_of_a_search_over_all(void **state)
{
    (void)state;
    static const double near_pairs[] = {1e-11, 3e-10, 1e-8};
    static const enum cloud clouds[] = {UNIFORM, CLUSTERED, PLANE, FAR_PARTICLE};
    int seen[FMM_MAX_DEPTH + 1] = {0}, different = 0;
    for (int speed = 0; speed < 3; speed++) {
        known costs = usual;
        fmm_machine machine;
        costs.near_pair = near_pairs[speed];
        yoke_run *run = open_run(NULL);
        measure(run, &costs, &machine);
        for (int cloud = 0; cloud < 4; cloud++) {
            fmm_particles *p = cloud_create(context, clouds[cloud], 5000);
            fmm_analysis *analysis = NULL;
            assert_int_equal(fmm_analysis_create(p, 5, &analysis), YOKE_OK);
            for (int order = 2; order < 20; order += 5) {
                fmm_choice choice = {.first = 0, .last = 5};
                for (int d = 0; d <= 5; d++) {
                    fmm_depth_predict(&machine, analysis, d, order, 1, &choice.of[d]);
                    assert_near_part(choice.of[d].predicted.total, by_hand(&costs, analysis, d, order), 1e-9);
                }
                assert_int_equal(fmm_choose(run, 0, 1, &machine, &choice), YOKE_OK);
                assert_int_equal(choice.depth, brute_force(&costs, analysis, order));
                assert_near_part(choice.predicted.time_s, choice.of[choice.depth].predicted.total, 1e-3);
                different += !seen[choice.depth]++;
            }
            fmm_analysis_destroy(analysis);
            fmm_particles_destroy(p);
        }
        yoke_run_destroy(run);
    }
    assert_true(different > 2);
}

/* The original cost model knows pairs of particles and of cells only: 27 and 2 (p + 1)(p + 2)(2 p + 3) operations, which take as long as in the kernels. */
static void counted_operations_choose_a_depth_of_their_own(void **state)
{
    (void)state;
    enum { ORDER = 8 };
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    fmm_analysis *analysis = NULL;
    known costs = usual;
    fmm_machine machine;
    costs.pair *= 100;
    assert_int_equal(fmm_analysis_create(p, 4, &analysis), YOKE_OK);
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine);
    fmm_choice choice = {.first = 0, .last = 4};
    int best = 0;
    for (int d = 0; d <= 4; d++) {
        fmm_depth_predict(&machine, analysis, d, ORDER, 1, &choice.of[d]);
        const double operations = 27. * (double)analysis->counts[d].near + 2 * 9. * 10 * 19 * (double)analysis->counts[d].far;
        assert_near_part(choice.of[d].by_operations, operations * source_of(&costs, 128) / 128 / 13.5, 1e-9);
        if (choice.of[d].by_operations < choice.of[best].by_operations) best = d;
    }
    assert_int_equal(fmm_choose(run, 0, 1, &machine, &choice), YOKE_OK);
    assert_int_equal(fmm_depth_by_operations(&choice), best);
    assert_true(best > choice.depth); /* translations that take a hundred times as long are none of its business */
    fmm_choice_take_depth(&choice, best);
    assert_int_equal(choice.depth, best);
    assert_near_part(choice.predicted.time_s, choice.of[best].predicted.total, 1e-12);
    yoke_run_destroy(run);
    fmm_analysis_destroy(analysis);
    fmm_particles_destroy(p);
}

/* Below the depths that may be the fastest for particles that fill their box. */
static void the_depth_of_fewest_operations_is_found_on_a_plane(void **state)
{
    (void)state;
    enum { ORDER = 4, DEEPER = 3 };
    fmm_particles *p = cloud_create(context, PLANE, 20000);
    fmm_analysis *analysis = NULL;
    char path[64];
    (void)snprintf(path, sizeof path, "tune-operations-%ld.json", (long)getpid());
    known costs = usual;
    fmm_machine machine;
    keep_known_costs(path, &costs, &machine);
    const fmm_tune_options options = {.store = path, .gradient = 1, .depth = -1, .by_operations = 1};
    fmm_tuned tuned;
    fmm_tuner *tuner = choose_tree(&options, p, ORDER, &tuned);
    const int depth = tuned.choice.depth;
    assert_true(depth > fmm_deep_enough(p->count) && depth < tuned.choice.last);
    assert_int_equal(fmm_analysis_create(p, depth + DEEPER, &analysis), YOKE_OK);
    fmm_depth at[FMM_MAX_DEPTH + 1];
    for (int d = 0; d <= depth + DEEPER; d++) fmm_depth_predict(&machine, analysis, d, ORDER, 1, &at[d]);
    for (int d = 0; d <= depth + DEEPER; d++) assert_true(at[d].by_operations >= at[depth].by_operations);
    fmm_analysis_destroy(analysis);
    fmm_tuner_destroy(tuner);
    fmm_particles_destroy(p);
    (void)remove(path);
}

/* An adaptive tree by plain arithmetic from the lists that it has; `near` costs the same for each pair. */
static double adaptive_by_hand(const known *k, fmm_tree *tree, int64_t capacity, int p)
{
    fmm_near_list near;
    fmm_w_list w;
    assert_int_equal(fmm_tree_divide(tree, FMM_MAX_DEPTH, capacity), YOKE_OK);
    tree->direct = (int32_t)fmm_method_direct(p, 1);
    assert_int_equal(fmm_leaf_lists_create(tree, &near, &w), YOKE_OK);
    const fmm_leaves *leaves = &tree->leaves;
    double alone = k->near_pair * KNOWN_UNEVEN,
           sum = (2e-8 + 1.2e-8 + 2 * k->near_particle) * (double)tree->count + (5e-7 + k->near_leaf) * (double)leaves->count;
    for (int64_t t = 0; t < leaves->count; t++) {
        double own = leaves->particle[t + 1] - leaves->particle[t];
        sum += own * own * k->near_pair;
        for (int64_t n = near.start[t]; n < near.start[t + 1]; n++) {
            int32_t other = near.cell[n];
            sum += own * (leaves->particle[other + 1] - leaves->particle[other]) *
                   (leaves->level[other] == leaves->level[t] ? k->near_pair : alone);
        }
        sum += (double)(w.start[t + 1] - w.start[t]) * (p + 1) * (p + 1) * (2e-9 + 5 * k->points * own);
        if (leaves->level[t] > 1) sum += (p + 1) * (p + 1) * (1e-9 + k->points * own);
    }
    fmm_near_list_destroy(tree, &near);
    fmm_w_list_destroy(tree, &w);
    for (int l = 2; l <= tree->depth; l++) {
        sum += (double)each_far_pair(tree, l, NULL, NULL) * unit_of(k, FMM_PAIR, p);
        if (l > 2) sum += (double)tree->level[l].count * unit_of(k, FMM_CELL, p);
    }
    return tree->depth > 1 ? sum + unit_of(k, FMM_TABLES, p) : sum;
}

static void adaptive_trees_are_taken_where_they_are_faster(void **state)
{
    (void)state;
    static const enum cloud clouds[] = {UNIFORM, CLUSTERED, SHELLS, FAR_PARTICLE};
    enum { ORDER = 6, CAPACITIES = 4 };
    known costs = usual;
    fmm_machine machine;
    int taken = 0;
    costs.near_start = 0;
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine);
    for (int cloud = 0; cloud < 4; cloud++) {
        fmm_particles *p = cloud_create(context, clouds[cloud], 5000);
        fmm_analysis *analysis = NULL;
        fmm_choice choice = {.first = 0, .last = 4, .num_capacities = CAPACITIES, .capacity = {20, 50, 200, 1000}};
        double best = INFINITY, best_adaptive = INFINITY;
        assert_int_equal(fmm_analysis_create(p, 4, &analysis), YOKE_OK);
        for (int d = 0; d <= 4; d++) {
            fmm_depth_predict(&machine, analysis, d, ORDER, 1, &choice.of[d]);
            best = fmin(best, choice.of[d].predicted.total);
        }
        assert_int_equal(fmm_capacities_predict(&machine, analysis, ORDER, 1, &choice), YOKE_OK);
        for (int c = 0; c < CAPACITIES; c++) {
            double expected = adaptive_by_hand(&costs, analysis->tree, choice.capacity[c], ORDER);
            assert_near_part(choice.at[c].predicted.total, expected, 1e-9);
            assert_int_equal(choice.depth_at[c], analysis->tree->depth);
            best_adaptive = fmin(best_adaptive, expected);
        }
        assert_int_equal(fmm_choose(run, 0, 1, &machine, &choice), YOKE_OK);
        assert_int_equal(choice.adaptive >= 0, best_adaptive < best);
        assert_near_part(fmm_chosen(&choice)->predicted.total, fmin(best, best_adaptive), 1e-9);
        taken += choice.adaptive >= 0;
        fmm_analysis_destroy(analysis);
        fmm_particles_destroy(p);
    }
    assert_true(taken >= 2);
    yoke_run_destroy(run);
}

/* What the tree with so many cells takes, and the least of all numbers of cells. */
static double predicted_of(const fmm_machine *machine, const fmm_particles *p, int64_t cells, int order)
{
    fmm_analysis *analysis = NULL;
    fmm_depth of;
    assert_int_equal(fmm_analysis_create_cells(p, cells, &analysis), YOKE_OK);
    fmm_depth_predict(machine, analysis, fmm_depth_of_cells(cells), order, 1, &of);
    fmm_analysis_destroy(analysis);
    return of.predicted.total;
}

/* A store of the usual costs, for a tuner. */
static void save_costs(char path[64], fmm_machine *machine)
{
    known costs = usual;
    (void)snprintf(path, 64, "tune-%ld.json", (long)getpid());
    yoke_run *run = open_run(path);
    measure(run, &costs, machine);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
}

/* Evenly filled boxes want leaves between those of two depths at most orders. */
static void cells_between_two_depths_are_taken_where_they_are_faster(void **state)
{
    (void)state;
    enum { MOST = 16 };
    char path[64];
    int taken = 0;
    fmm_machine machine;
    fmm_tuned tuned;
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    save_costs(path, &machine);
    const fmm_tune_options options = {.store = path, .gradient = 1, .depth = -1};
    for (int order = 4; order <= 24; order += 10) {
        double best = INFINITY, estimate;
        for (int64_t cells = 4; cells <= MOST; cells++) best = fmin(best, predicted_of(&machine, p, cells, order));
        fmm_tuner *tuner = choose_tree(&options, p, order, &tuned);
        const fmm_choice *choice = &tuned.choice;
        assert_true(fmm_chosen(choice)->predicted.total < 1.08 * best);
        fmm_even even;
        assert_int_equal(fmm_even_find(p, &even), YOKE_OK);
        assert_true(even.is_even);
        const fmm_estimating of = {.machine = &machine, .even = &even, .order = order, .gradient = 1};
        const int64_t cells = fmm_cells_estimate(&of, 4, 0, 0, &estimate);
        if (cells) assert_near_part(estimate, predicted_of(&machine, p, cells, order), 0.1);
        if (choice->takes_cells) {
            assert_near_part(choice->of_cells.predicted.total, predicted_of(&machine, p, choice->cells, order), 1e-9);
            fmm_tree *tree = fmm_tuner_take_tree(tuner, choice->cells);
            assert_int_equal(tree->depth, choice->depth);
            assert_int_equal(tree->leaves.count, choice->cells * choice->cells * choice->cells);
            fmm_tree_destroy(tree);
            assert_int_equal(fmm_tuner_choose(tuner, order + 1, &tuned), YOKE_OK); /* it is compared without its particles */
            assert_true(tuned.choice.cells > 0);
            taken++;
        }
        fmm_tuner_destroy(tuner);
    }
    assert_true(taken >= 2);
    (void)remove(path);
    fmm_particles_destroy(p);
}

/* The rest of the tree took 1.06 times as long as predicted: that is learned, whatever sorting took. */
static void sorting_is_predicted_until_it_is_measured(void **state)
{
    (void)state;
    enum { PARTICLES = 20000, DEPTH = 5 };
    char path[64];
    fmm_machine machine;
    fmm_particles *p = cloud_create(context, UNIFORM, PARTICLES);
    const fmm_tune_options options = {.store = path, .gradient = 1, .depth = DEPTH};
    save_costs(path, &machine);
    for (int r = 0; r <= FMM_ALIKE_RUNS; r++) {
        fmm_tuned tuned;
        fmm_tuner *tuner = choose_tree(&options, p, 8, &tuned);
        const fmm_seconds before = fmm_chosen(&tuned.choice)->predicted;
        const double cost_s = PARTICLES * machine.sort;
        fmm_tuner_take_sorting(tuner, &tuned);
        const fmm_seconds after = fmm_chosen(&tuned.choice)->predicted;
        assert_true(tuned.sort_s > 0 && tuned.sort_s != cost_s);
        assert_near_part(after.tree - tuned.sort_s, before.tree - cost_s, 1e-9);
        assert_near_part(after.total, after.tree + before.near + before.far, 1e-9);
        assert_near_part(tuned.choice.predicted.time_s, after.total, 1e-3);
        const double rest_s = (after.tree - tuned.sort_s) / tuned.factor[FMM_PART_TREE].value;
        tuned.choice.of[DEPTH].measured =
            (fmm_seconds){.tree = tuned.sort_s + 1.06 * rest_s, .near = NAN, .far = NAN, .total = after.total};
        assert_int_equal(fmm_tuner_learn(tuner, &tuned), YOKE_OK);
        fmm_tuner_destroy(tuner);
    }
    yoke_run *run = open_run(path);
    assert_int_equal(fmm_machine_get(run, 0, 1, FMM_MEASURE_SECONDS, &machine), YOKE_OK);
    assert_near_part(machine.factor[FMM_PART_TREE].value, 1.06, 1e-9);
    yoke_run_destroy(run);
    fmm_particles_destroy(p);
    (void)remove(path);
}

/* Batches of a uniform tree, from the directions that its far pairs have. */
static double batches_of(const fmm_analysis *a, int depth)
{
    fmm_operations of;
    const int64_t one = 1;
    double batches = 0;
    assert_int_equal(fmm_tree_divide(a->tree, depth, 0), YOKE_OK);
    assert_int_equal(fmm_count_operations(a->tree, 0, 1, &one, &of), YOKE_OK);
    for (int l = 2; l <= depth; l++)
        batches +=
            fmm_method_batches((double)a->cells[l].leaves, 2 * (double)(a->counts[l].far - a->counts[l - 1].far), of.level[l].directions);
    return batches;
}

/* Far pairs have all directions in filled space, fewer on a plane and very few on a line. */
static void batches_are_estimated_without_finding_directions(void **state)
{
    (void)state;
    enum { ORDER = 6, DEPTH = 6 };
    static const fmm_distribution kinds[] = {FMM_UNIFORM, FMM_PLANE, FMM_LINE};
    known costs = usual;
    fmm_machine machine[2];
    costs.batch = 20;
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine[1]);
    machine[0] = machine[1];
    machine[0].batch[ORDER] = 0;
    assert_true(machine[1].batch[ORDER] > 0);
    for (int k = 0; k < 3; k++) {
        fmm_particles *p = NULL;
        fmm_analysis *a = NULL;
        fmm_depth of[2];
        assert_int_equal(fmm_particles_generate(context, kinds[k], 50000, FMM_EQUAL, 1, &p), YOKE_OK);
        assert_int_equal(fmm_analysis_create(p, DEPTH, &a), YOKE_OK);
        for (int m = 0; m < 2; m++) fmm_depth_predict(&machine[m], a, DEPTH, ORDER, 1, &of[m]);
        assert_near_part((of[1].predicted.far - of[0].predicted.far) / machine[1].batch[ORDER], batches_of(a, DEPTH), 0.25);
        fmm_analysis_destroy(a);
        fmm_particles_destroy(p);
    }
    yoke_run_destroy(run);
}

/* No tree is faster, uniform to more than the greatest counted depth or adaptive; and no adaptive tree is counted. */
static void surfaces_and_curves_take_the_best_depth(void **state)
{
    (void)state;
    enum { MOST = 12 };
    static const fmm_distribution kinds[] = {FMM_LINE, FMM_PLANE};
    char path[64];
    fmm_machine machine;
    save_costs(path, &machine);
    const fmm_tune_options options = {.store = path, .gradient = 1, .depth = -1};
    for (int k = 0; k < 2; k++) {
        fmm_particles *p = NULL;
        fmm_analysis *analysis = NULL;
        assert_int_equal(fmm_particles_generate(context, kinds[k], 50000, FMM_EQUAL, 1, &p), YOKE_OK);
        assert_int_equal(fmm_analysis_create(p, MOST, &analysis), YOKE_OK);
        for (int order = 2; order <= 20; order += 6) {
            fmm_tuned tuned;
            fmm_choice all = {.first = 0, .last = MOST, .num_capacities = 5, .capacity = {32, 64, 96, 128, 256}};
            fmm_tuner *tuner = choose_tree(&options, p, order, &tuned);
            const double chosen_s = fmm_chosen(&tuned.choice)->predicted.total;
            assert_true(tuned.choice.num_capacities == 0 && tuned.choice.depth < MOST);
            assert_int_equal(fmm_capacities_predict(&machine, analysis, order, 1, &all), YOKE_OK);
            for (int d = 0; d <= MOST; d++) fmm_depth_predict(&machine, analysis, d, order, 1, &all.of[d]);
            for (int r = 0; r < fmm_choice_count(&all); r++)
                if (fmm_choice_tree(&all, r) != &all.of_cells) assert_true(chosen_s <= 1.0001 * fmm_choice_tree(&all, r)->predicted.total);
            fmm_tree *tree = fmm_tuner_take_tree(tuner, 0);
            assert_non_null(tree);
            fmm_tree_destroy(tree);
            assert_int_equal(fmm_tuner_choose(tuner, order + 1, &tuned), YOKE_OK); /* the counts still serve */
            assert_true(tuned.choice.num_capacities == 0 && tuned.sort_s > 0 && !fmm_tuner_take_tree(tuner, 0));
            fmm_tuner_destroy(tuner);
        }
        fmm_analysis_destroy(analysis);
        fmm_particles_destroy(p);
    }
    (void)remove(path);
}

/* Draws the particles that even.c looks at, of each of 4096 parts one, and puts the others into a corner. */
static fmm_particles *create_seemingly_even(int64_t count)
{
    enum { LOOKED_AT = 1 << 12 };
    fmm_particles *p = cloud_create(context, UNIFORM, count);
    uint64_t seed = 1;
    for (int64_t k = 0; k < LOOKED_AT; k++) {
        const int64_t first = count * k / LOOKED_AT, last = count * (k + 1) / LOOKED_AT;
        const int64_t looked_at = first + (int64_t)(fmm_random_uniform(&seed) * (double)(last - first));
        for (int64_t i = first; i < last; i++)
            if (i != looked_at) p->x[i] *= 0.125, p->y[i] *= 0.125, p->z[i] *= 0.125;
    }
    return p;
}

/* The first order takes a depth, for which no adaptive tree is counted; the second one finds that particles do not lie as evenly as they look. */
static void adaptive_trees_are_counted_after_a_tree_was_taken(void **state)
{
    (void)state;
    char path[64];
    fmm_machine machine;
    fmm_tuned tuned;
    fmm_particles *p = create_seemingly_even(20000);
    save_costs(path, &machine);
    const fmm_tune_options options = {.store = path, .gradient = 1, .depth = -1};
    fmm_tuner *tuner = choose_tree(&options, p, 8, &tuned);
    assert_true(!tuned.choice.takes_cells && tuned.choice.num_capacities == 0);
    fmm_tree_destroy(fmm_tuner_take_tree(tuner, 0));
    assert_int_equal(fmm_tuner_choose(tuner, 20, &tuned), YOKE_OK);
    assert_true(tuned.choice.num_capacities > 0);
    fmm_tuner_destroy(tuner);
    (void)remove(path);
    fmm_particles_destroy(p);
}

/* Depths 3 to 5, leaves of 64 and 96, and 12 cells along each side: of least time is the adaptive tree of 96. */
static fmm_choice known_choice(void)
{
    fmm_choice choice = {
        .first = 3, .last = 5, .adaptive = 1, .num_capacities = 2, .capacity = {64, 96}, .depth_at = {6, 5}, .cells = 12, .depth = 5};
    const double seconds[] = {1.5, 1.25, 1.75, 1.0625, 1, 1.125};
    for (int k = 0; k < fmm_choice_count(&choice); k++) fmm_choice_tree(&choice, k)->predicted.total = seconds[k];
    return choice;
}

static void a_tree_that_was_chosen_before_is_kept_if_it_is_hardly_slower(void **state)
{
    (void)state;
    static const struct {
        int depth;
        int64_t capacity, cells;
        double seconds;
    } before[] = {{4, 0, 0, 1.25}, {6, 64, 0, 1.0625}, {4, 0, 12, 1.125}};
    for (int k = 0; k < 3; k++) {
        fmm_choice choice = known_choice();
        const double slower_s = before[k].seconds - 1;
        assert_int_equal(fmm_choice_keep(&choice, before[k].depth, before[k].capacity, before[k].cells, 0.9 * slower_s), 0);
        assert_true(choice.adaptive == 1 && choice.depth == 5 && !choice.takes_cells);
        assert_int_equal(fmm_choice_keep(&choice, before[k].depth, before[k].capacity, before[k].cells, 1.1 * slower_s), 1);
        assert_int_equal(choice.depth, before[k].depth);
        assert_int_equal(choice.adaptive, before[k].capacity ? 0 : -1);
        assert_int_equal(choice.takes_cells, before[k].cells > 0);
        assert_true(choice.predicted.time_s == before[k].seconds && fmm_chosen(&choice)->predicted.total == before[k].seconds);
    }
}

static void a_tree_that_was_not_compared_again_is_not_kept(void **state)
{
    (void)state;
    fmm_choice choice = known_choice();
    assert_int_equal(fmm_choice_keep(&choice, 2, 0, 0, 100), 0);
    assert_int_equal(fmm_choice_keep(&choice, 6, 0, 0, 100), 0);
    assert_int_equal(fmm_choice_keep(&choice, 5, 128, 0, 100), 0);
    assert_int_equal(fmm_choice_keep(&choice, 4, 0, 14, 100), 0);
    assert_true(choice.adaptive == 1 && choice.depth == 5 && !choice.takes_cells);
}

static void run_method(const fmm_particles *p, int64_t capacity, fmm_tree *tree, fmm_field *field)
{
    const int order = 6;
    const fmm_method_options options = {
        .depth = capacity ? FMM_MAX_DEPTH : 3, .capacity = capacity, .direct = -1, .order = &order, .gradient = 1, .tree = tree};
    fmm_method *method = NULL;
    assert_int_equal(fmm_method_create(p, &options, &method), YOKE_OK);
    assert_int_equal(fmm_method_run(method, p->charge, field, NULL), YOKE_OK);
    fmm_method_destroy(method);
}

static void the_tree_of_an_analysis_serves_a_run(void **state)
{
    (void)state;
    for (int capacity = 0; capacity <= 20; capacity += 20) {
        fmm_particles *p = cloud_create(context, CLUSTERED, 3000);
        fmm_analysis *analysis = NULL;
        fmm_field *of_own = NULL, *handed_over = NULL;
        assert_int_equal(fmm_field_create(context, p->count, 1, &of_own), YOKE_OK);
        assert_int_equal(fmm_field_create(context, p->count, 1, &handed_over), YOKE_OK);
        assert_int_equal(fmm_analysis_create(p, 5, &analysis), YOKE_OK);
        run_method(p, capacity, NULL, of_own);
        run_method(p, capacity, analysis->tree, handed_over);
        analysis->tree = NULL;
        for (int64_t i = 0; i < p->count; i++) {
            assert_near_part(handed_over->potential[i], of_own->potential[i], 1e-12);
            double size = hypot(hypot(of_own->gx[i], of_own->gy[i]), of_own->gz[i]);
            assert_true(fabs(handed_over->gx[i] - of_own->gx[i]) <= 1e-10 * size);
        }
        fmm_analysis_destroy(analysis);
        fmm_field_destroy(of_own);
        fmm_field_destroy(handed_over);
        fmm_particles_destroy(p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sources_of_leaves_are_counted_by_size),
    cmocka_unit_test(the_depth_of_least_time_is_that_of_a_search_over_all),
    cmocka_unit_test(counted_operations_choose_a_depth_of_their_own),
    cmocka_unit_test(the_depth_of_fewest_operations_is_found_on_a_plane),
    cmocka_unit_test(adaptive_trees_are_taken_where_they_are_faster),
    cmocka_unit_test(cells_between_two_depths_are_taken_where_they_are_faster),
    cmocka_unit_test(sorting_is_predicted_until_it_is_measured),
    cmocka_unit_test(batches_are_estimated_without_finding_directions),
    cmocka_unit_test(surfaces_and_curves_take_the_best_depth),
    cmocka_unit_test(adaptive_trees_are_counted_after_a_tree_was_taken),
    cmocka_unit_test(a_tree_that_was_chosen_before_is_kept_if_it_is_hardly_slower),
    cmocka_unit_test(a_tree_that_was_not_compared_again_is_not_kept),
    cmocka_unit_test(the_tree_of_an_analysis_serves_a_run),
};

UNIT_MAIN(tests, context_start, context_end)
