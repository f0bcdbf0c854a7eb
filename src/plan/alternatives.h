/*
 * alternatives.h - declarations for the comparison of a plan with others.
 */
#ifndef YOKE_PLAN_ALTERNATIVES_H
#define YOKE_PLAN_ALTERNATIVES_H

#include <stdarg.h>

#include "base/context.h"
#include "plan/plan.h"

/* Text that grows by printing, cut when it is full. */
typedef struct plan_text {
    char *bytes;
    int64_t used, room; /* room includes the terminating zero */
} plan_text;

void plan_print(plan_text *text, const char *format, ...) YOKE_PRINTF(2, 3);

/* Nonzero: the three-case rule of Lang and Ruenger (2014, sect. 4.3) can be applied: a host and an accelerator, all powers known. */
int plan_published_applies(const plan_work *work);

/*
 * The choice of that rule: of all pairs of levels the one with least energy by the full formula, among those that fit into the memories
 * if there are any.  feasible: it fits.  text: the case, and a remark if its choice needs more energy by the rule's own formula (eq. 37)
 * than another of the three.
 */
void plan_published(const plan_work *work, plan_result *result, plan_text *text);

/* Nonzero: the choice (units in the order of the problem) fits into all memories. */
int plan_fits(const plan_work *work, const int64_t *units);

#endif
