#include "powers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number of W that is followed by `end`.  Returns the text after them; NULL: there is no such number. */
static char *read_watts(char *text, char end, double *watts)
{
    char *behind = NULL;
    *watts = strtod(text, &behind);
    return behind != text && *behind == end && isfinite(*watts) && *watts >= 0 ? behind + (end != '\0') : NULL;
}

/* Reads DEVICE=IDLE:BUSY.  Names of devices do not contain =. */
static int read_one(char *item, yoke_run_power *power)
{
    char *numbers = strchr(item, '=');
    if (!numbers || numbers == item) return 0;
    *numbers++ = '\0';
    power->device = item;
    numbers = read_watts(numbers, ':', &power->idle_w);
    return numbers && read_watts(numbers, '\0', &power->busy_w) && power->busy_w > 0 && power->busy_w >= power->idle_w;
}

/* Whether powers of the last device were given before. */
static int is_repeated(const fmm_powers *powers)
{
    const int last = powers->count - 1;
    for (int i = 0; i < last; i++)
        if (!strcmp(powers->power[i].device, powers->power[last].device)) return 1;
    return 0;
}

yoke_status fmm_powers_read(yoke_context *context, const char *words, fmm_powers *powers)
{
    powers->count = 0;
    if (!words) return YOKE_OK;
    if (strlen(words) >= sizeof powers->text)
        return yoke_fail(context, YOKE_ERROR_INPUT, "--power: longer than %d bytes", FMM_POWERS_BYTES - 1);
    strcpy(powers->text, words);
    for (char *item = powers->text, *next; item; item = next) {
        next = strchr(item, ',');
        if (next) *next++ = '\0';
        if (powers->count == FMM_MAX_PARTS)
            return yoke_fail(context, YOKE_ERROR_INPUT, "--power %s: more than %d devices", words, FMM_MAX_PARTS);
        if (!read_one(item, &powers->power[powers->count++]))
            return yoke_fail(context, YOKE_ERROR_INPUT,
                             "--power %s: device %d: expected NAME=IDLE:BUSY in W, BUSY not below IDLE, as in openmp=20:60,cuda:0=30:300",
                             words, powers->count);
        if (is_repeated(powers)) return yoke_fail(context, YOKE_ERROR_INPUT, "--power %s: %s is given twice", words, item);
    }
    return YOKE_OK;
}
