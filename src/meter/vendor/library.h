/*
 * library.h - opens a vendor's library and calls it through a table of pointers, or reports the reason why it cannot.
 */
#ifndef YOKE_METER_VENDOR_LIBRARY_H
#define YOKE_METER_VENDOR_LIBRARY_H

#include "base/symbols.h"
#include "meter/meter.h"

typedef struct meter_library_search {
    const char *const *paths; /* in the order of preference; NULL after the last */
    const char *variable;     /* environment variable that names another library, or none if it is set to "" */
    const yoke_symbol *symbols;
} meter_library_search;

/*
 * Opens the first library that has all required functions and fills the table.  Returns its handle.  NULL if there is none: `why` names a
 * library that was found but was not suitable, or refused, and is "" if none was found.  An opened library stays loaded for the life of
 * the process: drivers have threads and exit handlers of their own, and cannot be unloaded safely.
 * With a root other than "" only the library that the variable names is opened.
 */
void *meter_library_open(const meter_site *site, const meter_library_search *search, void *table, char why[METER_WHY_BYTES]);

#endif
