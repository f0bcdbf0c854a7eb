/* Problems for which a plan once was worse than it said, as random tests found them. */
#include "unit.h"

#include <math.h>

#include "brute_force.h"
#include "plan_checks.h"

static void check(const checked *of)
{
    yoke_context *context = NULL;
    brute_list list;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_true(brute_force(of->problem, &list));
    yoke_plan *plan = check_create(context, of);
    check_best(of, &list, plan);
    assert_true(plan->feasible && plan->optimal);
    yoke_release(context, plan);
    brute_free(&list);
    yoke_context_destroy(context);
}

/* Functional models, host overhead and copies of an accelerator: sharing 92 and 740 units is 7e-5 better than 88 and 744. */
static void a_cliff_with_host_overhead_on_two_devices(void **state)
{
    (void)state;
    const yoke_plan_level levels_0[] = {
        {.frequency_hz = NAN,
         .start_seconds = 0.0045284467772645906,
         .dynamic_power_w = 149.80527175133352,
         .idle_power_w = 36.492186640913623,
         .num_points = 4,
         .points = (const double[]){46, 0.080756968583207744, 307, 2.4704684942855066, 376, 3.5707432360677971, 579, 5.5681156400836933}},
    };
    const yoke_plan_level levels_1[] = {
        {.frequency_hz = NAN,
         .start_seconds = 0.0067949620304325227,
         .dynamic_power_w = 235.90130884924864,
         .idle_power_w = 12.283349893852105,
         .num_points = 3,
         .points = (const double[]){3, 0.0023723267969412861, 5, 0.0043033389337710139, 154, 0.50327929866143928}},
        {.frequency_hz = NAN,
         .start_seconds = 0.0012223328242093085,
         .dynamic_power_w = 151.38411193229854,
         .idle_power_w = 11.240842146902525,
         .num_points = 2,
         .points = (const double[]){76.915870418414798, 0.07205022958493322, 323.86273076287739, 0.31765822097237462}},
        {.frequency_hz = NAN,
         .dynamic_power_w = 87.762970011727646,
         .idle_power_w = 11.425166527334472,
         .num_points = 3,
         .points = (const double[]){8, 0.0087899718445577923, 34, 0.036159463806442881, 232, 0.2450463465007463}},
        {.frequency_hz = NAN,
         .start_seconds = 0.047342734614411609,
         .dynamic_power_w = 38.631821467785905,
         .idle_power_w = 8.744926938015487,
         .num_points = 3,
         .points = (const double[]){2, 0.0023182176243906703, 37, 0.040161618797405887, 288, 0.29877271574535436}},
    };
    const yoke_plan_device devices[] = {
        {.name = "cpu0", .host = 1, .num_levels = 1, .levels = levels_0, .max_units = 273},
        {.name = "gpu1", .num_levels = 4, .levels = levels_1, .copy_seconds = 0.20948471782029082, .max_units = INT64_MAX},
    };
    const yoke_plan_problem problem = {.units = 832,
                                       .repetitions = 2.1031582445772115,
                                       .base_power_w = 71.677656620103505,
                                       .host_overhead_w = 64.848865109355359,
                                       .num_devices = 2,
                                       .devices = devices};
    const yoke_plan_options options = {.objective = YOKE_OBJECTIVE_ENERGY, .bare = 1};
    check(&(checked){1, &problem, &options});
}

/* The same with an idle host: 20 and 64 units, 5e-5 better than 21 and 63. */
static void a_cliff_with_host_overhead_on_three_devices(void **state)
{
    (void)state;
    const yoke_plan_level levels_0[] = {
        {.frequency_hz = NAN,
         .dynamic_power_w = 192.72515732409241,
         .idle_power_w = 79.429270531932417,
         .num_points = 2,
         .points = (const double[]){2, 0.099067370197469945, 30, 1.4241582476473555}},
    };
    const yoke_plan_level levels_1[] = {
        {.frequency_hz = NAN,
         .dynamic_power_w = 140.93209593201499,
         .idle_power_w = 46.879523561054157,
         .num_points = 4,
         .points = (const double[]){13, 0.49307420910266553, 18, 0.80480715427037719, 39, 4.2816236969667898, 125, 13.613017393860135}},
    };
    const yoke_plan_level levels_2[] = {
        {.frequency_hz = NAN,
         .dynamic_power_w = 123.67196909271324,
         .idle_power_w = 33.081010744884807,
         .num_points = 7,
         .points = (const double[]){2, 0.032047312021912452, 5, 0.081451228642500775, 10, 0.64071608932418045, 14, 0.77275548118233639, 23,
                                    1.3912109298255844, 25, 1.6133205367889087, 55, 3.005771654324481}},
        {.frequency_hz = NAN,
         .dynamic_power_w = 11.705224014801688,
         .idle_power_w = 28.145370148728183,
         .num_points = 1,
         .points = (const double[]){56, 1.5222294472423852}},
    };
    const yoke_plan_device devices[] = {
        {.name = "cpu0",
         .host = 1,
         .num_levels = 1,
         .levels = levels_0,
         .copy_seconds = 0.0014514766898030414,
         .copy_joules_per_unit = 0.1200201426502365,
         .max_units = INT64_MAX},
        {.name = "cpu1", .host = 1, .num_levels = 1, .levels = levels_1, .max_units = INT64_MAX},
        {.name = "gpu2", .num_levels = 2, .levels = levels_2, .max_units = INT64_MAX},
    };
    const yoke_plan_problem problem = {.units = 84,
                                       .repetitions = 0.66094329199284396,
                                       .base_power_w = 130.40126951236994,
                                       .host_overhead_w = 27.639152026417669,
                                       .num_devices = 3,
                                       .devices = devices};
    const yoke_plan_options options = {.objective = YOKE_OBJECTIVE_ENERGY, .bare = 1};
    check(&(checked){2, &problem, &options});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_cliff_with_host_overhead_on_two_devices),
    cmocka_unit_test(a_cliff_with_host_overhead_on_three_devices),
};

UNIT_MAIN(tests, NULL, NULL)
