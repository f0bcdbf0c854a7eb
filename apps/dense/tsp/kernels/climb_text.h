/*
 * climb_text.h - hill climbing on tours, in the dialect (yoke/dialect.h), for devices and cores.  It uses integers only, so the same
 * restart gives the same tour everywhere.
 */
#include "yoke/dialect.h"

/* A bijective mixer of 32 bits (Wellons 2018, lowbias32). */
YOKE_FUNCTION unsigned int dense_mix(unsigned int x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ (x >> 16);
}

/*
 * A random order of the cities 0 .. n - 1 (Fisher and Yates), from random numbers of xorshift32 (Marsaglia 2003) that depend on seed and
 * restart; tour[n] = tour[0].
 */
YOKE_FUNCTION void dense_shuffle(yoke_int n, yoke_long seed, yoke_long restart, YOKE_GLOBAL yoke_int *tour)
{
    unsigned int state = dense_mix((unsigned int)seed + 0x9e3779b9U);
    state = dense_mix(state ^ (unsigned int)(seed >> 32));
    state = dense_mix(state ^ (unsigned int)restart);
    state = dense_mix(state ^ (unsigned int)(restart >> 32));
    if (state == 0) state = 1;
    tour[0] = 0;
    for (yoke_int i = 1; i < n; i++) tour[i] = i;
    for (yoke_int i = n - 1; i > 0; i--) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        const yoke_int j = (yoke_int)(state % (unsigned int)(i + 1)), kept = tour[i];
        tour[i] = tour[j];
        tour[j] = kept;
    }
    tour[n] = tour[0];
}

/*
 * Begins with a random tour and applies the best exchange of two edges (2-opt) until none makes the tour shorter; returns its length.
 * distance [n][n]: symmetric, each below 2^29.  tour [n + 1].  edge [n]: edge[i] is the length from tour[i] to tour[i + 1].  *steps: number
 * of exchanges.
 */
YOKE_FUNCTION yoke_long dense_climb(yoke_int n, yoke_long seed, yoke_long restart, YOKE_GLOBAL const yoke_int *distance,
                                    YOKE_GLOBAL yoke_int *tour, YOKE_GLOBAL yoke_int *edge, yoke_int *steps)
{
    yoke_long length = 0;
    yoke_int best = -1;
    dense_shuffle(n, seed, restart, tour);
    for (yoke_int i = 0; i < n; i++) edge[i] = distance[(yoke_long)tour[i] * n + tour[i + 1]];
    for (*steps = 0; best < 0; (*steps)++) {
        yoke_int first = 0, last = 0;
        best = 0;
        for (yoke_int i = 0; i + 2 < n; i++) {
            YOKE_GLOBAL const yoke_int *from = distance + (yoke_long)tour[i] * n, *to = distance + (yoke_long)tour[i + 1] * n;
            const yoke_int here = edge[i], end = i == 0 ? n - 1 : n;
            for (yoke_int j = i + 2; j < end; j++) {
                const yoke_int change = from[tour[j]] + to[tour[j + 1]] - here - edge[j];
                if (change < best) {
                    best = change;
                    first = i + 1;
                    last = j;
                }
            }
        }
        if (best == 0) break;
        for (yoke_int i = first, j = last; i < j; i++, j--) {
            const yoke_int kept = tour[i];
            tour[i] = tour[j];
            tour[j] = kept;
        }
        for (yoke_int i = first - 1; i <= last; i++) edge[i] = distance[(yoke_long)tour[i] * n + tour[i + 1]];
    }
    for (yoke_int i = 0; i < n; i++) length += edge[i];
    return length;
}

/*
 * What is kept of several restarts: the length of the shortest tour, the first restart that gave it, and how many did (0: there is no restart
 * yet); then the sums of all lengths and of all exchanges.
 */
enum { DENSE_SHORTEST, DENSE_RESTART, DENSE_TIMES, DENSE_LENGTHS, DENSE_STEPS, DENSE_SUMS };

/* Adds a restart, or the sums of several restarts. */
YOKE_FUNCTION void dense_add(YOKE_GLOBAL yoke_long *sums, yoke_long shortest, yoke_long restart, yoke_long times, yoke_long lengths,
                             yoke_long steps)
{
    if (sums[DENSE_TIMES] == 0 || shortest < sums[DENSE_SHORTEST]) {
        sums[DENSE_SHORTEST] = shortest;
        sums[DENSE_RESTART] = restart;
        sums[DENSE_TIMES] = times;
    } else if (shortest == sums[DENSE_SHORTEST]) {
        if (restart < sums[DENSE_RESTART]) sums[DENSE_RESTART] = restart;
        sums[DENSE_TIMES] += times;
    }
    sums[DENSE_LENGTHS] += lengths;
    sums[DENSE_STEPS] += steps;
}

/*
 * Climbs restarts first .. last - 1.  For each there are a length, DENSE_SUMS sums, and 2 n + 1 numbers of space.  begins: the sums are those
 * of this launch; else they go on.
 */
YOKE_KERNEL(climb_tours,
            (yoke_long first, yoke_long last, yoke_int n, yoke_long seed, yoke_int begins, YOKE_GLOBAL const yoke_int *distance,
             YOKE_GLOBAL yoke_int *space, YOKE_GLOBAL yoke_long *length, YOKE_GLOBAL yoke_long *sums))
{
    YOKE_FOR_ALL (u, last - first) {
        YOKE_GLOBAL yoke_int *tour = space + u * (2 * (yoke_long)n + 1);
        YOKE_GLOBAL yoke_long *own = sums + u * DENSE_SUMS;
        yoke_int taken = 0;
        length[u] = dense_climb(n, seed, first + u, distance, tour, tour + n + 1, &taken);
        for (yoke_int k = 0; k < DENSE_SUMS && begins; k++) own[k] = 0;
        dense_add(own, length[u], first + u, 1, length[u], taken);
    }
}

/* Adds all sets of sums to the first `most` ones. */
YOKE_KERNEL(join_sums, (yoke_long sets, yoke_long most, YOKE_GLOBAL yoke_long *sums))
{
    YOKE_FOR_ALL (i, most)
        for (yoke_long u = i + most; u < sets; u += most) {
            YOKE_GLOBAL const yoke_long *other = sums + u * DENSE_SUMS;
            dense_add(sums + i * DENSE_SUMS, other[DENSE_SHORTEST], other[DENSE_RESTART], other[DENSE_TIMES], other[DENSE_LENGTHS],
                      other[DENSE_STEPS]);
        }
}
