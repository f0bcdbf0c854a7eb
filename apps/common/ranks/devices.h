/*
 * devices.h - the devices of a rank whose user named none: the ranks of a machine share its GPUs.
 */
#ifndef APP_DEVICES_H
#define APP_DEVICES_H

#include <stddef.h>

#include "common/ranks/ranks.h"

enum { APP_MOST_GPUS = 64, APP_GPU_TEXT = 64 };

/* The GPUs that a rank sees, or the devices that its user named. */
typedef struct app_gpus {
    int machine, named, count;               /* machine: number of the first rank on its machine */
    char name[APP_MOST_GPUS][APP_GPU_TEXT];  /* "cuda:0" */
    char place[APP_MOST_GPUS][APP_GPU_TEXT]; /* PCI address; if it has none: the name */
} app_gpus;

/*
 * Assigns GPUs to ranks: seen [ranks]; taken [ranks][APP_MOST_GPUS] becomes nonzero where a rank takes a GPU.  Each GPU of a machine is
 * taken once, by the rank that sees it and has fewest so far, and by the first of several such ranks.  So GPUs are dealt to the ranks one
 * by one, and a rank to which the launcher shows GPUs of its own takes these.  A device that a user named for one rank is not taken by
 * another.
 */
void app_gpus_share(const app_gpus *seen, int ranks, char (*taken)[APP_MOST_GPUS]);

/*
 * Writes the names of a rank's devices, separated by commas: all cores ("openmp"), and its part of the usable GPUs that compute in double
 * precision.
 * named: the devices that its user named, which others then do not take, and which are not written; NULL: none.  Collective.
 * Errors, on which all agree: MEMORY, SYSTEM, UNAVAILABLE (names do not fit into size).
 */
yoke_status app_devices_of_rank(yoke_context *context, app_ranks *ranks, const char *named, char *names, size_t size);

#endif
