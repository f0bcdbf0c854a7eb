/* interface.c - the nodes that subdomains share, and the sums over subdomains at these nodes. */
#include "operator/decomposition/private.h"

#include "common/machine/precision.h"

enum { MANY_VALUES = 20000 }; /* from this number on, several threads are worth starting */

#define REAL double
#include "operator/decomposition/sums.h"
#undef REAL
#define REAL float
#include "operator/decomposition/sums.h"
#undef REAL

/* Calls the instance for the decomposition's precision. */
#define BY_PRECISION(decomposition, operation, ...) \
    ((decomposition)->precision == FEM_DOUBLE ? operation##_double(__VA_ARGS__) : operation##_float(__VA_ARGS__))

void decomposition_local_numbers(const fem_decomposition *decomposition, const decomposition_subdomain *subdomain, int32_t *local)
{
    if (!subdomain->subspace) {
        for (int32_t i = 0; i < decomposition->space->num_nodes; i++) local[i] = i;
        return;
    }
    for (int32_t i = 0; i < decomposition->space->num_nodes; i++) local[i] = -1;
    for (int32_t i = 0; i < subdomain->space->num_nodes; i++) local[subdomain->subspace->global_node[i]] = i;
}

/* ----------------------------------------------------------------------------------- owners and interface nodes */

static int32_t global_node(const decomposition_subdomain *subdomain, int32_t local)
{
    return subdomain->subspace ? subdomain->subspace->global_node[local] : local;
}

/*
 * Finds the owner of each node: the first subdomain whose elements touch it, on the rank where it counts.  Sets `owned` of each subdomain;
 * taken [num_nodes] must be all zero before.
 */
static yoke_status find_owners(fem_decomposition *decomposition, uint8_t *taken)
{
    for (int i = 0; i < decomposition->num_subdomains; i++) {
        decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        yoke_status status = yoke_allocate(decomposition->context, subdomain->space->num_nodes, 1, &subdomain->owned);
        if (status) return status;
        int32_t touched = subdomain->subspace ? subdomain->subspace->num_touched : subdomain->space->num_nodes;
        for (int32_t n = 0; n < touched; n++) {
            uint8_t *by = &taken[global_node(subdomain, n)];
            subdomain->owned[n] = !*by && (!decomposition->halo || fem_space_counts(decomposition->space, global_node(subdomain, n)));
            *by = 1;
        }
    }
    return YOKE_OK;
}

/* index [num_nodes]: position of an interface node in the totals; -1 for other nodes. */
static void number_interface(fem_decomposition *decomposition, int32_t *index)
{
    for (int32_t n = 0; n < decomposition->space->num_nodes; n++) index[n] = 0;
    for (int i = 0; i < decomposition->num_subdomains; i++)
        for (int32_t n = 0; n < decomposition->subdomains[i].space->num_nodes; n++) index[global_node(&decomposition->subdomains[i], n)]++;
    for (int32_t s = 0; decomposition->halo && s < decomposition->halo->num_shared; s++) index[decomposition->halo->shared[s]] = 2;
    decomposition->num_interface = 0;
    for (int32_t n = 0; n < decomposition->space->num_nodes; n++) index[n] = index[n] > 1 ? decomposition->num_interface++ : -1;
}

static yoke_status list_interface(fem_decomposition *decomposition, decomposition_subdomain *subdomain, const int32_t *index)
{
    int32_t count = 0;
    for (int32_t n = 0; n < subdomain->space->num_nodes; n++) count += index[global_node(subdomain, n)] >= 0;
    yoke_status status = yoke_allocate_untouched(decomposition->context, count, sizeof(int32_t), &subdomain->interface_nodes);
    if (!status) status = yoke_allocate_untouched(decomposition->context, count, sizeof(int32_t), &subdomain->interface_index);
    if (status) return status;
    for (int32_t n = 0; n < subdomain->space->num_nodes; n++) {
        int32_t place = index[global_node(subdomain, n)];
        if (place < 0) continue;
        subdomain->interface_nodes[subdomain->num_interface] = n;
        subdomain->interface_index[subdomain->num_interface++] = place;
    }
    return YOKE_OK;
}

/* Finds the positions of the values that are sent to other ranks. */
static yoke_status prepare_messages(fem_decomposition *decomposition, const int32_t *index)
{
    enum { MOST_VALUES = 6 };
    const fem_halo *halo = decomposition->halo;
    if (!halo) return YOKE_OK;
    yoke_status status = yoke_allocate(decomposition->context, halo->num_shared, sizeof(int32_t), &decomposition->shared_place);
    for (int32_t s = 0; s < halo->num_shared && !status; s++) decomposition->shared_place[s] = index[halo->shared[s]];
    return status ? status : fem_halo_messages_create(halo, MOST_VALUES * (int)sizeof(double), &decomposition->messages);
}

yoke_status decomposition_find_interface(fem_decomposition *decomposition)
{
    if (!decomposition_is_shared(decomposition)) return YOKE_OK;
    uint8_t *taken = NULL;
    int32_t *index = NULL;
    int64_t nodes = decomposition->space->num_nodes;
    yoke_status status = yoke_allocate(decomposition->context, nodes, 1, &taken);
    if (!status) status = yoke_allocate_untouched(decomposition->context, nodes, sizeof(int32_t), &index);
    if (!status) status = find_owners(decomposition, taken);
    if (!status) number_interface(decomposition, index);
    for (int i = 0; i < decomposition->num_subdomains && !status; i++)
        status = list_interface(decomposition, &decomposition->subdomains[i], index);
    if (!status) status = prepare_messages(decomposition, index);
    yoke_release(decomposition->context, taken);
    yoke_release(decomposition->context, index);
    int width = decomposition->space->components == 3 ? 6 : 1;
    size_t real = decomposition->precision == FEM_DOUBLE ? sizeof(double) : sizeof(float);
    return status ? status
                  : yoke_allocate(decomposition->context, (int64_t)decomposition->num_interface * width, real, &decomposition->totals);
}

/* -------------------------------------------------------------------------------------------------------- sums */

static int value_bytes(const fem_decomposition *decomposition)
{
    return decomposition->precision == FEM_DOUBLE ? (int)sizeof(double) : (int)sizeof(float);
}

void decomposition_begin_sums(fem_decomposition *decomposition, int halo_only, int width)
{
    BY_PRECISION(decomposition, clear, (int64_t)decomposition->num_interface * width, decomposition->totals);
    for (int i = 0; i < decomposition->num_subdomains; i++) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        if (halo_only || !subdomain->halo_only)
            BY_PRECISION(decomposition, add, subdomain, width, subdomain->local->interface_own, decomposition->totals);
    }
    if (decomposition->halo)
        fem_halo_begin(decomposition->messages, value_bytes(decomposition), width, decomposition->totals, decomposition->shared_place);
}

void decomposition_end_sums(fem_decomposition *decomposition, int width)
{
    if (decomposition->halo) fem_halo_end_sum(decomposition->messages, decomposition->totals, decomposition->shared_place);
    for (int i = 0; i < decomposition->num_subdomains; i++) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        if (!subdomain->halo_only)
            BY_PRECISION(decomposition, tell, subdomain, width, decomposition->totals, subdomain->local->interface_total);
    }
}

void decomposition_add_interface(fem_decomposition *decomposition, int halo_only, int width)
{
    decomposition_begin_sums(decomposition, halo_only, width);
    decomposition_end_sums(decomposition, width);
}

void decomposition_choose_interface(fem_decomposition *decomposition, int halo_only, int width)
{
    for (int i = decomposition->num_subdomains - 1; i >= 0; i--) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        if (!subdomain->halo_only)
            BY_PRECISION(decomposition, set, subdomain, width, subdomain->local->interface_own, decomposition->totals);
    }
    if (decomposition->halo && !halo_only) {
        fem_halo_begin(decomposition->messages, value_bytes(decomposition), width, decomposition->totals, decomposition->shared_place);
        fem_halo_end_agree(decomposition->messages, decomposition->totals, decomposition->shared_place);
    }
    for (int i = 0; i < decomposition->num_subdomains; i++) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        if (subdomain->halo_only == halo_only)
            BY_PRECISION(decomposition, tell, subdomain, width, decomposition->totals, subdomain->local->interface_total);
    }
}
