/* Model files that are wrong, too large, or damaged: refused with the file, the place, and what was expected. */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include <sys/stat.h>
#include <unistd.h>

#include "problem_text.h"

#ifndef DAMAGED_PART
#define DAMAGED_PART 1 /* of the long tests: 1 of so many */
#endif

#define TOP(rest) "{\"units\": 9, \"devices\": [{\"name\": \"a\", \"kind\": \"host\", \"levels\": [{\"seconds_per_unit\": 1}]}]" rest "}"
#define UNITS(value) "{\"units\": " value ", \"devices\": [{\"name\": \"a\", \"kind\": \"host\", \"levels\": [{\"seconds_per_unit\": 1}]}]}"
#define DEVICES(value) "{\"units\": 9, \"devices\": " value "}"
#define DEVICE(keys) DEVICES("[{" keys "}]")
#define NAMED "\"name\": \"a\", \"kind\": \"host\""
#define LEVEL(keys) DEVICE(NAMED ", \"levels\": [{\"seconds_per_unit\": 1}, {" keys "}]")
#define POINTS(value) LEVEL("\"points\": " value)
#define LAWS(keys) DEVICE(NAMED ", \"laws\": {" keys "}")
#define RATE "\"frequencies_hz\": [1e9, 2e9], \"rate\": {\"linear\": [1e-9, 0]}"

#define ROUND(round, levels) "{\"round\": " round ", \"devices\": [{" NAMED ", \"levels\": [" levels "]}]}"
#define PHASE(keys) ROUND("{\"cuts\": [2], \"phases\": [{" keys "}]}", "{\"phases\": [{\"seconds_per_unit\": 1}]}")
#define ONE "{\"cuts\": [2], \"phases\": [{\"units\": 2}]}"

static const struct {
    const char *text, *words; /* of the message, behind the name of the file */
} wrong[] = {
    {"", ":1:"},
    {"{", ":1:"},
    {"units: 5", ":1:"},
    {"{\"units\": 5,\n \"devices\": oops}", ":2:"},
    {UNITS("NaN"), ":1:"},
    {UNITS("Infinity"), ":1:"},
    {UNITS("1e999"), ":1:"},
    {UNITS("99999999999999999999"), ": this is not JSON: too big integer"},
    {UNITS("5") "x", ": this is not JSON: end of file expected"},
    {UNITS("5") "{}", ": this is not JSON: end of file expected"},
    {TOP(", \"units\": 9"), ": this is not JSON: duplicate object key near '\"units\"'"},
    {DEVICE("\"name\": \"a\\u0000\""), ":1:"},
    {DEVICE("\"name\": \"\xff\""), ": this is not JSON: unable to decode byte 0xff"},
    {"[]", ": expected an object {\"units\": ..., \"devices\": [...]}, found an empty array"},
    {"7", ": expected an object {\"units\": ..., \"devices\": [...]}, found 7"},
    {"null", ": expected an object {\"units\": ..., \"devices\": [...]}, found null"},
    {"{}", ": /units: this key is missing"},
    {"{\"name\": \"a\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\"}]}",
     ": this is a machine file, for --machine; expected a model file"},
    {"{\"format\": 2, \"machine\": \"a\", \"entries\": []}", ": this is a store of measured costs, for --store; expected a model file"},
    {"{\"program\": \"yoke plan\", \"version\": \"1\", \"units\": 5}", ": this is a record, which --json writes; expected a model file"},
    {"{\"units\": 5}", ": /devices: this key is missing"},
    {TOP(", \"repititions\": 9"), ": /repititions: there is no such key here; did you mean \"repetitions\"?"},
    {TOP(", \"a/b~c\": 9"), ": /a~1b~0c: there is no such key here; there are: name, description, units, repetitions, copies, "},
    {TOP(", \"\\u001b[1m\": 9"), ": /?[1m: there is no such key here"},
    {TOP(", \"name\": 9"), ": /name: expected a text, found 9"},
    {UNITS("-1"), ": /units: expected a whole number from 0 to 9007199254740992, found -1"},
    {UNITS("1000000000000000000"), ": /units: expected a whole number from 0 to 9007199254740992, found 1000000000000000000"},
    {UNITS("1e19"), ": /units: expected a whole number from 0 to 9007199254740992, found 1e+19"},
    {UNITS("2.5"), ": /units: expected a whole number from 0 to 9007199254740992, found 2.5"},
    {UNITS("\"5\""), ": /units: expected a whole number from 0 to 9007199254740992, found the text \"5\""},
    {UNITS("null"), ": /units: expected a whole number from 0 to 9007199254740992, found null"},
    {TOP(", \"repetitions\": 0"), ": /repetitions: expected a number from 1e-09 to 1e+15, found 0"},
    {TOP(", \"repetitions\": null"), ": /repetitions: expected a number from 1e-09 to 1e+15, found null"},
    {TOP(", \"copies\": \"after\""), ": /copies: expected \"overlapped\" or \"before\", found the text \"after\""},
    {TOP(", \"copies\": true"), ": /copies: expected \"overlapped\" or \"before\", found true"},
    {TOP(", \"base_power_w\": -1"), ": /base_power_w: expected a number from 0 to 1e+09, found -1"},
    {TOP(", \"hosting_power_w\": \"30\""), ": /hosting_power_w: expected a number from 0 to 1e+09, found the text \"30\""},
    {DEVICES("[]"), ": /devices: expected an array of devices {...}, found an empty array"},
    {DEVICES("{}"), ": /devices: expected an array of devices {...}, found an empty object"},
    {DEVICES("[5]"), ": /devices/0: expected an object {...}, found 5"},
    {DEVICES("[null]"), ": /devices/0: expected an object {...}, found null"},
    {DEVICE("\"kind\": \"host\", \"levels\": [{\"seconds_per_unit\": 1}]"), ": /devices/0/name: this key is missing"},
    {DEVICE("\"name\": \"a\", \"levels\": [{\"seconds_per_unit\": 1}]"), ": /devices/0/kind: this key is missing"},
    {DEVICE(NAMED), ": /devices/0/levels: this key is missing; expected \"levels\" or \"laws\""},
    {DEVICE("\"name\": 5"), ": /devices/0/name: expected a text, found 5"},
    {DEVICE("\"name\": \"\""), ": /devices/0/name: expected a text of 1 to 63 bytes, found 0"},
    {DEVICE("\"name\": \"a\\tb\""), ": /devices/0/name: expected a text of one line, found the control character 9"},
    {DEVICE("\"kind\": \"gpu\""), ": /devices/0/kind: expected \"host\" or \"accelerator\", found the text \"gpu\""},
    {DEVICE(NAMED ", \"removeable\": true"), ": /devices/0/removeable: there is no such key here; did you mean \"removable\"?"},
    {DEVICE(NAMED ", \"removable\": 1"), ": /devices/0/removable: expected true or false, found 1"},
    {DEVICE(NAMED ", \"copy_seconds\": -0.5"), ": /devices/0/copy_seconds: expected a number from 0 to 1e+09, found -0.5"},
    {DEVICE(NAMED ", \"max_units\": 1.5"), ": /devices/0/max_units: expected a whole number from 0 to 1000000000000000000, found 1.5"},
    {DEVICE(NAMED ", \"levels\": []"), ": /devices/0/levels: expected an array of levels {...}, found an empty array"},
    {DEVICE(NAMED ", \"levels\": {}"), ": /devices/0/levels: expected an array of levels {...}, found an empty object"},
    {DEVICE(NAMED ", \"levels\": [{\"seconds_per_unit\": 1}], \"laws\": {}"),
     ": /devices/0/laws: expected either \"levels\" or \"laws\", found both"},
    {DEVICES("[{" NAMED ", \"levels\": [{\"seconds_per_unit\": 1}]}, {" NAMED ", \"levels\": [{\"seconds_per_unit\": 1}]}]"),
     ": /devices/1/name: expected another name than that of /devices/0, found \"a\" too"},
    {LEVEL(""), ": /devices/0/levels/1/seconds_per_unit: this key is missing; expected \"seconds_per_unit\" or \"points\""},
    {LEVEL("\"seconds_per_unit\": -1e-6"), ": /devices/0/levels/1/seconds_per_unit: expected a number from 1e-30 to 1e+09, found -9.99"},
    {LEVEL("\"seconds_per_unit\": 0"), ": /devices/0/levels/1/seconds_per_unit: expected a number from 1e-30 to 1e+09, found 0"},
    {LEVEL("\"seconds_per_unit\": null"), ": /devices/0/levels/1/seconds_per_unit: expected a number from 1e-30 to 1e+09, found null"},
    {LEVEL("\"seconds_per_unit\": 1, \"points\": [[1, 1]]"),
     ": /devices/0/levels/1/points: expected either \"seconds_per_unit\" or \"points\", found both"},
    {LEVEL("\"second_per_unit\": 1"),
     ": /devices/0/levels/1/second_per_unit: there is no such key here; did you mean \"seconds_per_unit\"?"},
    {LEVEL("\"frequency_hz\": -2e9"), ": /devices/0/levels/1/frequency_hz: expected a number from 0.001 to 1e+15, found -2000000000"},
    {LEVEL("\"start_seconds\": -1"), ": /devices/0/levels/1/start_seconds: expected a number from 0 to 1e+09, found -1"},
    {LEVEL("\"dynamic_power_w\": -1"), ": /devices/0/levels/1/dynamic_power_w: expected a number from 0 to 1e+09, found -1"},
    {LEVEL("\"seconds_per_unit\": 1, \"hosting_power_w\": -1"),
     ": /devices/0/levels/1/hosting_power_w: expected a number from 0 to 1e+09, found -1"},
    {DEVICE("\"name\": \"a\", \"kind\": \"accelerator\", \"levels\": [{\"seconds_per_unit\": 1, \"hosting_power_w\": 5}]"),
     ": /devices/0/levels/0/hosting_power_w: expected this key at levels of a host only"},
    {LEVEL("\"time_uncertainty\": 11"), ": /devices/0/levels/1/time_uncertainty: expected a number from 0 to 10, found 11"},
    {LEVEL("\"alone_factor\": 0"), ": /devices/0/levels/1/alone_factor: expected a number from 1e-06 to 1, found 0"},
    {LEVEL("\"alone_factor\": 1.5"), ": /devices/0/levels/1/alone_factor: expected a number from 1e-06 to 1, found 1.5"},
    {POINTS("[]"), ": /devices/0/levels/1/points: expected an array of pairs [units, seconds], found an empty array"},
    {POINTS("5"), ": /devices/0/levels/1/points: expected an array of pairs [units, seconds], found 5"},
    {POINTS("[[1]]"), ": /devices/0/levels/1/points/0: expected a pair [units, seconds], found an array of 1"},
    {POINTS("[[1, 1], 7]"), ": /devices/0/levels/1/points/1: expected a pair [units, seconds], found 7"},
    {POINTS("[[0, 1]]"), ": /devices/0/levels/1/points/0/0: expected a number from 1e-09 to 1e+18, found 0"},
    {POINTS("[[1, -1]]"), ": /devices/0/levels/1/points/0/1: expected a number from 1e-30 to 1e+15, found -1"},
    {POINTS("[[1, 1], [\"2\", 1]]"), ": /devices/0/levels/1/points/1/0: expected a number from 1e-09 to 1e+18, found the text \"2\""},
    {POINTS("[[5, 1], [5, 2]]"), ": /devices/0/levels/1/points/1/0: expected more units than in the point before (5), found 5"},
    {POINTS("[[5, 1], [7, 2], [6, 3]]"), ": /devices/0/levels/1/points/2/0: expected more units than in the point before (7), found 6"},
    {LAWS(""), ": /devices/0/laws/frequencies_hz: this key is missing"},
    {LAWS("\"frequencies_hz\": [1e9]"), ": /devices/0/laws/rate: this key is missing"},
    {LAWS("\"frequencies_hz\": []"), ": /devices/0/laws/frequencies_hz: expected an array of frequencies in Hz, found an empty array"},
    {LAWS("\"frequencies_hz\": [1e9, 0]"), ": /devices/0/laws/frequencies_hz/1: expected a number from 0.001 to 1e+15, found 0"},
    {LAWS("\"frequencies_hz\": [1e9, 2e9, 1e9]"), ": /devices/0/laws/frequencies_hz/2: expected another frequency than in place 0"},
    {LAWS("\"rate\": {\"cubic\": [1, 2, 3]}"), ": /devices/0/laws/rate/cubic: there is no such key here; there are: linear"},
    {LAWS("\"rate\": {\"linear\": [1, 2, 3]}"),
     ": /devices/0/laws/rate/linear: expected two numbers [a, b] of a f + b, found an array of 3"},
    {LAWS("\"rate\": {\"linear\": [1, null]}"), ": /devices/0/laws/rate/linear/1: expected a number from -1e+30 to 1e+30, found null"},
    {LAWS("\"rate\": {}"), ": /devices/0/laws/rate: expected {\"linear\": [d, e]}, found an empty object"},
    {LAWS("\"power\": {\"linear\": [1, 2], \"cubic\": [1, 2, 3]}"),
     ": /devices/0/laws/power: expected {\"linear\": [a, b]} or {\"cubic\": [a, b, c]}, found an object"},
    {LAWS("\"power\": {\"cubic\": 5}"), ": /devices/0/laws/power/cubic: expected three numbers [a, b, c] of a f^3 + b f + c, found 5"},
    {LAWS(RATE ", \"power\": {\"linear\": [1e-9, 0]}, \"total\": true"),
     ": /devices/0/laws/total: a power that includes the idle power needs"},
    {LAWS(RATE ", \"power\": {\"linear\": [1e-9, 0]}, \"total\": true, \"idle_power_w\": 1.5"),
     ": /devices/0/laws/frequencies_hz/0: the dynamic power at 1e+09 Hz is -0.5 W by its law; expected a number from 0 to 1e+09"},
    {LAWS("\"frequencies_hz\": [2e9, 1e9], \"rate\": {\"linear\": [1e-9, -1]}"),
     ": /devices/0/laws/frequencies_hz/1: the rate at 1e+09 Hz is 0 units/s by its law; expected a number from 1e-09 to 1e+30"},
    {TOP(", \"round\": " ONE), ": /units: expected no such key beside \"round\""},
    {ROUND("{}", "{\"phases\": []}"), ": /round/cuts: this key is missing"},
    {ROUND("{\"cuts\": [2]}", "{\"phases\": []}"), ": /round/phases: this key is missing"},
    {ROUND("{\"cuts\": [], \"phases\": []}", "{\"phases\": []}"),
     ": /round/cuts: expected an array of the cuts' units, found an empty array"},
    {ROUND("{\"cuts\": [1, 2, 3, 4, 5], \"phases\": []}", "{\"phases\": []}"), ": /round/cuts: expected at most 4 cuts, found 5"},
    {ROUND("{\"cuts\": [1.5], \"phases\": []}", "{\"phases\": []}"), ": /round/cuts/0: expected a whole number, found 1.5"},
    {ROUND("{\"cuts\": [2], \"phases\": []}", "{\"phases\": []}"),
     ": /round/phases: expected an array of phases {...}, found an empty array"},
    {PHASE(""), ": /round/phases/0/units: this key is missing"},
    {PHASE("\"units\": 2, \"calls\": 0"), ": /round/phases/0/calls: expected a number from 1e-09 to 1e+15, found 0"},
    {PHASE("\"units\": 2, \"cut\": 1"), ": /round/phases/0/cut: expected the number of a cut, from 0 to 0, found 1"},
    {PHASE("\"units\": 2, \"device\": \"b\""), ": /round/phases/0/device: expected the name of a device, found the text \"b\""},
    {PHASE("\"units\": 2, \"device\": \"a\", \"cut\": 0"), ": /round/phases/0/device: expected either \"device\" or \"cut\""},
    {PHASE("\"units\": 2, \"weight_sum\": [0, 1]"),
     ": /round/phases/0/weight_sum: expected an array of 3 sums, one more than the cut has units, found 2"},
    {PHASE("\"units\": 2, \"weight_sum\": [0, 2, 1]"), ": /round/phases/0/weight_sum/2: expected a number from 2 to 1e+60, found 1"},
    {ROUND(ONE, "{\"seconds_per_unit\": 1}"), ": /devices/0/levels/0/seconds_per_unit: expected this key in each of the \"phases\""},
    {ROUND(ONE, "{\"alone_factor\": 0.5}"), ": /devices/0/levels/0/seconds_per_unit: this key is missing"},
    {ROUND(ONE, "{\"idle_power_w\": 1}"), ": /devices/0/levels/0/seconds_per_unit: this key is missing"},
    {ROUND(ONE, "{\"phases\": []}"), ": /devices/0/levels/0/phases: expected an array of 1 objects, one for each phase"},
    {ROUND(ONE, "{\"phases\": [{}]}"), ": /devices/0/levels/0/phases/0/seconds_per_unit: this key is missing"},
    {ROUND(ONE, "{\"phases\": [{\"seconds_per_unit\": -1}]}"),
     ": /devices/0/levels/0/phases/0/seconds_per_unit: expected a number from 1e-30"},
    {DEVICE(NAMED ", \"levels\": [{\"phases\": []}]"), ": /devices/0/levels/0/phases: expected no phases, as the file has no round"},
    {"{\"round\": " ONE ", \"devices\": [{" NAMED ", \"laws\": {" RATE "}}]}", ": /devices/0/laws: expected \"levels\" with \"phases\""},
};

/* words: ":LINE:" of what is not JSON, or what stands behind the file's name, or, for other faults of JSON, anywhere. */
static void assert_refused(const place *p, const char *text, size_t length, const char *words)
{
    char error[2048];
    assert_int_equal(read_bytes(p, text, length, 0, error), YOKE_ERROR_INPUT);
    assert_memory_equal(error, p->path, strlen(p->path));
    const char *rest = error + strlen(p->path);
    int line = words[1] >= '0' && words[1] <= '9', right = strncmp(rest, words, strlen(words)) == 0;
    if (line) right = right && strstr(rest, ": this is not JSON: ") != NULL;
    if (strncmp(words, ": this is not JSON: ", 20) == 0) right = strstr(rest, words) != NULL;
    if (!right) fail_msg("%.200s\n    gives: %s\n    without: %s", text, error, words);
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
    for (size_t i = 0; i < COUNT_OF(wrong); i++) assert_refused(*state, wrong[i].text, strlen(wrong[i].text), wrong[i].words);
}

/* ------------------------------------------------------------------------------------------------ size and files */

/* A file made of a beginning, `count` repeated pieces with commas between, and an end; %zu in a piece is its number. */
static char *repeat(const char *before, const char *piece, size_t count, const char *after, size_t *length)
{
    size_t bytes = strlen(before) + count * (strlen(piece) + 24) + strlen(after) + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "%s", before);
    for (size_t i = 0; i < count; i++) {
        const char *number = strstr(piece, "%");
        used +=
            (size_t)sprintf(text + used, "%s%.*s", i > 0 ? "," : "", number != NULL ? (int)(number - piece) : (int)strlen(piece), piece);
        if (number != NULL) used += (size_t)sprintf(text + used, "%zu%s", i + 1, number + 1);
    }
    used += (size_t)sprintf(text + used, "%s", after);
    *length = used;
    return text;
}

static void too_much_of_something_is_refused(void **state)
{
    static const char level[] = "{\"units\": 9, \"devices\": [{\"name\": \"a\", \"kind\": \"host\", \"levels\": [";
    static const char points[] = "{\"units\": 9, \"devices\": [{\"name\": \"a\", \"kind\": \"host\", \"levels\": [{\"points\": [";
    const struct {
        const char *before, *piece, *after, *words;
        size_t count;
    } too_much[] = {
        {points, "[%, 1]", "]}]}]}", ": /devices/0/levels/0/points: expected at most 100000 points, found 1000000", 1000000},
        {level, "{\"seconds_per_unit\": 1}", "]}]}", ": /devices/0/levels: expected at most 1000 levels, found 1001", 1001},
        {"{\"units\": 9, \"devices\": [", "{\"name\": \"%\", \"kind\": \"host\", \"levels\": [{\"seconds_per_unit\": 1}]}", "]}",
         ": /devices: expected at most 64 devices, found 65", 65},
        {"{\"units\": 9, \"devices\": [{\"name\": \"a\", \"kind\": \"host\", \"laws\": {\"frequencies_hz\": [", "%", "]}}]}",
         ": /devices/0/laws/frequencies_hz: expected at most 1000 frequencies, found 1001", 1001},
#if DAMAGED_PART == 1
        {"[", "1", "]", ": there are too many values in the file; expected at most 10000000", 10000001},
#endif
    };
    for (size_t i = 0; i < COUNT_OF(too_much); i++) {
        size_t length = 0;
        char *text = repeat(too_much[i].before, too_much[i].piece, too_much[i].count, too_much[i].after, &length);
        assert_refused(*state, text, length, too_much[i].words);
        free(text);
    }
}

static void too_much_over_all_devices_is_refused(void **state)
{
    const struct {
        const char *before, *piece, *after, *words;
        size_t count, devices;
    } too_much[] = {
        {"", "{\"seconds_per_unit\": 1}", "", ": /devices: expected at most 4096 levels over all devices, found 5000", 1000, 5},
        {"{\"points\": [", "[%, 1]", "]}", ": /devices: expected at most 200000 points over all devices, found 200001", 66667, 3},
    };
    for (size_t i = 0; i < COUNT_OF(too_much); i++) {
        size_t length = 0, used = 0;
        char *levels = repeat(too_much[i].before, too_much[i].piece, too_much[i].count, too_much[i].after, &length);
        char *text = malloc(too_much[i].devices * (length + 100) + 100);
        assert_non_null(text);
        used = (size_t)sprintf(text, "{\"units\": 9, \"devices\": [");
        for (size_t k = 0; k < too_much[i].devices; k++)
            used +=
                (size_t)sprintf(text + used, "%s{\"name\": \"%zu\", \"kind\": \"host\", \"levels\": [%s]}", k > 0 ? ", " : "", k, levels);
        used += (size_t)sprintf(text + used, "]}");
        assert_refused(*state, text, used, too_much[i].words);
        free(levels);
        free(text);
    }
}

static void a_hundred_thousand_points_are_read(void **state)
{
    place *p = *state;
    size_t length = 0;
    char *text = repeat("{\"units\": 9, \"devices\": [{\"name\": \"a\", \"kind\": \"host\", \"levels\": [{\"points\": [", "[%, 1]", 100000,
                        "]}]}]}", &length);
    yoke_context *context = open_context(p);
    whole_file_write(p->path, text, length);
    yoke_plan_problem *problem = read_good(context, p->path);
    assert_int_equal(problem->devices[0].levels[0].num_points, 100000);
    assert_true(problem->devices[0].levels[0].points[199998] == 100000);
    yoke_release(context, problem);
    yoke_context_destroy(context);
    free(text);
}

static void deep_nesting_is_refused(void **state)
{
    enum { DEPTH = 1000000 };
    char *text = malloc(2 * DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    assert_refused(*state, text, DEPTH, ": this is not JSON: maximum parsing depth reached");
    memset(text + DEPTH, ']', DEPTH);
    assert_refused(*state, text, 2 * DEPTH, ": this is not JSON: maximum parsing depth reached");
    for (int i = 0; i < DEPTH / 5; i++) memcpy(text + 5 * i, "{\"a\":", 5);
    assert_refused(*state, text, DEPTH, ": this is not JSON: maximum parsing depth reached");
    free(text);
}

static void a_file_above_64_mib_is_refused_before_it_is_read(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    yoke_plan_problem *problem = NULL;
    whole_file_write(p->path, "{", 1);
    assert_int_equal(truncate(p->path, (64 << 20) + 1), 0);
    assert_int_equal(yoke_plan_problem_read(context, p->path, &problem), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "model.json: the file is too large; expected at most 64 MiB"));
    /* A device says no size, and never ends. */
    assert_int_equal(yoke_plan_problem_read(context, "/dev/zero", &problem), YOKE_ERROR_INPUT);
    assert_string_equal(yoke_last_error(context), "/dev/zero: the file is too large; expected at most 64 MiB");
    yoke_context_destroy(context);
}

static void what_is_no_readable_file_is_refused(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    yoke_plan_problem *problem = NULL;
    remove(p->path);
    assert_int_equal(yoke_plan_problem_read(context, p->path, &problem), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "model.json: the file cannot be read: No such file or directory"));
    assert_int_equal(yoke_plan_problem_read(context, p->directory, &problem), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), ": the file cannot be read: Is a directory"));
    whole_file_write(p->path, complete_model, strlen(complete_model));
    if (geteuid() != 0) {
        assert_int_equal(chmod(p->path, 0), 0);
        assert_int_equal(yoke_plan_problem_read(context, p->path, &problem), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(context), "Permission denied"));
    }
    assert_null(problem);
    assert_int_equal(yoke_plan_problem_read(context, NULL, &problem), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_plan_problem_read(context, p->path, NULL), YOKE_ERROR_ARGUMENT);
    yoke_context_destroy(context);
}

static void seconds_that_fall_are_a_warning(void **state)
{
    static const char text[] = POINTS("[[10, 1], [20, 3], [30, 2.5], [40, 2]]");
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, text, strlen(text));
    yoke_plan_problem *problem = read_good(context, p->path);
    assert_non_null(strstr(p->warnings, "model.json: /devices/0/levels/1/points/2/1: 2.5 s for 30 units are less than 3 s for 20; "));
    /* Once is enough, and the numbers stay as they are: the plan repairs them. */
    assert_true(strchr(p->warnings, '\n')[1] == '\0');
    assert_true(problem->devices[0].levels[1].points[5] == 2.5);
    yoke_release(context, problem);
    yoke_context_destroy(context);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    return *seed ^= *seed << 17;
}

/* Changes a few bytes, or moves a piece of the text somewhere else, which keeps more of it JSON. */
static size_t mutate(char *text, size_t length, uint64_t *seed)
{
    static const char bytes[] = "{}[]\",:0123456789.eE+-ntf \\\x01\xc3\xff";
    for (uint64_t changes = 1 + next_random(seed) % 3; changes > 0; changes--) {
        size_t at = next_random(seed) % length, other = next_random(seed) % length, count = next_random(seed) % 12;
        switch (next_random(seed) % 4) {
        case 0:
            text[at] = bytes[next_random(seed) % (sizeof bytes - 1)];
            break;
        case 1: /* leave out */
            count = count < length - at ? count : length - at - 1;
            memmove(text + at, text + at + count, length - at - count);
            length -= count;
            break;
        case 2: /* copy over */
            for (size_t i = 0; i < count && at + i < length && other + i < length; i++) text[at + i] = text[other + i];
            break;
        default: /* another number */
            at = strcspn(text, "0123456789");
            for (size_t skip = next_random(seed) % 40; skip > 0 && at < length; skip--) at += 1 + strcspn(text + at + 1, "0123456789");
            if (at < length) text[at] = bytes[11 + next_random(seed) % 12];
        }
        text[length] = '\0';
    }
    return length;
}

static void damaged_files_are_read_or_refused_but_never_followed(void **state)
{
    char text[4096], error[2048];
    uint64_t seed = 20140607;
    int64_t good = 0, bad = 0;
    for (int round = 0; round < 4000 / DAMAGED_PART; round++) {
        strcpy(text, complete_model);
        size_t length = mutate(text, strlen(text), &seed);
        yoke_status status = read_bytes(*state, text, length, 0, error);
        if (status != YOKE_OK && status != YOKE_ERROR_INPUT) fail_msg("%s\n    gives status %d: %s", text, (int)status, error);
        if (status == YOKE_ERROR_INPUT && strstr(error, "model.json:") == NULL) fail_msg("no file in: %s", error);
        good += status == YOKE_OK;
        bad += status != YOKE_OK;
    }
    /* Both ways were gone often. */
    assert_true(good > 200 / DAMAGED_PART && bad > 2000 / DAMAGED_PART);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_wrong_is_named_with_its_place),
    cmocka_unit_test(too_much_of_something_is_refused),
    cmocka_unit_test(too_much_over_all_devices_is_refused),
    cmocka_unit_test(a_hundred_thousand_points_are_read),
    cmocka_unit_test(deep_nesting_is_refused),
    cmocka_unit_test(a_file_above_64_mib_is_refused_before_it_is_read),
    cmocka_unit_test(what_is_no_readable_file_is_refused),
    cmocka_unit_test(seconds_that_fall_are_a_warning),
    cmocka_unit_test(damaged_files_are_read_or_refused_but_never_followed),
};

UNIT_MAIN(tests, start, stop)
