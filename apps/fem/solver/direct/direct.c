#include "solver/direct/direct.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "solver/direct/node_graph.h"
#include "space/gathering.h"

struct fem_direct {
    yoke_context *context;
    app_ranks *ranks;         /* of the space */
    fem_gathering *gathering; /* NULL on one rank */
    const fem_space *space;   /* this and constraints: of the whole mesh, until the factor exists; NULL on ranks other than 0 */
    const fem_constraints *constraints;
    int64_t dofs, own_dofs; /* of the whole mesh, and of this rank */
    fem_cholesky_cost cost;
    int64_t *row_start; /* [num_nodes + 1] graph of the nodes, until the matrix exists */
    int32_t *column;
    fem_cholesky *cholesky;
    double *b, *x; /* [num_nodes][components] of the whole mesh */
    double *own;   /* [own_dofs]; NULL on one rank */
};

void fem_direct_destroy(fem_direct *direct)
{
    if (!direct) return;
    fem_cholesky_destroy(direct->cholesky);
    yoke_release(direct->context, direct->row_start);
    yoke_release(direct->context, direct->column);
    yoke_release(direct->context, direct->b);
    yoke_release(direct->context, direct->x);
    yoke_release(direct->context, direct->own);
    fem_gathering_destroy(direct->gathering);
    yoke_release(direct->context, direct);
}

/* --------------------------------------------------------------------------------------------------------- graph */

static fem_cholesky_graph graph_of(const fem_direct *direct)
{
    return (fem_cholesky_graph){.num_nodes = direct->space->num_nodes,
                                .components = direct->space->components,
                                .row_start = direct->row_start,
                                .column = direct->column,
                                .prescribed = direct->constraints->prescribed};
}

/* Gathers the whole mesh on rank 0, where it replaces the rank's own part. */
static yoke_status gather(const fem_space *space, fem_direct *direct)
{
    yoke_status status = app_ranks_agree(space->ranks, yoke_allocate(direct->context, direct->own_dofs, sizeof(double), &direct->own));
    if (!status) status = fem_gathering_create(space, &direct->gathering);
    direct->space = status ? NULL : direct->gathering->whole;
    direct->constraints = status ? NULL : direct->gathering->constraints;
    return status;
}

static yoke_status analyze(fem_direct *direct)
{
    direct->dofs = (int64_t)direct->space->num_nodes * direct->space->components;
    yoke_status status = fem_node_graph_create(direct->space, &direct->row_start, &direct->column);
    if (status) return status;
    const fem_cholesky_graph graph = graph_of(direct);
    status = fem_cholesky_analyze(direct->context, &graph, &direct->cholesky);
    if (!status) direct->cost = fem_cholesky_get_cost(direct->cholesky);
    return status;
}

yoke_status fem_direct_analyze(const fem_space *space, const fem_constraints *constraints, fem_direct **out)
{
    fem_direct *direct = NULL;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *direct, &direct);
    status = app_ranks_agree(space->ranks, status);
    if (status) {
        yoke_release(space->context, direct);
        return status;
    }
    *direct = (fem_direct){.context = space->context,
                           .ranks = space->ranks,
                           .space = space,
                           .constraints = constraints,
                           .own_dofs = (int64_t)space->num_nodes * space->components};
    if (space->ranks) status = gather(space, direct);
    if (!status && direct->space) status = analyze(direct);
    status = app_ranks_agree(space->ranks, status);
    if (status) {
        fem_direct_destroy(direct);
        return status;
    }
    app_ranks_broadcast(space->ranks, &direct->cost, sizeof direct->cost);
    *out = direct;
    return YOKE_OK;
}

fem_cholesky_cost fem_direct_cost(const fem_direct *direct) { return direct->cost; }

/* -------------------------------------------------------------------------------------------------------- memory */

/* Returns the memory that the kernel estimates to be available without swapping; infinity if it does not report it. */
static double available_bytes(void)
{
    char line[256];
    double kilobytes = INFINITY;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lf", &kilobytes) != 1) {
    }
    if (file) fclose(file);
    return 1024 * kilobytes;
}

/* Returns the resident memory of this process; 0 if the system does not report it. */
static double resident_bytes(void)
{
    double pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*f %lf", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

double fem_direct_left_bytes(yoke_context *context, double memory_bytes)
{
    yoke_topology topology;
    if (memory_bytes > 0) return memory_bytes;
    const double available = available_bytes();
    return yoke_topology_get(context, &topology) ? available : fmin(available, (double)topology.memory_bytes - resident_bytes());
}

int fem_direct_fits(const fem_direct *direct, double memory_bytes, double *left_bytes)
{
    *left_bytes = fem_direct_left_bytes(direct->context, memory_bytes);
    app_ranks_broadcast(direct->ranks, left_bytes, sizeof *left_bytes);
    return direct->cost.bytes <= *left_bytes;
}

static yoke_status check_memory(const fem_direct *direct, double memory_bytes)
{
    const double left_bytes = fem_direct_left_bytes(direct->context, memory_bytes);
    if (direct->cost.bytes <= left_bytes) return YOKE_OK;
    const fem_cholesky_cost cost = fem_direct_cost(direct);
    return yoke_fail(
        direct->context, YOKE_ERROR_MEMORY,
        "preconditioner direct: the Cholesky factor of %lld unknowns needs about %.2g GB, and %.2g GB are available: take a coarser "
        "mesh, a machine with more memory, or solver.preconditioner multigrid",
        (long long)cost.unknowns, cost.bytes * 1e-9, left_bytes * 1e-9);
}

/* ------------------------------------------------------------------------------------------------------ assembly */

static void add_element(int32_t element, const double *packed, void *user)
{
    const fem_direct *direct = user;
    const fem_space *space = direct->space;
    const int n = space->components;
    const int32_t *nodes = space->element_nodes + space->slots * (int64_t)element;
    for (int s = 0, row = 0; s < space->slots; s++) { /* row, column: number of the slot among those that carry a node */
        if (nodes[s] < 0) continue;
        for (int t = 0, column = 0; t <= s; t++) {
            if (nodes[t] < 0) continue;
            double block[9];
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    const int a = row * n + i, b = column * n + j, high = a > b ? a : b, low = a > b ? b : a;
                    block[i * n + j] = packed[high * (high + 1) / 2 + low];
                }
            }
            fem_cholesky_add(direct->cholesky, nodes[s], nodes[t], block);
            column++;
        }
        row++;
    }
}

/* The decompositions' subdomains may be on any device and do not keep element matrices, so they are computed here. */
static yoke_status assemble(fem_direct *direct, double memory_bytes)
{
    const fem_subdomain_options options = {.precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    const fem_cholesky_graph graph = graph_of(direct);
    yoke_status status = fem_cholesky_begin(direct->cholesky, &graph);
    yoke_release(direct->context, direct->row_start);
    yoke_release(direct->context, direct->column);
    direct->row_start = NULL;
    direct->column = NULL;
    if (!status) {
        direct->cost = fem_cholesky_get_cost(direct->cholesky); /* the need is now known exactly */
        status = check_memory(direct, memory_bytes);
    }
    if (status) return status;
    fem_subdomain *subdomain;
    status = fem_subdomain_cpu_create(direct->space, direct->constraints, &options, &subdomain);
    if (status) return status;
    status = subdomain->call->visit_matrices(subdomain, add_element, direct);
    subdomain->call->destroy(subdomain);
    return status;
}

/* Reports the next stage to the hooks, and fails if the user has interrupted the run. */
static yoke_status announce(const fem_direct *direct, const fem_hooks *hooks, const char *what)
{
    char line[160];
    const fem_cholesky_cost cost = fem_direct_cost(direct);
    if (!hooks) return YOKE_OK;
    snprintf(line, sizeof line, "%s %lld unknowns, %.2g operations, %.2g GB", what, (long long)cost.unknowns, cost.operations,
             cost.bytes * 1e-9);
    if (hooks->working) hooks->working(line, hooks->user);
    if (hooks->interrupted && hooks->interrupted(hooks->user))
        return yoke_fail(direct->context, YOKE_ERROR_INTERRUPTED, "interrupted at the factorisation");
    return YOKE_OK;
}

static yoke_status factorize(fem_direct *direct, double memory_bytes, const fem_hooks *hooks)
{
    yoke_status status = check_memory(direct, memory_bytes);
    if (!status) status = announce(direct, hooks, "assembling");
    if (!status) status = assemble(direct, memory_bytes);
    if (!status) status = announce(direct, hooks, "factoring");
    if (!status) status = fem_cholesky_factorize(direct->cholesky, omp_get_max_threads());
    if (!status) status = announce(direct, hooks, "factored");
    if (!status) status = yoke_allocate(direct->context, direct->dofs, sizeof(double), &direct->b);
    if (!status) status = yoke_allocate(direct->context, direct->dofs, sizeof(double), &direct->x);
    return status;
}

yoke_status fem_direct_factorize(fem_direct *direct, double memory_bytes, const fem_hooks *hooks)
{
    if (!direct->ranks) return factorize(direct, memory_bytes, hooks);
    yoke_status status = app_ranks_agree(direct->ranks, direct->space ? factorize(direct, memory_bytes, NULL) : YOKE_OK);
    if (!status) app_ranks_broadcast(direct->ranks, &direct->cost, sizeof direct->cost);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- inverse */

static yoke_status apply_gathered(fem_direct *direct, const fem_vector *r, fem_vector *z)
{
    fem_vector_read(r, direct->own);
    fem_gathering_collect(direct->gathering, direct->own, direct->b);
    yoke_status status = direct->space ? fem_cholesky_solve(direct->cholesky, direct->b, direct->x) : YOKE_OK;
    status = app_ranks_agree(direct->ranks, status);
    if (status) return status;
    fem_gathering_spread(direct->gathering, direct->x, direct->own);
    fem_vector_write(z, direct->own);
    return YOKE_OK;
}

static yoke_status apply(void *state, const fem_vector *r, double norm_r, fem_vector *z)
{
    fem_direct *direct = state;
    (void)norm_r;
    if (direct->ranks) return apply_gathered(direct, r, z);
    fem_vector_read(r, direct->b);
    yoke_status status = fem_cholesky_solve(direct->cholesky, direct->b, direct->x);
    if (!status) fem_vector_write(z, direct->x);
    return status;
}

fem_approximate_inverse fem_direct_inverse(fem_direct *direct) { return (fem_approximate_inverse){apply, direct}; }

int64_t fem_direct_memory_bytes(const fem_direct *direct)
{
    const int64_t vectors = (int64_t)sizeof(double) * (2 * direct->dofs + (direct->ranks ? direct->own_dofs : 0));
    return vectors + (direct->cholesky ? fem_cholesky_memory_bytes(direct->cholesky) : 0);
}

void fem_direct_add_sent(const fem_direct *direct, int64_t *messages, int64_t *bytes)
{
    *messages += direct->gathering ? direct->gathering->num_messages : 0;
    *bytes += direct->gathering ? direct->gathering->num_bytes : 0;
}
