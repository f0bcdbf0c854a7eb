/* The product on elements whose map is affine, and on boxes along the coordinate axes: they have kernels of their own. */
#include "unit.h"

#include "fem/fixtures/body.h"
#include "fem/fixtures/product.h"

static const fem_element elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};

static void map_to_affine(const double in[3], double out[3])
{
    out[0] = 0.3 + in[0] + 0.2 * in[1] - 0.1 * in[2];
    out[1] = 0.9 * in[1] + 0.3 * in[2];
    out[2] = 0.1 * in[0] + 0.8 * in[2] - 0.7;
}

static void map_far_away(const double in[3], double out[3])
{
    map_to_affine(in, out);
    for (int a = 0; a < 3; a++) out[a] += 1000;
}

static void map_half_to_curved(const double in[3], double out[3])
{
    double over = in[0] > 0.5 ? in[0] - 0.5 : 0;
    for (int a = 0; a < 3; a++) out[a] = in[a] + 0.3 * (a + 1) * over * over * in[(a + 1) % 3];
}

static void map_half_to_affine(const double in[3], double out[3])
{
    double over = in[0] > 0.5 ? in[0] - 0.5 : 0;
    for (int a = 0; a < 3; a++) out[a] = in[a] + (a ? 0.4 * over : 0);
}

static void assert_hanging(cube_map *map, int turn, int components, fem_element element)
{
    block b;
    uint64_t random = 62;
    block_options options = {.elements = {2, 2, 2}, .map = map, .order = 2, .turn = turn, .components = components};
    block_create(&options, &b);
    block_two_materials(&b, 7);
    block_refine(&b, 0.6, &random);
    block_refine(&b, 0.2, &random);
    block_discretise(&b, element);
    product_assert_all(&b);
    block_destroy(&b);
}

static void product_is_right_on_affine_elements_and_boxes_among_others(void **state)
{
    (void)state;
    cube_map *const maps[] = {NULL, map_to_affine, map_half_to_curved, map_half_to_affine};
    for (int m = 0; m < 4; m++)
        for (int i = 0; i < 3; i++) assert_hanging(maps[m], (m + i) % 2 ? 5 : 0, i == m % 3 ? 1 : 3, elements[i]);
}

static void product_is_right_for_any_number_of_them(void **state)
{
    (void)state;
    for (int n = 1; n <= 17; n++)
        for (int k = 0; k < 4; k++) {
            block b;
            block_options options = {.elements = {n, 1, 1}, .map = k < 2 ? NULL : map_to_affine, .order = 2, .components = 1 + 2 * (k % 2)};
            block_create(&options, &b);
            block_discretise(&b, elements[n % 3]);
            product_assert_all(&b);
            block_destroy(&b);
        }
}

/* Memory of a subdomain of 64 elements. */
static int64_t memory_on(cube_map *map, int turn, fem_element element)
{
    block b;
    block_options options = {.elements = {4, 4, 4}, .map = map, .order = 2, .turn = turn, .components = 3};
    block_create(&options, &b);
    block_discretise(&b, element);
    fem_subdomain *subdomain = subdomain_make(&b, 1, &(fem_subdomain_options){0});
    int64_t bytes = subdomain->call->memory_bytes(subdomain);
    subdomain->call->destroy(subdomain);
    block_destroy(&b);
    return bytes;
}

static void elements_without_curves_need_few_factors_wherever_they_lie(void **state)
{
    (void)state;
    const int64_t row = 64 * sizeof(double);
    for (int i = 0; i < 3; i++) {
        int64_t points = elements[i] == FEM_Q1 ? 8 : 27;
        int64_t curved = memory_on(body_bend, 0, elements[i]), affine = memory_on(map_to_affine, 0, elements[i]);
        int64_t box = memory_on(NULL, 0, elements[i]);
        assert_int_equal(curved - affine, row * FEM_FACTORS * (points - 1));
        assert_int_equal(affine - box, row * (FEM_FACTORS - FEM_BOX_FACTORS));
        assert_int_equal(memory_on(map_far_away, 0, elements[i]), affine);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(product_is_right_on_affine_elements_and_boxes_among_others),
    cmocka_unit_test(product_is_right_for_any_number_of_them),
    cmocka_unit_test(elements_without_curves_need_few_factors_wherever_they_lie),
};

UNIT_MAIN(tests, body_start, body_end)
