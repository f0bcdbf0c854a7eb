// Drill hole: a cuboid 0.3 m x 0.2 m x 0.05 m with a bore of 0.05 m diameter through its middle, pulled along x.
// Symmetric eighth: x, y, z >= 0.  All elements are hexahedra with 27 nodes; 8 of them span the quarter circle.
SetFactory("Built-in");

length = 0.15;       // half
width = 0.10;        // half
thickness = 0.025;   // half
radius = 0.025;

around = 4;          // elements on an eighth of the circle
outward = 6;         // from the bore to the square around it
along = 3;           // from the square to the loaded end
layers = 2;          // over half the thickness

diagonal = radius * Sqrt(0.5);
Point(1) = {0, 0, 0};
Point(2) = {radius, 0, 0};
Point(3) = {diagonal, diagonal, 0};
Point(4) = {0, radius, 0};
Point(5) = {width, 0, 0};
Point(6) = {width, width, 0};
Point(7) = {0, width, 0};
Point(8) = {length, 0, 0};
Point(9) = {length, width, 0};

Circle(1) = {2, 1, 3};
Circle(2) = {3, 1, 4};
Line(3) = {5, 6};
Line(4) = {6, 7};
Line(5) = {2, 5};
Line(6) = {3, 6};
Line(7) = {4, 7};
Line(8) = {5, 8};
Line(9) = {6, 9};
Line(10) = {8, 9};

Curve Loop(1) = {5, 3, -6, -1};
Curve Loop(2) = {6, 4, -7, -2};
Curve Loop(3) = {8, 10, -9, -3};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Plane Surface(3) = {3};

Transfinite Curve{1, 2, 3, 4, 10} = around + 1;
Transfinite Curve{5, 6, 7} = outward + 1 Using Progression 1.3;
Transfinite Curve{8, 9} = along + 1;
Transfinite Surface{1} = {2, 5, 6, 3};
Transfinite Surface{2} = {3, 6, 7, 4};
Transfinite Surface{3} = {5, 8, 9, 6};
Recombine Surface{1, 2, 3};

// Each extrusion returns: top, volume, then one side for each curve of the loop, in its order.
a[] = Extrude {0, 0, thickness} { Surface{1}; Layers{layers}; Recombine; };
b[] = Extrude {0, 0, thickness} { Surface{2}; Layers{layers}; Recombine; };
c[] = Extrude {0, 0, thickness} { Surface{3}; Layers{layers}; Recombine; };

Physical Volume("steel") = {a[1], b[1], c[1]};
Physical Surface("symmetry-x") = {b[4]};
Physical Surface("symmetry-y") = {a[2], c[2]};
Physical Surface("symmetry-z") = {1, 2, 3};
Physical Surface("loaded") = {c[3]};
Physical Surface("bore") = {a[5], b[5]};
Physical Surface("free") = {a[0], b[0], c[0], b[3], c[4]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
