/*
 * yoke.h - the public interface of libyoke.
 *
 * Conventions for all headers:
 *   - Every call returns a yoke_status, YOKE_OK (0) on success; the exceptions are functions that cannot fail.
 *     Output arguments are written only on success.
 *   - `create` gives an object to the caller, who frees it with the matching `destroy`; `destroy` accepts NULL.
 *     A returned `const char *` is borrowed.
 *   - Quantities are SI doubles with the unit in the name (_s, _j, _w, _hz, _m, _pa); counts are int64_t; ranges are half-open.
 *     NaN means "not known" or "not metered", never zero.
 *   - The library never aborts, exits or prints.  It has no global state.  A context serves one thread at a time.
 */
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include "yoke/balancer.h"  /* IWYU pragma: export */
#include "yoke/core.h"      /* IWYU pragma: export */
#include "yoke/device.h"    /* IWYU pragma: export */
#include "yoke/frequency.h" /* IWYU pragma: export */
#include "yoke/meter.h"     /* IWYU pragma: export */
#include "yoke/model.h"     /* IWYU pragma: export */
#include "yoke/partition.h" /* IWYU pragma: export */
#include "yoke/plan.h"      /* IWYU pragma: export */
#include "yoke/profile.h"   /* IWYU pragma: export */
#include "yoke/run.h"       /* IWYU pragma: export */
#include "yoke/sim.h"       /* IWYU pragma: export */

#endif
