#include "subdomain_device_fixture.h"

#include "driver.h"
#include "unit.h"

#include "body.h"
#include "subdomain_settings.h"

const fem_element device_elements[3] = {FEM_Q1, FEM_S2, FEM_Q2};
const char *const device_element_names[3] = {"q1", "s2", "q2"};

static const char *device_name(void)
{
    const char *name = getenv("YOKE_TEST_DEVICE");
    return name && *name ? name : "openmp";
}

int device_compiles(void) { return strncmp(device_name(), "openmp", 6) != 0 && strncmp(device_name(), "sim", 3) != 0; }

double device_tolerance(fem_precision precision) { return precision == FEM_DOUBLE ? 1e-12 : 1e-5; }

/* ------------------------------------------------------------------------------------------------------ fixture */

static yoke_status open_named(yoke_context *context, yoke_device **device)
{
    const char *machine = getenv("YOKE_TEST_MACHINE");
    yoke_status status = machine ? yoke_machine_read(context, machine) : YOKE_OK;
    if (status == YOKE_ERROR_ARGUMENT) status = YOKE_OK; /* this context has its machine */
    return status ? status : yoke_device_open(context, device_name(), device);
}

void device_open(const block *b, fem_subdomain_options *options)
{
    yoke_status status = open_named(b->context, &options->device);
    if (!status) status = yoke_queue_create(options->device, 0, &options->queue);
    if (!status) status = fem_programs_create(b->context, options->device, &options->programs);
    if (status) fail_msg("%s", yoke_last_error(b->context));
    int cpu = yoke_device_info_get(options->device)->device_class == YOKE_DEVICE_CPU;
    options->group_items = cpu && device_compiles() ? 128 : 0;
}

void device_close(fem_subdomain_options *options)
{
    fem_programs_destroy(options->programs);
    yoke_queue_destroy(options->queue);
    yoke_device_close(options->device);
    *options = (fem_subdomain_options){0};
}

fem_subdomain *device_make(const block *b, const fem_subdomain_options *options)
{
    fem_subdomain *subdomain;
    yoke_status status = fem_subdomain_device_create(b->space, b->constraints, options, &subdomain);
    if (status) fail_msg("%s", yoke_last_error(b->context));
    subdomain->call->diagonal(subdomain);
    subdomain_exchange_alone(subdomain, b->problem.components == 3 ? 6 : 1);
    subdomain->call->diagonal_finish(subdomain);
    return subdomain;
}

void device_destroy(const block *b, fem_subdomain *subdomain)
{
    subdomain->call->finish(subdomain);
    if (subdomain->status) fail_msg("%s", yoke_last_error(b->context));
    subdomain->call->destroy(subdomain);
}

void device_set_kind(fem_subdomain_options *options, int kind)
{
    options->precision = kind % 2 ? FEM_SINGLE : FEM_DOUBLE;
    options->operator_kind = kind / 2 ? FEM_STORED : FEM_MATRIXFREE;
}

void device_add_matrix(int32_t element, const double *packed, void *user)
{
    device_matrices *m = user;
    const fem_space *space = m->b->space;
    int n = space->components, size = 0;
    int32_t dof[81];
    for (int s = 0; s < space->slots; s++) {
        int32_t node = space->element_nodes[(int64_t)element * space->slots + s];
        for (int c = 0; node >= 0 && c < n; c++) dof[size++] = node * n + c;
    }
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) m->y[dof[i]] += packed[i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * m->u[dof[j]];
    m->visits[element]++;
}

/* MPI, and whether the device is there. */
int device_start(void **state)
{
    driver_leave_out(device_name());
    yoke_context *context;
    yoke_device *device;
    assert_int_equal(yoke_context_create(NULL, &context), YOKE_OK);
    yoke_status status = open_named(context, &device);
    if (status == YOKE_ERROR_UNAVAILABLE || status == YOKE_ERROR_INPUT) {
        printf("%s\n", yoke_last_error(context));
        yoke_context_destroy(context);
        exit(77);
    }
    assert_int_equal(status, YOKE_OK);
    yoke_device_close(device);
    yoke_context_destroy(context);
    return body_start(state);
}
