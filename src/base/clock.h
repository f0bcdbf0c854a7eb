/*
 * clock.h - further readings of the system's clocks.
 */
#ifndef YOKE_BASE_CLOCK_H
#define YOKE_BASE_CLOCK_H

/*
 * Seconds that the machine was suspended since it was started, to a millisecond; yoke_clock_s does not count them.  0 if the system does
 * not report it.
 */
double yoke_suspended_s(void);

#endif
