#include "machine_text.h"

#include "unit.h"

yoke_context *machine(const char *text, failing *memory)
{
    char path[] = "/tmp/yoke-machine-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    yoke_context *context = NULL;
    yoke_options options = failing_options(memory);
    assert_int_equal(yoke_context_create(&options, &context), YOKE_OK);
    yoke_status status = yoke_machine_read(context, path);
    remove(path);
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(context));
    return context;
}
