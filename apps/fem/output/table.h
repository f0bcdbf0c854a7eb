/*
 * table.h - the table on the terminal: a line for each refinement step.
 */
#ifndef FEM_OUTPUT_TABLE_H
#define FEM_OUTPUT_TABLE_H

#include <stdbool.h>

#include "output/record.h"

/* Optional columns, which are printed only if they have values. */
typedef struct fem_table {
    const char *stress_unit; /* in the header; "" or NULL: none */
    int components;          /* elasticity: the largest von Mises stress */
    bool gpu;                /* the share on the GPU: there is one */
    bool prediction;         /* the predicted time: there is a model */
    bool energy;             /* the energy: there is a meter */
} fem_table;

/* Length of the longest line, including its end. */
#define FEM_TABLE_LINE 160

/*
 * Format the header and the line of a step, without newline: estimate is relative to the energy norm of the solution, s solve the measured
 * time of the solver, s planned the predicted one.  All columns together are 99 characters wide, and wider only if several parts have
 * seconds per product or a number is too long for its column.  "-" stands for an unknown value.
 */
void fem_table_header(const fem_table *table, char line[FEM_TABLE_LINE]);
void fem_table_row(const fem_table *table, const fem_step_record *step, char line[FEM_TABLE_LINE]);

/* Length of the longest line of fem_table_explain, including its end. */
#define FEM_EXPLANATION 512
/*
 * States the chosen preconditioner and the reason, if there was a choice, and the errors of predictions: of a product, of the step with its
 * actual number of products, and of that number.  "" if there is nothing to report.
 */
void fem_table_explain(const fem_step_record *step, char line[FEM_EXPLANATION]);

#endif
