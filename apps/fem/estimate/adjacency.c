/* adjacency.c - finds which elements meet at which faces, and how these are turned. */
#include <p8est_iterate.h>

#include "estimate/private.h"

/*
 * The turn from face `from` to face `to`: bits 0 and 1 reverse the first side's coordinates s and t, then bit 2 exchanges them.  p8est
 * provides the corner to which each corner of a face is mapped; the bits of a corner's number are (s, t).
 */
static int8_t turn_of(int from, int to, int orientation)
{
    int origin = p8est_connectivity_face_neighbor_face_corner(0, from, to, orientation);
    int along_s = p8est_connectivity_face_neighbor_face_corner(1, from, to, orientation) ^ origin;
    int exchanged = along_s == 2; /* s of the first side runs along t of the second */
    int s_reversed = exchanged ? origin >> 1 : origin & 1, t_reversed = exchanged ? origin & 1 : origin >> 1;
    return (int8_t)(s_reversed | t_reversed << 1 | exchanged << 2);
}

typedef struct face_visitor {
    const fem_space *space;
    face_lists *faces;
} face_visitor;

static int32_t element_of(const fem_space *space, p4est_topidx_t tree, int is_ghost, p4est_locidx_t number)
{
    if (is_ghost) return number < 0 ? -1 : space->num_elements + number;
    return p8est_tree_array_index(space->forest->p8est->trees, tree)->quadrants_offset + number;
}

static int32_t full_element(const fem_space *space, const p8est_iter_face_side_t *side)
{
    return element_of(space, side->treeid, side->is.full.is_ghost, side->is.full.quadid);
}

static void add_hanging(const face_visitor *visitor, const p8est_iter_face_side_t *fine, const p8est_iter_face_side_t *coarse,
                        int orientation)
{
    hanging_face *face = &visitor->faces->hanging[visitor->faces->num_hanging++];
    face->coarse = full_element(visitor->space, coarse);
    face->coarse_face = coarse->face;
    face->fine_face = fine->face;
    for (int k = 0; k < 4; k++)
        face->fine[k] = element_of(visitor->space, fine->treeid, fine->is.hanging.is_ghost[k], fine->is.hanging.quadid[k]);
    face->turn = turn_of(fine->face, coarse->face, orientation);
}

static void visit_face(p8est_iter_face_info_t *info, void *user)
{
    const face_visitor *visitor = user;
    face_lists *faces = visitor->faces;
    const p8est_iter_face_side_t *a = p8est_iter_fside_array_index_int(&info->sides, 0);
    if (info->sides.elem_count == 1) {
        boundary_face *face = &faces->boundary[faces->num_boundary++];
        face->element = full_element(visitor->space, a);
        face->face = a->face;
        return;
    }
    const p8est_iter_face_side_t *b = p8est_iter_fside_array_index_int(&info->sides, 1);
    if (a->is_hanging) {
        add_hanging(visitor, a, b, info->orientation);
    } else if (b->is_hanging) {
        add_hanging(visitor, b, a, info->orientation);
    } else {
        full_face *face = &faces->full[faces->num_full++];
        face->element[0] = full_element(visitor->space, a);
        face->element[1] = full_element(visitor->space, b);
        face->face[0] = a->face;
        face->face[1] = b->face;
        face->turn = turn_of(a->face, b->face, info->orientation);
    }
}

yoke_status face_lists_allocate(const fem_space *space, face_lists *faces)
{
    /* Each face has a leaf on at least one side.  Memory beyond the existing faces is never touched. */
    int64_t most = 6 * (int64_t)space->num_elements;
    *faces = (face_lists){0};
    yoke_status status = yoke_allocate_untouched(space->context, most, sizeof *faces->full, &faces->full);
    if (!status) status = yoke_allocate_untouched(space->context, most, sizeof *faces->hanging, &faces->hanging);
    if (!status) status = yoke_allocate_untouched(space->context, most, sizeof *faces->boundary, &faces->boundary);
    return status;
}

void face_lists_fill(const fem_space *space, p8est_ghost_t *ghost, face_lists *faces)
{
    face_visitor visitor = {space, faces};
    p8est_iterate(space->forest->p8est, ghost, &visitor, NULL, visit_face, NULL, NULL);
}

void face_lists_destroy(yoke_context *context, face_lists *faces)
{
    yoke_release(context, faces->full);
    yoke_release(context, faces->hanging);
    yoke_release(context, faces->boundary);
}

int turned_point(int n, int turn, int point)
{
    int s = point % n, t = point / n;
    if (turn & 1) s = n - 1 - s;
    if (turn & 2) t = n - 1 - t;
    return turn & 4 ? s * n + t : t * n + s;
}
