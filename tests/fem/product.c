#include "product.h"

#include "unit.h"

#include "reference_operator.h"

static const char *const element_names[3] = {[FEM_Q1] = "q1", [FEM_S2] = "s2", [FEM_Q2] = "q2"};

double product_tolerance(const subdomain_setting *s) { return s->options.precision == FEM_DOUBLE ? 1e-12 : 1e-5; }

void product_assert(const block *b, const subdomain_setting *s, const double *u, const double *expected)
{
    double *y = block_zeros(subdomain_dofs(b), sizeof *y);
    fem_subdomain *subdomain = subdomain_make(b, s->threads, &s->options);
    subdomain_multiply(subdomain, 0, u, y);
    double difference = block_difference(y, expected, subdomain_dofs(b));
    if (!(difference <= product_tolerance(s)))
        fail_msg("%s, %d components, %d elements, %s: off by %g", element_names[b->space->element], b->problem.components,
                 b->space->num_elements, s->text, difference);
    subdomain->call->destroy(subdomain);
    free(y);
}

void product_assert_all(const block *b)
{
    subdomain_setting settings[SUBDOMAIN_MAX_SETTINGS];
    uint64_t random = 3;
    int count = subdomain_settings(settings);
    double *u = block_random_array(subdomain_dofs(b), &random), *expected = block_zeros(subdomain_dofs(b), sizeof *expected);
    reference_product(b->space, u, expected);
    for (int i = 0; i < count; i++) product_assert(b, &settings[i], u, expected);
    free(expected);
    free(u);
}
