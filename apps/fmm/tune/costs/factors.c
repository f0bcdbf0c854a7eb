#include "tune/costs/factors.h"

#include <math.h>

static double limit(double value) { return fmin(fmax(value, 1 / FMM_MOST_FACTOR), FMM_MOST_FACTOR); }

fmm_factor fmm_factor_learn(fmm_factor known, double ratio, int disturbed)
{
    static const double most_up = 1.5;
    if (!(ratio > 0) || !isfinite(ratio)) return known;
    fmm_factor now = known;
    const int side = (ratio > known.value) - (ratio < known.value);
    now.runs++;
    if (side >= 0 && known.alike < 0) {
        now.alike++;
        return now;
    }
    if (side < 0 && disturbed) {
        now.value = limit(sqrt(known.value * ratio));
        now.alike = 0;
        return now;
    }
    now.next = side * known.alike > 0 ? side * fmin(side * known.next, side * ratio) : ratio;
    now.alike = side * known.alike > 0 ? known.alike + side : side;
    if (side * now.alike < FMM_ALIKE_RUNS) return now;
    now.value = limit(fmin(now.next, most_up * known.value));
    now.alike = 0;
    return now;
}
