/* team_interface.c - which nodes parts share, and the sums over parts at them. */
#include "operator/team_parts.h"

enum { MANY_VALUES = 20000 }; /* worth several threads */

#define PASTE_2(a, b) a##_##b
#define PASTE(a, b) PASTE_2(a, b)
#define NAME(name) PASTE(name, REAL)
#define REAL double
#include "operator/team_sums.h"
#undef REAL
#define REAL float
#include "operator/team_sums.h"
#undef REAL

/* Calls one of the two instances by the team's precision. */
#define BY_PRECISION(team, operation, ...) \
    ((team)->precision == FEM_DOUBLE ? operation##_double(__VA_ARGS__) : operation##_float(__VA_ARGS__))

void team_local_numbers(const fem_team *team, const team_part *part, int32_t *local)
{
    if (!part->subspace) {
        for (int32_t i = 0; i < team->space->num_nodes; i++) local[i] = i;
        return;
    }
    for (int32_t i = 0; i < team->space->num_nodes; i++) local[i] = -1;
    for (int32_t i = 0; i < part->space->num_nodes; i++) local[part->subspace->global_node[i]] = i;
}

/* ------------------------------------------------------------------------------------------------- who has what */

static int32_t global_node(const team_part *part, int32_t local) { return part->subspace ? part->subspace->global_node[local] : local; }

/* The first part whose elements touch a node owns it: owned of each part, taken [num_nodes] all zero before. */
static yoke_status find_owners(fem_team *team, uint8_t *taken)
{
    for (int i = 0; i < team->num_parts; i++) {
        team_part *part = &team->parts[i];
        yoke_status status = yoke_allocate(team->context, part->space->num_nodes, 1, (void **)&part->owned);
        if (status) return status;
        int32_t touched = part->subspace ? part->subspace->num_touched : part->space->num_nodes;
        for (int32_t n = 0; n < touched; n++) {
            uint8_t *by = &taken[global_node(part, n)];
            part->owned[n] = !*by;
            *by = 1;
        }
    }
    return YOKE_OK;
}

/* index [num_nodes]: the place of an interface node in the totals, -1 for others. */
static void number_interface(fem_team *team, int32_t *index)
{
    for (int32_t n = 0; n < team->space->num_nodes; n++) index[n] = 0;
    for (int i = 0; i < team->num_parts; i++)
        for (int32_t n = 0; n < team->parts[i].space->num_nodes; n++) index[global_node(&team->parts[i], n)]++;
    team->num_interface = 0;
    for (int32_t n = 0; n < team->space->num_nodes; n++) index[n] = index[n] > 1 ? team->num_interface++ : -1;
}

static yoke_status list_interface(fem_team *team, team_part *part, const int32_t *index)
{
    int32_t count = 0;
    for (int32_t n = 0; n < part->space->num_nodes; n++) count += index[global_node(part, n)] >= 0;
    yoke_status status = yoke_allocate_untouched(team->context, count, sizeof(int32_t), (void **)&part->interface_nodes);
    if (!status) status = yoke_allocate_untouched(team->context, count, sizeof(int32_t), (void **)&part->interface_index);
    if (status) return status;
    for (int32_t n = 0; n < part->space->num_nodes; n++) {
        int32_t place = index[global_node(part, n)];
        if (place < 0) continue;
        part->interface_nodes[part->num_interface] = n;
        part->interface_index[part->num_interface++] = place;
    }
    return YOKE_OK;
}

yoke_status team_find_interface(fem_team *team)
{
    if (team->num_parts == 1) return YOKE_OK;
    uint8_t *taken = NULL;
    int32_t *index = NULL;
    int64_t nodes = team->space->num_nodes;
    yoke_status status = yoke_allocate(team->context, nodes, 1, (void **)&taken);
    if (!status) status = yoke_allocate_untouched(team->context, nodes, sizeof(int32_t), (void **)&index);
    if (!status) status = find_owners(team, taken);
    if (!status) number_interface(team, index);
    for (int i = 0; i < team->num_parts && !status; i++) status = list_interface(team, &team->parts[i], index);
    yoke_release(team->context, taken);
    yoke_release(team->context, index);
    int width = team->space->components == 3 ? 6 : 1;
    size_t real = team->precision == FEM_DOUBLE ? sizeof(double) : sizeof(float);
    return status ? status : yoke_allocate(team->context, (int64_t)team->num_interface * width, real, &team->totals);
}

/* -------------------------------------------------------------------------------------------------------- sums */

void team_add_interface(fem_team *team, int halo_only, int width)
{
    BY_PRECISION(team, clear, (int64_t)team->num_interface * width, team->totals);
    for (int i = 0; i < team->num_parts; i++) {
        const team_part *part = &team->parts[i];
        if (halo_only || !part->halo_only) BY_PRECISION(team, add, part, width, part->part->interface_own, team->totals);
    }
    for (int i = 0; i < team->num_parts; i++) {
        const team_part *part = &team->parts[i];
        if (!part->halo_only) BY_PRECISION(team, tell, part, width, team->totals, part->part->interface_total);
    }
}

void team_choose_interface(fem_team *team, int halo_only, int width)
{
    for (int i = team->num_parts - 1; i >= 0; i--) {
        const team_part *part = &team->parts[i];
        if (!part->halo_only) BY_PRECISION(team, set, part, width, part->part->interface_own, team->totals);
    }
    for (int i = 0; i < team->num_parts; i++) {
        const team_part *part = &team->parts[i];
        if (part->halo_only == halo_only) BY_PRECISION(team, tell, part, width, team->totals, part->part->interface_total);
    }
}
