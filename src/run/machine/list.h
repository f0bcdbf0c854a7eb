/*
 * list.h - lists meters and frequencies without opening any: for runs and for yoke_describe.
 */
#ifndef YOKE_RUN_LIST_H
#define YOKE_RUN_LIST_H

#include "yoke/frequency.h"
#include "yoke/meter.h"

/*
 * Lists all meters of the machine, usable or not, and one entry for each kind that finds none, with reason and remedy; `counted` is as if
 * the set were opened without a selection.  options may be NULL.  *list is freed with yoke_release.  Errors: INPUT (options), MEMORY.
 */
yoke_status yoke_meters_list(yoke_context *context, const yoke_meter_options *options, yoke_meter_info **list, int64_t *count);
/* The same for frequencies; locks nothing. */
yoke_status yoke_frequencies_list(yoke_context *context, const yoke_frequency_options *options, yoke_frequency_info **list, int64_t *count);

#endif
