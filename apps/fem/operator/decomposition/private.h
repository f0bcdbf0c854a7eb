/* private.h - the internals of a decomposition, shared by its set-up, its exchange and its operations. */
#ifndef FEM_OPERATOR_DECOMPOSITION_PRIVATE_H
#define FEM_OPERATOR_DECOMPOSITION_PRIVATE_H

#include "operator/decomposition/decomposition.h"
#include "space/subspace.h"

typedef struct decomposition_subdomain {
    int device; /* its number in the list */
    int32_t begin, end;
    int halo_only; /* has no elements: takes part in transfers only */
    fem_subspace *subspace;
    const fem_space *space; /* of the subspace, or the whole one */
    fem_subdomain *local;   /* its operator and vectors, on the device */
    uint8_t *owned;         /* NULL: all */
    int32_t num_interface;
    int32_t *interface_nodes; /* local, ascending */
    int32_t *interface_index; /* their indices in the decomposition's totals */
    /* Rows over the finer decomposition's nodes, and their transpose: to_coarse has owned fine nodes only. */
    fem_subdomain_rows *from_coarse, *to_coarse;
} decomposition_subdomain;

struct fem_decomposition {
    yoke_context *context;
    fem_devices *devices;
    const fem_space *space;
    const fem_constraints *constraints;
    fem_precision precision;
    fem_exchange exchange;
    const fem_decomposition *finer;
    int num_subdomains, num_working;
    decomposition_subdomain subdomains[FEM_MAX_DEVICES]; /* in the order of the elements */
    /* [num_working] subdomains with elements in the order of calls: devices that work asynchronously come first */
    int working[FEM_MAX_DEVICES];
    int subdomain_of[FEM_MAX_DEVICES]; /* number of a device's subdomain, -1: none */
    int32_t num_interface;             /* nodes in more than one subdomain */
    void *totals;                      /* [num_interface][6 or 1] in the decomposition's precision */
    double *scratch;                   /* [dofs of the largest subdomain], if there are several */
    app_ranks *ranks;                  /* of the space; NULL: one rank, or it works alone */
    const fem_halo *halo;              /* the space's; NULL: as for ranks */
    fem_halo_messages *messages;       /* with the other ranks */
    int32_t *shared_place;             /* [halo->num_shared] indices in totals */
    int64_t products;
};

struct fem_vector {
    fem_decomposition *decomposition;
    fem_subdomain_vector *data[FEM_MAX_DEVICES]; /* [num_subdomains] */
};

/* For each working subdomain in the order of calls, with its number i. */
#define FOR_WORKING_SUBDOMAINS(decomposition, i) \
    for (int k_##i = 0, i; k_##i < (decomposition)->num_working && (i = (decomposition)->working[k_##i], 1); k_##i++)

/* Local numbers of the space's nodes in the subdomain: local [num_nodes of the whole space], -1: not in it. */
void decomposition_local_numbers(const fem_decomposition *decomposition, const decomposition_subdomain *subdomain, int32_t *local);

/* Determines owners, interface nodes and the indices of their totals, from the subdomains' subspaces.  Errors: MEMORY. */
yoke_status decomposition_find_interface(fem_decomposition *decomposition);

/* Nonzero: there are several subdomains, here or on other ranks. */
static inline int decomposition_is_shared(const fem_decomposition *decomposition)
{
    return decomposition->num_subdomains > 1 || decomposition->halo;
}

/*
 * totals = sum of the subdomains' own values at interface nodes, in the order of the subdomains, then of the ranks; then interface_total of
 * each working subdomain is set from it.  halo_only: halo-only subdomains have own values too.  width: values per node.  The sums have two
 * steps, between which the values of other ranks are being transferred.
 */
void decomposition_begin_sums(fem_decomposition *decomposition, int halo_only, int width);
void decomposition_end_sums(fem_decomposition *decomposition, int width);
void decomposition_add_interface(fem_decomposition *decomposition, int halo_only, int width);
/*
 * totals = at each interface node the own value of the first working subdomain that has it; then interface_total of the halo-only
 * subdomains, or of the working subdomains, is set from it.  For working subdomains the value is that of the rank that owns the node.
 */
void decomposition_choose_interface(fem_decomposition *decomposition, int halo_only, int width);

/*
 * Finds the nodes of this decomposition's space that the finer decomposition's subdomain on `device` needs; the caller releases *nodes.
 * Errors: MEMORY.
 */
yoke_status decomposition_needed_nodes(const fem_decomposition *decomposition, const fem_interpolation *to_finer, int device,
                                       int64_t *count, int32_t **nodes);
/* Creates the rows between this decomposition's subdomains and those of the finer one.  Errors: those of the subdomains. */
yoke_status decomposition_make_rows(fem_decomposition *decomposition, const fem_interpolation *to_finer);

/*
 * Handles a failure of a subdomain on the device with `status`, whose text is on the context: marks the device; returns the status, with
 * the device's name in its text.
 */
yoke_status decomposition_mark_failure(fem_decomposition *decomposition, int device, yoke_status status);

#endif
