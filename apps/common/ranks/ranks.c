/* ranks.c - ranks by MPI.  ranks/single.c replaces it in a program that is built without MPI. */
#include "common/ranks/ranks.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

#include "common/console/interrupt.h"

enum { FEW = 64, TAG_TO_FIRST = 1001 /* greater than the tags of messages */ };

/* Largest number of bytes in one message. */
static const int64_t chunk = 1 << 30;

struct app_ranks {
    yoke_context *context;
    int number, count;
    int here, place_here, first_here; /* on this machine: number of ranks, position of this rank among them, number of the first one */
    yoke_status agreed;               /* latest status returned by app_ranks_agree */
    int speaker;                      /* the rank that reports it; -1: none failed */
    double *few;                      /* [count][FEW] values of all ranks, if there are several */
};

/* -------------------------------------------------------------------------------------------------- start, end */

static yoke_status start_mpi(app_ranks *r)
{
    int has = MPI_THREAD_SINGLE;
    MPI_Comm here;
    /*
     * MPI examines the machine through hwloc, whose plugins would start the drivers of all GPUs.  yoke does that itself where it is needed.
     */
    setenv("HWLOC_COMPONENTS", "-opencl,-cuda,-nvml,-rsmi,-levelzero,-gl", 0);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &has) != MPI_SUCCESS)
        return yoke_fail(r->context, YOKE_ERROR_SYSTEM, "MPI does not start; check the MPI installation");
    MPI_Comm_rank(MPI_COMM_WORLD, &r->number);
    MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &r->here);
    MPI_Comm_rank(here, &r->place_here);
    r->first_here = r->number;
    MPI_Bcast(&r->first_here, 1, MPI_INT, 0, here);
    MPI_Comm_free(&here);
    if (r->count == 1) return YOKE_OK;
    signal(SIGTERM, SIG_DFL); /* if a rank dies, its launcher ends the others by this signal, and they have nothing to report */
    signal(SIGINT, SIG_DFL);
    if (has < MPI_THREAD_SERIALIZED)
        return yoke_fail(r->context, YOKE_ERROR_UNAVAILABLE,
                         "this MPI does not support MPI_THREAD_SERIALIZED, which messages beside the work need: use another MPI");
    return YOKE_OK;
}

yoke_status app_ranks_start(yoke_context *context, app_ranks **ranks)
{
    app_ranks *r = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *r, &r);
    if (status) return status;
    *r = (app_ranks){.context = context, .count = 1, .here = 1, .speaker = -1};
    if (app_ranks_launched()) status = start_mpi(r);
    if (!status && r->count > 1) status = yoke_allocate(context, (int64_t)r->count * FEW, sizeof *r->few, &r->few);
    if (status)
        yoke_release(context, r);
    else
        *ranks = r;
    return status;
}

yoke_status app_ranks_end(app_ranks *ranks, app_terminal *terminal, yoke_status status)
{
    int runs = 0;
    if (!ranks) return status;
    MPI_Initialized(&runs);
    if (status && ranks->count > 1) {
        if (status != ranks->agreed || ranks->speaker == ranks->number) app_terminal_fail(terminal, ranks->context, status);
        if (status != ranks->agreed) MPI_Abort(MPI_COMM_WORLD, app_exit_code(status));
        terminal->code = app_exit_code(status);
        status = YOKE_OK;
        signal(SIGTERM, SIG_DFL);    /* the launcher ends slower ranks by this signal, which a handler must not report */
        MPI_Barrier(MPI_COMM_WORLD); /* the launcher ends the other ranks when the first one exits; by then the error has been reported */
    }
    if (runs) MPI_Finalize();
    yoke_release(ranks->context, ranks->few);
    yoke_release(ranks->context, ranks);
    return status;
}

int app_ranks_number(const app_ranks *ranks) { return ranks ? ranks->number : 0; }
int app_ranks_count(const app_ranks *ranks) { return ranks ? ranks->count : 1; }
int app_ranks_here(const app_ranks *ranks) { return ranks ? ranks->here : 1; }
int app_ranks_place_here(const app_ranks *ranks) { return ranks ? ranks->place_here : 0; }
int app_ranks_first_here(const app_ranks *ranks) { return ranks ? ranks->first_here : 0; }

int app_ranks_threads(const app_ranks *ranks, int most)
{
    const int here = app_ranks_here(ranks);
    const long part = (sysconf(_SC_NPROCESSORS_ONLN) + here - 1 - app_ranks_place_here(ranks)) / here;
    return part < 1 ? 1 : part < most ? (int)part : most;
}

int app_ranks_interrupted(app_ranks *ranks)
{
    int number = app_interrupted();
    if (app_ranks_count(ranks) == 1) return number;
    MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    app_interrupt_note(number);
    return number;
}

/* ----------------------------------------------------------------------------------------- collective operations */

yoke_status app_ranks_agree(app_ranks *ranks, yoke_status status)
{
    char text[2000];
    if (app_ranks_count(ranks) == 1) return status;
    int told[2] = {ranks->number, (int)status};
    int least[2] = {status ? ranks->number : ranks->count,
                    status && status == ranks->agreed}; /* the first rank that failed; whether all know that already */
    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    const int first = least[0];
    if (first == ranks->count) return YOKE_OK;
    if (least[1]) return status; /* agreed on earlier, at a deeper level: only the rank that failed has the message */
    MPI_Bcast(told, 2, MPI_INT, first, MPI_COMM_WORLD);
    ranks->speaker = first;
    ranks->agreed = (yoke_status)told[1];
    if (first != ranks->number) return yoke_fail(ranks->context, ranks->agreed, "rank %d failed", first);
    if (first == 0) return status;
    snprintf(text, sizeof text, "%s", yoke_last_error(ranks->context));
    return yoke_fail(ranks->context, status, "rank %d: %s", first, text);
}

void app_ranks_gather(app_ranks *ranks, const void *mine, int bytes, void *all)
{
    if (app_ranks_count(ranks) > 1)
        MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
        memcpy(all, mine, (size_t)bytes);
}

yoke_status app_ranks_collect(app_ranks *ranks, const void *mine, int64_t bytes, void **all, int64_t *all_bytes)
{
    const int count = app_ranks_count(ranks);
    int *lengths = NULL, own = (int)bytes;
    void *made = NULL;
    int64_t sum = 0;
    app_ranks_offset(ranks, bytes, &sum);
    yoke_status status = yoke_allocate(ranks->context, 2 * (int64_t)count, sizeof *lengths, &lengths);
    if (!status) status = yoke_allocate(ranks->context, sum > 0 ? sum : 1, 1, &made);
    if (!status && sum > INT32_MAX)
        status = yoke_fail(ranks->context, YOKE_ERROR_MEMORY, "%lld bytes are too many for one message to all ranks", (long long)sum);
    status = app_ranks_agree(ranks, status);
    if (!status) {
        app_ranks_gather(ranks, &own, sizeof own, lengths);
        for (int i = 1; i < count; i++) lengths[count + i] = lengths[count + i - 1] + lengths[i - 1];
        if (count > 1)
            MPI_Allgatherv(mine, own, MPI_BYTE, made, lengths, lengths + count, MPI_BYTE, MPI_COMM_WORLD);
        else if (bytes > 0)
            memcpy(made, mine, (size_t)bytes);
    }
    yoke_release(ranks->context, lengths);
    if (status) {
        yoke_release(ranks->context, made);
        return status;
    }
    *all = made;
    *all_bytes = sum;
    return YOKE_OK;
}

void app_ranks_broadcast(app_ranks *ranks, void *memory, int64_t bytes)
{
    for (int64_t first = 0; first < bytes && app_ranks_count(ranks) > 1; first += chunk)
        MPI_Bcast((char *)memory + first, (int)(bytes - first < chunk ? bytes - first : chunk), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void app_ranks_send_to_first(app_ranks *ranks, int from, const void *sent, void *received, int64_t bytes)
{
    const int rank = app_ranks_number(ranks);
    for (int64_t first = 0; first < bytes && from > 0; first += chunk) {
        const int some = (int)(bytes - first < chunk ? bytes - first : chunk);
        if (rank == from) MPI_Send((const char *)sent + first, some, MPI_BYTE, 0, TAG_TO_FIRST, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv((char *)received + first, some, MPI_BYTE, from, TAG_TO_FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Adds a few numbers in the order of the ranks. */
static void sum_few(app_ranks *ranks, double *values, int count, double *all)
{
    MPI_Allgather(values, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        values[i] = all[i];
        for (int rank = 1; rank < ranks->count; rank++) values[i] += all[rank * count + i];
    }
}

void app_ranks_sum(app_ranks *ranks, double *values, int64_t count)
{
    enum { CHUNK = 1 << 20 };
    if (app_ranks_count(ranks) == 1) return;
    if (count <= FEW) {
        sum_few(ranks, values, (int)count, ranks->few);
        return;
    }
    /* Reduced on rank 0 and broadcast, so that all ranks get bitwise the same result. */
    for (int64_t first = 0; first < count && ranks->count > 1; first += CHUNK) {
        const int some = count - first < CHUNK ? (int)(count - first) : CHUNK;
        MPI_Reduce(ranks->number ? values + first : MPI_IN_PLACE, values + first, some, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Bcast(values + first, some, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

void app_ranks_max(app_ranks *ranks, double *values, int64_t count)
{
    if (app_ranks_count(ranks) == 1) return;
    for (int64_t i = 0; i < count; i++) values[i] = isnan(values[i]) ? -INFINITY : values[i];
    MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int64_t app_ranks_offset(app_ranks *ranks, int64_t mine, int64_t *all)
{
    int64_t before = 0, sum = mine;
    if (app_ranks_count(ranks) > 1) {
        MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (ranks->number == 0) before = 0; /* rank 0 receives nothing from MPI_Exscan */
        MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    if (all) *all = sum;
    return before;
}

/* -------------------------------------------------------------------------------------------------- transfers */

struct app_transfer {
    yoke_context *context;
    pthread_t thread;
    bool threaded;
    int count;
    double begin_s, end_s;
    MPI_Request requests[];
};

/* Tests repeatedly and sleeps in between, because the cores are busy.  Without the tests, long messages would not make progress. */
static void *wait_for_all(void *argument)
{
    app_transfer *t = argument;
    const struct timespec moment = {.tv_nsec = 50000};
    int done = 0;
    for (;;) {
        MPI_Testall(t->count, t->requests, &done, MPI_STATUSES_IGNORE);
        if (done) break;
        nanosleep(&moment, NULL);
    }
    t->end_s = yoke_clock_s();
    return NULL;
}

static void post(const app_message *m, int size, bool sends, MPI_Request *request)
{
    MPI_Datatype rectangle;
    const MPI_Datatype number = size == 8 ? MPI_UINT64_T : MPI_UINT32_T;
    MPI_Type_create_hvector((int)m->rows, (int)m->columns, (MPI_Aint)m->pitch * size, number, &rectangle);
    MPI_Type_commit(&rectangle);
    if (sends)
        MPI_Isend(m->first, 1, rectangle, m->rank, m->tag, MPI_COMM_WORLD, request);
    else
        MPI_Irecv(m->first, 1, rectangle, m->rank, m->tag, MPI_COMM_WORLD, request);
    MPI_Type_free(&rectangle); /* it stays valid until the message has arrived */
}

yoke_status app_transfer_start(app_ranks *ranks, int size, const app_message *send, int64_t num_send, const app_message *receive,
                               int64_t num_receive, app_transfer **transfer)
{
    app_transfer *t = NULL;
    const int64_t all = num_send + num_receive;
    yoke_status status = yoke_allocate(ranks->context, 1, sizeof *t + (size_t)all * sizeof t->requests[0], &t);
    if (status) return status;
    *t = (app_transfer){.context = ranks->context, .count = (int)all, .begin_s = yoke_clock_s()};
    for (int64_t i = 0; i < num_receive; i++) post(&receive[i], size, false, &t->requests[i]);
    for (int64_t i = 0; i < num_send; i++) post(&send[i], size, true, &t->requests[num_receive + i]);
    t->threaded = all > 0 && pthread_create(&t->thread, NULL, wait_for_all, t) == 0;
    t->end_s = t->begin_s;
    *transfer = t;
    return YOKE_OK;
}

void app_transfer_finish(app_transfer *transfer, double *seconds)
{
    *seconds = 0;
    if (!transfer) return;
    if (transfer->threaded)
        pthread_join(transfer->thread, NULL);
    else if (transfer->count > 0)
        wait_for_all(transfer);
    *seconds = transfer->end_s - transfer->begin_s;
    yoke_release(transfer->context, transfer);
}
