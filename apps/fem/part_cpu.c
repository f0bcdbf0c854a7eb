/* part_cpu.c - products and vector operations of the CPU part. */
#include "part_cpu.h"

#include <math.h>
#include <string.h>

#define PASTE_2(a, b) a##_##b
#define PASTE(a, b) PASTE_2(a, b)
#define NAME(name) PASTE(name, REAL)
#define REAL double
#include "part_vector.h"
#undef REAL
#define REAL float
#include "part_vector.h"
#undef REAL

/* Calls one of the two instances of a vector operation by the part's precision. */
#define BY_PRECISION(cpu, operation, ...) \
    ((cpu)->part.precision == FEM_DOUBLE ? operation##_double(__VA_ARGS__) : operation##_float(__VA_ARGS__))

/* Each chunk t of the part `cpu`, which must be in scope, on its own thread. */
#define FOR_CHUNKS(t) _Pragma("omp parallel for num_threads(cpu->num_chunks) schedule(static, 1)") for (int t = 0; t < cpu->num_chunks; t++)

static cpu_part *of(const fem_vector *v) { return (cpu_part *)v->part; }

static int64_t first_dof(const cpu_part *cpu, int t) { return (int64_t)cpu->chunks[t].node_begin * cpu->part.space->components; }
static int64_t last_dof(const cpu_part *cpu, int t) { return (int64_t)cpu->chunks[t].node_end * cpu->part.space->components; }
static size_t real_size(const cpu_part *cpu) { return cpu->part.precision == FEM_DOUBLE ? sizeof(double) : sizeof(float); }

/* ------------------------------------------------------------------------------------------------- products */

static void clear_chunk(const cpu_part *cpu, const cpu_chunk *chunk, int components, void *y)
{
    size_t node = real_size(cpu) * (size_t)components;
    memset((char *)y + (size_t)chunk->node_begin * node, 0, (size_t)(chunk->node_end - chunk->node_begin) * node);
    memset((char *)y + (size_t)chunk->tail_begin * node, 0, (size_t)(chunk->tail_end - chunk->tail_begin) * node);
}

static void add_copies(const cpu_part *cpu, const cpu_chunk *chunk, int components, void *y)
{
    BY_PRECISION(cpu, add_copies, components, chunk->copied_node, chunk->copied_from, chunk->copies, y);
}

static void mask_chunk(const cpu_part *cpu, const cpu_chunk *chunk, void *y)
{
    for (int64_t i = chunk->masked_begin; i < chunk->masked_end; i++) {
        if (cpu->part.precision == FEM_DOUBLE)
            ((double *)y)[cpu->masked[i]] = 0;
        else
            ((float *)y)[cpu->masked[i]] = 0;
    }
}

static void product(fem_part *part, int masked, const fem_vector *x, fem_vector *y)
{
    cpu_part *cpu = (cpu_part *)part;
    int n = part->space->components;
    double start = yoke_clock_s();
    void (*apply)(const fem_batches *, int32_t, int32_t, const void *, void *) =
        part->operator_kind == FEM_STORED ? cpu->functions->apply_stored : cpu->functions->apply;
#pragma omp parallel num_threads(cpu->num_chunks)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            const cpu_chunk *chunk = &cpu->chunks[t];
            clear_chunk(cpu, chunk, n, y->data);
            apply(&chunk->border.b, 0, chunk->border.b.batches, x->data, y->data);
            apply(&chunk->interior.b, 0, chunk->interior.b.batches, x->data, y->data);
        }
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            add_copies(cpu, &cpu->chunks[t], n, y->data);
            if (masked) mask_chunk(cpu, &cpu->chunks[t], y->data);
        }
    }
    part->products++;
    cpu->product_seconds += yoke_clock_s() - start;
}

void cpu_part_diagonal(cpu_part *cpu, void *blocks)
{
    int n = cpu->part.space->components, size = n == 3 ? 6 : 1;
#pragma omp parallel num_threads(cpu->num_chunks)
    {
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            const cpu_chunk *chunk = &cpu->chunks[t];
            clear_chunk(cpu, chunk, size, blocks);
            cpu->functions->diagonal(&chunk->border.b, 0, chunk->border.b.batches, blocks);
            cpu->functions->diagonal(&chunk->interior.b, 0, chunk->interior.b.batches, blocks);
        }
#pragma omp for schedule(static, 1)
        for (int t = 0; t < cpu->num_chunks; t++) {
            add_copies(cpu, &cpu->chunks[t], size, blocks);
            BY_PRECISION(cpu, invert_blocks, n, cpu->constraints->prescribed, blocks, cpu->chunks[t].node_begin, cpu->chunks[t].node_end);
        }
    }
}

/* ------------------------------------------------------------------------------------- between levels, matrices */

static void prolongate_add(const fem_interpolation *p, const fem_vector *coarse, fem_vector *fine)
{
    cpu_part *cpu = of(fine);
    FOR_CHUNKS (t)
        BY_PRECISION(cpu, prolongate_add, cpu->part.space->components, &p->to_fine, coarse->data, fine->data, cpu->chunks[t].node_begin,
                     cpu->chunks[t].node_end);
}

static void restrict_to(const fem_interpolation *p, const fem_vector *fine, fem_vector *coarse)
{
    cpu_part *cpu = of(coarse);
    FOR_CHUNKS (t) {
        const cpu_chunk *chunk = &cpu->chunks[t];
        BY_PRECISION(cpu, restrict_to, cpu->part.space->components, &p->to_coarse, fine->data, coarse->data, chunk->node_begin,
                     chunk->node_end);
        mask_chunk(cpu, chunk, coarse->data);
    }
}

static void visit_batch(const cpu_part *cpu, const cpu_batches *set, int32_t batch, const void *matrix, double *packed,
                        fem_matrix_visitor *visit, void *user)
{
    int m = cpu->used * cpu->part.space->components, size = m * (m + 1) / 2, width = set->b.width;
    for (int lane = 0; lane < width && batch * width + lane < set->b.elements; lane++) {
        for (int i = 0; i < size; i++) {
            int64_t at = (int64_t)i * width + lane;
            packed[i] = cpu->part.precision == FEM_DOUBLE ? ((const double *)matrix)[at] : (double)((const float *)matrix)[at];
        }
        visit(set->element[batch * width + lane], packed, user);
    }
}

static yoke_status visit_matrices(fem_part *part, fem_matrix_visitor *visit, void *user)
{
    cpu_part *cpu = (cpu_part *)part;
    int m = cpu->used * part->space->components;
    int64_t size = (int64_t)m * (m + 1) / 2;
    void *matrix;
    double *packed;
    yoke_status status = yoke_allocate(part->context, size * cpu->functions->width, real_size(cpu), &matrix);
    if (status) return status;
    status = yoke_allocate(part->context, size, sizeof(double), (void **)&packed);
    for (int t = 0; !status && t < cpu->num_chunks; t++) {
        const cpu_batches *sets[2] = {&cpu->chunks[t].border, &cpu->chunks[t].interior};
        for (int i = 0; i < 2; i++) {
            for (int32_t batch = 0; batch < sets[i]->b.batches; batch++) {
                const char *stored = sets[i]->stored;
                if (stored)
                    memcpy(matrix, stored + (size_t)(batch * size * cpu->functions->width) * real_size(cpu),
                           (size_t)(size * cpu->functions->width) * real_size(cpu));
                else
                    cpu->functions->matrix(&sets[i]->b, batch, matrix);
                visit_batch(cpu, sets[i], batch, matrix, packed, visit, user);
            }
        }
    }
    yoke_release(part->context, matrix);
    if (!status) yoke_release(part->context, packed);
    return status;
}

/* -------------------------------------------------------------------------------------------------- vectors */

static yoke_status vector_create(fem_part *part, fem_vector **out)
{
    cpu_part *cpu = (cpu_part *)part;
    fem_vector *v;
    yoke_status status = yoke_allocate(part->context, 1, sizeof *v, (void **)&v);
    if (status) return status;
    int n = part->space->components;
    status = yoke_allocate_untouched(part->context, ((int64_t)cpu->num_nodes + cpu->tail_nodes) * n, real_size(cpu), &v->data);
    if (status) {
        yoke_release(part->context, v);
        return status;
    }
    v->part = part;
    FOR_CHUNKS (t) clear_chunk(cpu, &cpu->chunks[t], n, v->data);
    *out = v;
    return YOKE_OK;
}

static void vector_destroy(fem_vector *v)
{
    if (!v) return;
    yoke_context *context = v->part->context;
    yoke_release(context, v->data);
    yoke_release(context, v);
}

static void write_vector(fem_vector *to, const double *from)
{
    cpu_part *cpu = of(to);
    FOR_CHUNKS (t) BY_PRECISION(cpu, write, to->data, from, first_dof(cpu, t), last_dof(cpu, t));
}

static void read_vector(const fem_vector *from, double *to)
{
    cpu_part *cpu = of(from);
    FOR_CHUNKS (t) BY_PRECISION(cpu, read, from->data, to, first_dof(cpu, t), last_dof(cpu, t));
}

static void zero(fem_vector *x)
{
    cpu_part *cpu = of(x);
    FOR_CHUNKS (t) clear_chunk(cpu, &cpu->chunks[t], cpu->part.space->components, x->data);
}

static void copy_scaled(double alpha, const fem_vector *from, fem_vector *to)
{
    cpu_part *cpu = of(to);
    FOR_CHUNKS (t) {
        int64_t begin = first_dof(cpu, t), end = last_dof(cpu, t);
        if (from->part->precision == FEM_DOUBLE)
            BY_PRECISION(cpu, scale_from_double, alpha, from->data, to->data, begin, end);
        else
            BY_PRECISION(cpu, scale_from_float, alpha, from->data, to->data, begin, end);
    }
}

static void axpy(double alpha, const fem_vector *x, fem_vector *y)
{
    cpu_part *cpu = of(y);
    FOR_CHUNKS (t) BY_PRECISION(cpu, axpy, alpha, x->data, y->data, first_dof(cpu, t), last_dof(cpu, t));
}

static void xpby(const fem_vector *x, double beta, fem_vector *y)
{
    cpu_part *cpu = of(y);
    FOR_CHUNKS (t) BY_PRECISION(cpu, xpby, x->data, beta, y->data, first_dof(cpu, t), last_dof(cpu, t));
}

static void subtract(const fem_vector *x, const fem_vector *y, fem_vector *z)
{
    cpu_part *cpu = of(z);
    FOR_CHUNKS (t) BY_PRECISION(cpu, subtract, x->data, y->data, z->data, first_dof(cpu, t), last_dof(cpu, t));
}

/* Sums of chunks are added in their order, so that the result does not depend on which thread ends first. */
static double sum_chunks(const double *sum, int count)
{
    double total = 0;
    for (int t = 0; t < count; t++) total += sum[t];
    return total;
}

static double dot(const fem_vector *x, const fem_vector *y)
{
    cpu_part *cpu = of(x);
    double sum[CPU_PART_MOST_CHUNKS];
    FOR_CHUNKS (t) sum[t] = BY_PRECISION(cpu, dot, x->data, y->data, first_dof(cpu, t), last_dof(cpu, t));
    return sum_chunks(sum, cpu->num_chunks);
}

static double advance(double alpha, const fem_vector *p, const fem_vector *q, fem_vector *x, fem_vector *r)
{
    cpu_part *cpu = of(x);
    double sum[CPU_PART_MOST_CHUNKS];
    FOR_CHUNKS (t) sum[t] = BY_PRECISION(cpu, advance, alpha, p->data, q->data, x->data, r->data, first_dof(cpu, t), last_dof(cpu, t));
    return sum_chunks(sum, cpu->num_chunks);
}

static void mask(fem_vector *x)
{
    cpu_part *cpu = of(x);
    FOR_CHUNKS (t) mask_chunk(cpu, &cpu->chunks[t], x->data);
}

static void block_solve(fem_part *part, const fem_vector *r, fem_vector *z)
{
    cpu_part *cpu = (cpu_part *)part;
    FOR_CHUNKS (t)
        BY_PRECISION(cpu, block_solve, part->space->components, cpu->blocks, r->data, z->data, cpu->chunks[t].node_begin,
                     cpu->chunks[t].node_end);
}

static void chebyshev_step(fem_part *part, double a, double c, const fem_vector *b, const fem_vector *ax, fem_vector *d, fem_vector *x)
{
    cpu_part *cpu = (cpu_part *)part;
    const void *ax_data = ax ? ax->data : NULL;
    FOR_CHUNKS (t)
        BY_PRECISION(cpu, chebyshev_step, part->space->components, cpu->blocks, a, c, b->data, ax_data, d->data, x->data,
                     cpu->chunks[t].node_begin, cpu->chunks[t].node_end);
}

static int64_t memory_bytes(const fem_part *part) { return ((const cpu_part *)part)->bytes; }

static double seconds_per_product(const fem_part *part)
{
    return part->products ? ((const cpu_part *)part)->product_seconds / (double)part->products : (double)NAN;
}

static void destroy(fem_part *part)
{
    if (part) cpu_part_release((cpu_part *)part);
}

static const fem_part_functions functions = {
    .kind = "openmp",
    .destroy = destroy,
    .vector_create = vector_create,
    .vector_destroy = vector_destroy,
    .write = write_vector,
    .read = read_vector,
    .zero = zero,
    .copy_scaled = copy_scaled,
    .axpy = axpy,
    .xpby = xpby,
    .subtract = subtract,
    .dot = dot,
    .advance = advance,
    .product = product,
    .mask = mask,
    .block_solve = block_solve,
    .chebyshev_step = chebyshev_step,
    .prolongate_add = prolongate_add,
    .restrict_to = restrict_to,
    .visit_matrices = visit_matrices,
    .memory_bytes = memory_bytes,
    .seconds_per_product = seconds_per_product,
};

yoke_status fem_part_cpu_create(const fem_space *space, const fem_constraints *constraints, const fem_part_options *options, fem_part **out)
{
    cpu_part *cpu;
    yoke_status status = yoke_allocate(space->context, 1, sizeof *cpu, (void **)&cpu);
    if (status) return status;
    cpu->part = (fem_part){.call = &functions,
                           .context = space->context,
                           .space = space,
                           .precision = options->precision,
                           .operator_kind = options->operator_kind,
                           .dofs = (int64_t)space->num_nodes * space->components};
    cpu->constraints = constraints;
    cpu->kernels = options->kernels ? options->kernels : fem_kernels_select();
    status = cpu_part_setup(cpu, options->threads);
    if (status) {
        cpu_part_release(cpu);
        return status;
    }
    *out = &cpu->part;
    return YOKE_OK;
}
