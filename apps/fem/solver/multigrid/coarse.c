/* multigrid/coarse.c - the last level's solver: a kept one, or a new one by coarse.h from the assembled matrix. */
#include "solver/direct/node_graph.h"
#include "solver/multigrid/private.h"

static yoke_status make_pattern(multigrid_assembly *a)
{
    const int64_t nodes = a->space->num_nodes, n = a->space->components;
    yoke_status status = fem_node_graph_create(a->space, &a->row_start, &a->column);
    if (!status) status = yoke_allocate(a->space->context, a->row_start[nodes] * n * n, sizeof(double), &a->value);
    return status;
}

static void add_element(int32_t element, const double *packed, void *user)
{
    const multigrid_assembly *a = user;
    const int n = a->space->components;
    const int32_t *nodes = a->space->element_nodes + 8 * (int64_t)element;
    for (int s = 0; s < 8; s++) {
        for (int t = 0; t < 8; t++) {
            int64_t at = a->row_start[a->row ? a->row[nodes[s]] : nodes[s]];
            while (a->column[at] != fem_space_global_node(a->space, nodes[t])) at++;
            double *block = a->value + at * n * n;
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    int row = s * n + i, column = t * n + j;
                    block[i * n + j] += row >= column ? packed[row * (row + 1) / 2 + column] : packed[column * (column + 1) / 2 + row];
                }
            }
        }
    }
}

yoke_status multigrid_add_elements(const multigrid_level *last, multigrid_assembly *a)
{
    /* the level's own decomposition uses single precision, which is not enough for a factorisation */
    fem_subdomain_options options = {.precision = FEM_DOUBLE, .operator_kind = FEM_MATRIXFREE};
    fem_subdomain *subdomain;
    yoke_status status = fem_subdomain_cpu_create(last->space, last->constraints, &options, &subdomain);
    if (status) return status;
    status = subdomain->call->visit_matrices(subdomain, add_element, a);
    subdomain->call->destroy(subdomain);
    return status;
}

static yoke_status assemble_and_create(fem_multigrid *m, const multigrid_level *last)
{
    const fem_space *space = last->space;
    multigrid_assembly a = {.space = space};
    yoke_status status = make_pattern(&a);
    if (!status) status = multigrid_add_elements(last, &a);
    const fem_coarse_matrix matrix = {.num_nodes = space->num_nodes,
                                      .components = space->components,
                                      .row_start = a.row_start,
                                      .column = a.column,
                                      .value = a.value,
                                      .x = space->x,
                                      .prescribed = last->constraints->prescribed};
    const fem_coarse_method method = multigrid_is_algebraic(m) ? FEM_COARSE_AMG : FEM_COARSE_AUTO;
    if (!status) status = fem_coarse_create(m->context, method, &matrix, &m->coarse);
    yoke_release(m->context, a.row_start);
    yoke_release(m->context, a.column);
    yoke_release(m->context, a.value);
    return status;
}

yoke_status multigrid_create_coarse(fem_multigrid *m)
{
    const multigrid_level *last = &m->level[m->num_levels - 1];
    fem_coarse_keeper *keeper = m->options.keeper;
    if (!keeper) return assemble_and_create(m, last);
    m->coarse = fem_coarse_keeper_find(keeper, last->space, last->constraints);
    if (m->coarse) return YOKE_OK;
    yoke_status status = fem_coarse_keeper_start(keeper, last->space, last->constraints);
    if (!status) status = assemble_and_create(m, last);
    if (!status) fem_coarse_keeper_keep(keeper, m->coarse);
    return status;
}
