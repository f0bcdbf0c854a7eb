/* data.h - the data of an experiment: a table with named columns, results, and notes about what could not be determined. */
#ifndef BENCH_ENERGY_DATA_H
#define BENCH_ENERGY_DATA_H

#include <stdbool.h>
#include <stdio.h>

#include "yoke/yoke.h"

enum { DATA_MAX_COLUMNS = 48, DATA_MAX_RESULTS = 64, DATA_MAX_CURVES = 32, DATA_MAX_NOTES = 32, DATA_NAME = 72, DATA_NOTE = 512 };

/* A quantity with its standard error (NaN: not known). */
typedef struct data_result {
    char name[DATA_NAME], unit[24];
    double value, error;
} data_result;

/* Points of two columns, and the curve through them as a formula for gnuplot ("" for none).  Curves of the same panel share a figure. */
typedef struct data_curve {
    int panel, x, y, divide; /* y is divided by that column; -1: not divided */
    char x_label[DATA_NAME], y_label[DATA_NAME], expression[160];
} data_curve;

typedef struct data {
    yoke_context *context;
    int columns;
    char column[DATA_MAX_COLUMNS][DATA_NAME];
    int64_t rows, capacity;
    double *values; /* [rows][columns] */
    int num_results, num_curves, num_notes;
    data_result result[DATA_MAX_RESULTS];
    data_curve curve[DATA_MAX_CURVES];
    char note[DATA_MAX_NOTES][DATA_NOTE];
} data;

void data_release(data *d);

/* Returns the number of the column; adds it before the first row if it does not exist.  -1: too many columns. */
int data_column(data *d, const char *name);
/* Number of a column, or -1. */
int data_find(const data *d, const char *name);
/* Errors: MEMORY. */
yoke_status data_add(data *d, const double *row);
/* Number of known values in the column. */
int64_t data_known(const data *d, int column);
/* The column as an array [rows]; release with yoke_release.  Errors: MEMORY. */
yoke_status data_get(const data *d, int column, double **values);

/* Adds a result, a note or a curve; omits it if there is no room. */
void data_say(data *d, const char *name, const char *unit, double value, double error);
void data_note(data *d, const char *format, ...) YOKE_PRINTF(2, 3);
void data_draw(data *d, int panel, int x, int y, const char *x_label, const char *y_label, const char *format, ...) YOKE_PRINTF(7, 8);

/* The latest curve becomes that of the column's ratio to another column. */
void data_divide(data *d, int column);

/* CSV: a line of names, then a line for each row; NaN is an empty field. */
void data_write_csv(const data *d, FILE *out);
/*
 * Reads such a file; lines that begin with # are comments.  Errors: INPUT (line and what was expected; a missing name of `wanted`, which
 * ends with NULL), MEMORY.
 */
yoke_status data_read_csv(data *d, const char *path, const char *const *wanted);

/* Writes a script for gnuplot that draws `name`.svg from `name`.csv. */
void data_write_script(const data *d, const char *name, FILE *out);

#endif
