/* Checkpoints on several ranks: the file that one rank alone writes, and the forest that it describes, on any number of ranks. */
#include <string.h>
#include <unistd.h>

#include "checkpoint/file.h"
#include "space/forest/levels.h"

#include "unit.h"

#include "twins.h"

static void create(twins *t)
{
    uint64_t seed = 5;
    const block_options options = {.elements = {3, 2, 2}, .order = 1, .turn = 7, .components = 3};
    twins_create(&options, t);
    for (int i = 0; i < 3; i++) twins_refine(t, i == 0 ? 0.6 : 0.2, &seed, NULL);
    twins_discretise(t, FEM_Q2);
}

/* A number for each node and component that all ranks know. */
static double value_of(int64_t node, int component) { return (double)(3 * node + component) / 7; }

static double indicator_of(int64_t element) { return 1 / (double)(1 + element); }

/* What a rank has of it: of its own nodes and elements. */
static void fill(const fem_space *space, fem_checkpoint_part *part, double *value, double *indicator)
{
    *part = (fem_checkpoint_part){.ranks = space->ranks,
                                  .num_leaves = space->num_elements,
                                  .num_nodes = space->ranks ? space->num_owned : space->num_nodes,
                                  .components = 3,
                                  .level = space->level,
                                  .value = value,
                                  .indicator = indicator};
    const int64_t first = space->ranks ? space->first_owned : 0;
    for (int64_t i = 0; i < part->num_nodes; i++)
        for (int a = 0; a < 3; a++) value[3 * i + a] = value_of(first + i, a);
    for (int32_t e = 0; e < space->num_elements; e++) indicator[e] = indicator_of((space->ranks ? space->first_element : 0) + e);
}

static void write_of(const fem_space *space, json_t *state, const char *path, yoke_status expected)
{
    fem_checkpoint_part part;
    double *value = block_zeros(3 * (int64_t)space->num_nodes, sizeof *value),
           *indicator = block_zeros(space->num_elements, sizeof *indicator);
    fill(space, &part, value, indicator);
    part.state = state;
    assert_int_equal(fem_checkpoint_write(space->context, &part, path), expected);
    free(value);
    free(indicator);
}

/* The name that the first rank gives; each rank's own where it writes alone. */
static void name_files(const twins *t, char together[64], char alone[64])
{
    int64_t process = getpid();
    app_ranks_broadcast(t->ranks, &process, sizeof process);
    snprintf(together, 64, "/tmp/yoke-checkpoint-%lld", (long long)process);
    snprintf(alone, 64, "/tmp/yoke-checkpoint-%lld-%d", (long long)process, app_ranks_number(t->ranks));
}

static void assert_same_bytes(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb"), *other = fopen(b, "rb");
    assert_true(one && other);
    for (int byte = 0; byte != EOF;) {
        byte = getc(one);
        assert_int_equal(byte, getc(other));
    }
    fclose(one);
    fclose(other);
}

static void all_ranks_write_the_file_of_one(void **state)
{
    (void)state;
    twins t;
    char together[64], alone[64];
    json_t *text = json_pack("{s:s}", "of", "both");
    create(&t);
    name_files(&t, together, alone);
    write_of(t.shared.space, app_ranks_number(t.ranks) == 0 ? text : NULL, together, YOKE_OK);
    write_of(t.alone.space, text, alone, YOKE_OK);
    assert_same_bytes(together, alone);
    unlink(alone);
    app_ranks_agree(t.ranks, YOKE_OK);
    if (app_ranks_number(t.ranks) == 0) unlink(together);
    json_decref(text);
    twins_destroy(&t);
}

static void each_rank_reads_its_part_of_the_same_mesh(void **state)
{
    (void)state;
    twins t;
    char together[64], alone[64];
    json_t *text = json_pack("{s:s}", "of", "one");
    fem_checkpoint *read;
    fem_forest *forest;
    fem_space *space;
    create(&t);
    name_files(&t, together, alone);
    write_of(t.alone.space, text, alone, YOKE_OK);
    assert_int_equal(fem_checkpoint_open(t.shared.context, alone, 1, &read), YOKE_OK);
    assert_int_equal(fem_forest_create_from_levels(&t.shared.mesh, read->num_leaves, read->level, &forest), YOKE_OK);
    assert_int_equal(fem_space_create(&t.shared.problem, forest, FEM_Q2, &space), YOKE_OK);
    assert_int_equal(space->num_global_nodes, t.alone.space->num_nodes);
    assert_int_equal(read->num_nodes, space->num_global_nodes);
    const int64_t first = space->first_element;
    assert_true(space->num_elements > 0);
    for (int32_t e = 0; e < space->num_elements; e++) {
        assert_int_equal(space->tree[e], t.alone.space->tree[first + e]);
        assert_int_equal(space->level[e], t.alone.space->level[first + e]);
        assert_memory_equal(space->corner + 3 * (int64_t)e, t.alone.space->corner + 3 * (first + e), 3 * sizeof(int32_t));
    }
    double *value = block_zeros(3 * (int64_t)space->num_owned, sizeof *value),
           *indicator = block_zeros(space->num_elements, sizeof *indicator);
    assert_int_equal(fem_checkpoint_read_values(read, space->first_owned, space->num_owned, value), YOKE_OK);
    assert_int_equal(fem_checkpoint_read_indicators(read, first, space->num_elements, indicator), YOKE_OK);
    for (int64_t i = 0; i < space->num_owned; i++)
        for (int a = 0; a < 3; a++) assert_true(value[3 * i + a] == value_of(space->first_owned + i, a));
    for (int32_t e = 0; e < space->num_elements; e++) assert_true(indicator[e] == indicator_of(first + e));
    free(value);
    free(indicator);
    fem_space_destroy(space);
    fem_forest_destroy(forest);
    fem_checkpoint_close(read);
    unlink(alone);
    json_decref(text);
    twins_destroy(&t);
}

static void a_file_that_cannot_be_written_is_an_error_on_all(void **state)
{
    (void)state;
    twins t;
    json_t *text = json_object();
    create(&t);
    write_of(t.shared.space, text, "/no/such/directory/checkpoint-0.bin", YOKE_ERROR_INPUT);
    int8_t *level = block_zeros(t.alone.space->num_elements, 1);
    fem_forest *forest = NULL; /* of levels that are of no refinement */
    assert_int_equal(fem_forest_create_from_levels(&t.shared.mesh, t.alone.space->num_elements, level, &forest), YOKE_ERROR_INPUT);
    free(level);
    json_decref(text);
    twins_destroy(&t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_ranks_write_the_file_of_one),
    cmocka_unit_test(each_rank_reads_its_part_of_the_same_mesh),
    cmocka_unit_test(a_file_that_cannot_be_written_is_an_error_on_all),
};

UNIT_MAIN(tests, twins_start, twins_end)
