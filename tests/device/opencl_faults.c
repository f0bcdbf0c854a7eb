/* The OpenCL backend where calls of the driver fail, memory runs out, and devices are others than the one that is here. */
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

#include "driver.h"
#include "opencl.h"
#include "opencl_shim.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static const char name[] = "opencl:0.0";
static opencl_shim *shim;

static int setup_shim(void **state)
{
    driver_leave_out(name);
    (void)state;
    void *library = dlopen(OPENCL_SHIM, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return -1;
    shim = dlsym(library, "opencl_shim_state");
    /* What this process tells the shim to pretend a process of its own would not see. */
    return shim != NULL ? setenv("YOKE_LIBOPENCL", OPENCL_SHIM, 1) + setenv("YOKE_DEVICE_LIST", "", 1) : -1;
}

static void pretend(opencl_pretence pretence) { *shim = (opencl_shim){.pretence = pretence}; }

/* ----------------------------------------------------------------------------------------------------- faults */

/* Everything that a run makes on a device. */
typedef struct equipment {
    yoke_device *device;
    yoke_queue *queues[2];
    yoke_buffer *buffer;
    yoke_event *events[2];
    yoke_program *program;
    void *memory;
} equipment;

static yoke_status make(yoke_context *context, equipment *made)
{
    const yoke_program_source source = opencl_source();
    yoke_status status = yoke_device_open(context, name, &made->device);
    for (int i = 0; i < 2 && status == YOKE_OK; i++) status = yoke_queue_create(made->device, 0, &made->queues[i]);
    for (int i = 0; i < 2 && status == YOKE_OK; i++) status = yoke_event_create(made->device, &made->events[i]);
    if (status == YOKE_OK) status = yoke_buffer_create(made->device, 4 * sizeof(double), &made->buffer);
    if (status == YOKE_OK) status = yoke_host_allocate(made->device, 4 * sizeof(double), &made->memory);
    if (status == YOKE_OK) status = yoke_program_create(made->device, &source, &made->program);
    return status;
}

/* y = 3, all halved plus 1 on one queue, and read on the other. */
static yoke_status work(const equipment *made, double *seconds)
{
    yoke_function *spin = NULL;
    double *values = made->memory;
    const yoke_argument arguments[] = {yoke_argument_buffer(made->buffer), yoke_argument_int64(4), yoke_argument_int64(1)};
    for (int i = 0; i < 4; i++) values[i] = 3;
    yoke_status status = yoke_program_function(made->program, "spin", &spin);
    if (status == YOKE_OK) status = yoke_queue_clear(made->queues[0], made->buffer, 0, 4 * sizeof(double));
    if (status == YOKE_OK) status = yoke_queue_write(made->queues[0], made->buffer, 0, 4 * sizeof(double), values);
    if (status == YOKE_OK) status = yoke_queue_record(made->queues[0], made->events[0]);
    if (status == YOKE_OK) status = yoke_queue_launch(made->queues[0], spin, 2, 2, 4, arguments, 3);
    if (status == YOKE_OK) status = yoke_queue_record(made->queues[0], made->events[1]);
    if (status == YOKE_OK) status = yoke_event_wait(made->events[1], made->queues[1]);
    if (status == YOKE_OK) status = yoke_queue_read(made->queues[1], made->buffer, 0, 4 * sizeof(double), values);
    if (status == YOKE_OK) status = yoke_event_elapsed_s(made->events[0], made->events[1], seconds);
    return status == YOKE_OK ? yoke_queue_finish(made->queues[1]) : status;
}

/* The queues first: destroying them finishes what still reads and writes the rest. */
static void give_back(equipment *made)
{
    for (int i = 0; i < 2; i++) yoke_queue_destroy(made->queues[i]);
    for (int i = 0; i < 2; i++) yoke_event_destroy(made->events[i]);
    yoke_program_destroy(made->program);
    yoke_buffer_destroy(made->buffer);
    if (made->device != NULL) yoke_host_release(made->device, made->memory);
    yoke_device_close(made->device);
}

/* One whole run.  Whatever fails, all is given back, and a success is a right result.  *seconds is what the events say. */
static yoke_status run(opencl_fixture *test, double *seconds)
{
    equipment made = {0};
    yoke_device_info *list = NULL;
    int64_t count = 0;
    yoke_status status = yoke_devices_list(test->context, NULL, 0, &list, &count);
    if (status == YOKE_OK) status = make(test->context, &made);
    if (status == YOKE_OK) status = work(&made, seconds);
    if (status == YOKE_OK)
        for (int i = 0; i < 4; i++) assert_true(((double *)made.memory)[i] == 2.5);
    else
        assert_string_not_equal(yoke_last_error(test->context), "");
    give_back(&made);
    yoke_release(test->context, list);
    return status;
}

static yoke_status run_with_fault(long call, int for_ever, int error)
{
    opencl_fixture test;
    double seconds = 0;
    opencl_begin(&test);
    pretend(OPENCL_AS_IT_IS);
    shim->fail_at = call;
    shim->for_ever = for_ever;
    shim->error = error;
    yoke_status status = run(&test, &seconds);
    opencl_end(&test);
    assert_int_equal(shim->objects, 0);
    return status;
}

static long count_calls(void)
{
    assert_int_equal(run_with_fault(0, 0, 0), YOKE_OK);
    assert_true(shim->calls > 40);
    return shim->calls;
}

/* Returns how many of the faults made the run fail. */
static long fail_every_call(int for_ever, int error)
{
    const long calls = count_calls();
    long failed = 0;
    for (long call = 1; call <= calls; call++) {
        yoke_status status = run_with_fault(call, for_ever, error);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_DEVICE || status == YOKE_ERROR_DEVICE_MEMORY || status == YOKE_ERROR_MEMORY ||
                    status == YOKE_ERROR_UNAVAILABLE || status == YOKE_ERROR_INPUT);
        failed += status != YOKE_OK;
    }
    return failed;
}

static void a_fault_of_any_call_leaks_nothing(void **state)
{
    (void)state;
    assert_true(fail_every_call(0, CL_OUT_OF_RESOURCES) > 20);
}

static void a_device_that_is_gone_from_any_call_on_leaks_nothing(void **state)
{
    (void)state;
    assert_true(fail_every_call(1, CL_DEVICE_NOT_AVAILABLE) > 40);
}

/* The driver is then not asked for binaries either: PoCL would compile every kernel a second time for them. */
static void faults_without_kept_programs_leak_nothing(void **state)
{
    (void)state;
    char before[4096];
    const char *cache = getenv("YOKE_CACHE");
    snprintf(before, sizeof before, "%s", cache != NULL ? cache : "");
    setenv("YOKE_CACHE", "", 1);
    assert_true(fail_every_call(0, CL_OUT_OF_HOST_MEMORY) > 20);
    count_calls();
    assert_int_equal(shim->binaries, 0);
    if (cache != NULL)
        setenv("YOKE_CACHE", before, 1);
    else
        unsetenv("YOKE_CACHE");
}

static void no_failing_allocation_is_missed(void **state)
{
    (void)state;
    pretend(OPENCL_AS_IT_IS);
    for (int64_t fail_at = 2;; fail_at++) { /* the first is the context's */
        opencl_fixture test;
        double seconds = 0;
        opencl_begin(&test);
        test.memory.fail_at = fail_at;
        yoke_status status = run(&test, &seconds);
        const int64_t calls = test.memory.calls;
        test.memory.fail_at = 0;
        opencl_end(&test);
        assert_int_equal(shim->objects, 0);
        if (calls < fail_at) {
            assert_int_equal(status, YOKE_OK);
            assert_true(fail_at > 10);
            break;
        }
        assert_int_equal(status, YOKE_ERROR_MEMORY);
    }
}

/* ------------------------------------------------------------------------------------------------- pretences */

static yoke_device_info described(opencl_fixture *test)
{
    yoke_device_info *list = NULL, found = {.name = ""};
    int64_t count = 0;
    OK(yoke_devices_list(test->context, NULL, 0, &list, &count));
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].kind, "opencl") == 0 && found.name[0] == '\0') found = list[i];
    yoke_release(test->context, list);
    assert_string_not_equal(found.name, "");
    return found;
}

static void cards_tell_their_pci_address_each_in_its_way(void **state)
{
    (void)state;
    static const struct {
        opencl_pretence pretence;
        const char *pci;
    } cases[] = {
        {OPENCL_AS_IT_IS, ""}, {OPENCL_PCI_KHR, "0001:3b:02.1"}, {OPENCL_PCI_NV, "0000:3b:02.1"}, {OPENCL_PCI_AMD, "0000:af:02.1"}};
    opencl_fixture test;
    opencl_begin(&test);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pretend(cases[i].pretence);
        assert_string_equal(described(&test).pci, cases[i].pci);
    }
    yoke_device *device = NULL;
    OK(yoke_device_open(test.context, "pci:0000:af:02.1", &device));
    assert_string_equal(yoke_device_info_get(device)->name, name);
    yoke_device_close(device);
    opencl_end(&test);
}

static void devices_that_cannot_be_used_say_why(void **state)
{
    (void)state;
    static const struct {
        opencl_pretence pretence;
        const char *why, *remedy;
    } cases[] = {{OPENCL_VERSION_1_1, "OpenCL 1.1 of old", "newer driver"},
                 {OPENCL_NOT_AVAILABLE, "not available", "clinfo"},
                 {OPENCL_NO_COMPILER, "no compiler", "package"},
                 {OPENCL_NO_DEVICES, "find no device", "pocl-opencl-icd"}};
    opencl_fixture test;
    opencl_begin(&test);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        yoke_device *device = NULL;
        pretend(cases[i].pretence);
        yoke_device_info info = described(&test);
        assert_false(info.usable);
        assert_non_null(strstr(info.why_not, cases[i].why));
        assert_non_null(strstr(info.remedy, cases[i].remedy));
        assert_int_equal(yoke_device_open(test.context, name, &device), YOKE_ERROR_UNAVAILABLE);
        assert_non_null(strstr(yoke_last_error(test.context), cases[i].why));
        assert_non_null(strstr(yoke_last_error(test.context), cases[i].remedy));
    }
    pretend(OPENCL_NO_DOUBLE);
    yoke_device_info info = described(&test);
    assert_true(info.usable && !info.double_precision);
    pretend(OPENCL_AS_IT_IS);
    info = described(&test);
    assert_true(info.usable && info.double_precision);
    assert_string_equal(info.why_not, "");
    opencl_end(&test);
}

static void a_binary_that_the_driver_refuses_is_made_anew(void **state)
{
    (void)state;
    opencl_fixture test;
    double seconds = 0;
    opencl_begin(&test);
    pretend(OPENCL_AS_IT_IS);
    OK(run(&test, &seconds));
    pretend(OPENCL_BINARIES_REFUSED);
    test.lines[0] = '\0';
    OK(run(&test, &seconds));
    assert_non_null(strstr(test.lines, ": found"));
    assert_non_null(strstr(test.lines, ": written"));
    opencl_end(&test);
}

/* It would compile every kernel a second time for a binary, and has a cache of its own. */
static void pocl_is_not_asked_for_binaries(void **state)
{
    (void)state;
    char directory[] = "test-opencl-XXXXXX", before[4096], entry[4096];
    const char *cache = getenv("YOKE_CACHE");
    snprintf(before, sizeof before, "%s", cache != NULL ? cache : "");
    assert_non_null(mkdtemp(directory));
    setenv("YOKE_CACHE", directory, 1);
    for (int i = 0; i < 2; i++) { /* compiled, and noted before */
        opencl_fixture test;
        double seconds = 0;
        opencl_begin(&test);
        pretend(OPENCL_POCL);
        OK(run(&test, &seconds));
        assert_int_equal(shim->binaries, 0);
        assert_true((strstr(test.lines, ", once") != NULL) == (i == 0) && (strstr(test.lines, ": found") != NULL) == (i == 1));
        opencl_end(&test);
    }
    pretend(OPENCL_AS_IT_IS);
    setenv("YOKE_CACHE", before, 1);
    if (cache == NULL) unsetenv("YOKE_CACHE");
    DIR *opened = opendir(directory);
    for (const struct dirent *at; opened != NULL && (at = readdir(opened)) != NULL;) {
        snprintf(entry, sizeof entry, "%s/%s", directory, at->d_name);
        if (at->d_name[0] != '.') unlink(entry);
    }
    closedir(opened);
    rmdir(directory);
}

static void without_times_of_markers_the_time_is_not_known(void **state)
{
    (void)state;
    opencl_fixture test;
    double seconds = 0;
    opencl_begin(&test);
    pretend(OPENCL_NO_MARKER_TIMES);
    OK(run(&test, &seconds));
    assert_true(isnan(seconds));
    opencl_end(&test);
}

static void memory_that_is_refused_at_first_use_is_refused_at_creation(void **state)
{
    (void)state;
    opencl_fixture test;
    yoke_device *device = NULL;
    yoke_buffer *buffer = NULL;
    opencl_begin(&test);
    pretend(OPENCL_AS_IT_IS);
    OK(yoke_device_open(test.context, name, &device));
    shim->pretence = OPENCL_LAZY_MEMORY;
    assert_int_equal(yoke_buffer_create(device, 1024, &buffer), YOKE_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(yoke_last_error(test.context), "1024"));
    shim->pretence = OPENCL_AS_IT_IS;
    OK(yoke_buffer_create(device, 1024, &buffer));
    yoke_buffer_destroy(buffer);
    yoke_device_close(device);
    opencl_end(&test);
    assert_int_equal(shim->objects, 0);
}

/* Where the driver does not tell the kinds, their number is still checked, and their sizes as far as the driver does so. */
static void sizes_of_arguments_are_checked_where_kinds_are_not_known(void **state)
{
    (void)state;
    opencl_fixture test;
    equipment made = {0};
    yoke_function *spin = NULL;
    double seconds = 0;
    opencl_begin(&test);
    pretend(OPENCL_NO_ARGUMENT_KINDS);
    OK(make(test.context, &made));
    OK(yoke_program_function(made.program, "spin", &spin));
    const yoke_argument wrong[] = {yoke_argument_buffer(made.buffer), yoke_argument_int64(4), {.kind = YOKE_ARGUMENT_INT32}};
    assert_int_equal(yoke_queue_launch(made.queues[0], spin, 1, 1, 0, wrong, 3), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(test.context), "argument 2"));
    assert_int_equal(yoke_queue_launch(made.queues[0], spin, 1, 1, 0, wrong, 2), YOKE_ERROR_ARGUMENT);
    OK(work(&made, &seconds));
    give_back(&made);
    opencl_end(&test);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_fault_of_any_call_leaks_nothing),
    cmocka_unit_test(a_device_that_is_gone_from_any_call_on_leaks_nothing),
    cmocka_unit_test(faults_without_kept_programs_leak_nothing),
    cmocka_unit_test(no_failing_allocation_is_missed),
    cmocka_unit_test(cards_tell_their_pci_address_each_in_its_way),
    cmocka_unit_test(devices_that_cannot_be_used_say_why),
    cmocka_unit_test(a_binary_that_the_driver_refuses_is_made_anew),
    cmocka_unit_test(pocl_is_not_asked_for_binaries),
    cmocka_unit_test(without_times_of_markers_the_time_is_not_known),
    cmocka_unit_test(memory_that_is_refused_at_first_use_is_refused_at_creation),
    cmocka_unit_test(sizes_of_arguments_are_checked_where_kinds_are_not_known),
};

UNIT_MAIN(tests, setup_shim, NULL)
