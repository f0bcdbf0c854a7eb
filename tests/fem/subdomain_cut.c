#include "subdomain_cut.h"

#include <math.h>

#include <omp.h>

#include "unit.h"

#include "reference_operator.h"

static size_t real_size(const fem_subdomain *subdomain) { return subdomain->precision == FEM_DOUBLE ? sizeof(double) : sizeof(float); }

/* ---------------------------------------------------------------------------------------------------------- cut */

static void cut_elements(subdomain_cut *cut, int i, int32_t begin, int32_t end, int everywhere)
{
    const fem_space *space = cut->b->space;
    int32_t *more = block_zeros(space->num_nodes, sizeof *more);
    int64_t num_more = 0;
    for (int32_t node = everywhere ? 0 : i; node < space->num_nodes; node += everywhere ? 1 : 9) more[num_more++] = node;
    yoke_status status = fem_subspace_create(space, cut->b->constraints, begin, end, num_more, more, &cut->sub[i]);
    if (status) fail_msg("%s", yoke_last_error(cut->b->context));
    free(more);
}

static void find_interface(subdomain_cut *cut, int i, uint8_t *taken)
{
    const fem_subspace *sub = cut->sub[i];
    cut->interface_nodes[i] = block_zeros(sub->space->num_nodes, sizeof(int32_t));
    cut->owned[i] = block_zeros(sub->space->num_nodes, 1);
    for (int32_t node = 0; node < sub->space->num_nodes; node++) {
        int32_t global = sub->global_node[node];
        if (cut->found[global] > 1) cut->interface_nodes[i][cut->num_interface[i]++] = node;
        cut->owned[i][node] = !taken[global];
        taken[global] = 1;
    }
}

void subdomain_cut_create(subdomain_cut *cut, const block *b, int count, const int32_t *at, int everywhere)
{
    memset(cut, 0, sizeof *cut);
    cut->b = b;
    cut->count = count;
    cut->found = block_zeros(b->space->num_nodes, sizeof *cut->found);
    uint8_t *taken = block_zeros(b->space->num_nodes, 1);
    int32_t elements = b->space->num_elements, end = 0;
    for (int i = 0; i < count; i++) {
        int32_t begin = end;
        end = i == count - 1 ? elements : at ? at[i] : elements * (i + 1) / count;
        cut_elements(cut, i, begin, end, everywhere);
        for (int32_t node = 0; node < cut->sub[i]->space->num_nodes; node++) cut->found[cut->sub[i]->global_node[node]]++;
    }
    for (int i = 0; i < count; i++) find_interface(cut, i, taken);
    free(taken);
}

void subdomain_cut_destroy(subdomain_cut *cut)
{
    for (int i = 0; i < cut->count; i++) {
        if (cut->subdomain[i]) cut->subdomain[i]->call->destroy(cut->subdomain[i]);
        fem_subspace_destroy(cut->sub[i]);
        free(cut->interface_nodes[i]);
        free(cut->owned[i]);
    }
    free(cut->found);
}

/* -------------------------------------------------------------------------------------------------------- subdomains */

void subdomain_cut_make(subdomain_cut *cut, subdomain_create_function *create, const fem_subdomain_options *options)
{
    for (int i = 0; i < cut->count; i++) {
        fem_subdomain_options own = *options;
        own.num_interface = cut->num_interface[i];
        own.interface_nodes = cut->interface_nodes[i];
        own.owned = cut->owned[i];
        omp_set_num_threads(i % 3 + 1);
        yoke_status status = create(cut->sub[i]->space, cut->sub[i]->constraints, &own, &cut->subdomain[i]);
        if (status) fail_msg("%s", yoke_last_error(cut->b->context));
        cut->subdomain[i]->call->diagonal(cut->subdomain[i]);
    }
    subdomain_cut_exchange(cut, cut->b->problem.components == 3 ? 6 : 1);
    for (int i = 0; i < cut->count; i++) cut->subdomain[i]->call->diagonal_finish(cut->subdomain[i]);
}

static double value(const fem_subdomain *subdomain, const void *values, int64_t i)
{
    return subdomain->precision == FEM_DOUBLE ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

void subdomain_cut_exchange(subdomain_cut *cut, int width)
{
    double *total = block_zeros((int64_t)cut->b->space->num_nodes * width, sizeof *total);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < cut->count; i++) {
            fem_subdomain *subdomain = cut->subdomain[i];
            for (int64_t k = 0; k < (int64_t)subdomain->num_interface * width; k++) {
                double *sum = &total[(int64_t)cut->sub[i]->global_node[subdomain->interface_nodes[k / width]] * width + k % width];
                if (!pass)
                    *sum += value(subdomain, subdomain->interface_own, k);
                else if (subdomain->precision == FEM_DOUBLE)
                    ((double *)subdomain->interface_total)[k] = *sum;
                else
                    ((float *)subdomain->interface_total)[k] = (float)*sum;
            }
            if (!pass && subdomain->num_interface)
                memset(subdomain->interface_own, 0xFF, (size_t)subdomain->num_interface * real_size(subdomain)); /* NaNs */
        }
    free(total);
}

/* ------------------------------------------------------------------------------------------------------ vectors */

void subdomain_cut_vector_create(subdomain_cut *cut, const double *from, subdomain_cut_vector *v)
{
    int n = cut->b->problem.components;
    for (int i = 0; i < cut->count; i++) {
        fem_subdomain *subdomain = cut->subdomain[i];
        double *own = block_zeros(subdomain->dofs, sizeof *own);
        for (int64_t k = 0; k < subdomain->dofs; k++) own[k] = from[(int64_t)cut->sub[i]->global_node[k / n] * n + k % n];
        if (subdomain->call->vector_create(subdomain, &v->on[i])) fail_msg("%s", yoke_last_error(cut->b->context));
        subdomain->call->write(subdomain, v->on[i], own);
        free(own);
    }
}

void subdomain_cut_vector_destroy(subdomain_cut *cut, subdomain_cut_vector *v)
{
    for (int i = 0; i < cut->count; i++) cut->subdomain[i]->call->vector_destroy(cut->subdomain[i], v->on[i]);
}

void subdomain_cut_read(subdomain_cut *cut, const subdomain_cut_vector *v, double *to)
{
    int n = cut->b->problem.components;
    for (int i = 0; i < cut->count; i++) {
        fem_subdomain *subdomain = cut->subdomain[i];
        double *own = block_zeros(subdomain->dofs, sizeof *own);
        subdomain->call->read_wait(subdomain, v->on[i], own);
        for (int64_t k = 0; k < subdomain->dofs; k++) {
            int64_t at = (int64_t)cut->sub[i]->global_node[k / n] * n + k % n;
            if (cut->owned[i][k / n])
                to[at] = own[k];
            else if (!(to[at] == own[k]))
                fail_msg("node %d, component %d: %.17g in subdomain %d, %.17g before", (int)(at / n), (int)(at % n), own[k], i, to[at]);
        }
        assert_int_equal(subdomain->status, YOKE_OK);
        free(own);
    }
}

/* ----------------------------------------------------------------------------------------------------- products */

static double largest(const double *values, int64_t count)
{
    double result = 0;
    for (int64_t i = 0; i < count; i++) result = fmax(result, fabs(values[i]));
    return result;
}

/* The product of a subdomain's own elements, plainly. */
static double *own_product(const subdomain_cut *cut, int i, const double *u)
{
    const fem_space *space = cut->sub[i]->space;
    int n = space->components;
    double *x = block_zeros((int64_t)space->num_nodes * n, sizeof *x), *y = block_zeros((int64_t)space->num_nodes * n, sizeof *y);
    for (int64_t k = 0; k < (int64_t)space->num_nodes * n; k++) x[k] = u[(int64_t)cut->sub[i]->global_node[k / n] * n + k % n];
    reference_product(space, x, y);
    free(x);
    return y;
}

/* What product_interface promises: the subdomain's own sums at interface nodes, before the other elements are done. */
static void assert_interface_sums(const subdomain_cut *cut, int i, const double *own, double near)
{
    const fem_subdomain *subdomain = cut->subdomain[i];
    int n = subdomain->space->components;
    for (int64_t k = 0; k < (int64_t)subdomain->num_interface * n; k++) {
        double expected = own[(int64_t)subdomain->interface_nodes[k / n] * n + k % n];
        double got = subdomain->precision == FEM_DOUBLE ? ((const double *)subdomain->interface_own)[k]
                                                        : ((const float *)subdomain->interface_own)[k];
        if (!(fabs(got - expected) <= near))
            fail_msg("subdomain %d: %.17g at the interface, expected %.17g within %g", i, got, expected, near);
    }
}

void subdomain_cut_assert_product(subdomain_cut *cut, double near, const double *u, const double *expected)
{
    int64_t dofs = (int64_t)cut->b->space->num_nodes * cut->b->problem.components;
    double scale = largest(expected, dofs), *y = block_zeros(dofs, sizeof *y), *garbage = block_zeros(dofs, sizeof *garbage);
    subdomain_cut_vector in, out;
    for (int64_t i = 0; i < dofs; i++) garbage[i] = (double)NAN; /* y is set, not added to */
    subdomain_cut_vector_create(cut, u, &in);
    subdomain_cut_vector_create(cut, garbage, &out);
    for (int i = 0; i < cut->count; i++) {
        fem_subdomain *subdomain = cut->subdomain[i];
        double *own = own_product(cut, i, u), *got = block_zeros(subdomain->dofs, sizeof *got);
        subdomain->call->product_interface(subdomain, in.on[i], out.on[i]);
        subdomain->call->interface_read(subdomain, out.on[i]);
        subdomain->call->interface_wait(subdomain);
        assert_interface_sums(cut, i, own, near * scale);
        subdomain->call->product_interior(subdomain, in.on[i], out.on[i]);
        subdomain->call->read_wait(subdomain, out.on[i], got);
        for (int64_t k = 0; k < subdomain->dofs; k++) assert_true(fabs(got[k] - own[k]) <= near * scale);
        free(got);
        free(own);
    }
    subdomain_cut_exchange(cut, cut->b->problem.components);
    for (int i = 0; i < cut->count; i++) cut->subdomain[i]->call->interface_write(cut->subdomain[i], out.on[i]);
    subdomain_cut_read(cut, &out, y);
    assert_true(block_difference(y, expected, dofs) <= near);
    subdomain_cut_vector_destroy(cut, &in);
    subdomain_cut_vector_destroy(cut, &out);
    free(garbage);
    free(y);
}
