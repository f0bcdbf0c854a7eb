/*
 * waves.c - M2L of whole levels by plane waves, axis by axis.
 *
 * Families are processed in layers along z.  A layer needs only its own waves and those of the layers before and after it, so the waves of
 * at most four layers are stored.  Small successive layers are merged, so that threads have enough work between two barriers.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "expansion/pages.h"
#include "method/parts.h"

enum {
    LAYERS = 4,         /* a layer, the two next to it, and the one that is written meanwhile */
    FEWEST_FAMILIES = 8 /* minimum in a layer, for each thread */
};

/* Sorts families by layer, and in a layer by number. */
static int compare(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

/* Lists the cells with children, as layer << 32 | number, in ascending order.  Returns their number. */
static int32_t list_families(const fmm_level *above, uint64_t *listed)
{
    int32_t count = 0;
    for (int32_t p = 0; p < above->count; p++) {
        uint32_t at[3];
        if (!above->octants[p]) continue;
        fmm_key_coordinates(above->key[p], at);
        listed[count++] = (uint64_t)at[2] << 32 | (uint32_t)p;
    }
    qsort(listed, (size_t)count, sizeof *listed, compare);
    return count;
}

/* Returns the end of the layer that begins with family `first`. */
static int32_t end_of_layer(const uint64_t *listed, int32_t families, int32_t first)
{
    const int64_t enough = (int64_t)first + (int64_t)FEWEST_FAMILIES * omp_get_max_threads();
    int32_t last = enough < families ? (int32_t)enough : families;
    while (last < families && listed[last] >> 32 == listed[last - 1] >> 32) last++;
    return last;
}

static yoke_status lay_out(fmm_method *m, fmm_wave_level *w, const uint64_t *listed)
{
    const fmm_level *above = &m->tree->level[w->level - 1];
    for (int32_t i = 0; i < w->families; i = end_of_layer(listed, w->families, i)) w->layers++;
    yoke_status status = yoke_allocate(m->context, w->families, sizeof *w->family, &w->family);
    if (!status) status = yoke_allocate(m->context, w->layers + 1, sizeof *w->first, &w->first);
    if (!status) status = yoke_allocate(m->context, above->count, sizeof *w->slot, &w->slot);
    if (status) return status;
    for (int32_t i = 0; i < w->families; i++) w->family[i] = (int32_t)(listed[i] & UINT32_MAX);
    for (int32_t k = 0; k < w->layers; k++) w->first[k + 1] = end_of_layer(listed, w->families, w->first[k]);
    for (int32_t k = 0; k < w->layers; k++)
        if (w->first[k + 1] - w->first[k] > w->largest) w->largest = w->first[k + 1] - w->first[k];
    for (int32_t p = 0; p < above->count; p++) w->slot[p] = -1;
    for (int32_t k = 0; k < w->layers; k++)
        for (int32_t i = w->first[k]; i < w->first[k + 1]; i++) w->slot[w->family[i]] = k % LAYERS * w->largest + i - w->first[k];
    return YOKE_OK;
}

static yoke_status have_tables(fmm_method *m, fmm_wave_level *w, int set)
{
    yoke_status status = m->wave_tables ? YOKE_OK : fmm_waves_create(m->context, m->order, set, m->held, &m->wave_tables);
    w->tables = m->wave_tables;
    return status;
}

static yoke_status create_level(fmm_method *m, int level, int set)
{
    const fmm_level *above = &m->tree->level[level - 1];
    fmm_wave_level *w = &m->waves[level];
    uint64_t *listed = NULL;
    yoke_status status = yoke_allocate(m->context, above->count, sizeof *listed, &listed);
    w->level = level;
    if (!status) w->families = list_families(above, listed);
    if (!status && w->families > 0) status = lay_out(m, w, listed);
    if (!status && w->families > 0) status = have_tables(m, w, set);
    yoke_release(m->context, listed);
    return status;
}

void fmm_waves_forget(fmm_method *m)
{
    for (int l = FMM_FAR_LEVEL; l <= FMM_MAX_DEPTH; l++) {
        fmm_wave_level *w = &m->waves[l];
        yoke_release(m->context, w->family);
        yoke_release(m->context, w->first);
        yoke_release(m->context, w->slot);
        *w = (fmm_wave_level){0};
    }
    fmm_waves_destroy(m->wave_tables);
    m->wave_tables = NULL;
    yoke_release(m->context, m->family_waves);
    m->family_waves = NULL;
}

yoke_status fmm_method_set_waves(fmm_method *m, uint64_t levels, int set)
{
    size_t most = 0;
    yoke_status status = YOKE_OK;
    fmm_waves_forget(m);
    for (int l = FMM_FAR_LEVEL; l <= m->tree->depth && m->operators && !status; l++) {
        if (!(levels >> l & 1)) continue;
        status = create_level(m, l, set);
        const fmm_wave_level *w = &m->waves[l];
        const int32_t layers = w->layers < LAYERS ? w->layers : LAYERS;
        const size_t size = status || !w->tables ? 0 : (size_t)w->largest * (size_t)layers * fmm_waves_size(w->tables);
        if (size > most) most = size;
    }
    if (!status && most > 0) status = fmm_allocate_large(m->context, (int64_t)most, sizeof *m->family_waves, &m->family_waves);
    m->waves_size = (int64_t)most;
    if (status) fmm_waves_forget(m);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- pass */

static double *waves_of(const fmm_method *m, const fmm_wave_level *w, int32_t parent)
{
    return m->family_waves + (size_t)w->slot[parent] * fmm_waves_size(w->tables);
}

/* Expansions of the children of a cell by octant, in expansions [cells][stride]; NULL: there is no such child. */
static void children_of(const fmm_level *above, int32_t parent, double *expansions, int64_t stride, double *child[8])
{
    for (int o = 0; o < 8; o++) child[o] = above->octants[parent] >> o & 1 ? expansions + fmm_child(above, parent, o) * stride : NULL;
}

static void send(const fmm_method *m, const fmm_wave_level *w, int axis, int32_t parent, fmm_worker *worker)
{
    double *child[8];
    children_of(&m->tree->level[w->level - 1], parent, m->multipole[w->level], m->stride, child);
    fmm_waves_send(w->tables, axis, (const double *const *)child, waves_of(m, w, parent), worker->work);
}

/* Number of pairs of a child of the walk's current cell and a child of one of its neighbours that do not touch. */
static int64_t count_pairs(const fmm_walk *walk, const fmm_level *above, int level)
{
    int64_t pairs = 0;
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        const int32_t near = walk->near[level][n];
        if (near < 0 || n == FMM_SELF) continue;
        pairs += fmm_count_octant_pairs(fmm_pair_octants(above->octants[walk->cell[level]], above->octants[near]) & walk->separated[n]);
    }
    return pairs;
}

/* Returns the number of pairs of cells that are processed, counted only for the first axis: the three axes together perform each once. */
static int64_t receive(const fmm_method *m, const fmm_wave_level *w, int axis, int32_t parent, fmm_worker *worker)
{
    const int above = w->level - 1;
    const fmm_level *cells = &m->tree->level[above];
    const double *around[FMM_AROUND];
    double *child[8];
    fmm_walk_to(&worker->walk, above, parent);
    for (int n = 0; n < FMM_NEIGHBOURS; n++) {
        const int32_t near = worker->walk.near[above][n];
        around[n] = n != FMM_SELF && near >= 0 && w->slot[near] >= 0 ? waves_of(m, w, near) : NULL;
    }
    children_of(cells, parent, m->local[w->level], m->local_stride, child);
    fmm_waves_receive(w->tables, axis, around, child, worker->work);
    return axis == 0 ? count_pairs(&worker->walk, cells, above) : 0;
}

/* A step: the families of one layer send waves, and those of the layer two before it receive waves.  The two are independent of each
 * other. */
typedef struct wave_step {
    const fmm_method *method;
    const fmm_wave_level *level;
    int axis;
    const int32_t *sends, *receives; /* families */
    int32_t num_sends, num_receives;
    int threads, turn; /* turn: of the workers' counters */
    fmm_worker *workers;
} wave_step;

static void set_layers(wave_step *step, int32_t layer)
{
    const fmm_wave_level *w = step->level;
    const int32_t to = layer - 2, sends = layer < w->layers, receives = to >= 0;
    step->sends = sends ? w->family + w->first[layer] : NULL;
    step->receives = receives ? w->family + w->first[to] : NULL;
    step->num_sends = sends ? w->first[layer + 1] - w->first[layer] : 0;
    step->num_receives = receives ? w->first[to + 1] - w->first[to] : 0;
}

/* The first family of a thread's part of `count` families. */
static int32_t first_of(const wave_step *step, int32_t count, int part) { return (int32_t)((int64_t)count * part / step->threads); }

/* Processes the remaining families of a part.  Returns the number of pairs of cells. */
static int64_t take_part(const wave_step *step, int part, fmm_worker *own)
{
    const int32_t first = first_of(step, step->num_sends, part), from = first_of(step, step->num_receives, part);
    const int32_t sends = first_of(step, step->num_sends, part + 1) - first;
    const int32_t both = sends + first_of(step, step->num_receives, part + 1) - from;
    int64_t pairs = 0;
    for (;;) {
        int32_t i;
#pragma omp atomic capture
        i = step->workers[part].taken[step->turn]++;
        if (i >= both || fmm_stops(step->method->stop)) return pairs;
        if (i < sends)
            send(step->method, step->level, step->axis, step->sends[first + i], own);
        else
            pairs += receive(step->method, step->level, step->axis, step->receives[from + i - sends], own);
    }
}

/*
 * A thread has the same part of each layer, so that most of the waves that it receives are its own.  If half of them were another core's,
 * M2L would take up to twice as long where cores share no cache.  A thread that has finished its part helps with those of the others.
 */
static int64_t take_step(const wave_step *step, int thread)
{
    fmm_worker *own = &step->workers[thread];
    int64_t pairs = 0;
    own->taken[!step->turn] = 0;
    for (int k = 0; k < step->threads; k++) pairs += take_part(step, (thread + k) % step->threads, own);
#pragma omp barrier
    return pairs;
}

/* Processes all levels; called by each thread.  Returns the number of pairs of cells that this thread processed. */
static int64_t take_levels(const fmm_method *m, fmm_worker *workers)
{
    const int thread = omp_get_thread_num();
    wave_step step = {.method = m, .threads = omp_get_num_threads(), .workers = workers};
    int64_t pairs = 0;
    fmm_walk_start(&workers[thread].walk, m->tree);
    workers[thread].taken[step.turn] = 0;
#pragma omp barrier
    for (int l = m->tree->depth; l >= FMM_FAR_LEVEL; l--) {
        step.level = &m->waves[l];
        for (step.axis = 0; step.axis < FMM_AXES && step.level->tables; step.axis++)
            for (int32_t layer = 0; layer < step.level->layers + 2; layer++, step.turn = !step.turn) {
                set_layers(&step, layer);
                pairs += take_step(&step, thread);
            }
    }
    return pairs;
}

int64_t fmm_pass_waves(fmm_method *m, int threads, fmm_worker *workers)
{
    int64_t pairs = 0;
    if (!m->family_waves) return 0;
#pragma omp parallel num_threads(threads) reduction(+ : pairs)
    pairs += take_levels(m, workers);
    return pairs;
}
