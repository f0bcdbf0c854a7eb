#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "common/console/terminal.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/console/interrupt.h"

/*
 * If a standard stream is closed, the next file that is opened would get its descriptor, and output would go into that file.  So /dev/null
 * gets the descriptor, opened so that reading or writing still fails as on a closed stream.
 */
static void fill_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
}

void app_terminal_start(app_terminal *terminal, const char *program)
{
    fill_closed_streams();
    const char *kind = getenv("TERM");
    bool rewrite = isatty(STDERR_FILENO) && kind != NULL && strcmp(kind, "dumb") != 0;
    bool hides = getenv("HWLOC_HIDE_ERRORS") == NULL; /* if /sys is not mounted, hwloc prints an error itself and continues */
    if (hides) setenv("HWLOC_HIDE_ERRORS", "2", 0);
    *terminal = (app_terminal){
        .program = program, .hides_hwloc_errors = hides, .rewrite = rewrite, .next_s = yoke_clock_s() + (rewrite ? 0.0 : 5.0)};
}

void app_terminal_look(app_terminal *terminal, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json=-") == 0 || (strcmp(argv[i], "--json") == 0 && i + 1 < argc && strcmp(argv[i + 1], "-") == 0))
            terminal->aside = true;
}

static void clear(app_terminal *terminal)
{
    if (terminal->shown) fputs("\r\033[K", stderr);
    terminal->shown = false;
}

void app_terminal_log(yoke_log_level level, const char *text, void *user)
{
    static const char *const names[] = {"error: ", "warning: ", "", "debug: "};
    app_terminal *terminal = user;
    if ((terminal->quiet && level > YOKE_LOG_WARNING) || (terminal->further && level > YOKE_LOG_ERROR)) return;
    clear(terminal);
    fprintf(stderr, "%s: %s%s\n", terminal->program, names[level], text);
}

void app_print(app_terminal *terminal, const char *format, ...)
{
    if (terminal->quiet || terminal->further) return;
    clear(terminal);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(terminal->aside ? stderr : stdout, format, arguments);
    va_end(arguments);
    fflush(stdout);
}

int app_terminal_fits(FILE *stream, const char *line)
{
    struct winsize size;
    const int columns = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
    int bytes = 0;
    for (int shown = 0; line[bytes] != '\0'; bytes++) {
        const bool begins = ((unsigned char)line[bytes] & 0xc0) != 0x80; /* begins a character of UTF-8 */
        if (begins && shown++ == columns) break;
    }
    return bytes;
}

static void rewrite_line(app_terminal *terminal, const char *format, va_list arguments)
{
    char line[1024];
    (void)vsnprintf(line, sizeof line, format, arguments);
    fprintf(stderr, "%.*s", app_terminal_fits(stderr, line), line);
    fflush(stderr);
    terminal->shown = true;
}

void app_progress(app_terminal *terminal, const char *format, ...)
{
    double now_s = yoke_clock_s();
    if (terminal->quiet || terminal->further || now_s < terminal->next_s) return;
    terminal->next_s = now_s + (terminal->rewrite ? 0.1 : 5.0);
    clear(terminal);
    va_list arguments;
    va_start(arguments, format);
    if (terminal->rewrite) {
        rewrite_line(terminal, format, arguments);
    } else {
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
    }
    va_end(arguments);
}

void app_terminal_fail(app_terminal *terminal, const yoke_context *context, yoke_status status)
{
    clear(terminal);
    fprintf(stderr, "%s: %s%s\n", terminal->program, status == YOKE_ERROR_INTERRUPTED ? "" : "error: ", yoke_last_error(context));
}

int app_terminal_end(app_terminal *terminal, const yoke_context *context, yoke_status status)
{
    clear(terminal);
    /* The stream keeps the indicator of an earlier failure, but not its cause. */
    bool printed = fflush(stdout) == 0 && !ferror(stdout);
    if (status != YOKE_OK) app_terminal_fail(terminal, context, status);
    if (status == YOKE_OK && !printed) {
        fprintf(stderr, "%s: error: standard output cannot be written; is the disk full?\n", terminal->program);
        return app_exit_code(YOKE_ERROR_SYSTEM);
    }
    return terminal->code != 0 ? terminal->code : app_exit_code(status);
}
