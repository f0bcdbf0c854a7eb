#include "adapt/boxes.h"

#include <math.h>

#include "common/console/interrupt.h"

/*
 * Marks the leaves that are below the level of a box that touches the bounding box of their corners.  *marked: their number on all ranks.
 */
static yoke_status mark_boxes(const fem_case_refine *refine, const fem_space *space, uint8_t *mark, int64_t *marked)
{
    *marked = 0;
    for (int32_t e = 0; e < space->num_elements; e++) {
        double x[8 * 3];
        fem_space_geometry(space, e, x);
        for (int b = 0; b < refine->boxes.count && !mark[e]; b++) {
            const fem_case_box *box = &refine->boxes.items[b];
            int touches = space->level[e] < box->level.value;
            for (int i = 0; i < 3 && touches; i++) {
                double low = INFINITY, high = -INFINITY;
                for (int c = 0; c < 8; c++) {
                    low = fmin(low, x[3 * c + i]);
                    high = fmax(high, x[3 * c + i]);
                }
                touches = high >= box->from.value[i] && low <= box->to.value[i];
            }
            mark[e] = (uint8_t)touches;
        }
        *marked += mark[e];
    }
    app_ranks_offset(space->ranks, *marked, marked);
    app_ranks_interrupted(space->ranks);                                       /* informs all ranks of a signal that one has caught */
    return app_ranks_agree(space->ranks, app_interrupt_check(space->context)); /* a rank may have caught a signal since */
}

yoke_status fem_refine_boxes(const fem_case_refine *refine, const fem_problem *problem, fem_forest *forest)
{
    int64_t marked = refine->boxes.count;
    while (marked) {
        fem_space *space = NULL;
        uint8_t *mark = NULL;
        yoke_status status = fem_space_create(problem, forest, FEM_Q1, &space);
        if (!status) status = app_ranks_agree(space->ranks, yoke_allocate(problem->context, space->num_elements, 1, &mark));
        if (!status) status = mark_boxes(refine, space, mark, &marked);
        if (!status && marked) status = fem_forest_refine(forest, mark);
        yoke_release(problem->context, mark);
        fem_space_destroy(space);
        if (status) return status;
    }
    return YOKE_OK;
}
