/*
 * field.h - what a field of a recorded stream says.
 */
#ifndef TOOL_ENERGY_FIELD_H
#define TOOL_ENERGY_FIELD_H

#include <stdbool.h>

/*
 * A decimal number, which the unit may follow ("45.21 W"; any case; NULL: none).  Neither nan, infinity nor hexadecimal numbers, which strtod knows too.
 */
bool energy_field_number(const char *text, const char *unit, double *number);
/* "2026/11/23 10:05:00.125" or "2026-11-23T10:05:00Z" as seconds since 1970; a zone that is not there is taken as UTC. */
bool energy_field_date(const char *text, double *time_s);
/* A reading that failed: "", "-", "nan", "N/A", "[...]". */
bool energy_field_missing(const char *text);

#endif
