#include "meter/text.h"

#include <math.h>

static int is_digit(char c) { return c >= '0' && c <= '9'; }

int meter_text_uint64(const char **at, uint64_t *number)
{
    const char *here = *at;
    uint64_t value = 0;
    if (!is_digit(*here)) return 0;
    for (; is_digit(*here); here++) {
        uint64_t digit = (uint64_t)(*here - '0');
        if (value > (UINT64_MAX - digit) / 10) return 0;
        value = 10 * value + digit;
    }
    *at = here;
    *number = value;
    return 1;
}

/* Up to 19 digits in *digits; further ones are counted as powers of ten in *exponent. */
static const char *mantissa(const char *at, uint64_t *digits, long *exponent, int *any)
{
    int point = 0;
    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = 1;
            continue;
        }
        *any = 1;
        if (*digits < UINT64_MAX / 10 - 1) {
            *digits = 10 * *digits + (uint64_t)(*at - '0');
            *exponent -= point;
        } else
            *exponent += !point;
    }
    return at;
}

int meter_text_double(const char **at, double *number)
{
    const char *here = *at;
    int negative = *here == '-', any = 0;
    uint64_t digits = 0;
    long exponent = 0;
    if (*here == '-' || *here == '+') here++;
    here = mantissa(here, &digits, &exponent, &any);
    if (!any) return 0;
    if (*here == 'e' || *here == 'E') {
        const char *behind = here + 1;
        int down = *behind == '-';
        uint64_t power = 0;
        if (*behind == '-' || *behind == '+') behind++;
        if (!meter_text_uint64(&behind, &power) || power > 9999) return 0;
        exponent += down ? -(long)power : (long)power;
        here = behind;
    }
    /* A power of ten up to 1e22 is exact, and dividing by it rounds once. */
    double value =
        exponent < 0 && exponent >= -22 ? (double)digits / pow(10, (double)-exponent) : (double)digits * pow(10, (double)exponent);
    if (digits == 0) value = 0;
    if (!isfinite(value)) return 0;
    *at = here;
    *number = negative ? -value : value;
    return 1;
}
