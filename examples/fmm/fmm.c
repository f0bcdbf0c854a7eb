/*
 * Simulates ions that move in each other's field.  libyoke_fmm computes the forces of each step and keeps the tree that it has chosen.
 *
 *     fmm [STORE [DEVICES]]
 *
 * STORE: file that keeps the measured costs of operations; "none": they are measured anew.  DEVICES: devices that share the near field, as
 * in "openmp,opencl:0.0".
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "yoke_fmm.h"

enum { EDGE = 16, IONS = EDGE * EDGE * EDGE, STEPS = 5 };

typedef struct ion {
    double at[3], velocity[3], gradient[3], charge;
} ion;

/* A crystal of alternating charges, with each ion slightly displaced from its lattice point. */
static void place(ion *ions)
{
    for (int i = 0; i < IONS; i++) {
        const int cell[3] = {i % EDGE, i / EDGE % EDGE, i / EDGE / EDGE};
        for (int c = 0; c < 3; c++) ions[i].at[c] = cell[c] + 0.1 * sin(i + c);
        ions[i].charge = (cell[0] + cell[1] + cell[2]) % 2 ? -1 : 1;
    }
}

/* Leapfrog method: half a step of the velocities, a whole step of the positions, and the other half with the new forces. */
static void push(ion *ions, double dt)
{
    for (int i = 0; i < IONS; i++)
        for (int c = 0; c < 3; c++) ions[i].velocity[c] -= dt * ions[i].charge * ions[i].gradient[c];
}

static void move(ion *ions, double dt)
{
    for (int i = 0; i < IONS; i++)
        for (int c = 0; c < 3; c++) ions[i].at[c] += dt * ions[i].velocity[c];
}

static double kinetic(const ion *ions)
{
    double sum = 0;
    for (int i = 0; i < IONS; i++)
        for (int c = 0; c < 3; c++) sum += 0.5 * ions[i].velocity[c] * ions[i].velocity[c];
    return sum;
}

int main(int argc, char **argv)
{
    static ion ions[IONS];
    static double potential[IONS];
    const int64_t stride = sizeof(ion) / sizeof(double); /* from one ion to the next */
    const double dt = 0.02;
    const yoke_fmm_options options = {
        .error = 1e-5, .check = 200, .store = argc > 1 ? argv[1] : NULL, .devices = argc > 2 ? argv[2] : NULL};
    const yoke_fmm_particles particles = {
        IONS, &ions[0].at[0], &ions[0].at[1], &ions[0].at[2], &ions[0].charge, .stride = stride, .charge_stride = stride};
    const yoke_fmm_field field = {potential, &ions[0].gradient[0], &ions[0].gradient[1], &ions[0].gradient[2], .gradient_stride = stride};
    yoke_context *context = NULL;
    yoke_fmm *fmm = NULL;
    yoke_fmm_result result;
    char *text = NULL;
    place(ions);
    yoke_status status = yoke_context_create(NULL, &context);
    if (!status) status = yoke_fmm_create(context, &options, &fmm);
    if (!status) status = yoke_fmm_tune(fmm, &particles);
    if (!status) status = yoke_fmm_explain(fmm, &text);
    if (!status) printf("%s", text);
    if (!status) status = yoke_fmm_run(fmm, &particles, &field);
    for (int step = 0; step < STEPS && !status; step++) {
        push(ions, dt / 2);
        move(ions, dt);
        status = yoke_fmm_run(fmm, &particles, &field);
        push(ions, dt / 2);
        if (!status) status = yoke_fmm_get_result(fmm, &result);
        if (!status)
            printf("step %d: depth %d%s, energy %.6f, error of potentials %.1e\n", step + 1, result.depth, result.tuned ? " chosen" : "",
                   result.total_energy + kinetic(ions), result.sampled_potential_error);
    }
    if (status) fprintf(stderr, "%s\n", yoke_last_error(context));
    yoke_release(context, text);
    yoke_fmm_destroy(fmm);
    yoke_context_destroy(context);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
