/* Kernels of the simple interface: compiled for each device, with memory there for their arrays. */
#include "run/kernel.h"

#include <stdio.h>
#include <string.h>

static yoke_status fail_argument(yoke_run *run, const char *what)
{
    return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_define: %s", what);
}

static yoke_status check_array(yoke_run *run, const yoke_run_array *array, int64_t number)
{
    const char *wrong = NULL;
    if (array->bytes < 0 || (array->bytes > 0 && array->memory == NULL))
        wrong = "it has no memory, or a negative length";
    else if (array->unit_bytes < 0 || array->unit_bytes > array->bytes)
        wrong = "unit_bytes must be from 0 to the bytes of all of it";
    else if ((int)array->access < YOKE_RUN_READ || array->access > YOKE_RUN_READ_WRITE)
        wrong = "access must be one of yoke_run_access";
    else if (array->unit_bytes == 0 && array->access != YOKE_RUN_READ)
        wrong = "a whole array can only be read: give unit_bytes to divide it";
    if (wrong == NULL) return YOKE_OK;
    return yoke_fail(run->context, YOKE_ERROR_ARGUMENT, "yoke_run_define: array %lld: %s", (long long)number, wrong);
}

static yoke_status check(yoke_run *run, const yoke_run_definition *d)
{
    if (d->work == NULL || d->work[0] == '\0') return fail_argument(run, "the work has no name");
    if (d->source == NULL && d->host == NULL) return fail_argument(run, "there is neither a source nor a host function");
    if (d->source != NULL &&
        (d->source->num_texts < 0 || d->source->num_host_kernels < 0 || (d->source->num_texts > 0 && d->source->texts == NULL) ||
         (d->source->num_host_kernels > 0 && d->source->host_kernels == NULL)))
        return fail_argument(run, "a number of the source is negative, or an array of it is NULL");
    if (d->source != NULL && d->function == NULL) return fail_argument(run, "the name of the kernel in the source is missing");
    if (d->num_arrays < 0 || d->num_arrays > YOKE_RUN_MAX_ARRAYS || (d->num_arrays > 0 && d->arrays == NULL))
        return fail_argument(run, "num_arrays is negative or too large, or arrays is NULL");
    if (d->items_per_unit < 0 || d->group_size < 0) return fail_argument(run, "items_per_unit or group_size is negative");
    yoke_status status = YOKE_OK;
    for (int64_t k = 0; k < d->num_arrays && status == YOKE_OK; k++) status = check_array(run, &d->arrays[k], k);
    return status;
}

/* --------------------------------------------------------------------------------------------------- source */

static int64_t bytes_of(const char *text) { return text != NULL ? (int64_t)strlen(text) + 1 : 0; }

/* Copies the text to *end, and moves *end behind the copy.  Returns the copy; NULL for NULL. */
static const char *append(char **end, const char *text)
{
    if (text == NULL) return NULL;
    char *at = *end;
    *end += bytes_of(text);
    return memcpy(at, text, (size_t)bytes_of(text));
}

static yoke_status copy_source(yoke_run_kernel *kernel, const yoke_program_source *given)
{
    yoke_context *context = kernel->run->context;
    run_source *copy = &kernel->own_source;
    if (given == NULL) return YOKE_OK;
    int64_t bytes = bytes_of(given->name) + bytes_of(given->options);
    for (int64_t k = 0; k < given->num_texts; k++) bytes += bytes_of(given->texts[k]);
    for (int64_t k = 0; k < given->num_host_kernels; k++) bytes += bytes_of(given->host_kernels[k].name);
    yoke_status status = yoke_allocate(context, bytes, 1, &copy->characters);
    if (status == YOKE_OK) status = yoke_allocate(context, given->num_texts, sizeof *copy->texts, &copy->texts);
    if (status == YOKE_OK) status = yoke_allocate(context, given->num_host_kernels, sizeof *copy->host_kernels, &copy->host_kernels);
    if (status != YOKE_OK) return status;
    char *end = copy->characters;
    copy->source = *given;
    copy->source.name = append(&end, given->name);
    copy->source.options = append(&end, given->options);
    copy->source.texts = given->texts != NULL ? copy->texts : NULL;
    copy->source.host_kernels = given->host_kernels != NULL ? copy->host_kernels : NULL;
    for (int64_t k = 0; k < given->num_texts; k++) copy->texts[k] = append(&end, given->texts[k]);
    for (int64_t k = 0; k < given->num_host_kernels; k++)
        copy->host_kernels[k] =
            (yoke_host_kernel){.name = append(&end, given->host_kernels[k].name), .function = given->host_kernels[k].function};
    kernel->source = &copy->source;
    return YOKE_OK;
}

static void release_source(yoke_context *context, run_source *copy)
{
    yoke_release(context, copy->host_kernels);
    yoke_release(context, copy->texts);
    yoke_release(context, copy->characters);
}

/* --------------------------------------------------------------------------------------------------- memory */

static yoke_status make_memory(yoke_run *run, const yoke_run_definition *d, yoke_run_kernel *kernel)
{
    const int64_t all = run->num_devices * d->num_arrays;
    void *arrays = NULL, *devices = NULL;
    yoke_status status = run_copy_text(run->context, d->work, &kernel->work);
    if (status == YOKE_OK) status = copy_source(kernel, d->source);
    if (status == YOKE_OK) status = run_copy_text(run->context, d->function, &kernel->name);
    if (status == YOKE_OK) status = yoke_allocate(run->context, d->num_arrays, sizeof *kernel->arrays, &arrays);
    kernel->arrays = arrays;
    if (status == YOKE_OK) status = yoke_allocate(run->context, run->num_devices, sizeof *kernel->devices, &devices);
    kernel->devices = devices;
    if (status == YOKE_OK) status = yoke_allocate(run->context, all, sizeof(yoke_buffer *), &kernel->memory[0]);
    if (status == YOKE_OK) status = yoke_allocate(run->context, all, sizeof(run_held), &kernel->memory[1]);
    if (status == YOKE_OK) status = yoke_allocate(run->context, all, sizeof(int), &kernel->memory[2]);
    if (status == YOKE_OK) status = yoke_allocate(run->context, all, sizeof(void *), &kernel->memory[3]);
    if (status != YOKE_OK) return status;
    if (d->num_arrays > 0) memcpy(kernel->arrays, d->arrays, (size_t)d->num_arrays * sizeof *kernel->arrays);
    for (int i = 0; i < run->num_devices; i++) {
        kernel->devices[i].buffers = (yoke_buffer **)kernel->memory[0] + i * d->num_arrays;
        kernel->devices[i].held = (run_held *)kernel->memory[1] + i * d->num_arrays;
        kernel->devices[i].sent = (int *)kernel->memory[2] + i * d->num_arrays;
        kernel->devices[i].staging = (void **)kernel->memory[3] + i * d->num_arrays;
    }
    return YOKE_OK;
}

void run_kernel_forget(yoke_run_kernel *kernel, int device)
{
    run_kernel_device *d = &kernel->devices[device];
    for (int64_t k = 0; k < kernel->num_arrays; k++) {
        d->held[k] = (run_held){0, 0, 0};
        d->sent[k] = 0;
    }
}

static void destroy(yoke_run_kernel *kernel)
{
    yoke_context *context = kernel->run->context;
    for (int i = 0; kernel->devices != NULL && i < kernel->run->num_devices; i++) {
        run_kernel_device *d = &kernel->devices[i];
        for (int64_t k = 0; d->staging != NULL && k < kernel->num_arrays; k++) {
            yoke_buffer_destroy(d->buffers[k]);
            if (d->staging[k] != NULL) yoke_host_release(kernel->run->devices[i].device, d->staging[k]);
        }
        yoke_program_destroy(d->program);
    }
    for (int k = 0; k < 4; k++) yoke_release(context, kernel->memory[k]);
    yoke_release(context, kernel->devices);
    yoke_release(context, kernel->arrays);
    release_source(context, &kernel->own_source);
    yoke_release(context, kernel->name);
    yoke_release(context, kernel->work);
    yoke_release(context, kernel);
}

void run_kernels_destroy(yoke_run *run)
{
    while (run->kernels != NULL) {
        yoke_run_kernel *kernel = run->kernels;
        run->kernels = kernel->next;
        destroy(kernel);
    }
}

/* -------------------------------------------------------------------------------------------------- defining */

static yoke_status prepare_device(run_device *d)
{
    yoke_status status = d->queue == NULL ? yoke_queue_create(d->device, 0, &d->queue) : YOKE_OK;
    for (int k = 0; k < 3 && status == YOKE_OK; k++)
        if (d->marks[k] == NULL) status = yoke_event_create(d->device, &d->marks[k]);
    return status;
}

/* Compiles the kernel for an accelerator and allocates the memory that it needs there. */
static yoke_status compile(yoke_run_kernel *kernel, int device)
{
    yoke_run *run = kernel->run;
    run_kernel_device *d = &kernel->devices[device];
    if (kernel->source == NULL)
        return yoke_fail(run->context, YOKE_ERROR_UNAVAILABLE, "the work has a host function only; an accelerator needs a source");
    yoke_status status = yoke_program_create(run->devices[device].device, kernel->source, &d->program);
    if (status == YOKE_OK) status = yoke_program_function(d->program, kernel->name, &d->function);
    for (int64_t k = 0; k < kernel->num_arrays && status == YOKE_OK; k++) {
        const yoke_run_array *array = &kernel->arrays[k];
        status = yoke_buffer_create(run->devices[device].device, array->bytes, &d->buffers[k]);
        /* If a device fails while results are copied back, the array must still contain the data from which other devices start. */
        if (status == YOKE_OK && !array->keep && array->access == YOKE_RUN_READ_WRITE)
            status = yoke_host_allocate(run->devices[device].device, array->bytes, &d->staging[k]);
    }
    return status;
}

static yoke_status find_host_kernel(yoke_run_kernel *kernel)
{
    const yoke_program_source *source = kernel->source;
    for (int64_t k = 0; source != NULL && source->host_kernels != NULL && k < source->num_host_kernels; k++)
        if (source->host_kernels[k].name != NULL && strcmp(source->host_kernels[k].name, kernel->name) == 0)
            kernel->host_kernel = source->host_kernels[k].function;
    if (kernel->host_kernel != NULL || kernel->host != NULL) return YOKE_OK;
    return yoke_fail(kernel->run->context, YOKE_ERROR_UNAVAILABLE, "the work has neither a host function nor a host kernel named %.64s",
                     kernel->name);
}

yoke_status run_kernel_ready(yoke_run_kernel *kernel, int device, yoke_status *why)
{
    yoke_run *run = kernel->run;
    run_device *d = &run->devices[device];
    run_kernel_device *of_kernel = &kernel->devices[device];
    if (of_kernel->ready || !of_kernel->usable) return YOKE_OK;
    yoke_status status = prepare_device(d);
    if (status == YOKE_OK) status = d->accelerator ? compile(kernel, device) : find_host_kernel(kernel);
    of_kernel->ready = of_kernel->usable = status == YOKE_OK;
    if (why != NULL && status != YOKE_OK) *why = status;
    if (status == YOKE_OK || status == YOKE_ERROR_MEMORY) return status;
    if (status == YOKE_ERROR_DEVICE) {
        char text[RUN_WHY_BYTES];
        snprintf(text, sizeof text, "%s", yoke_last_error(run->context));
        return yoke_run_fail(run, device, text);
    }
    yoke_log(run->context, YOKE_LOG_WARNING, "%s does not work on \"%.64s\": %s", d->info->name, kernel->work,
             yoke_last_error(run->context));
    snprintf(d->why, sizeof d->why, "%.64s: %.180s", kernel->work, yoke_last_error(run->context));
    return YOKE_OK;
}

/* Prepares all devices that can do the work.  Devices on cores of hosts mostly rest, and are prepared when they are needed. */
static yoke_status prepare(yoke_run_kernel *kernel)
{
    const yoke_run *run = kernel->run;
    yoke_status status = YOKE_OK, last = YOKE_ERROR_UNAVAILABLE;
    int usable = 0;
    for (int i = 0; i < run->num_devices && status == YOKE_OK; i++) {
        kernel->devices[i].usable = run_is_active(run, i);
        if (!run->devices[i].shares_cores || kernel->source == NULL) status = run_kernel_ready(kernel, i, &last);
        usable += kernel->devices[i].usable;
    }
    return status != YOKE_OK || usable > 0 ? status : last;
}

/* Gives the work the texts by which the store distinguishes kernels. */
static yoke_status name_work(yoke_run *run, const yoke_run_definition *d)
{
    enum { MAX_TEXTS = 32 };
    const char *texts[MAX_TEXTS + 2];
    int64_t count = 0;
    int index = 0;
    yoke_status status = run_work_find(run, d->work, &index);
    if (status != YOKE_OK || run->run_works[index].planned) return status;
    for (int64_t k = 0; d->source != NULL && k < d->source->num_texts && count < MAX_TEXTS; k++) texts[count++] = d->source->texts[k];
    if (d->source != NULL && d->source->options != NULL) texts[count++] = d->source->options;
    if (d->function != NULL) texts[count++] = d->function;
    return yoke_run_work(run, d->work, texts, count);
}

yoke_status yoke_run_define(yoke_run *run, const yoke_run_definition *definition, yoke_run_kernel **kernel)
{
    void *memory = NULL;
    if (run == NULL || definition == NULL || kernel == NULL)
        return yoke_fail(run != NULL ? run->context : NULL, YOKE_ERROR_ARGUMENT, "yoke_run_define: an argument is NULL");
    yoke_status status = check(run, definition);
    if (status == YOKE_OK) status = run_need_device(run);
    if (status == YOKE_OK) status = yoke_allocate(run->context, 1, sizeof(yoke_run_kernel), &memory);
    if (status != YOKE_OK) return status;
    yoke_run_kernel *made = memory;
    made->run = run;
    made->host = definition->host;
    made->user = definition->user;
    made->num_arrays = definition->num_arrays;
    made->items_per_unit = definition->items_per_unit > 0 ? definition->items_per_unit : 1;
    made->group_size = definition->group_size > 0 ? definition->group_size : 64;
    status = make_memory(run, definition, made);
    if (status == YOKE_OK) status = name_work(run, definition);
    if (status == YOKE_OK) status = prepare(made);
    if (status != YOKE_OK) {
        destroy(made);
        return status;
    }
    made->next = run->kernels;
    run->kernels = made;
    *kernel = made;
    return YOKE_OK;
}
