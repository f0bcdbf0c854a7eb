/* One file, several stores: of a process, or of several. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/store/store.h"
#include "model/store_fixture.h"

static yoke_store *open_store(fixture *f)
{
    yoke_store *store = NULL;
    if (yoke_store_open(f->context, f->path, "a machine of these tests", &store, NULL) != YOKE_OK)
        fail_msg("%s", yoke_last_error(f->context));
    return store;
}

/* An entry that is told by its number of units. */
static yoke_status put(yoke_store *store, const char *work, double units)
{
    const yoke_sample sample = {
        .units = units, .frequency_hz = NAN, .seconds = 1, .seconds_interval = NAN, .joules = NAN, .joules_interval = NAN, .repeats = 1};
    const yoke_store_entry entry = {.work = work,
                                    .device = "openmp",
                                    .description = "",
                                    .kernel = "",
                                    .num_samples = 1,
                                    .samples = &sample,
                                    .idle_power_w = NAN,
                                    .idle_power_interval_w = NAN,
                                    .busy_power_w = NAN,
                                    .busy_power_interval_w = NAN,
                                    .copy_start_s = NAN,
                                    .copy_seconds_per_byte = NAN};
    return yoke_store_put(store, &entry);
}

/* Units of a work; 0: there is none. */
static double units_of(const yoke_store *store, const char *work)
{
    const yoke_store_entry *entry = yoke_store_find(store, work, "openmp", "", "", NULL);
    return entry != NULL ? entry->samples[0].units : 0;
}

static void expect_units(fixture *f, const char *work, double units)
{
    yoke_store *store = open_store(f);
    assert_true(units_of(store, work) == units);
    yoke_store_close(store);
}

static void entries_of_two_open_stores_are_both_kept(void **state)
{
    fixture *f = *state;
    yoke_store *first = open_store(f), *second = open_store(f);
    assert_int_equal(put(first, "a", 1), YOKE_OK);
    assert_int_equal(put(second, "b", 2), YOKE_OK);
    assert_int_equal(yoke_store_write(first), YOKE_OK);
    assert_int_equal(yoke_store_write(second), YOKE_OK);
    assert_true(units_of(second, "a") == 1);
    expect_units(f, "a", 1);
    expect_units(f, "b", 2);
    yoke_store_close(first);
    yoke_store_close(second);
}

/* Each store writes what was put into it; what it has only read is not newer than what is there. */
static void of_one_work_the_entry_that_is_put_and_written_last_remains(void **state)
{
    fixture *f = *state;
    yoke_store *store = open_store(f);
    assert_int_equal(put(store, "a", 1), YOKE_OK);
    assert_int_equal(put(store, "b", 1), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    yoke_store *other = open_store(f);
    assert_int_equal(put(other, "a", 2), YOKE_OK);
    assert_int_equal(put(other, "b", 2), YOKE_OK);
    assert_int_equal(yoke_store_write(other), YOKE_OK);
    assert_int_equal(put(store, "b", 3), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    expect_units(f, "a", 2);
    expect_units(f, "b", 3);
    assert_int_equal(put(other, "b", 4), YOKE_OK);
    assert_int_equal(yoke_store_lock(other), YOKE_OK); /* what was put is not replaced by what is taken */
    assert_true(units_of(other, "b") == 4);
    yoke_store_unlock(other);
    expect_units(f, "b", 3);
    yoke_store_close(store);
    yoke_store_close(other);
}

enum { PROCESSES = 4, TURNS = 20 };

static void write_often(fixture *f, int process)
{
    for (int turn = 0; turn < TURNS; turn++) {
        char work[32];
        snprintf(work, sizeof work, "%d-%d", process, turn);
        yoke_store *store = NULL;
        if (yoke_store_open(f->context, f->path, "a machine of these tests", &store, NULL) != YOKE_OK ||
            put(store, work, turn + 1) != YOKE_OK || yoke_store_write(store) != YOKE_OK)
            _exit(1);
        yoke_store_close(store);
    }
    _exit(0);
}

static void processes_that_write_at_the_same_time_lose_nothing(void **state)
{
    fixture *f = *state;
    pid_t child[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        child[p] = fork();
        assert_true(child[p] >= 0);
        if (child[p] == 0) write_often(f, p);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int how = -1;
        assert_int_equal(waitpid(child[p], &how, 0), child[p]);
        assert_int_equal(how, 0);
    }
    yoke_store *store = open_store(f);
    assert_int_equal(store->count, PROCESSES * TURNS);
    yoke_store_close(store);
}

/* The other process has the lock, and writes only after this one began to wait. */
static void a_write_waits_for_that_of_another_process(void **state)
{
    fixture *f = *state;
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct timespec moment = {0, 50000000};
        yoke_store *store = NULL;
        if (yoke_store_open(f->context, f->path, "a machine of these tests", &store, NULL) != YOKE_OK ||
            yoke_store_lock(store) != YOKE_OK || write(ready[1], &byte, 1) != 1)
            _exit(1);
        nanosleep(&moment, NULL);
        _exit(put(store, "a", 1) != YOKE_OK || yoke_store_write(store) != YOKE_OK);
    }
    int how = -1;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    yoke_store *store = open_store(f);
    assert_int_equal(put(store, "b", 2), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    assert_true(units_of(store, "a") == 1);
    yoke_store_close(store);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    close(ready[0]);
    close(ready[1]);
}

static void a_lock_that_a_killed_program_left_does_no_harm(void **state)
{
    fixture *f = *state;
    const int left = open(f->lock, O_CREAT | O_WRONLY, 0600);
    assert_true(left >= 0);
    close(left);
    yoke_store *store = open_store(f);
    assert_int_equal(put(store, "a", 1), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    yoke_store_close(store);
    expect_units(f, "a", 1);
}

static void a_file_that_is_no_store_any_more_is_left_as_it_is(void **state)
{
    fixture *f = *state;
    struct stat found;
    yoke_store *store = open_store(f);
    assert_int_equal(put(store, "a", 1), YOKE_OK);
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    fputs("[]", file);
    fclose(file);
    assert_int_equal(yoke_store_write(store), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(f->context), "no store of yoke"));
    assert_int_equal(stat(f->path, &found), 0);
    assert_int_equal(found.st_size, 2);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(yoke_store_write(store), YOKE_OK); /* and what was put is not lost */
    yoke_store_close(store);
    expect_units(f, "a", 1);
}

/* A store on the file, once that is so old that no later one looks like it. */
static yoke_store *open_settled(fixture *f)
{
    enum { TRIES = 100 };
    for (int k = 0; k < TRIES; k++) {
        const struct timespec moment = {0, 100000000};
        yoke_store *store = open_store(f);
        if (store_is_unchanged(store)) return store;
        yoke_store_close(store);
        nanosleep(&moment, NULL);
    }
    fail_msg("the file never settles");
    return NULL;
}

/* Which saves a reading at each write of a program that is alone; what others wrote is taken all the same. */
static void a_file_is_known_to_be_unchanged_until_another_store_writes(void **state)
{
    fixture *f = *state;
    yoke_store *store = open_store(f);
    assert_false(store_is_unchanged(store)); /* there is none yet */
    assert_int_equal(put(store, "a", 1), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    yoke_store_close(store);
    store = open_settled(f);
    assert_int_equal(put(store, "b", 2), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    assert_false(store_is_unchanged(store));
    yoke_store_close(store);
    store = open_settled(f);
    yoke_store *other = open_store(f);
    assert_int_equal(put(other, "a", 3), YOKE_OK);
    assert_int_equal(put(other, "c", 4), YOKE_OK);
    assert_int_equal(yoke_store_write(other), YOKE_OK);
    yoke_store_close(other);
    assert_false(store_is_unchanged(store));
    assert_int_equal(put(store, "d", 5), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    assert_true(units_of(store, "a") == 3 && units_of(store, "b") == 2 && units_of(store, "c") == 4);
    yoke_store_close(store);
    expect_units(f, "d", 5);
    expect_units(f, "c", 4);
}

static void no_failing_allocation_is_missed(void **state)
{
    fixture *f = *state;
    for (int64_t fail_at = 0, failures = 0;; fail_at++) {
        yoke_store *store = open_store(f), *other = open_store(f);
        assert_int_equal(put(store, "b", 1), YOKE_OK);
        for (int k = 0; k < 9; k++) { /* more than there is room for at first */
            const char work[] = {(char)('c' + k), '\0'};
            assert_int_equal(put(other, work, 2), YOKE_OK);
        }
        assert_int_equal(yoke_store_write(other), YOKE_OK);
        failing_allow(&f->memory, fail_at);
        const yoke_status status = yoke_store_write(store);
        f->memory.fail_at = 0;
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        if (status != YOKE_OK) assert_int_equal(yoke_store_write(store), YOKE_OK);
        assert_true(units_of(store, "b") == 1 && units_of(store, "c") == 2 && units_of(store, "k") == 2);
        yoke_store_close(store);
        yoke_store_close(other);
        assert_int_equal(unlink(f->path), 0);
        if (status == YOKE_OK) {
            assert_true(failures >= 6);
            return;
        }
        failures++;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, fixture_stop)

static const struct CMUnitTest tests[] = {TEST(entries_of_two_open_stores_are_both_kept),
                                          TEST(of_one_work_the_entry_that_is_put_and_written_last_remains),
                                          TEST(processes_that_write_at_the_same_time_lose_nothing),
                                          TEST(a_write_waits_for_that_of_another_process),
                                          TEST(a_lock_that_a_killed_program_left_does_no_harm),
                                          TEST(a_file_that_is_no_store_any_more_is_left_as_it_is),
                                          TEST(a_file_is_known_to_be_unchanged_until_another_store_writes),
                                          TEST(no_failing_allocation_is_missed)};

UNIT_MAIN(tests, NULL, NULL)
