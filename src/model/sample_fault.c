/* Finds the fault of an invalid sample. */
#include "model/sample.h"

#include <math.h>

static int is_unknown_or_positive(double number) { return isnan(number) || (isfinite(number) && number > 0); }
static int is_unknown_or_not_negative(double number) { return isnan(number) || (isfinite(number) && number >= 0); }

const char *sample_fault(const yoke_sample *sample, const char **member)
{
    const char *unused = NULL, **name = member != NULL ? member : &unused;
    const char *interval = "must be 0 or more, or not known";
    *name = "units";
    if (!isfinite(sample->units) || sample->units <= 0) return "must be above 0";
    *name = "frequency_hz";
    if (!is_unknown_or_positive(sample->frequency_hz)) return "must be above 0, or not known";
    *name = "seconds";
    if (!isfinite(sample->seconds) || sample->seconds <= 0) return "must be above 0";
    *name = "seconds_interval";
    if (!is_unknown_or_not_negative(sample->seconds_interval)) return interval;
    *name = "joules"; /* above idle: noise may make the joules of little work negative */
    if (isinf(sample->joules)) return "must be a number, or not known";
    *name = "joules_interval";
    if (!is_unknown_or_not_negative(sample->joules_interval)) return interval;
    *name = "repeats";
    if (sample->repeats < 1) return "must be 1 or more";
    *name = "rejected";
    if (sample->rejected < 0) return "must be 0 or more";
    *name = NULL;
    return NULL;
}
