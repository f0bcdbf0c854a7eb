#include <time.h>

#include "yoke/yoke.h"

double yoke_clock_s(void)
{
    struct timespec now;
    /* CLOCK_MONOTONIC is required by POSIX wherever a thread can wait for a time; with a valid pointer the call cannot fail. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
