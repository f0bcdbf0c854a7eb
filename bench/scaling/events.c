#include "scaling/events.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_CELLS_SIDE = 160, ITERATIONS = 3 };
static const double addition_s = 1e-9;

typedef struct event {
    double arrival_s, bytes_s;
} event;

typedef struct simulation {
    yoke_context *context;
    const scaling_network *network;
    const scaling_machine *machine;
    const scaling_mesh *mesh;
    scaling_levels levels;
    scaling_graph graph[SCALING_MAX_LEVELS];
    double noise;
    uint64_t random;
    double *clock, *sent_s, *next; /* [ranks] */
    event *events;                 /* [ranks] */
    int counting;
    double messages, bytes, *own_messages, *own_bytes; /* [ranks] */
    int64_t simulated;
} simulation;

/* ------------------------------------------------------------------------------------------------------ ranks */

static double uniform(simulation *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (double)(s->random >> 11) * 0x1p-53;
}

static double own_elements(const simulation *s, int level, int64_t rank)
{
    return (double)(s->mesh->first[rank + 1] - s->mesh->first[rank]) * s->levels.elements[level] / s->levels.elements[0];
}

/* Number of intervals between nodes on a side of a cell of the level's graph. */
static double intervals_of(const simulation *s, int level)
{
    const int depth = s->mesh->depth - (level > 0 ? level - 1 : 0);
    return scaling_intervals(level) * (double)((int64_t)1 << (depth - s->graph[level].depth));
}

static int64_t neighbours_of(const simulation *s, int level, int64_t rank)
{
    return s->graph[level].first[rank + 1] - s->graph[level].first[rank];
}

/* Fraction of the elements with a face at another rank. */
static double border_part(const simulation *s, int level, int64_t rank)
{
    const scaling_graph *graph = &s->graph[level];
    const double side = intervals_of(s, level) / scaling_intervals(level), elements = own_elements(s, level, rank);
    double faces = 0;
    for (int64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++) faces += graph->border[i].faces;
    return elements > 0 ? fmin(1, faces * side * side / elements) : 0;
}

static void count_sent(simulation *s, int64_t rank, double messages, double bytes)
{
    s->simulated += (int64_t)messages;
    if (!s->counting) return;
    s->messages += messages;
    s->bytes += bytes;
    s->own_messages[rank] += messages;
    s->own_bytes[rank] += bytes;
}

/* ----------------------------------------------------------------------------------------------------- messages */

static int by_arrival(const void *a, const void *b)
{
    const event *p = a, *q = b;
    return (p->arrival_s > q->arrival_s) - (p->arrival_s < q->arrival_s);
}

/* Time at which the last message has arrived, if the bytes of the messages pass one after another. */
static double receive(event *events, int64_t count)
{
    double free_s = 0;
    qsort(events, (size_t)count, sizeof *events, by_arrival);
    for (int64_t i = 0; i < count; i++) free_s = fmax(free_s, events[i].arrival_s) + events[i].bytes_s;
    return free_s;
}

/* Work on border elements, sending, work on the other elements, and receiving. */
static void exchange(simulation *s, const scaling_operation *o)
{
    const scaling_graph *graph = &s->graph[o->level];
    const double intervals = intervals_of(s, o->level), overhead = s->network->overhead_s;
    for (int64_t r = 0; r < s->mesh->ranks; r++) {
        const double work = o->element_s * own_elements(s, o->level, r) * (1 + s->noise * uniform(s)), part = border_part(s, o->level, r);
        s->sent_s[r] = s->clock[r] + part * work + overhead * (double)neighbours_of(s, o->level, r);
        s->clock[r] = s->sent_s[r] + (1 - part) * work;
    }
    for (int64_t r = 0; r < s->mesh->ranks; r++) {
        const int64_t count = neighbours_of(s, o->level, r);
        double bytes = 0;
        if (!count) continue;
        for (int64_t i = 0; i < count; i++) {
            const scaling_border *border = &graph->border[graph->first[r] + i];
            const double size = o->bytes * scaling_border_nodes(border, intervals);
            s->events[i] = (event){s->sent_s[border->neighbour] + s->network->latency_s, size / s->network->bytes_per_s};
            bytes += size;
        }
        s->clock[r] = fmax(s->clock[r], receive(s->events, count)) + overhead * (double)count;
        count_sent(s, r, (double)count, bytes); /* a rank sends as much as it receives */
    }
}

/*
 * In round k each rank sends what it knows to the rank 2^k before it.  growing: the data doubles in each round, and everything is summed at
 * the end.
 */
static void disseminate(simulation *s, double bytes, int growing)
{
    const int64_t ranks = s->mesh->ranks;
    for (int64_t step = 1; step < ranks; step *= 2) {
        const double known = growing ? bytes * (double)(2 * step <= ranks ? step : ranks - step) : bytes;
        for (int64_t r = 0; r < ranks; r++) {
            const double arrival =
                s->clock[(r + step) % ranks] + s->network->overhead_s + s->network->latency_s + known / s->network->bytes_per_s;
            s->next[r] = fmax(s->clock[r] + s->network->overhead_s, arrival) + s->network->overhead_s;
        }
        for (int64_t r = 0; r < ranks; r++) s->clock[r] = s->next[r];
        s->simulated += ranks;
    }
    for (int64_t r = 0; r < ranks && growing; r++) s->clock[r] += (double)(ranks - 1) * bytes / 8 * addition_s;
}

/* Numbers of q1 nodes: those owned by a rank, and all that it has. */
static double owned_nodes(const simulation *s, int level, int64_t rank) { return own_elements(s, level, rank); }

static double all_nodes(const simulation *s, int level, int64_t rank)
{
    const scaling_graph *graph = &s->graph[level];
    double shared = 0; /* half of the nodes at faces belong to other ranks */
    for (int64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++)
        shared += scaling_border_nodes(&graph->border[i], intervals_of(s, level));
    return owned_nodes(s, level, rank) + shared / 2;
}

static void gather(simulation *s, const scaling_operation *o)
{
    const int64_t others = s->mesh->ranks - 1;
    for (int64_t r = 1; r <= others; r++) {
        const double bytes = o->bytes * owned_nodes(s, o->level, r);
        s->clock[r] += s->network->overhead_s;
        s->events[r - 1] = (event){s->clock[r] + s->network->latency_s, s->network->overhead_s + bytes / s->network->bytes_per_s};
        count_sent(s, r, 1, bytes);
    }
    if (others) s->clock[0] = fmax(s->clock[0], receive(s->events, others));
}

static void spread(simulation *s, const scaling_operation *o)
{
    for (int64_t r = 1; r < s->mesh->ranks; r++) {
        const double bytes = o->bytes * all_nodes(s, o->level, r);
        s->clock[0] += s->network->overhead_s + bytes / s->network->bytes_per_s;
        s->clock[r] = fmax(s->clock[r], s->clock[0] + s->network->latency_s) + s->network->overhead_s;
        count_sent(s, 0, 1, bytes);
    }
}

static void carry_out(simulation *s, const scaling_operation *o)
{
    switch (o->kind) {
    case SCALING_PRODUCT:
    case SCALING_EXCHANGE:
        exchange(s, o);
        break;
    case SCALING_REDUCE:
        disseminate(s, o->bytes, 1);
        break;
    case SCALING_AGREE:
        disseminate(s, 8, 0);
        break;
    case SCALING_GATHER:
        gather(s, o);
        break;
    case SCALING_LAST:
        s->clock[0] += scaling_last_s(s->machine, &s->levels);
        break;
    case SCALING_SPREAD:
        spread(s, o);
        break;
    }
}

/* ------------------------------------------------------------------------------------------------------- run */

static double latest(const simulation *s)
{
    double time = 0;
    for (int64_t r = 0; r < s->mesh->ranks; r++) time = fmax(time, s->clock[r]);
    return time;
}

static void look(const simulation *s, const scaling_operation *operations, int count, scaling_simulated *found)
{
    const double ranks = (double)s->mesh->ranks, mean = s->levels.elements[0] / ranks;
    *found = (scaling_simulated){.messages = s->messages, .bytes = s->bytes, .simulated = s->simulated};
    for (int64_t r = 0; r < s->mesh->ranks; r++) {
        const double neighbours = (double)neighbours_of(s, 0, r);
        found->largest = fmax(found->largest, own_elements(s, 0, r) / mean);
        found->neighbours += neighbours / ranks;
        found->most_neighbours = fmax(found->most_neighbours, neighbours);
        found->most_messages = fmax(found->most_messages, s->own_messages[r]);
        found->most_bytes = fmax(found->most_bytes, s->own_bytes[r]);
    }
    for (int i = 0; i < count; i++)
        found->work_s += operations[i].element_s * s->levels.elements[operations[i].level] / ranks * found->largest;
}

static void run(simulation *s, scaling_simulated *found)
{
    scaling_operation operations[SCALING_MAX_OPERATIONS];
    const int count = scaling_iteration(s->machine, &s->levels, operations);
    double begin = 0;
    for (int k = 0; k <= ITERATIONS; k++) {
        s->counting = k == ITERATIONS;
        for (int i = 0; i < count; i++) carry_out(s, &operations[i]);
        if (k == 0) begin = latest(s);
    }
    look(s, operations, count, found);
    found->iteration_s = (latest(s) - begin) / ITERATIONS;
}

static yoke_status make_graphs(simulation *s)
{
    yoke_status status = YOKE_OK;
    for (int l = 0; l < s->levels.count && !status; l++) {
        int depth = s->mesh->depth - (l > 0 ? l - 1 : 0);
        while (depth > 0 && s->mesh->trees << depth > MOST_CELLS_SIDE) depth--;
        if (l > 0 && s->graph[l - 1].depth == depth)
            s->graph[l] = s->graph[l - 1];
        else
            status = scaling_graph_create(s->context, s->mesh, depth, &s->graph[l]);
    }
    return status;
}

static void release_graphs(simulation *s)
{
    for (int l = s->levels.count - 1; l >= 0; l--) /* levels of equal depth share a graph */
        if (l == 0 || s->graph[l].first != s->graph[l - 1].first) scaling_graph_release(s->context, &s->graph[l]);
}

yoke_status scaling_simulate(yoke_context *context, const scaling_network *network, const scaling_machine *machine,
                             const scaling_solver *solver, scaling_mesh *mesh, double noise, scaling_simulated *simulated)
{
    simulation s = {.context = context, .network = network, .machine = machine, .mesh = mesh, .noise = noise, .random = 88172645463325252u};
    double **arrays[] = {&s.clock, &s.sent_s, &s.next, &s.own_messages, &s.own_bytes};
    scaling_solver own = *solver;
    if (own.aligned > mesh->depth) own.aligned = mesh->depth; /* the trees are the coarsest mesh */
    scaling_make_levels((double)scaling_mesh_elements(mesh), &own, &s.levels);
    yoke_status status = scaling_mesh_cut(context, mesh, (int64_t)s.levels.granule);
    for (int i = 0; i < 5 && !status; i++) status = yoke_allocate(context, mesh->ranks, sizeof(double), arrays[i]);
    if (!status) status = yoke_allocate(context, mesh->ranks, sizeof *s.events, &s.events);
    if (!status) status = make_graphs(&s);
    if (!status) run(&s, simulated);
    release_graphs(&s);
    for (int i = 0; i < 5; i++) yoke_release(context, *arrays[i]);
    yoke_release(context, s.events);
    yoke_release(context, mesh->first);
    mesh->first = NULL;
    return status;
}
