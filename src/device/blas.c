#include "device/blas.h"

#include <string.h>

enum { MOST_ARGUMENTS = 14 };

typedef yoke_status launch_function(yoke_queue *queue, const yoke_argument *arguments, int single);

/* A function of BLAS and its arguments, for checks and messages.  The list of arguments ends with NULL. */
typedef struct blas_function {
    const char *name;
    launch_function *launch;
    int single;
    const char *arguments[MOST_ARGUMENTS + 1];
} blas_function;

static launch_function launch_dspmv, launch_gemm;

#define GEMM_ARGUMENTS                                                                                                     \
    {                                                                                                                      \
        "m, int64", "n, int64", "k, int64", "alpha, double", "a, buffer", "offset of a, int64", "lda, int64", "b, buffer", \
            "offset of b, int64", "ldb, int64", "beta, double", "c, buffer", "offset of c, int64", "ldc, int64"            \
    }

static const blas_function functions[] = {
    {"dspmv",
     launch_dspmv,
     0,
     {"n, int64", "alpha, double", "a, buffer", "offset of a, int64", "x, buffer", "offset of x, int64", "beta, double", "y, buffer",
      "offset of y, int64"}},
    {"dgemm", launch_gemm, 0, GEMM_ARGUMENTS},
    {"sgemm", launch_gemm, 1, GEMM_ARGUMENTS},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

int yoke_blas_is(const yoke_program_source *source)
{
    return source->num_texts == 0 && source->num_host_kernels == 0 && source->name != NULL && strcmp(source->name, YOKE_BLAS) == 0;
}

yoke_status yoke_blas_check(const yoke_device *device)
{
    if (device->backend->dspmv != NULL || device->backend->gemm != NULL) return YOKE_OK;
    return yoke_fail(device->context, YOKE_ERROR_UNAVAILABLE, "device %s has no BLAS; an openmp, opencl or cuda device may have one",
                     device->info.name);
}

static int has(const yoke_device *device, const blas_function *function)
{
    return function->launch == launch_gemm ? device->backend->gemm != NULL : device->backend->dspmv != NULL;
}

static const blas_function *find(const char *name)
{
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    return NULL;
}

yoke_status yoke_blas_function(const yoke_device *device, const char *name)
{
    const blas_function *function = find(name);
    if (function != NULL && has(device, function)) return YOKE_OK;
    return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: BLAS has no function %s here; it has%s%s", device->info.name, name,
                     device->backend->dspmv != NULL ? " dspmv" : "", device->backend->gemm != NULL ? " dgemm sgemm" : "");
}

static yoke_argument_kind kind_of(const char *text)
{
    return strstr(text, "int64") != NULL    ? YOKE_ARGUMENT_INT64
           : strstr(text, "double") != NULL ? YOKE_ARGUMENT_DOUBLE
                                            : YOKE_ARGUMENT_BUFFER;
}

static yoke_status check_kinds(const yoke_device *device, const blas_function *function, const yoke_argument *arguments,
                               int64_t num_arguments)
{
    int64_t expected = 0;
    while (function->arguments[expected] != NULL) expected++;
    if (num_arguments != expected)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: %lld arguments; it takes %lld", function->name,
                         (long long)num_arguments, (long long)expected);
    for (int64_t i = 0; i < expected; i++)
        if (arguments[i].kind != kind_of(function->arguments[i]))
            return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: argument %lld must be %s", function->name, (long long)i,
                             function->arguments[i]);
    return YOKE_OK;
}

/* Checks an operand of `count` numbers. */
static yoke_status check_operand(const yoke_device *device, const char *what, const yoke_argument argument[2], int64_t count, int64_t size)
{
    const yoke_buffer *buffer = argument[0].value.buffer;
    const int64_t offset = argument[1].value.int64;
    if (buffer == NULL) return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "BLAS: %s is NULL", what);
    if (offset < 0 || offset % size != 0 || offset > buffer->bytes || count > (buffer->bytes - offset) / size)
        return yoke_fail(
            device->context, YOKE_ERROR_ARGUMENT,
            "BLAS: %s: %lld numbers of %lld bytes from byte %lld are not within the buffer of %lld bytes, or not aligned to a number", what,
            (long long)count, (long long)size, (long long)offset, (long long)buffer->bytes);
    return YOKE_OK;
}

static yoke_status launch_dspmv(yoke_queue *queue, const yoke_argument *arguments, int single)
{
    enum { N, ALPHA, A, A_OFFSET, X, X_OFFSET, BETA, Y, Y_OFFSET };
    yoke_device *device = queue->device;
    const int64_t n = arguments[N].value.int64, size = sizeof(double);
    (void)single;
    if (n < 0 || n > INT32_MAX)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "dspmv: the order %lld is not within 0 and %d", (long long)n, INT32_MAX);
    yoke_status status = check_operand(device, "a", &arguments[A], n % 2 == 0 ? n / 2 * (n + 1) : (n + 1) / 2 * n, size);
    if (status == YOKE_OK) status = check_operand(device, "x", &arguments[X], n, size);
    if (status == YOKE_OK) status = check_operand(device, "y", &arguments[Y], n, size);
    if (status != YOKE_OK || n == 0) return status;
    return yoke_device_result(
        device, device->backend->dspmv(queue->handle, n, arguments[ALPHA].value.float64, arguments[A].value.buffer->handle,
                                       arguments[A_OFFSET].value.int64, arguments[X].value.buffer->handle, arguments[X_OFFSET].value.int64,
                                       arguments[BETA].value.float64, arguments[Y].value.buffer->handle, arguments[Y_OFFSET].value.int64));
}

/* Checks a matrix of rows x columns: buffer, offset and the distance between rows. */
static yoke_status check_matrix(const yoke_device *device, const char *what, const yoke_argument argument[3], int64_t rows, int64_t columns,
                                int64_t size)
{
    const int64_t distance = argument[2].value.int64;
    if (distance < columns || distance > INT32_MAX)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "gemm: %s: rows of %lld numbers are %lld apart; expected %lld to %d", what,
                         (long long)columns, (long long)distance, (long long)columns, INT32_MAX);
    return check_operand(device, what, argument, (rows - 1) * distance + columns, size);
}

static yoke_status launch_gemm(yoke_queue *queue, const yoke_argument *arguments, int single)
{
    enum { M, N, K, ALPHA, A, A_OFFSET, LDA, B, B_OFFSET, LDB, BETA, C, C_OFFSET, LDC };
    yoke_device *device = queue->device;
    const int64_t m = arguments[M].value.int64, n = arguments[N].value.int64, k = arguments[K].value.int64;
    const int64_t size = single ? sizeof(float) : sizeof(double);
    if (m < 1 || n < 1 || k < 1 || m > INT32_MAX || n > INT32_MAX || k > INT32_MAX)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "gemm: m, n and k are %lld, %lld and %lld; expected 1 to %d", (long long)m,
                         (long long)n, (long long)k, INT32_MAX);
    yoke_status status = check_matrix(device, "a", &arguments[A], m, k, size);
    if (status == YOKE_OK) status = check_matrix(device, "b", &arguments[B], k, n, size);
    if (status == YOKE_OK) status = check_matrix(device, "c", &arguments[C], m, n, size);
    if (status != YOKE_OK) return status;
    const yoke_backend_gemm product = {.single = single,
                                       .m = m,
                                       .n = n,
                                       .k = k,
                                       .alpha = arguments[ALPHA].value.float64,
                                       .beta = arguments[BETA].value.float64,
                                       .a = arguments[A].value.buffer->handle,
                                       .b = arguments[B].value.buffer->handle,
                                       .c = arguments[C].value.buffer->handle,
                                       .a_offset = arguments[A_OFFSET].value.int64,
                                       .b_offset = arguments[B_OFFSET].value.int64,
                                       .c_offset = arguments[C_OFFSET].value.int64,
                                       .lda = arguments[LDA].value.int64,
                                       .ldb = arguments[LDB].value.int64,
                                       .ldc = arguments[LDC].value.int64};
    return yoke_device_result(device, device->backend->gemm(queue->handle, &product));
}

yoke_status yoke_blas_launch(yoke_queue *queue, const char *name, const yoke_argument *arguments, int64_t num_arguments)
{
    const blas_function *function = find(name);
    yoke_status status = check_kinds(queue->device, function, arguments, num_arguments);
    return status == YOKE_OK ? function->launch(queue, arguments, function->single) : status;
}
