/*
 * brute_round.h - what rounds cost, straight from the formulas in yoke/plan.h, all their choices, and random rounds.
 */
#ifndef YOKE_TESTS_PLAN_BRUTE_ROUND_H
#define YOKE_TESTS_PLAN_BRUTE_ROUND_H

#include "brute_force.h"

enum { ROUND_DEVICES = 4, ROUND_LEVELS = 3, ROUND_PHASES = 3, ROUND_CUTS = 2, ROUND_UNITS = 24, ROUND_POINTS = 3 };

/* A round of small whole weights; the pointers in it point into itself. */
typedef struct random_round {
    yoke_plan_problem problem;
    yoke_round round;
    int64_t cut_units[ROUND_CUTS];
    yoke_phase phases[ROUND_PHASES];
    double weights[ROUND_PHASES][ROUND_UNITS + 1];
    yoke_plan_device devices[ROUND_DEVICES];
    yoke_plan_level levels[ROUND_DEVICES][ROUND_LEVELS];
    yoke_plan_time times[ROUND_DEVICES][ROUND_LEVELS][ROUND_PHASES];
    double points[ROUND_DEVICES][ROUND_LEVELS][ROUND_PHASES][ROUND_POINTS][2];
} random_round;

/* Round number `number`, of as many choices at most. */
void random_round_draw(int64_t number, double most_choices, random_round *drawn);

/* What a choice costs, units [cuts][devices]; all NaN where a device has units of a phase without a kernel for it. */
brute_cost brute_round_evaluate(const yoke_plan_problem *problem, const int64_t *units, const int64_t *levels);

/* All choices that keep the memory limits and have kernels, as brute_force; false: no memory. */
bool brute_round(const yoke_plan_problem *problem, brute_list *list);

void random_round_print(const random_round *drawn, const yoke_plan_options *options);

#endif
