// The body that docs/guide/from-cad.md starts from, as a CAD system would hand it over: gmsh -0 bracket.geo -o bracket.step
// An angle of 60 x 40 x 6 mm with an upright 46 mm high, a rounded inner corner, and a bolt hole of 9 mm in the foot.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 60, 40, 6};
Box(2) = {0, 0, 0, 6, 40, 46};
Box(3) = {6, 0, 6, 6, 40, 6};
Cylinder(4) = {12, 0, 12, 0, 40, 0, 6};
BooleanDifference(5) = { Volume{3}; Delete; }{ Volume{4}; Delete; };
BooleanUnion(6) = { Volume{1}; Delete; }{ Volume{2, 5}; Delete; };
Cylinder(7) = {40, 20, -1, 0, 0, 8, 4.5};
BooleanDifference(8) = { Volume{6}; Delete; }{ Volume{7}; Delete; };
