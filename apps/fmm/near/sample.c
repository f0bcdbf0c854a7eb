#include "near/sample.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "near/direct_block.h"
#include "particles/coincident.h"
#include "particles/scale.h"

/* Sets squares and products of the sums while these are in the units of the scaled particles. */
static void set_squares(const fmm_particles *scaled, fmm_reference *r)
{
    const fmm_field *e = r->exact;
    for (int64_t k = 0; k < r->count; k++) {
        double q = scaled->charge[r->which[k]];
        r->square[k] = e->potential[k] * e->potential[k];
        r->product[k] = q * e->potential[k];
        if (e->gx) r->force_square[k] = q * q * (e->gx[k] * e->gx[k] + e->gy[k] * e->gy[k] + e->gz[k] * e->gz[k]);
    }
}

/* Computes the sums at the particles r->which, in the units of the scaled particles.  charge: their charges in any unit. */
static yoke_status sum_scaled(const fmm_particles *scaled, const double *charge, const fmm_stop *stop, fmm_reference *r)
{
    for (int64_t k = 0; k < r->count; k++) {
        r->at->x[k] = scaled->x[r->which[k]];
        r->at->y[k] = scaled->y[r->which[k]];
        r->at->z[k] = scaled->z[r->which[k]];
        r->at->charge[k] = charge[r->which[k]];
    }
    yoke_status status = fmm_direct_at(scaled, r->at, stop, r->exact);
    if (!status) status = fmm_coincident_add(scaled, r->count, r->which, r->exact->potential);
    if (!status) set_squares(scaled, r);
    return status;
}

static yoke_status sum_chosen(const fmm_particles *particles, const fmm_stop *stop, fmm_reference *r)
{
    fmm_particles *scaled = NULL;
    fmm_scale scale;
    yoke_status status = fmm_scale_create(particles, &scale, &scaled);
    if (status) return status;
    status = sum_scaled(scaled, particles->charge, stop, r);
    fmm_particles_destroy(scaled);
    return status ? status : fmm_scale_field(r->at->charge, r->which, scale, r->exact);
}

void fmm_reference_destroy(fmm_reference *r)
{
    if (!r) return;
    yoke_context *context = r->context;
    yoke_release(context, r->which);
    yoke_release(context, r->weight);
    yoke_release(context, r->square);
    yoke_release(context, r->force_square);
    yoke_release(context, r->product);
    fmm_particles_destroy(r->at);
    fmm_field_destroy(r->exact);
    yoke_release(context, r);
}

static yoke_status allocate(yoke_context *context, int64_t count, int gradient, fmm_reference **reference)
{
    fmm_reference *r = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *r, &r);
    if (status) return status;
    r->context = context;
    r->count = count;
    status = yoke_allocate(context, count, sizeof *r->which, &r->which);
    if (!status) status = yoke_allocate(context, count, sizeof *r->weight, &r->weight);
    if (!status) status = yoke_allocate(context, count, sizeof *r->square, &r->square);
    if (!status && gradient) status = yoke_allocate(context, count, sizeof *r->force_square, &r->force_square);
    if (!status) status = yoke_allocate(context, count, sizeof *r->product, &r->product);
    if (!status) status = fmm_particles_create(context, count, &r->at);
    if (!status) status = fmm_field_create(context, count, gradient, &r->exact);
    if (status)
        fmm_reference_destroy(r);
    else
        *reference = r;
    return status;
}

static yoke_status create(const fmm_particles *particles, bool are_scaled, int gradient, int64_t count, const int64_t *which,
                          const double *weight, const fmm_stop *stop, fmm_reference **reference)
{
    fmm_reference *r = NULL;
    yoke_status status = allocate(particles->context, count, gradient, &r);
    if (status) return status;
    r->all = particles->count;
    for (int64_t k = 0; k < count; k++) r->which[k] = which[k], r->weight[k] = weight ? weight[k] : 1;
    status = are_scaled ? sum_scaled(particles, particles->charge, stop, r) : sum_chosen(particles, stop, r);
    if (status)
        fmm_reference_destroy(r);
    else
        *reference = r;
    return status;
}

yoke_status fmm_reference_create(const fmm_particles *particles, int gradient, int64_t count, const int64_t *which, const double *weight,
                                 const fmm_stop *stop, fmm_reference **reference)
{
    return create(particles, false, gradient, count, which, weight, stop, reference);
}

yoke_status fmm_reference_create_scaled(const fmm_particles *scaled, int gradient, int64_t count, const int64_t *which,
                                        const double *weight, fmm_reference **reference)
{
    return create(scaled, true, gradient, count, which, weight, NULL, reference);
}

/* Squares at each particle of the sample [count], in the same unit: of errors, of exact values, and of computed values. */
typedef struct squares {
    int64_t count;
    const double *weight;
    double *error, *exact, *computed;
    double all; /* the mean of squared computed values over all particles */
} squares;

/* The weighted mean of a - b; of a if b is NULL. */
static double mean(const squares *s, const double *a, const double *b)
{
    double sum = 0, weight = 0;
    for (int64_t k = 0; k < s->count; k++) sum += s->weight[k] * (a[k] - (b ? b[k] : 0)), weight += s->weight[k];
    return weight > 0 ? sum / weight : 0;
}

/*
 * Returns the root of the mean squared error divided by the mean square over all particles.  The latter is the mean square of the computed
 * values over all particles plus the sample's mean difference of exact and computed squares (W. G. Cochran, Sampling Techniques, 3rd ed.,
 * 1977, sect. 7.3, with slope 1).  *uncertainty: the standard error of the result, relative to it.  *norm: the sample's own norm, relative
 * to that of all particles.
 */
static double ratio(const squares *s, double *uncertainty, double *norm)
{
    const double error = mean(s, s->error, NULL), exact = mean(s, s->exact, NULL), change = mean(s, s->exact, s->computed);
    const bool known = s->all + change > 0 && isfinite(s->all); /* otherwise the field is wrong or overflows, and only the sample counts */
    const double size = known ? s->all + change : exact;
    double scatter = 0, weight = 0;
    *uncertainty = s->count > 1 ? 0 : (double)NAN; /* one particle does not show it */
    *norm = size > 0 ? sqrt(exact / size) : 1;
    if (error == 0) return 0;
    for (int64_t k = 0; k < s->count; k++) {
        double square = s->exact[k] - (known ? s->computed[k] : 0), of = known ? change : exact;
        scatter += pow(s->weight[k] * ((s->error[k] - error) / error - (square - of) / size), 2);
        weight += s->weight[k];
    }
    if (s->count > 1) scatter *= (double)s->count / (double)(s->count - 1), *uncertainty = 0.5 * sqrt(scatter) / weight;
    return sqrt(error / size);
}

/* One component of a field.  It is multiplied by the charges, if they are given. */
typedef struct component {
    const double *is, *should; /* computed [all particles], exact [sample] */
    const double *charge;      /* [all particles]; NULL: none */
    double most, unit;         /* units of charges and of the component */
} component;

/* Adds the squares of a component. */
static void add_squares(const fmm_reference *r, const component *c, squares *s)
{
    for (int64_t k = 0; k < s->count; k++) {
        const double is = c->is[r->which[k]], factor = c->charge ? c->charge[r->which[k]] / c->most : 1;
        s->error[k] += pow(factor * ((is - c->should[k]) / c->unit), 2);
        s->exact[k] += pow(factor * (c->should[k] / c->unit), 2);
        s->computed[k] += pow(factor * (is / c->unit), 2);
    }
}

static void clear(squares *s, double all)
{
    for (int64_t k = 0; k < s->count; k++) s->error[k] = s->exact[k] = s->computed[k] = 0;
    s->all = all;
}

/* Returns a unit in which the squares of these values and of `other` do not overflow, and do not all vanish. */
static double unit_of(int64_t count, const double *const values[4], double other)
{
    double unit = isfinite(other) ? other : 0;
    for (int c = 0; c < 4 && values[c]; c++)
        for (int64_t k = 0; k < count; k++) unit = fmax(unit, fabs(values[c][k]));
    return unit > 0 ? unit : 1;
}

/* The mean over all particles of values of the sample, and its standard error. */
static double mean_of(const fmm_reference *r, const double *values, double *error)
{
    const squares s = {.count = r->count, .weight = r->weight};
    const double middle = mean(&s, values, NULL);
    double scatter = 0, weight = 0;
    for (int64_t k = 0; k < r->count; k++) scatter += pow(r->weight[k] * (values[k] - middle), 2), weight += r->weight[k];
    *error = r->count > 1 && r->count < r->all ? sqrt(scatter * (double)r->count / (double)(r->count - 1)) / weight : 0;
    return middle;
}

fmm_mean_energy fmm_reference_energy(const fmm_reference *r, const double *product)
{
    double error = 0, middle = mean_of(r, product, &error);
    return (fmm_mean_energy){fmax(fabs(middle), error) / 2, error / 2};
}

/* Compares energies, in units of the largest charge and of the potentials' root mean square. */
static void compare_energies(const fmm_reference *r, const fmm_field *field, const fmm_field_size *size, double *value, fmm_sample *sample)
{
    const double exact = size->energy, unit = size->potential;
    sample->energy = sample->energy_deviation = sample->energy_norm = NAN;
    sample->energy_size = fabs(exact) * unit * size->charge;
    if (!(fabs(exact) > 0 && unit > 0 && isfinite(unit))) return;
    for (int64_t k = 0; k < r->count; k++) value[k] = r->at->charge[k] / size->charge * (r->exact->potential[k] / unit);
    sample->energy_norm = fmm_reference_energy(r, value).size / fabs(exact);
    for (int64_t k = 0; k < r->count; k++)
        value[k] = r->at->charge[k] / size->charge * ((field->potential[r->which[k]] - r->exact->potential[k]) / unit);
    sample->energy = fabs(mean_of(r, value, &sample->energy_deviation) / (2 * exact));
    sample->energy_deviation /= fabs(2 * exact);
}

static void compare(const fmm_reference *r, const fmm_particles *particles, const fmm_field *field, squares *s, fmm_sample *sample)
{
    const fmm_field *exact = r->exact;
    const fmm_field_size size = fmm_field_measure(particles, field);
    double unit = unit_of(exact->count, (const double *const[4]){exact->potential}, size.potential);
    *sample = (fmm_sample){.count = exact->count, .force = NAN, .force_uncertainty = NAN, .force_norm = NAN};
    clear(s, pow(size.potential / unit, 2));
    add_squares(r, &(component){.is = field->potential, .should = exact->potential, .unit = unit}, s);
    sample->potential = ratio(s, &sample->potential_uncertainty, &sample->potential_norm);
    compare_energies(r, field, &size, s->error, sample);
    if (!exact->gx) return;
    const double *const is[3] = {field->gx, field->gy, field->gz}, *const should[4] = {exact->gx, exact->gy, exact->gz};
    unit = unit_of(exact->count, should, size.force);
    clear(s, pow(size.force / unit, 2));
    for (int c = 0; c < 3; c++) add_squares(r, &(component){is[c], should[c], particles->charge, size.charge, unit}, s);
    sample->force = ratio(s, &sample->force_uncertainty, &sample->force_norm);
}

yoke_status fmm_reference_compare(const fmm_reference *r, const fmm_particles *particles, const fmm_field *field, fmm_sample *sample)
{
    squares s = {.count = r->count, .weight = r->weight};
    yoke_status status = yoke_allocate(r->context, r->count, sizeof *s.error, &s.error);
    if (!status) status = yoke_allocate(r->context, r->count, sizeof *s.exact, &s.exact);
    if (!status) status = yoke_allocate(r->context, r->count, sizeof *s.computed, &s.computed);
    if (!status) compare(r, particles, field, &s, sample);
    if (!status && r->count == r->all) sample->potential_uncertainty = 0, sample->force_uncertainty *= 0; /* NaN stays */
    yoke_release(r->context, s.error);
    yoke_release(r->context, s.exact);
    yoke_release(r->context, s.computed);
    return status;
}
