// Plate with a hole: quarter of a plate 0.4 m x 0.4 m x 0.015 m with a hole of 0.02 m diameter, pulled along x; x, y >= 0.
// With rollers on both z faces it is in plane strain, and the hole's edge carries three times the load (Kirsch).
// All elements are hexahedra with 27 nodes; 8 of them span the quarter circle.
SetFactory("Built-in");

radius = 0.01;
width = 20 * radius;     // half of the plate
thickness = 1.5 * radius; // thinner, elements far from the hole would be flat; thicker, those beside it needles

around = 4;              // elements on an eighth of the circle
outward = 10;

diagonal = radius * Sqrt(0.5);
Point(1) = {0, 0, 0};
Point(2) = {radius, 0, 0};
Point(3) = {diagonal, diagonal, 0};
Point(4) = {0, radius, 0};
Point(5) = {width, 0, 0};
Point(6) = {width, width, 0};
Point(7) = {0, width, 0};

Circle(1) = {2, 1, 3};
Circle(2) = {3, 1, 4};
Line(3) = {5, 6};
Line(4) = {6, 7};
Line(5) = {2, 5};
Line(6) = {3, 6};
Line(7) = {4, 7};

Curve Loop(1) = {5, 3, -6, -1};
Curve Loop(2) = {6, 4, -7, -2};
Plane Surface(1) = {1};
Plane Surface(2) = {2};

Transfinite Curve{1, 2, 3, 4} = around + 1;
Transfinite Curve{5, 6, 7} = outward + 1 Using Progression 1.5;
Transfinite Surface{1} = {2, 5, 6, 3};
Transfinite Surface{2} = {3, 6, 7, 4};
Recombine Surface{1, 2};

// Each extrusion returns: top, volume, then one side for each curve of the loop, in its order.
a[] = Extrude {0, 0, thickness} { Surface{1}; Layers{1}; Recombine; };
b[] = Extrude {0, 0, thickness} { Surface{2}; Layers{1}; Recombine; };

Physical Volume("plate") = {a[1], b[1]};
Physical Surface("bottom") = {1, 2};
Physical Surface("top") = {a[0], b[0]};
Physical Surface("symmetry-x") = {b[4]};
Physical Surface("symmetry-y") = {a[2]};
Physical Surface("loaded") = {a[3]};
Physical Surface("hole") = {a[5], b[5]};
Physical Surface("free") = {b[3]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
