#include "common/console/terminal.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

/* In a child whose standard stream is closed: the exit code of what a program does then. */
static int code_with_closed(int stream, int (*program)(app_terminal *terminal))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        app_terminal terminal;
        close(stream);
        app_terminal_start(&terminal, "yoke test");
        _exit(program(&terminal));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int print_and_end(app_terminal *terminal)
{
    yoke_context *context = NULL;
    if (yoke_context_create(NULL, &context) != YOKE_OK) return 99;
    app_print(terminal, "a result\n");
    int code = app_terminal_end(terminal, context, YOKE_OK);
    yoke_context_destroy(context);
    return code;
}

static int number_of_a_new_file(app_terminal *terminal)
{
    (void)terminal;
    return open("/dev/null", O_WRONLY);
}

static void a_file_never_takes_the_place_of_a_closed_standard_stream(void **state)
{
    (void)state;
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        assert_true(code_with_closed(stream, number_of_a_new_file) > STDERR_FILENO);
}

static void results_that_cannot_be_printed_are_a_failure(void **state)
{
    (void)state;
    assert_int_equal(code_with_closed(STDOUT_FILENO, print_and_end), 1);
    assert_int_equal(code_with_closed(STDERR_FILENO, print_and_end), 0);
}

static int print_quietly(app_terminal *terminal)
{
    terminal->quiet = true;
    return print_and_end(terminal);
}

static void nothing_is_printed_and_nothing_fails_when_quiet(void **state)
{
    (void)state;
    assert_int_equal(code_with_closed(STDOUT_FILENO, print_quietly), 0);
}

static int end_with_a_code_of_its_own(app_terminal *terminal)
{
    terminal->code = 42;
    return print_quietly(terminal);
}

static void a_program_may_end_with_the_code_of_another(void **state)
{
    (void)state;
    assert_int_equal(code_with_closed(STDIN_FILENO, end_with_a_code_of_its_own), 42);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_file_never_takes_the_place_of_a_closed_standard_stream),
    cmocka_unit_test(results_that_cannot_be_printed_are_a_failure),
    cmocka_unit_test(nothing_is_printed_and_nothing_fails_when_quiet),
    cmocka_unit_test(a_program_may_end_with_the_code_of_another),
};

UNIT_MAIN(tests, NULL, NULL)
