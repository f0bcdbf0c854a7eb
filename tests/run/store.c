/* Runs that keep what they learn in one store. */
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failing.h"
#include "model/store/store.h"
#include "run/run.h"
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

/* Every entry of the file becomes one of another version of its kernel. */
static void make_outdated(const char *path)
{
    session s;
    yoke_store *store = NULL;
    open_session(&s, NULL);
    assert_int_equal(yoke_store_open(s.w.context, path, NULL, &store, NULL), YOKE_OK);
    for (int64_t i = 0; i < store->count; i++) {
        yoke_store_entry entry = store->items[i].entry;
        entry.kernel = "0000";
        assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    }
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    yoke_store_close(store);
    close_session(&s);
}

/* Else each later run would tell that it does not use it.  What a run does not know of stays. */
static void what_was_measured_with_another_version_of_a_kernel_is_removed(void **state)
{
    (void)state;
    char path[64];
    session s;
    make_path(path);
    open_session(&s, path);
    work_on(&s, "one", 1000);
    work_on(&s, "unknown to others", 1000);
    close_session(&s);
    make_outdated(path);
    open_session(&s, path);
    plan_only(&s, "one", 1000);
    work_on(&s, "two", 2000);
    close_session(&s);
    assert_true(most_units(path, "one") == 0);
    assert_true(most_units(path, "two") == 2000);
    assert_true(most_units(path, "unknown to others") == 1000);
    remove(path);
}

/*
 * A host whose overhead is 10, 20 and 30 W at its frequencies, and a GPU that is 20 times as fast.  To leave the host at its lowest frequency costs least: with one
 * overhead of all frequencies that would not be known.
 */
#define HOSTING                                                                                                                     \
    "{\"name\": \"h\", \"host\": {\"idle_w\": 60}, \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"clock\": {\"levels\": [" \
    "{\"frequency_hz\": 1.2e9, \"seconds_per_unit\": 8e-5, \"power\": {\"idle_w\": 40, \"busy_w\": 80}, \"hosting_w\": 10}, "       \
    "{\"frequency_hz\": 1.8e9, \"seconds_per_unit\": 5e-5, \"power\": {\"idle_w\": 41, \"busy_w\": 170}, \"hosting_w\": 20}, "      \
    "{\"frequency_hz\": 2.6e9, \"seconds_per_unit\": 4e-5, \"power\": {\"idle_w\": 42, \"busy_w\": 260}, \"hosting_w\": 30}]}}, "   \
    "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 2e-6, \"power\": {\"idle_w\": 40, \"busy_w\": 150}}]}"
enum { HOSTED = 100000, HOST_LEVELS = 3 };

static double energy_j(int level, int64_t host_units)
{
    static const double per_unit_s[HOST_LEVELS] = {8e-5, 5e-5, 4e-5}, idle_w[HOST_LEVELS] = {40, 41, 42},
                        busy_w[HOST_LEVELS] = {80, 170, 260};
    const double host_s = per_unit_s[level] * (double)host_units, gpu_s = 2e-6 * (double)(HOSTED - host_units), all_s = fmax(host_s, gpu_s);
    return all_s * (60 + 40 + idle_w[level]) + host_s * (busy_w[level] - idle_w[level]) + gpu_s * 110 +
           10 * (level + 1) * fmax(0, gpu_s - host_s);
}

/* In a process of its own. */
static int calibrate_hosting(const char *path)
{
    session s = {.memory = {0}};
    yoke_run_accuracy accuracy[2];
    worker_open(&s.w, &s.memory, HOSTING, &(yoke_run_options){.store = path, .objective = YOKE_OBJECTIVE_ENERGY});
    const yoke_run_calibration of = {.work = "work", .min_units = 100, .max_units = HOSTED, .trial = worker_try, .user = &s.w};
    if (yoke_run_calibrate(s.w.run, &of, accuracy) != YOKE_OK) return 1;
    worker_close(&s.w);
    return 0;
}

static void host_overheads_of_all_frequencies_serve_another_process(void **state)
{
    (void)state;
    char path[64];
    int how = -1;
    make_path(path);
    remove(path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(calibrate_hosting(path));
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    session s = {.memory = {0}};
    worker_open(&s.w, &s.memory, HOSTING, &(yoke_run_options){.store = path, .objective = YOKE_OBJECTIVE_ENERGY});
    const int64_t units = HOSTED;
    const yoke_phase phase = {.work = "work", .calls = 1, .units = units};
    const yoke_round round = round_of(&phase, &units);
    const yoke_assignment *plan;
    assert_int_equal(yoke_run_plan(s.w.run, &round, 1, &plan), YOKE_OK);
    assert_int_equal(plan->decision, YOKE_RUN_PLANNED); /* nothing has to be measured */
    double found_w[RUN_MAX_LEVELS], least_j = INFINITY;
    run_host_overheads(s.w.run, found_w);
    for (int l = 0; l < HOST_LEVELS; l++) {
        assert_true(fabs(found_w[l] - 10 * (l + 1)) < 0.05);
        for (int64_t host = 0; host <= HOSTED; host += 10) least_j = fmin(least_j, energy_j(l, host));
    }
    int chosen = 0;
    while (chosen < HOST_LEVELS - 1 && s.w.run->devices[0].hz[chosen] != plan->frequency_hz[0]) chosen++;
    const double true_j = energy_j(chosen, plan->first[0][1]);
    assert_true(true_j < 1.002 * least_j);
    assert_true(fabs(plan->predicted.energy_j / true_j - 1) < 2e-3);
    /* One of the rounds of another one, which measures it again at one frequency, leaves the others as they are. */
    assert_int_equal(worker_round(&s.w, &round), YOKE_OK);
    assert_int_equal(yoke_run_save(s.w.run, NULL), YOKE_OK);
    worker_close(&s.w);
    assert_int_equal(s.memory.outstanding, 0);
    worker_open(&s.w, &s.memory, HOSTING, &(yoke_run_options){.store = path, .objective = YOKE_OBJECTIVE_ENERGY});
    assert_int_equal(yoke_run_plan(s.w.run, &round, 1, &plan), YOKE_OK);
    run_host_overheads(s.w.run, found_w);
    for (int l = 0; l < HOST_LEVELS; l++) assert_true(fabs(found_w[l] - 10 * (l + 1)) < 0.05);
    worker_close(&s.w);
    remove(path);
}

/* What a run without a store knows, for a later one.  The text is of malloc's. */
static char *known_after(const char *machine, const char *work, int64_t units)
{
    session s = {.memory = {0}};
    char *text = NULL;
    worker_open(&s.w, &s.memory, machine, NULL);
    work_on(&s, work, units);
    assert_int_equal(yoke_run_known(s.w.run, &text), YOKE_OK);
    char *copy = strdup(text);
    yoke_release(s.w.context, text);
    close_session(&s);
    return copy;
}

/* Seconds of a call by what these texts say; NaN: they say nothing. */
static double seconds_by(const char *const *texts, int64_t count, const char *work, int64_t units)
{
    session s = {.memory = {0}};
    yoke_prediction call = {.seconds = NAN};
    worker_open(&s.w, &s.memory, MACHINE, &(yoke_run_options){.known = texts, .num_known = count});
    if (yoke_run_predict(s.w.run, work, 0, (double)units, NAN, 0, &call) != YOKE_OK) call.seconds = NAN;
    close_session(&s);
    return call.seconds;
}

#define SLOWER "{\"name\": \"m\", \"devices\": [{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 5e-6}]}"

static void a_run_goes_on_with_what_an_earlier_one_knew(void **state)
{
    (void)state;
    char *one = known_after(MACHINE, "one", 1000), *two = known_after(MACHINE, "two", 1000), *other = known_after(SLOWER, "one", 1000);
    const char *texts[] = {other, two, one};
    assert_true(fabs(seconds_by(texts, 3, "one", 1000) / 1e-3 - 1) < 0.01); /* not the other machine's 5e-3 */
    assert_true(fabs(seconds_by(texts, 3, "two", 1000) / 1e-3 - 1) < 0.01);
    assert_true(isnan(seconds_by(texts, 2, "one", 1000)));
    assert_true(isnan(seconds_by(texts, 3, "three", 1000)));
    /* and hands it on */
    session s = {.memory = {0}};
    char *again = NULL;
    worker_open(&s.w, &s.memory, MACHINE, &(yoke_run_options){.known = texts, .num_known = 3});
    plan_only(&s, "one", 1000);
    assert_int_equal(yoke_run_known(s.w.run, &again), YOKE_OK);
    const char *handed[] = {again};
    assert_true(fabs(seconds_by(handed, 1, "one", 1000) / 1e-3 - 1) < 0.01);
    yoke_release(s.w.context, again);
    close_session(&s);
    free(one);
    free(two);
    free(other);
}

static void a_store_counts_more_than_what_an_earlier_run_knew(void **state)
{
    (void)state;
    char path[64], *known = known_after(MACHINE, "one", 5000);
    const char *texts[] = {known};
    make_path(path);
    remove(path);
    session s = {.memory = {0}};
    open_session(&s, path);
    work_on(&s, "one", 1000);
    close_session(&s);
    worker_open(&s.w, &s.memory, MACHINE, &(yoke_run_options){.store = path, .known = texts, .num_known = 1});
    plan_only(&s, "one", 1000);
    assert_int_equal(run_model(s.w.run, 0, 0, 0, 0)->points, 1);
    assert_true(run_model(s.w.run, 0, 0, 0, 0)->point[0].units == 1000);
    close_session(&s);
    assert_true(most_units(path, "one") == 1000); /* what was read is not written */
    remove(path);
    free(known);
}

/* Cut anywhere and changed anywhere it is used, or it is not; a run is made all the same, and no memory is lost. */
static void hostile_texts_of_an_earlier_run_do_no_harm(void **state)
{
    (void)state;
    static const char changes[] = {'"', '{', '}', ']', ',', '9', '-', 'e', '\\', (char)0xff, ' '};
    char *text = known_after(MACHINE, "one", 1000);
    const char *texts[] = {text};
    const size_t length = strlen(text);
    int used = 0, step = unit_is_sanitized() ? 7 : 1;
    for (size_t i = 0; i < 2 * length; i += (size_t)step) {
        const size_t place = i % length;
        const char old = text[place];
        text[place] = i < length ? '\0' : changes[i % sizeof changes];
        const double seconds = seconds_by(texts, 1, "one", 1000);
        assert_true(isnan(seconds) || (isfinite(seconds) && seconds > 0));
        used += !isnan(seconds);
        text[place] = old;
    }
    assert_true(used > 0 && (size_t)used * (size_t)step < length);
    free(text);
    session s = {.memory = {0}};
    yoke_run *run = NULL;
    open_session(&s, NULL);
    const char *none[] = {NULL};
    assert_int_equal(yoke_run_create(s.w.context, &(yoke_run_options){.known = none, .num_known = 1}, &run), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_create(s.w.context, &(yoke_run_options){.num_known = 1}, &run), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_run_create(s.w.context, &(yoke_run_options){.num_known = -1}, &run), YOKE_ERROR_ARGUMENT);
    close_session(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_run_goes_on_with_what_an_earlier_one_knew),
    cmocka_unit_test(a_store_counts_more_than_what_an_earlier_run_knew),
    cmocka_unit_test(hostile_texts_of_an_earlier_run_do_no_harm),
    cmocka_unit_test(what_two_open_runs_learn_is_there_afterwards),
    cmocka_unit_test(what_two_processes_learn_is_there_afterwards),
    cmocka_unit_test(a_run_does_not_write_what_it_has_only_read),
    cmocka_unit_test(what_was_measured_with_another_version_of_a_kernel_is_removed),
    cmocka_unit_test(host_overheads_of_all_frequencies_serve_another_process),
};

UNIT_MAIN(tests, NULL, NULL)
