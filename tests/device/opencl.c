/* What the device suite does not ask, because it is OpenCL's own.  The device is PoCL's, or whatever else is opencl:0.0. */
#define _GNU_SOURCE /* sched_getaffinity */

#include "opencl.h"
#include "driver.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "packed.h"

static const char name[] = "opencl:0.0";

/* Everything that most tests need. */
typedef struct workbench {
    opencl_fixture base;
    yoke_device *device;
    yoke_queue *queue;
    yoke_program *program;
} workbench;

static int need_driver(void **state)
{
    (void)state;
    driver_leave_out(name);
    return 0;
}

static int setup(void **state)
{
    workbench *test = calloc(1, sizeof *test);
    const yoke_program_source source = opencl_source();
    opencl_begin(&test->base);
    OK(yoke_device_open(test->base.context, name, &test->device));
    OK(yoke_queue_create(test->device, 0, &test->queue));
    OK(yoke_program_create(test->device, &source, &test->program));
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    workbench *test = *state;
    yoke_program_destroy(test->program);
    yoke_queue_destroy(test->queue);
    yoke_device_close(test->device);
    opencl_end(&test->base);
    free(test);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- loading */

/* What the list shows where the environment variable has that value; in a process of its own, for loaders look at it only once. */
static void assert_absent(const char *variable, const char *value, const char *why)
{
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        yoke_context *context = NULL;
        yoke_device_info *list = NULL;
        yoke_device *device = NULL;
        int64_t count = 0, seen = 0;
        setenv(variable, value, 1);
        if (yoke_context_create(NULL, &context) != YOKE_OK || yoke_devices_list(context, NULL, 0, &list, &count) != YOKE_OK) _exit(1);
        for (int64_t i = 0; i < count; i++) {
            if (strcmp(list[i].kind, "opencl") != 0) continue;
            seen++;
            if (strcmp(list[i].name, "opencl") != 0 || list[i].usable || strstr(list[i].why_not, why) == NULL) _exit(2);
            if (strstr(list[i].remedy, "pocl-opencl-icd") == NULL) _exit(3);
        }
        if (seen != 1) _exit(4);
        if (yoke_device_open(context, name, &device) != YOKE_ERROR_UNAVAILABLE) _exit(5);
        if (strstr(yoke_last_error(context), why) == NULL || strstr(yoke_last_error(context), "pocl-opencl-icd") == NULL) _exit(6);
        yoke_release(context, list);
        yoke_context_destroy(context);
        _exit(0);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void what_is_absent_says_why_and_what_to_do(void **state)
{
    (void)state;
    assert_absent("YOKE_LIBOPENCL", "", "YOKE_LIBOPENCL is empty");
    assert_absent("YOKE_LIBOPENCL", "/nowhere/libOpenCL.so.1", "/nowhere/libOpenCL.so.1");
    assert_absent("YOKE_LIBOPENCL", "libm.so.6", "no function clBuildProgram");
    assert_absent("OCL_ICD_VENDORS", "/nowhere/", "no OpenCL driver is installed");
}

static cpu_set_t cores_of(pid_t thread)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    (void)sched_getaffinity(thread, sizeof cores, &cores);
    return cores;
}

/* Opens the device on core 0, where all threads but the caller must then have the driver's cores.  0, or what is wrong. */
static int check_threads(yoke_context *context, const cpu_set_t *drivers)
{
    yoke_device *device = NULL;
    if (yoke_bind_thread(context, 0) != YOKE_OK) return 1;
    const cpu_set_t bound = cores_of(0);
    if (yoke_device_open(context, name, &device) != YOKE_OK) return 2;
    const cpu_set_t after = cores_of(0);
    if (!CPU_EQUAL(&bound, &after)) return 3;
    DIR *stream = opendir("/proc/self/task");
    if (stream == NULL) return 4;
    for (const struct dirent *task; (task = readdir(stream)) != NULL;) {
        const pid_t thread = (pid_t)atol(task->d_name);
        const cpu_set_t cores = cores_of(thread);
        if (thread > 0 && thread != getpid() && !CPU_EQUAL(&cores, drivers)) return 5;
    }
    closedir(stream);
    yoke_device_close(device);
    return 0;
}

/* named: YOKE_OPENCL_CORES, which must be one core; NULL: not set.  In a process of its own: the driver makes its threads once. */
static void assert_threads(const char *named)
{
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        yoke_context *context = NULL;
        cpu_set_t drivers = cores_of(0);
        if (yoke_context_create(NULL, &context) != YOKE_OK) _exit(6);
        if (named != NULL) {
            setenv("YOKE_OPENCL_CORES", named, 1);
            if (yoke_bind_thread(context, atol(named)) != YOKE_OK) _exit(7);
            drivers = cores_of(0);
        }
        int wrong = check_threads(context, &drivers);
        yoke_context_destroy(context);
        _exit(wrong);
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

static void the_drivers_threads_are_not_bound_to_the_core_of_their_maker(void **state)
{
    (void)state;
    assert_threads(NULL);
}

static void the_drivers_threads_can_be_kept_on_cores(void **state)
{
    (void)state;
    opencl_fixture test;
    yoke_topology topology;
    yoke_device *device = NULL;
    char last[48], beyond[48];
    opencl_begin(&test);
    OK(yoke_topology_get(test.context, &topology));
    snprintf(last, sizeof last, "%lld-%lld", (long long)topology.cores - 1, (long long)topology.cores - 1);
    snprintf(beyond, sizeof beyond, "0-%lld", (long long)topology.cores);
    assert_threads(last);
    const char *const wrong[] = {"x", "-1", "1-0", "0-", "0-0x", "0,1", " 0", beyond, "99999999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("YOKE_OPENCL_CORES", wrong[i], 1);
        assert_int_equal(yoke_device_open(test.context, name, &device), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(test.context), "YOKE_OPENCL_CORES"));
    }
    unsetenv("YOKE_OPENCL_CORES");
    opencl_end(&test);
}

static void devices_are_named_by_platform_and_device(void **state)
{
    (void)state;
    static const char *const wrong[] = {"opencl",      "opencl:",     "opencl:0",     "opencl:0.",
                                        "opencl:0.0x", "opencl:00.0", "opencl:0.999", "opencl:-1.0"};
    opencl_fixture test;
    yoke_device *device = NULL;
    opencl_begin(&test);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(yoke_device_open(test.context, wrong[i], &device), YOKE_ERROR_INPUT);
        assert_non_null(strstr(yoke_last_error(test.context), name));
    }
    OK(yoke_device_open(test.context, name, &device));
    const yoke_device_info *info = yoke_device_info_get(device);
    assert_string_equal(info->name, name);
    assert_string_equal(info->kind, "opencl");
    assert_true(info->usable);
    assert_true(info->memory_bytes > 0 && info->compute_units > 0);
    assert_non_null(strstr(info->driver, "OpenCL "));
    yoke_device_close(device);
    opencl_end(&test);
}

/* --------------------------------------------------------------------------------------------------- programs */

static void arguments_of_all_kinds_arrive(void **state)
{
    workbench *test = *state;
    yoke_function *all_kinds = NULL, *is_null = NULL;
    yoke_buffer *y = NULL;
    double values[4] = {0};
    OK(yoke_program_function(test->program, "all_kinds", &all_kinds));
    OK(yoke_program_function(test->program, "is_null", &is_null));
    OK(yoke_buffer_create(test->device, sizeof values, &y));
    const yoke_argument arguments[] = {yoke_argument_buffer(y), yoke_argument_int32(-7), yoke_argument_int64(INT64_C(-9007199254740991)),
                                       yoke_argument_float(0.5F), yoke_argument_double(0.1)};
    OK(yoke_queue_launch(test->queue, all_kinds, 3, 2, 0, arguments, 5));
    OK(yoke_queue_read(test->queue, y, 0, sizeof values, values));
    OK(yoke_queue_finish(test->queue));
    assert_true(values[0] == -7 && values[1] == -9007199254740991.0 && values[2] == 0.5 && values[3] == 0.1);
    const yoke_argument with_null[] = {yoke_argument_buffer(NULL), yoke_argument_buffer(y)};
    OK(yoke_queue_launch(test->queue, is_null, 1, 1, 0, with_null, 2));
    const yoke_argument without_null[] = {yoke_argument_buffer(y), yoke_argument_buffer(y)};
    OK(yoke_queue_read(test->queue, y, 0, sizeof(double), &values[0]));
    OK(yoke_queue_launch(test->queue, is_null, 1, 1, 0, without_null, 2));
    OK(yoke_queue_read(test->queue, y, 0, sizeof(double), &values[1]));
    OK(yoke_queue_finish(test->queue));
    assert_true(values[0] == 1 && values[1] == 0);
    yoke_buffer_destroy(y);
}

static void wrong_arguments_are_refused_and_harm_nothing(void **state)
{
    workbench *test = *state;
    yoke_function *all_kinds = NULL, *none = NULL;
    yoke_buffer *y = NULL;
    double value = 0;
    assert_int_equal(yoke_program_function(test->program, "no_such", &none), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(test->base.context), "all_kinds"));
    OK(yoke_program_function(test->program, "all_kinds", &all_kinds));
    OK(yoke_buffer_create(test->device, 4 * sizeof(double), &y));
    const yoke_argument right[] = {yoke_argument_buffer(y),
                                   {.kind = YOKE_ARGUMENT_INT32},
                                   {.kind = YOKE_ARGUMENT_INT64},
                                   {.kind = YOKE_ARGUMENT_FLOAT},
                                   yoke_argument_double(3)};
    for (int i = 0; i < 5; i++)
        for (int kind = YOKE_ARGUMENT_BUFFER; kind <= YOKE_ARGUMENT_DOUBLE; kind++) {
            yoke_argument wrong[5];
            memcpy(wrong, right, sizeof wrong);
            if (wrong[i].kind == (yoke_argument_kind)kind) continue;
            wrong[i] = kind == YOKE_ARGUMENT_BUFFER ? yoke_argument_buffer(y) : (yoke_argument){.kind = (yoke_argument_kind)kind};
            assert_int_equal(yoke_queue_launch(test->queue, all_kinds, 1, 1, 0, wrong, 5), YOKE_ERROR_ARGUMENT);
            assert_non_null(strstr(yoke_last_error(test->base.context), "argument"));
        }
    assert_int_equal(yoke_queue_launch(test->queue, all_kinds, 1, 1, 0, right, 4), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(test->base.context), "5 arguments, and 4"));
    assert_int_equal(yoke_queue_launch(test->queue, all_kinds, 1, 1 << 24, 0, right, 5), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(test->base.context), "at most "));
    assert_int_equal(yoke_queue_launch(test->queue, all_kinds, INT64_MAX, 2, 0, right, 5), YOKE_ERROR_ARGUMENT);
    OK(yoke_queue_launch(test->queue, all_kinds, 1, 1, 0, right, 5));
    OK(yoke_queue_read(test->queue, y, 3 * sizeof(double), sizeof value, &value));
    OK(yoke_queue_finish(test->queue));
    assert_true(value == 3);
    yoke_buffer_destroy(y);
}

static void a_program_that_does_not_compile_says_where(void **state)
{
    workbench *test = *state;
    static const char *const texts[] = {"YOKE_KERNEL(broken, (YOKE_GLOBAL double *y)) { y[0] = undeclared_word; }\n"};
    const yoke_program_source source = {.name = "bad", .texts = texts, .num_texts = 1};
    yoke_program *program = NULL;
    assert_int_equal(yoke_program_create(test->device, &source, &program), YOKE_ERROR_INPUT);
    assert_null(program);
    assert_non_null(strstr(yoke_last_error(test->base.context), "undeclared_word"));
    assert_non_null(strstr(yoke_last_error(test->base.context), "bad"));
}

static void options_reach_the_compiler(void **state)
{
    workbench *test = *state;
    static const char *const texts[] = {"YOKE_KERNEL(tell, (YOKE_GLOBAL double *y)) { YOKE_FOR_ALL (k, 1) y[k] = VALUE; }\n"};
    yoke_buffer *y = NULL;
    OK(yoke_buffer_create(test->device, sizeof(double), &y));
    const yoke_argument argument = yoke_argument_buffer(y);
    for (int i = 1; i <= 2; i++) {
        yoke_program_source source = {.name = "options", .texts = texts, .num_texts = 1};
        source.options = i == 1 ? "-DVALUE=1" : "-DVALUE=2";
        yoke_program *program = NULL;
        yoke_function *tell = NULL;
        double value = 0;
        OK(yoke_program_create(test->device, &source, &program));
        OK(yoke_program_function(program, "tell", &tell));
        OK(yoke_queue_launch(test->queue, tell, 1, 1, 0, &argument, 1));
        OK(yoke_queue_read(test->queue, y, 0, sizeof value, &value));
        OK(yoke_queue_finish(test->queue));
        assert_true(value == i);
        yoke_program_destroy(program);
    }
    yoke_buffer_destroy(y);
}

/* A kernel whose text no other run has compiled is compiled once and then found, also by another context. */
static void a_program_is_compiled_once(void **state)
{
    workbench *test = *state;
    char option[64];
    snprintf(option, sizeof option, "-DUNIQUE=%lld%09lld", (long long)getpid(), (long long)(fmod(yoke_clock_s(), 1) * 1e9));
    yoke_program_source source = opencl_source();
    source.options = option;
    yoke_program *program = NULL;
    test->base.lines[0] = '\0';
    OK(yoke_program_create(test->device, &source, &program));
    assert_non_null(strstr(test->base.lines, ": written"));
    assert_null(strstr(test->base.lines, ": found"));
    yoke_program_destroy(program);

    opencl_fixture other;
    yoke_device *device = NULL;
    yoke_function *function = NULL;
    opencl_begin(&other);
    OK(yoke_device_open(other.context, name, &device));
    OK(yoke_program_create(device, &source, &program));
    assert_null(strstr(other.lines, ": written"));
    assert_non_null(strstr(other.lines, ": found"));
    OK(yoke_program_function(program, "all_kinds", &function));
    yoke_program_destroy(program);
    yoke_device_close(device);
    opencl_end(&other);
}

/* ---------------------------------------------------------------------------------------- queues and events */

static void events_tell_times_that_lie_within_the_hosts(void **state)
{
    workbench *test = *state;
    yoke_function *spin = NULL;
    yoke_buffer *y = NULL;
    yoke_event *begin = NULL, *middle = NULL, *end = NULL;
    double first = 0, second = 0, both = 0;
    OK(yoke_program_function(test->program, "spin", &spin));
    OK(yoke_buffer_create(test->device, 64 * sizeof(double), &y));
    OK(yoke_event_create(test->device, &begin));
    OK(yoke_event_create(test->device, &middle));
    OK(yoke_event_create(test->device, &end));
    const yoke_argument some[] = {yoke_argument_buffer(y), yoke_argument_int64(64), yoke_argument_int64(20000)};
    const yoke_argument more[] = {yoke_argument_buffer(y), yoke_argument_int64(64), yoke_argument_int64(400000)};
    OK(yoke_queue_clear(test->queue, y, 0, 64 * sizeof(double)));
    OK(yoke_queue_launch(test->queue, spin, 8, 8, 0, some, 3));
    OK(yoke_queue_finish(test->queue));
    const double before = yoke_clock_s();
    OK(yoke_queue_record(test->queue, begin));
    OK(yoke_queue_launch(test->queue, spin, 8, 8, 0, some, 3));
    OK(yoke_queue_record(test->queue, middle));
    OK(yoke_queue_launch(test->queue, spin, 8, 8, 0, more, 3));
    OK(yoke_queue_record(test->queue, end));
    OK(yoke_event_elapsed_s(begin, middle, &first));
    OK(yoke_event_elapsed_s(middle, end, &second));
    const double host = yoke_clock_s() - before;
    OK(yoke_event_elapsed_s(begin, end, &both));
    assert_true(first > 0 && second > 0);
    assert_true(fabs(first + second - both) < 1e-8);
    assert_true(both <= host + 1e-6);
    print_message("host %g s, events %g s and %g s\n", host, first, second);
    OK(yoke_event_elapsed_s(end, begin, &first));
    assert_true(fabs(first + both) < 1e-8);
    yoke_event_destroy(begin);
    yoke_event_destroy(middle);
    yoke_event_destroy(end);
    yoke_buffer_destroy(y);
}

static void host_memory_of_the_device_is_host_memory(void **state)
{
    workbench *test = *state;
    enum { BLOCKS = 3, BYTES = 100003 };
    unsigned char *blocks[BLOCKS];
    yoke_buffer *buffer = NULL;
    OK(yoke_buffer_create(test->device, BYTES, &buffer));
    for (int b = 0; b < BLOCKS; b++) {
        OK(yoke_host_allocate(test->device, BYTES, &blocks[b]));
        assert_int_equal((uintptr_t)blocks[b] % 64, 0);
        for (int i = 0; i < BYTES; i++) blocks[b][i] = (unsigned char)(i * (b + 3));
    }
    OK(yoke_queue_write(test->queue, buffer, 0, BYTES, blocks[0]));
    OK(yoke_queue_clear(test->queue, buffer, 5, 50));
    OK(yoke_queue_clear(test->queue, buffer, 64, 32));
    OK(yoke_queue_clear(test->queue, buffer, 100, 4));
    OK(yoke_queue_read(test->queue, buffer, 0, BYTES, blocks[2]));
    OK(yoke_queue_finish(test->queue));
    for (int i = 0; i < BYTES; i++) {
        const int cleared = (i >= 5 && i < 55) || (i >= 64 && i < 96) || (i >= 100 && i < 104);
        assert_int_equal(blocks[2][i], cleared ? 0 : (unsigned char)(i * 3));
        assert_int_equal(blocks[1][i], (unsigned char)(i * 4));
    }
    yoke_host_release(test->device, blocks[1]);
    yoke_host_release(test->device, blocks[0]);
    yoke_host_release(test->device, blocks[2]);
    yoke_buffer_destroy(buffer);
}

static void a_buffer_that_is_too_large_is_refused(void **state)
{
    workbench *test = *state;
    yoke_buffer *buffer = NULL;
    int64_t unused = 0, all = 0;
    OK(yoke_device_memory(test->device, &unused, &all));
    assert_int_equal(yoke_buffer_create(test->device, all, &buffer), YOKE_ERROR_DEVICE_MEMORY); /* no driver gives all to one */
    assert_int_equal(yoke_buffer_create(test->device, INT64_MAX, &buffer), YOKE_ERROR_DEVICE_MEMORY);
    assert_null(buffer);
    OK(yoke_buffer_create(test->device, 1, &buffer)); /* the device is not lost */
    yoke_buffer_destroy(buffer);
}

/* ------------------------------------------------------------------------------------------------------- BLAS */

/* y = alpha A x + beta y, A packed by rows of the lower triangle. */
static void plain_dspmv(int64_t n, double alpha, const double *a, const double *x, double beta, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += a[i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * x[j];
        y[i] = alpha * sum + (beta != 0 ? beta * y[i] : 0);
    }
}

static void check_dspmv(workbench *test, int64_t n, double alpha, double beta, int64_t offset)
{
    enum { MOST = 64 };
    static double a[MOST * (MOST + 1) / 2 + 8], x[MOST + 8], y[MOST + 8], got[MOST + 8];
    yoke_buffer *on_device[3];
    double *const host[] = {a, x, y};
    const int64_t sizes[] = {n * (n + 1) / 2 + offset, n + 2 * offset, n + 3 * offset};
    for (int64_t i = 0; i < sizes[0]; i++) a[i] = sin(1.0 + (double)i);
    for (int64_t i = 0; i < sizes[1]; i++) x[i] = cos(2.0 * (double)i);
    for (int64_t i = 0; i < sizes[2]; i++) y[i] = beta == 0 ? NAN : 1.0 / (1.0 + (double)i);
    for (int b = 0; b < 3; b++) {
        OK(yoke_buffer_create(test->device, sizes[b] * 8, &on_device[b]));
        OK(yoke_queue_write(test->queue, on_device[b], 0, sizes[b] * 8, host[b]));
    }
    OK(packed_product(test->device, test->queue, n, alpha, on_device[0], offset * 8, on_device[1], 2 * offset * 8, beta, on_device[2],
                      3 * offset * 8));
    OK(yoke_queue_read(test->queue, on_device[2], 0, sizes[2] * 8, got));
    OK(yoke_queue_finish(test->queue));
    plain_dspmv(n, alpha, a + offset, x + 2 * offset, beta, y + 3 * offset);
    for (int64_t i = 0; i < n; i++) assert_true(fabs(got[3 * offset + i] - y[3 * offset + i]) < 1e-13 * (double)n);
    for (int64_t i = 0; i < 3 * offset; i++) assert_memory_equal(&got[i], &y[i], sizeof(double)); /* what stands before is not touched */
    for (int b = 0; b < 3; b++) yoke_buffer_destroy(on_device[b]);
}

static void the_packed_product_is_that_of_a_plain_loop(void **state)
{
    workbench *test = *state;
    check_dspmv(test, 1, 1, 0, 0);
    check_dspmv(test, 24, 2, 0, 0);
    check_dspmv(test, 24, -0.5, 1, 1);
    check_dspmv(test, 60, 1, 0.25, 2);
    yoke_buffer *buffer = NULL;
    OK(yoke_buffer_create(test->device, 1024, &buffer));
    assert_int_equal(packed_product(test->device, test->queue, 3, 1, buffer, 4, buffer, 512, 0, buffer, 768), YOKE_ERROR_ARGUMENT);
    yoke_buffer_destroy(buffer);
}

static void without_clblast_the_packed_product_is_unavailable(void **state)
{
    workbench *test = *state;
    yoke_buffer *buffer = NULL;
    OK(yoke_buffer_create(test->device, 1024, &buffer));
    static const char *const absent[] = {"", "/nowhere/libclblast.so.1", "libm.so.6"};
    for (int i = 0; i < 3; i++) {
        setenv("YOKE_LIBCLBLAST", absent[i], 1);
        assert_int_equal(packed_product(test->device, test->queue, 3, 1, buffer, 0, buffer, 512, 0, buffer, 768), YOKE_ERROR_UNAVAILABLE);
        assert_non_null(strstr(yoke_last_error(test->base.context), "apt install libclblast1"));
    }
    unsetenv("YOKE_LIBCLBLAST");
    OK(yoke_queue_finish(test->queue)); /* the device is not lost */
    yoke_buffer_destroy(buffer);
}

#define ON_DEVICE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* The first three want a process in which the driver has not started. */
static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_absent_says_why_and_what_to_do),
    cmocka_unit_test(the_drivers_threads_are_not_bound_to_the_core_of_their_maker),
    cmocka_unit_test(the_drivers_threads_can_be_kept_on_cores),
    cmocka_unit_test(devices_are_named_by_platform_and_device),
    ON_DEVICE(arguments_of_all_kinds_arrive),
    ON_DEVICE(wrong_arguments_are_refused_and_harm_nothing),
    ON_DEVICE(a_program_that_does_not_compile_says_where),
    ON_DEVICE(options_reach_the_compiler),
    ON_DEVICE(a_program_is_compiled_once),
    ON_DEVICE(events_tell_times_that_lie_within_the_hosts),
    ON_DEVICE(host_memory_of_the_device_is_host_memory),
    ON_DEVICE(a_buffer_that_is_too_large_is_refused),
    ON_DEVICE(the_packed_product_is_that_of_a_plain_loop),
    ON_DEVICE(without_clblast_the_packed_product_is_unavailable),
};

UNIT_MAIN(tests, need_driver, NULL)
