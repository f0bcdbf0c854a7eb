#include "operator/team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "operator/team_parts.h"

/* --------------------------------------------------------------------------------------------------- failures */

yoke_status team_mark_failure(fem_team *team, int device, yoke_status status)
{
    fem_device *d = &team->devices->list[device];
    if (status != YOKE_ERROR_DEVICE && status != YOKE_ERROR_DEVICE_MEMORY) return status;
    if (!d->failed) {
        /* a lost device says at each call why it is lost */
        if (status == YOKE_ERROR_DEVICE) (void)yoke_queue_finish(d->queue);
        snprintf(d->why, sizeof d->why, "%s", yoke_last_error(team->context));
        d->failed = status == YOKE_ERROR_DEVICE;
        d->short_of_memory = status == YOKE_ERROR_DEVICE_MEMORY;
    }
    return yoke_fail(team->context, status, "%s: %s", d->info->name, d->why);
}

int fem_team_failed(const fem_team *team)
{
    for (int i = 0; i < team->num_parts; i++)
        if (team->parts[i].part->status) return 1;
    return 0;
}

yoke_status fem_team_status(fem_team *team)
{
    yoke_status first = YOKE_OK;
    for (int i = 0; i < team->num_parts; i++) team->parts[i].part->call->finish(team->parts[i].part);
    for (int i = team->num_parts - 1; i >= 0; i--) /* the first failure's text is the last one on the context */
        if (team->parts[i].part->status) first = team_mark_failure(team, team->parts[i].device, team->parts[i].part->status);
    return first;
}

/* ----------------------------------------------------------------------------------------------------- set-up */

static yoke_status check_cut(const fem_team *team, const int32_t *cut)
{
    int count = team->devices->count, right = cut[0] == 0 && cut[count] == team->space->num_elements;
    for (int i = 0; i < count; i++) right = right && cut[i] <= cut[i + 1];
    if (right) return YOKE_OK;
    return yoke_fail(team->context, YOKE_ERROR_ARGUMENT, "the cut does not give each of the %ld elements to one device",
                     (long)team->space->num_elements);
}

static yoke_status add_all_nodes(fem_team *team, int64_t *count, int32_t **nodes)
{
    yoke_status status = yoke_allocate_untouched(team->context, team->space->num_nodes, sizeof(int32_t), (void **)nodes);
    *count = team->space->num_nodes;
    for (int32_t n = 0; n < team->space->num_nodes && !status; n++) (*nodes)[n] = n;
    return status;
}

/* The part of one device, if it has elements, or nodes that the finer level needs. */
static yoke_status add_part(fem_team *team, const fem_team_options *options, int device)
{
    int32_t begin = options->cut[device], end = options->cut[device + 1], *more = NULL;
    int64_t num_more = 0;
    yoke_status status = YOKE_OK;
    int whole = begin == 0 && end == team->space->num_elements;
    if (!whole && options->finer) status = team_needed_nodes(team, options->to_finer, device, &num_more, &more);
    if (!status && !whole && team->exchange == FEM_EXCHANGE_FULL && (begin < end || num_more)) {
        yoke_release(team->context, more);
        more = NULL;
        status = add_all_nodes(team, &num_more, &more);
    }
    if (!status && (begin < end || num_more)) {
        team_part *part = &team->parts[team->num_parts];
        *part = (team_part){.device = device, .begin = begin, .end = end, .halo_only = begin == end, .space = team->space};
        team->part_of[device] = team->num_parts++;
        if (!whole) status = fem_subspace_create(team->space, team->constraints, begin, end, num_more, more, &part->subspace);
        if (!status && !whole) part->space = part->subspace->space;
    }
    yoke_release(team->context, more);
    return status;
}

static yoke_status add_parts(fem_team *team, const fem_team_options *options)
{
    yoke_status status = check_cut(team, options->cut);
    for (int d = 0; d < team->devices->count; d++) team->part_of[d] = -1;
    for (int d = 0; d < team->devices->count && !status; d++) status = add_part(team, options, d);
    if (status) return status;
    int64_t largest = 0;
    for (int inlined = 0; inlined < 2; inlined++)
        for (int i = 0; i < team->num_parts; i++) {
            const team_part *part = &team->parts[i];
            if (part->halo_only || team->devices->list[part->device].inlined != inlined) continue;
            team->working[team->num_working++] = i;
            if (part->space->num_nodes > largest) largest = part->space->num_nodes;
        }
    if (team->num_parts == 1) return YOKE_OK;
    return yoke_allocate_untouched(team->context, largest * team->space->components, sizeof(double), (void **)&team->scratch);
}

static yoke_status make_part(fem_team *team, const fem_team_options *options, team_part *part)
{
    const fem_device *device = &team->devices->list[part->device];
    const fem_constraints *constraints = part->subspace ? part->subspace->constraints : team->constraints;
    fem_part_options part_options = {.device = device->device,
                                     .queue = device->queue,
                                     .precision = options->precision,
                                     .operator_kind = options->operator_kind,
                                     .adding = options->adding,
                                     .num_interface = part->num_interface,
                                     .interface_nodes = part->interface_nodes,
                                     .owned = part->owned,
                                     .kernels = options->kernels,
                                     .programs = device->programs,
                                     .unmeasured = options->unmeasured};
    yoke_status status = device->host_functions ? fem_part_cpu_create(part->space, constraints, &part_options, &part->part)
                                                : fem_part_device_create(part->space, constraints, &part_options, &part->part);
    return status ? team_mark_failure(team, part->device, status) : YOKE_OK;
}

static yoke_status make_diagonal(fem_team *team)
{
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->diagonal(team->parts[i].part);
    if (team->num_parts > 1) team_add_interface(team, 0, team->space->components == 3 ? 6 : 1);
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->diagonal_finish(team->parts[i].part);
    return fem_team_status(team);
}

yoke_status fem_team_create(const fem_space *space, const fem_constraints *constraints, const fem_team_options *options, fem_team **out)
{
    fem_team *team;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *team, (void **)&team);
    if (status) return status;
    team->context = space->context;
    team->devices = options->devices;
    team->space = space;
    team->constraints = constraints;
    team->precision = options->precision;
    team->exchange = options->exchange;
    team->finer = options->finer;
    status = add_parts(team, options);
    if (!status) status = team_find_interface(team);
    for (int i = 0; i < team->num_parts && !status; i++) status = make_part(team, options, &team->parts[i]);
    if (!status) status = make_diagonal(team);
    if (!status && options->finer) status = team_make_rows(team, options->to_finer);
    if (status)
        fem_team_destroy(team);
    else
        *out = team;
    return status;
}

static void destroy_part(fem_team *team, team_part *part)
{
    fem_part *p = part->part;
    if (part->from_coarse) {
        fem_part *finer = team->finer->parts[team->finer->part_of[part->device]].part;
        finer->call->rows_destroy(finer, part->from_coarse);
    }
    if (part->to_coarse) p->call->rows_destroy(p, part->to_coarse);
    if (p) p->call->destroy(p);
    yoke_release(team->context, part->owned);
    yoke_release(team->context, part->interface_nodes);
    yoke_release(team->context, part->interface_index);
    fem_subspace_destroy(part->subspace);
}

void fem_team_destroy(fem_team *team)
{
    if (!team) return;
    for (int i = 0; i < team->num_parts; i++) destroy_part(team, &team->parts[i]);
    yoke_release(team->context, team->totals);
    yoke_release(team->context, team->scratch);
    yoke_release(team->context, team);
}

/* --------------------------------------------------------------------------------------------------- questions */

const fem_space *fem_team_space(const fem_team *team) { return team->space; }
int64_t fem_team_products(const fem_team *team) { return team->products; }

int64_t fem_team_memory_bytes(const fem_team *team)
{
    int64_t bytes = 0;
    for (int i = 0; i < team->num_parts; i++) bytes += team->parts[i].part->call->memory_bytes(team->parts[i].part);
    return bytes;
}

void fem_team_get_share(fem_team *team, int device, fem_team_share *share)
{
    *share = (fem_team_share){.product_seconds = NAN, .setup_moved_s = NAN};
    if (team->part_of[device] < 0) return;
    const team_part *part = &team->parts[team->part_of[device]];
    int real = team->precision == FEM_DOUBLE ? (int)sizeof(double) : (int)sizeof(float);
    share->setup_moved_s = part->part->setup_moved_s;
    if (part->halo_only) return;
    share->elements = part->end - part->begin;
    share->product_seconds = part->part->call->product_seconds_wait(part->part);
    share->interface_bytes = 2 * (int64_t)part->num_interface * team->space->components * real;
}
