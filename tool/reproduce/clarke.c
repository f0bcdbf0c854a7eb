/* clarke.c - Clarke and others, functional performance models: the tables of the chapter, and its remarks. */
#include <math.h>
#include <stdio.h>

#include "reproduce/clarke.h"

/* Table 1.2: seconds of the product of square matrices, by the number of blocks of 640 x 640. */
static const struct configuration {
    int blocks;
    double cpus_s, gpu_s, hybrid_s;
} table_12[] = {{40, 99.5, 74.2, 26.6}, {50, 195.4, 162.7, 77.8}, {60, 300.1, 316.8, 114.4}, {70, 491.6, 554.8, 226.1}};

enum { NUM_CONFIGURATIONS = sizeof table_12 / sizeof table_12[0] };

static double gflops(const struct configuration *c, double seconds) { return 2 * pow(640.0 * c->blocks, 3) / seconds / 1e9; }

static void add_configuration(reproduce_report *report, const struct configuration *c)
{
    char id[32], what[6][64];
    snprintf(id, sizeof id, "fpm.t12.%d", c->blocks);
    const struct {
        const char *part, *text, *unit;
        double value;
        const char *remark;
    } numbers[] = {
        {"speedup_vs_cpus", "speed-up of hybrid over 24 cores", NULL, c->cpus_s / c->hybrid_s, NULL},
        {"speedup_vs_gpu", "over GTX680 and a core", NULL, c->gpu_s / c->hybrid_s, NULL},
        {"gflops/0", "24 cores", "GFLOPS", gflops(c, c->cpus_s), NULL},
        {"gflops/1", "GTX680 and a core", "GFLOPS", gflops(c, c->gpu_s), NULL},
        {"gflops/2", "hybrid", "GFLOPS", gflops(c, c->hybrid_s), NULL},
        {"cpm_bound_s", "at the sum of these two rates", "s", 1 / (1 / c->cpus_s + 1 / c->gpu_s),
         c->blocks == 40
             ? "hybrid has a Tesla C870 besides; it is faster than the sum of the two rates also because smaller shares fit the "
               "GPUs' memories: speed is a function of size"
             : NULL},
    };
    for (int k = 0; k < 6; k++) {
        snprintf(what[k], sizeof what[k], "%d blocks: %s", c->blocks, numbers[k].text);
        reproduce_add(report, &(reproduce_row){.id = id,
                                               .part = numbers[k].part,
                                               .what = what[k],
                                               .unit = numbers[k].unit,
                                               .published = NAN,
                                               .recomputed = numbers[k].value,
                                               .kind = REPRODUCE_UNCHECKED,
                                               .reason = "from the printed seconds; no speed and no speed-up is printed",
                                               .status = REPRODUCE_DERIVED,
                                               .remark = numbers[k].remark});
    }
}

static void add_table_12(reproduce_report *report)
{
    reproduce_section(report, "Clarke and others, Table 1.2: one node, from its measured seconds", NULL);
    for (int k = 0; k < NUM_CONFIGURATIONS; k++) add_configuration(report, &table_12[k]);
    const double n = 640.0 * table_12[0].blocks;
    reproduce_add(report, &(reproduce_row){
                              .id = "fpm.t12.mem",
                              .part = "C_MiB_single",
                              .what = "memory of C alone, 40 blocks, single precision",
                              .unit = "MiB",
                              .published = NAN,
                              .published_text = "below 2048",
                              .recomputed = n * n * 4 / 1048576,
                              .kind = REPRODUCE_NOT_EVALUATED,
                              .reason = "what is printed is a bound in words, which this number contradicts",
                              .status = REPRODUCE_INCONSISTENT,
                              .remark = "the text says that GTX680 is faster while the problem fits its memory; it is faster with 40 and "
                                        "50 blocks, where C alone does not fit: the turning point is between 50 and 60 blocks"});
    for (int k = 0; k < NUM_CONFIGURATIONS; k++) {
        char part[32], what[64];
        bool last = k == NUM_CONFIGURATIONS - 1;
        snprintf(part, sizeof part, "hybrid_gflops/%d", k);
        snprintf(what, sizeof what, "hybrid, %d blocks", table_12[k].blocks);
        reproduce_add(
            report, &(reproduce_row){.id = "fpm.t12.nonmonotone",
                                     .part = part,
                                     .what = what,
                                     .unit = "GFLOPS",
                                     .published = NAN,
                                     .recomputed = gflops(&table_12[k], table_12[k].hybrid_s),
                                     .kind = REPRODUCE_UNCHECKED,
                                     .reason = "from the printed seconds; no speed is printed",
                                     .status = REPRODUCE_UNDETERMINED,
                                     .remark = last ? "the speed with 50 blocks is out of line: noise, or an edge of a partition" : NULL});
    }
}

/* Table 1.3: nodes by the number of cores used, 0 to 8. */
static const struct cluster {
    const char *name;
    int nodes_by_cores[9], nodes, cores;
} table_13[] = {
    {"Adonis", {2, 1, 1, 1, 1, 1, 2, 3, 0}, 12, 48},
    {"Edel", {0, 6, 4, 4, 4, 8, 8, 8, 8}, 50, 250},
    {"Genepi", {0, 3, 3, 3, 3, 4, 4, 4, 4}, 28, 134},
};

static void add_table_13(reproduce_report *report)
{
    reproduce_section(report, "Clarke and others, Table 1.3 and section 1.9: the cluster", NULL);
    for (size_t k = 0; k < sizeof table_13 / sizeof table_13[0]; k++) {
        char id[32], what[64];
        int nodes = 0, cores = 0;
        for (int c = 0; c <= 8; c++) {
            nodes += table_13[k].nodes_by_cores[c];
            cores += c * table_13[k].nodes_by_cores[c];
        }
        snprintf(id, sizeof id, "fpm.t13.%s", table_13[k].name);
        snprintf(what, sizeof what, "%s: nodes", table_13[k].name);
        reproduce_row row = {
            .id = id, .part = "nodes", .what = what, .published = table_13[k].nodes, .recomputed = nodes, .status = REPRODUCE_MATCHES};
        row.kind = REPRODUCE_PUBLISHED, row.by = "sum of the row", row.because = REPRODUCE_EXACT;
        reproduce_add(report, &row);
        snprintf(what, sizeof what, "%s: CPU cores", table_13[k].name);
        row.part = "cpus";
        row.published = table_13[k].cores;
        row.recomputed = cores;
        reproduce_add(report, &row);
    }
    const double n = 1.5e5;
    reproduce_add(report, &(reproduce_row){.id = "fpm.mem_05TB",
                                           .what = "three matrices of N = 150,000 in double precision",
                                           .unit = "TB",
                                           .published = 0.5,
                                           .recomputed = 3 * n * n * 8 / 1e12,
                                           .kind = REPRODUCE_PUBLISHED,
                                           .by = "3 N^2 x 8 bytes",
                                           .absolute = 0.05,
                                           .because = REPRODUCE_DIGITS,
                                           .status = REPRODUCE_MATCHES,
                                           .remark = "\"in excess of 0.5 TB\""});
    reproduce_add(report, &(reproduce_row){.id = "fpm.N124032",
                                           .what = "blocks of 128 along a side of N = 124,032",
                                           .published = 969,
                                           .recomputed = 124032 / 128.0,
                                           .kind = REPRODUCE_PUBLISHED,
                                           .by = "N / b",
                                           .because = REPRODUCE_EXACT,
                                           .status = REPRODUCE_MATCHES});
    reproduce_add_text(report, "fpm.outline_typos", "outlines of INPA and IDPA", NULL, NULL, "a text",
                       "the result d_i1 .. d_iq should be d_i1 .. d_ip_i; heights and widths sum to N/b blocks, not to N; the first point "
                       "of a node, one block, cannot be split over several devices: here it is one block on the fastest of them");
}

yoke_status reproduce_clarke(reproduce_report *report)
{
    add_table_12(report);
    add_table_13(report);
    yoke_status status = clarke_partitions(report);
    if (status == YOKE_OK) status = clarke_columns(report);
    if (status != YOKE_OK) return status;
    reproduce_section(report, "Clarke and others, Figure 1.10",
                      "The chapter prints no numbers of it: yoke bench clarke repeats the experiment on simulated nodes.");
    return YOKE_OK;
}
