/* product.h - for tests of the CPU subdomain: its product against the plain sum over the elements. */
#ifndef TEST_PRODUCT_H
#define TEST_PRODUCT_H

#include "subdomain_settings.h"

/* Of differences relative to the largest value. */
double product_tolerance(const subdomain_setting *s);

/* Under one setting, A u is what is expected, but for rounding. */
void product_assert(const block *b, const subdomain_setting *s, const double *u, const double *expected);

/* Under all settings, A u is what the plain sum over the elements gives. */
void product_assert_all(const block *b);

#endif
