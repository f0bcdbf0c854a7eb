/*
 * symbols.h - functions of libraries that are opened when present, called through a table of pointers.
 */
#ifndef YOKE_BASE_SYMBOLS_H
#define YOKE_BASE_SYMBOLS_H

#include <stddef.h>

/* A function of a library, and the place of its pointer in the table. */
typedef struct yoke_symbol {
    const char *name; /* NULL after the last */
    size_t offset;
    int required;
} yoke_symbol;

/*
 * Opens one library and fills the table.  Returns its handle; NULL: `why` has the reason, in at most `bytes` - 1 bytes, and *opened is
 * nonzero if the library exists but lacks a required function.  An opened library stays loaded for the life of the process: drivers have
 * threads and exit handlers of their own, and cannot be unloaded safely.
 */
void *yoke_symbols_open(const char *path, const yoke_symbol *symbols, void *table, char *why, size_t bytes, int *opened);

#endif
