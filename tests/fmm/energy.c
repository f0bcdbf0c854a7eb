/* The error of the total energy: predicted, sampled, and kept where it is requested. */
#include <math.h>

#include "context.h"
#include "near/direct.h"
#include "particles/generate.h"
#include "sample_error.h"
#include "tune/order/accuracy.h"
#include "tune/order/tails.h"

/* Particles, their field by direct sums and that of the method. */
typedef struct problem {
    fmm_particles *particles;
    fmm_field *exact, *field;
    fmm_method *method;
    double energy; /* by direct sums */
} problem;

static problem create(fmm_distribution distribution, fmm_charges charges, int64_t count, fmm_method_options options)
{
    problem p = {0};
    assert_int_equal(fmm_particles_generate(context, distribution, count, charges, 5, &p.particles), YOKE_OK);
    assert_int_equal(fmm_field_create(context, count, 0, &p.exact), YOKE_OK);
    assert_int_equal(fmm_field_create(context, count, 0, &p.field), YOKE_OK);
    assert_int_equal(fmm_direct(p.particles, NULL, p.exact), YOKE_OK);
    assert_int_equal(fmm_method_create(p.particles, &options, &p.method), YOKE_OK);
    p.energy = fmm_field_energy(p.particles, p.exact);
    return p;
}

static void destroy(problem *p)
{
    fmm_method_destroy(p->method);
    fmm_field_destroy(p->field);
    fmm_field_destroy(p->exact);
    fmm_particles_destroy(p->particles);
}

/* The energy with an order. */
static double run(problem *p, int order)
{
    assert_int_equal(fmm_method_set_order(p->method, order), YOKE_OK);
    assert_int_equal(fmm_method_run(p->method, p->particles->charge, p->field, NULL), YOKE_OK);
    return fmm_field_energy(p->particles, p->field);
}

static double error_of(const problem *p, double energy) { return fabs(energy / p->energy - 1); }

static fmm_reference *reference(const problem *p, int64_t count)
{
    fmm_reference *r = NULL;
    assert_int_equal(draw_reference(p->particles, 0, count, 3, &r), YOKE_OK);
    return r;
}

/* Where all cells are drawn, what they tell of an order is the difference of two runs; also where cells act on particles and particles on cells. */
static void sums_over_all_cells_are_the_difference_of_two_energies(void **state)
{
    (void)state;
    enum { LOW = 3, HIGH = 9, COUNT = 3000 };
    static fmm_draw draws[30000];
    static fmm_tail tails[FMM_MAX_DEPTH + 1];
    const fmm_method_options trees[] = {{.depth = 3}, {.depth = 12, .capacity = 20}, {.depth = 12, .capacity = 40, .direct = 30}};
    for (int t = 0; t < 3; t++)
        for (int c = 0; c < 3; c++) {
            problem p = create(t ? FMM_CLUSTERS : FMM_UNIFORM, (fmm_charges)c, COUNT, trees[t]);
            bool complete[FMM_MAX_DEPTH + 1];
            const int order[] = {LOW};
            fmm_expanded e;
            int count = 0;
            const double change = run(&p, HIGH) - run(&p, LOW);
            assert_int_equal(fmm_method_sort_charges(p.method, p.particles->charge, &e), YOKE_OK);
            assert_int_equal(fmm_method_expand(p.method, HIGH, &e), YOKE_OK);
            for (int l = 2; l <= e.tree->depth; complete[l++] = true)
                for (int32_t cell = 0; cell < e.tree->level[l].count; cell++)
                    draws[count++] = (fmm_draw){l, cell, 1, (double)fmm_particles_in(e.tree, l, cell) / COUNT};
            const fmm_survey_options options = {
                .draws = count, .draw = draws, .complete = complete, .reference = HIGH, .orders = 1, .order = order};
            assert_int_equal(fmm_tails_measure(&e, &options, tails), YOKE_OK);
            fmm_reference *all = reference(&p, COUNT);
            double unit = 0, sum = 0;
            for (int64_t k = 0; k < COUNT; k++) unit += all->product[k] / (2 * p.energy);
            for (int l = 2; l <= e.tree->depth; l++) {
                assert_true(tails[l - 2].energy_error == 0);
                sum += tails[l - 2].energy * COUNT / 2;
            }
            assert_true(fabs(sum / unit - change) < 1e-9 * fabs(change) + 1e-12 * fabs(p.energy));
            fmm_reference_destroy(all);
            destroy(&p);
        }
}

typedef struct kept {
    double error;
    int raised;
} kept;

/* A run with an order that is chosen for an error of something, and with higher ones while that is missed. */
static kept run_with_request(problem *p, double error, fmm_quantity of)
{
    fmm_reference *sums = reference(p, 200);
    const fmm_request request = {.error = error, .of = of, .sums = sums};
    fmm_accuracy a;
    fmm_sample s;
    kept k = {0};
    assert_int_equal(fmm_choose_order(p->method, p->particles->charge, &request, &a), YOKE_OK);
    for (int missing = 0, order = a.order; missing > 0 || !k.error; order += missing) {
        if (missing) fmm_accuracy_raise(&a, order);
        k.raised += missing;
        k.error = error_of(p, run(p, order));
        assert_int_equal(fmm_reference_compare(sums, p->particles, p->field, &s), YOKE_OK);
        fmm_accuracy_correct(&a, &s);
        missing = fmm_order_missing(&request, &a, &s, order);
        if (!missing) break;
    }
    if (of == FMM_ENERGY) assert_true(fmm_energy_error(&a, &s) <= error);
    fmm_reference_destroy(sums);
    return k;
}

/* Requests of potentials do not do that where positive and negative parts of the energy cancel, or where few particles have most of the potentials. */
static void requests_of_energies_are_kept(void **state)
{
    (void)state;
    static const double request = 1e-5;
    int missed = 0, raised = 0;
    double geometric = 0;
    for (int d = 0; d < FMM_DISTRIBUTIONS; d++)
        for (int c = 0; c < 3; c++) {
            const fmm_method_options options = d == FMM_GRID ? (fmm_method_options){.depth = 3}
                                                             : (fmm_method_options){.depth = FMM_MAX_DEPTH, .capacity = 60, .direct = 60};
            problem p = create((fmm_distribution)d, (fmm_charges)c, 2500, options);
            const kept energy = run_with_request(&p, request, FMM_ENERGY);
            assert_true(energy.error <= request);
            geometric += log(energy.error / request) / (3 * FMM_DISTRIBUTIONS);
            raised += energy.raised > 0;
            missed += run_with_request(&p, request, FMM_POTENTIALS).error > request;
            destroy(&p);
        }
    assert_true(missed >= 3 && raised >= 1);
    assert_true(exp(geometric) > 0.02); /* nor kept by orders of magnitude */
}

static void samples_of_all_particles_have_the_error_of_the_energy(void **state)
{
    (void)state;
    problem p = create(FMM_SHELLS, FMM_RANDOM, 3000, (fmm_method_options){.depth = 3});
    const double error = error_of(&p, run(&p, 3));
    fmm_sample s;
    assert_int_equal(sample_error(p.particles, p.field, 3000, 1, &s), YOKE_OK);
    assert_true(s.energy_deviation == 0 && fabs(s.energy / error - 1) < 2 * error + 1e-9); /* by the energy that was computed */
    int inside = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(sample_error(p.particles, p.field, 200, seed, &s), YOKE_OK);
        inside += error <= s.energy + 2 * s.energy_deviation;
    }
    assert_true(inside >= 17);
    destroy(&p);
}

/* Neither a relative error nor an order that would be needed for it. */
static void energies_of_zero_have_no_error(void **state)
{
    (void)state;
    problem p = create(FMM_GRID, FMM_EQUAL, 512, (fmm_method_options){.depth = 2});
    for (int64_t i = 0; i < 512; i++) p.particles->charge[i] = 0;
    fmm_sample s;
    run(&p, 2);
    assert_int_equal(sample_error(p.particles, p.field, 100, 1, &s), YOKE_OK);
    assert_true(isnan(s.energy) && isnan(s.energy_norm));
    fmm_accuracy a;
    const fmm_request request = {.error = 1e-6, .of = FMM_ENERGY};
    assert_int_equal(fmm_choose_order(p.method, p.particles->charge, &request, &a), YOKE_OK);
    assert_int_equal(a.order, 0);
    assert_int_equal(fmm_order_missing(&request, &a, &s, 0), 0);
    destroy(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_over_all_cells_are_the_difference_of_two_energies),
    cmocka_unit_test(requests_of_energies_are_kept),
    cmocka_unit_test(samples_of_all_particles_have_the_error_of_the_energy),
    cmocka_unit_test(energies_of_zero_have_no_error),
};

UNIT_MAIN(tests, context_start, context_end)
