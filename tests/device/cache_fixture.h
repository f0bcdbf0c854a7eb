/*
 * cache_fixture.h - what tests of the cache start from: a cache in an empty directory of its own, and entries in it.
 */
#ifndef YOKE_TESTS_DEVICE_CACHE_FIXTURE_H
#define YOKE_TESTS_DEVICE_CACHE_FIXTURE_H

#include "device/cache.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/failing.h"
#include "unit.h"
#include "whole_file.h"

enum { PATH_BYTES = 512 };

/* A context and a cache in an empty directory of its own. */
typedef struct fixture {
    failing memory;
    yoke_context *context;
    yoke_cache cache;
    char top[PATH_BYTES]; /* the directory of the test, in which the cache's may be */
    char lines[4096];     /* what was logged */
} fixture;

static inline void keep_line(yoke_log_level level, const char *text, void *user)
{
    fixture *test = user;
    assert_int_equal(level, YOKE_LOG_DEBUG);
    size_t length = strlen(test->lines);
    snprintf(test->lines + length, sizeof test->lines - length, "%s\n", text);
}

static inline void in_directory(const char *directory, void (*visit)(const char *path, void *user), void *user)
{
    DIR *stream = opendir(directory);
    assert_non_null(stream);
    for (const struct dirent *file; (file = readdir(stream)) != NULL;) {
        char path[PATH_BYTES + sizeof file->d_name + 1];
        if (strcmp(file->d_name, ".") == 0 || strcmp(file->d_name, "..") == 0) continue;
        assert_true(snprintf(path, sizeof path, "%s/%s", directory, file->d_name) < (int)sizeof path);
        visit(path, user);
    }
    closedir(stream);
}

static inline void remove_all(const char *path, void *user)
{
    struct stat found;
    (void)user;
    assert_int_equal(lstat(path, &found), 0);
    if (S_ISDIR(found.st_mode)) in_directory(path, remove_all, NULL);
    assert_int_equal(remove(path), 0);
}

static inline int setup(void **state)
{
    fixture *test = calloc(1, sizeof *test);
    const char *build = getenv("YOKE_BUILD_DIR");
    char *real = realpath(build != NULL ? build : ".", NULL); /* relative paths are not taken from everywhere */
    snprintf(test->top, sizeof test->top, "%s/cache-test-XXXXXX", real);
    free(real);
    if (mkdtemp(test->top) == NULL) return -1;
    yoke_options options = failing_options(&test->memory);
    options.log = keep_line;
    options.log_user = test;
    options.log_level = YOKE_LOG_DEBUG;
    if (yoke_context_create(&options, &test->context) != YOKE_OK) return -1;
    setenv("YOKE_CACHE", test->top, 1);
    yoke_cache_start(test->context, &test->cache);
    *state = test;
    return 0;
}

static inline int teardown(void **state)
{
    fixture *test = *state;
    yoke_context_destroy(test->context);
    assert_int_equal(test->memory.outstanding, 0);
    remove_all(test->top, NULL);
    free(test);
    return 0;
}

static inline yoke_cache_key key_of(const fixture *test, const char *text)
{
    const char *texts[] = {text};
    const yoke_program_source source = {.name = "test", .texts = texts, .num_texts = 1, .options = "-DX=1"};
    yoke_cache_key key;
    assert_int_equal(yoke_cache_key_create(&test->cache, "opencl", "a device", "compiler 1", "dialect", &source, &key), YOKE_OK);
    return key;
}

static inline void write_entry(const fixture *test, const char *text, const char *data)
{
    yoke_cache_key key = key_of(test, text);
    yoke_cache_write(&test->cache, &key, data, (int64_t)strlen(data));
    yoke_cache_key_destroy(&test->cache, &key);
}

/* Whether there is an entry; it must then be the data. */
static inline int has_entry(const fixture *test, const char *text, const char *data)
{
    yoke_cache_key key = key_of(test, text);
    void *read = NULL;
    int64_t bytes = -1;
    assert_int_equal(yoke_cache_read(&test->cache, &key, &read, &bytes), YOKE_OK);
    yoke_cache_key_destroy(&test->cache, &key);
    if (read == NULL) return 0;
    assert_int_equal(bytes, strlen(data));
    assert_string_equal(read, data);
    yoke_release(test->context, read);
    return 1;
}

static inline void count_one(const char *path, void *user)
{
    (void)path;
    ++*(int *)user;
}

static inline int count_files(const fixture *test)
{
    int count = 0;
    in_directory(test->top, count_one, &count);
    return count;
}

static inline void keep_path(const char *path, void *user) { snprintf(user, 2 * PATH_BYTES, "%s", path); }

/* The path of the only file. */
static inline void only_file(const fixture *test, char path[2 * PATH_BYTES])
{
    assert_int_equal(count_files(test), 1);
    in_directory(test->top, keep_path, path);
}

/* For the user alone, as the cache writes them. */
static inline void write_file(const char *path, const char *bytes, size_t length)
{
    whole_file_write(path, bytes, length);
    assert_int_equal(chmod(path, 0600), 0);
}

#define CACHE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
