/*
 * nodes.h - how many elements of the next mesh each rank gets, by functions that tell how long a rank takes for so many: INPA of the library
 * (yoke_plan_nested) on a line of elements.  Pure arithmetic; docs/methods/decomposition.md has the rules.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_NODES_H
#define FEM_ADAPT_DISTRIBUTION_NODES_H

#include "yoke/yoke.h"

/* Seconds of a product of each rank with so many elements: seconds [ranks] where elements [ranks] is above 0; NaN: not known.  The same on all ranks, and collective. */
typedef yoke_status fem_nodes_kernel(void *user, const int64_t *elements, double *seconds);

enum { FEM_NODES_ERRORS = 4 };

/* By how much predictions of products were wrong in the latest steps. */
typedef struct fem_nodes_errors {
    double relative[FEM_NODES_ERRORS];
    int64_t count; /* of all steps */
} fem_nodes_errors;

/* Of a step: the largest error of a rank, as the larger of predicted and measured seconds over the smaller, less 1.  NaN is passed over. */
void fem_nodes_learn(fem_nodes_errors *errors, double relative);
/* How much longer than the best parts equal ones may take, relative, before speeds are taken to differ.  differed: they were taken so for the latest mesh. */
double fem_nodes_tolerance(const fem_nodes_errors *errors, int differed);

typedef enum fem_nodes_choice {
    FEM_NODES_EQUAL,  /* parts */
    FEM_NODES_SPEEDS, /* parts by the predicted times */
    FEM_NODES_KEPT    /* elements stay where refinement left them, as moving them costs more than it saves */
} fem_nodes_choice;

typedef struct fem_nodes_question {
    int64_t ranks;
    int64_t elements;   /* of the next mesh */
    const int64_t *now; /* [ranks] of them, where they lie */
    double products;    /* of the next solve */
    double tolerance;   /* of equal parts, as above */
    double move_s;      /* to move an element, while all wait; NaN: not known, moves cost nothing then */
    fem_nodes_kernel *kernel;
    void *user;
} fem_nodes_question;

typedef struct fem_nodes_answer {
    fem_nodes_choice choice;
    double gain_s, cost_s; /* of the next solve, by leaving `now`: seconds saved, and spent on moving; NaN: not known */
} fem_nodes_answer;

/*
 * parts [ranks]: elements of each rank.  Equal parts, and nothing known, where the times of a rank are not known, or there are fewer elements than ranks, or more
 * than 10^9.  Errors: MEMORY, NUMERIC (times not above 0), those of the kernel.
 */
yoke_status fem_nodes_decide(yoke_context *context, const fem_nodes_question *question, int64_t *parts, fem_nodes_answer *answer);

/*
 * Seconds to move an element, after `moved` of them took so many; before: what was known, NaN: nothing.  The least counts: what a move takes however few elements go comes
 * with each mesh, and others who are late make it longer.
 */
double fem_nodes_learn_move(double before, int64_t moved, double seconds);

/* Elements that lie on another rank by `to` than by `from`, both [ranks] in their order along the curve. */
int64_t fem_nodes_moved(int64_t ranks, const int64_t *from, const int64_t *to);

#endif
