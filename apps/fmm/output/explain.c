#include "output/explain.h"

#include <math.h>
#include <stdio.h>

#include "common/files/plot.h"
#include "common/files/record.h"

const app_column fmm_explain_columns[] = {
    {"tree", "depth or cells along each side of a uniform one, or most particles in a leaf of an adaptive one; * the chosen one"},
    {"order", "of the expansions"},
    {"near pairs", "ordered pairs of particles that are summed directly"},
    {"far pairs", "ordered pairs of cells whose expansions are translated"},
    {"tree s", "predicted: sorting particles, lists of near leaves, tables (tree G, ...: 10^9 instructions or cycles)"},
    {"near s", "predicted: sums over near pairs"},
    {"far s", "predicted: all operations on expansions"},
    {"predicted s", "the three together"},
    {"measured s", "the same, measured; - where the tree was not run"},
    {"energy J", "predicted; - where powers are not known"},
    {"share %", "with --devices: of the leaves, for each device in their order"},
    {"GHz", "with --devices: its frequency; - where it is left as it is"},
    {"frame", "with --frames: its number in the file"},
    {"particles", "how many it has"},
    {"total energy", "half the sum of q times potential"},
    {"sum of forces", "its length by the sum of the forces' lengths: zero except for errors"},
    {"error", "of the potentials, relative, in the 2-norm, from direct sums at some particles; - where not sampled"},
    {"seconds", "of the frame, with reading and writing"},
    {NULL, NULL},
};

static const char *unit_of(const fmm_tuned *tuned)
{
    static const char *const units[] = {"seconds", "10^9 instructions", "10^9 cycles"};
    return units[tuned->measure];
}

/* ----------------------------------------------------------------------------------------------------- figure */

/* Data for the files of the figure. */
typedef struct figure {
    const fmm_tuned *tuned;
    const char *base;
} figure;

static void print_tree(FILE *out, const fmm_depth *chosen, const char *kind, int64_t size, int depth, const fmm_depth *of)
{
    const fmm_seconds *p = &of->predicted, *m = &of->measured;
    fprintf(out, "\"%s %lld%s\" %d %d %.9g %.9g %.6e %.6e %.6e %.6e %.6e %.6e %.6e %.6e\n", kind, (long long)size, of == chosen ? "*" : "",
            depth, of->order, of->near_pairs, of->far_pairs, p->tree, p->near, p->far, p->total, m->tree, m->near, m->far, m->total);
}

/* Prints the rows of --explain.  An empty line between kinds of trees ends a line of the figure. */
static void print_data(FILE *out, const void *data)
{
    const fmm_tuned *tuned = ((const figure *)data)->tuned;
    const fmm_choice *choice = &tuned->choice;
    const fmm_depth *chosen = fmm_chosen(choice);
    fprintf(out, "# yoke fmm: %s by tree.  *: the chosen one.  nan: not measured\n", unit_of(tuned));
    fputs("# 1 tree  2 depth  3 order  4 near pairs  5 far pairs  6-9 predicted tree, near, far, total  10-13 measured, the same\n", out);
    for (int d = choice->first; d <= choice->last; d++) print_tree(out, chosen, "depth", d, d, &choice->of[d]);
    if (choice->cells > 0) {
        fputc('\n', out);
        print_tree(out, chosen, "cells", choice->cells, fmm_depth_of_cells(choice->cells), &choice->of_cells);
    }
    if (choice->num_capacities) fputc('\n', out);
    for (int k = 0; k < choice->num_capacities; k++)
        print_tree(out, chosen, "leaf", choice->capacity[k], choice->depth_at[k], &choice->at[k]);
}

static void print_script(FILE *out, const void *data)
{
    const figure *f = data;
    fprintf(out,
            "# gnuplot %s.gp, in the directory of %s.dat\n"
            "set terminal svg size 800,560 dynamic background rgb 'white'\nset encoding utf8\nset termoption noenhanced\n"
            "set output '%s.svg'\nset title 'Cost by tree (* the chosen one)'\nset logscale y\nset format y '%%g'\nset grid\n"
            "set key outside below\nset ylabel '%s'\nset xtics rotate\nset offsets 0.5, 0.5, 0, 0\n"
            "plot '%s.dat' using 0:9:xticlabels(1) with linespoints pointtype 6 title 'predicted', \\\n"
            "     '' using 0:7 with linespoints pointtype 1 dashtype 2 title 'near field', \\\n"
            "     '' using 0:8 with linespoints pointtype 2 dashtype 3 title 'far field', \\\n"
            "     '' using 0:13 with points pointtype 7 title 'measured'\n",
            f->base, f->base, f->base, unit_of(f->tuned), f->base);
}

yoke_status fmm_explain_plot(yoke_context *context, const char *path, const fmm_tuned *tuned)
{
    app_plot_place place;
    bool drawn;
    yoke_status status = app_plot_split(context, path, &place);
    if (status) return status;
    const figure data = {tuned, place.base};
    const app_plot plot = {.directory = place.directory, .base = place.base, .print_data = print_data, .print_script = print_script};
    status = app_plot_write(context, &plot, &data, &drawn);
    if (!status && !drawn)
        yoke_log(context, YOKE_LOG_WARNING, "%s: not drawn: gnuplot is not installed, or failed; data and script are there", path);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ record */

static json_t *seconds_json(const fmm_seconds *of)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "tree", app_json_number(of->tree), "near", app_json_number(of->near), "far",
                     app_json_number(of->far), "total", app_json_number(of->total));
}

/* A number for each device; null without devices. */
static json_t *each_json(int devices, const double *values)
{
    json_t *list = devices ? json_array() : json_null();
    for (int i = 0; i < devices; i++) list = app_json_append(list, app_json_number(values[i]));
    return list;
}

json_t *fmm_waves_json(uint64_t levels, int set)
{
    json_t *list = levels ? json_array() : json_null();
    for (int l = 0; l <= FMM_MAX_DEPTH; l++)
        if (levels >> l & 1) list = app_json_append(list, json_integer(l));
    return levels ? json_pack("{s:o, s:i}", "levels", list, "set", set) : list;
}

/* cells, capacity: 0 if the tree is of another kind. */
static json_t *tree_json(int depth, int64_t cells, int64_t capacity, const fmm_depth *of)
{
    return json_pack("{s:i, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "depth", depth, "cells",
                     cells > 0 ? json_integer(cells) : json_null(), "leaf_capacity", capacity > 0 ? json_integer(capacity) : json_null(),
                     "order", of->order, "plane_waves", fmm_waves_json(of->waves, of->set), "near_pairs", app_json_number(of->near_pairs),
                     "far_pairs", app_json_number(of->far_pairs), "predicted", app_json_number(of->predicted.total), "measured",
                     app_json_number(of->measured.total), "predicted_seconds", seconds_json(&of->predicted), "measured_seconds",
                     seconds_json(&of->measured), "predicted_j", app_json_number(of->predicted_j), "shares",
                     each_json(of->devices, of->part), "frequencies_hz", each_json(of->devices, of->frequency_hz), "by_operations",
                     of->by_operations > 0 && !of->devices ? app_json_number(of->by_operations) : json_null());
}

static json_t *correction_json(const fmm_factor *factor)
{
    return json_pack("{s:o, s:I}", "factor", app_json_number(factor->value), "runs", (json_int_t)factor->runs);
}

static json_t *corrections_json(const fmm_tuned *tuned)
{
    return json_pack("{s:o, s:o, s:o}", "tree", correction_json(&tuned->factor[FMM_PART_TREE]), "near",
                     correction_json(&tuned->factor[FMM_PART_NEAR]), "far", correction_json(&tuned->factor[FMM_PART_FAR]));
}

json_t *fmm_explain_json(const fmm_tuned *tuned)
{
    json_t *costs = json_array();
    for (int d = tuned ? tuned->choice.first : 0; tuned && d <= tuned->choice.last; d++)
        costs = app_json_append(costs, tree_json(d, 0, 0, &tuned->choice.of[d]));
    if (tuned && tuned->choice.cells > 0)
        costs = app_json_append(costs, tree_json(fmm_depth_of_cells(tuned->choice.cells), tuned->choice.cells, 0, &tuned->choice.of_cells));
    for (int k = 0; tuned && k < tuned->choice.num_capacities; k++)
        costs = app_json_append(costs, tree_json(tuned->choice.depth_at[k], 0, tuned->choice.capacity[k], &tuned->choice.at[k]));
    if (!tuned) return json_pack("{s:o}", "costs", costs);
    return json_pack("{s:s, s:o, s:b, s:i, s:o, s:o, s:b, s:o, s:o, s:o}", "unit", unit_of(tuned), "costs", costs, "depths_estimated",
                     tuned->choice.estimated, "depth_by_operations", fmm_depth_by_operations(&tuned->choice), "corrections",
                     corrections_json(tuned), "regret", app_json_number(fmm_tuned_regret(tuned)), "costs_measured", tuned->measured_now,
                     "costs_disturbed", app_json_number(tuned->disturbed), "costs_s", app_json_number(tuned->machine_s), "analysis_s",
                     app_json_number(tuned->analysis_s));
}
