#include "share/program.h"

yoke_status dense_program_create(yoke_device *device, const dense_program *of, int which, yoke_program **program, yoke_function **function)
{
    const yoke_program_source source = {.name = of->name,
                                        .texts = &of->text,
                                        .num_texts = 1,
                                        .options = of->options[which],
                                        .host_kernels = of->kernels,
                                        .num_host_kernels = of->kernels[1].name ? 2 : 1};
    yoke_status status = yoke_program_create(device, &source, program);
    return status ? status : yoke_program_function(*program, of->kernels[which].name, function);
}
