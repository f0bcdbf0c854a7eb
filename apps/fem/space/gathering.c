#include "space/gathering.h"

#include <string.h>

#include <mpi.h>

static int is_here(const fem_gathering *g) { return app_ranks_number(g->space->ranks) == 0; }

static yoke_status make_whole(fem_gathering *g)
{
    const fem_space *space = g->space;
    fem_boundary *boundary = NULL;
    yoke_status status = fem_space_create(space->problem, g->forest, space->element, &g->whole);
    if (!status) status = fem_boundary_create(g->whole, &boundary);
    if (!status) status = fem_constraints_create(g->whole, boundary, &g->constraints);
    fem_boundary_destroy(boundary);
    return status;
}

/* Allocates the lists of all ranks.  counts: numbers of owned nodes and of all nodes of each rank. */
static yoke_status make_room(fem_gathering *g, const int32_t (*counts)[2])
{
    const int ranks = app_ranks_count(g->space->ranks);
    int64_t nodes = 0;
    yoke_status status = yoke_allocate(g->context, ranks, sizeof(int), &g->num_owned);
    if (!status) status = yoke_allocate(g->context, ranks, sizeof(int), &g->first_owned);
    if (!status) status = yoke_allocate(g->context, ranks, sizeof(int), &g->num_nodes);
    if (!status) status = yoke_allocate(g->context, ranks, sizeof(int), &g->first_node);
    if (status) return status;
    for (int r = 0; r < ranks; r++) nodes += counts[r][1];
    if (nodes > INT32_MAX)
        return yoke_fail(g->context, YOKE_ERROR_MEMORY, "%lld nodes are more than one rank can take from the others", (long long)nodes);
    nodes = 0;
    for (int r = 0, owned = 0; r < ranks; r++) {
        g->num_owned[r] = counts[r][0];
        g->first_owned[r] = owned;
        g->num_nodes[r] = counts[r][1];
        g->first_node[r] = (int)nodes;
        owned += counts[r][0];
        nodes += counts[r][1];
    }
    status = yoke_allocate(g->context, nodes, sizeof(int32_t), &g->node);
    return status ? status : yoke_allocate(g->context, nodes * g->space->components, sizeof(double), &g->all);
}

/* Lists the nodes of each rank. */
static yoke_status list_nodes(fem_gathering *g)
{
    const fem_space *space = g->space;
    int32_t(*counts)[2] = NULL, *own = NULL;
    yoke_status status = yoke_allocate(g->context, app_ranks_count(space->ranks), sizeof *counts, &counts);
    if (!status) status = yoke_allocate(g->context, space->num_nodes, sizeof *own, &own);
    if (!status) status = yoke_allocate(g->context, (int64_t)space->num_owned * space->components, sizeof(double), &g->own);
    status = app_ranks_agree(space->ranks, status);
    if (!status) {
        const int32_t mine[2] = {space->num_owned, space->num_nodes};
        app_ranks_gather(space->ranks, mine, sizeof mine, counts);
        status = app_ranks_agree(space->ranks, is_here(g) ? make_room(g, (const int32_t(*)[2])counts) : YOKE_OK);
    }
    if (!status) {
        for (int32_t i = 0; i < space->num_nodes; i++) own[i] = (int32_t)space->global_node[i];
        MPI_Gatherv(own, space->num_nodes, MPI_INT32_T, g->node, g->num_nodes, g->first_node, MPI_INT32_T, 0, MPI_COMM_WORLD);
    }
    yoke_release(g->context, counts);
    yoke_release(g->context, own);
    return status;
}

yoke_status fem_gathering_create(const fem_space *space, fem_gathering **out)
{
    fem_gathering *g = NULL;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *g, &g);
    if (!status) *g = (fem_gathering){.context = space->context, .space = space};
    status = app_ranks_agree(space->ranks, status);
    if (status) {
        yoke_release(space->context, g);
        return status;
    }
    status = fem_forest_gather(space->forest, &g->forest);
    if (!status) status = app_ranks_agree(space->ranks, is_here(g) ? make_whole(g) : YOKE_OK);
    if (!status) status = list_nodes(g);
    if (status)
        fem_gathering_destroy(g);
    else
        *out = g;
    return status;
}

void fem_gathering_destroy(fem_gathering *g)
{
    if (!g) return;
    void *arrays[] = {g->num_owned, g->first_owned, g->num_nodes, g->first_node, g->node, g->all, g->own};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(g->context, arrays[i]);
    fem_constraints_destroy(g->constraints);
    fem_space_destroy(g->whole);
    fem_forest_destroy(g->forest);
    yoke_release(g->context, g);
}

/* All values of a node as one item. */
static MPI_Datatype node_type(const fem_gathering *g)
{
    MPI_Datatype type;
    MPI_Type_contiguous(g->space->components, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

void fem_gathering_collect(fem_gathering *g, const double *local, double *whole)
{
    const fem_space *space = g->space;
    const int n = space->components;
    MPI_Datatype node = node_type(g);
    int64_t next = 0;
    for (int32_t i = 0; i < space->num_nodes; i++)
        if (fem_space_owns(space, i)) memcpy(g->own + n * next++, local + (int64_t)i * n, sizeof *local * (size_t)n);
    if (!is_here(g)) {
        g->num_messages++;
        g->num_bytes += (int64_t)sizeof(double) * n * space->num_owned;
    }
    MPI_Gatherv(g->own, space->num_owned, node, whole, g->num_owned, g->first_owned, node, 0, MPI_COMM_WORLD);
    MPI_Type_free(&node);
}

void fem_gathering_spread(fem_gathering *g, const double *whole, double *local)
{
    const int n = g->space->components, ranks = app_ranks_count(g->space->ranks);
    MPI_Datatype node = node_type(g);
    for (int r = 0; r < ranks && is_here(g); r++)
        for (int64_t i = g->first_node[r]; i < (int64_t)g->first_node[r] + g->num_nodes[r]; i++)
            memcpy(g->all + i * n, whole + (int64_t)g->node[i] * n, sizeof *whole * (size_t)n);
    for (int r = 1; r < ranks && is_here(g); r++) {
        g->num_messages++;
        g->num_bytes += (int64_t)sizeof(double) * n * g->num_nodes[r];
    }
    MPI_Scatterv(g->all, g->num_nodes, g->first_node, node, local, g->space->num_nodes, node, 0, MPI_COMM_WORLD);
    MPI_Type_free(&node);
}
