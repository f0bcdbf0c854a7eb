#include "mesh/shape.h"

#include <math.h>
#include <stddef.h>

void fem_shape_1d(int n, double t, double *value, double *derivative, double *second)
{
    if (n == 2) {
        if (value) value[0] = 1 - t, value[1] = t;
        if (derivative) derivative[0] = -1, derivative[1] = 1;
        if (second) second[0] = second[1] = 0;
    } else {
        if (value) value[0] = (1 - t) * (1 - 2 * t), value[1] = 4 * t * (1 - t), value[2] = t * (2 * t - 1);
        if (derivative) derivative[0] = 4 * t - 3, derivative[1] = 4 - 8 * t, derivative[2] = 4 * t - 1;
        if (second) second[0] = 4, second[1] = -8, second[2] = 4;
    }
}

void fem_shape(int n, const double r[3], double *value, double *gradient, double *hessian)
{
    double v[3][3], d[3][3], s[3][3];
    for (int a = 0; a < 3; a++) fem_shape_1d(n, r[a], v[a], d[a], s[a]);
    int slot = 0;
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++, slot++) {
                if (value) value[slot] = v[0][i] * v[1][j] * v[2][k];
                if (gradient) {
                    gradient[3 * slot + 0] = d[0][i] * v[1][j] * v[2][k];
                    gradient[3 * slot + 1] = v[0][i] * d[1][j] * v[2][k];
                    gradient[3 * slot + 2] = v[0][i] * v[1][j] * d[2][k];
                }
                if (hessian) {
                    hessian[6 * slot + 0] = s[0][i] * v[1][j] * v[2][k];
                    hessian[6 * slot + 1] = v[0][i] * s[1][j] * v[2][k];
                    hessian[6 * slot + 2] = v[0][i] * v[1][j] * s[2][k];
                    hessian[6 * slot + 3] = v[0][i] * d[1][j] * d[2][k];
                    hessian[6 * slot + 4] = d[0][i] * v[1][j] * d[2][k];
                    hessian[6 * slot + 5] = d[0][i] * d[1][j] * v[2][k];
                }
            }
        }
    }
}

void fem_gauss(int n, double *point, double *weight)
{
    /* Roots of the Legendre polynomial by Newton's method from Tricomi's approximation; on [-1,1], then moved to [0,1]. */
    for (int i = 0; i < n; i++) {
        double x = -cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int iteration = 0; iteration < 20; iteration++) {
            double p = 1, previous = 0;
            for (int k = 1; k <= n; k++) {
                double next = ((2 * k - 1) * x * p - (k - 1) * previous) / k;
                previous = p;
                p = next;
            }
            slope = n * (x * p - previous) / (x * x - 1);
            x -= p / slope;
        }
        point[i] = 0.5 * (1 + x);
        weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

void fem_face_point(int face, double s, double t, double r[3])
{
    int axis = face / 2;
    r[axis] = face % 2;
    r[axis == 0 ? 1 : 0] = s;
    r[axis == 2 ? 1 : 2] = t;
}

void fem_face_slots(int n, int face, int *slots)
{
    int stride[3] = {1, n, n * n};
    int axis = face / 2, low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
    int base = (face % 2) * (n - 1) * stride[axis];
    for (int t = 0; t < n; t++)
        for (int s = 0; s < n; s++) slots[t * n + s] = base + s * stride[low] + t * stride[high];
}

void fem_edge_slots(int n, int edge, int *slots)
{
    int stride[3] = {1, n, n * n};
    int axis = edge / 4, low = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
    int base = (edge % 2) * (n - 1) * stride[low] + (edge / 2 % 2) * (n - 1) * stride[high];
    for (int i = 0; i < n; i++) slots[i] = base + i * stride[axis];
}

int fem_corner_slot(int n, int corner)
{
    return (corner & 1) * (n - 1) + (corner >> 1 & 1) * (n - 1) * n + (corner >> 2) * (n - 1) * n * n;
}

double fem_map(int slots, const double *positions, const double *gradient, double jacobian[3][3], double inverse[3][3])
{
    double j[3][3] = {{0}};
    for (int s = 0; s < slots; s++)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) j[a][b] += positions[3 * s + a] * gradient[3 * s + b];
    double cofactor[3][3];
    for (int a = 0; a < 3; a++) {
        int a1 = (a + 1) % 3, a2 = (a + 2) % 3;
        for (int b = 0; b < 3; b++) {
            int b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            cofactor[a][b] = j[a1][b1] * j[a2][b2] - j[a1][b2] * j[a2][b1];
        }
    }
    double determinant = j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2];
    if (jacobian)
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) jacobian[a][b] = j[a][b];
    if (inverse && determinant > 0 && isfinite(determinant))
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) inverse[b][a] = cofactor[a][b] / determinant;
    return determinant;
}

void fem_member_sides(int dimension, int local, int side[3])
{
    const int axis = local / 4;
    side[0] = side[1] = side[2] = -1;
    if (dimension == 2) {
        side[local / 2] = local % 2;
    } else if (dimension == 1) {
        side[axis == 0 ? 1 : 0] = local % 2;
        side[axis == 2 ? 1 : 2] = local / 2 % 2;
    } else {
        for (int a = 0; a < 3; a++) side[a] = local >> a & 1;
    }
}
