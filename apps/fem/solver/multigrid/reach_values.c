/* multigrid/reach_values.c - sends values during a solve to the ranks that solve the parts, and back. */
#include <string.h>

#include <mpi.h>

#include "solver/multigrid/reach_parts.h"

enum { TAG = 72 };

yoke_status reach_route(multigrid_reach *reach, const fem_lists *lists, const int32_t *node, const uint8_t *wanted, multigrid_route *route)
{
    yoke_context *context = reach->context;
    int64_t count = 0;
    for (int64_t i = 0; i < lists->all; i++) count += !wanted || wanted[i];
    yoke_status status = yoke_allocate(context, lists->num_ranks, sizeof *route->rank, &route->rank);
    if (!status) status = yoke_allocate(context, lists->num_ranks + 1, sizeof *route->first, &route->first);
    if (!status) status = yoke_allocate(context, count, sizeof *route->node, &route->node);
    if (!status) status = yoke_allocate(context, count * reach->components, sizeof *route->values, &route->values);
    if (!status && !reach->requests) status = yoke_allocate(context, 2 * (int64_t)lists->num_ranks, sizeof(MPI_Request), &reach->requests);
    if (status) return status;
    int64_t next = 0;
    for (int r = 0; r < lists->num_ranks; r++) {
        const int64_t begin = next;
        for (int64_t i = lists->first[r]; i < (int64_t)lists->first[r] + lists->count[r]; i++)
            if (!wanted || wanted[i]) route->node[next++] = node[i];
        if (next == begin) continue;
        route->rank[route->num_ranks++] = r;
        route->first[route->num_ranks] = next;
    }
    return YOKE_OK;
}

void reach_release_route(yoke_context *context, multigrid_route *route)
{
    void *arrays[] = {route->rank, route->first, route->node, route->values};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(context, arrays[i]);
}

/* Sends the values of the nodes of one route to those of the other; `to` and `from` may be the same array. */
static void transfer(multigrid_reach *reach, const multigrid_route *send, const multigrid_route *receive, const double *from, double *to)
{
    const int n = reach->components;
    MPI_Request *request = reach->requests;
    int requests = 0;
    for (int r = 0; r < receive->num_ranks; r++)
        MPI_Irecv(receive->values + receive->first[r] * n, (int)(receive->first[r + 1] - receive->first[r]) * n, MPI_DOUBLE,
                  receive->rank[r], TAG, MPI_COMM_WORLD, &request[requests++]);
    for (int64_t i = 0; i < send->first[send->num_ranks]; i++)
        memcpy(send->values + i * n, from + (int64_t)send->node[i] * n, sizeof *from * (size_t)n);
    for (int r = 0; r < send->num_ranks; r++) {
        const int64_t count = (send->first[r + 1] - send->first[r]) * n;
        MPI_Isend(send->values + send->first[r] * n, (int)count, MPI_DOUBLE, send->rank[r], TAG, MPI_COMM_WORLD, &request[requests++]);
        reach->num_messages++;
        reach->num_bytes += count * (int64_t)sizeof *from;
    }
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
    for (int64_t i = 0; i < receive->first[receive->num_ranks]; i++)
        memcpy(to + (int64_t)receive->node[i] * n, receive->values + i * n, sizeof *to * (size_t)n);
}

void multigrid_reach_collect(multigrid_reach *reach, const double *local)
{
    memcpy(reach->all, local, sizeof *local * (size_t)reach->num_local * (size_t)reach->components);
    transfer(reach, &reach->up, &reach->from_below, local, reach->all);
}

void multigrid_reach_spread(multigrid_reach *reach, double *local)
{
    memcpy(local, reach->all, sizeof *local * (size_t)reach->num_local * (size_t)reach->components);
    transfer(reach, &reach->down, &reach->from_above, reach->all, local);
}

int64_t multigrid_reach_memory_bytes(const multigrid_reach *reach)
{
    const multigrid_route *routes[] = {&reach->up, &reach->from_below, &reach->down, &reach->from_above};
    const int64_t value = (int64_t)sizeof(double) * reach->components;
    int64_t bytes = reach->num_nodes;
    if (!reach->all) return bytes;
    bytes += reach->num_local * (int64_t)sizeof *reach->solver + reach->num_nodes * value;
    for (int i = 0; i < 4; i++) bytes += routes[i]->first[routes[i]->num_ranks] * ((int64_t)sizeof(int32_t) + value);
    return bytes;
}
