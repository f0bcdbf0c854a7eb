/*
 * numbers.h - numbers to sort and to print.
 */
#ifndef APP_NUMBERS_H
#define APP_NUMBERS_H

#include <stdint.h>

/* Sorts ascending. */
void app_sort(double *values, int64_t count);

/* The number with so many digits behind the point in so many columns, or "-" where it is not known (NaN or infinite); returns text. */
const char *app_number_text(char text[32], int width, int digits, double value);

#endif
