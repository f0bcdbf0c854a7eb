/* Checkpoints as files: what was written is read, and what is damaged is refused. */
#include "checkpoint/file.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <zlib.h>

#include "checkpoint/checkpoints.h"
#include "unit.h"
#include "whole_file.h"

enum { LEAVES = 15, NODES = 7 };

typedef struct fixture {
    yoke_context *context;
    char directory[40], path[80];
    fem_checkpoint_part part;
    json_t *state;
    int8_t level[LEAVES];
    double value[3 * NODES], indicator[LEAVES];
} fixture;

static void start(fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(yoke_context_create(NULL, &f->context), YOKE_OK);
    strcpy(f->directory, "/tmp/yoke-checkpoint-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/checkpoint-3.bin", f->directory);
    for (int i = 0; i < LEAVES; i++) f->level[i] = (int8_t)(i % 3), f->indicator[i] = 1.0 / (i + 1);
    for (int i = 0; i < 3 * NODES; i++) f->value[i] = sin(i);
    f->state = json_pack("{s:i, s:f}", "step", 3, "third", 1.0 / 3);
    f->part = (fem_checkpoint_part){.state = f->state,
                                    .num_leaves = LEAVES,
                                    .num_nodes = NODES,
                                    .components = 3,
                                    .level = f->level,
                                    .value = f->value,
                                    .indicator = f->indicator};
}

static void end(fixture *f)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", f->directory);
    assert_int_equal(system(command), 0);
    json_decref(f->state);
    yoke_context_destroy(f->context);
}

static size_t read_bytes(const char *path, unsigned char *bytes, size_t most)
{
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t count = fread(bytes, 1, most, in);
    fclose(in);
    return count;
}

static void check_read(const fixture *f, const char *path)
{
    fem_checkpoint *read;
    double value[3 * NODES], indicator[LEAVES];
    assert_int_equal(fem_checkpoint_open(f->context, path, 1, &read), YOKE_OK);
    assert_int_equal(read->num_leaves, LEAVES);
    assert_int_equal(read->num_nodes, NODES);
    assert_int_equal(read->components, f->part.components);
    assert_memory_equal(read->level, f->level, sizeof f->level);
    for (int first = 0; first < NODES; first += 3) { /* in parts, as ranks do */
        const int count = first + 3 < NODES ? 3 : NODES - first;
        assert_int_equal(fem_checkpoint_read_values(read, first, count, value + (ptrdiff_t)first * read->components), YOKE_OK);
    }
    assert_memory_equal(value, f->value, NODES * (size_t)read->components * sizeof(double));
    assert_int_equal(fem_checkpoint_read_values(read, 1, NODES, value), YOKE_ERROR_ARGUMENT);
    assert_int_equal(read->solved, f->part.indicator != NULL);
    assert_int_equal(fem_checkpoint_read_indicators(read, 0, LEAVES, indicator), read->solved ? YOKE_OK : YOKE_ERROR_ARGUMENT);
    if (read->solved) assert_memory_equal(indicator, f->indicator, sizeof f->indicator);
    assert_true(json_equal(read->state, f->state));
    fem_checkpoint_close(read);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    fixture f;
    start(&f);
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    check_read(&f, f.path);
    f.part.components = 1;
    f.part.indicator = NULL;
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    check_read(&f, f.path);
    end(&f);
}

static void any_damaged_byte_and_any_lost_end_is_seen(void **state)
{
    (void)state;
    fixture f;
    fem_checkpoint *read = NULL;
    static unsigned char bytes[4096];
    start(&f);
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    const size_t count = read_bytes(f.path, bytes, sizeof bytes);
    int padding = 0;
    for (size_t i = 0; i < count; i++) {
        bytes[i] ^= (unsigned char)(1 << i % 8);
        whole_file_write(f.path, bytes, count);
        const yoke_status status = fem_checkpoint_open(f.context, f.path, 1, &read);
        if (status == YOKE_OK) { /* what fills a section up has no meaning */
            padding++;
            fem_checkpoint_close(read);
        } else {
            assert_int_equal(status, YOKE_ERROR_INPUT);
            assert_non_null(strstr(yoke_last_error(f.context), f.path));
        }
        bytes[i] ^= (unsigned char)(1 << i % 8);
    }
    assert_true(padding < 4 * 8);
    for (size_t i = 0; i < count; i++) {
        whole_file_write(f.path, bytes, i);
        assert_int_equal(fem_checkpoint_open(f.context, f.path, 1, &read), YOKE_ERROR_INPUT);
    }
    whole_file_write(f.path, bytes, count);
    check_read(&f, f.path);
    end(&f);
}

/* Numbers and sizes that make no sense, with the checksums of somebody who knows the format. */
static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    fixture f;
    fem_checkpoint *read = NULL;
    static unsigned char bytes[4096], changed[4096];
    start(&f);
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    const size_t count = read_bytes(f.path, bytes, sizeof bytes);
    for (size_t at = 16; at < 48; at += 4) /* the sizes in the head */
        for (int k = 0; k < 5; k++) {
            const uint32_t values[5] = {0, 1, 2, 0x7fffffff, 0xffffffff};
            memcpy(changed, bytes, count);
            memcpy(changed + at, &values[k], 4);
            if (!memcmp(changed, bytes, count)) continue;
            const uint32_t checksum = (uint32_t)crc32_z(crc32_z(0, NULL, 0), changed, 68);
            memcpy(changed + 68, &checksum, 4);
            whole_file_write(f.path, changed, count);
            assert_int_equal(fem_checkpoint_open(f.context, f.path, 1, &read), YOKE_ERROR_INPUT);
        }
    f.level[3] = 99;
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    assert_int_equal(fem_checkpoint_open(f.context, f.path, 1, &read), YOKE_ERROR_INPUT);
    f.level[3] = 0;
    f.value[4] = NAN;
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    assert_int_equal(fem_checkpoint_open(f.context, f.path, 1, &read), YOKE_ERROR_INPUT);
    f.value[4] = 0;
    f.indicator[2] = -1;
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    assert_int_equal(fem_checkpoint_open(f.context, f.path, 1, &read), YOKE_ERROR_INPUT);
    end(&f);
}

static void a_full_disk_leaves_the_old_one(void **state)
{
    (void)state;
    fixture f;
    struct rlimit before, small;
    start(&f);
    assert_int_equal(fem_checkpoint_write(f.context, &f.part, f.path), YOKE_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 100; /* writing more fails as a full disk does */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    yoke_status status = fem_checkpoint_write(f.context, &f.part, f.path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, YOKE_ERROR_SYSTEM);
    check_read(&f, f.path);
    end(&f);
}

static void ignore(yoke_log_level level, const char *text, void *user)
{
    (void)level, (void)text;
    ++*(int *)user;
}

static void the_latest_whole_one_is_found(void **state)
{
    (void)state;
    fixture f;
    char path[96];
    int warnings = 0;
    int64_t number = -1;
    fem_checkpoint *read = NULL;
    start(&f);
    yoke_context_destroy(f.context);
    const yoke_options options = {.log = ignore, .log_level = YOKE_LOG_WARNING, .log_user = &warnings};
    assert_int_equal(yoke_context_create(&options, &f.context), YOKE_OK);
    assert_int_equal(fem_checkpoints_open_latest(f.context, NULL, f.directory, &read, &number), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(f.context), "there is no checkpoint"));
    for (int i = 8; i < 12; i++) { /* in numbers, not in letters */
        snprintf(path, sizeof path, "%s/checkpoint-%d.bin", f.directory, i);
        assert_int_equal(fem_checkpoint_write(f.context, &f.part, path), YOKE_OK);
    }
    assert_int_equal(fem_checkpoints_open_latest(f.context, NULL, f.directory, &read, &number), YOKE_OK);
    assert_int_equal(number, 11);
    fem_checkpoint_close(read);
    for (int i = 10; i < 12; i++) {
        snprintf(path, sizeof path, "%s/checkpoint-%d.bin", f.directory, i);
        assert_int_equal(truncate(path, 200), 0);
    }
    assert_int_equal(warnings, 0);
    assert_int_equal(fem_checkpoints_open_latest(f.context, NULL, f.directory, &read, &number), YOKE_OK);
    assert_int_equal(number, 9);
    assert_int_equal(warnings, 2);
    fem_checkpoint_close(read);
    assert_int_equal(fem_checkpoints_open_latest(f.context, NULL, "/no/such/directory", &read, &number), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(f.context), "cannot be read"));
    end(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_was_written_is_read),       cmocka_unit_test(any_damaged_byte_and_any_lost_end_is_seen),
    cmocka_unit_test(what_makes_no_sense_is_refused), cmocka_unit_test(a_full_disk_leaves_the_old_one),
    cmocka_unit_test(the_latest_whole_one_is_found),
};

UNIT_MAIN(tests, NULL, NULL)
