/* The front: what it promises of lost devices, and of backends that applications bring, shown with a backend of this test. */
#include "base/failing.h"
#include "failing_backend.h"
#include "packed.h"
#include "unit.h"

/* --------------------------------------------------------------------------------------------- a script */

static void count(void *user) { ++*(int *)user; }

/* Keeps the first failure. */
static void keep(yoke_status *first, yoke_status status)
{
    if (*first == YOKE_OK) *first = status;
}

/*
 * Makes every call that the front has, goes on after failures with what there is, and shows that after a loss all fail alike.  Returns the
 * first failure.
 */
static yoke_status script(yoke_context *context, yoke_device *device)
{
    yoke_status first = YOKE_OK;
    yoke_buffer *buffer = NULL;
    yoke_queue *queue = NULL;
    yoke_event *begin = NULL, *end = NULL;
    yoke_program *program = NULL;
    yoke_function *kernel = NULL;
    const yoke_program_source source = {.name = NULL};
    void *host = NULL;
    char bytes[8] = "";
    int called = 0;
    double seconds = 0;
    int64_t unused = 0, all = 0;
    keep(&first, yoke_device_memory(device, &unused, &all));
    keep(&first, yoke_buffer_create(device, 64, &buffer));
    keep(&first, yoke_queue_create(device, 0, &queue));
    keep(&first, yoke_event_create(device, &begin));
    keep(&first, yoke_event_create(device, &end));
    keep(&first, yoke_host_allocate(device, 8, &host));
    keep(&first, yoke_program_create(device, &source, &program));
    if (program != NULL) keep(&first, yoke_program_function(program, "kernel", &kernel));
    const yoke_argument arguments[] = {yoke_argument_buffer(buffer), yoke_argument_int32(5)};
    if (queue != NULL && buffer != NULL) {
        keep(&first, yoke_queue_write(queue, buffer, 0, 8, bytes));
        keep(&first, yoke_queue_clear(queue, buffer, 8, 8));
        keep(&first, yoke_queue_read(queue, buffer, 0, 8, bytes));
        keep(&first, packed_product(device, queue, 2, 1, buffer, 0, buffer, 8, 0, buffer, 16));
    }
    if (queue != NULL && begin != NULL && end != NULL) {
        keep(&first, yoke_queue_record(queue, begin));
        keep(&first, yoke_queue_record(queue, end));
        keep(&first, yoke_event_wait(begin, queue));
        keep(&first, yoke_event_wait(end, NULL));
        yoke_status status = yoke_event_elapsed_s(begin, end, &seconds);
        if (status != YOKE_ERROR_ARGUMENT) keep(&first, status); /* an event was not recorded: an earlier failure */
    }
    if (queue != NULL && kernel != NULL && buffer != NULL) keep(&first, yoke_queue_launch(queue, kernel, 1, 1, 0, arguments, 2));
    if (queue != NULL) keep(&first, yoke_queue_call(queue, count, &called, 1));
    if (queue != NULL) keep(&first, yoke_queue_finish(queue));
    if (first == YOKE_ERROR_DEVICE) {
        char text[256];
        snprintf(text, sizeof text, "%s", yoke_last_error(context));
        assert_non_null(strstr(text, "the test's driver fails in"));
        assert_int_equal(yoke_device_memory(device, &unused, &all), YOKE_ERROR_DEVICE);
        assert_string_equal(yoke_last_error(context), text);
        assert_string_equal(yoke_device_info_get(device)->name, "test:1");
    }
    yoke_program_destroy(program);
    yoke_queue_destroy(queue);
    yoke_event_destroy(begin);
    yoke_event_destroy(end);
    yoke_host_release(device, host);
    yoke_buffer_destroy(buffer);
    return first;
}

static yoke_context *context_with(const yoke_backend *table, failing *memory)
{
    yoke_context *context = NULL;
    yoke_options options = failing_options(memory);
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    assert_int_equal(yoke_backend_register(context, table), YOKE_OK);
    return context;
}

/* ------------------------------------------------------------------------------------------------- tests */

/* Every call of the driver fails in turn. */
static void fail_everywhere(yoke_status with)
{
    yoke_status status = with;
    for (int at = 1; status != YOKE_OK; at++) {
        failing memory = {0};
        the_bench = (bench){.fail_at = at, .with = with};
        yoke_context *context = context_with(&failing_backend, &memory);
        yoke_device *device = NULL;
        assert_int_equal(yoke_device_open(context, "test:1", &device), YOKE_OK);
        status = script(context, device);
        assert_true(status == YOKE_OK || status == with);
        yoke_device_close(device);
        yoke_context_destroy(context);
        assert_int_equal(the_bench.calls_after_loss, 0);
        assert_int_equal(the_bench.outstanding, 0);
        assert_int_equal(the_bench.started, 1);
        assert_int_equal(the_bench.stopped, 1);
        assert_int_equal(memory.outstanding, 0);
        /* The script's calls, and the one with which a queue is finished before it goes. */
        if (status == YOKE_OK) assert_int_equal(at, 20);
    }
}

static void after_a_loss_the_driver_is_left_alone(void **state)
{
    (void)state;
    fail_everywhere(YOKE_ERROR_DEVICE);
}

static void lack_of_device_memory_does_not_lose_the_device(void **state)
{
    (void)state;
    fail_everywhere(YOKE_ERROR_DEVICE_MEMORY);
    the_bench = (bench){.fail_at = 1, .with = YOKE_ERROR_DEVICE_MEMORY};
    failing memory = {0};
    yoke_context *context = context_with(&failing_backend, &memory);
    yoke_device *device = NULL;
    yoke_buffer *buffer = NULL;
    assert_int_equal(yoke_device_open(context, "test:1", &device), YOKE_OK);
    assert_int_equal(yoke_buffer_create(device, 10, &buffer), YOKE_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(yoke_last_error(context), "1000 of its 1000 bytes are free"));
    assert_non_null(strstr(yoke_last_error(context), "the test's driver fails"));
    assert_int_equal(yoke_buffer_create(device, 10, &buffer), YOKE_OK);
    yoke_buffer_destroy(buffer);
    yoke_device_close(device);
    yoke_context_destroy(context);
}

static void memory_may_end_at_any_allocation_of_the_front(void **state)
{
    (void)state;
    yoke_status status = YOKE_ERROR_MEMORY;
    for (int64_t at = 2; status != YOKE_OK; at++) {
        the_bench = (bench){0};
        failing memory = {.fail_at = at};
        yoke_context *context = NULL;
        yoke_device *device = NULL;
        yoke_options options = failing_options(&memory);
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        status = yoke_backend_register(context, &failing_backend);
        if (status == YOKE_OK) status = yoke_device_open(context, "test:1", &device);
        if (status == YOKE_OK) status = script(context, device);
        assert_true(status == YOKE_OK || status == YOKE_ERROR_MEMORY);
        yoke_device_close(device);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        assert_int_equal(the_bench.outstanding, 0);
    }
}

static void memory_is_counted_where_the_driver_does_not(void **state)
{
    (void)state;
    the_bench = (bench){0};
    failing memory = {0};
    yoke_context *context = context_with(&failing_backend, &memory);
    yoke_device *device = NULL;
    yoke_buffer *first = NULL, *second = NULL;
    int64_t unused = 0, all = 0;
    assert_int_equal(yoke_device_open(context, "test:1", &device), YOKE_OK);
    assert_int_equal(yoke_buffer_create(device, 600, &first), YOKE_OK);
    assert_int_equal(yoke_buffer_create(device, 401, &second), YOKE_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(yoke_last_error(context), "400 of its 1000 bytes are free"));
    assert_int_equal(yoke_buffer_create(device, 400, &second), YOKE_OK);
    assert_int_equal(yoke_device_memory(device, &unused, &all), YOKE_OK);
    assert_int_equal(unused, 0);
    assert_int_equal(all, 1000);
    yoke_buffer_destroy(first);
    assert_int_equal(yoke_device_memory(device, &unused, &all), YOKE_OK);
    assert_int_equal(unused, 600);
    yoke_buffer_destroy(second);
    yoke_device_close(device);
    yoke_context_destroy(context);
}

static void what_a_table_lacks_is_named(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *context = context_with(&failing_backend, &memory);
    yoke_backend wrong = failing_backend;
#define REFUSED(change, words)                                                                         \
    do {                                                                                               \
        wrong = failing_backend;                                                                       \
        wrong.kind = "other";                                                                          \
        change;                                                                                        \
        assert_int_equal(yoke_backend_register(context, &wrong), YOKE_ERROR_ARGUMENT);                 \
        if (strstr(yoke_last_error(context), words) == NULL) fail_msg("%s", yoke_last_error(context)); \
    } while (0)
    REFUSED(wrong.kind = "test", "already");
    REFUSED(wrong.kind = "openmp", "already");
    REFUSED(wrong.kind = "", "word of 1 to 15");
    REFUSED(wrong.kind = NULL, "word of 1 to 15");
    REFUSED(wrong.kind = "pci", "pci");
    REFUSED(wrong.kind = "a:b", "':'");
    REFUSED(wrong.kind = "sixteen-letters-", "15");
    REFUSED(wrong.version = 2, "version 2");
    REFUSED(wrong.start = NULL, "start");
    REFUSED(wrong.stop = NULL, "stop");
    REFUSED(wrong.list = NULL, "list");
    REFUSED(wrong.open = NULL, "open");
    REFUSED(wrong.close = NULL, "close");
    REFUSED(wrong.buffer_create = NULL, "buffer_create");
    REFUSED(wrong.buffer_destroy = NULL, "buffer_destroy");
    REFUSED(wrong.queue_create = NULL, "queue_create");
    REFUSED(wrong.queue_destroy = NULL, "queue_destroy");
    REFUSED(wrong.write = NULL, "write");
    REFUSED(wrong.read = NULL, "read");
    REFUSED(wrong.clear = NULL, "clear");
    REFUSED(wrong.finish = NULL, "finish");
    REFUSED(wrong.event_create = NULL, "event_create");
    REFUSED(wrong.event_destroy = NULL, "event_destroy");
    REFUSED(wrong.record = NULL, "record");
    REFUSED(wrong.wait = NULL, "wait");
    REFUSED(wrong.event_wait = NULL, "event_wait");
    REFUSED(wrong.elapsed_s = NULL, "elapsed_s");
    REFUSED(wrong.program_create = NULL, "program_create");
    REFUSED(wrong.program_destroy = NULL, "program_destroy");
    REFUSED(wrong.function = NULL, "function");
    REFUSED(wrong.launch = NULL, "launch");
    REFUSED(wrong.host_release = NULL, "host_release");
#undef REFUSED
    assert_int_equal(yoke_backend_register(context, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_backend_register(NULL, &failing_backend), YOKE_ERROR_ARGUMENT);
    yoke_context_destroy(context);
}

static void optional_slots_may_be_missing(void **state)
{
    (void)state;
    yoke_backend small = failing_backend;
    small.host_allocate = NULL;
    small.host_release = NULL;
    small.call = NULL;
    small.dspmv = NULL;
    small.gemm = NULL;
    the_bench = (bench){0};
    failing memory = {0};
    yoke_context *context = context_with(&small, &memory);
    yoke_device *device = NULL;
    yoke_queue *queue = NULL;
    yoke_buffer *buffer = NULL;
    void *host = NULL;
    int called = 0;
    assert_int_equal(yoke_device_open(context, "test:1", &device), YOKE_OK);
    assert_int_equal(yoke_queue_create(device, 0, &queue), YOKE_OK);
    assert_int_equal(yoke_buffer_create(device, 64, &buffer), YOKE_OK);
    assert_int_equal(yoke_host_allocate(device, 100, &host), YOKE_OK);
    assert_int_equal((uintptr_t)host % 64, 0);
    assert_int_equal(yoke_queue_call(queue, count, &called, 1), YOKE_ERROR_UNAVAILABLE);
    assert_int_equal(called, 0);
    assert_int_equal(packed_product(device, queue, 2, 1, buffer, 0, buffer, 8, 0, buffer, 16), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "BLAS"));
    double before_s = yoke_clock_s(), now_s = yoke_device_clock_s(device);
    assert_true(now_s >= before_s && now_s <= yoke_clock_s());
    yoke_host_release(device, host);
    yoke_buffer_destroy(buffer);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void devices_are_found_by_their_address(void **state)
{
    (void)state;
    the_bench = (bench){.pci = "0000:3b:00.0"};
    failing memory = {0};
    yoke_context *context = context_with(&failing_backend, &memory);
    yoke_device *device = NULL;
    assert_int_equal(yoke_device_open(context, "pci:0000:3B:00.0", &device), YOKE_OK);
    assert_string_equal(yoke_device_info_get(device)->name, "test:1");
    yoke_device_close(device);
    assert_int_equal(yoke_device_open(context, "pci:0000:3c:00.0", &device), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "0000:3b:00.0 (test:1)"));
    the_bench.why_not = "it sleeps";
    assert_int_equal(yoke_device_open(context, "pci:0000:3b:00.0", &device), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "it sleeps; mend it"));
    yoke_context_destroy(context);
}

static void names_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        ":",
                                        "nothing",
                                        "nothing:1",
                                        "test",
                                        "test:2",
                                        "testing:1",
                                        "openmpi",
                                        "openmp:",
                                        "openmp:x",
                                        "openmp:-1",
                                        "openmp:0-",
                                        "openmp:1-0",
                                        "openmp:0-99999",
                                        "openmp:0-0x",
                                        "openmp: 0-0",
                                        "openmp:0-99999999999999999999",
                                        "pci:",
                                        "pci:x"};
    the_bench = (bench){0};
    failing memory = {0};
    yoke_context *context = context_with(&failing_backend, &memory);
    yoke_device *device = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (yoke_device_open(context, names[i], &device) != YOKE_ERROR_INPUT) fail_msg("\"%s\" was not refused", names[i]);
    assert_null(device);
    char *name = malloc(100000);
    assert_non_null(name);
    memset(name, 'x', 99999);
    name[99999] = '\0';
    assert_int_equal(yoke_device_open(context, name, &device), YOKE_ERROR_INPUT);
    memcpy(name, "openmp:", 7);
    assert_int_equal(yoke_device_open(context, name, &device), YOKE_ERROR_INPUT);
    memcpy(name, "pci:", 4);
    assert_int_equal(yoke_device_open(context, name, &device), YOKE_ERROR_INPUT);
    free(name);
    assert_int_equal(yoke_device_open(context, "nothing", &device), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "openmp, cuda, opencl, sim, test"));
    yoke_context_destroy(context);
}

/* Each kind has an entry, and whatever cannot be used says why. */
static void the_list_has_every_kind(void **state)
{
    (void)state;
    static const char *const kinds[] = {"openmp", "opencl", "cuda", "sim", "test"};
    yoke_backend silent = failing_backend;
    silent.list = failing_backend_list_nothing;
    the_bench = (bench){0};
    failing memory = {0};
    yoke_context *context = context_with(&silent, &memory);
    yoke_device_info *found = NULL;
    int64_t number = 0;
    assert_int_equal(yoke_devices_list(context, NULL, 0, &found, &number), YOKE_OK);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        int entries = 0;
        for (int64_t i = 0; i < number; i++) entries += strcmp(found[i].kind, kinds[k]) == 0;
        assert_true(entries >= 1);
    }
    for (int64_t i = 0; i < number; i++) {
        assert_true(found[i].usable == (found[i].why_not[0] == '\0'));
        assert_true(found[i].usable == (found[i].remedy[0] == '\0'));
        assert_true(strlen(found[i].name) > 0);
    }
    assert_string_equal(found[number - 1].name, "test");
    assert_false(found[number - 1].usable);
    yoke_release(context, found);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void null_is_refused(void **state)
{
    (void)state;
    yoke_device *device = NULL;
    yoke_device_info *infos = NULL;
    int64_t number = 0;
    double seconds = 0;
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(yoke_device_open(NULL, "openmp", &device), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_device_open(context, NULL, &device), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_device_open(context, "openmp", NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_devices_list(context, NULL, 0, NULL, &number), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_devices_list(context, NULL, 0, &infos, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_machine_read(context, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_device_memory(NULL, &number, &number), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_buffer_create(NULL, 1, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal((yoke_host_allocate)(NULL, 1, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_create(NULL, 0, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_finish(NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_write(NULL, NULL, 0, 0, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_read(NULL, NULL, 0, 0, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_clear(NULL, NULL, 0, 0), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_event_create(NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_record(NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_event_wait(NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_event_wait_any(NULL, 1, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_event_wait_any(&(yoke_event *){NULL}, 1, &(int){0}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_event_wait_any(&(yoke_event *){NULL}, 0, &(int){0}), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_event_elapsed_s(NULL, NULL, &seconds), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_program_create(NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_program_function(NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_launch(NULL, NULL, 0, 0, 0, NULL, 0), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_queue_call(NULL, NULL, NULL, 0), YOKE_ERROR_ARGUMENT);
    assert_null(yoke_device_info_get(NULL));
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(after_a_loss_the_driver_is_left_alone),
    cmocka_unit_test(lack_of_device_memory_does_not_lose_the_device),
    cmocka_unit_test(memory_may_end_at_any_allocation_of_the_front),
    cmocka_unit_test(memory_is_counted_where_the_driver_does_not),
    cmocka_unit_test(what_a_table_lacks_is_named),
    cmocka_unit_test(optional_slots_may_be_missing),
    cmocka_unit_test(devices_are_found_by_their_address),
    cmocka_unit_test(names_that_are_none_are_refused),
    cmocka_unit_test(the_list_has_every_kind),
    cmocka_unit_test(null_is_refused),
};

UNIT_MAIN(tests, NULL, NULL)
