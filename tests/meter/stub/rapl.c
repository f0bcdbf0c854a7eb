#define _DEFAULT_SOURCE /* syscall */
#include "rapl.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const double stub_rapl_period_s = 1.0 / 1024, stub_rapl_range_j = 1000;
const double stub_rapl_idle_w[STUB_RAPL_PACKAGES] = {9, 4};
const double stub_rapl_part[STUB_RAPL_PACKAGES] = {0.6, 0.4};
const double stub_rapl_first_j[STUB_RAPL_PACKAGES] = {999.5, 3};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double power_w;
static double until_s;                     /* drawn until then; 0: nothing was read yet */
static double drawn_j[STUB_RAPL_PACKAGES]; /* until then */
static double shown_j[STUB_RAPL_PACKAGES]; /* until the last multiple of the period before */
static double kernels_j;                   /* drawn by kernels until then, above idle power */

static void draw(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    double now_s = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec, latch_s = floor(now_s / stub_rapl_period_s) * stub_rapl_period_s;
    if (until_s == 0) until_s = now_s;
    kernels_j += power_w * (now_s - until_s);
    for (int i = 0; i < STUB_RAPL_PACKAGES; i++) {
        double watts = stub_rapl_idle_w[i] + stub_rapl_part[i] * power_w;
        if (latch_s > until_s) shown_j[i] = drawn_j[i] + watts * (latch_s - until_s);
        drawn_j[i] += watts * (now_s - until_s);
    }
    until_s = now_s;
}

double stub_rapl_set_power(double watts)
{
    pthread_mutex_lock(&lock);
    draw();
    power_w = watts;
    const double joules = kernels_j;
    pthread_mutex_unlock(&lock);
    return joules;
}

/* The package whose counter the open file is; -1: none. */
static int package_of(int descriptor)
{
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return -1;
    path[length] = '\0';
    const char *zone = strstr(path, "/intel-rapl:");
    if (zone == NULL) return -1;
    int package = zone[12] - '0';
    return package >= 0 && package < STUB_RAPL_PACKAGES && strcmp(zone + 13, "/energy_uj") == 0 ? package : -1;
}

/* The linker puts it in the place of the C library's. */
__attribute__((visibility("default"))) ssize_t pread(int descriptor, void *to, size_t bytes, off_t offset)
{
    char text[32];
    int package = offset == 0 ? package_of(descriptor) : -1;
    if (package < 0) return syscall(SYS_pread64, descriptor, to, bytes, offset);
    pthread_mutex_lock(&lock);
    draw();
    double joules = fmod(stub_rapl_first_j[package] + shown_j[package], stub_rapl_range_j);
    pthread_mutex_unlock(&lock);
    size_t length = (size_t)snprintf(text, sizeof text, "%lld\n", (long long)(1e6 * joules));
    if (length > bytes) length = bytes;
    memcpy(to, text, length);
    return (ssize_t)length;
}
