/* vector.c - vectors that are distributed over the subdomains. */
#include <math.h>

#include "operator/decomposition/private.h"

yoke_status fem_vector_create(fem_decomposition *decomposition, fem_vector **out)
{
    fem_vector *vector;
    yoke_status status = yoke_allocate(decomposition->context, 1, sizeof *vector, &vector);
    if (status) return status;
    vector->decomposition = decomposition;
    for (int i = 0; i < decomposition->num_subdomains && !status; i++) {
        fem_subdomain *subdomain = decomposition->subdomains[i].local;
        status = subdomain->call->vector_create(subdomain, &vector->data[i]);
        if (status) status = decomposition_mark_failure(decomposition, decomposition->subdomains[i].device, status);
    }
    if (status)
        fem_vector_destroy(vector);
    else
        *out = vector;
    return status;
}

void fem_vector_destroy(fem_vector *vector)
{
    if (!vector) return;
    fem_decomposition *decomposition = vector->decomposition;
    for (int i = 0; i < decomposition->num_subdomains; i++)
        if (vector->data[i]) decomposition->subdomains[i].local->call->vector_destroy(decomposition->subdomains[i].local, vector->data[i]);
    yoke_release(decomposition->context, vector);
}

/* ------------------------------------------------------------------------------------------- to and from the host */

void fem_vector_write(fem_vector *to, const double *from)
{
    fem_decomposition *decomposition = to->decomposition;
    int n = decomposition->space->components;
    FOR_WORKING_SUBDOMAINS (decomposition, i) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        if (subdomain->subspace) {
            const int32_t *global = subdomain->subspace->global_node;
#pragma omp parallel for schedule(static)
            for (int32_t k = 0; k < subdomain->space->num_nodes; k++)
                for (int c = 0; c < n; c++) decomposition->scratch[(int64_t)k * n + c] = from[(int64_t)global[k] * n + c];
        }
        subdomain->local->call->write(subdomain->local, to->data[i], subdomain->subspace ? decomposition->scratch : from);
    }
}

/*
 * On several ranks, a node that counts on another rank has no owner here.  Subdomains are read from last to first, so that the first one
 * with the node sets its value.
 */
static void read_last_first(const fem_vector *from, double *to)
{
    const fem_decomposition *decomposition = from->decomposition;
    const int n = decomposition->space->components;
    for (int i = decomposition->num_subdomains - 1; i >= 0; i--) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        if (subdomain->halo_only) continue;
        const int32_t *global = subdomain->subspace->global_node;
        subdomain->local->call->read_wait(subdomain->local, from->data[i], decomposition->scratch);
#pragma omp parallel for schedule(static)
        for (int32_t k = 0; k < subdomain->space->num_nodes; k++)
            for (int c = 0; c < n; c++) to[(int64_t)global[k] * n + c] = decomposition->scratch[(int64_t)k * n + c];
    }
}

void fem_vector_read(const fem_vector *from, double *to)
{
    const fem_decomposition *decomposition = from->decomposition;
    int n = decomposition->space->components;
    if (decomposition->halo && decomposition->num_working > 1) { /* a single subdomain has the whole space and no subspace */
        read_last_first(from, to);
        return;
    }
    FOR_WORKING_SUBDOMAINS (decomposition, i) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        subdomain->local->call->read_wait(subdomain->local, from->data[i], subdomain->subspace ? decomposition->scratch : to);
        if (!subdomain->subspace) continue;
        const int32_t *global = subdomain->subspace->global_node;
#pragma omp parallel for schedule(static)
        for (int32_t k = 0; k < subdomain->space->num_nodes; k++)
            if (subdomain->owned[k])
                for (int c = 0; c < n; c++) to[(int64_t)global[k] * n + c] = decomposition->scratch[(int64_t)k * n + c];
    }
}

/* ------------------------------------------------------------------------------------- operations in each subdomain */

void fem_vector_zero(fem_vector *x)
{
    FOR_WORKING_SUBDOMAINS (x->decomposition, i) {
        fem_subdomain *subdomain = x->decomposition->subdomains[i].local;
        subdomain->call->zero(subdomain, x->data[i]);
    }
}

void fem_vector_copy_scaled(double alpha, const fem_vector *from, fem_vector *to)
{
    FOR_WORKING_SUBDOMAINS (to->decomposition, i) {
        fem_subdomain *subdomain = to->decomposition->subdomains[i].local;
        subdomain->call->copy_scaled(subdomain, alpha, from->decomposition->subdomains[i].local, from->data[i], to->data[i]);
    }
}

void fem_vector_axpy(double alpha, const fem_vector *x, fem_vector *y)
{
    FOR_WORKING_SUBDOMAINS (y->decomposition, i) {
        fem_subdomain *subdomain = y->decomposition->subdomains[i].local;
        subdomain->call->axpy(subdomain, alpha, x->data[i], y->data[i]);
    }
}

void fem_vector_xpby(const fem_vector *x, double beta, fem_vector *y)
{
    FOR_WORKING_SUBDOMAINS (y->decomposition, i) {
        fem_subdomain *subdomain = y->decomposition->subdomains[i].local;
        subdomain->call->xpby(subdomain, x->data[i], beta, y->data[i]);
    }
}

void fem_vector_subtract(const fem_vector *x, const fem_vector *y, fem_vector *z)
{
    FOR_WORKING_SUBDOMAINS (z->decomposition, i) {
        fem_subdomain *subdomain = z->decomposition->subdomains[i].local;
        subdomain->call->subtract(subdomain, x->data[i], y->data[i], z->data[i]);
    }
}

void fem_vector_advance(double alpha, const fem_vector *p, const fem_vector *q, fem_vector *x, fem_vector *r)
{
    FOR_WORKING_SUBDOMAINS (x->decomposition, i) {
        fem_subdomain *subdomain = x->decomposition->subdomains[i].local;
        subdomain->call->advance(subdomain, alpha, p->data[i], q->data[i], x->data[i], r->data[i]);
    }
}

void fem_vector_mask(fem_vector *x)
{
    FOR_WORKING_SUBDOMAINS (x->decomposition, i) {
        fem_subdomain *subdomain = x->decomposition->subdomains[i].local;
        subdomain->call->mask(subdomain, x->data[i]);
    }
}

/* -------------------------------------------------------------------------------------- exchange between subdomains */

void fem_vector_agree(fem_vector *x)
{
    fem_decomposition *decomposition = x->decomposition;
    if (decomposition->num_working == 1 && !decomposition->halo) return;
    FOR_WORKING_SUBDOMAINS (decomposition, i)
        decomposition->subdomains[i].local->call->interface_read(decomposition->subdomains[i].local, x->data[i]);
    FOR_WORKING_SUBDOMAINS (decomposition, i) decomposition->subdomains[i].local->call->interface_wait(decomposition->subdomains[i].local);
    decomposition_choose_interface(decomposition, 0, decomposition->space->components);
    FOR_WORKING_SUBDOMAINS (decomposition, i)
        decomposition->subdomains[i].local->call->interface_write(decomposition->subdomains[i].local, x->data[i]);
}

/* -------------------------------------------------------------------------------------------------------- sums */

void fem_vector_dots(int count, const fem_vector *const *x, const fem_vector *const *y, double *sums)
{
    const fem_decomposition *decomposition = x[0]->decomposition;
    for (int k = 0; k < count; k++) sums[k] = 0;
    FOR_WORKING_SUBDOMAINS (decomposition, i) {
        const fem_subdomain_vector *own_x[FEM_MAX_DOTS], *own_y[FEM_MAX_DOTS];
        for (int k = 0; k < count; k++) {
            own_x[k] = x[k]->data[i];
            own_y[k] = y[k]->data[i];
        }
        decomposition->subdomains[i].local->call->dots(decomposition->subdomains[i].local, count, own_x, own_y);
    }
    /* in the order of the subdomains' elements, whichever device finishes first */
    for (int i = 0; i < decomposition->num_subdomains; i++) {
        double own[FEM_MAX_DOTS];
        if (decomposition->subdomains[i].halo_only) continue;
        decomposition->subdomains[i].local->call->dots_wait(decomposition->subdomains[i].local, count, own);
        for (int k = 0; k < count; k++) sums[k] += own[k];
    }
    app_ranks_sum(decomposition->ranks, sums, count);
}

double fem_vector_dot(const fem_vector *x, const fem_vector *y)
{
    double sum;
    fem_vector_dots(1, &x, &y, &sum);
    return sum;
}
