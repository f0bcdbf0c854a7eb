#include "dense/sizes.h"

#include <stdlib.h>

yoke_status bench_sizes_read(yoke_context *context, const char *text, bench_sizes *sizes)
{
    *sizes = (bench_sizes){0};
    do {
        char *end = NULL;
        const long n = strtol(text, &end, 10);
        if (end == text || n < 1 || n > 100000 || (*end && *end != ','))
            return yoke_fail(context, YOKE_ERROR_INPUT, "--sizes: \"%s\"; expected numbers from 1 to 100000 with commas between them",
                             text);
        if (sizes->count == BENCH_MAX_SIZES) return yoke_fail(context, YOKE_ERROR_INPUT, "--sizes: more than %d", BENCH_MAX_SIZES);
        sizes->n[sizes->count++] = n;
        text = end;
    } while (*text++ == ',');
    return YOKE_OK;
}
