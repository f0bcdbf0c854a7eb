// Hollow sphere: eighth of a sphere with inner radius 1 m and outer radius 2 m, x, y, z >= 0, under inner pressure.
// Three patches, which meet on the diagonal; all elements are hexahedra with 27 nodes; 8 of them span the quarter circle.
SetFactory("Built-in");

inner = 1;
outer = 2;

around = 4;      // elements on an eighth of a great circle
outward = 4;

a = Sqrt(1 / 2);
b = Sqrt(1 / 3);
Point(100) = {0, 0, 0};
For shell In {0 : 1}
    r = shell == 0 ? inner : outer;
    p = 10 * shell;
    Point(p + 1) = {r, 0, 0};
    Point(p + 2) = {0, r, 0};
    Point(p + 3) = {0, 0, r};
    Point(p + 4) = {r * a, r * a, 0};
    Point(p + 5) = {0, r * a, r * a};
    Point(p + 6) = {r * a, 0, r * a};
    Point(p + 7) = {r * b, r * b, r * b};
    Circle(p + 1) = {p + 1, 100, p + 4};
    Circle(p + 2) = {p + 4, 100, p + 2};
    Circle(p + 3) = {p + 2, 100, p + 5};
    Circle(p + 4) = {p + 5, 100, p + 3};
    Circle(p + 5) = {p + 3, 100, p + 6};
    Circle(p + 6) = {p + 6, 100, p + 1};
    Circle(p + 7) = {p + 4, 100, p + 7};
    Circle(p + 8) = {p + 5, 100, p + 7};
    Circle(p + 9) = {p + 6, 100, p + 7};
    Curve Loop(p + 1) = {p + 1, p + 7, -(p + 9), p + 6};
    Curve Loop(p + 2) = {p + 3, p + 8, -(p + 7), p + 2};
    Curve Loop(p + 3) = {p + 5, p + 9, -(p + 8), p + 4};
    For i In {1 : 3}
        Surface(p + i) = {p + i} In Sphere{100};
    EndFor
    Transfinite Curve{p + 1 : p + 9} = around + 1;
EndFor

// Radial lines 21 to 27 from the inner to the outer points.
For i In {1 : 7}
    Line(20 + i) = {i, 10 + i};
EndFor
Transfinite Curve{21 : 27} = outward + 1 Using Progression 1.2;

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

Physical Volume("wall") = {1 : 3};
Physical Surface("inner") = {1 : 3};
Physical Surface("outer") = {11 : 13};
Physical Surface("symmetry-x") = {23, 24};
Physical Surface("symmetry-y") = {25, 26};
Physical Surface("symmetry-z") = {21, 22};

Mesh.ElementOrder = 2;
Mesh.MshFileVersion = 4.1;
