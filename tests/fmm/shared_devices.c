/*
 * The near field shared between the cores and a device, against the cores alone, which other tests compare with direct sums: on openmp alone, or on it
 * and the device named by YOKE_TEST_DEVICE of the machine file YOKE_TEST_MACHINE; left out where that is not there.
 */
#include <math.h>

#include "clouds.h"
#include "device.h"
#include "method/shared.h"
#include "near/direct.h"
#include "particles/generate.h"

static char both[100]; /* the host and the device */

static int start(void **state)
{
    int failed = device_start(state);
    snprintf(both, sizeof both, "%s%s%s", machine ? "sim:cpu" : "openmp", strcmp(device, "openmp") ? "," : "",
             strcmp(device, "openmp") ? device : "");
    return failed;
}

static void ok(yoke_status status)
{
    if (status) fail_msg("%s", yoke_last_error(context));
}

typedef struct way {
    const char *devices; /* NULL: the method alone */
    const double *share;
    int tries, gradient;
    int64_t capacity, direct; /* direct: as in fmm_method_options */
    int depth;
    int64_t *w; /* NULL, or pairs of a particle and a cell of list W: part of the far field */
} way;

static fmm_field *result(const fmm_particles *particles, way how, double *there)
{
    const int order = 4;
    fmm_method *method = NULL;
    fmm_field *field = NULL;
    fmm_shared *shared = NULL;
    yoke_run *run = NULL;
    const fmm_method_options options = {
        .depth = how.depth, .capacity = how.capacity, .direct = how.direct, .order = &order, .gradient = how.gradient};
    ok(fmm_field_create(context, particles->count, how.gradient, &field));
    ok(fmm_method_create(particles, &options, &method));
    if (!how.devices) {
        ok(fmm_method_run(method, particles->charge, field, NULL));
    } else {
        fmm_shared_part parts[2] = {{0}};
        const yoke_run_options of = {.devices = how.devices, .share = how.share, .no_meters = 1};
        ok(fmm_shared_open(context, &of, &run));
        ok(fmm_shared_create(method, run, &(fmm_shared_options){.share = how.share, .tries = how.tries}, &shared));
        for (int k = 0; k < 2; k++) ok(fmm_shared_run(shared, particles->charge, field, NULL)); /* the second is like the first */
        int count = fmm_shared_parts(shared, parts, 2);
        assert_true(count == 1 || count == 2);
        if (there) *there = parts[1].pairs / (parts[0].pairs + parts[1].pairs);
    }
    if (how.w) *how.w += fmm_method_count(method).w;
    fmm_shared_destroy(shared);
    yoke_run_destroy(run);
    fmm_method_destroy(method);
    return field;
}

static double largest(const double *values, int64_t count)
{
    double found = 0;
    for (int64_t i = 0; i < count; i++) found = fmax(found, fabs(values[i]));
    return found;
}

static void expect_same(const fmm_field *a, const fmm_field *b, double tolerance)
{
    const double *const first[] = {a->potential, a->gx, a->gy, a->gz}, *const second[] = {b->potential, b->gx, b->gy, b->gz};
    for (int c = 0; c < 4 && first[c]; c++) {
        double scale = tolerance * largest(second[c], b->count);
        for (int64_t i = 0; i < a->count; i++)
            if (!(fabs(first[c][i] - second[c][i]) <= scale))
                fail_msg("component %d of particle %lld: %.17g, expected %.17g", c, (long long)i, first[c][i], second[c][i]);
    }
}

static void compare(const fmm_particles *p, way tree)
{
    static const double shares[] = {0, 0.5, 1};
    fmm_field *here = result(p, tree, NULL);
    for (int k = 0; k < 3; k++) {
        way how = tree;
        double there = 0;
        how.devices = both;
        if (strcmp(device, "openmp")) how.share = &shares[k];
        fmm_field *shared = result(p, how, &there);
        expect_same(shared, here, how.share && *how.share > 0 ? 1e-13 : 0); /* the host alone has the same bits */
        if (how.share) assert_true(shares[k] == 0.5 ? there > 0 && there < 1 : there == shares[k]);
        fmm_field_destroy(shared);
    }
    fmm_field_destroy(here);
}

static void a_shared_near_field_is_that_of_the_cores(void **state)
{
    (void)state;
    for (int d = 0; d < 3; d++)
        for (int adaptive = 0; adaptive < 2; adaptive++) {
            fmm_particles *p = NULL;
            ok(fmm_particles_generate(context, (fmm_distribution)d, 1000, FMM_RANDOM, 3, &p));
            for (int gradient = 0; gradient < 2; gradient++)
                compare(p, (way){.gradient = gradient, .direct = -1, .capacity = adaptive ? 20 : 0, .depth = adaptive ? FMM_MAX_DEPTH : 3});
            p->softening = 0.1;
            p->x[1] = p->x[0], p->y[1] = p->y[0], p->z[1] = p->z[0];
            compare(p, (way){.gradient = adaptive, .direct = -1, .capacity = adaptive ? 20 : 0, .depth = adaptive ? FMM_MAX_DEPTH : 3});
            fmm_particles_destroy(p);
        }
}

/* Leaves of many levels, and of more particles than a slice has.  Lists W and X are done with the far field. */
static void all_clouds_are_shared(void **state)
{
    (void)state;
    const enum cloud clouds[] = {FAR_PARTICLE, TWO_CLUSTERS, ONE_PLACE, LINE};
    int64_t w = 0;
    for (size_t k = 0; k < sizeof clouds / sizeof *clouds; k++) {
        fmm_particles *p = cloud_create(context, clouds[k], 300);
        for (int64_t i = 0; i < p->count; i++) p->charge[i] = i % 3 ? 1 : -1;
        if (clouds[k] == ONE_PLACE) p->x[7] += 1; /* else nothing acts on anything */
        compare(p, (way){.gradient = 1, .capacity = 3, .w = &w, .depth = FMM_MAX_DEPTH});
        compare(p, (way){.gradient = 1, .depth = 2});
        fmm_particles_destroy(p);
    }
    assert_true(w > 0);
}

/* Without a far field: all pairs, by the device's choice of share after trials. */
static void a_tree_of_one_level_gives_direct_sums(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 600};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        fmm_particles *p = NULL;
        fmm_field *direct = NULL;
        ok(fmm_particles_generate(context, FMM_XENON, counts[k], FMM_EQUAL, 3, &p));
        ok(fmm_field_create(context, p->count, 1, &direct));
        ok(fmm_direct(p, NULL, direct));
        for (int way_of = 0; way_of < 4; way_of++) {
            const int alone = way_of % 2, gradient = way_of / 2;
            fmm_field *shared = result(p, (way){.devices = alone ? device : both, .tries = 1, .gradient = gradient, .depth = 1}, NULL);
            expect_same(shared, direct, 1e-13);
            fmm_field_destroy(shared);
        }
        fmm_field_destroy(direct);
        fmm_particles_destroy(p);
    }
}

/* Without a host in the run the far field is done all the same. */
static void a_device_alone_has_a_far_field_too(void **state)
{
    (void)state;
    fmm_particles *p = NULL;
    ok(fmm_particles_generate(context, FMM_SHELLS, 1500, FMM_RANDOM, 3, &p));
    fmm_field *here = result(p, (way){.gradient = 1, .depth = 3}, NULL);
    fmm_field *there = result(p, (way){.devices = device, .gradient = 1, .depth = 3}, NULL);
    expect_same(there, here, 1e-13);
    fmm_field_destroy(here);
    fmm_field_destroy(there);
    fmm_particles_destroy(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_shared_near_field_is_that_of_the_cores),
    cmocka_unit_test(all_clouds_are_shared),
    cmocka_unit_test(a_tree_of_one_level_gives_direct_sums),
    cmocka_unit_test(a_device_alone_has_a_far_field_too),
};

UNIT_MAIN(tests, start, context_end)
