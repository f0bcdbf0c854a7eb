// A box 3 m x 2 m x 1 m of 3 x 2 x 1 hexahedra, in two volumes, for the tests of the mesh reader.
SetFactory("Built-in");
Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {3, 0, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Transfinite Curve{1} = 2;
Transfinite Curve{2} = 3;
a[] = Extrude {0, 2, 0} { Curve{1, 2}; Layers{2}; Recombine; };
b[] = Extrude {0, 0, 1} { Surface{a[1], a[5]}; Layers{1}; Recombine; };
Physical Volume("left part", 1) = {b[1]};
Physical Volume("right part", 2) = {b[7]};
x0[] = Surface In BoundingBox{-0.1, -0.1, -0.1, 0.1, 2.1, 1.1};
x1[] = Surface In BoundingBox{0.9, -0.1, -0.1, 1.1, 2.1, 1.1};
x3[] = Surface In BoundingBox{2.9, -0.1, -0.1, 3.1, 2.1, 1.1};
z0[] = Surface In BoundingBox{-0.1, -0.1, -0.1, 3.1, 2.1, 0.1};
Physical Surface("x0", 3) = x0[];
Physical Surface("middle", 4) = x1[];
Physical Surface("x3", 5) = x3[];
Physical Surface("z0", 6) = z0[];
Physical Curve("front", 7) = {1, 2};
DefineConstant[ points = 1 ];
If (points) // Gmsh crashes on its own UNV files with groups of points
    Physical Point("origin", 8) = {1};
EndIf
