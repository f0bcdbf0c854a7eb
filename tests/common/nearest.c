#include "common/console/nearest.h"
#include "context.h"

static const char *const words[] = {"materials", "mesh", "boundary", "refine", "solver", "output", "probes", "json"};

static const char *meant(const char *word)
{
    const char *found = app_nearest(word, sizeof words / sizeof words[0], words);
    return found != NULL ? found : "(none)";
}

static void one_slip_is_understood(void **state)
{
    (void)state;
    assert_string_equal(meant("mesh"), "mesh");
    assert_string_equal(meant("mseh"), "mesh");
    assert_string_equal(meant("msh"), "mesh");
    assert_string_equal(meant("meshh"), "mesh");
    assert_string_equal(meant("nesh"), "mesh");
    assert_string_equal(meant("ouptut"), "output");
    assert_string_equal(meant("boundaries"), "boundary");
    assert_string_equal(meant("material"), "materials");
}

static void other_words_are_not_guessed_at(void **state)
{
    (void)state;
    assert_string_equal(meant("frobnicate"), "(none)");
    assert_string_equal(meant("xyz"), "(none)");
    assert_string_equal(meant(""), "(none)");
}

static void very_long_words_are_not_guessed_at(void **state)
{
    (void)state;
    char word[5000];
    memset(word, 'm', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_string_equal(meant(word), "(none)");
    const char *const longest[] = {word};
    assert_null(app_nearest("m", 1, longest));
}

static void an_unknown_word_is_refused_with_all_there_are(void **state)
{
    (void)state;
    assert_int_equal(app_unknown(context, "key", "mseh", 2, words), YOKE_ERROR_INPUT);
    assert_string_equal(yoke_last_error(context), "unknown key mseh; the keys are: materials, mesh; did you mean mesh?");
    assert_int_equal(app_unknown(context, "key", "", 1, words), YOKE_ERROR_INPUT);
    assert_string_equal(yoke_last_error(context), "unknown key ; the keys are: materials");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_slip_is_understood),
    cmocka_unit_test(other_words_are_not_guessed_at),
    cmocka_unit_test(very_long_words_are_not_guessed_at),
    cmocka_unit_test(an_unknown_word_is_refused_with_all_there_are),
};

UNIT_MAIN(tests, context_start, context_end)
