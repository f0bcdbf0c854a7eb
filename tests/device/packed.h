/*
 * packed.h - y = alpha A x + beta y by the vendor's BLAS, as one call.
 */
#ifndef TESTS_DEVICE_PACKED_H
#define TESTS_DEVICE_PACKED_H

#include "yoke/device.h"

static inline yoke_status packed_product(yoke_device *device, yoke_queue *queue, int64_t n, double alpha, yoke_buffer *a, int64_t a_offset,
                                         yoke_buffer *x, int64_t x_offset, double beta, yoke_buffer *y, int64_t y_offset)
{
    yoke_program *program = NULL;
    yoke_function *function = NULL;
    const yoke_argument arguments[] = {yoke_argument_int64(n),        yoke_argument_double(alpha), yoke_argument_buffer(a),
                                       yoke_argument_int64(a_offset), yoke_argument_buffer(x),     yoke_argument_int64(x_offset),
                                       yoke_argument_double(beta),    yoke_argument_buffer(y),     yoke_argument_int64(y_offset)};
    yoke_status status = yoke_program_create(device, &(yoke_program_source){.name = YOKE_BLAS}, &program);
    if (!status) status = yoke_program_function(program, "dspmv", &function);
    if (!status) status = yoke_queue_launch(queue, function, 1, 1, 0, arguments, 9);
    yoke_program_destroy(program);
    return status;
}

#endif
