/*
 * factors.h - what runs taught of the predictions: measured over predicted seconds of each part.
 */
#ifndef FMM_TUNE_COSTS_FACTORS_H
#define FMM_TUNE_COSTS_FACTORS_H

#include <stdint.h>

typedef enum fmm_part { FMM_PART_TREE, FMM_PART_NEAR, FMM_PART_FAR, FMM_TIMED_PARTS } fmm_part;

/* Predictions are multiplied by it. */
typedef struct fmm_factor {
    double value; /* 1 / FMM_MOST_FACTOR ... FMM_MOST_FACTOR */
    int64_t runs; /* that were told of; 0: none, and it is 1 */
    int64_t
        alike; /* of these, since it changed: above 0 those in a row that took longer than predicted, below 0 minus those that took less */
    double next; /* what is nearest to the value of these; it becomes the value when they are FMM_ALIKE_RUNS */
} fmm_factor;

#define FMM_MOST_FACTOR 4.
enum { FMM_ALIKE_RUNS = 5 };

/*
 * Of one run more, which took `ratio` times what is predicted with a factor of 1.  Other programs only make runs longer, so that one run tells little.  The factor becomes what five runs have in common: the least of five in a row that all took longer than predicted, but at
 * most 1.5 times what it was, or the most of five that took less, whatever runs took longer in between.  Where it is known that the costs were measured beside
 * other programs (disturbed nonzero) each run that took less moves it half of the way.  A ratio that is no number above 0 is left out.
 */
fmm_factor fmm_factor_learn(fmm_factor known, double ratio, int disturbed);

#endif
