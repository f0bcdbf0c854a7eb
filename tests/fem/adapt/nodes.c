/* Elements of ranks on simulated nodes whose times are known functions: what a run of several steps decides, and what it costs. */
#include "adapt/distribution/nodes.h"

#include <math.h>

#include "context.h"
#include "random_part.h"

enum { MOST_RANKS = 4, STEPS = 8, PRODUCTS = 20 };

/* Seconds of a product with x elements: start_s + x second_s, and beyond `memory` elements so many times as long for each further one. */
typedef struct node {
    double second_s, memory, factor, start_s;
} node;

/* What is known of the nodes: the true function (a run whose models are right), or a constant speed that was measured with noise. */
typedef struct cluster {
    int ranks;
    const node *nodes;
    int noisy, known;
    double speed[MOST_RANKS]; /* elements a second, as measured last */
    uint64_t state;           /* of the noise */
} cluster;

static double noise(cluster *c) { return 1 + 0.07 * (2 * random_part(&c->state) - 1); /* 0.93 to 1.07 */ }

static double true_seconds(const node *n, double x)
{
    return n->start_s + n->second_s * (fmin(x, n->memory) + n->factor * fmax(x - n->memory, 0));
}

static yoke_status predict(void *user, const int64_t *elements, double *seconds)
{
    const cluster *c = user;
    for (int i = 0; i < c->ranks; i++) {
        if (!elements[i]) continue;
        seconds[i] = !c->known  ? (double)NAN
                     : c->noisy ? (double)elements[i] / c->speed[i]
                                : true_seconds(&c->nodes[i], (double)elements[i]);
    }
    return YOKE_OK;
}

static double longest(const cluster *c, const int64_t *parts)
{
    double most = 0;
    for (int i = 0; i < c->ranks; i++) most = fmax(most, parts[i] ? true_seconds(&c->nodes[i], (double)parts[i]) : 0);
    return most;
}

static void cut_equally(int ranks, int64_t elements, int64_t *parts)
{
    for (int i = 0; i < ranks; i++) parts[i] = elements / ranks + (i < elements % ranks);
}

/* The least time that there is: all end together.  By bisection. */
static double least_time(const cluster *c, double elements)
{
    double low = 0, high = true_seconds(&c->nodes[0], elements);
    for (int k = 0; k < 200; k++) {
        const double middle = (low + high) / 2;
        double sum = 0;
        for (int i = 0; i < c->ranks; i++) {
            const node *n = &c->nodes[i];
            const double full = n->second_s * n->memory, t = fmax(middle - n->start_s, 0);
            sum += t <= full ? t / n->second_s : n->memory + (t - full) / (n->second_s * n->factor);
        }
        if (sum < elements)
            low = middle;
        else
            high = middle;
    }
    return high;
}

typedef struct run {
    fem_nodes_choice choice[STEPS];
    double excess[STEPS];    /* longest over the least time, less 1 */
    double seconds, equal_s; /* of all solves with their moves, and of those with equal parts */
    double moved_s;          /* of that, of moves */
} run;

/* Meshes that become 1.7 times as large from step to step, mostly on the first rank. */
static run refine(cluster *c, int64_t elements, double move_s)
{
    run r = {{FEM_NODES_EQUAL}, {0}, 0, 0, 0};
    fem_nodes_errors errors = {{0}, 0};
    int64_t parts[MOST_RANKS], now[MOST_RANKS], equal[MOST_RANKS];
    double seconds[MOST_RANKS];
    cut_equally(c->ranks, elements, parts);
    for (int i = 0; i < c->ranks; i++) seconds[i] = NAN;
    for (int step = 0; step < STEPS; step++) {
        cut_equally(c->ranks, elements, equal);
        r.excess[step] = longest(c, parts) / least_time(c, (double)elements) - 1;
        r.seconds += PRODUCTS * longest(c, parts);
        r.equal_s += PRODUCTS * longest(c, equal);
        double worst = NAN;
        for (int i = 0; i < c->ranks; i++) {
            if (!parts[i]) continue;
            const double measured = true_seconds(&c->nodes[i], (double)parts[i]) * (c->noisy ? noise(c) : 1);
            c->speed[i] = (double)parts[i] / measured;
            if (!isnan(seconds[i])) worst = fmax(worst, fmax(seconds[i] / measured, measured / seconds[i]) - 1);
        }
        c->known = 1;
        fem_nodes_learn(&errors, worst);
        memcpy(now, parts, sizeof now);
        const int64_t more = elements * 7 / 10;
        now[0] += more;
        elements += more;
        fem_nodes_answer answer;
        const fem_nodes_question question = {
            c->ranks, elements, now, PRODUCTS, fem_nodes_tolerance(&errors, step && r.choice[step - 1] != FEM_NODES_EQUAL),
            move_s,   predict,  c};
        assert_int_equal(fem_nodes_decide(context, &question, parts, &answer), YOKE_OK);
        int64_t sum = 0;
        for (int i = 0; i < c->ranks; i++) sum += parts[i];
        assert_int_equal(sum, elements);
        r.choice[step] = answer.choice;
        for (int i = 0; i < c->ranks; i++) seconds[i] = NAN;
        assert_int_equal(predict(c, parts, seconds), YOKE_OK);
        if (!isnan(move_s)) r.moved_s += move_s * (double)fem_nodes_moved(c->ranks, now, parts);
    }
    r.seconds += r.moved_s;
    return r;
}

static void equal_nodes_get_equal_parts_in_spite_of_noise(void **state)
{
    (void)state;
    static const node nodes[MOST_RANKS] = {{1e-6, INFINITY, 1, 0}, {1e-6, INFINITY, 1, 0}, {1e-6, INFINITY, 1, 0}, {1e-6, INFINITY, 1, 0}};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        cluster c = {.ranks = 2 + (int)(seed % 3), .nodes = nodes, .noisy = 1, .state = seed};
        const run r = refine(&c, 1000, NAN);
        for (int step = 0; step < STEPS; step++) assert_int_equal(r.choice[step], FEM_NODES_EQUAL);
    }
}

/* Parts of the fourth mesh, that is after three steps, are within 5 % of the least time that there is, and of those after. */
static void unequal_nodes_are_balanced_after_three_steps(void **state)
{
    (void)state;
    static const node nodes[][MOST_RANKS] = {
        {{1e-6, INFINITY, 1, 0}, {1.2e-6, INFINITY, 1, 0}},
        {{1e-6, INFINITY, 1, 0}, {4e-6, INFINITY, 1, 0}},
        {{4e-6, INFINITY, 1, 0}, {1e-6, INFINITY, 1, 0}},
        {{1e-6, INFINITY, 1, 1e-4}, {3e-6, INFINITY, 1, 0}, {2e-6, 2000, 3, 0}, {4e-6, INFINITY, 1, 1e-3}},
        {{1e-6, 3000, 5, 0}, {1e-6, INFINITY, 1, 0}, {1e-6, 1000, 8, 0}, {5e-6, INFINITY, 1, 0}},
    };
    static const int ranks[] = {2, 2, 2, 4, 4};
    for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++) {
        cluster c = {.ranks = ranks[k], .nodes = nodes[k]};
        const run r = refine(&c, 500, NAN);
        for (int step = 3; step < STEPS; step++) assert_true(r.excess[step] <= 0.05);
    }
}

/* Also with noise, and with moves that cost much or little.  The solves alone: with equal parts elements move too. */
static void unequal_nodes_are_never_slower_than_with_equal_parts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        cluster draw = {.state = seed};
        node nodes[MOST_RANKS];
        for (int i = 0; i < MOST_RANKS; i++) {
            for (int k = 0; k < 4; k++) noise(&draw);
            nodes[i] = (node){1e-6 * exp(14 * (noise(&draw) - 1)), INFINITY, 1, 0}; /* 0.37 to 2.7 */
        }
        static const double moves[] = {NAN, 1e-9, 1e-6};
        for (int k = 0; k < 6; k++) {
            cluster c = {.ranks = 2 + (int)(seed % 3), .nodes = nodes, .noisy = k >= 3, .state = seed};
            const run r = refine(&c, 1000, moves[k % 3]);
            assert_true(r.seconds - r.moved_s <= (c.noisy ? 1.001 : 1) * r.equal_s);
        }
    }
}

/* Ranks of 1 : 4, of which the first one got all new elements: they move where that costs less than the time it saves, and stay where it costs more. */
static void elements_stay_where_moving_costs_more_than_it_saves(void **state)
{
    (void)state;
    static const node nodes[] = {{1e-6, INFINITY, 1, 0}, {4e-6, INFINITY, 1, 0}};
    cluster c = {.ranks = 2, .nodes = nodes, .known = 1};
    const int64_t now[] = {9000, 1000};
    int64_t parts[2];
    fem_nodes_answer answer;
    /* Best are 8000 and 2000: 1000 elements move and each product saves a millisecond. */
    fem_nodes_question question = {2, 10000, now, PRODUCTS, 0.05, 1.9e-5, predict, &c};
    assert_int_equal(fem_nodes_decide(context, &question, parts, &answer), YOKE_OK);
    assert_int_equal(answer.choice, FEM_NODES_SPEEDS);
    assert_true(labs((long)parts[0] - 8000) <= 40); /* within half a per cent */
    assert_true(fabs(answer.gain_s - PRODUCTS * 1e-3) <= 0.05 * PRODUCTS * 1e-3);
    assert_true(fabs(answer.cost_s - 1000 * 1.9e-5) <= 0.05 * 1000 * 1.9e-5);
    question.move_s = 2.2e-5;
    assert_int_equal(fem_nodes_decide(context, &question, parts, &answer), YOKE_OK);
    assert_int_equal(answer.choice, FEM_NODES_KEPT);
    assert_memory_equal(parts, now, sizeof now);
    assert_true(answer.gain_s <= answer.cost_s);
    /* Never where they lie worse than equal parts. */
    const int64_t bad[] = {1000, 9000};
    question.now = bad;
    question.move_s = 1;
    assert_int_equal(fem_nodes_decide(context, &question, parts, &answer), YOKE_OK);
    assert_int_equal(answer.choice, FEM_NODES_SPEEDS);
}

static void parts_are_equal_where_a_rank_is_not_known_or_has_nothing(void **state)
{
    (void)state;
    static const node nodes[] = {{1e-6, INFINITY, 1, 0}, {4e-6, INFINITY, 1, 0}, {1e-6, INFINITY, 1, 0}};
    cluster c = {.ranks = 3, .nodes = nodes};
    int64_t now[] = {11, 0, 0}, parts[3];
    fem_nodes_answer answer;
    fem_nodes_question question = {3, 11, now, PRODUCTS, 0.05, NAN, predict, &c};
    assert_int_equal(fem_nodes_decide(context, &question, parts, &answer), YOKE_OK);
    assert_int_equal(answer.choice, FEM_NODES_EQUAL);
    assert_true(isnan(answer.gain_s));
    assert_int_equal(parts[0] + parts[1] + parts[2], 11);
    assert_true(parts[0] - parts[2] <= 1);
    c.known = 1;
    now[0] = question.elements = 2; /* fewer than ranks */
    assert_int_equal(fem_nodes_decide(context, &question, parts, &answer), YOKE_OK);
    assert_int_equal(answer.choice, FEM_NODES_EQUAL);
    assert_int_equal(parts[0] + parts[1] + parts[2], 2);
}

static void moved_elements_are_those_on_another_rank(void **state)
{
    (void)state;
    static const int64_t a[] = {5, 3, 0, 2}, b[] = {2, 6, 1, 1}, c[] = {0, 0, 0, 10};
    assert_int_equal(fem_nodes_moved(4, a, a), 0);
    assert_int_equal(fem_nodes_moved(4, a, b), 3 + 1); /* elements 2, 3, 4 to rank 1; 8 to rank 2 */
    assert_int_equal(fem_nodes_moved(4, a, c), 8);
    assert_int_equal(fem_nodes_moved(4, c, a), 8);
}

/* A move of few elements takes its time for other things. */
static void the_cheapest_move_tells_what_an_element_costs(void **state)
{
    (void)state;
    assert_true(isnan(fem_nodes_learn_move(NAN, 0, 1)));
    double move_s = fem_nodes_learn_move(NAN, 1000, 1e-3);
    assert_true(move_s == 1e-6);
    move_s = fem_nodes_learn_move(move_s, 3, 3e-4);
    assert_true(move_s == 1e-6);
    move_s = fem_nodes_learn_move(move_s, 0, 0);
    assert_true(move_s == 1e-6);
    assert_true(fem_nodes_learn_move(move_s, 4000, 1e-3) == 2.5e-7);
}

static void tolerance_follows_errors_of_predictions(void **state)
{
    (void)state;
    fem_nodes_errors errors = {{0}, 0};
    assert_true(fem_nodes_tolerance(&errors, 0) == 0.125);
    fem_nodes_learn(&errors, NAN);
    fem_nodes_learn(&errors, 0);
    assert_true(fem_nodes_tolerance(&errors, 0) == 0.125);
    fem_nodes_learn(&errors, 0);
    assert_true(fem_nodes_tolerance(&errors, 0) == 0.05);
    for (int k = 0; k < FEM_NODES_ERRORS; k++) fem_nodes_learn(&errors, 0.2);
    assert_true(fabs(fem_nodes_tolerance(&errors, 0) - 0.6) < 1e-12);
    fem_nodes_learn(&errors, 10); /* a disturbance, or a change: nothing moves until it is known which */
    assert_true(fabs(fem_nodes_tolerance(&errors, 0) - 30) < 1e-12);
    fem_nodes_learn(&errors, 0.01);
    assert_true(fabs(fem_nodes_tolerance(&errors, 0) - 0.6) < 1e-12);
    fem_nodes_learn(&errors, 10); /* again and again it is noise */
    fem_nodes_learn(&errors, 0.01);
    assert_true(fabs(fem_nodes_tolerance(&errors, 0) - 30) < 1e-12);
    assert_true(fem_nodes_tolerance(&errors, 1) == 0.05); /* parts that differ go on so, however wrong predictions are */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_nodes_get_equal_parts_in_spite_of_noise),
    cmocka_unit_test(unequal_nodes_are_balanced_after_three_steps),
    cmocka_unit_test(unequal_nodes_are_never_slower_than_with_equal_parts),
    cmocka_unit_test(elements_stay_where_moving_costs_more_than_it_saves),
    cmocka_unit_test(parts_are_equal_where_a_rank_is_not_known_or_has_nothing),
    cmocka_unit_test(moved_elements_are_those_on_another_rank),
    cmocka_unit_test(the_cheapest_move_tells_what_an_element_costs),
    cmocka_unit_test(tolerance_follows_errors_of_predictions),
};

UNIT_MAIN(tests, context_start, context_end)
