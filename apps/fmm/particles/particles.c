#include "particles/particles.h"

#include <math.h>

yoke_status fmm_zeros_create(yoke_context *context, int64_t count, double **values)
{
    double *created = NULL;
    yoke_status status = yoke_allocate_untouched(context, count, sizeof *created, &created);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) created[i] = 0;
    *values = created;
    return YOKE_OK;
}

yoke_status fmm_particles_create_unplaced(yoke_context *context, int64_t count, fmm_particles **particles)
{
    fmm_particles *created = NULL;
    if (count < 0 || count > FMM_MAX_PARTICLES)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld particles; there may be 0 to %d", (long long)count, FMM_MAX_PARTICLES);
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_particles){.context = context, .count = count, .notes = {.step = -1, .time = NAN}};
    status = yoke_allocate_untouched(context, count, sizeof *created->x, &created->x);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *created->y, &created->y);
    if (!status) status = yoke_allocate_untouched(context, count, sizeof *created->z, &created->z);
    if (!status) status = fmm_zeros_create(context, count, &created->charge);
    if (status)
        fmm_particles_destroy(created);
    else
        *particles = created;
    return status;
}

yoke_status fmm_particles_create(yoke_context *context, int64_t count, fmm_particles **particles)
{
    fmm_particles *created = NULL;
    yoke_status status = fmm_particles_create_unplaced(context, count, &created);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) created->x[i] = created->y[i] = created->z[i] = 0;
    *particles = created;
    return YOKE_OK;
}

void fmm_particles_destroy(fmm_particles *particles)
{
    if (!particles) return;
    yoke_context *context = particles->context;
    yoke_release(context, particles->x);
    yoke_release(context, particles->y);
    yoke_release(context, particles->z);
    yoke_release(context, particles->charge);
    yoke_release(context, particles->notes.kinds);
    yoke_release(context, particles->notes.comment);
    yoke_release(context, particles);
}
