/* Selection, the tree, what is counted, opening. */
#include <math.h>

#include "context.h"

#include "base/failing.h"
#include "scripted.h"

static scripted_meter *add(const char *name, const char *covers, int64_t rank)
{
    scripted_meter *meter = scripted_add(name, METER_COUNTER);
    snprintf(meter->domain.info.covers, sizeof meter->domain.info.covers, "%s", covers);
    meter->domain.rank = rank;
    return meter;
}

/* "name* name" in the order of opening, * where counted. */
static const char *opened(const char *select)
{
    static char text[1024];
    meter_set *set = NULL;
    text[0] = '\0';
    if (scripted_open(context, select, &set) != YOKE_OK) return yoke_last_error(context);
    for (int64_t i = 0; i < set->count; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s%s", i > 0 ? " " : "", set->infos[i].name + strlen("scripted:"),
                 set->infos[i].counted ? "*" : "");
    }
    meter_set_close(set);
    return text;
}

static void the_best_source_of_each_piece_of_hardware_is_opened(void **state)
{
    (void)state;
    scripted_clear();
    add("perf-1", "package-1", 20);
    add("powercap-0", "package-0", 10);
    add("perf-0", "package-0", 20);
    add("hwmon-0", "package-0", 30);
    add("fan", "", 10);
    add("light", "", 10);
    assert_string_equal(opened(NULL), "perf-1* powercap-0* fan* light*");
    scripted_find("powercap-0")->domain.info.usable = 0;
    assert_string_equal(opened(NULL), "perf-1* perf-0* fan* light*");
}

static void only_the_disjoint_top_is_counted(void **state)
{
    (void)state;
    scripted_clear();
    scripted_meter *core = add("core", "package-0/core", 10);
    scripted_meter *inner = add("inner", "something", 10);
    scripted_meter *package = add("package", "package-0", 10);
    add("dram", "dram-0", 10);
    add("gpu", "gpu-0000:3b:00.0", 10);
    add("psu", "psu-1", 10)->domain.overlaps = 1;
    snprintf(core->domain.info.parent, 64, "scripted:package");
    snprintf(inner->domain.info.parent, 64, "scripted:core");
    assert_string_equal(opened(NULL), "core inner package* dram* gpu* psu");
    /* What contains it is not opened: then it counts itself. */
    assert_string_equal(opened("scripted:core,scripted:inner"), "core* inner");
    /* Over a gap in what is opened. */
    assert_string_equal(opened("scripted:inner,scripted:package"), "inner package*");
    /* Without the names of parents the covered hardware tells the same. */
    core->domain.info.parent[0] = '\0';
    assert_string_equal(opened("scripted:core,scripted:package"), "core package*");
    package->domain.info.usable = 0;
    assert_string_equal(opened(NULL), "core* inner dram* gpu* psu");
    /* Parents in a circle that are not open themselves. */
    core->domain.info.usable = 0;
    snprintf(core->domain.info.parent, 64, "scripted:package");
    snprintf(package->domain.info.parent, 64, "scripted:core");
    assert_string_equal(opened(NULL), "inner* dram* gpu* psu");
}

static void psys_and_declared_powers_are_counted_only_without_better_ones(void **state)
{
    (void)state;
    scripted_clear();
    scripted_meter *psys = add("psys", "psys", 10);
    scripted_meter *package = add("package", "package-0", 10);
    add("core", "package-0/core", 10);
    add("dram", "dram-0", 10);
    add("gpu", "gpu-0000:3b:00.0", 10);
    add("host", "host", 90)->domain.info.source = YOKE_ENERGY_ESTIMATED;
    snprintf(package->domain.info.parent, 64, "scripted:psys");
    assert_string_equal(opened(NULL), "psys package* core dram* gpu* host");
    package->domain.info.usable = 0;
    assert_string_equal(opened(NULL), "psys* core dram gpu host");
    psys->domain.info.usable = 0;
    assert_string_equal(opened("scripted:dram,scripted:gpu,scripted:host"), "dram gpu* host*");
}

static void names_and_kinds_select(void **state)
{
    (void)state;
    scripted_clear();
    add("a", "a", 10);
    add("b", "b", 10);
    scripted_meter *lost = add("c", "c", 10);
    lost->domain.info.usable = 0;
    snprintf(lost->domain.info.why_not, 256, "may be read by root only");
    snprintf(lost->domain.info.remedy, 512, "sudo chmod");
    assert_string_equal(opened("scripted"), "a* b*");
    assert_string_equal(opened("scripted:b"), "b*");
    assert_string_equal(opened("scripted:b,scripted:a,scripted:b"), "a* b*");
    meter_set *set = NULL;
    assert_int_equal(scripted_open(context, "scripted:a,scripted:c", &set), YOKE_ERROR_UNAVAILABLE);
    assert_non_null(strstr(yoke_last_error(context), "may be read by root only; sudo chmod"));
    assert_int_equal(scripted_open(context, "scripted:d", &set), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "scripted:a, scripted:b, scripted:c"));
    assert_int_equal(scripted_open(context, "declared", &set), YOKE_ERROR_INPUT);
    assert_non_null(strstr(yoke_last_error(context), "no powers are declared"));
    static const char *const bad[] = {"",         ",", "scripted:a,", ",scripted:a", "scripted:a,,scripted:b", " scripted:a", "scripted:a ",
                                      "scripted:"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(scripted_open(context, bad[i], &set), YOKE_ERROR_INPUT);
    char *huge = malloc(100001);
    memset(huge, 'x', 100000);
    huge[100000] = '\0';
    assert_int_equal(scripted_open(context, huge, &set), YOKE_ERROR_INPUT);
    free(huge);
    assert_null(set);
}

static void every_state_is_closed_exactly_once(void **state)
{
    (void)state;
    scripted_clear();
    add("powercap", "package-0", 10);
    add("perf", "package-0", 20); /* not opened */
    add("absurd", "package-1", 10)->domain.unit_j = NAN;
    assert_string_equal(opened(NULL), "powercap*");
    for (int64_t i = 0; i < scripted.count; i++) assert_int_equal(scripted.meters[i].closed, 1);
}

static void failing_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    failing memory = {0};
    yoke_options options = failing_options(&memory);
    yoke_context *poor = NULL;
    assert_int_equal(yoke_context_create(&options, &poor), YOKE_OK);
    int64_t before = memory.outstanding;
    for (int64_t n = 1;; n++) {
        scripted_clear();
        for (int i = 0; i < 12; i++) {
            char name[16];
            snprintf(name, sizeof name, "m%d", i);
            add(name, name, 10);
        }
        meter_set *set = NULL;
        yoke_region *region = NULL;
        memory.fail_at = memory.calls + n;
        yoke_status status = scripted_open(poor, NULL, &set);
        if (status == YOKE_OK) {
            status = meter_region_begin(set, &region);
            if (status == YOKE_OK) meter_region_end(region, NULL, NULL, NULL);
            meter_set_close(set);
        }
        memory.fail_at = 0;
        assert_int_equal(memory.outstanding, before);
        for (int64_t i = 0; i < scripted.count; i++) assert_int_equal(scripted.meters[i].closed, scripted.meters[i].closed != 0);
        if (status == YOKE_OK) break;
        assert_int_equal(status, YOKE_ERROR_MEMORY);
        assert_in_range(n, 1, 100);
    }
    yoke_context_destroy(poor);
}

static void a_lost_device_is_left_alone(void **state)
{
    (void)state;
    yoke_region *region = NULL;
    scripted_clear();
    scripted_meter *meter = add("gpu", "gpu-0000:3b:00.0", 10);
    meter_set *set = NULL;
    assert_int_equal(scripted_open(context, NULL, &set), YOKE_OK);
    meter->result = METER_GONE;
    assert_int_equal(meter_region_begin(set, &region), YOKE_OK);
    int reads = scripted_reads(meter);
    meter_region_end(region, NULL, NULL, NULL);
    meter_set_poll(set);
    assert_int_equal(scripted_reads(meter), reads);
    meter_set_close(set);
}

static void a_list_says_what_would_be_counted(void **state)
{
    (void)state;
    static const meter_kind *const kinds[] = {&scripted_kind};
    const meter_site site = {.context = context, .root = "", .time = &scripted_time};
    scripted_clear();
    add("powercap", "package-0", 10);
    add("perf", "package-0", 20);
    meter_list list;
    assert_int_equal(meter_find(&site, kinds, 1, &list), YOKE_OK);
    assert_int_equal(meter_list_count(&list, NULL), YOKE_OK);
    assert_true(list.domains[0].info.counted);
    assert_false(list.domains[1].info.counted);
    assert_true(list.domains[1].info.usable);
    assert_int_equal(meter_list_count(&list, "another kind"), YOKE_OK);
    assert_false(list.domains[0].info.counted);
    meter_list_clear(&list);
}

static void what_the_total_lacks_is_said(void **state)
{
    (void)state;
    yoke_region *region = NULL;
    yoke_energy total;
    scripted_clear();
    add("gpu", "gpu-0000:3b:00.0", 10)->sample.count = 0;
    scripted_meter *other = add("other", "gpu-0000:5e:00.0", 10);
    other->domain.info.usable = 0;
    meter_set *set = NULL;
    assert_int_equal(scripted_open(context, NULL, &set), YOKE_OK);
    assert_int_equal(meter_region_begin(set, &region), YOKE_OK);
    scripted.now_s = 1;
    scripted_find("gpu")->sample.count = 100000000;
    assert_int_equal(meter_region_end(region, NULL, NULL, &total), YOKE_OK);
    assert_true(total.value_j == 100);
    assert_non_null(strstr(total.why_not, "without the CPU"));
    assert_non_null(strstr(total.why_not, "scripted:other"));
    meter_set_close(set);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_best_source_of_each_piece_of_hardware_is_opened),
    cmocka_unit_test(only_the_disjoint_top_is_counted),
    cmocka_unit_test(psys_and_declared_powers_are_counted_only_without_better_ones),
    cmocka_unit_test(names_and_kinds_select),
    cmocka_unit_test(every_state_is_closed_exactly_once),
    cmocka_unit_test(failing_allocations_leave_nothing_behind),
    cmocka_unit_test(a_lost_device_is_left_alone),
    cmocka_unit_test(a_list_says_what_would_be_counted),
    cmocka_unit_test(what_the_total_lacks_is_said),
};

UNIT_MAIN(tests, context_start, context_end)
