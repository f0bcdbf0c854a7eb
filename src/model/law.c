#include "model/law.h"

#include <math.h>

#include <cminpack.h>

static const double giga = 1e9, bad = 0.03, growth = 0.25;

/* ------------------------------------------------------------------------------------------------ fitting */

typedef struct problem {
    yoke_law_kind kind;
    const law_point *points;
} problem;

/* The factors of a, b, c at f GHz. */
static void terms(yoke_law_kind kind, double f, double row[3])
{
    row[0] = kind == YOKE_LAW_CUBIC ? f * f * f : f;
    row[1] = kind == YOKE_LAW_CUBIC ? f : 1;
    row[2] = kind == YOKE_LAW_CUBIC ? 1 : 0;
}

static int num_parameters(yoke_law_kind kind) { return kind == YOKE_LAW_CUBIC ? 3 : kind == YOKE_LAW_LINEAR ? 2 : 0; }

static double law_at(yoke_law_kind kind, const double *parameters, double f)
{
    double row[3], sum = 0;
    terms(kind, f, row);
    for (int i = 0; i < num_parameters(kind); i++) sum += parameters[i] * row[i];
    return sum;
}

/* Without errors all points have the same relative weight. */
static double point_error(const law_point *p) { return fmax(isnan(p->error) ? fabs(p->value) : p->error, 1e-300); }

/* Callback for minpack: residuals (what = 1) or their derivatives (2, stored by columns). */
static int residuals(void *user, int m, int n, const double *x, double *residual, double *derivative, int rows, int what)
{
    const problem *p = user;
    for (int i = 0; i < m; i++) {
        double row[3], f = p->points[i].hz / giga, error = point_error(&p->points[i]);
        terms(p->kind, f, row);
        if (what == 1) residual[i] = (law_at(p->kind, x, f) - p->points[i].value) / error;
        for (int k = 0; k < n && what == 2; k++) derivative[i + rows * k] = row[k] / error;
    }
    return 0;
}

/* The largest relative residual; *far: some residual exceeds both three standard errors and 3 %. */
static double worst_residual(const law *fitted, int *far)
{
    double worst = 0;
    *far = 0;
    for (int64_t i = 0; i < fitted->count; i++) {
        const law_point *p = &fitted->points[i];
        double off = fabs(law_at(fitted->kind, fitted->parameters, p->hz / giga) - p->value);
        worst = fmax(worst, off / fabs(p->value));
        if (off > bad * fabs(p->value) && !(off <= 3 * p->error)) *far = 1;
    }
    return worst;
}

/*
 * Scales the covariance, in units of the points' errors, to the scatter of the points about the law.  If errors are known, the factor is at
 * least 1.
 */
static void scale_covariance(law *fitted, double chi)
{
    double left = (double)(fitted->count - num_parameters(fitted->kind)), degrees = 0, scale = left > 0 ? chi / left : (double)NAN;
    for (int64_t i = 0; i < fitted->count; i++) degrees += fitted->points[i].degrees;
    fitted->degrees = left;
    if (!isnan(fitted->points[0].error)) {
        fitted->degrees = left > 0 && scale > 2 ? left : degrees + left;
        scale = left > 0 ? fmax(1, scale) : 1;
    }
    if (isnan(scale)) fitted->degrees = NAN;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) fitted->covariance[i][k] *= scale;
}

static yoke_status fit_kind(yoke_context *context, yoke_law_kind kind, law *fitted)
{
    enum { MOST = 3 };
    int m = (int)fitted->count, n = num_parameters(kind), evaluations = 0, jacobians = 0, pivots[MOST];
    double start[MOST] = {0}, scale[MOST], qtf[MOST], work[3][MOST];
    problem p = {.kind = kind, .points = fitted->points};
    void *memory = NULL;
    yoke_status status = yoke_allocate(context, (int64_t)m * (n + 2), sizeof(double), &memory);
    if (status != YOKE_OK) return status;
    double *residual = memory, *more = residual + m, *derivative = more + m, chi = 0;
    start[n - 1] = fitted->points[0].value;
    int info = lmder(residuals, &p, m, n, start, residual, derivative, m, 1e-15, 1e-15, 0, 100, scale, 1, 100, 0, &evaluations, &jacobians,
                     pivots, qtf, work[0], work[1], work[2], more);
    int sound = info > 0 && info != 5;
    for (int i = 0; i < m; i++) chi += residual[i] * residual[i];
    covar(n, derivative, m, pivots, 1e-14, work[0]);
    fitted->kind = kind;
    for (int i = 0; i < n; i++) {
        fitted->parameters[i] = start[i];
        for (int k = 0; k < n; k++) fitted->covariance[i][k] = derivative[i + m * k];
        sound = sound && isfinite(start[i]) && isfinite(fitted->covariance[i][i]);
    }
    yoke_release(context, memory);
    if (!sound || !isfinite(chi)) return yoke_fail(context, YOKE_ERROR_NUMERIC, "no law of the frequency could be fitted to %d values", m);
    scale_covariance(fitted, chi);
    return YOKE_OK;
}

/* The third parameter improves predictions on average if it is larger than its standard error; that of a power is not negative. */
static int is_useful(const law *cubic) { return cubic->parameters[0] > 0 && cubic->parameters[0] > sqrt(cubic->covariance[0][0]); }

static int is_positive(const law *fitted)
{
    for (int64_t i = 0; i < fitted->count; i++)
        if (!(law_at(fitted->kind, fitted->parameters, fitted->points[i].hz / giga) > 0)) return 0;
    return 1;
}

yoke_status law_fit(yoke_context *context, int cubic_allowed, law_point *points, int64_t count, law *fitted)
{
    int far = 0;
    law linear = {.points = points, .count = count, .degrees = NAN, .worst = NAN}, cubic = linear;
    *fitted = linear;
    if (count < 2) return YOKE_OK;
    yoke_status status = fit_kind(context, YOKE_LAW_LINEAR, &linear);
    if (status == YOKE_OK && cubic_allowed && count > 3) status = fit_kind(context, YOKE_LAW_CUBIC, &cubic);
    if (status != YOKE_OK) return status;
    linear.worst = worst_residual(&linear, &far);
    law *chosen = &linear;
    if (cubic.kind == YOKE_LAW_CUBIC && (far || is_useful(&cubic))) {
        cubic.worst = worst_residual(&cubic, &far);
        chosen = &cubic;
    }
    *fitted = *chosen;
    if (far || !is_positive(chosen)) fitted->kind = YOKE_LAW_TABLE;
    if (fitted->kind == YOKE_LAW_TABLE) fitted->worst = 0;
    return YOKE_OK;
}

/* ------------------------------------------------------------------------------------------------- values */

/* Linear interpolation between neighbours in the table; constant outside. */
static void look_up(const law *fitted, double hz, law_value *value)
{
    const law_point *points = fitted->points;
    int64_t k = 0;
    while (k + 1 < fitted->count && points[k + 1].hz < hz) k++;
    const law_point *a = &points[k], *b = k + 1 < fitted->count ? a + 1 : a;
    double w = b > a ? fmin(fmax((hz - a->hz) / (b->hz - a->hz), 0), 1) : 0;
    value->value = (1 - w) * a->value + w * b->value;
    value->variance = (1 - w) * (1 - w) * a->error * a->error + w * w * b->error * b->error;
    value->degrees = fmin(a->degrees, b->degrees);
    if (isnan(a->error)) value->degrees = NAN;
}

void law_evaluate(const law *fitted, double hz, law_value *value)
{
    double least = fitted->points[0].hz, most = fitted->points[fitted->count - 1].hz, row[3];
    if (isnan(hz)) hz = most;
    *value = (law_value){.inside = 1};
    double beyond = hz < least ? log(least / hz) : hz > most ? log(hz / most) : 0;
    value->inside = beyond <= 2e-4; /* levels that differ by less are the same */
    value->systematic = (fitted->count > 1 ? growth : 1) * beyond;
    look_up(fitted, hz, value);
    if (num_parameters(fitted->kind) == 0) return;
    double at_end = law_at(fitted->kind, fitted->parameters, fmin(fmax(hz, least), most) / giga);
    value->value = fmax(law_at(fitted->kind, fitted->parameters, hz / giga), 0.05 * at_end); /* a law is not valid far outside */
    terms(fitted->kind, hz / giga, row);
    value->variance = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) value->variance += row[i] * row[k] * fitted->covariance[i][k];
    value->degrees = fitted->degrees;
    if (isnan(value->degrees)) value->variance = NAN;
}

double law_ratio_variance(const law *fitted, double hz, double to_hz)
{
    law_value over, to;
    double row[2][3], variance = 0;
    if (isnan(hz)) hz = fitted->points[fitted->count - 1].hz;
    if (fabs(hz / to_hz - 1) <= 2e-4) return 0; /* the same level */
    law_evaluate(fitted, hz, &over);
    law_evaluate(fitted, to_hz, &to);
    if (num_parameters(fitted->kind) == 0 || isnan(over.variance))
        return over.variance / over.value / over.value + to.variance / to.value / to.value;
    terms(fitted->kind, hz / giga, row[0]);
    terms(fitted->kind, to_hz / giga, row[1]);
    for (int i = 0; i < 3; i++) row[0][i] = row[0][i] / over.value - row[1][i] / to.value; /* the gradient of the logarithm of the ratio */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) variance += row[0][i] * row[0][k] * fitted->covariance[i][k];
    return fmax(variance, 0);
}

void law_describe(const law *fitted, double unit, double unit_hz, yoke_law *described)
{
    int n = num_parameters(fitted->kind);
    double powers[3] = {0, 0, 0}, row[3] = {0, 0, 0};
    *described = (yoke_law){.kind = fitted->kind, .num_parameters = n, .worst = fitted->worst};
    if (n == 0) return;
    terms(fitted->kind, 1 / giga, powers); /* a factor from GHz to Hz for each parameter */
    if (!isnan(unit_hz)) terms(fitted->kind, unit_hz / giga, row);
    for (int i = 0; i < n; i++) {
        double share = fitted->parameters[i] / unit, variance = 0, gradient[3];
        /* d(p_i / unit) / d(p_k), where the unit is the law itself at a frequency */
        for (int k = 0; k < n; k++) gradient[k] = ((i == k) - share * row[k]) / unit;
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) variance += gradient[j] * gradient[k] * fitted->covariance[j][k];
        described->parameters[i] = share * powers[i];
        described->standard_errors[i] = isnan(fitted->degrees) ? (double)NAN : sqrt(fmax(0, variance)) * powers[i];
    }
}
