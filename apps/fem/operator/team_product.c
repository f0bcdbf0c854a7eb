/* team_product.c - products and the preconditioners' steps. */
#include "operator/team_parts.h"

/* Devices that work by themselves compute elements inside while the interface travels; the calling thread's device does so meanwhile. */
static void shared_product(fem_team *team, const fem_vector *x, fem_vector *y)
{
    FOR_WORKING_PARTS (team, i) {
        fem_part *part = team->parts[i].part;
        part->call->product_interface(part, x->data[i], y->data[i]);
        part->call->interface_read(part, y->data[i]);
        if (!team->devices->list[team->parts[i].device].inlined) part->call->product_interior(part, x->data[i], y->data[i]);
    }
    FOR_WORKING_PARTS (team, i) team->parts[i].part->call->interface_wait(team->parts[i].part);
    team_add_interface(team, 0, team->space->components);
    FOR_WORKING_PARTS (team, i) {
        fem_part *part = team->parts[i].part;
        if (team->devices->list[team->parts[i].device].inlined) part->call->product_interior(part, x->data[i], y->data[i]);
        part->call->interface_write(part, y->data[i]);
    }
}

void fem_team_product(fem_team *team, int masked, const fem_vector *x, fem_vector *y)
{
    if (team->num_working > 1) {
        shared_product(team, x, y);
    } else {
        int i = team->working[0];
        fem_part *part = team->parts[i].part;
        part->call->product_interface(part, x->data[i], y->data[i]);
        part->call->product_interior(part, x->data[i], y->data[i]);
    }
    if (masked) fem_vector_mask(y);
    team->products++;
}

void fem_team_block_solve(fem_team *team, const fem_vector *r, fem_vector *z)
{
    FOR_WORKING_PARTS (team, i) {
        fem_part *part = team->parts[i].part;
        part->call->block_solve(part, r->data[i], z->data[i]);
    }
}

void fem_team_chebyshev_step(fem_team *team, double a, double c, const fem_vector *b, const fem_vector *t, fem_vector *d, fem_vector *x)
{
    FOR_WORKING_PARTS (team, i) {
        fem_part *part = team->parts[i].part;
        part->call->chebyshev_step(part, a, c, b->data[i], t ? t->data[i] : NULL, d->data[i], x->data[i]);
    }
}
