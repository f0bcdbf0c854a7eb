#include "solver/watch.h"

#include <math.h>

void fem_solver_watch_start(fem_solver_watch *watch, double asked)
{
    *watch = (fem_solver_watch){.asked = asked, .best = INFINITY};
    for (int i = 0; i < 2; i++) watch->mark[i].reached = INFINITY;
}

/* Moves the marks so that the older one always lies between one and two doublings of the iteration count back. */
static void mark(fem_solver_watch *watch, int iteration)
{
    if (isinf(watch->mark[1].reached)) { /* no mark is set yet */
        watch->mark[0] = watch->mark[1] = (fem_watch_mark){iteration, watch->best};
    } else if (iteration >= FEM_WATCH_FIRST / 2 && iteration >= 2 * watch->mark[1].iteration) {
        watch->mark[0] = watch->mark[1];
        watch->mark[1] = (fem_watch_mark){iteration, watch->best};
    }
}

double fem_solver_watch_left(fem_solver_watch *watch, int iteration, double reached)
{
    if (!isfinite(reached)) return 0;
    watch->best = fmin(watch->best, reached);
    mark(watch, iteration);
    if (iteration < FEM_WATCH_FIRST || iteration % 5 != 0) return 0;
    const double patience = FEM_WATCH_PATIENCE * (double)iteration, gained = log(watch->mark[0].reached / watch->best);
    const double left = (iteration - watch->mark[0].iteration) * log(watch->best / watch->asked) / gained;
    return gained > 0 ? fmin(fmax(left, 0), patience) : patience;
}
