// Two materials: a bar 1 m x 0.2 m x 0.2 m along x, its first half of steel, its second of aluminium; hexahedra with 27 nodes.
SetFactory("Built-in");

half = 0.5;
width = 0.2;

Point(1) = {0, 0, 0};
Point(2) = {0, width, 0};
Point(3) = {0, width, width};
Point(4) = {0, 0, width};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1 : 4} = 3;
Transfinite Surface{1};
Recombine Surface{1};

// Top, volume, sides at z = 0, y = width, z = width, y = 0.
a[] = Extrude {half, 0, 0} { Surface{1}; Layers{4}; Recombine; };
b[] = Extrude {half, 0, 0} { Surface{a[0]}; Layers{4}; Recombine; };

Physical Volume("steel") = {a[1]};
Physical Volume("aluminium") = {b[1]};
Physical Surface("clamped") = {1};
Physical Surface("interface") = {a[0]};
Physical Surface("loaded") = {b[0]};
Physical Surface("symmetry-y") = {a[5], b[5]};
Physical Surface("symmetry-z") = {a[2], b[2]};
Physical Surface("free") = {a[3], a[4], b[3], b[4]};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
