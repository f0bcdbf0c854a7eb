/* manufactured_forms.h - exact solutions without a form yet, by their moduli: what files of manufactured solutions begin with. */
#ifndef TEST_MANUFACTURED_FORMS_H
#define TEST_MANUFACTURED_FORMS_H

#include "manufactured.h"

static inline manufactured elastic(const char *name, double e, double nu)
{
    manufactured solution = {0};
    solution.name = name;
    solution.components = 3;
    solution.lambda = e * nu / ((1 + nu) * (1 - 2 * nu));
    solution.mu = e / (2 * (1 + nu));
    return solution;
}

static inline manufactured poisson(const char *name, double k)
{
    manufactured solution = {0};
    solution.name = name;
    solution.components = 1;
    solution.mu = k;
    return solution;
}

#endif
