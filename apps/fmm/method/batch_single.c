/*
 * batch_single.c - sums of a batch in single precision.
 *
 * Rounding moves a position by a small fraction of the reach of the batch (the largest coordinate).  Close pairs, whose distance is below
 * reach / FMM_BATCH_LEAST, are therefore summed in double precision.
 */
#include <math.h>
#include <string.h>

#include "method/batch.h"

/* Coordinates of the padding behind the last particle, which has charges of 0. */
static const float far_away = 1e6f;
/* Maximum reach, in units of the edge of the targets' leaf: positions in much larger leaves have too large errors. */
static const float most_reach = 16;

void fmm_rounded_destroy(fmm_method *m)
{
    for (int c = 0; c < 4; c++) yoke_release(m->context, m->rounded.at[c]);
    yoke_release(m->context, m->rounded.centre);
    m->rounded = (fmm_rounded){0};
}

/* Sets the padding, which fmm_rounded_fill does not write. */
static void set_padding(fmm_method *m)
{
    for (int c = 0; c < 4; c++) memset(m->rounded.at[c] + m->tree->count, 0, FMM_SINGLE_PACK * sizeof *m->rounded.at[c]);
}

/* Requests the memory of all arrays from the system. */
static void get_memory(fmm_method *m)
{
    for (int c = 0; c < 4; c++) fmm_pages_get(m->rounded.at[c], (size_t)m->tree->count * sizeof *m->rounded.at[c], m->memory);
    fmm_pages_get(m->rounded.centre, (size_t)m->tree->leaves.count * sizeof *m->rounded.centre, m->memory);
}

yoke_status fmm_rounded_create(fmm_method *m)
{
    yoke_status status = YOKE_OK;
    if (m->rounded.centre) return status;
    for (int c = 0; c < 4 && !status; c++)
        status = yoke_allocate_untouched(m->context, m->tree->count + FMM_SINGLE_PACK, sizeof *m->rounded.at[c], &m->rounded.at[c]);
    if (!status) status = yoke_allocate_untouched(m->context, m->tree->leaves.count, sizeof *m->rounded.centre, &m->rounded.centre);
    if (status) {
        fmm_rounded_destroy(m);
        return status;
    }
    set_padding(m);
    if (m->memory) get_memory(m);
    return YOKE_OK;
}

/* Rounds the particles of all leaves, relative to the centres of the leaves. */
void fmm_rounded_fill(fmm_method *m, int threads)
{
    const fmm_single_kernel *kernel = fmm_single_select();
    const fmm_leaves *leaves = &m->tree->leaves;
    const double *const from[3] = {m->sorted->x, m->sorted->y, m->sorted->z};
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t l = 0; l < leaves->count; l++) {
        const int64_t first = leaves->particle[l], count = leaves->particle[l + 1] - first;
        double *const centre = m->rounded.centre[l];
        fmm_tree_centre(m->tree, leaves->level[l], leaves->cell[l], centre);
        for (int c = 0; c < 3; c++)
            kernel->round(count, from[c] + first, centre[c], 1 / fmm_tree_edge(m->tree, leaves->level[l]), m->rounded.at[c] + first);
        kernel->round(count, m->sorted->charge + first, 0, 1, m->rounded.at[3] + first);
    }
}

void fmm_single_batch_begin(fmm_batch *b)
{
    b->single.scale = 1 / fmm_tree_edge(b->m->tree, b->m->tree->leaves.level[b->leaf]);
    b->single.reach = 0;
}

void fmm_single_batch_add(fmm_batch *b, int64_t leaf, int64_t first, int64_t some)
{
    const fmm_rounded *from = &b->m->rounded;
    const unsigned char *level = b->m->tree->leaves.level;
    fmm_single_batch *s = &b->single;
    float *const to[3] = {s->x, s->y, s->z};
    const float scale = level[leaf] == level[b->leaf] ? 1 : (float)ldexp(1, level[b->leaf] - level[leaf]);
    for (int c = 0; c < 3; c++) {
        const float offset = (float)((from->centre[leaf][c] - from->centre[b->leaf][c]) * s->scale), reach = fabsf(offset) + scale / 2;
        b->single_kernel->take(some, from->at[c] + first, scale, offset, to[c] + b->count);
        if (reach > s->reach) s->reach = reach;
    }
    b->single_kernel->take(some, from->at[3] + first, 1, 0, s->charge + b->count);
}

static void add_sums(const fmm_batch *b, int64_t first, int64_t count)
{
    const fmm_targets *t = &b->targets;
    const double scale = b->single.scale, slope = scale * scale;
    for (int64_t i = 0; i < count; i++) {
        const float *sum = b->single.sum[i];
        t->potential[first + i] += scale * (double)sum[0];
        if (!t->gx) continue;
        t->gx[first + i] += slope * (double)sum[1];
        t->gy[first + i] += slope * (double)sum[2];
        t->gz[first + i] += slope * (double)sum[3];
    }
}

/* Adds the sums over the targets to those of the packed particles. */
static void give_back(const fmm_batch *b)
{
    const fmm_field *f = b->m->sum;
    const fmm_single_batch *s = &b->single;
    const double scale = s->scale, slope = scale * scale;
    for (int64_t r = 0, at = 0; r < b->runs; at += b->length[r++]) {
        const int64_t first = b->first[r], count = b->length[r];
        b->single_kernel->give(count, s->potential + at, scale, f->potential + first);
        if (!f->gx) continue;
        b->single_kernel->give(count, s->gx + at, slope, f->gx + first);
        b->single_kernel->give(count, s->gy + at, slope, f->gy + first);
        b->single_kernel->give(count, s->gz + at, slope, f->gz + first);
    }
}

/* Returns the number, in the tree's order, of a particle of the batch. */
static int64_t find(const fmm_batch *b, int64_t packed)
{
    int r = 0;
    for (; packed >= b->length[r]; r++) packed -= b->length[r];
    return b->first[r] + packed;
}

/* Adds the potential and gradient of charge j at particle i; d is the vector from j to i, `inverse` its reciprocal length. */
static void add_pair(const fmm_method *m, int64_t i, int64_t j, const double d[3], double inverse)
{
    const fmm_field *f = m->sum;
    const double share = m->sorted->charge[j] * inverse, slope = share * inverse * inverse;
    f->potential[i] += share;
    if (f->gx) f->gx[i] -= slope * d[0], f->gy[i] -= slope * d[1], f->gz[i] -= slope * d[2];
}

/* Adds the pair of a target and a particle of the batch, in double precision.  Particles at the same position are omitted. */
static void add_close(const fmm_batch *b, int64_t target, int64_t packed)
{
    static const double least_square = 0x1p-1022;
    const fmm_particles *p = b->m->sorted;
    const int64_t i = b->first_target + target, j = find(b, packed);
    const double d[3] = {p->x[i] - p->x[j], p->y[i] - p->y[j], p->z[i] - p->z[j]}, back[3] = {-d[0], -d[1], -d[2]};
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (!(square >= least_square)) return;
    add_pair(b->m, i, j, d, 1 / sqrt(square));
    if (b->mutual) add_pair(b->m, j, i, back, 1 / sqrt(square));
}

/* *own: the number of target `first` among the packed particles, or FMM_NONE_OWN.  Returns false if the batch contains only some of the
 * targets. */
static bool find_own(const fmm_batch *b, int64_t first, int64_t count, int64_t *own)
{
    const int64_t from = b->first_target + first;
    *own = FMM_NONE_OWN;
    if (b->mutual) return true;
    for (int64_t r = 0, at = 0; r < b->runs; at += b->length[r++]) {
        if (from + count <= b->first[r] || from >= b->first[r] + b->length[r]) continue;
        *own = at + from - b->first[r];
        return from >= b->first[r] && from + count <= b->first[r] + b->length[r];
    }
    return true;
}

bool fmm_single_batch_meet(fmm_batch *b, int64_t first, int64_t count)
{
    enum { SOME = 8, FEW = 8 };
    fmm_single_batch *s = &b->single;
    const fmm_single_kernel *kernel = b->single_kernel;
    const fmm_rounded *from = &b->m->rounded;
    const int64_t at = b->first_target + first, some = FEW + fmm_batch_padded(b) / FMM_SINGLE_PACK * count / SOME;
    fmm_single_limits limits = {.square = s->reach / FMM_BATCH_LEAST * (s->reach / FMM_BATCH_LEAST),
                                .close = some < FMM_BATCH_CLOSE ? some : FMM_BATCH_CLOSE};
    if (s->reach > most_reach || !find_own(b, first, count, &limits.own)) return false;
    for (int64_t i = b->count; i < fmm_batch_padded(b); i++) {
        s->x[i] = s->y[i] = s->z[i] = far_away;
        s->charge[i] = 0;
    }
    const fmm_single_packed packed = {b->count, s->x, s->y, s->z, s->charge, s->potential, s->gx, s->gy, s->gz};
    const fmm_single_targets targets = {count, from->at[0] + at, from->at[1] + at, from->at[2] + at, from->at[3] + at, s->sum};
    const int64_t told = (b->mutual ? kernel->add_both : kernel->add)(&packed, &targets, b->targets.gx != NULL, &limits, s->close);
    if (told < 0) return false;
    add_sums(b, first, count);
    if (b->mutual) give_back(b);
    for (int64_t k = 0; k < told; k++)
        for (uint32_t left = s->close[k].which; left; left &= left - 1)
            add_close(b, first + s->close[k].target, s->close[k].packed + __builtin_ctz(left));
    return true;
}
