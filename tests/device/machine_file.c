/* Machine files: what is read, and that whatever is wrong is refused with the file, the key and what was expected. */
#include "base/failing.h"
#include "unit.h"
#include "whole_file.h"
#include "yoke/yoke.h"

static int start(void **state)
{
    static char path[] = "/tmp/yoke-machine-XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0) return -1;
    FILE *file = fdopen(descriptor, "w");
    if (file == NULL || fclose(file) != 0) return -1;
    *state = path;
    return 0;
}

static int stop(void **state) { return remove(*state); }

/* Reads the text as a machine file with the allocation `fail_at` failing; *error gets the message.  Shows that nothing is left. */
static yoke_status read_text(const char *path, const char *text, size_t length, int64_t fail_at, char error[2048])
{
    failing memory = {.fail_at = fail_at};
    yoke_options options = failing_options(&memory);
    yoke_context *context = NULL;
    whole_file_write(path, text, length);
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    yoke_status status = yoke_machine_read(context, path);
    snprintf(error, 2048, "%s", yoke_last_error(context));
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
    return status;
}

static const char *const complete =
    "{\"name\": \"a machine\", \"description\": \"with everything\", \"devices\": [\n"
    "  {\"name\": \"cpu\", \"class\": \"cpu\", \"description\": \"eight cores\", \"memory_bytes\": 64e9, \"compute_units\": 8, "
    "\"threads\": 2,\n"
    "   \"seconds_per_unit\": 1e-6, \"start_s\": 0, \"copy\": {\"latency_s\": 0, \"bytes_per_s\": 1e10}, \"noise\": 0.01, \"seed\": 3,\n"
    "   \"fault\": {\"call\": 5, \"kind\": \"lost\"}, \"power\": {\"idle_w\": 10, \"busy_w\": 60.5, \"copy_w\": 3},\n"
    "   \"meter\": {\"period_s\": 1e-3, \"resolution_j\": 1e-6, \"wrap_j\": 4e3, \"gain\": 1.02, \"gain_error\": 0.05}},\n"
    "  {\"name\": \"G-1_x.2\", \"class\": \"gpu\", \"seconds_per_unit\": [[0, 1], [1, 2.5], [10, 0.5]],\n"
    "   \"copy\": {\"latency_s\": 0, \"bytes_per_s\": 1e10, \"free_bytes\": 12e6}, \"contention\": 0.1},\n"
    "  {\"name\": \"c\", \"clock\": {\"levels\": [{\"frequency_hz\": 1e9, \"seconds_per_unit\": [[0, 2], [5, 3]], \"start_s\": 1,\n"
    "   \"power\": {\"idle_w\": 1, \"busy_w\": 2}}, {\"frequency_hz\": 2e9}]}, \"class\": \"gpu\", \"seconds_per_unit\": [[0, 1], [5, "
    "2]],\n"
    "   \"power\": {\"idle_w\": 1, \"busy_w\": 3}}], \"hosting_w\": 30, \"contention\": 0.04,\n"
    " \"host\": {\"idle_w\": 20}, \"dram\": {\"idle_w\": 1, \"busy_w\": 8, \"copy_w\": 12, \"meter\": {\"period_s\": 0.1}}}";

static void what_it_says_is_shown(void **state)
{
    yoke_context *context = NULL;
    yoke_device_info *list = NULL;
    int64_t count = 0, found = 0;
    whole_file_write(*state, complete, strlen(complete));
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    if (yoke_machine_read(context, *state) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    assert_int_equal(yoke_devices_list(context, NULL, 0, &list, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, "sim:cpu") == 0) {
            found++;
            assert_string_equal(list[i].description, "eight cores");
            assert_int_equal(list[i].device_class, YOKE_DEVICE_CPU);
            assert_int_equal(list[i].memory_bytes, 64000000000);
            assert_int_equal(list[i].compute_units, 8);
        }
        if (strcmp(list[i].name, "sim:G-1_x.2") == 0) {
            found++;
            assert_int_equal(list[i].device_class, YOKE_DEVICE_GPU);
            assert_true(list[i].memory_bytes > 0);
        }
    }
    assert_int_equal(found, 2);
    yoke_release(context, list);
    /* One machine a context. */
    assert_int_equal(yoke_machine_read(context, *state), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(context), "a machine"));
    yoke_device *device = NULL;
    assert_int_equal(yoke_device_open(context, "sim:cp", &device), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "sim:cpu, sim:G-1_x.2"));
    assert_int_equal(yoke_device_open(context, "sim", &device), YOKE_ERROR_INPUT);
    yoke_context_destroy(context);
}

static void without_a_file_there_is_no_device(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    yoke_device *device = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(yoke_device_open(context, "sim:cpu", &device), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "no machine file was read"));
    yoke_context_destroy(context);
}

/* A device with these keys beside name and class. */
#define DEVICE(keys) "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", " keys "}]}"
#define SPEED "\"seconds_per_unit\": 1, "
#define LEVELS(levels) "\"clock\": {\"levels\": [" levels "]}"
#define POWER "\"power\": {\"idle_w\": 1, \"busy_w\": 2}, "

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "not JSON"},
        {"{", "not JSON"},
        {"{\"name\": \"m\", \"devices\": [NaN]}", "not JSON"},
        {"{\"name\": \"m\", \"name\": \"n\"}", "duplicate"},
        {"{} {}", "not JSON"},
        {"[]", "expected an object {\"name\": ..., \"devices\": [...]}, found an empty array"},
        {"null", "found null"},
        {"3", "found 3"},
        {"{}", "/name: this key is missing"},
        {"{\"name\": \"m\"}", "/devices: this key is missing"},
        {"{\"name\": 7, \"devices\": []}", "/name: expected a text, found 7"},
        {"{\"name\": \"\", \"devices\": []}", "/name: expected a text of 1 to 63 bytes, found 0"},
        {"{\"name\": \"a\\u0001\", \"devices\": []}", "/name: expected a text of one line"},
        {"{\"name\": \"m\", \"devices\": []}", "/devices: expected an array of devices, found an empty array"},
        {"{\"name\": \"m\", \"devices\": {}}", "/devices: expected an array of devices, found an empty object"},
        {"{\"name\": \"m\", \"devices\": [3]}", "/devices/0: expected an object {...}, found 3"},
        {"{\"units\": 5, \"devices\": [{\"name\": \"cpu\", \"levels\": []}]}",
         "this is a model file, for `yoke plan`; expected a machine file"},
        {"{\"round\": {}, \"devices\": [{\"name\": \"cpu\", \"laws\": {}}]}",
         "this is a model file, for `yoke plan`; expected a machine file"},
        {"{\"name\": \"m\", \"devises\": []}",
         "/devises: there is no such key here; did you mean \"devices\"? (there are: name, description, devices"},
        {"{\"name\": \"m\", \"devices\": [{}]}", "/devices/0/name: this key is missing"},
        {"{\"name\": \"m\", \"devices\": [{\"name\": \"a b\"}]}", "/devices/0/name: expected letters, digits"},
        {"{\"name\": \"m\", \"devices\": [{\"name\": \"a,b\"}]}", "/devices/0/name: expected letters, digits"},
        {"{\"name\": \"m\", \"devices\": [{\"name\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}]}",
         "of 1 to 47 bytes, found 48"},
        {"{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"tpu\"}]}",
         "/devices/0/class: expected \"cpu\" or \"gpu\", found the text \"tpu\""},
        {"{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\"}]}", "/devices/0/seconds_per_unit: this key is missing"},
        {"{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1},"
         "{\"name\": \"a\", \"class\": \"cpu\", \"seconds_per_unit\": 1}]}",
         "/devices/1/name: there is a device \"a\" already"},
        {DEVICE("\"seconds_per_unit\": 0"), "/devices/0/seconds_per_unit: expected a number from 1e-30 to 1e+09, found 0"},
        {DEVICE("\"seconds_per_unit\": -1"), "found -1"},
        {DEVICE("\"seconds_per_unit\": 1e999"), "not JSON"},
        {DEVICE("\"seconds_per_unit\": 1e300"), "found 1.0000000000000001e+300"},
        {DEVICE("\"seconds_per_unit\": null"),
         "/seconds_per_unit: expected a number, or an array of pairs [units, seconds per unit], found null"},
        {DEVICE("\"seconds_per_unit\": \"1\""), "found the text \"1\""},
        {DEVICE("\"seconds_per_unit\": []"), "found an empty array"},
        {DEVICE("\"seconds_per_unit\": [1, 2]"), "/seconds_per_unit/0: expected a pair"},
        {DEVICE("\"seconds_per_unit\": [[1, 2], [3]]"), "/seconds_per_unit/1: expected a pair"},
        {DEVICE("\"seconds_per_unit\": [[1, 2], [3, 4, 5]]"), "/seconds_per_unit/1: expected a pair"},
        {DEVICE("\"seconds_per_unit\": [[1, 2], [1, 3]]"),
         "/seconds_per_unit/1/0: expected more units than in the point before (1), found 1"},
        {DEVICE("\"seconds_per_unit\": [[-1, 2]]"), "/seconds_per_unit/0/0: expected a number from 0"},
        {DEVICE("\"seconds_per_unit\": [[1, null]]"), "/seconds_per_unit/0/1: expected a number from 1e-30"},
        {DEVICE("\"seconds_per_unit\": [[1, true]]"), "found true"},
        {DEVICE(SPEED "\"memory_bytes\": 0"), "/memory_bytes: expected a whole number from 1 to"},
        {DEVICE(SPEED "\"memory_bytes\": 1.5"), "/memory_bytes: expected a whole number from 1 to"},
        {DEVICE(SPEED "\"compute_units\": -1"), "compute_units"},
        {DEVICE(SPEED "\"threads\": 100000"), "/threads: expected a whole number from 1 to 1024"},
        {DEVICE(SPEED "\"start_s\": -1e-9"), "/start_s: expected a number from 0"},
        {DEVICE(SPEED "\"copy\": 1"), "/copy: expected an object {...}, found 1"},
        {DEVICE(SPEED "\"copy\": {}"), "/devices/0/copy/latency_s: this key is missing"},
        {DEVICE(SPEED "\"copy\": {\"latency_s\": 0}"), "/devices/0/copy/bytes_per_s: this key is missing"},
        {DEVICE(SPEED "\"copy\": {\"latency_s\": 0, \"bytes_per_s\": 0}"), "/devices/0/copy/bytes_per_s: expected a number from 1"},
        {DEVICE(SPEED "\"copy\": {\"latency\": 0}"),
         "/devices/0/copy/latency: there is no such key here; did you mean \"latency_s\"? (there are: latency_s, bytes_per_s"},
        {DEVICE(SPEED "\"noise\": -0.1"), "/noise: expected a number from 0 to 1, found -0.1"},
        {DEVICE(SPEED "\"noise\": 2"), "/noise: expected a number from 0 to 1, found 2"},
        {DEVICE(SPEED "\"seed\": -1"), "seed"},
        {DEVICE(SPEED "\"seed\": 1.25"), "found 1.25"},
        {DEVICE(SPEED "\"fault\": {\"call\": 0, \"kind\": \"lost\"}"), "/devices/0/fault/call: expected a whole number from 1"},
        {DEVICE(SPEED "\"fault\": {\"call\": 1, \"kind\": \"slow\"}"),
         "/devices/0/fault/kind: expected \"lost\" or \"memory\", found the text"},
        {DEVICE(SPEED "\"fault\": {\"call\": 1}"), "/devices/0/fault/kind: this key is missing"},
        {DEVICE(SPEED "\"fault\": []"), "/fault: expected an object"},
        {DEVICE(SPEED "\"speed\": 1"), "/devices/0/speed: there is no such key here; did you mean \"seed\"? (there are: name, class,"},
        {DEVICE(SPEED "\"description\": [\"x\"]"), "/description: expected a text, found an array of 1"},
        {DEVICE(SPEED "\"power\": 100"), "/power: expected an object {...}, found 100"},
        {DEVICE(SPEED "\"power\": {\"idle_w\": 1}"), "/devices/0/power/busy_w: this key is missing"},
        {DEVICE(SPEED "\"power\": {\"idle_w\": -1, \"busy_w\": 2}"), "/devices/0/power/idle_w: expected a number from 0"},
        {DEVICE(SPEED "\"power\": {\"idle\": 1}"),
         "/devices/0/power/idle: there is no such key here; did you mean \"idle_w\"? (there are: idle_w, busy_w, copy_w"},
        {DEVICE(SPEED "\"meter\": {\"period_s\": 1}"), "/devices/0/meter: a meter without a power shows nothing"},
        {DEVICE(SPEED POWER "\"meter\": {\"period_s\": -1}"), "/devices/0/meter/period_s: expected a number from 0"},
        {DEVICE(SPEED POWER "\"meter\": {\"wrap_j\": 100}"), "/devices/0/meter/wrap_j: expected 2 to 2^53 times resolution_j (0)"},
        {DEVICE(SPEED POWER "\"meter\": {\"wrap_j\": 10, \"resolution_j\": 3}"), "times resolution_j (3), found 10"},
        {DEVICE(SPEED POWER "\"meter\": {\"wrap_j\": 1, \"resolution_j\": 1}"), "times resolution_j (1), found 1"},
        {DEVICE(SPEED POWER "\"meter\": {\"noise\": 1}"), "/devices/0/meter/noise: there is no such key here; there are: period_s,"},
        {DEVICE(SPEED "\"contention\": -0.1"), "/devices/0/contention: expected a number from 0 to 1000, found -0.1"},
        {DEVICE(SPEED "\"clock\": 1e9"), "/devices/0/clock: expected an object {...}, found 1000000000"},
        {DEVICE(SPEED "\"clock\": {}"), "/devices/0/clock/levels: this key is missing"},
        {DEVICE(SPEED "\"clock\": {\"step_hz\": 1}"), "/devices/0/clock/step_hz: there is no such key here; there are: levels"},
        {DEVICE(SPEED LEVELS("")), "/devices/0/clock/levels: expected an array of 1 to 128 levels, found an empty array"},
        {DEVICE(SPEED "\"clock\": {\"levels\": 2}"), "/devices/0/clock/levels: expected an array of 1 to 128 levels, found 2"},
        {DEVICE(SPEED LEVELS("1e9")), "/devices/0/clock/levels/0: expected an object {...}, found 1000000000"},
        {DEVICE(SPEED LEVELS("{}")), "/devices/0/clock/levels/0/frequency_hz: this key is missing"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 0}")), "/levels/0/frequency_hz: expected a number from 1 to 1e+12, found 0"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 2}, {\"frequency_hz\": 2}")),
         "/levels/1/frequency_hz: expected more than in the level before (2), found 2"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 2, \"noise\": 0}")),
         "/levels/0/noise: there is no such key here; there are: frequency_hz, seconds_per_unit, start_s, power"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 2, \"seconds_per_unit\": -1}")), "/levels/0/seconds_per_unit: expected a number"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 2, \"seconds_per_unit\": [[2, 1], [1, 1]]}")),
         "/levels/0/seconds_per_unit/1/0: expected more units"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 2, \"start_s\": -1}")), "/levels/0/start_s: expected a number from 0"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 2, \"power\": {\"idle_w\": 1}}")), "/levels/0/power/busy_w: this key is missing"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 1, \"power\": {\"idle_w\": 1, \"busy_w\": 2}}, {\"frequency_hz\": 2}")),
         "/devices/0/power: this key is missing, and some levels of \"clock\" have it, but not all"},
        {DEVICE(LEVELS("{\"frequency_hz\": 1, \"seconds_per_unit\": 1}, {\"frequency_hz\": 2}")),
         "/devices/0/seconds_per_unit: this key is missing, and not all levels of \"clock\" have it"},
        {"{\"hosting_w\": -1}", "/hosting_w: expected a number from 0 to 1e+07, found -1"},
        {DEVICE(SPEED LEVELS("{\"frequency_hz\": 2, \"hosting_w\": -1}")),
         "/levels/0/hosting_w: expected a number from 0 to 1e+07, found -1"},
        {"{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"gpu\", " SPEED
         "\"clock\": {\"levels\": [{\"frequency_hz\": 2, \"hosting_w\": 1}]}}]}",
         "hosting_w: the host overhead depends on the frequency of a CPU"},
        {"{\"contention\": true}", "/contention: expected a number from 0 to 1000, found true"},
        {"{\"name\": \"m\", \"hosting_w\": 1, \"devices\": [{\"name\": \"hosting\", \"class\": \"cpu\", " SPEED POWER "\"seed\": 1}]}",
         "/devices/0/name: \"hosting\" is what the machine's own meter is called"},
        {"{\"host\": {}, \"name\": \"m\"}", "/host/idle_w: this key is missing"},
        {"{\"host\": {\"idle_w\": 1, \"busy_w\": 2}}", "/host/busy_w: there is no such key here; there are: idle_w, meter"},
        {"{\"dram\": {\"idle_w\": 1}}", "/dram/busy_w: this key is missing"},
        {"{\"dram\": {\"idle_w\": 1, \"busy_w\": 1, \"meter\": {\"gain\": 0}}}", "/dram/meter/gain: expected a number from 0.1 to 10"},
        {"{\"name\": \"m\", \"host\": {\"idle_w\": 1}, \"devices\": [{\"name\": \"host\", \"class\": \"cpu\", " SPEED POWER
         "\"seed\": 1}]}",
         "/devices/0/name: \"host\" is what the machine's own meter is called"},
    };
    char error[2048];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        yoke_status status = read_text(*state, wrong[i].text, strlen(wrong[i].text), 0, error);
        if (status != YOKE_ERROR_INPUT) fail_msg("status %d for %s", (int)status, wrong[i].text);
        if (strstr(error, wrong[i].words) == NULL) fail_msg("no \"%s\" in: %s", wrong[i].words, error);
        assert_memory_equal(error, *state, strlen(*state)); /* the file comes first */
    }
}

/* More levels than a list of frequencies can show. */
static void a_domain_has_no_end_of_levels(void **state)
{
    for (int count = 128; count <= 129; count++) {
        char text[8192], error[2048];
        size_t length = (size_t)snprintf(
            text, sizeof text, "{\"name\": \"m\", \"devices\": [{\"name\": \"a\", \"class\": \"cpu\", " SPEED "\"clock\": {\"levels\": [");
        for (int i = 0; i < count; i++)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s{\"frequency_hz\": %d}", i > 0 ? ", " : "", i + 1);
        length += (size_t)snprintf(text + length, sizeof text - length, "]}}]}");
        yoke_status status = read_text(*state, text, length, 0, error);
        assert_int_equal(status, count == 128 ? YOKE_OK : YOKE_ERROR_INPUT);
        if (count == 129) assert_non_null(strstr(error, "expected an array of 1 to 128 levels, found an array of 129"));
    }
}

static void every_part_of_a_file_is_refused(void **state)
{
    char error[2048];
    for (size_t length = 0; length < strlen(complete); length++)
        assert_int_equal(read_text(*state, complete, length, 0, error), YOKE_ERROR_INPUT);
    assert_int_equal(read_text(*state, complete, strlen(complete), 0, error), YOKE_OK);
}

/* Each byte in turn becomes another one: read or refused, but never a crash, and nothing is left. */
static void damaged_files_do_no_harm(void **state)
{
    static const char bytes[] = {'\0', '"', '9', '-', '}', (char)0xff};
    size_t length = strlen(complete);
    char *text = malloc(length), error[2048];
    assert_non_null(text);
    for (size_t at = 0; at < length; at++) {
        memcpy(text, complete, length);
        text[at] = bytes[at % sizeof bytes];
        yoke_status status = read_text(*state, text, length, 0, error);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_INPUT);
    }
    free(text);
}

static void memory_may_end_while_reading(void **state)
{
    char error[2048];
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t at = 1;
    while (status == YOKE_ERROR_MEMORY) status = read_text(*state, complete, strlen(complete), ++at, error);
    assert_int_equal(status, YOKE_OK);
    assert_true(at > 5);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    static const char *const paths[] = {"/no/such/file.json", "/", "/dev/null"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        yoke_context *context = NULL;
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        assert_int_equal(yoke_machine_read(context, paths[i]), YOKE_ERROR_INPUT);
        assert_memory_equal(yoke_last_error(context), paths[i], strlen(paths[i]));
        yoke_context_destroy(context);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_it_says_is_shown),           cmocka_unit_test(without_a_file_there_is_no_device),
    cmocka_unit_test(what_is_wrong_is_named),          cmocka_unit_test(a_domain_has_no_end_of_levels),
    cmocka_unit_test(every_part_of_a_file_is_refused), cmocka_unit_test(damaged_files_do_no_harm),
    cmocka_unit_test(memory_may_end_while_reading),    cmocka_unit_test(files_that_cannot_be_read_are_named),
};

UNIT_MAIN(tests, start, stop)
