/* The table of devices. */
#include <math.h>
#include <stdio.h>

#include "output/output.h"

const app_column dense_columns[] = {{"rank", "rank of mpirun, from 0; only on several ranks"},
                                    {"device", "name as in --devices"},
                                    {"units", "units that the device did; the line above the table defines a unit"},
                                    {"share %", "part of all units"},
                                    {"seconds", "working time of the device; - if it did nothing"},
                                    {"by", "the BLAS that the device calls, or own kernel; only if there is one"},
                                    {NULL, NULL}};

double dense_imbalance(const dense_shared *shared)
{
    const int last = shared->num_rounds < DENSE_MAX_ROUNDS ? shared->num_rounds - 1 : DENSE_MAX_ROUNDS - 1;
    return last < 0 ? NAN : shared->round[last].imbalance;
}

static void show_parts(app_terminal *terminal, const dense_shared *shared)
{
    int64_t all = 0;
    for (int i = 0; i < shared->num_parts; i++) all += shared->part[i].units;
    bool by = false;
    for (int i = 0; i < shared->num_parts; i++) by = by || shared->part[i].by[0];
    app_print(terminal, "%-20s  %10s  %8s  %10s%s\n", "device", "units", "share %", "seconds", by ? "  by" : "");
    for (int i = 0; i < shared->num_parts; i++) {
        const dense_part *part = &shared->part[i];
        char seconds[32] = "-";
        if (part->units) snprintf(seconds, sizeof seconds, "%.4g", part->seconds);
        app_print(terminal, "%-20s  %10lld  %8.2f  %10s%s%s%s%s\n", part->device, (long long)part->units,
                  all ? 100 * (double)part->units / (double)all : 0, seconds, part->by[0] ? "  " : "", part->by,
                  part->failed   ? "  failed: "
                  : part->why[0] ? "  idle: "
                                 : "",
                  part->why);
    }
}

void dense_show(app_terminal *terminal, const dense_shared *shared)
{
    int working = 0;
    show_parts(terminal, shared);
    for (int i = 0; i < shared->num_parts; i++) working += shared->part[i].units > 0;
    app_print(terminal, "%d round%s", shared->num_rounds, shared->num_rounds == 1 ? "" : "s");
    if (working > 1) app_print(terminal, ", imbalance of the last one %.1f %%", 100 * dense_imbalance(shared));
    if (shared->told_predicted_s > 0)
        app_print(terminal, "; where it was predicted: %.4g s, measured %.4g s (%+.1f %%)", shared->told_predicted_s, shared->told_s,
                  100 * (shared->told_s / shared->told_predicted_s - 1));
    app_print(terminal, "; decided in %.2g s\n", shared->plan_s);
    if (!isnan(shared->measured_j)) app_print(terminal, "energy: %.4g J, %s\n", shared->measured_j, yoke_energy_kind_text(shared->kind));
}

yoke_status dense_explain(app_terminal *terminal, yoke_context *context, yoke_run *run)
{
    char *text = NULL;
    yoke_status status = yoke_run_explain(run, &text);
    if (!status) app_print(terminal, "%s", text);
    yoke_release(context, text);
    return status;
}
