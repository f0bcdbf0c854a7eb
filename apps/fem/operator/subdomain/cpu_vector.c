/* cpu_vector.c - vectors of the CPU subdomain, sums over them, and sparse rows between them. */
#include "operator/subdomain/cpu.h"

#include <math.h>
#include <string.h>

#include "common/machine/precision.h"

#define REAL double
#include "operator/subdomain/cpu_vector.h"
#undef REAL
#define REAL float
#include "operator/subdomain/cpu_vector.h"
#undef REAL

static int64_t first_dof(const cpu_subdomain *cpu, int t) { return (int64_t)cpu->chunks[t].node_begin * cpu->subdomain.space->components; }
static int64_t last_dof(const cpu_subdomain *cpu, int t) { return (int64_t)cpu->chunks[t].node_end * cpu->subdomain.space->components; }

void cpu_subdomain_clear_chunk(const cpu_subdomain *cpu, const cpu_chunk *chunk, int width, void *y)
{
    size_t node = cpu_subdomain_real_size(cpu) * (size_t)width;
    memset((char *)y + (size_t)chunk->node_begin * node, 0, (size_t)(chunk->node_end - chunk->node_begin) * node);
    memset((char *)y + (size_t)chunk->tail_begin * node, 0, (size_t)(chunk->tail_end - chunk->tail_begin) * node);
}

/* ----------------------------------------------------------------------------------------- to and from the host */

static void run_zero(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) cpu_subdomain_clear_chunk(cpu, &cpu->chunks[t], cpu->subdomain.space->components, task->c);
}

void cpu_vector_zero(fem_subdomain *subdomain, fem_subdomain_vector *x)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_zero, &(cpu_task){.c = x->data});
}

yoke_status cpu_vector_create(fem_subdomain *subdomain, fem_subdomain_vector **out)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    fem_subdomain_vector *v;
    yoke_status status = yoke_allocate(subdomain->context, 1, sizeof *v, &v);
    if (status) return status;
    int64_t values = ((int64_t)cpu->num_nodes + cpu->tail_nodes) * subdomain->space->components + FEM_VALUES_BEHIND;
    status = yoke_allocate_untouched(subdomain->context, values, cpu_subdomain_real_size(cpu), &v->data);
    if (!status) {
        cpu_vector_zero(subdomain, v);
        status = subdomain->status;
    }
    if (status) {
        cpu_vector_destroy(subdomain, v);
        return status;
    }
    *out = v;
    return YOKE_OK;
}

void cpu_vector_destroy(fem_subdomain *subdomain, fem_subdomain_vector *vector)
{
    if (!vector) return;
    cpu_subdomain_finish((cpu_subdomain *)subdomain); /* running tasks may use it */
    yoke_release(subdomain->context, vector->data);
    yoke_release(subdomain->context, vector);
}

static void run_write(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) BY_PRECISION(cpu, write, task->c, task->a, first_dof(cpu, t), last_dof(cpu, t));
}

void cpu_vector_write(fem_subdomain *subdomain, fem_subdomain_vector *to, const double *from)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_write, &(cpu_task){.a = from, .c = to->data});
    cpu_subdomain_finish((cpu_subdomain *)subdomain);
}

static void run_read(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) BY_PRECISION(cpu, read, task->a, task->c, first_dof(cpu, t), last_dof(cpu, t));
}

void cpu_vector_read_wait(fem_subdomain *subdomain, const fem_subdomain_vector *from, double *to)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_read, &(cpu_task){.a = from->data, .c = to});
    cpu_subdomain_finish((cpu_subdomain *)subdomain);
}

/* --------------------------------------------------------------------------------------------- linear operations */

static void run_copy_scaled(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) {
        int64_t begin = first_dof(cpu, t), end = last_dof(cpu, t);
        if (task->precision == FEM_DOUBLE)
            BY_PRECISION(cpu, scale_from_double, task->alpha, task->a, task->c, begin, end);
        else
            BY_PRECISION(cpu, scale_from_float, task->alpha, task->a, task->c, begin, end);
    }
}

void cpu_vector_copy_scaled(fem_subdomain *subdomain, double alpha, const fem_subdomain *from_subdomain, const fem_subdomain_vector *from,
                            fem_subdomain_vector *to)
{
    cpu_task task = {.alpha = alpha, .a = from->data, .c = to->data, .precision = from_subdomain->precision};
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_copy_scaled, &task);
}

static void run_axpy(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) BY_PRECISION(cpu, axpy, task->alpha, task->a, task->c, first_dof(cpu, t), last_dof(cpu, t));
}

void cpu_vector_axpy(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *x, fem_subdomain_vector *y)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_axpy, &(cpu_task){.alpha = alpha, .a = x->data, .c = y->data});
}

static void run_xpby(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) BY_PRECISION(cpu, xpby, task->a, task->beta, task->c, first_dof(cpu, t), last_dof(cpu, t));
}

void cpu_vector_xpby(fem_subdomain *subdomain, const fem_subdomain_vector *x, double beta, fem_subdomain_vector *y)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_xpby, &(cpu_task){.beta = beta, .a = x->data, .c = y->data});
}

static void run_subtract(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) BY_PRECISION(cpu, subtract, task->a, task->b, task->c, first_dof(cpu, t), last_dof(cpu, t));
}

void cpu_vector_subtract(fem_subdomain *subdomain, const fem_subdomain_vector *x, const fem_subdomain_vector *y, fem_subdomain_vector *z)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_subtract, &(cpu_task){.a = x->data, .b = y->data, .c = z->data});
}

static void run_advance(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) BY_PRECISION(cpu, advance, task->alpha, task->a, task->b, task->c, task->d, first_dof(cpu, t), last_dof(cpu, t));
}

void cpu_vector_advance(fem_subdomain *subdomain, double alpha, const fem_subdomain_vector *p, const fem_subdomain_vector *q,
                        fem_subdomain_vector *x, fem_subdomain_vector *r)
{
    cpu_task task = {.alpha = alpha, .a = p->data, .b = q->data, .c = x->data, .d = r->data};
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_advance, &task);
}

/* ---------------------------------------------------------------------------------------------------------- sums */

/*
 * Computes the pairs' sums over one chunk's owned dofs, one interval at a time.  A vector that occurs in several pairs is thus loaded from
 * memory only once.
 */
static void sum_chunk(const cpu_task *task, const cpu_chunk *chunk, double *sum)
{
    enum { STRETCH = 2048 };
    const cpu_subdomain *cpu = task->cpu;
    for (int i = 0; i < task->count; i++) sum[i] = 0;
    for (int64_t k = chunk->runs_begin; k < chunk->runs_end; k++) {
        const cpu_run *run = &cpu->runs[k];
        for (int64_t begin = run->begin; begin < run->end; begin += STRETCH) {
            int64_t end = begin + STRETCH < run->end ? begin + STRETCH : run->end;
            for (int i = 0; i < task->count; i++) sum[i] += BY_PRECISION(cpu, dot, task->pair[0][i], task->pair[1][i], begin, end);
        }
    }
}

static void run_dots(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t) sum_chunk(task, &cpu->chunks[t], cpu->sums[t].of_pair);
}

void cpu_vector_dots(fem_subdomain *subdomain, int count, const fem_subdomain_vector *const *x, const fem_subdomain_vector *const *y)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    cpu_task task = {.count = count};
    for (int i = 0; i < count; i++) {
        task.pair[0][i] = x[i]->data;
        task.pair[1][i] = y[i]->data;
    }
    cpu_subdomain_start(cpu, run_dots, &task);
    cpu_subdomain_record(cpu, cpu->dots_done);
}

/* Adds the sums of the chunks in their order, so that the result does not depend on which thread finishes first. */
void cpu_vector_dots_wait(fem_subdomain *subdomain, int count, double *sums)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    cpu_subdomain_wait(cpu, cpu->dots_done);
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int t = 0; t < cpu->num_chunks; t++) sum += subdomain->status ? (double)NAN : cpu->sums[t].of_pair[i];
        sums[i] = sum;
    }
}

/* ---------------------------------------------------------------------------------------------------------- rows */

static void run_rows_copy(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    const fem_rows *from = task->a, *to = &task->rows->rows;
    FOR_CHUNKS (t) { /* each thread copies the data that it will read */
        int32_t begin = cpu->chunks[t].node_begin, end = cpu->chunks[t].node_end;
        int64_t first = from->start[begin], count = from->start[end] - first;
        memcpy(to->start + begin, from->start + begin, sizeof *to->start * (size_t)(end - begin));
        memcpy(to->node + first, from->node + first, sizeof *to->node * (size_t)count);
        memcpy(to->weight + first, from->weight + first, sizeof *to->weight * (size_t)count);
    }
    to->start[cpu->num_nodes] = from->start[cpu->num_nodes];
}

yoke_status cpu_rows_create(fem_subdomain *subdomain, int32_t num_rows, const fem_rows *rows, fem_subdomain_rows **out)
{
    cpu_subdomain *cpu = (cpu_subdomain *)subdomain;
    fem_subdomain_rows *r;
    int64_t entries = rows->start[num_rows];
    yoke_status status = yoke_allocate(subdomain->context, 1, sizeof *r, &r);
    if (status) return status;
    status = yoke_allocate_untouched(subdomain->context, (int64_t)num_rows + 1, sizeof *r->rows.start, &r->rows.start);
    if (!status) status = yoke_allocate_untouched(subdomain->context, entries, sizeof *r->rows.node, &r->rows.node);
    if (!status) status = yoke_allocate_untouched(subdomain->context, entries, sizeof *r->rows.weight, &r->rows.weight);
    if (!status) {
        cpu_subdomain_start(cpu, run_rows_copy, &(cpu_task){.a = rows, .rows = r});
        cpu_subdomain_finish(cpu);
        status = subdomain->status;
    }
    r->bytes =
        ((int64_t)num_rows + 1) * (int64_t)sizeof *r->rows.start + entries * (int64_t)(sizeof *r->rows.node + sizeof *r->rows.weight);
    cpu->bytes += r->bytes;
    if (status) {
        cpu_rows_destroy(subdomain, r);
        return status;
    }
    *out = r;
    return YOKE_OK;
}

void cpu_rows_destroy(fem_subdomain *subdomain, fem_subdomain_rows *rows)
{
    if (!rows) return;
    cpu_subdomain_finish((cpu_subdomain *)subdomain);
    ((cpu_subdomain *)subdomain)->bytes -= rows->bytes;
    yoke_release(subdomain->context, rows->rows.start);
    yoke_release(subdomain->context, rows->rows.node);
    yoke_release(subdomain->context, rows->rows.weight);
    yoke_release(subdomain->context, rows);
}

static void run_rows_add(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t)
        BY_PRECISION(cpu, rows_add, cpu->subdomain.space->components, &task->rows->rows, task->a, task->c, cpu->chunks[t].node_begin,
                     cpu->chunks[t].node_end);
}

static void run_rows_set(void *user)
{
    const cpu_task *task = user;
    const cpu_subdomain *cpu = task->cpu;
    FOR_CHUNKS (t)
        BY_PRECISION(cpu, rows_set, cpu->subdomain.space->components, &task->rows->rows, task->a, task->c, cpu->chunks[t].node_begin,
                     cpu->chunks[t].node_end);
}

void cpu_rows_add(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_rows_add,
                        &(cpu_task){.kernel = FEM_KERNEL_TRANSFER, .rows = rows, .a = from->data, .c = to->data});
}

void cpu_rows_set(fem_subdomain *subdomain, const fem_subdomain_rows *rows, const fem_subdomain_vector *from, fem_subdomain_vector *to)
{
    cpu_subdomain_start((cpu_subdomain *)subdomain, run_rows_set,
                        &(cpu_task){.kernel = FEM_KERNEL_TRANSFER, .rows = rows, .a = from->data, .c = to->data});
}
