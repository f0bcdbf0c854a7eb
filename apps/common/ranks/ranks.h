/*
 * ranks.h - the processes of one run (the ranks of MPI): their numbers, errors that all of them learn of, and numbers that move between
 * them.
 *
 * MPI starts only in a process that a launcher started (mpirun, srun).  Otherwise, and in a program that was built without MPI, there is
 * one rank.  If a rank dies the launcher ends the others by SIGTERM, which is not caught then.
 *
 * All functions except those of one rank's own numbers are collective: every rank calls them, in the same order, also after an error of
 * its own, which app_ranks_agree makes known.  ranks NULL stands for one rank.
 */
#ifndef APP_RANKS_H
#define APP_RANKS_H

#include <stdbool.h>

#include "common/console/terminal.h"

typedef struct app_ranks app_ranks;

/* Whether a launcher of MPI or of a batch system started this process. */
bool app_ranks_launched(void);
/*
 * The number of processes that the launcher started, as it reports it; 1 if it does not.  Without MPI, for programs that work on one rank.
 */
int app_ranks_launched_count(void);

/*
 * Starts MPI.  Errors: SYSTEM (MPI does not start), UNAVAILABLE (several ranks, and the program was built without MPI), MEMORY.  Freed with
 * app_ranks_end.
 */
yoke_status app_ranks_start(yoke_context *context, app_ranks **ranks);

/*
 * Ends MPI, and returns the status that the program must return; for one rank that is `status`.  With several ranks the rank that has an
 * error reports it here, and the exit code is in the terminal of each.  A status that app_ranks_agree did not return ends all ranks at
 * once (MPI_Abort).  ranks NULL: status.
 */
yoke_status app_ranks_end(app_ranks *ranks, app_terminal *terminal, yoke_status status);

/* The number of this process, from 0; and the number of processes. */
int app_ranks_number(const app_ranks *ranks);
int app_ranks_count(const app_ranks *ranks);
/*
 * The number of processes on this process's machine, including this one; its place among them, from 0; and the number of the first of them.
 * ranks NULL: 1, 0 and 0.
 */
int app_ranks_here(const app_ranks *ranks);
int app_ranks_place_here(const app_ranks *ranks);
int app_ranks_first_here(const app_ranks *ranks);

/*
 * The number of threads for this rank, if a process could have `most`: the threads of the machine are divided among all ranks on it,
 * unless the launcher has divided them.
 */
int app_ranks_threads(const app_ranks *ranks, int most);

/* The signal that any rank has caught (interrupt.h), which then all of them know; or 0. */
int app_ranks_interrupted(app_ranks *ranks);

/*
 * OK if all ranks have OK; else on every rank the status of the first rank that has an error.  Only that rank reports its error, with its
 * number if that is not 0; on the others the context's error says that they end because of it.  If all ranks agree again on that status
 * nothing changes.
 */
yoke_status app_ranks_agree(app_ranks *ranks, yoke_status status);

/* Gathers `bytes` bytes of each rank, in the order of their numbers: all [count of ranks x bytes]. */
void app_ranks_gather(app_ranks *ranks, const void *mine, int bytes, void *all);
/*
 * Collects on each rank the bytes of all ranks, one rank's after the other's; the numbers of bytes may differ.  *all is freed with
 * yoke_release.  ranks must not be NULL.  Errors: MEMORY, also if all together are more than 2^31 - 1.
 */
yoke_status app_ranks_collect(app_ranks *ranks, const void *mine, int64_t bytes, void **all, int64_t *all_bytes);
/* Copies bytes from rank 0 to all. */
void app_ranks_broadcast(app_ranks *ranks, void *memory, int64_t bytes);
/*
 * Sends bytes from one rank to rank 0, which has room for them.  It acts on these two ranks only; the sender waits until they are sent.
 * from 0: does nothing.
 */
void app_ranks_send_to_first(app_ranks *ranks, int from, const void *sent, void *received, int64_t bytes);
/* values [count] become their sums over the ranks, added in the same order on each; up to 64 values in the order of the ranks. */
void app_ranks_sum(app_ranks *ranks, double *values, int64_t count);
/* values [count] become the largest of all ranks'; NaN counts as less than all numbers. */
void app_ranks_max(app_ranks *ranks, double *values, int64_t count);
/* The sum of `mine` over the ranks before this one; *all, if not NULL: over all ranks. */
int64_t app_ranks_offset(app_ranks *ranks, int64_t mine, int64_t *all);

/*
 * A rectangle of numbers in memory: rows of `columns` numbers each, `pitch` numbers from one row to the next.  Each side is at most 2^31
 * - 1.
 */
typedef struct app_message {
    int rank; /* the other rank, to which or from which it goes */
    int tag;  /* 0 .. 1000; between two ranks messages of one tag arrive in the order in which they were sent */
    void *first;
    int64_t rows, columns, pitch;
} app_message;

typedef struct app_transfer app_transfer;

/*
 * Starts to send and to receive, on a separate thread.  Memory must not change until app_transfer_finish, before which no other function
 * of the ranks is called.
 * size: bytes of a number, 4 or 8.  Not collective: the messages that are received are those that were sent to this rank.
 * ranks must not be NULL.  Errors: MEMORY (then nothing is in progress, and the receivers wait, so the status must end all ranks).
 */
yoke_status app_transfer_start(app_ranks *ranks, int size, const app_message *send, int64_t num_send, const app_message *receive,
                               int64_t num_receive, app_transfer **transfer);
/* Waits until everything has been received and sent.  *seconds: from the start until then.  transfer NULL: 0. */
void app_transfer_finish(app_transfer *transfer, double *seconds);

#endif
