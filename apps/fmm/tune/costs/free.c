#include "tune/costs/free.h"

/* Longer than the system leaves a core to one program while others wait for it. */
static const double trial_s = 0.02;

/* Keeps all threads busy for trial_s.  The run finds out whether other programs disturb this. */
static yoke_status be_busy(void *user, int64_t device, int64_t units, int64_t calls, double *seconds)
{
    const double begin_s = yoke_clock_s();
    (void)user;
    (void)device;
    (void)units;
    (void)calls;
#pragma omp parallel
    while (yoke_clock_s() - begin_s < trial_s) continue;
    *seconds = yoke_clock_s() - begin_s;
    return YOKE_OK;
}

yoke_status fmm_cores_are_free(yoke_context *context, int *are_free)
{
    const yoke_run_options options = {.devices = "openmp", .keep_frequencies = 1, .no_meters = 1};
    const yoke_run_calibration of = {
        .work = "nothing", .min_units = 1, .max_units = 1, .sizes = 2, .brief = 1, .budget_s = trial_s, .trial = be_busy, .shortest = 1};
    yoke_run_accuracy found;
    yoke_run *run = NULL;
    yoke_status status = yoke_run_create(context, &options, &run);
    if (!status) status = yoke_run_calibrate(run, &of, &found);
    yoke_run_destroy(run);
    if (!status) *are_free = !(found.disturbed > 0);
    return status;
}
