#include "operator/hanging.h"

#include <p8est_lnodes.h>

#include "mesh/shape.h"
#include "space/space.h"

void fem_hanging_decode(int n, fem_hanging *table)
{
    int stride[3] = {1, n, n * n};
    for (int code = 1; code < FEM_FACE_CODES; code++) {
        int hanging_face[6], hanging_edge[12], slots[9];
        fem_hanging *h = &table[code];
        p8est_lnodes_decode((p8est_lnodes_code_t)code, hanging_face, hanging_edge);
        for (int f = 0; f < 6; f++) {
            if (hanging_face[f] < 0 || h->faces == 3) continue;
            fem_face_slots(n, f, slots);
            h->face[h->faces].base = (int8_t)slots[0];
            h->face[h->faces].stride_s = (int8_t)stride[f / 2 == 0 ? 1 : 0];
            h->face[h->faces].stride_t = (int8_t)stride[f / 2 == 2 ? 1 : 2];
            h->face[h->faces].half_s = (int8_t)(hanging_face[f] & 1);
            h->face[h->faces++].half_t = (int8_t)(hanging_face[f] >> 1);
        }
        for (int e = 0; e < 12; e++) { /* an edge of a hanging face (2, 3, 4) is interpolated with the face */
            if ((hanging_edge[e] != 0 && hanging_edge[e] != 1) || h->edges == 3) continue;
            fem_edge_slots(n, e, slots);
            h->edge[h->edges].base = (int8_t)slots[0];
            h->edge[h->edges].stride = (int8_t)stride[e / 4];
            h->edge[h->edges++].half = (int8_t)hanging_edge[e];
        }
    }
}
