/*
 * store_entry.h - what tests of one store write: an entry with two samples and three powers, and the store of a machine.
 */
#ifndef YOKE_TESTS_MODEL_STORE_ENTRY_H
#define YOKE_TESTS_MODEL_STORE_ENTRY_H

#include <float.h>
#include <math.h>

#include "model/store/store.h"
#include "model/store_fixture.h"

#define MACHINE "a machine of these tests"
#define WORK "q2 elasticity matrixfree"

/* How a store of this machine begins. */
#define HEAD "{\"format\": 2, \"machine\": \"" MACHINE "\", \"entries\": ["

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, stop)

/* Also where a store was kept beside. */
static inline int stop(void **state)
{
    const fixture *f = *state;
    unlink(f->other);
    return fixture_stop(state);
}

static const yoke_sample samples[] = {
    {.units = 1000, .frequency_hz = NAN, .seconds = 0.1, .seconds_interval = NAN, .joules = NAN, .joules_interval = NAN, .repeats = 1},
    {.units = 1.0 / 3,
     .frequency_hz = 2.1e9,
     .seconds = DBL_MIN / 4,
     .seconds_interval = DBL_MAX,
     .joules = -1e-300,
     .joules_interval = 0,
     .repeats = 1000,
     .rejected = 9007199254740992,
     .together = 1}};

static const yoke_store_power powers[] = {
    {1.2e9, 10.1, 0.1, 1.0 / 3, NAN, 0, 10, 0.5}, {NAN, NAN, NAN, NAN, NAN, NAN, DBL_MAX, DBL_MIN / 4}, {2.6e9, 0, 0, 0, 0, 0, NAN, NAN}};

static inline yoke_store_entry entry_for(const char *work, const char *device)
{
    return (yoke_store_entry){.work = work,
                              .device = device,
                              .description = "16 cores",
                              .kernel = "00ff",
                              .num_samples = 2,
                              .samples = samples,
                              .idle_power_w = 10.1,
                              .idle_power_interval_w = 0.1,
                              .busy_power_w = NAN,
                              .busy_power_interval_w = NAN,
                              .copy_start_s = 1e-5,
                              .copy_seconds_per_byte = 1.0 / 12e9,
                              .power_kind = YOKE_ENERGY_MEASURED,
                              .num_powers = 3,
                              .powers = powers,
                              .disturbed = 0.1};
}

static inline yoke_store *open_store(fixture *f, const char **declined)
{
    yoke_store *store = NULL;
    yoke_status status = yoke_store_open(f->context, f->path, MACHINE, &store, declined);
    if (status != YOKE_OK) fail_msg("%s", yoke_last_error(f->context));
    return store;
}

static inline void write_one(fixture *f)
{
    yoke_store *store = open_store(f, NULL);
    yoke_store_entry entry = entry_for(WORK, "openmp");
    assert_int_equal(yoke_store_put(store, &entry), YOKE_OK);
    assert_int_equal(yoke_store_write(store), YOKE_OK);
    yoke_store_close(store);
}

#endif
