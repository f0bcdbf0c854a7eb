/*
 * factors.h - corrections of the predictions that are learned from runs: measured over predicted seconds of each part.
 */
#ifndef FMM_TUNE_COSTS_FACTORS_H
#define FMM_TUNE_COSTS_FACTORS_H

#include <stdint.h>

typedef enum fmm_part { FMM_PART_TREE, FMM_PART_NEAR, FMM_PART_FAR, FMM_TIMED_PARTS } fmm_part;

/* A factor by which predictions are multiplied. */
typedef struct fmm_factor {
    double value; /* 1 / FMM_MOST_FACTOR ... FMM_MOST_FACTOR */
    int64_t runs; /* number of runs that were reported; 0: none, and the value is 1 */
    /* Number of runs that deviated in the same direction since the value changed, or since this number was 0: above 0 successive runs that
     * took longer than predicted, below 0 the number of those that took longer minus those that took less. */
    int64_t alike;
    double next; /* the ratio of these runs that is nearest to the value; it becomes the value after FMM_ALIKE_RUNS such runs */
} fmm_factor;

#define FMM_MOST_FACTOR 4.
enum { FMM_ALIKE_RUNS = 5 };

/*
 * Updates a factor by one more run, which took `ratio` times the time predicted with a factor of 1.  Other programs only make runs longer,
 * so one run alone has little significance.  The factor becomes what five runs have in common: the smallest ratio of five successive runs
 * that all took longer than predicted, but at most 1.5 times the old value, or the largest ratio of runs that took less, when these are
 * five more than longer ones in between.  If it is known that the costs were measured beside other programs (disturbed nonzero), each run that
 * took less moves the factor half of the way.  A ratio that is not a number above 0 is ignored.
 */
fmm_factor fmm_factor_learn(fmm_factor known, double ratio, int disturbed);

#endif
