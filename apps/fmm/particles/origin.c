#include "particles/origin.h"

#include <math.h>

#include "particles/scale.h"

/* Returns by how much a coordinate with this range is moved; 0: not at all. */
static double shift_of(double low, double high)
{
    static const double far = 8;
    const double least = low > 0 ? low : high < 0 ? high : 0;
    return fabs(least) >= far * (high - low) ? least : 0;
}

yoke_status fmm_move_to_origin(const fmm_particles *particles, fmm_moved *moved)
{
    const fmm_extent extent = fmm_extent_of(particles);
    yoke_status status = YOKE_OK;
    *moved = (fmm_moved){.particles = *particles};
    double **const to[3] = {&moved->particles.x, &moved->particles.y, &moved->particles.z};
    for (int c = 0; c < 3 && !status; c++) {
        const double shift = shift_of(extent.low[c], extent.high[c]), *from = *to[c];
        if (shift == 0) continue;
        status = yoke_allocate_untouched(particles->context, particles->count, sizeof(double), &moved->own[c]);
        if (status) break;
        *to[c] = moved->own[c];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < particles->count; i++) moved->own[c][i] = from[i] - shift;
    }
    if (status) fmm_moved_destroy(moved);
    return status;
}

void fmm_moved_destroy(fmm_moved *moved)
{
    for (int c = 0; c < 3; c++) yoke_release(moved->particles.context, moved->own[c]);
    *moved = (fmm_moved){.particles = {.context = moved->particles.context}};
}
