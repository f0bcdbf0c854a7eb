/*
 * text.h - reads numbers from texts that were written by others: the same in every locale, and never partly.
 */
#ifndef YOKE_METER_TEXT_H
#define YOKE_METER_TEXT_H

#include <stdint.h>

/* Reads a decimal number like -12.5e-3 at *at, which is moved after it.  Returns 0 if there is none, or one that is not a finite double. */
int meter_text_double(const char **at, double *number);
/* Reads digits only, at most UINT64_MAX. */
int meter_text_uint64(const char **at, uint64_t *number);

#endif
