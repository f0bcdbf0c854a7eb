/* Copies files and directories to the target, without lines that identify the owner of the machine. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "gather/gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20, MAX_ENTRIES = 16384 };

/* -------------------------------------------------------------------------------------------------- writing */

static yoke_status refused(gather *to, const char *path)
{
    return yoke_fail(to->context, YOKE_ERROR_SYSTEM, "%s cannot be written: %s", path, strerror(errno));
}

static yoke_status make_directories(gather *to, char *path)
{
    for (char *slash = path + strlen(to->target) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        int made = mkdir(path, 0777);
        yoke_status status = made != 0 && errno != EEXIST ? refused(to, path) : YOKE_OK;
        *slash = '/';
        if (status != YOKE_OK) return status;
    }
    return YOKE_OK;
}

static yoke_status target_path(gather *to, const char *path, char text[PATH_MAX])
{
    if (snprintf(text, PATH_MAX, "%s%s", to->target, path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return refused(to, path);
    }
    return make_directories(to, text);
}

static bool write_all(int descriptor, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(descriptor, text, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text += written;
        bytes -= (size_t)written;
    }
    return true;
}

yoke_status gather_write(gather *to, const char *path, const char *text, size_t bytes)
{
    char file[PATH_MAX];
    yoke_status status = target_path(to, path, file);
    if (status != YOKE_OK) return status;
    int descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) return errno == EEXIST ? YOKE_OK : refused(to, file); /* two patterns may match the same file */
    if (!write_all(descriptor, text, bytes)) status = refused(to, file);
    if (close(descriptor) != 0 && status == YOKE_OK) status = refused(to, file);
    to->files++;
    to->bytes += (int64_t)bytes;
    return status;
}

void gather_note(gather *to, const char *path, const char *why)
{
    char line[PATH_MAX + 128];
    int length = snprintf(line, sizeof line, "%s: %s\n", path, why);
    to->unreadable++;
    write_all(to->notes, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
}

/* -------------------------------------------------------------------------------------------------- reading */

/* Reads at most MAX_BYTES.  Returns the number of bytes, or -1 with errno. */
static ssize_t read_some(int descriptor, char *text)
{
    size_t length = 0;
    while (length < MAX_BYTES) {
        ssize_t got = read(descriptor, text + length, MAX_BYTES - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Whether a line of a file is recorded.  Numbers that identify a piece of hardware, and thereby possibly its owner, are not. */
static bool is_kept(const char *path, const char *line)
{
    const char *name = strrchr(path, '/') + 1;
    if (strcmp(path, "/proc/cpuinfo") == 0) return !begins(line, "Serial");
    if (strcmp(path, "/proc/stat") == 0) return begins(line, "cpu");
    if (strcmp(name, "uevent") == 0) return begins(line, "DRIVER=") || begins(line, "PCI_");
    return true;
}

static size_t filter(const char *path, char *text, size_t bytes)
{
    size_t kept = 0;
    for (size_t at = 0; at < bytes;) {
        const char *newline = memchr(text + at, '\n', bytes - at);
        size_t length = newline != NULL ? (size_t)(newline - text) - at + 1 : bytes - at;
        if (is_kept(path, text + at)) {
            memmove(text + kept, text + at, length);
            kept += length;
        }
        at += length;
    }
    return kept;
}

static yoke_status copy_open(gather *to, const char *path, int descriptor, char *text)
{
    struct stat found;
    if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) return YOKE_OK;
    ssize_t got = read_some(descriptor, text);
    if (got < 0) {
        gather_note(to, path, strerror(errno));
        return YOKE_OK;
    }
    if (got == MAX_BYTES) gather_note(to, path, "cut after 1 MiB");
    text[got] = '\0';
    return gather_write(to, path, text, filter(path, text, (size_t)got));
}

static yoke_status copy_file(gather *to, const char *path)
{
    char file[PATH_MAX];
    struct stat found;
    if (snprintf(file, sizeof file, "%s%s", to->root, path) >= (int)sizeof file) return YOKE_OK;
    /* A file without read permission is only for writing. */
    if (stat(file, &found) != 0 || !S_ISREG(found.st_mode) || (found.st_mode & 0444) == 0) return YOKE_OK;
    int descriptor = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) {
        gather_note(to, path, strerror(errno));
        return YOKE_OK;
    }
    void *memory = NULL;
    yoke_status status = yoke_allocate_untouched(to->context, MAX_BYTES + 1, 1, &memory);
    if (status == YOKE_OK) status = copy_open(to, path, descriptor, memory);
    yoke_release(to->context, memory);
    close(descriptor);
    return status;
}

/* ------------------------------------------------------------------------------------------------- patterns */

static yoke_status keep_dangling(gather *to, const char *path)
{
    char file[PATH_MAX], link[PATH_MAX];
    struct stat found;
    if (snprintf(file, sizeof file, "%s%s", to->root, path) >= (int)sizeof file) return YOKE_OK;
    if (lstat(file, &found) != 0 || !S_ISLNK(found.st_mode) || stat(file, &found) == 0) return YOKE_OK;
    yoke_status status = target_path(to, path, link);
    if (status == YOKE_OK && symlink("masked", link) != 0 && errno != EEXIST) status = refused(to, link);
    return status;
}

static yoke_status expand(gather *to, const char *path, const char *rest);

/* Adds a component to the path; `rest` is the pattern of what follows, "" at the end. */
static yoke_status step(gather *to, const char *path, const char *name, const char *rest)
{
    char longer[PATH_MAX];
    if (snprintf(longer, sizeof longer, "%s/%s", path, name) >= (int)sizeof longer) return YOKE_OK;
    if (*rest == '\0') return copy_file(to, longer);
    yoke_status status = keep_dangling(to, longer);
    return status == YOKE_OK ? expand(to, longer, rest) : status;
}

/* `rest` begins with a slash. */
static yoke_status expand(gather *to, const char *path, const char *rest)
{
    char component[NAME_MAX + 1], directory[PATH_MAX];
    size_t length = strcspn(rest + 1, "/");
    if (length >= sizeof component) return YOKE_OK;
    memcpy(component, rest + 1, length);
    component[length] = '\0';
    rest += 1 + length;
    if (strpbrk(component, "*[") == NULL) return step(to, path, component, rest);
    if (snprintf(directory, sizeof directory, "%s%s", to->root, path) >= (int)sizeof directory) return YOKE_OK;
    DIR *open_directory = opendir(directory);
    if (open_directory == NULL) {
        if (errno != ENOENT && errno != ENOTDIR) gather_note(to, path, strerror(errno));
        return YOKE_OK;
    }
    yoke_status status = YOKE_OK;
    struct dirent *entry;
    for (int i = 0; i < MAX_ENTRIES && status == YOKE_OK && (entry = readdir(open_directory)) != NULL; i++)
        if (fnmatch(component, entry->d_name, FNM_PERIOD) == 0) status = step(to, path, entry->d_name, rest);
    closedir(open_directory);
    return status;
}

yoke_status gather_copy(gather *to, const char *pattern) { return expand(to, "", pattern); }
