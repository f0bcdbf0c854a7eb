/* Runs that keep what they learn in one store. */
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failing.h"
#include "model/store.h"
#include "unit.h"
#include "worker.h"

#define MACHINE "{\"name\": \"m\", \"devices\": [{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6}]}"

typedef struct session {
    failing memory;
    worker w;
} session;

static void open_session(session *s, const char *path)
{
    const yoke_run_options options = {.store = path};
    s->memory = (failing){0};
    worker_open(&s->w, &s->memory, MACHINE, &options);
}

static void close_session(session *s)
{
    worker_close(&s->w);
    assert_int_equal(s->memory.outstanding, 0);
}

static yoke_round round_of(const yoke_phase *phase, const int64_t *units)
{
    return (yoke_round){.num_cuts = 1, .num_phases = 1, .cut_units = units, .phases = phase};
}

static void work_on(session *s, const char *work, int64_t units)
{
    const yoke_phase phase = {.work = work, .calls = 1, .units = units};
    const yoke_round round = round_of(&phase, &units);
    assert_int_equal(worker_round(&s->w, &round), YOKE_OK);
}

static void plan_only(session *s, const char *work, int64_t units)
{
    const yoke_phase phase = {.work = work, .calls = 1, .units = units};
    const yoke_round round = round_of(&phase, &units);
    const yoke_assignment *assignment;
    assert_int_equal(yoke_run_plan(s->w.run, &round, 1, &assignment), YOKE_OK);
}

/* The largest number of units that the file has of a work; 0: none. */
static double most_units(const char *path, const char *work)
{
    session s;
    yoke_store *store = NULL;
    double most = 0;
    open_session(&s, NULL); /* with the machine that the store is for */
    assert_int_equal(yoke_store_open(s.w.context, path, NULL, &store, NULL), YOKE_OK);
    for (int64_t i = 0; i < store->count; i++)
        for (int64_t k = 0; k < store->items[i].entry.num_samples && strcmp(store->items[i].entry.work, work) == 0; k++)
            most = fmax(most, store->items[i].entry.samples[k].units);
    yoke_store_close(store);
    close_session(&s);
    return most;
}

static void make_path(char path[64]) { snprintf(path, 64, "run-store-%ld.json", (long)getpid()); }

static void what_two_open_runs_learn_is_there_afterwards(void **state)
{
    (void)state;
    char path[64];
    session first, second;
    make_path(path);
    open_session(&first, path);
    open_session(&second, path);
    work_on(&first, "one", 1000);
    work_on(&second, "two", 2000);
    close_session(&second);
    close_session(&first);
    assert_true(most_units(path, "one") == 1000);
    assert_true(most_units(path, "two") == 2000);
    remove(path);
}

static void what_two_processes_learn_is_there_afterwards(void **state)
{
    (void)state;
    char path[64];
    make_path(path);
    pid_t child[2];
    for (int p = 0; p < 2; p++) {
        child[p] = fork();
        assert_true(child[p] >= 0);
        if (child[p] != 0) continue;
        session s;
        char work[32];
        open_session(&s, path);
        for (int k = 0; k < 10; k++) {
            snprintf(work, sizeof work, "%d-%d", p, k);
            work_on(&s, work, 1000);
            if (yoke_run_save(s.w.run, NULL) != YOKE_OK) _exit(1);
        }
        worker_close(&s.w);
        _exit(0);
    }
    for (int p = 0; p < 2; p++) {
        int how = -1;
        assert_int_equal(waitpid(child[p], &how, 0), child[p]);
        assert_int_equal(how, 0);
    }
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < 10; k++) {
            char work[32];
            snprintf(work, sizeof work, "%d-%d", p, k);
            assert_true(most_units(path, work) == 1000);
        }
    remove(path);
}

/* The first run has read what was known of a work, and plans with it; the second one has measured it since. */
static void a_run_does_not_write_what_it_has_only_read(void **state)
{
    (void)state;
    char path[64];
    session first, second;
    make_path(path);
    open_session(&first, path);
    work_on(&first, "one", 1000);
    close_session(&first);
    open_session(&first, path);
    plan_only(&first, "one", 1000);
    open_session(&second, path);
    work_on(&second, "one", 5000);
    close_session(&second);
    work_on(&first, "two", 2000);
    close_session(&first);
    assert_true(most_units(path, "one") == 5000);
    assert_true(most_units(path, "two") == 2000);
    remove(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_two_open_runs_learn_is_there_afterwards),
    cmocka_unit_test(what_two_processes_learn_is_there_afterwards),
    cmocka_unit_test(a_run_does_not_write_what_it_has_only_read),
};

UNIT_MAIN(tests, NULL, NULL)
