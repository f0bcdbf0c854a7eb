#include <math.h>

#include "energy/energy.h"

void energy_statistic_add(energy_statistic *statistic, double number)
{
    double before = number - statistic->mean;
    statistic->count++;
    statistic->mean += before / (double)statistic->count;
    statistic->squares += before * (number - statistic->mean);
}

/*
 * The 0.975 quantile of Student's t: for few degrees of freedom from the table, else by the expansion about the normal quantile
 * (Abramowitz and Stegun 1972, table 26.10 and 26.7.5), whose error is below 2e-4 there.
 */
static double student(int64_t degrees)
{
    static const double table[] = {12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139};
    const int64_t in_table = (int64_t)(sizeof table / sizeof table[0]);
    if (degrees <= in_table) return table[degrees - 1];
    const double x = 1.959963985, n = (double)degrees, x3 = x * x * x, x5 = x3 * x * x, x7 = x5 * x * x;
    return x + (x3 + x) / (4 * n) + (5 * x5 + 16 * x3 + 3 * x) / (96 * n * n) + (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * n * n * n);
}

double energy_half_width(const energy_statistic *statistic)
{
    if (statistic->count < 2) return NAN;
    double count = (double)statistic->count;
    return student(statistic->count - 1) * sqrt(statistic->squares / (count - 1) / count);
}
