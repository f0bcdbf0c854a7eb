/* What is told of a solution on several ranks: stress, extremes, probes, forces and peaks of one rank alone. */
#include <math.h>

#include "output/quantities/extremes.h"
#include "output/quantities/probe.h"
#include "output/quantities/reaction.h"
#include "output/quantities/singularity.h"

#include "unit.h"

#include "fem/fixtures/maps.h"
#include "twins.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static void create(twins *t, int components, bool two_materials, uint64_t seed)
{
    const block_options options = {.elements = {3, 2, 2}, .map = map_bend, .order = 2, .turn = 5, .components = components};
    const unsigned all = components == 1 ? 1 : 7;
    twins_create(&options, t);
    if (two_materials) {
        block_two_materials(&t->alone, 30);
        block_two_materials(&t->shared, 30);
    }
    twins_add_condition(t, (fem_condition){.kind = FEM_DIRICHLET, .group = 0, .mask = all});
    twins_add_condition(t, (fem_condition){.kind = FEM_DIRICHLET, .group = 4, .mask = all & 5});
    twins_add_condition(t, (fem_condition){.kind = FEM_DIRICHLET, .group = BLOCK_ON_Y, .mask = all & 1});
    twins_add_condition(t, (fem_condition){.kind = FEM_TRACTION, .group = 1, .value = {-0.5, 0.1, 0.7}});
    for (int i = 0; i < 3; i++) twins_refine(t, i == 0 ? 0.6 : 0.2, &seed, NULL);
}

/* A field that differs at each node, and grows towards one point of the body. */
static double *field(const fem_space *space, int width)
{
    double *u = block_zeros((int64_t)space->num_nodes * width, sizeof *u);
    for (int32_t i = 0; i < space->num_nodes; i++) {
        const double *x = space->x + 3 * (int64_t)i;
        for (int c = 0; c < width; c++)
            u[(int64_t)width * i + c] =
                0.05 * sin(0.73 * (double)(width * fem_space_global_node(space, i) + c)) + (c + 1) * exp(x[0] + x[1]);
    }
    return u;
}

typedef struct outcome {
    double *u;
    fem_stress *stress;
    fem_extreme extremes[FEM_EXTREMES];
} outcome;

static outcome recover(const block *b)
{
    outcome o = {.u = field(b->space, b->space->components)};
    assert_int_equal(fem_stress_create(b->space, o.u, &o.stress), YOKE_OK);
    assert_int_equal(fem_extremes_find(b->space, o.u, o.stress, o.extremes), YOKE_OK);
    return o;
}

static void release(outcome *o)
{
    fem_stress_destroy(o->stress);
    free(o->u);
}

static void assert_close(double a, double b, double scale) { assert_true(fabs(a - b) <= 1e-11 * scale); }

/* At all slots of all elements, which points and hanging slots decide. */
static void assert_same_stress(const twins *t, const outcome *alone, const outcome *shared)
{
    const fem_space *space = t->shared.space;
    const int numbers = space->slots * alone->stress->tensor;
    double scale = 0;
    for (int64_t i = 0; i < (int64_t)alone->stress->points.num_nodes * alone->stress->tensor; i++)
        scale = fmax(scale, fabs(alone->stress->value[i]));
    for (int32_t e = 0; e < space->num_elements; e++) {
        double expected[27 * FEM_MAX_TENSOR], found[27 * FEM_MAX_TENSOR];
        fem_stress_expand(alone->stress, (int32_t)(space->first_element + e), expected);
        fem_stress_expand(shared->stress, e, found);
        for (int k = 0; k < numbers; k++) assert_close(found[k], expected[k], scale);
    }
    if (space->components == 3) assert_close(shared->stress->max_von_mises_pa, alone->stress->max_von_mises_pa, scale);
}

static void assert_same_extremes(const outcome *alone, const outcome *shared)
{
    for (int k = 0; k < FEM_EXTREMES; k++) {
        const fem_extreme *a = &alone->extremes[k], *b = &shared->extremes[k];
        assert_int_equal(b->node, a->node);
        if (a->node < 0) continue;
        assert_close(b->value, a->value, fabs(a->value));
        assert_memory_equal(b->x, a->x, sizeof a->x);
    }
}

static void assert_same_probes(const twins *t, const outcome *alone, const outcome *shared)
{
    enum { PROBES = 20 };
    fem_probe probes[PROBES];
    fem_probe_value expected[PROBES], found[PROBES];
    uint64_t seed = 5;
    for (int i = 0; i < PROBES; i++) {
        double in[3];
        for (int a = 0; a < 3; a++) in[a] = i < 8 ? (i >> a & 1) : block_random(&seed); /* corners, then points inside */
        map_bend(in, probes[i].x);
        probes[i].name = "probe";
    }
    assert_int_equal(fem_probes_evaluate(t->alone.space, alone->u, alone->stress, PROBES, probes, expected), YOKE_OK);
    assert_int_equal(fem_probes_evaluate(t->shared.space, shared->u, shared->stress, PROBES, probes, found), YOKE_OK);
    for (int i = 0; i < PROBES; i++) {
        for (int c = 0; c < 3; c++) assert_close(found[i].value[c], expected[i].value[c], 10);
        for (int c = 0; c < FEM_MAX_TENSOR; c++) assert_close(found[i].tensor[c], expected[i].tensor[c], 1e3 * t->alone.material[1].mu);
    }
    assert_int_equal(fem_probes_check(t->shared.space, 8, probes), YOKE_OK);
    const fem_probe outside = {"far", {0.2, 0.3, -2}};
    assert_int_equal(fem_probes_check(t->alone.space, 1, &outside), YOKE_ERROR_INPUT);
    assert_int_equal(fem_probes_check(t->shared.space, 1, &outside), YOKE_ERROR_INPUT);
    assert_string_equal(yoke_last_error(t->shared.context), yoke_last_error(t->alone.context));
}

static void assert_same_forces(const twins *t)
{
    double force[2][3], moment[2][3];
    const block *both[2] = {&t->alone, &t->shared};
    fem_reaction *reactions[2] = {NULL};
    int count[2];
    for (int i = 0; i < 2; i++) {
        double *nodal = field(both[i]->space, both[i]->space->components);
        fem_resultant(both[i]->space, nodal, force[i], moment[i]);
        assert_int_equal(fem_reactions_create(both[i]->space, both[i]->constraints, nodal, &count[i], &reactions[i]), YOKE_OK);
        free(nodal);
    }
    const double scale = fabs(force[0][0]);
    assert_int_equal(count[0], count[1]);
    assert_int_equal(count[0], 3);
    for (int c = 0; c < 3; c++) {
        assert_close(force[1][c], force[0][c], scale);
        assert_close(moment[1][c], moment[0][c], scale);
        for (int i = 0; i < count[0]; i++) {
            assert_close(reactions[1][i].force_n[c], reactions[0][i].force_n[c], scale);
            assert_close(reactions[1][i].moment_nm[c], reactions[0][i].moment_nm[c], scale);
        }
    }
    yoke_release(both[0]->context, reactions[0]);
    yoke_release(both[1]->context, reactions[1]);
}

static void assert_same_peak(const twins *t, const outcome *alone)
{
    fem_peak expected, found;
    uint8_t *shared = NULL;
    assert_int_equal(fem_shared_faces(&t->alone.mesh, &shared), YOKE_OK);
    /* The peak, and other nodes with their features. */
    for (int64_t i = 0; i < 12; i++) {
        fem_extreme at = alone->extremes[FEM_EXTREME_VON_MISES];
        if (i > 0) {
            at.node = (i - 1) * (t->alone.space->num_nodes - 1) / 10;
            memcpy(at.x, t->alone.space->x + 3 * at.node, sizeof at.x);
        }
        assert_int_equal(fem_peak_find(t->alone.space, t->alone.boundary, shared, &at, 0.1, &expected), YOKE_OK);
        assert_int_equal(fem_peak_find(t->shared.space, t->shared.boundary, shared, &at, 0.1, &found), YOKE_OK);
        assert_int_equal(found.feature, expected.feature);
        assert_close(found.size, expected.size, expected.size);
    }
    yoke_release(t->alone.context, shared);
}

static void a_solution_is_told_as_on_one_rank(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        twins t;
        create(&t, kind == 0 ? 1 : 3, kind == 2, 11 + (uint64_t)kind);
        for (int i = 0; i < 3; i++) {
            twins_discretise(&t, elements[i]);
            outcome alone = recover(&t.alone), shared = recover(&t.shared);
            assert_same_stress(&t, &alone, &shared);
            assert_same_extremes(&alone, &shared);
            assert_same_probes(&t, &alone, &shared);
            assert_same_forces(&t);
            if (kind > 0) assert_same_peak(&t, &alone);
            release(&alone);
            release(&shared);
        }
        twins_destroy(&t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_solution_is_told_as_on_one_rank),
};

UNIT_MAIN(tests, twins_start, twins_end)
