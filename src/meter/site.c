/* Reads small files of a machine, or of a directory tree recorded from one. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "meter/meter.h"

enum { NUMBER_BYTES = 32 }; /* a number of 64 bits has at most 20 digits */

yoke_status meter_path(const meter_site *site, char *text, size_t bytes, const char *format, ...)
{
    int before = snprintf(text, bytes, "%s", site->root);
    int after = -1;
    if (before >= 0 && (size_t)before < bytes) {
        va_list arguments;
        va_start(arguments, format);
        after = vsnprintf(text + before, bytes - (size_t)before, format, arguments);
        va_end(arguments);
    }
    if (after < 0 || (size_t)after >= bytes - (size_t)before)
        return yoke_fail(site->context, YOKE_ERROR_INPUT, "a path below the root \"%.200s\" is too long; use a shorter one", site->root);
    return YOKE_OK;
}

/* Reads the content of a small file, at most bytes - 1 of it.  Returns 0, or errno. */
static int read_some(int descriptor, char *text, size_t bytes)
{
    size_t length = 0;
    for (;;) {
        ssize_t got = pread(descriptor, text + length, bytes - 1 - length, (off_t)length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        length += (size_t)got;
        if (got == 0 || length == bytes - 1) break;
    }
    text[length] = '\0';
    return strlen(text) == length ? 0 : EINVAL; /* a text has no zero bytes */
}

int meter_read_line(const char *path, char *text, size_t bytes)
{
    /* A pipe in place of a file must not block the caller. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return errno;
    char got[1024];
    int error = read_some(descriptor, got, sizeof got);
    close(descriptor);
    if (error != 0) return error;
    size_t length = strcspn(got, "\n");
    if (length >= bytes) return EOVERFLOW;
    memcpy(text, got, length);
    text[length] = '\0';
    return 0;
}

/* Parses digits, optionally followed by one newline, and nothing else. */
static int parse(const char *text, uint64_t *number)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (value > (UINT64_MAX - digit) / 10) return EINVAL;
        value = 10 * value + digit;
    }
    if (at == text || (strcmp(at, "") != 0 && strcmp(at, "\n") != 0)) return EINVAL;
    *number = value;
    return 0;
}

int meter_read_number(const char *path, uint64_t *number)
{
    char text[NUMBER_BYTES];
    int error = meter_read_line(path, text, sizeof text);
    if (error == EOVERFLOW) error = EINVAL;
    return error != 0 ? error : parse(text, number);
}

int meter_pread_number(int descriptor, uint64_t *number)
{
    /* Usually one call: a result shorter than the buffer is complete. */
    char text[NUMBER_BYTES];
    ssize_t got;
    do got = pread(descriptor, text, sizeof text - 1, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno;
    text[got] = '\0';
    return strlen(text) == (size_t)got ? parse(text, number) : EINVAL;
}

void meter_virtual_machine(const meter_site *site, char text[64])
{
    text[0] = '\0';
    if (site->root[0] != '\0') return;
#if defined(__x86_64__) || defined(__i386__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (1U << 31)) == 0) return; /* the bit that hypervisors set */
    static const struct {
        const char *signature, *name;
    } known[] = {
        {"KVMKVMKVM", "KVM"},     {"Microsoft Hv", "Hyper-V"},    {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"},  {"TCGTCGTCGTCG", "QEMU"},       {"bhyve bhyve ", "bhyve"},
        {"ACRNACRNACRN", "ACRN"}, {"VBoxVBoxVBox", "VirtualBox"}, {" lrpepyh  vr", "Parallels"},
    };
    unsigned words[3] = {0};
    __cpuid(0x40000000U, a, words[0], words[1], words[2]);
    char signature[13] = "";
    memcpy(signature, words, 12);
    snprintf(text, 64, "a virtual machine");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(signature, known[i].signature) == 0) snprintf(text, 64, "a virtual machine (%s)", known[i].name);
#endif
}
