/* random.h - random planning problems: hosts and accelerators with frequency levels, start costs, copies, points, limits. */
#ifndef BENCH_PLAN_RANDOM_H
#define BENCH_PLAN_RANDOM_H

#include "balance/family.h"
#include "yoke/yoke.h"

enum { PLAN_RANDOM_DEVICES = 8, PLAN_RANDOM_LEVELS = 10, PLAN_RANDOM_POINTS = 12, PLAN_RANDOM_PHASES = 6 };

/* The kind of problem. */
typedef struct plan_shape {
    int64_t units;
    int devices, hosts; /* hosts: the first devices */
    int levels;         /* of each device */
    int levels_differ;  /* nonzero: the number of levels of each device is between 1 and `levels` */
    int alike;          /* nonzero: all hosts are equal, and so are all accelerators */
    int starts, host_overhead, removable, limits, copies;
    int points;          /* maximum for each level; 0: constant speeds */
    int cliffs;          /* nonzero: with points, speeds fall by factors of 2 to 8 at one of them */
    int falling;         /* nonzero: with points, speeds vary so much between points that the seconds sometimes decrease with the units */
    int whole_numbers;   /* nonzero: seconds and powers are small whole numbers, so that many choices have equal costs */
    int level_overheads; /* nonzero: each level of a host has a host overhead of its own, which rises or falls with the level */
    int contention;      /* nonzero: most levels take less time if the device works alone */
    /*
     * 0: no round; otherwise number of phases of one cut, with barriers, each with an eighth of the units of the previous one (not with
     * points).
     */
    int phases;
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
/* A number between low and high > 0 whose logarithm is uniformly distributed. */
double random_ratio(random_state *random, double low, double high);

/* Draws a problem that takes about a second.  Its pointers point into *drawn, which must not be moved. */
void plan_random_draw(const plan_shape *shape, random_state *random, plan_random *drawn);

#endif
