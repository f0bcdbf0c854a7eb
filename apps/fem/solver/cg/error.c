#include "solver/cg/error.h"

#include <math.h>
#include <string.h>

enum { MAX_KEPT = 1 << 15 };

/* The search for S goes back to the iteration where the square of the error was 1 / window times the latest decrease, as in the paper. */
static const double window = 1e-4;

yoke_status fem_cg_error_create(yoke_context *context, int max_iterations, fem_cg_error *error)
{
    int capacity = max_iterations < MAX_KEPT ? max_iterations : MAX_KEPT;
    *error = (fem_cg_error){.context = context, .capacity = capacity < 2 ? 2 : capacity, .smallest = INFINITY};
    double **arrays[] = {&error->decrease, &error->alpha, &error->beta};
    yoke_status status = YOKE_OK;
    for (int i = 0; i < 3 && !status; i++) status = yoke_allocate_untouched(context, error->capacity, sizeof(double), arrays[i]);
    fem_cg_error_start(error);
    return status;
}

void fem_cg_error_destroy(fem_cg_error *error)
{
    yoke_release(error->context, error->decrease);
    yoke_release(error->context, error->alpha);
    yoke_release(error->context, error->beta);
}

void fem_cg_error_start(fem_cg_error *error)
{
    error->count = 0;
    error->total = 0;
}

/* Drops the older half, including its part of the Lanczos matrix.  The smallest Ritz value so far is kept. */
static void forget_older_half(fem_cg_error *error)
{
    int half = error->count / 2, left = error->count - half;
    double *arrays[] = {error->decrease, error->alpha, error->beta};
    for (int i = 0; i < 3; i++) memmove(arrays[i], arrays[i] + half, (size_t)left * sizeof(double));
    error->count = left;
}

void fem_cg_error_add(fem_cg_error *error, double alpha, double rho)
{
    if (error->count == error->capacity) forget_older_half(error);
    int k = error->count++;
    double beta = k ? rho / error->rho : 0;
    error->phi = k ? error->phi / (error->phi + beta) : 1;
    error->rho = rho;
    error->decrease[k] = alpha * rho;
    error->alpha[k] = alpha;
    error->beta[k] = beta;
    error->total += alpha * rho;
}

double fem_cg_error_ratio(const fem_cg_error *error)
{
    if (error->count < 2) return INFINITY;
    const double *d = error->decrease;
    double last = d[error->count - 1], sum = 0, ratio = 1;
    for (int j = error->count - 1; j >= 0; j--) {
        sum += d[j];
        ratio = fmax(ratio, sum / d[j]);
        if (last <= window * sum) break;
    }
    return ratio;
}

double fem_cg_error_expected(const fem_cg_error *error, double ratio)
{
    return error->count < 2 ? INFINITY : (ratio - 1) * error->decrease[error->count - 1];
}

/*
 * Returns nonzero if the Lanczos matrix T has an eigenvalue below x.  T = L D L^T with D = 1 / alpha, and beta are the squares of the
 * entries of L below the diagonal.  T - x is decomposed in the same way by the stationary qd transform (Dhillon and Parlett 2004), which
 * finds small eigenvalues to high relative accuracy.
 */
static int has_below(const fem_cg_error *error, double x)
{
    double s = -x;
    for (int j = 0; j < error->count; j++) {
        double pivot = s + 1 / error->alpha[j];
        if (!(pivot > 0)) return 1;
        if (j + 1 < error->count) s = error->beta[j + 1] * s / (error->alpha[j] * pivot) - x;
    }
    return 0;
}

void fem_cg_error_look(fem_cg_error *error)
{
    const double digits = 1.02, range = 1e-20;
    double high = INFINITY;
    for (int j = 0; j < error->count; j++) { /* diagonal of T */
        double entry = 1 / error->alpha[j] + (j ? error->beta[j] / error->alpha[j - 1] : 0);
        high = fmin(high, entry);
    }
    if (!isfinite(high)) return;
    double low = range * high;
    if (isfinite(error->smallest) && error->smallest < high) { /* it changes little from one call to the next */
        if (!has_below(error, error->smallest)) return;
        high = error->smallest;
        double near = high / 4;
        if (near > low && !has_below(error, near)) low = near;
    }
    while (high > digits * low) {
        double middle = sqrt(low * high);
        if (has_below(error, middle))
            high = middle;
        else
            low = middle;
    }
    error->smallest = low;
}

double fem_cg_error_bound(const fem_cg_error *error)
{
    if (!error->count || !isfinite(error->smallest)) return INFINITY;
    return fmax(0, error->phi * error->rho / error->smallest - error->decrease[error->count - 1]);
}
