#include "case/units.h"

#include "unit.h"

typedef struct expected {
    const char *name, *moment, *energy, *power, *mass, *density, *gradient;
} expected;

/* Each follows by hand from F, L and the second: 1 N s2/mm = 1000 kg, 1 lbf s2/in4 has no name. */
static void labels_follow_from_length_and_force(void **state)
{
    (void)state;
    static const expected sets[] = {
        {"m-N-Pa", "N m", "J", "W", "kg", "kg/m3", "K/m"},
        {"mm-N-MPa", "N mm", "mJ", "mW", "t", "t/mm3", "K/mm"},
        {"m-kN-kPa", "kN m", "kJ", "kW", "t", "t/m3", "K/m"},
        {"m-MN-MPa", "MN m", "MJ", "MW", "kt", "kt/m3", "K/m"},
        {"mm-kN-GPa", "kN mm", "J", "W", "kt", "kt/mm3", "K/mm"},
        {"um-uN-MPa", "uN um", "pJ", "pW", "kg", "kg/um3", "K/um"},
        {"cm-N-N/cm2", "N cm", "N cm", "N cm/s", "N s2/cm", "N s2/cm4", "K/cm"},
        {"mm-N-N/mm2", "N mm", "mJ", "mW", "t", "t/mm3", "K/mm"},
        {"in-lbf-psi", "lbf in", "lbf in", "lbf in/s", "lbf s2/in", "lbf s2/in4", "K/in"},
        {"in-kip-ksi", "kip in", "kip in", "kip in/s", "kip s2/in", "kip s2/in4", "K/in"},
        {"ft-lbf-psf", "lbf ft", "lbf ft", "lbf ft/s", "lbf s2/ft", "lbf s2/ft4", "K/ft"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        fem_units units;
        char why[512] = "";
        assert_int_equal(fem_units_read(sets[i].name, &units, why, sizeof why), 0);
        assert_string_equal(units.name, sets[i].name);
        assert_string_equal(units.moment, sets[i].moment);
        assert_string_equal(units.energy, sets[i].energy);
        assert_string_equal(units.power, sets[i].power);
        assert_string_equal(units.mass, sets[i].mass);
        assert_string_equal(units.density, sets[i].density);
        assert_string_equal(units.temperature_gradient, sets[i].gradient);
        assert_true(strncmp(units.area, sets[i].name, strlen(units.length)) == 0 && units.area[strlen(units.length)] == '2');
    }
}

static void check_refusal(const char *name, const char *part, const char *advice)
{
    fem_units units = {.name = "untouched"};
    char why[512] = "";
    assert_int_equal(fem_units_read(name, &units, why, sizeof why), -1);
    if (!strstr(why, part) || !strstr(why, advice)) fail_msg("%s: %s", name, why);
    assert_string_equal(units.name, "untouched");
}

static void what_is_no_consistent_set_is_refused_with_what_is_right(void **state)
{
    (void)state;
    check_refusal("mm-N-Pa", "N/mm2 is MPa, not Pa", "write mm-N-MPa");
    check_refusal("m-N-MPa", "N/m2 is Pa", "write m-N-Pa");
    check_refusal("cm-N-MPa", "not consistent", "write cm-N-N/cm2");
    check_refusal("in-kip-psi", "kip/in2 is ksi", "write in-kip-ksi");
    static const char *const others[] = {"", "-", "--", "SI", "mm", "mm-N", "mm-N-MPa-s", "mm--MPa", "-N-Pa", "mm-N-", "mm N MPa"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) check_refusal(others[i], "length-force-stress", "mm-N-MPa");
    check_refusal("furlong-N-Pa", "'furlong'", "um, mm, cm");
    check_refusal("m-dyn-Pa", "'dyn'", "kN, MN");
    check_refusal("m-N-bar", "'bar'", "psi");
    check_refusal("mm-N-N/m2", "'N/m2'", "MPa");
    char longest[5000];
    memset(longest, 'm', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    check_refusal(longest, "length-force-stress", "m-N-Pa");
    memcpy(longest, "m-N-", 4);
    check_refusal(longest, "length-force-stress", "m-N-Pa");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(labels_follow_from_length_and_force),
    cmocka_unit_test(what_is_no_consistent_set_is_refused_with_what_is_right),
};

UNIT_MAIN(tests, NULL, NULL)
