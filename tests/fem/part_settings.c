#include "part_settings.h"

#include <omp.h>

#include "unit.h"

#include "body.h"

int part_settings(part_setting list[PART_MOST_SETTINGS])
{
    const fem_kernels *kernels[FEM_MOST_KERNELS];
    int tables = fem_kernels_list(kernels), count = 0;
    for (int k = 0; k < tables; k++)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++)
            for (int stored = FEM_MATRIXFREE; stored <= FEM_STORED; stored++)
                for (int threads = 1; threads <= 3; threads++) {
                    part_setting *s = &list[count++];
                    s->options = (fem_part_options){.precision = precision, .operator_kind = stored, .kernels = kernels[k]};
                    s->threads = threads;
                    snprintf(s->text, sizeof s->text, "%s, %s, %s, %d threads", kernels[k]->instruction_set,
                             precision == FEM_DOUBLE ? "double" : "single", stored == FEM_STORED ? "stored" : "matrixfree", threads);
                }
    return count;
}

fem_part *part_make(const block *b, int threads, const fem_part_options *options)
{
    fem_part *part;
    omp_set_num_threads(threads);
    yoke_status status = fem_part_cpu_create(b->space, b->constraints, options, &part);
    if (status) fail_msg("%s", yoke_last_error(b->context));
    part->call->diagonal(part);
    part_exchange_alone(part, b->problem.components == 3 ? 6 : 1);
    part->call->diagonal_finish(part);
    return part;
}

int64_t part_dofs(const block *b) { return (int64_t)b->space->num_nodes * b->problem.components; }

void part_exchange_alone(fem_part *part, int width)
{
    size_t real = part->precision == FEM_DOUBLE ? sizeof(double) : sizeof(float);
    if (part->num_interface) memcpy(part->interface_total, part->interface_own, (size_t)part->num_interface * (size_t)width * real);
}

void part_multiply(fem_part *part, int masked, const double *u, double *y)
{
    fem_part_vector *in, *out;
    assert_int_equal(part->call->vector_create(part, &in), YOKE_OK);
    assert_int_equal(part->call->vector_create(part, &out), YOKE_OK);
    part->call->write(part, in, u);
    part->call->product_interface(part, in, out);
    part->call->interface_read(part, out);
    part->call->product_interior(part, in, out);
    part->call->interface_wait(part);
    part_exchange_alone(part, part->space->components);
    part->call->interface_write(part, out);
    if (masked) part->call->mask(part, out);
    part->call->read_wait(part, out, y);
    part->call->vector_destroy(part, in);
    part->call->vector_destroy(part, out);
}

void part_create_hanging(block *b, int components)
{
    uint64_t random = 61;
    block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = components};
    block_create(&options, b);
    block_two_materials(b, 7);
    block_refine(b, 0.6, &random);
    block_refine(b, 0.3, &random);
    assert_true(fem_forest_leaves(b->forest) > 2 * 64 && fem_forest_leaves(b->forest) < 500);
}

double part_dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}
