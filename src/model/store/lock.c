/* Locks stores on the same file: each waits for the others, and then reads what they wrote. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "model/store/store.h"

static const char suffix[] = ".lock";

/* The longest wait for others to finish writing, which takes some milliseconds. */
static const double patience_s = 10;

/* ------------------------------------------------------------------------------------------------ the lock */

static int is_directory(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* Creates the missing directories of the file's path. */
static yoke_status make_directories(const yoke_store *store)
{
    char path[PATH_MAX];
    if (strlen(store->path) >= sizeof path)
        return yoke_fail(store->context, YOKE_ERROR_SYSTEM, "the store %s could not be written: %s", store->path, strerror(ENAMETOOLONG));
    strcpy(path, store->path);
    for (char *slash = path + 1; *slash != '\0'; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        if (mkdir(path, 0700) != 0) {
            const int why = errno == EEXIST ? ENOTDIR : errno;
            if (!is_directory(path))
                return yoke_fail(store->context, YOKE_ERROR_SYSTEM,
                                 "the store %s could not be written: directory %s cannot be made: %s; name another store, or none",
                                 store->path, path, strerror(why));
        }
        *slash = '/';
    }
    return YOKE_OK;
}

static int is_same_file(int descriptor, const char *path)
{
    struct stat opened, there;
    return fstat(descriptor, &opened) == 0 && stat(path, &there) == 0 && opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/*
 * Takes the lock if it is free.  Returns its descriptor, or -1 and errno; EWOULDBLOCK: another store has it.  The owner removes the file
 * when it releases the lock, so a file that was opened before may no longer exist when it is locked.  On file systems without locks nobody
 * waits.
 */
static int try_lock(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0) return -1;
    const int taken = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (taken ? is_same_file(descriptor, path) : errno != EWOULDBLOCK && errno != EINTR) return descriptor;
    close(descriptor);
    errno = EWOULDBLOCK;
    return -1;
}

static yoke_status wait_for_lock(yoke_store *store)
{
    const double end_s = yoke_clock_s() + patience_s;
    while ((store->lock = try_lock(store->lock_path)) < 0) {
        const struct timespec moment = {0, 2000000};
        if (errno != EWOULDBLOCK)
            return yoke_fail(store->context, YOKE_ERROR_SYSTEM, "the store %s could not be written: %s: %s; name another store, or none",
                             store->path, store->lock_path, strerror(errno));
        if (yoke_clock_s() > end_s)
            return yoke_fail(store->context, YOKE_ERROR_SYSTEM,
                             "the store %s could not be written: another program has been writing it for %g s (it keeps %s locked); end "
                             "it, or name another store",
                             store->path, patience_s, store->lock_path);
        nanosleep(&moment, NULL);
    }
    return YOKE_OK;
}

static yoke_status take_lock(yoke_store *store)
{
    char target[PATH_MAX];
    void *memory = NULL;
    yoke_status status = store->own_directory ? make_directories(store) : YOKE_OK;
    if (status != YOKE_OK) return status;
    if (!yoke_file_follow(store->path, target))
        return yoke_fail(store->context, YOKE_ERROR_SYSTEM, "the store %s could not be written: %s", store->path, strerror(errno));
    status = yoke_allocate(store->context, (int64_t)(strlen(target) + sizeof suffix), 1, &memory);
    if (status != YOKE_OK) return status;
    store->lock_path = strcat(strcpy(memory, target), suffix);
    status = wait_for_lock(store);
    if (status != YOKE_OK) {
        yoke_release(store->context, store->lock_path);
        store->lock_path = NULL;
    }
    return status;
}

void yoke_store_unlock(yoke_store *store)
{
    if (store == NULL || store->lock_path == NULL) return;
    unlink(store->lock_path); /* before it is unlocked, while nobody else has it */
    close(store->lock);
    yoke_release(store->context, store->lock_path);
    store->lock_path = NULL;
}

/* -------------------------------------------------------------------------------------- the others' entries */

/* Takes the entries of a store that was read from the file later, except those that were put into this one. */
static yoke_status take_newer(yoke_store *store, yoke_store *newer)
{
    const int64_t own = store->count;
    int64_t at = 0;
    yoke_status status = YOKE_OK;
    for (int64_t i = 0; i < newer->count && status == YOKE_OK; i++) {
        store_item *item = &newer->items[i];
        while (at < own && store_compare(&store->items[at].entry, &item->entry) < 0) at++;
        if (at < own && store_compare(&store->items[at].entry, &item->entry) == 0) {
            if (store->items[at].is_put) continue;
            const store_item older = store->items[at];
            store->items[at] = *item;
            *item = older;
        } else {
            status = store_append(store, &item->entry);
        }
    }
    store_sort(store);
    return status;
}

static yoke_status read_again(yoke_store *store)
{
    yoke_store *newer = NULL;
    const char *declined = NULL;
    yoke_status status = store_open(store->context, store->path, store->machine, 0, &newer, &declined);
    if (status == YOKE_OK) status = take_newer(store, newer);
    if (status == YOKE_OK) store->keep_old = declined != NULL;
    yoke_store_close(newer);
    return status;
}

yoke_status yoke_store_lock(yoke_store *store)
{
    if (store == NULL) return yoke_fail(NULL, YOKE_ERROR_ARGUMENT, "yoke_store_lock: store is NULL");
    if (store->lock_path != NULL) return YOKE_OK;
    yoke_status status = take_lock(store);
    if (status != YOKE_OK) return status;
    if (!store_is_unchanged(store)) status = read_again(store);
    if (status != YOKE_OK) yoke_store_unlock(store);
    return status;
}
