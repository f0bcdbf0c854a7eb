/* A solver on sequences: what it keeps from call to call, what it chooses anew and why, and that it ends where it is asked to. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "clouds.h"
#include "context.h"
#include "costs.h"
#include "solve/parts.h"

enum { COUNT = 1500, STEPS = 6 };

static char store[64];

static int start(void **state)
{
    (void)snprintf(store, sizeof store, "solve-store-%ld.json", (long)getpid());
    return context_start(state);
}

static int end(void **state)
{
    (void)remove(store);
    return context_end(state);
}

/* For an error of 1e-4, compared with direct sums at all particles. */
static fmm_solver_options usual(void)
{
    return (fmm_solver_options){.request = {.error = 1e-4}, .order = -1, .depth = -1, .check = COUNT, .gradient = true, .store = store};
}

/* By costs that no run has corrected. */
static fmm_solver *made(fmm_solver_options options)
{
    fmm_solver *solver = NULL;
    (void)remove(store);
    keep_costs(store, 1e-9);
    assert_int_equal(fmm_solver_create(context, &options, &solver), YOKE_OK);
    return solver;
}

static fmm_particles *charged(enum cloud cloud, int64_t count)
{
    fmm_particles *p = cloud_create(context, cloud, count);
    for (int64_t i = 0; i < count; i++) p->charge[i] = i % 3 ? 1 : -1;
    return p;
}

/* By at most `far` in each direction. */
static void shake(fmm_particles *p, double far, uint64_t *random)
{
    for (int64_t i = 0; i < p->count; i++) {
        p->x[i] += far * (2 * cloud_random(random) - 1);
        p->y[i] += far * (2 * cloud_random(random) - 1);
        p->z[i] += far * (2 * cloud_random(random) - 1);
    }
}

static fmm_solution solved(fmm_solver *solver, const fmm_particles *p, fmm_change change, fmm_field *into)
{
    fmm_solution found;
    fmm_field *field = into;
    if (!field) assert_int_equal(fmm_field_create(context, p->count, 1, &field), YOKE_OK);
    if (fmm_solver_run(solver, p, change, field, &found)) fail_msg("%s", yoke_last_error(context));
    if (!into) fmm_field_destroy(field);
    return found;
}

/* A sequence of steps; fields [STEPS] are made. */
static void run_slowly(fmm_solution *found, fmm_field **fields)
{
    uint64_t random = 5;
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_solver *solver = made(usual());
    for (int step = 0; step < STEPS; step++) {
        assert_int_equal(fmm_field_create(context, COUNT, 1, &fields[step]), YOKE_OK);
        found[step] = solved(solver, p, FMM_NEW_PLACES, fields[step]);
        found[step].tuned = NULL; /* the solver's */
        shake(p, 1e-3, &random);
    }
    fmm_solver_destroy(solver);
    fmm_particles_destroy(p);
}

static void a_slow_sequence_keeps_tree_and_order(void **state)
{
    (void)state;
    const size_t bytes = COUNT * sizeof(double);
    fmm_solution found[2][STEPS];
    fmm_field *fields[2][STEPS];
    for (int k = 0; k < 2; k++) run_slowly(found[k], fields[k]);
    for (int step = 0; step < STEPS; step++) {
        const fmm_solution *f = &found[0][step];
        assert_int_equal(f->tree_because, step ? FMM_KEPT : FMM_FIRST);
        assert_int_equal(f->order_because, step ? FMM_KEPT : FMM_FIRST);
        assert_true(f->chose == !step && f->built && f->depth >= 2 && f->order == found[0][0].order && f->sample.count == COUNT);
        assert_true(f->sample.potential <= 1e-4 && f->requested_error == 1e-4); /* direct sums at all particles: exact */
        assert_memory_equal(fields[0][step]->potential, fields[1][step]->potential, bytes);
        assert_memory_equal(fields[0][step]->gz, fields[1][step]->gz, bytes);
        for (int k = 0; k < 2; k++) fmm_field_destroy(fields[k][step]);
    }
}

/* The tree is built after the order was chosen, which is not the order for which the trees were counted. */
static void the_method_has_the_pairs_that_were_counted_for_its_tree(void **state)
{
    (void)state;
    enum { MANY = 6000 };
    const double errors[] = {1e-3, 1e-6, 1e-9};
    int others = 0;
    fmm_particles *p = charged(CLUSTERED, MANY);
    for (int e = 0; e < 3; e++) {
        fmm_solver_options options = usual();
        options.request.error = errors[e];
        options.check = 0;
        fmm_solver *solver = made(options);
        const fmm_solution found = solved(solver, p, FMM_NEW_PLACES, NULL);
        assert_true(solver->tuned.choice.adaptive >= 0);
        assert_true(fmm_method_count(solver->method).near == (int64_t)fmm_chosen(&solver->tuned.choice)->near_pairs);
        others += fmm_method_direct(found.order, 1) != fmm_method_tree(solver->method)->direct;
        fmm_solver_destroy(solver);
    }
    assert_true(others > 0);
    fmm_particles_destroy(p);
}

static void what_jumps_is_chosen_anew_once(void **state)
{
    (void)state;
    fmm_particles *uniform = charged(UNIFORM, COUNT), *clustered = charged(CLUSTERED, COUNT), *more = charged(CLUSTERED, COUNT * 5 / 4);
    fmm_solver *solver = made(usual());
    assert_int_equal(solved(solver, uniform, FMM_NEW_PLACES, NULL).tree_because, FMM_FIRST);
    fmm_solution found = solved(solver, clustered, FMM_NEW_PLACES, NULL);
    assert_true(found.chose && (found.tree_because == FMM_LEAVES || found.tree_because == FMM_NEAR_PAIRS));
    assert_int_equal(found.order_because, found.tree_because);
    const double pairs = found.pairs;
    found = solved(solver, clustered, FMM_NEW_PLACES, NULL);
    assert_true(!found.chose && found.built && !found.tree_because && !found.order_because);
    assert_true(found.leaf > 0 && found.pairs == pairs); /* an adaptive tree, the same as before */
    found = solved(solver, more, FMM_NEW_PLACES, NULL);
    assert_true(found.chose && found.tree_because == FMM_PARTICLES);
    for (int64_t i = 0; i < more->count; i++) more->charge[i] = 1; /* the sum of charges is another */
    found = solved(solver, more, FMM_NEW_CHARGES, NULL);
    assert_true(!found.chose && !found.built && found.order_because == FMM_CHARGES && found.sample.potential <= 1e-4);
    found = solved(solver, more, FMM_NOTHING_NEW, NULL);
    assert_true(!found.chose && !found.built && !found.order_because && found.sample.potential <= 1e-4);
    fmm_solver *other = made(usual()); /* whose first choice is asked for */
    assert_int_equal(fmm_solver_choose(other, more, &found), YOKE_OK);
    assert_true(found.chose && found.tree_because == FMM_ASKED);
    found = solved(other, more, FMM_NEW_PLACES, NULL);
    assert_true(!found.chose && !found.tree_because && !found.order_because);
    fmm_solver_destroy(other);
    fmm_particles few = *more; /* whose pairs are all summed, whatever was chosen before */
    few.count = FMM_FEW_PARTICLES / 2;
    found = solved(solver, &few, FMM_NEW_PLACES, NULL);
    assert_true(!found.chose && found.depth == 0 && !found.tuned && found.sample.potential < 1e-13);
    fmm_solver_destroy(solver);
    fmm_particles_destroy(uniform);
    fmm_particles_destroy(clustered);
    fmm_particles_destroy(more);
}

/* At a request about which predictions of one order lie, choices without a memory alternate. */
static void orders_do_not_alternate(void **state)
{
    (void)state;
    enum { MANY = 10 };
    fmm_solver_options options = usual();
    options.check = 0;
    options.leaf = 30;
    double highest[MANY];
    fmm_particles *p = charged(UNIFORM, COUNT);
    uint64_t random = 9;
    int changes[2] = {0}, last[2] = {-1, -1}, order = 0;
    for (int step = 0; step < MANY; step++) { /* what one order is predicted to leave */
        fmm_solver *solver = made(options);
        fmm_solution found;
        assert_int_equal(fmm_solver_choose(solver, p, &found), YOKE_OK);
        if (!step) order = found.order;
        highest[step] = found.order == order ? solver->accuracy.potential * (1 + 2 * solver->accuracy.potential_uncertainty) : NAN;
        fmm_solver_destroy(solver);
        shake(p, 1e-2, &random);
    }
    options.request.error = 0;
    for (int k = 0; k < MANY; k++) { /* the median of them */
        int below = 0, above = 0;
        for (int j = 0; j < MANY; j++) below += highest[j]<highest[k], above += highest[j]> highest[k];
        if (abs(below - above) <= 1) options.request.error = highest[k];
    }
    assert_true(options.request.error > 0);
    fmm_particles_destroy(p);
    p = charged(UNIFORM, COUNT);
    random = 9;
    fmm_solver *kept = made(options);
    for (int step = 0; step < MANY; step++) {
        fmm_solver *fresh = made(options);
        for (int k = 0; k < 2; k++) {
            const fmm_solution found = solved(k ? kept : fresh, p, FMM_NEW_PLACES, NULL);
            changes[k] += step && found.order != last[k];
            last[k] = found.order;
            assert_int_equal(found.order_because, step && k ? FMM_UNCHECKED : FMM_FIRST);
        }
        assert_true(last[1] >= last[0]); /* no lower than what is needed */
        fmm_solver_destroy(fresh);
        shake(p, 1e-2, &random);
    }
    assert_true(changes[0] >= 2);
    assert_true(changes[1] <= 1);
    fmm_solver_destroy(kept);
    fmm_particles_destroy(p);
}

/* Where all particles come together there is no far field, and one again when they part. */
static void a_softening_bounds_trees_as_long_as_it_has_to(void **state)
{
    (void)state;
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_solver *solver = made(usual());
    p->softening = 0.1;
    assert_true(solved(solver, p, FMM_NEW_PLACES, NULL).depth >= 2);
    for (int64_t i = 0; i < COUNT; i++) p->x[i] *= 0.1, p->y[i] *= 0.1, p->z[i] *= 0.1;
    fmm_solution found = solved(solver, p, FMM_NEW_PLACES, NULL);
    assert_true(found.depth < 2 && found.tree_because == FMM_LEAVES && found.sample.potential < 1e-13);
    assert_int_equal(solved(solver, p, FMM_NEW_PLACES, NULL).tree_because, FMM_KEPT);
    for (int64_t i = 0; i < COUNT; i++) p->x[i] *= 10, p->y[i] *= 10, p->z[i] *= 10;
    found = solved(solver, p, FMM_NEW_PLACES, NULL);
    assert_true(found.depth >= 2 && found.tree_because == FMM_LEAVES && found.sample.potential <= 1e-4);
    fmm_solver_destroy(solver);
    fmm_particles_destroy(p);
}

static void an_order_is_raised_until_the_sample_says_that_it_does(void **state)
{
    (void)state;
    fmm_solver_options options = usual();
    options.leaf = 30;
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_field *field = NULL, *right = NULL;
    fmm_solver *solver = made(options);
    assert_int_equal(fmm_field_create(context, COUNT, 1, &field), YOKE_OK);
    assert_int_equal(fmm_field_create(context, COUNT, 1, &right), YOKE_OK);
    const int needed = solved(solver, p, FMM_NEW_PLACES, NULL).order;
    solver->accuracy = (fmm_accuracy){.order = 2, .potential = 1e-5, .force = 1e-4, .potential_uncertainty = 0.1, .force_uncertainty = 0.1};
    fmm_solution found = solved(solver, p, FMM_NOTHING_NEW, field);
    assert_true(found.raised > 0 && found.order == 2 + found.raised && found.order <= needed + 3);
    assert_true(found.sample.potential <= 1e-4 && found.near_s > 0 && found.far_s > 0);
    assert_int_equal(fmm_method_set_order(solver->method, found.order), YOKE_OK);
    assert_int_equal(fmm_method_run(solver->method, p->charge, right, NULL), YOKE_OK);
    assert_memory_equal(field->potential, right->potential, COUNT * sizeof(double));
    assert_memory_equal(field->gx, right->gx, COUNT * sizeof(double));
    const int raised = found.order;
    found = solved(solver, p, FMM_NEW_PLACES, NULL); /* the next step begins with it */
    assert_true(!found.raised && found.order == raised && !found.order_because);
    solver->accuracy.order = needed + 4; /* as if the error had been larger when it was chosen */
    solver->sampled = 1;
    found = solved(solver, p, FMM_NOTHING_NEW, NULL);
    assert_true(found.order == needed + 4 && !found.order_because);
    found = solved(solver, p, FMM_NEW_PLACES, NULL);
    assert_true(found.order_because == FMM_ERROR && abs(found.order - needed) <= 1 && found.sample.potential <= 1e-4);
    assert_int_equal(solved(solver, p, FMM_NEW_PLACES, NULL).order_because, FMM_KEPT);
    fmm_solver_destroy(solver);
    fmm_field_destroy(field);
    fmm_field_destroy(right);
    fmm_particles_destroy(p);
}

/* The tree is then chosen for the order that the check confirmed, which may be predicted too low again. */
static void a_confirmed_order_is_kept_with_another_tree(void **state)
{
    (void)state;
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_solver *solver = made(usual());
    const int needed = solved(solver, p, FMM_NEW_PLACES, NULL).order, more = 3;
    fmm_accuracy_raise(&solver->accuracy, needed + more); /* as if the run had shown that `needed` is too low */
    solver->sampled = 0;
    assert_int_equal(solved(solver, p, FMM_NOTHING_NEW, NULL).order, needed + more);
    fmm_solution found = solved(solver, p, FMM_NEW_PLACES, NULL);
    assert_true(found.chose && found.tree_because == FMM_ORDER && found.order_because == FMM_ORDER);
    assert_int_equal(found.order, needed + more);
    assert_int_equal(fmm_chosen(&solver->tuned.choice)->order, needed + more);
    found = solved(solver, p, FMM_NEW_PLACES, NULL);
    assert_true(!found.chose && !found.order_because && found.order == needed + more);
    fmm_accuracy_raise(&solver->accuracy, needed + 2 * more);
    solver->sampled = 1; /* the error fell: a lower order may suffice */
    assert_int_equal(solved(solver, p, FMM_NOTHING_NEW, NULL).order, needed + 2 * more);
    found = solved(solver, p, FMM_NEW_PLACES, NULL);
    assert_true(found.tree_because == FMM_ORDER && abs(found.order - needed) <= 1 && found.sample.potential <= 1e-4);
    fmm_solver_destroy(solver);
    fmm_particles_destroy(p);
}

/* Also for a given tree, whose counts do not depend on the charges. */
static void an_order_that_is_asked_for_is_that_of_a_new_solver(void **state)
{
    (void)state;
    fmm_solver_options options = usual();
    options.depth = 3;
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_solver *solver = made(options), *fresh = made(options);
    fmm_solution found, other;
    assert_int_equal(fmm_solver_choose(solver, p, &found), YOKE_OK);
    assert_int_equal(found.order_because, FMM_FIRST);
    for (int64_t i = 0; i < COUNT; i++) p->charge[i] = (i + 1) % 3 ? 1 : -1; /* with the same sums */
    assert_int_equal(fmm_solver_choose(solver, p, &found), YOKE_OK);
    assert_int_equal(fmm_solver_choose(fresh, p, &other), YOKE_OK);
    assert_int_equal(found.order_because, FMM_ASKED);
    assert_true(found.order == other.order && found.predicted_potential == other.predicted_potential);
    fmm_solver_destroy(solver);
    fmm_solver_destroy(fresh);
    fmm_particles_destroy(p);
}

static void refused_particles_leave_the_choice_as_it_is(void **state)
{
    (void)state;
    fmm_solver_options options = usual();
    options.remedy = "move one of them";
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_field *field = NULL;
    fmm_solver *solver = made(options);
    assert_int_equal(fmm_field_create(context, COUNT, 1, &field), YOKE_OK);
    fmm_solution found = solved(solver, p, FMM_NEW_PLACES, field);
    const int order = found.order;
    const double x = p->x[1], y = p->y[1], z = p->z[1];
    p->x[1] = p->x[0], p->y[1] = p->y[0], p->z[1] = p->z[0];
    assert_int_equal(fmm_solver_run(solver, p, FMM_NEW_PLACES, field, &found), YOKE_ERROR_INPUT);
    p->x[1] = x, p->y[1] = y, p->z[1] = z;
    found = solved(solver, p, FMM_NEW_PLACES, field);
    assert_true(!found.chose && !found.tree_because && !found.order_because && found.order == order);
    fmm_solver_destroy(solver);
    fmm_field_destroy(field);
    fmm_particles_destroy(p);
}

/* The particles move although the solver is told that nothing is new, so that its error is the same at all orders. */
static void an_order_is_not_raised_if_that_does_not_reduce_the_error(void **state)
{
    (void)state;
    uint64_t random = 1;
    fmm_solver_options options = usual();
    options.leaf = 30;
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_solver *solver = made(options);
    const int needed = solved(solver, p, FMM_NEW_PLACES, NULL).order;
    shake(p, 1e-4, &random);
    const fmm_solution found = solved(solver, p, FMM_NOTHING_NEW, NULL);
    assert_true(found.sample.potential > 1e-4);
    assert_true(found.raised > 0 && found.order == needed + found.raised && found.order < FMM_MAX_ORDER / 2);
    fmm_solver_destroy(solver);
    fmm_particles_destroy(p);
}

typedef struct listener {
    int calls, last_call, stages[FMM_STAGE_CHECK + 1];
} listener;

static yoke_status listen(void *user, fmm_stage stage, const char *what)
{
    listener *l = user;
    assert_true(strlen(what) > 5);
    l->stages[stage]++;
    return ++l->calls == l->last_call ? yoke_fail(context, YOKE_ERROR_INTERRUPTED, "that is enough") : YOKE_OK;
}

static void each_stage_is_told_and_can_be_the_last(void **state)
{
    (void)state;
    listener heard = {0};
    fmm_solver_options options = usual();
    options.progress = listen;
    options.user = &heard;
    fmm_particles *p = charged(UNIFORM, COUNT);
    fmm_field *field = NULL, *right = NULL;
    assert_int_equal(fmm_field_create(context, COUNT, 1, &field), YOKE_OK);
    assert_int_equal(fmm_field_create(context, COUNT, 1, &right), YOKE_OK);
    fmm_solver *solver = made(options);
    (void)solved(solver, p, FMM_NEW_PLACES, right);
    fmm_solver_destroy(solver);
    assert_true(heard.stages[FMM_STAGE_TREE] && heard.stages[FMM_STAGE_ORDER] && heard.stages[FMM_STAGE_RUN] &&
                heard.stages[FMM_STAGE_CHECK]);
    const int calls = heard.calls;
    for (int last = 1; last <= calls; last++) {
        fmm_solution found;
        heard = (listener){.last_call = last};
        solver = made(options);
        assert_int_equal(fmm_solver_run(solver, p, FMM_NEW_PLACES, field, &found), YOKE_ERROR_INTERRUPTED);
        assert_int_equal(heard.calls, last);
        heard.last_call = 0;
        found = solved(solver, p, FMM_NEW_PLACES, field); /* it can be run again */
        assert_true(found.sample.potential <= 1e-4);
        assert_true(found.tree_because == FMM_FIRST || found.tree_because == FMM_KEPT);
        fmm_solver_destroy(solver);
    }
    fmm_field_destroy(field);
    fmm_field_destroy(right);
    fmm_particles_destroy(p);
}

/* Trees are predicted in single precision, with or without a far field, and so they run. */
static void all_pairs_are_summed_in_the_precision_that_was_predicted(void **state)
{
    (void)state;
    static const enum cloud clouds[] = {UNIFORM, TWO_CLUSTERS, LINE};
    for (int k = 0; k < 6; k++) {
        fmm_solver_options options = usual();
        options.request.error = k % 2 ? 1e-3 : 1e-6;
        options.depth = 0;
        options.predict = true;
        fmm_particles *p = charged(clouds[k / 2], COUNT);
        fmm_solver *solver = made(options);
        const fmm_solution found = solved(solver, p, FMM_NEW_PLACES, NULL);
        assert_true(found.depth == 0 && found.single == (k % 2));
        assert_true(found.sample.potential <= 0.1 * options.request.error && found.sample.force <= 0.1 * options.request.error);
        assert_true(found.predicted_potential > 0 && found.predicted_potential <= (k % 2 ? 1e-4 : 1e-12));
        fmm_solver_destroy(solver);
        fmm_particles_destroy(p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_slow_sequence_keeps_tree_and_order),
    cmocka_unit_test(the_method_has_the_pairs_that_were_counted_for_its_tree),
    cmocka_unit_test(what_jumps_is_chosen_anew_once),
    cmocka_unit_test(orders_do_not_alternate),
    cmocka_unit_test(a_softening_bounds_trees_as_long_as_it_has_to),
    cmocka_unit_test(a_confirmed_order_is_kept_with_another_tree),
    cmocka_unit_test(an_order_that_is_asked_for_is_that_of_a_new_solver),
    cmocka_unit_test(refused_particles_leave_the_choice_as_it_is),
    cmocka_unit_test(all_pairs_are_summed_in_the_precision_that_was_predicted),
    cmocka_unit_test(an_order_is_raised_until_the_sample_says_that_it_does),
    cmocka_unit_test(an_order_is_not_raised_if_that_does_not_reduce_the_error),
    cmocka_unit_test(each_stage_is_told_and_can_be_the_last),
};

UNIT_MAIN(tests, start, end)
