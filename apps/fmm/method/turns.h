/*
 * turns.h - divides loops over cells among threads; private to this folder.
 *
 * A thread has the cells of the same part of all particles in each loop, so that most of the data that it needs are in its own caches.  If
 * threads took turns, half of these data would be in those of other cores, from which they take up to six times as long where cores share
 * no cache.  A thread that has finished its part helps with those of the others.
 */
#ifndef FMM_METHOD_TURNS_H
#define FMM_METHOD_TURNS_H

#include <string.h>

#include "method/parts.h"

enum {
    FMM_MOST_PARTS = 64, /* further threads only help */
    FMM_LOOPS = FMM_NEAR_STEPS
};

/* How many of the numbers of a part each loop of a pass has taken. */
typedef struct fmm_taken {
    _Alignas(64) int64_t of[FMM_LOOPS];
} fmm_taken;

/* The loops of a pass, shared by its threads. */
typedef struct fmm_loops {
    int64_t particles;
    const fmm_stop *stop; /* ends the loops; NULL: nothing does */
    fmm_taken taken[FMM_MOST_PARTS];
} fmm_loops;

/* Before the loops of a pass with at most this number of threads. */
static inline void fmm_loops_begin(fmm_loops *loops, int64_t particles, const fmm_stop *stop, int threads)
{
    loops->particles = particles;
    loops->stop = stop;
    memset(loops->taken, 0, (size_t)(threads < FMM_MOST_PARTS ? threads : FMM_MOST_PARTS) * sizeof *loops->taken);
}

/* A thread's state in a loop over the numbers first ... last - 1, in the order of their first particles: particle[number * stride]. */
typedef struct fmm_turns {
    fmm_loops *loops;
    int loop, parts, own, part; /* part: relative to the thread's own */
    const int32_t *particle;
    int64_t stride, first, last;
    int64_t begin, end; /* of the part */
} fmm_turns;

/* Begins loop number `loop` (0 ... FMM_LOOPS - 1) of a pass, in each thread. */
fmm_turns fmm_turns_of_leaves(fmm_loops *loops, int loop, const fmm_method *m);
fmm_turns fmm_turns_of_siblings(fmm_loops *loops, int loop, const fmm_siblings *siblings, int64_t first, int64_t last);

/* Takes the next numbers *from ... *to - 1, at most `some` of them.  Returns false at the end, or if the loops are to stop.  Other
 * threads may not have finished theirs then. */
bool fmm_turns_next(fmm_turns *t, int64_t some, int64_t *from, int64_t *to);

#endif
