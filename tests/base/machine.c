/* Clock, topology and description against what the system itself says. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */

#include <hwloc.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/context.h"
#include "base/numa.h"
#include "state.h"

/* In the place of the C library's, for hwloc too: how often a thread was bound. */
static int bindings;

__attribute__((visibility("default"))) int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set)
{
    bindings++;
    return (int)syscall(SYS_sched_setaffinity, thread, size, set);
}

static void the_clock_never_runs_backwards(void **state)
{
    (void)state;
    double last_s = yoke_clock_s();
    assert_true(isfinite(last_s));
    for (int i = 0; i < 100000; i++) {
        double now_s = yoke_clock_s();
        assert_true(now_s >= last_s);
        last_s = now_s;
    }
}

static void the_clock_counts_seconds(void **state)
{
    (void)state;
    struct timespec pause = {.tv_nsec = 20000000}, before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    double start_s = yoke_clock_s();
    nanosleep(&pause, NULL);
    double passed_s = yoke_clock_s() - start_s;
    clock_gettime(CLOCK_MONOTONIC, &after);
    double around_s = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    assert_true(passed_s >= 0.02 - 1e-6);
    assert_true(passed_s <= around_s + 1e-6);
}

/* MemTotal, the first line of /proc/meminfo, which is in KiB. */
static int64_t kernel_memory_bytes(void)
{
    long long kibibytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "MemTotal: %lld kB", &kibibytes), 1);
    fclose(file);
    return 1024 * kibibytes;
}

static void a_limit_of_address_space_is_a_limit_of_memory(void **state)
{
#ifdef YOKE_SANITIZED
    skip(); /* sanitizers reserve terabytes of addresses */
#endif
    struct rlimit before, small;
    yoke_topology topology;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = (rlim_t)kernel_memory_bytes() / 7;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    yoke_status status = yoke_topology_get(*state, &topology);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, YOKE_OK);
    assert_true(topology.memory_bytes <= (int64_t)small.rlim_cur);
}

static void the_topology_agrees_with_the_scheduler(void **state)
{
    yoke_topology topology;
    cpu_set_t allowed;
    assert_int_equal(yoke_topology_get(*state, &topology), YOKE_OK);
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    assert_int_equal(topology.hardware_threads, CPU_COUNT(&allowed));
    assert_in_range(topology.cores, 1, topology.hardware_threads);
    assert_in_range(topology.packages, 1, topology.cores);
    assert_true(topology.numa_nodes >= 1);
    assert_true(topology.l1_bytes >= 0 && topology.l2_bytes >= 0 && topology.l3_bytes >= 0);
    assert_true(topology.memory_bytes > 0);
    assert_true(topology.memory_bytes <= kernel_memory_bytes());
    assert_true(strlen(topology.instruction_set) > 0);
}

/* On a core where others work it would wait for them. */
static void the_topology_is_read_where_the_thread_is(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    yoke_topology topology;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    bindings = 0;
    assert_int_equal(yoke_topology_get(context, &topology), YOKE_OK);
    const int while_read = bindings;
    assert_int_equal(yoke_bind_thread(context, 0), YOKE_OK);
    assert_true(bindings > while_read); /* they are seen */
    assert_int_equal(yoke_unbind_thread(context), YOKE_OK);
    yoke_context_destroy(context);
    if (topology.processor[0] == '\0' || topology.l1_bytes == 0 || topology.l2_bytes == 0) skip(); /* the system hides a part of it */
    assert_int_equal(while_read, 0);
}

/* A machine as described, of which the process may use these hardware threads. */
static yoke_context *of_machine(const char *description, const char *allowed)
{
    yoke_context *context = NULL;
    hwloc_topology_t topology;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, description), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(hwloc_bitmap_list_sscanf(set, allowed), 0);
    assert_int_equal(hwloc_topology_restrict(topology, set, 0), 0);
    hwloc_bitmap_free(set);
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    context->topology = topology;
    return context;
}

/* Threads, and with them elements in their order, in one run for each NUMA node, as many as its part of the cores (Alg. 4.7 of the dissertation). */
static void threads_are_divided_between_numa_nodes_by_their_cores(void **state)
{
    (void)state;
    const struct {
        const char *description, *allowed;
        int nodes, cores[4]; /* of each node that the process may use */
    } machines[] = {
        {"numanode:1 core:4 pu:1", "0-3", 1, {4}},
        {"pack:2 numanode:1 core:4 pu:2", "0-15", 2, {4, 4}},
        {"numanode:4 core:3 pu:1", "0-11", 4, {3, 3, 3, 3}},
        {"numanode:4 core:3 pu:1", "0-2,6,9-10", 3, {3, 1, 2}}}; /* one without a core, taskset or a container took the others */
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        yoke_context *context = of_machine(machines[m].description, machines[m].allowed);
        int64_t cores = 0;
        for (int n = 0; n < machines[m].nodes; n++) cores += machines[m].cores[n];
        for (int64_t threads = 1; threads <= 3 * cores; threads++) {
            int64_t of_node[4] = {0}, last = -1;
            int runs = 0;
            for (int64_t t = 0; t < threads; t++) {
                const int64_t node = yoke_numa_node_of_thread(context, t, threads);
                assert_true(node > last || (t > 0 && node == last)); /* ascending: each node has one run */
                runs += node != last;
                last = node;
                assert_in_range(runs, 1, machines[m].nodes);
                of_node[runs - 1]++;
            }
            assert_int_equal(yoke_numa_nodes_of_threads(context, threads), runs);
            if (threads < cores) continue;
            assert_int_equal(runs, machines[m].nodes);
            for (int n = 0; n < runs; n++) assert_true(llabs(of_node[n] * cores - threads * machines[m].cores[n]) < cores);
        }
        assert_int_equal(yoke_numa_node_of_thread(context, 1, 1), -1);
        assert_int_equal(yoke_numa_node_of_thread(context, -1, 1), -1);
        assert_int_equal(yoke_bind_thread_to_node(context, 99), YOKE_ERROR_ARGUMENT);
        assert_int_equal(yoke_bind_thread_to_node(context, -1), YOKE_ERROR_ARGUMENT);
        yoke_context_destroy(context);
    }
}

static void a_process_bound_to_one_hardware_thread_sees_one_core(void **state)
{
    (void)state;
    cpu_set_t allowed, one;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    yoke_context *context = NULL;
    yoke_topology topology;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(yoke_topology_get(context, &topology), YOKE_OK);
    yoke_context_destroy(context);
    assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    assert_int_equal(topology.cores, 1);
    assert_int_equal(topology.hardware_threads, 1);
}

static void a_thread_is_bound_to_each_core_in_turn(void **state)
{
    yoke_topology topology;
    cpu_set_t before, all, bound;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(yoke_topology_get(*state, &topology), YOKE_OK);
    CPU_ZERO(&all);
    for (int64_t core = 0; core < topology.cores; core++) {
        cpu_set_t common;
        assert_int_equal(yoke_bind_thread(*state, core), YOKE_OK);
        assert_int_equal(sched_getaffinity(0, sizeof bound, &bound), 0);
        CPU_AND(&common, &all, &bound);
        assert_true(CPU_COUNT(&bound) >= 1);
        assert_int_equal(CPU_COUNT(&common), 0); /* another core than all before */
        CPU_OR(&all, &all, &bound);
    }
    assert_true(CPU_EQUAL(&all, &before));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void a_core_that_is_not_there_is_refused(void **state)
{
    yoke_topology topology;
    assert_int_equal(yoke_topology_get(*state, &topology), YOKE_OK);
    assert_int_equal(yoke_bind_thread(*state, topology.cores), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(*state), "there is no core"));
    assert_int_equal(yoke_bind_thread(*state, -1), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_bind_thread(*state, INT64_MAX), YOKE_ERROR_ARGUMENT);
    assert_int_equal(yoke_bind_thread(*state, (int64_t)1 << 32), YOKE_ERROR_ARGUMENT);
}

static void the_description_is_json_with_the_promised_keys(void **state)
{
    char *text = NULL;
    yoke_topology topology;
    assert_int_equal(yoke_describe(*state, 0, &text), YOKE_OK);
    assert_int_equal(yoke_topology_get(*state, &topology), YOKE_OK);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    yoke_release(*state, text);
    assert_non_null(document);
    static const char *const keys[] = {"name",   "kind",    "class",  "description",  "driver",        "pci",
                                       "usable", "why_not", "remedy", "memory_bytes", "compute_units", "double_precision"};
    json_t *device = json_array_get(json_object_get(document, "devices"), 0);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) assert_non_null(json_object_get(device, keys[i]));
    assert_string_equal(json_string_value(json_object_get(device, "name")), "openmp");
    assert_string_equal(json_string_value(json_object_get(device, "class")), "cpu");
    assert_int_equal(json_integer_value(json_object_get(device, "compute_units")), topology.cores);
    assert_int_equal(json_integer_value(json_object_get(device, "memory_bytes")), topology.memory_bytes);
    assert_string_equal(json_string_value(json_object_get(device, "kind")), "openmp");
    assert_true(json_is_true(json_object_get(device, "usable")));
    assert_true(json_is_null(json_object_get(device, "why_not")));
    assert_non_null(strstr(json_string_value(json_object_get(device, "description")), topology.instruction_set));
    /* Whatever cannot be used says why, and what to do. */
    size_t index;
    json_array_foreach (json_object_get(document, "devices"), index, device) {
        int usable = json_is_true(json_object_get(device, "usable"));
        assert_true(usable == json_is_null(json_object_get(device, "why_not")));
        assert_true(usable == json_is_null(json_object_get(device, "remedy")));
    }
    assert_true(json_is_array(json_object_get(document, "meters")));
    assert_true(json_is_array(json_object_get(document, "clocks")));
    json_t *found = json_object_get(document, "topology");
    assert_int_equal(json_integer_value(json_object_get(found, "cores")), topology.cores);
    assert_int_equal(json_integer_value(json_object_get(found, "numa_nodes")), topology.numa_nodes);
    assert_int_equal(json_integer_value(json_object_get(found, "memory_bytes")), topology.memory_bytes);
    json_decref(document);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_clock_never_runs_backwards),
    cmocka_unit_test(the_clock_counts_seconds),
    cmocka_unit_test(the_topology_agrees_with_the_scheduler),
    cmocka_unit_test(a_limit_of_address_space_is_a_limit_of_memory),
    cmocka_unit_test(the_topology_is_read_where_the_thread_is),
    cmocka_unit_test(threads_are_divided_between_numa_nodes_by_their_cores),
    cmocka_unit_test(a_process_bound_to_one_hardware_thread_sees_one_core),
    cmocka_unit_test(a_thread_is_bound_to_each_core_in_turn),
    cmocka_unit_test(a_core_that_is_not_there_is_refused),
    cmocka_unit_test(the_description_is_json_with_the_promised_keys),
};

UNIT_MAIN(tests, state_start, state_end)
