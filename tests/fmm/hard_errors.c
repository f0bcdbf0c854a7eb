/* Requests that samples and predictions may miss: few charged particles among others, energies that change, errors that do not fall with each order. */
#include <math.h>

#include "clouds.h"
#include "context.h"
#include "near/direct.h"
#include "solve/solve.h"

enum { COUNT = 8000 };

static fmm_solver *made(fmm_solver_options options)
{
    fmm_solver *solver = NULL;
    options.order = -1, options.gradient = true;
    assert_int_equal(fmm_solver_create(context, &options, &solver), YOKE_OK);
    return solver;
}

static double square_of(const fmm_field *f, int64_t i) { return f->gx[i] * f->gx[i] + f->gy[i] * f->gy[i] + f->gz[i] * f->gz[i]; }

/* The relative errors of a run, against direct sums at all particles. */
typedef struct errors {
    double potential, force, energy;
} errors;

static errors run(fmm_solver *solver, const fmm_particles *p)
{
    fmm_field *is = NULL, *should = NULL;
    fmm_solution found;
    double potential[2] = {0}, force[2] = {0};
    assert_int_equal(fmm_field_create(context, p->count, 1, &is), YOKE_OK);
    assert_int_equal(fmm_field_create(context, p->count, 1, &should), YOKE_OK);
    if (fmm_solver_run(solver, p, FMM_NEW_PLACES, is, &found)) fail_msg("%s", yoke_last_error(context));
    assert_int_equal(fmm_direct(p, &(fmm_direct_options){0}, should), YOKE_OK);
    const double energy[2] = {fmm_field_energy(p, is), fmm_field_energy(p, should)};
    for (int64_t i = 0; i < p->count; i++) {
        potential[0] += pow(is->potential[i] - should->potential[i], 2), potential[1] += pow(should->potential[i], 2);
        force[1] += pow(p->charge[i], 2) * square_of(should, i);
        is->gx[i] -= should->gx[i], is->gy[i] -= should->gy[i], is->gz[i] -= should->gz[i];
        force[0] += pow(p->charge[i], 2) * square_of(is, i);
    }
    fmm_field_destroy(is);
    fmm_field_destroy(should);
    return (errors){sqrt(potential[0] / potential[1]), sqrt(force[0] / force[1]), fabs(energy[0] / energy[1] - 1)};
}

/* The others are points at which only the potential is wanted, or have tiny charges. */
static void forces_and_energies_are_those_of_few_charged_particles(void **state)
{
    (void)state;
    static const fmm_quantity of[] = {FMM_FORCES, FMM_ENERGY};
    const double others[] = {0, 1e-30};
    for (int k = 0; k < 8; k++) {
        const fmm_request request = {.error = 1e-3, .of = of[k % 2]};
        fmm_particles *p = cloud_create(context, UNIFORM, COUNT);
        for (int64_t i = 0; i < COUNT; i++) p->charge[i] = (i % 400 ? others[k / 4] : 1) * (i / 400 % 2 ? 1 : -1);
        fmm_solver *solver = made((fmm_solver_options){.request = request, .depth = 3, .check = k / 2 % 2 ? 0 : 100});
        const errors found = run(solver, p);
        assert_true((request.of == FMM_FORCES ? found.force : found.energy) <= request.error);
        fmm_solver_destroy(solver);
        fmm_particles_destroy(p);
    }
}

/* The charges are shuffled in each step: their sums stay, and the energy changes. */
static void a_kept_order_keeps_the_error_of_the_present_energy(void **state)
{
    (void)state;
    enum { SEQUENCES = 8, STEPS = 20, SOME = 3000 };
    const fmm_request request = {.error = 1e-3, .of = FMM_ENERGY};
    uint64_t random = 1;
    fmm_particles *p = cloud_create(context, UNIFORM, SOME);
    for (int64_t i = 0; i < SOME; i++) p->charge[i] = i % 2 ? 1 : -1;
    for (int k = 0; k < SEQUENCES; k++) {
        fmm_solver *solver = made((fmm_solver_options){.request = request, .depth = 3, .check = -1});
        for (int step = 0; step < STEPS; step++) {
            for (int64_t i = SOME - 1; i > 0; i--) {
                const int64_t j = (int64_t)(cloud_random(&random) * (double)(i + 1));
                const double charge = p->charge[i];
                p->charge[i] = p->charge[j], p->charge[j] = charge;
            }
            assert_true(run(solver, p).energy <= request.error);
        }
        fmm_solver_destroy(solver);
    }
    fmm_particles_destroy(p);
}

/* In a needle orders 14 and 15 have larger errors than 13, and 18 has a smaller one. */
static void an_error_that_rises_with_the_next_order_is_reduced_by_a_later_one(void **state)
{
    (void)state;
    const fmm_request request = {.error = 3.4e-7};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        uint64_t random = seed;
        fmm_particles *p = cloud_create(context, UNIFORM, COUNT);
        for (int64_t i = 0; i < COUNT; i++) {
            p->x[i] = cloud_random(&random), p->y[i] = 1e-3 * cloud_random(&random), p->z[i] = 1e-5 * cloud_random(&random);
            p->charge[i] = 1;
        }
        fmm_solver *solver = made((fmm_solver_options){.request = request, .depth = 7, .check = COUNT});
        assert_true(run(solver, p).potential <= request.error);
        fmm_solver_destroy(solver);
        fmm_particles_destroy(p);
    }
}

/* Two boxes far apart, in leaves of several levels: few of the cells have lists W and X, which have almost all of the error. */
static void the_energy_of_boxes_far_apart_is_right(void **state)
{
    (void)state;
    enum { SOME = 2000, IN_FIRST = 940, SEEDS = 40 };
    const fmm_request request = {.error = 1e-5, .of = FMM_ENERGY};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t random = seed;
        fmm_particles *p = cloud_create(context, UNIFORM, SOME);
        for (int64_t i = 0; i < SOME; i++) {
            const double size = i < IN_FIRST ? 1 : 0.02, at = i < IN_FIRST ? 0 : 3000;
            p->x[i] = at + size * cloud_random(&random), p->y[i] = at + size * cloud_random(&random);
            p->z[i] = at + size * cloud_random(&random), p->charge[i] = cloud_random(&random) < 0.5 ? 1 : -1;
        }
        fmm_solver *solver = made((fmm_solver_options){.request = request, .depth = -1, .leaf = 500, .check = 100});
        assert_true(run(solver, p).energy <= request.error);
        fmm_solver_destroy(solver);
        fmm_particles_destroy(p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(forces_and_energies_are_those_of_few_charged_particles),
    cmocka_unit_test(a_kept_order_keeps_the_error_of_the_present_energy),
    cmocka_unit_test(the_energy_of_boxes_far_apart_is_right),
    cmocka_unit_test(an_error_that_rises_with_the_next_order_is_reduced_by_a_later_one),
};

UNIT_MAIN(tests, context_start, context_end)
