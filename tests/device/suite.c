/* The device suite: what all its files need, and the program. */
#include "suite.h"

#include "driver.h"

static suite the_suite;

int suite_is_host(const suite *s)
{
    const char *kind = yoke_device_info_get(s->device)->kind;
    return strcmp(kind, "openmp") == 0 || strcmp(kind, "sim") == 0;
}

yoke_buffer *suite_buffer(suite *s, int64_t bytes, const void *content)
{
    yoke_buffer *buffer = NULL;
    OK(s, yoke_buffer_create(s->device, bytes, &buffer));
    if (content != NULL) OK(s, yoke_queue_write(s->queue, buffer, 0, bytes, content));
    if (content != NULL) OK(s, yoke_queue_finish(s->queue));
    return buffer;
}

void suite_read(suite *s, const yoke_buffer *buffer, int64_t bytes, void *to)
{
    OK(s, yoke_queue_read(s->queue, buffer, 0, bytes, to));
    OK(s, yoke_queue_finish(s->queue));
}

yoke_function *suite_function(suite *s, const char *name)
{
    yoke_function *function = NULL;
    OK(s, yoke_program_function(s->program, name, &function));
    return function;
}

int suite_open(void **state)
{
    suite *s = &the_suite;
    *state = s;
    s->memory = (failing){0};
    yoke_options options = failing_options(&s->memory);
    yoke_program_source source = suite_source();
    yoke_status status = yoke_context_create(&options, &s->context);
    if (status == YOKE_OK && s->machine != NULL) status = yoke_machine_read(s->context, s->machine);
    if (status == YOKE_OK) status = yoke_device_open(s->context, s->name, &s->device);
    if (status == YOKE_OK) status = yoke_queue_create(s->device, 0, &s->queue);
    if (status == YOKE_OK) status = yoke_program_create(s->device, &source, &s->program);
    if (status == YOKE_OK) return 0;
    fprintf(stderr, "status %d: %s\n", (int)status, yoke_last_error(s->context));
    return -1;
}

int suite_close(void **state)
{
    suite *s = *state;
    yoke_program_destroy(s->program);
    yoke_queue_destroy(s->queue);
    yoke_device_close(s->device);
    yoke_context_destroy(s->context);
    if (s->memory.outstanding != 0) fprintf(stderr, "%lld allocations were not given back\n", (long long)s->memory.outstanding);
    return s->memory.outstanding == 0 ? 0 : -1;
}

/* 0: it is there; 77: it is not, and why; 1: opening went wrong. */
static int look_for_device(const suite *s)
{
    yoke_context *context = NULL;
    yoke_device *device = NULL;
    if (yoke_context_create(NULL, &context) != YOKE_OK) return 1;
    yoke_status status = s->machine != NULL ? yoke_machine_read(context, s->machine) : YOKE_OK;
    if (status == YOKE_OK) status = yoke_device_open(context, s->name, &device);
    int result = status == YOKE_OK ? 0 : (status == YOKE_ERROR_UNAVAILABLE || status == YOKE_ERROR_INPUT ? 77 : 1);
    if (status == YOKE_OK)
        printf("%s: %s (%s)\n", s->name, yoke_device_info_get(device)->description, yoke_device_info_get(device)->driver);
    else
        fprintf(stderr, "status %d: %s\n", (int)status, yoke_last_error(context));
    yoke_device_close(device);
    yoke_context_destroy(context);
    return result;
}

/* suite [DEVICE [MACHINE]] */
int main(int argc, char **argv)
{
    the_suite.name = argc > 1 ? argv[1] : getenv("YOKE_TEST_DEVICE");
    the_suite.machine = argc > 2 ? argv[2] : NULL;
    if (the_suite.name == NULL) {
        fprintf(stderr, "usage: %s DEVICE [MACHINE-FILE], or YOKE_TEST_DEVICE=DEVICE\n", argv[0]);
        return 1;
    }
    driver_leave_out(the_suite.name);
    int missing = look_for_device(&the_suite);
    if (missing != 0) return missing;
    return suite_run_memory() + suite_run_queues() + suite_run_kernels() + suite_run_whole() == 0 ? 0 : 1;
}
