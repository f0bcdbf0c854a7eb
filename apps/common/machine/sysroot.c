#include "common/machine/sysroot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

yoke_status app_set_sysroot(yoke_context *context, const char **sysroot)
{
    static const char variable[] = "YOKE_SYSROOT";
    struct stat found;
    const char *from = *sysroot != NULL ? "--sysroot" : variable, *asked = *sysroot != NULL ? *sysroot : getenv(variable);
    if (asked == NULL || (asked[0] == '\0' && *sysroot == NULL)) return YOKE_OK;
    errno = 0;
    if (asked[0] == '\0' || stat(asked, &found) != 0 || !S_ISDIR(found.st_mode))
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s %s: %s; expected a directory as yoke gather makes it", from, asked,
                         asked[0] == '\0' ? "the name is empty"
                         : errno == 0     ? "this is no directory"
                                          : strerror(errno));
    if (*sysroot != NULL && setenv(variable, asked, 1) != 0)
        return yoke_fail(context, YOKE_ERROR_MEMORY, "out of memory for --sysroot %s", asked);
    *sysroot = asked;
    return YOKE_OK;
}
