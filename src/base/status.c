#include "yoke/yoke.h"

const char *yoke_status_text(yoke_status status)
{
    switch (status) {
#define YOKE_STATUS_CASE(name, value, text) \
    case name:                              \
        return text;
        YOKE_STATUS_LIST(YOKE_STATUS_CASE)
#undef YOKE_STATUS_CASE
    }
    return "unknown status";
}

#define YOKE_QUOTE(number) #number
#define YOKE_JOIN(major, minor, patch) YOKE_QUOTE(major) "." YOKE_QUOTE(minor) "." YOKE_QUOTE(patch)

const char *yoke_version(void) { return YOKE_JOIN(YOKE_VERSION_MAJOR, YOKE_VERSION_MINOR, YOKE_VERSION_PATCH); }
