/* Programs of the opencl backend: built, cached as binaries, and launched. */
#include <stdio.h>
#include <string.h>

#include "device/backends.h"
#include "device/opencl/opencl.h"

enum { NAME_BYTES = 128, LOG_BYTES = 1200, LOG_LINES = 12, KERNELS_BYTES = 1024, UNKNOWN_KIND = -1 };

/* A kernel and the properties that the driver reports. */
typedef struct opencl_function {
    struct opencl_function *next;
    opencl_device *device;
    cl_kernel kernel;
    char name[NAME_BYTES];
    int64_t most_items, num_arguments;
    int kinds[]; /* [num_arguments] yoke_argument_kind, or UNKNOWN_KIND */
} opencl_function;

typedef struct opencl_program {
    opencl_device *device;
    cl_program program;
    char name[NAME_BYTES];
    opencl_function *functions; /* list of those requested so far */
} opencl_program;

/* ----------------------------------------------------------------------------------------------- building */

/* Options that the backend adds to those of the source.  With the second one the driver can report the kinds of arguments. */
static const char own_options[] = "-cl-std=CL1.2 -cl-kernel-arg-info";

/* Our own options and those of the source.  Free it with yoke_release. */
static yoke_status join_options(yoke_context *context, const yoke_program_source *source, char **options)
{
    const char *theirs = source->options != NULL ? source->options : "";
    const size_t bytes = strlen(theirs) + sizeof own_options + 1;
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, (int64_t)bytes, 1, &memory);
    if (status != YOKE_OK) return status;
    snprintf(memory, bytes, "%s %s", own_options, theirs);
    *options = memory;
    return YOKE_OK;
}

/* The first lines of the compiler's output, without blank lines. */
static void shorten_log(const char *log, char text[LOG_BYTES])
{
    size_t length = 0;
    int lines = 0;
    for (const char *line = log; *line != '\0' && lines < LOG_LINES && length + 1 < LOG_BYTES;) {
        const size_t end = strcspn(line, "\n"), room = LOG_BYTES - length;
        if (strspn(line, " \t\r") < end) {
            int wanted = snprintf(text + length, room, "%s%.*s", lines > 0 ? "\n" : "", (int)(end < room ? end : room), line);
            length += wanted < 0 ? 0 : (size_t)wanted < room ? (size_t)wanted : room - 1;
            lines++;
        }
        line += end + (line[end] == '\n');
    }
    text[length] = '\0';
}

static yoke_status fail_build(opencl_program *program, cl_int error)
{
    opencl_device *device = program->device;
    char text[LOG_BYTES] = "";
    size_t bytes = 0;
    void *log = NULL;
    if (error == CL_OUT_OF_HOST_MEMORY) return yoke_opencl_fail(device, error, "clBuildProgram", "compiling");
    if (device->cl->clGetProgramBuildInfo(program->program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) == CL_SUCCESS && bytes > 0) {
        yoke_status status = yoke_allocate(device->context, (int64_t)bytes + 1, 1, &log);
        if (status != YOKE_OK) return status;
        if (device->cl->clGetProgramBuildInfo(program->program, device->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) == CL_SUCCESS)
            shorten_log(log, text);
        yoke_release(device->context, log);
    }
    int blames_the_text = error == CL_BUILD_PROGRAM_FAILURE || error == CL_INVALID_BUILD_OPTIONS;
    if (!blames_the_text) device->lost = 1;
    return yoke_fail(device->context, blames_the_text ? YOKE_ERROR_INPUT : YOKE_ERROR_DEVICE, "%s: program %s does not compile (%s):\n%s",
                     device->name, program->name, yoke_opencl_error_name(error), text[0] != '\0' ? text : "the compiler says nothing");
}

/* Builds the dialect's text followed by the texts of the source. */
static yoke_status build_texts(opencl_program *program, const yoke_program_source *source, const char *options)
{
    opencl_device *device = program->device;
    void *memory = NULL;
    cl_int error = CL_SUCCESS;
    yoke_status status = yoke_allocate(device->context, source->num_texts + 1, sizeof(const char *), &memory);
    if (status != YOKE_OK) return status;
    const char **texts = memory;
    texts[0] = yoke_dialect_text;
    for (int64_t i = 0; i < source->num_texts; i++) texts[i + 1] = source->texts[i];
    program->program = device->cl->clCreateProgramWithSource(device->driver_context, (cl_uint)(source->num_texts + 1), texts, NULL, &error);
    yoke_release(device->context, memory);
    if (program->program == NULL) return yoke_opencl_fail(device, error, "clCreateProgramWithSource", "making a program");
    error = device->cl->clBuildProgram(program->program, 1, &device->id, options, NULL, NULL);
    return error == CL_SUCCESS ? YOKE_OK : fail_build(program, error);
}

/*
 * Builds the program from a binary of an earlier run.  If the driver rejects the binary, this is no failure: program->program stays NULL.
 */
static void build_binary(opencl_program *program, const void *binary, int64_t bytes, const char *options)
{
    const opencl_device *device = program->device;
    const unsigned char *binaries[] = {binary};
    const size_t length = (size_t)bytes;
    cl_int of_binary = CL_SUCCESS, error = CL_SUCCESS;
    cl_program made = device->cl->clCreateProgramWithBinary(device->driver_context, 1, &device->id, &length, binaries, &of_binary, &error);
    if (made == NULL) return;
    if (device->cl->clBuildProgram(made, 1, &device->id, options, NULL, NULL) == CL_SUCCESS)
        program->program = made;
    else
        device->cl->clReleaseProgram(made);
}

/*
 * Stores the binary for later runs, if the cache is enabled.  It is no failure if the driver does not provide one.  A driver that has a cache
 * itself is not asked: for a binary PoCL compiles all kernels, whether used or not, for any group size, and at their launch again.  For such
 * a driver the cache only notes that the program was compiled.
 */
static yoke_status keep_binary(const opencl_program *program, const yoke_cache_key *key)
{
    const opencl_device *device = program->device;
    size_t bytes = 0;
    void *binary = NULL;
    if (device->state->cache.directory[0] == '\0') return YOKE_OK;
    if (device->keeps_programs) {
        static const char note[] = "kept by the driver";
        yoke_cache_write(&device->state->cache, key, note, sizeof note);
        return YOKE_OK;
    }
    if (device->cl->clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || bytes == 0)
        return YOKE_OK;
    yoke_status status = yoke_allocate(device->context, (int64_t)bytes, 1, &binary);
    if (status != YOKE_OK) return status;
    if (device->cl->clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        yoke_cache_write(&device->state->cache, key, binary, (int64_t)bytes);
    yoke_release(device->context, binary);
    return YOKE_OK;
}

static yoke_status build_with_key(opencl_program *program, const yoke_program_source *source, const char *options,
                                  const yoke_cache_key *key)
{
    const yoke_cache *cache = &program->device->state->cache;
    void *binary = NULL;
    int64_t bytes = 0;
    yoke_status status = yoke_cache_read(cache, key, &binary, &bytes);
    if (status != YOKE_OK) return status;
    const int noted = binary != NULL && program->device->keeps_programs;
    if (binary != NULL && !noted) build_binary(program, binary, bytes, options);
    yoke_release(cache->context, binary);
    if (program->program != NULL) return YOKE_OK;
    if (noted) return build_texts(program, source, options);
    /* With some drivers this takes seconds.  PoCL compiles at the first launch of a kernel. */
    yoke_log(cache->context, YOKE_LOG_INFO, "%s: compiling %s, once", program->device->name, program->name);
    status = build_texts(program, source, options);
    return status == YOKE_OK ? keep_binary(program, key) : status;
}

static yoke_status build(opencl_program *program, const yoke_program_source *source)
{
    const opencl_device *device = program->device;
    const yoke_cache *cache = &device->state->cache;
    char compiler[sizeof own_options + sizeof device->driver + 2];
    char *options = NULL;
    yoke_cache_key key;
    snprintf(compiler, sizeof compiler, "%s %s", device->driver, own_options);
    yoke_status status = join_options(device->context, source, &options);
    if (status != YOKE_OK) return status;
    status = yoke_cache_key_create(cache, "opencl", device->model, compiler, yoke_dialect_text, source, &key);
    if (status == YOKE_OK) {
        status = build_with_key(program, source, options, &key);
        yoke_cache_key_destroy(cache, &key);
    }
    yoke_release(device->context, options);
    return status;
}

yoke_status yoke_opencl_program_create(void *device, const yoke_program_source *source, void **program)
{
    opencl_device *owner = device;
    void *memory = NULL;
    yoke_status status = yoke_allocate(owner->context, 1, sizeof(opencl_program), &memory);
    if (status != YOKE_OK) return status;
    opencl_program *made = memory;
    made->device = owner;
    snprintf(made->name, sizeof made->name, "%s", source->name);
    status = build(made, source);
    if (status != YOKE_OK) {
        yoke_opencl_program_destroy(device, made);
        return status;
    }
    *program = made;
    return YOKE_OK;
}

void yoke_opencl_program_destroy(void *device, void *program)
{
    const opencl_device *owner = device;
    opencl_program *destroyed = program;
    while (destroyed->functions != NULL) {
        opencl_function *function = destroyed->functions;
        destroyed->functions = function->next;
        owner->cl->clReleaseKernel(function->kernel);
        yoke_release(owner->context, function);
    }
    if (destroyed->program != NULL) owner->cl->clReleaseProgram(destroyed->program);
    yoke_release(owner->context, destroyed);
}

/* ---------------------------------------------------------------------------------------------- functions */

static int kind_of_type(const char *type)
{
    static const struct {
        const char *name;
        yoke_argument_kind kind;
    } types[] = {
        {"int", YOKE_ARGUMENT_INT32},       {"yoke_int", YOKE_ARGUMENT_INT32}, {"long", YOKE_ARGUMENT_INT64},
        {"yoke_long", YOKE_ARGUMENT_INT64}, {"float", YOKE_ARGUMENT_FLOAT},    {"double", YOKE_ARGUMENT_DOUBLE},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i].name) == 0) return (int)types[i].kind;
    return UNKNOWN_KIND;
}

/* Programs built from binaries may lack this information; then the kind is unknown, and the driver only checks the size. */
static int kind_of_argument(const opencl_functions *cl, cl_kernel kernel, cl_uint index)
{
    cl_kernel_arg_address_qualifier space = 0;
    char type[NAME_BYTES];
    if (cl->clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL) != CL_SUCCESS)
        return UNKNOWN_KIND;
    if (space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT) return YOKE_ARGUMENT_BUFFER;
    if (space != CL_KERNEL_ARG_ADDRESS_PRIVATE ||
        cl->clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL) != CL_SUCCESS)
        return UNKNOWN_KIND;
    type[sizeof type - 1] = '\0';
    return kind_of_type(type);
}

static yoke_status fail_no_kernel(const opencl_program *program, const char *name)
{
    const opencl_device *device = program->device;
    char names[KERNELS_BYTES] = "";
    if (device->cl->clGetProgramInfo(program->program, CL_PROGRAM_KERNEL_NAMES, sizeof names - 1, names, NULL) != CL_SUCCESS)
        snprintf(names, sizeof names, "(more than can be listed)");
    return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: program %s has no kernel %s; it has %s", device->name, program->name, name,
                     names[0] != '\0' ? names : "none");
}

/* Takes ownership of the kernel, also on failure. */
static yoke_status add_function(opencl_program *program, const char *name, cl_kernel kernel, opencl_function **function)
{
    opencl_device *device = program->device;
    const opencl_functions *cl = device->cl;
    cl_uint count = 0;
    size_t most_items = 0;
    void *memory = NULL;
    yoke_status status = YOKE_OK;
    cl_int error = cl->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    if (error == CL_SUCCESS)
        error = cl->clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most_items, &most_items, NULL);
    if (error != CL_SUCCESS)
        status = yoke_opencl_fail(device, error, "clGetKernelInfo or clGetKernelWorkGroupInfo", "asking for a kernel's arguments");
    else
        status = yoke_allocate(device->context, 1, sizeof(opencl_function) + count * sizeof(int), &memory);
    if (status != YOKE_OK) {
        cl->clReleaseKernel(kernel);
        return status;
    }
    opencl_function *made = memory;
    *made = (opencl_function){
        .next = program->functions, .device = device, .kernel = kernel, .most_items = (int64_t)most_items, .num_arguments = count};
    snprintf(made->name, sizeof made->name, "%s", name);
    for (cl_uint i = 0; i < count; i++) made->kinds[i] = kind_of_argument(cl, kernel, i);
    program->functions = made;
    *function = made;
    return YOKE_OK;
}

yoke_status yoke_opencl_function(void *program, const char *name, void **function)
{
    opencl_program *owner = program;
    opencl_function *made = NULL;
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = owner->device->cl->clCreateKernel(owner->program, name, &error);
    if (kernel == NULL && error == CL_INVALID_KERNEL_NAME) return fail_no_kernel(owner, name);
    if (kernel == NULL) return yoke_opencl_fail(owner->device, error, "clCreateKernel", name);
    yoke_status status = add_function(owner, name, kernel, &made);
    if (status == YOKE_OK) *function = made;
    return status;
}

/* ----------------------------------------------------------------------------------------------- launches */

static const char *kind_name(int kind)
{
    static const char *const names[] = {[YOKE_ARGUMENT_BUFFER] = "a buffer",
                                        [YOKE_ARGUMENT_INT32] = "a 32-bit integer",
                                        [YOKE_ARGUMENT_INT64] = "a 64-bit integer",
                                        [YOKE_ARGUMENT_FLOAT] = "a float",
                                        [YOKE_ARGUMENT_DOUBLE] = "a double"};
    return kind == UNKNOWN_KIND ? "of another size" : names[kind];
}

static yoke_status fail_kind(const opencl_function *function, int64_t i, int given)
{
    return yoke_fail(function->device->context, YOKE_ERROR_ARGUMENT, "%s: kernel %s: argument %lld is %s, and %s is given",
                     function->device->name, function->name, (long long)i, kind_name(function->kinds[i]), kind_name(given));
}

static yoke_status check_sizes(const opencl_function *function, int64_t groups, int64_t group_size)
{
    const opencl_device *device = function->device;
    if (group_size > function->most_items)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: kernel %s: groups have at most %lld items on this device, not %lld",
                         device->name, function->name, (long long)function->most_items, (long long)group_size);
    if (groups > PTRDIFF_MAX / group_size)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: kernel %s: %lld groups of %lld items are more than can be counted",
                         device->name, function->name, (long long)groups, (long long)group_size);
    return YOKE_OK;
}

static yoke_status set_argument(const opencl_function *function, int64_t i, const yoke_argument *argument, void *buffer)
{
    static const size_t sizes[] = {[YOKE_ARGUMENT_BUFFER] = sizeof(cl_mem),
                                   [YOKE_ARGUMENT_INT32] = sizeof(cl_int),
                                   [YOKE_ARGUMENT_INT64] = sizeof(cl_long),
                                   [YOKE_ARGUMENT_FLOAT] = sizeof(cl_float),
                                   [YOKE_ARGUMENT_DOUBLE] = sizeof(cl_double)};
    if (function->kinds[i] != UNKNOWN_KIND && function->kinds[i] != (int)argument->kind) return fail_kind(function, i, argument->kind);
    cl_mem memory = buffer;
    const void *value = &argument->value; /* all members of a union have the same address */
    if (argument->kind == YOKE_ARGUMENT_BUFFER) value = memory != NULL ? &memory : NULL;
    cl_int error = function->device->cl->clSetKernelArg(function->kernel, (cl_uint)i, sizes[argument->kind], value);
    if (error == CL_INVALID_ARG_SIZE || error == CL_INVALID_ARG_VALUE) return fail_kind(function, i, argument->kind);
    return error == CL_SUCCESS ? YOKE_OK : yoke_opencl_fail(function->device, error, "clSetKernelArg", function->name);
}

yoke_status yoke_opencl_launch(void *queue, void *function, int64_t groups, int64_t group_size, int64_t units,
                               const yoke_argument *arguments, void *const *buffers, int64_t num_arguments)
{
    opencl_queue *on = queue;
    const opencl_function *launched = function;
    opencl_device *device = on->device;
    (void)units;
    yoke_status status = check_sizes(launched, groups, group_size);
    if (status == YOKE_OK && num_arguments != launched->num_arguments)
        status = yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: kernel %s has %lld arguments, and %lld are given", device->name,
                           launched->name, (long long)launched->num_arguments, (long long)num_arguments);
    for (int64_t i = 0; i < num_arguments && status == YOKE_OK; i++) status = set_argument(launched, i, &arguments[i], buffers[i]);
    if (status != YOKE_OK) return status;
    const size_t items = (size_t)groups * (size_t)group_size, items_of_group = (size_t)group_size;
    cl_int error = device->cl->clEnqueueNDRangeKernel(on->queue, launched->kernel, 1, NULL, &items, &items_of_group, 0, NULL, NULL);
    if (error == CL_INVALID_WORK_GROUP_SIZE || error == CL_INVALID_WORK_ITEM_SIZE || error == CL_INVALID_GLOBAL_WORK_SIZE)
        return yoke_fail(device->context, YOKE_ERROR_ARGUMENT, "%s: kernel %s: the device does not take %lld groups of %lld items (%s)",
                         device->name, launched->name, (long long)groups, (long long)group_size, yoke_opencl_error_name(error));
    return yoke_opencl_submit(on, error, "clEnqueueNDRangeKernel", launched->name);
}
