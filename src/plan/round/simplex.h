/*
 * simplex.h - a small linear program whose columns are added one by one: minimise cost x with A x = b, x >= 0, b >= 0.
 *
 * It serves bounds that hold for any multipliers, so neither rounding nor an end before the optimum can make them wrong; it only keeps
 * both rare.  It is the primal simplex method with the inverse of the basis (e.g. Chvatal, Linear Programming, 1983, chapter 7).
 */
#ifndef YOKE_PLAN_SIMPLEX_H
#define YOKE_PLAN_SIMPLEX_H

#include "yoke/core.h"

typedef struct plan_simplex {
    yoke_context *context;
    int rows, most_rows;
    int columns, most_columns, most_entries; /* most_entries: of a column */
    double *costs;                           /* [most_columns] */
    int *entries, *row_of;                   /* [most_columns]: number of entries; [most_columns][most_entries]: their rows */
    double *values;                          /* [most_columns][most_entries] */
    int *basis;                              /* [rows]: the column that is basic in a row */
    int *place;                              /* [most_columns]: the row in which a column is basic, -1: it is not */
    double *inverse;                         /* [rows][rows] */
    double *x, *multipliers, *entering;      /* [rows]: of basic columns, of rows; the column that enters */
} plan_simplex;

/* Allocates memory for programs with at most these numbers of rows, columns, and entries of a column.  Errors: MEMORY. */
yoke_status plan_simplex_create(yoke_context *context, int most_rows, int most_columns, int most_entries, plan_simplex *simplex);
void plan_simplex_destroy(plan_simplex *simplex);

/*
 * Removes all columns.  The first `rows` columns that are then added must be the unit columns of the rows, in their order: they are the
 * first basis.
 * b: [rows], >= 0.
 */
void plan_simplex_start(plan_simplex *simplex, int rows, const double *b);

/* Adds a column; returns its number, or -1 if there is no room for it. */
int plan_simplex_add(plan_simplex *simplex, double cost, int entries, const int *rows, const double *values);

/* Puts a column into the basis at a row, whatever the signs of x become: for a better first basis. */
void plan_simplex_force(plan_simplex *simplex, int column, int row);

/*
 * Makes steps to the optimum over the columns so far, up to a limit; multipliers are those of the last basis.  Returns the number of steps.
 */
int plan_simplex_solve(plan_simplex *simplex, int most_steps);

/* The value of x for a column; 0 if it is not basic. */
static inline double plan_simplex_value(const plan_simplex *simplex, int column)
{
    return column >= 0 && simplex->place[column] >= 0 ? simplex->x[simplex->place[column]] : 0;
}

/* The cost of x. */
double plan_simplex_cost(const plan_simplex *simplex);

#endif
