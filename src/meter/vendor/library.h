/*
 * library.h - a vendor's library: found when asked for, called through a table of pointers, and otherwise a reason.
 */
#ifndef YOKE_METER_VENDOR_LIBRARY_H
#define YOKE_METER_VENDOR_LIBRARY_H

#include "base/symbols.h"
#include "meter/meter.h"

typedef struct meter_library_search {
    const char *const *paths; /* in the order of preference; NULL after the last */
    const char *variable;     /* names another library, and none where it is set to "" */
    const yoke_symbol *symbols;
} meter_library_search;

/*
 * Opens the first library that has all required functions and fills the table.  Returns its handle; NULL where there is none: why says which
 * was found but not right, or refused, and is "" where there simply is none.  What was opened stays loaded for the life of the process:
 * drivers have threads and exit handlers of their own, and cannot be taken out safely.
 * With a root other than "" only what the variable names is opened.
 */
void *meter_library_open(const meter_site *site, const meter_library_search *search, void *table, char why[METER_WHY_BYTES]);

#endif
