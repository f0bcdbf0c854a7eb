/* family.h - random device pairs with known speed functions, for the simulation of the balancer. */
#ifndef BENCH_BALANCE_FAMILY_H
#define BENCH_BALANCE_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

enum { FAMILY_MAX_DEVICES = 8 };

typedef enum family_kind { FAMILY_KNEES, FAMILY_CLIFF } family_kind;

/* splitmix64: the same seed gives the same numbers on every machine. */
typedef struct random_state {
    uint64_t state;
} random_state;
double random_uniform(random_state *random, double low, double high);
double random_normal(random_state *random);

/* Seconds for x > 0 work, with t(0) = 0: start + per_work x + x / speed up to `at`; beyond that more, depending on family and device. */
typedef struct true_device {
    family_kind family;
    bool gpu;
    double speed, start, per_work, at, factor;
} true_device;

/* Device i is a CPU if i is even, otherwise a GPU. */
true_device family_draw(family_kind family, bool gpu, random_state *random);
double true_seconds(const true_device *device, double work);

/* Returns the least makespan of fixed shares of `work`, and these shares; the seconds of device i are multiplied by slow[i]. */
double best_makespan(const true_device *devices, const double *slow, int count, double work, double *shares);

#endif
