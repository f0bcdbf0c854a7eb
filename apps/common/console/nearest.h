/*
 * nearest.h - suggestions for a mistyped word.
 */
#ifndef APP_NEAREST_H
#define APP_NEAREST_H

#include "yoke/yoke.h"

/*
 * The one of words[0 .. count) that differs from `word` in the fewest letters (inserted, left out, replaced or swapped with a neighbour;
 * optimal string alignment), or NULL if no word is near: more than a third of the letters differ.  Borrowed from words.
 */
const char *app_nearest(const char *word, int count, const char *const *words);

/*
 * Fails with INPUT: "unknown KIND WORD; the KINDs are: all of them; did you mean the nearest one?"
 */
yoke_status app_unknown(yoke_context *context, const char *kind, const char *word, int count, const char *const *words);

#endif
