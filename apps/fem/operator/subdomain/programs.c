#include "operator/subdomain/programs.h"

#include <stdio.h>

#include "operator/subdomain/device.h"

/* The texts of the kernels (yoke_embed_text). */
extern const char fem_subdomain_sizes_text[], fem_subdomain_element_text[], fem_subdomain_setup_text[], fem_subdomain_values_text[];

enum { NUM_TEXTS = 4 };
static const char *const texts[NUM_TEXTS] = {fem_subdomain_sizes_text, fem_subdomain_element_text, fem_subdomain_setup_text,
                                             fem_subdomain_values_text};

struct fem_programs {
    yoke_context *context;
    yoke_device *device;
    device_program list[2][2][2][2]; /* by precision, slots_1d == 3, components == 3, atomic */
};

static const yoke_host_kernel *const host_kernels[2][2][2] = {
    {{fem_subdomain_host_double_n2_c1, fem_subdomain_host_double_n2_c3},
     {fem_subdomain_host_double_n3_c1, fem_subdomain_host_double_n3_c3}},
    {{fem_subdomain_host_float_n2_c1, fem_subdomain_host_float_n2_c3}, {fem_subdomain_host_float_n3_c1, fem_subdomain_host_float_n3_c3}},
};

yoke_status fem_programs_create(yoke_context *context, yoke_device *device, fem_programs **out)
{
    fem_programs *programs;
    yoke_status status = yoke_allocate(context, 1, sizeof *programs, &programs);
    if (status) return status;
    programs->context = context;
    programs->device = device;
    *out = programs;
    return YOKE_OK;
}

const char *const *fem_programs_texts(int64_t *count)
{
    *count = NUM_TEXTS;
    return texts;
}

void fem_programs_destroy(fem_programs *programs)
{
    if (!programs) return;
    for (int i = 0; i < 16; i++) yoke_program_destroy(programs->list[i / 8][i / 4 % 2][i / 2 % 2][i % 2].program);
    yoke_release(programs->context, programs);
}

static yoke_status compile(fem_programs *programs, fem_precision precision, int slots_1d, int components, int atomic, device_program *made)
{
    char options[80];
    snprintf(options, sizeof options, "-DFEM_N=%d -DFEM_C=%d -DFEM_REAL=%s%s", slots_1d, components,
             precision == FEM_DOUBLE ? "double" : "float", atomic ? " -DFEM_ATOMIC" : "");
    yoke_program_source source = {.name = "fem subdomain",
                                  .texts = texts,
                                  .num_texts = NUM_TEXTS,
                                  .options = options,
                                  .host_kernels = host_kernels[precision][slots_1d == 3][components == 3],
                                  .num_host_kernels = FEM_SUBDOMAIN_NUM_KERNELS};
    yoke_status status = yoke_program_create(programs->device, &source, &made->program);
    if (status == YOKE_ERROR_INPUT) { /* the kernels are correct, so the device cannot be used */
        char text[1024];
        snprintf(text, sizeof text, "%s", yoke_last_error(programs->context));
        return yoke_fail(programs->context, YOKE_ERROR_DEVICE, "%s", text);
    }
    for (int k = 0; k < FEM_SUBDOMAIN_NUM_KERNELS && !status; k++)
        status = yoke_program_function(made->program, source.host_kernels[k].name, &made->function[k]);
    return status;
}

yoke_status device_programs_get(fem_programs *programs, fem_precision precision, int slots_1d, int components, int atomic,
                                device_program **out)
{
    device_program *kept = &programs->list[precision][slots_1d == 3][components == 3][atomic];
    if (!kept->program) {
        device_program made = {0};
        yoke_status status = compile(programs, precision, slots_1d, components, atomic, &made);
        if (status) {
            yoke_program_destroy(made.program);
            return status;
        }
        *kept = made;
    }
    *out = kept;
    return YOKE_OK;
}
