/*
 * factors.h - what runs taught of the predictions: measured over predicted seconds of each part.
 */
#ifndef FMM_TUNE_FACTORS_H
#define FMM_TUNE_FACTORS_H

#include <stdint.h>

typedef enum fmm_part { FMM_PART_TREE, FMM_PART_NEAR, FMM_PART_FAR, FMM_TIMED_PARTS } fmm_part;

/* Predictions are multiplied by it. */
typedef struct fmm_factor {
    double value; /* 1 / FMM_MOST_FACTOR ... FMM_MOST_FACTOR */
    int64_t runs; /* that it rests on; 0: none, and it is 1 */
} fmm_factor;

#define FMM_MOST_FACTOR 4.

/*
 * Of one run more, which took `ratio` times what is predicted with a factor of 1.  Steps are small: a half, a third ... an eighth of the way, and not more
 * for a run that took much longer, since other programs only make runs longer.  A run that took clearly less shows that the costs were measured beside
 * others: half of the way then.  It is half of the way down always where it is known that they were (disturbed nonzero).  A ratio that is no number above 0
 * is left out.
 */
fmm_factor fmm_factor_learn(fmm_factor known, double ratio, int disturbed);

#endif
