#include "clarke/output.h"

#include <stdio.h>

#include "common/files/directory.h"
#include "common/files/plot.h"
#include "common/files/record.h"

/* --------------------------------------------------------------------------------------------------- tables */

void clarke_print_runs_head(app_terminal *terminal)
{
    app_print(terminal, "%8s %7s  %17s %17s %17s %17s %7s %9s %6s  %s\n", "N", "blocks", "fpm", "cpm-multi", "cpm", "even", "rounds",
              "measuring", "comm", "products");
}

void clarke_print_runs(app_terminal *terminal, const clarke_run *runs)
{
    static const yoke_nested_strategy order[] = {YOKE_NESTED_FPM, YOKE_NESTED_MULTIPLE_CPM, YOKE_NESTED_SINGLE_CPM,
                                                 YOKE_NESTED_HOMOGENEOUS};
    const clarke_run *fpm = &runs[YOKE_NESTED_FPM];
    bool right = true;
    app_print(terminal, "%8lld %7lld ", (long long)fpm->blocks * CLARKE_BLOCK, (long long)fpm->blocks);
    for (int k = 0; k < CLARKE_STRATEGIES; k++) {
        const clarke_run *run = &runs[order[k]];
        app_print(terminal, " %6.3f (%6.1f %%)", 1e-12 * run->operations_per_s, 100 * run->imbalance);
        right = right && run->wrong == 0;
    }
    app_print(terminal, " %7lld %7.2f %% %4.1f %%  %s\n", (long long)fpm->rounds, 100 * fpm->measuring_s / fpm->traffic.seconds,
              100 * fpm->traffic.communication_s / fpm->traffic.seconds,
              fpm->edge == 0 ? "-"
              : right        ? "right"
                             : "WRONG");
}

void clarke_print_steps(app_terminal *terminal, const clarke_study *study)
{
    app_print(terminal, "%6s  %s\n", "timing", "blocks: seconds of C2050, T10, 8 cores and 2 cores");
    for (int k = 0; k < study->num_steps; k++) {
        const clarke_model_step *step = &study->steps[k];
        app_print(terminal, "%6d ", k);
        for (int i = 0; i < 4; i++) app_print(terminal, " %7lld: %8.4f", (long long)step->units[i], step->seconds[i]);
        app_print(terminal, "  %7.1f %%\n", 100 * step->imbalance);
    }
}

/* ---------------------------------------------------------------------------------------------------- data */

static void print_runs(FILE *out, const void *data)
{
    const clarke_study *study = data;
    fputs(
        "N,blocks,strategy,flops,imbalance,rounds,timings,converged,measuring_s,seconds,communication_s,messages,blocks_sent,edge,wrong\n",
        out);
    for (int k = 0; k < study->num_runs; k++) {
        const clarke_run *run = &study->runs[k];
        fprintf(out, "%lld,%lld,%s,%.9g,%.9g,%lld,%lld,%d,%.9g,%.9g,%.9g,%lld,%lld,%lld,%lld\n", (long long)run->blocks * CLARKE_BLOCK,
                (long long)run->blocks, clarke_strategy_name(run->strategy), run->operations_per_s, run->imbalance, (long long)run->rounds,
                (long long)run->timings, run->converged, run->measuring_s, run->traffic.seconds, run->traffic.communication_s,
                (long long)run->traffic.messages, (long long)run->traffic.blocks, (long long)run->edge, (long long)run->wrong);
    }
}

static void print_models(FILE *out, const void *data)
{
    const clarke_study *study = data;
    fputs("timing,device,blocks,seconds,imbalance\n", out);
    for (int k = 0; k < study->num_steps; k++)
        for (int i = 0; i < 4; i++)
            fprintf(out, "%d,%d,%lld,%.9g,%.9g\n", k, i, (long long)study->steps[k].units[i], study->steps[k].seconds[i],
                    study->steps[k].imbalance);
}

static void print_speeds(FILE *out, const void *data)
{
    const clarke_study *study = data;
    fputs("node,blocks,flops\n", out);
    for (int c = 0; c < CLARKE_CURVES; c++)
        for (int p = 0; p < CLARKE_POINTS; p++)
            fprintf(out, "\"%s\",%.9g,%.9g\n", study->curves[c].name, study->curves[c].blocks[p], study->curves[c].operations_per_s[p]);
}

/* Returns the run with the largest matrices and functional models; these runs are the last ones. */
static const clarke_run *largest(const clarke_study *study)
{
    for (int k = study->num_runs - 1; k >= 0; k--)
        if (study->runs[k].strategy == YOKE_NESTED_FPM) return &study->runs[k];
    return NULL;
}

static void print_rectangles(FILE *out, const void *data)
{
    const clarke_study *study = data;
    const clarke_run *run = largest(study);
    fputs("node,kind,cores,card,row,column,rows,columns\n", out);
    for (int64_t i = 0; run != NULL && i < study->cluster.num_nodes; i++) {
        const clarke_node *node = &study->cluster.nodes[i];
        const yoke_rectangle *r = &run->nodes[i];
        fprintf(out, "%lld,%s,%d,%s,%lld,%lld,%lld,%lld\n", (long long)i, node->kind, node->cores, node->card ? node->card->name : "",
                (long long)r->row, (long long)r->column, (long long)r->rows, (long long)r->columns);
    }
}

/* --------------------------------------------------------------------------------------------------- figures */

static void draw_runs(FILE *out, const clarke_study *study, bool imbalance)
{
    for (int s = 0; s < CLARKE_STRATEGIES; s++) {
        fprintf(out, "$%s%d << END\n", imbalance ? "i" : "s", s);
        for (int k = 0; k < study->num_runs; k++)
            if ((int)study->runs[k].strategy == s)
                fprintf(out, "%.6g %.6g\n", 1e-3 * (double)study->runs[k].blocks * CLARKE_BLOCK,
                        imbalance ? 100 * study->runs[k].imbalance : 1e-12 * study->runs[k].operations_per_s);
        fputs("END\n", out);
    }
    fprintf(out, "set xlabel 'N / 1000'\nset ylabel '%s'\n%splot ", imbalance ? "imbalance of nodes, %" : "TFLOPS",
            imbalance ? "set logscale y\n" : "");
    for (int s = 0; s < CLARKE_STRATEGIES; s++)
        fprintf(out, "%s$%s%d using 1:2 with linespoints title '%s'", s ? ", " : "", imbalance ? "i" : "s", s,
                clarke_strategy_name((yoke_nested_strategy)s));
    fputs(imbalance ? ", 5 with lines dashtype 2 title '5 %'\nunset logscale y\n" : "\n", out);
}

static void draw_speeds(FILE *out, const clarke_study *study)
{
    for (int c = 0; c < CLARKE_CURVES; c++) {
        fprintf(out, "$c%d << END\n", c);
        for (int p = 0; p < CLARKE_POINTS; p++)
            fprintf(out, "%.6g %.6g\n", 1e-3 * study->curves[c].blocks[p], 1e-9 * study->curves[c].operations_per_s[p]);
        fputs("END\n", out);
    }
    fputs("set title 'speed of nodes (fig. 1.9)'\nset xlabel 'blocks of C / 1000'\nset ylabel 'GFLOPS'\nplot ", out);
    for (int c = 0; c < CLARKE_CURVES; c++) fprintf(out, "%s$c%d using 1:2 with lines title '%s'", c ? ", " : "", c, study->curves[c].name);
    fputc('\n', out);
}

static void draw_models(FILE *out, const clarke_study *study)
{
    static const char *const names[] = {"C2050", "T10", "8 cores", "2 cores"};
    for (int i = 0; i < 4; i++) {
        fprintf(out, "$m%d << END\n", i);
        for (int k = 0; k < study->num_steps; k++)
            if (study->steps[k].units[i] > 0) fprintf(out, "%d %.6g\n", k, study->steps[k].seconds[i]);
        fputs("END\n", out);
    }
    fputs("set title 'four devices, partial models (fig. 1.6)'\nset xlabel 'timing'\nset ylabel 'seconds of a step'\nset logscale y\nplot ",
          out);
    for (int i = 0; i < 4; i++) fprintf(out, "%s$m%d using 1:2 with linespoints title '%s'", i ? ", " : "", i, names[i]);
    fputs("\nunset logscale y\n", out);
}

static void draw_rectangles(FILE *out, const clarke_study *study)
{
    const clarke_run *run = largest(study);
    if (run == NULL) return;
    for (int64_t i = 0; i < study->cluster.num_nodes; i++) {
        const yoke_rectangle *r = &run->nodes[i];
        fprintf(out, "set object %d rectangle from %lld, %lld to %lld, %lld fillcolor rgb '%s' fillstyle solid 0.6 border lc rgb 'black'\n",
                (int)i + 1, (long long)r->column, (long long)r->row, (long long)(r->column + r->columns), (long long)(r->row + r->rows),
                study->cluster.nodes[i].card ? "#4477aa" : "#ddcc77");
    }
    fprintf(
        out,
        "set title 'nodes of N = %lld; those with cards are blue (fig. 1.8a)'\nset xlabel 'blocks'\nset ylabel ''\nset xrange [0:%lld]\n"
        "set yrange [%lld:0]\nset size square\nunset grid\nplot NaN notitle\n",
        (long long)run->blocks * CLARKE_BLOCK, (long long)run->blocks, (long long)run->blocks);
}

static void print_script(FILE *out, const void *data)
{
    const clarke_study *study = data;
    fputs("# gnuplot clarke.gp\nset terminal svg size 1100, 1300 noenhanced background 'white'\nset output 'clarke.svg'\nset grid\n"
          "set key below\nset multiplot layout 3, 2\nset title 'speed of the cluster (fig. 1.10)'\n",
          out);
    draw_runs(out, study, false);
    fputs("set title 'balance'\n", out);
    draw_runs(out, study, true);
    draw_speeds(out, study);
    draw_models(out, study);
    draw_rectangles(out, study);
    fputs("unset multiplot\n", out);
}

yoke_status clarke_write(yoke_context *context, const char *directory, const clarke_study *study, bool *drawn)
{
    const app_plot plot = {
        .directory = directory, .base = "clarke", .ending = ".csv", .print_data = print_runs, .print_script = print_script};
    yoke_status status = app_directory_make(context, directory);
    if (!status) status = app_file_write(context, directory, "clarke-models.csv", print_models, study);
    if (!status) status = app_file_write(context, directory, "clarke-speeds.csv", print_speeds, study);
    if (!status) status = app_file_write(context, directory, "clarke-rectangles.csv", print_rectangles, study);
    return status ? status : app_plot_write(context, &plot, study, drawn);
}

/* --------------------------------------------------------------------------------------------------- record */

json_t *clarke_runs_value(const clarke_study *study)
{
    json_t *array = json_array();
    for (int k = 0; k < study->num_runs; k++) {
        const clarke_run *run = &study->runs[k];
        array =
            app_json_append(array, json_pack("{s:I, s:I, s:s, s:f, s:f, s:I, s:I, s:b, s:f, s:f, s:f, s:I, s:I, s:I, s:o}", "n",
                                             (json_int_t)run->blocks * CLARKE_BLOCK, "blocks", (json_int_t)run->blocks, "partition",
                                             clarke_strategy_name(run->strategy), "gflops", 1e-9 * run->operations_per_s, "imbalance",
                                             run->imbalance, "rounds", (json_int_t)run->rounds, "timings", (json_int_t)run->timings,
                                             "converged", run->converged, "measuring_s", run->measuring_s, "seconds", run->traffic.seconds,
                                             "communication_s", run->traffic.communication_s, "messages", (json_int_t)run->traffic.messages,
                                             "blocks_sent", (json_int_t)run->traffic.blocks, "edge", (json_int_t)run->edge, "product_right",
                                             run->edge > 0 ? json_boolean(run->wrong == 0) : json_null()));
    }
    return array;
}

json_t *clarke_steps_value(const clarke_study *study)
{
    json_t *array = json_array();
    for (int k = 0; k < study->num_steps; k++) {
        const clarke_model_step *step = &study->steps[k];
        array = app_json_append(array, json_pack("{s:[I, I, I, I], s:o, s:f}", "blocks", (json_int_t)step->units[0],
                                                 (json_int_t)step->units[1], (json_int_t)step->units[2], (json_int_t)step->units[3],
                                                 "seconds", app_json_numbers(step->seconds, 4), "imbalance", step->imbalance));
    }
    return array;
}

json_t *clarke_speeds_value(const clarke_study *study)
{
    json_t *array = json_array();
    for (int c = 0; c < CLARKE_CURVES; c++) {
        const clarke_curve *curve = &study->curves[c];
        array = app_json_append(array, json_pack("{s:o, s:o, s:o}", "node", app_json_text(curve->name), "blocks",
                                                 app_json_numbers(curve->blocks, CLARKE_POINTS), "flops",
                                                 app_json_numbers(curve->operations_per_s, CLARKE_POINTS)));
    }
    return array;
}
