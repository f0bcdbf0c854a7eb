/*
 * rewrite.h - functions that bdf.c and unv.c share, which rewrite a file for Gmsh: the text, labels of nodes or elements with the lines
 * that define them, and names of what is omitted.
 */
#ifndef FEM_MESH_FILE_REWRITE_H
#define FEM_MESH_FILE_REWRITE_H

#include <stddef.h>

#include "yoke/yoke.h"

/* Zero at first; the text is released by its owner. */
typedef struct fem_text {
    char *text; /* [bytes], not terminated */
    int64_t bytes, capacity;
} fem_text;

enum { FEM_TEXT_MOST = 320 }; /* bytes that one call may append, with the zero byte of printf */

/* Appends formatted text.  Errors: MEMORY. */
yoke_status fem_text_put(yoke_context *context, fem_text *to, const char *format, ...) YOKE_PRINTF(3, 4);

typedef struct fem_label {
    int64_t number, line;
} fem_label;

/* Zero at first; fem_labels_clear releases it. */
typedef struct fem_labels {
    int64_t count, capacity, sorted; /* sorted: number of items at the beginning that are sorted */
    fem_label *item;
} fem_labels;

/* Errors: MEMORY. */
yoke_status fem_labels_add(yoke_context *context, fem_labels *to, int64_t number, int64_t line);
/* Whether one of the labels is `number`.  Sorts them. */
int fem_labels_have(fem_labels *all, int64_t number);
/* Sorts the labels and checks them.  path, what: for the message.  Errors: INPUT (a number that two lines define). */
yoke_status fem_labels_check_unique(yoke_context *context, const char *path, fem_labels *all, const char *what);
void fem_labels_clear(yoke_context *context, fem_labels *all);

enum { FEM_LEFT_OUT = 64, FEM_LEFT_OUT_BYTES = 32 };

/* [FEM_LEFT_OUT], zero at first: names in the order of their first occurrence, each with its count. */
typedef struct fem_left_out {
    char name[FEM_LEFT_OUT_BYTES];
    int64_t count;
} fem_left_out;

/* Counts one more occurrence of the name, which is truncated if it is too long; names beyond FEM_LEFT_OUT are not stored. */
void fem_left_out_add(fem_left_out *kept, const char *name);
/* "A (1), B (2)"; empty if there is nothing. */
void fem_left_out_text(const fem_left_out *kept, char *text, size_t size);

#endif
