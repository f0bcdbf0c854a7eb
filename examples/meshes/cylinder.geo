// Solid cylinder: radius 0.1 m, length 0.3 m along z.  A square core inside four sectors; 8 elements span each quarter of the circle.
// All elements are hexahedra with 20 nodes.
SetFactory("Built-in");

radius = 0.1;
length = 0.3;
core = 0.45 * radius;    // half of the square

around = 8;              // elements on a quarter of the circle
outward = 3;             // from the square to the surface
layers = 8;

diagonal = radius * Sqrt(0.5);
Point(1) = {0, 0, 0};
Point(2) = {core, -core, 0};
Point(3) = {core, core, 0};
Point(4) = {-core, core, 0};
Point(5) = {-core, -core, 0};
Point(6) = {diagonal, -diagonal, 0};
Point(7) = {diagonal, diagonal, 0};
Point(8) = {-diagonal, diagonal, 0};
Point(9) = {-diagonal, -diagonal, 0};

For i In {0 : 3}
    next = (i + 1) % 4;
    Line(1 + i) = {2 + i, 2 + next};
    Circle(5 + i) = {6 + i, 1, 6 + next};
    Line(9 + i) = {2 + i, 6 + i};
EndFor
For i In {0 : 3}
    next = (i + 1) % 4;
    Curve Loop(1 + i) = {9 + i, 5 + i, -(9 + next), -(1 + i)};
    Plane Surface(1 + i) = {1 + i};
EndFor
Curve Loop(5) = {1, 2, 3, 4};
Plane Surface(5) = {5};

Transfinite Curve{1 : 8} = around + 1;
Transfinite Curve{9 : 12} = outward + 1;
Transfinite Surface{1 : 5};
Recombine Surface{1 : 5};

// For each of the surfaces: top, volume, four sides in the order of its loop.
a[] = Extrude {0, 0, length} { Surface{1 : 5}; Layers{layers}; Recombine; };

Physical Volume("steel") = {a[1], a[7], a[13], a[19], a[25]};
Physical Surface("bottom") = {1 : 5};
Physical Surface("top") = {a[0], a[6], a[12], a[18], a[24]};
Physical Surface("mantle") = {a[3], a[9], a[15], a[21]};

Mesh.ElementOrder = 2;
Mesh.SecondOrderIncomplete = 1;
Mesh.MshFileVersion = 4.1;
