#include "energy/field.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Days since 1970-01-01 in the Gregorian calendar (Hinnant's days_from_civil). */
static double days(int year, int month, int day)
{
    const int y = month <= 2 ? year - 1 : year, era = y / 400, of_era = y - 400 * era;
    const int of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return 146097.0 * era + 365 * of_era + of_era / 4 - of_era / 100 + of_year - 719468;
}

bool energy_field_date(const char *text, double *time_s)
{
    int year, month, day, hour, minute, at = 0, zone_hour = 0, zone_minute = 0;
    char *end = NULL;
    if (sscanf(text, "%4d%*1[-/]%2d%*1[-/]%2d%*1[ T]%2d:%2d:%n", &year, &month, &day, &hour, &minute, &at) != 5 || at == 0) return false;
    if (!isdigit((unsigned char)text[at])) return false;
    const double second = strtod(text + at, &end);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 24 || minute < 0 || minute > 59 ||
        !(second < 61))
        return false;
    const char sign = *end;
    if (sign == 'Z') end++;
    if (sign == '+' || sign == '-') {
        at = 0;
        if (sscanf(end + 1, "%2d:%2d%n", &zone_hour, &zone_minute, &at) != 2 || at == 0) return false;
        end += 1 + at;
    }
    if (*end != '\0') return false;
    const double zone_s = 3600.0 * zone_hour + 60.0 * zone_minute;
    *time_s = 86400 * days(year, month, day) + 3600 * hour + 60 * minute + second - (sign == '-' ? -zone_s : zone_s);
    return true;
}

bool energy_field_number(const char *text, const char *unit, double *number)
{
    char *end = NULL;
    if (text[strspn(text, "+-")] == '\0' || strchr("0123456789.", text[strspn(text, "+-")]) == NULL || strpbrk(text, "xX") != NULL)
        return false;
    *number = strtod(text, &end);
    if (end == text || !isfinite(*number)) return false;
    end += strspn(end, " ");
    return *end == '\0' || (unit != NULL && strcasecmp(end, unit) == 0);
}

bool energy_field_missing(const char *text)
{
    return *text == '\0' || *text == '[' || strcmp(text, "-") == 0 || strcasecmp(text, "nan") == 0 || strcasecmp(text, "n/a") == 0;
}
