// Spherical cavity: eighth of a cube with a cavity in its middle, side 20 radii, pulled along z; x, y, z >= 0.
// The stress at the cavity's equator is (27 - 15 nu) / (14 - 10 nu) times the load (Southwell and Gough).
// Three patches, which meet on the diagonal; all elements are hexahedra with 27 nodes; 8 of them span the quarter circle.
SetFactory("Built-in");

radius = 0.01;
side = 10 * radius;      // half of the cube

around = 4;      // elements on an eighth of a great circle
outward = 7;

a = radius * Sqrt(1 / 2);
b = radius * Sqrt(1 / 3);
Point(100) = {0, 0, 0};
Point(1) = {radius, 0, 0};
Point(2) = {0, radius, 0};
Point(3) = {0, 0, radius};
Point(4) = {a, a, 0};
Point(5) = {0, a, a};
Point(6) = {a, 0, a};
Point(7) = {b, b, b};
Point(11) = {side, 0, 0};
Point(12) = {0, side, 0};
Point(13) = {0, 0, side};
Point(14) = {side, side, 0};
Point(15) = {0, side, side};
Point(16) = {side, 0, side};
Point(17) = {side, side, side};

ends[] = {1, 4, 4, 2, 2, 5, 5, 3, 3, 6, 6, 1, 4, 7, 5, 7, 6, 7};
For i In {0 : 8}
    Circle(1 + i) = {ends[2 * i], 100, ends[2 * i + 1]};
    Line(11 + i) = {10 + ends[2 * i], 10 + ends[2 * i + 1]};
EndFor
For p In {0 : 10 : 10}
    Curve Loop(p + 1) = {p + 1, p + 7, -(p + 9), p + 6};
    Curve Loop(p + 2) = {p + 3, p + 8, -(p + 7), p + 2};
    Curve Loop(p + 3) = {p + 5, p + 9, -(p + 8), p + 4};
EndFor
For i In {1 : 3}
    Surface(i) = {i} In Sphere{100};
    Plane Surface(10 + i) = {10 + i};
EndFor
Transfinite Curve{1 : 9, 11 : 19} = around + 1;

// Radial lines 21 to 27 from the cavity to the cube.
For i In {1 : 7}
    Line(20 + i) = {i, 10 + i};
EndFor
Transfinite Curve{21 : 27} = outward + 1 Using Progression 1.6;

// Radial faces, one over each arc.
Curve Loop(21) = {1, 24, -11, -21};
Curve Loop(22) = {2, 22, -12, -24};
Curve Loop(23) = {3, 25, -13, -22};
Curve Loop(24) = {4, 23, -14, -25};
Curve Loop(25) = {5, 26, -15, -23};
Curve Loop(26) = {6, 21, -16, -26};
Curve Loop(27) = {7, 27, -17, -24};
Curve Loop(28) = {8, 27, -18, -25};
Curve Loop(29) = {9, 27, -19, -26};
For i In {21 : 26}
    Plane Surface(i) = {i};
EndFor
For i In {27 : 29}
    Plane Surface(i) = {i};
EndFor
Transfinite Surface{:};
Recombine Surface{:};

Surface Loop(1) = {1, 11, 21, 27, 29, 26};
Surface Loop(2) = {2, 12, 23, 28, 27, 22};
Surface Loop(3) = {3, 13, 25, 29, 28, 24};
For i In {1 : 3}
    Volume(i) = {i};
EndFor
Transfinite Volume{1} = {1, 4, 7, 6, 11, 14, 17, 16};
Transfinite Volume{2} = {2, 5, 7, 4, 12, 15, 17, 14};
Transfinite Volume{3} = {3, 6, 7, 5, 13, 16, 17, 15};

Physical Volume("body") = {1 : 3};
Physical Surface("cavity") = {1 : 3};
Physical Surface("loaded") = {13};
Physical Surface("free") = {11, 12};
Physical Surface("symmetry-x") = {23, 24};
Physical Surface("symmetry-y") = {25, 26};
Physical Surface("symmetry-z") = {21, 22};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
