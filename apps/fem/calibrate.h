/*
 * calibrate.h - `yoke calibrate --kernel axmebe`: measures the time of devices for the element-by-element products of `yoke fem`, and
 * stores it under the names that `yoke fem` uses.
 *
 * A unit is an element of a generated cube, of which a device gets the first ones.  Before anything is measured, the product of each device
 * is compared with that of the other operator on the host's cores.
 */
#ifndef FEM_CALIBRATE_H
#define FEM_CALIBRATE_H

#include "common/console/terminal.h"

/* argv[1 ..]: the options of `yoke calibrate`.  Errors: those of app_calibrate (common/calibrate/calibrate.h) and of fem_session_start. */
yoke_status fem_calibrate(yoke_context *context, app_terminal *terminal, int argc, char **argv);

#endif
