/* Files of TSPLIB (Reinelt 1995): lines KEY : VALUE, then the coordinates. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tsp/cities.h"

enum { MAX_LINE = 4096 };

typedef struct reader {
    yoke_context *context;
    const char *path;
    FILE *file;
    long long line; /* beginning with 1 */
    char text[MAX_LINE];
    dense_cities cities;
    int has_metric;
    int64_t dimension; /* 0: not known yet */
    unsigned char *seen;
} reader;

static const char *const metrics[] = {"EUC_2D", "CEIL_2D", "MAN_2D", "MAX_2D", "ATT", NULL};

#define FAIL(r, ...) fail(r, yoke_fail((r)->context, YOKE_ERROR_INPUT, __VA_ARGS__))
/* Prepends file and line to the error message. */
static yoke_status fail(const reader *r, yoke_status status)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", yoke_last_error(r->context));
    const long long line = r->line ? r->line : 1; /* an empty file has no line */
    return yoke_fail(r->context, status, "%s:%lld: %s", r->path, line, text);
}

/* Reads the next line that is not empty, without the blanks around it; *end: there is none. */
static yoke_status next_line(reader *r, int *end)
{
    for (*end = 0; fgets(r->text, sizeof r->text, r->file);) {
        size_t length = strlen(r->text);
        r->line++;
        if (length == sizeof r->text - 1 && r->text[length - 1] != '\n') return FAIL(r, "a line of more than %d bytes", MAX_LINE - 2);
        while (length > 0 && isspace((unsigned char)r->text[length - 1])) r->text[--length] = '\0';
        const size_t blanks = strspn(r->text, " \t");
        memmove(r->text, r->text + blanks, length - blanks + 1);
        if (r->text[0]) return YOKE_OK;
    }
    if (ferror(r->file)) return yoke_fail(r->context, YOKE_ERROR_INPUT, "%s cannot be read: %s", r->path, strerror(errno));
    *end = 1;
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------------------- keys */

static yoke_status read_dimension(reader *r, const char *value)
{
    char *end = NULL;
    errno = 0;
    const long long count = strtoll(value, &end, 10);
    if (end == value || *end || errno || count < 1 || count > DENSE_MAX_CITIES)
        return FAIL(r, "DIMENSION is \"%.60s\"; expected a whole number from 1 to %d", value, DENSE_MAX_CITIES);
    if (r->dimension) return FAIL(r, "DIMENSION is there twice");
    r->dimension = count;
    return YOKE_OK;
}

static yoke_status read_metric(reader *r, const char *value)
{
    for (int k = 0; metrics[k]; k++)
        if (!strcmp(value, metrics[k])) {
            r->cities.metric = (dense_metric)k;
            r->has_metric = 1;
            return YOKE_OK;
        }
    return FAIL(r, "EDGE_WEIGHT_TYPE is \"%.60s\"; what is read: EUC_2D, CEIL_2D, MAN_2D, MAX_2D, ATT", value);
}

static yoke_status read_key(reader *r)
{
    char key[64] = "";
    const size_t length = strcspn(r->text, ": \t");
    const char *value = r->text + length;
    value += strspn(value, " \t");
    if (*value != ':') return FAIL(r, "\"%.60s\"; expected KEY : VALUE, or NODE_COORD_SECTION", r->text);
    value += 1 + strspn(value + 1, " \t");
    snprintf(key, sizeof key, "%.*s", (int)(length < 63 ? length : 63), r->text);
    if (!strcmp(key, "DIMENSION")) return read_dimension(r, value);
    if (!strcmp(key, "EDGE_WEIGHT_TYPE")) return read_metric(r, value);
    if (!strcmp(key, "TYPE")) {
        if (!strcmp(value, "TSP") || !strcmp(value, "STSP")) return YOKE_OK;
        return FAIL(r, "TYPE is \"%.60s\"; expected TSP", value);
    }
    if (!strcmp(key, "NODE_COORD_TYPE")) {
        if (!strcmp(value, "TWOD_COORDS")) return YOKE_OK;
        return FAIL(r, "NODE_COORD_TYPE is \"%.60s\"; expected TWOD_COORDS", value);
    }
    if (!strcmp(key, "NAME")) {
        snprintf(r->cities.name, sizeof r->cities.name, "%.100s", value);
        return YOKE_OK;
    }
    if (!strcmp(key, "COMMENT") || !strcmp(key, "DISPLAY_DATA_TYPE")) return YOKE_OK;
    return FAIL(
        r,
        "unknown key \"%.60s\"; keys that are read: NAME, COMMENT, TYPE, DIMENSION, EDGE_WEIGHT_TYPE, NODE_COORD_TYPE, DISPLAY_DATA_TYPE",
        key);
}

/* -------------------------------------------------------------------------------------------------- coordinates */

/* Reads the next number of the line.  Returns 0 if there is none. */
static int take_number(const char **at, double *number)
{
    char *end = NULL;
    *number = strtod(*at, &end);
    if (end == *at || (*end && !isspace((unsigned char)*end)) || !isfinite(*number)) return 0;
    *at = end + strspn(end, " \t");
    return 1;
}

static yoke_status read_city(reader *r)
{
    const char *at = r->text;
    double number, x, y;
    if (!take_number(&at, &number) || !take_number(&at, &x) || !take_number(&at, &y) || *at)
        return FAIL(r, "\"%.60s\"; expected the number of a city and its two coordinates", r->text);
    if (!(number >= 1 && number <= (double)r->dimension) || number != floor(number))
        return FAIL(r, "city %g; expected a whole number from 1 to %lld", number, (long long)r->dimension);
    const int64_t i = (int64_t)number - 1;
    if (r->seen[i]) return FAIL(r, "city %lld is there twice", (long long)i + 1);
    r->seen[i] = 1;
    r->cities.x[i] = x;
    r->cities.y[i] = y;
    return YOKE_OK;
}

static yoke_status read_coordinates(reader *r)
{
    if (!r->dimension) return FAIL(r, "NODE_COORD_SECTION before DIMENSION: how many cities are there?");
    if (!r->has_metric) return FAIL(r, "NODE_COORD_SECTION before EDGE_WEIGHT_TYPE: which distances are meant?");
    yoke_status status = dense_cities_create(r->context, r->dimension, &r->cities);
    if (!status) status = yoke_allocate(r->context, r->dimension, 1, &r->seen);
    for (int64_t count = 0; count < r->dimension && !status; count++) {
        int end = 0;
        status = next_line(r, &end);
        if (!status && (end || !strcmp(r->text, "EOF")))
            status = FAIL(r, "the file ends after %lld of %lld cities", (long long)count, (long long)r->dimension);
        if (!status) status = read_city(r);
    }
    return status;
}

static yoke_status read_file(reader *r)
{
    int end = 0;
    yoke_status status = YOKE_OK;
    while (!status) {
        status = next_line(r, &end);
        if (status || end || !strcmp(r->text, "EOF")) break;
        if (r->cities.count) return FAIL(r, "\"%.60s\" behind the last of %lld cities; expected EOF", r->text, (long long)r->dimension);
        status = !strncmp(r->text, "NODE_COORD_SECTION", 18) ? read_coordinates(r) : read_key(r);
    }
    if (status) return status;
    if (!r->cities.count) return FAIL(r, "the file ends without a NODE_COORD_SECTION");
    return dense_cities_measure(&r->cities);
}

yoke_status dense_cities_read(yoke_context *context, const char *path, dense_cities *cities)
{
    struct stat about;
    reader *r = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *r, &r);
    if (status) return status;
    *r = (reader){.context = context, .path = path, .file = fopen(path, "r")};
    snprintf(r->cities.name, sizeof r->cities.name, "%.120s", path);
    if (!r->file)
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s cannot be opened: %s", path, strerror(errno));
    else if (fstat(fileno(r->file), &about) == 0 && S_ISDIR(about.st_mode))
        status = yoke_fail(context, YOKE_ERROR_INPUT, "%s is a directory; expected a TSPLIB file", path);
    else
        status = read_file(r);
    if (r->file) fclose(r->file);
    yoke_release(context, r->seen);
    if (status)
        dense_cities_destroy(&r->cities);
    else
        *cities = r->cities;
    yoke_release(context, r);
    return status;
}
