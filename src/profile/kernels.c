/* Power of kernels by least squares.  Differences between kernels stay small as far as the readings do not determine them. */
#include "profile/kernels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LAST = PROFILE_MAX_KERNELS, MAX_CALLS = 1 << 20 };

/*
 * Expected before there are readings: a kernel's power above idle is the mean of that of all kernels, with a standard deviation of
 * expected_difference of it; idle power is expected_idle of the mean power, with a standard deviation as large.
 */
static const double expected_difference = 0.5, expected_idle = 0.5;
static const double timing = 1.5e-3; /* of the energy: times of calls and updates are not exact, as observed with simulated sensors */

yoke_status profile_kernels_start(yoke_context *context, profile_kernels *k)
{
    *k = (profile_kernels){.context = context};
    for (int i = 0; i < PROFILE_KERNEL_BLOCKS; i++) {
        yoke_status status = profile_unfold_start(context, PROFILE_MAX_KERNELS, &k->blocks[i]);
        if (status) return status;
    }
    return YOKE_OK;
}

void profile_kernels_end(profile_kernels *k)
{
    for (int i = 0; i < PROFILE_KERNEL_BLOCKS; i++) profile_unfold_end(k->context, &k->blocks[i]);
    yoke_release(k->context, k->calls);
    k->calls = NULL;
}

/* -------------------------------------------------------------------------------------------------------- calls */

yoke_status profile_kernels_call(profile_kernels *k, const profile_call *call)
{
    if (k->count == k->capacity) { /* half of the calls may be forgotten: makes room for twice those that still show */
        int64_t showing = k->count - k->forgotten, capacity = 2 * showing + 64;
        profile_call *memory = NULL;
        if (capacity > MAX_CALLS)
            return yoke_fail(k->context, YOKE_ERROR_ARGUMENT,
                             "more than %d calls of kernels between two readings; mark groups of calls instead of each call",
                             MAX_CALLS / 2);
        yoke_status status = yoke_allocate(k->context, capacity, sizeof *memory, &memory);
        if (status) return status;
        if (showing > 0) memcpy(memory, k->calls + k->forgotten, (size_t)showing * sizeof *memory);
        yoke_release(k->context, k->calls);
        k->calls = memory;
        k->capacity = capacity;
        k->count = showing;
        k->forgotten = 0;
    }
    k->calls[k->count++] = *call;
    k->calls_of[call->kernel] += !call->continues;
    k->seconds_of[call->kernel] += call->end_s - call->start_s;
    return YOKE_OK;
}

void profile_kernels_forget(profile_kernels *k, double before_s)
{
    while (k->forgotten < k->count && k->calls[k->forgotten].end_s < before_s) k->forgotten++;
}

/* ----------------------------------------------------------------------------------------------------- readings */

static void add_reading(profile_kernels *k, double *row, double watts, double error_w)
{
    profile_unfold *block = &k->blocks[(k->readings / PROFILE_BLOCK_READINGS) % PROFILE_KERNEL_BLOCKS];
    double weight = 1 / (error_w * error_w);
    if (k->readings == 0)
        for (int i = 0; i < PROFILE_KERNEL_BLOCKS; i++) k->blocks[i].offset_w = watts;
    profile_unfold_add(block, row, watts, weight);
    k->sum_w += weight * watts;
    k->sum_weight += weight;
    k->readings++;
}

void profile_kernels_add_mean(profile_kernels *k, double from_s, double until_s, double watts, double error_w)
{
    double row[PROFILE_MAX_KERNELS + 1] = {0};
    for (int64_t i = k->forgotten; i < k->count; i++) {
        const profile_call *call = &k->calls[i];
        double overlap = fmin(call->end_s, until_s) - fmax(call->start_s, from_s);
        if (overlap > 0) row[call->kernel] += overlap / (until_s - from_s);
    }
    add_reading(k, row, watts, error_w);
}

/* ----------------------------------------------------------------------------------------------------- solution */

/*
 * A system with these unknowns: the power above idle that all kernels have in common, each kernel's difference from it, and idle power
 * (less the offset of the sums).
 */
typedef struct system_of {
    int kernels, size;
    int kernel[PROFILE_MAX_KERNELS];  /* that have readings */
    double *matrix, *right;           /* of the sums, in these unknowns: [size][size], [size] */
    double *factor, *x;               /* likewise */
    double ridge, idle_ridge, idle_w; /* idle_w: expected idle power, less the offset */
    double variance;                  /* of a reading of weight 1 */
} system_of;

/* The element of the matrix of sums for two unknowns (-1: all kernels together, LAST: idle). */
static double sum_of(const profile_unfold *u, const system_of *s, int a, int b)
{
    const int stride = LAST + 1;
    double sum = 0;
    if (a >= 0 && b >= 0) return u->matrix[a * stride + b];
    if (a < 0 && b < 0) {
        for (int i = 0; i < s->kernels; i++)
            for (int k = 0; k < s->kernels; k++) sum += u->matrix[s->kernel[i] * stride + s->kernel[k]];
        return sum;
    }
    int other = a < 0 ? b : a;
    for (int i = 0; i < s->kernels; i++) sum += u->matrix[s->kernel[i] * stride + other];
    return sum;
}

/* Number in the sums of an unknown of the system; -1: all kernels together. */
static int number_of(const system_of *s, int unknown)
{
    if (unknown == 0) return -1;
    return unknown == s->size - 1 ? LAST : s->kernel[unknown - 1];
}

static void fill(const profile_unfold *u, system_of *s)
{
    for (int i = 0; i < s->size; i++) {
        int a = number_of(s, i);
        for (int k = 0; k < s->size; k++) s->matrix[i * s->size + k] = sum_of(u, s, a, number_of(s, k));
        s->right[i] = 0;
        if (a >= 0)
            s->right[i] = u->right[a];
        else
            for (int k = 0; k < s->kernels; k++) s->right[i] += u->right[s->kernel[k]];
    }
}

static bool solve(system_of *s)
{
    const int n = s->size;
    memcpy(s->factor, s->matrix, sizeof(double) * (size_t)(n * n));
    memcpy(s->x, s->right, sizeof(double) * (size_t)n);
    for (int i = 1; i + 1 < n; i++) s->factor[i * n + i] += s->ridge;
    s->factor[n * n - 1] += s->idle_ridge;
    s->x[n - 1] += s->idle_ridge * s->idle_w;
    if (!profile_factor(s->factor, n)) return false;
    profile_back_substitute(s->factor, n, s->x);
    return true;
}

/* Weighted sum of squares of what the solution does not explain. */
static double rest_of(const profile_unfold *u, const system_of *s)
{
    double rest = u->squares;
    for (int i = 0; i < s->size; i++) {
        rest -= 2 * s->x[i] * s->right[i];
        for (int k = 0; k < s->size; k++) rest += s->x[i] * s->matrix[i * s->size + k] * s->x[k];
    }
    return fmax(0, rest);
}

/* Solves the system.  The variance of readings, the solution, and the expected sizes depend on each other: a few rounds are enough. */
static bool find(const profile_kernels *k, const profile_unfold *all, system_of *s)
{
    enum { ROUNDS = 5 };
    double mean_w = k->sum_w / k->sum_weight, common = fmax(mean_w, 1e-9);
    double scale = all->matrix[(LAST + 1) * (LAST + 1) - 1] / all->count; /* mean weight */
    /* Readings are never more accurate than this.  The factorisation needs it: the expected values must count beside the readings. */
    double least = fmax(1e-8, 1e-10 * all->count) * mean_w * mean_w * scale;
    s->idle_w = expected_idle * mean_w - all->offset_w;
    s->variance = fmax(1, least);
    for (int round = 0; round < ROUNDS; round++) {
        double difference = expected_difference * common, idle = expected_idle * mean_w;
        s->ridge = s->variance / (difference * difference);
        s->idle_ridge = s->variance / (idle * idle);
        if (!solve(s)) return false;
        common = fmax(fabs(s->x[0]), 1e-3 * mean_w);
        double freedom = fmax(1, all->count - fmin(s->size, 0.5 * all->count));
        s->variance = fmax(least, rest_of(all, s) / freedom);
    }
    return true;
}

/* Energy in this number of seconds with the kernel of unknown `i`; i = size - 1: without any kernel. */
static double energy_of(const system_of *s, const profile_unfold *all, int i, double seconds)
{
    double watts = s->x[s->size - 1] + all->offset_w;
    if (i < s->size - 1) watts += s->x[0] + s->x[i];
    return watts * seconds;
}

/* Standard deviation of this energy, by the scatter of the readings and by the expected values where the readings determine nothing. */
static double deviation_of(const system_of *s, int i, double seconds, double *scratch)
{
    double sum = 0;
    memset(scratch, 0, sizeof(double) * (size_t)s->size);
    scratch[s->size - 1] = 1;
    if (i < s->size - 1) scratch[0] = scratch[i] = 1;
    profile_back_substitute(s->factor, s->size, scratch);
    sum = scratch[s->size - 1];
    if (i < s->size - 1) sum += scratch[0] + scratch[i];
    return seconds * sqrt(fmax(0, s->variance * sum));
}

/*
 * Solves without each of the blocks, one at a time.  sums [size][2]: sums of the differences from the whole result, and of their squares.
 */
static bool leave_out(const profile_kernels *k, profile_unfold *all, const system_of *whole, double *memory, double *sums)
{
    const int n = whole->size;
    system_of s = *whole;
    s.matrix = memory;
    s.right = s.matrix + n * n;
    s.factor = s.right + n;
    s.x = s.factor + n * n;
    for (int block = 0; block < PROFILE_KERNEL_BLOCKS; block++) {
        profile_unfold_merge(all, &k->blocks[block], -1);
        fill(all, &s);
        bool solved = solve(&s);
        profile_unfold_merge(all, &k->blocks[block], 1);
        if (!solved) return false;
        for (int i = 1; i < n; i++) {
            double off = energy_of(&s, all, i, 1) - energy_of(whole, all, i, 1);
            sums[2 * i] += off;
            sums[2 * i + 1] += off * off;
        }
    }
    return true;
}

static void tell(const profile_unfold *all, const system_of *s, const double *sums, double *scratch, profile_joules *joules)
{
    const double blocks = PROFILE_KERNEL_BLOCKS;
    for (int i = 1; i < s->size; i++) {
        int kernel = number_of(s, i);
        profile_joules *to = &joules[kernel];
        double seconds = kernel == LAST ? 1 : to->call_s;
        double scatter = sqrt((blocks - 1) / blocks * fmax(0, sums[2 * i + 1] - sums[2 * i] * sums[2 * i] / blocks));
        double statistical = fmax(profile_student(blocks - 1) * scatter * seconds, 1.96 * deviation_of(s, i, seconds, scratch));
        to->energy_j = energy_of(s, all, i, seconds);
        to->dynamic_j = to->energy_j - energy_of(s, all, s->size - 1, seconds);
        to->uncertainty_j = hypot(statistical, timing * to->energy_j);
    }
}

static yoke_status solve_all(const profile_kernels *k, profile_unfold *all, profile_joules *joules)
{
    system_of s = {.kernels = 0};
    double *memory = NULL;
    for (int i = 0; i < PROFILE_KERNEL_BLOCKS; i++) profile_unfold_merge(all, &k->blocks[i], 1);
    for (int i = 0; i < PROFILE_MAX_KERNELS; i++)
        if (all->matrix[i * (LAST + 1) + i] > 0) s.kernel[s.kernels++] = i;
    s.size = s.kernels + 2;
    const int64_t n = s.size, one = 2 * n * n + 2 * n;
    yoke_status status = yoke_allocate(k->context, 2 * one + 3 * n, sizeof(double), &memory);
    if (status) return status;
    s.matrix = memory;
    s.right = s.matrix + n * n;
    s.factor = s.right + n;
    s.x = s.factor + n * n;
    fill(all, &s);
    double *sums = memory + 2 * one, *scratch = sums + 2 * n;
    if (find(k, all, &s) && leave_out(k, all, &s, memory + one, sums))
        tell(all, &s, sums, scratch, joules);
    else
        status = yoke_fail(k->context, YOKE_ERROR_NUMERIC, "the readings of the meter do not determine the power of any kernel");
    yoke_release(k->context, memory);
    return status;
}

yoke_status profile_kernels_solve(const profile_kernels *k, profile_joules *joules)
{
    for (int i = 0; i <= PROFILE_MAX_KERNELS; i++) {
        joules[i] = (profile_joules){.energy_j = NAN, .dynamic_j = NAN, .uncertainty_j = NAN, .call_s = NAN};
        if (i == PROFILE_MAX_KERNELS || !(k->calls_of[i] > 0)) continue;
        joules[i].calls = k->calls_of[i];
        joules[i].call_s = k->seconds_of[i] / k->calls_of[i];
    }
    if (k->readings < PROFILE_MIN_READINGS)
        return yoke_fail(k->context, YOKE_ERROR_UNAVAILABLE, "the meter changed %lld times so far; at least %d are needed",
                         (long long)k->readings, (int)PROFILE_MIN_READINGS);
    profile_unfold all = {0};
    yoke_status status = profile_unfold_start(k->context, PROFILE_MAX_KERNELS, &all);
    if (!status) status = solve_all(k, &all, joules);
    profile_unfold_end(k->context, &all);
    return status;
}
