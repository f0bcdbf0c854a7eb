/* The order that keeps a requested error. */
#include "tune/order/accuracy.h"

#include <math.h>
#include <omp.h>

#include "context.h"
#include "near/direct.h"
#include "particles/generate.h"
#include "sample_error.h"
#include "tune/order/draw.h"

/* Particles, their field by direct sums, and the method. */
typedef struct problem {
    fmm_particles *particles;
    fmm_field *exact, *field;
    fmm_method *method;
} problem;

/* Seed of the particles; cells of an adaptive tree with at most `direct` particles are summed directly where expansions act at other levels. */
static problem create_with(fmm_distribution distribution, fmm_charges charges, int64_t count, uint64_t seed, fmm_method_options options)
{
    problem p = {0};
    options.gradient = 1;
    assert_int_equal(fmm_particles_generate(context, distribution, count, charges, seed, &p.particles), YOKE_OK);
    assert_int_equal(fmm_field_create(context, count, 1, &p.exact), YOKE_OK);
    assert_int_equal(fmm_field_create(context, count, 1, &p.field), YOKE_OK);
    assert_int_equal(fmm_direct(p.particles, NULL, p.exact), YOKE_OK);
    assert_int_equal(fmm_method_create(p.particles, &options, &p.method), YOKE_OK);
    return p;
}

static problem create(fmm_distribution distribution, fmm_charges charges, int64_t count, int depth, int64_t capacity)
{
    return create_with(distribution, charges, count, 5, (fmm_method_options){.depth = depth, .capacity = capacity});
}

static void destroy(problem *p)
{
    fmm_method_destroy(p->method);
    fmm_field_destroy(p->field);
    fmm_field_destroy(p->exact);
    fmm_particles_destroy(p->particles);
}

/* Relative errors over all particles, of potentials, forces and the energy. */
typedef struct errors {
    double potential, force, energy;
} errors;

static errors run(problem *p, int order)
{
    double e = 0, size = 0, force = 0, force_size = 0;
    assert_int_equal(fmm_method_set_order(p->method, order), YOKE_OK);
    assert_int_equal(fmm_method_run(p->method, p->particles->charge, p->field, NULL), YOKE_OK);
    const fmm_field *f = p->field, *x = p->exact;
    for (int64_t i = 0; i < f->count; i++) {
        double square = p->particles->charge[i] * p->particles->charge[i];
        e += pow(f->potential[i] - x->potential[i], 2), size += pow(x->potential[i], 2);
        force += square * (pow(f->gx[i] - x->gx[i], 2) + pow(f->gy[i] - x->gy[i], 2) + pow(f->gz[i] - x->gz[i], 2));
        force_size += square * (x->gx[i] * x->gx[i] + x->gy[i] * x->gy[i] + x->gz[i] * x->gz[i]);
    }
    double energy = fmm_field_energy(p->particles, f), should = fmm_field_energy(p->particles, x);
    return (errors){sqrt(e / size), sqrt(force / force_size), fabs(energy / should - 1)};
}

static errors run_with_request(problem *p, double error, fmm_quantity of, fmm_accuracy *accuracy)
{
    assert_int_equal(fmm_choose_order(p->method, p->particles->charge, &(fmm_request){.error = error, .of = of}, accuracy), YOKE_OK);
    return run(p, accuracy->order);
}

/* ------------------------------------------------------------------------------------------------ requests */

/* The distributions, patterns of charges and errors of which bench/fmm_accuracy has all, on uniform and adaptive trees. */
static void check_requests(int64_t capacity)
{
    static const double requests[] = {1e-2, 1e-4, 1e-7};
    static const int depths[] = {3, 3, 5};
    int near = 0, cases = 0;
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 3; c++) {
            if (unit_is_sanitized() && c != FMM_RANDOM) continue;
            problem p = create((fmm_distribution)d, (fmm_charges)c, 6000, capacity ? 12 : depths[d], capacity);
            for (int r = 0; r < 3; r++) {
                fmm_accuracy a;
                errors e = run_with_request(&p, requests[r], FMM_POTENTIALS, &a);
                assert_true(e.potential <= requests[r]);
                assert_true(a.potential > 0.5 * e.potential && a.potential < 2 * e.potential);
                assert_true(a.potential <= requests[r]);
                /* Random charges, and those of xenon, have energies that nearly cancel. */
                if (c == FMM_EQUAL || (c == FMM_ALTERNATING && d != FMM_XENON)) assert_true(e.energy <= requests[r]);
                cases += c == FMM_RANDOM;
                near += c == FMM_RANDOM && e.potential > 0.1 * requests[r];
            }
            destroy(&p);
        }
    assert_true(near >= 0.8 * cases); /* others have order 0 */
}

static void measured_errors_are_below_requests_and_random_ones_near_them(void **state)
{
    (void)state;
    check_requests(0);
}

static void measured_errors_on_adaptive_trees_are_below_requests(void **state)
{
    (void)state;
    check_requests(60);
}

/* Where all cells of W and X act by expansions, these have a third of the square of low orders' errors, and most of that of high ones. */
static void lists_of_adaptive_trees_are_in_the_prediction(void **state)
{
    (void)state;
    for (int high = 0; high < 2; high++)
        for (int c = 0; c < 2; c++) {
            problem p = high ? create(FMM_CLUSTERS, c ? FMM_RANDOM : FMM_ALTERNATING, 8000, 12, 384)
                             : create(FMM_XENON, c ? FMM_RANDOM : FMM_EQUAL, 6000, 12, 60);
            fmm_accuracy a;
            errors e = run_with_request(&p, high ? 1e-7 : 0.1, FMM_POTENTIALS, &a);
            assert_true(high ? a.order >= 10 : a.order == 0);
            assert_true(a.potential > 0.75 * e.potential && a.potential < 1.6 * e.potential);
            destroy(&p);
        }
}

static void forces_keep_a_request_of_theirs(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        problem p = create((fmm_distribution)d, FMM_RANDOM, 6000, 3, 0);
        fmm_accuracy a;
        errors e = run_with_request(&p, 1e-4, FMM_FORCES, &a);
        assert_true(e.force <= 1e-4 && a.force <= 1e-4);
        assert_true(a.force > 0.4 * e.force && a.force < 2.5 * e.force);
        destroy(&p);
    }
}

/* The order is the least one: one less misses the request by what is predicted, which is near what is measured. */
static void one_order_less_misses_the_request(void **state)
{
    (void)state;
    problem p = create(FMM_SHELLS, FMM_RANDOM, 8000, 3, 0);
    fmm_accuracy a;
    run_with_request(&p, 1e-4, FMM_POTENTIALS, &a);
    assert_true(run(&p, a.order - 1).potential > 0.75e-4); /* two standard errors are kept away from the request */
    destroy(&p);
}

static void the_order_is_the_same_at_each_number_of_threads(void **state)
{
    (void)state;
    int most = omp_get_max_threads();
    problem p = create(FMM_XENON, FMM_RANDOM, 5000, 12, 40);
    fmm_accuracy first, other;
    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        const fmm_request request = {.error = 1e-5, .of = FMM_POTENTIALS};
        assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &request, threads == 1 ? &first : &other), YOKE_OK);
        if (threads > 1) assert_memory_equal(&first, &other, sizeof first);
    }
    omp_set_num_threads(most);
    destroy(&p);
}

static void a_wrong_guess_leads_to_about_the_same_order(void **state)
{
    (void)state;
    static const int guesses[] = {1, 3, 12, 30, FMM_MAX_ORDER};
    problem p = create(FMM_SHELLS, FMM_RANDOM, 4000, 3, 0);
    for (double error = 1e-3; error > 1e-7; error /= 1000) {
        fmm_accuracy usual, a;
        assert_true(run_with_request(&p, error, FMM_POTENTIALS, &usual).potential <= error);
        for (int g = 0; g < 5; g++) {
            const fmm_request request = {.error = error, .of = FMM_POTENTIALS, .guess = guesses[g]};
            assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &request, &a), YOKE_OK);
            assert_in_range(a.order + 2, usual.order, usual.order + 4);
            assert_true(run(&p, a.order).potential <= error);
        }
    }
    destroy(&p);
}

/* Multipole expansions of a choice serve the next run where it has the same charges and no higher order; else they are made anew. */
static void expansions_of_a_choice_serve_the_next_run(void **state)
{
    (void)state;
    static const int orders[] = {4, 9, 10};
    for (int64_t capacity = 0; capacity <= 40; capacity += 40)
        for (int changed = 0; changed < 2; changed++)
            for (int o = 0; o < 3; o++) {
                problem p = create(FMM_SHELLS, FMM_RANDOM, 3000, capacity ? 12 : 3, capacity);
                fmm_expanded e;
                assert_int_equal(fmm_method_sort_charges(p.method, p.particles->charge, &e), YOKE_OK);
                assert_int_equal(fmm_method_expand(p.method, 9, &e), YOKE_OK);
                if (changed) p.particles->charge[17] *= -3;
                assert_int_equal(fmm_method_set_order(p.method, orders[o]), YOKE_OK);
                assert_true(orders[o] > 9 ? fmm_method_saved_s(p.method) == 0 : fmm_method_saved_s(p.method) > 0);
                assert_int_equal(fmm_method_run(p.method, p.particles->charge, p.field, NULL), YOKE_OK);
                assert_true(fmm_method_saved_s(p.method) == 0);
                assert_int_equal(fmm_method_set_order(p.method, orders[o]), YOKE_OK);
                assert_int_equal(fmm_method_run(p.method, p.particles->charge, p.exact, NULL), YOKE_OK);
                for (int64_t i = 0; i < 3000; i++)
                    assert_true(fabs(p.field->potential[i] - p.exact->potential[i]) <= 1e-12 * (1 + fabs(p.exact->potential[i])));
                destroy(&p);
            }
}

/* ------------------------------------------------------------------------------------------------ limits */

/* The message says an error that can be reached, and it can. */
static void unreachable_errors_are_refused_with_one_that_can_be_reached(void **state)
{
    (void)state;
    static const double requests[] = {1e-16, 1e-16, 1e-13};
    for (int r = 0; r < 3; r++) {
        fmm_accuracy a;
        problem p = create(FMM_GRID, FMM_ALTERNATING, 4096, r ? 3 : 0, 0);
        assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &(fmm_request){.error = requests[r], .of = FMM_POTENTIALS}, &a),
                         YOKE_ERROR_INPUT);
        const char *text = yoke_last_error(context), *comes = strstr(text, "cannot be reached"), *number = strrchr(text, ';');
        assert_non_null(comes);
        assert_non_null(strstr(text, r ? "order 50" : "double precision"));
        double reachable = strtod(number + 1, NULL);
        assert_true(reachable > requests[r] && reachable < 1e-9);
        assert_true(run_with_request(&p, reachable, FMM_POTENTIALS, &a).potential <= reachable);
        destroy(&p);
    }
}

static void without_a_far_field_any_order_does(void **state)
{
    (void)state;
    for (int depth = 0; depth < 2; depth++) {
        problem p = create(FMM_GRID, FMM_EQUAL, 500, depth, 0);
        fmm_accuracy a;
        assert_true(run_with_request(&p, 1e-12, FMM_POTENTIALS, &a).potential < 1e-14);
        assert_int_equal(a.order, 0);
        destroy(&p);
    }
}

static void particles_without_potentials_need_no_order(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 300};
    for (int n = 0; n < 3; n++) {
        problem p = create(FMM_SHELLS, FMM_RANDOM, counts[n], 4, 0);
        for (int64_t i = 0; i < counts[n]; i++) p.particles->charge[i] = 0;
        fmm_accuracy a;
        assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &(fmm_request){.error = 1e-6, .of = FMM_POTENTIALS}, &a), YOKE_OK);
        assert_int_equal(a.order, 0);
        assert_true(a.potential == 0 && a.force == 0);
        destroy(&p);
    }
}

static void the_order_does_not_depend_on_units(void **state)
{
    (void)state;
    problem p = create(FMM_SHELLS, FMM_RANDOM, 3000, 3, 0);
    fmm_accuracy first, other;
    const fmm_request request = {.error = 1e-4, .of = FMM_POTENTIALS};
    assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &request, &first), YOKE_OK);
    for (int64_t i = 0; i < 3000; i++) p.particles->charge[i] *= 0x1p+900;
    assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &request, &other), YOKE_OK);
    assert_memory_equal(&first, &other, sizeof first);
    destroy(&p);
}

static void runs_without_orders_are_refused(void **state)
{
    (void)state;
    problem p = create(FMM_SHELLS, FMM_EQUAL, 300, 3, 0);
    assert_int_equal(fmm_method_run(p.method, p.particles->charge, p.field, NULL), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "fmm_method_set_order"));
    destroy(&p);
}

/* ------------------------------------------------------------------------------------------------ after a run */

static int missing(const fmm_request *request, const fmm_accuracy *accuracy, double sampled, double uncertainty)
{
    const fmm_sample sample = {
        .count = 100, .potential = sampled, .potential_uncertainty = uncertainty, .force = NAN, .force_uncertainty = NAN};
    return fmm_order_missing(request, accuracy, &sample, 5);
}

static void the_order_rises_where_a_sample_and_the_prediction_say_so(void **state)
{
    (void)state;
    const fmm_request request = {.error = 1e-3, .of = FMM_POTENTIALS};
    const fmm_accuracy good = {.potential = 5e-4, .potential_uncertainty = 0.1},
                       unknown = {.potential = 5e-4, .potential_uncertainty = INFINITY};
    assert_int_equal(missing(&request, &good, 6e-4, 0.1), 0);
    assert_int_equal(missing(&request, &good, 1.2e-3, 2.0), 0); /* a sample that says little */
    assert_int_equal(missing(&request, &good, 2e-3, 0.01), 2);  /* log 2 / -log 0.6 = 1.4 */
    assert_int_equal(missing(&request, &unknown, 1.01e-3, 0.01), 1);
    assert_int_equal(missing(&request, &unknown, 0.9e-3, 0.05), 0);
    assert_int_equal(missing(&request, &unknown, 0.98e-3, 0.05), 1); /* its standard error above the request */
    assert_int_equal(missing(&request, &good, 1.3e-3, 0.3), 2);      /* a prediction that cannot be right */
    assert_int_equal(missing(&request, &good, 0.9e-3, 0.4), 0);      /* one that can be */
    assert_int_equal(missing(&request, &good, 0, 0), 0);
    const fmm_sample none = {.count = 0}, bad = {.count = 100, .potential = 1, .potential_uncertainty = 0.01};
    assert_int_equal(fmm_order_missing(&request, &good, &none, 5), 0);
    assert_int_equal(fmm_order_missing(&request, &good, &bad, FMM_MAX_ORDER - 1), 1);
    const fmm_request forces = {.error = 1e-3, .of = FMM_FORCES};
    const fmm_accuracy of_forces = {.potential = 1, .force = 5e-4, .force_uncertainty = 0.1};
    const fmm_sample twice = {.count = 100, .potential = 1e-9, .force = 2e-3, .force_uncertainty = 0.01};
    assert_int_equal(fmm_order_missing(&forces, &of_forces, &twice, 5), 2);
}

/* Errors at samples, beside those at all particles. */
static void errors_of_samples_have_the_uncertainty_that_they_say(void **state)
{
    (void)state;
    problem p = create(FMM_SHELLS, FMM_RANDOM, 6000, 3, 0);
    errors e = run(&p, 3);
    int inside = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        fmm_sample s;
        assert_int_equal(sample_error(p.particles, p.field, 150, seed, &s), YOKE_OK);
        assert_true(s.potential_uncertainty > 0.02 && s.potential_uncertainty < 0.3);
        inside += fabs(s.potential / e.potential - 1) < 2 * s.potential_uncertainty;
    }
    assert_true(inside >= 34); /* of 40; 38 are expected of a normal distribution */
    fmm_sample all;
    assert_int_equal(sample_error(p.particles, p.field, 6000, 1, &all), YOKE_OK);
    assert_true(fabs(all.potential / e.potential - 1) < 1e-10 && all.potential_uncertainty == 0);
    destroy(&p);
}

/* On a line of random places a few close pairs have most of the potentials' squares, so that few samples have any of them. */
static void samples_know_the_potentials_that_errors_are_relative_to(void **state)
{
    (void)state;
    problem p = create(FMM_LINE, FMM_EQUAL, 6000, 12, 60);
    const errors e = run(&p, 5);
    double least = 1, most = 1;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        fmm_sample s;
        assert_int_equal(sample_error(p.particles, p.field, 150, seed, &s), YOKE_OK);
        assert_true(s.potential > 0.5 * e.potential && s.potential < 2 * e.potential);
        least = fmin(least, s.potential_norm), most = fmax(most, s.potential_norm);
    }
    assert_true(least < 0.25 && most > 4); /* of norms by the samples alone */
    destroy(&p);
}

/* What was wrong for all of a field beside the sample is no norm: the sample's own sums are. */
static void fields_without_a_size_are_compared_at_the_sample(void **state)
{
    (void)state;
    problem p = create(FMM_SHELLS, FMM_RANDOM, 500, 0, 0);
    run(&p, 0);
    fmm_sample s;
    p.field->potential[7] = INFINITY; /* not in the sample */
    for (int64_t i = 0; i < 500; i++) p.field->gx[i] = p.field->gy[i] = p.field->gz[i] = 0;
    assert_int_equal(sample_error(p.particles, p.field, 5, 1, &s), YOKE_OK);
    assert_true(s.potential < 1e-13 && s.potential_norm == 1);
    assert_true(fabs(s.force - 1) < 1e-12);
    destroy(&p);
}

/* Predicted and sampled errors are relative to the same sums, of a sample with twice the norm: both keep a request that is missed. */
static void the_order_rises_where_norms_were_sampled_too_large(void **state)
{
    (void)state;
    enum { COUNT = 20000, SAMPLES = 300 };
    static int64_t which[SAMPLES];
    static double weight[SAMPLES];
    problem p = create_with(FMM_LINE, FMM_EQUAL, COUNT, 1, (fmm_method_options){.depth = FMM_MAX_DEPTH, .capacity = 300, .direct = 300});
    fmm_request request = {.error = 1e-11, .of = FMM_POTENTIALS};
    fmm_reference *reference;
    fmm_expanded sorted;
    fmm_accuracy a;
    fmm_sample s;
    assert_int_equal(fmm_method_sort_charges(p.method, p.particles->charge, &sorted), YOKE_OK);
    assert_int_equal(fmm_draw_reference(sorted.tree, sorted.particles, 31, SAMPLES, which, weight), YOKE_OK);
    assert_int_equal(fmm_reference_create(p.particles, 1, SAMPLES, which, weight, NULL, &reference), YOKE_OK);
    request.sums = reference;
    assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &request, &a), YOKE_OK);
    assert_true(run(&p, a.order).potential > request.error);
    assert_int_equal(fmm_reference_compare(reference, p.particles, p.field, &s), YOKE_OK);
    assert_true(a.potential < request.error && s.potential / s.potential_norm < request.error);
    fmm_accuracy_correct(&a, &s);
    const fmm_accuracy once = a;
    fmm_accuracy_correct(&a, &s);
    assert_true(a.potential == once.potential && a.potential_uncertainty == once.potential_uncertainty);
    const int missing_orders = fmm_order_missing(&request, &a, &s, a.order);
    assert_in_range(missing_orders, 1, 2);
    assert_true(run(&p, a.order + missing_orders).potential <= request.error);
    fmm_reference_destroy(reference);
    destroy(&p);
}

/*
 * On a grid whose particles lie in the corners of cells few of them have most of the error of high orders.  Samples that look there say what the error is,
 * and how sure they are.  (Of 200 that take all particles alike the standard error is twice as large.)
 */
static void samples_look_at_corners(void **state)
{
    (void)state;
    unit_leave_to_release();
    enum { ORDER = 18, SAMPLES = 200 };
    problem p = create(FMM_GRID, FMM_RANDOM, 32768, 3, 0);
    errors e = run(&p, ORDER);
    static int64_t which[SAMPLES];
    static double weight[SAMPLES];
    fmm_expanded sorted;
    fmm_reference *reference;
    fmm_sample s;
    assert_int_equal(fmm_method_sort_charges(p.method, p.particles->charge, &sorted), YOKE_OK);
    assert_int_equal(fmm_draw_reference(sorted.tree, sorted.particles, ORDER, SAMPLES, which, weight), YOKE_OK);
    assert_int_equal(fmm_reference_create(p.particles, 1, SAMPLES, which, weight, NULL, &reference), YOKE_OK);
    assert_int_equal(fmm_reference_compare(reference, p.particles, p.field, &s), YOKE_OK);
    fmm_reference_destroy(reference);
    assert_true(s.potential_uncertainty < 0.15 && fabs(s.potential / e.potential - 1) < 3 * s.potential_uncertainty);
    assert_true(s.force_uncertainty < 0.25 && fabs(s.force / e.force - 1) < 3 * s.force_uncertainty);
    destroy(&p);
}

/* ------------------------------------------------------------------------------------------------ draws */

/* Weights of the draws of each level are together near its part of the particles; with all cells they are it, and each level has draws. */
static void draws_stand_for_all_particles(void **state)
{
    (void)state;
    for (int64_t capacity = 0; capacity < 100; capacity += 30) {
        problem p = create(FMM_XENON, FMM_RANDOM, 4000, 6, capacity);
        fmm_expanded e;
        fmm_model model;
        assert_int_equal(fmm_method_sort_charges(p.method, p.particles->charge, &e), YOKE_OK);
        assert_int_equal(fmm_method_expand(p.method, 9, &e), YOKE_OK);
        fmm_model_create(9, &model);
        for (int all = 0; all < 2; all++) {
            static fmm_draw draws[30000];
            const int most = all ? 20000 : 64;
            bool complete[FMM_MAX_DEPTH + 1];
            int count;
            assert_int_equal(fmm_draw_cells(&e, &model, (fmm_favour){6, 0}, most, draws, &count, complete), YOKE_OK);
            for (int level = 2, k = 0; level <= e.tree->depth; level++) {
                double here = 0, sum = 0, times = 0;
                for (int64_t c = 0; c < e.tree->level[level].count; c++) here += fmm_particles_in(e.tree, level, c) / 4000.0;
                for (; k < count && draws[k].level == level; k++) sum += draws[k].times * draws[k].weight, times += draws[k].times;
                assert_true(times >= FMM_LEAST_DRAWS || complete[level]);
                assert_true(fabs(sum / here - 1) < (complete[level] ? 1e-12 : times > 20 ? 0.5 : 3));
            }
        }
        destroy(&p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(measured_errors_are_below_requests_and_random_ones_near_them),
    cmocka_unit_test(measured_errors_on_adaptive_trees_are_below_requests),
    cmocka_unit_test(lists_of_adaptive_trees_are_in_the_prediction),
    cmocka_unit_test(forces_keep_a_request_of_theirs),
    cmocka_unit_test(one_order_less_misses_the_request),
    cmocka_unit_test(the_order_is_the_same_at_each_number_of_threads),
    cmocka_unit_test(a_wrong_guess_leads_to_about_the_same_order),
    cmocka_unit_test(expansions_of_a_choice_serve_the_next_run),
    cmocka_unit_test(unreachable_errors_are_refused_with_one_that_can_be_reached),
    cmocka_unit_test(without_a_far_field_any_order_does),
    cmocka_unit_test(particles_without_potentials_need_no_order),
    cmocka_unit_test(the_order_does_not_depend_on_units),
    cmocka_unit_test(runs_without_orders_are_refused),
    cmocka_unit_test(the_order_rises_where_a_sample_and_the_prediction_say_so),
    cmocka_unit_test(errors_of_samples_have_the_uncertainty_that_they_say),
    cmocka_unit_test(samples_know_the_potentials_that_errors_are_relative_to),
    cmocka_unit_test(fields_without_a_size_are_compared_at_the_sample),
    cmocka_unit_test(the_order_rises_where_norms_were_sampled_too_large),
    cmocka_unit_test(samples_look_at_corners),
    cmocka_unit_test(draws_stand_for_all_particles),
};

UNIT_MAIN(tests, context_start, context_end)
