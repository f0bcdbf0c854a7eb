#include "fem/elements.h"

static int64_t row(int64_t i) { return i * (i + 1) / 2; }

/* ---------------------------------------------------------------------------------------------------- tables */

/* Slots without a node (serendipity elements) are omitted, as in the matrices. */
static void list_nodes(const fem_space *space, fem_bench_elements *made)
{
    for (int32_t e = 0; e < space->num_elements; e++) {
        int32_t *node = made->node + (int64_t)e * made->nodes, *place = made->place + (int64_t)e * made->nodes;
        const int32_t *slot = space->element_nodes + (int64_t)e * space->slots;
        int count = 0;
        for (int s = 0; s < space->slots; s++)
            if (slot[s] >= 0) node[count++] = slot[s];
        for (int i = 0; i < count; i++) {
            place[i] = 0;
            for (int j = 0; j < count; j++) place[i] += node[j] < node[i];
        }
    }
}

/* Sorts the places in `node` by node (counting sort). */
static void list_entries(fem_bench_elements *made)
{
    int64_t count = (int64_t)made->elements * made->nodes;
    for (int64_t i = 0; i < count; i++) made->first[made->node[i] + 1]++;
    for (int32_t n = 0; n < made->num_nodes; n++) made->first[n + 1] += made->first[n];
    for (int64_t i = 0; i < count; i++) made->entry[made->first[made->node[i]]++] = (int32_t)i;
    for (int32_t n = made->num_nodes; n > 0; n--) made->first[n] = made->first[n - 1];
    made->first[0] = 0;
}

/*
 * In each round, a colour gets those remaining elements, in their order, that share no node with an element of the colour. stamp
 * [num_nodes]: the last round in which a node was used; left [elements]: scratch.
 */
static void colour(fem_bench_elements *made, int32_t *stamp, int32_t *left)
{
    int32_t remaining = made->elements, done = 0;
    for (int32_t e = 0; e < remaining; e++) left[e] = e;
    for (made->colours = 0; remaining > 0; made->colours++) {
        int32_t kept = 0;
        for (int32_t k = 0; k < remaining; k++) {
            const int32_t *node = made->node + (int64_t)left[k] * made->nodes;
            int taken = 0;
            for (int i = 0; i < made->nodes; i++) taken |= stamp[node[i]] == made->colours + 1;
            if (taken) {
                left[kept++] = left[k];
                continue;
            }
            for (int i = 0; i < made->nodes; i++) stamp[node[i]] = made->colours + 1;
            made->order[done++] = left[k];
        }
        remaining = kept;
        made->colour_first[made->colours + 1] = done;
    }
}

static yoke_status make_colours(fem_bench_elements *made)
{
    yoke_context *context = made->context;
    int32_t *stamp = NULL, *left = NULL;
    yoke_status status = yoke_allocate(context, made->num_nodes, sizeof *stamp, &stamp);
    if (!status) status = yoke_allocate(context, made->elements, sizeof *left, &left);
    if (!status) status = yoke_allocate(context, made->elements, sizeof(int32_t), &made->order);
    if (!status) status = yoke_allocate(context, (int64_t)made->elements + 1, sizeof(int32_t), &made->colour_first);
    if (!status) colour(made, stamp, left);
    yoke_release(context, stamp);
    yoke_release(context, left);
    return status;
}

static yoke_status make_tables(const fem_space *space, fem_bench_elements *made)
{
    yoke_context *context = made->context;
    int64_t count = (int64_t)made->elements * made->nodes;
    yoke_status status = yoke_allocate(context, count, sizeof(int32_t), &made->node);
    if (!status) status = yoke_allocate(context, count, sizeof(int32_t), &made->place);
    if (!status) status = yoke_allocate(context, count, sizeof(int32_t), &made->entry);
    if (!status) status = yoke_allocate(context, (int64_t)made->num_nodes + 1, sizeof(int32_t), &made->first);
    if (status) return status;
    list_nodes(space, made);
    list_entries(made);
    return make_colours(made);
}

/* -------------------------------------------------------------------------------------------------- matrices */

static void keep_matrix(int32_t element, const double *packed, void *user)
{
    fem_bench_elements *made = user;
    const int32_t *place = made->place + (int64_t)element * made->nodes;
    const int n = made->components, m = made->nodes * n;
    double *to = made->store + (int64_t)element * fem_bench_packed(made);
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++) {
            int64_t a = place[i / n] * n + i % n, b = place[j / n] * n + j % n;
            to[a > b ? row(a) + b : row(b) + a] = packed[row(i) + j];
        }
}

/* Uses a subdomain that stores the matrices, because its set-up computes them with all threads of the device. */
static yoke_status make_matrices(const fem_space *space, const fem_constraints *constraints, const fem_device *host,
                                 fem_bench_elements *made)
{
    const fem_subdomain_options options = {
        .device = host->device, .queue = host->queue, .precision = FEM_DOUBLE, .operator_kind = FEM_STORED};
    fem_subdomain *subdomain = NULL;
    yoke_status status =
        yoke_allocate_untouched(made->context, made->elements, (size_t)fem_bench_packed(made) * sizeof(double), &made->store);
    if (!status) status = fem_subdomain_cpu_create(space, constraints, &options, &subdomain);
    if (status) return status;
    status = subdomain->call->visit_matrices(subdomain, keep_matrix, made);
    subdomain->call->destroy(subdomain);
    return status;
}

yoke_status fem_bench_elements_create(const fem_space *space, const fem_constraints *constraints, const fem_device *host,
                                      fem_bench_elements **elements)
{
    fem_bench_elements *made = NULL;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *made, &made);
    if (status) return status;
    *made = (fem_bench_elements){.context = space->context,
                                 .elements = space->num_elements,
                                 .num_nodes = space->num_nodes,
                                 .nodes = space->element == FEM_S2 ? 20 : space->slots,
                                 .components = space->components};
    status = make_tables(space, made);
    if (!status) status = make_matrices(space, constraints, host, made);
    if (status)
        fem_bench_elements_destroy(made);
    else
        *elements = made;
    return status;
}

void fem_bench_elements_destroy(fem_bench_elements *elements)
{
    if (!elements) return;
    yoke_release(elements->context, elements->node);
    yoke_release(elements->context, elements->place);
    yoke_release(elements->context, elements->store);
    yoke_release(elements->context, elements->first);
    yoke_release(elements->context, elements->entry);
    yoke_release(elements->context, elements->order);
    yoke_release(elements->context, elements->colour_first);
    yoke_release(elements->context, elements);
}
