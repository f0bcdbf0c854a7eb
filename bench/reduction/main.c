/* yoke-bench-reduction, started by `yoke bench reduction`. */
#define _GNU_SOURCE /* sched_setaffinity */

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>

#include "common/console/interrupt.h"
#include "common/console/numbers.h"
#include "common/console/options.h"
#include "common/console/program.h"
#include "common/files/directory.h"
#include "common/files/file.h"
#include "common/files/record.h"
#include "reduction/output.h"

enum { MAX_THREADS = 1024, MAX_REPEATS = 1000, TRIAD_NUMBERS = 10000000, TRIAD_REPEATS = 8 };

typedef struct command_line {
    int64_t elements, threads, repeats, cores;
    double seconds;
    reduction_order order;
    const char *seconds_text, *order_text, *directory, *json;
} command_line;

/* Data common to all measurements. */
typedef struct bench {
    yoke_context *context;
    app_terminal *terminal;
    const command_line *line;
    reduction_results *results;
    cpu_set_t allowed;             /* processors that this process may use */
    double *y, *reference, *times; /* [dofs], [dofs], [METHODS][repeats] */
} bench;

/* The sequence 1, 2, 4, ..., most; 0 at the end. */
static int next_threads(int threads, int64_t most)
{
    if (threads >= most) return 0;
    return 2 * threads < most ? 2 * threads : (int)most;
}

/* Also sorts the times. */
static double median(int64_t count, double *times)
{
    app_sort(times, count);
    return count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
}

/* Binds the calling thread to one of these processors.  Linux numbers processors of different cores first. */
static int bind_thread(const cpu_set_t *allowed, int64_t number)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed) && number-- == 0) CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ? 0 : errno;
}

/*
 * Binds each thread of the following parallel regions to a core of its own, if there are enough cores.  If binding is refused, only the
 * times are affected.
 */
static void bind_threads(const bench *b, int threads)
{
    int error = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        int refused = bind_thread(&b->allowed, t % b->line->cores);
#pragma omp critical
        if (refused) error = refused;
    }
    if (error) app_print(b->terminal, "threads cannot be bound to cores: %s\n", strerror(error));
}

/* ---------------------------------------------------------------------------------------------------- triad */

/* Best of several runs, with bytes as stated by the program: 24 for each element. */
static yoke_status measure_triad(bench *b, int threads)
{
    void *memory = NULL;
    yoke_status status = yoke_allocate_untouched(b->context, 3 * (int64_t)TRIAD_NUMBERS, sizeof(double), &memory);
    if (status) return status;
    bind_threads(b, threads);
    double *x = memory, *y = x + TRIAD_NUMBERS, *z = y + TRIAD_NUMBERS, best = INFINITY;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int i = 0; i < TRIAD_NUMBERS; i++) x[i] = 0, y[i] = 1, z[i] = 2;
    for (int r = 0; r < TRIAD_REPEATS; r++) {
        double start = yoke_clock_s();
#pragma omp parallel for simd schedule(static) num_threads(threads)
        for (int i = 0; i < TRIAD_NUMBERS; i++) x[i] = y[i] + 3 * z[i];
        best = fmin(best, yoke_clock_s() - start);
    }
    yoke_release(b->context, memory);
    reduction_results *results = b->results;
    results->triad[results->num_triads].threads = threads;
    results->triad[results->num_triads].bytes_per_s = 24.0 * TRIAD_NUMBERS / best;
    app_print(b->terminal, "triad, %d thread%s: %.1f GB/s\n", threads, threads > 1 ? "s" : "",
              1e-9 * results->triad[results->num_triads].bytes_per_s);
    results->num_triads++;
    return app_interrupt_check(b->context);
}

static double triad_of(const reduction_results *results, int threads)
{
    for (int i = 0; i < results->num_triads; i++)
        if (results->triad[i].threads == threads) return results->triad[i].bytes_per_s;
    return NAN;
}

/* -------------------------------------------------------------------------------------------- element vectors */

/* All methods; the last seven are LOCKS with 1, 4, ... 4096 locks. */
enum { METHODS = 12, FIRST_LOCKS = 5 };

static reduction_row row_of(const reduction_work *work, int k, int threads)
{
    static const reduction_kind kinds[] = {REDUCTION_UNSYNCHRONISED, REDUCTION_PRIVATE, REDUCTION_SWAP, REDUCTION_COLOURS,
                                           REDUCTION_OWNERS};
    reduction_row row = {.product = work->vectors == NULL, .threads = threads};
    row.kind = k < FIRST_LOCKS ? kinds[k] : REDUCTION_LOCKS;
    row.num_locks = k < FIRST_LOCKS ? 0 : (int64_t)1 << 2 * (k - FIRST_LOCKS);
    return row;
}

/* Repeats passes for the minimum time, and returns the seconds of a pass.  Checks the result. */
static yoke_status time_once(bench *b, const reduction_method *method, reduction_row *row, double *seconds_of_pass)
{
    const int64_t dofs = b->results->nodes * NODE_DOFS;
    int64_t passes = 0, wrong;
    double start = yoke_clock_s(), seconds;
    do {
        reduction_add(method, b->y);
        passes++;
        seconds = yoke_clock_s() - start;
    } while (seconds < b->line->seconds && !app_interrupted());
    *seconds_of_pass = seconds / (double)passes;
    row->error = fmax(row->error, reduction_error(dofs, b->y, b->reference, &wrong));
    row->wrong = wrong > row->wrong ? wrong : row->wrong;
    if (row->wrong > 0 && row->kind != REDUCTION_UNSYNCHRONISED)
        return yoke_fail(b->context, YOKE_ERROR_INTERNAL, "%s with %d threads: %lld dofs differ from the reference, by up to %.1e",
                         reduction_name(row->kind), row->threads, (long long)row->wrong, row->error);
    return app_interrupt_check(b->context);
}

/* Alternates between the methods, so that changes of the machine affect all of them.  The first round warms up. */
static yoke_status time_in_turns(bench *b, const reduction_method *methods, reduction_row *rows)
{
    const int64_t repeats = b->line->repeats;
    double seconds;
    for (int64_t r = -1; r < repeats; r++)
        for (int k = 0; k < METHODS; k++) {
            yoke_status status = time_once(b, &methods[k], &rows[k], &seconds);
            if (status) return status;
            if (r >= 0) b->times[k * repeats + r] = seconds;
            app_progress(b->terminal, "%d threads: %lld of %lld", rows[k].threads, (long long)r + 1, (long long)repeats);
        }
    for (int k = 0; k < METHODS; k++) {
        rows[k].seconds = median(repeats, b->times + k * repeats);
        rows[k].min_s = b->times[k * repeats];
        rows[k].max_s = b->times[(k + 1) * repeats - 1];
        rows[k].addition_s = rows[k].min_s / (double)(b->results->elements * ELEMENT_DOFS);
    }
    return YOKE_OK;
}

static yoke_status measure_methods(bench *b, const reduction_work *work, int threads)
{
    reduction_method methods[METHODS];
    reduction_row *rows = &b->results->row[b->results->num_rows];
    yoke_status status = YOKE_OK;
    int made = 0;
    while (!status && made < METHODS) {
        rows[made] = row_of(work, made, threads);
        status = reduction_method_create(work, rows[made].kind, rows[made].num_locks, threads, &methods[made]);
        if (!status) made++;
    }
    if (!status) {
        bind_threads(b, threads);
        status = time_in_turns(b, methods, rows);
    }
    while (made > 0) reduction_method_release(&methods[--made]);
    if (!status) b->results->num_rows += METHODS;
    return status;
}

/* Computes the ratios of the rows from `first` on to the unsynchronised rows among them. */
static void compare(reduction_results *results, int first, bool product)
{
    const double bytes = (double)results->elements * (ELEMENT_DOFS * sizeof(double) + ELEMENT_NODES * sizeof(int32_t)) +
                         (double)(results->nodes * NODE_DOFS) * sizeof(double);
    for (int i = first; i < results->num_rows; i++) {
        reduction_row *row = &results->row[i];
        for (int j = first; j < results->num_rows; j++) {
            const reduction_row *other = &results->row[j];
            if (other->kind != REDUCTION_UNSYNCHRONISED) continue;
            if (other->threads == row->threads) row->unsynchronised = row->min_s / other->min_s;
            if (other->threads == 1) row->speedup = other->min_s / row->min_s;
        }
        row->triad = product ? NAN : bytes / row->min_s / triad_of(results, row->threads);
    }
}

static yoke_status measure_vectors(bench *b, const reduction_mesh *mesh, bool product)
{
    reduction_results *results = b->results;
    reduction_work work;
    const int first = results->num_rows;
    yoke_status status = reduction_work_create(mesh, product, &work);
    if (status) return status;
    reduction_reference(&work, b->reference);
    for (int threads = 1; !status && threads; threads = next_threads(threads, b->line->threads))
        status = measure_methods(b, &work, threads);
    reduction_work_release(&work);
    if (status) return status;
    compare(results, first, product);
    reduction_print_head(b->terminal, product);
    for (int i = first; i < results->num_rows; i++) reduction_print_row(b->terminal, &results->row[i]);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------ synthetic test */

/* Doubles the number of additions until they take the minimum time, and measures them. */
static yoke_status time_synthetic(bench *b, synthetic_row *row)
{
    int64_t additions = 1000, sum = 0;
    double seconds = 0;
    while (synthetic_run(row->kind, row->threads, additions, row->work, &seconds, &sum),
           seconds < b->line->seconds && additions < 1000000000)
        additions *= seconds < b->line->seconds / 16 ? 8 : 2;
    for (int64_t r = 0; r < b->line->repeats; r++) {
        synthetic_run(row->kind, row->threads, additions, row->work, &seconds, &sum);
        const double all = (double)additions * row->threads;
        b->times[r] = seconds / all;
        row->lost = fmax(row->lost, 1 - (double)sum / all);
        if (row->kind != SYNTHETIC_UNSYNCHRONISED && sum != additions * row->threads)
            return yoke_fail(b->context, YOKE_ERROR_INTERNAL, "%s with %d threads: %lld additions gave %lld", synthetic_name(row->kind),
                             row->threads, (long long)(additions * row->threads), (long long)sum);
        yoke_status status = app_interrupt_check(b->context);
        if (status) return status;
    }
    (void)median(b->line->repeats, b->times);
    row->addition_s = b->times[0];
    return YOKE_OK;
}

static yoke_status measure_synthetic(bench *b)
{
    static const int64_t works[] = {0, 10, 30, 100, 200, 400, 800};
    reduction_results *results = b->results;
    double work_s[sizeof works / sizeof works[0]] = {0}; /* private additions on one thread, minus those without work */
    for (int threads = 1; threads; threads = next_threads(threads, b->line->threads)) {
        bind_threads(b, threads);
        for (size_t w = 0; w < sizeof works / sizeof works[0]; w++)
            for (int k = 0; k < NUM_SYNTHETIC; k++) {
                synthetic_row *row = &results->synthetic[results->num_synthetic];
                *row = (synthetic_row){.kind = (synthetic_kind)k, .threads = threads, .work = works[w]};
                app_progress(b->terminal, "%s, %d threads, work %lld", synthetic_name(row->kind), threads, (long long)works[w]);
                yoke_status status = time_synthetic(b, row);
                if (status) return status;
                if (threads == 1 && k == SYNTHETIC_PRIVATE && w > 0)
                    work_s[w] = fmax(0, row->addition_s - results->synthetic[0].addition_s);
                row->work_s = work_s[w];
                results->num_synthetic++;
            }
    }
    reduction_print_synthetic(b->terminal, results);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- program */

static const app_column columns[] = {
    {"method", "how threads avoid writing to one place at the same time"},
    {"threads", "of the pass"},
    {"ms", "minimum time of a pass over all elements"},
    {"med max", "how far the median and the longest time are above it"},
    {"ns/add", "time over additions (81 for each element)"},
    {"/unsync", "time over that without synchronisation, whose result is wrong with several threads"},
    {"/triad", "minimum bytes over time, over the bandwidth of the triad"},
    {"speed-up", "against the unsynchronised pass on one thread"},
    {"result", "largest relative difference from a serial reference"},
    {"work, work ns", "in the last table: dependent integer operations before each addition, and the time that they take alone"},
    {0},
};

static yoke_status parse(yoke_context *context, app_terminal *terminal, int argc, char **argv, command_line *line, bool *answered)
{
    const app_option options[] = {
        {.name = "elements",
         .value = "N",
         .help = "number of hexahedra with 27 nodes, 81 dofs each; by default 125000",
         .number = &line->elements,
         .minimum = 1,
         .maximum = 2000000},
        {.name = "threads",
         .value = "N",
         .help = "measure with 1, 2, 4, ... N threads; by default up to one for each core",
         .number = &line->threads,
         .minimum = 1,
         .maximum = MAX_THREADS},
        {.name = "order",
         .value = "NAME",
         .help = "order of elements and nodes: morton (as in yoke fem; the default), rows, random",
         .text = &line->order_text},
        {.name = "repeats",
         .value = "N",
         .help = "measurements of each; by default 5",
         .number = &line->repeats,
         .minimum = 1,
         .maximum = MAX_REPEATS},
        {.name = "seconds", .value = "S", .help = "minimum length of a measurement; by default 0.05", .text = &line->seconds_text},
        app_option_out(&line->directory, "where data and figure go; by default out/bench-reduction"),
        app_option_json(&line->json),
        app_option_quiet(&terminal->quiet),
        {0},
    };
    const app_usage usage = {
        .program = terminal->program,
        .operands = "",
        .summary = "Adds vectors of finite elements into one global vector with several threads, in several ways (Lang's dissertation, "
                   "sect. 4.2).",
        .options = options,
        .columns = columns,
        .details = "Exit codes: 0 done, 1 failed while running (a wrong result too), 2 bad input, 130 or 143 interrupted.",
    };
    return app_options_parse(context, &usage, argc, argv, NULL, answered);
}

static yoke_status check_line(yoke_context *context, command_line *line)
{
    static const char *const orders[] = {"morton", "rows", "random"};
    yoke_status status = app_option_real(context, "seconds", line->seconds_text, 1e-9, 1000, &line->seconds);
    if (status) return status;
    int order = 0;
    while (order < 3 && line->order_text && strcmp(line->order_text, orders[order]) != 0) order++;
    if (order == 3) return yoke_fail(context, YOKE_ERROR_INPUT, "--order %s: expected morton, rows or random", line->order_text);
    line->order = (reduction_order)order;
    yoke_topology topology;
    status = yoke_topology_get(context, &topology);
    line->cores = status ? 1 : topology.cores;
    if (!status && line->threads == 0) line->threads = topology.cores < MAX_THREADS ? topology.cores : MAX_THREADS;
    if (!status) status = app_directory_make(context, line->directory);
    if (!status) status = app_file_check(context, line->json);
    return status;
}

static yoke_status measure(bench *b)
{
    reduction_mesh mesh = {.context = b->context};
    void *y = NULL, *reference = NULL, *times = NULL;
    yoke_status status = reduction_mesh_create(b->context, b->line->elements, b->line->order, &mesh);
    b->results->elements = mesh.elements;
    b->results->nodes = mesh.nodes;
    if (!status) status = yoke_allocate_untouched(b->context, mesh.nodes * NODE_DOFS, sizeof(double), &y);
    if (!status) status = yoke_allocate(b->context, mesh.nodes * NODE_DOFS, sizeof(double), &reference);
    if (!status) status = yoke_allocate(b->context, METHODS * b->line->repeats, sizeof(double), &times);
    b->y = y;
    b->reference = reference;
    b->times = times;
    if (!status) app_print(b->terminal, "%lld elements, %lld dofs\n", (long long)mesh.elements, (long long)mesh.nodes * NODE_DOFS);
    for (int threads = 1; !status && threads; threads = next_threads(threads, b->line->threads)) status = measure_triad(b, threads);
    if (!status) status = measure_vectors(b, &mesh, false);
    if (!status) status = measure_vectors(b, &mesh, true);
    if (!status) status = measure_synthetic(b);
    yoke_release(b->context, times);
    yoke_release(b->context, reference);
    yoke_release(b->context, y);
    reduction_mesh_release(&mesh);
    return status;
}

static yoke_status write_record(const bench *b, int argc, char **argv)
{
    json_t *record = NULL;
    yoke_status status = app_record_create(b->context, "yoke bench reduction", argc, argv, &record);
    if (!status) status = app_record_set(b->context, record, "elements", json_integer(b->results->elements));
    if (!status) status = app_record_set(b->context, record, "dofs", json_integer(b->results->nodes * NODE_DOFS));
    if (!status) status = app_record_set(b->context, record, "triad", reduction_triads_value(b->results));
    if (!status) status = app_record_set(b->context, record, "rows", reduction_rows_value(b->results));
    if (!status) status = app_record_set(b->context, record, "synthetic", reduction_synthetic_value(b->results));
    if (!status) status = app_record_write(b->context, record, b->line->json);
    json_decref(record);
    return status;
}

static yoke_status start(yoke_context *context, app_terminal *terminal, int argc, char **argv)
{
    command_line line = {.elements = 125000, .repeats = 5, .seconds = 0.05, .directory = "out/bench-reduction"};
    bool answered = false, drawn = false;
    void *results = NULL;
    yoke_status status = parse(context, terminal, argc, argv, &line, &answered);
    if (status || answered) return status;
    status = app_interrupt_catch(context);
    if (!status) status = check_line(context, &line);
    if (!status) status = yoke_allocate(context, 1, sizeof(reduction_results), &results);
    if (status) return status;
    bench b = {.context = context, .terminal = terminal, .line = &line, .results = results};
    if (sched_getaffinity(0, sizeof b.allowed, &b.allowed) != 0)
        return yoke_fail(context, YOKE_ERROR_SYSTEM, "the processors of this process cannot be asked for: %s", strerror(errno));
    status = measure(&b);
    if (!status) status = reduction_write(context, line.directory, b.results, &drawn);
    if (!status && line.json) status = write_record(&b, argc, argv);
    if (!status) app_print(terminal, "data%s in %s\n", drawn ? " and figure" : "", line.directory);
    yoke_release(context, results);
    return status;
}

int main(int argc, char **argv) { return app_program("yoke bench reduction", start, argc, argv); }
