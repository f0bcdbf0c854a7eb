#include "common/console/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void app_sort(double *values, int64_t count) { qsort(values, (size_t)count, sizeof *values, by_value); }

const char *app_number_text(char text[32], int width, int digits, double value)
{
    if (isfinite(value))
        snprintf(text, 32, "%*.*f", width, digits, value);
    else
        snprintf(text, 32, "%*s", width, "-");
    return text;
}
