/*
 * device_order.c - the order in which a device subdomain processes its elements: first those at the interface, then the others.  If
 * elements add to the result one colour after the other, each of these two phases is ordered by colours.  Within a colour, curved elements
 * come before affine ones.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "operator/subdomain/device.h"

enum { MASK_COLOURS = 64 };

/* Data of the elements while they are ordered; `affine` and `colour` are indexed by the element's number in the space. */
typedef struct ordering {
    uint8_t *at_interface; /* [nodes] */
    uint8_t *affine;       /* [elements] */
    int32_t *colour;       /* [elements] within their phase */
    uint64_t *taken;       /* [nodes] mask of the colours of the elements at the node; NULL without colours */
    int32_t *old;          /* [elements] the order before sorting */
    int32_t *place;        /* [kinds + 1] beginnings of the elements of each colour and kind */
    int32_t phase[3];      /* beginnings and ends of the two phases */
    int32_t colours[2];    /* number of colours of each phase */
} ordering;

static int32_t node_of(const fem_space *space, const device_tables *t, int32_t e, int i)
{
    return space->element_nodes[(int64_t)e * space->slots + t->slot[i]];
}

/* ------------------------------------------------------------------------------------------------------ phases */

static int touches(const fem_space *space, const device_tables *t, const uint8_t *at_interface, int32_t e)
{
    for (int i = 0; i < t->used; i++)
        if (at_interface[node_of(space, t, e, i)]) return 1;
    return 0;
}

static void order_phases(const fem_subdomain *subdomain, device_tables *t, ordering *o)
{
    const fem_space *space = subdomain->space;
    int32_t border = 0;
    for (int32_t i = 0; i < subdomain->num_interface; i++) o->at_interface[subdomain->interface_nodes[i]] = 1;
    for (int32_t e = 0; subdomain->num_interface && e < space->num_elements; e++)
        if (touches(space, t, o->at_interface, e)) t->element[border++] = e;
    int32_t last = border;
    for (int32_t e = 0; e < space->num_elements; e++)
        if (!subdomain->num_interface || !touches(space, t, o->at_interface, e)) t->element[last++] = e;
    o->phase[1] = border;
    o->phase[2] = space->num_elements;
    if (!subdomain->num_interface) return;
    int32_t other = subdomain->num_interface;
    memcpy(t->node_list, subdomain->interface_nodes, sizeof(int32_t) * (size_t)subdomain->num_interface);
    for (int32_t node = 0; node < space->num_nodes; node++)
        if (!o->at_interface[node]) t->node_list[other++] = node;
}

/* ------------------------------------------------------------------------------------------------------- kinds */

/*
 * Returns nonzero if the map of an element is affine: all its nodes are where three edges from a corner place them, up to the rounding
 * error of positions of their size (and of the element's size, if it lies at the origin).
 */
static int is_affine(const fem_space *space, int32_t e)
{
    const int n = space->slots_1d, corner[3] = {n - 1, n * (n - 1), n * n * (n - 1)};
    double x[27][3], largest = 0, apart = 0;
    fem_space_expand(space, e, 3, space->x, x[0]);
    for (int s = 0; s < space->slots; s++) {
        const double r[3] = {(double)(s % n) / (n - 1), (double)(s / n % n) / (n - 1), (double)(s / (n * n)) / (n - 1)};
        for (int a = 0; a < 3; a++) {
            double there = x[0][a];
            for (int d = 0; d < 3; d++) there += r[d] * (x[corner[d]][a] - x[0][a]);
            if (!isfinite(x[s][a])) return 0;
            apart = fmax(apart, fabs(x[s][a] - there));
            largest = fmax(largest, fabs(x[s][a]));
        }
    }
    return apart <= 8 * DBL_EPSILON * largest;
}

double fem_subdomain_affine_fraction(const fem_space *space)
{
    enum { MOST = 4096 };
    const int32_t n = space->num_elements, looked_at = n < MOST ? n : MOST;
    int32_t affine = 0;
    for (int32_t i = 0; i < looked_at; i++) affine += is_affine(space, (int32_t)((int64_t)i * n / looked_at));
    return looked_at ? (double)affine / looked_at : 0;
}

/* Gives each element of a phase a colour that no neighbouring element has, in several rounds if necessary. */
static void colour_phase(const fem_space *space, const device_tables *t, ordering *o, int phase)
{
    int32_t begin = o->phase[phase], end = o->phase[phase + 1], left = end - begin;
    for (int32_t p = begin; p < end; p++) o->colour[t->element[p]] = -1;
    for (int32_t first = 0; left > 0; first += MASK_COLOURS) {
        memset(o->taken, 0, sizeof *o->taken * (size_t)space->num_nodes);
        for (int32_t p = begin; p < end; p++) {
            const int32_t e = t->element[p];
            uint64_t taken = 0;
            if (o->colour[e] >= 0) continue;
            for (int i = 0; i < t->used; i++) taken |= o->taken[node_of(space, t, e, i)];
            if (taken == UINT64_MAX) continue;
            const int free_colour = __builtin_ctzll(~taken);
            for (int i = 0; i < t->used; i++) o->taken[node_of(space, t, e, i)] |= (uint64_t)1 << free_colour;
            o->colour[e] = first + free_colour;
            if (o->colour[e] >= o->colours[phase]) o->colours[phase] = o->colour[e] + 1;
            left--;
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- batches */

/* Sorts a phase by colour and kind, otherwise keeps its order, and makes its batches. */
static void order_phase(device_tables *t, ordering *o, int phase)
{
    const int32_t begin = o->phase[phase], end = o->phase[phase + 1], kinds = 2 * o->colours[phase];
    memset(o->place, 0, sizeof *o->place * ((size_t)kinds + 1));
    memcpy(o->old + begin, t->element + begin, sizeof *o->old * (size_t)(end - begin));
    for (int32_t p = begin; p < end; p++) o->place[2 * o->colour[o->old[p]] + o->affine[o->old[p]] + 1]++;
    o->place[0] = begin;
    for (int32_t k = 0; k < kinds; k++) o->place[k + 1] += o->place[k];
    int32_t affine_at = t->num_affine;
    for (int32_t c = 0; c < o->colours[phase]; c++) {
        const device_batch b = {o->place[2 * c], o->place[2 * c + 1], o->place[2 * c + 2], o->place[2 * c] - affine_at, affine_at};
        if (b.end > b.begin) t->batch[t->num_batches++] = b;
        affine_at += b.end - b.middle;
    }
    t->num_affine = affine_at;
    for (int32_t p = begin; p < end; p++) t->element[o->place[2 * o->colour[o->old[p]] + o->affine[o->old[p]]]++] = o->old[p];
}

device_batch device_batch_cut(device_batch b, int32_t begin, int32_t end)
{
    if (begin < b.begin) begin = b.begin;
    if (end > b.end) end = b.end;
    if (end < begin) end = begin;
    int32_t middle = b.middle < begin ? begin : b.middle > end ? end : b.middle;
    return (device_batch){begin, middle, end, b.curved_at + (begin - b.begin), b.affine_at + (middle > b.middle ? middle - b.middle : 0)};
}

/* ------------------------------------------------------------------------------------------------- whole order */

static yoke_status take_memory(const fem_subdomain *subdomain, fem_adding adding, ordering *o)
{
    const int64_t elements = subdomain->space->num_elements, nodes = subdomain->space->num_nodes;
    yoke_status status = yoke_allocate(subdomain->context, nodes, 1, &o->at_interface);
    if (!status) status = yoke_allocate(subdomain->context, elements, 1, &o->affine);
    if (!status) status = yoke_allocate(subdomain->context, elements, sizeof *o->colour, &o->colour);
    if (!status) status = yoke_allocate(subdomain->context, elements, sizeof *o->old, &o->old);
    if (!status && adding == FEM_ADD_COLOUR) status = yoke_allocate(subdomain->context, nodes, sizeof *o->taken, &o->taken);
    return status;
}

static yoke_status order(const fem_subdomain *subdomain, fem_adding adding, int all_curved, device_tables *t, ordering *o)
{
    const fem_space *space = subdomain->space;
    yoke_status status = take_memory(subdomain, adding, o);
    if (status) return status;
    order_phases(subdomain, t, o);
#pragma omp parallel for schedule(static) if (!all_curved)
    for (int32_t e = 0; e < space->num_elements; e++) o->affine[e] = !all_curved && is_affine(space, e);
    for (int phase = 0; phase < 2; phase++) {
        if (adding == FEM_ADD_COLOUR)
            colour_phase(space, t, o, phase);
        else
            o->colours[phase] = 1;
    }
    const int64_t batches = (int64_t)o->colours[0] + o->colours[1];
    status = yoke_allocate(subdomain->context, batches, sizeof *t->batch, &t->batch);
    if (!status) status = yoke_allocate(subdomain->context, 2 * batches + 1, sizeof *o->place, &o->place);
    if (status) return status;
    order_phase(t, o, 0);
    t->border_batches = t->num_batches;
    order_phase(t, o, 1);
    return YOKE_OK;
}

yoke_status device_tables_order(const fem_subdomain *subdomain, fem_adding adding, int all_curved, device_tables *t)
{
    ordering o = {.colours = {0, 0}};
    yoke_status status = order(subdomain, adding, all_curved, t, &o);
    void *arrays[] = {o.at_interface, o.affine, o.colour, o.taken, o.old, o.place};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(subdomain->context, arrays[i]);
    return status;
}
