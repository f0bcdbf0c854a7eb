// NAFEMS LE11: a quarter of a solid of revolution about z.  From below: a hollow sphere (radii 1 and 1.4 m) up to 45 degrees, a taper
// inside which the bore has the radius sin 45, and a cylinder of outer radius 1 m.  Hexahedra with 27 nodes, 8 around the quarter.
SetFactory("Built-in");

around = 8;
across = 3;

s = Sin(Pi / 4);
taper = 0.69;
cylinder = 0.4;

Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0}; // A
Point(3) = {1.4, 0, 0};
Point(4) = {s, 0, s};
Point(5) = {Sqrt(1.4^2 - s^2), 0, s};
Point(6) = {s, 0, s + taper};
Point(7) = {1, 0, s + taper};
Point(8) = {s, 0, s + taper + cylinder};
Point(9) = {1, 0, s + taper + cylinder};

Line(1) = {2, 3};
Circle(2) = {3, 1, 5};
Line(3) = {4, 5};
Circle(4) = {2, 1, 4};
Line(5) = {5, 7};
Line(6) = {6, 7};
Line(7) = {4, 6};
Line(8) = {7, 9};
Line(9) = {8, 9};
Line(10) = {6, 8};

Curve Loop(1) = {1, 2, -3, -4};
Plane Surface(1) = {1};
Curve Loop(2) = {3, 5, -6, -7};
Plane Surface(2) = {2};
Curve Loop(3) = {6, 8, -9, -10};
Plane Surface(3) = {3};

Transfinite Curve{1, 3, 6, 9} = across + 1;
Transfinite Curve{2, 4} = 5;
Transfinite Curve{5, 7} = 5;
Transfinite Curve{8, 10} = 3;
Transfinite Surface{1} = {2, 3, 5, 4};
Transfinite Surface{2} = {4, 5, 7, 6};
Transfinite Surface{3} = {6, 7, 9, 8};
Recombine Surface{1, 2, 3};

a[] = Extrude {{0, 0, 1}, {0, 0, 0}, Pi / 2} { Surface{1}; Layers{around}; Recombine; };
b[] = Extrude {{0, 0, 1}, {0, 0, 0}, Pi / 2} { Surface{2}; Layers{around}; Recombine; };
c[] = Extrude {{0, 0, 1}, {0, 0, 0}, Pi / 2} { Surface{3}; Layers{around}; Recombine; };

Physical Volume("solid") = {a[1], b[1], c[1]};
Physical Surface("symmetry-y") = {1, 2, 3};
Physical Surface("symmetry-x") = {a[0], b[0], c[0]};
Physical Surface("inner") = {a[5], b[5], c[5]};
Physical Surface("sphere") = {a[3]};
Physical Surface("taper") = {b[3]};
Physical Surface("cylinder") = {c[3]};
Physical Surface("bottom") = {a[2]};
Physical Surface("top") = {c[4]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
