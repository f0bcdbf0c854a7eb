/* A backend that counts its calls, and fails when told. */
#include "failing_backend.h"

#include "unit.h"

/* The tests of a program run one after the other, and the interface hands a backend no word of its own before `start`. */
bench the_bench;

static yoke_status enter(const char *call)
{
    bench *b = &the_bench;
    if (b->fail_at > 0 && b->calls >= b->fail_at && b->with == YOKE_ERROR_DEVICE) b->calls_after_loss++;
    if (++b->calls != b->fail_at) return YOKE_OK;
    return yoke_fail(b->context, b->with, "the test's driver fails in %s", call);
}

static yoke_status make(const char *call, void **handle)
{
    yoke_status status = enter(call);
    if (status != YOKE_OK) return status;
    *handle = malloc(1);
    if (*handle == NULL) return yoke_fail(the_bench.context, YOKE_ERROR_MEMORY, "no memory for a test");
    the_bench.outstanding++;
    return YOKE_OK;
}

static void unmake(void *handle)
{
    free(handle);
    the_bench.outstanding--;
}

static yoke_status start(yoke_context *context, void **state)
{
    the_bench.context = context;
    the_bench.started++;
    *state = &the_bench;
    return YOKE_OK;
}

static void stop(void *state)
{
    (void)state;
    the_bench.stopped++;
}

static void describe(yoke_device_info *info)
{
    *info = (yoke_device_info){.name = "test:1",
                               .kind = "test",
                               .description = "a device of a test",
                               .device_class = YOKE_DEVICE_GPU,
                               .usable = the_bench.why_not == NULL,
                               .memory_bytes = 1000,
                               .compute_units = 1,
                               .double_precision = 1};
    if (the_bench.why_not != NULL) {
        strcpy(info->why_not, the_bench.why_not);
        strcpy(info->remedy, "mend it");
    }
    if (the_bench.pci != NULL) strcpy(info->pci, the_bench.pci);
}

static yoke_status list(void *state, yoke_backend_found *found, void *user)
{
    (void)state;
    yoke_device_info info;
    describe(&info);
    return found(&info, user);
}

yoke_status failing_backend_list_nothing(void *state, yoke_backend_found *found, void *user)
{
    (void)state;
    (void)found;
    (void)user;
    return YOKE_OK;
}

static yoke_status open_device(void *state, const char *name, yoke_device_info *info, void **device)
{
    (void)state;
    if (strcmp(name, "test:1") != 0) return yoke_fail(the_bench.context, YOKE_ERROR_INPUT, "there is no %s; there is test:1", name);
    the_bench.calls = 0;
    describe(info);
    *device = malloc(1);
    the_bench.outstanding++;
    return *device != NULL ? YOKE_OK : YOKE_ERROR_MEMORY;
}

static void close_device(void *device) { unmake(device); }

static yoke_status buffer_create(void *device, int64_t bytes, void **buffer)
{
    (void)device;
    assert_true(bytes > 0);
    return make("buffer_create", buffer);
}

static void destroy(void *device, void *thing)
{
    assert_non_null(device);
    unmake(thing);
}

static yoke_status queue_create(void *device, int flags, void **queue)
{
    (void)device;
    (void)flags;
    return make("queue_create", queue);
}

static yoke_status write_bytes(void *queue, void *buffer, int64_t offset, int64_t bytes, const void *from)
{
    assert_true(queue != NULL && buffer != NULL && from != NULL && offset >= 0 && bytes > 0);
    return enter("write");
}

static yoke_status read_bytes(void *queue, void *buffer, int64_t offset, int64_t bytes, void *to)
{
    assert_true(queue != NULL && buffer != NULL && to != NULL && offset >= 0 && bytes > 0);
    return enter("read");
}

static yoke_status clear(void *queue, void *buffer, int64_t offset, int64_t bytes)
{
    assert_true(queue != NULL && buffer != NULL && offset >= 0 && bytes > 0);
    return enter("clear");
}

static yoke_status finish(void *queue)
{
    (void)queue;
    return enter("finish");
}

static yoke_status event_create(void *device, void **event)
{
    (void)device;
    return make("event_create", event);
}

static yoke_status record(void *queue, void *event)
{
    (void)queue;
    (void)event;
    return enter("record");
}

static yoke_status wait_in_queue(void *queue, void *event)
{
    (void)queue;
    (void)event;
    return enter("wait");
}

static yoke_status event_wait(void *event)
{
    (void)event;
    return enter("event_wait");
}

static yoke_status elapsed_s(void *begin, void *end, double *seconds)
{
    (void)begin;
    (void)end;
    *seconds = 0.5;
    return enter("elapsed_s");
}

static yoke_status program_create(void *device, const yoke_program_source *source, void **program)
{
    (void)device;
    assert_non_null(source->name);
    return make("program_create", program);
}

static yoke_status function(void *program, const char *name, void **found)
{
    (void)name;
    *found = program;
    return enter("function");
}

static yoke_status launch(void *queue, void *found, int64_t groups, int64_t group_size, int64_t units, const yoke_argument *arguments,
                          void *const *buffers, int64_t num_arguments)
{
    (void)units;
    assert_true(queue != NULL && found != NULL && groups > 0 && group_size > 0 && num_arguments == 2);
    assert_non_null(buffers[0]);
    assert_null(buffers[1]);
    assert_int_equal(arguments[1].value.int32, 5);
    return enter("launch");
}

static yoke_status host_allocate(void *device, int64_t bytes, void **memory)
{
    (void)device;
    assert_true(bytes > 0);
    return make("host_allocate", memory);
}

static yoke_status call(void *queue, yoke_task_function *task, void *user, int64_t units)
{
    (void)queue;
    (void)units;
    yoke_status status = enter("call");
    if (status == YOKE_OK) task(user);
    return status;
}

static yoke_status dspmv(void *queue, int64_t n, double alpha, void *a, int64_t a_offset, void *x, int64_t x_offset, double beta, void *y,
                         int64_t y_offset)
{
    (void)alpha;
    (void)beta;
    assert_true(queue != NULL && a != NULL && x != NULL && y != NULL && n > 0 && a_offset == 0 && x_offset == 8 && y_offset == 16);
    return enter("dspmv");
}

const yoke_backend failing_backend = {
    .version = YOKE_BACKEND_VERSION,
    .kind = "test",
    .start = start,
    .stop = stop,
    .list = list,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_destroy = destroy,
    .queue_create = queue_create,
    .queue_destroy = destroy,
    .write = write_bytes,
    .read = read_bytes,
    .clear = clear,
    .finish = finish,
    .event_create = event_create,
    .event_destroy = destroy,
    .record = record,
    .wait = wait_in_queue,
    .event_wait = event_wait,
    .elapsed_s = elapsed_s,
    .program_create = program_create,
    .program_destroy = destroy,
    .function = function,
    .launch = launch,
    .host_allocate = host_allocate,
    .host_release = destroy,
    .call = call,
    .dspmv = dspmv,
};
