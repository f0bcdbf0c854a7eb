/* Model files: what is read is what is written, with what may be left out, and without losing memory. */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/problem/file.h"
#include "problem_text.h"

static void what_is_in_the_file_is_in_the_problem(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, complete_model, strlen(complete_model));
    yoke_plan_problem *problem = read_good(context, p->path);
    assert_int_equal(problem->units, 9007199254740992);
    assert_true(problem->repetitions == 32.4 && problem->copies_before && problem->base_power_w == 12.5 && isnan(problem->host_overhead_w));
    assert_int_equal(problem->num_devices, 2);
    const yoke_plan_device *cpu = &problem->devices[0], *gpu = &problem->devices[1];
    assert_string_equal(cpu->name, "cpu \xc3\xa4");
    assert_true(cpu->host && !cpu->removable && cpu->max_units == INT64_MAX && cpu->num_levels == 2);
    assert_true(cpu->levels[0].frequency_hz == 2e9 && cpu->levels[0].seconds_per_unit == 1.7e-6 && cpu->levels[0].start_seconds == 1e-5);
    assert_true(cpu->levels[0].dynamic_power_w == 84 && cpu->levels[0].idle_power_w == 84.3 && cpu->levels[0].num_points == 0);
    assert_true(cpu->levels[0].alone_factor == 0.75 && cpu->levels[1].alone_factor == 0 && gpu->levels[1].alone_factor == 0.5);
    assert_true(isnan(cpu->levels[1].frequency_hz) && isnan(cpu->levels[1].dynamic_power_w) && isnan(cpu->levels[1].idle_power_w));
    assert_true(cpu->levels[1].time_uncertainty == 0.02 && cpu->levels[1].power_uncertainty == 0.05);
    assert_int_equal(cpu->levels[1].num_points, 3);
    assert_true(cpu->levels[1].points[2] == 10.5 && cpu->levels[1].points[3] == 2e-5);
    assert_true(!gpu->host && gpu->removable && gpu->max_units == 1000000 && gpu->copy_seconds == 0.25);
    assert_true(gpu->copy_seconds_per_unit == 1e-9 && gpu->copy_joules_per_unit == 8.14e-4);
    assert_string_equal(p->warnings, "");
    yoke_release(context, problem);
    yoke_release(context, NULL);
    yoke_context_destroy(context);
}

static void laws_of_the_frequency_become_levels(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, complete_model, strlen(complete_model));
    yoke_plan_problem *problem = read_good(context, p->path);
    const yoke_plan_device *gpu = &problem->devices[1];
    assert_int_equal(gpu->num_levels, 2);
    for (int i = 0; i < 2; i++) {
        double f = (i + 1) * 1e9;
        assert_true(gpu->levels[i].frequency_hz == f);
        assert_float_equal(gpu->levels[i].seconds_per_unit, 1 / (1e-3 * f + 5), 1e-20);
        assert_float_equal(gpu->levels[i].dynamic_power_w, 1e-27 * f * f * f + 2e-9 * f + 3 - 2, 1e-12);
        assert_true(gpu->levels[i].idle_power_w == 2 && gpu->levels[i].start_seconds == 0.5);
    }
    yoke_release(context, problem);
    yoke_context_destroy(context);
}

static void what_may_be_left_out_has_its_default(void **state)
{
    static const char text[] =
        "{\"units\": 5, \"devices\": [{\"name\": \"a\", \"kind\": \"host\", \"levels\": [{\"seconds_per_unit\": 2}]}]}";
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, text, strlen(text));
    yoke_plan_problem *problem = read_good(context, p->path);
    const yoke_plan_device *device = &problem->devices[0];
    assert_true(problem->repetitions == 1 && !problem->copies_before && problem->base_power_w == 0 && problem->host_overhead_w == 0);
    assert_true(!device->removable && device->copy_seconds == 0 && device->copy_seconds_per_unit == 0 && device->copy_joules_per_unit == 0);
    assert_true(device->max_units == INT64_MAX && isnan(device->levels[0].frequency_hz) && device->levels[0].start_seconds == 0);
    /* What nobody said of powers is not known, and not nothing. */
    assert_true(isnan(device->levels[0].dynamic_power_w) && isnan(device->levels[0].idle_power_w));
    yoke_release(context, problem);
    yoke_context_destroy(context);
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static void assert_same_level(const yoke_plan_level *a, const yoke_plan_level *b)
{
    assert_true(same(a->frequency_hz, b->frequency_hz) && same(a->dynamic_power_w, b->dynamic_power_w));
    assert_true(same(a->idle_power_w, b->idle_power_w) && a->start_seconds == b->start_seconds);
    assert_true(a->time_uncertainty == b->time_uncertainty && a->power_uncertainty == b->power_uncertainty);
    assert_true(a->alone_factor == b->alone_factor && a->host_overhead_w == b->host_overhead_w);
    assert_int_equal(a->num_points, b->num_points);
    if (a->num_points == 0) assert_true(a->seconds_per_unit == b->seconds_per_unit);
    for (int64_t i = 0; i < 2 * a->num_points; i++) assert_true(a->points[i] == b->points[i]);
}

static void assert_same_problem(const yoke_plan_problem *a, const yoke_plan_problem *b)
{
    assert_true(a->units == b->units && a->repetitions == b->repetitions && !a->copies_before == !b->copies_before);
    assert_true(same(a->base_power_w, b->base_power_w) && same(a->host_overhead_w, b->host_overhead_w));
    assert_int_equal(a->num_devices, b->num_devices);
    for (int64_t i = 0; i < a->num_devices; i++) {
        const yoke_plan_device *d = &a->devices[i], *e = &b->devices[i];
        assert_string_equal(d->name, e->name);
        assert_true(!d->host == !e->host && !d->removable == !e->removable && d->max_units == e->max_units);
        assert_true(same(d->copy_seconds, e->copy_seconds) && same(d->copy_seconds_per_unit, e->copy_seconds_per_unit));
        assert_true(same(d->copy_joules_per_unit, e->copy_joules_per_unit));
        assert_int_equal(d->num_levels, e->num_levels);
        for (int64_t k = 0; k < d->num_levels; k++) assert_same_level(&d->levels[k], &e->levels[k]);
    }
}

static void what_is_written_is_read_to_the_last_bit(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, complete_model, strlen(complete_model));
    yoke_plan_problem *first = read_good(context, p->path), *second = NULL;
    /* Numbers whose digits matter. */
    ((yoke_plan_level *)(uintptr_t)first->devices[0].levels)[0].seconds_per_unit = nextafter(1.0 / 3, 1);
    ((yoke_plan_level *)(uintptr_t)first->devices[0].levels)[0].start_seconds = 0x1.fffffffffffffp-40;
    assert_int_equal(yoke_plan_problem_write(context, p->other, first), YOKE_OK);
    second = read_good(context, p->other);
    assert_same_problem(first, second);
    yoke_release(context, first);
    yoke_release(context, second);
    yoke_context_destroy(context);
}

/* A busy machine may measure so little that an interval is wider than a file may say: what is written is read all the same. */
static void wide_intervals_are_written_as_the_widest(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, complete_model, strlen(complete_model));
    yoke_plan_problem *first = read_good(context, p->path), *second = NULL;
    yoke_plan_level *level = &((yoke_plan_level *)(uintptr_t)first->devices[0].levels)[0];
    level->time_uncertainty = 10.904034187009277;
    level->power_uncertainty = 400;
    assert_int_equal(yoke_plan_problem_write(context, p->other, first), YOKE_OK);
    second = read_good(context, p->other);
    assert_true(second->devices[0].levels[0].time_uncertainty == 10 && second->devices[0].levels[0].power_uncertainty == 10);
    yoke_release(context, first);
    yoke_release(context, second);
    yoke_context_destroy(context);
}

/* They were left out, and so read again as exact; a plan refuses them as well. */
static void uncertainties_that_are_no_numbers_are_not_written(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 3; k++) {
            const char *text = round ? round_model : complete_model;
            static const char *const names[] = {"time_uncertainty is nan", "power_uncertainty is nan", "alone_factor is nan"};
            whole_file_write(p->path, text, strlen(text));
            yoke_plan_problem *problem = read_good(context, p->path);
            yoke_plan_level *level = (yoke_plan_level *)(uintptr_t)problem->devices[0].levels;
            yoke_plan_time *time = (yoke_plan_time *)(uintptr_t)level->phases;
            double *const numbers[] = {round ? &time->time_uncertainty : &level->time_uncertainty,
                                       round ? &time->power_uncertainty : &level->power_uncertainty,
                                       round ? &time->alone_factor : &level->alone_factor};
            *numbers[k] = NAN;
            assert_int_equal(yoke_plan_problem_write(context, p->other, problem), YOKE_ERROR_ARGUMENT);
            assert_non_null(strstr(yoke_last_error(context), names[k]));
            yoke_plan *plan = NULL;
            assert_int_equal(yoke_plan_create(context, problem, NULL, &plan), YOKE_ERROR_ARGUMENT);
            assert_non_null(strstr(yoke_last_error(context), names[k]));
            yoke_release(context, problem);
        }
    yoke_context_destroy(context);
}

static void a_round_in_the_file_is_in_the_problem(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, round_model, strlen(round_model));
    yoke_plan_problem *problem = read_good(context, p->path);
    const yoke_round *round = problem->round;
    assert_non_null(round);
    assert_true(round->num_cuts == 2 && round->cut_units[0] == 10 && round->cut_units[1] == 4 && round->copy_bytes_per_unit == 8);
    assert_int_equal(round->num_phases, 3);
    const yoke_phase *phase = round->phases;
    assert_string_equal(phase[0].work, "fine");
    assert_true(phase[0].calls == 2.5 && phase[0].cut == 0 && phase[0].units == 10 && phase[0].barrier && phase[0].call_seconds == 1e-6);
    assert_true(phase[1].calls == 1 && phase[1].cut == 1 && phase[1].units == 7 && !phase[1].barrier && phase[1].weight_sum[4] == 1.3);
    assert_true(phase[2].cut == -1 && phase[2].device == 0 && phase[2].units == 3 && phase[2].weight_sum == NULL);
    const yoke_plan_time *cpu = problem->devices[0].levels[0].phases, *gpu = problem->devices[1].levels[0].phases;
    assert_true(cpu[0].seconds_per_unit == 0.1 && cpu[0].start_seconds == 0.25 && cpu[0].dynamic_power_w == 3 &&
                cpu[0].time_uncertainty == 0.02);
    assert_true(cpu[1].num_points == 2 && cpu[1].points[3] == 1.5 && cpu[1].power_uncertainty == 0.05 && cpu[1].alone_factor == 0.9 &&
                cpu[0].alone_factor == 0);
    assert_true(gpu[2].absent && !gpu[1].absent && gpu[1].seconds_per_unit == 0.3);
    /* The choice of 4 and 6 units of the first cut, 1 and 3 of the second: 7 x 0.1 / 1.3 = 0.54, one of 7 units is the cpu's. */
    const int64_t units[] = {4, 6, 1, 3};
    yoke_plan_choice choice;
    assert_int_equal(yoke_plan_evaluate(context, problem, NULL, units, NULL, &choice), YOKE_OK);
    assert_true(fabs(choice.time_s - (2.5 * 0.65 + 2.5e-6 + 0.5 + 6)) < 1e-12);
    yoke_release(context, problem);
    yoke_context_destroy(context);
}

static char *content_of(const char *path, size_t *length)
{
    static char bytes[2][8192];
    static int turn;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    turn = !turn;
    *length = fread(bytes[turn], 1, sizeof bytes[0], file);
    fclose(file);
    return bytes[turn];
}

static void a_round_is_written_as_it_was_read(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, round_model, strlen(round_model));
    yoke_plan_problem *first = read_good(context, p->path);
    ((double *)(uintptr_t)first->round->phases[1].weight_sum)[2] = nextafter(1.0 / 3, 1);
    assert_int_equal(yoke_plan_problem_write(context, p->other, first), YOKE_OK);
    size_t one, two;
    const char *before = content_of(p->other, &one);
    yoke_plan_problem *second = read_good(context, p->other);
    assert_true(second->round->phases[1].weight_sum[2] == nextafter(1.0 / 3, 1) && second->round->phases[2].cut == -1);
    assert_true(second->devices[1].levels[0].phases[2].absent && second->devices[0].levels[0].phases[1].points[2] == 4);
    assert_true(second->devices[0].levels[0].phases[1].alone_factor == 0.9);
    assert_int_equal(yoke_plan_problem_write(context, p->other, second), YOKE_OK);
    const char *after = content_of(p->other, &two);
    assert_true(one == two && memcmp(before, after, one) == 0); /* the order of writing is stable */
    yoke_release(context, first);
    yoke_release(context, second);
    yoke_context_destroy(context);
}

static void no_failing_allocation_of_a_round_is_missed(void **state)
{
    char error[2048];
    int64_t at = 2; /* the first one is the context */
    while (read_bytes(*state, round_model, strlen(round_model), at, error) != YOKE_OK) {
        assert_non_null(strstr(error, "memory"));
        assert_true(++at < 1000);
    }
    assert_true(at > 10);
}

static void what_cannot_be_written_leaves_the_old_file(void **state)
{
    place *p = *state;
    char path[128];
    yoke_context *context = open_context(p);
    whole_file_write(p->path, complete_model, strlen(complete_model));
    yoke_plan_problem *problem = read_good(context, p->path);
    snprintf(path, sizeof path, "%s/missing/model.json", p->directory);
    assert_int_equal(yoke_plan_problem_write(context, path, problem), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "missing/model.json cannot be written: No such file"));
    /* A directory cannot be replaced by a file, and nothing else is left beside it. */
    remove(p->other);
    assert_int_equal(mkdir(p->other, 0777), 0);
    assert_int_equal(yoke_plan_problem_write(context, p->other, problem), YOKE_ERROR_INPUT);
    assert_int_equal(rmdir(p->other), 0);
    assert_int_equal(yoke_plan_problem_write(context, p->path, NULL), YOKE_ERROR_ARGUMENT);
    yoke_release(context, problem);
    /* stop() finds the directory empty but for the two files. */
    yoke_context_destroy(context);
}

static void no_failing_allocation_is_missed(void **state)
{
    char error[2048];
    yoke_status status = YOKE_ERROR_MEMORY;
    int64_t fail_at = 2; /* the first is the context's */
    for (; status == YOKE_ERROR_MEMORY && fail_at < 100; fail_at++)
        status = read_bytes(*state, complete_model, strlen(complete_model), fail_at, error);
    assert_int_equal(status, YOKE_OK);
    assert_true(fail_at > 10);
}

static void no_failing_allocation_is_missed_in_writing(void **state)
{
    place *p = *state;
    yoke_context *plain = open_context(p);
    whole_file_write(p->path, complete_model, strlen(complete_model));
    yoke_plan_problem *problem = read_good(plain, p->path);
    yoke_status status = YOKE_ERROR_MEMORY;
    remove(p->other);
    for (int64_t fail_at = 2; status == YOKE_ERROR_MEMORY && fail_at < 100; fail_at++) {
        failing memory = {.fail_at = fail_at};
        yoke_options options = failing_options(&memory);
        yoke_context *context = NULL;
        assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
        status = yoke_plan_problem_write(context, p->other, problem);
        yoke_context_destroy(context);
        assert_int_equal(memory.outstanding, 0);
        assert_true((status == YOKE_OK) == (access(p->other, F_OK) == 0));
    }
    assert_int_equal(status, YOKE_OK);
    yoke_release(plain, problem);
    yoke_context_destroy(plain);
}

static void shipped_models_are_read(void **state)
{
    static const struct {
        const char *name;
        int64_t units, devices, levels;
    } shipped[] = {{"lang-ruenger-2014", 10000, 2, 1},
                   {"peach-system-1", 10000, 2, 1},
                   {"peach-system-2", 10000, 2, 1},
                   {"peach-system-1-clocks", 50, 2, 8},
                   {"node-2024", 400000, 2, 4}};
    place *p = *state;
    yoke_context *context = open_context(p);
    const char *source = getenv("YOKE_SOURCE_DIR");
    assert_non_null(source);
    for (size_t i = 0; i < COUNT_OF(shipped); i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/examples/models/%s.json", source, shipped[i].name);
        yoke_plan_problem *problem = read_good(context, path);
        assert_int_equal(problem->units, shipped[i].units);
        assert_int_equal(problem->num_devices, shipped[i].devices);
        assert_int_equal(problem->devices[0].num_levels, shipped[i].levels);
        yoke_release(context, problem);
    }
    assert_string_equal(p->warnings, "");
    yoke_context_destroy(context);
}

/* Links are followed and stay, a pipe is written to and stays, and what others planted under a temporary name is not. */
static void what_is_no_plain_file_is_not_replaced(void **state)
{
    place *p = *state;
    yoke_context *context = open_context(p);
    whole_file_write(p->path, complete_model, strlen(complete_model));
    yoke_plan_problem *problem = read_good(context, p->path);
    char target[4096], link[4096], planted[4096], victim[4096];
    struct stat about;
    snprintf(target, sizeof target, "%s.target", p->path);
    snprintf(link, sizeof link, "%s.link", p->path);
    snprintf(planted, sizeof planted, "%s.link.%ld.part", p->path, (long)getpid());
    snprintf(victim, sizeof victim, "%s.victim", p->path);
    whole_file_write(target, "old", 3);
    whole_file_write(victim, "mine", 4);
    assert_int_equal(symlink(target, link), 0);
    assert_int_equal(symlink(victim, planted), 0);
    assert_int_equal(yoke_plan_problem_write(context, link, problem), YOKE_OK);
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    yoke_plan_problem *again = read_good(context, target);
    yoke_release(context, again);
    assert_int_equal(stat(victim, &about), 0);
    assert_int_equal(about.st_size, 4);
    unlink(victim);
    assert_int_equal(mkfifo(victim, 0666), 0);
    int reader = open(victim, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(yoke_plan_problem_write(context, victim, problem), YOKE_OK);
    assert_int_equal(lstat(victim, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    close(reader);
    if (geteuid() != 0) { /* root may write to all */
        assert_int_equal(chmod(target, 0444), 0);
        assert_int_equal(yoke_plan_problem_write(context, link, problem), YOKE_ERROR_INPUT);
    }
    unlink(planted);
    unlink(victim);
    unlink(link);
    unlink(target);
    yoke_release(context, problem);
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(wide_intervals_are_written_as_the_widest),   cmocka_unit_test(uncertainties_that_are_no_numbers_are_not_written),
    cmocka_unit_test(a_round_in_the_file_is_in_the_problem),      cmocka_unit_test(a_round_is_written_as_it_was_read),
    cmocka_unit_test(no_failing_allocation_of_a_round_is_missed), cmocka_unit_test(what_is_in_the_file_is_in_the_problem),
    cmocka_unit_test(laws_of_the_frequency_become_levels),        cmocka_unit_test(what_may_be_left_out_has_its_default),
    cmocka_unit_test(what_is_written_is_read_to_the_last_bit),    cmocka_unit_test(what_is_no_plain_file_is_not_replaced),
    cmocka_unit_test(what_cannot_be_written_leaves_the_old_file), cmocka_unit_test(no_failing_allocation_is_missed),
    cmocka_unit_test(no_failing_allocation_is_missed_in_writing), cmocka_unit_test(shipped_models_are_read),
};

UNIT_MAIN(tests, start, stop)
