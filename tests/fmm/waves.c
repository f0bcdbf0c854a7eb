/* M2L by plane waves against direct sums over the charges of far cells, axis by axis. */
#include "context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expansion/parts.h"
#include "expansion_reference.h"

/* Cells of edge 1: the middle family's children are those from 2 to 4 in each direction. */
enum { EDGE = 6, CELLS = EDGE * EDGE * EDGE, CHARGES = 8, MOST = (FMM_MAX_ORDER + 1) * (FMM_MAX_ORDER + 2) };

typedef struct box {
    double x[CELLS][CHARGES], y[CELLS][CHARGES], z[CELLS][CHARGES], charge[CELLS][CHARGES];
    int there[CELLS];
    double multipole[CELLS][MOST], by_waves[8][MOST], by_rotations[8][MOST];
} box;

static int cell_at(int x, int y, int z) { return (z * EDGE + y) * EDGE + x; }

static fmm_frame frame_of(int cell) { return (fmm_frame){{cell % EDGE + 0.5, cell / EDGE % EDGE + 0.5, cell / EDGE / EDGE + 0.5}, 1}; }

/* Charges of random sign, evenly in the middle `part` of cells; one in `gap` cells is left out. */
static box *fill(const fmm_operators *o, double part, int gap)
{
    box *b = calloc(1, sizeof *b);
    uint64_t seed = 3;
    for (int c = 0; c < CELLS; c++) {
        const fmm_frame frame = frame_of(c);
        b->there[c] = !gap || (c * 7 + 3) % gap;
        for (int i = 0; i < CHARGES; i++) {
            b->x[c][i] = frame.centre[0] + part * (reference_random(&seed) - 0.5);
            b->y[c][i] = frame.centre[1] + part * (reference_random(&seed) - 0.5);
            b->z[c][i] = frame.centre[2] + part * (reference_random(&seed) - 0.5);
            b->charge[c][i] = reference_random(&seed) < 0.5 ? -1 : 1;
        }
        const fmm_sources sources = {CHARGES, b->x[c], b->y[c], b->z[c], b->charge[c]};
        if (b->there[c]) fmm_p2m(o, &frame, &sources, b->multipole[c]);
    }
    return b;
}

static int octant_cell(int family, int octant)
{
    const int f[3] = {family % 3, family / 3 % 3, family / 9};
    return cell_at(2 * f[0] + (octant & 1), 2 * f[1] + (octant >> 1 & 1), 2 * f[2] + (octant >> 2));
}

/* The axis along which a source acts on a target, -1 where they are near. */
static int axis_between(int target, int source)
{
    const int far_z = abs(target / EDGE / EDGE - source / EDGE / EDGE) > 1, far_y = abs(target / EDGE % EDGE - source / EDGE % EDGE) > 1;
    return far_z ? 2 : far_y ? 1 : abs(target % EDGE - source % EDGE) > 1 ? 0 : -1;
}

static void by_waves(const fmm_waves *w, box *b, int axis)
{
    const size_t size = fmm_waves_size(w);
    double *families, *work;
    assert_int_equal(yoke_allocate(context, (int64_t)(FMM_AROUND * size), sizeof *families, &families), YOKE_OK);
    assert_int_equal(yoke_allocate(context, (int64_t)fmm_waves_work(w), sizeof *work, &work), YOKE_OK);
    const double *around[FMM_AROUND];
    for (int f = 0; f < FMM_AROUND; f++) {
        const double *from[8];
        int children = 0;
        for (int i = 0; i < 8; i++) {
            const int c = octant_cell(f, i);
            from[i] = b->there[c] ? b->multipole[c] : NULL;
            children += b->there[c];
        }
        around[f] = children ? families + size * (size_t)f : NULL;
        if (children) fmm_waves_send(w, axis, from, families + size * (size_t)f, work);
    }
    double *to[8];
    for (int i = 0; i < 8; i++) to[i] = b->there[octant_cell(13, i)] ? b->by_waves[i] : NULL;
    fmm_waves_receive(w, axis, around, to, work);
    yoke_release(context, families);
    yoke_release(context, work);
}

static void by_rotations(const fmm_operators *o, box *b, int axis)
{
    double *work;
    assert_int_equal(yoke_allocate(context, (int64_t)fmm_translation_work(o), sizeof *work, &work), YOKE_OK);
    for (int i = 0; i < 8; i++)
        for (int c = 0, target = octant_cell(13, i); c < CELLS; c++) {
            if (!b->there[c] || !b->there[target] || axis_between(target, c) != axis) continue;
            const int direction[3] = {c % EDGE - target % EDGE, c / EDGE % EDGE - target / EDGE % EDGE,
                                      c / EDGE / EDGE - target / EDGE / EDGE};
            const double *from = b->multipole[c], *nothing = NULL;
            double *to = b->by_rotations[i];
            fmm_m2l(o, fmm_operators_order(o), direction, 1, &from, &nothing, &to, work);
        }
    yoke_release(context, work);
}

static double potential(const fmm_operators *o, const box *b, int cell, int i, const double *local)
{
    double value = 0;
    const fmm_frame frame = frame_of(cell);
    const fmm_targets target = {1, &b->x[cell][i], &b->y[cell][i], &b->z[cell][i], &value, NULL, NULL, NULL};
    fmm_l2p(o, &frame, local, &target);
    return value;
}

/* Relative errors of both, in the 2-norm over the charges of the children. */
static void errors(const fmm_operators *o, const box *b, int axis, double *waves, double *rotations)
{
    double sum = 0, waves_sum = 0, rotations_sum = 0;
    for (int octant = 0; octant < 8; octant++) {
        const int target = octant_cell(13, octant);
        for (int i = 0; i < CHARGES && b->there[target]; i++) {
            double exact = 0;
            const double at[3] = {b->x[target][i], b->y[target][i], b->z[target][i]};
            for (int c = 0; c < CELLS; c++) {
                double value, gradient[3];
                const fmm_sources sources = {CHARGES, b->x[c], b->y[c], b->z[c], b->charge[c]};
                if (!b->there[c] || axis_between(target, c) != axis) continue;
                reference_direct(&sources, at, &value, gradient);
                exact += value;
            }
            sum += exact * exact;
            waves_sum += pow(potential(o, b, target, i, b->by_waves[octant]) - exact, 2);
            rotations_sum += pow(potential(o, b, target, i, b->by_rotations[octant]) - exact, 2);
        }
    }
    *waves = sqrt(waves_sum / sum), *rotations = sqrt(rotations_sum / sum);
}

/* Both M2L with one of the machine's instruction sets, of expansions that may be held with a higher order. */
static void check(int order, int held, const fmm_kernels *kernels, int gap)
{
    fmm_operators *o;
    fmm_waves *w;
    assert_int_equal(fmm_operators_create_within(context, order, (fmm_held){held, order}, &o), YOKE_OK);
    assert_int_equal(fmm_waves_create(context, order, order, (fmm_held){held, order}, &w), YOKE_OK);
    o->kernels = w->kernels = kernels;
    for (int axis = 0; axis < FMM_AXES; axis++) {
        double waves, rotations;
        box *b = fill(o, 1, gap);
        by_waves(w, b, axis);
        by_rotations(o, b, axis);
        errors(o, b, axis, &waves, &rotations);
        if (!(waves < 3 * rotations))
            fail_msg("order %d, axis %d: errors of %g by waves and %g by rotations", order, axis, waves, rotations);
        free(b);
    }
    fmm_waves_destroy(w);
    fmm_operators_destroy(o);
}

static void waves_err_as_little_as_rotations(void **state)
{
    (void)state;
    const fmm_kernels *list[FMM_MAX_KERNELS];
    const int sets = fmm_kernels_list(list);
    for (int order = FMM_FIRST_WAVE_ORDER; order <= FMM_LAST_WAVE_SET; order += 2) check(order, order, list[sets - 1], 0);
}

static void each_instruction_set_agrees(void **state)
{
    (void)state;
    const fmm_kernels *list[FMM_MAX_KERNELS];
    for (int i = 0; i < fmm_kernels_list(list); i++)
        for (int order = 5; order < 13; order += 7) check(order, order, list[i], 0);
}

static void children_and_families_may_be_missing(void **state)
{
    (void)state;
    const fmm_kernels *list[FMM_MAX_KERNELS];
    check(8, 8, list[fmm_kernels_list(list) - 1], 3);
    check(8, 8, list[0], 2);
}

static void degrees_above_the_order_are_left_out(void **state)
{
    (void)state;
    const fmm_kernels *list[FMM_MAX_KERNELS];
    check(7, 11, list[fmm_kernels_list(list) - 1], 3);
}

/* Of charges in the middle of cells, whose expansions need a low order, errors fall with the set. */
static void errors_fall_with_the_set(void **state)
{
    enum { ORDER = 10, FIRST = 8, STEP = 5 };
    (void)state;
    double before = INFINITY, rotations;
    fmm_operators *o;
    assert_int_equal(fmm_operators_create(context, ORDER, &o), YOKE_OK);
    for (int set = FIRST; set < FIRST + 3 * STEP; set += STEP) {
        fmm_waves *w;
        double waves;
        assert_int_equal(fmm_waves_create(context, ORDER, set, (fmm_held){ORDER, ORDER}, &w), YOKE_OK);
        box *b = fill(o, 0.5, 0);
        by_waves(w, b, 2);
        by_rotations(o, b, 2);
        errors(o, b, 2, &waves, &rotations);
        if (!(waves < 0.15 * before)) fail_msg("errors of %g with set %d, of %g with one that is lower by %d", waves, set, before, STEP);
        before = waves;
        free(b);
        fmm_waves_destroy(w);
    }
    if (!(before < 2 * rotations)) fail_msg("errors of %g by waves and %g by rotations", before, rotations);
    fmm_operators_destroy(o);
}

static void orders_without_a_quadrature_are_refused(void **state)
{
    (void)state;
    fmm_waves *w;
    assert_int_equal(fmm_waves_create(context, FMM_FIRST_WAVE_ORDER - 1, 8, (fmm_held){50, 50}, &w), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_waves_create(context, FMM_LAST_WAVE_ORDER + 1, 8, (fmm_held){50, 50}, &w), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_waves_create(context, 8, FMM_FIRST_WAVE_SET - 1, (fmm_held){50, 50}, &w), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_waves_create(context, 8, FMM_LAST_WAVE_SET + 1, (fmm_held){50, 50}, &w), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_waves_create(context, 8, 8, (fmm_held){7, 8}, &w), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_waves_create(context, 8, 8, (fmm_held){8, 7}, &w), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_waves_create(context, 8, 8, (fmm_held){FMM_MAX_ORDER + 1, 8}, &w), YOKE_ERROR_ARGUMENT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(waves_err_as_little_as_rotations),
    cmocka_unit_test(each_instruction_set_agrees),
    cmocka_unit_test(children_and_families_may_be_missing),
    cmocka_unit_test(degrees_above_the_order_are_left_out),
    cmocka_unit_test(errors_fall_with_the_set),
    cmocka_unit_test(orders_without_a_quadrature_are_refused),
};

UNIT_MAIN(tests, context_start, context_end)
