#define _XOPEN_SOURCE 700 /* nftw */

#include "output/results.h"

#include <errno.h>
#include <ftw.h>
#include <unistd.h>

#include "fem/fixtures/body.h"
#include "unit.h"

/* The call that fails, counted down; a disk tells of lost data once, and never again. */
static int fails_in;

int __real_fsync(int descriptor);
int __wrap_fsync(int descriptor);
int __wrap_fsync(int descriptor)
{
    if (--fails_in) return __real_fsync(descriptor);
    errno = EIO;
    return -1;
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *walk)
{
    (void)found;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void place(const char *directory, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static bool is_there(const char *directory, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static bool holds(const char *directory, const char *name, const char *expected)
{
    char path[128], text[8] = "";
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *stream = fopen(path, "r");
    if (!stream) return false;
    const bool same = fread(text, 1, sizeof text - 1, stream) == strlen(expected) && !strcmp(text, expected);
    fclose(stream);
    return same;
}

static void a_disk_that_loses_data_once_is_an_error_and_leaves_the_old_run(void **state)
{
    (void)state;
    manufactured solution = manufactured_linear(1, 0.3);
    body_options options = {.elements = {1, 1, 1}, .order = 1, .element = FEM_Q1, .solution = &solution};
    body b;
    fem_stress *stress;
    body_create(&options, &b);
    double *u = body_values(&b, &solution);
    assert_int_equal(fem_stress_create(b.space, u, &stress), YOKE_OK);
    const fem_vtu vtu = {.space = b.space, .stress = stress, .u = u, .fields = INT64_MAX};
    for (int call = 1; call <= 2; call++) { /* before the old run's files go, and where the new one is put in place */
        char directory[] = "/tmp/yoke-results-XXXXXX";
        fem_results *results;
        assert_non_null(mkdtemp(directory));
        place(directory, "step-00.vtu", "old 0");
        place(directory, "step-01.vtu", "old 1");
        place(directory, FEM_RESULTS_RECORD, "old");
        assert_int_equal(fem_results_open(b.context, NULL, directory, &results), YOKE_OK);
        fails_in = call;
        assert_int_equal(fem_results_step(results, &vtu, 0), YOKE_ERROR_SYSTEM);
        assert_true(fails_in <= 0);
        assert_non_null(strstr(yoke_last_error(b.context), "step-00.vtu could not be written: "));
        assert_true(holds(directory, "step-00.vtu", "old 0") == (call == 1));
        assert_true(is_there(directory, "step-01.vtu") == (call == 1));
        assert_true(holds(directory, FEM_RESULTS_RECORD, "old") == (call == 1));
        assert_false(is_there(directory, FEM_RESULTS_SERIES));

        /* Another attempt replaces the old run. */
        assert_int_equal(fem_results_step(results, &vtu, 0), YOKE_OK);
        assert_false(is_there(directory, "step-01.vtu") || is_there(directory, FEM_RESULTS_RECORD));
        assert_true(is_there(directory, "step-00.vtu") && is_there(directory, FEM_RESULTS_SERIES));
        assert_false(holds(directory, "step-00.vtu", "old 0"));
        fem_results_close(results);
        assert_int_equal(nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    }
    fem_stress_destroy(stress);
    free(u);
    body_destroy(&b);
}

static void temporary_files_of_a_killed_run_go_and_no_others(void **state)
{
    static const char *const ours[] = {"step-123.vtu", "step-00.pvtu",     "step-00-0.vtu", "step-07-1023.vtu",
                                       "series.pvd",   "checkpoint-7.bin", "run.json",      "summary.txt"};
    static const char *const others[] = {
        "step-1.vtu",      "step-00.vtk",  "step-00-.vtu", "step-00-1.pvtu", "step-00-x.vtu", "step-.vtu", "step-00-1-2.vtu",
        "checkpoint-.bin", "astep-00.vtu", "step-00.vtu2", "step-00",        "step-",         "",          "checkpoint-7.bin7"};
    enum { OURS = sizeof ours / sizeof *ours, OTHERS = sizeof others / sizeof *others };
    char directory[] = "/tmp/yoke-results-XXXXXX", name[64];
    yoke_context *context;
    fem_results *results;
    (void)state;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_non_null(mkdtemp(directory));
    for (int i = 0; i < OURS + OTHERS; i++) { /* process 1 is none of this run's */
        snprintf(name, sizeof name, "%s.1-0.part", i < OURS ? ours[i] : others[i - OURS]);
        place(directory, name, "old");
    }
    assert_int_equal(fem_results_open(context, NULL, directory, &results), YOKE_OK);
    assert_int_equal(fem_results_continue(results, 1), YOKE_OK);
    for (int i = 0; i < OURS + OTHERS; i++) {
        snprintf(name, sizeof name, "%s.1-0.part", i < OURS ? ours[i] : others[i - OURS]);
        if (is_there(directory, name) != (i >= OURS)) fail_msg("%s %s", name, i < OURS ? "is there" : "is gone");
    }
    fem_results_close(results);
    yoke_context_destroy(context);
    assert_int_equal(nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_disk_that_loses_data_once_is_an_error_and_leaves_the_old_run),
    cmocka_unit_test(temporary_files_of_a_killed_run_go_and_no_others),
};

UNIT_MAIN(tests, body_start, body_end)
