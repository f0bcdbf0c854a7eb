#include "reduction/synthetic.h"

#include <sched.h>
#include <stdatomic.h>

enum { CACHE_LINE = 64, SPINS = 64 };

/* The data shared by the threads, each item in a cache line of its own. */
typedef struct common_place {
    _Alignas(CACHE_LINE) _Atomic int64_t sum;
    _Alignas(CACHE_LINE) atomic_int taken;
    _Alignas(CACHE_LINE) _Atomic uint64_t kept; /* stores the result of the work, so that the work is not optimised away */
} common_place;

const char *synthetic_name(synthetic_kind kind)
{
    static const char *const names[] = {"private", "unsynchronised", "atomic", "cas", "lock"};
    return names[kind];
}

/* Each step depends on the previous one. */
static inline uint64_t do_work(uint64_t state, int64_t steps)
{
    for (int64_t i = 0; i < steps; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

static inline void add_plainly(_Atomic int64_t *sum)
{
    int64_t old = atomic_load_explicit(sum, memory_order_relaxed);
    atomic_store_explicit(sum, old + 1, memory_order_relaxed);
}

static inline void add_swapping(_Atomic int64_t *sum)
{
    int64_t old = atomic_load_explicit(sum, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(sum, &old, old + 1, memory_order_relaxed, memory_order_relaxed))
        ;
}

static inline void add_locking(common_place *place)
{
    for (int spins = 0; atomic_exchange_explicit(&place->taken, 1, memory_order_acquire) != 0; spins++)
        if (spins >= SPINS) { /* the holder may be without a core */
            sched_yield();
            spins = 0;
        }
    add_plainly(&place->sum);
    atomic_store_explicit(&place->taken, 0, memory_order_release);
}

/* The additions of one thread; the kind is known at compile time. */
static inline uint64_t add_many(synthetic_kind kind, common_place *place, _Atomic int64_t *own, int64_t additions, int64_t work,
                                uint64_t state)
{
    for (int64_t i = 0; i < additions; i++) {
        state = do_work(state, work);
        switch (kind) {
        case SYNTHETIC_PRIVATE:
            add_plainly(own);
            break;
        case SYNTHETIC_UNSYNCHRONISED:
            add_plainly(&place->sum);
            break;
        case SYNTHETIC_ATOMIC:
            atomic_fetch_add_explicit(&place->sum, 1, memory_order_relaxed);
            break;
        case SYNTHETIC_SWAP:
            add_swapping(&place->sum);
            break;
        default:
            add_locking(place);
            break;
        }
    }
    return state;
}

static uint64_t add_as(synthetic_kind kind, common_place *place, _Atomic int64_t *own, int64_t additions, int64_t work, uint64_t state)
{
    switch (kind) {
    case SYNTHETIC_PRIVATE:
        return add_many(SYNTHETIC_PRIVATE, place, own, additions, work, state);
    case SYNTHETIC_UNSYNCHRONISED:
        return add_many(SYNTHETIC_UNSYNCHRONISED, place, own, additions, work, state);
    case SYNTHETIC_ATOMIC:
        return add_many(SYNTHETIC_ATOMIC, place, own, additions, work, state);
    case SYNTHETIC_SWAP:
        return add_many(SYNTHETIC_SWAP, place, own, additions, work, state);
    default:
        return add_many(SYNTHETIC_LOCK, place, own, additions, work, state);
    }
}

void synthetic_run(synthetic_kind kind, int threads, int64_t additions, int64_t work, double *seconds, int64_t *sum)
{
    common_place place;
    double begin = 0;
    atomic_init(&place.sum, 0);
    atomic_init(&place.taken, 0);
    atomic_init(&place.kept, 0);
#pragma omp parallel num_threads(threads)
    {
        struct {
            _Alignas(CACHE_LINE) _Atomic int64_t sum;
        } own;
        atomic_init(&own.sum, 0);
#pragma omp master
        begin = yoke_clock_s();
#pragma omp barrier
#pragma omp for schedule(static, 1)
        for (int t = 0; t < threads; t++) {
            uint64_t state = add_as(kind, &place, &own.sum, additions, work, (uint64_t)t + 1);
            atomic_fetch_xor_explicit(&place.kept, state, memory_order_relaxed);
        }
#pragma omp master
        *seconds = yoke_clock_s() - begin;
        if (kind == SYNTHETIC_PRIVATE)
            atomic_fetch_add_explicit(&place.sum, atomic_load_explicit(&own.sum, memory_order_relaxed), memory_order_relaxed);
    }
    *sum = atomic_load_explicit(&place.sum, memory_order_relaxed);
}
