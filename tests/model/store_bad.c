/* Files that are no stores, damaged ones, and entries outside their contract. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/store_entry.h"
#include "whole_file.h"

#define ENTRY                                                                                                                           \
    "{\"work\": \"w\", \"device\": \"d\", \"description\": \"\", \"kernel\": \"\", \"idle_power_w\": null, \"idle_power_interval_w\": " \
    "null, \"busy_power_w\": null, \"busy_power_interval_w\": null, \"power_kind\": \"none\", \"copy_start_s\": null, "                 \
    "\"copy_seconds_per_byte\": null, \"samples\": ["
#define SAMPLE(units, seconds)                                                                                                \
    "{\"units\": " units ", \"frequency_hz\": null, \"seconds\": " seconds ", \"seconds_interval\": null, \"joules\": null, " \
    "\"joules_interval\": null, \"repeats\": 1, \"rejected\": 0, \"together\": false}"

#define POWER(hz, watts)                                                                                     \
    "{\"frequency_hz\": " hz ", \"idle_power_w\": 1, \"idle_power_interval_w\": null, \"busy_power_w\": 2, " \
    "\"busy_power_interval_w\": null, \"memory_power_w\": 0, \"hosting_power_w\": " watts ", \"hosting_power_interval_w\": 0}"

static void a_file_that_is_no_store_is_refused_with_the_place(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *text, *expected;
    } cases[] = {{"", "not JSON"},
                 {"[1, 2", ":1:"},
                 {"7", "no store of yoke"},
                 {"[]", "no store of yoke"},
                 {"{}", "no store of yoke"},
                 {"{\"name\": \"m\", \"devices\": [{\"class\": \"cpu\"}]}", "this is a machine file, for --machine; expected a store"},
                 {"{\"format\": \"2\", \"entries\": []}", "no store of yoke"},
                 {"{\"format\": 2, \"entries\": {}}", "no store of yoke"},
                 {"{\"format\": 2, \"entries\": []}", "/machine"},
                 {"{\"format\": 2, \"machine\": 1, \"entries\": []}", "/machine"},
                 {HEAD "]} x", "not JSON"},
                 {HEAD "7]}", "/entries/0"},
                 {HEAD "{}]}", "/entries/0/"},
                 {HEAD ENTRY "]}, " ENTRY "]}]}", "two entries for w on d"},
                 {HEAD ENTRY "], \"colour\": 1}]}", "/entries/0/colour"},
                 {HEAD ENTRY "], \"disturbed\": 1.5}]}", "/entries/0/disturbed"},
                 {HEAD ENTRY "], \"powers\": 1}]}", "/entries/0/powers"},
                 {HEAD ENTRY "], \"powers\": [{\"frequency_hz\": 1e9}]}]}", "/entries/0/powers/0"},
                 {HEAD ENTRY "], \"powers\": [" POWER("1e9", "-1") "]}]}", "/entries/0/powers/0/hosting_power_w"},
                 {HEAD ENTRY "], \"powers\": [" POWER("null", "1") ", " POWER("true", "1") "]}]}", "/entries/0/powers/1/frequency_hz"},
                 {HEAD ENTRY "7]}]}", "/entries/0/samples/0"},
                 {HEAD ENTRY SAMPLE("1", "1") ", " SAMPLE("0", "1") "]}]}", "/entries/0/samples/1/units"},
                 {HEAD ENTRY SAMPLE("1", "-1") "]}]}", "/entries/0/samples/0/seconds"},
                 {HEAD ENTRY SAMPLE("1", "null") "]}]}", "/entries/0/samples/0/seconds"},
                 {HEAD ENTRY SAMPLE("1", "NaN") "]}]}", "not JSON"},
                 {HEAD ENTRY SAMPLE("1", "1e999") "]}]}", ":1:"},
                 {HEAD ENTRY SAMPLE("\"1\"", "1") "]}]}", "/entries/0/samples/0/units"},
                 {HEAD "], \"more\": 1}", "/more"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        yoke_store *store = NULL;
        whole_file_write(f->path, cases[i].text, strlen(cases[i].text));
        assert_int_equal(yoke_store_open(f->context, f->path, MACHINE, &store, NULL), YOKE_ERROR_INPUT);
        assert_null(store);
        if (strstr(yoke_last_error(f->context), cases[i].expected) == NULL || strstr(yoke_last_error(f->context), f->path) == NULL)
            fail_msg("%s: %s", cases[i].text, yoke_last_error(f->context));
        size_t length = 0;
        char *text = whole_file_read(f->path, &length);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

static void whole_files_that_cannot_be_stores_are_refused(void **state)
{
    fixture *f = *state;
    yoke_store *store = NULL;
    assert_int_equal(yoke_store_open(f->context, f->directory, MACHINE, &store, NULL), YOKE_ERROR_INPUT);
    assert_int_equal(yoke_store_open(f->context, "", MACHINE, &store, NULL), YOKE_ERROR_INPUT);
    assert_int_equal(mkfifo(f->path, 0600), 0); /* nobody writes to it: opening it must not wait */
    assert_int_equal(yoke_store_open(f->context, f->path, MACHINE, &store, NULL), YOKE_ERROR_INPUT);
    unlink(f->path);
    int file = open(f->path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(file, ((off_t)64 << 20) + 1), 0);
    close(file);
    assert_int_equal(yoke_store_open(f->context, f->path, MACHINE, &store, NULL), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(f->context), "64 MiB"));
}

/* Cut at every length and with bytes changed at every place: refused, declined or read, but nothing worse, and no memory is lost. */
static void damaged_files_do_no_harm(void **state)
{
    fixture *f = *state;
    static const char changes[] = {'\0', '"', '{', '}', ']', ',', '9', '-', 'e', '\\', (char)0xff, ' '};
    size_t length = 0, read = 0, refused = 0;
    write_one(f);
    char *text = whole_file_read(f->path, &length);
    int64_t outstanding = f->memory.outstanding;
    for (size_t i = 0; i < 2 * length; i++) {
        size_t cut = i < length ? i : length, place = i % length;
        yoke_store *store = NULL;
        char old = text[place];
        if (cut == length) text[place] = changes[(7 * i) % sizeof changes];
        whole_file_write(f->path, text, cut);
        yoke_status status = yoke_store_open(f->context, f->path, MACHINE, &store, NULL);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_INPUT);
        if (status == YOKE_OK) {
            assert_true(yoke_store_find(store, WORK, "openmp", "16 cores", "00ff", NULL) == NULL ||
                        i + 1 >= length); /* without its last line end it is whole */
            read++;
        } else
            refused++;
        yoke_store_close(store);
        text[place] = old;
        assert_int_equal(f->memory.outstanding, outstanding);
    }
    assert_true(refused > length && read > 0);
    free(text);
}

static void entries_outside_their_contract_are_refused(void **state)
{
    fixture *f = *state;
    yoke_store *store = open_store(f, NULL);
    yoke_sample sample = samples[0];
    yoke_store_entry entry = entry_for(WORK, "openmp");
    entry.samples = &sample;
    entry.num_samples = 1;
    sample.seconds = NAN;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(f->context), "samples/0/seconds"));
    sample = samples[0];
    sample.units = INFINITY;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    sample = samples[0];
    sample.repeats = 0;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    sample = samples[0];
    entry.idle_power_w = -1;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    entry.idle_power_w = NAN;
    static const double wrong[] = {-0.1, 1.1, NAN};
    for (int k = 0; k < 3; k++) {
        entry.disturbed = wrong[k];
        assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
        assert_non_null(strstr(yoke_last_error(f->context), "disturbed"));
    }
    entry.disturbed = 0;
    const yoke_store_power power = {.memory_power_w = INFINITY};
    entry.powers = &power;
    entry.num_powers = 1;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(f->context), "powers/0/memory_power_w"));
    entry.powers = NULL;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    entry.num_powers = 0;
    entry.num_samples = -1;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    entry.num_samples = 1;
    entry.device = NULL;
    assert_int_equal(yoke_store_put(store, &entry), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_store_put(store, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_store_put(NULL, &entry), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_store_write(NULL), YOKE_ERROR_ARGUMENT);
    yoke_store_close(NULL);
    yoke_store_close(store);
}

static const struct CMUnitTest tests[] = {
    TEST(a_file_that_is_no_store_is_refused_with_the_place),
    TEST(whole_files_that_cannot_be_stores_are_refused),
    TEST(damaged_files_do_no_harm),
    TEST(entries_outside_their_contract_are_refused),
};

UNIT_MAIN(tests, NULL, NULL)
