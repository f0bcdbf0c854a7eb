#include "tune/accuracy.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "tune/norms.h"
#include "tune/tails.h"

enum {
    FIRST_HIGHEST = 10, /* order that the first orders are compared with */
    ABOVE = 4,          /* how far that order is above the others later */
    SPAN = 3,           /* orders at once later */
    LARGEST = FMM_MAX_ORDER - 2,
    MOST_TIMES = 5,
    CELLS = 16,     /* that are drawn on each level */
    NEAR_CELLS = 48 /* the same where only the nearest far cells count, which takes less for each */
};

#define CERTAINTY 2.0    /* standard errors that are kept away from the request */
#define NEAR 0.3         /* parts of a request that are near enough to it not to look for a lower order */
#define TYPICAL_FALL 0.6 /* of an error from one order to the next */
#define FEW_ORDERS 1e-5  /* requests from which on low orders are too low */

typedef struct search {
    yoke_context *context;
    fmm_method *method;
    const fmm_request *request;
    int depth;
    fmm_norms norms;
    double rounding;
    bool measured[LARGEST + 1];
    fmm_accuracy known[LARGEST + 1];
} search;

static double quotient(double a, double b) { return a > 0 ? a / b : 0; }

/* Rounding errors, found as such with order 50: a quarter of the precision times the sum of absolute terms, and some units in the last place. */
static double rounding_of(const fmm_norms *norms)
{
    return norms->potential > 0 ? DBL_EPSILON * (2 + 0.25 * norms->absolute / norms->potential) : 0;
}

/* The tails of all levels together. */
static fmm_tail sum_levels(int levels, int orders, const fmm_tail *tails, int o)
{
    fmm_tail sum = {0};
    for (int l = 0; l < levels; l++) {
        const fmm_tail *one = &tails[l * orders + o];
        sum.mean += one->mean;
        sum.square += one->square - one->mean * one->mean;
        sum.square_error += one->square_error * one->square_error;
        sum.force_square += one->force_square;
        sum.force_square_error += one->force_square_error * one->force_square_error;
    }
    sum.square += sum.mean * sum.mean;
    sum.square_error = sqrt(sum.square_error);
    sum.force_square_error = sqrt(sum.force_square_error);
    return sum;
}

/* By which a square falls from one order to the next, where it falls from `first` to `last` over several. */
static double factor(double first, double last, int orders) { return orders > 0 ? pow(quotient(last, first), 1.0 / orders) : 0.25; }

/* Relative errors; `left` is the part of the error's square that the highest order leaves out as well. */
static fmm_accuracy accuracy_of(const search *s, int order, const fmm_tail *tail, double left)
{
    fmm_accuracy a = {.order = order, .potential_rounding = s->rounding};
    double potential = quotient(sqrt(tail->square / (1 - left)), s->norms.potential);
    a.potential = hypot(potential, s->rounding);
    a.potential_uncertainty = hypot(quotient(tail->square_error, 2 * tail->square), quotient(s->norms.potential_error, s->norms.potential));
    a.force = quotient(sqrt(tail->force_square / (1 - left)), s->norms.force);
    a.force_uncertainty = hypot(quotient(tail->force_square_error, 2 * tail->force_square), quotient(s->norms.force_error, s->norms.force));
    return a;
}

/* The requested one of the errors, with what it may be larger; NaN: not known. */
static double upper(const search *s, int order)
{
    const fmm_accuracy *a = &s->known[order];
    return s->request->of == FMM_FORCES ? a->force * (1 + CERTAINTY * a->force_uncertainty)
                                        : a->potential * (1 + CERTAINTY * a->potential_uncertainty);
}

/* Measures orders [orders] (ascending), all below `highest`. */
static yoke_status measure(search *s, int highest, int orders, const int *order)
{
    fmm_expanded expanded;
    fmm_tail tails[(FMM_MAX_DEPTH + 1) * FMM_MAX_TAILS];
    int levels = s->depth - 1, cells = order[0] < FMM_NEAREST_FROM ? CELLS : NEAR_CELLS; /* levels from 2 on */
    yoke_status status = fmm_method_expand(s->method, highest, &expanded);
    for (int l = 0; l < levels && !status; l++) status = fmm_tails_measure(&expanded, l + 2, cells, orders, order, tails + l * orders);
    if (status) return status;
    fmm_tail first = sum_levels(levels, orders, tails, 0), last = sum_levels(levels, orders, tails, orders - 1);
    double ratio = fmin(factor(first.square, last.square, order[orders - 1] - order[0]), 0.6);
    for (int o = 0; o < orders; o++) {
        fmm_tail tail = sum_levels(levels, orders, tails, o);
        s->known[order[o]] = accuracy_of(s, order[o], &tail, pow(ratio, highest - order[o]));
        s->measured[order[o]] = true;
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ the search */

/* The least order that keeps the request, and the largest below it that was measured and does not; -1: none. */
static void bracket(const search *s, int *kept, int *missed)
{
    *kept = *missed = -1;
    for (int p = 0; p <= LARGEST && *kept < 0; p++) {
        if (!s->measured[p]) continue;
        *(upper(s, p) <= s->request->error ? kept : missed) = p;
    }
}

/* The order at which errors that fall as they do between the last two groups of measured orders reach the request. */
static int extrapolate(const search *s, int missed)
{
    int before = missed - 1;
    while (before > 0 && !(s->measured[before] && missed - before >= SPAN - 1)) before--;
    double fall = s->measured[before] && before < missed ? pow(upper(s, missed) / upper(s, before), 1.0 / (missed - before)) : 0.5;
    double steps = log(s->request->error / upper(s, missed)) / log(fmax(0.25, fmin(fall, 0.75)));
    return missed + (int)fmax(1, fmin(ceil(steps), 16));
}

/* An order to go down to from one that keeps the request by far: errors fall by half from one order to the next, or by less. */
static int lower(const search *s, int kept)
{
    double steps = floor(log2(s->request->error / upper(s, kept)));
    return kept - (int)fmax(SPAN, fmin(steps, kept));
}

/* Orders first ... first + SPAN - 1, as far as there are such, without those up to `above` and from `below` on. */
static yoke_status measure_some(search *s, int first, int above, int below)
{
    int order[SPAN], orders = 0;
    for (int p = first; p < first + SPAN; p++)
        if (p >= 0 && p > above && p < below) order[orders++] = p;
    int highest = order[orders - 1] + ABOVE;
    return measure(s, highest < FMM_MAX_ORDER ? highest : FMM_MAX_ORDER, orders, order);
}

/* All low orders for a large error, else some about the guess. */
static yoke_status measure_first(search *s)
{
    static const int low[] = {0, 1, 2, 3, 4, 5, 6};
    int guess = s->request->guess;
    if (guess <= 0 && s->request->error > FEW_ORDERS) return measure(s, FIRST_HIGHEST, 7, low);
    if (guess <= 0) guess = fmm_order_guess(s->request->error);
    int first = guess - SPAN / 2, last = LARGEST - SPAN + 1;
    return measure_some(s, first < 0 ? 0 : first > last ? last : first, -1, LARGEST + 1);
}

static yoke_status find_order(search *s, int *found)
{
    int kept, missed;
    yoke_status status = measure_first(s);
    for (int times = 0; !status; times++) {
        bracket(s, &kept, &missed);
        if (kept >= 0 && (kept - missed == 1 || times == MOST_TIMES || upper(s, kept) > NEAR * s->request->error)) break;
        if (kept < 0 && missed == LARGEST) break;
        int first = kept >= 0 ? lower(s, kept) : extrapolate(s, missed) - SPAN / 2;
        if (first <= missed) first = missed + 1;
        if (kept < 0 && (first > LARGEST - SPAN + 1 || times >= MOST_TIMES)) first = LARGEST - SPAN + 1;
        status = measure_some(s, first, missed, kept >= 0 ? kept : LARGEST + 1);
    }
    if (!status) *found = kept >= 0 ? kept : -1;
    return status;
}

/* Says an error that can be reached: the least that is known, and a tenth more, rounded up to one digit. */
static yoke_status refuse(const search *s, double least, const char *cause)
{
    double unit = pow(10, floor(log10(1.1 * least))), reachable = unit * ceil(1.1 * least / unit);
    return yoke_fail(s->context, YOKE_ERROR_INPUT,
                     "an error of %.2g of the %s cannot be reached with these particles: %s; %.1g and above can", s->request->error,
                     s->request->of == FMM_FORCES ? "forces" : "potentials", cause, reachable);
}

yoke_status fmm_choose_order(fmm_method *method, const double *charge, const fmm_request *request, fmm_accuracy *accuracy)
{
    fmm_expanded particles;
    yoke_status status = fmm_method_sort_charges(method, charge, &particles);
    if (status) return status;
    search s = {.context = particles.tree->context, .method = method, .request = request, .depth = particles.tree->depth};
    status = fmm_norms_sample(particles.particles, &s.norms);
    if (status) return status;
    s.rounding = rounding_of(&s.norms);
    if (CERTAINTY * s.rounding > request->error) return refuse(&s, CERTAINTY * s.rounding, "double precision rounds more");
    int order = 0;
    if (s.depth < 2 || particles.tree->count < 2) {
        *accuracy = (fmm_accuracy){.potential = s.rounding, .potential_rounding = s.rounding};
        return YOKE_OK;
    }
    status = find_order(&s, &order);
    if (status) return status;
    if (order < 0) return refuse(&s, upper(&s, LARGEST), "expansions have at most order 50");
    *accuracy = s.known[order];
    return YOKE_OK;
}

int fmm_order_guess(double error)
{
    double digits = fmax(0, -log10(error)); /* 4, 11, 20 and 30 for 1e-3, 1e-6, 1e-9 and 1e-12 */
    return (int)fmin(digits + digits * digits / 8 + 0.5, FMM_MAX_ORDER);
}

int fmm_order_missing(const fmm_request *request, const fmm_accuracy *accuracy, const fmm_sample *sample, int order)
{
    const bool forces = request->of == FMM_FORCES;
    double predicted = forces ? accuracy->force : accuracy->potential;
    double known = forces ? accuracy->force_uncertainty : accuracy->potential_uncertainty;
    double sampled = forces ? sample->force : sample->potential;
    double uncertainty = forces ? sample->force_uncertainty : sample->potential_uncertainty;
    if (!sample->count || !(sampled > 0 && predicted > 0)) return 0;
    /* Where they contradict each other, rare large errors were not among the cells that were drawn: the sample counts. */
    if (fabs(log(sampled / predicted)) > CERTAINTY * hypot(uncertainty, known)) known = INFINITY;
    double weight = 1 / fmax(uncertainty * uncertainty, 1e-6), other = 1 / fmax(known * known, 1e-6);
    double mean = (weight * log(sampled) + other * log(predicted)) / (weight + other), deviation = 1 / sqrt(weight + other);
    double excess = mean + deviation - log(request->error);
    int missing = excess > 0 ? 1 + (int)(excess / -log(TYPICAL_FALL)) : 0;
    return missing < FMM_MAX_ORDER - order ? missing : FMM_MAX_ORDER - order;
}
