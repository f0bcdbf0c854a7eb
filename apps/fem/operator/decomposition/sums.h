/*
 * sums.h - copies values between a subdomain's own list of interface values and the totals of its decomposition; included for REAL = double
 * and float.
 */
static void NAME(clear)(int64_t count, REAL *totals)
{
#pragma omp parallel for schedule(static) if (count > MANY_VALUES)
    for (int64_t i = 0; i < count; i++) totals[i] = 0;
}

static void NAME(add)(const decomposition_subdomain *subdomain, int width, const REAL *own, REAL *totals)
{
#pragma omp parallel for schedule(static) if (subdomain->num_interface > MANY_VALUES)
    for (int32_t i = 0; i < subdomain->num_interface; i++) {
        REAL *total = totals + (int64_t)subdomain->interface_index[i] * width;
        for (int c = 0; c < width; c++) total[c] += own[(int64_t)i * width + c];
    }
}

static void NAME(set)(const decomposition_subdomain *subdomain, int width, const REAL *own, REAL *totals)
{
#pragma omp parallel for schedule(static) if (subdomain->num_interface > MANY_VALUES)
    for (int32_t i = 0; i < subdomain->num_interface; i++) {
        REAL *total = totals + (int64_t)subdomain->interface_index[i] * width;
        for (int c = 0; c < width; c++) total[c] = own[(int64_t)i * width + c];
    }
}

static void NAME(tell)(const decomposition_subdomain *subdomain, int width, const REAL *totals, REAL *to)
{
#pragma omp parallel for schedule(static) if (subdomain->num_interface > MANY_VALUES)
    for (int32_t i = 0; i < subdomain->num_interface; i++) {
        const REAL *total = totals + (int64_t)subdomain->interface_index[i] * width;
        for (int c = 0; c < width; c++) to[(int64_t)i * width + c] = total[c];
    }
}
