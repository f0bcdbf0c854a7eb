/*
 * set.h - meters that are open together.
 *
 *     set.c       selection, the tree, the counted meters, opening
 *     watch.c     the thread that reads often enough, and the measurement of update periods
 *     region.c    intervals of time
 */
#ifndef YOKE_METER_SET_H
#define YOKE_METER_SET_H

#include <pthread.h>

#include "meter/track.h"

typedef struct meter_member { /* an open meter */
    pthread_mutex_t lock;     /* guards all members except constant ones */
    meter_domain domain;
    meter_track track;
    double interval_s; /* between readings by the sampling thread; infinite: none */
    double due_s;      /* used by the sampling thread only */
} meter_member;

typedef struct meter_watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int running, stop;
} meter_watch;

typedef struct meter_set {
    yoke_context *context;
    const meter_time *time;
    meter_member *members;
    yoke_meter_info *infos, *others; /* others: domains that were found and are not open */
    int64_t count, num_others;
    char lacks[METER_WHY_BYTES]; /* hardware that the total leaves out, or why there is no total; "" if nothing is known to be missing */
    pthread_mutex_t lock;        /* guards the list of regions for reuse, and the context's allocator */
    yoke_region *regions;
    meter_watch watch;
} meter_set;

typedef struct meter_set_options {
    const char *select; /* names and kinds, comma-separated; NULL: the best source of each piece of hardware */
    const char *sole;   /* without a selection only this kind is used (a simulated machine's, a recording's); NULL: all kinds */
    double probe_s;     /* longest time to measure update periods; not above 0: they are not measured */
} meter_set_options;

/*
 * Calls all kinds in their order.  A domain with senseless numbers is found, but not usable.  Errors: those of the kinds; the list is
 * then empty.
 */
yoke_status meter_find(const meter_site *site, const meter_kind *const *kinds, int64_t num_kinds, meter_list *list);
/* Sets `counted` of all domains as if the set were opened without a selection.  Errors: MEMORY. */
yoke_status meter_list_count(meter_list *list, const char *sole);

/*
 * Opens a set.  site need not outlive the call, but its context and time must outlive the set.
 * Errors: INPUT, UNAVAILABLE (see yoke_meters_open), MEMORY, SYSTEM (no thread can be created).
 */
yoke_status meter_set_open(const meter_site *site, const meter_kind *const *kinds, int64_t num_kinds, const meter_set_options *options,
                           meter_set **set);
void meter_set_close(meter_set *set);
/* Reads a meter now.  suspended_s: of the set's clock. */
void meter_set_read(meter_set *set, meter_member *member, double suspended_s);
/* Reads all meters that must be read between regions, as the sampling thread does: for callers that advance a virtual clock. */
void meter_set_poll(meter_set *set);
/* Longest time between calls of meter_set_poll; infinite: it need not be called. */
double meter_set_interval_s(const meter_set *set);
double meter_set_suspended_s(const meter_set *set);

/* ------------------------------------------------------------------------------------------------- watch.c */

/* Measures update periods for at most `seconds`. */
void meter_watch_probe(meter_set *set, double seconds);
/* Starts the thread, if one is needed.  Errors: SYSTEM. */
yoke_status meter_watch_start(meter_set *set);
void meter_watch_stop(meter_set *set);

/* ------------------------------------------------------------------------------------------------ region.c */

/* See yoke_region_begin and yoke_region_end. */
yoke_status meter_region_begin(meter_set *set, yoke_region **region);
yoke_status meter_region_end(yoke_region *region, double *seconds, yoke_energy *energies, yoke_energy *total);
/* Frees the memory of ended regions. */
void meter_regions_release(meter_set *set);

#endif
