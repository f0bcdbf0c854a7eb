/* A device subdomain on a simulated GPU that fails at every call in turn: reported, nothing left behind, nothing done afterwards. */
#include <math.h>
#include <unistd.h>

#include "unit.h"

#include "base/failing.h"
#include "fem/fixtures/body.h"
#include "fem/fixtures/subdomain_settings.h"

/* The machine's file, made anew for each fault; call 0: no fault. */
static void write_machine(const char *path, int call, const char *kind)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "{\"name\": \"test\", \"devices\": [{\"name\": \"gpu\", \"class\": \"gpu\", \"seconds_per_unit\": 1e-6");
    if (call) fprintf(file, ", \"fault\": {\"call\": %d, \"kind\": \"%s\"}", call, kind);
    fprintf(file, "}]}\n");
    assert_int_equal(fclose(file), 0);
}

/* Some of everything that a solve does.  Returns the first failure. */
static yoke_status use(fem_subdomain *subdomain, const double *u, double *sums, double *y)
{
    fem_subdomain_vector *x = NULL, *v = NULL;
    fem_subdomain_rows *rows = NULL;
    fem_rows identity = {(int64_t[3]){0, 1, 2}, (int32_t[2]){0, 1}, (float[2]){1, 1}};
    yoke_status status = subdomain->call->vector_create(subdomain, &x);
    if (!status) status = subdomain->call->vector_create(subdomain, &v);
    if (!status) status = subdomain->call->rows_create(subdomain, 2, &identity, &rows);
    sums[0] = (double)NAN;
    if (!status) {
        subdomain->call->diagonal(subdomain);
        subdomain_exchange_alone(subdomain, 6);
        subdomain->call->diagonal_finish(subdomain);
        subdomain->call->write(subdomain, x, u);
        subdomain->call->product_interface(subdomain, x, v);
        subdomain->call->interface_read(subdomain, v);
        subdomain->call->product_interior(subdomain, x, v);
        subdomain->call->interface_wait(subdomain);
        subdomain_exchange_alone(subdomain, 3);
        subdomain->call->interface_write(subdomain, v);
        subdomain->call->rows_add(subdomain, rows, v, x);
        const fem_subdomain_vector *left[1] = {x}, *right[1] = {v};
        subdomain->call->dots(subdomain, 1, left, right);
        subdomain->call->dots_wait(subdomain, 1, sums);
        subdomain->call->block_solve(subdomain, v, x);
        subdomain->call->read_wait(subdomain, v, y);
        subdomain->call->product_seconds_wait(subdomain);
        subdomain->call->finish(subdomain);
        status = subdomain->status;
    }
    if (rows) subdomain->call->rows_destroy(subdomain, rows);
    if (x) subdomain->call->vector_destroy(subdomain, x);
    if (v) subdomain->call->vector_destroy(subdomain, v);
    return status ? status : subdomain->status;
}

typedef struct outcome {
    yoke_status status;
    int made; /* the subdomain */
    double sum, y[4096];
} outcome;

static void run(const char *path, fem_operator operator_kind, outcome *o)
{
    failing memory = {0};
    yoke_options context_options = failing_options(&memory);
    block_options shape = {.elements = {3, 2, 2}, .order = 1, .turn = 5, .components = 3, .memory = &context_options};
    block b;
    uint64_t random = 5;
    fem_subdomain *subdomain = NULL;
    block_create(&shape, &b);
    block_discretise(&b, FEM_S2);
    int64_t outstanding = memory.outstanding;
    double *u = block_random_array(subdomain_dofs(&b), &random);
    assert_in_range(subdomain_dofs(&b), 1, sizeof o->y / sizeof *o->y);
    fem_subdomain_options options = {.operator_kind = operator_kind, .num_interface = 3, .interface_nodes = (int32_t[3]){3, 7, 30}};
    assert_int_equal(yoke_machine_read(b.context, path), YOKE_OK);
    int64_t machine = memory.outstanding;
    *o = (outcome){.sum = (double)NAN};
    o->status = yoke_device_open(b.context, "sim:gpu", &options.device);
    if (!o->status) o->status = yoke_queue_create(options.device, 0, &options.queue);
    if (!o->status) o->status = fem_subdomain_device_create(b.space, b.constraints, &options, &subdomain);
    if (subdomain) {
        o->made = 1;
        o->status = use(subdomain, u, &o->sum, o->y);
        subdomain->call->destroy(subdomain);
    }
    if (o->status) assert_true(*yoke_last_error(b.context) != 0);
    yoke_queue_destroy(options.queue);
    if (options.device) yoke_device_close(options.device);
    assert_int_equal(memory.outstanding, machine);
    assert_true(machine > outstanding);
    block_destroy(&b);
    assert_int_equal(memory.outstanding, 0);
    free(u);
}

static void fail_everywhere(const char *kind, yoke_status expected)
{
    char path[] = "/tmp/yoke-subdomain-faults-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (int operator_kind = FEM_MATRIXFREE; operator_kind <= FEM_STORED; operator_kind++) {
        static outcome right, o;
        int before_made = 0, after_made = 0;
        write_machine(path, 0, kind);
        run(path, operator_kind, &right);
        assert_int_equal(right.status, YOKE_OK);
        for (int call = 1;; call++) {
            write_machine(path, call, kind);
            run(path, operator_kind, &o);
            if (!o.status) {
                assert_memory_equal(o.y, right.y, sizeof right.y);
                assert_true(o.sum == right.sum);
                if (after_made > 20) break; /* the fault lies behind all calls */
            } else {
                assert_int_equal(o.status, expected);
                o.made ? after_made++ : before_made++;
            }
            assert_true(call < 2000);
        }
        assert_true(before_made > 50 && after_made > 20);
    }
    unlink(path);
}

static void a_device_lost_at_any_call_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    fail_everywhere("lost", YOKE_ERROR_DEVICE);
}

static void lack_of_device_memory_at_any_call_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    fail_everywhere("memory", YOKE_ERROR_DEVICE_MEMORY);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_device_lost_at_any_call_is_reported_and_leaves_nothing),
    cmocka_unit_test(lack_of_device_memory_at_any_call_is_reported_and_leaves_nothing),
};

UNIT_MAIN(tests, body_start, body_end)
