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

void fmm_direct_block(const fmm_particles *particles, const fmm_particles *at, int64_t first, int64_t count, int gradient, fmm_block *block)
{
    const fmm_particles *p = particles;
    const fmm_pairs_kernel *kernel = fmm_pairs_select();
    memset(block, 0, gradient ? sizeof *block : sizeof block->potential);
    for (int64_t begin = 0; begin < p->count; begin += PART) {
        fmm_block part = {{0}, {0}, {0}, {0}};
        const fmm_sources sources = {p->count - begin < PART ? p->count - begin : PART, p->x + begin, p->y + begin, p->z + begin,
                                     p->charge + begin};
        const fmm_targets targets = {count,
                                     at->x + first,
                                     at->y + first,
                                     at->z + first,
                                     part.potential,
                                     gradient ? part.gx : NULL,
                                     gradient ? part.gy : NULL,
                                     gradient ? part.gz : NULL};
        kernel->add(&sources, &targets, p->softening);
        add(block->potential, part.potential, count);
        if (gradient) add(block->gx, part.gx, count), add(block->gy, part.gy, count), add(block->gz, part.gz, count);
    }
}

void fmm_direct_at(const fmm_particles *particles, const fmm_particles *at, int64_t begin, int64_t end, int64_t together, fmm_field *field)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = begin; first < end; first += together) {
        fmm_block block;
        const int64_t count = end - first < together ? end - first : together;
        const size_t bytes = (size_t)count * sizeof(double);
        fmm_direct_block(particles, at, first, count, field->gx != NULL, &block);
        memcpy(field->potential + first, block.potential, bytes);
        if (!field->gx) continue;
        memcpy(field->gx + first, block.gx, bytes);
        memcpy(field->gy + first, block.gy, bytes);
        memcpy(field->gz + first, block.gz, bytes);
    }
}
