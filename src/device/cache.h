/*
 * cache.h - a cache of compiled programs on disk, which persists from one run to the next.
 *
 * The directory is $YOKE_CACHE, else $XDG_CACHE_HOME/yoke, else ~/.cache/yoke; YOKE_CACHE="" disables the cache.  If no directory can be
 * created or written, everything works without a cache (a debug line reports it).
 *
 * An entry is a file named by the hash of its key.  It contains the whole key, which is compared, so that two keys with one hash are
 * never confused, and a checksum over all its bytes: an entry that is damaged, cut or made by another version is no hit and is replaced.
 * Entries are written to a temporary name and renamed, so that processes may share a directory.  Only regular files of this user or of
 * root that nobody else can write are read.
 */
#ifndef YOKE_DEVICE_CACHE_H
#define YOKE_DEVICE_CACHE_H

#include "yoke/yoke.h"

enum { YOKE_CACHE_PATH_BYTES = 4096 };

/* It has no resources: it is a member of a backend's state, and need not be destroyed. */
typedef struct yoke_cache {
    yoke_context *context;
    char directory[YOKE_CACHE_PATH_BYTES]; /* "": off */
    int64_t most_bytes;                    /* limit of all entries together; the least recently used ones are removed first */
} yoke_cache;

/* The data on which a compiled program depends. */
typedef struct yoke_cache_key {
    char *text; /* in the context's memory; all parts, each preceded by its length */
    int64_t bytes;
} yoke_cache_key;

/*
 * Finds the directory, and creates it if it is missing.  most_bytes becomes 256 MiB.  Cannot fail: without a directory the cache is
 * disabled.
 */
void yoke_cache_start(yoke_context *context, yoke_cache *cache);

/*
 * Builds a key from the library's version and
 *   kind      "opencl", "cuda"
 *   device    the name of the device's model: a program is valid for all devices of one model
 *   compiler  versions of driver and compiler, and the options that the backend adds (architecture)
 *   dialect   the text that precedes the source's texts
 *   source    its texts and options; its name does not matter
 * Free it with yoke_cache_key_destroy.  Errors: MEMORY.
 */
yoke_status yoke_cache_key_create(const yoke_cache *cache, const char *kind, const char *device, const char *compiler, const char *dialect,
                                  const yoke_program_source *source, yoke_cache_key *key);
void yoke_cache_key_destroy(const yoke_cache *cache, yoke_cache_key *key);

/*
 * Reads an entry: *data becomes its bytes, followed by a 0 that *bytes does not count, in the context's memory (free it with yoke_release);
 * NULL if there is no valid entry.  A hit makes the entry the most recently used.  Errors: MEMORY.
 */
yoke_status yoke_cache_read(const yoke_cache *cache, const yoke_cache_key *key, void **data, int64_t *bytes);

/* Stores the bytes, or writes a debug line with the reason why not.  Older entries are removed if all together exceed most_bytes. */
void yoke_cache_write(const yoke_cache *cache, const yoke_cache_key *key, const void *data, int64_t bytes);

#endif
