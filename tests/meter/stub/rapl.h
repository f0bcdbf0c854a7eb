/*
 * rapl.h - counters of two processor packages that move with the clock: RAPL for tests on machines without it.
 *
 * This file's program, or what it is preloaded into, has a pread of its own: of any open file sys/class/powercap/intel-rapl:N/energy_uj it reads what package N
 * has drawn until the last whole multiple of the period, by the clock, in the format of the kernel.  So a busy machine does not delay an update.
 */
#ifndef TESTS_METER_STUB_RAPL_H
#define TESTS_METER_STUB_RAPL_H

enum { STUB_RAPL_PACKAGES = 2 };

extern const double stub_rapl_period_s, stub_rapl_range_j; /* 2 ms; counters wrap at 1000 J */
extern const double stub_rapl_idle_w[STUB_RAPL_PACKAGES];  /* 9 and 4 W */
extern const double stub_rapl_part[STUB_RAPL_PACKAGES];    /* of the power of kernels: 0.6 and 0.4 */
extern const double stub_rapl_first_j[STUB_RAPL_PACKAGES]; /* what they show at first: 999.5 J, so that the first one wraps, and 3 J */

/* From now on kernels draw so much, above idle power.  Returns the joules that they drew until now. */
double stub_rapl_set_power(double watts);

#endif
