/*
 * bdf.h - NASTRAN bulk data as cards: free, small and large fields, continuation lines, comments, tabs.
 *
 *     bdf_card.c   from lines to cards
 *     bdf.c        which cards are read, refused, or omitted; the file that Gmsh reads
 */
#ifndef FEM_MESH_FILE_BDF_H
#define FEM_MESH_FILE_BDF_H

#include <stdio.h>

#include "mesh/file/file.h"

enum { FEM_BDF_FIELDS = 32, FEM_BDF_FIELD_BYTES = 32, FEM_BDF_LINE_BYTES = 1024, FEM_BDF_NAME_BYTES = 24 };

/* A card.  Fields are counted from 1; those after the card's last line are empty. */
typedef struct fem_bdf_card {
    char name[FEM_BDF_NAME_BYTES]; /* in capitals, without the mark of large fields */
    int64_t line;                  /* number of its first line */
    int count;                     /* number of fields of its lines, including empty ones; it can exceed the number that is kept */
    char field[FEM_BDF_FIELDS + 1][FEM_BDF_FIELD_BYTES];
} fem_bdf_card;

typedef struct fem_bdf_reader {
    yoke_context *context;
    const char *path;
    FILE *file;
    int64_t line; /* number of the line in text */
    int ahead;    /* nonzero: text has a line that was not used so far */
    char text[FEM_BDF_LINE_BYTES];
} fem_bdf_reader;

/*
 * Reads the next card; *more = 0 after the last one, at ENDDATA or at the end of the file.
 * Errors: INPUT (line: a continuation that does not belong to the line above it, a line or field that is too long, replication, deletion).
 */
yoke_status fem_bdf_next(fem_bdf_reader *reader, fem_bdf_card *card, int *more);

/* Reads the next line without its comment, with tabs expanded; *more = 0: there is none.  Errors: INPUT (line). */
yoke_status fem_bdf_next_line(fem_bdf_reader *reader, int *more);

/* The integer or real number in field k; `blank` if the field is empty.  Errors: INPUT (line, card, field). */
yoke_status fem_bdf_integer(const fem_bdf_reader *reader, const fem_bdf_card *card, int k, int64_t blank, int64_t *value);
yoke_status fem_bdf_real(const fem_bdf_reader *reader, const fem_bdf_card *card, int k, double *value); /* blank: 0 */

#endif
