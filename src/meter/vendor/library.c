#include "meter/vendor/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether dlopen's error means that this file does not exist, and not that it is damaged or that another library it needs is missing. */
static int is_absent(const char *reason, const char *path)
{
    return strncmp(reason, path, strlen(path)) == 0 && strstr(reason, "No such file") != NULL;
}

/* *found: the library exists, but is possibly not suitable. */
static void *open_one(const char *path, const yoke_symbol *symbols, void *table, char why[METER_WHY_BYTES], int *found)
{
    int opened = 0;
    void *library = yoke_symbols_open(path, symbols, table, why, METER_WHY_BYTES, &opened);
    *found = opened || !is_absent(why, path);
    return library;
}

void *meter_library_open(const meter_site *site, const meter_library_search *search, void *table, char why[METER_WHY_BYTES])
{
    const char *asked = getenv(search->variable);
    int found = 0;
    why[0] = '\0';
    if (asked != NULL && asked[0] == '\0') {
        snprintf(why, METER_WHY_BYTES, "%s is set to nothing, which switches it off", search->variable);
        return NULL;
    }
    if (asked != NULL) return open_one(asked, search->symbols, table, why, &found);
    if (site->root[0] != '\0') {
        snprintf(why, METER_WHY_BYTES, "a recorded machine (%.100s) has no libraries; %s can name a stand-in", site->root,
                 search->variable);
        return NULL;
    }
    for (const char *const *path = search->paths; *path != NULL; path++) {
        char reason[METER_WHY_BYTES];
        void *library = open_one(*path, search->symbols, table, reason, &found);
        if (library != NULL) return library;
        if (found && why[0] == '\0') memcpy(why, reason, sizeof reason);
    }
    return NULL;
}
