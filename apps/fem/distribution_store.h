/*
 * distribution_store.h - what earlier runs measured: seconds per element of a device for a kind of work, in a JSON file.
 */
#ifndef FEM_DISTRIBUTION_STORE_H
#define FEM_DISTRIBUTION_STORE_H

#include "yoke/yoke.h"

typedef struct fem_store fem_store;

/* Reads the file; one that is not there yet is an empty store.  path is borrowed.  Errors: INPUT (not such a file: what is wrong), MEMORY. */
yoke_status fem_store_read(yoke_context *context, const char *path, fem_store **store);
void fem_store_destroy(fem_store *store); /* NULL allowed */

/* Seconds per element of the latest run, NaN if there was none.  work: "q2 elasticity matrixfree"; the description must be the same to the letter. */
double fem_store_find(const fem_store *store, const char *work, const yoke_device_info *device);

/* Replaces the entry; written by fem_store_write, as a whole file.  Errors: MEMORY; SYSTEM, INPUT (cannot be written). */
yoke_status fem_store_put(fem_store *store, const char *work, const yoke_device_info *device, double seconds_per_element);
yoke_status fem_store_write(const fem_store *store);

#endif
