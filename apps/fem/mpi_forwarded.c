/*
 * mpi_forwarded.c - MPI functions that p4est, sc and hypre may call and that mpi_single.c does not implement: they start the MPI library
 * and call its function.
 */
#include <mpi.h>

#include "mpi_single.h"

#define HAND_ON(name, parameters, arguments) \
    int MPI_##name parameters                \
    {                                        \
        fem_mpi_single(0);                   \
        return PMPI_##name arguments;        \
    }

#pragma GCC visibility push(default)

/* Messages. */
HAND_ON(Send, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f), (a, b, c, d, e, f))
HAND_ON(Recv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status *g), (a, b, c, d, e, f, g))
HAND_ON(Isend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
HAND_ON(Issend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
HAND_ON(Irsend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
HAND_ON(Irecv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
HAND_ON(Send_init, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
HAND_ON(Recv_init, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), (a, b, c, d, e, f, g))
HAND_ON(Probe, (int a, int b, MPI_Comm c, MPI_Status *d), (a, b, c, d))
HAND_ON(Wait, (MPI_Request * a, MPI_Status *b), (a, b))
HAND_ON(Test, (MPI_Request * a, int *b, MPI_Status *c), (a, b, c))
HAND_ON(Request_free, (MPI_Request * a), (a))
HAND_ON(Get_count, (const MPI_Status *a, MPI_Datatype b, int *c), (a, b, c))
HAND_ON(Ibarrier, (MPI_Comm a, MPI_Request *b), (a, b))
HAND_ON(Reduce_scatter_block, (const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))

/* Types, operations, attributes, groups. */
HAND_ON(Type_commit, (MPI_Datatype * a), (a))
HAND_ON(Type_free, (MPI_Datatype * a), (a))
HAND_ON(Type_contiguous, (int a, MPI_Datatype b, MPI_Datatype *c), (a, b, c))
HAND_ON(Type_vector, (int a, int b, int c, MPI_Datatype d, MPI_Datatype *e), (a, b, c, d, e))
HAND_ON(Type_create_hvector, (int a, int b, MPI_Aint c, MPI_Datatype d, MPI_Datatype *e), (a, b, c, d, e))
HAND_ON(Type_create_struct, (int a, const int b[], const MPI_Aint c[], const MPI_Datatype d[], MPI_Datatype *e), (a, b, c, d, e))
HAND_ON(Get_address, (const void *a, MPI_Aint *b), (a, b))
HAND_ON(Op_create, (MPI_User_function * a, int b, MPI_Op *c), (a, b, c))
HAND_ON(Op_free, (MPI_Op * a), (a))
HAND_ON(Comm_create_keyval, (MPI_Comm_copy_attr_function * a, MPI_Comm_delete_attr_function *b, int *c, void *d), (a, b, c, d))
HAND_ON(Comm_get_attr, (MPI_Comm a, int b, void *c, int *d), (a, b, c, d))
HAND_ON(Comm_set_attr, (MPI_Comm a, int b, void *c), (a, b, c))
HAND_ON(Comm_delete_attr, (MPI_Comm a, int b), (a, b))
HAND_ON(Group_union, (MPI_Group a, MPI_Group b, MPI_Group *c), (a, b, c))
HAND_ON(Group_translate_ranks, (MPI_Group a, int b, const int c[], MPI_Group d, int e[]), (a, b, c, d, e))

/* Shared memory and files. */
HAND_ON(Alloc_mem, (MPI_Aint a, MPI_Info b, void *c), (a, b, c))
HAND_ON(Free_mem, (void *a), (a))
HAND_ON(Win_allocate_shared, (MPI_Aint a, int b, MPI_Info c, MPI_Comm d, void *e, MPI_Win *f), (a, b, c, d, e, f))
HAND_ON(Win_shared_query, (MPI_Win a, int b, MPI_Aint *c, int *d, void *e), (a, b, c, d, e))
HAND_ON(Win_lock, (int a, int b, int c, MPI_Win d), (a, b, c, d))
HAND_ON(Win_unlock, (int a, MPI_Win b), (a, b))
HAND_ON(Win_create, (void *a, MPI_Aint b, int c, MPI_Info d, MPI_Comm e, MPI_Win *f), (a, b, c, d, e, f))
HAND_ON(Win_fence, (int a, MPI_Win b), (a, b))
HAND_ON(Accumulate, (const void *a, int b, MPI_Datatype c, int d, MPI_Aint e, int f, MPI_Datatype g, MPI_Op h, MPI_Win i),
        (a, b, c, d, e, f, g, h, i))
HAND_ON(Win_free, (MPI_Win * a), (a))
HAND_ON(File_open, (MPI_Comm a, const char *b, int c, MPI_Info d, MPI_File *e), (a, b, c, d, e))
HAND_ON(File_close, (MPI_File * a), (a))
HAND_ON(File_seek, (MPI_File a, MPI_Offset b, int c), (a, b, c))
HAND_ON(File_get_position, (MPI_File a, MPI_Offset *b), (a, b))
HAND_ON(File_write, (MPI_File a, const void *b, int c, MPI_Datatype d, MPI_Status *e), (a, b, c, d, e))
HAND_ON(File_read, (MPI_File a, void *b, int c, MPI_Datatype d, MPI_Status *e), (a, b, c, d, e))

MPI_Comm MPI_Comm_f2c(MPI_Fint comm)
{
    fem_mpi_single(0);
    return PMPI_Comm_f2c(comm);
}

#pragma GCC visibility pop
