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
    status = yoke_allocate(context, count, sizeof *created->potential, &created->potential);
    if (!status && gradient) status = yoke_allocate(context, count, sizeof *created->gx, &created->gx);
    if (!status && gradient) status = yoke_allocate(context, count, sizeof *created->gy, &created->gy);
    if (!status && gradient) status = yoke_allocate(context, count, sizeof *created->gz, &created->gz);
    if (status)
        fmm_field_destroy(created);
    else
        *field = created;
    return status;
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

/* Neumaier's summation: *low is what *sum lost. */
static void add(double *sum, double *low, double term)
{
    double next = *sum + term;
    *low += fabs(*sum) >= fabs(term) ? *sum - next + term : term - next + *sum;
    *sum = next;
}

/* What is left without the correction is an infinite sum, of which the correction is no number. */
static double total(double sum, double low) { return isfinite(sum) ? sum + low : sum; }

double fmm_field_energy(const fmm_particles *particles, const fmm_field *field)
{
    double sum = 0, low = 0;
    for (int64_t i = 0; i < field->count; i++) add(&sum, &low, 0.5 * particles->charge[i] * field->potential[i]);
    return total(sum, low);
}

fmm_total_force fmm_field_total_force(const fmm_particles *particles, const fmm_field *field)
{
    double sum[3] = {0}, low[3] = {0}, lengths = 0;
    for (int64_t i = 0; i < field->count; i++) {
        const double gradient[3] = {field->gx[i], field->gy[i], field->gz[i]};
        for (int c = 0; c < 3; c++) add(&sum[c], &low[c], -particles->charge[i] * gradient[c]);
        lengths += fabs(particles->charge[i]) * hypot(hypot(gradient[0], gradient[1]), gradient[2]);
    }
    return (fmm_total_force){{total(sum[0], low[0]), total(sum[1], low[1]), total(sum[2], low[2])}, lengths};
}
