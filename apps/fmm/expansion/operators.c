/* operators.c - the operators on expansions, with tables for an order. */
#include "expansion/expansion.h"

#include <math.h>
#include <stdlib.h>

#include "expansion/parts.h"
#include "expansion/rotation.h"

enum { SERIAL_ORDER = 8 /* tables up to this order take less time than waking other threads */ };

/* ---------------------------------------------------------------------------------------------- recurrences */

/* Fills the factors for degrees up to order + 1, which gradients of multipole expansions need. */
static void fill_recurrence(int order, fmm_recurrence *recurrence, int irregular, double *numbers)
{
    int n = fmm_harmonics(order + 1);
    double *diagonal = numbers, *upper = diagonal + order + 3, *lower = upper + n;
    *recurrence = (fmm_recurrence){irregular, diagonal, upper, lower};
    for (int m = 1; m <= order + 2; m++) diagonal[m] = irregular ? 2 * m - 1 : 0.5 / m;
    for (int l = 0, i = 0; l <= order + 1; l++)
        for (int m = 0; m <= l; m++, i++) {
            double above = (double)(l + 1 - m) * (l + 1 + m);
            upper[i] = irregular ? 2 * l + 1 : (2 * l + 1) / above;
            lower[i] = irregular ? (double)(l - m) * (l + m) : 1 / above;
        }
}

static size_t recurrence_size(int order) { return (size_t)(order + 3 + 2 * fmm_harmonics(order + 1)); }

/* --------------------------------------------------------------------------------------------- translations */

/*
 * Sets azimuth, reflection and units of a translation by a vector.  ratio: scale of the sources' cells divided by that of the targets'.
 * Degree l of a multipole expansion is multiplied by ratio^l, that of a local expansion by ratio^-(l + 1), so that both are in units of the
 * target.
 */
static void aim(int order, const double vector[3], int local, double ratio, fmm_translation *t)
{
    double azimuth = atan2(vector[1], vector[0]), mirror = vector[2] < 0 ? -1 : 1, sign = 1, power = local ? 1 / ratio : 1;
    for (int l = 0; l <= order; l++, sign *= mirror, power *= local ? 1 / ratio : ratio) {
        t->degree_in[l] = sign * power;
        t->degree_out[l] = sign;
        t->cosine[l] = sign * cos(l * azimuth);
        t->sine[l] = sign * sin(l * azimuth);
    }
}

/* Fills the factors of M2M and L2L: middle[j], j = -order .. order, is R_j^0 of the vector for j >= 0, and 0 for j < 0. */
static void fill_shift(int order, double length, double *middle)
{
    for (int j = 1; j <= order; j++) middle[-j] = 0;
    middle[0] = 1;
    for (int j = 1; j <= order; j++) middle[j] = middle[j - 1] * length / j;
}

/* Fills the factors of M2L: S_j^0, j = 0 .. 2 order. */
static void fill_axial(int order, double length, double *axial)
{
    axial[0] = 1 / length;
    for (int j = 1; j <= 2 * order; j++) axial[j] = axial[j - 1] * j / length;
}

static void create_octants(fmm_operators *o, double **numbers)
{
    int order = o->order;
    double *shift[2];
    for (int i = 0; i < 2; i++) { /* half the diagonal of a child in units of the parent, and of the child */
        shift[i] = *numbers + order;
        *numbers += 2 * order + 1;
        fill_shift(order, (i ? 2 : 1) * sqrt(3) / 4, shift[i]);
    }
    const fmm_rotation rotations[4] = {
        {FMM_ROTATION_REGULAR, 0, 0}, {FMM_ROTATION_REGULAR, 1, 0}, {FMM_ROTATION_IRREGULAR, 0, 0}, {FMM_ROTATION_IRREGULAR, 1, 0}};
    for (int i = 0; i < 4; i++, *numbers += fmm_rotation_size(order)) o->octant_rotation[i] = *numbers;
    fmm_rotation_tables(order, sqrt(2), 1, 4, rotations, o->octant_rotation);
    for (int octant = 0; octant < FMM_OCTANTS; octant++) {
        double to_child[3];
        for (int i = 0; i < 3; i++) to_child[i] = octant >> i & 1 ? 1 : -1;
        o->m2m[octant] = (fmm_translation){
            .rotation = o->octant_rotation[0], .rotation_back = o->octant_rotation[1], .axial = shift[0], .in_step = -1, .out_step = 1};
        o->l2l[octant] = (fmm_translation){
            .rotation = o->octant_rotation[2], .rotation_back = o->octant_rotation[3], .axial = shift[1], .in_step = 1, .out_step = -1};
        aim(order, to_child, 0, 0.5, &o->m2m[octant]);
        aim(order, to_child, 1, 2, &o->l2l[octant]);
    }
}

/* Finds the tables of a polar angle.  If no earlier direction has it, memory is reserved for them. */
static void find_angle(fmm_operators *o, int vertical, int horizontal, double **numbers, fmm_translation *t)
{
    int i = 0;
    while (i < o->angles && o->angle[i].vertical * horizontal != vertical * o->angle[i].horizontal) i++;
    if (i == o->angles) {
        size_t size = fmm_rotation_size(o->order);
        o->angle[o->angles].vertical = vertical, o->angle[o->angles].horizontal = horizontal;
        o->angle[o->angles].rotation = *numbers, o->angle[o->angles++].rotation_back = *numbers + size;
        *numbers += 2 * size;
    }
    const int order = fmm_order_at(o->order, sqrt(vertical + horizontal));
    if (o->angle[i].order < order) o->angle[i].order = order;
    t->rotation = o->angle[i].rotation, t->rotation_back = o->angle[i].rotation_back;
}

/*
 * Fills the tables of all angles.  Their signs: for a vector on the z axis, sum conj(M_k^n) (-1)^k S_(l+k)^(m+n) has the term n = -m only,
 * and conj(M_k^-m) = (-1)^m M_k^m.
 */
static void fill_angles(fmm_operators *o)
{
    const fmm_rotation rotations[2] = {{FMM_ROTATION_REGULAR, 0, 1}, {FMM_ROTATION_IRREGULAR, 1, 0}};
#pragma omp parallel for schedule(dynamic) if (o->order > SERIAL_ORDER)
    for (int i = 0; i < o->angles; i++) {
        double *const table[2] = {o->angle[i].rotation, o->angle[i].rotation_back};
        fmm_rotation_tables(o->angle[i].order, sqrt(o->angle[i].horizontal), sqrt(o->angle[i].vertical), 2, rotations, table);
    }
}

static int direction_index(int x, int y, int z) { return ((z + 3) * 7 + y + 3) * 7 + x + 3; }

static void create_directions(fmm_operators *o, double **numbers)
{
    double *axial[28] = {0}; /* by the square of the length */
    for (int z = -3; z <= 3; z++)
        for (int y = -3; y <= 3; y++)
            for (int x = -3; x <= 3; x++) {
                if (abs(x) < 2 && abs(y) < 2 && abs(z) < 2) continue;
                fmm_translation *t = &o->m2l[direction_index(x, y, z)];
                int horizontal = x * x + y * y, square = horizontal + z * z;
                if (!axial[square]) {
                    axial[square] = *numbers;
                    *numbers += 2 * o->order + 1;
                    fill_axial(o->order, sqrt(square), axial[square]);
                }
                *t = (fmm_translation){.axial = axial[square], .in_step = 1, .out_step = 1};
                find_angle(o, z * z, horizontal, numbers, t);
                aim(o->order, (const double[3]){x, y, z}, 0, 1, t);
            }
    fill_angles(o);
}

/* ------------------------------------------------------------------------------------------------ operators */

yoke_status fmm_operators_create(yoke_context *context, int order, fmm_operators **operators)
{
    return fmm_operators_create_within(context, order, (fmm_held){order, order}, operators);
}

yoke_status fmm_operators_create_within(yoke_context *context, int order, fmm_held held, fmm_operators **operators)
{
    if (order < 0 || order > FMM_MAX_ORDER)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "order %d of expansions: give 0 to %d", order, FMM_MAX_ORDER);
    if (held.multipole < order || held.multipole > FMM_MAX_ORDER || held.local < order || held.local > FMM_MAX_ORDER)
        return yoke_fail(context, YOKE_ERROR_ARGUMENT, "operators of order %d within orders %d and %d: give %d to %d", order,
                         held.multipole, held.local, order, FMM_MAX_ORDER);
    fmm_operators *o;
    yoke_status status = yoke_allocate(context, 1, sizeof *o, &o);
    if (status != YOKE_OK) return status;
    size_t count = 2 * recurrence_size(order) + (4 + 2 * FMM_MAX_ANGLES) * fmm_rotation_size(order) + 30 * (size_t)(2 * order + 1);
    status = yoke_allocate(context, (int64_t)count, sizeof *o->numbers, &o->numbers);
    if (status != YOKE_OK) {
        yoke_release(context, o);
        return status;
    }
    o->context = context, o->order = order;
    o->multipole = fmm_harmonics(held.multipole), o->local = fmm_harmonics(held.local);
    const fmm_kernels *list[FMM_MAX_KERNELS];
    o->kernels = list[fmm_kernels_list(list) - 1];
    double *numbers = o->numbers;
    fill_recurrence(order, &o->regular, 0, numbers);
    fill_recurrence(order, &o->irregular, 1, numbers += recurrence_size(order));
    numbers += recurrence_size(order);
    create_octants(o, &numbers);
    create_directions(o, &numbers);
    *operators = o;
    return YOKE_OK;
}

void fmm_operators_destroy(fmm_operators *o)
{
    if (!o) return;
    yoke_context *context = o->context;
    yoke_release(context, o->numbers);
    yoke_release(context, o);
}

int fmm_operators_order(const fmm_operators *o) { return o->order; }

/* ------------------------------------------------------------------------------------------------ particles */

void fmm_p2m(const fmm_operators *o, const fmm_frame *frame, const fmm_sources *sources, double *multipole)
{
    o->kernels->gather(&o->regular, o->order, o->multipole, frame, sources, multipole);
}

void fmm_p2l(const fmm_operators *o, const fmm_frame *frame, const fmm_sources *sources, double *local)
{
    o->kernels->gather(&o->irregular, o->order, o->local, frame, sources, local);
}

/* Returns the coefficient (l, m), for any m, of a local or multipole expansion; 0 outside of the expansion. */
static void coefficient(const fmm_operators *o, int local, const double *expansion, int l, int m, double value[2])
{
    value[0] = value[1] = 0;
    if (l < 0 || l > o->order || abs(m) > l) return;
    int i = fmm_harmonic(l, abs(m));
    double sign = m < 0 && m & 1 ? -1 : 1;
    value[0] = sign * expansion[i];
    value[1] = (m < 0 ? -sign : sign) * expansion[(local ? o->local : o->multipole) + i];
}

/*
 * Computes the factors of the real and imaginary part of harmonic (l, m >= 0) in the potential and its gradient, for m and -m together.
 * Of a local expansion L, with d/dx + i d/dy of conj(R_l^m) = conj(R_(l-1)^(m-1)):
 *     gz = sum conj(R_l^m) L_(l+1)^m,   gx + i gy = sum conj(R_l^m) L_(l+1)^(m+1)
 * Of a multipole expansion M: gz = - sum conj(M_(l-1)^m) S_l^m,   gx + i gy = - sum conj(M_(l-1)^(m-1)) S_l^m
 */
static void fill_factors(const fmm_operators *o, int local, int l, int m, const double *expansion, double f[FMM_FACTORS])
{
    int there = local ? l + 1 : l - 1;
    double twice = m > 0 ? 2 : 1, sign = local ? 1 : -1, c[2], up[2], down[2];
    coefficient(o, local, expansion, l, m, c);
    f[0] = twice * c[0], f[1] = twice * c[1];
    coefficient(o, local, expansion, there, m, c);
    f[6] = sign * twice * c[0], f[7] = sign * twice * c[1];
    coefficient(o, local, expansion, there, local ? m + 1 : m - 1, up);     /* with harmonic m  */
    coefficient(o, local, expansion, there, local ? -m + 1 : -m - 1, down); /* with harmonic -m */
    double other = m == 0 ? 0 : m & 1 ? -1 : 1;                             /* harmonic -m is other times the conjugate of harmonic m */
    f[2] = sign * (up[0] + other * down[0]);
    f[3] = sign * (up[1] - other * down[1]);
    f[4] = (up[1] + other * down[1]);
    f[5] = (other * down[0] - up[0]);
}

/* Evaluates an expansion at the targets.  The gradient of a local expansion needs one degree less than the potential, that of a
 * multipole expansion one more. */
static void evaluate(const fmm_operators *o, int local, const fmm_frame *frame, const double *expansion, const fmm_targets *targets)
{
    double factors[FMM_FACTORS * ((FMM_MAX_ORDER + 2) * (FMM_MAX_ORDER + 3) / 2)];
    int degree = o->order + (!local && targets->gx);
    for (int l = 0, i = 0; l <= degree; l++)
        for (int m = 0; m <= l; m++, i++) fill_factors(o, local, l, m, expansion, factors + FMM_FACTORS * i);
    o->kernels->evaluate(local ? &o->regular : &o->irregular, degree, frame, factors, targets);
}

void fmm_m2p(const fmm_operators *o, const fmm_frame *frame, const double *multipole, const fmm_targets *targets)
{
    evaluate(o, 0, frame, multipole, targets);
}

void fmm_l2p(const fmm_operators *o, const fmm_frame *frame, const double *local, const fmm_targets *targets)
{
    evaluate(o, 1, frame, local, targets);
}

/* ---------------------------------------------------------------------------------------------- translations */

size_t fmm_translation_work(const fmm_operators *o) { return 4 * (size_t)fmm_harmonics(o->order) * FMM_MAX_PAIRS; }

void fmm_m2m(const fmm_operators *o, int octant, int64_t pairs, const double *const *from, double *const *to, double *work)
{
    o->kernels->translate(&o->m2m[octant], o->order, (const int[2]){o->multipole, o->multipole}, pairs, from, NULL, to, work);
}

void fmm_l2l(const fmm_operators *o, int octant, int64_t pairs, const double *const *from, double *const *to, double *work)
{
    o->kernels->translate(&o->l2l[octant], o->order, (const int[2]){o->local, o->local}, pairs, from, NULL, to, work);
}

/* Pairs that are translated together: either all have one source or all have both. */
typedef struct batch {
    int count;
    const double *ahead[FMM_MAX_BATCH], *behind[FMM_MAX_BATCH];
    double *to[FMM_MAX_BATCH];
} batch;

static void flush(const fmm_operators *o, int order, const int direction[3], batch *b, double *work)
{
    const fmm_translation *translation = &o->m2l[direction_index(direction[0], direction[1], direction[2])];
    const int both = b->ahead[0] && b->behind[0];
    (both ? o->kernels->translate_both : o->kernels->translate)(translation, order, (const int[2]){o->multipole, o->local}, b->count,
                                                                b->ahead, b->behind, b->to, work);
    b->count = 0;
}

void fmm_m2l(const fmm_operators *o, int order, const int direction[3], int64_t pairs, const double *const *ahead,
             const double *const *behind, double *const *to, double *work)
{
    const int needed = fmm_m2l_order(order, direction);
    batch batches[2]; /* targets with one source, and with both */
    batches[0].count = batches[1].count = 0;
    for (int64_t i = 0; i < pairs; i++) {
        batch *b = &batches[ahead[i] && behind[i]];
        b->ahead[b->count] = ahead[i], b->behind[b->count] = behind[i], b->to[b->count++] = to[i];
        if (b->count == FMM_MAX_BATCH) flush(o, needed, direction, b, work);
    }
    for (int i = 0; i < 2; i++)
        if (batches[i].count) flush(o, needed, direction, &batches[i], work);
}

int fmm_order_at(int order, double distance)
{
    return (int)ceil(order * log(3) / log(2 * distance - 1) - 1e-9); /* equal to `order` at distance 2, despite rounding */
}

int fmm_m2l_order(int order, const int direction[3])
{
    const int *d = direction;
    return fmm_order_at(order, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
}
