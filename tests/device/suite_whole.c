/* What a device goes through from opening to closing, again and again, with programs that are wrong and memory that ends. */
#include <stdio.h>

#include "suite.h"

static yoke_status open_again(const suite *s, yoke_context *context, yoke_device **device)
{
    yoke_status status = s->machine != NULL ? yoke_machine_read(context, s->machine) : YOKE_OK;
    return status == YOKE_OK ? yoke_device_open(context, s->name, device) : status;
}

/* All kinds of objects once; *answer becomes 2^10 - 1. */
static yoke_status use(const suite *s, yoke_context *context, int64_t *answer)
{
    yoke_device *device = NULL;
    yoke_buffer *buffer = NULL;
    yoke_queue *queue = NULL;
    yoke_event *begin = NULL, *end = NULL;
    yoke_program *program = NULL;
    yoke_function *function = NULL;
    yoke_program_source source = suite_source();
    void *host = NULL;
    double seconds = 0;
    yoke_status status = open_again(s, context, &device);
    if (status == YOKE_OK) status = yoke_buffer_create(device, 64, &buffer);
    if (status == YOKE_OK) status = yoke_queue_create(device, 0, &queue);
    if (status == YOKE_OK) status = yoke_event_create(device, &begin);
    if (status == YOKE_OK) status = yoke_event_create(device, &end);
    if (status == YOKE_OK) status = yoke_host_allocate(device, 64, &host);
    if (status == YOKE_OK) status = yoke_program_create(device, &source, &program);
    if (status == YOKE_OK) status = yoke_program_function(program, "double_and_one", &function);
    if (status == YOKE_OK) status = yoke_queue_clear(queue, buffer, 0, 64);
    if (status == YOKE_OK) status = yoke_queue_record(queue, begin);
    const yoke_argument arguments[] = {yoke_argument_int64(8), yoke_argument_buffer(buffer)};
    for (int i = 0; status == YOKE_OK && i < 10; i++) status = yoke_queue_launch(queue, function, 2, 3, 8, arguments, 2);
    if (status == YOKE_OK) status = yoke_queue_record(queue, end);
    if (status == YOKE_OK) status = yoke_queue_read(queue, buffer, 0, 64, host);
    if (status == YOKE_OK) status = yoke_event_elapsed_s(begin, end, &seconds);
    if (status == YOKE_OK) status = yoke_queue_finish(queue);
    if (status == YOKE_OK) *answer = ((const int64_t *)host)[7];
    yoke_queue_destroy(queue);
    yoke_program_destroy(program);
    yoke_event_destroy(begin);
    yoke_event_destroy(end);
    yoke_host_release(device, host);
    yoke_buffer_destroy(buffer);
    yoke_device_close(device);
    return status;
}

static void a_device_is_opened_and_closed_many_times(void **state)
{
    const suite *s = *state;
    for (int i = 0; i < 10; i++) {
        yoke_context *context = NULL;
        failing memory = {0};
        yoke_options options = failing_options(&memory);
        int64_t answer = 0;
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        yoke_status status = use(s, context, &answer);
        if (status != YOKE_OK) fail_msg("status %d: %s", status, yoke_last_error(context));
        yoke_context_destroy(context);
        assert_int_equal(answer, 1023);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void a_device_is_opened_twice_at_once(void **state)
{
    suite *s = *state;
    yoke_device *second = NULL;
    int64_t answer = 0;
    OK(s, yoke_device_open(s->context, s->name, &second));
    yoke_device_close(second);
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(use(s, context, &answer), YOKE_OK); /* while the suite's own is open */
    yoke_context_destroy(context);
    assert_int_equal(answer, 1023);
}

/* The first allocation fails, then the second, and so on: a status each time, never a crash, nothing left. */
static void memory_may_end_at_any_allocation(void **state)
{
    const suite *s = *state;
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t answer = 0;
    for (int64_t at = 2; status != YOKE_OK; at++) { /* the first is the context's own */
        yoke_context *context = NULL;
        failing memory = {.fail_at = at};
        yoke_options options = failing_options(&memory);
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        status = use(s, context, &answer);
        if (status != YOKE_OK) {
            assert_true(status == YOKE_ERROR_MEMORY || status == YOKE_ERROR_DEVICE_MEMORY);
            assert_true(strlen(yoke_last_error(context)) > 0);
        }
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        assert_true(at < 10000);
    }
    assert_int_equal(answer, 1023);
}

static yoke_status create_program(const suite *s, yoke_context *context, const yoke_program_source *source)
{
    yoke_device *device = NULL;
    yoke_program *program = NULL;
    yoke_status status = open_again(s, context, &device);
    if (status == YOKE_OK) status = yoke_program_create(device, source, &program);
    yoke_program_destroy(program);
    if (status == YOKE_ERROR_INPUT) { /* the device is as it was */
        yoke_buffer *buffer = NULL;
        char text[256];
        snprintf(text, sizeof text, "%s", yoke_last_error(context));
        OK(s, yoke_buffer_create(device, 8, &buffer));
        yoke_buffer_destroy(buffer);
        yoke_fail(context, status, "%s", text);
    }
    yoke_device_close(device);
    return status;
}

static void a_wrong_program_is_refused_in_the_compilers_words(void **state)
{
    suite *s = *state;
    const char *const texts[] = {"YOKE_KERNEL(wrong, (yoke_long n)) { undeclared_thing = n; }\n"};
    const yoke_program_source source = {.name = "a program with an error", .texts = texts, .num_texts = 1};
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    yoke_status status = create_program(s, context, &source);
    if (suite_is_host(s)) {
        assert_int_equal(status, YOKE_ERROR_UNAVAILABLE);
        assert_non_null(strstr(yoke_last_error(context), "host_kernels"));
    } else {
        assert_int_equal(status, YOKE_ERROR_INPUT);
        if (strstr(yoke_last_error(context), "undeclared_thing") == NULL) fail_msg("the compiler's words: %s", yoke_last_error(context));
    }
    yoke_context_destroy(context);
}

static void options_reach_the_program(void **state)
{
    suite *s = *state;
    if (suite_is_host(s)) return;
    const char *const texts[] = {"YOKE_KERNEL(give, (YOKE_GLOBAL yoke_int *out)) { YOKE_FOR_ALL (i, 1) out[0] = FIRST ", "+ SECOND; }\n"};
    const yoke_program_source source = {
        .name = "a program with options", .texts = texts, .num_texts = 2, .options = "-DFIRST=40 -DSECOND=2"};
    yoke_program *program = NULL;
    yoke_function *function = NULL;
    int32_t out = 0;
    for (int i = 0; i < 2; i++) { /* compiled, and from the cache */
        OK(s, yoke_program_create(s->device, &source, &program));
        OK(s, yoke_program_function(program, "give", &function));
        yoke_buffer *buffer = suite_buffer(s, sizeof out, NULL);
        const yoke_argument arguments[] = {yoke_argument_buffer(buffer)};
        OK(s, yoke_queue_launch(s->queue, function, 1, 1, 0, arguments, 1));
        suite_read(s, buffer, sizeof out, &out);
        assert_int_equal(out, 42);
        yoke_buffer_destroy(buffer);
        yoke_program_destroy(program);
    }
}

static void wrong_sources_are_refused(void **state)
{
    suite *s = *state;
    const char *const no_text[] = {NULL};
    const yoke_host_kernel no_kernel[] = {{NULL, NULL}};
    yoke_program *program = NULL;
    yoke_program_source wrong[] = {{.num_texts = -1},        {.num_texts = 1},        {.texts = no_text, .num_texts = 1},
                                   {.num_host_kernels = -1}, {.num_host_kernels = 1}, {.host_kernels = no_kernel, .num_host_kernels = 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(yoke_program_create(s->device, &wrong[i], &program), YOKE_ERROR_ARGUMENT);
    assert_null(program);
}

static void what_belongs_to_another_device_is_refused(void **state)
{
    suite *s = *state;
    yoke_device *other = NULL;
    yoke_buffer *buffer = NULL;
    yoke_event *event = NULL, *own = NULL;
    double seconds = 0;
    char byte = 0;
    OK(s, yoke_device_open(s->context, s->name, &other));
    OK(s, yoke_buffer_create(other, 8, &buffer));
    OK(s, yoke_event_create(other, &event));
    OK(s, yoke_event_create(s->device, &own));
    const yoke_argument arguments[] = {yoke_argument_int64(1), yoke_argument_buffer(buffer)};
    FAILS(s, YOKE_ERROR_ARGUMENT, "belongs to", yoke_queue_write(s->queue, buffer, 0, 1, &byte));
    FAILS(s, YOKE_ERROR_ARGUMENT, "belongs to", yoke_queue_record(s->queue, event));
    FAILS(s, YOKE_ERROR_ARGUMENT, "belongs to", yoke_event_wait(event, s->queue));
    FAILS(s, YOKE_ERROR_ARGUMENT, "belong to", yoke_event_elapsed_s(own, event, &seconds));
    FAILS(s, YOKE_ERROR_ARGUMENT, "belongs to", yoke_queue_launch(s->queue, suite_function(s, "double_and_one"), 1, 1, 0, arguments, 2));
    yoke_event_destroy(own);
    yoke_event_destroy(event);
    yoke_buffer_destroy(buffer);
    yoke_device_close(other);
}

int suite_run_whole(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_opened_and_closed_many_times),
        cmocka_unit_test(a_device_is_opened_twice_at_once),
        cmocka_unit_test(memory_may_end_at_any_allocation),
        cmocka_unit_test(a_wrong_program_is_refused_in_the_compilers_words),
        cmocka_unit_test(options_reach_the_program),
        cmocka_unit_test(wrong_sources_are_refused),
        cmocka_unit_test(what_belongs_to_another_device_is_refused),
    };
    return cmocka_run_group_tests_name("the whole", tests, suite_open, suite_close);
}
