/* cpu_setup.c - tables, geometry factors and element matrices of the CPU subdomain. */
#include <math.h>

#include <omp.h>

#include "mesh/shape.h"
#include "operator/hanging.h"
#include "operator/subdomain/cpu.h"

/* With fewer elements a barrier takes longer than a second thread saves. */
enum { MIN_ELEMENTS_Q1 = 512, MIN_ELEMENTS_Q2 = 64 };

yoke_status cpu_subdomain_take(cpu_subdomain *cpu, int64_t count, size_t size, void *pointer)
{
    yoke_status status = yoke_allocate_memory(cpu->subdomain.context, count, size, 1, pointer);
    if (!status) cpu->bytes += count * (int64_t)size;
    return status;
}

static void list_used_slots(cpu_subdomain *cpu)
{
    const fem_space *space = cpu->subdomain.space;
    for (int s = 0; s < space->slots; s++) {
        int middles = fem_slot_middles(s);
        if (space->element == FEM_S2 && middles >= 2) continue;
        cpu->slot[cpu->used++] = (int8_t)s;
    }
}

/* --------------------------------------------------------------------------------------------------- factors */

static fem_batch_shape batch_shape(const cpu_subdomain *cpu, const cpu_batches *set, int32_t batch)
{
    const fem_space *space = cpu->subdomain.space;
    int width = set->b.width;
    fem_batch_shape shape = FEM_BOX;
    for (int lane = 0; lane < width && shape != FEM_CURVED; lane += cpu->kernels->lanes) {
        const int32_t *gather = set->gather + (int64_t)batch * space->slots * width + lane;
        fem_batch_shape s = (space->slots_1d == 3 ? cpu->kernels->shape : cpu->kernels->shape_q1)(
            &set->b, gather, width, set->face_code + (int64_t)batch * width + lane, space->x);
        if (s < shape) shape = s;
    }
    return shape;
}

/* Determines the positions of the factors of each batch. */
static void place_factors(const cpu_subdomain *cpu, cpu_batches *set)
{
    set->first_factor[0] = 0;
    for (int32_t batch = 0; batch < set->b.batches; batch++)
        set->first_factor[batch + 1] =
            set->first_factor[batch] + fem_batch_shape_factors(batch_shape(cpu, set, batch), cpu->subdomain.space->slots);
}

/* Stores the factors of `lanes` elements from `from` [points][FEM_FACTORS][lanes] in the batch's rows, from lane `lane` on. */
static void store_factors(const cpu_subdomain *cpu, cpu_batches *set, int32_t batch, int lane, const double *from)
{
    int width = set->b.width, lanes = cpu->kernels->lanes, points = cpu->subdomain.space->slots;
    int64_t first = set->first_factor[batch], rows = set->first_factor[batch + 1] - first;
    double weight = points == 8 ? 1.0 / 8 : 125.0 / 5832; /* of the first point */
    for (int i = 0; i < rows; i++) {
        int row = rows == FEM_BOX_FACTORS ? (i < 3 ? 4 * i : 9) : i; /* the diagonal, and the determinant */
        double scale = rows <= FEM_FACTORS && row == 9 ? 1 / weight : 1;
        for (int l = 0; l < lanes; l++) {
            int64_t at = (first + i) * width + lane + l;
            if (cpu->subdomain.precision == FEM_DOUBLE)
                ((double *)set->factors)[at] = scale * from[row * lanes + l];
            else
                ((float *)set->factors)[at] = (float)(scale * from[row * lanes + l]);
        }
    }
}

/* Computes the geometry factors of one batch; returns the lane of the first folded element and its determinant, or -1. */
static int batch_factors(const cpu_subdomain *cpu, cpu_batches *set, int32_t batch, double *work, double *determinant)
{
    const fem_space *space = cpu->subdomain.space;
    int width = set->b.width, lanes = cpu->kernels->lanes, points = space->slots;
    for (int lane = 0; lane < width; lane += lanes) {
        const int32_t *gather = set->gather + (int64_t)batch * points * width + lane;
        double smallest = (space->slots_1d == 3 ? cpu->kernels->geometry : cpu->kernels->geometry_q1)(
            &set->b, gather, width, set->face_code + (int64_t)batch * width + lane, space->x, work);
        store_factors(cpu, set, batch, lane, work);
        if (smallest > 0 && isfinite(smallest)) continue;
        for (int l = 0; l < lanes; l++) {
            for (int q = 0; q < points; q++) {
                double weight = work[(q * FEM_FACTORS + 9) * lanes + l];
                if (weight > 0 && isfinite(weight)) continue;
                *determinant = weight;
                return lane + l;
            }
        }
    }
    return -1;
}

/* Allocates the factors: each batch has as many as its shape needs. */
static yoke_status take_factors(cpu_subdomain *cpu)
{
    FOR_CHUNKS (t)
        for (int i = 0; i < CPU_SETS; i++) place_factors(cpu, &cpu->chunks[t].set[i]);
    for (int t = 0; t < cpu->num_chunks; t++) {
        for (int i = 0; i < CPU_SETS; i++) {
            cpu_batches *set = &cpu->chunks[t].set[i];
            int64_t rows = set->first_factor[set->b.batches];
            yoke_status status = cpu_subdomain_take(cpu, rows * set->b.width, cpu_subdomain_real_size(cpu), &set->factors);
            if (status) return status;
            set->b.factors = set->factors;
        }
    }
    return YOKE_OK;
}

/* Computes all factors; `work`: [chunks][work_size].  Returns the first folded element and its determinant, or -1. */
static int32_t fill_factors(cpu_subdomain *cpu, double *work, int64_t work_size, double *folded_determinant)
{
    int32_t folded = -1;
    FOR_CHUNKS (t) {
        for (int i = 0; i < CPU_SETS; i++) {
            cpu_batches *set = &cpu->chunks[t].set[i];
            for (int32_t batch = 0; batch < set->b.batches; batch++) {
                double determinant;
                int lane = batch_factors(cpu, set, batch, work + work_size * t, &determinant);
                if (lane < 0) continue;
#pragma omp critical(fem_folded)
                {
                    int32_t element = set->element[(int64_t)batch * set->b.width + lane];
                    if (folded < 0 || element < folded) { /* the first element, independent of the order of the threads */
                        folded = element;
                        *folded_determinant = determinant;
                    }
                }
            }
        }
    }
    return folded;
}

static yoke_status make_factors(cpu_subdomain *cpu)
{
    const fem_space *space = cpu->subdomain.space;
    int64_t work_size = (int64_t)27 * FEM_FACTORS * 8;
    double *work = NULL, folded_determinant = 0;
    yoke_status status = take_factors(cpu);
    if (!status) status = yoke_allocate(cpu->subdomain.context, work_size * cpu->num_chunks, sizeof(double), &work);
    if (status) return status;
    int32_t folded = fill_factors(cpu, work, work_size, &folded_determinant);
    yoke_release(cpu->subdomain.context, work);
    if (folded < 0) return YOKE_OK;
    const fem_mesh *mesh = space->problem->mesh;
    return yoke_fail(cpu->subdomain.context, YOKE_ERROR_INPUT,
                     "%s: element %lld folds where it is refined (level %d): weighted Jacobian determinant %g at a quadrature point; "
                     "make the mesh finer or its element less curved there",
                     mesh->path, (long long)mesh->element_tag[space->tree[folded]], space->level[folded], folded_determinant);
}

static void make_stored(cpu_subdomain *cpu)
{
    int m = cpu->used * cpu->subdomain.space->components;
    int64_t size = (int64_t)m * (m + 1) / 2 * cpu->functions->width * (int64_t)cpu_subdomain_real_size(cpu);
    FOR_CHUNKS (t) {
        for (int i = 0; i < CPU_SETS; i++) {
            cpu_batches *set = &cpu->chunks[t].set[i];
            for (int32_t batch = 0; batch < set->b.batches; batch++)
                cpu->functions->matrix(&set->b, batch, (char *)set->stored + batch * size);
        }
    }
}

/* Releases the factors, which the stored operator does not read again. */
static void drop_factors(cpu_subdomain *cpu)
{
    for (int t = 0; t < cpu->num_chunks; t++) {
        for (int i = 0; i < CPU_SETS; i++) {
            cpu_batches *set = &cpu->chunks[t].set[i];
            cpu->bytes -= set->first_factor[set->b.batches] * set->b.width * (int64_t)cpu_subdomain_real_size(cpu);
            yoke_release(cpu->subdomain.context, set->factors);
            set->factors = NULL;
            set->b.factors = NULL;
        }
    }
}

/* -------------------------------------------------------------------------------------------- masks, creation */

static yoke_status make_mask(cpu_subdomain *cpu)
{
    const uint8_t *prescribed = cpu->subdomain.constraints->prescribed;
    int n = cpu->subdomain.space->components;
    for (int64_t i = 0; i < cpu->num_nodes; i++)
        for (int c = 0; c < n; c++) cpu->num_masked += prescribed[i] >> c & 1;
    yoke_status status = cpu_subdomain_take(cpu, cpu->num_masked, sizeof(int64_t), &cpu->masked);
    if (status) return status;
    int64_t count = 0;
    for (int t = 0; t < cpu->num_chunks; t++) {
        cpu->chunks[t].masked_begin = count;
        for (int64_t i = cpu->chunks[t].node_begin; i < cpu->chunks[t].node_end; i++)
            for (int c = 0; c < n; c++)
                if (prescribed[i] >> c & 1) cpu->masked[count++] = i * n + c;
        cpu->chunks[t].masked_end = count;
    }
    return YOKE_OK;
}

/* Makes the runs of owned dofs in each chunk: counts them, then lists them. */
static yoke_status make_runs(cpu_subdomain *cpu)
{
    const uint8_t *owned = cpu->subdomain.owned;
    int n = cpu->subdomain.space->components;
    for (int pass = 0; pass < 2; pass++) {
        int64_t count = 0;
        for (int t = 0; t < cpu->num_chunks; t++) {
            cpu_chunk *chunk = &cpu->chunks[t];
            chunk->runs_begin = count;
            for (int32_t node = chunk->node_begin; node < chunk->node_end; node++) {
                int32_t first = node;
                if (!owned) node = chunk->node_end;
                while (node < chunk->node_end && owned[node]) node++;
                if (node == first) continue;
                if (pass) cpu->runs[count] = (cpu_run){(int64_t)first * n, (int64_t)node * n};
                count++;
            }
            chunk->runs_end = count;
        }
        yoke_status status = pass ? YOKE_OK : cpu_subdomain_take(cpu, count, sizeof *cpu->runs, &cpu->runs);
        if (status) return status;
    }
    return YOKE_OK;
}

/* Makes everything except factors, matrices and blocks. */
static yoke_status make_tables(cpu_subdomain *cpu)
{
    list_used_slots(cpu);
    yoke_status status = yoke_allocate(cpu->subdomain.context, FEM_FACE_CODES, sizeof *cpu->hanging, &cpu->hanging);
    if (!status) fem_hanging_decode(cpu->subdomain.space->slots_1d, cpu->hanging);
    if (!status) status = cpu_subdomain_make_chunks(cpu);
    if (!status) status = make_mask(cpu);
    if (!status) status = make_runs(cpu);
    if (!status) status = cpu_subdomain_take(cpu, cpu->num_chunks, sizeof *cpu->sums, &cpu->sums);
    return status;
}

yoke_status cpu_subdomain_setup(cpu_subdomain *cpu)
{
    const fem_space *space = cpu->subdomain.space;
    cpu->num_nodes = space->num_nodes;
    cpu->functions = &cpu->kernels->functions[cpu->subdomain.precision][space->slots_1d - 2][space->components == 3];
    int most = space->num_elements / (space->element == FEM_Q1 ? MIN_ELEMENTS_Q1 : MIN_ELEMENTS_Q2) + 1;
    int threads = omp_get_max_threads();
    if (threads > CPU_SUBDOMAIN_MAX_CHUNKS) threads = CPU_SUBDOMAIN_MAX_CHUNKS;
    cpu->num_chunks = threads < most ? threads : most;
    yoke_status status = make_tables(cpu);
    if (!status) status = make_factors(cpu);
    if (!status)
        status = cpu_subdomain_take(cpu, ((int64_t)cpu->num_nodes + cpu->tail_nodes + FEM_NODE_GROUP - 1) * cpu_subdomain_block_size(cpu),
                                    cpu_subdomain_real_size(cpu), &cpu->blocks);
    if (status) return status;
    cpu_subdomain_add_diagonal(cpu, cpu->blocks);
    if (cpu->subdomain.operator_kind == FEM_STORED) {
        make_stored(cpu);
        drop_factors(cpu);
    }
    return YOKE_OK;
}

void cpu_subdomain_release(cpu_subdomain *cpu)
{
    yoke_context *context = cpu->subdomain.context;
    cpu_subdomain_queue_destroy(cpu);
    cpu_subdomain_release_chunks(cpu);
    yoke_release(context, cpu->masked);
    yoke_release(context, cpu->runs);
    yoke_release(context, cpu->sums);
    yoke_release(context, cpu->blocks);
    yoke_release(context, cpu->hanging);
    yoke_release(context, cpu);
}
