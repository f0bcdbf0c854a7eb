#include "method/turns.h"

#include <omp.h>

/* The first number whose first particle is not before that of a part. */
static int64_t begin_of(const fmm_turns *t, int part)
{
    const int64_t particle = t->loops->particles * part / t->parts;
    int64_t low = t->first, high = t->last;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (t->particle[middle * t->stride] < particle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int part_of(const fmm_turns *t) { return (t->own + t->part) % t->parts; }

static void enter_part(fmm_turns *t)
{
    const int part = part_of(t);
    t->begin = begin_of(t, part);
    t->end = part + 1 < t->parts ? begin_of(t, part + 1) : t->last;
}

static fmm_turns begin(fmm_loops *loops, int loop, const int32_t *particle, int64_t stride, int64_t first, int64_t last)
{
    const int threads = omp_get_num_threads(), parts = threads < FMM_MOST_PARTS ? threads : FMM_MOST_PARTS;
    fmm_turns t = {.loops = loops,
                   .loop = loop,
                   .parts = parts,
                   .own = omp_get_thread_num() % parts,
                   .particle = particle,
                   .stride = stride,
                   .first = first,
                   .last = last};
    enter_part(&t);
    return t;
}

fmm_turns fmm_turns_of_leaves(fmm_loops *loops, int loop, const fmm_method *m)
{
    return begin(loops, loop, m->tree->leaves.particle, 1, 0, m->tree->leaves.count);
}

fmm_turns fmm_turns_of_siblings(fmm_loops *loops, int loop, const fmm_siblings *siblings, int64_t first, int64_t last)
{
    return begin(loops, loop, &siblings->particle, sizeof *siblings / sizeof(int32_t), first, last);
}

bool fmm_turns_next(fmm_turns *t, int64_t some, int64_t *from, int64_t *to)
{
    if (fmm_stops(t->loops->stop)) return false;
    for (;;) {
        int64_t *const next = &t->loops->taken[part_of(t)].of[t->loop];
        int64_t taken;
#pragma omp atomic capture
        {
            taken = *next;
            *next += some;
        }
        *from = t->begin + taken;
        *to = *from + some < t->end ? *from + some : t->end;
        if (*from < t->end) return true;
        if (t->part + 1 == t->parts) return false;
        t->part++;
        enter_part(t);
    }
}
