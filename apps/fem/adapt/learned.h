/*
 * learned.h - what runs learn for later ones, in the library's store: seconds per product of each device by elements, and powers.
 */
#ifndef FEM_ADAPT_LEARNED_H
#define FEM_ADAPT_LEARNED_H

#include "adapt/powers.h"

typedef struct fem_learned fem_learned;

/*
 * Opens the store at `path`.  What it has for other kernels, or devices of another description, is not used; a file of another machine is not
 * used either and will be replaced: the log says so.  work: what an element costs depends on, "q2 elasticity matrixfree"; borrowed.
 * machine: as of yoke_store_open.  Errors: those of yoke_store_open.
 */
yoke_status fem_learned_open(yoke_context *context, const char *path, const char *machine, const char *work, const fem_devices *devices,
                             fem_learned **learned);
void fem_learned_close(fem_learned *learned); /* NULL allowed */

/*
 * Shows a balancer what earlier runs measured, from few elements to many, as rounds before the first one whose total is n; units [devices]:
 * what it then decides.  *rounds: how many there were.  Only samples at the highest clock level count.  Errors: those of yoke_balancer_update.
 */
yoke_status fem_learned_show(const fem_learned *learned, yoke_balancer *balancer, int64_t n, int64_t *units, int *rounds);

/* Powers of all devices as the store has them; source stays UNKNOWN where it lacks any.  base_w and hosting_w are those of the case, or 0. */
void fem_learned_powers(const fem_learned *learned, fem_powers *powers);

/* A device took so long for a product with these elements; hz: NaN where its clock is not set.  Kept until fem_learned_write. */
void fem_learned_add(fem_learned *learned, int device, int64_t elements, double seconds, double hz, int64_t products, int together);
void fem_learned_set_powers(fem_learned *learned, const fem_powers *powers);
/* Errors: SYSTEM, MEMORY. */
yoke_status fem_learned_write(fem_learned *learned);

#endif
