/*
 * Measures the energy of parts of a program: one region for the whole, and inner regions for two ways of computing the sum of 1/k^2:
 * forwards, and backwards, which is more accurate.
 *
 * If the machine has no meter, the energies are not known, and the reason is printed.  Powers of the machine as the only argument
 * ("idle=20,busy=60") give an estimate.
 */
#include <math.h>
#include <stdio.h>

#include "yoke/yoke.h"

enum { TERMS = 20000000 };

static double forwards(void)
{
    double sum = 0;
    for (int k = 1; k <= TERMS; k++) sum += 1.0 / k / k;
    return sum;
}

static double backwards(void)
{
    double sum = 0;
    for (int k = TERMS; k >= 1; k--) sum += 1.0 / k / k;
    return sum;
}

static void print(const char *what, double seconds, const yoke_energy *energy)
{
    if (isnan(energy->value_j))
        printf("%-10s %.3f s, energy not known: %s\n", what, seconds, energy->why_not);
    else
        printf("%-10s %.3f s, %.3g J +- %.2g J, %s\n", what, seconds, energy->value_j, energy->uncertainty_j,
               yoke_energy_kind_text(energy->kind));
}

/* Computes the sum in one of the two ways within a region of its own. */
static yoke_status measure(yoke_meters *meter, const char *what, double (*sum)(void))
{
    yoke_region *region;
    yoke_energy total;
    double seconds;
    yoke_status status = yoke_region_begin(meter, &region);
    if (status != YOKE_OK) return status;
    double result = sum();
    status = yoke_region_end(region, &seconds, NULL, &total);
    if (status != YOKE_OK) return status;
    print(what, seconds, &total);
    printf("%-10s error %.1e\n", "", fabs(result - (acos(-1) * acos(-1) / 6 - 1.0 / TERMS)));
    return YOKE_OK;
}

static yoke_status run(yoke_context *context, const char *declared)
{
    const yoke_meter_options options = {.declared = declared};
    yoke_meters *meter;
    yoke_region *whole;
    yoke_energy total;
    double seconds;
    yoke_status status = yoke_meters_open(context, &options, &meter);
    if (status != YOKE_OK) return status;
    status = yoke_region_begin(meter, &whole);
    if (status == YOKE_OK) {
        status = measure(meter, "forwards", forwards);
        if (status == YOKE_OK) status = measure(meter, "backwards", backwards);
        yoke_status ended = yoke_region_end(whole, &seconds, NULL, &total);
        if (status == YOKE_OK) status = ended;
        if (status == YOKE_OK) print("whole", seconds, &total);
    }
    yoke_meters_close(meter);
    return status;
}

int main(int argc, char **argv)
{
    yoke_context *context;
    if (yoke_context_create(NULL, &context) != YOKE_OK) {
        fprintf(stderr, "%s\n", yoke_last_error(NULL));
        return 1;
    }
    yoke_status status = run(context, argc > 1 ? argv[1] : NULL);
    if (status != YOKE_OK) fprintf(stderr, "%s\n", yoke_last_error(context));
    yoke_context_destroy(context);
    return status != YOKE_OK;
}
