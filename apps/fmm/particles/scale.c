#include "particles/scale.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The largest absolute value, or `least` if that is larger. */
static double largest_of(int64_t count, const double *values, double least)
{
    double largest = least;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int64_t i = 0; i < count; i++) largest = fabs(values[i]) > largest ? fabs(values[i]) : largest;
    return largest;
}

/* The least e with value < 2^e; 0 for 0. */
static int exponent(double value)
{
    int e = 0;
    frexp(value, &e);
    return e;
}

fmm_power fmm_power_of(int exponent) { return (fmm_power){exponent, abs(exponent) <= 1000 ? ldexp(1, exponent) : 0}; }

fmm_extent fmm_extent_of(const fmm_particles *p)
{
    double x0 = INFINITY, y0 = INFINITY, z0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY, z1 = -INFINITY;
    if (p->count == 0) return (fmm_extent){{0}, {0}};
#pragma omp parallel for schedule(static) reduction(min : x0, y0, z0) reduction(max : x1, y1, z1)
    for (int64_t i = 0; i < p->count; i++) {
        const double x = p->x[i], y = p->y[i], z = p->z[i];
        x0 = x < x0 ? x : x0, y0 = y < y0 ? y : y0, z0 = z < z0 ? z : z0; /* fmin and fmax would be function calls */
        x1 = x > x1 ? x : x1, y1 = y > y1 ? y : y1, z1 = z > z1 ? z : z1;
    }
    return (fmm_extent){{x0, y0, z0}, {x1, y1, z1}};
}

int fmm_scale_length(const fmm_particles *particles, const fmm_extent *extent)
{
    double largest = particles->softening;
    for (int c = 0; c < 3; c++) largest = fmax(largest, fmax(fabs(extent->low[c]), fabs(extent->high[c])));
    return exponent(largest);
}

/* The first particle whose charge is too small relative to the largest one; count: none. */
static int64_t lost_charge(int64_t count, const double *charge, const double *scaled)
{
    int64_t lost = count;
#pragma omp parallel for schedule(static) reduction(min : lost)
    for (int64_t i = 0; i < count; i++)
        if (charge[i] != 0 && fabs(scaled[i]) < DBL_MIN && i < lost) lost = i;
    return lost;
}

void fmm_scale_positions(const fmm_particles *particles, int *length, fmm_particles *scaled)
{
    const int64_t n = particles->count;
    const fmm_extent extent = fmm_extent_of(particles);
    const fmm_power unit = fmm_power_of(-fmm_scale_length(particles, &extent));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        scaled->x[i] = fmm_scale_coordinate(particles->x[i], unit);
        scaled->y[i] = fmm_scale_coordinate(particles->y[i], unit);
        scaled->z[i] = fmm_scale_coordinate(particles->z[i], unit);
    }
    scaled->softening = fmm_times(particles->softening, unit);
    *length = -unit.exponent;
}

yoke_status fmm_scale_check_softening(const fmm_particles *particles, double scaled)
{
    static const double least = 1e-90; /* its third power is a normal number */
    if (!(particles->softening > 0) || scaled >= least) return YOKE_OK;
    return yoke_fail(particles->context, YOKE_ERROR_INPUT,
                     "a softening of %g is less than %g of the largest coordinate: it cannot be summed beside that; choose a larger one",
                     particles->softening, least);
}

yoke_status fmm_scale_charges(yoke_context *context, int64_t count, const double *charge, int *exponent_of, double *scaled)
{
    int e = exponent(largest_of(count, charge, 0));
    const fmm_power unit = fmm_power_of(-e);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) scaled[i] = fmm_times(charge[i], unit);
    int64_t lost = lost_charge(count, charge, scaled);
    if (lost < count)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "the charge of particle %lld, %g, is less than 1e-307 of the largest: it cannot be summed beside that; make it 0",
                         (long long)lost + 1, charge[lost]);
    *exponent_of = e;
    return YOKE_OK;
}

yoke_status fmm_scale_create(const fmm_particles *particles, fmm_scale *scale, fmm_particles **scaled)
{
    fmm_particles *created = NULL;
    yoke_status status = fmm_particles_create(particles->context, particles->count, &created);
    if (status) return status;
    fmm_scale_positions(particles, &scale->length, created);
    status = fmm_scale_check_softening(particles, created->softening);
    if (!status) status = fmm_scale_charges(particles->context, particles->count, particles->charge, &scale->charge, created->charge);
    if (status)
        fmm_particles_destroy(created);
    else
        *scaled = created;
    return status;
}

yoke_status fmm_scale_field(const double *charge, const int64_t *number, fmm_scale scale, fmm_field *field)
{
    int64_t bad = field->count;
    const fmm_power unit = fmm_power_of(scale.charge - scale.length), slope_unit = fmm_power_of(scale.charge - 2 * scale.length);
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < field->count; i++) {
        field->potential[i] = fmm_times(field->potential[i], unit);
        if (!isfinite(field->potential[i]) && i < bad) bad = i;
        double *const slopes[3] = {field->gx, field->gy, field->gz};
        for (int c = 0; c < 3 && field->gx; c++) {
            slopes[c][i] = fmm_times(slopes[c][i], slope_unit);
            if (!isfinite(charge[i] * slopes[c][i]) && i < bad) bad = i;
        }
    }
    if (bad == field->count) return YOKE_OK;
    return yoke_fail(
        field->context, YOKE_ERROR_INPUT,
        "the potential or the force of particle %lld is larger than the largest double: choose other units for positions or charges",
        (long long)(number ? number[bad] : bad) + 1);
}
