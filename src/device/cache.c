#define _XOPEN_SOURCE 700 /* realpath */

#include "device/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t usual_most_bytes = (int64_t)256 << 20;

/* The name of an entry is 32 hexadecimal digits and this suffix.  While it is being written, unique characters and ".new" follow. */
#define SUFFIX ".program"
enum { DIGITS = 32, NAME_BYTES = DIGITS + sizeof SUFFIX, NEW_NAME_BYTES = NAME_BYTES + 64, STALE_S = 3600, CHUNK = 4096 };

/*
 * An entry's file consists of this header, the key and the data.  Numbers are in the machine's own byte order, since programs are only for
 * this machine.
 */
typedef struct entry_header {
    char magic[8];
    uint64_t version, key_bytes, data_bytes;
    uint64_t checksum[2]; /* of the header up to here, the key and the data */
} entry_header;

static const char magic[8] = {'y', 'o', 'k', 'e', 'p', 'r', 'o', 'g'};
enum { FORMAT_VERSION = 1 };

/* FNV-1a with 128 bits (Fowler, Noll, Vo): not for secrets, but without accidental collisions.  Any single changed byte changes it. */
__extension__ typedef unsigned __int128 hash_number;

static hash_number hash_start(void) { return (hash_number)0x6c62272e07bb0142U << 64 | 0x62b821756295c58dU; }

static hash_number hash_bytes(hash_number hash, const void *bytes, size_t length)
{
    const hash_number prime = (hash_number)0x1000000U << 64 | 0x13bU;
    for (const unsigned char *byte = bytes; length > 0; byte++, length--) hash = (hash ^ *byte) * prime;
    return hash;
}

/* ----------------------------------------------------------------------------------------- the directory */

/* Creates the directory and its missing parents; an error of a parent is reported by the last call.  Returns 0, or the system's error. */
static int make_directory(char *path)
{
    for (char *slash = path + 1; *slash != '\0'; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

/* The directory that the environment selects.  If it selects none, path is "" and *why the reason. */
static void choose_directory(char path[YOKE_CACHE_PATH_BYTES], const char **why)
{
    const char *named = getenv("YOKE_CACHE"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;
    *why = "the path is too long";
    if (named != NULL && named[0] == '\0')
        *why = "YOKE_CACHE is empty";
    else if (named != NULL)
        length = snprintf(path, YOKE_CACHE_PATH_BYTES, "%s", named);
    else if (caches != NULL && caches[0] == '/') /* the XDG specification says that relative paths are ignored */
        length = snprintf(path, YOKE_CACHE_PATH_BYTES, "%s/yoke", caches);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, YOKE_CACHE_PATH_BYTES, "%s/.cache/yoke", home);
    else
        *why = "there is no HOME; set YOKE_CACHE to a directory";
    if (length <= 0 || length >= YOKE_CACHE_PATH_BYTES) path[0] = '\0';
}

void yoke_cache_start(yoke_context *context, yoke_cache *cache)
{
    char path[YOKE_CACHE_PATH_BYTES] = "";
    const char *why = "";
    *cache = (yoke_cache){.context = context, .most_bytes = usual_most_bytes};
    choose_directory(path, &why);
    if (path[0] != '\0') {
        int error = make_directory(path);
        char *real = error == 0 ? realpath(path, NULL) : NULL; /* the working directory may change later */
        if (real == NULL)
            why = strerror(error != 0 ? error : errno);
        else if (strlen(real) < sizeof cache->directory)
            strcpy(cache->directory, real);
        free(real);
    }
    if (cache->directory[0] == '\0')
        yoke_log(context, YOKE_LOG_DEBUG, "compiled programs are not kept%s%s: %s", path[0] != '\0' ? " in " : "", path, why);
}

static int open_directory(const yoke_cache *cache)
{
    return cache->directory[0] != '\0' ? open(cache->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* --------------------------------------------------------------------------------------------------- keys */

/* Appends a part, preceded by its length; if text is NULL, only counts its bytes. */
static void add_part(char *text, int64_t *bytes, const char *part)
{
    char length_text[24];
    size_t length = strlen(part);
    int digits = snprintf(length_text, sizeof length_text, "%zu:", length);
    if (text != NULL) {
        memcpy(text + *bytes, length_text, (size_t)digits);
        memcpy(text + *bytes + digits, part, length);
    }
    *bytes += digits + (int64_t)length;
}

static int64_t add_parts(char *text, const char *const *words, int64_t num_words, const yoke_program_source *source)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < num_words; i++) add_part(text, &bytes, words[i]);
    for (int64_t i = 0; i < source->num_texts; i++) add_part(text, &bytes, source->texts[i]);
    return bytes;
}

yoke_status yoke_cache_key_create(const yoke_cache *cache, const char *kind, const char *device, const char *compiler, const char *dialect,
                                  const yoke_program_source *source, yoke_cache_key *key)
{
    const char *words[] = {yoke_version(), kind, device, compiler, source->options != NULL ? source->options : "", dialect};
    const int64_t num_words = sizeof words / sizeof words[0];
    yoke_cache_key made = {.bytes = add_parts(NULL, words, num_words, source)};
    void *text = NULL;
    yoke_status status = yoke_allocate_untouched(cache->context, made.bytes, 1, &text);
    if (status != YOKE_OK) return status;
    made.text = text;
    add_parts(made.text, words, num_words, source);
    *key = made;
    return YOKE_OK;
}

void yoke_cache_key_destroy(const yoke_cache *cache, yoke_cache_key *key)
{
    yoke_release(cache->context, key->text);
    *key = (yoke_cache_key){0};
}

static void entry_name(const yoke_cache_key *key, char name[NAME_BYTES])
{
    hash_number hash = hash_bytes(hash_start(), key->text, (size_t)key->bytes);
    snprintf(name, NAME_BYTES, "%016llx%016llx" SUFFIX, (unsigned long long)(hash >> 64), (unsigned long long)(hash & UINT64_MAX));
}

/* ------------------------------------------------------------------------------------------------ entries */

static entry_header make_header(const yoke_cache_key *key, int64_t data_bytes)
{
    entry_header header = {.version = FORMAT_VERSION, .key_bytes = (uint64_t)key->bytes, .data_bytes = (uint64_t)data_bytes};
    memcpy(header.magic, magic, sizeof magic);
    return header;
}

static void set_checksum(entry_header *header, const yoke_cache_key *key, const void *data)
{
    hash_number hash = hash_bytes(hash_start(), header, offsetof(entry_header, checksum));
    hash = hash_bytes(hash, key->text, (size_t)key->bytes);
    hash = hash_bytes(hash, data, header->data_bytes);
    header->checksum[0] = (uint64_t)(hash >> 64);
    header->checksum[1] = (uint64_t)(hash & UINT64_MAX);
}

/* Reads or writes all bytes.  Returns 0 if that fails. */
static int read_all(int file, void *bytes, size_t length)
{
    for (char *to = bytes; length > 0;) {
        ssize_t got = read(file, to, length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        to += got;
        length -= (size_t)got;
    }
    return 1;
}

static int write_all(int file, const void *bytes, size_t length)
{
    for (const char *from = bytes; length > 0;) {
        ssize_t put = write(file, from, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return 0;
        from += put;
        length -= (size_t)put;
    }
    return 1;
}

/* Compares piece by piece, so that there is no need for memory for a second key. */
static int key_follows(int file, const yoke_cache_key *key)
{
    char chunk[CHUNK];
    for (int64_t done = 0; done < key->bytes;) {
        size_t length = key->bytes - done < CHUNK ? (size_t)(key->bytes - done) : CHUNK;
        if (!read_all(file, chunk, length) || memcmp(chunk, key->text + done, length) != 0) return 0;
        done += (int64_t)length;
    }
    return 1;
}

/* Opens an entry that only this user or root can have written.  Does not follow links, and does not block on a pipe. */
static int open_entry(int directory, const char *name, int64_t *bytes)
{
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat found;
    if (file < 0) return -1;
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || (found.st_uid != geteuid() && found.st_uid != 0) ||
        (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        close(file);
        return -1;
    }
    *bytes = (int64_t)found.st_size;
    return file;
}

/*
 * Nonzero: the file, of file_bytes, is an entry for this key, as far as this can be decided without its data.  The data are the next to be
 * read.
 */
static int is_entry(int file, int64_t file_bytes, const yoke_cache_key *key, entry_header *header)
{
    const int64_t before_data = (int64_t)sizeof *header + key->bytes;
    if (file_bytes < before_data || !read_all(file, header, sizeof *header)) return 0;
    const entry_header expected = make_header(key, file_bytes - before_data);
    return memcmp(header, &expected, offsetof(entry_header, checksum)) == 0 && key_follows(file, key);
}

static yoke_status read_entry(const yoke_cache *cache, int file, int64_t file_bytes, const yoke_cache_key *key, void **data, int64_t *bytes)
{
    entry_header header, expected;
    if (!is_entry(file, file_bytes, key, &header)) return YOKE_OK;
    void *read = NULL;
    yoke_status status = yoke_allocate_untouched(cache->context, (int64_t)header.data_bytes + 1, 1, &read);
    if (status != YOKE_OK) return status;
    ((char *)read)[header.data_bytes] = '\0';
    if (read_all(file, read, header.data_bytes)) {
        expected = header;
        set_checksum(&expected, key, read);
        if (memcmp(&expected, &header, sizeof header) == 0) {
            *data = read;
            *bytes = (int64_t)header.data_bytes;
            futimens(file, NULL); /* if that is not allowed, the entry only looks older than it is */
            return YOKE_OK;
        }
    }
    yoke_release(cache->context, read);
    return YOKE_OK;
}

yoke_status yoke_cache_read(const yoke_cache *cache, const yoke_cache_key *key, void **data, int64_t *bytes)
{
    char name[NAME_BYTES];
    int64_t file_bytes = 0;
    *data = NULL;
    *bytes = 0;
    int directory = open_directory(cache);
    if (directory < 0) return YOKE_OK;
    entry_name(key, name);
    int file = open_entry(directory, name, &file_bytes);
    close(directory);
    if (file < 0) return YOKE_OK;
    yoke_status status = read_entry(cache, file, file_bytes, key, data, bytes);
    close(file);
    if (status == YOKE_OK)
        yoke_log(cache->context, YOKE_LOG_DEBUG, "compiled program %s/%s: %s", cache->directory, name,
                 *data != NULL ? "found" : "damaged or of another make, not used");
    return status;
}

/* ----------------------------------------------------------------------------------------------- eviction */

/* 2: an entry; 1: an entry that is being written; 0: any other file. */
static int kind_of_name(const char *name)
{
    if (strspn(name, "0123456789abcdef") != DIGITS || strncmp(name + DIGITS, SUFFIX, strlen(SUFFIX)) != 0) return 0;
    const char *rest = name + DIGITS + strlen(SUFFIX);
    size_t length = strlen(rest);
    if (length == 0) return 2;
    return length > 4 && strcmp(rest + length - 4, ".new") == 0 && length + NAME_BYTES < NEW_NAME_BYTES ? 1 : 0;
}

static int is_older(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/*
 * Bytes of all entries, and the name of the least recently used one except `kept`; "" if there is none.  Also removes incomplete entries of
 * processes that ended.
 */
static int64_t survey(DIR *stream, const char *kept, time_t now, char oldest[NAME_BYTES])
{
    int64_t bytes = 0;
    struct timespec oldest_use = {0};
    struct stat found;
    oldest[0] = '\0';
    rewinddir(stream);
    for (const struct dirent *file; (file = readdir(stream)) != NULL;) {
        int kind = kind_of_name(file->d_name);
        if (kind == 0 || fstatat(dirfd(stream), file->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (kind == 1) {
            if (found.st_mtim.tv_sec < now - STALE_S) unlinkat(dirfd(stream), file->d_name, 0);
            continue;
        }
        bytes += (int64_t)found.st_size;
        if (strcmp(file->d_name, kept) == 0 || (oldest[0] != '\0' && !is_older(&found.st_mtim, &oldest_use))) continue;
        strcpy(oldest, file->d_name);
        oldest_use = found.st_mtim;
    }
    return bytes;
}

static void evict(const yoke_cache *cache, int directory, const char *kept)
{
    char oldest[NAME_BYTES];
    struct stat found;
    if (fstatat(directory, kept, &found, AT_SYMLINK_NOFOLLOW) != 0) return;
    int copy = dup(directory);
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    if (stream == NULL) {
        if (copy >= 0) close(copy);
        return;
    }
    while (survey(stream, kept, found.st_mtim.tv_sec, oldest) > cache->most_bytes && oldest[0] != '\0')
        if (unlinkat(directory, oldest, 0) != 0) break;
    closedir(stream);
}

/* ------------------------------------------------------------------------------------------------ writing */

/* Returns 0, or the system's error; in that case no file is left behind. */
static int write_entry(int directory, const char *name, const yoke_cache_key *key, const void *data, int64_t bytes)
{
    char new_name[NEW_NAME_BYTES];
    entry_header header = make_header(key, bytes);
    set_checksum(&header, key, data);
    /* The address makes the name unique among the threads of a process. */
    snprintf(new_name, sizeof new_name, "%s.%lld-%llx.new", name, (long long)getpid(), (unsigned long long)(uintptr_t)&header);
    int file = openat(directory, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    errno = 0;
    int whole = write_all(file, &header, sizeof header) && write_all(file, key->text, (size_t)key->bytes) &&
                write_all(file, data, header.data_bytes);
    int error = whole ? 0 : errno != 0 ? errno : EIO;
    if (close(file) != 0 && error == 0) error = errno;
    if (error == 0 && renameat(directory, new_name, directory, name) != 0) error = errno;
    if (error != 0) unlinkat(directory, new_name, 0);
    return error;
}

void yoke_cache_write(const yoke_cache *cache, const yoke_cache_key *key, const void *data, int64_t bytes)
{
    char name[NAME_BYTES];
    if (cache->directory[0] == '\0' || (int64_t)sizeof(entry_header) + key->bytes > cache->most_bytes - bytes) return;
    int directory = open_directory(cache);
    int error = directory < 0 ? errno : 0;
    entry_name(key, name);
    if (error == 0) error = write_entry(directory, name, key, data, bytes);
    if (error == 0)
        yoke_log(cache->context, YOKE_LOG_DEBUG, "compiled program %s/%s: written", cache->directory, name);
    else
        yoke_log(cache->context, YOKE_LOG_DEBUG, "compiled programs are not kept in %s: %s", cache->directory, strerror(error));
    if (error == 0) evict(cache, directory, name);
    if (directory >= 0) close(directory);
}
