#include "energy/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/console/numbers.h"

/* ------------------------------------------------------------------------------------------- least squares */

/* Collects the points without a NaN, as rows of the basis followed by y.  Returns their number. */
static int64_t collect(int64_t points, int parameters, const double *basis, const double *y, double *rows)
{
    int64_t count = 0;
    for (int64_t i = 0; i < points; i++) {
        double *row = rows + count * (parameters + 1), sum = y[i];
        for (int k = 0; k < parameters; k++) sum += row[k] = basis[i * parameters + k];
        row[parameters] = y[i];
        count += isfinite(sum);
    }
    return count;
}

/* Scales each column of the basis to length 1.  Returns false if the length of a column is zero or not finite. */
static bool scale(int64_t count, int parameters, double *rows, double *length)
{
    for (int k = 0; k < parameters; k++) {
        double square = 0;
        for (int64_t i = 0; i < count; i++) square += rows[i * (parameters + 1) + k] * rows[i * (parameters + 1) + k];
        length[k] = sqrt(square);
        if (!(length[k] > 0) || !isfinite(length[k])) return false;
        for (int64_t i = 0; i < count; i++) rows[i * (parameters + 1) + k] /= length[k];
    }
    return true;
}

/*
 * Eliminates column k below its diagonal by a Householder reflection of the later columns and of y.  Returns false if the column is
 * linearly dependent on earlier ones.
 */
static bool reflect(int64_t count, int parameters, double *rows, int k)
{
    const double dependent = 1e-12; /* for a column of length 1 */
    int64_t width = parameters + 1;
    double square = 0;
    for (int64_t i = k; i < count; i++) square += rows[i * width + k] * rows[i * width + k];
    if (!(sqrt(square) > dependent)) return false;
    double diagonal = rows[k * width + k] > 0 ? -sqrt(square) : sqrt(square);
    double pivot = rows[k * width + k] - diagonal; /* first entry of the reflection vector; the others are in the column */
    double half = -diagonal * pivot;               /* half of its squared length */
    for (int64_t j = k + 1; half > 0 && j < width; j++) {
        double dot = pivot * rows[k * width + j];
        for (int64_t i = k + 1; i < count; i++) dot += rows[i * width + k] * rows[i * width + j];
        rows[k * width + j] -= dot / half * pivot;
        for (int64_t i = k + 1; i < count; i++) rows[i * width + j] -= dot / half * rows[i * width + k];
    }
    rows[k * width + k] = diagonal;
    return true;
}

/* Computes the inverse of the upper triangle. */
static void invert(int parameters, const double *rows, double inverse[FIT_MAX_PARAMETERS][FIT_MAX_PARAMETERS])
{
    int width = parameters + 1;
    for (int j = 0; j < parameters; j++)
        for (int i = j; i >= 0; i--) {
            double sum = i == j;
            for (int k = i + 1; k <= j; k++) sum -= rows[i * width + k] * inverse[k][j];
            inverse[i][j] = sum / rows[i * width + i];
        }
}

static void finish(int64_t count, int parameters, const double *rows, const double *length, fit *result)
{
    double inverse[FIT_MAX_PARAMETERS][FIT_MAX_PARAMETERS] = {{0}}, squares = 0;
    int64_t width = parameters + 1;
    invert(parameters, rows, inverse);
    for (int64_t i = parameters; i < count; i++) squares += rows[i * width + parameters] * rows[i * width + parameters];
    double variance = count > parameters ? squares / (double)(count - parameters) : (double)NAN;
    *result = (fit){.parameters = parameters, .points = count, .residual = sqrt(variance)};
    for (int i = 0; i < parameters; i++) {
        double sum = 0;
        for (int k = i; k < parameters; k++) sum += inverse[i][k] * rows[k * width + parameters];
        result->value[i] = sum / length[i];
        for (int j = 0; j < parameters; j++) {
            double product = 0;
            for (int k = i > j ? i : j; k < parameters; k++) product += inverse[i][k] * inverse[j][k];
            result->covariance[i][j] = variance * product / (length[i] * length[j]);
        }
        result->error[i] = sqrt(result->covariance[i][i]);
    }
}

bool fit_linear(int64_t points, int parameters, const double *basis, const double *y, fit *result)
{
    double length[FIT_MAX_PARAMETERS];
    if (points < 1 || parameters < 1 || parameters > FIT_MAX_PARAMETERS) return false;
    double *rows = calloc((size_t)points, (size_t)(parameters + 1) * sizeof *rows);
    if (rows == NULL) return false;
    int64_t count = collect(points, parameters, basis, y, rows);
    bool solved = count >= parameters && scale(count, parameters, rows, length);
    for (int k = 0; solved && k < parameters; k++) solved = reflect(count, parameters, rows, k);
    if (solved) finish(count, parameters, rows, length, result);
    free(rows);
    return solved;
}

bool fit_line(int64_t points, const double *x, const double *y, fit *result)
{
    if (points < 1) return false;
    double *basis = calloc((size_t)points, 2 * sizeof *basis);
    if (basis == NULL) return false;
    for (int64_t i = 0; i < points; i++) {
        basis[2 * i] = x[i];
        basis[2 * i + 1] = 1;
    }
    bool solved = fit_linear(points, 2, basis, y, result);
    free(basis);
    return solved;
}

/* -------------------------------------------------------------------------------------------------- offset */

static double squares_of_offset(int64_t points, const double *x, const double *y, double slope, double offset)
{
    double squares = 0;
    for (int64_t i = 0; i < points; i++) {
        double difference = y[i] - slope * fmax(x[i] - offset, 0);
        if (isfinite(difference)) squares += difference * difference;
    }
    return squares;
}

/* Fits a line through the points with x >= from; `kept` has room for their y. */
static bool line_from(int64_t points, const double *x, const double *y, double from, double *kept, fit *line)
{
    for (int64_t i = 0; i < points; i++) kept[i] = x[i] >= from ? y[i] : (double)NAN;
    return fit_line(points, x, kept, line) && line->value[0] > 0 && line->points > 2;
}

bool fit_offset(int64_t points, const double *x, const double *y, fit *result)
{
    double least = INFINITY, squares;
    int64_t count = 0;
    fit line;
    double *kept = calloc((size_t)(points > 0 ? points : 1), sizeof *kept);
    if (kept == NULL) return false;
    for (int64_t i = 0; i < points; i++) {
        count += isfinite(x[i] + y[i]);
        if (!isfinite(x[i] + y[i]) || !line_from(points, x, y, x[i], kept, &line)) continue;
        double slope = line.value[0], offset = -line.value[1] / slope;
        squares = squares_of_offset(points, x, y, slope, offset);
        if (!(squares < least)) continue;
        least = squares;
        *result = line;
        result->value[1] = offset;
        /* d offset = -(d intercept + offset d slope) / slope */
        double variance = line.covariance[1][1] + 2 * offset * line.covariance[0][1] + offset * offset * line.covariance[0][0];
        result->error[1] = sqrt(fmax(variance, 0)) / slope;
    }
    free(kept);
    if (!isfinite(least)) return false;
    result->points = count;
    return true;
}

/* -------------------------------------------------------------------------------------------------- median */

static double middle(double *values, int64_t count)
{
    if (count == 0) return NAN;
    app_sort(values, count);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

double fit_median(int64_t count, const double *values, double *error)
{
    double *known = calloc((size_t)(count > 0 ? count : 1), sizeof *known);
    int64_t used = 0;
    if (error != NULL) *error = NAN;
    if (known == NULL) return NAN;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(values[i])) known[used++] = values[i];
    double median = middle(known, used);
    for (int64_t i = 0; i < used; i++) known[i] = fabs(known[i] - median);
    /*
     * for the normal distribution, the standard deviation is 1.4826 x the median deviation, and the error of the median is sqrt(pi / 2)
     * times that of the mean
     */
    if (error != NULL && used > 1) *error = 1.4826 * 1.2533 * middle(known, used) / sqrt((double)used);
    free(known);
    return median;
}

double fit_mean(int64_t count, const double *values, double *error)
{
    double sum = 0, squares = 0;
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += isfinite(values[i]) ? values[i] : 0;
        used += isfinite(values[i]) != 0;
    }
    double mean = used > 0 ? sum / (double)used : (double)NAN;
    for (int64_t i = 0; i < count; i++) squares += isfinite(values[i]) ? (values[i] - mean) * (values[i] - mean) : 0;
    *error = used > 1 ? sqrt(squares / (double)(used - 1) / (double)used) : (double)NAN;
    return mean;
}
