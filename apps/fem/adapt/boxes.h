/*
 * boxes.h - levels that a case prescribes in boxes before the first solve (refine.boxes).
 */
#ifndef FEM_ADAPT_BOXES_H
#define FEM_ADAPT_BOXES_H

#include "case/case.h"
#include "space/space.h"

/* Refines until every leaf that touches a box has at least the box's level.  Errors: MEMORY, INPUT (as fem_space_create), INTERRUPTED. */
yoke_status fem_refine_boxes(const fem_case_refine *refine, const fem_problem *problem, fem_forest *forest);

#endif
