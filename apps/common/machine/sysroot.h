/*
 * sysroot.h - meters and frequencies of a recorded machine (`yoke gather`) instead of this one's.
 */
#ifndef APP_SYSROOT_H
#define APP_SYSROOT_H

#include "yoke/yoke.h"

/*
 * From now on meters and frequencies are read from a recorded tree: that of the option, else of $YOKE_SYSROOT, which is then written to
 * *sysroot; else from this machine.
 * Errors: INPUT (it is no directory), MEMORY.
 */
yoke_status app_set_sysroot(yoke_context *context, const char **sysroot);

#endif
