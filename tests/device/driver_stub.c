/*
 * A vendor's library that does something bad as soon as it is opened: what YOKE_STUB_DRIVER says ("abort", "crash", "hang", "exit"), else nothing.
 * Each opening adds a letter to the file that YOKE_STUB_DRIVER_OPENED names.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void open_driver(void)
{
    const char *deed = getenv("YOKE_STUB_DRIVER"), *opened = getenv("YOKE_STUB_DRIVER_OPENED");
    int file = opened != NULL ? open(opened, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (file >= 0 && write(file, "x", 1) != 1) abort();
    if (file >= 0) close(file);
    if (deed == NULL) return;
    fprintf(stderr, "first line\nNot enough memory to run on this device\n");
    if (strcmp(deed, "abort") == 0) abort();
    if (strcmp(deed, "crash") == 0) *(volatile int *)NULL = 1;
    if (strcmp(deed, "exit") == 0) _exit(3);
    while (strcmp(deed, "hang") == 0) pause();
}
