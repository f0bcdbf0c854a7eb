/* team_vector.c - vectors that are spread over the parts. */
#include <math.h>

#include "operator/team_parts.h"

yoke_status fem_vector_create(fem_team *team, fem_vector **out)
{
    fem_vector *vector;
    yoke_status status = yoke_allocate(team->context, 1, sizeof *vector, (void **)&vector);
    if (status) return status;
    vector->team = team;
    for (int i = 0; i < team->num_parts && !status; i++) {
        fem_part *part = team->parts[i].part;
        status = part->call->vector_create(part, &vector->data[i]);
        if (status) status = team_mark_failure(team, team->parts[i].device, status);
    }
    if (status)
        fem_vector_destroy(vector);
    else
        *out = vector;
    return status;
}

void fem_vector_destroy(fem_vector *vector)
{
    if (!vector) return;
    fem_team *team = vector->team;
    for (int i = 0; i < team->num_parts; i++)
        if (vector->data[i]) team->parts[i].part->call->vector_destroy(team->parts[i].part, vector->data[i]);
    yoke_release(team->context, vector);
}

/* ------------------------------------------------------------------------------------------- to and from the host */

void fem_vector_write(fem_vector *to, const double *from)
{
    fem_team *team = to->team;
    int n = team->space->components;
    FOR_WORKING_PARTS (team, i) {
        const team_part *part = &team->parts[i];
        if (part->subspace) {
            const int32_t *global = part->subspace->global_node;
#pragma omp parallel for schedule(static)
            for (int32_t k = 0; k < part->space->num_nodes; k++)
                for (int c = 0; c < n; c++) team->scratch[(int64_t)k * n + c] = from[(int64_t)global[k] * n + c];
        }
        part->part->call->write(part->part, to->data[i], part->subspace ? team->scratch : from);
    }
}

void fem_vector_read(const fem_vector *from, double *to)
{
    const fem_team *team = from->team;
    int n = team->space->components;
    FOR_WORKING_PARTS (team, i) {
        const team_part *part = &team->parts[i];
        part->part->call->read_wait(part->part, from->data[i], part->subspace ? team->scratch : to);
        if (!part->subspace) continue;
        const int32_t *global = part->subspace->global_node;
#pragma omp parallel for schedule(static)
        for (int32_t k = 0; k < part->space->num_nodes; k++)
            if (part->owned[k])
                for (int c = 0; c < n; c++) to[(int64_t)global[k] * n + c] = team->scratch[(int64_t)k * n + c];
    }
}

/* --------------------------------------------------------------------------------------- the same in each part */

void fem_vector_zero(fem_vector *x)
{
    FOR_WORKING_PARTS (x->team, i) {
        fem_part *part = x->team->parts[i].part;
        part->call->zero(part, x->data[i]);
    }
}

void fem_vector_copy_scaled(double alpha, const fem_vector *from, fem_vector *to)
{
    FOR_WORKING_PARTS (to->team, i) {
        fem_part *part = to->team->parts[i].part;
        part->call->copy_scaled(part, alpha, from->team->parts[i].part, from->data[i], to->data[i]);
    }
}

void fem_vector_axpy(double alpha, const fem_vector *x, fem_vector *y)
{
    FOR_WORKING_PARTS (y->team, i) {
        fem_part *part = y->team->parts[i].part;
        part->call->axpy(part, alpha, x->data[i], y->data[i]);
    }
}

void fem_vector_xpby(const fem_vector *x, double beta, fem_vector *y)
{
    FOR_WORKING_PARTS (y->team, i) {
        fem_part *part = y->team->parts[i].part;
        part->call->xpby(part, x->data[i], beta, y->data[i]);
    }
}

void fem_vector_subtract(const fem_vector *x, const fem_vector *y, fem_vector *z)
{
    FOR_WORKING_PARTS (z->team, i) {
        fem_part *part = z->team->parts[i].part;
        part->call->subtract(part, x->data[i], y->data[i], z->data[i]);
    }
}

void fem_vector_advance(double alpha, const fem_vector *p, const fem_vector *q, fem_vector *x, fem_vector *r)
{
    FOR_WORKING_PARTS (x->team, i) {
        fem_part *part = x->team->parts[i].part;
        part->call->advance(part, alpha, p->data[i], q->data[i], x->data[i], r->data[i]);
    }
}

void fem_vector_mask(fem_vector *x)
{
    FOR_WORKING_PARTS (x->team, i) {
        fem_part *part = x->team->parts[i].part;
        part->call->mask(part, x->data[i]);
    }
}

/* ------------------------------------------------------------------------------------------- between the parts */

void fem_vector_agree(fem_vector *x)
{
    fem_team *team = x->team;
    if (team->num_working == 1) return;
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->interface_read(team->parts[i].part, x->data[i]);
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->interface_wait(team->parts[i].part);
    team_choose_interface(team, 0, team->space->components);
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->interface_write(team->parts[i].part, x->data[i]);
}

/* -------------------------------------------------------------------------------------------------------- sums */

void fem_vector_dots(int count, const fem_vector *const *x, const fem_vector *const *y, double *sums)
{
    const fem_team *team = x[0]->team;
    for (int k = 0; k < count; k++) sums[k] = 0;
    FOR_WORKING_PARTS (team, i) {
        const fem_part_vector *own_x[FEM_MOST_DOTS], *own_y[FEM_MOST_DOTS];
        for (int k = 0; k < count; k++) {
            own_x[k] = x[k]->data[i];
            own_y[k] = y[k]->data[i];
        }
        team->parts[i].part->call->dots(team->parts[i].part, count, own_x, own_y);
    }
    for (int i = 0; i < team->num_parts; i++) { /* in the order of the elements, whichever device works by itself */
        double own[FEM_MOST_DOTS];
        if (team->parts[i].halo_only) continue;
        team->parts[i].part->call->dots_wait(team->parts[i].part, count, own);
        for (int k = 0; k < count; k++) sums[k] += own[k];
    }
}

double fem_vector_dot(const fem_vector *x, const fem_vector *y)
{
    double sum;
    fem_vector_dots(1, &x, &y, &sum);
    return sum;
}
