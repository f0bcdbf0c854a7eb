/* A program that was built without MPI: one rank, and a refusal where a launcher started several. */
#include <string.h>

#include "common/ranks/ranks.h"
#include "unit.h"

static const char *const launched_by[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};

static int start(void **state)
{
    yoke_context *context = NULL;
    for (size_t i = 0; i < sizeof launched_by / sizeof *launched_by; i++) unsetenv(launched_by[i]);
    if (yoke_context_create(NULL, &context)) return -1;
    *state = context;
    return 0;
}

static int end(void **state)
{
    yoke_context_destroy(*state);
    return 0;
}

static void one_rank_agrees_with_itself(void **state)
{
    app_ranks *ranks = NULL;
    app_transfer *transfer = NULL;
    app_terminal terminal = {.program = "test"};
    double sum[2] = {3, 4}, all[2] = {0}, seconds = 1;
    assert_int_equal(app_ranks_start(*state, &ranks), YOKE_OK);
    assert_int_equal(app_ranks_number(ranks), 0);
    assert_int_equal(app_ranks_count(ranks), 1);
    assert_int_equal(app_ranks_here(ranks), 1);
    assert_int_equal(app_ranks_agree(ranks, YOKE_OK), YOKE_OK);
    assert_int_equal(app_ranks_agree(ranks, YOKE_ERROR_MEMORY), YOKE_ERROR_MEMORY);
    app_ranks_gather(ranks, sum, sizeof sum, all);
    app_ranks_broadcast(ranks, sum, sizeof sum);
    app_ranks_sum(ranks, sum, 2);
    assert_memory_equal(sum, all, sizeof sum);
    assert_float_equal(sum[1], 4, 0);
    assert_int_equal(app_transfer_start(ranks, 8, NULL, 0, NULL, 0, &transfer), YOKE_OK);
    app_transfer_finish(transfer, &seconds);
    assert_float_equal(seconds, 0, 0);
    assert_int_equal(app_ranks_end(ranks, &terminal, YOKE_ERROR_INPUT), YOKE_ERROR_INPUT);
}

static void several_ranks_are_refused(void **state)
{
    app_ranks *ranks = NULL;
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    assert_int_equal(app_ranks_start(*state, &ranks), YOKE_OK);
    app_ranks_end(ranks, NULL, YOKE_OK);
    ranks = NULL;
    setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
    assert_true(app_ranks_launched());
    assert_int_equal(app_ranks_launched_count(), 3);
    assert_int_equal(app_ranks_start(*state, &ranks), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(*state), "3 ranks"));
    assert_null(ranks);
    unsetenv("OMPI_COMM_WORLD_SIZE");
    assert_false(app_ranks_launched());
    setenv("SLURM_NTASKS", "3", 1); /* of a batch job, whose script runs once */
    assert_int_equal(app_ranks_launched_count(), 1);
    unsetenv("SLURM_NTASKS");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_rank_agrees_with_itself),
    cmocka_unit_test(several_ranks_are_refused),
};

UNIT_MAIN(tests, start, end)
