#include "near/direct_block.h"

#include <string.h>

#include "near/kernels/pairs.h"

/* Number of sources whose sum is formed separately.  With the kernel's tiles sums have three levels, so that rounding errors grow
 * little. */
enum { PART = 8192 };

static void add(double *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

void fmm_direct_block(const fmm_particles *particles, int64_t first, int64_t count, int gradient, fmm_block *block)
{
    const fmm_particles *p = particles;
    const fmm_pairs_kernel *kernel = fmm_pairs_select();
    memset(block, 0, gradient ? sizeof *block : sizeof block->potential);
    for (int64_t begin = 0; begin < p->count; begin += PART) {
        fmm_block part = {{0}, {0}, {0}, {0}};
        const fmm_sources sources = {p->count - begin < PART ? p->count - begin : PART, p->x + begin, p->y + begin, p->z + begin,
                                     p->charge + begin};
        const fmm_targets targets = {count,
                                     p->x + first,
                                     p->y + first,
                                     p->z + first,
                                     part.potential,
                                     gradient ? part.gx : NULL,
                                     gradient ? part.gy : NULL,
                                     gradient ? part.gz : NULL};
        kernel->add(&sources, &targets, p->softening);
        add(block->potential, part.potential, count);
        if (gradient) add(block->gx, part.gx, count), add(block->gy, part.gy, count), add(block->gz, part.gz, count);
    }
}

void fmm_direct_range(const fmm_particles *particles, int64_t begin, int64_t end, fmm_field *field)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = begin; first < end; first += FMM_BLOCK) {
        fmm_block block;
        const int64_t count = end - first < FMM_BLOCK ? end - first : FMM_BLOCK;
        const size_t bytes = (size_t)count * sizeof(double);
        fmm_direct_block(particles, first, count, field->gx != NULL, &block);
        memcpy(field->potential + first, block.potential, bytes);
        if (!field->gx) continue;
        memcpy(field->gx + first, block.gx, bytes);
        memcpy(field->gy + first, block.gy, bytes);
        memcpy(field->gz + first, block.gz, bytes);
    }
}

/* ------------------------------------------------------------------------------------------- few positions */

enum {
    SEGMENTS = 128,  /* maximum number of segments of the sources, whose sums are formed separately */
    SHORTEST = 1024, /* minimum number of sources of a segment */
    PLACES = 1024    /* maximum number of positions that are processed together, which bounds the memory for these sums */
};

/* The sums at the positions first ... first + count - 1.  sums: room for those of all segments. */
static void sum_at(const fmm_particles *p, const fmm_particles *at, int64_t first, int64_t count, double *sums, fmm_field *field)
{
    double *const to[4] = {field->potential, field->gx, field->gy, field->gz};
    const int arrays = field->gx ? 4 : 1;
    const int64_t length = p->count / SEGMENTS + SHORTEST, segments = (p->count + length - 1) / length;
    memset(sums, 0, (size_t)(segments * arrays * count) * sizeof *sums);
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < segments; s++) {
        const int64_t begin = s * length, end = s < segments - 1 ? begin + length : p->count;
        double *sum = sums + s * arrays * count;
        const fmm_sources sources = {end - begin, p->x + begin, p->y + begin, p->z + begin, p->charge + begin};
        const fmm_targets targets = {count,
                                     at->x + first,
                                     at->y + first,
                                     at->z + first,
                                     sum,
                                     arrays > 1 ? sum + count : NULL,
                                     arrays > 1 ? sum + 2 * count : NULL,
                                     arrays > 1 ? sum + 3 * count : NULL};
        fmm_pairs_select()->add(&sources, &targets, p->softening);
    }
    for (int a = 0; a < arrays; a++) {
        memset(to[a] + first, 0, (size_t)count * sizeof *to[a]);
        for (int64_t s = 0; s < segments; s++) add(to[a] + first, sums + (s * arrays + a) * count, count);
    }
}

yoke_status fmm_direct_at(const fmm_particles *particles, const fmm_particles *at, const fmm_stop *stop, fmm_field *field)
{
    const int64_t together = at->count < PLACES ? at->count : PLACES;
    double *sums = NULL;
    yoke_status status = yoke_allocate_untouched(particles->context, SEGMENTS * together * (field->gx ? 4 : 1), sizeof *sums, &sums);
    for (int64_t first = 0; first < at->count && !status; first += PLACES) {
        sum_at(particles, at, first, at->count - first < PLACES ? at->count - first : PLACES, sums, field);
        if (fmm_stops(stop)) status = stop->fail(stop->user);
    }
    yoke_release(particles->context, sums);
    return status;
}
