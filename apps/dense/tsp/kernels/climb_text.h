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

/* Climbs restarts first .. last - 1; length and steps have one entry for each.  space has 2 n + 1 numbers for each restart. */
YOKE_KERNEL(climb_tours, (yoke_long first, yoke_long last, yoke_int n, yoke_long seed, YOKE_GLOBAL const yoke_int *distance,
                          YOKE_GLOBAL yoke_int *space, YOKE_GLOBAL yoke_long *length, YOKE_GLOBAL yoke_int *steps))
{
    YOKE_FOR_ALL (u, last - first) {
        YOKE_GLOBAL yoke_int *tour = space + u * (2 * (yoke_long)n + 1);
        yoke_int taken = 0;
        length[u] = dense_climb(n, seed, first + u, distance, tour, tour + n + 1, &taken);
        steps[u] = taken;
    }
}
