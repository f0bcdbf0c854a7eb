/* libyoke_fmm (yoke_fmm.h): against sums over all pairs, at other charges and other places, on two threads, and with bad input. */
#include "yoke_fmm.h" /* has parameters named context */

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include "clouds.h"
#include "context.h"
#include "costs.h"
#include "device/machine_text.h"
#include "tune/tune.h"

enum { COUNT = 1000, STRIDE = 8 };

/* A particle as programs keep it, with what is computed for it. */
typedef struct body {
    double at[3], charge, potential, gradient[3];
} body;

static body *bodies_of(enum cloud cloud)
{
    body *bodies = calloc(COUNT, sizeof *bodies);
    fmm_particles *p = cloud_create(context, cloud, COUNT);
    assert_non_null(bodies);
    for (int i = 0; i < COUNT; i++) bodies[i] = (body){{p->x[i], p->y[i], p->z[i]}, i % 3 ? 1 : -1, 0, {0}};
    fmm_particles_destroy(p);
    return bodies;
}

static yoke_fmm_particles particles_of(const body *b)
{
    return (yoke_fmm_particles){COUNT, &b->at[0], &b->at[1], &b->at[2], &b->charge, STRIDE, STRIDE};
}

static yoke_fmm_field field_of(body *b)
{
    return (yoke_fmm_field){&b->potential, &b->gradient[0], &b->gradient[1], &b->gradient[2], STRIDE, STRIDE};
}

static yoke_fmm *made(yoke_context *of, yoke_fmm_options options)
{
    yoke_fmm *fmm = NULL;
    assert_int_equal(yoke_fmm_create(of, &options, &fmm), YOKE_OK);
    return fmm;
}

static yoke_status run(yoke_fmm *fmm, body *bodies)
{
    const yoke_fmm_particles particles = particles_of(bodies);
    const yoke_fmm_field field = field_of(bodies);
    return yoke_fmm_run(fmm, &particles, &field);
}

static yoke_fmm_result result_of(const yoke_fmm *fmm)
{
    yoke_fmm_result result;
    assert_int_equal(yoke_fmm_get_result(fmm, &result), YOKE_OK);
    return result;
}

typedef struct errors {
    double potential, gradient, energy;
} errors;

/* Relative, in the 2-norm; sums over all pairs in long double. */
static errors errors_of(const body *b)
{
    long double error[2] = {0}, size[2] = {0}, energy = 0, computed = 0;
    for (int i = 0; i < COUNT; i++) {
        long double potential = 0, gradient[3] = {0};
        for (int j = 0; j < COUNT; j++) {
            const long double d[3] = {(long double)b[i].at[0] - b[j].at[0], (long double)b[i].at[1] - b[j].at[1],
                                      (long double)b[i].at[2] - b[j].at[2]};
            const long double r = sqrtl(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            if (r == 0) continue;
            potential += b[j].charge / r;
            for (int c = 0; c < 3; c++) gradient[c] -= b[j].charge * d[c] / (r * r * r);
        }
        error[0] += (b[i].potential - potential) * (b[i].potential - potential);
        size[0] += potential * potential;
        for (int c = 0; c < 3; c++) {
            error[1] += (b[i].gradient[c] - gradient[c]) * (b[i].gradient[c] - gradient[c]);
            size[1] += gradient[c] * gradient[c];
        }
        energy += b[i].charge * potential / 2;
        computed += (long double)b[i].charge * b[i].potential / 2;
    }
    return (errors){(double)sqrtl(error[0] / size[0]), (double)sqrtl(error[1] / size[1]), (double)fabsl(computed / energy - 1)};
}

static void fields_are_those_of_all_pairs(void **state)
{
    (void)state;
    static const yoke_fmm_options options[] = {
        {.direct = 1}, {.order = 16, .depth = 3, .check = 100}, {.order = 16, .leaf = 30, .check = 100, .threads = 1}};
    static const enum cloud clouds[] = {UNIFORM, CLUSTERED, SPIRAL};
    for (int k = 0; k < 3; k++)
        for (int o = 0; o < 3; o++) {
            body *bodies = bodies_of(clouds[k]);
            yoke_fmm *fmm = made(context, options[o]);
            assert_int_equal(run(fmm, bodies), YOKE_OK);
            const errors e = errors_of(bodies);
            const yoke_fmm_result r = result_of(fmm);
            const double bound = options[o].direct ? 1e-12 : 1e-4;
            assert_true(e.potential < bound && e.gradient < 10 * bound && e.energy < bound);
            assert_true(r.particles == COUNT && r.built && !r.tuned && r.near_s >= 0 && isnan(r.predicted_s));
            assert_true(options[o].direct ? r.depth < 2 : r.depth >= 2 && r.order == 16 && r.leaf == options[o].leaf);
            assert_int_equal(r.sampled, options[o].check);
            if (r.sampled) assert_true(r.sampled_potential_error < bound && r.sampled_potential_error > 0.1 * e.potential);
            assert_string_equal(bodies[0].charge < 0 ? "-" : "+", "-"); /* what is the caller's stays */
            yoke_fmm_destroy(fmm);
            free(bodies);
        }
}

static void the_requested_error_is_kept(void **state)
{
    (void)state;
    static const double requests[] = {0, 1e-5, 1e-8};
    int order = 0;
    for (int k = 0; k < 3; k++) {
        body *bodies = bodies_of(UNIFORM);
        yoke_fmm *fmm =
            made(context, (yoke_fmm_options){.error = requests[k], .error_of_forces = k == 1, .depth = 2, .check = 200 * (k == 2)});
        const double error = requests[k] > 0 ? requests[k] : 1e-3;
        for (int step = 0; step < 3; step++) { /* other charges, and other places */
            assert_int_equal(run(fmm, bodies), YOKE_OK);
            const errors e = errors_of(bodies);
            const yoke_fmm_result r = result_of(fmm);
            assert_true((k == 1 ? e.gradient : e.potential) <= error);
            assert_true((k == 1 ? r.predicted_force_error : r.predicted_potential_error) <= error);
            assert_int_equal(r.built, step != 1);
            assert_true(r.order > 0 && (step || r.order > order));
            if (!step) order = r.order;
            for (int i = 0; i < COUNT && !step; i++) bodies[i].charge = -1 - i % 2;
            bodies[0].at[0] += 1e-3 * step;
        }
        yoke_fmm_destroy(fmm);
        free(bodies);
    }
    body *bodies = bodies_of(UNIFORM);
    yoke_fmm *fmm = made(context, (yoke_fmm_options){.error = 1e-30, .depth = 2});
    assert_int_equal(run(fmm, bodies), YOKE_ERROR_INPUT); /* cannot be reached */
    yoke_fmm_particles few = particles_of(bodies);
    const yoke_fmm_field field = field_of(bodies);
    for (few.count = 0; few.count < 2; few.count++) { /* no pair at all */
        assert_int_equal(yoke_fmm_run(fmm, &few, &field), YOKE_OK);
        assert_true(result_of(fmm).total_energy == 0);
    }
    yoke_fmm_destroy(fmm);
    free(bodies);
}

/* Far from the origin positions have few digits, but their differences are exact. */
static void the_requested_error_is_kept_far_from_the_origin(void **state)
{
    (void)state;
    static const double offsets[][3] = {{1e8, 0, -1e8}, {-1e12, 1e10, 1e12}};
    for (int k = 0; k < 2; k++)
        for (int adaptive = 0; adaptive < 2; adaptive++) {
            body *bodies = bodies_of(UNIFORM);
            yoke_fmm *fmm = made(context, (yoke_fmm_options){.error = 1e-9, .depth = adaptive ? 0 : 2, .leaf = adaptive ? 30 : 0});
            for (int i = 0; i < COUNT; i++)
                for (int c = 0; c < 3; c++) bodies[i].at[c] += offsets[k][c];
            for (int step = 0; step < 2; step++) { /* the tree of the first one stays */
                assert_int_equal(run(fmm, bodies), YOKE_OK);
                assert_true(errors_of(bodies).potential <= 1e-9);
                assert_int_equal(result_of(fmm).built, !step);
                for (int i = 0; i < COUNT; i++) bodies[i].charge = 1 + i % 5;
            }
            yoke_fmm_destroy(fmm);
            free(bodies);
        }
}

static void other_charges_at_the_same_places_need_no_new_tree(void **state)
{
    (void)state;
    body *bodies = bodies_of(SHELLS), *fresh = bodies_of(SHELLS);
    yoke_fmm *kept = made(context, (yoke_fmm_options){.order = 6, .depth = 3}),
             *other = made(context, (yoke_fmm_options){.order = 6, .depth = 3});
    assert_int_equal(run(kept, bodies), YOKE_OK);
    for (int i = 0; i < COUNT; i++) bodies[i].charge = fresh[i].charge = i % 7 - 2.5;
    assert_int_equal(run(kept, bodies), YOKE_OK);
    assert_int_equal(result_of(kept).built, 0);
    assert_int_equal(run(other, fresh), YOKE_OK);
    assert_memory_equal(bodies, fresh, COUNT * sizeof *bodies);
    bodies[COUNT - 1].at[2] += 1e-9; /* no place but the last is another */
    assert_int_equal(run(kept, bodies), YOKE_OK);
    assert_int_equal(result_of(kept).built, 1);
    yoke_fmm_destroy(kept);
    yoke_fmm_destroy(other);
    free(bodies);
    free(fresh);
}

/* In a loop over time the choice is kept while particles move a little, and made anew for others. */
static void the_tree_is_chosen_anew_for_other_particles_only(void **state)
{
    (void)state;
    char path[64], *text = NULL;
    (void)snprintf(path, sizeof path, "library-store-%ld.json", (long)getpid());
    keep_costs(path, 1e-6);
    body *bodies = bodies_of(UNIFORM), *clustered = bodies_of(CLUSTERED);
    yoke_fmm *fmm = made(context, (yoke_fmm_options){.error = 1e-2, .store = path});
    const yoke_fmm_particles particles = particles_of(bodies);
    assert_int_equal(yoke_fmm_tune(fmm, &particles), YOKE_OK);
    const yoke_fmm_result chosen = result_of(fmm);
    assert_true(chosen.tuned && chosen.predicted_s > 0 && chosen.depth >= 2);
    assert_string_equal(chosen.tuned_because, "asked");
    assert_int_equal(yoke_fmm_explain(fmm, &text), YOKE_OK);
    assert_int_equal(strncmp(text, "tree        order near pairs", 28), 0); /* the table of yoke fmm --explain */
    assert_true(strchr(text, '*') && strchr(text, '*') == strrchr(text, '*'));
    yoke_release(context, text);
    assert_int_equal(run(fmm, bodies), YOKE_OK); /* at the places of yoke_fmm_tune */
    assert_true(!result_of(fmm).tuned && !result_of(fmm).built);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < COUNT; i++) bodies[i].at[i % 3] += 1e-4;
        assert_int_equal(run(fmm, bodies), YOKE_OK);
        assert_true(!result_of(fmm).tuned && result_of(fmm).built && result_of(fmm).leaf == chosen.leaf);
        assert_true(errors_of(bodies).potential < 0.1);
    }
    assert_int_equal(run(fmm, clustered), YOKE_OK);
    assert_int_equal(result_of(fmm).tuned, 1);
    assert_true(!strcmp(result_of(fmm).tuned_because, "leaves") || !strcmp(result_of(fmm).tuned_because, "near pairs"));
    assert_true(errors_of(clustered).potential < 0.1);
    yoke_fmm_particles few = particles_of(clustered); /* whose pairs are all summed, whatever was chosen before */
    const yoke_fmm_field field = field_of(clustered);
    few.count = FMM_FEW_PARTICLES / 2;
    assert_int_equal(yoke_fmm_run(fmm, &few, &field), YOKE_OK);
    assert_true(result_of(fmm).depth == 0 && !result_of(fmm).tuned && isnan(result_of(fmm).predicted_s));
    yoke_fmm_destroy(fmm);
    free(bodies);
    free(clustered);
    (void)remove(path);
}

/* The number of times that a file contains a text. */
static int times_in(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    int times = 0;
    char line[1 << 12];
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) times += strstr(line, text) != NULL;
    (void)fclose(file);
    return times;
}

/* OpenMP gives one thread there: costs are measured with it, and kept for one thread only. */
static void costs_within_a_parallel_region_are_those_of_one_thread(void **state)
{
    (void)state;
    char path[64];
    (void)snprintf(path, sizeof path, "library-one-%ld.json", (long)getpid());
    body *bodies = bodies_of(UNIFORM);
    yoke_fmm *fmm = made(context, (yoke_fmm_options){.error = 1e-1, .store = path});
    yoke_status status = YOKE_OK;
    int threads = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp atomic
        threads++;
#pragma omp barrier
#pragma omp master
        status = run(fmm, bodies);
    }
    assert_int_equal(status, YOKE_OK);
    assert_true(result_of(fmm).tuned && result_of(fmm).predicted_s > 0 && errors_of(bodies).potential < 0.1);
    const int works = times_in(path, "\"work\": \"fmm "), of_one = times_in(path, " threads=1");
    assert_true(works > 0 && (threads == 1 || omp_get_num_procs() == 1 || of_one == works));
    yoke_fmm_destroy(fmm);
    free(bodies);
    (void)remove(path);
}

typedef struct worker {
    enum cloud cloud;
    body *bodies;
    int wrong;
} worker;

static void *work(void *of)
{
    worker *w = of;
    yoke_context *own = NULL;
    yoke_fmm *fmm = NULL;
    w->wrong += yoke_context_create(NULL, &own) != YOKE_OK;
    w->wrong += yoke_fmm_create(own, &(yoke_fmm_options){.order = 6, .leaf = 40, .threads = 1 + (w->cloud == UNIFORM)}, &fmm) != YOKE_OK;
    for (int step = 0; step < 4 && !w->wrong; step++) {
        w->bodies[0].at[0] += 1e-3;
        w->wrong += run(fmm, w->bodies) != YOKE_OK;
    }
    yoke_fmm_destroy(fmm);
    yoke_context_destroy(own);
    return NULL;
}

static void objects_of_different_contexts_work_at_once(void **state)
{
    (void)state;
    static const enum cloud clouds[] = {UNIFORM, CLUSTERED};
    pthread_t threads[2];
    worker together[2], alone[2];
    for (int k = 0; k < 2; k++) {
        together[k] = (worker){clouds[k], bodies_of(clouds[k]), 0};
        alone[k] = (worker){clouds[k], bodies_of(clouds[k]), 0};
        work(&alone[k]);
    }
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&threads[k], NULL, work, &together[k]), 0);
    for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(together[k].wrong + alone[k].wrong, 0);
        assert_memory_equal(together[k].bodies, alone[k].bodies, COUNT * sizeof(body));
        free(together[k].bodies);
        free(alone[k].bodies);
    }
}

static void assert_refused(yoke_status status, yoke_status expected, const char *said)
{
    assert_int_equal(status, expected);
    assert_non_null(strstr(yoke_last_error(context), said));
}

/* Two particles at one place differ by what each does to the other. */
static void softened_particles_may_be_at_one_place(void **state)
{
    (void)state;
    body *bodies = bodies_of(UNIFORM);
    memcpy(bodies[1].at, bodies[0].at, sizeof bodies[0].at);
    yoke_fmm *fmm = made(context, (yoke_fmm_options){.error = 1e-5, .leaf = 30, .softening = 0.05, .check = COUNT});
    assert_int_equal(run(fmm, bodies), YOKE_OK);
    assert_true(fabs(bodies[0].potential - bodies[1].potential - 15 / (8 * 0.05) * (bodies[1].charge - bodies[0].charge)) < 1e-10);
    assert_true(result_of(fmm).depth >= 2 && result_of(fmm).sampled_potential_error < 1e-5);
    yoke_fmm_destroy(fmm);
    free(bodies);
}

static void bad_options_are_named(void **state)
{
    (void)state;
    static const double shares[] = {0.5, 1.5, NAN};
    static const struct {
        yoke_fmm_options options;
        const char *said;
    } cases[] = {
        {{.error = -1}, "error -1"},
        {{.error = 5}, "error 5"},
        {{.error = NAN}, "error nan"},
        {{.error = 1e-3, .order = 4}, "one of error, order and direct"},
        {{.error_of_forces = 1, .potential_only = 1}, "error_of_forces needs forces"},
        {{.order = -1}, "order -1"},
        {{.order = 51}, "order 51"},
        {{.order = 3, .depth = -1}, "depth -1"},
        {{.order = 3, .depth = 22}, "depth 22"},
        {{.order = 3, .leaf = -5}, "leaf -5"},
        {{.direct = 1, .depth = 3}, "direct sums have no tree"},
        {{.order = 3, .threads = -1}, "-1 threads"},
        {{.order = 3, .threads = 1 << 30}, "threads"},
        {{.order = 3, .objective = (yoke_objective)9}, "objective 9"},
        {{.order = 3, .check = -1}, "check -1"},
        {{.order = 3, .share = &shares[0]}, "no devices"},
        {{.order = 3, .devices = "openmp", .share = &shares[1]}, "share 1.5"},
        {{.order = 3, .devices = "openmp", .share = &shares[2]}, "share nan"},
        {{.order = 3, .softening = -1}, "softening -1"},
        {{.order = 3, .softening = NAN}, "softening nan"},
        {{.order = 3, .softening = 1, .skip_coincident = 1}, "leave skip_coincident 0"},
    };
    yoke_fmm *fmm = NULL;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refused(yoke_fmm_create(context, &cases[k].options, &fmm), YOKE_ERROR_ARGUMENT, cases[k].said);
    assert_refused(yoke_fmm_create_for(YOKE_INTERFACE + 1, context, &(yoke_fmm_options){.order = 3}, &fmm), YOKE_ERROR_ARGUMENT,
                   "built for");
    assert_refused(yoke_fmm_create(context, NULL, &fmm), YOKE_ERROR_ARGUMENT, "NULL");
    assert_int_equal(yoke_fmm_create(NULL, &(yoke_fmm_options){.order = 3}, &fmm), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_fmm_run(NULL, NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_fmm_get_result(NULL, NULL), YOKE_ERROR_ARGUMENT);
    assert_null(fmm);
    yoke_fmm_destroy(NULL);
}

/* Only charges at one position are refused, also where nothing but the charges has changed since the last call. */
static void charges_at_one_position_are_refused_in_any_call(void **state)
{
    (void)state;
    static const yoke_fmm_options options[] = {{.direct = 1}, {.order = 3, .depth = 2}, {.order = 3, .leaf = 20}, {.error = 1e-3}};
    for (int o = 0; o < 4; o++) {
        body *bodies = bodies_of(UNIFORM);
        yoke_fmm *fmm = made(context, options[o]);
        memcpy(bodies[9].at, bodies[3].at, sizeof bodies->at);
        bodies[9].charge = 0;
        for (int again = 0; again < 2; again++) {
            assert_int_equal(run(fmm, bodies), YOKE_OK);
            bodies[9].charge = 1;
            assert_refused(run(fmm, bodies), YOKE_ERROR_INPUT, "particles 4 and 10 have charges and lie at the same place");
            assert_refused(run(fmm, bodies), YOKE_ERROR_INPUT, "particles 4 and 10 have charges and lie at the same place");
            bodies[9].charge = 0;
        }
        yoke_fmm_destroy(fmm);
        free(bodies);
    }
}

static void bad_particles_are_named_and_the_field_stays(void **state)
{
    (void)state;
    body *bodies = bodies_of(UNIFORM);
    yoke_fmm *fmm = made(context, (yoke_fmm_options){.order = 3, .depth = 2});
    yoke_fmm *skips = made(context, (yoke_fmm_options){.order = 3, .depth = 2, .skip_coincident = 1, .potential_only = 1});
    for (int i = 0; i < COUNT; i++) bodies[i].potential = -77;
    bodies[41].at[1] = NAN;
    assert_refused(run(fmm, bodies), YOKE_ERROR_INPUT, "y of particle 42 is nan");
    bodies[41].at[1] = 0;
    bodies[6].charge = INFINITY;
    assert_refused(run(fmm, bodies), YOKE_ERROR_INPUT, "charge of particle 7 is inf");
    bodies[6].charge = 1;
    memcpy(bodies[9].at, bodies[3].at, sizeof bodies->at);
    assert_refused(run(fmm, bodies), YOKE_ERROR_INPUT, "particles 4 and 10 have charges and lie at the same place");
    assert_refused(run(skips, bodies), YOKE_ERROR_ARGUMENT, "potential_only");
    for (int i = 0; i < COUNT; i++) assert_true(bodies[i].potential == -77);

    yoke_fmm_particles p = particles_of(bodies);
    yoke_fmm_field f = {.potential = &bodies->potential, .potential_stride = STRIDE};
    assert_int_equal(yoke_fmm_run(skips, &p, &f), YOKE_OK);
    f.gx = &bodies->gradient[0];
    assert_refused(yoke_fmm_run(fmm, &p, &f), YOKE_ERROR_ARGUMENT, "all three, or none");
    f = field_of(bodies);
    f.potential = NULL;
    assert_refused(yoke_fmm_run(fmm, &p, &f), YOKE_ERROR_ARGUMENT, "no array for the potentials");
    f = field_of(bodies);
    f.gradient_stride = -1;
    assert_refused(yoke_fmm_run(fmm, &p, &f), YOKE_ERROR_ARGUMENT, "stride of the field");
    f = field_of(bodies);
    p.stride = -3;
    assert_refused(yoke_fmm_run(fmm, &p, &f), YOKE_ERROR_ARGUMENT, "stride of the particles");
    p = particles_of(bodies);
    p.charge = NULL;
    assert_refused(yoke_fmm_run(fmm, &p, &f), YOKE_ERROR_ARGUMENT, "give all four");
    p.count = -1;
    assert_refused(yoke_fmm_tune(fmm, &p), YOKE_ERROR_ARGUMENT, "-1 particles");
    assert_refused(yoke_fmm_tune(fmm, NULL), YOKE_ERROR_ARGUMENT, "particles is NULL");
    p.count = 0; /* none at all is right */
    assert_int_equal(yoke_fmm_run(fmm, &p, &f), YOKE_OK);
    assert_true(result_of(fmm).total_energy == 0);
    yoke_fmm_destroy(fmm);
    yoke_fmm_destroy(skips);
    free(bodies);
}

typedef struct listener {
    int calls, last_call;
} listener;

static int listen(void *user, const char *what)
{
    listener *l = user;
    assert_true(strlen(what) > 5);
    return ++l->calls == l->last_call;
}

static void a_program_ends_a_call_before_any_stage(void **state)
{
    (void)state;
    listener heard = {0};
    body *bodies = bodies_of(UNIFORM);
    yoke_fmm *fmm = made(context, (yoke_fmm_options){.error = 1e-4, .depth = 2, .check = 100, .progress = listen, .user = &heard});
    assert_int_equal(run(fmm, bodies), YOKE_OK);
    const int calls = heard.calls;
    assert_true(calls >= 3); /* the order, the run, the check */
    for (int last = 1; last <= calls; last++) {
        for (int i = 0; i < COUNT; i++) bodies[i].potential = -77;
        bodies[0].at[0] += 1e-3;
        bodies[0].charge *= -20; /* so that the order is chosen again */
        heard = (listener){.last_call = last};
        assert_refused(run(fmm, bodies), YOKE_ERROR_INTERRUPTED, "interrupted by the program");
        assert_int_equal(heard.calls, last);
        for (int i = 0; i < COUNT; i++) assert_true(bodies[i].potential == -77);
        assert_int_equal(result_of(fmm).particles, 0);
        heard.last_call = 0;
        assert_int_equal(run(fmm, bodies), YOKE_OK);
        assert_true(errors_of(bodies).potential <= 1e-4);
    }
    yoke_fmm_destroy(fmm);
    free(bodies);
}

#define GPU(more) "{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 2e-10" more "}"
#define MACHINE(gpu) "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-9}, " gpu "]}"

static void devices_share_the_near_field(void **state)
{
    (void)state;
    static const char *const machines[] = {MACHINE(GPU("")), MACHINE(GPU(", \"fault\": {\"call\": 24, \"kind\": \"lost\"}"))};
    static const double half = 0.5;
    for (int k = 0; k < 3; k++) { /* a share that is chosen, one that is given, a device that fails */
        failing memory = {0};
        yoke_context *own = machine(machines[k == 2], &memory);
        body *bodies = bodies_of(SHELLS);
        yoke_fmm *fmm = made(
            own,
            (yoke_fmm_options){.order = 12, .leaf = 40, .store = "none", .devices = "sim:cpu,sim:gpu", .share = k == 1 ? &half : NULL});
        int failed = 0;
        for (int step = 0; step < 3; step++) {
            bodies[0].at[0] += 1e-4;
            assert_int_equal(run(fmm, bodies), YOKE_OK);
            assert_true(errors_of(bodies).potential < 1e-4);
            assert_int_equal(result_of(fmm).devices, 2);
            failed += result_of(fmm).failed_devices;
        }
        char *text = NULL;
        assert_int_equal(yoke_fmm_explain(fmm, &text), YOKE_OK);
        assert_non_null(strstr(text, "the options give the tree\nnear field: sim:cpu"));
        yoke_release(own, text);
        assert_int_equal(failed, k == 2);
        yoke_fmm_destroy(fmm);
        fmm = made(own, (yoke_fmm_options){.order = 3, .depth = 2, .store = "none", .devices = "sim:tpu"});
        assert_int_not_equal(run(fmm, bodies), YOKE_OK);
        assert_non_null(strstr(yoke_last_error(own), "tpu"));
        yoke_fmm_destroy(fmm);
        fmm = made(own, (yoke_fmm_options){.order = 3, .depth = 2, .store = "none", .devices = "sim:gpu"});
        for (int call = 0; call < 2; call++) { /* refused by the second call too */
            assert_int_equal(run(fmm, bodies), YOKE_ERROR_INPUT);
            assert_non_null(strstr(yoke_last_error(own), "none of them is a host"));
        }
        yoke_fmm_destroy(fmm);
        yoke_context_destroy(own);
        free(bodies);
    }
}

static void cores_take_the_part_of_a_host_that_fails_while_its_works_are_measured(void **state)
{
    (void)state;
    static const char *const text = "{\"name\": \"m\", \"devices\": [{\"name\": \"cpu\", \"class\": \"cpu\", \"seconds_per_unit\": 2e-9, "
                                    "\"fault\": {\"call\": 24, \"kind\": \"lost\"}}, " GPU("") "]}";
    failing memory = {0};
    char store[64];
    (void)snprintf(store, sizeof store, "library-host-%ld.json", (long)getpid());
    yoke_context *own = machine(text, &memory), *const other = context;
    context = own;
    keep_costs(store, 1e-9); /* of the simulated machine's cores */
    context = other;
    body *bodies = bodies_of(SHELLS);
    yoke_fmm *fmm = made(own, (yoke_fmm_options){.order = 12, .store = store, .devices = "sim:cpu,sim:gpu"});
    for (int step = 0; step < 2; step++) {
        if (run(fmm, bodies)) fail_msg("%s", yoke_last_error(own));
        assert_true(errors_of(bodies).potential < 1e-4);
        assert_true(result_of(fmm).tuned == !step);
    }
    yoke_fmm_destroy(fmm);
    yoke_context_destroy(own);
    free(bodies);
    (void)remove(store);
}

static void assert_first_potential(const body *b)
{
    double potential = 0;
    for (int j = 1; j < COUNT; j++)
        potential += b[j].charge / hypot(hypot(b->at[0] - b[j].at[0], b->at[1] - b[j].at[1]), b->at[2] - b[j].at[2]);
    assert_true(fabs(b->potential / potential - 1) < 1e-2);
}

/* The object had a tree of other particles when memory ran out. */
static void a_call_without_memory_may_be_repeated(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_context *own = machine(MACHINE(GPU("")), &memory);
    body *bodies = bodies_of(UNIFORM);
    yoke_fmm *fmm = made(own, (yoke_fmm_options){.order = 6, .depth = 2});
    for (int i = 0; i < COUNT; i++) bodies[i].charge = 1;
    yoke_status status = run(fmm, bodies);
    assert_int_equal(status, YOKE_OK);
    for (int64_t allowed = 0; !allowed || status; allowed++) {
        for (int i = 0; i < COUNT - 1; i++) memcpy(bodies[i].at, bodies[i + 1].at, sizeof bodies->at);
        for (int c = 0; c < 3; c++) bodies[COUNT - 1].at[c] = 0.3 + 0.001 * (double)allowed;
        failing_allow(&memory, allowed);
        status = run(fmm, bodies);
        memory.fail_at = 0;
        if (status) {
            assert_int_equal(status, YOKE_ERROR_MEMORY);
            assert_int_equal(run(fmm, bodies), YOKE_OK);
        }
        assert_first_potential(bodies);
    }
    yoke_fmm_destroy(fmm);
    yoke_context_destroy(own);
    assert_int_equal(memory.outstanding, 0);
    free(bodies);
}

static void a_potential_that_is_too_large_is_that_of_the_named_particle(void **state)
{
    (void)state;
    body *bodies = bodies_of(UNIFORM);
    double potential[COUNT];
    yoke_fmm_particles particles = particles_of(bodies);
    const yoke_fmm_field field = {.potential = potential};
    for (int i = 0; i < COUNT; i++) bodies[i].charge = 1e290;
    bodies[41].charge = bodies[700].charge = 1e300;
    memcpy(bodies[700].at, bodies[41].at, sizeof bodies->at);
    bodies[700].at[0] += 1e-10;
    for (int check = 0; check <= COUNT; check += COUNT / 2) {
        yoke_fmm *fmm = made(context, (yoke_fmm_options){.order = 3, .depth = 2, .potential_only = 1, .check = check});
        assert_int_equal(yoke_fmm_run(fmm, &particles, &field), YOKE_ERROR_INPUT);
        const char *number = strstr(yoke_last_error(context), "of particle ");
        assert_non_null(number);
        const long named = strtol(number + strlen("of particle "), NULL, 10);
        assert_true(named == 42 || named == 701);
        yoke_fmm_destroy(fmm);
    }
    free(bodies);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_are_those_of_all_pairs),
    cmocka_unit_test(the_requested_error_is_kept),
    cmocka_unit_test(the_requested_error_is_kept_far_from_the_origin),
    cmocka_unit_test(other_charges_at_the_same_places_need_no_new_tree),
    cmocka_unit_test(the_tree_is_chosen_anew_for_other_particles_only),
    cmocka_unit_test(costs_within_a_parallel_region_are_those_of_one_thread),
    cmocka_unit_test(objects_of_different_contexts_work_at_once),
    cmocka_unit_test(softened_particles_may_be_at_one_place),
    cmocka_unit_test(a_program_ends_a_call_before_any_stage),
    cmocka_unit_test(devices_share_the_near_field),
    cmocka_unit_test(cores_take_the_part_of_a_host_that_fails_while_its_works_are_measured),
    cmocka_unit_test(bad_options_are_named),
    cmocka_unit_test(charges_at_one_position_are_refused_in_any_call),
    cmocka_unit_test(bad_particles_are_named_and_the_field_stays),
    cmocka_unit_test(a_call_without_memory_may_be_repeated),
    cmocka_unit_test(a_potential_that_is_too_large_is_that_of_the_named_particle),
};

UNIT_MAIN(tests, context_start, context_end)
