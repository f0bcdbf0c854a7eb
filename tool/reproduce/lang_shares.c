/* lang_shares.c - shares by eq. 26 and 42; JPDC, section 5.3, and the strategies of Table 4.4 of the dissertation; ICCS 2013; misprints. */
#include <math.h>
#include <stdio.h>

#include "reproduce/lang.h"

/* Eq. 42: the share of q GPUs together; times of one of p threads. */
static double share_of(double gpu_us, double cpu_us, double p, double q) { return 1 / (1 + gpu_us / cpu_us * p / q); }

/* ----------------------------------------------------------------------------------------------------- shares */

/* Uses units for which the share is a whole number, so that the planner has to find it exactly. */
static yoke_status several_gpus(reproduce_report *report)
{
    const struct lang_sandybridge *s = &lang_sandybridge;
    for (int q = 1; q <= 4; q++) {
        char id[32], what[64];
        double share = NAN;
        yoke_status status = reproduce_balance(report, s->t_el_cpu, s->t_el_gpu, q, 169 + 170 * q, &share);
        if (status != YOKE_OK) return status;
        snprintf(id, sizeof id, "lr.r_eq42.q%d", q);
        snprintf(what, sizeof what, "eq. 42: share of %d GPU%s", q, q > 1 ? "s together" : "");
        reproduce_add(report, &(reproduce_row){.id = id,
                                               .what = what,
                                               .published = NAN,
                                               .recomputed = share,
                                               .kind = REPRODUCE_INDEPENDENT,
                                               .by = "planner",
                                               .check_by = "eq. 42",
                                               .because = REPRODUCE_ROUNDING,
                                               .checked = true,
                                               .check = share_of(s->t_el_gpu, s->threads * s->t_el_cpu, s->threads, q),
                                               .relative = 1e-12,
                                               .status = REPRODUCE_DERIVED,
                                               .remark = q == 4 ? "r is the share of all GPUs; one of them gets r n / q" : NULL});
    }
    return YOKE_OK;
}

yoke_status lang_shares(reproduce_report *report)
{
    const struct lang_sandybridge *s = &lang_sandybridge;
    double share = NAN, slow = NAN;
    yoke_status status = reproduce_balance(report, s->t_el_cpu, s->t_el_gpu, 1, 339, &share);
    if (!status) status = reproduce_balance(report, 2.10, s->t_el_gpu, 1, 379, &slow);
    if (status != YOKE_OK) return status;
    const lang_entry entries[] = {
        {"lr.r_eq26", NULL, "share of the GPU of Sandybridge (eq. 26)", NULL, 1.0 / 3, share, 0, 0.05, REPRODUCE_PUBLISHED,
         "\"about 1/3\": 5 % is our choice", "planner", REPRODUCE_INCONSISTENT, NULL},
        {"lr.r_eq26", "with_copy", "with 11.8 us / 32.4 of copying added to t_gpu", NULL, 1.0 / 3,
         share_of(s->t_el_gpu + s->t_el_copy / s->l, s->t_el_cpu, 1, 1), 0, 0.05, REPRODUCE_PUBLISHED, "\"about 1/3\": 5 % is our choice",
         "formula", REPRODUCE_INCONSISTENT,
         "about 1/3 is what was measured at 10,000 elements; the paper's times give 0.50, and copies, which the text blames, make it 0.45"},
    };
    reproduce_section(report, "Lang and Ruenger 2014, eq. 26 and 42: shares of least time",
                      "The planner's shares, on units of which the formula is a whole number.");
    lang_add(report, sizeof entries / sizeof entries[0], entries);
    reproduce_add(report, &(reproduce_row){.id = "lr.r_diss_2.10",
                                           .what = "with the dissertation's t_el,cpu = 2.10 us",
                                           .published = NAN,
                                           .recomputed = slow,
                                           .kind = REPRODUCE_INDEPENDENT,
                                           .by = "planner",
                                           .check_by = "eq. 26",
                                           .because = REPRODUCE_ROUNDING,
                                           .checked = true,
                                           .check = share_of(s->t_el_gpu, 2.10, 1, 1),
                                           .relative = 1e-12,
                                           .status = REPRODUCE_DERIVED});
    return several_gpus(report);
}

/* ------------------------------------------------------------------------------------- section 5.3 and Table 4.4 */

/* One iteration on 10,000 elements, a third of them on the GPU, with the energies of an element as rounded in section 5.3. */
static yoke_status third_on_gpu(reproduce_report *report, double *energy_j)
{
    const double elements = 10000.0 / 3; /* per unit */
    const reproduce_pair pair = {.units = 3,
                                 .repetitions = 1,
                                 .host = {.seconds_per_unit = 1.70e-6 * elements, .dynamic_power_w = 286 / 1.70},
                                 .accelerator = {.seconds_per_unit = 1.69e-6 * elements, .dynamic_power_w = 260 / 1.69}};
    reproduce_outcome outcome;
    yoke_status status = reproduce_given(report, &pair, 1, &outcome);
    if (status == YOKE_OK) *energy_j = outcome.energy_j;
    return status;
}

/* One iteration on the GPU alone while the processor waits (eq. 4.41). */
static yoke_status all_on_gpu(reproduce_report *report, double *energy_j)
{
    const struct lang_sandybridge *s = &lang_sandybridge;
    const reproduce_pair pair = {.units = 10000,
                                 .repetitions = s->l,
                                 .host = {.seconds_per_unit = 1e-6 * s->t_el_cpu, .idle_power_w = s->P_idle_cpu + s->P_idle_dram},
                                 .accelerator = {.seconds_per_unit = 1e-6 * s->t_el_gpu,
                                                 .dynamic_power_w = s->E_el_gpu / s->t_el_gpu,
                                                 .copy_joules_per_unit = 1e-6 * s->E_el_copy}};
    reproduce_outcome outcome;
    yoke_status status = reproduce_given(report, &pair, pair.units, &outcome);
    if (status == YOKE_OK) *energy_j = outcome.energy_j / s->l;
    return status;
}

static void section_53(reproduce_report *report, double total_j, double one_cpu_share)
{
    const double n = 10000, E_cpu = 286e-6, E_gpu = 260e-6, one_cpu_s = n / 2 * 1.69e-6;
    const lang_entry entries[] = {
        {"lr.53.cpu_share", NULL, "2/3 of the elements on the processors", "J", 1.91, n * 2 / 3 * E_cpu, 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_MATCHES, NULL},
        {"lr.53.gpu_share", NULL, "1/3 on the GPU", "J", 0.87, n / 3 * E_gpu, 0.005, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula",
         REPRODUCE_MATCHES, NULL},
        {"lr.53.total", NULL, "together", "J", 2.78, total_j, 0.01, 0, REPRODUCE_PUBLISHED,
         "a sum of two terms that are rounded to 0.005 J each", "planner", REPRODUCE_MATCHES, "2.78 is the sum of rounded terms"},
        {"lr.53.one_cpu_cpu", NULL, "one processor: half of the elements there", "J", 1.43, n / 2 * E_cpu, 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_MATCHES, NULL},
        {"lr.53.one_cpu_gpu", NULL, "half on the GPU", "J", 1.30, n / 2 * E_gpu, 0.005, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula",
         REPRODUCE_MATCHES, NULL},
        {"lr.53.one_cpu_idle", NULL, "the other processor waits at 18 W", "J", 0.15, 18 * one_cpu_s, 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_MATCHES, NULL},
        {"lr.53.one_cpu_total", NULL, "together", "J", 2.88, n / 2 * (E_cpu + E_gpu) + 18 * one_cpu_s, 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_MATCHES, NULL},
        {"lr.53.one_cpu_balance", NULL, "share of the GPU beside one processor (3.4 us)", NULL, 0.5, one_cpu_share, 0, 0.05,
         REPRODUCE_PUBLISHED, "printed as one half; 5 % is our choice", "planner", REPRODUCE_INCONSISTENT, NULL},
        {"lr.53.one_cpu_balance", "idle_J", "waiting at 18 W with the share of 1/2", "J", 0.15, 18 * n / 2 * 3.4e-6, 0.005, 0,
         REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula", REPRODUCE_INCONSISTENT,
         "one processor takes 3.4 us for an element, so eq. 26 shares at 0.668, not at 1/2; at 1/2 it needs 17 ms, and waiting costs 0.306 "
         "J"},
    };
    reproduce_section(report, "Lang and Ruenger 2014, section 5.3: one iteration on 10,000 elements",
                      "With 286 uJ and 260 uJ rounded first.");
    lang_add(report, sizeof entries / sizeof entries[0], entries);
}

static void table_44(reproduce_report *report, double all_j)
{
    const double n = 10000, gpu_s = n * 1.69e-6;
    const lang_entry entries[] = {
        {"diss.t44.cpu_only", NULL, "processors only", "J", 2.86, n * 286e-6, 0.005, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula",
         REPRODUCE_MATCHES, NULL},
        {"diss.t44.gpu_only_gpu", NULL, "GPU only: the GPU", "J", 2.61, n * 1e-6 * (235 + 814 / 32.4), 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_INCONSISTENT, "2.60; 2.61 is 3 x 0.87"},
        {"diss.t44.gpu_only_cpu1", NULL, "GPU only: processor 1 waits at 65 W", "J", 2.86, 65 * gpu_s, 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_INCONSISTENT,
         "2.86 J is what computing everything on the processors costs; waiting costs 1.10 J"},
        {"diss.t44.gpu_only_cpu2", NULL, "GPU only: processor 2 waits at 18 W", "J", 0.30, 18 * gpu_s, 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_MATCHES, NULL},
        {"diss.t44.sum", NULL, "GPU only: the row added up as printed", "J", 5.77, 2.86 + 0.30 + 2.61, 0.005, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "printed terms", REPRODUCE_MATCHES, NULL},
        {"diss.t44.gpu_only_total", NULL, "GPU only by eq. 4.41", "J", 5.77, all_j, 0.005, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS,
         "planner", REPRODUCE_INCONSISTENT,
         "4.03 J (2.60 on the GPU, 1.42 of waiting at 84.3 W): 5.77 counts the processors' computing too. GPU only is still the worst of "
         "all"},
    };
    reproduce_section(report, "Lang's dissertation, Table 4.4: strategies", "The rows of sharing are those of section 5.3 above.");
    lang_add(report, sizeof entries / sizeof entries[0], entries);
}

yoke_status lang_strategies(reproduce_report *report)
{
    double total_j = NAN, all_j = NAN, share = NAN;
    yoke_status status = third_on_gpu(report, &total_j);
    if (!status) status = all_on_gpu(report, &all_j);
    if (!status) status = reproduce_balance(report, 3.4, 1.69, 1, 509, &share); /* 340 : 169 */
    if (status != YOKE_OK) return status;
    section_53(report, total_j, share);
    table_44(report, all_j);
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------------------- ICCS 2013 */

/* Perfect sharing, given the time that each processor needs alone: the planner with units for which the share is a whole number. */
static yoke_status bound(reproduce_report *report, double host_s, double gpu_s, double *share, double *time_s)
{
    const int64_t units = llround(100 * (host_s + gpu_s));
    const reproduce_pair pair = {.units = units,
                                 .repetitions = 1,
                                 .host = {.seconds_per_unit = host_s / (double)units},
                                 .accelerator = {.seconds_per_unit = gpu_s / (double)units}};
    reproduce_outcome outcome;
    yoke_status status = reproduce_best(report, &pair, YOKE_OBJECTIVE_TIME, &outcome);
    if (status != YOKE_OK) return status;
    *share = outcome.share;
    *time_s = outcome.time_s;
    return YOKE_OK;
}

static yoke_status add_bounds(reproduce_report *report)
{
    static const struct {
        const char *part_s, *part_r, *what_s, *what_r;
        double host_s, gpu_s;
    } objects[] = {{"drill_s", "r_drill", "drill hole: bound of perfect sharing", "drill hole: its share of the GPU", 2.41, 1.28},
                   {"crank_s", "r_crank", "crankshaft: bound of perfect sharing", "crankshaft: its share of the GPU", 3.47, 1.70}};
    double share[2], time_s[2];
    for (int i = 0; i < 2; i++) {
        yoke_status status = bound(report, objects[i].host_s, objects[i].gpu_s, &share[i], &time_s[i]);
        if (status != YOKE_OK) return status;
    }
    for (int i = 0; i < 4; i++) {
        int object = i % 2;
        bool time = i < 2;
        double host_s = objects[object].host_s, gpu_s = objects[object].gpu_s;
        reproduce_add(
            report,
            &(reproduce_row){
                .id = "iccs.bound",
                .part = time ? objects[object].part_s : objects[object].part_r,
                .what = time ? objects[object].what_s : objects[object].what_r,
                .unit = time ? "s" : NULL,
                .published = NAN,
                .recomputed = time ? time_s[object] : share[object],
                .kind = REPRODUCE_INDEPENDENT,
                .by = "planner",
                .check_by = time ? "sum of both rates" : "eq. 26",
                .because = REPRODUCE_ROUNDING,
                .checked = true,
                .check = time ? host_s * gpu_s / (host_s + gpu_s) : host_s / (host_s + gpu_s),
                .relative = 1e-9,
                .status = REPRODUCE_DERIVED,
                .remark = i == 3 ? "from the times of each alone; 0.65 and 0.67 are not the 0.5 that was used, as the text says" : NULL});
    }
    return YOKE_OK;
}

yoke_status lang_iccs(reproduce_report *report)
{
    const double t_pre = 719519, t_copy = 25, t_cpu = 1234, t_gpu = 55, n = 9584, n_cpu = 214.3, n_gpu = 4654, p = 23; /* us */
    const double longest = fmax(n_cpu * t_cpu, n_gpu * t_gpu);
    double share = NAN, few = NAN;
    yoke_status status = reproduce_balance(report, t_cpu / p, t_gpu, 1, 1234 + 55 * 23, &share);
    if (!status) status = reproduce_balance(report, t_cpu / 7, t_gpu, 1, 1234 + 55 * 7, &few);
    if (status != YOKE_OK) return status;
    const lang_entry entries[] = {
        {"iccs.n_cpu", NULL, "elements of a thread (eq. 6)", NULL, n_cpu, (n - n_gpu) / p, 0.05, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS,
         "formula", REPRODUCE_MATCHES, NULL},
        {"iccs.r_gpu", NULL, "share of the GPU (eq. 11), by the planner", NULL, n_gpu / n, share, 0, 0.02, REPRODUCE_PUBLISHED,
         "printed are the elements of the share of the refinement step before; 2 % is our choice", "planner", REPRODUCE_MATCHES,
         "the printed share came from the refinement step before"},
        {"iccs.r_p7", NULL, "share with 7 threads (\"roughly 0.7\")", NULL, 0.7, few, 0, 0.1, REPRODUCE_PUBLISHED,
         "\"roughly 0.7\": 10 % is our choice", "planner", REPRODUCE_MATCHES, "with times measured with 23 threads"},
        {"iccs.eq9_holds", NULL, "t_copy < l t_cpu (eq. 9), with 1/p and without", "yes/no", 1, t_copy < t_cpu / p && t_copy < t_cpu, 0, 0,
         REPRODUCE_PROPERTY, REPRODUCE_EXACT, "formula", REPRODUCE_MATCHES, NULL},
        {"iccs.t_cgm", "l1_us", "t_cgm by eq. 8 with l = 1", "us", NAN, n_gpu * t_copy + 1 * (t_pre + longest), 0, 0, REPRODUCE_UNCHECKED,
         "no time is printed that belongs to these parameters", "formula", REPRODUCE_UNDETERMINED, NULL},
        {"iccs.t_cgm", "with_l_32_us", "t_cgm with l = 32", "us", NAN, n_gpu * t_copy + 32 * (t_pre + longest), 0, 0, REPRODUCE_UNCHECKED,
         "no time is printed that belongs to these parameters", "formula", REPRODUCE_UNDETERMINED,
         "l is not printed; only l = 1 stays inside fig. 2 (2.5 s), so the times are sums over the iterations already"},
        {"iccs.speedups", "drill_vs_best", "drill hole: sharing against the better one alone", NULL, NAN, fmin(2.41, 1.28) / 1.00, 0, 0,
         REPRODUCE_UNCHECKED, "a quotient of two printed times; no speed-up is printed", "formula", REPRODUCE_DERIVED, NULL},
        {"iccs.speedups", "crank_vs_best", "crankshaft: the same", NULL, NAN, fmin(3.47, 1.70) / 1.42, 0, 0, REPRODUCE_UNCHECKED,
         "a quotient of two printed times; no speed-up is printed", "formula", REPRODUCE_DERIVED,
         "the paper of 2014 says roughly 25 % for both machines"},
    };
    reproduce_section(report, "Lang and Ruenger 2013 (ICCS), Table 1 and section 4",
                      "Drill hole with 9584 elements, 23 threads and a GPU.");
    lang_add(report, sizeof entries / sizeof entries[0], entries);
    reproduce_add(report,
                  &(reproduce_row){.id = "iccs.balance",
                                   .what = "time of the GPU, against that of the threads",
                                   .unit = "us",
                                   .published = NAN,
                                   .recomputed = n_gpu * t_gpu,
                                   .kind = REPRODUCE_INDEPENDENT,
                                   .by = "printed elements and time of the GPU",
                                   .checked = true,
                                   .check = n_cpu * t_cpu,
                                   .check_by = "printed elements and time of a thread",
                                   .relative = 0.04,
                                   .because = "55 us has two digits (0.9 %), and the share is of the refinement step before; 4 % is our "
                                              "choice",
                                   .status = REPRODUCE_DERIVED,
                                   .remark = "balanced within 3.2 %"});
    return add_bounds(report);
}

/* -------------------------------------------------------------------------------------------------- misprints */

void lang_misprints(reproduce_report *report)
{
    static const struct {
        const char *id, *what, *printed, *right, *remark;
    } texts[] = {
        {"jpdc.eq20", "JPDC, eq. 20: t_copy", "n_cpu t_copy", "n_gpu t_copy",
         "what is copied is what the GPU works on, as in eq. 22 and diss. 4.21"},
        {"jpdc.eq37_p", "JPDC, eq. 37, first term", "n_cpu E*", "p n_cpu E*",
         "n_el,cpu is of one core there, as in eq. 31 and 32; the dissertation, where it is the total, is right"},
        {"jpdc.eq37_idle", "JPDC, eq. 37; diss. 4.38: idle terms", "P t_idle", "l P t_idle",
         "they come out of the bracket of eq. 27 without their factor l, unless t_idle is meant as the total of all iterations"},
        {"diss.eq4.39", "dissertation, eq. 4.39", "n E*_cpu", "l n E*_cpu", "JPDC, eq. 38, has the factor"},
        {"diss.alg4.2_cas", "dissertation, algorithm 4.2", "tests late", "test first",
         "the compare-and-swap compares after the store, so that it fails where it succeeded and the loop of algorithm 4.3 adds again"},
        {"diss.alg4.7", "dissertation, algorithm 4.7, line 5", "T div N", "T div G", "N is not defined; G, the number of groups, is meant"},
        {"diss.alg4.7_bounds", "dissertation, algorithm 4.7, lines 10 and 20", "0..G", "0..G-1", "both ranges are one too long"},
        {"diss.alg4.9_index", "dissertation, algorithm 4.9", "mixed", "from 0",
         "A is declared from 1 and used from 0, y declared from 0 and used from 1"},
        {"iccs.eq9", "ICCS, eq. 9", "l t_cpu", "l t_cpu / p",
         "and the sentence below it has to say \"processed on the CPU\" (JPDC, eq. 23)"},
        {"iccs.machine", "ICCS, section 4.2: processors", "4 x X5650", "2 x X5650",
         "2 processors with 6 cores of 2 threads: 24 hardware threads, of which 23 compute"},
    };
    reproduce_section(report, "Lang and Ruenger: misprints in formulas and algorithms", NULL);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        reproduce_add_text(report, texts[i].id, texts[i].what, texts[i].printed, texts[i].right, "a formula or a text", texts[i].remark);
}
