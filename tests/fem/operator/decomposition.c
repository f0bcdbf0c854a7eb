/* Decompositions: what several devices compute together is what one computes alone, wherever the elements are cut. */
#include "operator/decomposition/decomposition.h"

#include <math.h>

#include "unit.h"

#include "fem/fixtures/body.h"
#include "fem/fixtures/decomposition_settings.h"
#include "fem/fixtures/subdomain_settings.h"
#include "operator/decomposition/private.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};
static const int counts[4] = {1, 2, 3, 5};

static void create(block *b, int components, fem_element element)
{
    subdomain_create_hanging(b, components);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, components == 3 ? 5 : 1, {1, 1, 1}});
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 3, components == 3 ? 2 : 1, {1, 1, 1}});
    decomposition_read_machine(b, &(decomposition_machine){NULL, NULL});
    block_discretise(b, element);
    assert_true(b->space->num_hanging > 0);
}

static fem_decomposition *make(const block *b, fem_devices *devices, const int32_t *cut, fem_decomposition_options options)
{
    fem_decomposition *decomposition;
    options.devices = devices;
    options.cut = cut;
    if (fem_decomposition_create(b->space, b->constraints, &options, &decomposition)) fail_msg("%s", yoke_last_error(b->context));
    return decomposition;
}

static fem_vector *vector(fem_decomposition *decomposition, const double *values)
{
    fem_vector *v;
    if (fem_vector_create(decomposition, &v)) fail_msg("%s", yoke_last_error(fem_decomposition_space(decomposition)->context));
    if (values) fem_vector_write(v, values);
    return v;
}

/* All that one decomposition makes of u and v; the arrays have [dofs]. */
typedef struct results {
    double *product, *masked, *blocks, *step;
    double sums[FEM_MAX_DOTS];
} results;

static results make_results(int64_t dofs)
{
    return (results){.product = block_zeros(dofs, sizeof(double)),
                     .masked = block_zeros(dofs, sizeof(double)),
                     .blocks = block_zeros(dofs, sizeof(double)),
                     .step = block_zeros(dofs, sizeof(double))};
}

static void release_results(results *r)
{
    free(r->product);
    free(r->masked);
    free(r->blocks);
    free(r->step);
}

static void assert_fine(fem_decomposition *decomposition)
{
    if (fem_decomposition_status(decomposition)) fail_msg("%s", yoke_last_error(fem_decomposition_space(decomposition)->context));
    assert_int_equal(fem_decomposition_failed(decomposition), 0);
}

/* The copies of a shared value have the same bits. */
static void assert_replicas_agree(const fem_vector *x)
{
    const fem_decomposition *decomposition = x->decomposition;
    int n = decomposition->space->components;
    int64_t dofs = (int64_t)decomposition->space->num_nodes * n;
    double *first = block_zeros(dofs, sizeof *first), *own = block_zeros(dofs, sizeof *own);
    uint8_t *seen = block_zeros(dofs, 1);
    for (int i = 0; i < decomposition->num_subdomains; i++) {
        const decomposition_subdomain *subdomain = &decomposition->subdomains[i];
        if (subdomain->halo_only) continue;
        subdomain->local->call->read_wait(subdomain->local, x->data[i], own);
        for (int64_t k = 0; k < (int64_t)subdomain->space->num_nodes * n; k++) {
            int64_t at = subdomain->subspace ? (int64_t)subdomain->subspace->global_node[k / n] * n + k % n : k;
            if (seen[at]) assert_memory_equal(&first[at], &own[k], sizeof(double));
            first[at] = own[k];
            seen[at] = 1;
        }
    }
    for (int64_t k = 0; k < dofs; k++) assert_true(seen[k]);
    free(seen);
    free(own);
    free(first);
}

static void compute(fem_decomposition *decomposition, const double *u, const double *v, results *r)
{
    fem_vector *x = vector(decomposition, u), *y = vector(decomposition, v), *z = vector(decomposition, NULL);
    const fem_vector *left[4] = {x, x, y, y}, *right[4] = {y, x, y, x};
    fem_vector_dots(4, left, right, r->sums);
    fem_decomposition_product(decomposition, 0, x, z);
    assert_replicas_agree(z);
    fem_vector_read(z, r->product);
    fem_decomposition_block_solve(decomposition, x, z);
    fem_vector_read(z, r->blocks);
    fem_vector_mask(x);
    fem_decomposition_product(decomposition, 1, x, z);
    fem_vector_read(z, r->masked);
    fem_decomposition_chebyshev_step(decomposition, 0.3, 0.7, y, z, x, y);
    fem_vector_agree(y);
    assert_replicas_agree(y);
    fem_vector_read(y, r->step);
    assert_fine(decomposition);
    assert_int_equal(fem_decomposition_products(decomposition), 2);
    fem_vector_destroy(x);
    fem_vector_destroy(y);
    fem_vector_destroy(z);
}

static void assert_same(const char *what, const double *found, const double *expected, int64_t count)
{
    double difference = block_difference(found, expected, count);
    if (!(difference <= 1e-13)) fail_msg("%s: off by %g", what, difference);
}

static void assert_same_results(const results *found, const results *expected, int64_t dofs)
{
    assert_same("product", found->product, expected->product, dofs);
    assert_same("masked product", found->masked, expected->masked, dofs);
    assert_same("block solve", found->blocks, expected->blocks, dofs);
    assert_same("Chebyshev step", found->step, expected->step, dofs);
    for (int i = 0; i < FEM_MAX_DOTS; i++) assert_true(fabs(found->sums[i] - expected->sums[i]) <= 1e-13 * expected->sums[1]);
    assert_memory_equal(&found->sums[0], &found->sums[3], sizeof(double));
}

static void assert_decompositions_agree(int components, fem_element element)
{
    block b;
    uint64_t random = 7;
    create(&b, components, element);
    int64_t dofs = subdomain_dofs(&b);
    double *u = block_random_array(dofs, &random), *v = block_random_array(dofs, &random);
    results alone = make_results(dofs), shared = make_results(dofs);
    int32_t cut[FEM_MAX_DEVICES + 1];
    fem_devices *devices = decomposition_open(&b, 1, 0);
    decomposition_cut(b.space->num_elements, 1, 0, cut);
    fem_decomposition *decomposition = make(&b, devices, cut, (fem_decomposition_options){0});
    assert_true(decomposition->subdomains[0].space == b.space); /* no copy */
    compute(decomposition, u, v, &alone);
    fem_decomposition_destroy(decomposition);
    fem_devices_close(devices);
    for (int i = 0; i < 4 * DECOMPOSITION_VARIANTS; i++) {
        devices = decomposition_open(&b, counts[i / DECOMPOSITION_VARIANTS], i % DECOMPOSITION_VARIANTS);
        for (int kind = 0; kind < (devices->count == 1 ? 1 : DECOMPOSITION_CUTS); kind++)
            for (int full = 0; full < 2; full++) {
                decomposition_cut(b.space->num_elements, devices->count, kind, cut);
                decomposition = make(&b, devices, cut,
                                     (fem_decomposition_options){.exchange = full ? FEM_EXCHANGE_FULL : FEM_EXCHANGE_HALO,
                                                                 .operator_kind = kind == 1 ? FEM_STORED : FEM_MATRIXFREE});
                compute(decomposition, u, v, &shared);
                assert_same_results(&shared, &alone, dofs);
                fem_decomposition_destroy(decomposition);
            }
        fem_devices_close(devices);
    }
    release_results(&alone);
    release_results(&shared);
    free(u);
    free(v);
    block_destroy(&b);
}

static void q1_on_any_devices_gives_what_one_gives(void **state)
{
    (void)state;
    assert_decompositions_agree(3, FEM_Q1);
    assert_decompositions_agree(1, FEM_Q1);
}

static void s2_on_any_devices_gives_what_one_gives(void **state)
{
    (void)state;
    assert_decompositions_agree(3, FEM_S2);
    assert_decompositions_agree(1, FEM_S2);
}

static void q2_on_any_devices_gives_what_one_gives(void **state)
{
    (void)state;
    assert_decompositions_agree(3, FEM_Q2);
    assert_decompositions_agree(1, FEM_Q2);
}

static void operator_on_several_devices_is_symmetric(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        block b;
        uint64_t random = 8;
        int32_t cut[FEM_MAX_DEVICES + 1];
        create(&b, 3, elements[i]);
        double *u = block_random_array(subdomain_dofs(&b), &random), *v = block_random_array(subdomain_dofs(&b), &random);
        fem_devices *devices = decomposition_open(&b, 5, 0);
        decomposition_cut(b.space->num_elements, devices->count, 0, cut);
        fem_decomposition *decomposition = make(&b, devices, cut, (fem_decomposition_options){0});
        fem_vector *x = vector(decomposition, u), *y = vector(decomposition, v), *ax = vector(decomposition, NULL),
                   *ay = vector(decomposition, NULL);
        fem_decomposition_product(decomposition, 0, x, ax);
        fem_decomposition_product(decomposition, 0, y, ay);
        double size = sqrt(fem_vector_dot(x, x) * fem_vector_dot(ay, ay));
        assert_true(fabs(fem_vector_dot(x, ay) - fem_vector_dot(y, ax)) <= 1e-12 * size);
        assert_fine(decomposition);
        fem_vector_destroy(x);
        fem_vector_destroy(y);
        fem_vector_destroy(ax);
        fem_vector_destroy(ay);
        fem_decomposition_destroy(decomposition);
        fem_devices_close(devices);
        free(u);
        free(v);
        block_destroy(&b);
    }
}

/* ------------------------------------------------------------------------------------------------- what travels */

static void only_shared_nodes_travel_unless_all_are_asked_for(void **state)
{
    (void)state;
    block b;
    int32_t cut[FEM_MAX_DEVICES + 1];
    create(&b, 3, FEM_Q2);
    fem_devices *devices = decomposition_open(&b, 3, 0);
    int *shared = block_zeros(b.space->num_nodes, sizeof *shared);
    for (int kind = 0; kind < DECOMPOSITION_CUTS; kind++) {
        decomposition_cut(b.space->num_elements, devices->count, kind, cut);
        decomposition_count_shares(b.space, devices->count, cut, shared);
        int64_t expected = 0, halo = 0, full = 0, working = 0;
        for (int32_t n = 0; n < b.space->num_nodes; n++) expected += shared[n] > 1 ? shared[n] : 0;
        for (int exchange = FEM_EXCHANGE_HALO; exchange <= FEM_EXCHANGE_FULL; exchange++) {
            fem_decomposition *decomposition =
                make(&b, devices, cut, (fem_decomposition_options){.exchange = exchange ? FEM_EXCHANGE_FULL : FEM_EXCHANGE_HALO});
            for (int i = 0; i < devices->count; i++) {
                fem_decomposition_share share;
                fem_decomposition_get_share(decomposition, i, &share);
                assert_int_equal(share.elements, cut[i + 1] - cut[i]);
                *(exchange ? &full : &halo) += share.interface_bytes;
                working += exchange && share.elements;
            }
            fem_decomposition_destroy(decomposition);
        }
        assert_int_equal(halo, 2 * 8 * 3 * expected);
        assert_int_equal(full, working > 1 ? 2 * 8 * 3 * working * b.space->num_nodes : 0);
    }
    free(shared);
    fem_devices_close(devices);
    block_destroy(&b);
}

static void cut_that_leaves_elements_out_is_refused(void **state)
{
    (void)state;
    block b;
    fem_decomposition *decomposition;
    create(&b, 1, FEM_Q1);
    fem_devices *devices = decomposition_open(&b, 2, 0);
    int32_t n = b.space->num_elements, bad[4][3] = {{0, 4, n - 1}, {1, 4, n}, {0, n + 1, n}, {0, -1, n}};
    for (int i = 0; i < 4; i++) {
        fem_decomposition_options options = {.devices = devices, .cut = bad[i]};
        assert_int_equal(fem_decomposition_create(b.space, b.constraints, &options, &decomposition), YOKE_ERROR_ARGUMENT);
    }
    fem_devices_close(devices);
    block_destroy(&b);
}

/* ---------------------------------------------------------------------------------------------- between levels */

/* A coarser level of a block. */
typedef struct coarse {
    fem_forest *forest; /* NULL: the block's own */
    fem_space *space;
    fem_boundary *boundary;
    fem_constraints *constraints;
    fem_interpolation *to_finer;
} coarse;

static void create_coarse(const block *b, int coarsen, coarse *c)
{
    c->forest = NULL;
    if (coarsen) {
        assert_int_equal(fem_forest_copy(b->forest, &c->forest), YOKE_OK);
        assert_int_equal(fem_forest_coarsen(c->forest), YOKE_OK);
        assert_true(fem_forest_leaves(c->forest) < b->space->num_elements);
    }
    assert_int_equal(fem_space_create(&b->problem, coarsen ? c->forest : b->forest, FEM_Q1, &c->space), YOKE_OK);
    assert_int_equal(fem_boundary_create(c->space, &c->boundary), YOKE_OK);
    assert_int_equal(fem_constraints_create(c->space, c->boundary, &c->constraints), YOKE_OK);
    assert_int_equal(fem_interpolation_create(c->space, b->space, 1, &c->to_finer), YOKE_OK);
}

static void destroy_coarse(coarse *c)
{
    fem_interpolation_destroy(c->to_finer);
    fem_constraints_destroy(c->constraints);
    fem_boundary_destroy(c->boundary);
    fem_space_destroy(c->space);
    fem_forest_destroy(c->forest);
}

/* coarse = P^T fine at free dofs, by the whole interpolation. */
static void restrict_whole(const coarse *c, const double *fine, double *result)
{
    const fem_rows *rows = &c->to_finer->to_fine;
    int n = c->space->components;
    for (int64_t k = 0; k < (int64_t)c->space->num_nodes * n; k++) result[k] = 0;
    for (int64_t i = 0; i < c->to_finer->fine_nodes; i++)
        for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            for (int a = 0; a < n; a++) result[(int64_t)rows->node[k] * n + a] += (double)rows->weight[k] * fine[i * n + a];
    for (int64_t k = 0; k < (int64_t)c->space->num_nodes * n; k++)
        if (c->constraints->prescribed[k / n] >> k % n & 1) result[k] = 0;
}

/* Both transfers against the whole interpolation, twice: the second time nothing of the first is left. */
static void assert_transfers(const block *b, const coarse *c, fem_devices *devices, const int32_t *fine_cut, const int32_t *coarse_cut)
{
    int n = c->space->components;
    uint64_t random = 4;
    int64_t fine_dofs = subdomain_dofs(b), coarse_dofs = (int64_t)c->space->num_nodes * n;
    fem_decomposition *fine = make(b, devices, fine_cut, (fem_decomposition_options){0}), *decomposition;
    fem_decomposition_options options = {.devices = devices, .cut = coarse_cut, .finer = fine, .to_finer = c->to_finer};
    if (fem_decomposition_create(c->space, c->constraints, &options, &decomposition)) fail_msg("%s", yoke_last_error(b->context));
    double *expected = block_zeros(fine_dofs, sizeof *expected), *found = block_zeros(fine_dofs, sizeof *found);
    for (int time = 0; time < 2; time++) {
        double *u = block_random_array(fine_dofs, &random), *v = block_random_array(coarse_dofs, &random);
        fem_vector *x = vector(fine, u), *y = vector(decomposition, v);
        fem_decomposition_prolongate_add(decomposition, y, x);
        fem_vector_read(x, found);
        fem_interpolation_apply(c->to_finer, n, v, expected);
        for (int64_t k = 0; k < fine_dofs; k++) expected[k] += u[k];
        assert_same("prolongation", found, expected, fine_dofs);
        fem_vector_write(x, u);
        fem_decomposition_restrict_to(decomposition, x, y);
        assert_replicas_agree(y);
        fem_vector_read(y, found);
        restrict_whole(c, u, expected);
        assert_same("restriction", found, expected, coarse_dofs);
        fem_vector_destroy(x);
        fem_vector_destroy(y);
        free(u);
        free(v);
    }
    assert_fine(fine);
    assert_fine(decomposition);
    free(expected);
    free(found);
    fem_decomposition_destroy(decomposition);
    fem_decomposition_destroy(fine);
}

/* The coarse level cut in its own way, and all on one of the devices: the others are halo-only. */
static void transfers_are_those_of_the_whole_space(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        block b;
        coarse c;
        int32_t fine_cut[FEM_MAX_DEVICES + 1], coarse_cut[FEM_MAX_DEVICES + 1];
        create(&b, i % 2 ? 1 : 3, elements[i / 2]);
        create_coarse(&b, i / 2 == 0 || i % 2, &c);
        for (int k = 1; k < 4 * DECOMPOSITION_VARIANTS; k++) {
            fem_devices *devices = decomposition_open(&b, counts[k / DECOMPOSITION_VARIANTS], k % DECOMPOSITION_VARIANTS);
            for (int kind = 0; kind < (devices->count == 1 ? 1 : DECOMPOSITION_CUTS); kind += 2)
                for (int on_one = -1; on_one < devices->count; on_one += 2) {
                    decomposition_cut(b.space->num_elements, devices->count, kind, fine_cut);
                    decomposition_cut(c.space->num_elements, devices->count, kind ? 0 : 1, coarse_cut);
                    for (int d = 0; d < devices->count && on_one >= 0; d++) coarse_cut[d + 1] = d < on_one ? 0 : c.space->num_elements;
                    assert_transfers(&b, &c, devices, fine_cut, coarse_cut);
                }
            fem_devices_close(devices);
        }
        destroy_coarse(&c);
        block_destroy(&b);
    }
}

/* ------------------------------------------------------------------------------------------------- device lists */

static void device_lists_that_make_no_sense_are_refused(void **state)
{
    static const struct {
        const char *list, *text;
    } bad[] = {{"", "empty name"},
               {"openmp,", "empty name"},
               {",openmp", "empty name"},
               {"openmp,openmp", "named twice"},
               {"sim:gpu,openmp,sim:gpu", "named twice"},
               {"openmp,teapot:0", "teapot"},
               {"sim:teapot", "teapot"}};
    (void)state;
    block b;
    create(&b, 1, FEM_Q1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fem_devices *devices = NULL;
        assert_int_equal(fem_devices_open(b.context, bad[i].list, &devices), YOKE_ERROR_INPUT);
        assert_null(devices);
        if (!strstr(yoke_last_error(b.context), bad[i].text)) fail_msg("%s: \"%s\"", bad[i].list, yoke_last_error(b.context));
    }
    char many[16 * (FEM_MAX_DEVICES + 1)] = "";
    for (int i = 0; i <= FEM_MAX_DEVICES; i++) snprintf(many + strlen(many), 16, "%sopencl:0.%d", i ? "," : "", i);
    fem_devices *devices;
    assert_int_equal(fem_devices_open(b.context, many, &devices), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(b.context), "more than 64"));
    block_destroy(&b);
}

static void devices_know_how_they_are_worked_with(void **state)
{
    (void)state;
    block b;
    fem_devices *devices;
    create(&b, 1, FEM_Q1);
    assert_int_equal(fem_devices_open(b.context, "sim:gpu,openmp:0-0,sim:cpu,openmp", &devices), YOKE_OK);
    static const int inlined[4] = {0, 1, 0, 0}, host_functions[4] = {0, 1, 1, 1};
    assert_int_equal(devices->count, 4);
    for (int i = 0; i < 4; i++) {
        const fem_device *d = &devices->list[i];
        assert_int_equal(d->inlined, inlined[i]);
        assert_int_equal(d->host_functions, host_functions[i]);
        assert_int_equal(d->programs == NULL, host_functions[i]);
        assert_true(d->most_elements == INT64_MAX && !d->failed && !d->short_of_memory);
    }
    fem_devices_close(devices);
    assert_int_equal(fem_devices_open(b.context, NULL, &devices), YOKE_OK);
    assert_int_equal(devices->count, 1);
    assert_string_equal(devices->list[0].info->name, "openmp");
    fem_devices_close(devices);
    fem_devices_close(NULL);
    block_destroy(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(q1_on_any_devices_gives_what_one_gives),
    cmocka_unit_test(s2_on_any_devices_gives_what_one_gives),
    cmocka_unit_test(q2_on_any_devices_gives_what_one_gives),
    cmocka_unit_test(operator_on_several_devices_is_symmetric),
    cmocka_unit_test(only_shared_nodes_travel_unless_all_are_asked_for),
    cmocka_unit_test(cut_that_leaves_elements_out_is_refused),
    cmocka_unit_test(transfers_are_those_of_the_whole_space),
    cmocka_unit_test(device_lists_that_make_no_sense_are_refused),
    cmocka_unit_test(devices_know_how_they_are_worked_with),
};

UNIT_MAIN(tests, body_start, body_end)
