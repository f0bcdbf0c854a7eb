/*
 * stop.h - ends long sums before they are complete.
 */
#ifndef FMM_NEAR_STOP_H
#define FMM_NEAR_STOP_H

#include <stdbool.h>

#include "yoke/yoke.h"

typedef struct fmm_stop {
    bool (*is_wanted)(void *user);   /* called by all threads before each piece of work; once true, it stays true */
    yoke_status (*fail)(void *user); /* called by the calling thread afterwards; returns INTERRUPTED, with a message */
    void *user;
} fmm_stop;
static inline bool fmm_stops(const fmm_stop *stop) { return stop && stop->is_wanted(stop->user); }

#endif
