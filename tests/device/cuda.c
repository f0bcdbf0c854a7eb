/* The cuda backend: a small program, and every call of it failing; devices, memory, programs, BLAS. */
#include "cuda_child.h"
#include "packed.h"

enum { COUNT = 1000, GROUP_SIZE = 64, GROUPS = 5, STOPPED = 42 };

static const char kernels_text[] =
    "YOKE_KERNEL(axpy, (yoke_long n, double alpha, YOKE_GLOBAL const double *x, YOKE_GLOBAL double *y))\n"
    "{\n"
    "    YOKE_FOR_ALL (i, n) y[i] += alpha * x[i];\n"
    "}\n"
    "YOKE_KERNEL(group_sums, (yoke_int n, YOKE_GLOBAL const double *x, YOKE_GLOBAL double *sums))\n"
    "{\n"
    "    YOKE_LOCAL double partial[PARTIAL];\n"
    "    YOKE_FOR_ITEMS (i, PARTIAL) partial[i] = 0;\n"
    "    YOKE_BARRIER();\n"
    "    for (yoke_long i = YOKE_GROUP * YOKE_ITEMS + YOKE_ITEM; i < n; i += YOKE_GROUPS * YOKE_ITEMS) partial[YOKE_ITEM] += x[i];\n"
    "    for (int width = PARTIAL / 2; width > 0; width /= 2) {\n"
    "        YOKE_BARRIER();\n"
    "        YOKE_FOR_ITEMS (i, width) partial[i] += partial[i + width];\n"
    "    }\n"
    "    YOKE_BARRIER();\n"
    "    if (YOKE_ITEM == 0) sums[YOKE_GROUP] = partial[0];\n"
    "}\n"
    "YOKE_KERNEL(half_a_barrier, (YOKE_GLOBAL double *x))\n"
    "{\n"
    "    if (YOKE_ITEM < 2) {\n"
    "        YOKE_BARRIER();\n"
    "    }\n"
    "    x[0] = 1;\n"
    "}\n";
static const char *const texts[] = {kernels_text};
static const yoke_program_source source = {.name = "cuda test", .texts = texts, .num_texts = 1, .options = "-DPARTIAL=64"};

/* ------------------------------------------------------------------------------------------ a small program */

typedef struct fixture {
    yoke_context *context;
    yoke_device *device;
    yoke_buffer *x, *y;
    yoke_queue *copies, *work;
    yoke_event *written, *begin, *end;
    yoke_program *program;
    yoke_function *axpy, *group_sums;
    double *host; /* x, y, the sums */
    double seconds;
} fixture;

static yoke_status make(fixture *test)
{
    yoke_status status = yoke_device_open(test->context, "cuda:0", &test->device);
    if (status == YOKE_OK) status = yoke_host_allocate(test->device, (2 * COUNT + GROUPS) * 8, &test->host);
    if (status == YOKE_OK) status = yoke_buffer_create(test->device, COUNT * 8, &test->x);
    if (status == YOKE_OK) status = yoke_buffer_create(test->device, COUNT * 8, &test->y);
    if (status == YOKE_OK) status = yoke_queue_create(test->device, 0, &test->copies);
    if (status == YOKE_OK) status = yoke_queue_create(test->device, 0, &test->work);
    if (status == YOKE_OK) status = yoke_event_create(test->device, &test->written);
    if (status == YOKE_OK) status = yoke_event_create(test->device, &test->begin);
    if (status == YOKE_OK) status = yoke_event_create(test->device, &test->end);
    if (status == YOKE_OK) status = yoke_program_create(test->device, &source, &test->program);
    if (status == YOKE_OK) status = yoke_program_function(test->program, "axpy", &test->axpy);
    if (status == YOKE_OK) status = yoke_program_function(test->program, "group_sums", &test->group_sums);
    return status;
}

/* y = 2 x, and the sums of x by groups over y's beginning. */
static yoke_status compute(fixture *test)
{
    const yoke_argument axpy[] = {yoke_argument_int64(COUNT), yoke_argument_double(2), yoke_argument_buffer(test->x),
                                  yoke_argument_buffer(test->y)};
    const yoke_argument sums[] = {yoke_argument_int32(COUNT), yoke_argument_buffer(test->x), yoke_argument_buffer(test->y)};
    for (int i = 0; i < COUNT; i++) test->host[i] = i;
    yoke_status status = yoke_queue_write(test->copies, test->x, 0, COUNT * 8, test->host);
    if (status == YOKE_OK) status = yoke_queue_record(test->copies, test->written);
    if (status == YOKE_OK) status = yoke_queue_clear(test->work, test->y, 0, COUNT * 8);
    if (status == YOKE_OK) status = yoke_event_wait(test->written, test->work);
    if (status == YOKE_OK) status = yoke_queue_record(test->work, test->begin);
    if (status == YOKE_OK) status = yoke_queue_launch(test->work, test->axpy, 3, GROUP_SIZE, 0, axpy, 4);
    if (status == YOKE_OK) status = yoke_queue_record(test->work, test->end);
    if (status == YOKE_OK) status = yoke_queue_read(test->work, test->y, 0, COUNT * 8, test->host + COUNT);
    if (status == YOKE_OK) status = yoke_queue_launch(test->work, test->group_sums, GROUPS, GROUP_SIZE, 0, sums, 3);
    if (status == YOKE_OK) status = yoke_queue_read(test->work, test->y, 0, GROUPS * 8, test->host + 2 * COUNT);
    if (status == YOKE_OK) status = yoke_event_wait(test->end, NULL);
    if (status == YOKE_OK) status = yoke_queue_finish(test->work);
    if (status == YOKE_OK) status = yoke_event_elapsed_s(test->begin, test->end, &test->seconds);
    return status;
}

static void check_results(const fixture *test)
{
    double sum = 0;
    for (int i = 0; i < COUNT; i++) CHECK(test->host[COUNT + i] == 2.0 * i);
    for (int i = 0; i < GROUPS; i++) sum += test->host[2 * COUNT + i];
    CHECK(sum == COUNT * (COUNT - 1) / 2.0);
    CHECK(test->seconds >= 0 && test->seconds < 1000);
}

static void destroy(fixture *test)
{
    yoke_program_destroy(test->program);
    yoke_event_destroy(test->end);
    yoke_event_destroy(test->begin);
    yoke_event_destroy(test->written);
    yoke_queue_destroy(test->work);
    yoke_queue_destroy(test->copies);
    yoke_buffer_destroy(test->y);
    yoke_buffer_destroy(test->x);
    if (test->device != NULL) yoke_host_release(test->device, test->host);
    yoke_device_close(test->device);
    yoke_context_destroy(test->context);
}

static fixture made_well(void)
{
    fixture test = {0};
    CHECK(yoke_context_create(NULL, &test.context) == YOKE_OK);
    CHECK_STATUS(test.context, make(&test), YOKE_OK);
    return test;
}

static void run_small_program(void)
{
    fixture test = made_well();
    CHECK_STATUS(test.context, compute(&test), YOKE_OK);
    check_results(&test);
    destroy(&test);
}

/* A failure must be told with a text; without one the results must be right. */
static void run_small_program_that_may_fail(void)
{
    fixture test = {0};
    int failed = 0;
    CHECK(yoke_context_create(NULL, &test.context) == YOKE_OK);
    yoke_status status = make(&test);
    if (status == YOKE_OK) status = compute(&test);
    if (status == YOKE_OK)
        check_results(&test);
    else {
        failed = 1;
        CHECK(status == YOKE_ERROR_DEVICE || status == YOKE_ERROR_UNAVAILABLE || status == YOKE_ERROR_DEVICE_MEMORY ||
              status == YOKE_ERROR_MEMORY || status == YOKE_ERROR_INPUT || status == YOKE_ERROR_ARGUMENT);
        CHECK(strlen(yoke_last_error(test.context)) > 10);
    }
    destroy(&test);
    if (failed) exit(STOPPED);
}

static void test_small_program_is_right_and_gives_everything_back(void **state)
{
    (void)state;
    cuda_books found = cuda_expect_right(run_small_program, WITH({NULL, NULL}));
    assert_true(found.calls > 50);
}

/* Of each kind of error: one that lasts, too little memory, and an image that the driver does not take. */
static void test_every_call_of_the_driver_may_fail(void **state)
{
    (void)state;
    static const char *const errors[] = {"719", "2", "200"};
    long calls = cuda_expect_right(run_small_program, WITH({NULL, NULL})).calls;
    calls = cuda_expect_right(run_small_program, WITH({NULL, NULL})).calls; /* the program comes from the cache now */
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        long told = 0;
        for (long call = 1; call <= calls; call++) {
            char number[24];
            snprintf(number, sizeof number, "%ld", call);
            cuda_books found = cuda_run_child(run_small_program_that_may_fail,
                                              WITH({"YOKE_STUB_CUDA_FAIL_AT", number}, {"YOKE_STUB_CUDA_FAIL_WITH", errors[i]}));
            if (found.exit_code != 0 && found.exit_code != STOPPED)
                fail_msg("call %ld failing with %s: exit code %d", call, errors[i], found.exit_code);
            if (found.wrong != 0) fail_msg("call %ld failing with %s: not everything was given back", call, errors[i]);
            told += found.exit_code == STOPPED;
        }
        /* What cannot tell are calls that put back the context, and those that destroy: fewer than half. */
        assert_true(told > calls / 3);
    }
}

static void open_only(void)
{
    fixture test = {0};
    CHECK(yoke_context_create(NULL, &test.context) == YOKE_OK);
    CHECK_STATUS(test.context, yoke_device_open(test.context, "cuda:0", &test.device), YOKE_OK);
    destroy(&test);
}

static void compile_only(void)
{
    fixture test = {0};
    CHECK(yoke_context_create(NULL, &test.context) == YOKE_OK);
    yoke_status status = yoke_device_open(test.context, "cuda:0", &test.device);
    if (status == YOKE_OK) status = yoke_program_create(test.device, &source, &test.program);
    CHECK(status == YOKE_OK || status == YOKE_ERROR_DEVICE);
    destroy(&test);
    if (status != YOKE_OK) exit(STOPPED);
}

static void test_every_call_of_the_compiler_may_fail(void **state)
{
    (void)state;
    long first = cuda_expect_right(open_only, WITH({"YOKE_CACHE", ""})).calls;
    long last = cuda_expect_right(compile_only, WITH({"YOKE_CACHE", ""})).calls - 4; /* then it is unloaded, and the device closed */
    assert_true(last - first >= 6);
    for (long call = first; call <= last; call++) {
        char number[24];
        snprintf(number, sizeof number, "%ld", call);
        cuda_books found = cuda_run_child(compile_only, WITH({"YOKE_CACHE", ""}, {"YOKE_STUB_CUDA_FAIL_AT", number}));
        if (found.exit_code != 0 && found.exit_code != STOPPED) fail_msg("call %ld failing: exit code %d", call, found.exit_code);
        assert_int_equal(found.wrong, 0);
    }
}

/* -------------------------------------------------------------------------------------------------- devices */

static void describe_device(void)
{
    fixture test = made_well();
    const yoke_device_info *info = yoke_device_info_get(test.device);
    CHECK(strcmp(info->name, "cuda:0") == 0 && strcmp(info->kind, "cuda") == 0 && info->device_class == YOKE_DEVICE_GPU && info->usable);
    CHECK(cuda_mentions(info->description, "yoke stub GPU") && cuda_mentions(info->description, "compute capability 8.0"));
    CHECK(cuda_mentions(info->driver, "CUDA 13.0") && cuda_mentions(info->driver, "NVRTC 12."));
    CHECK(strcmp(info->pci, "0000:3b:00.0") == 0);
    CHECK(info->memory_bytes == 1 << 30 && info->compute_units == 4 && info->double_precision);
    int64_t free_bytes, all_bytes;
    CHECK_STATUS(test.context, yoke_device_memory(test.device, &free_bytes, &all_bytes), YOKE_OK);
    CHECK(all_bytes == 1 << 30 && free_bytes == all_bytes - 2 * COUNT * 8);
    destroy(&test);
}

static void test_a_device_is_described(void **state)
{
    (void)state;
    cuda_expect_right(describe_device, WITH({NULL, NULL}));
}

/* Shown in the other order: the address decides, not the number. */
static void open_by_address(void)
{
    yoke_context *context;
    yoke_device *first, *second;
    CHECK(yoke_context_create(NULL, &context) == YOKE_OK);
    CHECK_STATUS(context, yoke_device_open(context, "pci:0000:3B:00.0", &first), YOKE_OK);
    CHECK_STATUS(context, yoke_device_open(context, "cuda:0", &second), YOKE_OK);
    CHECK(strcmp(yoke_device_info_get(first)->name, "cuda:1") == 0 && strcmp(yoke_device_info_get(first)->pci, "0000:3b:00.0") == 0);
    CHECK(strcmp(yoke_device_info_get(second)->pci, "0000:3c:00.0") == 0);
    yoke_device_close(second);
    yoke_device_close(first);
    yoke_context_destroy(context);
}

static void test_devices_are_found_by_address(void **state)
{
    (void)state;
    cuda_expect_right(open_by_address, WITH({"YOKE_STUB_CUDA_DEVICES", "2"}, {"CUDA_VISIBLE_DEVICES", "1,0"}));
}

static void break_one_of_two(void)
{
    fixture test = made_well();
    yoke_device *other;
    yoke_queue *queue;
    yoke_buffer *buffer;
    yoke_function *function;
    const yoke_argument arguments[] = {yoke_argument_buffer(test.x)};
    double number = 7, back = 0;
    CHECK_STATUS(test.context, yoke_device_open(test.context, "cuda:1", &other), YOKE_OK);
    CHECK_STATUS(test.context, yoke_program_function(test.program, "half_a_barrier", &function), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_launch(test.work, function, 2, 4, 0, arguments, 1), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_finish(test.work), YOKE_ERROR_DEVICE);
    CHECK(cuda_says(test.context, "CUDA_ERROR_LAUNCH_FAILED") && cuda_says(test.context, "cuda:0"));
    CHECK_STATUS(test.context, yoke_queue_clear(test.work, test.x, 0, 8), YOKE_ERROR_DEVICE);

    CHECK_STATUS(test.context, yoke_queue_create(other, 0, &queue), YOKE_OK);
    CHECK_STATUS(test.context, yoke_buffer_create(other, 8, &buffer), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_write(queue, buffer, 0, 8, &number), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_read(queue, buffer, 0, 8, &back), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_finish(queue), YOKE_OK);
    CHECK(back == 7);
    yoke_buffer_destroy(buffer);
    yoke_queue_destroy(queue);
    yoke_device_close(other);
    destroy(&test);
}

static void test_a_kernel_that_fails_loses_its_device_only(void **state)
{
    (void)state;
    cuda_expect_right(break_one_of_two, WITH({"YOKE_STUB_CUDA_DEVICES", "2"}));
}

/* --------------------------------------------------------------------------------------------------- memory */

static void ask_for_too_much(void)
{
    fixture test = made_well();
    yoke_buffer *buffer;
    CHECK_STATUS(test.context, yoke_buffer_create(test.device, 1 << 20, &buffer), YOKE_ERROR_DEVICE_MEMORY);
    CHECK(cuda_says(test.context, "1048576") && cuda_says(test.context, "1032576")); /* all, and what x and y leave */
    CHECK_STATUS(test.context, yoke_buffer_create(test.device, INT64_MAX, &buffer), YOKE_ERROR_DEVICE_MEMORY);
    CHECK_STATUS(test.context, compute(&test), YOKE_OK);
    check_results(&test);
    destroy(&test);
}

static void test_too_little_memory_is_told_and_the_device_stays(void **state)
{
    (void)state;
    cuda_expect_right(ask_for_too_much, WITH({"YOKE_STUB_CUDA_MEMORY", "1048576"}));
}

/* The stand-in does nothing before something waits for it: what a test would miss otherwise. */
static void wait_for_results(void)
{
    fixture test = made_well();
    double numbers[2] = {1, 2}, back[2] = {0, 0};
    CHECK_STATUS(test.context, yoke_queue_write(test.work, test.x, 8, 16, numbers), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_read(test.work, test.x, 8, 16, back), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_record(test.work, test.end), YOKE_OK);
    CHECK(back[0] == 0 && back[1] == 0);
    CHECK_STATUS(test.context, yoke_event_wait(test.end, NULL), YOKE_OK);
    CHECK(back[0] == 1 && back[1] == 2);
    destroy(&test);
}

static void test_results_are_there_when_they_were_waited_for(void **state)
{
    (void)state;
    cuda_expect_right(wait_for_results, WITH({NULL, NULL}));
}

/* ------------------------------------------------------------------------------------------------- programs */

static void launch_wrongly(void)
{
    fixture test = made_well();
    yoke_function *function;
    const yoke_argument right[] = {yoke_argument_int32(COUNT), yoke_argument_buffer(test.x), yoke_argument_buffer(test.y)};
    const yoke_argument wide[] = {yoke_argument_int64(COUNT), yoke_argument_buffer(test.x), yoke_argument_buffer(test.y)};
    CHECK_STATUS(test.context, yoke_program_function(test.program, "nothing", &function), YOKE_ERROR_ARGUMENT);
    CHECK(cuda_says(test.context, "nothing"));
    CHECK_STATUS(test.context, yoke_queue_launch(test.work, test.group_sums, 1, 1, 0, right, 2), YOKE_ERROR_ARGUMENT);
    CHECK(cuda_says(test.context, "takes 3 arguments"));
    CHECK_STATUS(test.context, yoke_queue_launch(test.work, test.group_sums, 1, 1, 0, wide, 3), YOKE_ERROR_ARGUMENT);
    CHECK(cuda_says(test.context, "argument 1"));
    CHECK_STATUS(test.context, yoke_queue_launch(test.work, test.group_sums, 1, 2048, 0, right, 3), YOKE_ERROR_ARGUMENT);
    CHECK(cuda_says(test.context, "1024"));
    CHECK_STATUS(test.context, yoke_queue_launch(test.work, test.group_sums, (int64_t)1 << 32, 1, 0, right, 3), YOKE_ERROR_ARGUMENT);
    CHECK_STATUS(test.context, compute(&test), YOKE_OK);
    check_results(&test);
    destroy(&test);
}

static void test_wrong_launches_are_refused(void **state)
{
    (void)state;
    cuda_expect_right(launch_wrongly, WITH({NULL, NULL}));
}

static void compile_nonsense(void)
{
    static const char *const wrong[] = {"YOKE_FUNCTION int f(void)\n{\n    return nonsense;\n}\n"};
    const yoke_program_source bad = {.name = "wrong", .texts = wrong, .num_texts = 1};
    fixture test = made_well();
    yoke_program *program;
    CHECK_STATUS(test.context, yoke_program_create(test.device, &bad, &program), YOKE_ERROR_INPUT);
    CHECK(cuda_says(test.context, "wrong text 1:3") && cuda_says(test.context, "nonsense"));
    destroy(&test);
}

static void test_messages_of_the_compiler_are_told(void **state)
{
    (void)state;
    cuda_expect_right(compile_nonsense, WITH({NULL, NULL}));
}

/* A card between two that the compiler knows, and one that is newer than all: the driver's own compiler takes over. */
static void test_cards_that_the_compiler_does_not_know_get_text(void **state)
{
    (void)state;
    cuda_expect_right(run_small_program, WITH({"YOKE_STUB_CUDA_CAPABILITY", "89"}));
    cuda_expect_right(run_small_program, WITH({"YOKE_STUB_CUDA_CAPABILITY", "121"}));
}

/* ----------------------------------------------------------------------------------------------------- BLAS */

static void multiply(void)
{
    fixture test = made_well();
    /* [1 2 4; 2 3 5; 4 5 6], its lower triangle by rows */
    const double a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, 10, 100}, y[] = {1, 1, 1};
    double back[3] = {0};
    CHECK_STATUS(test.context, yoke_queue_write(test.work, test.x, 8, sizeof a, a), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_write(test.work, test.x, 80, sizeof x, x), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_write(test.work, test.y, 16, sizeof y, y), YOKE_OK);
    CHECK_STATUS(test.context, packed_product(test.device, test.work, 3, 2, test.x, 8, test.x, 80, 3, test.y, 16), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_read(test.work, test.y, 16, sizeof back, back), YOKE_OK);
    CHECK_STATUS(test.context, yoke_queue_finish(test.work), YOKE_OK);
    CHECK(back[0] == 2 * 421 + 3 && back[1] == 2 * 532 + 3 && back[2] == 2 * 654 + 3);
    destroy(&test);
}

static void multiply_without(void)
{
    fixture test = made_well();
    CHECK_STATUS(test.context, packed_product(test.device, test.work, 3, 2, test.x, 0, test.x, 80, 0, test.y, 0), YOKE_ERROR_UNAVAILABLE);
    CHECK(cuda_says(test.context, "YOKE_LIBCUBLAS"));
    CHECK_STATUS(test.context, compute(&test), YOKE_OK);
    destroy(&test);
}

static void test_packed_symmetric_product(void **state)
{
    (void)state;
    cuda_expect_right(multiply, WITH({NULL, NULL}));
    cuda_expect_right(multiply_without, WITH({"YOKE_LIBCUBLAS", ""}));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_small_program_is_right_and_gives_everything_back),
    cmocka_unit_test(test_every_call_of_the_driver_may_fail),
    cmocka_unit_test(test_every_call_of_the_compiler_may_fail),
    cmocka_unit_test(test_a_device_is_described),
    cmocka_unit_test(test_devices_are_found_by_address),
    cmocka_unit_test(test_a_kernel_that_fails_loses_its_device_only),
    cmocka_unit_test(test_too_little_memory_is_told_and_the_device_stays),
    cmocka_unit_test(test_results_are_there_when_they_were_waited_for),
    cmocka_unit_test(test_wrong_launches_are_refused),
    cmocka_unit_test(test_messages_of_the_compiler_are_told),
    cmocka_unit_test(test_cards_that_the_compiler_does_not_know_get_text),
    cmocka_unit_test(test_packed_symmetric_product),
};

UNIT_MAIN(tests, cuda_use_stand_ins, NULL)
