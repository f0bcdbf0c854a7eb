/* The version of the library. */
#include "yoke/yoke.h"

#define YOKE_QUOTE(number) #number
#define YOKE_JOIN(major, minor, patch) YOKE_QUOTE(major) "." YOKE_QUOTE(minor) "." YOKE_QUOTE(patch)

const char *yoke_version(void) { return YOKE_JOIN(YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR, YOKE_VERSION_PATCH); }
