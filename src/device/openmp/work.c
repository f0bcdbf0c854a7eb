/* Executes operations. */
#include <string.h>

#include "device/openmp/openmp.h"

/* Below this size one thread is as fast; also the size of the pieces that threads process. */
enum { PIECE_BYTES = 1 << 20 };

/* Each thread processes its part of the bytes, so that pages of untouched memory are placed near the thread that uses them. */
static void copy(const openmp_device *device, void *to, const void *from, int64_t bytes)
{
    int64_t pieces = (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
#pragma omp parallel for schedule(static) num_threads(device->threads) if (pieces > 1)
    for (int64_t piece = 0; piece < pieces; piece++) {
        int64_t begin = piece * PIECE_BYTES;
        size_t length = (size_t)(bytes - begin < PIECE_BYTES ? bytes - begin : PIECE_BYTES);
        if (from != NULL)
            memmove((char *)to + begin, (const char *)from + begin, length);
        else
            memset((char *)to + begin, 0, length);
    }
}

void openmp_work(const openmp_device *device, const openmp_operation *operation)
{
    switch (operation->kind) {
    case OPENMP_COPY:
    case OPENMP_CLEAR:
        copy(device, operation->of.copy.to, operation->of.copy.from, operation->of.copy.bytes);
        break;
    case OPENMP_LAUNCH:
        host_launch_do(&operation->of.launch, device->threads);
        break;
    case OPENMP_CALL:
        operation->of.call.task(operation->of.call.user);
        break;
    case OPENMP_DSPMV:
        /* CblasColMajor, CblasUpper: the upper triangle stored by columns. */
        operation->of.dspmv.function(102, 121, operation->of.dspmv.n, operation->of.dspmv.alpha, operation->of.dspmv.a,
                                     operation->of.dspmv.x, 1, operation->of.dspmv.beta, operation->of.dspmv.y, 1);
        break;
    case OPENMP_RECORD:
    case OPENMP_WAIT:
        break;
    }
}
