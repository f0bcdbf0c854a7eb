/*
 * select.h - selects the domains that are opened, and those that make up the total.
 */
#ifndef YOKE_METER_SELECT_H
#define YOKE_METER_SELECT_H

#include "meter/meter.h"

/*
 * Selects domains: chosen [list->count]: 1 for those to be opened.  select, sole: see meter_set_options.
 * Errors: INPUT (a name that does not exist), UNAVAILABLE (it exists, but is not usable).
 */
yoke_status meter_select(yoke_context *context, const meter_list *list, const char *select, const char *sole, unsigned char *chosen);
/* Sets `counted` of every domain: whether it belongs to the disjoint top of the chosen domains. */
void meter_select_counted(meter_list *list, const unsigned char *chosen);
/* The hardware that a total over the counted domains leaves out, or why there is no total; "" if nothing is known to be missing. */
void meter_select_lacks(const meter_list *list, const unsigned char *chosen, char text[METER_WHY_BYTES]);

#endif
