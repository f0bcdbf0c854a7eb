#include "solver/multigrid/reach_parts.h"

#include <stdlib.h>
#include <string.h>

#include "solver/multigrid/couplings.h"
#include "space/exchange/runs.h"

/* A node of a part that another rank solves. */
typedef struct registered {
    int64_t global;
    uint8_t prescribed, owned; /* owned: by the rank that sends this */
    uint8_t unused[6];
} registered;

/* A part of which several ranks have nodes, and the number of its nodes that one of them owns. */
typedef struct claim {
    int64_t part;
    int64_t owned;
} claim;

/* State of the search for parts. */
typedef struct search {
    multigrid_reach *reach;
    int32_t *root;   /* [num_local] a node of the same part; at the end the same one for all nodes of the part */
    int64_t *part;   /* [num_local] at roots: lowest number over all ranks of a node of the part */
    uint8_t *shared; /* [num_local] at roots: nonzero if several ranks have nodes of the part */
    int *solver;     /* [num_local] at roots: the rank that solves a shared part */
    int64_t *first;  /* [ranks + 1] number of the first node that each rank owns, over all ranks */
} search;

/* ------------------------------------------------------------------------------------------------------- parts */

static int32_t root_of(int32_t *root, int32_t node)
{
    while (root[node] != node) {
        root[node] = root[root[node]];
        node = root[node];
    }
    return node;
}

static void join_nodes(search *s)
{
    const fem_space *space = s->reach->space;
    for (int32_t i = 0; i < space->num_nodes; i++) s->root[i] = i;
    for (int32_t e = 0; e < space->num_elements; e++) {
        int32_t pair[MULTIGRID_MOST_PAIRS][2];
        const int count = multigrid_element_pairs(space, e, pair);
        for (int i = 0; i < count; i++) {
            const int32_t a = root_of(s->root, pair[i][0]), b = root_of(s->root, pair[i][1]);
            s->root[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int32_t i = 0; i < space->num_nodes; i++) s->root[i] = root_of(s->root, i);
    for (int32_t i = 0; i < space->num_nodes; i++) {
        int64_t *part = &s->part[s->root[i]];
        if (s->root[i] == i || space->global_node[i] < *part) *part = space->global_node[i]; /* a root is the first node of its part */
    }
    for (int32_t i = 0; i < space->halo->num_shared; i++) s->shared[s->root[space->halo->shared[i]]] = 1;
}

/* Gives each part the lowest number among all ranks that have nodes of it: neighbours exchange their numbers until nothing changes. */
static yoke_status agree_on_parts(search *s)
{
    const fem_space *space = s->reach->space;
    const fem_halo *halo = space->halo;
    fem_halo_messages *messages = NULL;
    int64_t *own = NULL;
    yoke_status status = fem_halo_messages_create(halo, sizeof *own, &messages);
    if (!status) status = yoke_allocate(space->context, space->num_nodes, sizeof *own, &own);
    status = app_ranks_agree(space->ranks, status);
    for (double changed = 1; changed > 0 && !status; app_ranks_max(space->ranks, &changed, 1)) {
        for (int32_t i = 0; i < halo->num_shared; i++) own[halo->shared[i]] = s->part[s->root[halo->shared[i]]];
        fem_halo_begin(messages, sizeof *own, 1, own, NULL);
        fem_halo_wait(messages);
        const int64_t *told = messages->received;
        changed = 0;
        for (int32_t i = 0; i < halo->first[halo->num_neighbours]; i++) {
            int64_t *part = &s->part[s->root[halo->shared[halo->item[i]]]];
            if (told[i] >= *part) continue;
            *part = told[i];
            changed = 1;
        }
    }
    fem_halo_messages_destroy(messages);
    yoke_release(space->context, own);
    return status;
}

static int by_global(const void *a, const void *b)
{
    const reach_name *p = a, *q = b;
    return (p->global > q->global) - (p->global < q->global);
}

/* Joins parts that elements of other ranks connect: they get one root here as well. */
static yoke_status join_parts(search *s)
{
    const int32_t nodes = s->reach->num_local;
    reach_name *name = NULL;
    int32_t count = 0;
    yoke_status status = yoke_allocate(s->reach->context, nodes, sizeof *name, &name);
    if (!status) {
        for (int32_t i = 0; i < nodes; i++)
            if (s->root[i] == i && s->shared[i]) name[count++] = (reach_name){s->part[i], i};
        if (count) qsort(name, (size_t)count, sizeof *name, by_global);
        for (int32_t i = 1; i < count; i++)
            if (name[i].global == name[i - 1].global) name[i].node = s->root[name[i].node] = name[i - 1].node;
        for (int32_t i = 0; i < nodes; i++) s->root[i] = s->root[s->root[i]];
    }
    yoke_release(s->reach->context, name);
    return app_ranks_agree(s->reach->space->ranks, status);
}

/* -------------------------------------------------------------------------------------------------- solving ranks */

static int by_part_and_rank(const void *a, const void *b)
{
    const claim *p = *(claim *const *)a, *q = *(claim *const *)b;
    if (p->part != q->part) return p->part < q->part ? -1 : 1;
    return (p > q) - (p < q); /* claims are in the order of the ranks */
}

/* Chooses, for all claims on the parts that are decided here, the rank with most nodes of each part. */
static yoke_status decide(yoke_context *context, const fem_lists *claims, int *solvers)
{
    claim *first = claims->items;
    const claim **sorted = NULL;
    int *rank = NULL;
    yoke_status status = yoke_allocate(context, claims->all, sizeof *sorted, &sorted);
    if (!status) status = yoke_allocate(context, claims->all, sizeof *rank, &rank);
    for (int64_t i = 0; i < claims->all && !status; i++) sorted[i] = &first[i];
    for (int r = 0; r < claims->num_ranks && !status; r++)
        for (int i = claims->first[r]; i < claims->first[r] + claims->count[r]; i++) rank[i] = r;
    if (!status && claims->all) qsort(sorted, (size_t)claims->all, sizeof *sorted, by_part_and_rank);
    for (int64_t i = 0, end; i < claims->all && !status; i = end) {
        int64_t best = i;
        for (end = i; end < claims->all && sorted[end]->part == sorted[i]->part; end++)
            if (sorted[end]->owned > sorted[best]->owned) best = end;
        for (int64_t k = i; k < end; k++) solvers[sorted[k] - first] = rank[sorted[best] - first];
    }
    yoke_release(context, sorted);
    yoke_release(context, rank);
    return status;
}

/*
 * Returns the rank that owns the part's first node.  That rank has a claim itself, so claims go to neighbours, and one claim for each part
 * is not sent.
 */
static int decided_by(const search *s, int32_t root)
{
    return fem_runs_owner(s->first, app_ranks_count(s->reach->space->ranks), s->part[root]);
}

/* owned [num_local]: at roots, the number of nodes of the part that this rank owns. */
static yoke_status list_claims(const search *s, const int64_t *owned, fem_lists *claims)
{
    const int32_t nodes = s->reach->num_local;
    yoke_status status = fem_lists_start(s->reach->context, s->reach->space->ranks, sizeof(claim), claims);
    if (status) return status;
    for (int32_t i = 0; i < nodes; i++)
        if (s->root[i] == i && s->shared[i]) claims->count[decided_by(s, i)]++;
    status = fem_lists_place(claims);
    for (int32_t i = 0; i < nodes && !status; i++)
        if (s->root[i] == i && s->shared[i]) *(claim *)fem_lists_next(claims, decided_by(s, i)) = (claim){s->part[i], owned[i]};
    if (!status) fem_lists_rewind(claims);
    return status;
}

static yoke_status choose_solvers(search *s)
{
    const fem_space *space = s->reach->space;
    yoke_context *context = space->context;
    const int32_t nodes = space->num_nodes;
    fem_lists mine = {.all = 0}, theirs = {.all = 0};
    int64_t *owned = NULL;
    int *answers = NULL, *told = NULL;
    yoke_status status = yoke_allocate(context, nodes, sizeof *owned, &owned);
    for (int32_t i = 0; i < nodes && !status; i++) owned[s->root[i]] += fem_space_owns(space, i);
    if (!status) status = list_claims(s, owned, &mine);
    status = fem_lists_swap(context, space->ranks, status, &mine, &theirs);
    if (!status) {
        status = yoke_allocate(context, theirs.all, sizeof *answers, &answers);
        if (!status) status = yoke_allocate(context, mine.all, sizeof *told, &told);
        if (!status) status = decide(context, &theirs, answers);
        status = app_ranks_agree(space->ranks, status);
    }
    if (!status) {
        fem_lists_answer(&mine, &theirs, sizeof *answers, answers, told);
        for (int32_t i = 0; i < nodes; i++)
            if (s->root[i] == i && s->shared[i]) s->solver[i] = told[mine.first[decided_by(s, i)]++];
    }
    fem_lists_release(&mine);
    fem_lists_release(&theirs);
    yoke_release(context, owned);
    yoke_release(context, answers);
    yoke_release(context, told);
    return status;
}

/* Fills the solver of all nodes: -1 if this rank solves them. */
static void fill_solvers(search *s)
{
    const int here = app_ranks_number(s->reach->space->ranks);
    for (int32_t i = 0; i < s->reach->num_local; i++) {
        const int32_t root = s->root[i];
        s->reach->solver[i] = s->shared[root] && s->solver[root] != here ? s->solver[root] : -1;
    }
}

/* ------------------------------------------------------------------------------------------ nodes of other ranks */

static yoke_status list_nodes(multigrid_reach *reach, fem_lists *sent, int32_t **node, uint8_t **owned)
{
    const fem_space *space = reach->space;
    yoke_status status = fem_lists_start(reach->context, space->ranks, sizeof(registered), sent);
    for (int32_t i = 0; i < space->num_nodes && !status; i++)
        if (reach->solver[i] >= 0) sent->count[reach->solver[i]]++;
    if (!status) status = fem_lists_place(sent);
    if (!status) status = yoke_allocate(reach->context, sent->all, sizeof **node, node);
    if (!status) status = yoke_allocate(reach->context, sent->all, 1, owned);
    if (status) return status;
    for (int32_t i = 0; i < space->num_nodes; i++) {
        if (reach->solver[i] < 0) continue;
        registered *item = fem_lists_next(sent, reach->solver[i]);
        const int64_t at = item - (registered *)sent->items;
        *item =
            (registered){.global = space->global_node[i], .prescribed = reach->prescribed[i], .owned = (uint8_t)fem_space_owns(space, i)};
        (*node)[at] = i;
        (*owned)[at] = item->owned;
    }
    fem_lists_rewind(sent);
    return YOKE_OK;
}

int32_t reach_find(const reach_name *names, int64_t count, int64_t global)
{
    const reach_name wanted = {global, 0};
    const reach_name *found = bsearch(&wanted, names, (size_t)count, sizeof *names, by_global);
    return found ? found->node : -1;
}

/*
 * Names the nodes of shared parts that are solved here: first this rank's own copies, then those that only other ranks have, which get
 * numbers here.
 */
static yoke_status name_nodes(search *s, const fem_lists *received, reach_name **names, int64_t *count)
{
    multigrid_reach *reach = s->reach;
    const registered *item = received->items;
    reach_name *name = NULL;
    int64_t local = 0, all;
    yoke_status status = yoke_allocate(reach->context, reach->num_local + received->all, sizeof *name, &name);
    if (status) return status;
    for (int32_t i = 0; i < reach->num_local; i++)
        if (reach->solver[i] < 0 && s->shared[s->root[i]]) name[local++] = (reach_name){reach->space->global_node[i], i};
    if (local) qsort(name, (size_t)local, sizeof *name, by_global);
    all = local;
    for (int64_t i = 0; i < received->all; i++)
        if (reach_find(name, local, item[i].global) < 0) name[all++] = (reach_name){item[i].global, -1};
    if (all > local) qsort(name + local, (size_t)(all - local), sizeof *name, by_global);
    int64_t kept = local;
    for (int64_t i = local; i < all; i++)
        if (i == local || name[i].global != name[kept - 1].global) name[kept++] = (reach_name){name[i].global, reach->num_nodes++};
    if (kept) qsort(name, (size_t)kept, sizeof *name, by_global);
    *names = name;
    *count = kept;
    return YOKE_OK;
}

/* Completes the prescribed components and the order over all ranks for the nodes that were added. */
static yoke_status describe_nodes(multigrid_reach *reach, const fem_lists *received, const int32_t *node)
{
    const registered *item = received->items;
    uint8_t *prescribed = NULL;
    reach_name *name = NULL;
    yoke_status status = yoke_allocate(reach->context, reach->num_nodes, 1, &prescribed);
    if (!status) status = yoke_allocate(reach->context, reach->num_nodes, sizeof *reach->order, &reach->order);
    if (!status) status = yoke_allocate(reach->context, reach->num_nodes, sizeof *name, &name);
    if (!status) {
        memcpy(prescribed, reach->prescribed, (size_t)reach->num_local);
        for (int32_t i = 0; i < reach->num_local; i++) name[i] = (reach_name){reach->space->global_node[i], i};
        for (int64_t i = 0; i < received->all; i++) {
            prescribed[node[i]] = item[i].prescribed;
            name[node[i]] = (reach_name){item[i].global, node[i]};
        }
        if (reach->num_nodes) qsort(name, (size_t)reach->num_nodes, sizeof *name, by_global);
        for (int32_t i = 0; i < reach->num_nodes; i++) reach->order[i] = name[i].node;
        yoke_release(reach->context, reach->prescribed);
        reach->prescribed = prescribed;
        prescribed = NULL;
    }
    yoke_release(reach->context, prescribed);
    yoke_release(reach->context, name);
    return status;
}

/* Makes the routes of a solve: up from a node's owner, down to all ranks that have the node. */
static yoke_status make_routes(multigrid_reach *reach, const fem_lists *sent, const int32_t *sent_node, const uint8_t *sent_owned,
                               const fem_lists *received, const int32_t *node)
{
    const registered *item = received->items;
    uint8_t *owned = NULL;
    yoke_status status = yoke_allocate(reach->context, received->all, 1, &owned);
    for (int64_t i = 0; i < received->all && !status; i++) owned[i] = item[i].owned;
    if (!status) status = reach_route(reach, sent, sent_node, sent_owned, &reach->up);
    if (!status) status = reach_route(reach, received, node, owned, &reach->from_below);
    if (!status) status = reach_route(reach, received, node, NULL, &reach->down);
    if (!status) status = reach_route(reach, sent, sent_node, NULL, &reach->from_above);
    yoke_release(reach->context, owned);
    return status;
}

static yoke_status reach_out(search *s, fem_subdomain *subdomain)
{
    multigrid_reach *reach = s->reach;
    yoke_context *context = reach->context;
    fem_lists sent = {.all = 0}, received = {.all = 0};
    int32_t *sent_node = NULL, *node = NULL;
    uint8_t *sent_owned = NULL;
    reach_name *names = NULL;
    int64_t count = 0;
    yoke_status status = list_nodes(reach, &sent, &sent_node, &sent_owned);
    status = fem_lists_swap(context, reach->space->ranks, status, &sent, &received);
    if (!status) {
        status = name_nodes(s, &received, &names, &count);
        if (!status) status = yoke_allocate(context, received.all, sizeof *node, &node);
        const registered *item = received.items;
        for (int64_t i = 0; i < received.all && !status; i++) node[i] = reach_find(names, count, item[i].global);
        if (!status) status = describe_nodes(reach, &received, node);
        if (!status) status = make_routes(reach, &sent, sent_node, sent_owned, &received, node);
        status = app_ranks_agree(reach->space->ranks, status);
    }
    if (!status) status = reach_exchange_pieces(reach, subdomain, s->root, names, count);
    fem_lists_release(&sent);
    fem_lists_release(&received);
    void *arrays[] = {sent_node, node, sent_owned, names};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(context, arrays[i]);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- creation */

static yoke_status reach_ranks(multigrid_reach *reach, fem_subdomain *subdomain)
{
    yoke_context *context = reach->context;
    const int64_t nodes = reach->num_local;
    search s = {.reach = reach};
    yoke_status status = yoke_allocate(context, nodes, sizeof *s.root, &s.root);
    if (!status) status = yoke_allocate(context, nodes, sizeof *s.part, &s.part);
    if (!status) status = yoke_allocate(context, nodes, 1, &s.shared);
    if (!status) status = yoke_allocate(context, nodes, sizeof *s.solver, &s.solver);
    if (!status) status = yoke_allocate(context, app_ranks_count(reach->space->ranks) + 1, sizeof *s.first, &s.first);
    if (!status) status = yoke_allocate(context, nodes, sizeof *reach->solver, &reach->solver);
    status = app_ranks_agree(reach->space->ranks, status);
    if (!status) {
        fem_runs_list(reach->space->ranks, reach->space->first_owned, reach->space->num_global_nodes, s.first);
        join_nodes(&s);
        status = agree_on_parts(&s);
    }
    if (!status) status = join_parts(&s);
    if (!status) status = choose_solvers(&s);
    if (!status) {
        fill_solvers(&s);
        status = reach_out(&s, subdomain);
    }
    void *arrays[] = {s.root, s.part, s.shared, s.solver, s.first};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(context, arrays[i]);
    return status;
}

yoke_status multigrid_reach_create(const fem_space *space, const fem_constraints *constraints, fem_subdomain *subdomain,
                                   multigrid_reach **out)
{
    yoke_context *context = space->context;
    multigrid_reach *reach = NULL;
    yoke_status status = yoke_allocate(context, 1, sizeof *reach, &reach);
    if (!status) {
        *reach = (multigrid_reach){.context = context,
                                   .space = space,
                                   .components = space->components,
                                   .num_local = space->num_nodes,
                                   .num_nodes = space->num_nodes};
        status = yoke_allocate(context, space->num_nodes, 1, &reach->prescribed);
    }
    if (!status) memcpy(reach->prescribed, constraints->prescribed, (size_t)space->num_nodes);
    status = app_ranks_agree(space->ranks, status);
    if (!status && space->ranks) status = reach_ranks(reach, subdomain);
    if (!status && space->ranks)
        status = app_ranks_agree(space->ranks,
                                 yoke_allocate(context, (int64_t)reach->num_nodes * reach->components, sizeof *reach->all, &reach->all));
    if (status)
        multigrid_reach_destroy(reach);
    else
        *out = reach;
    return status;
}

void multigrid_reach_release_pieces(multigrid_reach *reach)
{
    fem_lists_release(&reach->pieces);
    yoke_release(reach->context, reach->piece);
    yoke_release(reach->context, reach->order);
    reach->pieces = (fem_lists){.all = 0};
    reach->piece = NULL;
    reach->num_pieces = 0;
    reach->order = NULL;
}

void multigrid_reach_destroy(multigrid_reach *reach)
{
    if (!reach) return;
    multigrid_reach_release_pieces(reach);
    multigrid_route *routes[] = {&reach->up, &reach->from_below, &reach->down, &reach->from_above};
    for (int i = 0; i < 4; i++) reach_release_route(reach->context, routes[i]);
    void *arrays[] = {reach->prescribed, reach->solver, reach->requests, reach->all};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) yoke_release(reach->context, arrays[i]);
    yoke_release(reach->context, reach);
}
