/* Plane waves where they are faster, of sets that keep the requested error. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "clouds.h"
#include "expansion/waves.h"
#include "known_costs.h"
#include "sample_error.h"
#include "solve/solve.h"

#define ALL_LEVELS (~(uint64_t)0)

/* ------------------------------------------------------------------------------------------------- what is faster */

/* Pairs of a level, ordered. */
static double pairs_of(const fmm_analysis *a, int l) { return 2 * (double)(a->counts[l].far - a->counts[l - 1].far); }

/* What waves save on each level, of costs that are known; those of full levels below 3. */
static void levels_have_waves_where_families_take_less_than_pairs(void **state)
{
    enum { ORDER = 8, DEPTH = 4, FINER = 2 };
    (void)state;
    known costs = usual;
    fmm_machine machine;
    fmm_analysis *analysis = NULL;
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    fmm_depth by_rotations, of;
    assert_int_equal(fmm_analysis_create(p, DEPTH, &analysis), YOKE_OK);
    /* Parents of level 2 have fewest far pairs: they take less by rotations at this cost, and those of levels 3 and 4 do not. */
    const double set = ORDER + FINER + 1, pair_s = unit_of(&usual, FMM_PAIR, ORDER);
    const double of_level_2 = pair_s * pairs_of(analysis, 2) / (double)analysis->cells[1].leaves;
    costs.family = 1.5 * of_level_2 / (set * set);
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine);
    machine.finer = -1;
    fmm_depth_predict(&machine, analysis, DEPTH, ORDER, 1, &by_rotations);
    assert_int_equal(by_rotations.waves, 0);
    machine.finer = FINER;
    fmm_depth_predict(&machine, analysis, DEPTH, ORDER, 1, &of);
    assert_int_equal(of.set, ORDER + FINER);
    assert_int_equal(of.waves, 1 << 3 | 1 << 4);
    double saved = 0;
    for (int l = 3; l <= DEPTH; l++) saved += pairs_of(analysis, l) * pair_s - 1.5 * (double)analysis->cells[l - 1].leaves * of_level_2;
    assert_near_part(by_rotations.predicted.far - of.predicted.far, saved, 1e-6);
    assert_near_part(of.predicted.tree - by_rotations.predicted.tree, unit_of(&usual, FMM_WAVES, ORDER + FINER), 1e-6); /* tables */
    yoke_run_destroy(run);
    fmm_analysis_destroy(analysis);
    fmm_particles_destroy(p);
}

/* Waves of 64 families that take half as long save less than choosing their set takes, which is about a hundred families; those of 512 save more. */
static void waves_save_more_than_the_choice_of_their_set_takes(void **state)
{
    enum { ORDER = 8 };
    (void)state;
    known costs = usual;
    fmm_machine machine;
    fmm_analysis *analysis = NULL;
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    fmm_depth of;
    assert_int_equal(fmm_analysis_create(p, 4, &analysis), YOKE_OK);
    const double set = ORDER + 1, half = 0.5 * unit_of(&usual, FMM_PAIR, ORDER) * pairs_of(analysis, 3) / 64;
    costs.family = half / (set * set);
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine);
    machine.finer = 0;
    fmm_depth_predict(&machine, analysis, 3, ORDER, 1, &of);
    assert_int_equal(of.waves, 0);
    fmm_depth_predict(&machine, analysis, 4, ORDER, 1, &of);
    assert_true(of.waves >> 4 & 1);
    yoke_run_destroy(run);
    fmm_analysis_destroy(analysis);
    fmm_particles_destroy(p);
}

static void waves_that_were_never_measured_or_do_not_exist_are_not_predicted(void **state)
{
    (void)state;
    known costs = usual;
    fmm_machine machine;
    fmm_analysis *analysis = NULL;
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    fmm_depth of;
    costs.family = 1e-15;
    assert_int_equal(fmm_analysis_create(p, 4, &analysis), YOKE_OK);
    yoke_run *run = open_run(NULL);
    measure(run, &costs, &machine);
    for (int order = 0; order <= FMM_MAX_ORDER; order++) {
        fmm_depth_predict(&machine, analysis, 4, order, 1, &of);
        assert_int_equal(of.waves != 0, order >= FMM_FIRST_WAVE_ORDER && order <= FMM_LAST_WAVE_SET);
    }
    for (int k = 0; k <= FMM_MAX_ORDER; k++) machine.family[k] = 0;
    fmm_depth_predict(&machine, analysis, 4, 8, 1, &of);
    assert_int_equal(of.waves, 0);
    yoke_run_destroy(run);
    fmm_analysis_destroy(analysis);
    fmm_particles_destroy(p);
}

/* ------------------------------------------------------------------------------------------------------- requests */

enum signs { RANDOM, EQUAL, ALTERNATING, SIGNS };

static void charge(fmm_particles *p, enum signs signs)
{
    uint64_t random = 77;
    for (int64_t i = 0; i < p->count; i++)
        p->charge[i] = signs == EQUAL ? 1 : (signs == RANDOM ? cloud_random(&random) < 0.5 : i & 1) ? -1 : 1;
}

/* Of potentials, against direct sums at all particles, with the order and the waves that were chosen; set 0: by rotations. */
static double measured(fmm_method *method, const fmm_particles *p, const fmm_accuracy *a)
{
    fmm_field *field = NULL;
    fmm_sample sample;
    assert_int_equal(fmm_field_create(context, p->count, 1, &field), YOKE_OK);
    assert_int_equal(fmm_method_set_order(method, a->order), YOKE_OK);
    if (a->set) assert_int_equal(fmm_method_set_waves(method, ALL_LEVELS, a->set), YOKE_OK);
    assert_int_equal(fmm_method_run(method, p->charge, field, NULL), YOKE_OK);
    assert_int_equal(sample_error(p, field, p->count, 1, &sample), YOKE_OK);
    fmm_field_destroy(field);
    return sample.potential;
}

/* Direct sums at all particles, so that norms are exact. */
static fmm_reference *sums_of(const fmm_particles *p)
{
    int64_t *which = NULL;
    fmm_reference *sums = NULL;
    assert_int_equal(yoke_allocate(context, p->count, sizeof *which, &which), YOKE_OK);
    for (int64_t i = 0; i < p->count; i++) which[i] = i;
    assert_int_equal(fmm_reference_create(p, 1, p->count, which, NULL, NULL, &sums), YOKE_OK);
    yoke_release(context, which);
    return sums;
}

/* Where rotations of the order miss the request, because no draw is where most of the error is, waves shall not make it worse. */
static void check_requests(const fmm_particles *p, const fmm_method_options *tree, const char *what)
{
    static const double requests[] = {1e-3, 1e-6};
    fmm_method *method = NULL;
    fmm_reference *sums = sums_of(p);
    assert_int_equal(fmm_method_create(p, tree, &method), YOKE_OK);
    for (int k = 0; k < 2; k++) {
        fmm_accuracy a;
        const fmm_request request = {.error = requests[k], .sums = sums, .waves = ALL_LEVELS};
        assert_int_equal(fmm_choose_order(method, p->charge, &request, &a), YOKE_OK);
        if (!a.set) continue; /* its order is not among those of waves, or no set does */
        assert_true(fmm_accuracy_upper(&a, FMM_POTENTIALS, 2) <= requests[k]);
        fmm_accuracy rotations = a;
        rotations.set = 0;
        const double error = measured(method, p, &a);
        if (!(error <= requests[k] || error <= 1.1 * measured(method, p, &rotations)))
            fail_msg("%s, request %g: error %g with order %d and set %d", what, requests[k], error, a.order, a.set);
    }
    fmm_reference_destroy(sums);
    fmm_method_destroy(method);
}

static void sets_keep_requests_on_all_clouds(void **state)
{
    (void)state;
    const fmm_method_options trees[] = {{.depth = 3, .gradient = 1}, {.depth = FMM_MAX_DEPTH, .capacity = 20, .gradient = 1}};
    for (int cloud = 0; cloud < CLOUDS; cloud++) {
        if (cloud == ONE_PLACE || cloud == TINY_EXTENT) continue; /* their potentials are 0, or larger than the largest double */
        fmm_particles *p = cloud_create(context, cloud, 1000);
        for (int signs = 0; signs < SIGNS; signs++) {
            if (unit_is_sanitized() && (cloud + signs) % 3) continue;
            char what[64];
            (void)snprintf(what, sizeof what, "cloud %d, signs %d", cloud, signs);
            charge(p, signs);
            check_requests(p, &trees[(cloud + signs) & 1], what);
        }
        fmm_particles_destroy(p);
    }
}

/* The tree of depth 2 whose root is the cube from 0 to `side`. */
static fmm_tree *tree_in_cube(const fmm_particles *p, double side)
{
    const int length = fmm_box_scaled(p, 0).length;
    fmm_tree *tree = NULL;
    assert_int_equal(fmm_tree_create(p, (fmm_box){.side = ldexp(side, -length), .length = length}, 2, &tree), YOKE_OK);
    return tree;
}

/* Charges near the middle of each cell of level 2, the only one that has far pairs: a low order suffices, and waves of that order would miss the request by far. */
static void sets_are_finer_where_charges_are_in_the_middle_of_cells(void **state)
{
    enum { SIDE = 4, EACH = 20 };
    (void)state;
    const double request = 1e-5, part = 0.3;
    fmm_particles *p = NULL;
    fmm_method *method = NULL;
    uint64_t random = 5;
    assert_int_equal(fmm_particles_create(context, EACH * SIDE * SIDE * SIDE, &p), YOKE_OK);
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t cell = i / EACH;
        p->x[i] = (double)(cell % SIDE) + 0.5 + part * (cloud_random(&random) - 0.5);
        p->y[i] = (double)(cell / SIDE % SIDE) + 0.5 + part * (cloud_random(&random) - 0.5);
        p->z[i] = (double)(cell / SIDE / SIDE) + 0.5 + part * (cloud_random(&random) - 0.5);
    }
    charge(p, RANDOM);
    fmm_tree *tree = tree_in_cube(p, SIDE);
    assert_int_equal(fmm_method_create(p, &(fmm_method_options){.depth = 2, .gradient = 1, .tree = tree}, &method), YOKE_OK);
    fmm_accuracy a, same;
    assert_int_equal(fmm_choose_order(method, p->charge, &(fmm_request){.error = request, .waves = ALL_LEVELS}, &a), YOKE_OK);
    same = a;
    same.set = a.order;
    const double with_set = measured(method, p, &a), with_order = measured(method, p, &same);
    if (!(a.set > a.order && with_set <= request && with_order > request))
        fail_msg("order %d: errors of %g with set %d and of %g with that of the order", a.order, with_set, a.set, with_order);
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

static void orders_without_waves_take_rotations(void **state)
{
    (void)state;
    fmm_particles *p = cloud_create(context, UNIFORM, 2000);
    fmm_method *method = NULL;
    charge(p, RANDOM);
    assert_int_equal(fmm_method_create(p, &(fmm_method_options){.depth = 3, .gradient = 1}, &method), YOKE_OK);
    for (int k = 0; k < 2; k++) {
        fmm_accuracy with, without;
        const double error = k ? 1e-11 : 0.3;
        assert_int_equal(fmm_choose_order(method, p->charge, &(fmm_request){.error = error, .waves = ALL_LEVELS}, &with), YOKE_OK);
        assert_int_equal(fmm_choose_order(method, p->charge, &(fmm_request){.error = error}, &without), YOKE_OK);
        assert_int_equal(with.set, 0);
        assert_int_equal(with.order, without.order);
        assert_true(with.potential == without.potential);
    }
    fmm_method_destroy(method);
    fmm_particles_destroy(p);
}

/* ------------------------------------------------------------------------------------------------------- a solver */

/* Where waves cost next to nothing a solver takes them, keeps the request, and tells; for charges of another call too. */
static void a_solver_takes_waves_that_cost_less(void **state)
{
    (void)state;
    char store[64];
    known costs = usual;
    fmm_machine machine;
    fmm_particles *p = cloud_create(context, UNIFORM, 20000);
    fmm_field *field = NULL;
    fmm_solver *solver = NULL;
    fmm_solution found;
    charge(p, RANDOM);
    (void)snprintf(store, sizeof store, "waves-store-%ld.json", (long)getpid());
    costs.family = 1e-12;
    yoke_run *run = open_run(store);
    measure(run, &costs, &machine);
    assert_int_equal(yoke_run_save(run, NULL), YOKE_OK);
    yoke_run_destroy(run);
    const fmm_solver_options options = {
        .request = {.error = 1e-4}, .order = -1, .depth = -1, .check = 2000, .gradient = true, .store = store};
    assert_int_equal(fmm_field_create(context, p->count, 1, &field), YOKE_OK);
    assert_int_equal(fmm_solver_create(context, &options, &solver), YOKE_OK);
    for (int call = 0; call < 2; call++) {
        assert_int_equal(fmm_solver_run(solver, p, call ? FMM_NEW_CHARGES : FMM_NEW_PLACES, field, &found), YOKE_OK);
        assert_true(found.waves != 0 && found.set >= found.order && found.raised == 0);
        assert_true(found.waves == fmm_chosen(&found.tuned->choice)->waves && found.set == fmm_chosen(&found.tuned->choice)->set);
        assert_true(found.sample.potential <= 1e-4 && found.sample.potential > 1e-6);
        charge(p, ALTERNATING);
    }
    fmm_solver_destroy(solver);
    fmm_field_destroy(field);
    fmm_particles_destroy(p);
    (void)remove(store);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(levels_have_waves_where_families_take_less_than_pairs),
    cmocka_unit_test(waves_save_more_than_the_choice_of_their_set_takes),
    cmocka_unit_test(waves_that_were_never_measured_or_do_not_exist_are_not_predicted),
    cmocka_unit_test(sets_keep_requests_on_all_clouds),
    cmocka_unit_test(sets_are_finer_where_charges_are_in_the_middle_of_cells),
    cmocka_unit_test(orders_without_waves_take_rotations),
    cmocka_unit_test(a_solver_takes_waves_that_cost_less),
};

UNIT_MAIN(tests, context_start, context_end)
