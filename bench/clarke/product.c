#include "clarke/product.h"

#include <math.h>
#include <string.h>

/* A multiplication in progress. */
typedef struct product {
    const clarke_cluster *cluster;
    const yoke_nested_plan *plan;
    int64_t blocks, edge, side; /* side: numbers in a row */
    double *a, *b, *c;          /* [side][side]: data of all nodes, each in its rectangle */
} product;

/* Number of rows that two rectangles have in common. */
static int64_t common_rows(const yoke_rectangle *p, const yoke_rectangle *q)
{
    int64_t first = p->row > q->row ? p->row : q->row, pe = p->row + p->rows, qe = q->row + q->rows;
    int64_t last = pe < qe ? pe : qe;
    return last > first ? last - first : 0;
}

static int64_t common_columns(const yoke_rectangle *p, const yoke_rectangle *q)
{
    return common_rows(&(yoke_rectangle){.row = p->column, .rows = p->columns}, &(yoke_rectangle){.row = q->column, .rows = q->columns});
}

/* Numbers of blocks of a step's pivot column and pivot row that node j sends to node i. */
static int64_t column_blocks(const yoke_rectangle *nodes, int64_t i, int64_t j, int64_t step)
{
    return step >= nodes[j].column && step < nodes[j].column + nodes[j].columns ? common_rows(&nodes[i], &nodes[j]) : 0;
}

static int64_t row_blocks(const yoke_rectangle *nodes, int64_t i, int64_t j, int64_t step)
{
    return step >= nodes[j].row && step < nodes[j].row + nodes[j].rows ? common_columns(&nodes[i], &nodes[j]) : 0;
}

void clarke_communicate(const clarke_cluster *cluster, int64_t blocks, const yoke_rectangle *nodes, const double *node_s,
                        clarke_traffic *traffic)
{
    double alone = 0;
    *traffic = (clarke_traffic){0};
    for (int64_t i = 0; i < cluster->num_nodes; i++) alone = fmax(alone, node_s[i]);
    for (int64_t step = 0; step < blocks; step++) {
        double longest = 0;
        for (int64_t i = 0; i < cluster->num_nodes; i++) {
            int64_t messages = 0, received = 0;
            if (nodes[i].rows * nodes[i].columns == 0) continue;
            for (int64_t j = 0; j < cluster->num_nodes; j++) {
                if (j == i) continue;
                const int64_t of_column = column_blocks(nodes, i, j, step), of_row = row_blocks(nodes, i, j, step);
                messages += (of_column > 0) + (of_row > 0);
                received += of_column + of_row;
            }
            traffic->messages += messages;
            traffic->blocks += received;
            longest = fmax(longest, node_s[i] + (double)messages * cluster->network.latency_s +
                                        (double)received * clarke_block_bytes() / cluster->network.bytes_per_s);
        }
        traffic->seconds += longest;
    }
    traffic->communication_s = traffic->seconds - (double)blocks * alone;
}

/* Checks that every block of C belongs to exactly one node, and the columns of a node to its devices. */
static yoke_status check_cover(yoke_context *context, const product *all)
{
    int64_t area = 0;
    for (int64_t i = 0; i < all->cluster->num_nodes; i++) {
        const yoke_rectangle *r = &all->plan->nodes[i];
        int64_t columns = 0;
        for (int64_t j = 0; j < all->cluster->devices[i]; j++) columns += all->plan->device_columns[i][j];
        if (columns != r->columns && r->rows > 0)
            return yoke_fail(context, YOKE_ERROR_INTERNAL, "devices of node %lld have %lld columns of %lld", (long long)i,
                             (long long)columns, (long long)r->columns);
        area += r->rows * r->columns;
        for (int64_t j = 0; j < i; j++)
            if (common_rows(r, &all->plan->nodes[j]) > 0 && common_columns(r, &all->plan->nodes[j]) > 0)
                return yoke_fail(context, YOKE_ERROR_INTERNAL, "nodes %lld and %lld have blocks in common", (long long)j, (long long)i);
    }
    if (area == all->blocks * all->blocks) return YOKE_OK;
    return yoke_fail(context, YOKE_ERROR_INTERNAL, "the nodes have %lld blocks of %lld", (long long)area,
                     (long long)(all->blocks * all->blocks));
}

/*
 * Copies what node i needs in a step from the nodes that have it: the pivots for its rows [rows][edge] and for its columns [edge][columns].
 */
static void receive(const product *all, int64_t i, int64_t step, double *of_a, double *of_b, clarke_traffic *sent)
{
    const yoke_rectangle *nodes = all->plan->nodes, *to = &nodes[i];
    const int64_t edge = all->edge, side = all->side, width = to->columns * edge;
    for (int64_t j = 0; j < all->cluster->num_nodes; j++) {
        const int64_t rows = column_blocks(nodes, i, j, step), columns = row_blocks(nodes, i, j, step);
        const int64_t row = to->row > nodes[j].row ? to->row : nodes[j].row,
                      column = to->column > nodes[j].column ? to->column : nodes[j].column;
        for (int64_t r = 0; r < rows * edge; r++)
            memcpy(of_a + ((row - to->row) * edge + r) * edge, all->a + (row * edge + r) * side + step * edge, (size_t)edge * sizeof *of_a);
        for (int64_t r = 0; r < (columns > 0 ? edge : 0); r++)
            memcpy(of_b + r * width + (column - to->column) * edge, all->b + (step * edge + r) * side + column * edge,
                   (size_t)(columns * edge) * sizeof *of_b);
        if (j == i) continue;
        sent->messages += (rows > 0) + (columns > 0);
        sent->blocks += rows + columns;
    }
}

/* C = C + (pivot column) (pivot row), for the columns of one device. */
static void update(const product *all, const yoke_rectangle *to, int64_t first, int64_t columns, const double *of_a, const double *of_b)
{
    const int64_t edge = all->edge, width = to->columns * edge;
    for (int64_t r = 0; r < to->rows * edge; r++) {
        double *c = all->c + (to->row * edge + r) * all->side + to->column * edge;
        for (int64_t k = 0; k < edge; k++) {
            const double factor = of_a[r * edge + k];
#pragma omp simd
            for (int64_t q = first * edge; q < (first + columns) * edge; q++) c[q] += factor * of_b[k * width + q];
        }
    }
}

/* Performs all steps of a node.  Other nodes do not change what it receives, so the nodes can be processed one after another. */
static yoke_status work(yoke_context *context, const product *all, int64_t i, clarke_traffic *sent)
{
    const yoke_rectangle *to = &all->plan->nodes[i];
    if (to->rows * to->columns == 0) return YOKE_OK;
    const int64_t numbers_a = to->rows * all->edge * all->edge, numbers_b = to->columns * all->edge * all->edge;
    double *of_a = NULL;
    yoke_status status = yoke_allocate(context, numbers_a + numbers_b, sizeof *of_a, &of_a);
    if (status) return status;
    for (int64_t step = 0; step < all->blocks; step++) {
        int64_t first = 0;
        memset(of_a, 0, (size_t)(numbers_a + numbers_b) * sizeof *of_a);
        receive(all, i, step, of_a, of_a + numbers_a, sent);
        for (int64_t j = 0; j < all->cluster->devices[i]; first += all->plan->device_columns[i][j], j++)
            update(all, to, first, all->plan->device_columns[i][j], of_a, of_a + numbers_a);
    }
    yoke_release(context, of_a);
    return YOKE_OK;
}

/* Integers from -4 to 3, determined by the seed. */
static void fill(double *numbers, int64_t count, uint64_t seed)
{
    uint64_t state = seed;
    for (int64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        numbers[i] = (double)(state >> 61) - 4;
    }
}

static void apply(int64_t side, const double *matrix, const double *x, double *y)
{
    for (int64_t r = 0; r < side; r++) {
        y[r] = 0;
        for (int64_t q = 0; q < side; q++) y[r] += matrix[r * side + q] * x[q];
    }
}

int64_t clarke_wrong(int64_t side, const double *a, const double *b, const double *c, double *memory)
{
    double *x = memory, *bx = x + side, *abx = bx + side, *cx = abx + side;
    int64_t wrong = 0;
    for (uint64_t trial = 0; trial < 2; trial++) {
        fill(x, side, 77 + trial);
        for (int64_t r = 0; r < side; r++) /* a 0 would hide its column */
            if (x[r] == 0) x[r] = 5;
        apply(side, b, x, bx);
        apply(side, a, bx, abx);
        apply(side, c, x, cx);
        for (int64_t r = 0; r < side; r++) wrong += abx[r] != cx[r];
    }
    return wrong;
}

yoke_status clarke_multiply(yoke_context *context, const clarke_cluster *cluster, int64_t blocks, int64_t edge,
                            const yoke_nested_plan *plan, int64_t *wrong, clarke_traffic *sent)
{
    product all = {.cluster = cluster, .plan = plan, .blocks = blocks, .edge = edge, .side = blocks * edge};
    const int64_t numbers = all.side * all.side;
    double *memory = NULL;
    yoke_status status = check_cover(context, &all);
    if (!status) status = yoke_allocate(context, 3 * numbers + 4 * all.side, sizeof *memory, &memory);
    if (status) return status;
    all.a = memory, all.b = memory + numbers, all.c = memory + 2 * numbers;
    *sent = (clarke_traffic){0};
    fill(all.a, numbers, 1);
    fill(all.b, numbers, 2);
    for (int64_t i = 0; i < cluster->num_nodes && !status; i++) status = work(context, &all, i, sent);
    if (!status) *wrong = clarke_wrong(all.side, all.a, all.b, all.c, memory + 3 * numbers);
    yoke_release(context, memory);
    return status;
}
