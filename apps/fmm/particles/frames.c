#include "particles/frames.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number that consists of digits only, whereas strtoll also accepts signs and blanks.  Returns the end of the number; NULL:
 * there is none. */
static const char *number(const char *text, int64_t *value)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno ? NULL : end;
}

yoke_status fmm_frames_parse(yoke_context *context, const char *text, int64_t frames, int64_t *first, int64_t *last)
{
    int64_t from = 1, to = frames;
    if (strcmp(text, "all") != 0) {
        const char *end = number(text, &from);
        to = from;
        if (end && *end == ':') end = number(end + 1, &to);
        if (!end || *end) return yoke_fail(context, YOKE_ERROR_INPUT, "--frames %s: expected all, or numbers as in 1:10", text);
    }
    if (from < 1 || to < from || to > frames)
        return yoke_fail(context, YOKE_ERROR_INPUT,
                         "--frames %s: expected A:B with A at most B, of the %lld that the file has, numbered from 1", text,
                         (long long)frames);
    *first = from;
    *last = to;
    return YOKE_OK;
}
