#include "reduction/method.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { CACHE_LINE = 64, SPINS = 64 };

/* Each lock has a cache line of its own to avoid false sharing. */
struct reduction_lock {
    _Alignas(CACHE_LINE) atomic_int taken;
};

/*
 * Where threads share entries of y, these are accessed as atomic doubles: same size and alignment, and never mixed with plain accesses
 * within a parallel region.
 */
typedef _Atomic double shared_double;
_Static_assert(sizeof(shared_double) == sizeof(double) && _Alignof(shared_double) == _Alignof(double), "atomic doubles are doubles");

/* ---------------------------------------------------------------------------------------------------- work */

/* Between 0.5 and 1.5; depends only on the index, so that any thread can write it. */
static double number(uint64_t index)
{
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return 0.5 + (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static yoke_status create_numbers(yoke_context *context, int64_t count, uint64_t seed, double **numbers)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate_untouched(context, count, sizeof(double), &memory);
    if (status) return status;
    double *value = memory;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) value[i] = number(seed + (uint64_t)i);
    *numbers = value;
    return YOKE_OK;
}

yoke_status reduction_work_create(const reduction_mesh *mesh, bool product, reduction_work *work)
{
    reduction_work made = {.mesh = mesh};
    yoke_status status;
    if (product) {
        status = create_numbers(mesh->context, (int64_t)ELEMENT_DOFS * ELEMENT_DOFS, 0, &made.matrix);
        if (!status) status = create_numbers(mesh->context, mesh->nodes * NODE_DOFS, 1u << 20, &made.input);
    } else
        status = create_numbers(mesh->context, mesh->elements * ELEMENT_DOFS, 0, &made.vectors);
    if (status)
        reduction_work_release(&made);
    else
        *work = made;
    return status;
}

void reduction_work_release(reduction_work *work)
{
    yoke_release(work->mesh->context, work->vectors);
    yoke_release(work->mesh->context, work->matrix);
    yoke_release(work->mesh->context, work->input);
    *work = (reduction_work){.mesh = work->mesh};
}

/* Returns the element's vector: the stored one, or one computed into `room`. */
static const double *element_vector(const reduction_work *work, int64_t element, double room[ELEMENT_DOFS])
{
    if (work->vectors != NULL) return work->vectors + element * ELEMENT_DOFS;
    const int32_t *node = work->mesh->node + element * ELEMENT_NODES;
    double input[ELEMENT_DOFS];
    for (int k = 0; k < ELEMENT_NODES; k++)
        memcpy(input + NODE_DOFS * k, work->input + (int64_t)NODE_DOFS * node[k], sizeof(double[NODE_DOFS]));
    memset(room, 0, sizeof(double[ELEMENT_DOFS]));
    for (int j = 0; j < ELEMENT_DOFS; j++) {
        const double *column = work->matrix + (ptrdiff_t)j * ELEMENT_DOFS;
        for (int i = 0; i < ELEMENT_DOFS; i++) room[i] += column[i] * input[j];
    }
    return room;
}

/* -------------------------------------------------------------------------------- addition of an element */

static void add_plainly(const int32_t *node, const double *values, double *y)
{
    for (int k = 0; k < ELEMENT_NODES; k++)
        for (int c = 0; c < NODE_DOFS; c++) y[(int64_t)NODE_DOFS * node[k] + c] += values[NODE_DOFS * k + c];
}

static void add_owned(const int32_t *node, const double *values, double *y, int64_t begin, int64_t end)
{
    for (int k = 0; k < ELEMENT_NODES; k++) {
        if (node[k] < begin || node[k] >= end) continue;
        for (int c = 0; c < NODE_DOFS; c++) y[(int64_t)NODE_DOFS * node[k] + c] += values[NODE_DOFS * k + c];
    }
}

/*
 * Relaxed atomic loads and stores are compiled to plain instructions but are no data race.  Threads may lose addends of others, with no
 * other effect.
 */
static void add_unsynchronised(const int32_t *node, const double *values, double *y)
{
    for (int k = 0; k < ELEMENT_NODES; k++)
        for (int c = 0; c < NODE_DOFS; c++) {
            shared_double *sum = (shared_double *)&y[(int64_t)NODE_DOFS * node[k] + c];
            double old = atomic_load_explicit(sum, memory_order_relaxed);
            atomic_store_explicit(sum, old + values[NODE_DOFS * k + c], memory_order_relaxed);
        }
}

static void add_swapping(const int32_t *node, const double *values, double *y)
{
    for (int k = 0; k < ELEMENT_NODES; k++)
        for (int c = 0; c < NODE_DOFS; c++) {
            shared_double *sum = (shared_double *)&y[(int64_t)NODE_DOFS * node[k] + c];
            double old = atomic_load_explicit(sum, memory_order_relaxed);
            /* A failed swap has loaded the present value into `old`. */
            while (!atomic_compare_exchange_weak_explicit(sum, &old, old + values[NODE_DOFS * k + c], memory_order_relaxed,
                                                          memory_order_relaxed))
                ;
        }
}

static void take(reduction_lock *lock)
{
    for (int spins = 0; atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire) != 0; spins++)
        if (spins >= SPINS) { /* the holder may be without a core */
            sched_yield();
            spins = 0;
        }
}

static void add_locking(const int32_t *node, const double *values, double *y, reduction_lock *locks, int64_t num_locks)
{
    for (int k = 0; k < ELEMENT_NODES; k++) {
        reduction_lock *lock = &locks[node[k] % num_locks];
        take(lock);
        for (int c = 0; c < NODE_DOFS; c++) y[(int64_t)NODE_DOFS * node[k] + c] += values[NODE_DOFS * k + c];
        atomic_store_explicit(&lock->taken, 0, memory_order_release);
    }
}

/* ------------------------------------------------------------------------------------------------- methods */

static void clear(int64_t dofs, int threads, double *y)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < dofs; i++) y[i] = 0;
}

static void run_private(const reduction_method *m, double *y)
{
    const reduction_mesh *mesh = m->work->mesh;
    const int64_t dofs = mesh->nodes * NODE_DOFS, parts = m->threads;
#pragma omp parallel num_threads(m->threads)
    {
        double room[ELEMENT_DOFS];
#pragma omp for schedule(static, 1)
        for (int64_t p = 0; p < parts; p++) {
            double *own = m->own + p * dofs;
            memset(own, 0, (size_t)dofs * sizeof(double));
            for (int64_t e = reduction_begin(mesh->elements, parts, p); e < reduction_begin(mesh->elements, parts, p + 1); e++)
                add_plainly(mesh->node + e * ELEMENT_NODES, element_vector(m->work, e, room), own);
        }
#pragma omp for schedule(static)
        for (int64_t i = 0; i < dofs; i++) {
            double sum = m->own[i];
            for (int64_t p = 1; p < parts; p++) sum += m->own[p * dofs + i];
            y[i] = sum;
        }
    }
}

/* Elements are distributed evenly, and any thread adds to any row. */
static void run_shared(const reduction_method *m, double *y)
{
    const reduction_mesh *mesh = m->work->mesh;
    clear(mesh->nodes * NODE_DOFS, m->threads, y);
#pragma omp parallel num_threads(m->threads)
    {
        double room[ELEMENT_DOFS];
#pragma omp for schedule(static)
        for (int64_t e = 0; e < mesh->elements; e++) {
            const int32_t *node = mesh->node + e * ELEMENT_NODES;
            const double *values = element_vector(m->work, e, room);
            if (m->kind == REDUCTION_SWAP)
                add_swapping(node, values, y);
            else if (m->kind == REDUCTION_LOCKS)
                add_locking(node, values, y, m->locks, m->num_locks);
            else
                add_unsynchronised(node, values, y);
        }
    }
}

static void run_colours(const reduction_method *m, double *y)
{
    const reduction_mesh *mesh = m->work->mesh;
    clear(mesh->nodes * NODE_DOFS, m->threads, y);
#pragma omp parallel num_threads(m->threads)
    {
        double room[ELEMENT_DOFS];
        for (int64_t g = 0; g < m->groups.count; g++) {
#pragma omp for schedule(static)
            for (int64_t i = m->groups.first[g]; i < m->groups.first[g + 1]; i++) {
                int64_t e = m->groups.element[i];
                add_plainly(mesh->node + e * ELEMENT_NODES, element_vector(m->work, e, room), y);
            }
        }
    }
}

static void run_owners(const reduction_method *m, double *y)
{
    const reduction_mesh *mesh = m->work->mesh;
    const int64_t parts = m->threads;
#pragma omp parallel for schedule(static, 1) num_threads(m->threads)
    for (int64_t p = 0; p < parts; p++) {
        double room[ELEMENT_DOFS];
        int64_t begin = reduction_begin(mesh->nodes, parts, p), end = reduction_begin(mesh->nodes, parts, p + 1);
        memset(y + begin * NODE_DOFS, 0, (size_t)((end - begin) * NODE_DOFS) * sizeof(double));
        for (int64_t i = m->groups.first[p]; i < m->groups.first[p + 1]; i++) {
            int64_t e = m->groups.element[i];
            add_owned(mesh->node + e * ELEMENT_NODES, element_vector(m->work, e, room), y, begin, end);
        }
    }
}

void reduction_add(const reduction_method *method, double *y)
{
    switch (method->kind) {
    case REDUCTION_PRIVATE:
        run_private(method, y);
        return;
    case REDUCTION_COLOURS:
        run_colours(method, y);
        return;
    case REDUCTION_OWNERS:
        run_owners(method, y);
        return;
    default:
        run_shared(method, y);
    }
}

void reduction_reference(const reduction_work *work, double *y)
{
    const reduction_mesh *mesh = work->mesh;
    double room[ELEMENT_DOFS];
    memset(y, 0, (size_t)(mesh->nodes * NODE_DOFS) * sizeof(double));
    for (int64_t e = 0; e < mesh->elements; e++) add_plainly(mesh->node + e * ELEMENT_NODES, element_vector(work, e, room), y);
}

double reduction_error(int64_t dofs, const double *y, const double *reference, int64_t *wrong)
{
    double most = 0;
    *wrong = 0;
    for (int64_t i = 0; i < dofs; i++) {
        double error = fabs(y[i] - reference[i]) / fabs(reference[i]);
        *wrong += !(error <= 1e-13);
        if (!(error <= most)) most = error;
    }
    return most;
}

const char *reduction_name(reduction_kind kind)
{
    static const char *const names[] = {"private", "cas", "locks", "colouring", "owner", "unsynchronised"};
    return names[kind];
}

/* yoke_allocate aligns memory to cache lines, and thereby the locks. */
static yoke_status create_locks(yoke_context *context, int64_t count, reduction_lock **locks)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, count, sizeof(reduction_lock), &memory);
    if (status) return status;
    *locks = memory;
    for (int64_t i = 0; i < count; i++) atomic_init(&(*locks)[i].taken, 0);
    return YOKE_OK;
}

yoke_status reduction_method_create(const reduction_work *work, reduction_kind kind, int64_t num_locks, int threads,
                                    reduction_method *method)
{
    const reduction_mesh *mesh = work->mesh;
    reduction_method made = {.kind = kind, .num_locks = num_locks, .threads = threads, .work = work, .groups = {.context = mesh->context}};
    yoke_status status = YOKE_OK;
    void *own = NULL;
    if (kind == REDUCTION_LOCKS) status = create_locks(mesh->context, num_locks, &made.locks);
    if (kind == REDUCTION_COLOURS) status = reduction_colour(mesh, &made.groups);
    if (kind == REDUCTION_OWNERS) status = reduction_own(mesh, threads, &made.groups);
    if (kind == REDUCTION_PRIVATE) {
        status = yoke_allocate_untouched(mesh->context, threads * mesh->nodes * NODE_DOFS, sizeof(double), &own);
        made.own = own;
    }
    if (!status) *method = made;
    return status;
}

void reduction_method_release(reduction_method *method)
{
    yoke_context *context = method->work->mesh->context;
    yoke_release(context, method->locks);
    yoke_release(context, method->own);
    reduction_groups_release(&method->groups);
    *method = (reduction_method){.work = method->work, .groups = {.context = context}};
}
