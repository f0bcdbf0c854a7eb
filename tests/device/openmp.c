/* The openmp device: which threads work, and on which cores. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */

#include <hwloc.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include "base/context.h"
#include "packed.h"
#include "state.h"

enum { MAX_THREADS = 256 };

typedef struct seen {
    pthread_t caller;
    int threads;
    cpu_set_t cores[MAX_THREADS]; /* that thread i may run on */
} seen;

static void look(void *user)
{
    seen *s = user;
    s->caller = pthread_self();
#pragma omp parallel
    {
#pragma omp single
        s->threads = omp_get_num_threads();
        if (omp_get_thread_num() < MAX_THREADS) sched_getaffinity(0, sizeof s->cores[0], &s->cores[omp_get_thread_num()]);
    }
}

static void see(yoke_context *context, const char *name, int flags, seen *s)
{
    yoke_device *device = NULL;
    yoke_queue *queue = NULL;
    assert_int_equal(yoke_device_open(context, name, &device), YOKE_OK);
    assert_int_equal(yoke_queue_create(device, flags, &queue), YOKE_OK);
    assert_int_equal(yoke_queue_call(queue, look, s, 1), YOKE_OK);
    assert_int_equal(yoke_queue_finish(queue), YOKE_OK);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
}

static cpu_set_t mine(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

/* The hardware threads of a core, as yoke_bind_thread understands it. */
static cpu_set_t of_core(yoke_context *context, int64_t core)
{
    cpu_set_t before = mine();
    assert_int_equal(yoke_bind_thread(context, core), YOKE_OK);
    cpu_set_t set = mine();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    return set;
}

static void threads_sit_on_the_cores_of_the_name(void **state)
{
    yoke_context *context = *state;
    yoke_topology topology;
    assert_int_equal(yoke_topology_get(context, &topology), YOKE_OK);
    cpu_set_t all = mine();
    int64_t last = topology.cores - 1;
    const int64_t ranges[][2] = {{0, 0}, {last, last}, {0, last}, {last / 2, last}};
    for (int flags = 0; flags <= YOKE_QUEUE_INLINE; flags += YOKE_QUEUE_INLINE)
        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
            char name[64];
            seen s;
            snprintf(name, sizeof name, "openmp:%lld-%lld", (long long)ranges[i][0], (long long)ranges[i][1]);
            see(context, name, flags, &s);
            assert_int_equal(s.threads, ranges[i][1] - ranges[i][0] + 1);
            for (int thread = 0; thread < s.threads && thread < MAX_THREADS; thread++) {
                cpu_set_t expected = of_core(context, ranges[i][0] + thread);
                assert_true(CPU_EQUAL(&s.cores[thread], &expected));
            }
            assert_true((pthread_equal(s.caller, pthread_self()) != 0) == (flags == YOKE_QUEUE_INLINE));
            cpu_set_t now = mine();
            assert_true(CPU_EQUAL(&now, &all)); /* the queue's end gives the caller its cores back */
        }
}

static void one_core_has_a_short_name(void **state)
{
    yoke_device *device = NULL;
    assert_int_equal(yoke_device_open(*state, "openmp:0", &device), YOKE_OK);
    assert_string_equal(yoke_device_info_get(device)->name, "openmp:0-0");
    yoke_device_close(device);
}

/* Also after a device that did bind. */
static void all_cores_means_not_bound(void **state)
{
    cpu_set_t all = mine();
    for (int flags = 0; flags <= YOKE_QUEUE_INLINE; flags += YOKE_QUEUE_INLINE) {
        seen s;
        see(*state, "openmp:0-0", flags, &s);
        see(*state, "openmp", flags, &s);
        assert_int_equal(s.threads, omp_get_max_threads());
        for (int thread = 0; thread < s.threads && thread < MAX_THREADS; thread++) assert_true(CPU_EQUAL(&s.cores[thread], &all));
    }
}

/* The calling thread goes from one device's cores to another's and back, without a queue's end between. */
static void inline_queues_of_two_devices_take_turns(void **state)
{
    yoke_context *context = *state;
    yoke_topology topology;
    assert_int_equal(yoke_topology_get(context, &topology), YOKE_OK);
    char last[64];
    snprintf(last, sizeof last, "openmp:%lld-%lld", (long long)topology.cores - 1, (long long)topology.cores - 1);
    const char *const names[] = {"openmp:0-0", last, "openmp"};
    const cpu_set_t all = mine(), first_core = of_core(context, 0), last_core = of_core(context, topology.cores - 1);
    const cpu_set_t *const expected[] = {&first_core, &last_core, &all};
    yoke_device *devices[3] = {NULL};
    yoke_queue *queues[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(yoke_device_open(context, names[i], &devices[i]), YOKE_OK);
        assert_int_equal(yoke_queue_create(devices[i], YOKE_QUEUE_INLINE, &queues[i]), YOKE_OK);
    }
    int before = omp_get_max_threads();
    for (int turn = 0; turn < 9; turn++) {
        seen s;
        assert_int_equal(yoke_queue_call(queues[turn % 3], look, &s, 1), YOKE_OK);
        assert_true(CPU_EQUAL(&s.cores[0], expected[turn % 3]));
        assert_int_equal(s.threads, turn % 3 < 2 ? 1 : before);
        assert_int_equal(omp_get_max_threads(), before);
    }
    for (int i = 0; i < 3; i++) {
        yoke_queue_destroy(queues[i]);
        yoke_device_close(devices[i]);
    }
    cpu_set_t now = mine();
    assert_true(CPU_EQUAL(&now, &all));
}

/* A context for which this machine's hardware threads 0 and 1 are cores of two NUMA nodes; NULL: it has no such two. */
static yoke_context *on_two_nodes(void)
{
    yoke_context *context = NULL;
    hwloc_topology_t topology;
    cpu_set_t all = mine();
    if (!CPU_ISSET(0, &all) || !CPU_ISSET(1, &all)) return NULL;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, "numanode:2 core:1 pu:1"), 0);
    assert_int_equal(hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    context->topology = topology; /* which it destroys */
    return context;
}

static int is_thread(const cpu_set_t *set, int number) { return CPU_COUNT(set) == 1 && CPU_ISSET(number, set); }

/* Threads one after the other share a node: here there is one for each.  Devices of cores between them do not matter. */
static void threads_of_all_cores_sit_on_numa_nodes(void **state)
{
    (void)state;
    const int before = omp_get_max_threads();
    const char *const set = getenv("OMP_PROC_BIND");
    yoke_context *context = on_two_nodes();
    yoke_device *device = NULL;
    if (context == NULL || set != NULL) skip();
    omp_set_num_threads(2);
    for (int flags = 0; flags <= YOKE_QUEUE_INLINE; flags += YOKE_QUEUE_INLINE)
        for (int i = 0; i < 4; i++) {
            seen s;
            see(context, i % 2 ? "openmp:1-1" : "openmp", flags, &s);
            assert_int_equal(s.threads, i % 2 ? 1 : 2);
            assert_true(is_thread(&s.cores[0], i % 2));
            if (i % 2 == 0) assert_true(is_thread(&s.cores[1], 1));
            cpu_set_t now = mine();
            assert_int_equal(CPU_COUNT(&now), 2); /* of the two nodes; this machine may have more */
        }
    assert_int_equal(yoke_device_open(context, "openmp", &device), YOKE_OK);
    assert_non_null(strstr(yoke_device_info_get(device)->description, "threads bound to 2 NUMA nodes"));
    yoke_device_close(device);
    omp_set_num_threads(before);
    yoke_context_destroy(context);
    assert_int_equal(yoke_unbind_thread(*state), YOKE_OK);
}

/* One thread, more threads than hardware has, and who says how OpenMP binds threads. */
static void threads_are_not_bound_to_nodes_where_that_is_no_gain_or_not_wanted(void **state)
{
    (void)state;
    const int before = omp_get_max_threads(), threads[3] = {1, 3, 2};
    yoke_context *context = on_two_nodes();
    if (context == NULL || getenv("OMP_PROC_BIND") != NULL) skip();
    const cpu_set_t all = mine();
    for (int i = 0; i < 3; i++) {
        yoke_device *device = NULL;
        seen s;
        if (i == 2) assert_int_equal(setenv("OMP_PROC_BIND", "false", 1), 0);
        omp_set_num_threads(threads[i]);
        see(context, "openmp", YOKE_QUEUE_INLINE, &s);
        assert_int_equal(s.threads, threads[i]);
        for (int thread = 0; thread < s.threads; thread++) assert_true(CPU_EQUAL(&s.cores[thread], &all));
        assert_int_equal(yoke_device_open(context, "openmp", &device), YOKE_OK);
        assert_null(strstr(yoke_device_info_get(device)->description, "NUMA"));
        yoke_device_close(device);
    }
    unsetenv("OMP_PROC_BIND");
    omp_set_num_threads(before);
    yoke_context_destroy(context);
}

/* The number of threads is the opening thread's; a worker takes it along. */
static void the_number_of_threads_is_that_of_the_opening(void **state)
{
    int before = omp_get_max_threads();
    yoke_device *device = NULL;
    yoke_queue *queue = NULL;
    seen s;
    omp_set_num_threads(3);
    assert_int_equal(yoke_device_open(*state, "openmp", &device), YOKE_OK);
    omp_set_num_threads(before);
    for (int flags = 0; flags <= YOKE_QUEUE_INLINE; flags += YOKE_QUEUE_INLINE) {
        assert_int_equal(yoke_queue_create(device, flags, &queue), YOKE_OK);
        assert_int_equal(yoke_queue_call(queue, look, &s, 1), YOKE_OK);
        yoke_queue_destroy(queue);
        assert_int_equal(s.threads, 3);
    }
    yoke_device_close(device);
}

static void a_library_without_blas_is_named(void **state)
{
    (void)state;
    const char *const libraries[] = {"", "libm.so.6", "/no/such/library.so"};
    double values[4] = {1, 1, 1, 1};
    for (int i = 0; i < 3; i++) {
        yoke_context *context = NULL;
        yoke_device *device = NULL;
        yoke_queue *queue = NULL;
        yoke_buffer *buffer = NULL;
        assert_int_equal(setenv("YOKE_LIBBLAS", libraries[i], 1), 0);
        assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
        assert_int_equal(yoke_device_open(context, "openmp", &device), YOKE_OK);
        assert_int_equal(yoke_queue_create(device, YOKE_QUEUE_INLINE, &queue), YOKE_OK);
        assert_int_equal(yoke_buffer_create(device, sizeof values, &buffer), YOKE_OK);
        assert_int_equal(yoke_queue_write(queue, buffer, 0, sizeof values, values), YOKE_OK);
        assert_int_equal(packed_product(device, queue, 1, 1, buffer, 0, buffer, 8, 0, buffer, 16), YOKE_ERROR_UNAVAILABLE);
        assert_non_null(strstr(yoke_last_error(context), "YOKE_LIBBLAS"));
        assert_int_equal(yoke_queue_finish(queue), YOKE_OK); /* the device works on */
        yoke_buffer_destroy(buffer);
        yoke_queue_destroy(queue);
        yoke_device_close(device);
        yoke_context_destroy(context);
    }
    unsetenv("YOKE_LIBBLAS");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_sit_on_the_cores_of_the_name),
    cmocka_unit_test(one_core_has_a_short_name),
    cmocka_unit_test(all_cores_means_not_bound),
    cmocka_unit_test(inline_queues_of_two_devices_take_turns),
    cmocka_unit_test(threads_of_all_cores_sit_on_numa_nodes),
    cmocka_unit_test(threads_are_not_bound_to_nodes_where_that_is_no_gain_or_not_wanted),
    cmocka_unit_test(the_number_of_threads_is_that_of_the_opening),
    cmocka_unit_test(a_library_without_blas_is_named),
};

UNIT_MAIN(tests, state_start, state_end)
