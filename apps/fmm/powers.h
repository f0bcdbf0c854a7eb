/*
 * powers.h - powers of devices on the command line: openmp=20:60,cuda:0=30:300.
 */
#ifndef FMM_POWERS_H
#define FMM_POWERS_H

#include "solve/solve.h"

enum { FMM_POWERS_BYTES = 1024 };

typedef struct fmm_powers {
    char text[FMM_POWERS_BYTES];
    yoke_run_power power[FMM_MAX_PARTS];
    int count;
} fmm_powers;

/* Reads NAME=IDLE:BUSY in W, with commas between devices; words NULL: none.  *powers holds pointers to itself.  Errors: INPUT (the message
 * names the wrong one). */
yoke_status fmm_powers_read(yoke_context *context, const char *words, fmm_powers *powers);

#endif
