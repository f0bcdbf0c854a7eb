#include "adapt/distribution/nodes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/*
 * `balanced`: requested balance.  `unknown`: tolerance if fewer than FEW steps were compared with their predictions; ranks with speeds of 1
 * : 1.25 then count as equal.
 */
static const double balanced = 0.05, unknown = 0.125, inside = 0.005;
/* A gain of this many times the errors of the latest predictions is hardly due to chance. */
static const double beyond_chance = 3;
enum { FEW = 2, MOST = 1000000000 };

void fem_nodes_learn(fem_nodes_errors *errors, double relative)
{
    if (isfinite(relative)) errors->relative[errors->count++ % FEM_NODES_ERRORS] = relative;
}

/* One large error of four is a disturbance, or belongs to a change that has been learned since, unless it is the latest one. */
double fem_nodes_tolerance(const fem_nodes_errors *errors, int differed)
{
    if (differed) return balanced; /* equal parts are known to be clearly worse */
    const int64_t count = errors->count < FEM_NODES_ERRORS ? errors->count : FEM_NODES_ERRORS;
    double largest = 0, second = 0;
    for (int64_t k = 0; k < count; k++) {
        const double error = errors->relative[k];
        second = fmax(second, fmin(largest, error));
        largest = fmax(largest, error);
    }
    const double latest = count ? errors->relative[(errors->count - 1) % FEM_NODES_ERRORS] : 0;
    return fmax(count < FEW ? unknown : balanced, beyond_chance * fmax(count < FEM_NODES_ERRORS ? largest : second, latest));
}

double fem_nodes_learn_move(double before, int64_t moved, double seconds)
{
    return moved > 0 && seconds > 0 ? fmin(before, seconds / (double)moved) : before;
}

static void cut_equally(int64_t ranks, int64_t elements, int64_t *parts)
{
    for (int64_t i = 0; i < ranks; i++) parts[i] = elements / ranks + (i < elements % ranks);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t fem_nodes_moved(int64_t ranks, const int64_t *from, const int64_t *to)
{
    int64_t moved = 0, first = 0, to_first = 0;
    for (int64_t i = 0; i < ranks; i++) {
        const int64_t begin = first > to_first ? first : to_first, end = least(first + from[i], to_first + to[i]);
        moved += to[i] - (end > begin ? end - begin : 0);
        first += from[i];
        to_first += to[i];
    }
    return moved;
}

/* Sets *most to the longest time of a rank; NaN if a rank's time is not known. */
static yoke_status longest(const fem_nodes_question *q, const int64_t *parts, double *seconds, double *most)
{
    memset(seconds, 0, (size_t)q->ranks * sizeof *seconds);
    yoke_status status = q->kernel(q->user, parts, seconds);
    *most = 0;
    for (int64_t i = 0; i < q->ranks; i++)
        if (parts[i] && !isnan(*most)) *most = isnan(seconds[i]) ? (double)NAN : fmax(*most, seconds[i]);
    return status;
}

/* A line of elements is a matrix of one column. */
static yoke_status answer_nested(void *user, const int64_t *rows, const int64_t *columns, double *seconds)
{
    const fem_nodes_question *q = user;
    (void)columns; /* each rank has one column in all calls, or no rows */
    return q->kernel(q->user, rows, seconds);
}

/* parts and seconds: those of the balanced partition. */
static yoke_status find_best(yoke_context *context, const fem_nodes_question *q, int64_t *parts, double *seconds)
{
    int64_t *devices = NULL;
    yoke_nested_plan *plan = NULL;
    yoke_status status = yoke_allocate(context, q->ranks, sizeof *devices, &devices);
    if (status) return status;
    for (int64_t i = 0; i < q->ranks; i++) devices[i] = 1;
    const yoke_nested_options options = {.blocks = q->elements,
                                         .columns = 1,
                                         .num_nodes = q->ranks,
                                         .devices = devices,
                                         .strategy = YOKE_NESTED_FPM,
                                         .node_tolerance = inside,
                                         .kernel = answer_nested,
                                         .user = (void *)q};
    status = yoke_plan_nested(context, &options, &plan);
    for (int64_t i = 0; i < q->ranks && !status; i++) {
        parts[i] = plan->nodes[i].rows * plan->nodes[i].columns;
        seconds[i] = plan->node_s[i];
    }
    yoke_release(context, plan);
    yoke_release(context, devices);
    return status;
}

static double longest_of(int64_t ranks, const double *seconds)
{
    double most = 0;
    for (int64_t i = 0; i < ranks; i++) most = fmax(most, seconds[i]);
    return most;
}

typedef struct candidate {
    int64_t *parts;  /* [ranks] */
    double *seconds; /* [ranks] */
    double longest_s;
} candidate;

static void choose(const fem_nodes_question *q, const candidate *equal, const candidate *now, const candidate *best,
                   fem_nodes_answer *answer)
{
    if (equal->longest_s <= (1 + q->tolerance) * best->longest_s) { /* equal parts have the same bits in each run */
        answer->choice = FEM_NODES_EQUAL;
        answer->gain_s = q->products * (now->longest_s - equal->longest_s);
        answer->cost_s = q->move_s * (double)fem_nodes_moved(q->ranks, q->now, equal->parts);
        return;
    }
    answer->gain_s = q->products * (now->longest_s - best->longest_s);
    answer->cost_s = q->move_s * (double)fem_nodes_moved(q->ranks, q->now, best->parts);
    const bool costs = answer->gain_s <= answer->cost_s; /* false if the cost is not known */
    answer->choice = costs && now->longest_s <= equal->longest_s ? FEM_NODES_KEPT : FEM_NODES_SPEEDS;
}

static yoke_status decide(yoke_context *context, const fem_nodes_question *q, candidate *c, fem_nodes_answer *answer)
{
    candidate *equal = &c[FEM_NODES_EQUAL], *now = &c[FEM_NODES_KEPT], *best = &c[FEM_NODES_SPEEDS];
    cut_equally(q->ranks, q->elements, equal->parts);
    memcpy(now->parts, q->now, (size_t)q->ranks * sizeof *q->now);
    *answer = (fem_nodes_answer){.choice = FEM_NODES_EQUAL, .gain_s = NAN, .cost_s = NAN};
    yoke_status status = longest(q, equal->parts, equal->seconds, &equal->longest_s);
    if (status || isnan(equal->longest_s) || q->elements < q->ranks || q->elements > MOST) return status;
    status = longest(q, now->parts, now->seconds, &now->longest_s);
    if (!status) status = find_best(context, q, best->parts, best->seconds);
    if (status) return status;
    best->longest_s = longest_of(q->ranks, best->seconds);
    choose(q, equal, now, best, answer);
    return YOKE_OK;
}

yoke_status fem_nodes_decide(yoke_context *context, const fem_nodes_question *question, int64_t *parts, fem_nodes_answer *answer)
{
    enum { CANDIDATES = 3 };
    const int64_t n = question->ranks;
    candidate c[CANDIDATES] = {{NULL, NULL, 0}};
    int64_t *counts = NULL;
    double *times = NULL;
    yoke_status status = yoke_allocate(context, CANDIDATES * n, sizeof *counts, &counts);
    if (!status) status = yoke_allocate(context, CANDIDATES * n, sizeof *times, &times);
    for (int k = 0; k < CANDIDATES && !status; k++) c[k] = (candidate){counts + k * n, times + k * n, 0};
    if (!status) status = decide(context, question, c, answer);
    if (!status) memcpy(parts, c[answer->choice].parts, (size_t)n * sizeof *parts);
    yoke_release(context, counts);
    yoke_release(context, times);
    return status;
}
