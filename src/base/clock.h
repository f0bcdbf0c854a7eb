/*
 * clock.h - what else the system's clocks tell.
 */
#ifndef YOKE_BASE_CLOCK_H
#define YOKE_BASE_CLOCK_H

/* Seconds that the machine was suspended since it was started, which yoke_clock_s leaves out, to a millisecond; 0 where the system does not tell. */
double yoke_suspended_s(void);

#endif
