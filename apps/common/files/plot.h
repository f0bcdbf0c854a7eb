/*
 * plot.h - figures, drawn with gnuplot if it is installed.
 */
#ifndef APP_PLOT_H
#define APP_PLOT_H

#include <limits.h>
#include <stdbool.h>

#include "common/console/terminal.h"
#include "common/files/file.h"

/*
 * Runs `gnuplot script` in the directory and waits for it.  *drawn: gnuplot is installed and succeeded; a missing gnuplot is no failure.
 * Errors: SYSTEM (it cannot be started).
 */
yoke_status app_plot_draw(yoke_context *context, const char *directory, const char *script, bool *drawn);

/* The parts of a figure: BASE.dat (or with another ending) and the script BASE.gp, in one directory. */
typedef struct app_plot {
    const char *directory, *base;
    const char *ending; /* of the data: ".csv"; NULL: ".dat" */
    app_file_printer *print_data, *print_script;
} app_plot;

/* Writes both, printed from `data`, and draws.  Errors: as app_file_write and app_plot_draw. */
yoke_status app_plot_write(yoke_context *context, const app_plot *plot, const void *data, bool *drawn);

/* The same, and reports on the terminal in which directory data and figure are. */
yoke_status app_plot_show(yoke_context *context, app_terminal *terminal, const app_plot *plot, const void *data);

/*
 * The directory of the picture of `--plot DIRECTORY/BASE.svg`, and the paths of its data (BASE.dat) and script (BASE.gp), which are written
 * beside it: a command line must not name these files for anything else (app_files_check).
 */
typedef struct app_plot_place {
    char directory[PATH_MAX], base[NAME_MAX], data[PATH_MAX + NAME_MAX], script[PATH_MAX + NAME_MAX];
} app_plot_place;

/* Errors: INPUT (too long, does not end in .svg, or has characters that gnuplot would not read as part of a name). */
yoke_status app_plot_split(yoke_context *context, const char *path, app_plot_place *place);

#endif
