/* team_parts.h - the inside of a team, shared by its set-up, its exchange and its operations. */
#ifndef FEM_OPERATOR_TEAM_PARTS_H
#define FEM_OPERATOR_TEAM_PARTS_H

#include "operator/team.h"
#include "space/subspace.h"

typedef struct team_part {
    int device; /* its number in the list */
    int32_t begin, end;
    int halo_only; /* has no elements: takes part in transfers only */
    fem_subspace *subspace;
    const fem_space *space; /* of the subspace, or the whole one */
    fem_part *part;
    uint8_t *owned; /* NULL: all */
    int32_t num_interface;
    int32_t *interface_nodes;               /* local, ascending */
    int32_t *interface_index;               /* their places in the team's totals */
    fem_part_rows *from_coarse, *to_coarse; /* rows over the finer team's nodes, and their transpose: to_coarse of owned fine nodes only */
} team_part;

struct fem_team {
    yoke_context *context;
    fem_devices *devices;
    const fem_space *space;
    const fem_constraints *constraints;
    fem_precision precision;
    fem_exchange exchange;
    const fem_team *finer;
    int num_parts, num_working;
    team_part parts[FEM_MOST_DEVICES]; /* in the order of the elements */
    int working[FEM_MOST_DEVICES]; /* [num_working] parts with elements in the order of calls: devices that work by themselves come first */
    int part_of[FEM_MOST_DEVICES]; /* number of a device's part, -1: none */
    int32_t num_interface;         /* nodes in more than one part */
    void *totals;                  /* [num_interface][6 or 1] in the team's precision */
    double *scratch;               /* [dofs of the largest part], where there are several */
    int64_t products;
};

struct fem_vector {
    fem_team *team;
    fem_part_vector *data[FEM_MOST_DEVICES]; /* [num_parts] */
};

/* For each working part in the order of calls, with its number i. */
#define FOR_WORKING_PARTS(team, i) for (int k_##i = 0, i; k_##i < (team)->num_working && (i = (team)->working[k_##i], 1); k_##i++)

/* Local numbers of the space's nodes in the part: local [num_nodes of the whole space], -1: not there. */
void team_local_numbers(const fem_team *team, const team_part *part, int32_t *local);

/* Owners, interface nodes and the places of their totals, from the parts' subspaces.  Errors: MEMORY. */
yoke_status team_find_interface(fem_team *team);

/*
 * totals = sum of the parts' own values at interface nodes, in the order of the parts; then each working part's interface_total from it.
 * halo_only: they have own values too.  width: values of a node.
 */
void team_add_interface(fem_team *team, int halo_only, int width);
/*
 * totals = at each interface node the own value of the first working part that has it; then interface_total of the halo-only parts, or of the working
 * parts, from it.
 */
void team_choose_interface(fem_team *team, int halo_only, int width);

/* The nodes of this team's space that the finer team's part on `device` needs; *nodes is released by the caller.  Errors: MEMORY. */
yoke_status team_needed_nodes(const fem_team *team, const fem_interpolation *to_finer, int device, int64_t *count, int32_t **nodes);
/* Rows between this team's parts and those of the finer team.  Errors: those of the parts. */
yoke_status team_make_rows(fem_team *team, const fem_interpolation *to_finer);

/* A part on the device failed with `status`, whose text is on the context: marks the device; returns the status, with the device's name in its text. */
yoke_status team_mark_failure(fem_team *team, int device, yoke_status status);

#endif
