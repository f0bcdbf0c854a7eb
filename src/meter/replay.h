/*
 * replay.h - recorded streams of readings (docs/methods/energy.md has the format).
 *
 *     replay_file.c  the text and its table
 *     replay.c       the kind of meter
 */
#ifndef YOKE_METER_REPLAY_H
#define YOKE_METER_REPLAY_H

#include "meter/meter.h"

enum { REPLAY_DOMAINS = 64 };

typedef enum replay_what { REPLAY_VALUE, REPLAY_FAILED, REPLAY_GONE } replay_what;

typedef struct replay_cell { /* one reading */
    replay_what what;
    uint64_t count;
    double value;
} replay_cell;

typedef struct replay_table {
    yoke_context *context;
    int64_t columns, rows;
    meter_domain domains[REPLAY_DOMAINS]; /* as the file describes them, without state */
    double *times_s;                      /* [rows] ascending, the first one is 0 */
    replay_cell *cells;                   /* [rows][columns] */
    double longest_s;                     /* the longest time between two rows */
    int cut;                              /* nonzero: the last line is incomplete and was left out */
    int64_t users;                        /* number of domains that read from it */
} replay_table;

/* Reads a recording.  Errors: INPUT (file, line, what was expected), MEMORY. */
yoke_status replay_table_read(yoke_context *context, const char *path, replay_table **table);
void replay_table_destroy(replay_table *table);
/* The last row at or before the time; -1 if it is before the first row. */
int64_t replay_table_row(const replay_table *table, double time_s);

#endif
