/*
 * source.h - streams of power that other programs recorded: one file of comma-separated values each, read whole.
 */
#ifndef TOOL_ENERGY_SOURCE_H
#define TOOL_ENERGY_SOURCE_H

#include <stdbool.h>

#include "yoke/yoke.h"

enum { ENERGY_MAX_SOURCES = 16, ENERGY_MAX_STREAMS = 64, ENERGY_STREAM_NAME = 64 };

/* Power that is linear in time between the first and the last time. */
typedef struct energy_cell {
    double first_s, last_s; /* first_s < last_s */
    double first_w, last_w;
} energy_cell;

/* A column of a file, on the common time (offset added).  Cells ascend and do not overlap; between two cells the power is not known. */
typedef struct energy_stream {
    char name[ENERGY_STREAM_NAME]; /* FILE:COLUMN, without the directory */
    bool counts;                   /* cells are differences of a counter: their energy is exact, but not its distribution within them */
    energy_cell *cells;
    int64_t num_cells;
} energy_stream;

typedef struct energy_source {
    const char *text; /* as given: FILE[,offset=S][,gap=S][,column=NAME]...; borrowed */
    char *path;       /* of the file; owned */
    double offset_s;  /* added to its times */
    /*
     * Longest time between two readings of power over which is interpolated; NaN: 1 s, or 10 usual times between two readings if that is
     * more; for rows of yoke energy 1 ms or 1 %.
     */
    double gap_s;
    int64_t rows;
    int num_streams;
    energy_stream stream[ENERGY_MAX_STREAMS];
} energy_source;

/*
 * Reads a source.  The file has a head, which names a column of time (time, time_s, timestamp, t; seconds, or a date) and columns of
 * power (..._w, or [W] in the name) or of a counter of energy (..._j, [J]; mW, Wh and similar units too); other columns are ignored.  In
 * a file that `yoke energy --csv` wrote the column is total_j of each row.  Empty fields, "-", "nan" and "[N/A]" are readings that
 * failed.
 * Errors: INPUT (file, line, and what was expected), MEMORY.  After an error there is nothing to free.
 */
yoke_status energy_source_read(yoke_context *context, const char *text, energy_source *source);
void energy_source_release(yoke_context *context, energy_source *source);

#endif
