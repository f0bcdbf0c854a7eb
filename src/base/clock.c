#include "base/clock.h"

#include <time.h>

#include "yoke/yoke.h"

static double seconds_of(clockid_t which)
{
    struct timespec now = {0};
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CLOCK_MONOTONIC is required by POSIX wherever a thread can wait for a time; with a valid pointer the call cannot fail. */
double yoke_clock_s(void) { return seconds_of(CLOCK_MONOTONIC); }

double yoke_suspended_s(void)
{
#ifdef CLOCK_BOOTTIME
    /* The two clocks cannot be read at once: a thread that is interrupted between them reads again. */
    double suspended = 0;
    for (int attempt = 0; attempt < 8; attempt++) {
        double before = seconds_of(CLOCK_MONOTONIC);
        suspended = seconds_of(CLOCK_BOOTTIME) - before;
        if (seconds_of(CLOCK_MONOTONIC) - before < 1e-3) break;
    }
    return suspended > 1e-3 ? suspended : 0;
#else
    return 0;
#endif
}
