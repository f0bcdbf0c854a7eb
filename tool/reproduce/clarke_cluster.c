/*
 * clarke_cluster.c - the experiment of Table 1.3 and Figure 1.10 with simulated nodes.
 *
 * The chapter does not print the speeds of its nodes.  These are made of what is known of the hardware: a core does 90 % of 4 double operations in a
 * cycle; a Tesla T10 does 60 and a C2050 250 GFLOPS in products of matrices, transfers included, while C fits its memory of 4 and 2.6 GB (with error
 * correction); blocks beyond are carried there and back in every step at 3 GB/s.  A node's processor slows down where the node's parts of three
 * matrices exceed its memory: what is beyond is paged at 0.1 GB/s, a tenth of it in every step.  Communication is free.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reproduce/clarke.h"

enum { MAX_NODES = 90, BLOCK = 128 };

static const double block_bytes = BLOCK * BLOCK * 8.0, block_operations = 2.0 * BLOCK * BLOCK * BLOCK;
static const double core_operations_per_cycle = 3.6, call_seconds = 1e-5;

typedef struct card {
    double operations_per_s, memory_bytes, bus_bytes_per_s, call_seconds;
} card;

static const card t10 = {60e9, 4e9, 3e9, 1e-4}, c2050 = {250e9, 2.6e9, 3e9, 1e-4};

/* Some nodes of a kind; those of Adonis have a card each, and two of them no other device. */
static const struct kind {
    double core_hz, memory_bytes;
    bool cards;
    int nodes_by_cores[9];
} kinds[] = {
    {2.4e9, 22e9, true, {2, 1, 1, 1, 1, 1, 2, 3, 0}},
    {2.3e9, 22e9, false, {0, 6, 4, 4, 4, 8, 8, 8, 8}},
    {2.5e9, 7.5e9, false, {0, 3, 3, 3, 3, 4, 4, 4, 4}},
};

typedef struct node {
    double processor; /* operations/s; 0: not used */
    double memory_bytes;
    const card *card; /* NULL: none */
} node;

typedef struct cluster {
    int64_t num_nodes, devices[MAX_NODES];
    node nodes[MAX_NODES];
} cluster;

static void make(cluster *all)
{
    *all = (cluster){0};
    int cards = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int cores = 0; cores <= 8; cores++)
            for (int n = 0; n < kinds[k].nodes_by_cores[cores]; n++) {
                node *made = &all->nodes[all->num_nodes];
                made->processor = cores * kinds[k].core_hz * core_operations_per_cycle;
                made->memory_bytes = kinds[k].memory_bytes;
                if (kinds[k].cards) made->card = cards++ % 6 == 5 ? &c2050 : &t10; /* 2 of 12 */
                all->devices[all->num_nodes++] = (cores > 0) + (made->card != NULL);
            }
}

static double processor_seconds(const node *on, double blocks, double node_blocks)
{
    double beyond = fmax(0, 3 * node_blocks * block_bytes - on->memory_bytes);
    return call_seconds + blocks * block_operations / on->processor + 0.1 * beyond / 0.1e9;
}

static double card_seconds(const card *of, double blocks)
{
    double beyond = fmax(0, blocks * block_bytes - of->memory_bytes);
    return of->call_seconds + blocks * block_operations / of->operations_per_s + 2 * beyond / of->bus_bytes_per_s;
}

/* A yoke_plan_kernel. */
static yoke_status step(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    const cluster *all = user;
    for (int64_t i = 0, k = 0; i < all->num_nodes; k += all->devices[i], i++) {
        const node *on = &all->nodes[i];
        double blocks[2] = {0, 0};
        for (int64_t j = 0; j < all->devices[i]; j++) blocks[j] = (double)(rows[i] * columns[k + j]);
        for (int64_t j = 0; j < all->devices[i]; j++)
            seconds[k + j] =
                j == 0 && on->processor > 0 ? processor_seconds(on, blocks[j], blocks[0] + blocks[1]) : card_seconds(on->card, blocks[j]);
    }
    return YOKE_OK;
}

/* Table 1.3's nodes do a product of matrices of so many blocks: one line. */
static yoke_status run(reproduce_report *report, cluster *all, int64_t blocks)
{
    char text[4][48];
    double fpm_part = 0;
    long long rounds = 0;
    for (int strategy = YOKE_NESTED_FPM; strategy <= YOKE_NESTED_HOMOGENEOUS; strategy++) {
        const yoke_nested_options options = {.blocks = blocks,
                                             .num_nodes = all->num_nodes,
                                             .devices = all->devices,
                                             .strategy = (yoke_nested_strategy)strategy,
                                             .kernel = step,
                                             .user = all};
        yoke_nested_plan *plan = NULL;
        yoke_status status = yoke_plan_nested(reproduce_context(report), &options, &plan);
        if (status != YOKE_OK) return status;
        double longest = 0;
        for (int64_t i = 0; i < all->num_nodes; i++) longest = fmax(longest, plan->node_s[i]);
        double operations = (double)blocks * (double)blocks * block_operations;
        snprintf(text[strategy], sizeof text[strategy], "%6.3f (%4.0f %%)", operations / longest / 1e12, 100 * plan->imbalance);
        if (strategy == YOKE_NESTED_FPM) {
            fpm_part = plan->measuring_s / (longest * (double)blocks);
            rounds = plan->rounds;
        }
        yoke_release(reproduce_context(report), plan);
    }
    reproduce_print(report, "  %7lld %17s %17s %17s %17s %8lld %9.2f %%", (long long)blocks * BLOCK, text[YOKE_NESTED_FPM],
                    text[YOKE_NESTED_MULTIPLE_CPM], text[YOKE_NESTED_SINGLE_CPM], text[YOKE_NESTED_HOMOGENEOUS], rounds, 100 * fpm_part);
    return YOKE_OK;
}

yoke_status clarke_cluster(reproduce_report *report)
{
    static const int64_t sizes[] = {235, 352, 469, 586, 703, 820, 969, 1055, 1172};
    cluster *all = malloc(sizeof *all);
    if (all == NULL) return yoke_fail(reproduce_context(report), YOKE_ERROR_MEMORY, "out of memory for 90 nodes");
    make(all);
    reproduce_section(
        report, "Clarke and others, Figure 1.10, on simulated nodes like those of Table 1.3: TFLOPS (imbalance of nodes)",
        "The chapter prints no numbers, and no speeds of its nodes: speeds here are assumed (tool/reproduce/clarke_cluster.c). What is to "
        "be "
        "seen is the order. Even shares run at the pace of the slowest node. Constant models hold until a card's memory is full; then the "
        "single one takes the speeds of another size, and the multiple one, of whose 20 rounds the fastest counts, does not settle. "
        "Functional models stay balanced. Rounds are theirs; measuring is what they cost, of the time of one product.");
    reproduce_print(report, "  %7s %17s %17s %17s %17s %8s %11s", "N", "functional", "multiple constant", "single constant", "even",
                    "rounds", "measuring");
    yoke_status status = YOKE_OK;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] && status == YOKE_OK; k++) status = run(report, all, sizes[k]);
    free(all);
    return status;
}
