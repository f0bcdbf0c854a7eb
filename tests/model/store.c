#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/store_entry.h"
#include "whole_file.h"

static int same_number(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static void assert_same_entry(const yoke_store_entry *a, const yoke_store_entry *b)
{
    assert_non_null(a);
    assert_string_equal(a->work, b->work);
    assert_string_equal(a->device, b->device);
    assert_string_equal(a->description, b->description);
    assert_string_equal(a->kernel, b->kernel);
    assert_true(same_number(a->idle_power_w, b->idle_power_w) && same_number(a->idle_power_interval_w, b->idle_power_interval_w));
    assert_true(same_number(a->busy_power_w, b->busy_power_w) && same_number(a->busy_power_interval_w, b->busy_power_interval_w));
    assert_true(same_number(a->copy_start_s, b->copy_start_s) && same_number(a->copy_seconds_per_byte, b->copy_seconds_per_byte));
    assert_int_equal(a->power_kind, b->power_kind);
    assert_true(same_number(a->disturbed, b->disturbed));
    assert_int_equal(a->num_powers, b->num_powers);
    for (int64_t i = 0; i < a->num_powers; i++) {
        const yoke_store_power *p = &a->powers[i], *q = &b->powers[i];
        const double of_p[] = {p->frequency_hz,          p->idle_power_w,   p->idle_power_interval_w, p->busy_power_w,
                               p->busy_power_interval_w, p->memory_power_w, p->hosting_power_w,       p->hosting_power_interval_w};
        const double of_q[] = {q->frequency_hz,          q->idle_power_w,   q->idle_power_interval_w, q->busy_power_w,
                               q->busy_power_interval_w, q->memory_power_w, q->hosting_power_w,       q->hosting_power_interval_w};
        for (size_t k = 0; k < sizeof of_p / sizeof of_p[0]; k++) assert_true(same_number(of_p[k], of_q[k]));
    }
    assert_int_equal(a->num_samples, b->num_samples);
    for (int64_t i = 0; i < a->num_samples; i++) {
        const yoke_sample *p = &a->samples[i], *q = &b->samples[i];
        assert_true(same_number(p->units, q->units) && same_number(p->frequency_hz, q->frequency_hz));
        assert_true(same_number(p->seconds, q->seconds) && same_number(p->seconds_interval, q->seconds_interval));
        assert_true(same_number(p->joules, q->joules) && same_number(p->joules_interval, q->joules_interval));
        assert_int_equal(p->repeats, q->repeats);
        assert_int_equal(p->rejected, q->rejected);
        assert_int_equal(p->together, q->together);
    }
}

static void what_is_put_comes_back_bit_for_bit(void **state)
{
    fixture *f = *state;
    const char *declined = "not touched";
    write_one(f);
    yoke_store *store = open_store(f, &declined);
    assert_null(declined);
    assert_string_equal(yoke_store_path(store), f->path);
    yoke_store_entry entry = entry_for(WORK, "openmp");
    const char *why = NULL;
    assert_same_entry(yoke_store_find(store, WORK, "openmp", "16 cores", "00ff", &why), &entry);
    assert_string_equal(why, "");
    yoke_store_close(store);
}

/* Numbers of all magnitudes, drawn by their bits. */
static void any_finite_number_round_trips(void **state)
{
    fixture *f = *state;
    enum { COUNT = 3000 };
    yoke_sample *many = calloc(COUNT, sizeof *many);
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < COUNT; i++) {
        double number = NAN;
        while (!isfinite(number) || number == 0) {
            bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
            memcpy(&number, &bits, sizeof number);
        }
        many[i] = (yoke_sample){.units = fabs(number), .frequency_hz = NAN, .seconds = i + 1.0 / 7, .joules = number, .repeats = 1};
    }
    yoke_store_entry entry = entry_for("fma", "cuda:0");
    entry.samples = many;
    entry.num_samples = COUNT;
    yoke_store *store = open_store(f, NULL);
    assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    yoke_store_close(store);
    store = open_store(f, NULL);
    assert_same_entry(yoke_store_find(store, "fma", "cuda:0", "16 cores", "00ff", NULL), &entry);
    yoke_store_close(store);
    free(many);
}

static void the_file_does_not_depend_on_the_order_of_puts(void **state)
{
    fixture *f = *state;
    static const char *const works[] = {"fma", WORK, "copy"}, *const devices[] = {"openmp", "cuda:0", "cuda:1"};
    char *first = NULL;
    size_t length = 0;
    for (int turn = 0; turn < 9; turn++) {
        unlink(f->path);
        yoke_store *store = open_store(f, NULL);
        for (int k = 0; k < 9; k++) {
            int i = (turn * 4 + k * (turn % 2 ? 2 : 1)) % 9;
            yoke_store_entry entry = entry_for(works[i / 3], devices[i % 3]);
            assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
        }
        assert_int_equal(yoke_store_write(store), YOKE_OK);
        yoke_store_close(store);
        char *text = whole_file_read(f->path, &length);
        if (first == NULL)
            first = text;
        else {
            assert_string_equal(text, first);
            free(text);
        }
    }
    free(first);
}

static void a_put_replaces_the_entry_of_the_same_work_and_device(void **state)
{
    fixture *f = *state;
    yoke_store *store = open_store(f, NULL);
    yoke_store_entry entry = entry_for(WORK, "openmp");
    assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    entry.description = "8 cores";
    entry.num_samples = 0;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    const char *why = NULL;
    assert_null(yoke_store_find(store, WORK, "openmp", "16 cores", "00ff", &why));
    const yoke_store_entry *found = yoke_store_find(store, WORK, "openmp", "8 cores", "00ff", &why);
    assert_non_null(found);
    assert_int_equal(found->num_samples, 0);
    yoke_store_close(store);
}

static void an_entry_that_does_not_fit_is_declined_with_the_reason(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    write_one(f);
    yoke_store *store = open_store(f, NULL);
    assert_null(yoke_store_find(store, WORK, "cuda:0", "16 cores", "00ff", &why));
    assert_string_equal(why, ""); /* what was not measured yet is nothing to tell */
    assert_null(yoke_store_find(store, WORK, "openmp", "12 cores", "00ff", &why));
    assert_non_null(strstr(why, "\"16 cores\", here \"12 cores\""));
    assert_null(yoke_store_find(store, WORK, "openmp", "16 cores", "00fe", &why));
    assert_non_null(strstr(why, "another version of the kernel"));
    yoke_store_close(store);
}

static void outdated_entries_can_be_removed(void **state)
{
    fixture *f = *state;
    yoke_store *store = open_store(f, NULL);
    static const char *const works[] = {"add", WORK, "zero"};
    for (int k = 0; k < 3; k++) {
        yoke_store_entry entry = entry_for(works[k], "openmp");
        assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    }
    yoke_store_remove_outdated(store, "other", "openmp", "16 cores", "00fe");
    yoke_store_remove_outdated(store, WORK, "openmp", "16 cores", "00ff");
    yoke_store_remove_outdated(store, WORK, "openmp", "12 cores", "00fe"); /* that of another device may be needed again */
    for (int k = 0; k < 3; k++) assert_non_null(yoke_store_find(store, works[k], "openmp", "16 cores", "00ff", NULL));
    const char *why = NULL;
    yoke_store_remove_outdated(store, WORK, "openmp", "16 cores", "00fe");
    assert_null(yoke_store_find(store, WORK, "openmp", "16 cores", "00ff", &why));
    assert_string_equal(why, "");
    assert_non_null(yoke_store_find(store, "add", "openmp", "16 cores", "00ff", NULL));
    assert_non_null(yoke_store_find(store, "zero", "openmp", "16 cores", "00ff", NULL));
    yoke_store_close(store);
}

static void a_store_of_another_machine_is_declined_and_kept_beside(void **state)
{
    fixture *f = *state;
    size_t length = 0, kept_length = 0;
    const char *declined = NULL;
    yoke_store *store = NULL;
    write_one(f);
    char *before = whole_file_read(f->path, &length);
    assert_int_equal(yoke_store_open(f->context, f->path, "another machine", &store, &declined), YOKE_OK);
    assert_non_null(declined);
    assert_non_null(strstr(declined, "is of another machine: \"" MACHINE "\"; this is \"another machine\""));
    assert_null(yoke_store_find(store, WORK, "openmp", "16 cores", "00ff", NULL));
    char *untouched = whole_file_read(f->path, &kept_length);
    assert_string_equal(untouched, before); /* opening alone changes nothing */
    yoke_store_entry entry = entry_for("fma", "openmp");
    assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK); /* the second write keeps what the first kept */
    char *kept = whole_file_read(f->other, &kept_length);
    assert_string_equal(kept, before);
    yoke_store_close(store);
    free(before);
    free(untouched);
    free(kept);
}

static void other_formats_are_declined(void **state)
{
    fixture *f = *state;
    static const char *const texts[] = {"{\"format\": 1, \"entries\": [{\"work\": \"w\"}]}",
                                        "{\"format\": 3, \"machine\": 7, \"entries\": [], \"new\": {}}"};
    for (size_t i = 0; i < 2; i++) {
        const char *declined = NULL;
        whole_file_write(f->path, texts[i], strlen(texts[i]));
        yoke_store *store = open_store(f, &declined);
        assert_non_null(declined);
        assert_non_null(strstr(declined, i == 0 ? "has format 1" : "has format 3"));
        yoke_store_close(store);
    }
}

static void texts_of_drivers_may_hold_any_bytes(void **state)
{
    fixture *f = *state;
    const char *description = "GeForce\xae \"quoted\\\" \n\t\x01 \xc3\xa4 \xf0\x9f\x90\x82 \xed\xa0\x80";
    yoke_store *store = open_store(f, NULL);
    yoke_store_entry entry = entry_for(WORK, "cuda:0");
    entry.description = description;
    entry.kernel = "";
    assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    assert_non_null(yoke_store_find(store, WORK, "cuda:0", description, "", NULL));
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    yoke_store_close(store);
    store = open_store(f, NULL);
    const yoke_store_entry *found = yoke_store_find(store, WORK, "cuda:0", description, "", NULL);
    assert_non_null(found);
    assert_non_null(strstr(found->description, "\xc3\xa4 \xf0\x9f\x90\x82 ???"));
    yoke_store_close(store);
}

static void a_store_that_cannot_be_written_leaves_the_old_one(void **state)
{
    fixture *f = *state;
    write_one(f);
    size_t length = 0, after = 0;
    char *before = whole_file_read(f->path, &length);
    yoke_store *store = open_store(f, NULL);
    yoke_store_entry entry = entry_for("fma", "openmp");
    assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    char moved[sizeof f->directory + 8];
    snprintf(moved, sizeof moved, "%s.moved", f->directory);
    assert_int_equal(rename(f->directory, moved), 0);
    assert_int_equal(yoke_store_write(store), YOKE_ERROR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(f->context), f->path));
    assert_int_equal(rename(moved, f->directory), 0);
    char *text = whole_file_read(f->path, &after);
    assert_string_equal(text, before);
    assert_int_equal(yoke_store_write(store), YOKE_OK); /* and what was put is not lost */
    yoke_store_close(store);
    free(before);
    free(text);
}

static void links_stay_links(void **state)
{
    fixture *f = *state;
    struct stat found;
    assert_int_equal(symlink("store.json.bak", f->path), 0);
    for (int turn = 0; turn < 2; turn++) { /* first the link leads to no file */
        write_one(f);
        assert_int_equal(lstat(f->path, &found), 0);
        assert_true(S_ISLNK(found.st_mode));
        assert_int_equal(lstat(f->other, &found), 0);
        assert_true(S_ISREG(found.st_mode) && found.st_size > 0);
    }
}

/* Temporary files have the names of base/file.c. */
static void what_a_killed_program_left_is_removed(void **state)
{
    fixture *f = *state;
    char left[sizeof f->path + 32];
    snprintf(left, sizeof left, "%s.123-0.part", f->path);
    whole_file_write(left, "half", 4);
    write_one(f);
    assert_int_equal(access(left, F_OK), -1);
}

/* Standard output cannot be read, nor a directory. */
static void a_store_is_a_file(void **state)
{
    fixture *f = *state;
    const char *const paths[] = {YOKE_FILE_STANDARD_OUTPUT, f->directory};
    for (int k = 0; k < 2; k++) {
        yoke_store *store = NULL;
        assert_int_equal(yoke_store_open(f->context, paths[k], MACHINE, &store, NULL), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(f->context), "a store is a regular file"));
    }
}

static void the_default_path_follows_the_environment(void **state)
{
    fixture *f = *state;
    yoke_store *store = NULL, *second = NULL;
    char named[160];
    setenv("YOKE_STORE", f->path, 1);
    assert_int_equal(yoke_store_open(f->context, NULL, NULL, &store, NULL), YOKE_OK);
    assert_string_equal(yoke_store_path(store), f->path);
    yoke_store_close(store);
    unsetenv("YOKE_STORE");
    setenv("XDG_DATA_HOME", f->directory, 1);
    assert_int_equal(yoke_store_open(f->context, NULL, MACHINE, &store, NULL), YOKE_OK);
    assert_int_equal(yoke_store_open(f->context, NULL, "another", &second, NULL), YOKE_OK);
    assert_string_not_equal(yoke_store_path(store), yoke_store_path(second));
    snprintf(named, sizeof named, "%s/yoke/store-", f->directory);
    assert_memory_equal(yoke_store_path(store), named, strlen(named));
    assert_int_equal(yoke_store_write(store), YOKE_OK); /* makes the directory */
    assert_int_equal(access(yoke_store_path(store), R_OK), 0);
    unlink(yoke_store_path(store));
    snprintf(named, sizeof named, "%s/yoke", f->directory);
    assert_int_equal(rmdir(named), 0);
    yoke_store_close(store);
    yoke_store_close(second);
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "nowhere", 1);
    assert_int_equal(yoke_store_open(f->context, NULL, MACHINE, &store, NULL), YOKE_ERROR_UNAVAILABLE);
}

static void this_machine_has_one_fingerprint(void **state)
{
    fixture *f = *state;
    const char *declined = NULL;
    yoke_store *store = NULL;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(yoke_store_open(f->context, f->path, NULL, &store, &declined), YOKE_OK);
        assert_null(declined);
        assert_int_equal(yoke_store_write(store), YOKE_OK);
        yoke_store_close(store);
    }
    store = open_store(f, &declined);
    assert_non_null(declined);
    yoke_store_close(store);
}

static void no_failing_allocation_is_missed(void **state)
{
    fixture *f = *state;
    write_one(f);
    int64_t outstanding = f->memory.outstanding, failures = 0;
    for (int64_t fail_at = 1;; fail_at++) {
        yoke_store *store = NULL;
        f->memory.calls = 0;
        f->memory.fail_at = fail_at;
        yoke_status status = yoke_store_open(f->context, f->path, MACHINE, &store, NULL);
        yoke_store_entry entry = entry_for("fma", "openmp");
        if (status == YOKE_OK) status = yoke_store_put(store, &entry);
        if (status == YOKE_OK) assert_non_null(yoke_store_find(store, "fma", "openmp", "16 cores", "00ff", NULL));
        f->memory.fail_at = 0;
        yoke_store_close(store);
        assert_int_equal(f->memory.outstanding, outstanding);
        if (status == YOKE_OK) break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures >= 6);
}

static const struct CMUnitTest tests[] = {TEST(what_is_put_comes_back_bit_for_bit),
                                          TEST(any_finite_number_round_trips),
                                          TEST(the_file_does_not_depend_on_the_order_of_puts),
                                          TEST(a_put_replaces_the_entry_of_the_same_work_and_device),
                                          TEST(an_entry_that_does_not_fit_is_declined_with_the_reason),
                                          TEST(outdated_entries_can_be_removed),
                                          TEST(a_store_of_another_machine_is_declined_and_kept_beside),
                                          TEST(other_formats_are_declined),
                                          TEST(texts_of_drivers_may_hold_any_bytes),
                                          TEST(a_store_that_cannot_be_written_leaves_the_old_one),
                                          TEST(links_stay_links),
                                          TEST(what_a_killed_program_left_is_removed),
                                          TEST(a_store_is_a_file),
                                          TEST(the_default_path_follows_the_environment),
                                          TEST(this_machine_has_one_fingerprint),
                                          TEST(no_failing_allocation_is_missed)};

UNIT_MAIN(tests, NULL, NULL)
