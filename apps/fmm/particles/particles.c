#include "particles/particles.h"

yoke_status fmm_particles_create(yoke_context *context, int64_t count, fmm_particles **particles)
{
    fmm_particles *created = NULL;
    if (count < 0 || count > FMM_MAX_PARTICLES)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%lld particles; there may be 0 to %d", (long long)count, FMM_MAX_PARTICLES);
    yoke_status status = yoke_allocate(context, 1, sizeof *created, &created);
    if (status) return status;
    *created = (fmm_particles){.context = context, .count = count};
    status = yoke_allocate(context, count, sizeof *created->x, &created->x);
    if (!status) status = yoke_allocate(context, count, sizeof *created->y, &created->y);
    if (!status) status = yoke_allocate(context, count, sizeof *created->z, &created->z);
    if (!status) status = yoke_allocate(context, count, sizeof *created->charge, &created->charge);
    if (status)
        fmm_particles_destroy(created);
    else
        *particles = created;
    return status;
}

void fmm_particles_destroy(fmm_particles *particles)
{
    if (!particles) return;
    yoke_context *context = particles->context;
    yoke_release(context, particles->x);
    yoke_release(context, particles->y);
    yoke_release(context, particles->z);
    yoke_release(context, particles->charge);
    yoke_release(context, particles);
}
