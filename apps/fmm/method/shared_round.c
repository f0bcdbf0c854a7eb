/* shared_round.c - describes the work of a tree as rounds of a run. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "method/shared_parts.h"
#include "method/sources.h"
#include "near/kernels/pairs.h"

/* Sizes of leaves whose costs are measured.  In smaller leaves pairs are so expensive that no tree with them is the best where there are
 * accelerators. */
static const int leaf_sizes[] = {8, 16, 32, 64, 128};

int fmm_shared_leaf_sizes(const int **sizes)
{
    *sizes = leaf_sizes;
    return sizeof leaf_sizes / sizeof *leaf_sizes;
}

int fmm_shared_leaf_size(double particles)
{
    const int *sizes, count = fmm_shared_leaf_sizes(&sizes);
    int k = 0;
    while (k + 1 < count && particles * particles > (double)sizes[k] * sizes[k + 1]) k++;
    return sizes[k];
}

/* ------------------------------------------------------------------------------------------------------- works */

static const char places_work[] = "fmm places";

void fmm_shared_near_name(int leaf, int gradient, char name[FMM_SHARED_NAME])
{
    (void)snprintf(name, FMM_SHARED_NAME, "fmm leaves n=%d%s", leaf, gradient ? "" : " potential");
}

void fmm_shared_far_name(int order, int gradient, char name[FMM_SHARED_NAME])
{
    (void)snprintf(name, FMM_SHARED_NAME, "fmm far p=%d%s", order, gradient ? "" : " potential");
}

const char *fmm_shared_places_name(void) { return places_work; }

static const char *const results_works[] = {"fmm results potential", "fmm results"};
const char *fmm_shared_results_name(int gradient) { return results_works[gradient != 0]; }

extern const char fmm_pair_text[], fmm_leaves_text[]; /* of the devices' programs (yoke_embed_text) */

static yoke_status tell_works(yoke_run *run)
{
    enum { OF_FAR = 3, OF_NEAR = OF_FAR + 2 };
    char threads[32], sources[FMM_FINGERPRINT_BYTES], name[FMM_SHARED_NAME];
    const char *const texts[OF_NEAR] = {fmm_pairs_select()->name, threads, sources, fmm_pair_text, fmm_leaves_text};
    (void)snprintf(threads, sizeof threads, "%d threads", omp_get_max_threads());
    fmm_fingerprint(0, NULL, sources);
    yoke_status status = YOKE_OK;
    for (int gradient = 0; gradient < 2; gradient++) {
        for (size_t k = 0; k < sizeof leaf_sizes / sizeof *leaf_sizes && !status; k++) {
            fmm_shared_near_name(leaf_sizes[k], gradient, name);
            status = yoke_run_work(run, name, texts, OF_NEAR);
        }
        for (int order = 0; order <= FMM_MAX_ORDER && !status; order++) {
            fmm_shared_far_name(order, gradient, name);
            status = yoke_run_work(run, name, texts, OF_FAR);
        }
    }
    return status;
}

yoke_status fmm_shared_open(yoke_context *context, const yoke_run_options *options, yoke_run **run)
{
    yoke_run *opened = NULL;
    yoke_status status = yoke_run_create(context, options, &opened);
    if (!status) status = tell_works(opened);
    if (status)
        yoke_run_destroy(opened);
    else
        *run = opened;
    return status;
}

/* ------------------------------------------------------------------------------------------------------ rounds */

int fmm_shared_host(const yoke_run_device *devices, int64_t count)
{
    for (int i = 0; i < count; i++)
        if (devices[i].active && !devices[i].accelerator) return i;
    return -1;
}

int fmm_shared_rests(yoke_run *run, const yoke_run_device *devices, int i, const char *work, double units)
{
    yoke_run_rest rests[YOKE_BALANCER_MAX_DEVICES];
    if (!devices[i].shares_cores) return 0;
    return yoke_run_rests(run, work, fmm_shared_whole(fmax(units, 1)), rests) == YOKE_OK && rests[i].why[0];
}

static int accelerators_of(const yoke_run_device *devices, int64_t count, int *list)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        if (devices[i].active && devices[i].accelerator) list[found++] = i;
    return found;
}

/* Makes a round.  Of the accelerators only list[first] ... list[last - 1] work. */
static void make_round(const yoke_run_device *devices, int64_t count, const fmm_shared_demand *of, const int *list, int first, int last,
                       fmm_shared_rounds *memory)
{
    const int host = fmm_shared_host(devices, count), number = memory->count++;
    yoke_phase *phases = memory->phases[number];
    int64_t *most = memory->max_units[number], made = 0;
    phases[made++] = (yoke_phase){.work = memory->near,
                                  .calls = 1,
                                  .cut = 0,
                                  .units = fmm_shared_whole(of->work.near_units),
                                  .weight_sum = of->weight_sum,
                                  .call_seconds = of->before_s};
    if (host >= 0 && of->work.far_units > 0)
        phases[made++] =
            (yoke_phase){.work = memory->far, .calls = 1, .cut = -1, .device = host, .units = fmm_shared_whole(of->work.far_units)};
    for (int i = 0; i < count; i++) most[i] = devices[i].accelerator ? 0 : INT64_MAX;
    if (last > first)
        phases[made++] = (yoke_phase){
            .work = fmm_shared_results_name(of->gradient), .calls = 1, .cut = 0, .units = of->particles, .weight_sum = of->weight_sum};
    for (int k = first; k < last; k++) {
        most[list[k]] = INT64_MAX;
        phases[made++] = (yoke_phase){.work = places_work, .calls = 1, .cut = -1, .device = list[k], .units = of->particles};
    }
    memory->rounds[number] =
        (yoke_round){.num_cuts = 1, .cut_units = &memory->leaves, .num_phases = made, .phases = phases, .max_units = most};
}

yoke_status fmm_shared_make_rounds(yoke_context *context, const yoke_run_device *devices, int64_t count, const double *share,
                                   const fmm_shared_demand *of, fmm_shared_rounds *memory)
{
    int list[FMM_MAX_DEVICES];
    if (count > FMM_MAX_DEVICES)
        return yoke_fail(context, YOKE_ERROR_UNAVAILABLE, "%lld devices; there may be %d at most", (long long)count, FMM_MAX_DEVICES);
    const int accelerators = accelerators_of(devices, count, list), has_host = fmm_shared_host(devices, count) >= 0;
    memory->count = 0;
    memory->leaves = of->leaves;
    fmm_shared_near_name(of->work.leaf, of->gradient, memory->near);
    fmm_shared_far_name(of->work.order, of->gradient, memory->far);
    const int none = has_host && (accelerators == 0 || !share || !(*share > 0)),
              all = accelerators > 0 && (!has_host || !share || *share > 0);
    if (all) make_round(devices, count, of, list, 0, accelerators, memory);
    for (int k = 0; k < accelerators && !share && accelerators > 1 && accelerators <= FMM_FEW_ACCELERATORS; k++)
        make_round(devices, count, of, list, k, k + 1, memory);
    if (none) make_round(devices, count, of, list, 0, 0, memory);
    return YOKE_OK;
}
