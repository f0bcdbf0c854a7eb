/*
 * nodes.h - decides how many elements of the next mesh each rank gets, by functions that give the time of a rank for a number of elements:
 * INPA of the library (yoke_plan_nested) on a line of elements.  Pure arithmetic; docs/methods/decomposition.md has the rules.
 */
#ifndef FEM_ADAPT_DISTRIBUTION_NODES_H
#define FEM_ADAPT_DISTRIBUTION_NODES_H

#include "yoke/yoke.h"

/*
 * Seconds of a product of each rank with this number of elements: seconds [ranks] is set where elements [ranks] is above 0; NaN: not known.
 * The same on all ranks, and collective.
 */
typedef yoke_status fem_nodes_kernel(void *user, const int64_t *elements, double *seconds);

enum { FEM_NODES_ERRORS = 4 };

/* Relative errors of predicted products in the latest steps. */
typedef struct fem_nodes_errors {
    double relative[FEM_NODES_ERRORS];
    int64_t count; /* number of all steps so far */
} fem_nodes_errors;

/*
 * Adds a step: the largest error of a rank, which is the larger of predicted and measured seconds divided by the smaller one, minus 1.  NaN
 * is ignored.
 */
void fem_nodes_learn(fem_nodes_errors *errors, double relative);
/*
 * The relative excess of equal parts' time over that of the best parts, above which ranks are treated as having different speeds.
 * differed: they were treated so for the latest mesh.
 */
double fem_nodes_tolerance(const fem_nodes_errors *errors, int differed);

typedef enum fem_nodes_choice {
    FEM_NODES_EQUAL,  /* equal parts */
    FEM_NODES_SPEEDS, /* parts by the predicted times */
    FEM_NODES_KEPT    /* elements stay on the ranks on which refinement left them, because moving them costs more than it saves */
} fem_nodes_choice;

typedef struct fem_nodes_question {
    int64_t ranks;
    int64_t elements;   /* of the next mesh */
    const int64_t *now; /* [ranks] number of these on each rank at present */
    double products;    /* of the next solve */
    double tolerance;   /* for equal parts, as above */
    double move_s;      /* seconds to move an element, while all ranks wait; NaN: not known, and moves are taken to cost nothing */
    fem_nodes_kernel *kernel;
    void *user;
} fem_nodes_question;

typedef struct fem_nodes_answer {
    fem_nodes_choice choice;
    double gain_s, cost_s; /* seconds that the next solve saves if elements leave `now`, and that moving costs; NaN: not known */
} fem_nodes_answer;

/*
 * parts [ranks]: elements of each rank.  Parts are equal, and gain and cost not known, if the times of a rank are not known, or there are
 * fewer elements than ranks, or more than 10^9.  Errors: MEMORY, NUMERIC (times not above 0), those of the kernel.
 */
yoke_status fem_nodes_decide(yoke_context *context, const fem_nodes_question *question, int64_t *parts, fem_nodes_answer *answer);

/*
 * Updates the seconds to move an element, after a move of `moved` elements took `seconds`; before: the earlier value, NaN: none.  The least
 * value is kept: each mesh has a cost that does not depend on the number of elements, and other ranks that are late make the time longer.
 */
double fem_nodes_learn_move(double before, int64_t moved, double seconds);

/* Number of elements that are on another rank by `to` than by `from`, both [ranks] in their order along the curve. */
int64_t fem_nodes_moved(int64_t ranks, const int64_t *from, const int64_t *to);

#endif
