#include "solver/multigrid/costs.h"

/*
 * Measured as seconds on one core (AMD Zen 5, q2 elasticity, 4000 to 180 000 dofs), times the 3e10 operations per second that large
 * factorisations reach there; only ratios of these costs matter.  An iteration: 0.1 us per dof and 150 us.  The set-up of multigrid: 0.3 us
 * per dof and 1.5 ms.  Order, matrix and analysis of the factor: 5.5 us per dof.
 */
static const double iteration_dof = 3e3, iteration_alone = 4.5e6;
static const double multigrid_dof = 1e4, multigrid_alone = 4.5e7;
static const double direct_dof = 1.6e5;
/* An entry of the factor is read twice in each of two substitutions, which takes as long as this many operations of the factorisation. */
static const double substitution_entry = 40;
/* Cost of reading one byte, which follows from substitution_entry: 32 bytes are read of each entry. */
static const double byte_operations = 1.25;
/*
 * Levels of stretched elements.  finest_share is a level's own part of an iteration: all levels of an ordinary body together are 8/7 of the
 * finest.  A block solve reads and writes vectors besides the factors, also on the host.  Matrices of elements and blocks take 0.9 us per
 * dof.  The blocks' factorisation has only short rows to work on, and takes block_weight times as long as the same operations on a large
 * matrix.
 */
static const double finest_share = 7.0 / 8, block_vector_bytes = 40, block_matrix_dof = 2.7e4, block_weight = 4;
/*
 * BoomerAMG with its matrix.  These are most of 2.0 s of set-up, and of 0.24 s per iteration (AMD Zen 4, one core, a cube of 397 953 dofs
 * of q1).
 */
static const double algebraic_setup_dof = 1.3e5, algebraic_dof = 1.6e4;

fem_multigrid_work fem_multigrid_usual_work(double dofs)
{
    return (fem_multigrid_work){multigrid_dof * dofs + multigrid_alone, iteration_dof * dofs + iteration_alone};
}

fem_multigrid_work fem_multigrid_least_work(void) { return (fem_multigrid_work){multigrid_alone, iteration_alone}; }

double fem_multigrid_operations(fem_multigrid_work work, double iterations) { return work.setup + work.iteration * iterations; }

fem_multigrid_work fem_block_level_work(const fem_block_level *level)
{
    const double solve_bytes = 2 * sizeof(float) * level->entries + block_vector_bytes * level->dofs;
    return (fem_multigrid_work){(multigrid_dof + block_matrix_dof) * level->dofs + block_weight * level->operations,
                                level->smoothings *
                                    (finest_share * iteration_dof * level->dofs + level->products * byte_operations * solve_bytes)};
}

fem_multigrid_work fem_last_level_work(double dofs, const fem_cholesky_cost *cost, double solves)
{
    return (fem_multigrid_work){fem_direct_least_operations(dofs) + cost->operations, 0.5 * substitution_entry * cost->entries * solves};
}

fem_multigrid_work fem_algebraic_level_work(double dofs, double solves)
{
    return (fem_multigrid_work){algebraic_setup_dof * dofs, algebraic_dof * dofs * solves};
}

double fem_direct_least_operations(double dofs) { return direct_dof * dofs; }

double fem_direct_operations(double dofs, const fem_cholesky_cost *cost)
{
    return fem_direct_least_operations(dofs) + cost->operations + substitution_entry * cost->entries;
}
