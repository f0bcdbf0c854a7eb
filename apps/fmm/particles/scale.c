#include "particles/scale.h"

#include <float.h>
#include <math.h>

/* The largest absolute value, or `least` where that is larger. */
static double largest_of(int64_t count, const double *values, double least)
{
    double largest = least;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(values[i]));
    return largest;
}

/* The least e with value < 2^e; 0 for 0. */
static int exponent(double value)
{
    int e = 0;
    frexp(value, &e);
    return e;
}

static double coordinate(double value, int length)
{
    double scaled = ldexp(value, -length);
    return fabs(scaled) < 0x1p-459 ? 0 : scaled; /* the others differ by 2^-511 at least, whose square is a normal number */
}

/* The first particle whose charge is lost beside the largest; count: none. */
static int64_t lost_charge(const fmm_particles *particles, const fmm_particles *scaled)
{
    int64_t lost = particles->count;
#pragma omp parallel for schedule(static) reduction(min : lost)
    for (int64_t i = 0; i < particles->count; i++)
        if (particles->charge[i] != 0 && fabs(scaled->charge[i]) < DBL_MIN && i < lost) lost = i;
    return lost;
}

yoke_status fmm_scale_create(const fmm_particles *particles, fmm_scale *scale, fmm_particles **scaled)
{
    int64_t n = particles->count;
    fmm_particles *created = NULL;
    yoke_status status = fmm_particles_create(particles->context, n, &created);
    if (status) return status;
    scale->length = exponent(largest_of(n, particles->x, largest_of(n, particles->y, largest_of(n, particles->z, 0))));
    scale->charge = exponent(largest_of(n, particles->charge, 0));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        created->x[i] = coordinate(particles->x[i], scale->length);
        created->y[i] = coordinate(particles->y[i], scale->length);
        created->z[i] = coordinate(particles->z[i], scale->length);
        created->charge[i] = ldexp(particles->charge[i], -scale->charge);
    }
    int64_t lost = lost_charge(particles, created);
    if (lost < n) {
        fmm_particles_destroy(created);
        return yoke_fail(particles->context, YOKE_ERROR_INPUT,
                         "the charge of particle %lld, %g, is less than 1e-307 of the largest: it cannot be summed beside that; make it 0",
                         (long long)lost + 1, particles->charge[lost]);
    }
    *scaled = created;
    return YOKE_OK;
}

yoke_status fmm_scale_field(const fmm_particles *particles, fmm_scale scale, fmm_field *field)
{
    int64_t bad = field->count;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < field->count; i++) {
        field->potential[i] = ldexp(field->potential[i], scale.charge - scale.length);
        if (!isfinite(field->potential[i]) && i < bad) bad = i;
        double *const slopes[3] = {field->gx, field->gy, field->gz};
        for (int c = 0; c < 3 && field->gx; c++) {
            slopes[c][i] = ldexp(slopes[c][i], scale.charge - 2 * scale.length);
            if (!isfinite(particles->charge[i] * slopes[c][i]) && i < bad) bad = i;
        }
    }
    if (bad == field->count) return YOKE_OK;
    return yoke_fail(
        particles->context, YOKE_ERROR_NUMERIC,
        "the potential or the force of particle %lld is larger than the largest double: choose other units for positions or charges",
        (long long)bad + 1);
}
