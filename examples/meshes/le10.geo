// NAFEMS LE10: a quarter of a thick elliptic plate between the ellipses (x/2)^2 + y^2 = 1 and (x/3.25)^2 + (y/2.75)^2 = 1, 0.6 m thick.
// Two layers of hexahedra with 27 nodes, so that the outer face has an edge at half its height.
SetFactory("Built-in");

thickness = 0.6;
around = 10;
outward = 5;

Point(1) = {0, 0, 0};
Point(2) = {2, 0, 0};
Point(3) = {3.25, 0, 0};
Point(4) = {0, 2.75, 0};
Point(5) = {0, 1, 0};

Line(1) = {2, 3};
Ellipse(2) = {3, 1, 3, 4};
Line(3) = {4, 5};
Ellipse(4) = {5, 1, 2, 2};

Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};

// The inner ellipse is most curved at its end on the x axis, and the stress changes most there.
Transfinite Curve{2} = around + 1 Using Progression 1.06;
Transfinite Curve{-4} = around + 1 Using Progression 1.14;
Transfinite Curve{1} = outward + 1 Using Progression 1.3;
Transfinite Curve{-3} = outward + 1 Using Progression 1.2;
Transfinite Surface{1} = {2, 3, 4, 5};
Recombine Surface{1};

a[] = Extrude {0, 0, thickness / 2} { Surface{1}; Layers{1}; Recombine; };
b[] = Extrude {0, 0, thickness / 2} { Surface{a[0]}; Layers{1}; Recombine; };
middle[] = Boundary{ Surface{a[0]}; };

Physical Volume("plate") = {a[1], b[1]};
Physical Surface("bottom") = {1};
Physical Surface("top") = {b[0]};
Physical Surface("symmetry-y") = {a[2], b[2]};
Physical Surface("outer") = {a[3], b[3]};
Physical Surface("symmetry-x") = {a[4], b[4]};
Physical Surface("inner") = {a[5], b[5]};
Physical Curve("middle") = {middle[1]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
