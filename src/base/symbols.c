#include "base/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Fills the table.  Returns the name of a required function that the library lacks, or NULL. */
static const char *find_symbols(void *library, const yoke_symbol *symbols, void *table)
{
    const char *missing = NULL;
    for (; symbols->name != NULL; symbols++) {
        void *address = dlsym(library, symbols->name);
        if (address == NULL && symbols->required && missing == NULL) missing = symbols->name;
        /* POSIX lets an object pointer hold a function's address; ISO C has no cast for it. */
        memcpy((char *)table + symbols->offset, &address, sizeof address);
    }
    return missing;
}

void *yoke_symbols_open(const char *path, const yoke_symbol *symbols, void *table, char *why, size_t bytes, int *opened)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *opened = library != NULL;
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(why, bytes, "%s", reason != NULL ? reason : path);
        return NULL;
    }
    const char *missing = find_symbols(library, symbols, table);
    if (missing == NULL) return library;
    snprintf(why, bytes, "%.150s has no function %s: it is too old, or another library", path, missing);
    dlclose(library);
    return NULL;
}
