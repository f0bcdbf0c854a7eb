/*
 * symbols.h - functions of libraries that are opened when present, called through a table of pointers.
 */
#ifndef YOKE_BASE_SYMBOLS_H
#define YOKE_BASE_SYMBOLS_H

#include <stddef.h>

/* A function of a library, and where in the table its pointer goes. */
typedef struct yoke_symbol {
    const char *name; /* NULL after the last */
    size_t offset;
    int required;
} yoke_symbol;

/*
 * Opens one library and fills the table.  Returns its handle; NULL: why says in at most `bytes` - 1 bytes why not, and *opened whether there is
 * such a library, which then lacks a required function.  What was opened stays loaded for the life of the process: drivers have threads and
 * exit handlers of their own, and cannot be taken out safely.
 */
void *yoke_symbols_open(const char *path, const yoke_symbol *symbols, void *table, char *why, size_t bytes, int *opened);

#endif
