/* Memory of the stub's devices, and page-locked memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

enum { GUARD_BYTES = 256, GUARD = 0xa5, FRESH = 0xff /* doubles and floats of these bytes are NaN */ };

/* A piece of memory, with guards before and behind what is handed out. */
typedef struct piece {
    struct piece *next;
    CUcontext context; /* NULL: page-locked, of the host */
    unsigned char *memory;
    size_t bytes;
} piece;

static piece *pieces;

static size_t memory_of_device(void) { return (size_t)stub_setting("YOKE_STUB_CUDA_MEMORY", 1ULL << 30); }

static piece *create(CUcontext context, size_t bytes)
{
    piece *made = malloc(sizeof *made);
    void *memory = NULL;
    if (made == NULL || bytes > SIZE_MAX - 2 * GUARD_BYTES || posix_memalign(&memory, GUARD_BYTES, bytes + 2 * GUARD_BYTES) != 0) {
        free(made);
        return NULL;
    }
    memset(memory, GUARD, GUARD_BYTES);
    memset((unsigned char *)memory + GUARD_BYTES, FRESH, bytes);
    memset((unsigned char *)memory + GUARD_BYTES + bytes, GUARD, GUARD_BYTES);
    *made = (piece){.next = pieces, .context = context, .memory = (unsigned char *)memory + GUARD_BYTES, .bytes = bytes};
    pieces = made;
    return made;
}

static int guards_whole(const piece *one)
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if (one->memory[-1 - (ptrdiff_t)i] != GUARD || one->memory[one->bytes + i] != GUARD) return 0;
    return 1;
}

/* Returns 0 where there is no such piece of a device, or of the host. */
static int destroy(int of_host, const void *memory)
{
    for (piece **link = &pieces; *link != NULL; link = &(*link)->next) {
        piece *one = *link;
        if (one->memory != memory || (one->context == NULL) != of_host) continue;
        if (!guards_whole(one)) stub_count(BOOK_overruns, 1);
        if (!of_host) one->context->used_bytes -= one->bytes;
        *link = one->next;
        free(one->memory - GUARD_BYTES);
        free(one);
        return 1;
    }
    return 0;
}

int stub_in_memory(CUcontext context, CUdeviceptr address, size_t bytes)
{
    for (const piece *one = pieces; one != NULL; one = one->next) {
        CUdeviceptr begin = (CUdeviceptr)(uintptr_t)one->memory;
        if (one->context == context && address >= begin && address - begin <= one->bytes && bytes <= one->bytes - (address - begin))
            return 1;
    }
    return 0;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    (void)device;
    CUresult result = stub_begin();
    if (result == CUDA_SUCCESS) *bytes = memory_of_device();
    return stub_end(result);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS) {
        *all_bytes = memory_of_device();
        *free_bytes = *all_bytes - stub_current()->used_bytes;
    }
    return stub_end(result);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && bytes == 0) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && bytes > memory_of_device() - stub_current()->used_bytes) result = CUDA_ERROR_OUT_OF_MEMORY;
    piece *made = result == CUDA_SUCCESS ? create(stub_current(), bytes) : NULL;
    if (result == CUDA_SUCCESS && made == NULL) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        stub_current()->used_bytes += bytes;
        stub_count(BOOK_buffers, 1);
        *address = (CUdeviceptr)(uintptr_t)made->memory;
    }
    return stub_end(result);
}

/* Memory is given back even where the call fails: so the books show who forgot the call.  As with a real driver, it waits for all work. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUresult result = stub_begin_in_context();
    CUcontext context = stub_current();
    if (context != NULL) {
        CUresult finished = stub_finish_context(context);
        if (result == CUDA_SUCCESS) result = finished;
    }
    if (destroy(0, (const void *)(uintptr_t)address))
        stub_count(BOOK_buffers, -1);
    else
        result = CUDA_ERROR_INVALID_VALUE;
    return stub_end(result);
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    CUresult result = stub_begin_in_context();
    piece *made = result == CUDA_SUCCESS ? create(NULL, bytes) : NULL;
    if (result == CUDA_SUCCESS && made == NULL) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        stub_count(BOOK_pinned, 1);
        *memory = made->memory;
    }
    return stub_end(result);
}

CUresult cuMemFreeHost(void *memory)
{
    CUresult result = stub_begin_in_context();
    if (stub_current() != NULL) {
        CUresult finished = stub_finish_context(stub_current());
        if (result == CUDA_SUCCESS) result = finished;
    }
    if (destroy(1, memory))
        stub_count(BOOK_pinned, -1);
    else
        result = CUDA_ERROR_INVALID_VALUE;
    return stub_end(result);
}
