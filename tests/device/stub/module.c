/* Modules, functions and launches. */
#define _GNU_SOURCE /* mkostemp */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stub.h"

static CUmodule modules;

/* ------------------------------------------------------------------------------------------------- loading */

/* Opens the shared object in the image by way of a file, which is removed at once. */
static void *open_object(const stub_image *image)
{
    char path[4096];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/yoke-stub-XXXXXX", directory != NULL ? directory : "/tmp");
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0) return NULL;
    const char *bytes = (const char *)(image + 1);
    size_t left = (size_t)image->bytes;
    while (left > 0) {
        ssize_t written = write(file, bytes, left);
        if (written <= 0) break;
        bytes += written;
        left -= (size_t)written;
    }
    close(file);
    void *library = left == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path);
    return library;
}

static void *symbol(void *library, const char *name, int *missing)
{
    void *address = dlsym(library, name);
    if (address == NULL) *missing = 1;
    return address;
}

static int find_symbols(CUmodule module)
{
    int missing = 0;
    module->kernels = symbol(module->library, "stub_kernels", &missing);
    module->thread = symbol(module->library, "threadIdx", &missing);
    module->block = symbol(module->library, "blockIdx", &missing);
    module->threads = symbol(module->library, "blockDim", &missing);
    module->blocks = symbol(module->library, "gridDim", &missing);
    module->barrier = symbol(module->library, "stub_barrier", &missing);
    char *const *shared = symbol(module->library, "stub_shared", &missing);
    if (!missing) {
        module->shared = shared[0];
        module->shared_end = shared[1];
    }
    return !missing;
}

static CUresult load(const stub_image *image, CUmodule *module)
{
    if (memcmp(image->magic, STUB_MAGIC, sizeof image->magic) != 0) return CUDA_ERROR_INVALID_IMAGE;
    CUmodule made = calloc(1, sizeof *made);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    made->library = open_object(image);
    if (made->library == NULL || !find_symbols(made)) {
        if (made->library != NULL) dlclose(made->library);
        free(made);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    made->context = stub_current();
    made->next = modules;
    modules = made;
    stub_count(BOOK_modules, 1);
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS) result = load(image, module);
    for (unsigned i = 0; i < count && result == CUDA_ERROR_INVALID_IMAGE; i++)
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER) snprintf(values[i], 32, "this is not an image");
    return stub_end(result);
}

CUresult cuModuleUnload(CUmodule module)
{
    CUresult result = stub_begin_in_context();
    CUmodule *link = &modules;
    while (*link != NULL && *link != module) link = &(*link)->next;
    if (*link == NULL) return stub_end(CUDA_ERROR_INVALID_HANDLE);
    CUresult finished = stub_finish_context(module->context);
    *link = module->next;
    while (module->functions != NULL) {
        CUfunction next = module->functions->next;
        free(module->functions);
        module->functions = next;
    }
    dlclose(module->library);
    free(module);
    stub_count(BOOK_modules, -1);
    return stub_end(result != CUDA_SUCCESS ? result : finished);
}

/* ----------------------------------------------------------------------------------------------- functions */

static CUresult find_function(CUmodule module, const char *name, CUfunction *function)
{
    const stub_kernel *kernel = module->kernels;
    while (kernel->name != NULL && strcmp(kernel->name, name) != 0) kernel++;
    if (kernel->name == NULL) return CUDA_ERROR_NOT_FOUND;
    CUfunction made = malloc(sizeof *made);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct CUfunc_st){.module = module, .next = module->functions, .kernel = kernel};
    module->functions = made;
    *function = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS) result = find_function(module, name, function);
    return stub_end(result);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    (void)function;
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && attribute != CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) *value = 1024;
    return stub_end(result);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS && index >= function->kernel->num_arguments) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        *offset = 8 * index;
        *bytes = function->kernel->bytes[index];
    }
    return stub_end(result);
}

/* ------------------------------------------------------------------------------------------------ launching */

typedef struct launch {
    CUfunction function;
    unsigned blocks, threads;
    unsigned long long values[64]; /* no argument of a kernel of the dialect is longer */
} launch;

static CUresult do_launch(void *data)
{
    launch *one = data;
    void *arguments[64];
    for (size_t i = 0; i < 64; i++) arguments[i] = &one->values[i];
    return stub_run(one->function, one->blocks, one->threads, arguments);
}

static CUresult defer_launch(CUfunction function, unsigned blocks, unsigned threads, CUstream stream, void **arguments)
{
    const stub_kernel *kernel = function->kernel;
    launch one = {.function = function, .blocks = blocks, .threads = threads};
    if (blocks < 1 || blocks > INT32_MAX || threads < 1 || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
    if (function->module->context != stub_current()) return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < kernel->num_arguments; i++) {
        if (i >= 64 || kernel->bytes[i] > sizeof one.values[i]) return CUDA_ERROR_INVALID_VALUE;
        memcpy(&one.values[i], arguments[i], kernel->bytes[i]);
    }
    return stub_defer(stream, do_launch, &one, sizeof one);
}

CUresult cuLaunchKernel(CUfunction function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x,
                        unsigned threads_y, unsigned threads_z, unsigned shared_bytes, CUstream stream, void **arguments, void **extra)
{
    CUresult result = stub_begin_in_context();
    if (result == CUDA_SUCCESS &&
        (blocks_y != 1 || blocks_z != 1 || threads_y != 1 || threads_z != 1 || shared_bytes != 0 || extra != NULL))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) result = defer_launch(function, blocks_x, threads_x, stream, arguments);
    return stub_end(result);
}
