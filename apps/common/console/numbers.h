/*
 * numbers.h - sorting and printing of numbers.
 */
#ifndef APP_NUMBERS_H
#define APP_NUMBERS_H

#include <stdint.h>

/* Sorts ascending. */
void app_sort(double *values, int64_t count);

/* The number with `digits` digits after the point in `width` columns, or "-" if it is not known (NaN or infinite); returns text. */
const char *app_number_text(char text[32], int width, int digits, double value);

#endif
