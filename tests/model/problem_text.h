/*
 * problem_text.h - what the tests of model files share: a directory with a file in it, reading, and a file that has everything.
 */
#ifndef YOKE_TESTS_PROBLEM_TEXT_H
#define YOKE_TESTS_PROBLEM_TEXT_H

#include "base/failing.h"
#include "unit.h"
#include "whole_file.h"
#include "yoke/yoke.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* A directory, a file in it, and another. */
typedef struct place {
    char directory[64], path[96], other[96];
    char warnings[4096];
} place;

static inline int start(void **state)
{
    static place p = {.directory = "/tmp/yoke-model-XXXXXX"};
    if (mkdtemp(p.directory) == NULL) return -1;
    snprintf(p.path, sizeof p.path, "%s/model.json", p.directory);
    snprintf(p.other, sizeof p.other, "%s/other.json", p.directory);
    *state = &p;
    return 0;
}

static inline int stop(void **state)
{
    place *p = *state;
    remove(p->path);
    remove(p->other);
    return rmdir(p->directory);
}

static inline void keep_warning(yoke_log_level level, const char *text, void *user)
{
    place *p = user;
    size_t used = strlen(p->warnings);
    if (level == YOKE_LOG_WARNING) snprintf(p->warnings + used, sizeof p->warnings - used, "%s\n", text);
}

static inline yoke_context *open_context(place *p)
{
    yoke_context *context = NULL;
    yoke_options options = {.log = keep_warning, .log_user = p, .log_level = YOKE_LOG_INFO};
    p->warnings[0] = '\0';
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    return context;
}

static inline yoke_plan_problem *read_good(yoke_context *context, const char *path)
{
    yoke_plan_problem *problem = NULL;
    if (yoke_plan_problem_read(context, path, &problem) != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    return problem;
}

/* Reads bytes as a model file with the allocation `fail_at` failing.  Shows that nothing is left, whatever happens. */
static inline yoke_status read_bytes(const place *p, const char *text, size_t length, int64_t fail_at, char error[2048])
{
    failing memory = {.fail_at = fail_at};
    yoke_options options = failing_options(&memory);
    yoke_context *context = NULL;
    yoke_plan_problem *problem = NULL;
    whole_file_write(p->path, text, length);
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    yoke_status status = yoke_plan_problem_read(context, p->path, &problem);
    snprintf(error, 2048, "%s", yoke_last_error(context));
    assert_true((status == YOKE_OK) == (problem != NULL));
    yoke_release(context, problem);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
    return status;
}

static const char *const complete_model =
    "{\"name\": \"m\", \"description\": \"with\\nall\", \"units\": 9007199254740992, \"repetitions\": 32.4, \"copies\": \"before\",\n"
    " \"base_power_w\": 12.5, \"hosting_power_w\": null, \"devices\": [\n"
    "  {\"name\": \"cpu \xc3\xa4\", \"kind\": \"host\", \"removable\": false, \"levels\": [\n"
    "    {\"frequency_hz\": 2.0e9, \"seconds_per_unit\": 1.7e-6, \"start_seconds\": 1e-5, \"dynamic_power_w\": 84, \"idle_power_w\": "
    "84.3,\n     \"alone_factor\": 0.75, \"hosting_power_w\": 7.5},\n"
    "    {\"frequency_hz\": null, \"points\": [[1, 1e-6], [10.5, 2e-5], [1e6, 1]], \"dynamic_power_w\": null, \"time_uncertainty\": 0.02,\n"
    "     \"power_uncertainty\": 0.05}],\n"
    "   \"copy_seconds\": 0, \"copy_seconds_per_unit\": 0, \"copy_joules_per_unit\": 0},\n"
    "  {\"name\": \"gpu\", \"kind\": \"accelerator\", \"removable\": true, \"copy_seconds\": 0.25, \"copy_seconds_per_unit\": 1e-9,\n"
    "   \"copy_joules_per_unit\": 8.14e-4, \"max_units\": 1e6, \"laws\": {\"frequencies_hz\": [1e9, 2e9], \"rate\": {\"linear\": [1e-3, "
    "5]},\n"
    "   \"power\": {\"cubic\": [1e-27, 2e-9, 3]}, \"total\": true, \"idle_power_w\": 2, \"start_seconds\": 0.5,\n"
    "   \"alone_factor\": 0.5}}]}";

/* With a round of all that there is: two cuts, weights, a device alone, points, no kernel. */
static const char *const round_model =
    "{\"copies\": \"before\", \"base_power_w\": 5, \"round\": {\"cuts\": [10, 4], \"copy_bytes_per_unit\": 8, \"phases\": [\n"
    "   {\"work\": \"fine\", \"calls\": 2.5, \"cut\": 0, \"units\": 10, \"barrier\": true, \"call_seconds\": 1e-6},\n"
    "   {\"work\": \"far\", \"cut\": 1, \"units\": 7, \"weight_sum\": [0, 0.1, 0.4, 0.4, 1.3]},\n"
    "   {\"device\": \"cpu\", \"units\": 3}]},\n"
    " \"devices\": [{\"name\": \"cpu\", \"kind\": \"host\", \"levels\": [\n"
    "    {\"frequency_hz\": 1e9, \"idle_power_w\": 7, \"power_uncertainty\": 0.01, \"phases\": [\n"
    "      {\"seconds_per_unit\": 0.1, \"start_seconds\": 0.25, \"dynamic_power_w\": 3, \"time_uncertainty\": 0.02},\n"
    "      {\"points\": [[1, 0.5], [4, 1.5]], \"dynamic_power_w\": 4, \"power_uncertainty\": 0.05, \"alone_factor\": 0.9},\n"
    "      {\"seconds_per_unit\": 2,\n"
    "       \"dynamic_power_w\": 1}]}]},\n"
    "  {\"name\": \"gpu\", \"kind\": \"accelerator\", \"levels\": [{\"idle_power_w\": 2, \"phases\": [\n"
    "      {\"seconds_per_unit\": 0.05, \"dynamic_power_w\": 30}, {\"seconds_per_unit\": 0.3, \"dynamic_power_w\": 20}, null]}]}]}";

#endif
