#include "tune/factors.h"

#include <math.h>

fmm_factor fmm_factor_learn(fmm_factor known, double ratio, int disturbed)
{
    enum { SLOWEST = 8 };
    static const double clearly = 0.15, longest_step = 0.1, shortest_step = -0.7; /* of logarithms */
    if (!(ratio > 0) || !isfinite(ratio)) return known;
    const double beyond = log(ratio / known.value), step = fmax(fmin(beyond, longest_step), shortest_step);
    const double part = step < (disturbed ? 0 : -clearly) ? 0.5 : 1. / (double)(known.runs + 2 < SLOWEST ? known.runs + 2 : SLOWEST);
    const double value = known.value * exp(part * step);
    return (fmm_factor){fmin(fmax(value, 1 / FMM_MOST_FACTOR), FMM_MOST_FACTOR), known.runs + 1};
}
