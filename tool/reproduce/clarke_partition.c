/*
 * clarke_partition.c - FPM-PA in one dimension by the planner and by the geometrical algorithm of section 1.3, and column-based
 * arrangements.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/clarke.h"

enum { MAX_KNOTS = 3, MAX_DEVICES = 4, MAX_UNITS = 800, FINE = 1000000 };

/* Speeds are linear between knots and constant elsewhere. */
typedef struct oracle {
    const char *name;
    int64_t units;
    int num_devices, num_knots[MAX_DEVICES];
    double knots[MAX_DEVICES][MAX_KNOTS][2]; /* units, units/s */
    bool rising;                             /* the seconds rise with the units everywhere */
} oracle;

static const oracle oracles[] = {
    {"A_const", 800, 4, {1, 1, 1, 1}, {{{1, 400}}, {{1, 200}}, {{1, 100}}, {{1, 100}}}, true},
    {"B_drop", 200, 2, {1, 2}, {{{1, 10}}, {{100, 20}, {200, 8}}}, true},
    {"C_three", 300, 3, {3, 3, 2}, {{{1, 5}, {50, 30}, {300, 30}}, {{1, 60}, {100, 60}, {150, 15}}, {{1, 12}, {400, 10}}}, true},
    {"D_nonunique", 105, 2, {1, 3}, {{{1, 10}}, {{50, 10}, {60, 20}, {200, 20}}}, false},
};

enum { NUM_ORACLES = sizeof oracles / sizeof oracles[0] };

static double speed(const oracle *all, int device, double units)
{
    const double(*knots)[2] = all->knots[device];
    int last = all->num_knots[device] - 1;
    if (units <= knots[0][0]) return knots[0][1];
    for (int k = 0; k < last; k++)
        if (units <= knots[k + 1][0])
            return knots[k][1] + (units - knots[k][0]) / (knots[k + 1][0] - knots[k][0]) * (knots[k + 1][1] - knots[k][1]);
    return knots[last][1];
}

static double seconds(const oracle *all, int device, double units) { return units > 0 ? units / speed(all, device, units) : 0; }

/* Finds where a ray of a given slope meets the graph of a speed. */
static double meet(const oracle *all, int device, double slope)
{
    double low = 0, high = (double)all->units;
    for (int k = 0; k < 100; k++) {
        double middle = (low + high) / 2;
        if (speed(all, device, middle) - slope * middle > 0)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The geometrical algorithm: bisects the slope of a ray.  The shares are those of the upper line. */
static void bisect(const oracle *all, double shares[MAX_DEVICES])
{
    double even = (double)all->units / all->num_devices, upper = 0, lower = INFINITY;
    for (int i = 0; i < all->num_devices; i++) {
        upper = fmax(upper, speed(all, i, even) / even);
        lower = fmin(lower, speed(all, i, even) / even);
    }
    for (int k = 0; k < 100; k++) {
        double slope = (upper + lower) / 2, sum = 0;
        for (int i = 0; i < all->num_devices; i++) sum += meet(all, i, slope);
        if (sum < (double)all->units)
            upper = slope;
        else
            lower = slope;
    }
    for (int i = 0; i < all->num_devices; i++) shares[i] = meet(all, i, upper);
}

/*
 * Minimum over all integer shares of the longest time, by dynamic programming over devices and units: F_i(m) = min over d of max(F_i-1(m -
 * d), t_i(d)).
 */
static void enumerate(const oracle *all, int64_t shares[MAX_DEVICES], double *longest)
{
    static double least[MAX_DEVICES + 1][MAX_UNITS + 1];
    static int64_t taken[MAX_DEVICES + 1][MAX_UNITS + 1];
    for (int64_t m = 0; m <= all->units; m++) least[0][m] = m == 0 ? 0 : INFINITY;
    for (int i = 1; i <= all->num_devices; i++)
        for (int64_t m = 0; m <= all->units; m++) {
            least[i][m] = INFINITY;
            for (int64_t d = 0; d <= m; d++) {
                double then = fmax(least[i - 1][m - d], seconds(all, i - 1, (double)d));
                if (then < least[i][m]) {
                    least[i][m] = then;
                    taken[i][m] = d;
                }
            }
        }
    *longest = least[all->num_devices][all->units];
    for (int64_t i = all->num_devices, m = all->units; i > 0; m -= taken[i][m], i--) shares[i - 1] = taken[i][m];
}

/* The planner's shares of units x fine pieces, expressed in units, and its time. */
static yoke_status plan(reproduce_report *report, const oracle *all, int64_t fine, double shares[MAX_DEVICES], double *time_s)
{
    static const char *const names[MAX_DEVICES] = {"1", "2", "3", "4"};
    double points[MAX_DEVICES][MAX_KNOTS][2];
    yoke_plan_level levels[MAX_DEVICES];
    yoke_plan_device devices[MAX_DEVICES];
    for (int i = 0; i < all->num_devices; i++) {
        for (int k = 0; k < all->num_knots[i]; k++) {
            points[i][k][0] = all->knots[i][k][0] * (double)fine;
            points[i][k][1] = all->knots[i][k][0] / all->knots[i][k][1];
        }
        levels[i] = (yoke_plan_level){
            .frequency_hz = NAN, .dynamic_power_w = NAN, .idle_power_w = NAN, .num_points = all->num_knots[i], .points = &points[i][0][0]};
        devices[i] = (yoke_plan_device){.name = names[i], .host = 1, .num_levels = 1, .levels = &levels[i], .max_units = INT64_MAX};
    }
    const yoke_plan_problem problem = {.units = all->units * fine,
                                       .repetitions = 1,
                                       .base_power_w = NAN,
                                       .host_overhead_w = NAN,
                                       .num_devices = all->num_devices,
                                       .devices = devices};
    const yoke_plan_options options = {.objective = YOKE_OBJECTIVE_TIME, .bare = 1};
    yoke_context *context = reproduce_context(report);
    yoke_plan *made = NULL;
    yoke_status status = yoke_plan_create(context, &problem, &options, &made);
    if (status != YOKE_OK) return status;
    if (!made->feasible || !made->optimal)
        status = yoke_fail(context, YOKE_ERROR_INTERNAL, "the planner did not prove its shares of oracle %s to be the best", all->name);
    for (int i = 0; i < all->num_devices && status == YOKE_OK; i++) shares[i] = (double)made->best.units[i] / (double)fine;
    if (status == YOKE_OK) *time_s = made->best.time_s;
    yoke_release(context, made);
    return status;
}

static const char planner[] = "planner", rays[] = "bisection of rays", programming[] = "dynamic programming";

/* Adds a row of an oracle; this function sets id, part and text. */
static void add_named(reproduce_report *report, const oracle *all, const char *part, int index, const char *what, const reproduce_row *of)
{
    reproduce_row row = *of;
    char id[64], parts[64], text[96];
    snprintf(id, sizeof id, "fpm.oracle.%s", all->name);
    if (index >= 0)
        snprintf(parts, sizeof parts, "%s/%d", part, index);
    else
        snprintf(parts, sizeof parts, "%s", part);
    if (index >= 0)
        snprintf(text, sizeof text, "%c: %s of device %d", all->name[0], what, index + 1);
    else
        snprintf(text, sizeof text, "%c: %s", all->name[0], what);
    row.id = id, row.part = parts, row.what = text, row.published = NAN, row.status = REPRODUCE_DERIVED;
    reproduce_add(report, &row);
}

/* Adds a number of an oracle that is not compared. */
static void add_alone(reproduce_report *report, const oracle *all, const char *part, int index, const char *what, const char *unit,
                      double recomputed, const char *reason, const char *remark)
{
    add_named(report, all, part, index, what,
              &(reproduce_row){.unit = unit, .recomputed = recomputed, .kind = REPRODUCE_UNCHECKED, .reason = reason, .remark = remark});
}

/* Adds a number of an oracle, compared with the same number found by another method. */
static void add(reproduce_report *report, const oracle *all, const char *part, int index, const char *what, const char *unit,
                double recomputed, double check, const char *by, const char *check_by, const char *remark)
{
    add_named(report, all, part, index, what,
              &(reproduce_row){.unit = unit,
                               .recomputed = recomputed,
                               .kind = REPRODUCE_INDEPENDENT,
                               .by = by,
                               .checked = true,
                               .check = check,
                               .check_by = check_by,
                               .absolute = 1e-5,
                               .because = "the planner's units are cut into 10^6 pieces; 1e-5 is our choice",
                               .remark = remark});
}

/* Adds the planner's results, compared with those of geometry and enumeration. */
static void add_rising(reproduce_report *report, const oracle *all, const double fine[], const double whole[], double whole_s)
{
    double bisected[MAX_DEVICES], longest;
    int64_t enumerated[MAX_DEVICES];
    bisect(all, bisected);
    enumerate(all, enumerated, &longest);
    for (int i = 0; i < all->num_devices; i++)
        add(report, all, "bisection", i, "real share", NULL, fine[i], bisected[i], planner, rays, NULL);
    for (int i = 0; i < all->num_devices; i++)
        add(report, all, "t", i, "time of the share", "s", seconds(all, i, fine[i]), seconds(all, i, bisected[i]), planner, rays, NULL);
    add(report, all, "integer_minmax_time", -1, "least time of whole units", "s", whole_s, longest, planner, programming, NULL);
    /* If there are several best distributions, dynamic programming may find another one, so the times are compared. */
    double of_whole = 0;
    for (int i = 0; i < all->num_devices; i++) of_whole = fmax(of_whole, seconds(all, i, whole[i]));
    add(report, all, "integer_distribution_time", -1, "longest time of the planner's whole units", "s", of_whole, longest, planner,
        programming, NULL);
    for (int i = 0; i < all->num_devices; i++)
        add_alone(report, all, "integer_distribution", i, "whole units", NULL, whole[i],
                  "of several best distributions this is one; its time is compared above", NULL);
}

/* Least longest time of two devices, by trying all whole shares; *first: units of the first device. */
static double try_all(const oracle *all, int64_t *first)
{
    double least = INFINITY;
    for (int64_t d = 0; d <= all->units; d++) {
        double longest = fmax(seconds(all, 0, (double)d), seconds(all, 1, (double)(all->units - d)));
        if (longest < least) least = longest, *first = d;
    }
    return least;
}

/* For two devices.  The planner repairs a model that falls, so these numbers refer to the curve as it is. */
static void add_falling(reproduce_report *report, const oracle *all, double repaired_s)
{
    static const char no_share[] = "a ray has several shares on this curve; what bisection ends with is nothing but that";
    static const char every[] = "trying all shares";
    double bisected[MAX_DEVICES], longest;
    int64_t enumerated[MAX_DEVICES], first = 0;
    char remark[320];
    double least = try_all(all, &first);
    bisect(all, bisected);
    enumerate(all, enumerated, &longest);
    for (int i = 0; i < all->num_devices; i++)
        add_alone(report, all, "bisection", i, "real share (upper line)", NULL, bisected[i], no_share,
                  i == 1 ? "device 2 takes 5 s for 50 units and 3 s for 60: a ray meets its graph up to three times, and the sum of units "
                           "jumps past 105, so that bisection ends with 84 units"
                         : NULL);
    for (int i = 0; i < all->num_devices; i++)
        add_alone(report, all, "t", i, "time of the share", "s", seconds(all, i, bisected[i]), no_share, NULL);
    snprintf(
        remark, sizeof remark,
        "by enumeration of the curve as it is; yoke's planner takes the running maximum of seconds instead, since noise makes such dips, "
        "and says %.4g s",
        repaired_s);
    add(report, all, "integer_minmax_time", -1, "least time of whole units", "s", longest, least, programming, every, remark);
    for (int i = 0; i < all->num_devices; i++)
        add(report, all, "integer_distribution", i, "whole units", NULL, (double)enumerated[i],
            (double)(i == 0 ? first : all->units - first), programming, every, NULL);
}

/* B in closed form: with x units on device 2 (speed 32 - 0.12 x beyond its first knot), (200 - x) / 10 = x / (32 - 0.12 x). */
static void add_closed(reproduce_report *report, const double shares[], double time_s)
{
    const double a = 0.12, b = -(32 + 0.12 * 200 + 10), c = 32 * 200, x = (-b - sqrt(b * b - 4 * a * c)) / (2 * a);
    const struct {
        const char *part, *what;
        double value, check;
    } numbers[] = {{"x2", "B in closed form: units of device 2", x, shares[1]},
                   {"x1", "units of device 1", 200 - x, shares[0]},
                   {"t", "seconds of both", (200 - x) / 10, time_s}};
    for (int k = 0; k < 3; k++)
        reproduce_add(report, &(reproduce_row){.id = "fpm.oracle.B_closed",
                                               .part = numbers[k].part,
                                               .what = numbers[k].what,
                                               .published = NAN,
                                               .recomputed = numbers[k].value,
                                               .kind = REPRODUCE_INDEPENDENT,
                                               .by = "root of a quadratic equation",
                                               .checked = true,
                                               .check = numbers[k].check,
                                               .check_by = planner,
                                               .absolute = 1e-5,
                                               .because = "the planner's units are cut into 10^6 pieces; 1e-5 is our choice",
                                               .status = REPRODUCE_DERIVED,
                                               .remark = k == 0 ? "the root below 200 of 0.12 x^2 - 66 x + 6400 = 0" : NULL});
}

yoke_status clarke_partitions(reproduce_report *report)
{
    reproduce_section(
        report, "Clarke and others, section 1.3: partitions by functional performance models",
        "The chapter prints no numbers of a model. Real shares are the planner's, of units cut into 10^6 pieces, checked by bisecting the "
        "ray of section 1.3; whole ones are checked by dynamic programming.");
    double closed[MAX_DEVICES] = {0}, closed_s = NAN;
    for (int k = 0; k < NUM_ORACLES; k++) {
        double fine[MAX_DEVICES] = {0}, whole[MAX_DEVICES] = {0}, fine_s = NAN, whole_s = NAN;
        yoke_status status = plan(report, &oracles[k], FINE, fine, &fine_s);
        if (status == YOKE_OK) status = plan(report, &oracles[k], 1, whole, &whole_s);
        if (status != YOKE_OK) return status;
        if (oracles[k].rising)
            add_rising(report, &oracles[k], fine, whole, whole_s);
        else
            add_falling(report, &oracles[k], whole_s);
        if (k == 1) memcpy(closed, fine, sizeof closed), closed_s = fine_s;
    }
    add_closed(report, closed, closed_s);
    return YOKE_OK;
}

/* --------------------------------------------------------------------------------------------------- columns */

enum { MAX_AREAS = 9, SIDE = 1000000 };

static const struct arrangement {
    const char *name, *text;
    int64_t count;
    double areas[MAX_AREAS];
} arrangements[] = {
    {"4eq", "four equal", 4, {1, 1, 1, 1}},
    {"8_4_2_2", "8 4 2 2", 4, {8, 4, 2, 2}},
    {"skew", "50 20 10 5 5 5 3 2", 8, {50, 20, 10, 5, 5, 5, 3, 2}},
    {"9eq", "nine equal", 9, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
    {"5", "5 4 3 2 1", 5, {5, 4, 3, 2, 1}},
};

/* Least sum of half perimeters over all groupings into columns: area i and each later one joins a group or opens a new one. */
static double least_half_perimeter(const struct arrangement *all, double total, int64_t i, int groups, int sizes[], double sums[])
{
    double least = INFINITY, sum = 0;
    if (i == all->count) {
        for (int g = 0; g < groups; g++) sum += 1 + sizes[g] * sums[g];
        return sum;
    }
    for (int g = 0; g <= groups; g++) {
        double before = g < groups ? sums[g] : 0;
        sizes[g] = g < groups ? sizes[g] + 1 : 1;
        sums[g] = before + all->areas[i] / total;
        least = fmin(least, least_half_perimeter(all, total, i + 1, g < groups ? groups : groups + 1, sizes, sums));
        sizes[g]--;
        sums[g] = before;
    }
    return least;
}

/* Numbers of areas of the columns from left to right, sorted in descending order.  Returns the number of columns. */
static int column_sizes(int64_t count, const yoke_rectangle *rectangles, int sizes[MAX_AREAS])
{
    int columns = 0;
    for (int64_t at = 0; at < SIDE; columns++) {
        int64_t width = SIDE;
        sizes[columns] = 0;
        for (int64_t i = 0; i < count; i++)
            if (rectangles[i].column == at) {
                sizes[columns]++;
                width = rectangles[i].columns;
            }
        at += width;
    }
    return columns;
}

static void add_arrangement(reproduce_report *report, const struct arrangement *all, const yoke_rectangle *rectangles,
                            double half_perimeter)
{
    int sizes[MAX_AREAS + 1] = {0};
    double sums[MAX_AREAS + 1] = {0}, total = 0, bound = 0;
    for (int64_t i = 0; i < all->count; i++) total += all->areas[i];
    for (int64_t i = 0; i < all->count; i++) bound += 2 * sqrt(all->areas[i] / total);
    double least = least_half_perimeter(all, total, 0, 0, sizes, sums);
    int columns = column_sizes(all->count, rectangles, sizes);
    char id[32], what[80], part[48];
    snprintf(id, sizeof id, "fpm.cma.%s", all->name);
    snprintf(what, sizeof what, "areas %s: half perimeters", all->text);
    reproduce_row row = {.id = id,
                         .part = "half_perimeter_sum_unit_square",
                         .what = what,
                         .published = NAN,
                         .recomputed = half_perimeter,
                         .kind = REPRODUCE_INDEPENDENT,
                         .by = planner,
                         .checked = true,
                         .check = least,
                         .check_by = "trying all groupings into columns",
                         .because = REPRODUCE_ROUNDING,
                         .absolute = 1e-9,
                         .status = REPRODUCE_DERIVED};
    reproduce_add(report, &row);
    row.checked = false, row.absolute = 0, row.because = NULL;
    row.kind = REPRODUCE_UNCHECKED, row.reason = "of several best groupings this is one; its half perimeters are compared above";
    row.part = part;
    for (int c = 0; c < columns; c++) {
        snprintf(part, sizeof part, "columns_sizes_ascending/%d", c);
        snprintf(what, sizeof what, "rectangles in column %d", c + 1);
        row.recomputed = sizes[c];
        reproduce_add(report, &row);
    }
    row.reason = "a bound, not a result: one formula, and one way to it";
    row.part = "lower_bound_2sum_sqrt";
    row.what = "lower bound: all are squares";
    row.recomputed = bound;
    reproduce_add(report, &row);
}

yoke_status clarke_columns(reproduce_report *report)
{
    reproduce_section(report, "Clarke and others, section 1.9: column-based arrangements (CMA)",
                      "Checked by trying all groupings into columns.");
    for (size_t k = 0; k < sizeof arrangements / sizeof arrangements[0]; k++) {
        yoke_rectangle rectangles[MAX_AREAS];
        double half_perimeter;
        yoke_status status = yoke_plan_columns(reproduce_context(report), arrangements[k].count, arrangements[k].areas, SIDE, SIDE,
                                               rectangles, &half_perimeter);
        if (status != YOKE_OK) return status;
        add_arrangement(report, &arrangements[k], rectangles, half_perimeter);
    }
    return YOKE_OK;
}
