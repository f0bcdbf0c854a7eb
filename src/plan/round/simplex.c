/*
 * simplex.c - the primal simplex method with an explicit inverse, for some hundreds of rows.
 */
#include "plan/round/simplex.h"

#include <math.h>
#include <string.h>

static const double least_gain = 1e-9, least_pivot = 1e-9;

yoke_status plan_simplex_create(yoke_context *context, int most_rows, int most_columns, int most_entries, plan_simplex *simplex)
{
    const int64_t rows = most_rows, columns = most_columns, all = columns * most_entries;
    *simplex = (plan_simplex){.context = context, .most_rows = most_rows, .most_columns = most_columns, .most_entries = most_entries};
    const struct {
        int64_t count;
        size_t size;
        void *pointer; /* its address */
    } blocks[] = {{columns, sizeof(double), &simplex->costs},
                  {columns, sizeof(int), &simplex->entries},
                  {all, sizeof(int), &simplex->row_of},
                  {all, sizeof(double), &simplex->values},
                  {rows, sizeof(int), &simplex->basis},
                  {columns, sizeof(int), &simplex->place},
                  {rows * rows, sizeof(double), &simplex->inverse},
                  {rows, sizeof(double), &simplex->x},
                  {rows, sizeof(double), &simplex->multipliers},
                  {rows, sizeof(double), &simplex->entering}};
    yoke_status status = YOKE_OK;
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0] && status == YOKE_OK; k++)
        status = yoke_allocate_memory(context, blocks[k].count, blocks[k].size, 1, blocks[k].pointer);
    return status;
}

void plan_simplex_destroy(plan_simplex *simplex)
{
    void *const blocks[] = {simplex->costs, simplex->entries, simplex->row_of, simplex->values,      simplex->basis,
                            simplex->place, simplex->inverse, simplex->x,      simplex->multipliers, simplex->entering};
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) yoke_release(simplex->context, blocks[k]);
}

void plan_simplex_start(plan_simplex *simplex, int rows, const double *b)
{
    simplex->rows = rows;
    simplex->columns = 0;
    memset(simplex->inverse, 0, (size_t)rows * (size_t)rows * sizeof(double));
    for (int r = 0; r < rows; r++) {
        simplex->inverse[r * rows + r] = 1;
        simplex->basis[r] = r;
        simplex->x[r] = b[r];
    }
}

int plan_simplex_add(plan_simplex *simplex, double cost, int entries, const int *rows, const double *values)
{
    const int column = simplex->columns;
    if (column == simplex->most_columns) return -1;
    simplex->columns++;
    simplex->costs[column] = cost;
    simplex->entries[column] = entries;
    simplex->place[column] = column < simplex->rows ? column : -1;
    memcpy(simplex->row_of + (int64_t)column * simplex->most_entries, rows, (size_t)entries * sizeof *rows);
    memcpy(simplex->values + (int64_t)column * simplex->most_entries, values, (size_t)entries * sizeof *values);
    return column;
}

/* Expresses the entering column in terms of the basis. */
static void find_entering(plan_simplex *simplex, int column)
{
    const int rows = simplex->rows;
    const int *row = simplex->row_of + (int64_t)column * simplex->most_entries;
    const double *value = simplex->values + (int64_t)column * simplex->most_entries;
    for (int r = 0; r < rows; r++) {
        const double *inverse = simplex->inverse + (int64_t)r * rows;
        double sum = 0;
        for (int k = 0; k < simplex->entries[column]; k++) sum += inverse[row[k]] * value[k];
        simplex->entering[r] = sum;
    }
}

static void exchange(plan_simplex *simplex, int column, int at)
{
    const int rows = simplex->rows;
    double *restrict pivot = simplex->inverse + (int64_t)at * rows;
    const double scale = 1 / simplex->entering[at];
    for (int k = 0; k < rows; k++) pivot[k] *= scale;
    simplex->x[at] *= scale;
    for (int r = 0; r < rows; r++) {
        const double factor = simplex->entering[r];
        double *restrict row = simplex->inverse + (int64_t)r * rows;
        if (r == at || factor == 0) continue;
        for (int k = 0; k < rows; k++) row[k] -= factor * pivot[k];
        simplex->x[r] -= factor * simplex->x[at];
    }
    simplex->place[simplex->basis[at]] = -1;
    simplex->place[column] = at;
    simplex->basis[at] = column;
}

void plan_simplex_force(plan_simplex *simplex, int column, int row)
{
    if (simplex->place[column] >= 0) return;
    find_entering(simplex, column);
    if (fabs(simplex->entering[row]) > least_pivot) exchange(simplex, column, row);
}

static void find_multipliers(plan_simplex *simplex)
{
    const int rows = simplex->rows;
    double *restrict multipliers = simplex->multipliers;
    for (int k = 0; k < rows; k++) multipliers[k] = 0;
    for (int r = 0; r < rows; r++) {
        const double cost = simplex->costs[simplex->basis[r]], *inverse = simplex->inverse + (int64_t)r * rows;
        if (cost == 0) continue;
        for (int k = 0; k < rows; k++) multipliers[k] += cost * inverse[k];
    }
}

/* The column with the most negative reduced cost; -1: none. */
static int best_column(const plan_simplex *simplex)
{
    int best = -1;
    double least = -least_gain;
    for (int c = 0; c < simplex->columns; c++) {
        const int *row = simplex->row_of + (int64_t)c * simplex->most_entries;
        const double *value = simplex->values + (int64_t)c * simplex->most_entries;
        double cost = simplex->costs[c];
        if (simplex->place[c] >= 0) continue;
        for (int k = 0; k < simplex->entries[c]; k++) cost -= simplex->multipliers[row[k]] * value[k];
        if (cost >= least) continue;
        least = cost;
        best = c;
    }
    return best;
}

/* The row whose basic variable first becomes 0; of equal ones, that with the largest pivot.  -1: none. */
static int first_to_leave(const plan_simplex *simplex)
{
    int best = -1;
    double least = INFINITY;
    for (int r = 0; r < simplex->rows; r++) {
        if (!(simplex->entering[r] > least_pivot)) continue;
        const double ratio = fmax(simplex->x[r], 0) / simplex->entering[r];
        if (ratio > least || (ratio == least && simplex->entering[r] <= simplex->entering[best])) continue;
        least = ratio;
        best = r;
    }
    return best;
}

int plan_simplex_solve(plan_simplex *simplex, int most_steps)
{
    int step = 0;
    for (; step < most_steps; step++) {
        find_multipliers(simplex);
        const int column = best_column(simplex);
        if (column < 0) return step;
        find_entering(simplex, column);
        const int row = first_to_leave(simplex);
        if (row < 0) return step;
        exchange(simplex, column, row);
    }
    find_multipliers(simplex);
    return step;
}

double plan_simplex_cost(const plan_simplex *simplex)
{
    double sum = 0;
    for (int r = 0; r < simplex->rows; r++) sum += simplex->costs[simplex->basis[r]] * simplex->x[r];
    return sum;
}
