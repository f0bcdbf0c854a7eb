#include "subdomain_settings.h"

#include <omp.h>

#include "unit.h"

#include "body.h"

int subdomain_settings(subdomain_setting list[SUBDOMAIN_MAX_SETTINGS])
{
    const fem_kernels *kernels[FEM_MAX_KERNELS];
    int tables = fem_kernels_list(kernels), count = 0;
    for (int k = 0; k < tables; k++)
        for (int precision = FEM_DOUBLE; precision <= FEM_SINGLE; precision++)
            for (int stored = FEM_MATRIXFREE; stored <= FEM_STORED; stored++)
                for (int threads = 1; threads <= 3; threads++) {
                    subdomain_setting *s = &list[count++];
                    s->options = (fem_subdomain_options){.precision = precision, .operator_kind = stored, .kernels = kernels[k]};
                    s->threads = threads;
                    snprintf(s->text, sizeof s->text, "%s, %s, %s, %d threads", kernels[k]->instruction_set,
                             precision == FEM_DOUBLE ? "double" : "single", stored == FEM_STORED ? "stored" : "matrixfree", threads);
                }
    return count;
}

fem_subdomain *subdomain_make(const block *b, int threads, const fem_subdomain_options *options)
{
    fem_subdomain *subdomain;
    omp_set_num_threads(threads);
    yoke_status status = fem_subdomain_cpu_create(b->space, b->constraints, options, &subdomain);
    if (status) fail_msg("%s", yoke_last_error(b->context));
    subdomain->call->diagonal(subdomain);
    subdomain_exchange_alone(subdomain, b->problem.components == 3 ? 6 : 1);
    subdomain->call->diagonal_finish(subdomain);
    return subdomain;
}

int64_t subdomain_dofs(const block *b) { return (int64_t)b->space->num_nodes * b->problem.components; }

void subdomain_exchange_alone(fem_subdomain *subdomain, int width)
{
    size_t real = subdomain->precision == FEM_DOUBLE ? sizeof(double) : sizeof(float);
    if (subdomain->num_interface)
        memcpy(subdomain->interface_total, subdomain->interface_own, (size_t)subdomain->num_interface * (size_t)width * real);
}

void subdomain_multiply(fem_subdomain *subdomain, int masked, const double *u, double *y)
{
    fem_subdomain_vector *in, *out;
    assert_int_equal(subdomain->call->vector_create(subdomain, &in), YOKE_OK);
    assert_int_equal(subdomain->call->vector_create(subdomain, &out), YOKE_OK);
    subdomain->call->write(subdomain, in, u);
    subdomain->call->product_interface(subdomain, in, out);
    subdomain->call->interface_read(subdomain, out);
    subdomain->call->product_interior(subdomain, in, out);
    subdomain->call->interface_wait(subdomain);
    subdomain_exchange_alone(subdomain, subdomain->space->components);
    subdomain->call->interface_write(subdomain, out);
    if (masked) subdomain->call->mask(subdomain, out);
    subdomain->call->read_wait(subdomain, out, y);
    subdomain->call->vector_destroy(subdomain, in);
    subdomain->call->vector_destroy(subdomain, out);
}

void subdomain_create_hanging(block *b, int components)
{
    uint64_t random = 61;
    block_options options = {.elements = {2, 2, 2}, .map = body_bend, .order = 2, .turn = 5, .components = components};
    block_create(&options, b);
    block_two_materials(b, 7);
    block_refine(b, 0.6, &random);
    block_refine(b, 0.3, &random);
    assert_true(fem_forest_leaves(b->forest) > 2 * 64 && fem_forest_leaves(b->forest) < 500);
}

double subdomain_dot(const double *a, const double *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}
