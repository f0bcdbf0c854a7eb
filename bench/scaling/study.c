#include "scaling/study.h"

#include <math.h>
#include <string.h>

#include "common/files/record.h"

/* Number of trees along a side of the cube, and number of ranks, which have equal parts except for the granularity of cuts. */
typedef struct size {
    int64_t trees, ranks;
} size;

enum { WEAK_DEPTH = 6, STRONG_DEPTH = 4, STRONG_TREES = 10 };
static const size weak[] = {{1, 10}, {2, 80}, {4, 640}, {5, 1250}, {7, 3430}, {10, 10000}};
static const size strong[] = {{STRONG_TREES, 10}, {STRONG_TREES, 100}, {STRONG_TREES, 1000}, {STRONG_TREES, 3000}, {STRONG_TREES, 10000}};

static scaling_mesh mesh_of(const scaling_row *row)
{
    const int depth = row->weak ? WEAK_DEPTH : STRONG_DEPTH;
    const int64_t in_all = row->elements >> 3 * depth;
    return (scaling_mesh){.trees = (int64_t)(cbrt((double)in_all) + 0.5), .depth = depth, .ranks = row->ranks};
}

static void add(const scaling_setting *setting, bool is_weak, int depth, size of, scaling_row *rows, int *count)
{
    if (of.ranks > setting->most_ranks) return;
    rows[(*count)++] = (scaling_row){.weak = is_weak, .ranks = of.ranks, .elements = of.trees * of.trees * of.trees << 3 * depth};
}

int scaling_rows(const scaling_setting *setting, scaling_row rows[SCALING_MAX_ROWS])
{
    int count = 0;
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++) add(setting, true, WEAK_DEPTH, weak[i], rows, &count);
    for (size_t i = 0; i < sizeof strong / sizeof *strong; i++) add(setting, false, STRONG_DEPTH, strong[i], rows, &count);
    return count;
}

static double alone_s(const scaling_machine *machine, double elements) { return elements * (machine->fine_s + machine->coarse_s * 8 / 7); }

yoke_status scaling_try(yoke_context *context, const scaling_setting *setting, scaling_row *row)
{
    scaling_mesh mesh = mesh_of(row);
    row->alone_s = alone_s(&setting->machine, row->weak ? (double)row->elements / (double)row->ranks : (double)row->elements);
    scaling_formula(&setting->network, &setting->machine, &setting->solver, (double)row->elements, row->ranks, &row->terms);
    row->is_simulated = row->ranks <= setting->most_simulated;
    if (!row->is_simulated) return YOKE_OK;
    return scaling_simulate(context, &setting->network, &setting->machine, &setting->solver, &mesh, setting->noise, &row->simulated);
}

static double efficiency(const scaling_row *row, double seconds) { return row->alone_s / (row->weak ? 1 : (double)row->ranks) / seconds; }

double scaling_efficiency(const scaling_row *row) { return efficiency(row, row->terms.total_s); }

double scaling_simulated_efficiency(const scaling_row *row)
{
    return row->is_simulated ? efficiency(row, row->simulated.iteration_s) : NAN;
}

/* ---------------------------------------------------------------------------------------------------- records */

/* Seconds of a product divided by the elements, for the slowest part. */
static double element_of(const json_t *parts)
{
    double slowest = NAN;
    for (size_t i = 0; i < json_array_size(parts); i++)
        slowest = fmax(slowest, app_json_read_number(json_array_get(parts, i), "seconds_per_element"));
    return slowest;
}

static int take(const json_t *record, scaling_measured *m)
{
    const json_t *steps = json_object_get(record, "steps");
    const json_t *step = json_array_get(steps, json_array_size(steps) > 0 ? json_array_size(steps) - 1 : 0);
    const json_t *sent = json_object_get(step, "messages");
    const char *preconditioner = json_string_value(json_object_get(step, "preconditioner"));
    const double ranks = app_json_read_number(record, "ranks"), elements = app_json_read_number(step, "elements"),
                 iterations = app_json_read_number(step, "iterations");
    m->components = json_is_null(json_object_get(step, "max_von_mises_pa")) ? 1 : 3;
    m->element_s = element_of(json_object_get(step, "parts"));
    m->iteration_s = app_json_read_number(json_object_get(step, "seconds"), "solve") / iterations;
    m->messages = app_json_read_number(sent, "per_iteration");
    m->bytes = app_json_read_number(sent, "bytes_per_iteration");
    m->most_messages = app_json_read_number(sent, "most_per_iteration");
    m->most_bytes = app_json_read_number(sent, "most_bytes_per_iteration");
    if (!preconditioner || strcmp(preconditioner, "multigrid") != 0) return 0;
    if (!(ranks >= 1 && ranks <= 1e6) || !(elements >= 1 && elements <= 1e15) || !(iterations >= 1 && iterations <= 1e9)) return 0;
    m->ranks = (int64_t)ranks;
    m->elements = (int64_t)elements;
    m->iterations = (int64_t)iterations;
    return m->iteration_s > 0 && m->element_s > 0 && isfinite(m->messages) && isfinite(m->bytes);
}

yoke_status scaling_read(yoke_context *context, const char *path, scaling_measured *measured)
{
    json_error_t error;
    json_t *record = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!record) return yoke_fail(context, YOKE_ERROR_INPUT, "%s: %s", path, error.text);
    *measured = (scaling_measured){.path = path};
    const int taken = take(record, measured);
    json_decref(record);
    if (taken) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INPUT, "%s: expected run.json of yoke fem, whose last step multigrid has solved", path);
}

void scaling_compare(const scaling_setting *setting, int64_t cores, scaling_measured *measured, int count)
{
    const scaling_measured *one = NULL;
    double of_one = 1; /* its seconds divided by those of the setting */
    for (int i = count - 1; i >= 0; i--)
        if (measured[i].ranks == 1) one = &measured[i];
    if (one) of_one = one->iteration_s / alone_s(&setting->machine, (double)one->elements);
    for (int i = 0; i < count; i++) {
        scaling_measured *m = &measured[i];
        const double share = m->ranks > cores ? (double)m->ranks / (double)cores : 1;
        const double slower = of_one * (one ? m->element_s / one->element_s : 1);
        const scaling_machine machine = {setting->machine.fine_s * slower * share, setting->machine.coarse_s * slower * share};
        scaling_formula(&setting->network, &machine, &setting->solver, (double)m->elements, m->ranks, &m->terms);
        m->terms.bytes *= m->components / 3.0; /* the formula is for elasticity */
        m->terms.most_bytes *= m->components / 3.0;
        const double alone = m->terms.last_s / share; /* rank 0 then has a core to itself */
        m->terms.total_s += alone - m->terms.last_s;
        m->terms.last_s = alone;
    }
}
