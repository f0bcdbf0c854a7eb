#include "common/console/interrupt.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static void statuses_become_the_promised_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(app_exit_code(YOKE_OK), 0);
    assert_int_equal(app_exit_code(YOKE_ERROR_MEMORY), 1);
    assert_int_equal(app_exit_code(YOKE_ERROR_SYSTEM), 1);
    assert_int_equal(app_exit_code(YOKE_ERROR_NUMERIC), 1);
    assert_int_equal(app_exit_code(YOKE_ERROR_INTERNAL), 1);
    assert_int_equal(app_exit_code(YOKE_ERROR_DEVICE), 1);
    assert_int_equal(app_exit_code(YOKE_ERROR_DEVICE_MEMORY), 1);
    assert_int_equal(app_exit_code(YOKE_ERROR_INPUT), 2);
    assert_int_equal(app_exit_code(YOKE_ERROR_ARGUMENT), 2);
    assert_int_equal(app_exit_code(YOKE_ERROR_UNAVAILABLE), 3);
}

/* In a child: catches signals, raises `number` `times` times, and ends with the code of what app_interrupt_check says. */
static int wait_status_of(int number, int times)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        yoke_context *context = NULL;
        if (yoke_context_create(NULL, &context) != YOKE_OK || app_interrupt_catch(context) != YOKE_OK ||
            app_interrupt_check(context) != YOKE_OK)
            _exit(99);
        for (int i = 0; i < times; i++) raise(number);
        yoke_status status = app_interrupt_check(context);
        if (strstr(yoke_last_error(context), number == SIGINT ? "SIGINT" : number == SIGHUP ? "SIGHUP" : "SIGTERM") == NULL) _exit(98);
        yoke_context_destroy(context);
        _exit(app_exit_code(status));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void the_first_signal_is_noted_and_gives_the_exit_code(void **state)
{
    (void)state;
    int status = wait_status_of(SIGINT, 1);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    status = wait_status_of(SIGTERM, 1);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 143);
    status = wait_status_of(SIGHUP, 1);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 129);
}

static void the_second_signal_ends_the_process(void **state)
{
    (void)state;
    int status = wait_status_of(SIGINT, 2);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(statuses_become_the_promised_exit_codes),
    cmocka_unit_test(the_first_signal_is_noted_and_gives_the_exit_code),
    cmocka_unit_test(the_second_signal_ends_the_process),
};

UNIT_MAIN(tests, NULL, NULL)
