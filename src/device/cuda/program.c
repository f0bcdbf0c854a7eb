/* Programs of the cuda backend: compiled by NVRTC, cached, loaded and launched. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "device/backends.h"
#include "device/cuda/cuda.h"

enum { LOG_BYTES = 1200, OWN_OPTIONS = 3 };

typedef struct cuda_function {
    struct cuda_program *program;
    struct cuda_function *next;
    CUfunction function;
    char name[128];
    int most_threads;   /* limit of threads per block, from the registers that the kernel uses */
    int num_parameters; /* -1: the driver does not report it */
    size_t bytes[YOKE_CUDA_MAX_ARGUMENTS];
} cuda_function;

typedef struct cuda_program {
    yoke_cuda_device *device;
    CUmodule module;
    char name[128];
    cuda_function *functions;
} cuda_program;

/* ---------------------------------------------------------------------------------------------- compiling */

/* The output of the compiler: code for the card itself, or, for a card that it does not know, PTX text for the driver's own compiler. */
typedef struct target {
    char option[48];
    int is_text;
} target;

static target choose_target(const yoke_cuda_device *device)
{
    const yoke_cuda *state = device->state;
    int nearest = state->architectures[0];
    for (int i = 0; i < state->num_architectures; i++)
        if (state->architectures[i] <= device->capability) nearest = state->architectures[i];
    target chosen = {.is_text = nearest != device->capability};
    snprintf(chosen.option, sizeof chosen.option, "--gpu-architecture=%s_%d", chosen.is_text ? "compute" : "sm", nearest);
    return chosen;
}

/* Concatenates the dialect and the source's texts.  Line numbers restart in each, so that messages have the correct ones. */
static yoke_status join_texts(yoke_context *context, const yoke_program_source *source, char **joined)
{
    size_t bytes = strlen(yoke_dialect_text) + 64;
    for (int64_t i = 0; i < source->num_texts; i++) bytes += strlen(source->texts[i]) + strlen(source->name) + 64;
    char *text;
    yoke_status status = yoke_allocate(context, (int64_t)bytes, 1, &text);
    if (status != YOKE_OK) return status;
    size_t used = (size_t)snprintf(text, bytes, "#line 1 \"dialect.h\"\n%s\n", yoke_dialect_text);
    for (int64_t i = 0; i < source->num_texts; i++)
        used +=
            (size_t)snprintf(text + used, bytes - used, "#line 1 \"%s text %lld\"\n%s\n", source->name, (long long)i + 1, source->texts[i]);
    *joined = text;
    return YOKE_OK;
}

/* The compiler's options: our own, then the words of the source's options, which point into *words. */
static yoke_status split_options(yoke_context *context, const target *chosen, const char *text, char **words, const char ***options,
                                 int *count)
{
    size_t length = text != NULL ? strlen(text) : 0;
    yoke_status status = yoke_allocate(context, (int64_t)length + 1, 1, words);
    if (status != YOKE_OK) return status;
    status = yoke_allocate(context, (int64_t)(OWN_OPTIONS + length / 2 + 1), sizeof **options, options);
    if (status != YOKE_OK) {
        yoke_release(context, *words);
        return status;
    }
    if (length > 0) memcpy(*words, text, length);
    const char **list = *options;
    int used = 0;
    list[used++] = chosen->option;
    list[used++] = "--std=c++14";
    list[used++] = "--fmad=true";
    char *rest = NULL;
    for (char *word = strtok_r(*words, " \t\n", &rest); word != NULL; word = strtok_r(NULL, " \t\n", &rest)) list[used++] = word;
    *count = used;
    return YOKE_OK;
}

static yoke_status compiler_fail(const yoke_cuda_device *device, const char *program, const char *doing, nvrtcResult result)
{
    yoke_status status = result == NVRTC_ERROR_OUT_OF_MEMORY ? YOKE_ERROR_MEMORY : YOKE_ERROR_DEVICE;
    return yoke_fail(device->state->context, status, "%s: program '%s': %s with NVRTC %d.%d: %s", device->name, program, doing,
                     device->state->compiler_major, device->state->compiler_minor, device->state->compiler.nvrtcGetErrorString(result));
}

/* Fails with the first messages of the compiler. */
static yoke_status compiled_badly(const yoke_cuda_device *device, const char *name, nvrtcProgram program)
{
    const yoke_cuda_compiler *compiler = &device->state->compiler;
    yoke_context *context = device->state->context;
    size_t bytes = 0;
    char *messages;
    if (compiler->nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes == 0)
        return compiler_fail(device, name, "compiling", NVRTC_ERROR_COMPILATION);
    yoke_status status = yoke_allocate(context, (int64_t)bytes + 1, 1, &messages);
    if (status != YOKE_OK) return status;
    if (compiler->nvrtcGetProgramLog(program, messages) != NVRTC_SUCCESS) messages[0] = '\0';
    status = yoke_fail(context, YOKE_ERROR_INPUT, "%s: program '%s' does not compile:\n%.*s", device->name, name, LOG_BYTES, messages);
    yoke_release(context, messages);
    return status;
}

/* Reads the compiled program: a cubin, or text with its terminating 0. */
static yoke_status take_image(const yoke_cuda_device *device, const target *chosen, const char *name, nvrtcProgram program, char **image,
                              int64_t *bytes)
{
    const yoke_cuda_compiler *compiler = &device->state->compiler;
    size_t size = 0;
    char *made;
    nvrtcResult result = (chosen->is_text ? compiler->nvrtcGetPTXSize : compiler->nvrtcGetCUBINSize)(program, &size);
    if (result == NVRTC_SUCCESS && size == 0) result = NVRTC_ERROR_INTERNAL_ERROR;
    if (result != NVRTC_SUCCESS) return compiler_fail(device, name, "asking for the compiled program", result);
    yoke_status status = yoke_allocate(device->state->context, (int64_t)size + 1, 1, &made);
    if (status != YOKE_OK) return status;
    result = (chosen->is_text ? compiler->nvrtcGetPTX : compiler->nvrtcGetCUBIN)(program, made);
    if (result != NVRTC_SUCCESS) {
        yoke_release(device->state->context, made);
        return compiler_fail(device, name, "fetching the compiled program", result);
    }
    *image = made;
    *bytes = (int64_t)size;
    return YOKE_OK;
}

static yoke_status compile_text(const yoke_cuda_device *device, const target *chosen, const yoke_program_source *source, const char *text,
                                char **image, int64_t *bytes)
{
    const yoke_cuda_compiler *compiler = &device->state->compiler;
    yoke_context *context = device->state->context;
    char *words;
    const char **options;
    int count;
    yoke_status status = split_options(context, chosen, source->options, &words, &options, &count);
    if (status != YOKE_OK) return status;
    nvrtcProgram program;
    nvrtcResult result = compiler->nvrtcCreateProgram(&program, text, source->name, 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        status = compiler_fail(device, source->name, "starting to compile", result);
    else {
        result = compiler->nvrtcCompileProgram(program, count, options);
        if (result == NVRTC_ERROR_COMPILATION)
            status = compiled_badly(device, source->name, program);
        else if (result != NVRTC_SUCCESS)
            status = compiler_fail(device, source->name, "compiling", result);
        else
            status = take_image(device, chosen, source->name, program, image, bytes);
        compiler->nvrtcDestroyProgram(&program);
    }
    yoke_release(context, options);
    yoke_release(context, words);
    return status;
}

static yoke_status compile(const yoke_cuda_device *device, const target *chosen, const yoke_program_source *source, char **image,
                           int64_t *bytes)
{
    char *text;
    yoke_status status = join_texts(device->state->context, source, &text);
    if (status != YOKE_OK) return status;
    status = compile_text(device, chosen, source, text, image, bytes);
    yoke_release(device->state->context, text);
    return status;
}

/* ----------------------------------------------------------------------------------------------- programs */

/* Loads the image into the driver.  messages [LOG_BYTES] receives the messages of the driver's compiler. */
static CUresult load_module(const yoke_cuda_device *device, const void *image, CUmodule *module, char *messages)
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {messages, (void *)(uintptr_t)LOG_BYTES}; /* the interface requires the number in place of a pointer */
    memset(messages, 0, LOG_BYTES);
    CUresult result = yoke_cuda_enter(device);
    if (result == CUDA_SUCCESS)
        result = yoke_cuda_leave(device, device->state->driver.cuModuleLoadDataEx(module, image, 2, options, values));
    messages[LOG_BYTES - 1] = '\0';
    return result;
}

/* Nonzero: the driver rejects the image; zero: the device has failed. */
static int image_refused(CUresult result)
{
    return result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_PTX ||
           result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

/* Loads a program from the cache.  *loaded: there was a valid entry. */
static yoke_status load_cached(const yoke_cuda_device *device, const yoke_cache_key *key, const char *name, CUmodule *module, int *loaded)
{
    const yoke_cuda *state = device->state;
    void *image;
    int64_t bytes;
    char messages[LOG_BYTES];
    *loaded = 0;
    yoke_status status = yoke_cache_read(&state->cache, key, &image, &bytes);
    if (status != YOKE_OK || image == NULL) return status;
    CUresult result = load_module(device, image, module, messages);
    yoke_release(state->context, image);
    *loaded = result == CUDA_SUCCESS;
    if (result == CUDA_SUCCESS || image_refused(result)) return YOKE_OK;
    return yoke_cuda_fail(device, result, "loading program '%s'", name);
}

static yoke_status load_compiled(const yoke_cuda_device *device, const yoke_cache_key *key, const target *chosen,
                                 const yoke_program_source *source, CUmodule *module)
{
    const yoke_cuda *state = device->state;
    char *image = NULL, messages[LOG_BYTES];
    int64_t bytes = 0;
    yoke_status status = compile(device, chosen, source, &image, &bytes);
    if (status != YOKE_OK) return status;
    CUresult result = load_module(device, image, module, messages);
    if (result == CUDA_SUCCESS)
        yoke_cache_write(&state->cache, key, image, bytes);
    else
        status =
            yoke_cuda_fail(device, result, "loading program '%.100s'%s%.300s", source->name, messages[0] != '\0' ? ": " : "", messages);
    yoke_release(state->context, image);
    return status;
}

static yoke_status load_program(const yoke_cuda_device *device, const yoke_program_source *source, CUmodule *module)
{
    const yoke_cuda *state = device->state;
    target chosen = choose_target(device);
    char compiler[192];
    snprintf(compiler, sizeof compiler, "%s, NVRTC %d.%d, %s", state->driver_text, state->compiler_major, state->compiler_minor,
             chosen.option);
    yoke_cache_key key;
    yoke_status status = yoke_cache_key_create(&state->cache, "cuda", device->model, compiler, yoke_dialect_text, source, &key);
    if (status != YOKE_OK) return status;
    int loaded;
    status = load_cached(device, &key, source->name, module, &loaded);
    if (status == YOKE_OK && !loaded) {
        yoke_log(state->context, YOKE_LOG_INFO, "%s: compiling %s, once", device->name, source->name);
        status = load_compiled(device, &key, &chosen, source, module);
    }
    yoke_cache_key_destroy(&state->cache, &key);
    return status;
}

yoke_status yoke_cuda_program_create(void *device, const yoke_program_source *source, void **program)
{
    yoke_cuda_device *cuda = device;
    cuda_program *made;
    yoke_status status = yoke_allocate(cuda->state->context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    made->device = cuda;
    snprintf(made->name, sizeof made->name, "%s", source->name);
    status = load_program(cuda, source, &made->module);
    if (status == YOKE_OK)
        *program = made;
    else
        yoke_release(cuda->state->context, made);
    return status;
}

void yoke_cuda_program_destroy(void *device, void *program)
{
    yoke_cuda_device *cuda = device;
    cuda_program *old = program;
    CUresult entered = yoke_cuda_enter(cuda);
    cuda->state->driver.cuModuleUnload(old->module);
    if (entered == CUDA_SUCCESS) yoke_cuda_leave(cuda, entered);
    while (old->functions != NULL) {
        cuda_function *next = old->functions->next;
        yoke_release(cuda->state->context, old->functions);
        old->functions = next;
    }
    yoke_release(cuda->state->context, old);
}

/* ---------------------------------------------------------------------------------------------- functions */

/* Newer drivers report the parameters of a kernel; an error marks the end of the list. */
static CUresult read_parameters(const yoke_cuda_driver *driver, cuda_function *function)
{
    function->num_parameters = -1;
    if (driver->cuFuncGetParamInfo == NULL) return CUDA_SUCCESS;
    for (int i = 0; i < YOKE_CUDA_MAX_ARGUMENTS; i++) {
        size_t offset;
        CUresult result = driver->cuFuncGetParamInfo(function->function, (size_t)i, &offset, &function->bytes[i]);
        if (result == CUDA_SUCCESS) continue;
        if (result != CUDA_ERROR_INVALID_VALUE) return result;
        function->num_parameters = i;
        break;
    }
    return CUDA_SUCCESS;
}

static CUresult find_function(const yoke_cuda_driver *driver, CUmodule module, const char *name, cuda_function *function)
{
    CUresult result = driver->cuModuleGetFunction(&function->function, module, name);
    if (result == CUDA_SUCCESS)
        result = driver->cuFuncGetAttribute(&function->most_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function->function);
    if (result == CUDA_SUCCESS) result = read_parameters(driver, function);
    return result;
}

yoke_status yoke_cuda_function(void *program, const char *name, void **function)
{
    cuda_program *cuda = program;
    yoke_context *context = cuda->device->state->context;
    cuda_function *made;
    yoke_status status = yoke_allocate(context, 1, sizeof *made, &made);
    if (status != YOKE_OK) return status;
    snprintf(made->name, sizeof made->name, "%s", name);
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS)
        result = yoke_cuda_leave(cuda->device, find_function(&cuda->device->state->driver, cuda->module, name, made));
    if (result != CUDA_SUCCESS) {
        yoke_release(context, made);
        if (result == CUDA_ERROR_NOT_FOUND)
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s: program '%s' has no kernel '%s'", cuda->device->name, cuda->name, name);
        return yoke_cuda_fail(cuda->device, result, "looking for kernel '%.100s' of program '%s'", name, cuda->name);
    }
    made->program = cuda;
    made->next = cuda->functions;
    cuda->functions = made;
    *function = made;
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------- launches */

static size_t argument_bytes(yoke_argument_kind kind) { return kind == YOKE_ARGUMENT_INT32 || kind == YOKE_ARGUMENT_FLOAT ? 4 : 8; }

static yoke_status check_launch(const cuda_function *function, int64_t groups, int64_t group_size, const yoke_argument *arguments,
                                int64_t count)
{
    const yoke_cuda_device *device = function->program->device;
    yoke_context *context = device->state->context;
    if (group_size > function->most_threads)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s: kernel '%s' takes groups of at most %d items on this card, not %lld",
                         device->name, function->name, function->most_threads, (long long)group_size);
    if (groups > INT_MAX)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s: %lld groups are more than the %d that a launch takes", device->name,
                         (long long)groups, INT_MAX);
    if (count > YOKE_CUDA_MAX_ARGUMENTS || (function->num_parameters >= 0 && count != function->num_parameters))
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s: kernel '%s' takes %d arguments, not %lld", device->name, function->name,
                         function->num_parameters >= 0 ? function->num_parameters : YOKE_CUDA_MAX_ARGUMENTS, (long long)count);
    for (int64_t i = 0; i < count && function->num_parameters >= 0; i++)
        if (argument_bytes(arguments[i].kind) != function->bytes[i])
            return yoke_fail(context, YOKE_ERROR_ARGUMENT, "%s: argument %lld of kernel '%s' has %zu bytes, not %zu", device->name,
                             (long long)i + 1, function->name, function->bytes[i], argument_bytes(arguments[i].kind));
    return YOKE_OK;
}

yoke_status yoke_cuda_launch(void *queue, void *function, int64_t groups, int64_t group_size, int64_t units, const yoke_argument *arguments,
                             void *const *buffers, int64_t num_arguments)
{
    (void)units;
    yoke_cuda_queue *cuda = queue;
    const cuda_function *kernel = function;
    yoke_status status = check_launch(kernel, groups, group_size, arguments, num_arguments);
    if (status != YOKE_OK) return status;

    /* The driver copies the values before the call returns.  Its parameters are not const, although it does not change the data. */
    static const yoke_cuda_buffer no_buffer = {0};
    const void *values[YOKE_CUDA_MAX_ARGUMENTS];
    for (int64_t i = 0; i < num_arguments; i++) {
        const yoke_cuda_buffer *buffer = buffers[i] != NULL ? buffers[i] : &no_buffer;
        values[i] = arguments[i].kind == YOKE_ARGUMENT_BUFFER ? (const void *)&buffer->address : (const void *)&arguments[i].value;
    }
    CUresult result = yoke_cuda_enter(cuda->device);
    if (result == CUDA_SUCCESS)
        result = yoke_cuda_leave(cuda->device,
                                 cuda->device->state->driver.cuLaunchKernel(kernel->function, (unsigned)groups, 1, 1, (unsigned)group_size,
                                                                            1, 1, 0, cuda->stream, (void **)values, NULL));
    return result == CUDA_SUCCESS ? YOKE_OK
                                  : yoke_cuda_fail(cuda->device, result, "starting kernel '%s' with %lld groups of %lld", kernel->name,
                                                   (long long)groups, (long long)group_size);
}
