/*
 * cache.h - compiled programs, kept on disk from one run to the next.
 *
 * The directory is $YOKE_CACHE, else $XDG_CACHE_HOME/yoke, else ~/.cache/yoke; YOKE_CACHE="" switches the cache off, and where no directory
 * can be made or written everything works without it (a debug line says so).  An entry is a file named by the hash of its key.  It holds
 * the whole key, which is compared, so that two keys of one hash are never mixed up, and a checksum over all its bytes: what is damaged,
 * cut or made by another version is no hit and is replaced.  Entries are written aside and renamed, so that processes may share a directory.
 * Only regular files of this user or of root that nobody else can write are read.
 */
#ifndef YOKE_DEVICE_CACHE_H
#define YOKE_DEVICE_CACHE_H

#include "yoke/yoke.h"

enum { YOKE_CACHE_PATH_BYTES = 4096 };

/* Has no resources: lives as a member of a backend's state, and needs no end. */
typedef struct yoke_cache {
    yoke_context *context;
    char directory[YOKE_CACHE_PATH_BYTES]; /* "": off */
    int64_t most_bytes;                    /* all entries together; the ones that were not used for the longest time go first */
} yoke_cache;

/* What a compiled program depends on. */
typedef struct yoke_cache_key {
    char *text; /* of the context's memory; all parts, each with its length before it */
    int64_t bytes;
} yoke_cache_key;

/* Finds (and makes, where it is missing) the directory.  most_bytes becomes 256 MiB.  Cannot fail: without a directory the cache is off. */
void yoke_cache_start(yoke_context *context, yoke_cache *cache);

/*
 * Puts a key together of the library's version and
 *   kind      "opencl", "cuda"
 *   device    the name of the device's model: a program is good for all devices of one model
 *   compiler  versions of driver and compiler, and the options that the backend adds (architecture)
 *   dialect   the text that stands before the source's texts
 *   source    its texts and options; its name does not matter
 * Give it back with yoke_cache_key_destroy.  Errors: MEMORY.
 */
yoke_status yoke_cache_key_create(const yoke_cache *cache, const char *kind, const char *device, const char *compiler, const char *dialect,
                                  const yoke_program_source *source, yoke_cache_key *key);
void yoke_cache_key_destroy(const yoke_cache *cache, yoke_cache_key *key);

/*
 * *data becomes the entry's bytes, with a 0 behind them that *bytes does not count, of the context's memory (give back with yoke_release);
 * NULL where there is no good entry.  A hit makes the entry the youngest.  Errors: MEMORY.
 */
yoke_status yoke_cache_read(const yoke_cache *cache, const yoke_cache_key *key, void **data, int64_t *bytes);

/* Keeps the bytes, or says in a debug line why not.  Older entries are removed where all together are more than most_bytes. */
void yoke_cache_write(const yoke_cache *cache, const yoke_cache_key *key, const void *data, int64_t bytes);

#endif
