/*
 * devices.h - which devices a rank takes where the user named none: the ranks of a machine share out its GPUs.
 */
#ifndef APP_DEVICES_H
#define APP_DEVICES_H

#include <stddef.h>

#include "common/ranks/ranks.h"

enum { APP_MOST_GPUS = 64, APP_GPU_TEXT = 64 };

/* The GPUs that a rank sees, or the devices that its user named. */
typedef struct app_gpus {
    int machine, named, count;               /* number of the first rank on its machine */
    char name[APP_MOST_GPUS][APP_GPU_TEXT];  /* "cuda:0" */
    char place[APP_MOST_GPUS][APP_GPU_TEXT]; /* PCI address; where it has none: the name */
} app_gpus;

/*
 * Who takes which GPU: seen [ranks]; taken [ranks][APP_MOST_GPUS] becomes nonzero where a rank takes one.  Each GPU of a machine is taken once, by the rank that sees it and
 * has fewest so far, of several the first: so they go round the ranks, and where the launcher shows each rank GPUs of its own, that rank takes them.  What a user named for one
 * rank no other one takes.
 */
void app_gpus_share(const app_gpus *seen, int ranks, char (*taken)[APP_MOST_GPUS]);

/*
 * Writes the names of a rank's devices, separated by commas: all cores ("openmp"), and its part of the usable GPUs that compute in double precision.  named: what its
 * user gave, which others do not take then, and which is not written; NULL: nothing.  Collective.  Errors, on which all agree: MEMORY, SYSTEM, UNAVAILABLE (names do not fit into size).
 */
yoke_status app_devices_of_rank(yoke_context *context, app_ranks *ranks, const char *named, char *names, size_t size);

#endif
