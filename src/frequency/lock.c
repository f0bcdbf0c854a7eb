/* Locks the frequencies: only one yoke at a time changes those of a machine. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "frequency/frequency.h"

/* A descriptor above those of a program's standard streams and of the guard. */
enum { MIN_DESCRIPTOR = 10 };

/* The time that a guard may need to restore the settings of a process that has ended. */
static const double patience_s = 2;

/* Opens the directory of the CPUs, or, if a recorded tree has none, its root.  Returns a descriptor, or -1 and errno. */
static int open_place(const meter_site *site)
{
    char path[FREQUENCY_PATH_BYTES];
    if (meter_path(site, path, sizeof path, "/sys/devices/system/cpu") != YOKE_OK) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) descriptor = open(site->root[0] != '\0' ? site->root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 || descriptor >= MIN_DESCRIPTOR) return descriptor;
    int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, MIN_DESCRIPTOR), error = errno;
    close(descriptor);
    errno = error;
    return higher;
}

/*
 * The process that holds the lock, from a line such as "1: FLOCK  ADVISORY  WRITE 31774 00:16:3562 0 EOF"; 0 if the system does not report
 * it.
 */
static long find_owner(int descriptor)
{
    struct stat place;
    char line[256];
    long owner = 0, perhaps = 0;
    FILE *locks = fopen("/proc/locks", "r");
    if (locks == NULL) return 0;
    if (fstat(descriptor, &place) == 0)
        while (owner == 0 && fgets(line, sizeof line, locks) != NULL) {
            long process;
            unsigned int high, low;
            unsigned long long number;
            if (sscanf(line, "%*d: FLOCK %*s WRITE %ld %x:%x:%llu", &process, &high, &low, &number) != 4 ||
                number != (unsigned long long)place.st_ino)
                continue;
            /* For some file systems this device differs from that of fstat. */
            if (high == major(place.st_dev) && low == minor(place.st_dev))
                owner = process;
            else
                perhaps = process;
        }
    fclose(locks);
    return owner > 0 ? owner : perhaps > 0 ? perhaps : 0;
}

static yoke_status refuse(yoke_context *context, long owner)
{
    char who[64] = "another process";
    if (owner > 0) snprintf(who, sizeof who, "process %ld", owner);
    return yoke_fail(context, YOKE_ERROR_UNAVAILABLE,
                     "%s controls this machine's frequencies, and only one yoke can at a time; they stay as they are: wait until it has "
                     "ended, or end it",
                     who);
}

yoke_status frequency_lock_take(const meter_site *site, int *descriptor)
{
    int place = open_place(site);
    if (place < 0)
        return yoke_fail(site->context, YOKE_ERROR_SYSTEM, "the frequencies cannot be locked: %s/sys/devices/system/cpu: %s", site->root,
                         strerror(errno));
    double end_s = yoke_clock_s() + patience_s;
    while (flock(place, LOCK_EX | LOCK_NB) != 0) {
        int error = errno;
        if (error == EINTR) continue;
        long owner = error == EWOULDBLOCK ? find_owner(place) : 0;
        /* 0: the lock was just released, or belongs to a process in another container, or to one that has ended. */
        int gone = owner == 0 || (kill((pid_t)owner, 0) != 0 && errno == ESRCH);
        if (error == EWOULDBLOCK && gone && yoke_clock_s() < end_s) {
            const struct timespec moment = {0, 10000000};
            nanosleep(&moment, NULL);
            continue;
        }
        close(place);
        if (error == EWOULDBLOCK) return refuse(site->context, owner);
        return yoke_fail(site->context, YOKE_ERROR_SYSTEM, "the frequencies cannot be locked: flock on %s/sys/devices/system/cpu: %s",
                         site->root, strerror(error));
    }
    *descriptor = place;
    return YOKE_OK;
}
