// Lame's cylinder: quarter of a thick-walled cylinder, inner radius 1 m, outer radius 2 m, x, y >= 0, under inner pressure.
// All elements are hexahedra with 27 nodes; 8 of them span the quarter circle.
SetFactory("Built-in");

inner = 1;
outer = 2;
height = 0.5;

around = 8;
outward = 4;

Point(1) = {0, 0, 0};
Point(2) = {inner, 0, 0};
Point(3) = {outer, 0, 0};
Point(4) = {0, outer, 0};
Point(5) = {0, inner, 0};

Line(1) = {2, 3};
Circle(2) = {3, 1, 4};
Line(3) = {4, 5};
Circle(4) = {5, 1, 2};

Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};

Transfinite Curve{2, 4} = around + 1;
Transfinite Curve{1} = outward + 1 Using Progression 1.2;
Transfinite Curve{-3} = outward + 1 Using Progression 1.2;
Transfinite Surface{1} = {2, 3, 4, 5};
Recombine Surface{1};

a[] = Extrude {0, 0, height} { Surface{1}; Layers{1}; Recombine; };

Physical Volume("wall") = {a[1]};
Physical Surface("bottom") = {1};
Physical Surface("top") = {a[0]};
Physical Surface("symmetry-y") = {a[2]};
Physical Surface("outer") = {a[3]};
Physical Surface("symmetry-x") = {a[4]};
Physical Surface("inner") = {a[5]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
