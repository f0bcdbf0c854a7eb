// Tetrahedra of second order of the body in bracket.step: gmsh -3 examples/meshes/bracket.geo -o examples/meshes/bracket.msh
SetFactory("OpenCASCADE");
Merge "../cad/bracket.step"; // Gmsh converts a STEP file's lengths to millimetres

// Faces are found by the boxes that hold them, with some room; `gmsh bracket.step` shows the faces with their numbers, too.
e = 0.01;
wall[] = Surface In BoundingBox{-e, -e, -e, e, 40 + e, 46 + e};
hole[] = Surface In BoundingBox{35, 15, -e, 45, 25, 6 + e};
Physical Volume("steel", 1) = {Volume{:}};
Physical Surface("wall", 2) = {wall[]};
Physical Surface("hole", 3) = {hole[]};

Mesh.ElementOrder = 2;
Mesh.MeshSizeMax = 9;
Mesh.MeshSizeFromCurvature = 32; // elements on a full circle: 8 on a quarter
