/*
 * store.h - a store as this room knows it: text of a file, entries in memory.  src/run/store.c knows which file and which machine.
 */
#ifndef YOKE_MODEL_STORE_H
#define YOKE_MODEL_STORE_H

#include "yoke/yoke.h"

enum { STORE_FORMAT = 2, STORE_MOST_BYTES = 64 << 20, STORE_REASON_BYTES = 512 }; /* format 1: yoke fem's own, before there was this one */

/* What yoke_store_find and yoke_store_open say about what they decline. */
typedef struct store_reason {
    char text[STORE_REASON_BYTES];
} store_reason;

typedef struct store_item {
    yoke_store_entry entry;
    void *memory; /* what its texts and samples lie in */
} store_item;

struct yoke_store {
    yoke_context *context;
    char *path;        /* as it was given */
    char *machine;     /* what it is for, plain */
    int own_directory; /* nonzero: the directories of the path are made at the first write */
    int keep_old;      /* nonzero: the file at the path was declined, and is kept as PATH.bak when it is replaced */
    store_item *items; /* ascending by work, then device */
    int64_t count, capacity;
    store_reason *declined, *found; /* why the file, why the last entry looked for */
};

/* Opens the file at a path for the machine of this text; the rest is yoke_store_open's contract. */
yoke_status store_open(yoke_context *context, const char *path, const char *machine, int own_directory, yoke_store **store,
                       const char **declined);

/* Reads the file into an empty store.  It is not there, or declined: no entries, and the reason ("" if it is not there). */
yoke_status store_read(yoke_store *store);

/* Adds a copy of an entry without looking for one of the same work and device, at the end: store_sort must follow. */
yoke_status store_append(yoke_store *store, const yoke_store_entry *entry);
void store_sort(yoke_store *store);
/* As strcmp, by work and then device. */
int store_compare(const yoke_store_entry *a, const yoke_store_entry *b);

/* NULL if an entry keeps its contract, else what is wrong, and *where is a JSON pointer below the entry ("/samples/3/seconds"). */
const char *store_entry_fault(const yoke_store_entry *entry, char where[64]);

/* The text with every byte that is not UTF-8 as "?", which is what a JSON file can hold.  Given back with yoke_release. */
yoke_status store_plain_text(yoke_context *context, const char *text, char **plain);

#endif
