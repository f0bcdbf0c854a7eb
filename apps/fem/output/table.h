/*
 * table.h - the table on the terminal: a line for each refinement step.
 */
#ifndef FEM_OUTPUT_TABLE_H
#define FEM_OUTPUT_TABLE_H

#include <stdbool.h>

#include "output/record.h"

/* Columns that are only there where they have something to say. */
typedef struct fem_table {
    const char *stress_unit; /* in the header; "" or NULL: none */
    int components;          /* elasticity: with the largest von Mises stress */
    bool gpu;                /* with the share on the GPU: there is one */
    bool prediction;         /* with the predicted time: there is a model */
    bool energy;             /* with the energy: there is a meter */
} fem_table;

/* Longest line, with its end. */
#define FEM_TABLE_LINE 160

/*
 * The header and the line of a step, without newline: estimate is relative to the energy norm of the solution, s solve the measured time of
 * the solver, s planned the predicted one.  All columns together are 99 characters wide, and wider only where several parts have
 * seconds per product or a number outgrows its column.  "-" stands for what is not known.
 */
void fem_table_header(const fem_table *table, char line[FEM_TABLE_LINE]);
void fem_table_row(const fem_table *table, const fem_step_record *step, char line[FEM_TABLE_LINE]);

/* Longest line of fem_table_explain, with its end. */
#define FEM_EXPLANATION 512
/*
 * Which preconditioner was chosen and why, where there was a choice; how predictions turned out: of a product, of the step with the products
 * that it was, and of their number.  "" where there is nothing to say.
 */
void fem_table_explain(const fem_step_record *step, char line[FEM_EXPLANATION]);

#endif
