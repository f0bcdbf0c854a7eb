#include "tune/counts/count.h"

#include <math.h>
#include <omp.h>

#include "clouds.h"
#include "context.h"
#include "tune/counts/cost.h"

static void assert_same_counts(const fmm_counts *a, const fmm_counts *b)
{
    assert_int_equal(a->parents, b->parents);
    assert_int_equal(a->z, b->z);
    assert_int_equal(a->y, b->y);
    assert_int_equal(a->x, b->x);
    assert_int_equal(a->neighbours, b->neighbours);
    assert_int_equal(a->near, b->near);
    assert_int_equal(a->far, b->far);
}

/* counts [depth + 1] of 64^3 particles in the unit cube: 0.5 + (k - 31.5) spacing in each coordinate. */
static void count_lattice(double spacing, int depth, fmm_counts *counts)
{
    fmm_particles *p = NULL;
    fmm_tree *tree = NULL;
    assert_int_equal(fmm_particles_create(context, 64 * 64 * 64, &p), YOKE_OK);
    for (int i = 0; i < 64 * 64 * 64; i++) {
        p->x[i] = 0.5 + (i % 64 - 31.5) * spacing;
        p->y[i] = 0.5 + (i / 64 % 64 - 31.5) * spacing;
        p->z[i] = 0.5 + (i / 4096 - 31.5) * spacing;
    }
    assert_int_equal(fmm_tree_create(p, (fmm_box){.side = 1}, depth, &tree), YOKE_OK);
    assert_int_equal(fmm_count_cells(tree, counts, NULL), YOKE_OK);
    fmm_tree_destroy(tree);
    fmm_particles_destroy(p);
}

/* J. Lang, Energie- und Ausfuehrungszeitmodelle (dissertation, Chemnitz 2014), Table 3.1: 64^3 particles, depth 5. */
static const fmm_counts published = {4680, 14040, 40080, 114480, 52184, 32838560, 2436056};

/* Its costs, by instructions and cycles. */
static const fmm_costs intel_instructions = {2367, 14, 21, 31, 65, 163, 2583}, intel_cycles = {1567, 3, 16, 21, 65, 145, 1842};
static const fmm_costs amd_instructions = {2251, 14, 21, 31, 65, 163, 2529}, amd_cycles = {2260, 5, 14, 21, 106, 163, 1897};

/* The lattice of the paper fills 30 of the 32 leaves in each coordinate: that follows from its near and far pairs, and holds for these spacings. */
static void counts_of_the_published_table_are_met_exactly(void **state)
{
    (void)state;
    const double spacings[] = {0.014345, 0.0145875, 0.01482};
    for (int s = 0; s < 3; s++) {
        fmm_counts counts[6];
        count_lattice(spacings[s], 5, counts);
        assert_same_counts(&counts[5], &published);
    }
}

/* Counts and costs in cycles at depth 2 ... 7. */
typedef struct by_depth {
    fmm_counts counts;
    double cycles;
} by_depth;

static void check_depths(double spacing, const by_depth *expected)
{
    fmm_counts counts[8];
    count_lattice(spacing, 7, counts);
    for (int d = 0; d < 2; d++) {
        const int64_t n = 64 * 64 * 64;
        assert_same_counts(&counts[d], &(fmm_counts){.near = n * (n - 1) / 2});
    }
    for (int d = 2; d <= 7; d++) {
        assert_same_counts(&counts[d], &expected[d - 2].counts);
        assert_true(fmm_cost(&counts[d], &intel_cycles) == expected[d - 2].cycles);
    }
}

/* Computed by separate code from the lattice alone. */
static void counts_at_other_depths_of_the_paper_are_met(void **state)
{
    (void)state;
    static const by_depth lattice[6] = {
        {{8, 24, 48, 96, 28, 9054154116, 1548}, 1312855215448},
        {{72, 216, 528, 1296, 496, 1614202604, 28224}, 234111547564},
        {{584, 1752, 4752, 12912, 5564, 237144928, 320292}, 34977621652},
        {{4680, 14040, 40080, 114480, 52184, 32838560, 2436056}, 9262619352},
        {{31680, 95040, 283080, 843480, 379420, 4239836, 21423284}, 40173297688},
        {{247680, 743040, 2227080, 6675480, 3091296, 144612, 25518508}, 47793156756},
    };
    check_depths(0.0145875, lattice);
}

static void counts_of_a_lattice_that_fills_the_box_are_met(void **state)
{
    (void)state;
    static const by_depth lattice[6] = {
        {{8, 24, 48, 96, 28, 8388476928, 1548}, 1216332023188},
        {{72, 216, 528, 1296, 496, 1395523584, 28224}, 202403089664},
        {{584, 1752, 4752, 12912, 5564, 199213056, 320292}, 29477500212},
        {{4680, 14040, 40080, 114480, 52184, 26447616, 3019752}, 9411100504},
        {{37448, 112344, 328848, 962736, 451092, 3298428, 26168940}, 48795277592},
        {{299592, 898776, 2663568, 7893936, 3749520, 0, 29467368}, 55203157392},
    };
    check_depths(1. / 64, lattice);
}

static void costs_of_the_published_table_sum_up(void **state)
{
    (void)state;
    assert_true(fmm_cost(&published, &intel_instructions) == 11664074568);
    assert_true(fmm_cost(&published, &intel_cycles) == 9262619352);
    assert_true(fmm_cost(&published, &amd_instructions) == 11531984664);
    assert_true(fmm_cost(&published, &amd_cycles) == 9993027216);
    const fmm_costs near = {.near = 163}, far = {.far = 2583};
    assert_true(fmm_cost(&published, &near) == 5352685280 && fmm_cost(&published, &far) == 6292332648);
}

/* Cells of a level by their coordinates, with all the empty ones: particles in each.  Level <= 4. */
typedef int64_t grid[16][16][16];

static void fill_grid(const fmm_particles *p, fmm_box box, int level, grid cells)
{
    memset(cells, 0, sizeof(grid));
    for (int64_t i = 0; i < p->count; i++) {
        const double t[3] = {(p->x[i] - box.low[0]) / box.side, (p->y[i] - box.low[1]) / box.side, (p->z[i] - box.low[2]) / box.side};
        int at[3];
        for (int c = 0; c < 3; c++) at[c] = t[c] < 1 ? (int)ldexp(t[c], level) : (1 << level) - 1;
        cells[at[2]][at[1]][at[0]]++;
    }
}

static int farthest(const int a[3], const int b[3])
{
    int d = 0;
    for (int c = 0; c < 3; c++) d = abs(a[c] - b[c]) > d ? abs(a[c] - b[c]) : d;
    return d;
}

/* What a target does: unordered pairs are counted twice. */
static void count_target(grid cells, int level, const int t[3], fmm_counts *twice)
{
    int s[3], parent[3], n = 1 << level;
    const int up[3] = {t[0] / 2, t[1] / 2, t[2] / 2};
    for (s[2] = 0; s[2] < n; s[2]++)
        for (s[1] = 0; s[1] < n; s[1]++)
            for (s[0] = 0; s[0] < n; s[0]++) {
                int64_t here = cells[t[2]][t[1]][t[0]], there = cells[s[2]][s[1]][s[0]];
                if (!there) continue;
                for (int c = 0; c < 3; c++) parent[c] = s[c] / 2;
                int d = farthest(s, t);
                if (d == 0) twice->near += here * (here - 1);
                if (d == 1) twice->near += here * there;
                if (d == 1) twice->neighbours++;
                if (d > 1 && farthest(up, parent) == 1) twice->far++;
            }
}

static int layers(int at, int n) { return (at > 0) + 1 + (at < n - 1); }

/* The cells of one level alone, as targets and as parents. */
static fmm_counts count_level(const fmm_particles *p, fmm_box box, int level)
{
    static grid cells;
    fmm_counts sum = {0};
    int t[3], n = 1 << level;
    fill_grid(p, box, level, cells);
    for (t[2] = 0; t[2] < n; t[2]++)
        for (t[1] = 0; t[1] < n; t[1]++)
            for (t[0] = 0; t[0] < n; t[0]++) {
                if (!cells[t[2]][t[1]][t[0]]) continue;
                sum.parents++;
                sum.z += 3;
                sum.y += 3 * layers(t[2], n);
                sum.x += 3 * layers(t[2], n) * layers(t[1], n);
                count_target(cells, level, t, &sum);
            }
    return sum;
}

static void counts_equal_loops_over_all_cells(void **state)
{
    (void)state;
    const int threads = omp_get_max_threads();
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        fmm_particles *p = cloud_create(context, cloud, 300);
        fmm_box box = fmm_box_around(p);
        fmm_tree *tree = NULL;
        fmm_counts counts[5], expected = {0}, before = {0};
        assert_int_equal(fmm_tree_create(p, box, 4, &tree), YOKE_OK);
        omp_set_num_threads(1 + cloud % 4);
        assert_int_equal(fmm_count_cells(tree, counts, NULL), YOKE_OK);
        for (int d = 0; d <= 4; d++) {
            fmm_counts level = count_level(p, box, d);
            if (d > 1) {
                expected.parents += before.parents;
                expected.z += before.z;
                expected.y += before.y;
                expected.x += before.x;
                expected.neighbours += before.neighbours / 2;
                expected.far += level.far / 2;
            }
            expected.near = level.near / 2;
            assert_same_counts(&counts[d], &expected);
            before = level;
        }
        fmm_tree_destroy(tree);
        fmm_particles_destroy(p);
    }
    omp_set_num_threads(threads);
}

static void nothing_is_counted_for_no_particle_and_no_pair_for_one(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 2; count++) {
        fmm_particles *p = cloud_create(context, UNIFORM, count);
        fmm_tree *tree = NULL;
        fmm_counts counts[FMM_MAX_DEPTH + 1];
        assert_int_equal(fmm_tree_create(p, fmm_box_around(p), FMM_MAX_DEPTH, &tree), YOKE_OK);
        assert_int_equal(fmm_count_cells(tree, counts, NULL), YOKE_OK);
        for (int d = 0; d <= FMM_MAX_DEPTH; d++) {
            assert_int_equal(counts[d].near + counts[d].far + counts[d].neighbours, 0);
            assert_int_equal(counts[d].parents, count * (d > 1 ? d - 1 : 0));
        }
        fmm_tree_destroy(tree);
        fmm_particles_destroy(p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_of_the_published_table_are_met_exactly),
    cmocka_unit_test(counts_at_other_depths_of_the_paper_are_met),
    cmocka_unit_test(counts_of_a_lattice_that_fills_the_box_are_met),
    cmocka_unit_test(costs_of_the_published_table_sum_up),
    cmocka_unit_test(counts_equal_loops_over_all_cells),
    cmocka_unit_test(nothing_is_counted_for_no_particle_and_no_pair_for_one),
};

UNIT_MAIN(tests, context_start, context_end)
