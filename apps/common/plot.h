/*
 * plot.h - figures, drawn with gnuplot where it is installed.
 */
#ifndef APP_PLOT_H
#define APP_PLOT_H

#include <stdbool.h>

#include "yoke/yoke.h"

/*
 * Runs `gnuplot script` in the directory and waits for it.  *drawn: it is installed and succeeded; that it is not is no failure.
 * Errors: SYSTEM (it cannot be started).
 */
yoke_status app_plot_draw(yoke_context *context, const char *directory, const char *script, bool *drawn);

#endif
