#include "space/problem/small_svd.h"

#include <math.h>

void fem_qr_add(double *r, int n, double *row)
{
    for (int i = 0; i < n; i++) {
        double *pivot = r + i * n;
        if (row[i] == 0) continue;
        double length = hypot(pivot[i], row[i]), c = pivot[i] / length, s = row[i] / length;
        for (int j = i; j < n; j++) {
            double above = pivot[j], below = row[j];
            pivot[j] = c * above + s * below;
            row[j] = c * below - s * above;
        }
    }
}

/* Makes columns p and q of a orthogonal.  Returns whether they were not orthogonal. */
static int rotate(double *a, double *v, int n, int p, int q)
{
    double pp = 0, qq = 0, pq = 0;
    for (int k = 0; k < n; k++) {
        pp += a[k * n + p] * a[k * n + p];
        qq += a[k * n + q] * a[k * n + q];
        pq += a[k * n + p] * a[k * n + q];
    }
    if (fabs(pq) <= 1e-15 * sqrt(pp) * sqrt(qq)) return 0;
    double zeta = (qq - pp) / (2 * pq), t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + hypot(zeta, 1)), c = 1 / hypot(t, 1), s = t * c;
    double *matrices[] = {a, v};
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < n; k++) {
            double kp = matrices[m][k * n + p], kq = matrices[m][k * n + q];
            matrices[m][k * n + p] = c * kp - s * kq;
            matrices[m][k * n + q] = s * kp + c * kq;
        }
    return 1;
}

void fem_small_svd(double *a, int n, double *v, double *sigma)
{
    enum { MAX_SWEEPS = 60 };
    for (int i = 0; i < n * n; i++) v[i] = i / n == i % n;
    for (int sweep = 0, moved = 1; moved && sweep < MAX_SWEEPS; sweep++) {
        moved = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) moved |= rotate(a, v, n, p, q);
    }
    for (int k = 0; k < n; k++) {
        sigma[k] = 0;
        for (int i = 0; i < n; i++) sigma[k] = hypot(sigma[k], a[i * n + k]);
    }
}
