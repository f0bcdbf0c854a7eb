/* Lists of domains, and the small files that meters are read from. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/clock.h"
#include "base/failing.h"
#include "meter/meter.h"
#include "meter/text.h"

static yoke_context *context;
static char directory[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/yoke-list-XXXXXX");
    return yoke_context_create(NULL, &context) != YOKE_OK || mkdtemp(directory) == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/file", directory);
    unlink(path);
    yoke_context_destroy(context);
    return rmdir(directory);
}

static const char *file_with(const char *text, size_t bytes)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/file", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
    return path;
}

static void close_counted(void *state) { (*(int *)state)++; }

static void a_list_owns_its_states(void **state)
{
    (void)state;
    int closed = 0;
    meter_list list = {.context = context};
    for (int i = 0; i < 20; i++) {
        meter_domain domain;
        meter_domain_start(&domain, "kind", "kind:name");
        domain.close = close_counted;
        domain.state = &closed;
        assert_int_equal(meter_list_add(&list, &domain), YOKE_OK);
    }
    assert_int_equal(list.count, 20);
    assert_int_equal(closed, 0);
    meter_list_clear(&list);
    assert_int_equal(closed, 20);
    assert_int_equal(list.count, 0);
    meter_list_clear(&list);
}

static void a_state_is_closed_where_the_list_has_no_room(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *poor = NULL;
    int closed = 0;
    assert_int_equal(yoke_context_create(&options, &poor), YOKE_OK);
    meter_list list = {.context = poor};
    meter_domain domain;
    meter_domain_start(&domain, "kind", "kind:name");
    domain.close = close_counted;
    domain.state = &closed;
    memory.fail_at = memory.calls + 2; /* the first growth is good, the second is not */
    int added = 0;
    while (meter_list_add(&list, &domain) == YOKE_OK) added++;
    assert_true(added > 0);
    assert_int_equal(closed, 1);
    meter_list_clear(&list);
    assert_int_equal(closed, added + 1);
    yoke_context_destroy(poor);
    assert_int_equal(memory.outstanding, 0);
}

static void a_new_domain_knows_no_number(void **state)
{
    (void)state;
    meter_domain domain;
    char longer[300];
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    meter_domain_start(&domain, longer, longer);
    assert_int_equal(strlen(domain.info.name), 63);
    assert_int_equal(strlen(domain.info.kind), 15);
    assert_true(isnan(domain.info.resolution_j) && isnan(domain.info.period_s) && isnan(domain.info.wrap_j));
    assert_true(isnan(domain.info.gain_error) && isnan(domain.unit_j) && isnan(domain.most_w));
    assert_false(domain.info.usable);
}

static void numbers_are_whole_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int error;
        uint64_t number;
    } cases[] = {
        {"0", 0, 0},
        {"42\n", 0, 42},
        {"18446744073709551615\n", 0, UINT64_MAX},
        {"18446744073709551616\n", EINVAL, 0},
        {"99999999999999999999999999999999999999999999\n", EINVAL, 0},
        {"", EINVAL, 0},
        {"\n", EINVAL, 0},
        {"-1\n", EINVAL, 0},
        {"+1\n", EINVAL, 0},
        {" 1\n", EINVAL, 0},
        {"1 \n", EINVAL, 0},
        {"0x10\n", EINVAL, 0},
        {"1e3\n", EINVAL, 0},
        {"nan\n", EINVAL, 0},
        {"12\r\n", EINVAL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = file_with(cases[i].text, strlen(cases[i].text));
        uint64_t number = 7;
        assert_int_equal(meter_read_number(path, &number), cases[i].error);
        assert_true(number == (cases[i].error == 0 ? cases[i].number : 7));
        int descriptor = open(path, O_RDONLY);
        number = 7;
        assert_int_equal(meter_pread_number(descriptor, &number), cases[i].error);
        assert_true(number == (cases[i].error == 0 ? cases[i].number : 7));
        close(descriptor);
    }
    uint64_t number;
    assert_int_equal(meter_read_number(file_with("1\0002", 3), &number), EINVAL);
    assert_int_equal(meter_read_number("/nowhere/at/all", &number), ENOENT);
    assert_int_equal(meter_read_number(directory, &number), EISDIR);
}

static void a_pipe_does_not_make_a_reader_wait(void **state)
{
    (void)state;
    char path[128], line[16];
    snprintf(path, sizeof path, "%s/pipe", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_not_equal(meter_read_line(path, line, sizeof line), 0);
    unlink(path);
}

static void lines_end_at_the_newline(void **state)
{
    (void)state;
    char line[8];
    assert_int_equal(meter_read_line(file_with("one\ntwo\n", 8), line, sizeof line), 0);
    assert_string_equal(line, "one");
    assert_int_equal(meter_read_line(file_with("12345678", 8), line, sizeof line), EOVERFLOW);
    assert_int_equal(meter_read_line(file_with("1234567\n", 8), line, sizeof line), 0);
    assert_string_equal(line, "1234567");
}

static void paths_are_below_the_root(void **state)
{
    (void)state;
    meter_site site = {.context = context, .root = "/recorded"};
    char path[24];
    assert_int_equal(meter_path(&site, path, sizeof path, "/sys/%d", 12), YOKE_OK);
    assert_string_equal(path, "/recorded/sys/12");
    assert_int_equal(meter_path(&site, path, sizeof path, "/sys/class/powercap"), YOKE_ERROR_INPUT);
    assert_int_equal(meter_path(&site, path, 9, "/"), YOKE_ERROR_INPUT);
    char text[64] = "x";
    meter_virtual_machine(&site, text);
    assert_string_equal(text, "");
}

static void decimal_numbers_are_those_of_strtod(void **state)
{
    (void)state;
    static const char *const good[] = {"0",    "1",      "-12.5", "0.001", "1e3",   "2.5E-7", "123456789.987654321", ".5",
                                       "5.",   "1e308",  "+4",    "1e-30", "00012", "0e99",   "262143.328850",       "6.103515625e-05",
                                       "1e-9", "4.9e-3", "1e22",  "3.3e5"};
    static const char *const bad[] = {"", "-", ".", "e5", "nan", "inf", "0x1p3", "1e", "1e+", "1e99999", "1e309", "--1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const char *at = good[i];
        double number = NAN, expected = strtod(good[i], NULL);
        assert_true(meter_text_double(&at, &number));
        if (!(fabs(number - expected) <= 1e-15 * fabs(expected))) fail_msg("%s: %.17g", good[i], number);
        if (strcmp(good[i], "0x1p3") != 0) assert_string_equal(at, "");
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *at = bad[i];
        double number = 5;
        int taken = meter_text_double(&at, &number);
        if (strcmp(bad[i], "0x1p3") == 0) continue; /* 0, and then something */
        assert_false(taken);
        assert_true(number == 5);
    }
}

static void the_machine_was_not_suspended_for_less_than_nothing(void **state)
{
    (void)state;
    double first = yoke_suspended_s();
    assert_true(first >= 0);
    assert_true(fabs(yoke_suspended_s() - first) < 0.01 || yoke_suspended_s() > first);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_list_owns_its_states),
    cmocka_unit_test(a_state_is_closed_where_the_list_has_no_room),
    cmocka_unit_test(a_new_domain_knows_no_number),
    cmocka_unit_test(numbers_are_whole_or_refused),
    cmocka_unit_test(a_pipe_does_not_make_a_reader_wait),
    cmocka_unit_test(lines_end_at_the_newline),
    cmocka_unit_test(paths_are_below_the_root),
    cmocka_unit_test(decimal_numbers_are_those_of_strtod),
    cmocka_unit_test(the_machine_was_not_suspended_for_less_than_nothing),
};

UNIT_MAIN(tests, set_up, tear_down)
