#include "solver/direct.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "solver/node_graph.h"

struct fem_direct {
    yoke_context *context;
    const fem_space *space; /* this and the next until the factor is there */
    const fem_constraints *constraints;
    int64_t dofs;
    int64_t *row_start; /* [num_nodes + 1] the graph of the nodes, until the matrix is there */
    int32_t *column;
    fem_cholesky *cholesky;
    double *b, *x; /* [num_nodes][components] */
};

void fem_direct_destroy(fem_direct *direct)
{
    if (!direct) return;
    fem_cholesky_destroy(direct->cholesky);
    yoke_release(direct->context, direct->row_start);
    yoke_release(direct->context, direct->column);
    yoke_release(direct->context, direct->b);
    yoke_release(direct->context, direct->x);
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

yoke_status fem_direct_analyze(const fem_space *space, const fem_constraints *constraints, fem_direct **out)
{
    fem_direct *direct;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *direct, &direct);
    if (status) return status;
    direct->context = space->context;
    direct->space = space;
    direct->constraints = constraints;
    direct->dofs = (int64_t)space->num_nodes * space->components;
    status = fem_node_graph_create(space, &direct->row_start, &direct->column);
    if (!status) {
        const fem_cholesky_graph graph = graph_of(direct);
        status = fem_cholesky_analyze(space->context, &graph, &direct->cholesky);
    }
    if (status)
        fem_direct_destroy(direct);
    else
        *out = direct;
    return status;
}

fem_cholesky_cost fem_direct_cost(const fem_direct *direct) { return fem_cholesky_get_cost(direct->cholesky); }

/* -------------------------------------------------------------------------------------------------------- memory */

/* What the kernel thinks can be had without swapping; infinite where it does not tell. */
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

/* What this process holds now; 0 where the system does not tell. */
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
    return fem_direct_cost(direct).bytes <= *left_bytes;
}

static yoke_status check_memory(const fem_direct *direct, double memory_bytes)
{
    double left_bytes;
    if (fem_direct_fits(direct, memory_bytes, &left_bytes)) return YOKE_OK;
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
    for (int s = 0, row = 0; s < space->slots; s++) { /* row, column: of the slots that carry a node */
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

/* The decompositions' subdomains may be on any device and keep no matrices: those of the elements are made here. */
static yoke_status assemble(fem_direct *direct, double memory_bytes)
{
    const fem_subdomain_options options = {.precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    const fem_cholesky_graph graph = graph_of(direct);
    yoke_status status = fem_cholesky_begin(direct->cholesky, &graph);
    yoke_release(direct->context, direct->row_start);
    yoke_release(direct->context, direct->column);
    direct->row_start = NULL;
    direct->column = NULL;
    if (!status) status = check_memory(direct, memory_bytes); /* now that the need is exactly known */
    if (status) return status;
    fem_subdomain *subdomain;
    status = fem_subdomain_cpu_create(direct->space, direct->constraints, &options, &subdomain);
    if (status) return status;
    status = subdomain->call->visit_matrices(subdomain, add_element, direct);
    subdomain->call->destroy(subdomain);
    return status;
}

/* Says what comes next, and whether it shall. */
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

yoke_status fem_direct_factorize(fem_direct *direct, double memory_bytes, const fem_hooks *hooks)
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

/* ------------------------------------------------------------------------------------------------------- inverse */

static yoke_status apply(void *state, const fem_vector *r, double norm_r, fem_vector *z)
{
    fem_direct *direct = state;
    (void)norm_r;
    fem_vector_read(r, direct->b);
    yoke_status status = fem_cholesky_solve(direct->cholesky, direct->b, direct->x);
    if (!status) fem_vector_write(z, direct->x);
    return status;
}

fem_approximate_inverse fem_direct_inverse(fem_direct *direct) { return (fem_approximate_inverse){apply, direct}; }

int64_t fem_direct_memory_bytes(const fem_direct *direct)
{
    return fem_cholesky_memory_bytes(direct->cholesky) + 2 * (int64_t)sizeof(double) * direct->dofs;
}
