/* team_transfer.c - between the parts of a team and those of the next finer one: each part's own rows, and one exchange. */
#include "operator/team_parts.h"

/* The finer team's part on the device, NULL where it has none with elements. */
static const team_part *finer_part(const fem_team *team, int device)
{
    int number = team->finer->part_of[device];
    return number < 0 || team->finer->parts[number].halo_only ? NULL : &team->finer->parts[number];
}

/* ------------------------------------------------------------------------------------------------------ set-up */

yoke_status team_needed_nodes(const fem_team *team, const fem_interpolation *to_finer, int device, int64_t *count, int32_t **nodes)
{
    const fem_rows *rows = &to_finer->to_fine;
    uint8_t *needed;
    *count = 0;
    const team_part *finer = finer_part(team, device);
    if (!finer) return YOKE_OK;
    yoke_status status = yoke_allocate(team->context, team->space->num_nodes, 1, (void **)&needed);
    if (status) return status;
    for (int32_t i = 0; i < finer->space->num_nodes; i++) {
        int32_t row = finer->subspace ? finer->subspace->global_node[i] : i;
        for (int64_t k = rows->start[row]; k < rows->start[row + 1]; k++) needed[rows->node[k]] = 1;
    }
    for (int32_t n = 0; n < team->space->num_nodes; n++) *count += needed[n];
    status = yoke_allocate_untouched(team->context, *count, sizeof(int32_t), (void **)nodes);
    if (!status) {
        int64_t at = 0;
        for (int32_t n = 0; n < team->space->num_nodes; n++)
            if (needed[n]) (*nodes)[at++] = n;
    }
    yoke_release(team->context, needed);
    return status;
}

/* Rows of a part: those of the space at its nodes, with the columns that `column` knows (-1: left out). */
static yoke_status local_rows(yoke_context *context, const fem_rows *rows, const team_part *of, const int32_t *column, fem_rows *local)
{
    const int32_t *global = of->subspace ? of->subspace->global_node : NULL;
    int32_t num_rows = of->space->num_nodes;
    yoke_status status = yoke_allocate(context, (int64_t)num_rows + 1, sizeof(int64_t), (void **)&local->start);
    if (status) return status;
    for (int32_t i = 0; i < num_rows; i++) {
        int32_t row = global ? global[i] : i;
        local->start[i + 1] = local->start[i];
        for (int64_t k = rows->start[row]; k < rows->start[row + 1]; k++) local->start[i + 1] += column[rows->node[k]] >= 0;
    }
    status = yoke_allocate_untouched(context, local->start[num_rows], sizeof(int32_t), (void **)&local->node);
    if (!status) status = yoke_allocate_untouched(context, local->start[num_rows], sizeof(float), (void **)&local->weight);
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

/* Hands the rows of the part `of` with those columns to its device. */
static yoke_status give_rows(fem_team *team, const fem_rows *rows, const team_part *of, const int32_t *column, fem_part_rows **out)
{
    fem_rows local = {NULL, NULL, NULL};
    yoke_status status = local_rows(team->context, rows, of, column, &local);
    if (!status) {
        status = of->part->call->rows_create(of->part, of->space->num_nodes, &local, out);
        if (status) status = team_mark_failure(team, of->device, status);
    }
    yoke_release(team->context, local.start);
    yoke_release(team->context, local.node);
    yoke_release(team->context, local.weight);
    return status;
}

static yoke_status make_rows_of(fem_team *team, const fem_interpolation *to_finer, team_part *part, const team_part *finer)
{
    int32_t *coarse = NULL, *fine = NULL;
    yoke_status status = yoke_allocate_untouched(team->context, to_finer->coarse_nodes, sizeof(int32_t), (void **)&coarse);
    if (!status) status = yoke_allocate_untouched(team->context, to_finer->fine_nodes, sizeof(int32_t), (void **)&fine);
    if (!status) {
        team_local_numbers(team, part, coarse);
        team_local_numbers(team->finer, finer, fine);
        for (int32_t i = 0; i < to_finer->fine_nodes; i++) /* each fine node counts once */
            if (fine[i] >= 0 && finer->owned && !finer->owned[fine[i]]) fine[i] = -1;
        status = give_rows(team, &to_finer->to_coarse, part, fine, &part->to_coarse);
    }
    if (!status) status = give_rows(team, &to_finer->to_fine, finer, coarse, &part->from_coarse);
    yoke_release(team->context, coarse);
    yoke_release(team->context, fine);
    return status;
}

yoke_status team_make_rows(fem_team *team, const fem_interpolation *to_finer)
{
    yoke_status status = YOKE_OK;
    for (int i = 0; i < team->num_parts && !status; i++) {
        const team_part *finer = finer_part(team, team->parts[i].device);
        if (finer) status = make_rows_of(team, to_finer, &team->parts[i], finer);
    }
    return status;
}

/* --------------------------------------------------------------------------------------------------- transfers */

static void tell_guests(fem_team *team, const fem_vector *x)
{
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->interface_read(team->parts[i].part, x->data[i]);
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->interface_wait(team->parts[i].part);
    for (int i = 0; i < team->num_parts; i++) /* what it was told last must have arrived */
        if (team->parts[i].halo_only) team->parts[i].part->call->finish(team->parts[i].part);
    team_choose_interface(team, 1, team->space->components);
    for (int i = 0; i < team->num_parts; i++)
        if (team->parts[i].halo_only) team->parts[i].part->call->interface_write(team->parts[i].part, x->data[i]);
}

void fem_team_prolongate_add(fem_team *coarse, const fem_vector *from, fem_vector *to)
{
    const fem_team *fine = coarse->finer;
    if (coarse->num_working < coarse->num_parts) tell_guests(coarse, from);
    FOR_WORKING_PARTS (fine, i) {
        int number = coarse->part_of[fine->parts[i].device];
        fem_part *part = fine->parts[i].part;
        part->call->rows_add(part, coarse->parts[number].from_coarse, from->data[number], to->data[i]);
    }
}

/* The part's share of the restricted vector: from the fine nodes that it owns. */
static void restrict_own(fem_team *coarse, int i, const fem_vector *from, fem_vector *to)
{
    const team_part *part = &coarse->parts[i];
    if (part->to_coarse)
        part->part->call->rows_set(part->part, part->to_coarse, from->data[coarse->finer->part_of[part->device]], to->data[i]);
    else
        part->part->call->zero(part->part, to->data[i]);
    if (coarse->num_parts > 1) part->part->call->interface_read(part->part, to->data[i]);
}

void fem_team_restrict_to(fem_team *coarse, const fem_vector *from, fem_vector *to)
{
    for (int i = 0; i < coarse->num_parts; i++)
        if (coarse->parts[i].halo_only) restrict_own(coarse, i, from, to);
    FOR_WORKING_PARTS (coarse, i) restrict_own(coarse, i, from, to);
    if (coarse->num_parts > 1) {
        for (int i = 0; i < coarse->num_parts; i++) coarse->parts[i].part->call->interface_wait(coarse->parts[i].part);
        team_add_interface(coarse, 1, coarse->space->components);
        FOR_WORKING_PARTS (coarse, i) coarse->parts[i].part->call->interface_write(coarse->parts[i].part, to->data[i]);
    }
    fem_vector_mask(to);
}
