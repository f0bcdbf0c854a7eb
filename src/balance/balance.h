/*
 * balance.h - the data of a balancer.
 */
#ifndef YOKE_BALANCE_BALANCE_H
#define YOKE_BALANCE_BALANCE_H

#include "balance/model.h"
#include "yoke/yoke.h"

/* Counts are exact as doubles up to here. */
#define BALANCE_MAX_UNITS ((int64_t)1 << 53)

typedef enum balance_decision {
    BALANCE_START,   /* no round was reported yet */
    BALANCE_MOVED,   /* the predicted gain exceeds the cost of moving */
    BALANCE_KEPT,    /* nothing better is known, or the gain is within the noise */
    BALANCE_COSTS,   /* kept: moving costs more than the predicted gain */
    BALANCE_RESIZED, /* another total, other limits, or a device that was added or removed: units had to move */
    BALANCE_PROBED   /* an idle device gets a unit to be measured again */
} balance_decision;

typedef struct balance_device {
    int64_t most;         /* limit of units; 0: removed permanently */
    double share;         /* initial share, in units of 1 */
    double rate;          /* seconds per unit: given at the start, or of the latest round with a measurement; NaN: not known */
    speed_model model;    /* of the adaptive policy */
    double copy_s;        /* seconds to move a unit there, smoothed; NaN: not known */
    double copied;        /* number of units copied at once; 0: the dependence of copy_s on this number is not considered */
    double copy_each_s;   /* part of these seconds that another unit adds; NaN: only one size was seen */
    double moved;         /* part of its units that is moved to it in a round, smoothed; NaN: not known before two rounds reported it */
    int64_t moved_rounds; /* number of rounds that reported what was moved */
    int64_t idle;         /* number of rounds without units since it last worked */
    int64_t probe_at;     /* number of idle rounds after which it is measured again */
    bool dropped;         /* moving its data costs more than it saves ... */
    double copy_limit_s;  /* ... that is, copy_s is at least this */
    /* The latest round, and the units after it. */
    int64_t had, next;
    double planned_s, measured_s, energy_j; /* for the units it had: predicted before, measured, metered; NaN: not known */
    model_verdict verdict;
} balance_device;

struct yoke_balancer {
    yoke_context *context;
    yoke_balance_policy policy;
    int devices;
    int64_t rounds, round; /* expected total number, 0: not known; reported so far */
    double calls;          /* per round */
    bool keep_all;         /* no device is dropped */
    double hint_s;         /* the makespan found last, with which the search starts */
    /* The latest decision. */
    balance_decision decision;
    int64_t n;                      /* its total; -1: there is no valid decision */
    double kept_s, best_s, cost_s;  /* predicted makespans per call for the old shares and for the new ones; cost of the move */
    double measured_s, best_seen_s; /* measured makespan per call and unit: of the latest round, and the least of all; NaN: none */
    yoke_curve line[YOKE_BALANCER_MAX_DEVICES]; /* constant speeds, for devices without a model */
    balance_device device[];
};

/* Number of units that fit on all devices together. */
double balance_room(const yoke_balancer *balancer);

/*
 * Shares of `n` units (which fit) by the policy, from present knowledge, independent of the present shares.  Returns the makespan by the
 * curves.
 */
double balance_shares(yoke_balancer *balancer, int64_t n, int64_t *units);

/* Decides `next`, n in all, after the reports of a round were evaluated, and fills the members that explain it. */
void balance_decide(yoke_balancer *balancer, int64_t n);

/*
 * Seconds to move a unit if `units` units are moved at once: part of the cost is that of starting copies.  As long as only one size was
 * seen, and more units are moved now, the whole cost may be that of starting: a wrong assumption costs one round, but never trying again
 * costs all later rounds.
 */
double balance_copy_s(const balance_device *device, double units);

/* Predicted seconds per call; 0 for 0 units, NaN if nothing is known. */
double balance_predict(const yoke_balancer *balancer, int device, int64_t units);

#endif
