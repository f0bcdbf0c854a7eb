#include "mpi_single.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "common/ranks/ranks.h"

/* A process has one MPI, so this is one variable of the process.  MPI functions are called by the thread that called MPI_Init. */
static enum { NOT_STARTED, ALONE, LIBRARY, ENDED } state;

/* -------------------------------------------------------------------------------------------------- the library */

static int start_library(int *argc, char ***argv, int wanted, int *has)
{
    /* Otherwise a program that was started without mpirun starts a daemon of Open MPI that it does not need. */
    if (!app_ranks_launched()) setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    /*
     * MPI examines the machine through hwloc, whose plugins would start the drivers of all GPUs; yoke starts them itself where they are
     * needed.
     */
    setenv("HWLOC_COMPONENTS", "-opencl,-cuda,-nvml,-rsmi,-levelzero,-gl", 0);
    int error = PMPI_Init_thread(argc, argv, wanted, has);
    if (error == MPI_SUCCESS) state = LIBRARY;
    return error;
}

int fem_mpi_single(int possible)
{
    int has;
    if (state == ALONE && !possible) start_library(NULL, NULL, MPI_THREAD_SINGLE, &has);
    return state == ALONE;
}

int fem_mpi_library_runs(void) { return state == LIBRARY; }

/* The functions have the prototypes of mpi.h; other libraries must find them in the program. */
#pragma GCC visibility push(default)

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *has)
{
    if (state != NOT_STARTED) return PMPI_Init_thread(argc, argv, wanted, has);
    if (app_ranks_launched()) return start_library(argc, argv, wanted, has);
    state = ALONE;
    *has = wanted;
    return MPI_SUCCESS;
}

int MPI_Init(int *argc, char ***argv)
{
    int has;
    return MPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &has);
}

int MPI_Finalize(void)
{
    int error = state == ALONE ? MPI_SUCCESS : PMPI_Finalize();
    if (error == MPI_SUCCESS) state = ENDED;
    return error;
}

int MPI_Initialized(int *flag)
{
    *flag = state != NOT_STARTED;
    return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
    *flag = state == ENDED;
    return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int code)
{
    if (state != ALONE) return PMPI_Abort(comm, code);
    raise(SIGABRT);
    return MPI_ERR_OTHER;
}

/* ------------------------------------------------------------------------------------ communicators and groups */

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    if (!fem_mpi_single(1)) return PMPI_Comm_size(comm, size);
    *size = 1;
    return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    if (!fem_mpi_single(1)) return PMPI_Comm_rank(comm, rank);
    *rank = 0;
    return MPI_SUCCESS;
}

/* A copy is the same communicator, because no messages are sent that could be confused. */
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    if (!fem_mpi_single(1)) return PMPI_Comm_dup(comm, copy);
    *copy = comm;
    return MPI_SUCCESS;
}

/* A predefined communicator can only be a copy that was returned by this file, even if the library has been started since. */
int MPI_Comm_free(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_WORLD && *comm != MPI_COMM_SELF) return PMPI_Comm_free(comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
    if (!fem_mpi_single(1)) return PMPI_Comm_split(comm, color, key, part);
    *part = color == MPI_UNDEFINED ? MPI_COMM_NULL : comm;
    return MPI_SUCCESS;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part)
{
    if (!fem_mpi_single(1)) return PMPI_Comm_split_type(comm, type, key, info, part);
    *part = type == MPI_UNDEFINED ? MPI_COMM_NULL : comm;
    return MPI_SUCCESS;
}

/* Two groups are known here: that of the one process, which MPI_GROUP_EMPTY represents, and the empty one, MPI_GROUP_NULL. */
int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    if (!fem_mpi_single(1)) return PMPI_Comm_group(comm, group);
    *group = MPI_GROUP_EMPTY;
    return MPI_SUCCESS;
}

int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *part)
{
    if (!fem_mpi_single(1)) return PMPI_Group_incl(group, n, ranks, part);
    *part = n > 0 ? group : MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *group)
{
    if (!fem_mpi_single(1) && *group != MPI_GROUP_EMPTY && *group != MPI_GROUP_NULL) return PMPI_Group_free(group);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
    if (!fem_mpi_single(1)) return PMPI_Comm_create(comm, group, made);
    *made = group == MPI_GROUP_NULL ? MPI_COMM_NULL : comm;
    return MPI_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------- collectives */

/* Returns the number of bytes of a predefined type; 0 if it is not known here. */
static size_t bytes_of(MPI_Datatype type)
{
    const struct {
        MPI_Datatype type;
        size_t bytes;
    } types[] = {
        {MPI_INT, sizeof(int)},
        {MPI_DOUBLE, sizeof(double)},
        {MPI_BYTE, 1},
        {MPI_CHAR, 1},
        {MPI_SIGNED_CHAR, 1},
        {MPI_UNSIGNED_CHAR, 1},
        {MPI_SHORT, sizeof(short)},
        {MPI_UNSIGNED_SHORT, sizeof(short)},
        {MPI_UNSIGNED, sizeof(int)},
        {MPI_LONG, sizeof(long)},
        {MPI_UNSIGNED_LONG, sizeof(long)},
        {MPI_LONG_LONG_INT, sizeof(long long)},
        {MPI_UNSIGNED_LONG_LONG, sizeof(long long)},
        {MPI_FLOAT, sizeof(float)},
        {MPI_LONG_DOUBLE, sizeof(long double)},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (type == types[i].type) return types[i].bytes;
    return 0;
}

/* With one process, the result of a collective operation is its input.  MPI_IN_PLACE means that it is in place already. */
static int copy(const void *from, void *to, int first, int count, MPI_Datatype type)
{
    size_t bytes = bytes_of(type);
    if (from != MPI_IN_PLACE && to != MPI_IN_PLACE && count > 0) memcpy((char *)to + (size_t)first * bytes, from, (size_t)count * bytes);
    return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) { return fem_mpi_single(1) ? MPI_SUCCESS : PMPI_Barrier(comm); }

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    return fem_mpi_single(1) ? MPI_SUCCESS : PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(type) > 0)) return PMPI_Allreduce(from, to, count, type, op, comm);
    return copy(from, to, 0, count, type);
}

int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(type) > 0)) return PMPI_Reduce(from, to, count, type, op, root, comm);
    return copy(from, to, 0, count, type);
}

int MPI_Scan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(type) > 0)) return PMPI_Scan(from, to, count, type, op, comm);
    return copy(from, to, 0, count, type);
}

/* The first process receives nothing. */
int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return fem_mpi_single(1) ? MPI_SUCCESS : PMPI_Exscan(from, to, count, type, op, comm);
}

int MPI_Gather(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(to_type) > 0)) return PMPI_Gather(from, count, type, to, to_count, to_type, root, comm);
    return copy(from, to, 0, to_count, to_type);
}

int MPI_Gatherv(const void *from, int count, MPI_Datatype type, void *to, const int counts[], const int first[], MPI_Datatype to_type,
                int root, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(to_type) > 0)) return PMPI_Gatherv(from, count, type, to, counts, first, to_type, root, comm);
    return copy(from, to, first[0], counts[0], to_type);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(to_type) > 0)) return PMPI_Allgather(from, count, type, to, to_count, to_type, comm);
    return copy(from, to, 0, to_count, to_type);
}

int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to, const int counts[], const int first[], MPI_Datatype to_type,
                   MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(to_type) > 0)) return PMPI_Allgatherv(from, count, type, to, counts, first, to_type, comm);
    return copy(from, to, first[0], counts[0], to_type);
}

int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(to_type) > 0)) return PMPI_Alltoall(from, count, type, to, to_count, to_type, comm);
    return copy(from, to, 0, to_count, to_type);
}

int MPI_Scatter(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type, int root, MPI_Comm comm)
{
    if (!fem_mpi_single(bytes_of(type) > 0)) return PMPI_Scatter(from, count, type, to, to_count, to_type, root, comm);
    return copy(from, to, 0, count, type);
}

int MPI_Scatterv(const void *from, const int counts[], const int first[], MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                 int root, MPI_Comm comm)
{
    size_t bytes = bytes_of(type);
    if (!fem_mpi_single(bytes > 0)) return PMPI_Scatterv(from, counts, first, type, to, to_count, to_type, root, comm);
    return copy((const char *)from + (size_t)first[0] * bytes, to, 0, counts[0], type);
}

/* ------------------------------------------------------------------------------------ requests without messages */

static int none_waits(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL) return 0;
    return 1;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    return fem_mpi_single(none_waits(count, requests)) ? MPI_SUCCESS : PMPI_Waitall(count, requests, statuses);
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    if (!fem_mpi_single(none_waits(count, requests))) return PMPI_Waitsome(count, requests, done, indices, statuses);
    *done = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Waitany(int count, MPI_Request requests[], int *done, MPI_Status *status)
{
    if (!fem_mpi_single(none_waits(count, requests))) return PMPI_Waitany(count, requests, done, status);
    *done = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    if (!fem_mpi_single(none_waits(count, requests))) return PMPI_Testall(count, requests, flag, statuses);
    *flag = 1;
    return MPI_SUCCESS;
}

int MPI_Startall(int count, MPI_Request requests[]) { return fem_mpi_single(count == 0) ? MPI_SUCCESS : PMPI_Startall(count, requests); }

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    if (!fem_mpi_single(1)) return PMPI_Iprobe(source, tag, comm, flag, status);
    *flag = 0;
    return MPI_SUCCESS;
}

#pragma GCC visibility pop
