#include "tune/order/accuracy.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tune/order/norms.h"
#include "tune/order/tails.h"

enum {
    /* The reference order, which an order p is compared with, is higher by ABOVE + p / ABOVE_PART: at high orders errors between corners
     * fall more slowly, and less evenly. */
    ABOVE = 2,
    ABOVE_PART = 8,
    /* Expansions are computed for orders up to p + p / HIGHER_PART with a usual order p: a few more degrees take much less time than
     * computing the expansions again. */
    HIGHER_PART = 6,
    SPAN = 2,  /* number of orders that are measured together */
    KNOWN = 2, /* the model has the errors of orders up to its highest degree minus this; expansions have at least order 2 KNOWN */
    LARGEST = FMM_MAX_ORDER - 2,
    MOST_TIMES = 6,
    DRAWS = 40,      /* number of drawn cells, on all levels together, ... */
    DRAWS_HIGH = 96, /* ... and from order FMM_HIGH_ORDER on */
    WAVE_TRIES = 3,
    ALIKE = 3 /* draws for an order are used for orders that differ from it by at most this */
};

/* Relative uncertainty of a prediction in addition to the scatter of its draws: the errors of 876 predictions, relative to exact norms,
 * had a total of 0.11. */
#define MODEL_UNCERTAINTY 0.1
#define CERTAINTY 2.0    /* number of standard errors that a prediction must be below the request */
#define NEAR 0.3         /* no lower order is searched for if the error is above this part of the request */
#define WAVES_FALL 0.46  /* factor by which the error of plane waves falls from one set to the next */
#define TYPICAL_FALL 0.6 /* typical factor by which an error falls from one order to the next */

const char *const fmm_quantity_names[4] = {"potentials", "forces", "energy", NULL};

typedef struct search {
    yoke_context *context;
    fmm_method *method;
    const fmm_request *request;
    int depth;
    fmm_norms norms;
    double rounding;
    int64_t particles;
    double charge;         /* of fmm_favour */
    fmm_expanded expanded; /* order -1: not computed yet */
    fmm_model model;       /* of that order */
    int drawn;             /* order for which cells were drawn; -1: none yet */
    int draws;
    fmm_draw draw[DRAWS_HIGH + FMM_FEW_CELLS * (FMM_MAX_DEPTH + 1)];
    bool complete[FMM_MAX_DEPTH + 1]; /* by level: all cells were drawn */
    bool measured[LARGEST + 1];
    fmm_accuracy known[LARGEST + 1];
    fmm_tail tail[LARGEST + 1]; /* sums over all levels */
    double left[LARGEST + 1];   /* the part of the squared error that the reference order omits as well */
} search;

static double quotient(double a, double b) { return a > 0 ? a / b : 0; }

/* Relative rounding error, fitted to errors with order 50: a quarter of DBL_EPSILON times the sum of absolute values of all terms, plus
 * two DBL_EPSILON. */
static double rounding_of(const fmm_norms *norms)
{
    return norms->potential > 0 ? DBL_EPSILON * (2 + 0.25 * norms->absolute / norms->potential) : 0;
}

/* Sums the tails of all levels, for one order. */
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
        sum.energy += one->energy;
        sum.energy_error += one->energy_error * one->energy_error;
        sum.energy_square += one->energy_square;
    }
    sum.square += sum.mean * sum.mean;
    sum.square_error = sqrt(sum.square_error);
    sum.force_square_error = sqrt(sum.force_square_error);
    sum.energy_error = sqrt(sum.energy_error);
    return sum;
}

/* The factor by which a square falls from one order to the next, if it falls from `first` to `last` over `orders` orders. */
static double factor(double first, double last, int orders) { return orders > 0 ? pow(quotient(last, first), 1.0 / orders) : 0.25; }

/*
 * The error of the energy is half the sum over all cells of D, the sum of charges times errors over the particles of a cell.  Each pair of
 * cells contributes the same amount to the D of both.  If these amounts have random signs, the square of the error is therefore half the
 * sum of the squares of D.  If they do not, the mean of D is not 0.  Draws give this mean with a standard error, so at least the standard
 * error counts.
 */
static void set_energy(const search *s, const fmm_tail *tail, double left, fmm_accuracy *a)
{
    const fmm_norms *norms = &s->norms;
    const double particles = (double)s->particles, size = norms->energy.size;
    const double mean = fabs(tail->energy) / 2, deviation = tail->energy_error / 2, random = sqrt(tail->energy_square / (2 * particles));
    const double error = hypot(fmax(mean, deviation), random) / sqrt(1 - left);
    const double rounding = s->rounding * norms->charge * norms->potential / (2 * sqrt(particles));
    a->energy_norm_uncertainty = quotient(norms->energy.error, size);
    a->energy = quotient(hypot(error, rounding), size);
    a->energy_uncertainty = hypot(hypot(quotient(hypot(deviation, random / 2), error), MODEL_UNCERTAINTY), a->energy_norm_uncertainty);
}

/* Relative errors.  left: the part of the squared error that the reference order omits as well. */
static fmm_accuracy accuracy_of(const search *s, int order, const fmm_tail *tail, double left)
{
    fmm_accuracy a = {.order = order, .potential_rounding = s->rounding};
    double potential = quotient(sqrt(tail->square / (1 - left)), s->norms.potential);
    a.potential = hypot(potential, s->rounding);
    a.potential_norm_uncertainty = quotient(s->norms.potential_error, s->norms.potential);
    a.potential_uncertainty = hypot(quotient(tail->square_error, 2 * tail->square), a.potential_norm_uncertainty);
    set_energy(s, tail, left, &a);
    a.force = quotient(sqrt(tail->force_square / (1 - left)), s->norms.force);
    a.force_norm_uncertainty = quotient(s->norms.force_error, s->norms.force);
    a.force_uncertainty = hypot(quotient(tail->force_square_error, 2 * tail->force_square), a.force_norm_uncertainty);
    return a;
}

double fmm_accuracy_upper(const fmm_accuracy *a, fmm_quantity of, double times)
{
    return of == FMM_FORCES   ? a->force * (1 + times * a->force_uncertainty)
           : of == FMM_ENERGY ? a->energy * (1 + times * a->energy_uncertainty)
                              : a->potential * (1 + times * a->potential_uncertainty);
}

/* The error of the requested quantity plus its standard errors; NaN: not known. */
static double upper(const search *s, int order) { return fmm_accuracy_upper(&s->known[order], s->request->of, CERTAINTY); }

/* Computes the multipole expansions with an order, unless they exist with this order or a higher one. */
static yoke_status expand(search *s, int order)
{
    if (s->expanded.order >= order) return YOKE_OK;
    yoke_status status = fmm_method_expand(s->method, order, &s->expanded);
    if (!status) fmm_model_create(order, &s->model);
    return status;
}

static yoke_status draw(search *s, int order)
{
    if (s->drawn >= 0 && abs(order - s->drawn) <= ALIKE) return YOKE_OK;
    s->drawn = order;
    return fmm_draw_cells(&s->expanded, &s->model, (fmm_favour){order, s->charge}, order < FMM_HIGH_ORDER ? DRAWS : DRAWS_HIGH, s->draw,
                          &s->draws, s->complete);
}

/* The reference order for orders up to `highest`. */
static int reference_of(int highest)
{
    int order = highest + ABOVE + highest / ABOVE_PART;
    return order < FMM_MAX_ORDER ? order : FMM_MAX_ORDER;
}

/* Measures the errors of the orders first ... first + orders - 1. */
static yoke_status measure(search *s, int first, int orders)
{
    int order[SPAN], reference = reference_of(first + orders - 1), levels = s->depth - 1;
    fmm_tail tails[(FMM_MAX_DEPTH + 1) * SPAN];
    for (int o = 0; o < orders; o++) order[o] = first + o;
    if (s->expanded.order == reference - 1) reference--; /* nearly as good, and avoids another upward pass */
    yoke_status status = expand(s, reference);
    if (!status) status = draw(s, first + orders / 2);
    const fmm_survey_options options = {.draws = s->draws,
                                        .draw = s->draw,
                                        .complete = s->complete,
                                        .reference = reference,
                                        .orders = orders,
                                        .order = order,
                                        .charge = s->charge};
    if (!status) status = fmm_tails_measure(&s->expanded, &options, tails);
    if (status) return status;
    fmm_tail low = sum_levels(levels, orders, tails, 0), high = sum_levels(levels, orders, tails, orders - 1);
    double ratio = fmin(factor(low.square, high.square, orders - 1), 0.6);
    for (int o = 0; o < orders; o++) {
        fmm_tail tail = sum_levels(levels, orders, tails, o);
        s->tail[order[o]] = tail;
        s->left[order[o]] = pow(ratio, reference - order[o]);
        s->known[order[o]] = accuracy_of(s, order[o], &tail, s->left[order[o]]);
        s->measured[order[o]] = true;
    }
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------ the search */

/* *kept: the lowest measured order that meets the request; *missed: the highest measured order below it that does not; -1: none. */
static void bracket(const search *s, int *kept, int *missed)
{
    *kept = *missed = -1;
    for (int p = 0; p <= LARGEST && *kept < 0; p++) {
        if (!s->measured[p]) continue;
        *(upper(s, p) <= s->request->error ? kept : missed) = p;
    }
}

/* Estimates the order that reaches the request, if errors continue to fall as they do between the last two groups of measured orders. */
static int extrapolate(const search *s, int missed)
{
    int before = missed - 1;
    while (before > 0 && !(s->measured[before] && missed - before >= SPAN - 1)) before--;
    double fall = s->measured[before] && before < missed ? pow(upper(s, missed) / upper(s, before), 1.0 / (missed - before)) : 0.5;
    double steps = log(s->request->error / upper(s, missed)) / log(fmax(0.25, fmin(fall, 0.75)));
    return missed + (int)fmax(1, fmin(ceil(steps), 16));
}

/* A lower order to measure, if the order `kept` has an error far below the request.  From one order to the next, errors fall by at most
 * half. */
static int lower(const search *s, int kept)
{
    double steps = floor(log2(s->request->error / upper(s, kept)));
    return kept - (int)fmax(SPAN, fmin(steps, kept));
}

/* Measures those of the orders first ... first + SPAN - 1 that are above `above` and below `below`. */
static yoke_status measure_some(search *s, int first, int above, int below)
{
    int last = first + SPAN < below ? first + SPAN : below;
    if (first <= above) first = above + 1;
    return measure(s, first, last - first);
}

/* The order that reaches the request by the model's errors. */
static int modelled(const search *s)
{
    double error[FMM_MAX_ORDER + 1], wanted = s->request->error * s->norms.potential;
    const int known = s->expanded.order - KNOWN; /* the errors of higher orders would lack the contribution of higher degrees */
    fmm_model_errors(&s->expanded, &s->model, error);
    for (int p = 0; p <= known; p++)
        if (error[p] <= wanted) return p;
    double fall = fmax(0.25, fmin(sqrt(quotient(error[known], error[known - KNOWN])), 0.75));
    return known + (int)fmin(ceil(log(wanted / error[known]) / log(fall)), LARGEST);
}

/* Measures the orders around the model's. */
static yoke_status measure_first(search *s)
{
    const int usual = fmm_order_guess(s->request->error);
    int guess = s->request->guess > 0 ? s->request->guess : usual + usual / HIGHER_PART;
    guess = guess < KNOWN ? KNOWN : guess > LARGEST - 1 ? LARGEST - 1 : guess;
    yoke_status status = expand(s, reference_of(guess));
    if (status) return status;
    int first = modelled(s) - SPAN / 2, last = LARGEST - SPAN + 1;
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

/* ------------------------------------------------------------------------------------------------- plane waves */

/* Selects some of the draws of the levels with waves.  Returns their number. */
static int draw_some(const search *s, fmm_draw *some)
{
    int count = 0, levels = 0;
    for (int l = 2; l <= s->depth; l++) levels += s->request->waves >> l & 1;
    for (int first = 0, last; first < s->draws; first = last) {
        const int level = s->draw[first].level, begin = count;
        double all = 0, taken = 0;
        for (last = first; last < s->draws && s->draw[last].level == level; last++) all += s->draw[last].times;
        if (!(s->request->waves >> level & 1)) continue;
        const int most = last - first < fmm_wave_draws(levels) ? last - first : fmm_wave_draws(levels);
        for (int k = 0; k < most; k++, count++) {
            some[count] = s->draw[first + (2 * k + 1) * (last - first) / (2 * most)];
            taken += some[count].times;
        }
        for (int k = begin; k < count; k++) some[k].weight *= all / taken;
    }
    return count;
}

/*
 * Measures the error of the waves of a set in addition to that of the order: the error of the quadrature, and that of truncation with an
 * order above the run's, which is small compared with that of the order.
 */
static yoke_status measure_waves(const search *s, int order, int set, fmm_tail *tail)
{
    static const bool never[FMM_MAX_DEPTH + 1] = {false};
    const int highest = s->expanded.order < FMM_LAST_WAVE_ORDER ? s->expanded.order : FMM_LAST_WAVE_ORDER;
    const int higher = order + ABOVE < highest ? order + ABOVE : highest;
    fmm_draw some[FMM_WAVE_DRAWS + FMM_MAX_DEPTH + 1];
    fmm_tail tails[FMM_MAX_DEPTH + 1];
    fmm_waves *waves = NULL;
    yoke_status status = fmm_waves_create(s->context, higher, set, (fmm_held){s->expanded.order, s->expanded.order}, &waves);
    const fmm_survey_options options = {.draws = draw_some(s, some),
                                        .draw = some,
                                        .complete = never,
                                        .reference = s->expanded.order,
                                        .orders = 1,
                                        .order = &higher,
                                        .charge = s->charge,
                                        .waves = waves};
    if (!status) status = fmm_tails_measure(&s->expanded, &options, tails);
    if (!status) *tail = sum_levels(s->depth - 1, 1, tails, 0);
    fmm_waves_destroy(waves);
    return status;
}

/* Adds both errors: their random parts are independent, but their means may have the same sign. */
static fmm_tail sum_tails(const fmm_tail *a, const fmm_tail *b)
{
    const double mean = fabs(a->mean) + fabs(b->mean);
    return (fmm_tail){.mean = mean,
                      .square = a->square - a->mean * a->mean + b->square - b->mean * b->mean + mean * mean,
                      .square_error = hypot(a->square_error, b->square_error),
                      .force_square = a->force_square + b->force_square,
                      .force_square_error = hypot(a->force_square_error, b->force_square_error),
                      .energy = fabs(a->energy) + fabs(b->energy),
                      .energy_error = hypot(a->energy_error, b->energy_error),
                      .energy_square = a->energy_square + b->energy_square};
}

/* By how many numbers a set must be higher so that the error of its waves, measured as `tail`, is within the part of the request that
 * truncation leaves. */
static int sets_missing(const search *s, int order, const fmm_tail *tail)
{
    const fmm_accuracy alone = accuracy_of(s, order, tail, 0);
    const double by_waves = fmm_accuracy_upper(&alone, s->request->of, CERTAINTY);
    const double left = sqrt(fmax(pow(s->request->error, 2) - pow(upper(s, order), 2), 0));
    return left > 0 ? (int)fmin(ceil(log(left / by_waves) / log(WAVES_FALL)), FMM_LAST_WAVE_SET) : FMM_LAST_WAVE_SET;
}

/* Finds a set of waves that keeps the request together with the order, which keeps it by itself.  If there is none, *accuracy is not
 * changed. */
static yoke_status find_set(const search *s, int order, fmm_accuracy *accuracy)
{
    if (!s->request->waves || order < FMM_FIRST_WAVE_ORDER || order > FMM_LAST_WAVE_SET) return YOKE_OK;
    int set = order + s->request->finer < FMM_LAST_WAVE_SET ? order + s->request->finer : FMM_LAST_WAVE_SET;
    for (int times = 0; times < WAVE_TRIES && set <= FMM_LAST_WAVE_SET; times++) {
        fmm_tail tail;
        yoke_status status = measure_waves(s, order, set, &tail);
        if (status) return status;
        const fmm_tail sum = sum_tails(&s->tail[order], &tail);
        fmm_accuracy both = accuracy_of(s, order, &sum, s->left[order]);
        both.set = set;
        if (fmm_accuracy_upper(&both, s->request->of, CERTAINTY) <= s->request->error) {
            *accuracy = both;
            return YOKE_OK;
        }
        const int missing = sets_missing(s, order, &tail);
        set += missing > 1 ? missing : 1;
    }
    return YOKE_OK;
}

static bool has_far_field(const search *s) { return s->depth >= 2 && s->particles >= 2; }

/* The message has an error that can be reached: a tenth above the least known one, rounded up to one digit. */
static yoke_status refuse(const search *s, double least, const char *cause)
{
    double unit = pow(10, floor(log10(1.1 * least))), reachable = unit * ceil(1.1 * least / unit);
    return yoke_fail(s->context, YOKE_ERROR_INPUT,
                     "an error of %.2g of the %s cannot be reached with these particles: %s; %.1g and above can", s->request->error,
                     fmm_quantity_names[s->request->of], cause, reachable);
}

/* Refuses an error below that of rounding.  Whether the expansions reach the latter is known only once their orders are measured. */
static yoke_status refuse_rounding(search *s)
{
    const fmm_request *asked = s->request;
    fmm_request least = *asked;
    int order = 0;
    least.error = CERTAINTY * s->rounding;
    s->request = &least;
    yoke_status status = has_far_field(s) ? find_order(s, &order) : YOKE_OK;
    s->request = asked;
    if (status) return status;
    return order < 0 ? refuse(s, upper(s, LARGEST), "expansions have at most order 50")
                     : refuse(s, least.error, "double precision rounds more");
}

/* --------------------------------------------------------------------------------------------- single precision */

bool fmm_request_may_be_single(const fmm_request *request)
{
    static const double least = 3e-5; /* because estimates are at least about 1e-6 */
    return request->error >= least && request->of != FMM_ENERGY;
}

bool fmm_accuracy_is_single(const fmm_accuracy *a, const fmm_request *request)
{
    static const double part = 0.1;
    const double adds = request->of == FMM_FORCES ? a->single_force : a->single_potential;
    return fmm_request_may_be_single(request) && adds <= part * request->error;
}

/* Estimates the error of single precision at some particles.  Where all pairs are near, each particle has many pairs, and few particles
 * represent the others. */
static void estimate_single(const search *s, fmm_accuracy *a)
{
    enum { SAMPLES = 64, OF_ALL_PAIRS = 16 };
    a->single_potential = a->single_force = NAN;
    if (!fmm_request_may_be_single(s->request)) return;
    fmm_near_rounding(s->method, has_far_field(s) ? SAMPLES : OF_ALL_PAIRS, &a->single_potential, &a->single_force);
    a->single_potential /= s->norms.potential;
    a->single_force /= s->norms.force;
}

/* Errors where all pairs are near: those of rounding. */
static fmm_accuracy of_all_pairs(search *s)
{
    static const fmm_tail none = {0};
    fmm_accuracy a = accuracy_of(s, 0, &none, 0);
    estimate_single(s, &a);
    if (!fmm_accuracy_is_single(&a, s->request)) return a;
    const double in_double = s->rounding, in_single = a.single_potential, of_forces = a.single_force;
    s->rounding = hypot(in_double, in_single);
    a = accuracy_of(s, 0, &none, 0);
    a.potential_rounding = in_double, a.single_potential = in_single;
    a.force = a.single_force = of_forces;
    return a;
}

yoke_status fmm_choose_order(fmm_method *method, const double *charge, const fmm_request *request, fmm_accuracy *accuracy)
{
    fmm_expanded particles;
    yoke_status status = fmm_method_sort_charges(method, charge, &particles);
    if (status) return status;
    search s = {.context = particles.tree->context,
                .method = method,
                .request = request,
                .depth = particles.tree->depth,
                .particles = particles.tree->count};
    s.expanded.order = s.drawn = -1;
    s.charge = fmm_large_charge(particles.particles);
    status = request->sums ? fmm_norms_known(particles.particles, request->sums, &s.norms)
                           : fmm_norms_sample(particles.tree, particles.particles, &s.norms);
    if (status) return status;
    s.rounding = rounding_of(&s.norms);
    if (CERTAINTY * s.rounding > request->error) return refuse_rounding(&s);
    int order = 0;
    if (!has_far_field(&s)) {
        *accuracy = of_all_pairs(&s);
        return YOKE_OK;
    }
    status = find_order(&s, &order);
    if (status) return status;
    if (order < 0) return refuse(&s, upper(&s, LARGEST), "expansions have at most order 50");
    *accuracy = s.known[order];
    status = find_set(&s, order, accuracy);
    estimate_single(&s, accuracy);
    return status;
}

int fmm_accuracy_set(const fmm_accuracy *a, int order)
{
    const int set = a->set + order - a->order;
    return a->set > 0 && order <= FMM_LAST_WAVE_ORDER && set <= FMM_LAST_WAVE_SET ? set : 0;
}

int fmm_order_guess(double error)
{
    double digits = fmax(0, -log10(error)); /* 4, 12, 22 and 36 for 1e-3, 1e-6, 1e-9 and 1e-12 */
    return (int)fmin(digits + digits * digits / 6 + 1e-9, FMM_MAX_ORDER);
}

static void correct(double *error, double *uncertainty, double *of_norm, double norm)
{
    if (!(*of_norm > 0 && norm > 0)) return;
    *error *= norm;
    *uncertainty = sqrt(fmax(0, *uncertainty * *uncertainty - *of_norm * *of_norm));
    *of_norm = 0;
}

void fmm_accuracy_correct(fmm_accuracy *a, const fmm_sample *sample)
{
    if (!sample->count) return;
    correct(&a->potential, &a->potential_uncertainty, &a->potential_norm_uncertainty, sample->potential_norm);
    correct(&a->energy, &a->energy_uncertainty, &a->energy_norm_uncertainty, sample->energy_norm);
    correct(&a->force, &a->force_uncertainty, &a->force_norm_uncertainty, sample->force_norm);
}

/* Number of orders over which an error typically falls from `high` to `low`. */
static int orders_between(double high, double low) { return high > low ? 1 + (int)(log(high / low) / -log(TYPICAL_FALL)) : 0; }

/* The factor by which the error of the potentials is certainly larger than predicted: the drawn cells missed rare large errors, in the
 * energy too.  1: it is not. */
static double missed_errors(const fmm_accuracy *accuracy, const fmm_sample *sample)
{
    const double known = isfinite(accuracy->potential_uncertainty) ? accuracy->potential_uncertainty : 0;
    const double scatter = hypot(hypot(sample->potential_uncertainty, known), MODEL_UNCERTAINTY);
    const double factor = quotient(sample->potential, accuracy->potential) * exp(-CERTAINTY * scatter);
    return accuracy->potential > 0 && factor > 1 ? factor : 1; /* NaN: a sample of one particle */
}

double fmm_energy_error(const fmm_accuracy *accuracy, const fmm_sample *sample)
{
    const double predicted = missed_errors(accuracy, sample) * fmm_accuracy_upper(accuracy, FMM_ENERGY, CERTAINTY);
    return fmax(predicted, sample->energy - CERTAINTY * sample->energy_deviation);
}

int fmm_order_missing(const fmm_request *request, const fmm_accuracy *accuracy, const fmm_sample *sample, int order)
{
    const bool forces = request->of == FMM_FORCES;
    double predicted = forces ? accuracy->force : accuracy->potential;
    double known = hypot(forces ? accuracy->force_uncertainty : accuracy->potential_uncertainty, MODEL_UNCERTAINTY);
    double sampled = forces ? sample->force : sample->potential;
    double uncertainty = forces ? sample->force_uncertainty : sample->potential_uncertainty;
    const int most = FMM_MAX_ORDER - order;
    if (!sample->count || !(sampled > 0)) return 0;
    if (request->of == FMM_ENERGY) {
        const int missing_of_energy = orders_between(fmm_energy_error(accuracy, sample), request->error);
        return missing_of_energy < most ? missing_of_energy : most;
    }
    /* If the two contradict each other, the drawn cells missed rare large errors, and only the sample counts. */
    if (!(predicted > 0)) predicted = sampled, known = INFINITY;
    if (fabs(log(sampled / predicted)) > CERTAINTY * hypot(uncertainty, known)) known = INFINITY;
    double weight = 1 / fmax(uncertainty * uncertainty, 1e-6), other = 1 / fmax(known * known, 1e-6);
    double mean = (weight * log(sampled) + other * log(predicted)) / (weight + other), deviation = 1 / sqrt(weight + other);
    const int missing = orders_between(exp(mean + deviation), request->error);
    return missing < most ? missing : most;
}

void fmm_accuracy_raise(fmm_accuracy *a, int order)
{
    const double fall = pow(TYPICAL_FALL, order - a->order);
    a->set = fmm_accuracy_set(a, order);
    a->order = order;
    a->potential = fmax(fall * a->potential, a->potential_rounding);
    a->force *= fall, a->energy *= fall;
    a->potential_uncertainty = a->force_uncertainty = INFINITY;
}
