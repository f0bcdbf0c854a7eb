#include "common/console/nearest.h"

#include <stddef.h>
#include <string.h>

#include "common/console/append.h"

enum { LONGEST = 63 };

static int least(int a, int b) { return a < b ? a : b; }

/* Optimal string alignment distance of two words of at most LONGEST letters. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *previous = rows[1], *current = rows[2];
    for (size_t j = 0; j <= nb; j++) previous[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        current[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
            current[j] = least(replaced, 1 + least(previous[j], current[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) current[j] = least(current[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = previous;
        previous = current;
        current = oldest;
    }
    return previous[nb];
}

const char *app_nearest(const char *word, int count, const char *const *words)
{
    const char *nearest = NULL;
    size_t length = strlen(word);
    if (length > LONGEST) return NULL;
    int best = 1 + ((int)length + 2) / 3;
    for (int i = 0; i < count; i++) {
        size_t other = strlen(words[i]);
        if (other > LONGEST) continue;
        int found = distance(word, length, words[i], other);
        if (found < best) {
            best = found;
            nearest = words[i];
        }
    }
    return nearest;
}

yoke_status app_unknown(yoke_context *context, const char *kind, const char *word, int count, const char *const *words)
{
    char list[1024] = "";
    for (int i = 0; i < count; i++) app_append(list, sizeof list, "%s%s", i > 0 ? ", " : "", words[i]);
    const char *nearest = app_nearest(word, count, words);
    return yoke_fail(context, YOKE_ERROR_INPUT, "unknown %s %s; the %ss are: %s%s%s%s", kind, word, kind, list,
                     nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}
