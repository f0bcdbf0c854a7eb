/*
 * keep.h - creates the object that holds a plan's memory.
 */
#ifndef YOKE_PLAN_KEEP_H
#define YOKE_PLAN_KEEP_H

#include "plan/plan.h"

/* Creates a plan of zeros, to which plan_keep adds memory.  Errors: MEMORY. */
yoke_status plan_store_create(yoke_context *context, yoke_plan **plan);

/* front.c: computes the front under the request's deadline and power cap.  Errors: ARGUMENT (a power is not known), MEMORY. */
yoke_status plan_front(plan_work *work, const plan_request *request, yoke_plan *plan);

#endif
