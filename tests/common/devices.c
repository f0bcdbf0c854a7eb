/* Which rank of a machine takes which of its GPUs. */
#include "common/ranks/devices.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

enum { MOST_RANKS = 8 };

static app_gpus seen[MOST_RANKS];
static char taken[MOST_RANKS][APP_MOST_GPUS];

/* A rank that sees cards with these PCI addresses, as the CUDA devices 0, 1 and so on. */
static void see(int rank, int machine, const char *places)
{
    app_gpus *g = &seen[rank];
    *g = (app_gpus){.machine = machine};
    for (; *places; places++, g->count++) {
        snprintf(g->name[g->count], APP_GPU_TEXT, "cuda:%d", g->count);
        snprintf(g->place[g->count], APP_GPU_TEXT, "0000:0%c:00.0", *places);
    }
}

static void name(int rank, int machine, const char *device)
{
    seen[rank] = (app_gpus){.machine = machine, .named = 1, .count = 1};
    snprintf(seen[rank].name[0], APP_GPU_TEXT, "%s", device);
    snprintf(seen[rank].place[0], APP_GPU_TEXT, "%s", device);
}

/* Letters of the cards that a rank takes. */
static void expect(int rank, const char *letters)
{
    char found[APP_MOST_GPUS + 1] = "";
    int count = 0;
    for (int k = 0; k < seen[rank].count; k++)
        if (taken[rank][k]) found[count++] = seen[rank].place[k][6];
    assert_string_equal(found, letters);
}

static void gpus_go_round_the_ranks_of_a_machine(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) see(i, 0, "abc");
    app_gpus_share(seen, 2, taken);
    expect(0, "ac");
    expect(1, "b");
    for (int i = 0; i < 4; i++) see(i, 0, "ab");
    app_gpus_share(seen, 4, taken);
    expect(0, "a");
    expect(1, "b");
    expect(2, "");
    expect(3, "");
}

/* Cards of two machines have the same addresses. */
static void each_machine_has_gpus_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) see(i, i / 2 * 2, "ab");
    app_gpus_share(seen, 4, taken);
    for (int i = 0; i < 4; i++) expect(i, i % 2 ? "b" : "a");
}

static void what_the_launcher_divided_stays_divided(void **state)
{
    (void)state;
    see(0, 0, "b");
    see(1, 0, "a");
    see(2, 0, "dc");
    app_gpus_share(seen, 3, taken);
    expect(0, "b");
    expect(1, "a");
    expect(2, "dc");
}

static void what_a_user_named_for_one_rank_no_other_takes(void **state)
{
    (void)state;
    see(0, 0, "ab");
    name(1, 0, "cuda:0");
    name(2, 2, "cuda:1"); /* on another machine */
    app_gpus_share(seen, 3, taken);
    expect(0, "b");
    expect(1, "");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gpus_go_round_the_ranks_of_a_machine),
    cmocka_unit_test(each_machine_has_gpus_of_its_own),
    cmocka_unit_test(what_the_launcher_divided_stays_divided),
    cmocka_unit_test(what_a_user_named_for_one_rank_no_other_takes),
};

UNIT_MAIN(tests, NULL, NULL)
