// Fichera corner: the cube from (-1, -1, -1) to (1, 1, 1) without its octant x, y, z > 0; 7 hexahedra with 8 nodes.
SetFactory("OpenCASCADE");

n = 0;
For k In {0 : 1}
    For j In {0 : 1}
        For i In {0 : 1}
            If (i + j + k < 3)
                n = n + 1;
                Box(n) = {i - 1, j - 1, k - 1, 1, 1, 1};
            EndIf
        EndFor
    EndFor
EndFor
Coherence;

Transfinite Curve{:} = 2;
Transfinite Surface{:};
Recombine Surface{:};
Transfinite Volume{:};

e = 0.01;
Physical Volume("body") = {1 : 7};
Physical Surface("x-min") = Surface In BoundingBox{-1 - e, -1 - e, -1 - e, -1 + e, 1 + e, 1 + e};
Physical Surface("x-max") = Surface In BoundingBox{1 - e, -1 - e, -1 - e, 1 + e, 1 + e, 1 + e};
Physical Surface("y-min") = Surface In BoundingBox{-1 - e, -1 - e, -1 - e, 1 + e, -1 + e, 1 + e};
Physical Surface("y-max") = Surface In BoundingBox{-1 - e, 1 - e, -1 - e, 1 + e, 1 + e, 1 + e};
Physical Surface("z-min") = Surface In BoundingBox{-1 - e, -1 - e, -1 - e, 1 + e, 1 + e, -1 + e};
Physical Surface("z-max") = Surface In BoundingBox{-1 - e, -1 - e, 1 - e, 1 + e, 1 + e, 1 + e};
x[] = Surface In BoundingBox{-e, -e, -e, e, 1 + e, 1 + e};
y[] = Surface In BoundingBox{-e, -e, -e, 1 + e, e, 1 + e};
z[] = Surface In BoundingBox{-e, -e, -e, 1 + e, 1 + e, e};
Physical Surface("reentrant") = {x[], y[], z[]};

Mesh.ElementOrder = 1;
Mesh.MshFileVersion = 4.1;
