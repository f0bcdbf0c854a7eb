// Crankshaft: one throw, simplified: two main journals along z, two webs with rounded ends, and the crank pin, cut at the symmetry plane
// x = 0; x >= 0.  No fillets: the stress at the corners between journal and web is singular.  "pin-load" is the upper eighth of the pin.
// All elements are hexahedra with 20 nodes; 8 of them span each quarter circle.
// None is longer than two and a half times its thickness: iterative solvers take more iterations on stretched elements.
SetFactory("Built-in");

journal = 0.03;          // radius of the main journals, axis x = y = 0
pin = 0.025;             // radius of the crank pin, axis x = 0, y = throw
half = 0.04;             // half of the webs' width
throw = 2 * half;
journal_length = 0.05;
web = 0.025;
pin_length = 0.05;

around = 4;              // elements on an eighth of a circle
web_outward = 2;         // around a disc, out to the web's edge
journal_layers = 6;
web_layers = 3;
pin_layers = 6;

// A half disc in the plane z: centre (0, y), radius r.  Numbers from p on: curves p + 5 to p + 7 are its arcs, points p + 5 to p + 8 their
// ends, surfaces p to p + 3 a square core and three sectors.
Macro Disc
    d = r * Sqrt(0.5);
    q = 0.6 * r;
    Point(p) = {0, y, z};
    Point(p + 1) = {0, y - q, z};
    Point(p + 2) = {q, y - q, z};
    Point(p + 3) = {q, y + q, z};
    Point(p + 4) = {0, y + q, z};
    Point(p + 5) = {0, y - r, z};
    Point(p + 6) = {d, y - d, z};
    Point(p + 7) = {d, y + d, z};
    Point(p + 8) = {0, y + r, z};
    Line(p + 1) = {p + 1, p + 2};
    Line(p + 2) = {p + 2, p + 3};
    Line(p + 3) = {p + 3, p + 4};
    Line(p + 4) = {p + 4, p + 1};
    Circle(p + 5) = {p + 5, p, p + 6};
    Circle(p + 6) = {p + 6, p, p + 7};
    Circle(p + 7) = {p + 7, p, p + 8};
    For i In {1 : 4}
        Line(p + 7 + i) = {p + i, p + 4 + i};
    EndFor
    Curve Loop(p) = {p + 1, p + 2, p + 3, p + 4};
    For i In {1 : 3}
        Curve Loop(p + i) = {p + 7 + i, p + 4 + i, -(p + 8 + i), -(p + i)};
    EndFor
    For i In {0 : 3}
        Plane Surface(p + i) = {p + i};
    EndFor
    Transfinite Curve{p + 1, p + 3, p + 5, p + 7} = around + 1;
    Transfinite Curve{p + 2, p + 4, p + 6} = 2 * around + 1;
    Transfinite Curve{p + 8 : p + 11} = 2;
Return

// What the web has around both discs in the plane z.  Numbers from w on; the journal's disc is numbered from p on, the pin's has the ends
// ends[] and the arcs arcs[].  Surfaces w + 1 to w + 3 lie around the journal's disc, w + 4 to w + 6 around the pin's.
Macro Web
    Point(w + 1) = {0, -half * Sqrt(2), z};
    Point(w + 2) = {half, -half, z};
    Point(w + 3) = {half, half, z};
    Point(w + 4) = {0, half, z};
    Point(w + 5) = {half, throw + half, z};
    Point(w + 6) = {0, throw + half * Sqrt(2), z};
    Point(w + 7) = {0, throw, z};
    Circle(w + 1) = {w + 1, p, w + 2};
    Line(w + 2) = {w + 2, w + 3};
    Line(w + 3) = {w + 3, w + 4};
    Line(w + 4) = {w + 3, w + 5};
    Circle(w + 5) = {w + 5, w + 7, w + 6};
    For i In {1 : 4}
        Line(w + 10 + i) = {p + 4 + i, w + i};
    EndFor
    Line(w + 15) = {ends[0], w + 4};
    Line(w + 16) = {ends[1], w + 3};
    Line(w + 17) = {ends[2], w + 5};
    Line(w + 18) = {ends[3], w + 6};
    For i In {1 : 3}
        Curve Loop(w + i) = {w + 10 + i, w + i, -(w + 11 + i), -(p + 4 + i)};
    EndFor
    Curve Loop(w + 4) = {w + 15, -(w + 3), -(w + 16), -arcs[0]};
    Curve Loop(w + 5) = {w + 16, w + 4, -(w + 17), -arcs[1]};
    Curve Loop(w + 6) = {w + 17, w + 5, -(w + 18), -arcs[2]};
    For i In {1 : 6}
        Plane Surface(w + i) = {w + i};
    EndFor
    Transfinite Curve{w + 1, w + 3, w + 5} = around + 1;
    Transfinite Curve{w + 2, w + 4} = 2 * around + 1;
    Transfinite Curve{w + 11 : w + 18} = web_outward + 1;
Return

// The first web's lower plane: both discs and what is around them.
z = 0;
p = 200;
y = throw;
r = pin;
Call Disc;
p = 100;
y = 0;
r = journal;
Call Disc;
ends[] = {205, 206, 207, 208};
arcs[] = {205, 206, 207};
w = 300;
Call Web;
Transfinite Surface{100 : 103, 200 : 203, 301 : 306};
Recombine Surface{100 : 103, 200 : 203, 301 : 306};

// Each extrusion returns six numbers for a surface: top, volume, four sides in the order of its loop.
left[] = Extrude {0, 0, -journal_length} { Surface{100 : 103}; Layers{journal_layers}; Recombine; };
first[] = Extrude {0, 0, web} { Surface{100 : 103, 200 : 203, 301 : 306}; Layers{web_layers}; Recombine; };
middle[] = Extrude {0, 0, pin_length} { Surface{first[24], first[30], first[36], first[42]}; Layers{pin_layers}; Recombine; };

// The second web's lower plane: the pin's end is there already.
z = web + pin_length;
arcs[] = {};
ends[] = {};
For i In {1 : 3}
    around_sector[] = Boundary{ Surface{middle[6 * i]}; };
    arcs[] += around_sector[1];
    two_ends[] = Boundary{ Curve{Abs(around_sector[1])}; };
    If (i == 1)
        ends[] += two_ends[0];
    EndIf
    ends[] += two_ends[1];
EndFor
p = 5100;
Call Disc;
w = 5300;
Call Web;
Transfinite Surface{5100 : 5103, 5301 : 5306};
Recombine Surface{5100 : 5103, 5301 : 5306};
second[] = Extrude {0, 0, web} {
    Surface{5100 : 5103, middle[0], middle[6], middle[12], middle[18], 5301 : 5306}; Layers{web_layers}; Recombine;
};
right[] = Extrude {0, 0, journal_length} { Surface{second[0], second[6], second[12], second[18]}; Layers{journal_layers}; Recombine; };

// Sides in the symmetry plane: of a disc its core's fourth, its first sector's first, its third sector's third; around a disc alike.
symmetry[] = {left[5], left[8], left[22], middle[5], middle[8], middle[22], right[5], right[8], right[22]};
volumes[] = {};
faces[] = {};
For i In {0 : 3}
    volumes[] += {left[6 * i + 1], middle[6 * i + 1], right[6 * i + 1]};
EndFor
For i In {0 : 13}
    volumes[] += {first[6 * i + 1], second[6 * i + 1]};
EndFor
For i In {0 : 1}
    symmetry[] += {first[24 * i + 5], first[24 * i + 8], first[24 * i + 22], first[18 * i + 50], first[18 * i + 64]};
    symmetry[] += {second[24 * i + 5], second[24 * i + 8], second[24 * i + 22], second[18 * i + 50], second[18 * i + 64]};
EndFor

Physical Volume("steel") = volumes[];
Physical Surface("bearing-left") = {left[9], left[15], left[21]};
Physical Surface("bearing-right") = {right[9], right[15], right[21]};
Physical Surface("end-left") = {left[0], left[6], left[12], left[18]};
Physical Surface("end-right") = {right[0], right[6], right[12], right[18]};
Physical Surface("pin-load") = {middle[21]};
Physical Surface("pin-free") = {middle[9], middle[15]};
Physical Surface("symmetry-x") = symmetry[];
Physical Surface("web-round") = {first[51], first[81], second[51], second[81]};
Physical Surface("web-side") = {first[57], first[75], second[57], second[75]};
Physical Surface("web-face") = {200 : 203, 301 : 306, first[0], first[6], first[12], first[18], 5100 : 5103,
    second[24], second[30], second[36], second[42]};
For i In {8 : 13}
    faces[] += {first[6 * i], 5293 + i, second[6 * i]};
EndFor
Physical Surface("web-face") += faces[];

Mesh.ElementOrder = 2;
Mesh.SecondOrderIncomplete = 1;
Mesh.MshFileVersion = 4.1;
