/* cpu.c - products, interface values and node blocks of the CPU subdomain. */
#include "operator/subdomain/cpu.h"

#include <math.h>
#include <string.h>

#include "common/machine/precision.h"

#define REAL double
#include "operator/subdomain/cpu_node.h"
#undef REAL
#define REAL float
#include "operator/subdomain/cpu_node.h"
#undef REAL

/* ------------------------------------------------------------------------------------------------- products */

static void add_copies(const cpu_subdomain *cpu, const cpu_chunk *chunk, int phase, int width, void *y)
{
    int64_t begin = chunk->copies_begin[phase], count = chunk->copies_begin[phase + 1] - begin;
    BY_PRECISION(cpu, add_copies, width, chunk->copied_node + begin, chunk->copied_from + begin, count, y);
}

/* The first phase that has work begins with y = 0. */
static int first_phase(const cpu_subdomain *cpu) { return cpu->subdomain.num_interface ? CPU_INTERFACE : CPU_INTERIOR; }

static void run_product(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    int n = cpu->subdomain.space->components, phase = task->phase;
    void (*apply)(const fem_batches *, int32_t, int32_t, const void *, void *) =
        cpu->subdomain.operator_kind == FEM_STORED ? cpu->functions->apply_stored : cpu->functions->apply;
#pragma omp parallel num_threads(cpu->num_chunks)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            const cpu_chunk *chunk = &cpu->chunks[t];
            if (phase == first_phase(cpu)) cpu_subdomain_clear_chunk(cpu, chunk, n, task->c);
            for (int i = 0; i < CPU_CLASSES; i++) {
                const fem_batches *b = &chunk->set[CPU_SET(phase, i)].b;
                apply(b, 0, b->batches, task->a, task->c);
            }
        }
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) add_copies(cpu, &cpu->chunks[t], phase, n, task->c);
    }
}

static void product(cpu_subdomain *cpu, int phase, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    cpu_task task = {
        .phase = phase, .kernel = phase == CPU_INTERFACE ? FEM_KERNEL_INTERFACE : FEM_KERNEL_PRODUCT, .a = x->data, .c = y->data};
    if (phase == first_phase(cpu) || cpu->phase_elements[phase] || cpu->phase_copies[phase])
        cpu_subdomain_start_measured(cpu, run_product, &task, cpu->phase_elements[phase]);
}

static void product_interface(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    product((cpu_subdomain *)subdomain, CPU_INTERFACE, x, y);
}

static void product_interior(fem_subdomain *subdomain, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    product((cpu_subdomain *)subdomain, CPU_INTERIOR, x, y);
}

static void mask_chunk(const cpu_subdomain *cpu, const cpu_chunk *chunk, void *y)
{
    for (int64_t i = chunk->masked_begin; i < chunk->masked_end; i++) {
        if (cpu->subdomain.precision == FEM_DOUBLE)
            ((double *)y)[cpu->masked[i]] = 0;
        else
            ((float *)y)[cpu->masked[i]] = 0;
    }
}

/* If only few values are touched, waking other threads takes longer than they save. */
static int threads_for(const cpu_subdomain *cpu, int64_t values) { return values < 4096 ? 1 : cpu->num_chunks; }

static void run_mask(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
#pragma omp parallel for num_threads(threads_for(cpu, cpu->num_masked)) schedule(static, 1)
    for (int t = 0; t < cpu->num_chunks; t++) mask_chunk(cpu, &cpu->chunks[t], task->c);
}

static void mask(fem_subdomain *subdomain, fem_subdomain_vector *x)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    if (cpu->num_masked) cpu_subdomain_start(cpu, run_mask, &(cpu_task){.c = x->data});
}

/* ------------------------------------------------------------------------------------------- interface values */

static void pack(const cpu_subdomain *cpu, int width, const void *y)
{
    const fem_subdomain *subdomain = &cpu->subdomain;
#pragma omp parallel for num_threads(threads_for(cpu, subdomain->num_interface)) schedule(static, 1)
    for (int t = 0; t < cpu->num_chunks; t++)
        BY_PRECISION(cpu, pack, width, subdomain->interface_nodes, y, subdomain->interface_own, cpu->chunks[t].interface_begin,
                     cpu->chunks[t].interface_end);
}

static void unpack(const cpu_subdomain *cpu, int width, void *y)
{
    const fem_subdomain *subdomain = &cpu->subdomain;
#pragma omp parallel for num_threads(threads_for(cpu, subdomain->num_interface)) schedule(static, 1)
    for (int t = 0; t < cpu->num_chunks; t++)
        BY_PRECISION(cpu, unpack, width, subdomain->interface_nodes, subdomain->interface_total, y, cpu->chunks[t].interface_begin,
                     cpu->chunks[t].interface_end);
}

static void run_pack(void *user)
{
    const cpu_task *task = user;
    pack(task->cpu, task->cpu->subdomain.space->components, task->a);
}

static void run_unpack(void *user)
{
    const cpu_task *task = user;
    unpack(task->cpu, task->cpu->subdomain.space->components, task->c);
}

static void interface_read(fem_subdomain *subdomain, const fem_subdomain_vector *y)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    if (!subdomain->num_interface) return;
    cpu_subdomain_start_measured(cpu, run_pack, &(cpu_task){.kernel = FEM_KERNEL_INTERFACE, .a = y->data}, 0);
    cpu_subdomain_record(cpu, cpu->interface_done);
}

static void interface_wait(fem_subdomain *subdomain)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    if (subdomain->num_interface) cpu_subdomain_wait(cpu, cpu->interface_done);
}

static void interface_write(fem_subdomain *subdomain, fem_subdomain_vector *y)
{
    if (subdomain->num_interface)
        cpu_subdomain_start_measured((cpu_subdomain *)subdomain, run_unpack, &(cpu_task){.kernel = FEM_KERNEL_HALO, .c = y->data}, 0);
}

/* --------------------------------------------------------------------------------------------------- node blocks */

void cpu_subdomain_add_diagonal(cpu_subdomain *cpu, void *blocks)
{
    int size = cpu_subdomain_block_size(cpu);
#pragma omp parallel num_threads(cpu->num_chunks)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            const cpu_chunk *chunk = &cpu->chunks[t];
            cpu_subdomain_clear_chunk(cpu, chunk, size, blocks);
            for (int i = 0; i < CPU_SETS; i++) cpu->functions->diagonal(&chunk->set[i].b, 0, chunk->set[i].b.batches, blocks);
        }
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++)
            for (int phase = 0; phase < CPU_PHASES; phase++) add_copies(cpu, &cpu->chunks[t], phase, size, blocks);
    }
}

static void run_diagonal(void *user)
{
    const cpu_task *task = user;
    pack(task->cpu, cpu_subdomain_block_size(task->cpu), task->cpu->blocks);
}

static void diagonal(fem_subdomain *subdomain)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    cpu_subdomain_start(cpu, run_diagonal, &(cpu_task){0});
    cpu_subdomain_finish(cpu);
}

static void run_diagonal_finish(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    unpack(cpu, cpu_subdomain_block_size(cpu), cpu->blocks);
    FOR_CHUNKS (t) { /* a group that lies in two chunks belongs to the chunk with its first node */
        const int64_t group = FEM_NODE_GROUP;
        const cpu_chunk *chunk = &cpu->chunks[t];
        BY_PRECISION(cpu, invert_groups, cpu->subdomain.space->components, cpu->subdomain.constraints->prescribed, cpu->blocks,
                     (chunk->node_begin + group - 1) / group, (chunk->node_end + group - 1) / group, cpu->num_nodes);
    }
}

static void diagonal_finish(fem_subdomain *subdomain)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_diagonal_finish, &(cpu_task){0});
}

static void run_block_solve(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t)
        cpu->smoother->block_solve(cpu->subdomain.space->components, cpu->blocks, task->a, task->c, cpu->chunks[t].node_begin,
                                   cpu->chunks[t].node_end);
}

static void block_solve(fem_subdomain *subdomain, const fem_subdomain_vector *r, fem_subdomain_vector *z)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_block_solve,
                        &(cpu_task){.kernel = FEM_KERNEL_SMOOTHER, .a = r->data, .c = z->data});
}

static void run_chebyshev_step(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t)
        cpu->smoother->chebyshev_step(cpu->subdomain.space->components, cpu->blocks, task->alpha, task->beta, task->a, task->b, task->c,
                                      task->d, cpu->chunks[t].node_begin, cpu->chunks[t].node_end);
}

static void chebyshev_step(fem_subdomain *subdomain, double a, double c, const fem_subdomain_vector *b, const fem_subdomain_vector *t,
                           fem_subdomain_vector *d, fem_subdomain_vector *x)
{
    cpu_task task = {
        .kernel = FEM_KERNEL_SMOOTHER, .alpha = a, .beta = c, .a = b->data, .b = t ? t->data : NULL, .c = d->data, .d = x->data};
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_chebyshev_step, &task);
}

/* ------------------------------------------------------------------------------------------- element matrices */

static void visit_batch(const cpu_subdomain *cpu, const cpu_batches *set, int32_t batch, const void *matrix, double *packed,
                        fem_matrix_visitor *visit, void *user)
{
    int m = cpu->used * cpu->subdomain.space->components, size = m * (m + 1) / 2, width = set->b.width;
    for (int lane = 0; lane < width && batch * width + lane < set->b.elements; lane++) {
        for (int i = 0; i < size; i++) {
            int64_t at = (int64_t)i * width + lane;
            packed[i] = cpu->subdomain.precision == FEM_DOUBLE ? ((const double *)matrix)[at] : (double)((const float *)matrix)[at];
        }
        visit(set->element[batch * width + lane], packed, user);
    }
}

static yoke_status visit_matrices(fem_subdomain *subdomain, fem_matrix_visitor *visit, void *user)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    int m = cpu->used * subdomain->space->components;
    int64_t size = (int64_t)m * (m + 1) / 2;
    void *matrix;
    double *packed;
    cpu_subdomain_finish(cpu);
    yoke_status status = yoke_allocate(subdomain->context, size * cpu->functions->width, cpu_subdomain_real_size(cpu), &matrix);
    if (status) return status;
    status = yoke_allocate(subdomain->context, size, sizeof(double), &packed);
    for (int t = 0; !status && t < cpu->num_chunks; t++) {
        for (int i = 0; i < CPU_SETS; i++) {
            const cpu_batches *set = &cpu->chunks[t].set[i];
            for (int32_t batch = 0; batch < set->b.batches; batch++) {
                const char *stored = set->stored;
                if (stored)
                    memcpy(matrix, stored + (size_t)(batch * size * cpu->functions->width) * cpu_subdomain_real_size(cpu),
                           (size_t)(size * cpu->functions->width) * cpu_subdomain_real_size(cpu));
                else
                    cpu->functions->matrix(&set->b, batch, matrix);
                visit_batch(cpu, set, batch, matrix, packed, visit, user);
            }
        }
    }
    yoke_release(subdomain->context, matrix);
    if (!status) yoke_release(subdomain->context, packed);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- the subdomain */

static int64_t memory_bytes(const fem_subdomain *subdomain) { return ((const cpu_subdomain *)subdomain)->bytes; }

static double product_seconds_wait(fem_subdomain *subdomain) { return cpu_subdomain_measured_wait((cpu_subdomain *)subdomain); }

static void finish(fem_subdomain *subdomain) { cpu_subdomain_finish((cpu_subdomain *)subdomain); }

static void destroy(fem_subdomain *subdomain)
{
    if (!subdomain) return;
    cpu_subdomain_finish((cpu_subdomain *)subdomain);
    cpu_subdomain_release((cpu_subdomain *)subdomain);
}

static const fem_subdomain_functions functions = {
    .kind = "openmp",
    .destroy = destroy,
    .vector_create = cpu_vector_create,
    .vector_destroy = cpu_vector_destroy,
    .write = cpu_vector_write,
    .read_wait = cpu_vector_read_wait,
    .zero = cpu_vector_zero,
    .copy_scaled = cpu_vector_copy_scaled,
    .axpy = cpu_vector_axpy,
    .xpby = cpu_vector_xpby,
    .subtract = cpu_vector_subtract,
    .advance = cpu_vector_advance,
    .dots = cpu_vector_dots,
    .dots_wait = cpu_vector_dots_wait,
    .product_interface = product_interface,
    .product_interior = product_interior,
    .mask = mask,
    .interface_read = interface_read,
    .interface_wait = interface_wait,
    .interface_write = interface_write,
    .diagonal = diagonal,
    .diagonal_finish = diagonal_finish,
    .block_solve = block_solve,
    .chebyshev_step = chebyshev_step,
    .rows_create = cpu_rows_create,
    .rows_destroy = cpu_rows_destroy,
    .rows_add = cpu_rows_add,
    .rows_set = cpu_rows_set,
    .visit_matrices = visit_matrices,
    .memory_bytes = memory_bytes,
    .product_seconds_wait = product_seconds_wait,
    .finish = finish,
};

/* The set-up, which runs on the threads that will use its data. */
typedef struct setup_task {
    cpu_subdomain *cpu;
    yoke_status status;
} setup_task;

static void run_setup(void *user)
{
    setup_task *task = user;
    task->status = cpu_subdomain_setup(task->cpu);
}

static yoke_status setup(cpu_subdomain *cpu)
{
    setup_task task = {cpu, YOKE_OK};
    yoke_status status = cpu_subdomain_queue_create(cpu);
    if (status) return status;
    if (cpu->queue) {
        status = yoke_queue_call(cpu->queue, run_setup, &task, 0);
        if (!status) status = yoke_queue_finish(cpu->queue);
        if (status) return status;
    } else {
        run_setup(&task);
    }
    return task.status;
}

yoke_status fem_subdomain_cpu_create(const fem_space *space, const fem_constraints *constraints, const fem_subdomain_options *options,
                                     fem_subdomain **out)
{
    cpu_subdomain *cpu;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *cpu, &cpu);
    if (status) return status;
    cpu->subdomain = (fem_subdomain){.call = &functions,
                                     .context = space->context,
                                     .device = options->device,
                                     .space = space,
                                     .constraints = constraints,
                                     .precision = options->precision,
                                     .operator_kind = options->operator_kind,
                                     .dofs = (int64_t)space->num_nodes * space->components,
                                     .num_interface = options->num_interface,
                                     .interface_nodes = options->interface_nodes,
                                     .owned = options->owned,
                                     .setup_moved_s = (double)NAN};
    cpu->queue = options->queue;
    cpu->unmeasured = options->unmeasured;
    cpu->profile = options->profile;
    cpu->kernels = options->kernels ? options->kernels : fem_kernels_select();
    cpu->smoother = &cpu->kernels->smoother[options->precision];
    status = setup(cpu);
    if (status) {
        cpu_subdomain_release(cpu);
        return status;
    }
    *out = &cpu->subdomain;
    return YOKE_OK;
}
