/*
 * random.h - random problems for plans: hosts and accelerators with levels of frequency, start costs, copies, points, limits.
 */
#ifndef BENCH_PLAN_RANDOM_H
#define BENCH_PLAN_RANDOM_H

#include "balance/family.h"
#include "yoke/yoke.h"

enum { PLAN_RANDOM_DEVICES = 8, PLAN_RANDOM_LEVELS = 10, PLAN_RANDOM_POINTS = 12, PLAN_RANDOM_PHASES = 6 };

/* Of what kind a problem shall be. */
typedef struct plan_shape {
    int64_t units;
    int devices, hosts; /* the first so many are hosts */
    int levels;         /* of each device */
    int levels_differ;  /* nonzero: each has 1 to so many */
    int alike;          /* nonzero: hosts are equal in all numbers, and so are accelerators */
    int starts, host_overhead, removable, limits, copies;
    int points;          /* of each level, at most; 0: constant speeds */
    int cliffs;          /* nonzero: with points, speeds fall by factors of 2 to 8 at one of them */
    int falling;         /* nonzero: with points, speeds differ so much from point to point that seconds fall with units now and then */
    int whole_numbers;   /* nonzero: seconds and powers are small whole numbers, so that many choices cost the same */
    int level_overheads; /* nonzero: levels of hosts have host overheads of their own, which rise or fall with the level */
    int contention;      /* nonzero: most levels take less time where the device works alone */
    int phases; /* 0: no round; else so many of one cut, with barriers, each with an eighth of the units of the one before (not with points) */
} plan_shape;

typedef struct plan_random {
    yoke_plan_problem problem;
    yoke_plan_device devices[PLAN_RANDOM_DEVICES];
    yoke_plan_level levels[PLAN_RANDOM_DEVICES][PLAN_RANDOM_LEVELS];
    double points[PLAN_RANDOM_DEVICES][PLAN_RANDOM_LEVELS][PLAN_RANDOM_POINTS][2];
    char names[PLAN_RANDOM_DEVICES][16];
    yoke_round round;
    yoke_phase phases[PLAN_RANDOM_PHASES];
    yoke_plan_time times[PLAN_RANDOM_DEVICES][PLAN_RANDOM_LEVELS][PLAN_RANDOM_PHASES];
} plan_random;

/* A whole number from low to high. */
int64_t random_whole(random_state *random, int64_t low, int64_t high);
/* True with this probability. */
bool random_chance(random_state *random, double probability);
/* Between low and high > 0, its logarithm uniform. */
double random_ratio(random_state *random, double low, double high);

/* Draws a problem that takes about a second; the pointers in it point into *drawn, which must not be moved. */
void plan_random_draw(const plan_shape *shape, random_state *random, plan_random *drawn);

#endif
