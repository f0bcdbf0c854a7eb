#include "expansion/waves.h"

#include <math.h>

#include "expansion/parts.h"
#include "expansion/rotation.h"

#define PI 3.14159265358979323846

enum { FAMILY = 8, LINE = 8 /* doubles in a cache line */ };

#include "expansion/wave_nodes.h"

_Static_assert((int)FMM_LAST_WAVE_ORDER == (int)FMM_MAX_WAVE_ORDER, "kernels have other orders");
_Static_assert((int)FIRST_ORDER == FMM_FIRST_WAVE_SET && (int)LAST_ORDER == FMM_LAST_WAVE_SET, "the tables have other sets");

static int degrees_of(int order, int m, int parity) { return order - m - parity < 0 ? 0 : (order - m - parity) / 2 + 1; }
static int modes_of(int modes, int parity) { return (modes + (parity ? 1 : 2)) / 2; }
static size_t whole_lines(size_t count) { return (count + LINE - 1) / LINE * LINE; }

/* Sets sizes and positions.  The numbers of modes do not decrease from one ring of a set to the next. */
static void lay_out(fmm_waves *w, int order, int set)
{
    fmm_wave_tables *t = &w->tables;
    t->order = order;
    t->rings = wave_first[set - FIRST_ORDER + 1] - wave_first[set - FIRST_ORDER];
    w->node = wave_nodes + wave_first[set - FIRST_ORDER];
    for (int k = 0; k < t->rings; k++) {
        t->angles[k] = w->node[k].angles, t->modes[k] = w->node[k].modes < order ? w->node[k].modes : order;
        t->first[k] = t->waves;
        t->waves += t->angles[k] / 2;
        t->mode_first[k + 1] = t->mode_first[k] + 4 * (t->modes[k] + 1);
    }
    t->padded = (int)whole_lines((size_t)t->waves);
    t->most_modes = t->modes[t->rings - 1];
    for (int m = 0; m <= t->most_modes; m++)
        while (t->modes[t->lowest[m]] < m) t->lowest[m]++;
}

static size_t numbers_of(const fmm_wave_tables *t)
{
    size_t count = (size_t)(2 * FAMILY * t->waves + 2 * FAMILY * t->rings + 18 * t->padded) + 2 * fmm_rotation_size(t->order);
    for (int m = 0; m <= t->most_modes; m++) count += 2 * (size_t)(t->rings * (t->order - m + 1));
    for (int k = 0; k < t->rings; k++) count += (size_t)(t->angles[k] * (t->modes[k] + 1));
    return count + 2 * LINE;
}

/* Fills the powers of the nodes for each mode.  Those for the conversion back include the weights, and the sign of exp(-lambda z). */
static double *fill_powers(fmm_waves *w, double *numbers)
{
    fmm_wave_tables *t = &w->tables;
    for (int m = 0; m <= t->most_modes; m++)
        for (int parity = 0; parity < 2; parity++) {
            const int degrees = degrees_of(t->order, m, parity), rings = t->rings - t->lowest[m];
            double *in = numbers, *back = in + rings * degrees;
            for (int r = 0; r < rings; r++)
                for (int i = 0; i < degrees; i++) {
                    const int l = m + parity + 2 * i;
                    const fmm_wave_node *node = &w->node[t->lowest[m] + r];
                    in[r * degrees + i] = pow(node->node, l);
                    back[i * rings + r] = pow(-node->node, l) * 2 * node->weight / node->angles;
                }
            t->powers[parity][m] = in, t->powers_back[parity][m] = back;
            numbers = back + rings * degrees;
        }
    return numbers;
}

static double angle_of(const fmm_wave_tables *t, int ring, int j) { return 2 * PI * (j + 0.5) / t->angles[ring]; }

/*
 * Fills the cosines and sines.  A wave is W = A_0 + sum over m > 0 of (-i)^m 2 Re(A_m exp(-i m gamma)): its real part has the even modes,
 * its imaginary part the odd ones.  In the conversion back, waves V contribute (-i)^m sum of V exp(-i m gamma), over all angles, to mode m.
 */
static double *fill_angles(fmm_waves *w, double *numbers)
{
    fmm_wave_tables *t = &w->tables;
    for (int k = 0; k < t->rings; k++)
        for (int parity = 0; parity < 2; parity++) {
            const int count = modes_of(t->modes[k], parity), quarter = t->angles[k] / 4, size = count * quarter;
            double *table[4] = {numbers, numbers + size, numbers + 2 * size, numbers + 3 * size};
            for (int j = 0; j < quarter; j++)
                for (int i = 0; i < count; i++) {
                    const int m = parity + 2 * i;
                    const double sign = i & 1 ? -1 : 1, there = (m ? 2 : 1) * (parity ? -sign : sign);
                    const double cosine = cos(m * angle_of(t, k, j)), sine = sin(m * angle_of(t, k, j));
                    table[0][j * count + i] = there * cosine, table[1][j * count + i] = there * sine;
                    table[2][i * quarter + j] = sign * cosine, table[3][i * quarter + j] = sign * sine;
                }
            t->cosines[parity][k] = table[0], t->sines[parity][k] = table[1];
            t->cosines_back[parity][k] = table[2], t->sines_back[parity][k] = table[3];
            numbers += 4 * size;
        }
    return numbers;
}

static void fill_wave(const fmm_waves *w, int k, int at, double angle, double *phase, double *shifts)
{
    const double node = w->node[k].node;
    for (int child = 0; child < FAMILY; child++) {
        const double turn = -node * (((child & 1) - 0.5) * cos(angle) + ((child >> 1 & 1) - 0.5) * sin(angle));
        phase[2 * FAMILY * at + child] = cos(turn), phase[2 * FAMILY * at + FAMILY + child] = sin(turn);
    }
    for (int d = 0; d < 9; d++) { /* from the family to the target */
        const double turn = -2 * node * ((d % 3 - 1) * cos(angle) + (d / 3 - 1) * sin(angle)), fall = exp(-2 * node);
        double *shift = shifts + (size_t)(9 * (at / LINE) + d) * 2 * LINE + at % LINE;
        shift[0] = fall * cos(turn), shift[LINE] = fall * sin(turn);
    }
}

static double *fill_waves(fmm_waves *w, double *numbers)
{
    fmm_wave_tables *t = &w->tables;
    double *phase = numbers, *growth = phase + 2 * FAMILY * t->waves, *shifts = growth + 2 * FAMILY * t->rings;
    for (int k = 0; k < t->rings; k++) {
        const int quarter = t->angles[k] / 4;
        for (int j = 0; j < quarter; j++) {
            fill_wave(w, k, t->first[k] + j, angle_of(t, k, j), phase, shifts);
            fill_wave(w, k, t->first[k] + quarter + j, PI - angle_of(t, k, j), phase, shifts);
        }
        for (int child = 0; child < FAMILY; child++) {
            const double rise = w->node[k].node * ((child >> 2) - 0.5);
            growth[2 * FAMILY * k + child] = exp(rise), growth[2 * FAMILY * k + FAMILY + child] = exp(-rise);
        }
    }
    t->phase = phase, t->growth = growth, t->shifts = shifts;
    return shifts + 18 * t->padded;
}

/* Fills the rotations to the axes x and y: the polar angle is 90 degrees, the azimuth 0 for x and 90 degrees for y. */
static void fill_turns(fmm_waves *w, double *numbers)
{
    const fmm_rotation rotations[2] = {{FMM_ROTATION_REGULAR, 0, 0}, {FMM_ROTATION_IRREGULAR, 1, 0}};
    double *const table[2] = {numbers, numbers + fmm_rotation_size(w->tables.order)};
    fmm_rotation_tables(w->tables.order, 1, 0, 2, rotations, table);
    for (int axis = 0; axis < 2; axis++) {
        fmm_translation *turn = &w->tables.turn[axis];
        turn->rotation = table[0], turn->rotation_back = table[1];
        for (int m = 0; m <= w->tables.order; m++) {
            turn->degree_in[m] = turn->degree_out[m] = 1;
            turn->cosine[m] = cos(m * axis * PI / 2), turn->sine[m] = sin(m * axis * PI / 2);
        }
    }
}

yoke_status fmm_waves_create(yoke_context *context, int order, int set, fmm_held held, fmm_waves **waves)
{
    if (order < FMM_FIRST_WAVE_ORDER || order > FMM_LAST_WAVE_ORDER || set < FIRST_ORDER || set > LAST_ORDER)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT,
                         "order %d and set %d of plane waves: give an order of %d to %d and a set of %d to %d", order, set,
                         FMM_FIRST_WAVE_ORDER, FMM_LAST_WAVE_ORDER, FIRST_ORDER, LAST_ORDER);
    if (held.multipole < order || held.multipole > FMM_MAX_ORDER || held.local < order || held.local > FMM_MAX_ORDER)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "plane waves of order %d within orders %d and %d: give %d to %d", order,
                         held.multipole, held.local, order, FMM_MAX_ORDER);
    fmm_waves *w;
    yoke_status status = yoke_allocate(context, 1, sizeof *w, &w);
    if (status) return status;
    w->context = context, w->multipole = fmm_harmonics(held.multipole), w->local = fmm_harmonics(held.local);
    lay_out(w, order, set);
    const fmm_kernels *list[FMM_MAX_KERNELS];
    w->kernels = list[fmm_kernels_list(list) - 1];
    status = yoke_allocate(context, (int64_t)numbers_of(&w->tables), sizeof *w->numbers, &w->numbers);
    if (!status) status = yoke_allocate(context, 2 * (int64_t)w->multipole, sizeof *w->none, &w->none);
    if (status) {
        fmm_waves_destroy(w);
        return status;
    }
    fill_turns(w, fill_angles(w, fill_powers(w, fill_waves(w, w->numbers)))); /* waves are first, because they are read as vectors */
    *waves = w;
    return YOKE_OK;
}

void fmm_waves_destroy(fmm_waves *w)
{
    if (!w) return;
    yoke_context *context = w->context;
    yoke_release(context, w->none);
    yoke_release(context, w->numbers);
    yoke_release(context, w);
}

/* The size is an odd number of cache lines, so that the same waves of different families are not in the same sets of a cache. */
size_t fmm_waves_size(const fmm_waves *w) { return (size_t)(2 * FAMILY * 2 * w->tables.padded) + LINE; }

/* The work array includes a local expansion for missing children. */
size_t fmm_waves_work(const fmm_waves *w)
{
    const fmm_wave_tables *t = &w->tables;
    return FAMILY * (size_t)(2 * fmm_harmonics(t->order) + t->mode_first[t->rings] + 4 * t->padded) + whole_lines(2 * (size_t)w->local);
}

/* The octant whose position in x' y' z' is `child`. */
static int octant_of(int axis, int child)
{
    const int x = child & 1, y = child >> 1 & 1, z = child >> 2;
    if (axis == 2) return child;
    return axis == 1 ? (1 - y) | z << 1 | (1 - x) << 2 : z | y << 1 | (1 - x) << 2;
}

void fmm_waves_send(const fmm_waves *w, int axis, const double *const child[8], double *family, double *work)
{
    const double *from[FAMILY];
    for (int i = 0; i < FAMILY; i++) {
        const double *own = child[octant_of(axis, i)];
        from[i] = own ? own : w->none;
    }
    w->kernels->send(&w->tables, w->multipole, axis, from, family, work);
}

void fmm_waves_receive(const fmm_waves *w, int axis, const double *const around[FMM_AROUND], double *const child[8], double *work)
{
    const double *near[2][9];
    double *to[FAMILY], *const nobody = work + fmm_waves_work(w) - whole_lines(2 * (size_t)w->local);
    for (int i = 0; i < FAMILY; i++) {
        double *own = child[octant_of(axis, i)];
        to[i] = own ? own : nobody;
    }
    for (int way = 0; way < 2; way++)
        for (int d = 0; d < 9; d++) {
            const int x = d % 3 - 1, y = d / 3 - 1, z = way ? 1 : -1;
            const int at[3][3] = {{z, y, -x}, {-y, z, -x}, {x, y, z}};
            near[way][d] = around[at[axis][0] + 1 + 3 * (at[axis][1] + 1) + 9 * (at[axis][2] + 1)];
        }
    w->kernels->receive(&w->tables, w->local, axis, (const double *const(*)[9])near, to, work);
}
