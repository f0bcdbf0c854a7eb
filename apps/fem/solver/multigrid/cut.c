/* multigrid/cut.c - cuts the elements of a coarser level among the devices. */
#include <string.h>

#include "solver/multigrid/private.h"

/* Returns nonzero if f is the first descendant of c, which has the same lower corner. */
static int is_first_descendant(const fem_space *coarse, int32_t c, const fem_space *fine, int32_t f)
{
    return coarse->tree[c] == fine->tree[f] && !memcmp(coarse->corner + 3 * (int64_t)c, fine->corner + 3 * (int64_t)f, 3 * sizeof(int32_t));
}

/* Both lists of leaves are in Morton order, so one pass finds the first descendants. */
static yoke_status cut_like_finer(const multigrid_level *finer, multigrid_level *level, int devices)
{
    int32_t f = 0;
    int d = 0;
    for (int32_t c = 0; c < level->space->num_elements; c++) {
        while (f < finer->space->num_elements && !is_first_descendant(level->space, c, finer->space, f)) f++;
        if (f == finer->space->num_elements)
            return yoke_fail(level->space->context, YOKE_ERROR_INTERNAL, "multigrid: element %ld of a level has no descendant", (long)c);
        while (f >= finer->cut[d + 1]) level->cut[++d] = c;
    }
    while (d < devices) level->cut[++d] = level->space->num_elements;
    return YOKE_OK;
}

static void give_to_one(fem_multigrid *m, multigrid_level *level)
{
    const fem_devices *devices = m->options.devices;
    const int32_t *cut = m->level[0].cut;
    int chosen = 0;
    for (int d = 0; d < devices->count; d++)
        if (cut[d + 1] - cut[d] > cut[chosen + 1] - cut[chosen]) chosen = d;
    for (int d = devices->count - 1; d >= 0; d--)
        if (cut[d] < cut[d + 1] && !strcmp(devices->list[d].info->kind, "openmp")) chosen = d;
    for (int d = 0; d < devices->count; d++) level->cut[d + 1] = d < chosen ? 0 : level->space->num_elements;
}

yoke_status multigrid_cut(fem_multigrid *m, int l)
{
    const multigrid_level *finer = &m->level[l - 1];
    multigrid_level *level = &m->level[l];
    int devices = m->options.devices->count, working = 0;
    for (int d = 0; d < devices; d++) working += m->level[0].cut[d] < m->level[0].cut[d + 1];
    if (working > 1 && level->space->num_elements < m->options.shared_elements * working) {
        give_to_one(m, level);
        return YOKE_OK;
    }
    return cut_like_finer(finer, level, devices);
}
