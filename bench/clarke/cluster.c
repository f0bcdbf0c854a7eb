#include "clarke/cluster.h"

#include <math.h>

static const double core_operations_per_cycle = 3.6, call_seconds = 1e-5;
static const clarke_card t10 = {"T10", 60e9, 4e9, 3e9, 1e-4}, c2050 = {"C2050", 250e9, 2.6e9, 3e9, 1e-4};

/* Nodes of a kind, by the number of their cores in use.  Each node of Adonis has a card, and some have no other device. */
typedef struct kind {
    const char *name;
    double core_hz, memory_bytes;
    bool cards;
    int nodes_by_cores[9];
} kind;

static const kind adonis = {"Adonis", 2.4e9, 22e9, true, {2, 1, 1, 1, 1, 1, 2, 3, 0}};
static const kind edel = {"Edel", 2.3e9, 22e9, false, {0, 6, 4, 4, 4, 8, 8, 8, 8}};
static const kind genepi = {"Genepi", 2.5e9, 7.5e9, false, {0, 3, 3, 3, 3, 4, 4, 4, 4}};

static const clarke_network infiniband = {3e-6, 1.5e9};

double clarke_block_bytes(void) { return CLARKE_BLOCK * CLARKE_BLOCK * 8.0; }
double clarke_block_operations(void) { return 2.0 * CLARKE_BLOCK * CLARKE_BLOCK * CLARKE_BLOCK; }

static void add(clarke_cluster *cluster, const kind *of, int cores, const clarke_card *card)
{
    cluster->nodes[cluster->num_nodes] = (clarke_node){.kind = of->name,
                                                       .cores = cores,
                                                       .processor = cores * of->core_hz * core_operations_per_cycle,
                                                       .memory_bytes = of->memory_bytes,
                                                       .card = card};
    cluster->devices[cluster->num_nodes++] = (cores > 0) + (card != NULL);
}

void clarke_grenoble(clarke_cluster *cluster)
{
    static const kind *const kinds[] = {&adonis, &edel, &genepi};
    int cards = 0;
    *cluster = (clarke_cluster){.network = infiniband};
    for (int k = 0; k < 3; k++)
        for (int cores = 0; cores <= 8; cores++)
            for (int n = 0; n < kinds[k]->nodes_by_cores[cores]; n++) {
                const bool sixth = kinds[k]->cards && cards++ % 6 == 5; /* 2 of 12 have the faster card */
                add(cluster, kinds[k], cores, !kinds[k]->cards ? NULL : sixth ? &c2050 : &t10);
            }
}

void clarke_eight(clarke_cluster *cluster)
{
    *cluster = (clarke_cluster){.network = infiniband};
    add(cluster, &adonis, 0, &t10);
    add(cluster, &adonis, 4, &t10);
    add(cluster, &adonis, 7, &c2050);
    add(cluster, &edel, 2, NULL);
    add(cluster, &edel, 5, NULL);
    add(cluster, &edel, 8, NULL);
    add(cluster, &genepi, 3, NULL);
    add(cluster, &genepi, 8, NULL);
}

static double processor_seconds(const clarke_node *on, double blocks, double node_blocks)
{
    double beyond = fmax(0, 3 * node_blocks * clarke_block_bytes() - on->memory_bytes);
    return call_seconds + blocks * clarke_block_operations() / on->processor + 0.1 * beyond / 0.1e9;
}

static double card_seconds(const clarke_card *of, double blocks)
{
    double beyond = fmax(0, blocks * clarke_block_bytes() - of->memory_bytes);
    return of->call_seconds + blocks * clarke_block_operations() / of->operations_per_s + 2 * beyond / of->bus_bytes_per_s;
}

void clarke_work(const clarke_cluster *all, const int64_t *rows, const int64_t *columns, double *seconds)
{
    for (int64_t i = 0, k = 0; i < all->num_nodes; k += all->devices[i], i++) {
        const clarke_node *on = &all->nodes[i];
        double blocks[2] = {0, 0};
        for (int64_t j = 0; j < all->devices[i]; j++) blocks[j] = (double)(rows[i] * columns[k + j]);
        for (int64_t j = 0; j < all->devices[i]; j++)
            seconds[k + j] =
                j == 0 && on->processor > 0 ? processor_seconds(on, blocks[j], blocks[0] + blocks[1]) : card_seconds(on->card, blocks[j]);
    }
}

void clarke_limits(const clarke_cluster *all, double stated, double *node_blocks, double *device_blocks)
{
    for (int64_t i = 0, k = 0; i < all->num_nodes; i++) {
        const clarke_node *on = &all->nodes[i];
        const bool processor = on->processor > 0;
        node_blocks[i] = processor ? stated * on->memory_bytes / (3 * clarke_block_bytes()) : 0;
        if (processor) device_blocks[k++] = 0;
        if (on->card) device_blocks[k++] = stated * on->card->memory_bytes / clarke_block_bytes();
    }
}

/* Time for a part of the pivot column and one of the pivot row.  Over all steps, a node has its own share of these itself. */
static double message_seconds(const clarke_cluster *all, int64_t rows, int64_t columns)
{
    const double side = (double)all->blocks, own_column = (double)columns / side, own_row = (double)rows / side;
    const double blocks = (double)rows * (1 - own_column) + (double)columns * (1 - own_row), messages = 2 - own_column - own_row;
    return messages * all->network.latency_s + blocks * clarke_block_bytes() / all->network.bytes_per_s;
}

yoke_status clarke_step(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    const clarke_cluster *all = user;
    clarke_work(all, rows, columns, seconds);
    for (int64_t i = 0, k = 0; i < all->num_nodes && !all->work_only; k += all->devices[i], i++) {
        int64_t width = 0;
        for (int64_t j = 0; j < all->devices[i]; j++) width += columns[k + j];
        for (int64_t j = 0; j < all->devices[i]; j++) seconds[k + j] += message_seconds(all, rows[i], width);
    }
    return YOKE_OK;
}
