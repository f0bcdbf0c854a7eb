#include "common/files/directory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static yoke_status make_one(yoke_context *context, const char *path)
{
    struct stat found;
    if (mkdir(path, 0777) == 0) return YOKE_OK;
    int error = errno;
    if (stat(path, &found) != 0) return yoke_fail(context, YOKE_ERROR_INPUT, "directory %s cannot be made: %s", path, strerror(error));
    if (!S_ISDIR(found.st_mode))
        return yoke_fail(context, YOKE_ERROR_INPUT, "%s is not a directory; give another one for the results", path);
    return YOKE_OK;
}

yoke_status app_directory_make(yoke_context *context, const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return yoke_fail(context, YOKE_ERROR_INPUT, "the name of a directory for results is %s", length == 0 ? "empty" : "too long");
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        part[i] = '\0';
        yoke_status status = make_one(context, part);
        if (status != YOKE_OK) return status;
        part[i] = path[i];
    }
    if (access(path, W_OK | X_OK) != 0)
        return yoke_fail(context, YOKE_ERROR_INPUT, "directory %s is not writable: %s", path, strerror(errno));
    return YOKE_OK;
}
