/*
 * table.c - writes as text how a tree was chosen, and what devices did.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "solve/parts.h"

/* A text to which more is added; after an error nothing is added. */
typedef struct writing {
    yoke_context *context;
    char *text;
    int64_t length, room;
    yoke_status status;
} writing;

static void add(writing *w, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int bytes = vsnprintf(NULL, 0, format, again);
    va_end(again);
    while (!w->status && w->room <= w->length + bytes) w->status = yoke_grow(w->context, &w->text, w->room, &w->room, 4096, 1);
    if (!w->status) w->length += vsnprintf(w->text + w->length, (size_t)(w->room - w->length), format, list);
    va_end(list);
}

static yoke_status finish(writing *w, char **text)
{
    if (w->status)
        yoke_release(w->context, w->text);
    else
        *text = w->text;
    return w->status;
}

/* Adds a number; - if it is not known. */
static void add_number(writing *w, int width, double number)
{
    if (isfinite(number))
        add(w, " %*.3g", width, number);
    else
        add(w, " %*s", width, "-");
}

/* Adds a number for each device, with / between them. */
static void add_each(writing *w, int devices, const double *values, double scale)
{
    for (int i = 0; i < devices; i++) {
        add(w, "%s", i ? "/" : "  ");
        if (isnan(values[i]))
            add(w, "-");
        else
            add(w, "%.3g", scale * values[i]);
    }
}

static void add_tree(writing *w, const fmm_tuned *tuned, const char *kind, int64_t size, const fmm_depth *of)
{
    add(w, "%-5s%5lld%s %5d %10.3g %9.3g %7.3g %7.3g %7.3g %11.3g", kind, (long long)size, of == fmm_chosen(&tuned->choice) ? "*" : " ",
        of->order, of->near_pairs, of->far_pairs, of->predicted.tree, of->predicted.near, of->predicted.far, of->predicted.total);
    add_number(w, 10, of->measured.total);
    add_number(w, 8, of->predicted_j);
    add_each(w, of->devices, of->part, 100);
    add_each(w, of->devices, of->frequency_hz, 1e-9);
    add(w, "\n");
}

/* Adds the corrections that were learned from earlier runs. */
static void add_corrections(writing *w, const fmm_tuned *tuned)
{
    static const char *const names[FMM_TIMED_PARTS] = {"tree", "near", "far"};
    for (int part = 0; part < FMM_TIMED_PARTS; part++)
        add(w, "%s %s x %.3g (%lld runs)", part ? "," : "predictions corrected by earlier runs:", names[part], tuned->factor[part].value,
            (long long)tuned->factor[part].runs);
    add(w, "\n");
}

/* Counts a tree that was run, and finds the time of the fastest one. */
static void note_run(const fmm_depth *tree, int *count, double *fastest_s)
{
    *count += !isnan(tree->measured.total);
    *fastest_s = fmin(*fastest_s, tree->measured.total);
}

double fmm_tuned_regret(const fmm_tuned *tuned)
{
    const fmm_choice *choice = &tuned->choice;
    double fastest_s = INFINITY;
    int count = 0;
    for (int d = choice->first; d <= choice->last; d++) note_run(&choice->of[d], &count, &fastest_s);
    for (int k = 0; k < choice->num_capacities; k++) note_run(&choice->at[k], &count, &fastest_s);
    if (choice->cells > 0) note_run(&choice->of_cells, &count, &fastest_s);
    return count > 1 ? fmm_chosen(choice)->measured.total / fastest_s - 1 : (double)NAN;
}

static void add_waves(writing *w, const fmm_depth *of)
{
    add(w, "far pairs of cells: ");
    for (int l = 0, count = 0; l <= FMM_MAX_DEPTH; l++)
        if (of->waves >> l & 1) add(w, "%s %d", count++ ? "," : "plane waves on levels", l);
    if (of->waves) add(w, " (of set %d), on others ", of->set);
    add(w, "rotations\n");
}

static void add_choice(writing *w, const fmm_tuned *tuned)
{
    const double regret = fmm_tuned_regret(tuned);
    const fmm_choice *choice = &tuned->choice;
    const char unit = tuned->measure ? 'G' : 's';
    if (tuned->measure) add(w, "costs of a tree are %s in user mode; G: 10^9 of all threads\n", fmm_measure_names[tuned->measure]);
    add(w, "tree        order near pairs far pairs  tree %c  near %c   far %c predicted %c measured %c energy J%s\n", unit, unit, unit,
        unit, unit, fmm_chosen(choice)->devices ? "  share %  GHz" : "");
    for (int d = choice->first; d <= choice->last; d++) add_tree(w, tuned, "depth", d, &choice->of[d]);
    if (choice->cells > 0) add_tree(w, tuned, "cells", choice->cells, &choice->of_cells);
    for (int k = 0; k < choice->num_capacities; k++) add_tree(w, tuned, "leaf", choice->capacity[k], &choice->at[k]);
    if (choice->estimated)
        add(w, "the particles fill their box evenly: depths are estimated without sorting, and adaptive trees are not compared\n");
    if (choice->thin) add(w, "the particles are spread evenly over surfaces or curves: adaptive trees are not compared\n");
    add_waves(w, fmm_chosen(choice));
    if (!tuned->measure) add_corrections(w, tuned);
    if (tuned->disturbed > 0)
        add(w,
            "other programs had a core for up to %.0f %% of the time in which costs were measured; a run while the cores are free "
            "measures these again\n",
            100 * tuned->disturbed);
    if (choice->last > choice->first) {
        const int depth = fmm_depth_by_operations(choice);
        add(w, "of these depths, %d has the fewest operations", depth);
        if (!choice->of[depth].devices)
            add(w, "; by them it takes %.3g %c", choice->of[depth].by_operations, unit); /* that model has no devices */
        add(w, ", by measured costs %.3g %c\n", choice->of[depth].predicted.total, unit);
    }
    if (isnan(regret)) return;
    if (tuned->measure)
        add(w, "the chosen tree took %.1f %% more %s than the one of the least\n", 100 * regret, fmm_measure_names[tuned->measure]);
    else
        add(w, "the chosen tree took %.1f %% longer than the fastest\n", 100 * regret);
}

yoke_status fmm_tuned_text(yoke_context *context, const fmm_tuned *tuned, char **text)
{
    writing w = {.context = context};
    add_choice(&w, tuned);
    return finish(&w, text);
}

static void add_parts(writing *w, const fmm_solution *found)
{
    double all = 0;
    for (int i = 0; i < found->parts; i++) all += found->part[i].pairs;
    for (int i = 0; i < found->parts; i++) {
        const fmm_shared_part *part = &found->part[i];
        add(w, "%s%s %.3g %%", i ? ", " : "near field: ", part->device, all > 0 ? 100 * part->pairs / all : 0);
        if (!isnan(part->seconds)) add(w, " (%.3g s)", part->seconds);
        if (part->failed) add(w, " (failed)");
    }
    add(w, " of the pairs\n");
}

yoke_status fmm_parts_text(yoke_context *context, const fmm_solution *found, char **text)
{
    writing w = {.context = context};
    add_parts(&w, found);
    return finish(&w, text);
}

yoke_status fmm_solver_explain(const fmm_solver *s, const fmm_solution *found, char **text)
{
    writing w = {.context = s->context};
    char *devices = NULL;
    add(&w, "%s", "");
    if (s->chosen) add_choice(&w, &s->tuned);
    if (found->parts) add_parts(&w, found);
    if (s->run && !w.status) w.status = yoke_run_explain(s->run, &devices);
    if (devices) add(&w, "%s", devices);
    yoke_release(s->context, devices);
    return finish(&w, text);
}
