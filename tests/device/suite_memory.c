/* Description, buffers, copies and clears. */
#include "suite.h"

enum { BYTES = 10007 }; /* a prime: nothing is aligned by chance */

static void fill(unsigned char *bytes, int64_t count, unsigned seed)
{
    for (int64_t i = 0; i < count; i++) bytes[i] = (unsigned char)((i * 131 + seed * 29 + (i >> 8)) % 251);
}

static void the_device_describes_itself(void **state)
{
    suite *s = *state;
    const yoke_device_info *info = yoke_device_info_get(s->device);
    assert_true(info->usable);
    assert_string_equal(info->why_not, "");
    assert_string_equal(info->remedy, "");
    assert_true(strlen(info->description) > 0);
    assert_memory_equal(info->name, info->kind, strlen(info->kind));
    assert_true(info->memory_bytes > 0);
    assert_true(info->compute_units > 0);
    assert_true(info->double_precision == 0 || info->double_precision == 1);
}

static void the_list_has_the_device(void **state)
{
    suite *s = *state;
    yoke_device_info *list = NULL;
    int64_t count = 0, found = 0;
    const yoke_device_info *own = yoke_device_info_get(s->device);
    OK(s, yoke_devices_list(s->context, NULL, 0, &list, &count));
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].name, own->name) == 0) {
            found++;
            assert_true(list[i].usable);
            assert_string_equal(list[i].kind, own->kind);
            assert_string_equal(list[i].description, own->description);
            assert_string_equal(list[i].pci, own->pci);
            assert_int_equal(list[i].device_class, own->device_class);
        }
    yoke_release(s->context, list);
    assert_int_equal(found, strncmp(own->name, "openmp:", 7) == 0 ? 0 : 1); /* ranges of cores are not listed */
}

static void memory_is_told(void **state)
{
    suite *s = *state;
    int64_t before = -1, between = -1, after = -1, all = -1;
    OK(s, yoke_device_memory(s->device, &before, &all));
    assert_true(all > 0);
    assert_in_range(before, 0, all);
    yoke_buffer *buffer = suite_buffer(s, 1 << 20, NULL);
    OK(s, yoke_device_memory(s->device, &between, &all));
    yoke_buffer_destroy(buffer);
    OK(s, yoke_device_memory(s->device, &after, &all));
    assert_in_range(between, 0, all);
    assert_in_range(after, 0, all);
}

static void bytes_come_back_from_odd_offsets(void **state)
{
    suite *s = *state;
    static const int64_t ranges[][2] = {{0, BYTES}, {1, 1}, {3, 5}, {BYTES - 1, 1}, {127, 4099}, {4096, 4096}, {7, BYTES - 7}};
    unsigned char *mirror = malloc(BYTES), *back = malloc(BYTES), *piece = malloc(BYTES);
    assert_true(mirror != NULL && back != NULL && piece != NULL);
    fill(mirror, BYTES, 1);
    yoke_buffer *buffer = suite_buffer(s, BYTES, mirror);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        int64_t offset = ranges[i][0], bytes = ranges[i][1];
        fill(piece, bytes, (unsigned)i + 2);
        memcpy(mirror + offset, piece, (size_t)bytes);
        OK(s, yoke_queue_write(s->queue, buffer, offset, bytes, piece));
        OK(s, yoke_queue_finish(s->queue));
        suite_read(s, buffer, BYTES, back);
        assert_memory_equal(back, mirror, BYTES);
        memset(back, 0xee, BYTES);
        OK(s, yoke_queue_read(s->queue, buffer, offset, bytes, back));
        OK(s, yoke_queue_finish(s->queue));
        assert_memory_equal(back, piece, (size_t)bytes);
        if (bytes < BYTES) assert_int_equal(back[bytes], 0xee);
    }
    yoke_buffer_destroy(buffer);
    free(mirror);
    free(back);
    free(piece);
}

static void a_large_buffer_comes_back(void **state)
{
    suite *s = *state;
    const int64_t bytes = 5 * 1024 * 1024 + 3;
    unsigned char *there = malloc((size_t)bytes), *back = malloc((size_t)bytes);
    assert_true(there != NULL && back != NULL);
    fill(there, bytes, 9);
    yoke_buffer *buffer = suite_buffer(s, bytes, there);
    suite_read(s, buffer, bytes, back);
    assert_memory_equal(back, there, (size_t)bytes);
    OK(s, yoke_queue_clear(s->queue, buffer, 1, bytes - 2));
    suite_read(s, buffer, bytes, back);
    assert_int_equal(back[0], there[0]);
    assert_int_equal(back[bytes - 1], there[bytes - 1]);
    int64_t set = 0;
    for (int64_t i = 1; i < bytes - 1; i++) set += back[i] != 0;
    assert_int_equal(set, 0);
    yoke_buffer_destroy(buffer);
    free(there);
    free(back);
}

static void clearing_sets_zero_and_nothing_else(void **state)
{
    suite *s = *state;
    static const int64_t ranges[][2] = {{0, 1}, {5, 3}, {64, 128}, {1001, 4095}, {BYTES - 9, 9}};
    unsigned char mirror[BYTES], back[BYTES];
    fill(mirror, BYTES, 5);
    yoke_buffer *buffer = suite_buffer(s, BYTES, mirror);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        memset(mirror + ranges[i][0], 0, (size_t)ranges[i][1]);
        OK(s, yoke_queue_clear(s->queue, buffer, ranges[i][0], ranges[i][1]));
        suite_read(s, buffer, BYTES, back);
        assert_memory_equal(back, mirror, BYTES);
    }
    yoke_buffer_destroy(buffer);
}

static void nothing_is_a_size_too(void **state)
{
    suite *s = *state;
    char byte = 7;
    yoke_buffer *empty = suite_buffer(s, 0, NULL), *some = suite_buffer(s, 8, NULL);
    OK(s, yoke_queue_write(s->queue, empty, 0, 0, NULL));
    OK(s, yoke_queue_read(s->queue, empty, 0, 0, NULL));
    OK(s, yoke_queue_clear(s->queue, empty, 0, 0));
    OK(s, yoke_queue_write(s->queue, some, 8, 0, &byte));
    OK(s, yoke_queue_read(s->queue, some, 8, 0, &byte));
    OK(s, yoke_queue_clear(s->queue, some, 8, 0));
    OK(s, yoke_queue_finish(s->queue));
    FAILS(s, YOKE_ERROR_ARGUMENT, "outside the buffer", yoke_queue_clear(s->queue, empty, 0, 1));
    assert_int_equal(byte, 7);
    yoke_buffer_destroy(empty);
    yoke_buffer_destroy(some);
}

static void ranges_outside_a_buffer_are_refused(void **state)
{
    suite *s = *state;
    static const int64_t ranges[][2] = {{-1, 1},        {0, -1},        {0, 17},         {16, 1},        {17, 0},
                                        {INT64_MAX, 1}, {1, INT64_MAX}, {INT64_MIN, 16}, {8, INT64_MIN}, {INT64_MAX, INT64_MAX}};
    char host[32] = "unchanged";
    yoke_buffer *buffer = suite_buffer(s, 16, "0123456789abcdef");
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        FAILS(s, YOKE_ERROR_ARGUMENT, "16 bytes", yoke_queue_write(s->queue, buffer, ranges[i][0], ranges[i][1], host));
        FAILS(s, YOKE_ERROR_ARGUMENT, "16 bytes", yoke_queue_read(s->queue, buffer, ranges[i][0], ranges[i][1], host));
        FAILS(s, YOKE_ERROR_ARGUMENT, "16 bytes", yoke_queue_clear(s->queue, buffer, ranges[i][0], ranges[i][1]));
    }
    FAILS(s, YOKE_ERROR_ARGUMENT, "from is NULL", yoke_queue_write(s->queue, buffer, 0, 16, NULL));
    FAILS(s, YOKE_ERROR_ARGUMENT, "to is NULL", yoke_queue_read(s->queue, buffer, 0, 16, NULL));
    FAILS(s, YOKE_ERROR_ARGUMENT, "give 0 or more", yoke_buffer_create(s->device, -1, &buffer));
    assert_string_equal(host, "unchanged");
    suite_read(s, buffer, 16, host);
    assert_memory_equal(host, "0123456789abcdef", 16);
    yoke_buffer_destroy(buffer);
}

static void what_does_not_fit_is_refused_and_the_device_works_on(void **state)
{
    suite *s = *state;
    static const int64_t sizes[] = {(int64_t)1 << 50, INT64_MAX, INT64_MAX - 63};
    char host[4] = "";
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        yoke_buffer *huge = NULL;
        FAILS(s, YOKE_ERROR_DEVICE_MEMORY, "bytes are free", yoke_buffer_create(s->device, sizes[i], &huge));
        assert_null(huge);
    }
    yoke_buffer *buffer = suite_buffer(s, 4, "yes");
    suite_read(s, buffer, 4, host);
    assert_string_equal(host, "yes");
    yoke_buffer_destroy(buffer);
}

static void host_memory_is_aligned_and_copies(void **state)
{
    suite *s = *state;
    void *there = NULL, *back = NULL, *empty = NULL;
    OK(s, yoke_host_allocate(s->device, BYTES, &there));
    OK(s, yoke_host_allocate(s->device, BYTES, &back));
    OK(s, yoke_host_allocate(s->device, 0, &empty));
    assert_int_equal((uintptr_t)there % 64, 0);
    assert_int_equal((uintptr_t)back % 64, 0);
    assert_non_null(empty);
    fill(there, BYTES, 3);
    memset(back, 0, BYTES);
    yoke_buffer *buffer = suite_buffer(s, BYTES, there);
    suite_read(s, buffer, BYTES, back);
    assert_memory_equal(there, back, BYTES);
    yoke_buffer_destroy(buffer);
    FAILS(s, YOKE_ERROR_ARGUMENT, "give 0 or more", yoke_host_allocate(s->device, -1, &empty));
    yoke_host_release(s->device, there);
    yoke_host_release(s->device, back);
    yoke_host_release(s->device, empty);
    yoke_host_release(s->device, NULL);
}

int suite_run_memory(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_device_describes_itself),
        cmocka_unit_test(the_list_has_the_device),
        cmocka_unit_test(memory_is_told),
        cmocka_unit_test(bytes_come_back_from_odd_offsets),
        cmocka_unit_test(a_large_buffer_comes_back),
        cmocka_unit_test(clearing_sets_zero_and_nothing_else),
        cmocka_unit_test(nothing_is_a_size_too),
        cmocka_unit_test(ranges_outside_a_buffer_are_refused),
        cmocka_unit_test(what_does_not_fit_is_refused_and_the_device_works_on),
        cmocka_unit_test(host_memory_is_aligned_and_copies),
    };
    return cmocka_run_group_tests_name("memory", tests, suite_open, suite_close);
}
