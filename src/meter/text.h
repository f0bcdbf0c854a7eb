/*
 * text.h - numbers from texts that were written by others: the same in every locale, and nothing half understood.
 */
#ifndef YOKE_METER_TEXT_H
#define YOKE_METER_TEXT_H

#include <stdint.h>

/* A decimal number like -12.5e-3 at *at, which is moved behind it.  Returns 0 where there is none, or one that is no finite double. */
int meter_text_double(const char **at, double *number);
/* Digits only, at most UINT64_MAX. */
int meter_text_uint64(const char **at, uint64_t *number);

#endif
