/*
 * plan_checks.h - whether plans are what brute force says.
 */
#ifndef YOKE_TESTS_PLAN_PLAN_CHECKS_H
#define YOKE_TESTS_PLAN_PLAN_CHECKS_H

#include "brute_force.h"

/* A plan for a problem, named by the number from which both can be drawn again. */
typedef struct checked {
    int64_t number;
    const yoke_plan_problem *problem;
    const yoke_plan_options *options;
} checked;

/* Prints why, and the problem as C, and fails the test. */
void check_fails(const checked *of, const char *form, ...) __attribute__((format(printf, 2, 3)));

/* Equal to so much, relatively. */
bool check_near(double a, double b, double relative);

/* The plan; a status other than OK fails the test. */
yoke_plan *check_create(yoke_context *context, const checked *of);

/*
 * Units and levels within their limits and sum; times, energies and powers as an independent evaluation has them.  Returns these.
 */
brute_cost check_choice(const checked *of, const yoke_plan_choice *choice);

/*
 * The plan keeps all constraints and, where it says that it is optimal, is as good as the best of the list, else within its gap; or it says that there
 * is none exactly where there is none, and which constraint it is that cannot be met, and what could be.  What touches a limit to 1e-9 may be
 * in or out.
 */
void check_best(const checked *of, const brute_list *list, const yoke_plan *plan);

/* The front is that of the list; scratch holds the list's count. */
void check_front(const checked *of, const brute_list *list, const yoke_plan *plan, brute_cost *scratch);

#endif
