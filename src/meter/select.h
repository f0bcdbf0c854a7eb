/*
 * select.h - which of the domains that were found are opened, and which of those make up the total.
 */
#ifndef YOKE_METER_SELECT_H
#define YOKE_METER_SELECT_H

#include "meter/meter.h"

/*
 * chosen [list->count]: 1 for what shall be opened.  select, sole: see meter_set_options.
 * Errors: INPUT (a name that is not there), UNAVAILABLE (there, but not usable).
 */
yoke_status meter_select(yoke_context *context, const meter_list *list, const char *select, const char *sole, unsigned char *chosen);
/* Sets `counted` of every domain: whether it belongs to the disjoint top of what is chosen. */
void meter_select_counted(meter_list *list, const unsigned char *chosen);
/* What hardware a total over what is counted leaves out, or why there is none; "" where nothing is known to lack. */
void meter_select_lacks(const meter_list *list, const unsigned char *chosen, char text[METER_WHY_BYTES]);

#endif
