/* peach_frequencies.c - Table VII of the PEACH paper: the best shares for all frequencies of processor and GPU. */
#include <math.h>
#include <stdio.h>

#include "reproduce/peach.h"

const double peach_cpu_ghz[PEACH_CPU_FREQUENCIES] = {2.6, 2.4, 2.2, 2.0, 1.8, 1.6, 1.4, 1.2};
const double peach_gpu_mhz[PEACH_GPU_FREQUENCIES] = {705, 666, 640, 614};
const yoke_objective peach_aims[PEACH_AIMS] = {YOKE_OBJECTIVE_TIME, YOKE_OBJECTIVE_ENERGY};
static const char *const aim_names[PEACH_AIMS] = {"perf", "energy"};

#define ALL_ON_GPU                                                                \
    {                                                                             \
        {100, 1052, 3.23}, {100, 994, 3.18}, {100, 955, 3.15}, { 100, 916, 3.11 } \
    }

const peach_cell peach_table_7[PEACH_CPU_FREQUENCIES][PEACH_AIMS][PEACH_GPU_FREQUENCIES] = {
    {{{78, 1336, 2.58}, {78, 1275, 2.56}, {76, 1225, 2.47}, {76, 1206, 2.48}}, ALL_ON_GPU},
    {{{80, 1316, 2.69}, {80, 1243, 2.66}, {78, 1225, 2.60}, {78, 1175, 2.58}}, ALL_ON_GPU},
    {{{82, 1284, 2.80}, {80, 1243, 2.72}, {80, 1194, 2.70}, {80, 1145, 2.68}}, ALL_ON_GPU},
    {{{82, 1264, 2.85}, {82, 1212, 2.84}, {82, 1165, 2.82}, {80, 1138, 2.75}}, ALL_ON_GPU},
    {{{84, 1253, 3.00}, {84, 1184, 2.96}, {82, 1141, 2.88}, {82, 1118, 2.89}}, ALL_ON_GPU},
    {{{86, 1224, 3.13}, {86, 1156, 3.09}, {84, 1137, 3.05}, {84, 1091, 3.02}}, ALL_ON_GPU},
    {{{88, 1196, 3.27}, {86, 1151, 3.23}, {86, 1111, 3.20}, {86, 1066, 3.17}},
     {{88, 1196, 3.27}, {86, 1151, 3.23}, {86, 1111, 3.20}, {86, 1066, 3.17}}},
    {{{90, 1169, 3.42}, {88, 1130, 3.41}, {88, 1086, 3.37}, {88, 1041, 3.33}},
     {{90, 1169, 3.42}, {88, 1130, 3.41}, {88, 1086, 3.37}, {88, 1041, 3.33}}},
};

/* --------------------------------------------------------------------------------------------------- variants */

/* Interpretations of what the paper leaves open.  A uses only printed numbers. */
typedef struct peach_variant {
    const char *name; /* its first letter identifies the variant */
    int grid;         /* number of units: 1 / grid is the step of alpha; 0: alpha is continuous */
} peach_variant;

static const peach_variant variants[] = {
    {"A printed fits, grid 2 %, P_OH=30", 50},
    {"B grid 1 %", 100},
    {"C grid 5 %", 20},
    {"D continuous alpha", 0},
    {"E no P_OH", 50},
    {"F P_OH 30..10 W linear in f_C", 50},
    {"G measured R_C,R_G,Pd_G at 2.6/705", 50},
    {"H as G and Pd_C=239.4 at 2.6", 50},
    {"I P0_G=47 W (text) instead of 46.6", 50},
    {"J reverse-engineered unrounded coefficients", 50},
};

enum { NUM_VARIANTS = sizeof variants / sizeof variants[0], A = 0, J = NUM_VARIANTS - 1 };

peach_parameters peach_at_frequencies(double cpu, double gpu)
{
    return (peach_parameters){.base_w = 42.4 + 76.7 + 46.6,
                              .host_rate = 111 * cpu + 6.1,
                              .host_w = 124 * cpu - 100.23,
                              .gpu_rate = 1.495 * gpu - 1.78,
                              .gpu_w = 0.337 * gpu - 109,
                              .host_overhead_w = 30};
}

static peach_parameters unrounded(double cpu, double gpu)
{
    return (peach_parameters){.base_w = 166.05,
                              .host_rate = 110.725 * cpu + 6.1,
                              .host_w = 124.79 * cpu - 100.23,
                              .gpu_rate = 1.4954 * gpu - 1.78,
                              .gpu_w = 0.3375 * gpu - 108.4,
                              .host_overhead_w = 30};
}

static peach_parameters parameters_of(const peach_variant *variant, int cpu, int gpu)
{
    const char letter = variant->name[0];
    const double fastest = peach_cpu_ghz[0], slowest = peach_cpu_ghz[PEACH_CPU_FREQUENCIES - 1];
    peach_parameters p =
        letter == 'J' ? unrounded(peach_cpu_ghz[cpu], peach_gpu_mhz[gpu]) : peach_at_frequencies(peach_cpu_ghz[cpu], peach_gpu_mhz[gpu]);
    if (letter == 'E') p.host_overhead_w = 0;
    if (letter == 'F') p.host_overhead_w = 30 - 20 * (fastest - peach_cpu_ghz[cpu]) / (fastest - slowest);
    if (letter == 'I') p.base_w += 47 - 46.6;
    if (letter != 'G' && letter != 'H') return p;
    if (cpu == 0) p.host_rate = 293;
    if (cpu == 0 && letter == 'H') p.host_w = 239.4;
    if (gpu == 0) p.gpu_rate = 1052.4, p.gpu_w = 128.6;
    return p;
}

/*
 * The best grid point by the closed formulas: the better of the two neighbours on the grid of eq. 13, or of the result by the rule of
 * slopes.
 */
static peach_point closed_point(const peach_parameters *p, int grid, yoke_objective objective)
{
    bool time = objective == YOKE_OBJECTIVE_TIME;
    double alpha = time ? peach_alpha_time(p) : peach_alpha_energy(p);
    if (grid == 0) return peach_at(p, alpha);
    peach_point below = peach_at(p, floor(alpha * grid) / grid), above = peach_at(p, ceil(alpha * grid) / grid);
    return (time ? above.rate > below.rate : above.efficiency > below.efficiency) ? above : below;
}

static yoke_status point_of(reproduce_report *report, const peach_variant *variant, int cpu, int aim, int gpu, peach_point *point)
{
    peach_parameters p = parameters_of(variant, cpu, gpu);
    if (variant->grid > 0) return peach_plan(report, &p, variant->grid, peach_aims[aim], point);
    *point = closed_point(&p, 0, peach_aims[aim]);
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------------ cells */

static const char hair_remark[] = "the unrounded coefficients of variant J miss 3.20 by a hair: 3.205003";

/* Coefficients and results are rounded in print: worst case of all roundings over all cells. */
const char peach_rate_because[] = "rounding of the printed coefficients allows 0.46 %; our choice is less";
const char peach_efficiency_because[] = "rounding of the printed coefficients (0.83 %) and of the result (0.2 %)";
static const char searched[] = "the printed cell is counted with the printed coefficients; those of J were searched for to meet it";

/* Whether J reproduces a cell to the last printed digit. */
static bool prints_alike(const peach_cell *cell, const peach_point *point)
{
    return fabs(point->rate - cell->rate) <= 0.5 && fabs(point->efficiency - cell->efficiency) <= 0.005 &&
           lround(100 * point->alpha) == lround(cell->percent);
}

/* Adds the numbers of a cell: those of variant A, which are judged, and those of J for comparison. */
static yoke_status add_cell(reproduce_report *report, int cpu, int aim, int gpu, char text[64])
{
    const peach_cell *cell = &peach_table_7[cpu][aim][gpu];
    peach_parameters p = parameters_of(&variants[A], cpu, gpu), q = parameters_of(&variants[J], cpu, gpu);
    peach_point point, other, closed = closed_point(&p, variants[A].grid, peach_aims[aim]);
    peach_point other_closed = closed_point(&q, variants[J].grid, peach_aims[aim]);
    char id[64];
    yoke_status status = point_of(report, &variants[A], cpu, aim, gpu, &point);
    if (!status) status = point_of(report, &variants[J], cpu, aim, gpu, &other);
    if (status != YOKE_OK) return status;
    snprintf(id, sizeof id, "peach.t7.%.1f.%.0f.%s", peach_cpu_ghz[cpu], peach_gpu_mhz[gpu], aim_names[aim]);
    const double hit = prints_alike(cell, &other);
    const struct {
        const char *part, *what, *unit;
        double published, recomputed, check, absolute, relative;
        const char *because;
    } numbers[] = {
        {"alpha", "share of the GPU", "%", cell->percent, 100 * point.alpha, 100 * closed.alpha, 0, 0, REPRODUCE_EXACT},
        {"R", "rate", "GFLOPS", cell->rate, point.rate, closed.rate, 0, 0.003, peach_rate_because},
        {"eta", "efficiency", "GFLOPS/W", cell->efficiency, point.efficiency, closed.efficiency, 0, 0.0105, peach_efficiency_because},
        {"R_unrounded_J", "rate with unrounded coefficients", "GFLOPS", cell->rate, other.rate, other_closed.rate, 0.5, 0,
         REPRODUCE_DIGITS},
        {"eta_unrounded_J", "efficiency with unrounded coefficients", "GFLOPS/W", cell->efficiency, other.efficiency,
         other_closed.efficiency, 0.00501, 0, "half a unit of the last printed digit, which one cell misses by 3e-6"},
    };
    const int first_of_j = 3;
    for (int i = 0; i < (int)(sizeof numbers / sizeof numbers[0]); i++)
        reproduce_add(report, &(reproduce_row){.id = id,
                                               .part = numbers[i].part,
                                               .what = numbers[i].what,
                                               .unit = numbers[i].unit,
                                               .published = numbers[i].published,
                                               .recomputed = numbers[i].recomputed,
                                               .kind = i < first_of_j ? REPRODUCE_PUBLISHED : REPRODUCE_REPEATED,
                                               .reason = i < first_of_j ? NULL : searched,
                                               .by = "planner",
                                               .checked = true,
                                               .check = numbers[i].check,
                                               .check_by = "eq. 12 and 13",
                                               .absolute = numbers[i].absolute,
                                               .relative = numbers[i].relative,
                                               .because = numbers[i].because,
                                               .silent = true});
    reproduce_add(report, &(reproduce_row){.id = id,
                                           .part = "within_print_rounding_J",
                                           .what = "these give it to the last printed digit",
                                           .unit = "yes/no",
                                           .published = NAN,
                                           .recomputed = hit,
                                           .kind = REPRODUCE_UNCHECKED,
                                           .reason = searched,
                                           .remark = hit == 0 ? hair_remark : NULL,
                                           .silent = true});
    snprintf(text, 64, "%3.0f: (%4.0f, %.2f) %+.2f %+.2f%s", cell->percent, cell->rate, cell->efficiency,
             100 * (point.rate / cell->rate - 1), 100 * (point.efficiency / cell->efficiency - 1),
             lround(100 * point.alpha) == lround(cell->percent) ? "" : " !");
    return YOKE_OK;
}

static yoke_status table_7(reproduce_report *report)
{
    yoke_status status = YOKE_OK;
    reproduce_section(
        report, "PEACH, Table VII: best shares over the frequencies of system I",
        "Published share of the GPU in %: (GFLOPS, GFLOPS/W), and by how many % the recomputed rate and efficiency differ. The planner on "
        "50 units (2 %) with the printed laws and P_OH = 30 W finds every share; a cell with another share would end with \"!\".");
    reproduce_print(report, "  %-4s %-7s %-32s%-32s%-32s%s", "GHz", "least", "705 MHz", "666 MHz", "640 MHz", "614 MHz");
    for (int cpu = 0; cpu < PEACH_CPU_FREQUENCIES; cpu++) {
        for (int aim = 0; aim < PEACH_AIMS; aim++) {
            char cells[PEACH_GPU_FREQUENCIES][64] = {{0}};
            for (int gpu = 0; gpu < PEACH_GPU_FREQUENCIES && !status; gpu++) status = add_cell(report, cpu, aim, gpu, cells[gpu]);
            if (status != YOKE_OK) return status;
            reproduce_print(report, "  %-4.1f %-7s %-32s%-32s%-32s%s", peach_cpu_ghz[cpu], aim == 0 ? "time" : "energy", cells[0], cells[1],
                            cells[2], cells[3]);
        }
    }
    return YOKE_OK;
}

/* ----------------------------------------------------------------------------------------------- all variants */

/* Comparison with the 32 printed cells of an aim: number of wrong shares, and errors of rate and efficiency in per cent. */
typedef struct peach_quality {
    double wrong, most[2], rms[2];
} peach_quality;

static yoke_status assess(reproduce_report *report, const peach_variant *variant, int aim, peach_quality *quality)
{
    peach_point point;
    double squares[2] = {0, 0};
    for (int cpu = 0; cpu < PEACH_CPU_FREQUENCIES; cpu++) {
        for (int gpu = 0; gpu < PEACH_GPU_FREQUENCIES; gpu++) {
            const peach_cell *cell = &peach_table_7[cpu][aim][gpu];
            yoke_status status = point_of(report, variant, cpu, aim, gpu, &point);
            if (status != YOKE_OK) return status;
            const double errors[2] = {100 * (point.rate / cell->rate - 1), 100 * (point.efficiency / cell->efficiency - 1)};
            if (lround(100 * point.alpha) != lround(cell->percent)) quality->wrong++;
            for (int i = 0; i < 2; i++) {
                quality->most[i] = fmax(quality->most[i], fabs(errors[i]));
                squares[i] += errors[i] * errors[i];
            }
        }
    }
    for (int i = 0; i < 2; i++) quality->rms[i] = sqrt(squares[i] / (PEACH_CPU_FREQUENCIES * PEACH_GPU_FREQUENCIES));
    return YOKE_OK;
}

static void add_quality(reproduce_report *report, const peach_variant *variant, int aim, const peach_quality *quality)
{
    const char *aim_name = aim_names[aim];
    const struct {
        const char *key, *quantity, *unit;
        double number;
    } numbers[] = {
        {"alpha_mismatch", "", NULL, quality->wrong},    {"max_err_pct/", "R_", "%", quality->most[0]},
        {"max_err_pct/", "eta_", "%", quality->most[1]}, {"rms_err_pct/", "R_", "%", quality->rms[0]},
        {"rms_err_pct/", "eta_", "%", quality->rms[1]},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char part[128];
        snprintf(part, sizeof part, "%s/%s%s%s%s", variant->name, numbers[i].key, numbers[i].quantity, i == 0 ? "_" : "", aim_name);
        reproduce_add(report, &(reproduce_row){.id = "peach.t7.variants",
                                               .part = part,
                                               .what = "errors of a variant against Table VII",
                                               .unit = numbers[i].unit,
                                               .published = NAN,
                                               .recomputed = numbers[i].number,
                                               .kind = REPRODUCE_UNCHECKED,
                                               .reason = "how far a variant is from the printed table; nothing is printed of that",
                                               .status = REPRODUCE_DERIVED,
                                               .silent = true});
    }
}

/* The coefficients of J, derived from its laws. */
static void add_unrounded(reproduce_report *report, int64_t cells)
{
    const double cpu = peach_cpu_ghz[0], gpu = peach_gpu_mhz[0];
    const peach_parameters p = unrounded(cpu, gpu), q = unrounded(cpu - 1, gpu - 1);
    const double rcs = p.host_rate - q.host_rate, rgs = p.gpu_rate - q.gpu_rate, pcs = p.host_w - q.host_w, pgs = p.gpu_w - q.gpu_w;
    const struct {
        const char *part, *what;
        double number;
    } numbers[] = {
        {"rcs", "R_C: slope, GFLOPS/GHz", rcs},    {"rci", "R_C: intercept, GFLOPS", p.host_rate - rcs * cpu},
        {"rgs", "R_G: slope, GFLOPS/MHz", rgs},    {"rgi", "R_G: intercept, GFLOPS", p.gpu_rate - rgs * gpu},
        {"pcs", "Pd_C + Pd_M: slope, W/GHz", pcs}, {"pci", "Pd_C + Pd_M: intercept, W", p.host_w - pcs * cpu},
        {"pgs", "Pd_G: slope, W/MHz", pgs},        {"pgi", "Pd_G: intercept, W", p.gpu_w - pgs * gpu},
        {"P0", "base power, W", p.base_w},         {"POH", "host overhead, W", p.host_overhead_w},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        reproduce_add(report, &(reproduce_row){.id = "peach.t7.coeffs_J",
                                               .part = numbers[i].part,
                                               .what = numbers[i].what,
                                               .published = NAN,
                                               .recomputed = numbers[i].number,
                                               .kind = REPRODUCE_UNCHECKED,
                                               .reason = "a coefficient that was searched for, which is an input",
                                               .status = REPRODUCE_DERIVED,
                                               .silent = true});
    reproduce_add(report, &(reproduce_row){
                              .id = "peach.t7.coeffs_J",
                              .part = "cells",
                              .what = "J: cells of 64 that are right to the last printed digit",
                              .published = NAN,
                              .recomputed = (double)cells,
                              .kind = REPRODUCE_UNCHECKED,
                              .reason = "nothing is printed of it; J was searched for to make it many",
                              .status = REPRODUCE_DERIVED,
                              .remark = "found by a search, not published; the other two are one cell that is printed twice (1.4 GHz, 640 "
                                        "MHz), where J gives 3.205003 for 3.20"});
}

/* Eq. 12 at alpha = 1 with a printed efficiency. */
static void add_base_power(reproduce_report *report)
{
    reproduce_add(report, &(reproduce_row){
                              .id = "peach.t7.P0_plus_POH",
                              .what = "P_0 + P_OH that the cell (2.6, 705, 100) implies",
                              .unit = "W",
                              .published = 42.4 + 76.7 + 46.6 + 30,
                              .recomputed = 1052.4 / 3.23 - 128.6,
                              .kind = REPRODUCE_PUBLISHED,
                              .by = "eq. 12 at 100 %, solved for it",
                              .absolute = 0.6,
                              .because = "half a unit of the last printed digit of 3.23 (0.5 W), 1052.4 and 128.6 (0.1 W)",
                              .status = REPRODUCE_INCONSISTENT,
                              .remark = "all rows of alpha = 1 imply 196.7 to 197.1 W, the same at every f_C: P_OH was not varied with the "
                                        "frequency, and P_0G = 47 W was used"});
}

static yoke_status count_alike(reproduce_report *report, int64_t *cells)
{
    *cells = 0;
    for (int i = 0; i < PEACH_CPU_FREQUENCIES * PEACH_AIMS * PEACH_GPU_FREQUENCIES; i++) {
        int cpu = i / (PEACH_AIMS * PEACH_GPU_FREQUENCIES), aim = i / PEACH_GPU_FREQUENCIES % PEACH_AIMS, gpu = i % PEACH_GPU_FREQUENCIES;
        peach_point point;
        yoke_status status = point_of(report, &variants[J], cpu, aim, gpu, &point);
        if (status != YOKE_OK) return status;
        *cells += prints_alike(&peach_table_7[cpu][aim][gpu], &point);
    }
    return YOKE_OK;
}

static yoke_status all_variants(reproduce_report *report)
{
    int64_t cells = 0;
    reproduce_section(
        report, "PEACH, Table VII: which reading of the parameters reproduces it",
        "Shares that are wrong of 32, and the greatest errors of rate and efficiency in %, rows of least time | rows of least energy. The "
        "authors used unrounded regressions on a grid of 2 % with constant P_OH; A is what can be had from what is printed. (J's "
        "coefficients are the result of a search, not a published fact.)");
    for (int i = 0; i < NUM_VARIANTS; i++) {
        peach_quality qualities[PEACH_AIMS] = {{0}};
        for (int aim = 0; aim < PEACH_AIMS; aim++) {
            yoke_status status = assess(report, &variants[i], aim, &qualities[aim]);
            if (status != YOKE_OK) return status;
            add_quality(report, &variants[i], aim, &qualities[aim]);
        }
        reproduce_print(report, "  %-46s %2.0f %6.3f %6.3f | %2.0f %6.3f %6.3f", variants[i].name, qualities[0].wrong, qualities[0].most[0],
                        qualities[0].most[1], qualities[1].wrong, qualities[1].most[0], qualities[1].most[1]);
    }
    yoke_status status = count_alike(report, &cells);
    if (status != YOKE_OK) return status;
    add_unrounded(report, cells);
    add_base_power(report);
    return YOKE_OK;
}

yoke_status reproduce_peach_frequencies(reproduce_report *report)
{
    yoke_status status = table_7(report);
    if (status == YOKE_OK) status = all_variants(report);
    if (status == YOKE_OK) status = peach_coupled(report);
    if (status == YOKE_OK) peach_remarks(report);
    return status;
}
