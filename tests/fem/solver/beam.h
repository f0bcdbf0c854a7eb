/*
 * beam.h - beams that are clamped at one end and loaded at the other, and their solves.
 */
#ifndef TEST_BEAM_H
#define TEST_BEAM_H

#include "fem/fixtures/block.h"
#include "fem/fixtures/solving.h"

typedef struct beam_options {
    int components, order;
    cube_map *map;
    double nu, jump; /* Poisson's ratio; factor between the moduli of alternate coarse elements */
    const yoke_options *memory;
} beam_options;

/* The block, clamped at one end and pulled askew at the other; E = 1. */
static inline void create_beam(block *b, const beam_options *beam)
{
    block_options options = {
        .elements = {2, 2, 2}, .map = beam->map, .order = beam->order, .turn = 5, .components = beam->components, .memory = beam->memory};
    block_create(&options, b);
    if (beam->components == 3) {
        b->material[0].lambda = beam->nu / ((1 + beam->nu) * (1 - 2 * beam->nu));
        b->material[0].mu = 1 / (2 * (1 + beam->nu));
    }
    block_two_materials(b, beam->jump);
    block_add_condition(b, (fem_condition){FEM_DIRICHLET, 0, 7, {0, 0, 0}});
    block_add_condition(b, (fem_condition){FEM_TRACTION, 1, 0, {0.3, -1, 2}});
}

static const beam_options plain_beam = {.components = 3, .order = 1, .nu = 0.3, .jump = 1};

static inline void refine(block *b, int times, double probability, uint64_t *random)
{
    for (int i = 0; i < times; i++) block_refine(b, probability, random);
}

static inline yoke_status solve(const block *b, const fem_solve_options *options, const fem_hooks *hooks, fem_solution **solution)
{
    *solution = NULL;
    return solve_alone(b->space, b->boundary, b->constraints, NULL, options, hooks, solution);
}

static const fem_solve_options with_multigrid = {.solver = FEM_SOLVER_MULTIGRID, .relative_residual = 1e-8, .max_iterations = 1000};
static const fem_solve_options with_jacobi = {.solver = FEM_SOLVER_JACOBI, .relative_residual = 1e-8, .max_iterations = 20000};

#endif
