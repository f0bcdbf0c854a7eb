/*
 * sysfs.h - common functions of the kinds of meters that read files: directories, and the contents of /proc/cpuinfo.
 */
#ifndef YOKE_METER_KERNEL_SYSFS_H
#define YOKE_METER_KERNEL_SYSFS_H

#include "meter/meter.h"

enum { SYSFS_NAME_BYTES = 64, SYSFS_PATH_BYTES = 4096 };

typedef struct sysfs_names {
    char (*names)[SYSFS_NAME_BYTES]; /* ascending, shorter ones first: hwmon2 is before hwmon10, a zone before its subzones */
    int64_t count;
} sysfs_names;

/*
 * The names in a directory that begin with this prefix.  Names of SYSFS_NAME_BYTES or more are not the kernel's and are left out, and so
 * are those after the 4096th.
 * *error: 0, or errno of opening the directory (then there are no names).  names->names is freed with yoke_release.  Errors: MEMORY.
 */
yoke_status sysfs_list(yoke_context *context, const char *directory, const char *prefix, sysfs_names *names, int *error);

/* Whether the line `key` of the first processor in /proc/cpuinfo has this word. */
int sysfs_processor_has(const meter_site *site, const char *key, const char *word);
/* The remedy in a virtual machine. */
#define SYSFS_ON_THE_HOST "measure on the host, or declare the machine's powers (--declare idle=W,busy=W)"

/* "a virtual machine" with what is known of it, if the processor reports one, else "". */
void sysfs_virtual_machine(const meter_site *site, char text[64]);
/* Whether this is a container, recognised by files that container engines create. */
int sysfs_in_container(const meter_site *site);

/* Opens a file that contains a number, and never waits.  Returns the descriptor, or -1 and errno. */
int sysfs_open(const char *path);
/* Opens the file, reads it once, and keeps it open.  Returns 0, or errno with *descriptor -1; EINVAL: its content is no number. */
int sysfs_open_number(const char *path, int *descriptor, uint64_t *number);
/*
 * Reads the open file's number.  A file that is gone (a recorded one was removed; the kernel reports ENODEV or ENXIO) gives METER_GONE,
 * any other failure METER_FAILED; `why` then begins with `what`.
 */
meter_result sysfs_read_number(int descriptor, int recorded, const char *what, uint64_t *number, char why[METER_WHY_BYTES]);

/* The same text with every character except letters, digits and . _ : + - replaced by '-'. */
void sysfs_clean(char *text);
/* A name that no domain of the list has yet: "kind:wanted", else that with "@where". */
void sysfs_unique(const meter_list *list, const char *kind, const char *wanted, const char *where, char name[64]);

#endif
