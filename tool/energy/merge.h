/*
 * merge.h - `yoke energy --source`: recorded streams of several sources, combined by their times.
 */
#ifndef TOOL_ENERGY_MERGE_H
#define TOOL_ENERGY_MERGE_H

#include "common/console/options.h"
#include "common/console/terminal.h"

typedef struct energy_merge_request {
    const app_list *sources;
    const char *from, *to; /* seconds of the common time, or NULL: as far as all streams extend */
    const char *csv, *json;
} energy_merge_request;

/* Reads all sources, integrates, prints the report, writes the files.  Errors: INPUT, MEMORY, SYSTEM. */
yoke_status energy_merge(yoke_context *context, app_terminal *terminal, const energy_merge_request *request, int argc, char **argv);

#endif
