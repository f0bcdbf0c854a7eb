/*
 * track.h - from what is read of one meter to joules: wraps, faults, uncertainty.  Arithmetic only; whoever reads keeps to one thread at a time.
 *
 * A track adds up what its meter shows, sample by sample.  A region keeps a mark of it from its beginning; the energy since then is the
 * difference, unless a fault came between (docs/methods/energy.md has the formulas).
 */
#ifndef YOKE_METER_TRACK_H
#define YOKE_METER_TRACK_H

#include "meter/meter.h"

/* Counts since the track was started: more than 64 bits, since days at 2^-32 J fill those. */
typedef struct meter_counts {
    uint64_t high, low;
} meter_counts;

typedef struct meter_track {
    /* What is known of the meter; no NaN. */
    meter_quantity quantity;
    yoke_energy_kind source;
    int always_moves;
    uint64_t range;
    double unit_j, resolution_j, wrap_j, most_w, period_s, window_s, quantum_w, gain_error;
    /* The latest good sample. */
    int started, gone, stuck;
    int64_t failed; /* readings that failed since */
    meter_sample last;
    double suspended_s;
    double moved_s;                 /* when the reading was last seen to change, or first seen at all */
    double recent_s, recent_j;      /* where the latest interval of at least a period began */
    double recent_w;                /* mean power of the interval before it; 0: none yet */
    meter_counts counts;            /* of a counter */
    double energy_j, energy_rest_j; /* of the others, as a Kahan sum */
    double between_j;               /* what power between readings may have hidden */
    int64_t faults;
    char fault[METER_WHY_BYTES]; /* the latest one's text */
    char failure[METER_WHY_BYTES];
} meter_track;

/* Where a region began. */
typedef struct meter_mark {
    int valid; /* 0: it could not be read: the track's failure says why */
    int stuck;
    double time_s, took_s, recent_w;
    meter_counts counts;
    double energy_j, energy_rest_j, between_j;
    int64_t faults;
} meter_mark;

/* From a domain whose numbers were checked by meter_track_check. */
void meter_track_start(meter_track *track, const meter_domain *domain);
/* Takes over the update period that was measured. */
void meter_track_period(meter_track *track, double period_s);
/* Whether a domain's numbers make sense; if not, why, in a few words. */
int meter_track_check(const meter_domain *domain, char why[METER_WHY_BYTES]);
/* A reading at sample->time_s, with the seconds that the machine was suspended up to then.  why: of a failed one. */
void meter_track_sample(meter_track *track, meter_result result, const meter_sample *sample, double suspended_s, const char *why);
/* Of the latest sample, which must be the region's. */
void meter_track_mark(const meter_track *track, meter_mark *mark);
/* The energy from the mark to the latest sample for a region of so many seconds. */
void meter_track_energy(const meter_track *track, const meter_mark *mark, double seconds, yoke_energy *energy);
/* Joules since the track was started; for measuring of periods and for what looks on. */
double meter_track_total_j(const meter_track *track);
/* How often it must be read: seconds; infinite: never between regions. */
double meter_track_interval_s(const meter_track *track);

#endif
