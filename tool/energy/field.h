/*
 * field.h - the fields of a recorded stream.
 */
#ifndef TOOL_ENERGY_FIELD_H
#define TOOL_ENERGY_FIELD_H

#include <stdbool.h>

/*
 * Reads a decimal number, which the unit may follow ("45.21 W"; any case; NULL: none).  It rejects nan, infinity and hexadecimal numbers,
 * which strtod accepts.
 */
bool energy_field_number(const char *text, const char *unit, double *number);
/* Reads "2026/11/23 10:05:00.125" or "2026-11-23T10:05:00Z" as seconds since 1970; without a zone the time is UTC. */
bool energy_field_date(const char *text, double *time_s);
/* Whether a field is a reading that failed: "", "-", "nan", "N/A", "[...]". */
bool energy_field_missing(const char *text);

#endif
