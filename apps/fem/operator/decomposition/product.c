/* product.c - products, and the operations of the preconditioners. */
#include "operator/decomposition/private.h"

/*
 * Devices with queues of their own compute interior elements while the interface values are transferred.  The calling thread's device does
 * so in the meantime; on several ranks, while values of other ranks are under way.
 */
static void shared_product(fem_decomposition *decomposition, const fem_vector *x, fem_vector *y)
{
    FOR_WORKING_SUBDOMAINS (decomposition, i) {
        fem_subdomain *subdomain = decomposition->subdomains[i].local;
        subdomain->call->product_interface(subdomain, x->data[i], y->data[i]);
        subdomain->call->interface_read(subdomain, y->data[i]);
        if (!decomposition->devices->list[decomposition->subdomains[i].device].inlined)
            subdomain->call->product_interior(subdomain, x->data[i], y->data[i]);
    }
    FOR_WORKING_SUBDOMAINS (decomposition, i) decomposition->subdomains[i].local->call->interface_wait(decomposition->subdomains[i].local);
    decomposition_begin_sums(decomposition, 0, decomposition->space->components);
    if (!decomposition->halo) decomposition_end_sums(decomposition, decomposition->space->components);
    FOR_WORKING_SUBDOMAINS (decomposition, i) {
        fem_subdomain *subdomain = decomposition->subdomains[i].local;
        if (decomposition->devices->list[decomposition->subdomains[i].device].inlined)
            subdomain->call->product_interior(subdomain, x->data[i], y->data[i]);
        if (!decomposition->halo) subdomain->call->interface_write(subdomain, y->data[i]);
    }
    if (!decomposition->halo) return;
    decomposition_end_sums(decomposition, decomposition->space->components);
    FOR_WORKING_SUBDOMAINS (decomposition, i)
        decomposition->subdomains[i].local->call->interface_write(decomposition->subdomains[i].local, y->data[i]);
}

void fem_decomposition_product(fem_decomposition *decomposition, int masked, const fem_vector *x, fem_vector *y)
{
    if (decomposition->num_working > 1 || decomposition->halo) {
        shared_product(decomposition, x, y);
    } else {
        int i = decomposition->working[0];
        fem_subdomain *subdomain = decomposition->subdomains[i].local;
        subdomain->call->product_interface(subdomain, x->data[i], y->data[i]);
        subdomain->call->product_interior(subdomain, x->data[i], y->data[i]);
    }
    if (masked) fem_vector_mask(y);
    decomposition->products++;
}

void fem_decomposition_block_solve(fem_decomposition *decomposition, const fem_vector *r, fem_vector *z)
{
    FOR_WORKING_SUBDOMAINS (decomposition, i) {
        fem_subdomain *subdomain = decomposition->subdomains[i].local;
        subdomain->call->block_solve(subdomain, r->data[i], z->data[i]);
    }
}

void fem_decomposition_chebyshev_step(fem_decomposition *decomposition, double a, double c, const fem_vector *b, const fem_vector *t,
                                      fem_vector *d, fem_vector *x)
{
    FOR_WORKING_SUBDOMAINS (decomposition, i) {
        fem_subdomain *subdomain = decomposition->subdomains[i].local;
        subdomain->call->chebyshev_step(subdomain, a, c, b->data[i], t ? t->data[i] : NULL, d->data[i], x->data[i]);
    }
}
