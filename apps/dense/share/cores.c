/*
 * Handles devices on the same cores, of which the run decides which ones rest (yoke_run_rests).  A device that rests is not even opened:
 * compiling for it would cost more than it can gain in a short work.
 */
#include "share/sharing.h"

int dense_share_works(const dense_sharing *s, int i) { return s->list[i].active && !s->device[i].why_rests; }

yoke_status dense_share_choose_cores(dense_sharing *s, int64_t left)
{
    yoke_run_rest rests[DENSE_MAX_DEVICES] = {0};
    int any = 0;
    for (int i = 0; i < s->count; i++) any = any || s->list[i].shares_cores;
    yoke_status status = any ? yoke_run_rests(s->run, s->kernel->work, dense_share_weigh(s->kernel, left), rests) : YOKE_OK;
    s->resting = -1;
    for (int i = 0; i < s->count && !status; i++) {
        const int64_t units = rests[i].trial_units / dense_share_weigh(s->kernel, 1);
        s->device[i].why_rests = any && rests[i].why[0] ? rests[i].why : NULL;
        if (!rests[i].trial_units || s->tried[i] || s->resting >= 0) continue;
        s->resting = i;
        s->resting_units = units > 1 ? units : 1;
    }
    return status;
}

int dense_share_try_cores(dense_sharing *s)
{
    const int i = s->resting;
    if (i < 0) return -1;
    s->resting = -1;
    s->tried[i]++;
    s->alone_units = s->resting_units;
    return i;
}
