/*
 * random_problem.h - random problems, small enough that all choices can be tried, and random constraints on plans for them.
 */
#ifndef YOKE_TESTS_PLAN_RANDOM_PROBLEM_H
#define YOKE_TESTS_PLAN_RANDOM_PROBLEM_H

#include "brute_force.h"
#include "plan/random.h"

/* The problem number `number` of two to four devices (some of five or six) with one to four levels; with most_choices choices at most. */
void random_problem_draw(int64_t number, double most_choices, plan_random *drawn);

/* Of larger problems: two or three devices with all else, every other one at constant speeds; up to `most` units where there are two devices. */
void random_larger_draw(int64_t number, int64_t most, plan_random *drawn);

/* Any choice for a problem, that keeps its sum and memory limits or not; levels too. */
void random_choice_draw(int64_t number, const yoke_plan_problem *problem, int64_t *units, int64_t *levels);

/* One or several of deadline, slowdown and power cap, near to what is possible and sometimes impossible. */
void random_constraints_draw(int64_t number, const brute_list *list, yoke_plan_options *options);

/* The same problem with its devices in another order: device k is what device order[k] was. */
void random_order_draw(int64_t number, const plan_random *drawn, yoke_plan_problem *problem, yoke_plan_device *devices, int *order);

/* Prints the problem and options as C initialisers, for a test of its own. */
void random_problem_print(const yoke_plan_problem *problem, const yoke_plan_options *options);

#endif
