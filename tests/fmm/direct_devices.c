/*
 * The sums on a device against those on the cores: on openmp, or on the device named by YOKE_TEST_DEVICE of the machine file YOKE_TEST_MACHINE; left out
 * where that is not there.
 */
#include <math.h>

#include "device.h"
#include "near/direct.h"
#include "near/direct_devices.h"
#include "particles/generate.h"

static double length(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }

/* Both ways with and without gradients, and a softening; equal charges, whose terms do not cancel. */
static void a_device_sums_as_the_cores_do(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 700};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int way = 0; way < 4; way++) {
            const int gradient = way % 2;
            fmm_particles *p = NULL;
            fmm_field *there = NULL, *here = NULL;
            assert_int_equal(fmm_particles_generate(context, FMM_XENON, counts[k], FMM_EQUAL, 3, &p), YOKE_OK);
            for (int64_t i = 0; i < p->count; i++) p->x[i] *= 1e100, p->y[i] *= 1e100, p->z[i] *= 1e100; /* float would overflow */
            p->softening = way < 2 ? 0 : 3e98;
            if (p->count > 9) p->x[9] = p->x[3], p->y[9] = p->y[3], p->z[9] = p->z[3];
            assert_int_equal(fmm_field_create(context, p->count, gradient, &there), YOKE_OK);
            assert_int_equal(fmm_field_create(context, p->count, gradient, &here), YOKE_OK);
            const fmm_direct_options options = {.devices = device, .machine = machine};
            assert_int_equal(fmm_direct(p, &options, there), YOKE_OK);
            assert_int_equal(fmm_direct(p, NULL, here), YOKE_OK);
            for (int64_t i = 0; i < p->count; i++) {
                assert_true(fabs(there->potential[i] - here->potential[i]) <= 4e-15 * here->potential[i]);
                if (!gradient) continue;
                double error = length(there->gx[i] - here->gx[i], there->gy[i] - here->gy[i], there->gz[i] - here->gz[i]);
                assert_true(error <= 4e-15 * here->potential[i] * here->potential[i]); /* sum 1/r^2 <= (sum 1/r)^2 */
            }
            fmm_field_destroy(there);
            fmm_field_destroy(here);
            fmm_particles_destroy(p);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_device_sums_as_the_cores_do),
};

UNIT_MAIN(tests, device_start, context_end)
