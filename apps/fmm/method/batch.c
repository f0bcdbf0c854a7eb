#include "method/batch.h"

#include <string.h>

void fmm_batch_start(fmm_batch *b)
{
    b->count = b->runs = 0;
    b->kernel = fmm_pairs_select();
    b->single_kernel = fmm_single_select();
}

void fmm_batch_begin(fmm_batch *b, const fmm_method *m, int64_t leaf, int64_t first, int64_t count)
{
    b->m = m;
    b->leaf = leaf;
    b->first_target = first;
    b->targets = fmm_targets_at(m, first, count);
    b->charges = m->sorted->charge + first;
    b->mutual = false;
    if (m->is_single) fmm_single_batch_begin(b);
}

static void add_to(double *to, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] += from[i];
}

/* Adds the sums of the packed particles to those of their leaves. */
static void give_back(const fmm_batch *b)
{
    const fmm_field *f = b->m->sum;
    int64_t at = 0;
    for (int r = 0; r < b->runs; at += b->length[r++]) {
        add_to(f->potential + b->first[r], b->potential + at, b->length[r]);
        if (!f->gx) continue;
        add_to(f->gx + b->first[r], b->gx + at, b->length[r]);
        add_to(f->gy + b->first[r], b->gy + at, b->length[r]);
        add_to(f->gz + b->first[r], b->gz + at, b->length[r]);
    }
}

/* Copies `count` particles, from number `first` in the tree's order on, to entry `at` of the batch and the following entries. */
static void take(fmm_batch *b, int64_t at, int64_t first, int64_t count)
{
    const fmm_particles *p = b->m->sorted;
    const size_t bytes = (size_t)count * sizeof(double);
    memcpy(b->x + at, p->x + first, bytes);
    memcpy(b->y + at, p->y + first, bytes);
    memcpy(b->z + at, p->z + first, bytes);
    memcpy(b->charge + at, p->charge + first, bytes);
}

static void pad(fmm_batch *b)
{
    for (int64_t i = b->count; i < fmm_batch_padded(b); i++) b->x[i] = b->y[i] = b->z[i] = b->charge[i] = 0;
}

/* Adds the pairs of the batch with targets first ... first + count - 1, in double precision. */
static void meet_double(fmm_batch *b, int64_t first, int64_t count)
{
    const fmm_targets *t = &b->targets;
    const bool gradient = t->gx != NULL;
    double *const gx = gradient ? t->gx + first : NULL, *const gy = gradient ? t->gy + first : NULL,
                  *const gz = gradient ? t->gz + first : NULL;
    const double softening = b->m->sorted->softening;
    if (b->mutual) {
        const size_t bytes = (size_t)fmm_batch_padded(b) * sizeof(double);
        memset(b->potential, 0, bytes), memset(b->gx, 0, bytes), memset(b->gy, 0, bytes), memset(b->gz, 0, bytes);
        const fmm_bodies packed = {b->count, b->x, b->y, b->z, b->charge, b->potential, b->gx, b->gy, b->gz};
        const fmm_bodies others = {count, t->x + first, t->y + first, t->z + first, b->charges + first, t->potential + first, gx, gy, gz};
        b->kernel->add_mutual(&packed, &others, softening);
    } else {
        const fmm_sources sources = {b->count, b->x, b->y, b->z, b->charge};
        const fmm_targets targets = {count, t->x + first, t->y + first, t->z + first, t->potential + first, gx, gy, gz};
        b->kernel->add_packed(&sources, &targets, softening);
    }
}

/* The same for a batch that was packed in single precision: its particles are packed again. */
static void meet_in_double(fmm_batch *b, int64_t first, int64_t count)
{
    int64_t at = 0;
    for (int r = 0; r < b->runs; at += b->length[r++]) take(b, at, b->first[r], b->length[r]);
    pad(b);
    meet_double(b, first, count);
    if (b->mutual) give_back(b);
}

static void meet_single(fmm_batch *b)
{
    for (int64_t first = 0; first < b->targets.count; first += FMM_BATCH_TARGETS) {
        const int64_t left = b->targets.count - first, count = left < FMM_BATCH_TARGETS ? left : FMM_BATCH_TARGETS;
        if (!fmm_single_batch_meet(b, first, count)) meet_in_double(b, first, count);
    }
    b->single.reach = 0;
}

void fmm_batch_meet(fmm_batch *b)
{
    if (b->count == 0) return;
    if (b->m->is_single) {
        meet_single(b);
    } else {
        pad(b);
        meet_double(b, 0, b->targets.count);
        if (b->mutual) give_back(b);
    }
    b->count = b->runs = 0;
}

/* Records a range of particles of the batch.  A range that follows the last one directly is merged with it. */
static void add_run(fmm_batch *b, int64_t first, int64_t length)
{
    b->count += length;
    if (b->runs > 0 && b->first[b->runs - 1] + b->length[b->runs - 1] == first) {
        b->length[b->runs - 1] += length;
        return;
    }
    b->first[b->runs] = first;
    b->length[b->runs++] = length;
}

void fmm_batch_add(fmm_batch *b, int64_t leaf)
{
    const int32_t *particle = b->m->tree->leaves.particle;
    for (int64_t i = particle[leaf], some; i < particle[leaf + 1]; i += some) {
        if (b->count == FMM_BATCH || b->runs == FMM_BATCH_RUNS) fmm_batch_meet(b);
        some = particle[leaf + 1] - i < FMM_BATCH - b->count ? particle[leaf + 1] - i : FMM_BATCH - b->count;
        if (b->m->is_single)
            fmm_single_batch_add(b, leaf, i, some);
        else
            take(b, b->count, i, some);
        add_run(b, i, some);
    }
}
