#include "balance/decision.h"

#include <math.h>

#include "balance/simulate.h"

#include "common/console/numbers.h"

enum { DECISIONS = 2000 };

yoke_status decision_seconds(yoke_context *context, uint64_t seed, double *median)
{
    static double seconds[DECISIONS];
    yoke_balancer *balancer = NULL;
    random_state random = {seed};
    int64_t units[DECISION_DEVICES];
    yoke_share_report reports[DECISION_DEVICES];
    double speed[DECISION_DEVICES];
    yoke_status status = YOKE_OK;
    for (int k = 0; k < DECISIONS && !status; k++) {
        if (k % SIMULATE_ROUNDS == 0) {
            yoke_balancer_destroy(balancer);
            balancer = NULL;
            const yoke_balancer_options options = {.devices = DECISION_DEVICES};
            status = yoke_balancer_create(context, &options, &balancer);
            if (!status) status = yoke_balancer_update(balancer, NULL, 100000, units);
            for (int i = 0; i < DECISION_DEVICES; i++) speed[i] = random_uniform(&random, 0.5, 8);
            if (status) break;
        }
        for (int i = 0; i < DECISION_DEVICES; i++) {
            double taken = (0.01 + (double)units[i] * 1e-5 / speed[i]) * (1 + 0.01 * random_normal(&random));
            reports[i] = (yoke_share_report){.units = units[i], .seconds = units[i] > 0 ? taken : NAN, .moved_s = NAN, .energy_j = NAN};
        }
        double begin = yoke_clock_s();
        status = yoke_balancer_update(balancer, reports, 100000, units);
        seconds[k] = yoke_clock_s() - begin;
    }
    yoke_balancer_destroy(balancer);
    if (status) return status;
    app_sort(seconds, DECISIONS);
    *median = seconds[DECISIONS / 2];
    return YOKE_OK;
}
