#include "particles/field.h"

#include <math.h>

yoke_status fmm_field_create(yoke_context *context, int64_t count, int gradient, fmm_field **field)
{
    fmm_field *created = NULL;
    if (count < 0 || count > FMM_MAX_PARTICLES)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld particles; there may be 0 to %d", (long long)count, FMM_MAX_PARTICLES);
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_field){.context = context, .count = count};
    double **const values[4] = {&created->potential, &created->gx, &created->gy, &created->gz};
    for (int c = 0; c < (gradient ? 4 : 1) && !status; c++) status = yoke_allocate_untouched(context, count, sizeof **values[c], values[c]);
    if (status) {
        fmm_field_destroy(created);
        return status;
    }
    fmm_field_set_to_zero(created);
    *field = created;
    return YOKE_OK;
}

void fmm_field_set_to_zero(fmm_field *field)
{
    double *const values[4] = {field->potential, field->gx, field->gy, field->gz};
    for (int c = 0; c < 4 && values[c]; c++) {
        double *value = values[c];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < field->count; i++) value[i] = 0;
    }
}

void fmm_field_destroy(fmm_field *field)
{
    if (!field) return;
    yoke_context *context = field->context;
    yoke_release(context, field->potential);
    yoke_release(context, field->gx);
    yoke_release(context, field->gy);
    yoke_release(context, field->gz);
    yoke_release(context, field);
}

void fmm_field_force(const fmm_particles *particles, const fmm_field *field, int64_t i, double force[3])
{
    const double q = particles->charge[i], gradient[3] = {field->gx[i], field->gy[i], field->gz[i]};
    for (int c = 0; c < 3; c++) force[c] = 0.0 - q * gradient[c];
}

/* Number of parts of sums, which threads compute.  It does not depend on the number of threads. */
enum { PARTS = 256 };

/* Neumaier's summation: `low` is the sum of the rounding errors of `high`. */
typedef struct sum {
    double high, low;
} sum;

static void add(sum *s, double term)
{
    double next = s->high + term;
    s->low += fabs(s->high) >= fabs(term) ? s->high - next + term : term - next + s->high;
    s->high = next;
}

static void add_parts(sum *s, const sum *parts)
{
    for (int k = 0; k < PARTS; k++) {
        add(s, parts[k].high);
        s->low += parts[k].low;
    }
}

/* If the sum is infinite, its correction is NaN and is not added. */
static double total(const sum *s) { return isfinite(s->high) ? s->high + s->low : s->high; }

double fmm_field_energy(const fmm_particles *particles, const fmm_field *field)
{
    sum parts[PARTS], all = {0};
#pragma omp parallel for schedule(static)
    for (int k = 0; k < PARTS; k++) {
        int64_t last = field->count * (k + 1) / PARTS;
        sum part = {0};
        for (int64_t i = field->count * k / PARTS; i < last; i++) add(&part, 0.5 * particles->charge[i] * field->potential[i]);
        parts[k] = part;
    }
    add_parts(&all, parts);
    return total(&all);
}

/* hypot is slow, but it neither overflows nor underflows. */
static double length_of(const double v[3])
{
    double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    return square > 1e-280 && square < 1e280 ? sqrt(square) : hypot(hypot(v[0], v[1]), v[2]);
}

fmm_total_force fmm_field_total_force(const fmm_particles *particles, const fmm_field *field)
{
    sum parts[3][PARTS], all[3] = {{0}};
    double part_lengths[PARTS], lengths = 0;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < PARTS; k++) {
        int64_t last = field->count * (k + 1) / PARTS;
        sum part[3] = {{0}};
        double length = 0;
        for (int64_t i = field->count * k / PARTS; i < last; i++) {
            const double gradient[3] = {field->gx[i], field->gy[i], field->gz[i]};
            for (int c = 0; c < 3; c++) add(&part[c], -particles->charge[i] * gradient[c]);
            length += fabs(particles->charge[i]) * length_of(gradient);
        }
        for (int c = 0; c < 3; c++) parts[c][k] = part[c];
        part_lengths[k] = length;
    }
    for (int c = 0; c < 3; c++) add_parts(&all[c], parts[c]);
    for (int k = 0; k < PARTS; k++) lengths += part_lengths[k];
    return (fmm_total_force){{total(&all[0]), total(&all[1]), total(&all[2])}, lengths};
}

/* A sum of squares in units of the square of `unit`, the largest value. */
typedef struct squares {
    double unit, sum;
} squares;

static double root_mean(const squares *parts, int count, int64_t particles)
{
    double unit = 0, total_square = 0;
    for (int k = 0; k < count; k++) unit = fmax(unit, parts[k].unit);
    for (int k = 0; k < count; k++)
        if (parts[k].unit > 0) total_square += parts[k].sum * pow(parts[k].unit / unit, 2);
    return particles > 0 ? unit * sqrt(total_square / (double)particles) : 0;
}

/* Squares of values [first ... last), multiplied by charges in units of `most` if charges are given. */
static squares square_part(const double *values, const double *charge, double most, int64_t first, int64_t last)
{
    squares s = {0};
    for (int64_t i = first; i < last; i++) {
        const double size = fabs(charge ? charge[i] / most * values[i] : values[i]);
        s.unit = size > s.unit ? size : s.unit; /* fmax would be a function call */
    }
    if (!(s.unit > 0)) return s;
    for (int64_t i = first; i < last; i++) {
        double value = (charge ? charge[i] / most * values[i] : values[i]) / s.unit;
        s.sum += value * value;
    }
    return s;
}

static double product_part(const double *charge, double most, const double *potential, double unit, int64_t first, int64_t last)
{
    double part = 0;
    for (int64_t i = first; i < last; i++) part += charge[i] / most * (potential[i] / unit);
    return part;
}

fmm_field_size fmm_field_measure(const fmm_particles *particles, const fmm_field *field)
{
    const double *charge = particles->charge, *const gradient[3] = {field->gx, field->gy, field->gz};
    fmm_field_size size = {.force = NAN};
    squares potential[PARTS], force[3 * PARTS];
    const int64_t count = field->count;
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < count; i++) most = fabs(charge[i]) > most ? fabs(charge[i]) : most;
    size.charge = most > 0 ? most : 1;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < PARTS; k++) {
        const int64_t first = count * k / PARTS, last = count * (k + 1) / PARTS;
        potential[k] = square_part(field->potential, NULL, 1, first, last);
        for (int c = 0; c < 3 && field->gx; c++) force[3 * k + c] = square_part(gradient[c], charge, size.charge, first, last);
    }
    size.potential = root_mean(potential, PARTS, count);
    double product[PARTS], all = 0;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < PARTS; k++)
        product[k] = product_part(charge, size.charge, field->potential, size.potential, count * k / PARTS, count * (k + 1) / PARTS);
    for (int k = 0; k < PARTS; k++) all += product[k];
    size.energy = size.potential > 0 ? all / (2 * (double)count) : 0;
    if (field->gx) size.force = root_mean(force, 3 * PARTS, count);
    return size;
}
