#include "fem/adding.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "operator/subdomain/cpu.h"

enum { NUM_LOCKS = 256, SPINS = 64, SLOTS = 27, MOST_LANES = 16, MOST_COMPONENTS = 3 };

const char *const fem_bench_adding_name[FEM_BENCH_ADDINGS] = {"chunks", "private", "cas", "locks", "colouring", "owner", "unsynchronised"};

/* Each lock has a cache line of its own to avoid false sharing. */
typedef struct node_lock {
    _Alignas(64) atomic_int taken;
} node_lock;

/*
 * Where threads share entries of y, these are accessed as atomic doubles: same size and alignment, and never mixed with plain accesses
 * within a parallel region.
 */
typedef _Atomic double shared_double;
_Static_assert(sizeof(shared_double) == sizeof(double) && _Alignof(shared_double) == _Alignof(double), "atomic doubles are doubles");

typedef struct adding adding;

/* Adds the `count` values of a node to y, where `to` points to the node's first entry. */
typedef void node_adder(const adding *a, int64_t node, const double *values, int count, double *to);

typedef struct one_batch {
    const fem_batches *set;
    int32_t batch;
} one_batch;

struct adding {
    fem_subdomain_functions call; /* first member, because subdomain->call is its address */
    const fem_subdomain_functions *plain;
    cpu_subdomain *cpu;
    fem_bench_adding way;
    fem_batches *sets;  /* [chunks][CPU_SETS] those of the chunks, but scattering to the nodes from which they gather */
    double *own;        /* PRIVATE: [chunks][own_values] */
    int64_t own_values; /* per thread, in whole cache lines */
    node_lock *locks;   /* [NUM_LOCKS] */
    /* [num_groups + 1] COLOURS: colours; OWNERS: threads, without batches that touch only nodes of their own. */
    int64_t num_groups, room, *first;
    one_batch *list; /* [first[num_groups]] */
};

/* The products of a batch, not yet added to y. */
typedef struct products {
    _Alignas(64) double values[(SLOTS * MOST_LANES + FEM_VALUES_BEHIND) * MOST_COMPONENTS];
    int32_t place[SLOTS * MOST_LANES]; /* of a slot and lane in `values` */
} products;

/* ------------------------------------------------------------------------------------------------ one batch */

static int components_of(const adding *a) { return a->cpu->subdomain.space->components; }

static const fem_batches *set_of(const adding *a, int chunk, int set) { return &a->sets[(int64_t)chunk * CPU_SETS + set]; }

static void apply(const adding *a, const fem_batches *set, int32_t begin, int32_t end, const double *u, double *y)
{
    (a->cpu->subdomain.operator_kind == FEM_STORED ? a->cpu->functions->apply_stored : a->cpu->functions->apply)(set, begin, end, u, y);
}

static void begin_products(products *p)
{
    for (int i = 0; i < SLOTS * MOST_LANES; i++) p->place[i] = i;
}

static void compute_products(const adding *a, const fem_batches *set, int32_t batch, const double *u, products *p)
{
    const int64_t lanes = set->width, m = (int64_t)set->used * components_of(a);
    const int32_t left = set->elements - batch * set->width;
    fem_batches one = *set;
    one.batches = 1;
    one.elements = left < set->width ? left : set->width;
    one.gather += batch * set->slots * lanes;
    one.scatter = p->place;
    one.face_code += batch * lanes;
    one.first_factor += batch;
    one.moduli = (const double *)set->moduli + 2 * batch * lanes;
    if (set->stored) one.stored = (const double *)set->stored + batch * m * (m + 1) / 2 * lanes;
    memset(p->values, 0, (size_t)(set->slots * lanes * components_of(a)) * sizeof(double));
    apply(a, &one, 0, 1, u, p->values);
}

static inline void add_products(const adding *a, const fem_batches *set, int32_t batch, const products *p, double *y, node_adder *add)
{
    const int n = components_of(a), lanes = set->width;
    const int32_t left = set->elements - batch * lanes, elements = left < lanes ? left : lanes;
    const int32_t *gather = set->gather + (int64_t)batch * set->slots * lanes;
    for (int i = 0; i < set->used; i++)
        for (int lane = 0; lane < elements; lane++) {
            const int at = set->slot[i] * lanes + lane;
            add(a, gather[at], p->values + (ptrdiff_t)at * n, n, y + (int64_t)gather[at] * n);
        }
}

/* ------------------------------------------------------------------------------------------- one node's values */

static inline void add_swapping(const adding *a, int64_t node, const double *values, int count, double *to)
{
    (void)a, (void)node;
    for (int c = 0; c < count; c++) {
        shared_double *sum = (shared_double *)&to[c];
        double old = atomic_load_explicit(sum, memory_order_relaxed);
        /* A failed swap has loaded the present value into `old`. */
        while (!atomic_compare_exchange_weak_explicit(sum, &old, old + values[c], memory_order_relaxed, memory_order_relaxed))
            ;
    }
}

static inline void add_locking(const adding *a, int64_t node, const double *values, int count, double *to)
{
    node_lock *lock = &a->locks[node % NUM_LOCKS];
    for (int spins = 0; atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire) != 0; spins++)
        if (spins >= SPINS) { /* the holder may be without a core */
            sched_yield();
            spins = 0;
        }
    for (int c = 0; c < count; c++) to[c] += values[c];
    atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

/*
 * Relaxed atomic loads and stores are compiled to plain instructions but are no data race.  Threads may lose addends of others, with no
 * other effect.
 */
static inline void add_unsynchronised(const adding *a, int64_t node, const double *values, int count, double *to)
{
    (void)a, (void)node;
    for (int c = 0; c < count; c++) {
        shared_double *sum = (shared_double *)&to[c];
        atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + values[c], memory_order_relaxed);
    }
}

static void add_owned(const adding *a, const fem_batches *set, int32_t batch, const products *p, double *y, const cpu_chunk *owner)
{
    const int n = components_of(a), lanes = set->width;
    const int32_t left = set->elements - batch * lanes, elements = left < lanes ? left : lanes;
    const int32_t *gather = set->gather + (int64_t)batch * set->slots * lanes;
    for (int i = 0; i < set->used; i++)
        for (int lane = 0; lane < elements; lane++) {
            const int at = set->slot[i] * lanes + lane;
            if (gather[at] < owner->node_begin || gather[at] >= owner->node_end) continue;
            for (int c = 0; c < n; c++) y[(int64_t)gather[at] * n + c] += p->values[at * n + c];
        }
}

/* ------------------------------------------------------------------------------------------------ products */

static const adding *of_task(const cpu_task *task) { return (const adding *)task->cpu->subdomain.call; }

static void run_private(void *user)
{
    const cpu_task *task = user;
    const adding *a = of_task(task);
    const cpu_subdomain *cpu = task->cpu;
    const int n = components_of(a);
    double *y = task->c;
#pragma omp parallel num_threads(cpu->num_chunks)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            double *own = a->own + t * a->own_values;
            memset(own, 0, (size_t)a->own_values * sizeof(double));
            for (int i = 0; i < CPU_SETS; i++) apply(a, set_of(a, t, i), 0, set_of(a, t, i)->batches, task->a, own);
        }
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++)
            for (int64_t i = (int64_t)cpu->chunks[t].node_begin * n; i < (int64_t)cpu->chunks[t].node_end * n; i++) {
                double sum = 0;
                for (int s = 0; s < cpu->num_chunks; s++) sum += a->own[s * a->own_values + i];
                y[i] = sum;
            }
    }
}

/* Executed by the threads of the enclosing parallel region. */
static void clear_all(const cpu_task *task)
{
    const cpu_subdomain *cpu = task->cpu;
#pragma omp for schedule(static, 1)
    for (int t = 0; t < cpu->num_chunks; t++) cpu_subdomain_clear_chunk(cpu, &cpu->chunks[t], components_of(of_task(task)), task->c);
}

static inline void run_sharing(const cpu_task *task, node_adder *add)
{
    const adding *a = of_task(task);
    const cpu_subdomain *cpu = task->cpu;
#pragma omp parallel num_threads(cpu->num_chunks)
    {
        products p;
        begin_products(&p);
        clear_all(task);
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++)
            for (int i = 0; i < CPU_SETS; i++) {
                const fem_batches *set = set_of(a, t, i);
                for (int32_t batch = 0; batch < set->batches; batch++) {
                    compute_products(a, set, batch, task->a, &p);
                    add_products(a, set, batch, &p, task->c, add);
                }
            }
    }
}

static void run_swapping(void *user) { run_sharing(user, add_swapping); }
static void run_locking(void *user) { run_sharing(user, add_locking); }
static void run_unsynchronised(void *user) { run_sharing(user, add_unsynchronised); }

static void run_colours(void *user)
{
    const cpu_task *task = user;
    const adding *a = of_task(task);
    const cpu_subdomain *cpu = task->cpu;
#pragma omp parallel num_threads(cpu->num_chunks)
    {
        clear_all(task);
        for (int64_t colour = 0; colour < a->num_groups; colour++) {
#pragma omp for schedule(static)
            for (int64_t i = a->first[colour]; i < a->first[colour + 1]; i++)
                apply(a, a->list[i].set, a->list[i].batch, a->list[i].batch + 1, task->a, task->c);
        }
    }
}

static void run_owners(void *user)
{
    const cpu_task *task = user;
    const adding *a = of_task(task);
    const cpu_subdomain *cpu = task->cpu;
#pragma omp parallel num_threads(cpu->num_chunks)
    {
        products p;
        begin_products(&p);
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            cpu_subdomain_clear_chunk(cpu, &cpu->chunks[t], components_of(a), task->c);
            for (int phase = 0; phase < CPU_PHASES; phase++) {
                const fem_batches *set = set_of(a, t, CPU_SET(phase, CPU_OWN));
                apply(a, set, 0, set->batches, task->a, task->c);
            }
            for (int64_t i = a->first[t]; i < a->first[t + 1]; i++) {
                compute_products(a, a->list[i].set, a->list[i].batch, task->a, &p);
                add_owned(a, a->list[i].set, a->list[i].batch, &p, task->c, &cpu->chunks[t]);
            }
        }
    }
}

/* Computes all elements: there are no interface nodes, so the first phase has nothing to do. */
static void product_interior(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    static yoke_task_function *const run[FEM_BENCH_ADDINGS] = {NULL,        run_private, run_swapping,      run_locking,
                                                               run_colours, run_owners,  run_unsynchronised};
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    const cpu_task task = {.kernel = FEM_KERNEL_PRODUCT, .phase = CPU_INTERIOR, .a = x->data, .c = y->data};
    cpu_subdomain_start_measured(cpu, run[((const adding *)subdomain->call)->way], &task, cpu->phase_elements[CPU_INTERIOR]);
}

/* -------------------------------------------------------------------------------------------------- set-up */

static int64_t count_batches(const adding *a)
{
    int64_t count = 0;
    for (int i = 0; i < a->cpu->num_chunks * CPU_SETS; i++) count += a->sets[i].batches;
    return count;
}

/* Appends a batch to the last group of the list. */
static yoke_status put(adding *a, const fem_batches *set, int32_t batch)
{
    yoke_context *context = a->cpu->subdomain.context;
    yoke_status status = yoke_grow(context, &a->list, a->first[a->num_groups], &a->room, 256, sizeof *a->list);
    if (!status) a->list[a->first[a->num_groups]++] = (one_batch){set, batch};
    return status;
}

/* Without set_it, returns whether a node of the batch's elements has the stamp; with set_it, stamps all these nodes. */
static int stamped(const fem_batches *set, int32_t batch, int64_t *stamp, int64_t value, int set_it)
{
    const int32_t *gather = set->gather + (int64_t)batch * set->slots * set->width;
    for (int i = 0; i < set->used; i++)
        for (int lane = 0; lane < set->width; lane++) {
            int64_t *of_node = &stamp[gather[set->slot[i] * set->width + lane]];
            if (!set_it && *of_node == value) return 1;
            if (set_it) *of_node = value;
        }
    return 0;
}

/* Fills a colour: in the order of the elements, it gets each remaining batch that shares no node with those it already has. */
static yoke_status take_colour(adding *a, uint8_t *done, int64_t *stamp)
{
    yoke_status status = YOKE_OK;
    int64_t number = 0;
    for (int i = 0; i < a->cpu->num_chunks * CPU_SETS; i++)
        for (int32_t batch = 0; batch < a->sets[i].batches; batch++, number++) {
            if (status || done[number] || stamped(&a->sets[i], batch, stamp, a->num_groups, 0)) continue;
            (void)stamped(&a->sets[i], batch, stamp, a->num_groups, 1);
            done[number] = 1;
            status = put(a, &a->sets[i], batch);
        }
    return status;
}

static yoke_status make_colours(adding *a)
{
    yoke_context *context = a->cpu->subdomain.context;
    const int64_t batches = count_batches(a);
    int64_t *stamp = NULL, room = 0;
    uint8_t *done = NULL;
    yoke_status status = yoke_allocate(context, a->cpu->num_nodes, sizeof *stamp, &stamp);
    if (!status) status = yoke_allocate(context, batches, 1, &done);
    if (!status) status = yoke_grow(context, &a->first, 0, &room, 64, sizeof *a->first);
    while (!status && a->first[a->num_groups] < batches) {
        status = yoke_grow(context, &a->first, a->num_groups + 1, &room, 64, sizeof *a->first);
        if (status) break;
        a->first[a->num_groups + 1] = a->first[a->num_groups];
        a->num_groups++; /* incremented first, so that stamps, which are initially zero, begin at 1 */
        status = take_colour(a, done, stamp);
    }
    yoke_release(context, stamp);
    yoke_release(context, done);
    return status;
}

static int touches(const fem_batches *set, int32_t batch, const cpu_chunk *chunk)
{
    const int32_t *gather = set->gather + (int64_t)batch * set->slots * set->width;
    for (int i = 0; i < set->used; i++)
        for (int lane = 0; lane < set->width; lane++) {
            const int32_t node = gather[set->slot[i] * set->width + lane];
            if (node >= chunk->node_begin && node < chunk->node_end) return 1;
        }
    return 0;
}

/* Lists for each thread the batches that it computes in addition to its chunk's elements that touch only its own nodes. */
static yoke_status make_owners(adding *a)
{
    const cpu_subdomain *cpu = a->cpu;
    yoke_status status = yoke_allocate(cpu->subdomain.context, cpu->num_chunks + 1, sizeof *a->first, &a->first);
    for (int t = 0; !status && t < cpu->num_chunks; t++) {
        a->first[t + 1] = a->first[t];
        a->num_groups++;
        for (int u = t; u < cpu->num_chunks; u++)
            for (int phase = 0; phase < CPU_PHASES; phase++) {
                const fem_batches *set = set_of(a, u, CPU_SET(phase, CPU_BORDER));
                for (int32_t batch = 0; !status && batch < set->batches; batch++)
                    if (touches(set, batch, &cpu->chunks[t])) status = put(a, set, batch);
            }
    }
    return status;
}

static yoke_status make(adding *a)
{
    yoke_context *context = a->cpu->subdomain.context;
    const int chunks = a->cpu->num_chunks;
    yoke_status status = yoke_allocate(context, chunks * CPU_SETS, sizeof *a->sets, &a->sets);
    for (int i = 0; !status && i < chunks * CPU_SETS; i++) {
        a->sets[i] = a->cpu->chunks[i / CPU_SETS].set[i % CPU_SETS].b;
        a->sets[i].scatter = a->sets[i].gather;
    }
    a->own_values = (((int64_t)a->cpu->num_nodes + FEM_VALUES_BEHIND) * components_of(a) + 7) / 8 * 8;
    if (!status && a->way == FEM_BENCH_ADD_PRIVATE)
        status = yoke_allocate_untouched(context, chunks * a->own_values, sizeof(double), &a->own);
    if (!status && a->way == FEM_BENCH_ADD_LOCKS) status = yoke_allocate(context, NUM_LOCKS, sizeof *a->locks, &a->locks);
    if (!status && a->way == FEM_BENCH_ADD_COLOURS) status = make_colours(a);
    if (!status && a->way == FEM_BENCH_ADD_OWNERS) status = make_owners(a);
    return status;
}

static void release(yoke_context *context, adding *a)
{
    if (!a) return;
    yoke_release(context, a->sets);
    yoke_release(context, a->own);
    yoke_release(context, a->locks);
    yoke_release(context, a->first);
    yoke_release(context, a->list);
    yoke_release(context, a);
}

static void destroy(fem_subdomain *subdomain)
{
    if (!subdomain) return;
    yoke_context *context = subdomain->context;
    adding *a = (adding *)subdomain->call;
    a->plain->destroy(subdomain);
    release(context, a);
}

yoke_status fem_bench_adding_set(fem_subdomain *subdomain, fem_bench_adding way)
{
    adding *a = NULL;
    if (way == FEM_BENCH_ADD_CHUNKS) return YOKE_OK;
    if (subdomain->precision != FEM_DOUBLE || subdomain->num_interface)
        return yoke_fail(subdomain->context, YOKE_ERROR_ARGUMENT,
                         "%s: for double precision, and where no other subdomain has a part of the nodes", fem_bench_adding_name[way]);
    yoke_status status = yoke_allocate(subdomain->context, 1, sizeof *a, &a);
    if (status) return status;
    *a = (adding){.call = *subdomain->call, .plain = subdomain->call, .cpu = (cpu_subdomain *)subdomain, .way = way};
    a->call.product_interior = product_interior;
    a->call.destroy = destroy;
    status = make(a);
    if (status)
        release(subdomain->context, a);
    else
        subdomain->call = &a->call;
    return status;
}
