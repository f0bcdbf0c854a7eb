/*
 * Shares a loop of the program between two workers of different speed.
 *
 * Each round has N units of work; a unit is the sum of 1/k^2 over an interval of k. The slow worker computes everything three times.  The
 * balancer gets the time of each worker and returns the number of units for each in the next round.  The program checks that every unit was
 * computed exactly once: in each round the sum must be that of all units.  Before the last round the slow worker leaves.
 */
#include <math.h>
#include <stdio.h>

#include "yoke/yoke.h"

enum { WORKERS = 2, UNITS = 600, STEPS = 2000, ROUNDS = 12 };

/* Computes units [first, last) on a worker that repeats them `times` times.  Returns the sum of one repetition. */
static double work(int64_t first, int64_t last, int times)
{
    volatile double sum = 0; /* volatile, so that the compiler keeps all repetitions */
    for (int t = 0; t < times; t++) {
        sum = 0;
        for (int64_t k = first * STEPS; k < last * STEPS; k++) sum += 1.0 / ((double)(k + 1) * (double)(k + 1));
    }
    return sum;
}

/* One round: each worker computes its units and is timed.  Real workers would work at the same time. */
static double do_round(const int64_t *units, yoke_share_report *reports)
{
    static const int times[WORKERS] = {1, 3};
    double sum = 0;
    int64_t first = 0;
    for (int i = 0; i < WORKERS; i++) {
        double begin = yoke_clock_s();
        sum += work(first, first + units[i], times[i]);
        reports[i] =
            (yoke_share_report){.units = units[i], .seconds = units[i] > 0 ? yoke_clock_s() - begin : NAN, .moved_s = NAN, .energy_j = NAN};
        first += units[i];
    }
    return sum;
}

static yoke_status balance(yoke_context *context, yoke_balancer *balancer)
{
    int64_t units[WORKERS];
    yoke_share_report reports[WORKERS];
    const double expected = work(0, UNITS, 1);
    yoke_status status = yoke_balancer_update(balancer, NULL, UNITS, units);
    for (int round = 1; round <= ROUNDS && !status; round++) {
        double sum = do_round(units, reports);
        printf("round %2d: %3lld + %3lld units, %.2f and %.2f ms, sum %.9f\n", round, (long long)units[0], (long long)units[1],
               1e3 * reports[0].seconds, 1e3 * reports[1].seconds, sum);
        if (units[0] + units[1] != UNITS || fabs(sum - expected) > 1e-9)
            return yoke_fail(context, YOKE_ERROR_INTERNAL, "round %d lost work: the sum is %.12f instead of %.12f", round, sum, expected);
        if (round == ROUNDS - 1) status = yoke_balancer_limit(balancer, 1, 0);
        if (!status) status = yoke_balancer_update(balancer, reports, UNITS, units);
    }
    char *text = NULL;
    if (!status) status = yoke_balancer_explain(balancer, &text);
    if (!status) printf("%s\n", text);
    yoke_release(context, text);
    return status;
}

int main(void)
{
    yoke_context *context = NULL;
    yoke_balancer *balancer = NULL;
    const yoke_balancer_options options = {.devices = WORKERS, .rounds = ROUNDS};
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status) status = yoke_balancer_create(context, &options, &balancer);
    if (!status) status = balance(context, balancer);
    if (status) fprintf(stderr, "balancer: %s\n", yoke_last_error(context));
    yoke_balancer_destroy(balancer);
    yoke_context_destroy(context);
    return status ? 1 : 0;
}
