/*
 * stub.h - a CUDA driver, NVRTC and cuBLAS over host memory, so that the cuda backend and all above it run where no NVIDIA card is.
 *
 * NVRTC's stand-in turns a program's text into a shared object with the system's C++ compiler (prelude.h); the bytes of that are the
 * "cubin".  The driver's stand-in loads it and executes kernels for real: blocks one after another, the threads of a block as fibers that
 * change at barriers.  Streams are queues of operations that are executed only when something waits for them, so that a missing wait shows.
 * New device memory and the shared memory of each block are filled with NaN; memory has guards on both sides.
 *
 * Environment, read by cuInit:
 *   YOKE_STUB_CUDA_DEVICES      how many devices there are (1); their PCI addresses are 0000:3B:00.0, 0000:3C:00.0, ...
 *   CUDA_VISIBLE_DEVICES        "1,0": which of them are shown, in which order
 *   YOKE_STUB_CUDA_MEMORY       bytes of memory of each (1 GiB)
 *   YOKE_STUB_CUDA_CAPABILITY   10 major + minor (80); NVRTC's stand-in knows 75, 80, 86, 90
 *   YOKE_STUB_CUDA_MODE         compute mode (0); 2 is prohibited, 3 with another process on it: opening fails
 *   YOKE_STUB_CUDA_DRIVER       the CUDA version that the driver speaks (13000)
 *   YOKE_STUB_CUDA_MOST_THREADS blocks have at most so many threads, whatever the launch says (1024): kernels of the dialect are right for
 *                               any number, and fewer are faster here
 *   YOKE_STUB_CUDA_FAIL_AT      this call of the process, counted from 1 over all three libraries, fails (0: none)
 *   YOKE_STUB_CUDA_FAIL_WITH    with this CUresult (719); one that lasts breaks the current context for good
 *   YOKE_STUB_CUDA_COUNT        a file that gets "name count" lines at exit: calls, and what was not given back
 */
#ifndef YOKE_TESTS_STUB_H
#define YOKE_TESTS_STUB_H

#include "device/cuda/api.h"

#define STUB_API __attribute__((visibility("default")))

#define STUB_DECLARE(required, result, name, parameters) STUB_API result name parameters;
YOKE_CUDA_FUNCTIONS(STUB_DECLARE)
YOKE_NVRTC_FUNCTIONS(STUB_DECLARE)
YOKE_CUBLAS_FUNCTIONS(STUB_DECLARE)

/* What the books count: what was made and not given back, and writes beside memory. */
#define STUB_BOOKS(X) X(contexts) X(streams) X(events) X(modules) X(buffers) X(pinned) X(programs) X(blas) X(overruns)
typedef enum stub_book {
#define STUB_BOOK(name) BOOK_##name,
    STUB_BOOKS(STUB_BOOK)
#undef STUB_BOOK
        NUM_BOOKS
} stub_book;

/* An image that cuModuleLoadDataEx takes. */
typedef struct stub_image {
    char magic[8];
    unsigned long long bytes; /* of the shared object, which follows */
} stub_image;
#define STUB_MAGIC "yokestub"

/* -------------------------------------------------------- books.c: also for the stand-ins of NVRTC and cuBLAS */

/* Every call begins with it and ends with stub_end: takes the lock, counts, and says whether this is the call that fails. */
STUB_API CUresult stub_begin(void);
/* As stub_begin; also fails without a current context, and where that is broken. */
CUresult stub_begin_in_context(void);
STUB_API CUresult stub_end(CUresult result);
/* Breaks the context for good, if the error is one that lasts. */
void stub_break(CUcontext context, CUresult result);
STUB_API void stub_count(stub_book book, int change);
/* The number in an environment variable. */
unsigned long long stub_setting(const char *name, unsigned long long usual);

/* --------------------------------------------------------------------------------------- what the driver has */

typedef struct stub_kernel { /* as prelude.h makes them */
    const char *name;
    void (*run)(void **arguments);
    const size_t *bytes;
    size_t num_arguments;
} stub_kernel;

typedef struct stub_dimensions {
    unsigned x, y, z;
} stub_dimensions;

struct CUctx_st {
    int device, references;
    CUresult broken; /* what every call answers from now on; CUDA_SUCCESS while it is whole */
    size_t used_bytes;
};

struct CUmod_st {
    CUcontext context;
    CUmodule next;
    void *library;
    const stub_kernel *kernels;
    stub_dimensions *thread, *block, *threads, *blocks; /* threadIdx, blockIdx, blockDim, gridDim */
    void (**barrier)(int line);
    char *shared, *shared_end;
    CUfunction functions;
};

struct CUfunc_st {
    CUmodule module;
    CUfunction next;
    const stub_kernel *kernel;
};

/* The context that is current on this thread; NULL where none is. */
CUcontext stub_current(void);

/* -------------------------------------------------------------------------------------------------- block.c */

/* Executes all blocks of a launch.  LAUNCH_FAILED where not all threads of a block come to the same barrier. */
CUresult stub_run(CUfunction function, unsigned blocks, unsigned threads, void **arguments);

/* ------------------------------------------------------------------------------------------------- memory.c */

/* Does all of it lie in one piece of the context's memory? */
int stub_in_memory(CUcontext context, CUdeviceptr address, size_t bytes);

/* ------------------------------------------------------------------------------------------------- stream.c */

typedef CUresult stub_work(void *data);
/* Puts work at the end of a stream, with a copy of its data. */
STUB_API CUresult stub_defer(CUstream stream, stub_work *work, const void *data, size_t bytes);
/* Executes what the context's streams still hold. */
CUresult stub_finish_context(CUcontext context);

#endif
