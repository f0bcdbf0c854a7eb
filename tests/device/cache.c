#define _XOPEN_SOURCE 700 /* mkdtemp, realpath */

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache_fixture.h"

/* --------------------------------------------------------------------------------------------- the right way */

static void what_is_written_is_read(void **state)
{
    fixture *test = *state;
    static const char data[] = "\0binary\xff\n\0";
    yoke_cache_key key = key_of(test, "text");
    void *read = NULL;
    int64_t bytes = 0;
    assert_false(has_entry(test, "text", ""));
    yoke_cache_write(&test->cache, &key, data, sizeof data);
    assert_int_equal(yoke_cache_read(&test->cache, &key, &read, &bytes), YOKE_OK);
    assert_non_null(read);
    assert_int_equal(bytes, sizeof data);
    assert_memory_equal(read, data, sizeof data);
    yoke_release(test->context, read);
    yoke_cache_key_destroy(&test->cache, &key);
    assert_false(has_entry(test, "other text", ""));
    write_entry(test, "text", "");
    assert_true(has_entry(test, "text", ""));
    write_entry(test, "text", "another");
    assert_true(has_entry(test, "text", "another"));
    assert_int_equal(count_files(test), 1);
}

static void a_key_depends_on_all_its_parts(void **state)
{
    const fixture *test = *state;
    const char *one[] = {"ab", "c"}, *two[] = {"a", "bc"}, *three[] = {"ab", "c", ""};
    const struct {
        const char *kind, *device, *compiler, *dialect, *options;
        const char *const *texts;
        int64_t num_texts;
    } cases[] = {
        {"opencl", "d", "v", "t", "", one, 2}, {"cuda", "d", "v", "t", "", one, 2},   {"opencl", "e", "v", "t", "", one, 2},
        {"opencl", "d", "w", "t", "", one, 2}, {"opencl", "d", "v", "u", "", one, 2}, {"opencl", "d", "v", "t", "-DX", one, 2},
        {"opencl", "d", "v", "t", "", two, 2}, {"opencl", "d", "v", "t", "", one, 1}, {"opencl", "d", "v", "t", "", three, 3},
        {"opencl", "dv", "", "t", "", one, 2},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    yoke_cache_key keys[COUNT];
    for (int i = 0; i < COUNT; i++) {
        yoke_program_source source = {.name = "n", .texts = cases[i].texts, .num_texts = cases[i].num_texts, .options = cases[i].options};
        assert_int_equal(
            yoke_cache_key_create(&test->cache, cases[i].kind, cases[i].device, cases[i].compiler, cases[i].dialect, &source, &keys[i]),
            YOKE_OK);
        for (int j = 0; j < i; j++)
            assert_false(keys[i].bytes == keys[j].bytes && memcmp(keys[i].text, keys[j].text, (size_t)keys[i].bytes) == 0);
    }
    /* No options and empty options are the same, and the name does not matter. */
    yoke_program_source source = {.name = "m", .texts = one, .num_texts = 2};
    yoke_cache_key same;
    assert_int_equal(yoke_cache_key_create(&test->cache, "opencl", "d", "v", "t", &source, &same), YOKE_OK);
    assert_int_equal(same.bytes, keys[0].bytes);
    assert_memory_equal(same.text, keys[0].text, (size_t)same.bytes);
    yoke_cache_key_destroy(&test->cache, &same);
    for (int i = 0; i < COUNT; i++) yoke_cache_key_destroy(&test->cache, &keys[i]);
}

/* ------------------------------------------------------------------------------------------------ bad entries */

static size_t read_file(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, room, file);
    assert_true(length < room);
    fclose(file);
    return length;
}

static void no_damaged_entry_is_read(void **state)
{
    fixture *test = *state;
    char path[2 * PATH_BYTES], bytes[1024];
    write_entry(test, "text", "the program");
    only_file(test, path);
    const size_t length = read_file(path, bytes, sizeof bytes - 8);
    for (size_t i = 0; i < length; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
            write_file(path, bytes, length);
            assert_false(has_entry(test, "text", "the program"));
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
        }
        write_file(path, bytes, i);
        assert_false(has_entry(test, "text", "the program"));
        test->lines[0] = '\0';
    }
    bytes[length] = '\0';
    write_file(path, bytes, length + 1);
    assert_false(has_entry(test, "text", "the program"));
    write_entry(test, "text", "the program");
    assert_true(has_entry(test, "text", "the program"));
    write_file(path, bytes, length);
    assert_true(has_entry(test, "text", "the program"));
}

static void an_entry_of_another_key_is_not_read(void **state)
{
    fixture *test = *state;
    char path[2 * PATH_BYTES], bytes[1024];
    write_entry(test, "text", "1");
    only_file(test, path);
    assert_int_equal(remove(path), 0);
    /* As if the other key of the same length had the same hash. */
    write_entry(test, "exit", "2");
    char other[2 * PATH_BYTES];
    only_file(test, other);
    const size_t length = read_file(other, bytes, sizeof bytes);
    write_file(path, bytes, length);
    assert_false(has_entry(test, "text", "1"));
    assert_true(has_entry(test, "exit", "2"));
}

static void only_own_regular_files_are_read(void **state)
{
    fixture *test = *state;
    char path[2 * PATH_BYTES], aside[2 * PATH_BYTES];
    write_entry(test, "text", "1");
    only_file(test, path);
    assert_int_equal(chmod(path, 0620), 0);
    assert_false(has_entry(test, "text", "1"));
    assert_int_equal(chmod(path, 0602), 0);
    assert_false(has_entry(test, "text", "1"));
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(has_entry(test, "text", "1"));
    snprintf(aside, sizeof aside, "%s/aside", test->top);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(symlink("aside", path), 0);
    assert_false(has_entry(test, "text", "1"));
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* opening it for reading would wait for a writer */
    assert_false(has_entry(test, "text", "1"));
    write_entry(test, "text", "1");
    assert_true(has_entry(test, "text", "1"));
}

/* ------------------------------------------------------------------------------------------------ many at once */

static void *write_and_read(void *user)
{
    const fixture *shared = user;
    fixture test = {.cache = shared->cache};
    yoke_options options = {0};
    if (yoke_context_create(&options, &test.context) != YOKE_OK) return user;
    test.cache.context = test.context;
    for (int i = 0; i < 60; i++) {
        const char *texts[] = {"a", "b", "c"};
        const char *data[] = {"one program", "two programs, which are longer", "three"};
        write_entry(&test, texts[i % 3], data[i % 3]);
        has_entry(&test, texts[(i + 1) % 3], data[(i + 1) % 3]);
    }
    yoke_context_destroy(test.context);
    return NULL;
}

static void processes_and_threads_share_a_directory(void **state)
{
    enum { PROCESSES = 3, THREADS = 2 };
    fixture *test = *state;
    pid_t children[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        assert_int_not_equal(children[p], -1);
        if (children[p] == 0) {
            pthread_t threads[THREADS];
            void *wrong[THREADS] = {NULL};
            for (int t = 0; t < THREADS; t++)
                if (pthread_create(&threads[t], NULL, write_and_read, test) != 0) _exit(1);
            for (int t = 0; t < THREADS; t++) pthread_join(threads[t], &wrong[t]);
            _exit(wrong[0] != NULL || wrong[1] != NULL);
        }
    }
    for (int p = 0; p < PROCESSES; p++) {
        int result = -1;
        assert_int_equal(waitpid(children[p], &result, 0), children[p]);
        assert_int_equal(result, 0);
    }
    assert_int_equal(count_files(test), 3);
    assert_true(has_entry(test, "a", "one program"));
    assert_true(has_entry(test, "b", "two programs, which are longer"));
    assert_true(has_entry(test, "c", "three"));
}

/* ---------------------------------------------------------------------------------------------------- eviction */

static void set_age(const char *path, void *user)
{
    const time_t *seconds = user;
    struct timespec times[2] = {{.tv_sec = *seconds}, {.tv_sec = *seconds}};
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    if (found.st_mtim.tv_sec > 1000000) assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Writes an entry that was used last at that time. */
static void write_aged(const fixture *test, const char *text, time_t seconds)
{
    write_entry(test, text, "0123456789");
    in_directory(test->top, set_age, &seconds);
}

static void the_entries_that_were_unused_longest_go_first(void **state)
{
    fixture *test = *state;
    char path[2 * PATH_BYTES], foreign[2 * PATH_BYTES];
    struct stat one;
    write_aged(test, "a", 1000);
    only_file(test, path);
    assert_int_equal(stat(path, &one), 0);
    snprintf(foreign, sizeof foreign, "%s/foreign", test->top);
    write_file(foreign, "not ours, and older than all", 28);
    time_t old = 10;
    set_age(foreign, &old);
    write_aged(test, "b", 2000);
    write_aged(test, "c", 3000);
    assert_true(has_entry(test, "a", "0123456789")); /* now it is the youngest */
    test->cache.most_bytes = 3 * (int64_t)one.st_size;
    write_entry(test, "d", "0123456789");
    assert_false(has_entry(test, "b", ""));
    assert_int_equal(count_files(test), 4);
    test->cache.most_bytes = 2 * (int64_t)one.st_size;
    write_entry(test, "e", "0123456789");
    assert_false(has_entry(test, "c", ""));
    assert_true(has_entry(test, "e", "0123456789"));
    assert_int_equal(count_files(test), 3);
    test->cache.most_bytes = (int64_t)one.st_size - 1;
    write_entry(test, "f", "0123456789"); /* does not fit at all, and so drives nothing out */
    assert_int_equal(count_files(test), 3);
    assert_int_equal(access(foreign, F_OK), 0);
}

static void what_died_half_written_is_swept_up(void **state)
{
    fixture *test = *state;
    char path[2 * PATH_BYTES], dead[2 * PATH_BYTES + 16], alive[2 * PATH_BYTES + 16];
    write_entry(test, "a", "1");
    only_file(test, path);
    snprintf(dead, sizeof dead, "%s.1-2.new", path);
    snprintf(alive, sizeof alive, "%s.3-4.new", path);
    write_file(dead, "half", 4);
    write_file(alive, "half", 4);
    time_t old = 1000;
    set_age(dead, &old);
    write_entry(test, "b", "1");
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
}

static void no_failing_allocation_is_missed(void **state)
{
    fixture *test = *state;
    const char *texts[] = {"text"};
    const yoke_program_source source = {.texts = texts, .num_texts = 1};
    yoke_cache_key key = key_of(test, "text"), none;
    yoke_cache_write(&test->cache, &key, "1", 1);
    void *read = NULL;
    int64_t bytes = 0;
    test->memory.fail_at = 1;
    assert_int_equal(yoke_cache_key_create(&test->cache, "opencl", "d", "v", "t", &source, &none), YOKE_ERROR_MEMORY);
    assert_int_equal(yoke_cache_read(&test->cache, &key, &read, &bytes), YOKE_ERROR_MEMORY);
    assert_null(read);
    test->memory.fail_at = 0;
    yoke_cache_key_destroy(&test->cache, &key);
}

static const struct CMUnitTest tests[] = {
    CACHE_TEST(what_is_written_is_read),
    CACHE_TEST(a_key_depends_on_all_its_parts),
    CACHE_TEST(no_damaged_entry_is_read),
    CACHE_TEST(an_entry_of_another_key_is_not_read),
    CACHE_TEST(only_own_regular_files_are_read),
    CACHE_TEST(processes_and_threads_share_a_directory),
    CACHE_TEST(the_entries_that_were_unused_longest_go_first),
    CACHE_TEST(what_died_half_written_is_swept_up),
    CACHE_TEST(no_failing_allocation_is_missed),
};

UNIT_MAIN(tests, NULL, NULL)
