/* MPI without a launcher: what one process gets by the standard, without the MPI library, and with it once that is needed. */
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "mpi_single.h"
#include "unit.h"

static int start(void **state)
{
    (void)state;
    /* Where the tests themselves run under a launcher, these functions are the library's. */
    static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    return MPI_Init(NULL, NULL);
}

static int end(void **state)
{
    (void)state;
    int ended = 0;
    return MPI_Finalize() || MPI_Finalized(&ended) || !ended;
}

static void one_process_is_rank_0_of_1(void **state)
{
    (void)state;
    int size = -1, rank = -1, started = 0, ended = 1;
    assert_int_equal(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_SUCCESS);
    assert_int_equal(MPI_Comm_rank(MPI_COMM_SELF, &rank), MPI_SUCCESS);
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    assert_int_equal(size, 1);
    assert_int_equal(rank, 0);
    assert_true(started && !ended);
    assert_false(fem_mpi_library_runs());
}

static void sums_over_one_process_are_what_it_gave(void **state)
{
    (void)state;
    const double gave[3] = {1.5, -2, 1e300};
    const long long counts[2] = {1LL << 40, -3};
    double got[3] = {0}, in_place[2] = {7, 8};
    long long got_counts[2] = {0};
    assert_int_equal(MPI_Allreduce(gave, got, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    assert_memory_equal(gave, got, sizeof gave);
    assert_int_equal(MPI_Reduce(counts, got_counts, 2, MPI_LONG_LONG_INT, MPI_MAX, 0, MPI_COMM_SELF), MPI_SUCCESS);
    assert_memory_equal(counts, got_counts, sizeof counts);
    assert_int_equal(MPI_Allreduce(MPI_IN_PLACE, in_place, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    assert_true(in_place[0] == 7 && in_place[1] == 8);
    memset(got, 0, sizeof got);
    assert_int_equal(MPI_Scan(gave, got, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    assert_memory_equal(gave, got, sizeof gave);
}

static void gathering_puts_values_at_their_places(void **state)
{
    (void)state;
    const int gave[2] = {11, 12}, counts[1] = {2}, first[1] = {3};
    int got[6] = {0};
    assert_int_equal(MPI_Allgatherv(gave, 2, MPI_INT, got, counts, first, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    assert_true(got[2] == 0 && got[3] == 11 && got[4] == 12 && got[5] == 0);
    assert_int_equal(MPI_Gather(gave, 2, MPI_INT, got, 2, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    assert_true(got[0] == 11 && got[1] == 12 && got[2] == 0);
    memset(got, 0, sizeof got);
    assert_int_equal(MPI_Scatterv((const int[]){0, 0, 0, 11, 12}, counts, first, MPI_INT, got, 2, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    assert_true(got[0] == 11 && got[1] == 12 && got[2] == 0);
}

static void copies_and_parts_of_communicators_have_one_process(void **state)
{
    (void)state;
    MPI_Comm copy, part, made;
    MPI_Group group, members, none;
    const int rank = 0;
    int size = 0;
    assert_int_equal(MPI_Comm_dup(MPI_COMM_WORLD, &copy), MPI_SUCCESS);
    MPI_Comm_size(copy, &size);
    assert_int_equal(size, 1);
    assert_int_equal(MPI_Comm_split(copy, MPI_UNDEFINED, 0, &part), MPI_SUCCESS);
    assert_true(part == MPI_COMM_NULL);
    assert_int_equal(MPI_Comm_group(copy, &group), MPI_SUCCESS);
    assert_int_equal(MPI_Group_incl(group, 1, &rank, &members), MPI_SUCCESS);
    assert_int_equal(MPI_Group_incl(group, 0, NULL, &none), MPI_SUCCESS);
    assert_int_equal(MPI_Comm_create(copy, none, &made), MPI_SUCCESS);
    assert_true(made == MPI_COMM_NULL);
    assert_int_equal(MPI_Comm_create(copy, members, &made), MPI_SUCCESS);
    MPI_Comm_size(made, &size);
    assert_int_equal(size, 1);
    assert_int_equal(MPI_Group_free(&members), MPI_SUCCESS);
    assert_int_equal(MPI_Comm_free(&made), MPI_SUCCESS);
    assert_int_equal(MPI_Comm_free(&copy), MPI_SUCCESS);
    assert_true(copy == MPI_COMM_NULL);
    assert_false(fem_mpi_library_runs());
}

static void nothing_is_waited_for(void **state)
{
    (void)state;
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag = -1, done = 0;
    assert_int_equal(MPI_Waitall(2, none, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    assert_int_equal(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    assert_int_equal(MPI_Waitany(2, none, &done, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(done, MPI_UNDEFINED);
    assert_int_equal(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_false(fem_mpi_library_runs());
}

/* The last test: from here on the library runs. */
static void a_message_starts_the_library_which_knows_earlier_handles(void **state)
{
    (void)state;
    MPI_Comm copy;
    MPI_Request request;
    MPI_Datatype pair;
    int sent[2] = {3, 4}, got[2] = {0}, size = 0;
    assert_int_equal(MPI_Comm_dup(MPI_COMM_WORLD, &copy), MPI_SUCCESS);
    assert_int_equal(MPI_Type_contiguous(2, MPI_INT, &pair), MPI_SUCCESS);
    assert_true(fem_mpi_library_runs());
    assert_int_equal(MPI_Type_commit(&pair), MPI_SUCCESS);
    assert_int_equal(MPI_Irecv(got, 1, pair, 0, 5, copy, &request), MPI_SUCCESS);
    assert_int_equal(MPI_Send(sent, 1, pair, 0, 5, copy), MPI_SUCCESS);
    assert_int_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    assert_memory_equal(sent, got, sizeof sent);
    memset(got, 0, sizeof got);
    assert_int_equal(MPI_Allreduce(sent, got, 2, MPI_INT, MPI_SUM, copy), MPI_SUCCESS);
    assert_memory_equal(sent, got, sizeof sent);
    MPI_Comm_size(copy, &size);
    assert_int_equal(size, 1);
    assert_int_equal(MPI_Type_free(&pair), MPI_SUCCESS);
    assert_int_equal(MPI_Comm_free(&copy), MPI_SUCCESS);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_process_is_rank_0_of_1),
    cmocka_unit_test(sums_over_one_process_are_what_it_gave),
    cmocka_unit_test(gathering_puts_values_at_their_places),
    cmocka_unit_test(copies_and_parts_of_communicators_have_one_process),
    cmocka_unit_test(nothing_is_waited_for),
    cmocka_unit_test(a_message_starts_the_library_which_knows_earlier_handles),
};

UNIT_MAIN(tests, start, end)
