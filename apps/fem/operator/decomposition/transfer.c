/*
 * transfer.c - transfers vectors between the subdomains of a decomposition and those of the next finer one: each subdomain has its own
 * rows, and one exchange follows.
 */
#include "operator/decomposition/private.h"

/* Returns the finer decomposition's subdomain on the device; NULL if it has none with elements there. */
static const decomposition_subdomain *finer_subdomain(const fem_decomposition *decomposition, int device)
{
    int number = decomposition->finer->subdomain_of[device];
    return number < 0 || decomposition->finer->subdomains[number].halo_only ? NULL : &decomposition->finer->subdomains[number];
}

/* ------------------------------------------------------------------------------------------------------ set-up */

yoke_status decomposition_needed_nodes(const fem_decomposition *decomposition, const fem_interpolation *to_finer, int device,
                                       int64_t *count, int32_t **nodes)
{
    const fem_rows *rows = &to_finer->to_fine;
    uint8_t *needed;
    *count = 0;
    const decomposition_subdomain *finer = finer_subdomain(decomposition, device);
    if (!finer) return YOKE_OK;
    yoke_status status = yoke_allocate(decomposition->context, decomposition->space->num_nodes, 1, &needed);
    if (status) return status;
    for (int32_t i = 0; i < finer->space->num_nodes; i++) {
        int32_t row = finer->subspace ? finer->subspace->global_node[i] : i;
        for (int64_t k = rows->start[row]; k < rows->start[row + 1]; k++) needed[rows->node[k]] = 1;
    }
    for (int32_t n = 0; n < decomposition->space->num_nodes; n++) *count += needed[n];
    status = yoke_allocate_untouched(decomposition->context, *count, sizeof(int32_t), nodes);
    if (!status) {
        int64_t at = 0;
        for (int32_t n = 0; n < decomposition->space->num_nodes; n++)
            if (needed[n]) (*nodes)[at++] = n;
    }
    yoke_release(decomposition->context, needed);
    return status;
}

/* Makes the rows of a subdomain: those of the space at its nodes, with the columns to which `column` gives a number (-1: left out). */
static yoke_status local_rows(yoke_context *context, const fem_rows *rows, const decomposition_subdomain *of, const int32_t *column,
                              fem_rows *local)
{
    const int32_t *global = of->subspace ? of->subspace->global_node : NULL;
    int32_t num_rows = of->space->num_nodes;
    yoke_status status = yoke_allocate(context, (int64_t)num_rows + 1, sizeof(int64_t), &local->start);
    if (status) return status;
    for (int32_t i = 0; i < num_rows; i++) {
        int32_t row = global ? global[i] : i;
        local->start[i + 1] = local->start[i];
        for (int64_t k = rows->start[row]; k < rows->start[row + 1]; k++) local->start[i + 1] += column[rows->node[k]] >= 0;
    }
    status = yoke_allocate_untouched(context, local->start[num_rows], sizeof(int32_t), &local->node);
    if (!status) status = yoke_allocate_untouched(context, local->start[num_rows], sizeof(float), &local->weight);
    if (status) return status;
    int64_t at = 0;
    for (int32_t i = 0; i < num_rows; i++) {
        int32_t row = global ? global[i] : i;
        for (int64_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
            if (column[rows->node[k]] < 0) continue;
            local->node[at] = column[rows->node[k]];
            local->weight[at++] = rows->weight[k];
        }
    }
    return YOKE_OK;
}

/* Passes the rows of the subdomain `of`, with the columns in `column`, to its device. */
static yoke_status give_rows(fem_decomposition *decomposition, const fem_rows *rows, const decomposition_subdomain *of,
                             const int32_t *column, fem_subdomain_rows **out)
{
    fem_rows local = {NULL, NULL, NULL};
    yoke_status status = local_rows(decomposition->context, rows, of, column, &local);
    if (!status) {
        status = of->local->call->rows_create(of->local, of->space->num_nodes, &local, out);
        if (status) status = decomposition_mark_failure(decomposition, of->device, status);
    }
    yoke_release(decomposition->context, local.start);
    yoke_release(decomposition->context, local.node);
    yoke_release(decomposition->context, local.weight);
    return status;
}

static yoke_status make_rows_of(fem_decomposition *decomposition, const fem_interpolation *to_finer, decomposition_subdomain *subdomain,
                                const decomposition_subdomain *finer)
{
    int32_t *coarse = NULL, *fine = NULL;
    yoke_status status = yoke_allocate_untouched(decomposition->context, to_finer->coarse_nodes, sizeof(int32_t), &coarse);
    if (!status) status = yoke_allocate_untouched(decomposition->context, to_finer->fine_nodes, sizeof(int32_t), &fine);
    if (!status) {
        decomposition_local_numbers(decomposition, subdomain, coarse);
        decomposition_local_numbers(decomposition->finer, finer, fine);
        for (int32_t i = 0; i < to_finer->fine_nodes; i++) /* each fine node counts only once */
            if (fine[i] >= 0 && finer->owned && !finer->owned[fine[i]]) fine[i] = -1;
        status = give_rows(decomposition, &to_finer->to_coarse, subdomain, fine, &subdomain->to_coarse);
    }
    if (!status) status = give_rows(decomposition, &to_finer->to_fine, finer, coarse, &subdomain->from_coarse);
    yoke_release(decomposition->context, coarse);
    yoke_release(decomposition->context, fine);
    return status;
}

yoke_status decomposition_make_rows(fem_decomposition *decomposition, const fem_interpolation *to_finer)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < decomposition->num_subdomains && !status; i++) {
        const decomposition_subdomain *finer = finer_subdomain(decomposition, decomposition->subdomains[i].device);
        if (finer) status = make_rows_of(decomposition, to_finer, &decomposition->subdomains[i], finer);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- transfers */

static void tell_guests(fem_decomposition *decomposition, const fem_vector *x)
{
    FOR_WORKING_SUBDOMAINS (decomposition, i)
        decomposition->subdomains[i].local->call->interface_read(decomposition->subdomains[i].local, x->data[i]);
    FOR_WORKING_SUBDOMAINS (decomposition, i) decomposition->subdomains[i].local->call->interface_wait(decomposition->subdomains[i].local);
    for (int i = 0; i < decomposition->num_subdomains; i++) /* the interface values that were last sent to it must have arrived */
        if (decomposition->subdomains[i].halo_only) decomposition->subdomains[i].local->call->finish(decomposition->subdomains[i].local);
    decomposition_choose_interface(decomposition, 1, decomposition->space->components);
    for (int i = 0; i < decomposition->num_subdomains; i++)
        if (decomposition->subdomains[i].halo_only)
            decomposition->subdomains[i].local->call->interface_write(decomposition->subdomains[i].local, x->data[i]);
}

void fem_decomposition_prolongate_add(fem_decomposition *coarse, const fem_vector *from, fem_vector *to)
{
    const fem_decomposition *fine = coarse->finer;
    if (coarse->num_working < coarse->num_subdomains) tell_guests(coarse, from);
    FOR_WORKING_SUBDOMAINS (fine, i) {
        int number = coarse->subdomain_of[fine->subdomains[i].device];
        fem_subdomain *subdomain = fine->subdomains[i].local;
        subdomain->call->rows_add(subdomain, coarse->subdomains[number].from_coarse, from->data[number], to->data[i]);
    }
    if (fine->halo) fem_vector_agree(to); /* nodes that count on another rank have no rows */
}

/* Computes the subdomain's part of the restricted vector, from the fine nodes that it owns. */
static void restrict_own(fem_decomposition *coarse, int i, const fem_vector *from, fem_vector *to)
{
    const decomposition_subdomain *subdomain = &coarse->subdomains[i];
    if (subdomain->to_coarse)
        subdomain->local->call->rows_set(subdomain->local, subdomain->to_coarse, from->data[coarse->finer->subdomain_of[subdomain->device]],
                                         to->data[i]);
    else
        subdomain->local->call->zero(subdomain->local, to->data[i]);
    if (decomposition_is_shared(coarse)) subdomain->local->call->interface_read(subdomain->local, to->data[i]);
}

void fem_decomposition_restrict_to(fem_decomposition *coarse, const fem_vector *from, fem_vector *to)
{
    for (int i = 0; i < coarse->num_subdomains; i++)
        if (coarse->subdomains[i].halo_only) restrict_own(coarse, i, from, to);
    FOR_WORKING_SUBDOMAINS (coarse, i) restrict_own(coarse, i, from, to);
    if (decomposition_is_shared(coarse)) {
        for (int i = 0; i < coarse->num_subdomains; i++) coarse->subdomains[i].local->call->interface_wait(coarse->subdomains[i].local);
        decomposition_add_interface(coarse, 1, coarse->space->components);
        FOR_WORKING_SUBDOMAINS (coarse, i) coarse->subdomains[i].local->call->interface_write(coarse->subdomains[i].local, to->data[i]);
    }
    fem_vector_mask(to);
}
