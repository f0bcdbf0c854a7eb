/*
 * A library for LD_PRELOAD that is the kernel behind a tree of cpufreq files: it takes and refuses what is written to a policy's files as the strictest
 * kernel does, changes what goes with it, and writes each refusal into the file YOKE_TEST_REFUSALS.
 *
 * A write is whole or not there, as the kernel's: the file is replaced.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_API __attribute__((visibility("default")))

enum { PATH_BYTES = 1024, WORD_BYTES = 256, MAX_DESCRIPTORS = 1024 };

/* The path of each descriptor that writes to a policy. */
static char *paths[MAX_DESCRIPTORS];

typedef int open_function(const char *path, int flags, ...);
typedef ssize_t write_function(int descriptor, const void *bytes, size_t count);
typedef int close_function(int descriptor);

static void *next_symbol(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (address == NULL) _exit(99);
    return address;
}

/* POSIX lets an object pointer hold a function's address; ISO C has no cast for it. */
#define NEXT(type, name, variable)           \
    type *variable;                          \
    void *variable##_at = next_symbol(name); \
    memcpy(&variable, &variable##_at, sizeof variable)

/* -------------------------------------------------------------------------------------------------- files */

/* A file beside `path`. */
static void beside(const char *path, const char *name, char other[PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    snprintf(other, PATH_BYTES, "%.*s/%s", (int)(slash - path), path, name);
}

static void get(const char *path, const char *name, char word[WORD_BYTES])
{
    char other[PATH_BYTES];
    NEXT(open_function, "open", real_open);
    NEXT(close_function, "close", real_close);
    beside(path, name, other);
    word[0] = '\0';
    int descriptor = real_open(other, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    ssize_t length = read(descriptor, word, WORD_BYTES - 1);
    word[length > 0 ? length : 0] = '\0';
    word[strcspn(word, "\n")] = '\0';
    real_close(descriptor);
}

static long number(const char *path, const char *name)
{
    char word[WORD_BYTES];
    get(path, name, word);
    return atol(word);
}

static void put(const char *path, const char *name, const char *word)
{
    char other[PATH_BYTES], temporary[PATH_BYTES], line[WORD_BYTES + 1];
    NEXT(open_function, "open", real_open);
    NEXT(write_function, "write", real_write);
    NEXT(close_function, "close", real_close);
    beside(path, name, other);
    beside(path, ".new", temporary);
    int length = snprintf(line, sizeof line, "%s\n", word);
    int descriptor = real_open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0 || fchmod(descriptor, 0644) != 0 || real_write(descriptor, line, (size_t)length) != length) _exit(98);
    real_close(descriptor);
    if (rename(temporary, other) != 0) _exit(97);
}

static void put_number(const char *path, const char *name, long value)
{
    char word[WORD_BYTES];
    snprintf(word, sizeof word, "%ld", value);
    put(path, name, word);
}

/* -------------------------------------------------------------------------------------------------- kernel */

static int is_governor(const char *path, const char *name)
{
    char word[WORD_BYTES];
    get(path, "scaling_governor", word);
    return strcmp(word, name) == 0;
}

static int has_own_governors(const char *path)
{
    char driver[WORD_BYTES];
    get(path, "scaling_driver", driver);
    return strcmp(driver, "intel_pstate") == 0 || strcmp(driver, "amd-pstate-epp") == 0;
}

/* What the kernel changes by itself, after a write and before one looks: the process may have been killed between the two. */
static void follow(const char *path)
{
    char speed[WORD_BYTES];
    long least = number(path, "scaling_min_freq"), most = number(path, "scaling_max_freq"), khz = 0;
    get(path, "scaling_setspeed", speed);
    if (is_governor(path, "userspace")) {
        khz = atol(speed);
        khz = khz < least ? least : khz > most ? most : khz;
        if (khz != atol(speed)) put_number(path, "scaling_setspeed", khz);
    } else if (strcmp(speed, "<unsupported>") != 0)
        put(path, "scaling_setspeed", "<unsupported>");
    if (least == most) khz = least;
    if (khz > 0 && khz != number(path, "scaling_cur_freq")) put_number(path, "scaling_cur_freq", khz);
}

/* Returns 0, or errno of the refusal. */
static int judge(const char *path, const char *name, const char *word)
{
    char governors[WORD_BYTES];
    long khz = atol(word);
    if (strcmp(name, "scaling_min_freq") == 0)
        return khz > 0 && khz <= number(path, "scaling_max_freq") && khz >= number(path, "cpuinfo_min_freq") ? 0 : EINVAL;
    if (strcmp(name, "scaling_max_freq") == 0)
        return khz > 0 && khz >= number(path, "scaling_min_freq") && khz <= number(path, "cpuinfo_max_freq") ? 0 : EINVAL;
    if (strcmp(name, "scaling_setspeed") == 0)
        return is_governor(path, "userspace") && khz >= number(path, "scaling_min_freq") && khz <= number(path, "scaling_max_freq")
                   ? 0
                   : EINVAL;
    if (strcmp(name, "scaling_governor") == 0) {
        get(path, "scaling_available_governors", governors);
        return word[0] != '\0' && strstr(governors, word) != NULL ? 0 : EINVAL;
    }
    if (strcmp(name, "energy_performance_preference") == 0)
        return has_own_governors(path) && is_governor(path, "performance") && strcmp(word, "performance") != 0 ? EBUSY : 0;
    return EACCES;
}

static void note_refusal(const char *path, const char *word)
{
    char line[PATH_BYTES + WORD_BYTES];
    const char *log = getenv("YOKE_TEST_REFUSALS");
    NEXT(open_function, "open", real_open);
    NEXT(write_function, "write", real_write);
    NEXT(close_function, "close", real_close);
    int descriptor = log != NULL ? real_open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (descriptor < 0) _exit(96);
    int length = snprintf(line, sizeof line, "'%s' for %s (limits %ld to %ld)\n", word, path, number(path, "scaling_min_freq"),
                          number(path, "scaling_max_freq"));
    if (real_write(descriptor, line, (size_t)length) != length) _exit(95);
    real_close(descriptor);
}

/* --------------------------------------------------------------------------------------------------- calls */

KERNEL_API int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    NEXT(open_function, "open", real_open);
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = (mode_t)va_arg(arguments, int);
        va_end(arguments);
    }
    int ours = strstr(path, "/cpufreq/policy") != NULL && (flags & O_DIRECTORY) == 0;
    if (!ours) return real_open(path, flags, mode);
    if ((flags & O_ACCMODE) == O_RDONLY) {
        follow(path);
        return real_open(path, flags, mode);
    }
    int descriptor = real_open(path, flags & ~O_TRUNC, mode);
    if (descriptor >= MAX_DESCRIPTORS) _exit(94);
    if (descriptor >= 0) paths[descriptor] = strdup(path);
    return descriptor;
}

KERNEL_API ssize_t write(int descriptor, const void *bytes, size_t count)
{
    NEXT(write_function, "write", real_write);
    const char *path = descriptor >= 0 && descriptor < MAX_DESCRIPTORS ? paths[descriptor] : NULL;
    if (path == NULL) return real_write(descriptor, bytes, count);
    char word[WORD_BYTES];
    snprintf(word, sizeof word, "%.*s", (int)count, (const char *)bytes);
    word[strcspn(word, "\n")] = '\0';
    const char *name = strrchr(path, '/') + 1;
    int error = judge(path, name, word);
    if (error != 0) {
        note_refusal(path, word);
        errno = error;
        return -1;
    }
    put(path, name, word);
    follow(path);
    return (ssize_t)count;
}

KERNEL_API int close(int descriptor)
{
    NEXT(close_function, "close", real_close);
    if (descriptor >= 0 && descriptor < MAX_DESCRIPTORS) {
        free(paths[descriptor]);
        paths[descriptor] = NULL;
    }
    return real_close(descriptor);
}
