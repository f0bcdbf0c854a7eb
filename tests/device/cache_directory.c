/* Where the cache of compiled programs lies: directories that are there, are not, or cannot be written. */
#define _XOPEN_SOURCE 700 /* mkdtemp, realpath */

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cache_fixture.h"

static void start_with(fixture *test, const char *cache, const char *xdg, const char *home)
{
    const char *names[] = {"YOKE_CACHE", "XDG_CACHE_HOME", "HOME"}, *values[] = {cache, xdg, home};
    for (int i = 0; i < 3; i++) {
        if (values[i] != NULL)
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
    }
    test->lines[0] = '\0';
    yoke_cache_start(test->context, &test->cache);
}

static void assert_off(fixture *test, const char *why)
{
    assert_string_equal(test->cache.directory, "");
    assert_non_null(strstr(test->lines, why));
    write_entry(test, "text", "1");
    assert_false(has_entry(test, "text", "1"));
}

static void assert_at(fixture *test, const char *end)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", test->top, end);
    char *real = realpath(path, NULL);
    assert_non_null(real);
    assert_string_equal(test->cache.directory, real);
    free(real);
    write_entry(test, "text", "1");
    assert_true(has_entry(test, "text", "1"));
}

static void the_directory_is_where_the_environment_says(void **state)
{
    fixture *test = *state;
    char deep[2 * PATH_BYTES];
    snprintf(deep, sizeof deep, "%s/a/b/c", test->top);
    start_with(test, deep, test->top, test->top);
    assert_at(test, "a/b/c");
    start_with(test, NULL, deep, test->top);
    assert_at(test, "a/b/c/yoke");
    start_with(test, NULL, NULL, test->top);
    assert_at(test, ".cache/yoke");
    start_with(test, NULL, "relative/paths/are/ignored", test->top);
    assert_at(test, ".cache/yoke");
    start_with(test, "", test->top, test->top);
    assert_off(test, "YOKE_CACHE is empty");
}

static void without_a_directory_there_is_no_cache(void **state)
{
    fixture *test = *state;
    char file[2 * PATH_BYTES], below[2 * PATH_BYTES + 8], long_path[6000];
    start_with(test, NULL, NULL, NULL);
    assert_off(test, "there is no HOME");
    snprintf(file, sizeof file, "%s/file", test->top);
    snprintf(below, sizeof below, "%s/below", file);
    write_file(file, "x", 1);
    start_with(test, below, NULL, NULL);
    assert_off(test, strerror(ENOTDIR));
    start_with(test, file, NULL, NULL);
    assert_string_not_equal(test->cache.directory, ""); /* it exists; that it is no directory shows at the first use */
    write_entry(test, "text", "1");
    assert_false(has_entry(test, "text", "1"));
    assert_non_null(strstr(test->lines, strerror(ENOTDIR)));
    memset(long_path, 'x', sizeof long_path);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = '\0';
    start_with(test, long_path, NULL, NULL);
    assert_off(test, "too long");
}

static void a_directory_that_cannot_be_written_is_read(void **state)
{
    fixture *test = *state;
    write_entry(test, "text", "1");
    assert_int_equal(chmod(test->top, 0500), 0);
    assert_true(has_entry(test, "text", "1"));
    if (geteuid() != 0) { /* root may write everywhere */
        write_entry(test, "text", "2");
        assert_non_null(strstr(test->lines, strerror(EACCES)));
        assert_true(has_entry(test, "text", "1"));
    }
    assert_int_equal(chmod(test->top, 0700), 0);
    /* Where not even root may make a file. */
    start_with(test, "/proc/self", NULL, NULL);
    write_entry(test, "text", "1");
    assert_false(has_entry(test, "text", "1"));
    assert_non_null(strstr(test->lines, "not kept in /proc/"));
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
    fixture *test = *state;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 64;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    write_entry(test, "text", "1");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(test->lines, strerror(EFBIG)));
    assert_int_equal(count_files(test), 0);
}

static const struct CMUnitTest tests[] = {
    CACHE_TEST(the_directory_is_where_the_environment_says),
    CACHE_TEST(without_a_directory_there_is_no_cache),
    CACHE_TEST(a_directory_that_cannot_be_written_is_read),
    CACHE_TEST(a_full_disk_leaves_nothing_behind),
};

UNIT_MAIN(tests, NULL, NULL)
