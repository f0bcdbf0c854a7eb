/* leaf_lists.c - finds the leaves near each leaf (list U), and the finer cells that act on it by their expansions (list W, and its
 * converse X). */
#include <omp.h>
#include <string.h>

#include "tree/lists.h"

enum { MAX_ROOTS = FMM_NEIGHBOURS * (FMM_MAX_DEPTH + 2), CHUNK = 64 /* leaves */, FIRST_ROOM = 4096 };

/* A neighbour of the leaf: a cell of its level, with the number of its first leaf, or (cell -1) a leaf with its number. */
typedef struct root {
    int32_t leaf, cell;
} root;

typedef struct in_w {
    int32_t cell, level;
} in_w;

/* The lists U and W that a thread has collected. */
typedef struct collector {
    const fmm_tree *tree;
    yoke_status status;
    fmm_walk walk;
    int64_t num_near, near_room, num_w, w_room;
    int32_t *near;
    in_w *w;
    int level;      /* of the current leaf */
    uint32_t at[3]; /* its coordinates */
} collector;

/* Makes room for one more entry.  Only one thread at a time does this, because the context is shared. */
static void make_room(collector *c)
{
#pragma omp critical(fmm_leaf_lists)
    {
        c->status = yoke_grow(c->tree->context, &c->near, c->num_near, &c->near_room, FIRST_ROOM, sizeof *c->near);
        if (!c->status) c->status = yoke_grow(c->tree->context, &c->w, c->num_w, &c->w_room, FIRST_ROOM, sizeof *c->w);
    }
}

static void add_near(collector *c, int32_t leaf)
{
    if (c->status) return;
    if (c->num_near == c->near_room) make_room(c);
    if (!c->status) c->near[c->num_near++] = leaf;
}

static void add_w(collector *c, int level, int32_t cell)
{
    if (fmm_is_direct(c->tree, level, cell)) {
        const fmm_level *cells = &c->tree->level[level];
        for (int32_t leaf = cells->leaf[cell]; c->tree->leaves.particle[leaf] < cells->end[cell]; leaf++) add_near(c, leaf);
        return;
    }
    if (!c->status && c->num_w == c->w_room) make_room(c);
    if (!c->status) c->w[c->num_w++] = (in_w){cell, level};
}

/* Adds a cell with coordinates `at`, whose parent touches the leaf, or the cells in it to the leaf's lists. */
static void descend(collector *c, int level, int32_t cell, const uint32_t at[3])
{
    const fmm_level *cells = &c->tree->level[level];
    if (!fmm_touches(at, c->at, level - c->level)) {
        add_w(c, level, cell);
        return;
    }
    if (fmm_is_leaf(c->tree, level, cell)) {
        add_near(c, cells->leaf[cell]);
        return;
    }
    for (int32_t k = cells->child[cell]; k < cells->child[cell + 1]; k++) {
        unsigned octant = (unsigned)fmm_octant(&c->tree->level[level + 1], k);
        descend(c, level + 1, k, (const uint32_t[3]){2 * at[0] + (octant & 1), 2 * at[1] + (octant >> 1 & 1), 2 * at[2] + (octant >> 2)});
    }
}

static void insert(root *roots, int *count, root added)
{
    int at = (*count)++;
    for (; at > 0 && roots[at - 1].leaf > added.leaf; at--) roots[at] = roots[at - 1];
    roots[at] = added;
}

/* A cell, and the octants of its children that touch another cell. */
typedef struct touched {
    int32_t cell;
    unsigned octants;
} touched;

/* Finds the parents of a cell's neighbours, in ascending order.  near: as in a walk at the cell's parent.  octant: of the cell. */
static int find_parents(const int32_t near[FMM_NEIGHBOURS], int octant, touched parents[8])
{
    /* For each coordinate [half of the parent in which the cell lies][first or second parent]: the octants that touch the cell. */
    static const unsigned char in_x[2][2] = {{0xAA, 0xFF}, {0xFF, 0x55}}, in_y[2][2] = {{0xCC, 0xFF}, {0xFF, 0x33}},
                               in_z[2][2] = {{0xF0, 0xFF}, {0xFF, 0x0F}};
    const int x = octant & 1, y = octant >> 1 & 1, z = octant >> 2;
    int count = 0;
    for (int k = 0; k < 8; k++) {
        const int u = k & 1, v = k >> 1 & 1, w = k >> 2;
        const touched added = {near[x + u + 3 * (y + v) + 9 * (z + w)], in_x[x][u] & in_y[y][v] & in_z[z][w]};
        if (added.cell < 0) continue;
        int at = count++;
        for (; at > 0 && parents[at - 1].cell > added.cell; at--) parents[at] = parents[at - 1];
        parents[at] = added;
    }
    return count;
}

/* Finds the neighbours of a cell on its level, in ascending order: children of a cell have successive numbers.  The walk is at the
 * cell's parent. */
static int find_neighbours(const fmm_walk *walk, int level, int32_t cell, root *roots)
{
    const fmm_level *above = &walk->tree->level[level - 1], *cells = &walk->tree->level[level];
    touched parents[8];
    const int num_parents = find_parents(walk->near[level - 1], fmm_octant(cells, cell), parents);
    int count = 0;
    for (int p = 0; p < num_parents; p++) {
        const unsigned octants = above->octants[parents[p].cell];
        int32_t child = above->child[parents[p].cell];
        for (int o = 0; octants >> o; o++) {
            if (!(octants >> o & 1)) continue;
            roots[count] = (root){cells->leaf[child], child};
            count += (int)(parents[p].octants >> o & 1) & (child != cell);
            child++;
        }
    }
    return count;
}

/* Finds the neighbours of a leaf, coarser leaves that touch it, and those for which a cell around it is a direct cell of W, in the order
 * of their particles. */
static int find_roots(fmm_walk *walk, int level, int32_t cell, root *roots)
{
    const fmm_tree *tree = walk->tree;
    if (level == 0) return 0;
    fmm_walk_to(walk, level - 1, tree->level[level].parent[cell]);
    int count = find_neighbours(walk, level, cell, roots);
    if (level <= tree->coarsest) return count;
    fmm_walk_down(walk, level, cell);
    fmm_walk_find_coarser(walk, level);
    for (int i = 0; i < walk->num_touching[level]; i++) insert(roots, &count, (root){walk->touching[level][i], -1});
    for (int l = tree->coarsest + 1; l <= level; l++)
        for (int i = 0; i < walk->num_x[l] && fmm_is_direct(tree, l, walk->cell[l]); i++) insert(roots, &count, (root){walk->x[l][i], -1});
    return count;
}

static void collect(collector *c, int32_t leaf)
{
    const fmm_tree *tree = c->tree;
    root roots[MAX_ROOTS];
    c->level = tree->leaves.level[leaf];
    fmm_key_coordinates(tree->level[c->level].key[tree->leaves.cell[leaf]], c->at);
    int count = find_roots(&c->walk, c->level, tree->leaves.cell[leaf], roots);
    for (int r = 0; r < count; r++) {
        uint32_t at[3];
        if (roots[r].cell < 0 || fmm_is_leaf(tree, c->level, roots[r].cell)) {
            add_near(c, roots[r].leaf);
            continue;
        }
        fmm_key_coordinates(tree->level[c->level].key[roots[r].cell], at);
        descend(c, c->level, roots[r].cell, at);
    }
}

/* Leaves that one thread visited, and the beginning of their entries in the thread's lists. */
typedef struct chunk {
    int thread;
    int64_t near, w;
} chunk;

typedef struct visit {
    const fmm_tree *tree;
    int threads;
    collector *collectors; /* [threads] */
    int64_t num_chunks;
    chunk *chunks;
    fmm_near_list near;
    fmm_w_list w;
} visit;

static int64_t chunk_end(const visit *v, int64_t k)
{
    return (k + 1) * CHUNK < v->tree->leaves.count ? (k + 1) * CHUNK : v->tree->leaves.count;
}

/*
 * Allocates more memory than each thread usually needs for its part of U (7 to 37 leaves near a leaf).  The thread itself touches it first.
 * If threads enlarged it themselves, lists would take up to several times as long (notes/fmm-depth.md).
 */
static yoke_status make_first_room(visit *v)
{
    enum { EACH = 64 /* leaves near a leaf */ };
    const int64_t room = v->tree->leaves.count / v->threads * EACH + FIRST_ROOM;
    yoke_status status = YOKE_OK;
    for (int t = 0; t < v->threads && !status; t++) {
        status = yoke_allocate_untouched(v->tree->context, room, sizeof *v->collectors[t].near, &v->collectors[t].near);
        if (!status) v->collectors[t].near_room = room;
    }
    return status;
}

/* Collects the lists, with all threads.  start[t + 1] becomes the number of entries of leaf t. */
static void visit_leaves(visit *v)
{
#pragma omp parallel num_threads(v->threads)
    {
        int thread = omp_get_thread_num();
        collector *c = &v->collectors[thread];
        c->tree = v->tree;
        fmm_walk_start(&c->walk, v->tree);
#pragma omp for schedule(dynamic)
        for (int64_t k = 0; k < v->num_chunks; k++) {
            v->chunks[k] = (chunk){thread, c->num_near, c->num_w};
            for (int64_t t = k * CHUNK; t < chunk_end(v, k); t++) {
                int64_t near = c->num_near, w = c->num_w;
                collect(c, (int32_t)t);
                v->near.start[t + 1] = c->num_near - near;
                v->w.start[t + 1] = c->num_w - w;
            }
        }
    }
}

/* Copies the entries that the threads collected to the lists of all leaves. */
static void copy_chunks(visit *v)
{
#pragma omp parallel for schedule(static) num_threads(v->threads)
    for (int64_t k = 0; k < v->num_chunks; k++) {
        const chunk *from = &v->chunks[k];
        const collector *c = &v->collectors[from->thread];
        int64_t near = v->near.start[k * CHUNK], num_near = v->near.start[chunk_end(v, k)] - near;
        int64_t w = v->w.start[k * CHUNK], num_w = v->w.start[chunk_end(v, k)] - w;
        if (num_near > 0) memcpy(v->near.cell + near, c->near + from->near, (size_t)num_near * sizeof *c->near);
        for (int64_t i = 0; i < num_w; i++) {
            v->w.cell[w + i] = c->w[from->w + i].cell;
            v->w.level[w + i] = (unsigned char)c->w[from->w + i].level;
        }
    }
}

static int64_t sum_starts(int64_t *start, int64_t leaves)
{
    for (int64_t t = 0; t < leaves; t++) start[t + 1] += start[t];
    return start[leaves];
}

static yoke_status fill(visit *v)
{
    yoke_context *context = v->tree->context;
    int64_t leaves = v->tree->leaves.count;
    v->threads = omp_get_max_threads();
    v->num_chunks = (leaves + CHUNK - 1) / CHUNK;
    yoke_status status = yoke_allocate(context, leaves + 1, sizeof *v->near.start, &v->near.start);
    if (!status) status = yoke_allocate(context, leaves + 1, sizeof *v->w.start, &v->w.start);
    if (!status) status = yoke_allocate(context, v->threads, sizeof *v->collectors, &v->collectors);
    if (!status) status = yoke_allocate(context, v->num_chunks, sizeof *v->chunks, &v->chunks);
    if (!status) status = make_first_room(v);
    if (status) return status;
    visit_leaves(v);
    for (int t = 0; t < v->threads && !status; t++) status = v->collectors[t].status;
    if (status) return status;
    int64_t near = sum_starts(v->near.start, leaves), w = sum_starts(v->w.start, leaves);
    status = yoke_allocate_untouched(context, near, sizeof *v->near.cell, &v->near.cell);
    if (!status) status = yoke_allocate_untouched(context, w, sizeof *v->w.cell, &v->w.cell);
    if (!status) status = yoke_allocate_untouched(context, w, sizeof *v->w.level, &v->w.level);
    if (!status) copy_chunks(v);
    return status;
}

yoke_status fmm_leaf_lists_create(const fmm_tree *tree, fmm_near_list *near, fmm_w_list *w)
{
    visit v = {.tree = tree};
    yoke_status status = fill(&v);
    for (int t = 0; t < v.threads && v.collectors; t++) {
        yoke_release(tree->context, v.collectors[t].near);
        yoke_release(tree->context, v.collectors[t].w);
    }
    yoke_release(tree->context, v.collectors);
    yoke_release(tree->context, v.chunks);
    if (status) {
        fmm_near_list_destroy(tree, &v.near);
        fmm_w_list_destroy(tree, &v.w);
        return status;
    }
    *near = v.near;
    *w = v.w;
    return YOKE_OK;
}

void fmm_near_list_destroy(const fmm_tree *tree, fmm_near_list *list)
{
    yoke_release(tree->context, list->start);
    yoke_release(tree->context, list->cell);
    *list = (fmm_near_list){0};
}

void fmm_w_list_destroy(const fmm_tree *tree, fmm_w_list *list)
{
    yoke_release(tree->context, list->start);
    yoke_release(tree->context, list->cell);
    yoke_release(tree->context, list->level);
    *list = (fmm_w_list){0};
}

/* Fills the lists X.  start[l][c] is first the number of entries of a list, then its end.  Entries are written from the last one on, so
 * that finally it is the beginning. */
static void fill_x(const fmm_tree *tree, const fmm_w_list *w, int64_t cells, fmm_x_list *x)
{
    int64_t *const start = x->start[0];
    for (int64_t k = 0; k < w->start[tree->leaves.count]; k++) x->start[w->level[k]][w->cell[k]]++;
    for (int64_t c = 1; c <= cells; c++) start[c] += start[c - 1];
    for (int64_t t = tree->leaves.count - 1; t >= 0; t--)
        for (int64_t k = w->start[t]; k < w->start[t + 1]; k++) x->leaf[--x->start[w->level[k]][w->cell[k]]] = (int32_t)t;
}

yoke_status fmm_x_list_create(const fmm_tree *tree, const fmm_w_list *w, fmm_x_list *x)
{
    const int64_t entries = w->start[tree->leaves.count];
    fmm_x_list created = {0};
    int64_t cells = 0;
    for (int l = 0; l <= tree->depth; l++) cells += tree->level[l].count;
    *x = created;
    if (entries == 0) return YOKE_OK;
    yoke_status status = yoke_allocate(tree->context, cells + 1, sizeof *created.start[0], &created.start[0]);
    if (!status) status = yoke_allocate_untouched(tree->context, entries, sizeof *created.leaf, &created.leaf);
    if (status) {
        fmm_x_list_destroy(tree, &created);
        return status;
    }
    for (int l = 1; l <= tree->depth; l++) created.start[l] = created.start[l - 1] + tree->level[l - 1].count;
    fill_x(tree, w, cells, &created);
    *x = created;
    return YOKE_OK;
}

void fmm_x_list_destroy(const fmm_tree *tree, fmm_x_list *list)
{
    yoke_release(tree->context, list->start[0]);
    yoke_release(tree->context, list->leaf);
    *list = (fmm_x_list){0};
}
