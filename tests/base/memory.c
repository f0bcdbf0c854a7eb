#include "failing.h"
#include "state.h"

static void memory_is_zero_and_aligned_to_64_bytes(void **state)
{
    for (size_t size = 1; size < 300; size += 7) {
        void *memory = NULL;
        assert_int_equal(yoke_allocate(*state, 3, size, &memory), YOKE_OK);
        assert_int_equal((uintptr_t)memory % 64, 0);
        for (size_t i = 0; i < 3 * size; i++) assert_int_equal(((unsigned char *)memory)[i], 0);
        memset(memory, 0xff, 3 * size); /* the next block may be this one again */
        yoke_release(*state, memory);
    }
}

static void untouched_memory_is_aligned_and_writable(void **state)
{
    void *memory = NULL;
    assert_int_equal(yoke_allocate_untouched(*state, 1000, 8, &memory), YOKE_OK);
    assert_int_equal((uintptr_t)memory % 64, 0);
    memset(memory, 0xff, 8000);
    yoke_release(*state, memory);
}

static void a_count_of_zero_gives_a_valid_pointer(void **state)
{
    void *memory = NULL;
    assert_int_equal(yoke_allocate(*state, 0, 8, &memory), YOKE_OK);
    assert_non_null(memory);
    yoke_release(*state, memory);
    memory = NULL;
    assert_int_equal(yoke_allocate_untouched(*state, 5, 0, &memory), YOKE_OK);
    assert_non_null(memory);
    yoke_release(*state, memory);
    yoke_release(*state, NULL);
}

static void a_negative_count_is_refused(void **state)
{
    void *memory = NULL;
    assert_int_equal(yoke_allocate(*state, -5, 8, &memory), YOKE_ERROR_ARGUMENT);
    assert_non_null(strstr(yoke_last_error(*state), "-5"));
    assert_int_equal(yoke_allocate_untouched(*state, INT64_MIN, 8, &memory), YOKE_ERROR_ARGUMENT);
    assert_null(memory);
}

static void count_times_size_does_not_overflow(void **state)
{
    static const struct {
        int64_t count;
        size_t size;
    } absurd[] = {{INT64_MAX, 2}, {INT64_MAX, SIZE_MAX}, {2, SIZE_MAX / 2 + 2}, {(int64_t)1 << 32, (size_t)1 << 32},
                  {INT64_MAX, 1}, {1, SIZE_MAX}};
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        void *memory = NULL;
        assert_int_equal(yoke_allocate(*state, absurd[i].count, absurd[i].size, &memory), YOKE_ERROR_MEMORY);
        assert_int_equal(yoke_allocate_untouched(*state, absurd[i].count, absurd[i].size, &memory), YOKE_ERROR_MEMORY);
        assert_null(memory);
    }
}

static void the_replaceable_allocator_gets_every_request(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    assert_int_equal(memory.outstanding, 1);
    void *block = NULL;
    assert_int_equal(yoke_allocate(context, 10, 10, &block), YOKE_OK);
    assert_int_equal(memory.outstanding, 2);
    yoke_release(context, block);
    yoke_context_destroy(context);
    assert_int_equal(memory.calls, 2);
    assert_int_equal(memory.outstanding, 0);
}

static void out_of_memory_names_the_bytes_asked_for(void **state)
{
    (void)state;
    failing memory = {.fail_at = 2};
    yoke_options options = failing_options(&memory);
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    void *block = NULL;
    assert_int_equal(yoke_allocate(context, 1000, 24, &block), YOKE_ERROR_MEMORY);
    assert_null(block);
    assert_non_null(strstr(yoke_last_error(context), "24000 bytes"));
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static void *misaligned_allocate(size_t bytes, void *user)
{
    failing *memory = user;
    if (memory->calls++ == 0) return aligned_alloc(64, (bytes + 63) / 64 * 64);
    char *block = aligned_alloc(64, (bytes + 127) / 64 * 64);
    return block != NULL ? block + 8 : NULL;
}

static void misaligned_release(void *memory, void *user)
{
    (void)user;
    free((char *)memory - (uintptr_t)memory % 64);
}

static void an_allocator_that_does_not_align_is_found_out(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = {.allocate = misaligned_allocate, .release = misaligned_release, .memory_user = &memory};
    yoke_context *context = NULL;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    void *block = NULL;
    assert_int_equal(yoke_allocate(context, 1, 1, &block), YOKE_ERROR_ARGUMENT);
    assert_null(block);
    assert_non_null(strstr(yoke_last_error(context), "not aligned"));
    yoke_context_destroy(context);
}

/* Everything in the library that allocates: creates, asks, describes, destroys. */
static yoke_status use_everything(failing *memory)
{
    yoke_options options = failing_options(memory);
    yoke_context *context = NULL;
    yoke_status status = yoke_context_create(&options, &context);
    if (status != YOKE_OK) {
        assert_null(context);
        assert_true(strlen(yoke_last_error(NULL)) > 0);
        return status;
    }
    yoke_topology topology;
    char *text = NULL;
    status = yoke_topology_get(context, &topology);
    if (status == YOKE_OK) status = yoke_describe(context, 0, &text);
    assert_true((status == YOKE_OK) == (text != NULL));
    assert_true((status == YOKE_OK) == (yoke_last_error(context)[0] == '\0'));
    yoke_release(context, text);
    yoke_context_destroy(context);
    return status;
}

static void whichever_allocation_fails_the_error_is_clean(void **state)
{
    (void)state;
    failing memory = {0};
    assert_int_equal(use_everything(&memory), YOKE_OK);
    assert_int_equal(memory.outstanding, 0);
    int64_t needed = memory.calls;
    assert_true(needed >= 2);
    for (int64_t n = 1; n <= needed; n++) {
        memory = (failing){.fail_at = n};
        assert_int_equal(use_everything(&memory), YOKE_ERROR_MEMORY);
        assert_int_equal(memory.outstanding, 0);
    }
}

static void an_array_that_cannot_grow_is_as_it_was(void **state)
{
    failing memory = {.fail_at = 0};
    yoke_options options = failing_options(&memory);
    yoke_context *context = NULL;
    int32_t *items = NULL;
    int64_t capacity = 0;
    (void)state;
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    for (int32_t i = 0; i < 20; i++) {
        assert_int_equal(yoke_grow(context, &items, i, &capacity, 5, sizeof *items), YOKE_OK);
        assert_int_equal(items[i], 0);
        items[i] = i + 1;
    }
    assert_int_equal(capacity, 20);
    memory.fail_at = 1;
    assert_int_equal(yoke_grow(context, &items, 19, &capacity, 5, sizeof *items), YOKE_OK);
    assert_int_equal(yoke_grow(context, &items, 20, &capacity, 5, sizeof *items), YOKE_ERROR_MEMORY);
    assert_int_equal(capacity, 20);
    for (int32_t i = 0; i < 20; i++) assert_int_equal(items[i], i + 1);
    yoke_release(context, items);
    yoke_context_destroy(context);
    assert_int_equal(memory.outstanding, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(memory_is_zero_and_aligned_to_64_bytes),
    cmocka_unit_test(untouched_memory_is_aligned_and_writable),
    cmocka_unit_test(a_count_of_zero_gives_a_valid_pointer),
    cmocka_unit_test(a_negative_count_is_refused),
    cmocka_unit_test(count_times_size_does_not_overflow),
    cmocka_unit_test(the_replaceable_allocator_gets_every_request),
    cmocka_unit_test(out_of_memory_names_the_bytes_asked_for),
    cmocka_unit_test(an_allocator_that_does_not_align_is_found_out),
    cmocka_unit_test(whichever_allocation_fails_the_error_is_clean),
    cmocka_unit_test(an_array_that_cannot_grow_is_as_it_was),
};

UNIT_MAIN(tests, state_start, state_end)
