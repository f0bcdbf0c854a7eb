/*
 * track.h - computes joules from the readings of one meter: wraps, faults, uncertainty.  Arithmetic only; one thread at a time uses a
 * track.
 *
 * A track adds up the energy that its meter shows, sample by sample.  A region keeps a mark of the track at its beginning; the energy
 * since then is the difference, unless there was a fault in between (docs/methods/energy.md has the formulas).
 */
#ifndef YOKE_METER_TRACK_H
#define YOKE_METER_TRACK_H

#include "meter/meter.h"

/* Counts since the track was started: more than 64 bits, since days at 2^-32 J need more. */
typedef struct meter_counts {
    uint64_t high, low;
} meter_counts;

typedef struct meter_track {
    /* Properties of the meter; no NaN. */
    meter_quantity quantity;
    yoke_energy_kind source;
    int always_moves;
    uint64_t range;
    double unit_j, resolution_j, wrap_j, most_w, period_s, window_s, quantum_w, gain_error;
    /* The latest good sample. */
    int started, gone, stuck;
    int64_t failed; /* number of failed readings since then */
    meter_sample last;
    double suspended_s;
    double moved_s;                 /* time at which the reading last changed, or was first read */
    double recent_s, recent_j;      /* start of the latest interval of at least a period */
    double recent_w;                /* mean power of the interval before it; 0: none yet */
    meter_counts counts;            /* of a counter */
    double energy_j, energy_rest_j; /* of other meters, as a Kahan sum */
    double between_j;               /* energy that power between readings may have hidden */
    int64_t faults;
    char fault[METER_WHY_BYTES]; /* text of the latest fault */
    char failure[METER_WHY_BYTES];
} meter_track;

/* The state of a track at the beginning of a region. */
typedef struct meter_mark {
    int valid; /* 0: the meter could not be read: the track's failure has the reason */
    int stuck;
    double time_s, took_s, recent_w;
    meter_counts counts;
    double energy_j, energy_rest_j, between_j;
    int64_t faults;
} meter_mark;

/* Starts a track of a domain whose numbers were checked by meter_track_check. */
void meter_track_start(meter_track *track, const meter_domain *domain);
/* Sets the measured update period. */
void meter_track_period(meter_track *track, double period_s);
/* Whether a domain's numbers make sense; if not, why, in a few words. */
int meter_track_check(const meter_domain *domain, char why[METER_WHY_BYTES]);
/* Adds a reading at sample->time_s, with the seconds that the machine was suspended up to then.  why: reason of a failed reading. */
void meter_track_sample(meter_track *track, meter_result result, const meter_sample *sample, double suspended_s, const char *why);
/* Makes a mark of the latest sample, which must be the region's. */
void meter_track_mark(const meter_track *track, meter_mark *mark);
/* The energy from the mark to the latest sample for a region of `seconds`. */
void meter_track_energy(const meter_track *track, const meter_mark *mark, double seconds, yoke_energy *energy);
/* Joules since the track was started; for measuring periods and for observers. */
double meter_track_total_j(const meter_track *track);
/* Longest time in seconds between readings; infinite: it need not be read between regions. */
double meter_track_interval_s(const meter_track *track);

#endif
