/* lang_model.c - JPDC 2014, section 4: energies of an element, the three cases, and where their rule misses the minimum. */
#include <math.h>
#include <stdio.h>

#include "reproduce/lang.h"

/* Number of units for which eq. 26 with 1.69 us and 1.70 us gives a whole number: 170 / 339. */
enum { EXACT_UNITS = 339 };

/* The quantities in the formulas of section 4: energies in uJ, times in us, P in W. */
typedef struct element_costs {
    double host_uj, gpu_uj, copy_uj, host_idle_w, gpu_idle_w, host_us, gpu_us, l;
} element_costs;

/* In a problem of the planner, energies of execution are given as powers above idle. */
static reproduce_pair pair_of(const element_costs *e, int64_t units)
{
    return (reproduce_pair){
        .units = units,
        .repetitions = e->l,
        .host = {.seconds_per_unit = 1e-6 * e->host_us,
                 .dynamic_power_w = e->host_uj / e->host_us - e->host_idle_w,
                 .idle_power_w = e->host_idle_w},
        .accelerator = {.seconds_per_unit = 1e-6 * e->gpu_us,
                        .dynamic_power_w = e->gpu_uj / e->gpu_us - e->gpu_idle_w,
                        .idle_power_w = e->gpu_idle_w,
                        .copy_joules_per_unit = 1e-6 * e->copy_uj,
                        .removable = true},
    };
}

static element_costs sandybridge(void)
{
    const struct lang_sandybridge *s = &lang_sandybridge;
    return (element_costs){.host_uj = s->E_el_cpu + s->E_el_dram,
                           .gpu_uj = s->E_el_gpu,
                           .copy_uj = s->E_el_copy,
                           .host_idle_w = s->P_idle_cpu + s->P_idle_dram,
                           .host_us = s->t_el_cpu,
                           .gpu_us = s->t_el_gpu,
                           .l = s->l};
}

/* Eq. 39; the right hand side of case 2. */
static double gpu_energy_uj(const element_costs *e) { return e->gpu_uj + e->copy_uj / e->l; }
static double case_2_uj(const element_costs *e) { return gpu_energy_uj(e) + e->host_idle_w * e->gpu_us; }

static int case_of(const element_costs *e) { return e->host_uj < gpu_energy_uj(e) ? 1 : e->host_uj > case_2_uj(e) ? 2 : 3; }

/* Finds the case to which the planner's alternative by the published rule belongs. */
static yoke_status planned_case(reproduce_report *report, const element_costs *e, int *number)
{
    reproduce_pair pair = pair_of(e, EXACT_UNITS);
    reproduce_outcome outcome;
    yoke_status status = reproduce_alternative(report, &pair, YOKE_OBJECTIVE_ENERGY, "published", &outcome);
    if (status == YOKE_OK) *number = outcome.accelerator_units == 0 ? 1 : outcome.accelerator_units == EXACT_UNITS ? 2 : 3;
    return status;
}

/* Finds the number of iterations below which the planner's published rule leaves everything on the processor. */
static yoke_status planned_boundary(reproduce_report *report, double *l)
{
    element_costs e = sandybridge();
    double low = 1, high = 100;
    for (int i = 0; i < 50; i++) {
        int number = 0;
        e.l = (low + high) / 2;
        yoke_status status = planned_case(report, &e, &number);
        if (status != YOKE_OK) return status;
        if (number == 1)
            low = e.l;
        else
            high = e.l;
    }
    *l = (low + high) / 2;
    return YOKE_OK;
}

/* Finds the least whole number of iterations for which the GPU alone needs less energy than the processor alone, without idle powers. */
static yoke_status planned_break_even(reproduce_report *report, double host_uj, double *l)
{
    element_costs e = sandybridge();
    reproduce_outcome host, gpu;
    e.host_uj = host_uj;
    e.host_idle_w = 0;
    for (int i = 1; i < 100; i++) {
        e.l = i;
        reproduce_pair pair = pair_of(&e, 1000);
        yoke_status status = reproduce_given(report, &pair, 0, &host);
        if (status == YOKE_OK) status = reproduce_given(report, &pair, 1000, &gpu);
        if (status != YOKE_OK) return status;
        *l = i;
        if (gpu.energy_j < host.energy_j) return YOKE_OK;
    }
    return YOKE_OK;
}

static yoke_status cases(reproduce_report *report)
{
    const element_costs e = sandybridge();
    double boundary = NAN, break_even = NAN, break_even_unrounded = NAN;
    int number = 0;
    yoke_status status = planned_case(report, &e, &number);
    if (!status) status = planned_boundary(report, &boundary);
    if (!status) status = planned_break_even(report, 286, &break_even);
    if (!status) status = planned_break_even(report, e.host_uj, &break_even_unrounded);
    if (status != YOKE_OK) return status;
    const lang_entry entries[] = {
        {"lr.Eelcpu*", NULL, "E*_el,cpu (eq. 36)", "uJ", 286, e.host_uj, 0.5, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula",
         REPRODUCE_MATCHES, NULL},
        {"lr.Eelgpu*", NULL, "E*_el,gpu = 235 + 814 / 32.4 (eq. 39)", "uJ", 260, gpu_energy_uj(&e), 0.5, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_DIGITS, "formula", REPRODUCE_MATCHES, NULL},
        {"lr.Pidle*", NULL, "P*_idle,cpu (eq. 35)", "W", 84, e.host_idle_w, 0.5, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula",
         REPRODUCE_MATCHES, NULL},
        {"lr.idle_per_gpu_element", NULL, "processor waiting for an element of the GPU", "uJ", 142, e.host_idle_w * e.gpu_us, 0.5, 0,
         REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula", REPRODUCE_MATCHES, NULL},
        {"lr.case2_rhs", NULL, "right hand side of case 2", "uJ", 401, case_2_uj(&e), 0.5, 0, REPRODUCE_PUBLISHED, REPRODUCE_DIGITS,
         "formula", REPRODUCE_INCONSISTENT, "402.6; 260 + 84 x 1.69 = 401.96 was cut off. The decision is the same"},
        {"lr.breakeven_l", NULL, "iterations at which the copy to the GPU pays: 814 / (286 - 235)", NULL, 15, 814.0 / (286 - 235), 0.5, 0,
         REPRODUCE_PUBLISHED, REPRODUCE_DIGITS, "formula", REPRODUCE_INCONSISTENT, NULL},
        {"lr.breakeven_l", "whole", "whole iterations that are needed, by the planner", NULL, 15, break_even, 0, 0, REPRODUCE_PUBLISHED,
         REPRODUCE_EXACT, "planner", REPRODUCE_INCONSISTENT, NULL},
        {"lr.breakeven_l", "whole_unrounded", "with 285.5 uJ", NULL, 15, break_even_unrounded, 0, 0, REPRODUCE_PUBLISHED, REPRODUCE_EXACT,
         "planner", REPRODUCE_INCONSISTENT,
         "\"more than 15\" (JPDC) is right: 16; \"at least 15\" (dissertation) is not: with 15 the GPU costs 289.3 uJ"},
    };
    reproduce_section(report, "Lang and Ruenger 2014, section 4.3: which processor shall work",
                      "Case 1: all on the processor if E*_cpu < E*_gpu; case 2: all on the GPU if E*_cpu > E*_gpu + P*_idle,cpu t_gpu; "
                      "case 3: share by eq. "
                      "26.");
    lang_add(report, sizeof entries / sizeof entries[0], entries);
    reproduce_row row = {
        .id = "lr.case", .what = "case of Sandybridge, by the planner's published rule", .published = 3, .recomputed = number};
    row.kind = REPRODUCE_PUBLISHED, row.by = "planner", row.check_by = "the rule's inequalities", row.because = REPRODUCE_EXACT;
    row.checked = true, row.check = case_of(&e), row.remark = "285.5 is neither below 260.1 nor above 402.6: share";
    reproduce_add(report, &row);
    row = (reproduce_row){
        .id = "lr.case_boundary_l", .part = "case1_if_l_below", .what = "case 1 below so many iterations", .published = NAN};
    row.recomputed = e.copy_uj / (e.host_uj - e.gpu_uj), row.checked = true, row.check = boundary, row.relative = 1e-9;
    row.status = REPRODUCE_DERIVED;
    row.kind = REPRODUCE_INDEPENDENT, row.by = "inequality of case 1", row.check_by = "planner", row.because = REPRODUCE_ROUNDING;
    reproduce_add(report, &row);
    row.kind = REPRODUCE_UNCHECKED, row.reason = "the right hand side of case 2, put into numbers";
    row.part = "case2_if_Ecpu_above_uJ", row.what = "case 2 above this E*_el,cpu", row.unit = "uJ", row.recomputed = case_2_uj(&e);
    row.checked = false, row.remark = "never by more iterations: 235 + 142.5 is more than 285.5 already";
    reproduce_add(report, &row);
    return YOKE_OK;
}

/* -------------------------------------------------------------------------------------- the rule against the minimum */

/* A machine for which the published rule chooses the GPU alone, although sharing needs less energy. */
static const element_costs in_the_band = {.host_uj = 450, .gpu_uj = 260, .host_idle_w = 84.3, .host_us = 1.70, .gpu_us = 1.69, .l = 1};

/* Least energy of an element in uJ by eq. 37, over all shares of `units` elements, and the share where it is reached. */
static double least_of_scan(const element_costs *e, int units, double *least_share)
{
    double least = INFINITY;
    for (int k = 0; k <= units; k++) {
        double share = (double)k / units, host_us = (1 - share) * e->host_us, gpu_us = share * e->gpu_us;
        double uj = (1 - share) * e->host_uj + share * e->gpu_uj + e->host_idle_w * fmax(gpu_us - host_us, 0);
        if (uj < least) least = uj, *least_share = share;
    }
    return least;
}

static void add_exact_rule(reproduce_report *report, const char *id, const element_costs *e)
{
    reproduce_add(report, &(reproduce_row){
                              .id = id,
                              .part = "rhs_exact",
                              .what = "GPU only is best above E*_gpu + P* (t_gpu + t_cpu)",
                              .unit = "uJ",
                              .published = NAN,
                              .recomputed = e->gpu_uj + e->host_idle_w * (e->gpu_us + e->host_us),
                              .kind = REPRODUCE_UNCHECKED,
                              .reason = "nothing is printed of it; the energies above are what is compared",
                              .by = "derivative of eq. 37",
                              .status = REPRODUCE_INCONSISTENT,
                              .remark = "the published case 2 is not the minimum of the paper's own eq. 37: it omits t_cpu. Between 402.5 "
                                        "and 545.8 uJ it takes the GPU alone although sharing needs less. Sandybridge is not in that "
                                        "band. yoke plan names both"});
}

static yoke_status band(reproduce_report *report)
{
    static const char id[] = "lr.case2_exact", planned[] = "lr.case2_planned";
    const element_costs *e = &in_the_band;
    const double uj = 1e6 / EXACT_UNITS, thousand_uj = 1e6 / 1000, gpu_only = case_2_uj(e), share = 1 / (1 + e->gpu_us / e->host_us);
    const double balanced = (1 - share) * e->host_uj + share * e->gpu_uj;
    reproduce_pair pair = pair_of(e, EXACT_UNITS), fine = pair_of(e, 1000);
    reproduce_outcome only_gpu, only_host, rule, best, scan;
    yoke_status status = reproduce_given(report, &pair, EXACT_UNITS, &only_gpu);
    if (!status) status = reproduce_given(report, &pair, 0, &only_host);
    if (!status) status = reproduce_alternative(report, &pair, YOKE_OBJECTIVE_ENERGY, "published", &rule);
    if (!status) status = reproduce_best(report, &pair, YOKE_OBJECTIVE_ENERGY, &best);
    if (!status) status = reproduce_best(report, &fine, YOKE_OBJECTIVE_ENERGY, &scan);
    if (status != YOKE_OK) return status;
    reproduce_section(report, "The published rule against the minimum of eq. 37",
                      "A machine as Sandybridge, but with E*_cpu = 450 uJ, E*_gpu = 260 uJ; energies of an element and iteration.");
    double scanned_share = NAN, scanned_uj = least_of_scan(e, 1000, &scanned_share);
    const struct {
        const char *id, *part, *what, *unit;
        double recomputed, check;
        const char *check_by;
        reproduce_status status;
    } rows[] = {
        {id, "E_gpu_only", "GPU only, which the published rule takes", "uJ", uj * only_gpu.energy_j, gpu_only, "eq. 38 to 40",
         REPRODUCE_INCONSISTENT},
        {id, "E_balanced", "shared by eq. 26", "uJ", uj * best.energy_j, balanced, "eq. 37", REPRODUCE_INCONSISTENT},
        {id, "E_cpu_only", "processor only", "uJ", uj * only_host.energy_j, e->host_uj, "eq. 36", REPRODUCE_INCONSISTENT},
        {id, "scan_min/0", "least of 1000 elements", "uJ", thousand_uj * scan.energy_j, scanned_uj, "eq. 37 at all shares",
         REPRODUCE_INCONSISTENT},
        {id, "scan_min/1", "its share", NULL, scan.share, scanned_share, "eq. 37 at all shares", REPRODUCE_INCONSISTENT},
        {planned, "published", "the planner's alternative \"published\"", "uJ", uj * rule.energy_j, gpu_only, "eq. 38 to 40",
         REPRODUCE_DERIVED},
        {planned, "best", "the planner's best, against the formula", "uJ", uj * best.energy_j, balanced, "eq. 37", REPRODUCE_DERIVED},
        {planned, "best_share", "its share", NULL, best.share, share, "eq. 26", REPRODUCE_DERIVED},
    };
    const int rhs_at = 5, best_at = 6;
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        if (i == rhs_at) add_exact_rule(report, id, e);
        reproduce_add(report, &(reproduce_row){.id = rows[i].id,
                                               .part = rows[i].part,
                                               .what = rows[i].what,
                                               .unit = rows[i].unit,
                                               .published = NAN,
                                               .recomputed = rows[i].recomputed,
                                               .kind = i == best_at ? REPRODUCE_REPEATED : REPRODUCE_INDEPENDENT,
                                               .reason = i == best_at ? "it is the energy of sharing by eq. 26 above" : NULL,
                                               .by = "planner",
                                               .checked = true,
                                               .check = rows[i].check,
                                               .check_by = rows[i].check_by,
                                               .relative = 1e-9,
                                               .because = REPRODUCE_ROUNDING,
                                               .status = rows[i].status});
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ energy of shares */

/* Eq. 37 with the idle times of all l iterations. */
static double cgm_energy_j(const element_costs *e, double n, double share)
{
    double host_us = (1 - share) * n * e->host_us, gpu_us = share * n * e->gpu_us, us = fmax(host_us, gpu_us);
    double uj =
        e->l * ((1 - share) * n * e->host_uj + share * n * e->gpu_uj + e->host_idle_w * (us - host_us) + e->gpu_idle_w * (us - gpu_us));
    return 1e-6 * (uj + share * n * e->copy_uj);
}

static yoke_status scan(reproduce_report *report)
{
    static const struct {
        const char *part;
        int64_t gpu_units;
    } shares[] = {{"0.0", 0}, {"0.25", 2500}, {"0.5", 5000}, {"0.75", 7500}, {"1.0", 10000}};
    element_costs e = sandybridge();
    e.gpu_idle_w = lang_sandybridge.P_idle_gpu;
    reproduce_pair pair = pair_of(&e, 10000);
    pair.accelerator.removable = false;
    reproduce_section(report, "Lang and Ruenger 2014, eq. 37: energy of 10,000 elements and 32.4 iterations over the share of the GPU",
                      "The idle GPU draws 78 W, also where it has no elements (eq. 38 leaves that out).");
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        char what[64];
        reproduce_outcome outcome;
        yoke_status status = reproduce_given(report, &pair, shares[i].gpu_units, &outcome);
        if (status != YOKE_OK) return status;
        snprintf(what, sizeof what, "share %s", shares[i].part);
        reproduce_add(report, &(reproduce_row){.id = "lr.Ecgm.scan",
                                               .part = shares[i].part,
                                               .what = what,
                                               .unit = "J",
                                               .published = NAN,
                                               .recomputed = outcome.energy_j,
                                               .kind = REPRODUCE_INDEPENDENT,
                                               .by = "planner",
                                               .checked = true,
                                               .check = cgm_energy_j(&e, 10000, outcome.share),
                                               .check_by = "eq. 37",
                                               .because = REPRODUCE_ROUNDING,
                                               .relative = 1e-12,
                                               .status = REPRODUCE_DERIVED});
    }
    e.gpu_idle_w = 0;
    pair = pair_of(&e, 10000);
    reproduce_outcome all;
    yoke_status status = reproduce_given(report, &pair, 10000, &all);
    if (status != YOKE_OK) return status;
    reproduce_add(
        report,
        &(reproduce_row){.id = "jpdc.eq40",
                         .what = "all on the GPU, eq. 40 (dissertation: 4.41)",
                         .unit = "J",
                         .published = NAN,
                         .published_text = "eq. 40",
                         .recomputed = all.energy_j,
                         .kind = REPRODUCE_INDEPENDENT,
                         .by = "planner",
                         .check_by = "eq. 40",
                         .because = REPRODUCE_ROUNDING,
                         .checked = true,
                         .check = 1e-6 * e.l * 10000 * case_2_uj(&e),
                         .relative = 1e-9,
                         .remark = "eq. 40 is consistent: the copy enters once, by E*_gpu; the processor's waiting during the copy is left "
                                   "out"});
    return YOKE_OK;
}

yoke_status lang_model(reproduce_report *report)
{
    yoke_status status = cases(report);
    if (status == YOKE_OK) status = band(report);
    if (status == YOKE_OK) status = scan(report);
    return status;
}
