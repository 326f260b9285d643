/* SPDX-License-Identifier: MIT */
/*
 * Times that are carried inward, from simulated samples of a loop whose parts take a known time:
 *
 *   0 mov eax, 0   1 mov ecx, 0   2 add ecx, 1   3 cmp ecx, ROUNDS   4 jne 2   5 call g
 *   6 add eax, 1   7 cmp eax, …   8 jne 1        9 ret
 *
 *   g:  0 mov ecx, 0   1 add ecx, 1   2 cmp ecx, ROUNDS   3 jne 1   4 ret
 */
#include "ingest/join/loops/loop_shares.h"
#include "model/index.h"

#include <math.h>
#include <string.h>

enum {
	MAX_NODES = 10,
	OUTER = 1,
	INNER = 2,
	CALL = 5,
	CALLED = 100, /* the first instruction of g */
	G = 7,
	INNER_ROUNDS = 40,
	G_ROUNDS = 300,
	MAX_SAMPLES = 4000,
};

typedef struct {
	LodeDependenceNode nodes[MAX_NODES];
	uint32_t firsts[MAX_NODES + 1], n;
	LodeDependenceWay ways[2 * MAX_NODES];
	bool leaves[MAX_NODES];
	uint8_t bytes[MAX_NODES][8];
	LodeDependenceGraph graph;
	LodeLoopCode code;
} Program;

static LodeLoopBytes bytes_of(const void *data, uint32_t node)
{
	const Program *program = data;

	return (LodeLoopBytes){program->bytes[node], sizeof(program->bytes[node])};
}

static uint32_t called_by(const void *data, uint32_t node)
{
	(void)data;
	return node == CALL ? G : LODE_NONE;
}

/* One node after the other, and jumps back from[i] → to[i]; the last one returns. */
static void make(Program *program, const uint8_t (*bytes)[8], uint32_t n, const uint32_t *from,
	const uint32_t *to, uint32_t n_jumps)
{
	uint32_t n_ways = 0;

	memset(program, 0, sizeof(*program));
	memcpy(program->bytes, bytes, n * sizeof(*bytes));
	program->n = n;
	program->leaves[n - 1] = true;
	for (uint32_t i = 0; i < n; i++) {
		LodeDependenceNode *node = &program->nodes[i];
		uint8_t of_flags = bytes[i][0] == 0x81;
		node->is_known = true;
		node->is_call = bytes[i][0] == 0xe8;
		if (bytes[i][0] == 0xb8 || (of_flags && bytes[i][1] == 0xc0))
			node->use.changes |= lode_register_bit(0);
		if (bytes[i][0] == 0xb9 || (of_flags && bytes[i][1] == 0xc1))
			node->use.changes |= lode_register_bit(1);
		if (of_flags)
			node->use.changes |= lode_register_bit(LODE_BIT_FLAGS);
		if (i > 0)
			program->ways[n_ways++].source = i - 1;
		for (uint32_t k = 0; k < n_jumps; k++) {
			if (to[k] == i) {
				program->ways[n_ways++].source = from[k];
				node->is_loop_head = true;
			}
			if (i >= to[k] && i <= from[k])
				node->loop_depth++;
		}
		program->firsts[i + 1] = n_ways;
	}
	program->graph = (LodeDependenceGraph){.nodes = program->nodes,
		.n = n,
		.first_ways = program->firsts,
		.ways = program->ways};
	program->code = (LodeLoopCode){&program->graph, bytes_of, program->leaves, program};
}

static void make_both(Program *outer, Program *g)
{
	static const uint8_t outer_bytes[][8] = {{0xb8}, {0xb9}, {0x81, 0xc1, 1},
		{0x81, 0xf9, INNER_ROUNDS}, {0x75}, {0xe8}, {0x81, 0xc0, 1},
		{0x81, 0xf8, 0, 0, 0, 1}, {0x75}, {0xc3}};
	static const uint8_t g_bytes[][8] = {{0xb9}, {0x81, 0xc1, 1},
		{0x81, 0xf9, G_ROUNDS & 0xff, G_ROUNDS >> 8}, {0x75}, {0xc3}};

	make(outer, outer_bytes, 10, (const uint32_t[]){4, 8}, (const uint32_t[]){INNER, OUTER}, 2);
	make(g, g_bytes, 5, (const uint32_t[]){3}, (const uint32_t[]){1}, 1);
}

typedef struct {
	double inner_ns, g_ns, rest_ns; /* of a turn */
	double period_ns, jitter;
	double others; /* calls of g from elsewhere, for one from the loop */
	int n_samples;
} Truth;

typedef struct {
	LodeSamplePair samples[MAX_SAMPLES];
	LodeLoopPair pairs[MAX_SAMPLES];
	size_t n;
	double n_in_g;
} Sampled;

static void simulate(GRand *random, const Truth *truth, Sampled *out)
{
	double turn_ns = truth->inner_ns + truth->g_ns + truth->rest_ns;
	double time_ns = g_rand_double_range(random, 0, turn_ns);
	struct {
		uint32_t node;
		int tick;
	} lasts[2] = {{LODE_NONE, 0}, {LODE_NONE, 0}};

	out->n = 0;
	out->n_in_g = 0;
	for (int i = 0; i < truth->n_samples; i++) {
		time_ns += truth->period_ns *
		           g_rand_double_range(random, 1 - truth->jitter, 1 + truth->jitter);
		double at = fmod(time_ns, turn_ns);
		bool is_inner = at < truth->inner_ns;
		bool is_called = !is_inner && at < truth->inner_ns + truth->g_ns;
		uint32_t node = is_inner ? INNER : is_called ? CALL : CALL + 1;
		out->n_in_g += is_called;
		if (lasts[is_called].node != LODE_NONE) {
			int n = i - lasts[is_called].tick;
			out->samples[out->n] = (LodeSamplePair){
				.is_of_caller = is_called,
				.n_samples = n,
				.time_ns = n * truth->period_ns,
				.weight = 1,
			};
			out->pairs[out->n] = (LodeLoopPair){
				.nodes = {lasts[is_called].node, node},
				.called = is_called ? CALLED + 1 : LODE_NONE,
				.called_function = is_called ? G : LODE_NONE,
				.pair = &out->samples[out->n],
			};
			out->n++;
		}
		lasts[is_called].node = node;
		lasts[is_called].tick = i;
	}
}

/* Times of the loop inside, and of that of g; n 0: not known. */
typedef struct {
	LodePaceTime inner, g;
} Carried;

static Carried carry(Program *outer, Program *g, const Truth *truth, const Sampled *sampled)
{
	g_auto(LodeLoopShares) shares = {0};
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(LodeLoopTime));
	double turn_ns = truth->inner_ns + truth->g_ns + truth->rest_ns;
	const LodeLoopTurn turn = {
		.head = OUTER,
		.time = {.ns = turn_ns, .error_ns = turn_ns / 1000, .n = 100},
		.pairs = sampled->pairs,
		.n_pairs = sampled->n,
	};
	Carried carried = {0};

	lode_loop_shares_init(&shares);
	lode_loop_shares_begin(&shares, &outer->code, 0);
	lode_loop_shares_add_turn(&shares, &turn, called_by);
	g->nodes[1].weight = sampled->n_in_g * (1 + truth->others);
	for (guint i = 0; i < shares.callees->len; i++) {
		lode_loop_shares_begin(&shares, &g->code, CALLED);
		lode_loop_shares_add_callee(
			&shares, &g_array_index(shares.callees, LodeLoopCallee, i), 1);
	}
	lode_loop_shares_times(&shares, found);
	for (guint i = 0; i < found->len; i++) {
		const LodeLoopTime *time = &g_array_index(found, LodeLoopTime, i);
		g_assert_true(time->head == INNER || time->head == CALLED + 1);
		*(time->head == INNER ? &carried.inner : &carried.g) = time->time;
	}
	return carried;
}

static double errors_off(const LodePaceTime *time, double expected)
{
	g_assert_cmpuint(time->n, >=, LODE_PACE_FEWEST);
	return (time->ns - expected) / time->error_ns;
}

/* The stated error is that of chance. */
static void test_known(void)
{
	enum { CASES = 400 };
	const Truth truth = {400, 900, 200, 1e5, 0.05, 0, 1500};
	g_autoptr(GRand) random = g_rand_new_with_seed(2);
	g_autofree Sampled *sampled = g_new(Sampled, 1);
	double squares[2] = {0, 0}, most = 0;
	Program outer, g;

	make_both(&outer, &g);
	for (int i = 0; i < CASES; i++) {
		simulate(random, &truth, sampled);
		const Carried found = carry(&outer, &g, &truth, sampled);
		double of_inner = errors_off(&found.inner, truth.inner_ns / INNER_ROUNDS);
		double of_g = errors_off(&found.g, truth.g_ns / G_ROUNDS);
		squares[0] += of_inner * of_inner;
		squares[1] += of_g * of_g;
		most = MAX(most, MAX(fabs(of_inner), fabs(of_g)));
	}
	g_test_message("%g %g %g", squares[0] / CASES, squares[1] / CASES, most);
	for (int k = 0; k < 2; k++)
		g_assert_cmpfloat(squares[k] / CASES, <, 1.3);
	g_assert_cmpfloat(most, <, 4);
}

static Carried carry_one(const Truth *truth, void (*change)(Program *outer, Program *g))
{
	g_autoptr(GRand) random = g_rand_new_with_seed(3);
	g_autofree Sampled *sampled = g_new(Sampled, 1);
	Program outer, g;

	make_both(&outer, &g);
	if (change != NULL)
		change(&outer, &g);
	simulate(random, truth, sampled);
	return carry(&outer, &g, truth, sampled);
}

static void leave_early(Program *outer, Program *g)
{
	outer->leaves[INNER] = true;
	g->leaves[0] = true;
}

/* The first value is an argument. */
static void take_argument(Program *outer, Program *g)
{
	(void)outer;
	g->bytes[0][0] = 0x90;
	g->nodes[0].use.changes = 0;
}

static void test_unknown(void)
{
	const Truth plain = {400, 900, 200, 1e5, 0.05, 0, 1500};
	Truth truth = plain;

	Carried found = carry_one(&truth, NULL);
	g_assert_cmpuint(found.inner.n, >, 0);
	g_assert_cmpuint(found.g.n, >, 0);
	found = carry_one(&truth, leave_early);
	g_assert_cmpuint(found.inner.n, ==, 0);
	g_assert_cmpuint(found.g.n, ==, 0);
	found = carry_one(&truth, take_argument);
	g_assert_cmpuint(found.inner.n, >, 0);
	g_assert_cmpuint(found.g.n, ==, 0);
	/* Most calls are from elsewhere. */
	truth.others = 3;
	found = carry_one(&truth, NULL);
	g_assert_cmpuint(found.inner.n, >, 0);
	g_assert_cmpuint(found.g.n, ==, 0);
	truth = plain;
	truth.n_samples = 20;
	found = carry_one(&truth, NULL);
	g_assert_cmpuint(found.inner.n, ==, 0);
	/* Samples in step with the turns, with each one or with each third of one. */
	for (int part = 1; part <= 3; part++) {
		truth = (Truth){.inner_ns = 4e4,
			.g_ns = 4e4,
			.rest_ns = 2e4,
			.period_ns = 1e5 / part,
			.n_samples = 1500};
		found = carry_one(&truth, NULL);
		g_assert_cmpuint(found.inner.n, ==, 0);
		g_assert_cmpuint(found.g.n, ==, 0);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ingest/loop_shares/known", test_known);
	g_test_add_func("/ingest/loop_shares/unknown", test_unknown);
	return g_test_run();
}
