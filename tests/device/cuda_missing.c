/* What the cuda backend says of libraries and cards that are missing or wrong. */
#include "cuda_child.h"

/* The one entry of kind cuda; and opening it must fail in the same words. */
static yoke_device_info unusable(void)
{
    yoke_context *context;
    yoke_device_info *list, found = {0};
    yoke_device *device;
    int64_t count;
    int entries = 0;
    CHECK(yoke_context_create(NULL, &context) == YOKE_OK);
    CHECK_STATUS(context, yoke_devices_list(context, NULL, 0, &list, &count), YOKE_OK);
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].kind, "cuda") == 0) {
            found = list[i];
            entries++;
        }
    yoke_release(context, list);
    CHECK(entries == 1 && !found.usable && found.why_not[0] != '\0' && found.remedy[0] != '\0');
    CHECK_STATUS(context, yoke_device_open(context, "cuda:0", &device), YOKE_ERROR_UNAVAILABLE);
    CHECK(cuda_says(context, found.why_not) && cuda_says(context, found.remedy));
    yoke_context_destroy(context);
    return found;
}

static void see_no_driver(void) { CHECK(cuda_mentions(unusable().why_not, "YOKE_LIBCUDA") && strcmp(unusable().name, "cuda") == 0); }
static void see_wrong_driver(void) { CHECK(cuda_mentions(unusable().why_not, "cuInit")); }
static void see_missing_file(void) { CHECK(cuda_mentions(unusable().why_not, "/nowhere/libcuda.so")); }
static void see_no_compiler(void)
{
    yoke_device_info info = unusable();
    CHECK(cuda_mentions(info.why_not, "YOKE_LIBNVRTC") && cuda_mentions(info.remedy, "apt install") && strcmp(info.name, "cuda:0") == 0);
}
static void see_wrong_compiler(void) { CHECK(cuda_mentions(unusable().why_not, "has no function nvrtc")); }
static void see_no_card(void) { CHECK(cuda_mentions(unusable().why_not, "no GPU")); }
static void see_hidden_cards(void) { CHECK(cuda_mentions(unusable().why_not, "CUDA_VISIBLE_DEVICES")); }
static void see_old_driver(void) { CHECK(cuda_mentions(unusable().why_not, "CUDA 10.2")); }
static void see_prohibition(void) { CHECK(cuda_mentions(unusable().remedy, "nvidia-smi -c DEFAULT")); }
static void see_old_card(void) { CHECK(cuda_mentions(unusable().why_not, "7.5 and newer")); }

static void see_busy_card(void)
{
    yoke_context *context;
    yoke_device *device;
    CHECK(yoke_context_create(NULL, &context) == YOKE_OK);
    CHECK_STATUS(context, yoke_device_open(context, "cuda:0", &device), YOKE_ERROR_UNAVAILABLE);
    CHECK(cuda_says(context, "exclusive"));
    yoke_context_destroy(context);
}

static void test_what_is_missing_says_why_and_what_to_do(void **state)
{
    (void)state;
    cuda_expect_right(see_no_driver, WITH({"YOKE_LIBCUDA", ""}));
    cuda_expect_right(see_wrong_driver, WITH({"YOKE_LIBCUDA", "libm.so.6"}));
    cuda_expect_right(see_missing_file, WITH({"YOKE_LIBCUDA", "/nowhere/libcuda.so"}));
    cuda_expect_right(see_no_compiler, WITH({"YOKE_LIBNVRTC", ""}));
    cuda_expect_right(see_wrong_compiler, WITH({"YOKE_LIBNVRTC", "libm.so.6"}));
    cuda_expect_right(see_no_card, WITH({"YOKE_STUB_CUDA_DEVICES", "0"}));
    cuda_expect_right(see_hidden_cards, WITH({"CUDA_VISIBLE_DEVICES", ""}));
    cuda_expect_right(see_old_driver, WITH({"YOKE_STUB_CUDA_DRIVER", "10020"}));
    cuda_expect_right(see_prohibition, WITH({"YOKE_STUB_CUDA_MODE", "2"}));
    cuda_expect_right(see_old_card, WITH({"YOKE_STUB_CUDA_CAPABILITY", "35"}));
    cuda_expect_right(see_busy_card, WITH({"YOKE_STUB_CUDA_MODE", "3"}));
}

static void open_wrong_names(void)
{
    static const char *const names[] = {
        "cuda", "cuda:", "cuda:1", "cuda:x", "cuda:0x", "cuda:-1", "cuda:99999999999999999999", "pci:0000:ff:00.0"};
    yoke_context *context;
    yoke_device *device;
    CHECK(yoke_context_create(NULL, &context) == YOKE_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_STATUS(context, yoke_device_open(context, names[i], &device), YOKE_ERROR_INPUT);
    yoke_context_destroy(context);
}

static void test_names_of_no_device_are_refused(void **state)
{
    (void)state;
    cuda_expect_right(open_wrong_names, WITH({NULL, NULL}));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_is_missing_says_why_and_what_to_do),
    cmocka_unit_test(test_names_of_no_device_are_refused),
};

UNIT_MAIN(tests, cuda_use_stand_ins, NULL)
