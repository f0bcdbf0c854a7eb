// Cantilever: a beam 1 m x 0.1 m x 0.1 m along x, clamped at x = 0, loaded at its tip; hexahedra with 8 nodes.
// Points and edges of the clamped end carry names for supports that hold single points (3-2-1).
SetFactory("Built-in");

length = 1;
width = 0.1;     // along y
height = 0.1;    // along z

Point(1) = {0, 0, 0};
Point(2) = {0, width, 0};
Point(3) = {0, width, height};
Point(4) = {0, 0, height};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1 : 4} = 3;
Transfinite Surface{1};
Recombine Surface{1};

a[] = Extrude {length, 0, 0} { Surface{1}; Layers{20}; Recombine; };

Physical Volume("beam") = {a[1]};
Physical Surface("clamped") = {1};
Physical Surface("tip") = {a[0]};
Physical Surface("bottom") = {a[2]};
Physical Surface("right") = {a[3]};
Physical Surface("top") = {a[4]};
Physical Surface("left") = {a[5]};
Physical Curve("clamped-bottom") = {1};
Physical Curve("clamped-left") = {4};
Physical Point("origin") = {1};
Physical Point("clamped-right-bottom") = {2};
Physical Point("clamped-left-top") = {4};

Mesh.ElementOrder = 1;
Mesh.MshFileVersion = 4.1;
