/*
 * manufactured.h - exact solutions of elasticity and Poisson problems, as functions of position: what computed fields are compared with.
 *
 * Each solution gives u, grad u and f = -div sigma(u) analytically; the traction follows from grad u (and the temperature) by the material law.  The functions
 * have the forms that fem_fields wants, with the solution itself as `user`.
 *
 * Sources: S. P. Timoshenko, J. N. Goodier, Theory of Elasticity, 3rd ed., sect. 28 (Lame's cylinder), 35 (plate with hole), 136 (hollow
 * sphere), 137 (spherical cavity; first R. V. Southwell 1926, J. N. Goodier 1933); N. I. Muskhelishvili, Some Basic Problems, sect. 56;
 * H. Neuber's displacement functions; P. Grisvard for the corner r^(2/3) sin(2 theta/3).
 */
#ifndef TEST_MANUFACTURED_H
#define TEST_MANUFACTURED_H

#include "space/problem/problem.h"

typedef struct manufactured manufactured;

struct manufactured {
    const char *name;
    int components;    /* 3 elasticity, 1 Poisson                                                     */
    double lambda, mu; /* Lame's moduli; Poisson: lambda = 0, mu = conductivity                       */
    double c[6];       /* constants of the solution                                                    */
    double radius;     /* radius of a hole or cavity                                                    */
    void (*value)(const manufactured *solution, const double x[3], double *u);    /* u [components]             */
    void (*gradient)(const manufactured *solution, const double x[3], double *g); /* g [components][3] = du/dx  */
    double expansion; /* thermal, 1/K                                                                  */
    double (*temperature)(const manufactured *solution, const double x[3], double slope[3]); /* K, and its gradient; NULL: none */
    void (*hessian)(const manufactured *solution, const double x[3], double *h);             /* h [components][3][3]; NULL: f = 0 */
};

/* Elasticity, Young's modulus e (Pa) and Poisson's ratio nu. */
manufactured manufactured_linear(double e, double nu);
manufactured manufactured_quadratic(double e, double nu); /* each component a full quadratic polynomial, all 10 terms     */
manufactured manufactured_cubic(double e, double nu);
manufactured manufactured_trigonometric(double e, double nu); /* smooth on the unit cube, about a third of a wave long       */
/* Cylinder about z, plane strain: pressures inner and outer (Pa) at radii a < b. */
manufactured manufactured_cylinder(double e, double nu, double a, double b, double inner, double outer);
/* Hollow cylinder about z, plane strain, radii a < b, that turns about z with a speed (rad/s): its force is no part of manufactured_force. */
manufactured manufactured_rotating_cylinder(double e, double nu, double a, double b, double density, double speed);
/* Hollow cylinder about z, plane strain, radii a < b, free, whose temperature is rise (K/m) x r: its force is no part of manufactured_force. */
manufactured manufactured_heated_cylinder(double e, double nu, double a, double b, double expansion, double rise);
/* The same displacement, with a smooth temperature and the force that it takes. */
manufactured manufactured_warmed(manufactured solution, double expansion);
/* Hollow sphere about 0: pressures inner and outer at radii a < b. */
manufactured manufactured_hollow_sphere(double e, double nu, double a, double b, double inner, double outer);
/* Spherical cavity of radius a about 0 in a body under tension t along z at infinity. */
manufactured manufactured_cavity(double e, double nu, double a, double t);
/* Cylindrical hole of radius a about z, plane strain, under tension t along x at infinity. */
manufactured manufactured_plate(double e, double nu, double a, double t);

/* Poisson, conductivity k. */
manufactured manufactured_poisson_linear(double k);
manufactured manufactured_poisson_quadratic(double k);
manufactured manufactured_poisson_trigonometric(double k);
manufactured manufactured_poisson_sphere(double k); /* 1/r: harmonic away from 0                                      */
manufactured manufactured_poisson_corner(double k); /* r^(2/3) sin(2 theta/3) about z: the re-entrant edge of the L x interval
                                                        that lacks the quadrant x > 0, y < 0                          */

/* Stress (Poisson: flux k grad u in the first row) at x: sigma [components][3]. */
void manufactured_stress(const manufactured *solution, const double x[3], double *sigma);

/* The forms of fem_fields; user is a const manufactured *. */
void manufactured_value(const double x[3], double *u, void *user);
void manufactured_force(const double x[3], double *f, void *user);
void manufactured_traction(const double x[3], const double normal[3], double *t, void *user);
double manufactured_temperature(const double x[3], void *user);
fem_fields manufactured_fields(const manufactured *solution);

#endif
