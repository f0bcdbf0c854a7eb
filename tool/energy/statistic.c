/* Mean and confidence interval of repeated runs. */
#include <math.h>

#include "energy/energy.h"

void energy_statistic_add(energy_statistic *statistic, double number)
{
    double before = number - statistic->mean;
    statistic->count++;
    statistic->mean += before / (double)statistic->count;
    statistic->squares += before * (number - statistic->mean);
}

double energy_half_width(const energy_statistic *statistic)
{
    if (statistic->count < 2) return NAN;
    double count = (double)statistic->count;
    return yoke_student_t(0.975, count - 1) * sqrt(statistic->squares / (count - 1) / count);
}
