/*
 * ROOT CHANGES: makes so many changes of the frequency "cpu", one after the other, and closes; 0: until it is killed.  Says so on standard output
 * after the first.  Exit status: 0; 2 where a call failed; 3 where another frequency was reached than asked for.
 *
 * write PATH TEXT: writes the text into the file with one call.  Exit status: 0; 1 where it is refused.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "yoke/yoke.h"

static void say(yoke_log_level level, const char *text, void *user)
{
    (void)level;
    (void)user;
    fprintf(stderr, "%s\n", text);
}

static int write_once(const char *path, const char *text)
{
    int descriptor = open(path, O_WRONLY);
    int taken = descriptor >= 0 && write(descriptor, text, strlen(text)) == (ssize_t)strlen(text);
    if (descriptor >= 0) close(descriptor);
    return taken ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "write") == 0) return write_once(argv[2], argv[3]);
    if (argc != 3) return 2;
    alarm(120); /* nothing is left of a test that fails */
    yoke_options hear = {.log = say, .log_level = YOKE_LOG_INFO};
    yoke_frequency_options options = {.sysroot = argv[1], .settle_s = 1e-3};
    yoke_context *context = NULL;
    yoke_frequencies *frequencies = NULL;
    int result = 0;
    if (yoke_context_create(&hear, &context) != YOKE_OK) return 2;
    yoke_status status = yoke_frequencies_open(context, &options, &frequencies);
    for (long i = 1; status == YOKE_OK && (i <= atol(argv[2]) || atol(argv[2]) == 0); i++) {
        double hz = 8e8 + 1e8 * (double)(7 * i % 29), reached_hz = 0;
        status = yoke_frequency_set(frequencies, "cpu", hz, &reached_hz);
        if (!(fabs(reached_hz - hz) < 4.5e8)) result = 3; /* half of the distance between levels, where there are levels */
        if (i == 1 && (puts("x") < 0 || fflush(stdout) != 0)) result = 2;
    }
    if (status != YOKE_OK) fprintf(stderr, "%s\n", yoke_last_error(context));
    yoke_frequencies_close(frequencies);
    yoke_context_destroy(context);
    return status != YOKE_OK ? 2 : result;
}
