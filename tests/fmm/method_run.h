/*
 * method_run.h - fields of particles, by the method and by direct sums, and how far one is from the other.
 */
#ifndef TESTS_FMM_METHOD_RUN_H
#define TESTS_FMM_METHOD_RUN_H

#include <math.h>

#include "context.h"
#include "method/method.h"
#include "near/direct.h"
#include "particles/generate.h"

static inline fmm_particles *generated(fmm_distribution distribution, int64_t count, fmm_charges charges)
{
    fmm_particles *particles = NULL;
    assert_int_equal(fmm_particles_generate(context, distribution, count, charges, 1, &particles), YOKE_OK);
    return particles;
}

static inline fmm_field *field_for(const fmm_particles *particles, int gradient)
{
    fmm_field *field = NULL;
    assert_int_equal(fmm_field_create(context, particles->count, gradient, &field), YOKE_OK);
    return field;
}

static inline fmm_method *method_of(const fmm_particles *particles, int depth, int order, int gradient)
{
    fmm_method *method = NULL;
    const fmm_method_options options = {.depth = depth, .order = &order, .gradient = gradient};
    assert_int_equal(fmm_method_create(particles, &options, &method), YOKE_OK);
    return method;
}

static inline fmm_field *result(const fmm_particles *particles, int depth, int order, int gradient)
{
    fmm_field *field = field_for(particles, gradient);
    fmm_method *method = method_of(particles, depth, order, gradient);
    assert_int_equal(fmm_method_run(method, particles->charge, field, NULL), YOKE_OK);
    fmm_method_destroy(method);
    return field;
}

static inline fmm_field *direct(const fmm_particles *particles)
{
    fmm_field *field = field_for(particles, 1);
    assert_int_equal(fmm_direct(particles, NULL, field), YOKE_OK);
    return field;
}

/* Relative error in the 2-norm: of potentials, and of forces where both fields have gradients. */
typedef struct errors {
    double potential, force;
} errors;

static inline long double square(long double value) { return value * value; }

static inline errors compare(const fmm_particles *p, const fmm_field *is, const fmm_field *should)
{
    long double error[2] = {0}, size[2] = {0};
    for (int64_t i = 0; i < is->count; i++) {
        error[0] += square((long double)is->potential[i] - should->potential[i]);
        size[0] += square(should->potential[i]);
        const double *const a[3] = {is->gx, is->gy, is->gz}, *const b[3] = {should->gx, should->gy, should->gz};
        for (int c = 0; c < 3 && a[c]; c++) {
            error[1] += square((long double)p->charge[i] * ((long double)a[c][i] - b[c][i]));
            size[1] += square((long double)p->charge[i] * b[c][i]);
        }
    }
    errors e = {(double)sqrtl(error[0]), (double)sqrtl(error[1])};
    if (size[0] > 0) e.potential = (double)sqrtl(error[0] / size[0]);
    if (size[1] > 0) e.force = (double)sqrtl(error[1] / size[1]);
    return e;
}

#endif
