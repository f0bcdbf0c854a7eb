#include "device/blas.h"

#include <string.h>

enum { N, ALPHA, A, A_OFFSET, X, X_OFFSET, BETA, Y, Y_OFFSET, ARGUMENTS };

int yoke_blas_is(const yoke_program_source *source)
{
    return source->num_texts == 0 && source->num_host_kernels == 0 && source->name != NULL && strcmp(source->name, YOKE_BLAS) == 0;
}

yoke_status yoke_blas_check(const yoke_device *device)
{
    if (device->backend->dspmv != NULL) return YOKE_OK;
    return yoke_fail(device->context, YOKE_ERROR_UNAVAILABLE, "device %s has no BLAS; an openmp, opencl or cuda device may have one",
                     device->info.name);
}

yoke_status yoke_blas_function(const yoke_device *device, const char *name)
{
    if (strcmp(name, "dspmv") == 0) return YOKE_OK;
    return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: BLAS has no function %s here; it has dspmv", device->info.name, name);
}

static yoke_status check_kinds(const yoke_device *device, const yoke_argument *arguments, int64_t num_arguments)
{
    static const struct {
        yoke_argument_kind kind;
        const char *text;
    } expected[ARGUMENTS] = {[N] = {YOKE_ARGUMENT_INT64, "n, int64"},
                             [ALPHA] = {YOKE_ARGUMENT_DOUBLE, "alpha, double"},
                             [A] = {YOKE_ARGUMENT_BUFFER, "a, buffer"},
                             [A_OFFSET] = {YOKE_ARGUMENT_INT64, "offset of a, int64"},
                             [X] = {YOKE_ARGUMENT_BUFFER, "x, buffer"},
                             [X_OFFSET] = {YOKE_ARGUMENT_INT64, "offset of x, int64"},
                             [BETA] = {YOKE_ARGUMENT_DOUBLE, "beta, double"},
                             [Y] = {YOKE_ARGUMENT_BUFFER, "y, buffer"},
                             [Y_OFFSET] = {YOKE_ARGUMENT_INT64, "offset of y, int64"}};
    if (num_arguments != ARGUMENTS)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "dspmv: %lld arguments; it takes %d", (long long)num_arguments, ARGUMENTS);
    for (int i = 0; i < ARGUMENTS; i++)
        if (arguments[i].kind != expected[i].kind)
            return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "dspmv: argument %d must be %s", i, expected[i].text);
    return YOKE_OK;
}

/* An operand of `count` doubles. */
static yoke_status check_operand(const yoke_device *device, const char *what, const yoke_argument argument[2], int64_t count)
{
    const yoke_buffer *buffer = argument[0].value.buffer;
    const int64_t offset = argument[1].value.int64, size = sizeof(double);
    if (buffer == NULL) return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "dspmv: %s is NULL", what);
    if (offset < 0 || offset % size != 0 || offset > buffer->bytes || count > (buffer->bytes - offset) / size)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT,
                         "dspmv: %s: %lld doubles from byte %lld are not within the buffer of %lld bytes, or not aligned to a double", what,
                         (long long)count, (long long)offset, (long long)buffer->bytes);
    return YOKE_OK;
}

yoke_status yoke_blas_launch(yoke_queue *queue, const yoke_argument *arguments, int64_t num_arguments)
{
    yoke_device *device = queue->device;
    yoke_status status = check_kinds(device, arguments, num_arguments);
    if (status != YOKE_OK) return status;
    const int64_t n = arguments[N].value.int64;
    if (n < 0 || n > INT32_MAX)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "dspmv: the order %lld is not within 0 and %d", (long long)n, INT32_MAX);
    status = check_operand(device, "a", &arguments[A], n % 2 == 0 ? n / 2 * (n + 1) : (n + 1) / 2 * n);
    if (status == YOKE_OK) status = check_operand(device, "x", &arguments[X], n);
    if (status == YOKE_OK) status = check_operand(device, "y", &arguments[Y], n);
    if (status != YOKE_OK || n == 0) return status;
    return yoke_device_result(
        device, device->backend->dspmv(queue->handle, n, arguments[ALPHA].value.float64, arguments[A].value.buffer->handle,
                                       arguments[A_OFFSET].value.int64, arguments[X].value.buffer->handle, arguments[X_OFFSET].value.int64,
                                       arguments[BETA].value.float64, arguments[Y].value.buffer->handle, arguments[Y_OFFSET].value.int64));
}
