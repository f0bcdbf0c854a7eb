/* Vendors' libraries that crash, end the process or hang while devices are listed; those that are not asked are not opened. */
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "unit.h"
#include "yoke/yoke.h"

static char opened[] = "/tmp/yoke-opened-XXXXXX"; /* grows by a byte each time the stub is opened */

static int setup(void **state)
{
    (void)state;
    int file = mkstemp(opened);
    if (file < 0) return -1;
    close(file);
    return setenv("YOKE_STUB_DRIVER_OPENED", opened, 1) + setenv("YOKE_LIBOPENCL", DRIVER_STUB, 1) + setenv("YOKE_LIBCUDA", DRIVER_STUB, 1);
}

static int teardown(void **state)
{
    (void)state;
    return unlink(opened);
}

static long times_opened(void)
{
    struct stat found;
    assert_int_equal(stat(opened, &found), 0);
    return (long)found.st_size;
}

/* The only entry of that kind. */
static yoke_device_info entry_of(const yoke_device_info *list, int64_t count, const char *kind)
{
    yoke_device_info entry = {.name = ""};
    int entries = 0;
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].kind, kind) == 0) {
            entry = list[i];
            entries++;
        }
    assert_int_equal(entries, 1);
    return entry;
}

static void assert_says(const char *text, const char *word)
{
    if (strstr(text, word) == NULL) fail_msg("'%s' does not say '%s'", text, word);
}

static void check_entry(const yoke_device_info *entry, const char *why_not, const char *remedy)
{
    assert_false(entry->usable);
    assert_string_equal(entry->name, entry->kind);
    assert_says(entry->why_not, why_not);
    assert_says(entry->remedy, remedy);
}

/* The library does this; the list must be there, with the reason. */
static void expect(const char *deed, const char *why_not)
{
    yoke_context *context = NULL;
    yoke_device_info *list = NULL;
    int64_t count = 0;
    setenv("YOKE_STUB_DRIVER", deed, 1);
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(yoke_devices_list(context, NULL, 0, &list, &count), YOKE_OK);
    yoke_device_info opencl = entry_of(list, count, "opencl"), cuda = entry_of(list, count, "cuda");
    check_entry(&opencl, why_not, "YOKE_LIBOPENCL");
    check_entry(&cuda, why_not, "YOKE_LIBCUDA");
    assert_true(entry_of(list, count, "openmp").usable);
    yoke_release(context, list);
    yoke_context_destroy(context);
    unsetenv("YOKE_STUB_DRIVER");
}

/* The kinds in devices_not_looked_at, and the number of devices, of yoke_describe. */
static void describe(yoke_context *context, int only_asked, const char *others, size_t devices)
{
    char *text = NULL, kinds[64] = "";
    assert_int_equal(yoke_describe(context, only_asked, &text), YOKE_OK);
    json_t *document = json_loads(text, 0, NULL), *kind;
    size_t index;
    json_array_foreach (json_object_get(document, "devices_not_looked_at"), index, kind) {
        strcat(kinds, json_string_value(kind));
        strcat(kinds, " ");
    }
    assert_string_equal(kinds, others);
    assert_int_equal(json_array_size(json_object_get(document, "devices")), devices);
    json_decref(document);
    yoke_release(context, text);
}

static void a_description_of_what_was_asked_opens_no_driver(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    yoke_device_info *list = NULL;
    int64_t count = 0;
    long before = times_opened();
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    describe(context, 1, "cuda opencl ", 2);
    assert_int_equal(times_opened(), before);
    assert_int_equal(yoke_devices_list(context, "opencl", 0, &list, &count), YOKE_OK);
    yoke_release(context, list);
    describe(context, 1, "cuda ", 3);
    assert_int_equal(times_opened(), before + 1);
    describe(context, 0, "", 4);
    assert_int_equal(times_opened(), before + 2);
    yoke_context_destroy(context);
}

static void a_driver_that_aborts_is_named_with_its_last_words(void **state)
{
    (void)state;
    expect("abort", "Not enough memory to run on this device");
#ifndef YOKE_SANITIZED /* a sanitizer turns signals into exit codes */
    expect("abort", "signal 6");
#endif
}

static void a_driver_that_crashes_does_not_crash_the_program(void **state)
{
    (void)state;
#ifdef YOKE_SANITIZED
    expect("crash", "which devices they have");
#else
    expect("crash", "signal 11");
#endif
}

static void a_driver_that_ends_the_process_ends_only_the_listing(void **state)
{
    (void)state;
    expect("exit", "exit status 3");
}

static void a_driver_that_hangs_is_given_up(void **state)
{
    (void)state;
    setenv("YOKE_DEVICE_LIST_S", "0.2", 1);
    expect("hang", "within 0.2 s");
    unsetenv("YOKE_DEVICE_LIST_S");
}

/* Without a deed the stub has none of the functions. */
static void the_answer_is_kept(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    yoke_device_info *list = NULL;
    int64_t count = 0;
    long before = times_opened();
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(yoke_devices_list(context, NULL, 0, &list, &count), YOKE_OK);
        yoke_device_info opencl = entry_of(list, count, "opencl");
        check_entry(&opencl, "no function", "pocl-opencl-icd");
        yoke_release(context, list);
        assert_int_equal(times_opened(), before + 2); /* as OpenCL and as CUDA, once each */
    }
    yoke_context_destroy(context);
}

static void who_asks_for_other_kinds_opens_no_driver(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    yoke_device_info *list = NULL;
    yoke_device *device = NULL;
    int64_t count = 0;
    long before = times_opened();
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(yoke_devices_list(context, "sim", 0, &list, &count), YOKE_OK);
    assert_int_equal(count, 1);
    yoke_release(context, list);
    assert_int_equal(yoke_devices_list(context, "openmp", 1, &list, &count), YOKE_OK);
    assert_int_equal(count, 0); /* cores are no GPUs */
    yoke_release(context, list);
    assert_int_equal(yoke_device_open(context, "openmp", &device), YOKE_OK);
    yoke_device_close(device);
    assert_int_equal(times_opened(), before);
    assert_int_equal(yoke_devices_list(context, "quantum", 0, &list, &count), YOKE_ERROR_INPUT);
    assert_says(yoke_last_error(context), "openmp, cuda, opencl, sim");
    yoke_context_destroy(context);
}

static void note(yoke_log_level level, const char *text, void *user)
{
    (void)level;
    snprintf(user, 512, "%s", text);
}

static void without_the_helper_the_process_asks_itself_and_says_so(void **state)
{
    (void)state;
    char logged[512] = "";
    yoke_options options = {.log = note, .log_user = logged, .log_level = YOKE_LOG_WARNING};
    yoke_context *context = NULL;
    yoke_device_info *list = NULL;
    int64_t count = 0;
    setenv("YOKE_DEVICE_LIST", "/nowhere/yoke-device-list", 1);
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    assert_int_equal(yoke_devices_list(context, "opencl", 0, &list, &count), YOKE_OK);
    yoke_device_info opencl = entry_of(list, count, "opencl");
    check_entry(&opencl, "no function", "pocl-opencl-icd");
    assert_says(logged, "/nowhere/yoke-device-list");
    yoke_release(context, list);
    yoke_context_destroy(context);
    unsetenv("YOKE_DEVICE_LIST");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_driver_that_aborts_is_named_with_its_last_words),
    cmocka_unit_test(a_driver_that_crashes_does_not_crash_the_program),
    cmocka_unit_test(a_driver_that_ends_the_process_ends_only_the_listing),
    cmocka_unit_test(a_driver_that_hangs_is_given_up),
    cmocka_unit_test(the_answer_is_kept),
    cmocka_unit_test(who_asks_for_other_kinds_opens_no_driver),
    cmocka_unit_test(a_description_of_what_was_asked_opens_no_driver),
    cmocka_unit_test(without_the_helper_the_process_asks_itself_and_says_so),
};

UNIT_MAIN(tests, setup, teardown)
