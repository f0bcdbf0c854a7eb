#include "operator/decomposition/decomposition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "operator/decomposition/private.h"

/* --------------------------------------------------------------------------------------------------- failures */

yoke_status decomposition_mark_failure(fem_decomposition *decomposition, int device, yoke_status status)
{
    fem_device *d = &decomposition->devices->list[device];
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) {
        /* a lost device reports the cause at each call */
        if (status == YOKE_ERROR_DEVICE) (void)yoke_queue_finish(d->queue);
        snprintf(d->why, sizeof d->why, "%s", yoke_last_error(decomposition->context));
        d->failed = status == YOKE_ERROR_DEVICE;
        d->short_of_memory = status == YOKE_ERROR_DEVICE_MEMORY;
    }
    return yoke_fail(decomposition->context, status, "%s: %s", d->info->name, d->why);
}

int fem_decomposition_failed(const fem_decomposition *decomposition)
{
    for (int i = 0; i < decomposition->num_subdomains; i++)
        if (decomposition->subdomains[i].local->status) return 1;
    return 0;
}

yoke_status fem_decomposition_own_status(fem_decomposition *decomposition)
{
    yoke_status first = YOKE_OK;
    for (int i = 0; i < decomposition->num_subdomains; i++)
        decomposition->subdomains[i].local->call->finish(decomposition->subdomains[i].local);
    /* backwards, so that the error text on the context is that of the first failure */
    for (int i = decomposition->num_subdomains - 1; i >= 0; i--)
        if (decomposition->subdomains[i].local->status)
            first =
                decomposition_mark_failure(decomposition, decomposition->subdomains[i].device, decomposition->subdomains[i].local->status);
    return first;
}

yoke_status fem_decomposition_status(fem_decomposition *decomposition)
{
    return app_ranks_agree(decomposition->ranks, fem_decomposition_own_status(decomposition));
}

/* ----------------------------------------------------------------------------------------------------- set-up */

static yoke_status check_cut(const fem_decomposition *decomposition, const int32_t *cut)
{
    int count = decomposition->devices->count, right = cut[0] == 0 && cut[count] == decomposition->space->num_elements;
    for (int i = 0; i < count; i++) right = right && cut[i] <= cut[i + 1];
    if (right) return YOKE_OK;
    return yoke_fail(decomposition->context, YOKE_ERROR_ARGUMENT, "the cut does not give each of the %ld elements to one device",
                     (long)decomposition->space->num_elements);
}

static yoke_status add_all_nodes(fem_decomposition *decomposition, int64_t *count, int32_t **nodes)
{
    yoke_status status = yoke_allocate_untouched(decomposition->context, decomposition->space->num_nodes, sizeof(int32_t), nodes);
    *count = decomposition->space->num_nodes;
    for (int32_t n = 0; n < decomposition->space->num_nodes && !status; n++) (*nodes)[n] = n;
    return status;
}

/* Adds the subdomain of one device, if it has elements, or nodes that the finer level needs. */
static yoke_status add_subdomain(fem_decomposition *decomposition, const fem_decomposition_options *options, int device)
{
    int32_t begin = options->cut[device], end = options->cut[device + 1], *more = NULL;
    int64_t num_more = 0;
    yoke_status status = YOKE_OK;
    int whole = begin == 0 && end == decomposition->space->num_elements;
    if (!whole && options->finer) status = decomposition_needed_nodes(decomposition, options->to_finer, device, &num_more, &more);
    if (!status && !whole && decomposition->exchange == FEM_EXCHANGE_FULL && (begin < end || num_more)) {
        yoke_release(decomposition->context, more);
        more = NULL;
        status = add_all_nodes(decomposition, &num_more, &more);
    }
    if (!status && (begin < end || num_more)) {
        decomposition_subdomain *subdomain = &decomposition->subdomains[decomposition->num_subdomains];
        *subdomain = (decomposition_subdomain){
            .device = device, .begin = begin, .end = end, .halo_only = begin == end, .space = decomposition->space};
        decomposition->subdomain_of[device] = decomposition->num_subdomains++;
        if (!whole)
            status =
                fem_subspace_create(decomposition->space, decomposition->constraints, begin, end, num_more, more, &subdomain->subspace);
        if (!status && !whole) subdomain->space = subdomain->subspace->space;
    }
    yoke_release(decomposition->context, more);
    return status;
}

static yoke_status add_subdomains(fem_decomposition *decomposition, const fem_decomposition_options *options)
{
    yoke_status status = check_cut(decomposition, options->cut);
    for (int d = 0; d < decomposition->devices->count; d++) decomposition->subdomain_of[d] = -1;
    for (int d = 0; d < decomposition->devices->count && !status; d++) status = add_subdomain(decomposition, options, d);
    if (status) return status;
    int64_t largest = 0;
    for (int inlined = 0; inlined < 2; inlined++)
        for (int i = 0; i < decomposition->num_subdomains; i++) {
            const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
            if (subdomain->halo_only || decomposition->devices->list[subdomain->device].inlined != inlined) continue;
            decomposition->working[decomposition->num_working++] = i;
            if (subdomain->space->num_nodes > largest) largest = subdomain->space->num_nodes;
        }
    if (decomposition->num_subdomains == 1) return YOKE_OK;
    return yoke_allocate_untouched(decomposition->context, largest * decomposition->space->components, sizeof(double),
                                   &decomposition->scratch);
}

static yoke_status make_subdomain(fem_decomposition *decomposition, const fem_decomposition_options *options,
                                  decomposition_subdomain *subdomain)
{
    const fem_device *device = &decomposition->devices->list[subdomain->device];
    const fem_constraints *constraints = subdomain->subspace ? subdomain->subspace->constraints : decomposition->constraints;
    fem_subdomain_options subdomain_options = {.device = device->device,
                                               .queue = device->queue,
                                               .precision = options->precision,
                                               .operator_kind = options->operator_kind,
                                               .adding = options->adding,
                                               .num_interface = subdomain->num_interface,
                                               .interface_nodes = subdomain->interface_nodes,
                                               .owned = subdomain->owned,
                                               .kernels = options->kernels,
                                               .programs = device->programs,
                                               .unmeasured = options->unmeasured,
                                               .profile = {.run = decomposition->devices->profiled,
                                                           .device = subdomain->device,
                                                           .queue = device->queue,
                                                           .names = fem_kernel_names(options->level)}};
    yoke_status status = device->host_functions
                             ? fem_subdomain_cpu_create(subdomain->space, constraints, &subdomain_options, &subdomain->local)
                             : fem_subdomain_device_create(subdomain->space, constraints, &subdomain_options, &subdomain->local);
    return status ? decomposition_mark_failure(decomposition, subdomain->device, status) : YOKE_OK;
}

static yoke_status make_diagonal(fem_decomposition *decomposition)
{
    FOR_WORKING_SUBDOMAINS (decomposition, i) decomposition->subdomains[i].local->call->diagonal(decomposition->subdomains[i].local);
    if (decomposition_is_shared(decomposition))
        decomposition_add_interface(decomposition, 0, decomposition->space->components == 3 ? 6 : 1);
    FOR_WORKING_SUBDOMAINS (decomposition, i) decomposition->subdomains[i].local->call->diagonal_finish(decomposition->subdomains[i].local);
    return fem_decomposition_status(decomposition);
}

yoke_status fem_decomposition_create(const fem_space *space, const fem_constraints *constraints, const fem_decomposition_options *options,
                                     fem_decomposition **out)
{
    fem_decomposition *decomposition;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *decomposition, &decomposition);
    if (status) return options->alone ? status : app_ranks_agree(space->ranks, status);
    decomposition->context = space->context;
    decomposition->devices = options->devices;
    decomposition->space = space;
    decomposition->constraints = constraints;
    decomposition->precision = options->precision;
    decomposition->exchange = options->exchange;
    decomposition->finer = options->finer;
    decomposition->ranks = options->alone ? NULL : space->ranks;
    decomposition->halo = options->alone ? NULL : space->halo;
    status = add_subdomains(decomposition, options);
    if (!status) status = decomposition_find_interface(decomposition);
    for (int i = 0; i < decomposition->num_subdomains && !status; i++)
        status = make_subdomain(decomposition, options, &decomposition->subdomains[i]);
    status = app_ranks_agree(decomposition->ranks, status);
    if (!status) status = make_diagonal(decomposition);
    if (!status && options->finer)
        status = app_ranks_agree(decomposition->ranks, decomposition_make_rows(decomposition, options->to_finer));
    if (status)
        fem_decomposition_destroy(decomposition);
    else
        *out = decomposition;
    return status;
}

static void destroy_subdomain(fem_decomposition *decomposition, decomposition_subdomain *subdomain)
{
    fem_subdomain *p = subdomain->local;
    if (subdomain->from_coarse) {
        fem_subdomain *finer = decomposition->finer->subdomains[decomposition->finer->subdomain_of[subdomain->device]].local;
        finer->call->rows_destroy(finer, subdomain->from_coarse);
    }
    if (subdomain->to_coarse) p->call->rows_destroy(p, subdomain->to_coarse);
    if (p) p->call->destroy(p);
    yoke_release(decomposition->context, subdomain->owned);
    yoke_release(decomposition->context, subdomain->interface_nodes);
    yoke_release(decomposition->context, subdomain->interface_index);
    fem_subspace_destroy(subdomain->subspace);
}

void fem_decomposition_destroy(fem_decomposition *decomposition)
{
    if (!decomposition) return;
    for (int i = 0; i < decomposition->num_subdomains; i++) destroy_subdomain(decomposition, &decomposition->subdomains[i]);
    fem_halo_messages_destroy(decomposition->messages);
    yoke_release(decomposition->context, decomposition->shared_place);
    yoke_release(decomposition->context, decomposition->totals);
    yoke_release(decomposition->context, decomposition->scratch);
    yoke_release(decomposition->context, decomposition);
}

/* -------------------------------------------------------------------------------------------------- properties */

const fem_space *fem_decomposition_space(const fem_decomposition *decomposition) { return decomposition->space; }
int64_t fem_decomposition_products(const fem_decomposition *decomposition) { return decomposition->products; }

int64_t fem_decomposition_memory_bytes(const fem_decomposition *decomposition)
{
    int64_t bytes = 0;
    for (int i = 0; i < decomposition->num_subdomains; i++)
        bytes += decomposition->subdomains[i].local->call->memory_bytes(decomposition->subdomains[i].local);
    return bytes;
}

void fem_decomposition_add_sent(const fem_decomposition *decomposition, int64_t *messages, int64_t *bytes)
{
    *messages += decomposition->messages ? decomposition->messages->num_messages : 0;
    *bytes += decomposition->messages ? decomposition->messages->num_bytes : 0;
}

void fem_decomposition_get_share(fem_decomposition *decomposition, int device, fem_decomposition_share *share)
{
    *share = (fem_decomposition_share){.product_seconds = NAN, .setup_moved_s = NAN};
    if (decomposition->subdomain_of[device] < 0) return;
    const decomposition_subdomain *subdomain = &decomposition->subdomains[decomposition->subdomain_of[device]];
    int real = decomposition->precision == FEM_DOUBLE ? (int)sizeof(double) : (int)sizeof(float);
    share->setup_moved_s = subdomain->local->setup_moved_s;
    if (subdomain->halo_only) return;
    share->elements = subdomain->end - subdomain->begin;
    share->product_seconds = subdomain->local->call->product_seconds_wait(subdomain->local);
    share->interface_bytes = 2 * (int64_t)subdomain->num_interface * decomposition->space->components * real;
}
