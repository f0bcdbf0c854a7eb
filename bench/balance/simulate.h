/* simulate.h - simulates the balancer on devices with known speed functions, noise and disturbances. */
#ifndef BENCH_BALANCE_SIMULATE_H
#define BENCH_BALANCE_SIMULATE_H

#include "balance/family.h"
#include "yoke/yoke.h"

enum { SIMULATE_ROUNDS = 30, SIMULATE_FIRST = 5, SIMULATE_SETTLE = 3 };

typedef enum disturbance_kind {
    DISTURBANCE_NONE,
    DISTURBANCE_SPIKES, /* 1 to 5 % of the measurements of a device take 10 to 500 times as long */
    DISTURBANCE_DRIFT,  /* one device becomes slower, or faster, by 2 % in every round */
    DISTURBANCE_GROWTH, /* 6 to 12 rounds, whose totals grow by factors of 1.3 to 3 */
    DISTURBANCE_SHARED, /* each measurement takes 1.6 times as long with probability 0.37 */
    /* Devices that become `factor` times slower in a round, and recover 8 rounds later. */
    DISTURBANCE_CHANGE,    /* one device, in round 15 */
    DISTURBANCE_CHANGES,   /* every second device, in round 15 */
    DISTURBANCE_SUCCESSION /* two devices, in rounds 15 and 17 */
} disturbance_kind;

/* How shares are computed from measurements. */
typedef enum sharing_method {
    METHOD_ADAPTIVE, /* the balancer's policies */
    METHOD_PAPER,
    METHOD_AVERAGE /* eq. 26 with the mean seconds per unit of all rounds so far */
} sharing_method;

typedef struct simulated_case {
    family_kind family;
    double noise; /* relative standard deviation of a measurement */
    disturbance_kind disturbance;
    int devices;   /* 0: 3 to 8, drawn at random */
    double factor; /* of a change */
    sharing_method method;
    uint64_t seed;
} simulated_case;

typedef struct simulated_pair {
    /*
     * Makespan of the share in use divided by that of the best fixed share, minus 1, by the true functions: mean of rounds 5 to 30; with
     * growth the excess of the sum over rounds 4 to the last; with spikes the mean of the rounds without a spike in the three rounds
     * before.  Rounds in which a device changes are excluded, because changes cannot be foreseen.  NaN: there was no such round.
     */
    double excess;
    double next; /* mean excess of the rounds after a change; NaN: there was none */
    /* Decisions until the true seconds of all devices differed by at most 5 % (of the least); -1: they always differed by more. */
    int steps;
    /* At the end (3 rounds after the last spike), a device has less than a quarter of its best share, which is at least 1 %. */
    bool starved;
    float course[SIMULATE_ROUNDS]; /* excess of each round */
} simulated_pair;

/* Simulates `count` sets of devices, drawn from seed and number, on all cores.  Errors: MEMORY, and those of the balancer. */
yoke_status simulate(yoke_context *context, const simulated_case *simulation, int64_t count, simulated_pair *pairs);

#endif
