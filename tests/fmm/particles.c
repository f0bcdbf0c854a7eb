#include "particles/particles.h"

#include "unit.h"

static void arrays_have_their_size_and_no_other_number_is_taken(void **state)
{
    (void)state;
    yoke_context *context = NULL;
    fmm_particles *particles = NULL;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    assert_int_equal(fmm_particles_create(context, -1, &particles), YOKE_ERROR_ARGUMENT);
    assert_int_equal(fmm_particles_create(context, (int64_t)FMM_MAX_PARTICLES + 1, &particles), YOKE_ERROR_ARGUMENT);
    assert_null(particles);
    for (int64_t count = 0; count < 10; count += 9) {
        assert_int_equal(fmm_particles_create(context, count, &particles), YOKE_OK);
        assert_int_equal(particles->count, count);
        double *const arrays[] = {particles->x, particles->y, particles->z, particles->charge};
        for (int a = 0; a < 4; a++) {
            assert_int_equal((uintptr_t)arrays[a] % 64, 0);
            for (int64_t i = 0; i < count; i++) assert_true(arrays[a][i] == 0);
        }
        fmm_particles_destroy(particles);
        particles = NULL;
    }
    yoke_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(arrays_have_their_size_and_no_other_number_is_taken),
};

UNIT_MAIN(tests, NULL, NULL)
