// NAFEMS LE1: a quarter of an elliptic membrane between the ellipses (x/2)^2 + y^2 = 1 and (x/3.25)^2 + (y/2.75)^2 = 1, 0.1 m thick.
// Its middle plane z = 0 is a plane of symmetry: the mesh is the half above it.  One layer of hexahedra with 27 nodes.
SetFactory("Built-in");

thickness = 0.1;
around = 12;
outward = 5;

Point(1) = {0, 0, 0};
Point(2) = {2, 0, 0}; // D
Point(3) = {3.25, 0, 0};
Point(4) = {0, 2.75, 0};
Point(5) = {0, 1, 0};

Line(1) = {2, 3};
Ellipse(2) = {3, 1, 3, 4};
Line(3) = {4, 5};
Ellipse(4) = {5, 1, 2, 2};

Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};

// The inner ellipse is most curved at D, and the stress changes most there.
Transfinite Curve{2} = around + 1 Using Progression 1.06;
Transfinite Curve{-4} = around + 1 Using Progression 1.14;
Transfinite Curve{1} = outward + 1 Using Progression 1.5;
Transfinite Curve{-3} = outward + 1 Using Progression 1.2;
Transfinite Surface{1} = {2, 3, 4, 5};
Recombine Surface{1};

a[] = Extrude {0, 0, thickness / 2} { Surface{1}; Layers{1}; Recombine; };

Physical Volume("membrane") = {a[1]};
Physical Surface("middle") = {1};
Physical Surface("top") = {a[0]};
Physical Surface("symmetry-y") = {a[2]};
Physical Surface("outer") = {a[3]};
Physical Surface("symmetry-x") = {a[4]};
Physical Surface("inner") = {a[5]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
